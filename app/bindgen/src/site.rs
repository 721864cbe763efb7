//! The files of the site. What the first page loads carries a hash of its content in its name; what the program fetches
//! keeps its path and gets the build's name in its address; so no cache ever mixes two builds.

use crate::text;
use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use vramlab_content::{Content, rule};

/// Path from the site's root, and content.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Files of `web/page` that the first page loads as they are.
const LOADED: [&str; 3] = ["boot.js", "icon.svg", "page.css"];
/// Files that the binding makes.
const BOUND: [&str; 3] = ["vramlab.js", "vramlab_bg.wasm", "vramlab_late.wasm"];

/// Writes the whole site into `out`, which is emptied first, and returns the number of its files.
pub fn write(bound: &Path, page: &Path, out: &Path) -> anyhow::Result<usize> {
    let mut names = BTreeMap::new();
    let mut files = Files::new();
    for (dir, name) in LOADED.map(|name| (page, name)).into_iter().chain(BOUND.map(|name| (bound, name))) {
        let bytes = read(dir, name)?;
        let hashed = hashed_name(name, &bytes);
        names.insert(name.to_owned(), hashed.clone());
        files.insert(hashed, bytes);
    }
    let style = read(page, "text.css")?;
    let style_name = hashed_name("text.css", &style);
    files.extend(text::pages(&style_name)?);
    files.insert(format!("text/{style_name}"), style);
    files.extend(fetched());
    let index = template(page, "index.html")?;
    let worker = template(page, "sw.js")?;
    let build = build_name(&files, &[&index, &worker]);
    let listed: Vec<String> = files.keys().map(|path| address(path, &build)).collect();
    names.insert("build".to_owned(), build);
    names.insert("files".to_owned(), serde_json::to_string(&[vec!["index.html".to_owned()], listed].concat())?);
    files.insert("index.html".to_owned(), fill(&index, &names).into_bytes());
    files.insert("sw.js".to_owned(), fill(&worker, &names).into_bytes());
    store(&files, out)?;
    Ok(files.len())
}

/// What the program fetches while it runs, by its path.
fn fetched() -> impl Iterator<Item = (String, Vec<u8>)> {
    vramlab_content::list("").filter(|path| !rule::is_carried(path)).filter_map(|path| {
        let bytes = vramlab_content::get(path).and_then(Content::here)?;
        Some((path.to_owned(), bytes.to_vec()))
    })
}

/// The address under which the page asks for a file: the program's own assets carry the build.
fn address(path: &str, build: &str) -> String {
    let is_asset = rule::TREES.iter().any(|tree| path.starts_with(&format!("{tree}/")));
    if is_asset { format!("{path}?v={build}") } else { path.to_owned() }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(5).map(|byte| format!("{byte:02x}")).collect()
}

/// `vramlab_bg.wasm` as `vramlab_bg-1a2b3c4d5e.wasm`.
fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    format!("{stem}-{}.{end}", hash(bytes))
}

fn build_name(files: &Files, templates: &[&str]) -> String {
    let mut all = Sha256::new();
    for (path, bytes) in files {
        all.update(path);
        all.update(Sha256::digest(bytes));
    }
    templates.iter().for_each(|text| all.update(text));
    hash(&all.finalize())
}

/// Replaces every `{{name}}`.
fn fill(template: &str, names: &BTreeMap<String, String>) -> String {
    names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}

fn read(dir: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let path = dir.join(name);
    fs::read(&path).with_context(|| path.display().to_string())
}

fn template(dir: &Path, name: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8(read(dir, name)?)?)
}

fn store(files: &Files, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    for (path, bytes) in files {
        let place = out.join(path);
        if let Some(dir) = place.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(&place, bytes).with_context(|| place.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_with_content_and_only_with_it() {
        let name = hashed_name("vramlab_bg.wasm", b"a");
        assert!(name.starts_with("vramlab_bg-") && name.ends_with(".wasm"), "{name}");
        assert_eq!(name, hashed_name("vramlab_bg.wasm", b"a"));
        assert_ne!(name, hashed_name("vramlab_bg.wasm", b"b"));
    }

    #[test]
    fn only_assets_carry_the_build() {
        assert_eq!(address("assets/fonts/sans-rest.otf", "1a"), "assets/fonts/sans-rest.otf?v=1a");
        assert_eq!(address("text/02_access_patterns.zh.html", "1a"), "text/02_access_patterns.zh.html");
    }

    #[test]
    fn what_the_wasm_carries_is_not_fetched() {
        let paths: Vec<String> = fetched().map(|(path, _)| path).collect();
        assert!(paths.iter().any(|path| path == "assets/fonts/sans-rest.otf"));
        assert!(!paths.iter().any(|path| path == "assets/fonts/sans-first.otf" || path == "lessons/curriculum.toml"));
    }

    #[test]
    fn a_template_is_filled() {
        let names = BTreeMap::from([("boot.js".to_owned(), "boot-1.js".to_owned())]);
        assert_eq!(fill("<a href=\"{{boot.js}}\">{{other}}", &names), "<a href=\"boot-1.js\">{{other}}");
    }
}
