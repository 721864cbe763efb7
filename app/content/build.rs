//! Indexes `lessons/`, `kernels/` and `assets/` into a table from path to bytes. `src/rule.rs` says what goes in.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "src/rule.rs"]
mod rule;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..").canonicalize()?;
    let is_web = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/rule.rs");
    let mut files = Vec::new();
    for tree in rule::TREES {
        // Cargo scans a directory with all that is in it, so a new file is noticed too.
        println!("cargo::rerun-if-changed={}", root.join(tree).display());
        collect(&root.join(tree), tree, &mut files)?;
    }
    files.sort();
    let chapter = first_chapter(&files)?;
    let first_kernels = rule::kernels_of(&chapter);
    let is_late = |path: &str| is_web && rule::is_late(path, &first_kernels);
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("index.rs");
    fs::write(out, table(&files, is_web, &is_late)?)
}

/// Every file below `dir`, as (path from the root with `/`, place on this disk). Links and hidden files are passed over.
fn collect(dir: &Path, path: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (kind, path) = (entry.file_type()?, format!("{path}/{name}"));
        if name.starts_with('.') || kind.is_symlink() {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else if rule::is_content(&path) {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}

/// The texts of the chapters that the web page opens on.
fn first_chapter(files: &[(String, PathBuf)]) -> io::Result<String> {
    let is_it = |path: &str| path.starts_with(rule::FIRST_CHAPTER) && path.ends_with("/chapter.toml");
    let found = files.iter().filter(|(path, _)| is_it(path));
    found.map(|(_, place)| fs::read_to_string(place)).collect()
}

/// Two tables: the files, and the bytes of those that come late, which nothing but one function may name.
fn table(files: &[(String, PathBuf)], is_web: bool, is_late: &dyn Fn(&str) -> bool) -> io::Result<String> {
    let mut out = String::from("static FILES: &[File] = &[\n");
    let mut late = String::from("static LATE: &[&[u8]] = &[\n");
    let mut n_late = 0;
    for (path, place) in files {
        let len = fs::metadata(place)?.len();
        let include = format!("include_bytes!({:?})", place.display().to_string());
        let bytes = match (!is_web || rule::is_carried(path), is_late(path)) {
            (true, true) => {
                writeln!(late, "    {include},").map_err(io::Error::other)?;
                n_late += 1;
                format!("None, late: Some({})", n_late - 1)
            }
            (true, false) => format!("Some({include}), late: None"),
            (false, _) => "None, late: None".to_owned(),
        };
        writeln!(out, "    File {{ path: {path:?}, len: {len}, bytes: {bytes} }},").map_err(io::Error::other)?;
    }
    out.push_str("];\n");
    late.push_str("];\n");
    Ok(out + &late)
}
