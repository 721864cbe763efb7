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
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("index.rs");
    fs::write(out, table(&files, is_web)?)
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

fn table(files: &[(String, PathBuf)], is_web: bool) -> io::Result<String> {
    let mut out = String::from("&[\n");
    for (path, place) in files {
        let len = fs::metadata(place)?.len();
        let bytes = if !is_web || rule::is_first(path) {
            format!("Some(include_bytes!({:?}))", place.display().to_string())
        } else {
            "None".to_owned()
        };
        writeln!(out, "    File {{ path: {path:?}, len: {len}, bytes: {bytes} }},").map_err(io::Error::other)?;
    }
    out.push_str("]\n");
    Ok(out)
}
