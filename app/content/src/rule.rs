// What is content, and what of it the web page carries in its first download. Shared by the build script and the crate.

use std::collections::BTreeSet;

/// The folders that are indexed, from the repository root.
pub const TREES: [&str; 3] = ["assets", "kernels", "lessons"];

/// The chapter that the web page opens on.
pub const FIRST_CHAPTER: &str = "lessons/02_";

/// Notes for contributors and the tools that make assets are not content.
pub fn is_content(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_font_list = path.starts_with("assets/fonts/") && (name == "first.txt" || name == "all.txt");
    !(name.ends_with(".md") || name.ends_with(".py") || is_font_list)
}

/// Every text in quotes of a TOML file. What it needs of the program stands among them by its id.
pub fn quoted(text: &str) -> BTreeSet<&str> {
    text.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

/// The folders of the kernels whose experiments a chapter shows.
pub fn kernels_of(chapter: &str) -> BTreeSet<&str> {
    quoted(chapter).into_iter().filter_map(|word| word.split_once('/')).map(|(slug, _)| slug).collect()
}

/// Whether a kernel's file may come with the late part of the web page: no first chapter, given by the folders that it
/// names, shows an experiment of it.
pub fn is_late(path: &str, first_kernels: &BTreeSet<&str>) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("kernels") && parts.next().is_some_and(|slug| !first_kernels.contains(slug))
}

/// Small, and part of the program on the web: of its first part if it is needed before the first page can be read or tried
/// (see [`is_late`]). Everything else is fetched.
pub fn is_carried(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match path.split('/').next() {
        Some("lessons") => {
            ["curriculum.toml", "handbook.toml", "routes.toml"].contains(&name) || path.starts_with(FIRST_CHAPTER)
        }
        // The sources too: a recording is compared with the kernel of today.
        Some("kernels") => name.ends_with(".toml") || name.ends_with(".cu"),
        // Headings are drawn in the normal weight until the strong one has come: a seventh of the download.
        Some("assets") if path.starts_with("assets/fonts/") => name == "sans-first.otf" || name == "mono.ttf",
        Some("assets") => path.matches('/').count() == 1 && name.ends_with(".toml"),
        _ => false,
    }
}
