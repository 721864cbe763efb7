// What is content, and what of it the web page carries in its first download. Shared by the build script and the crate.

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

/// Small, and needed before the first page can be read or tried.
pub fn is_first(path: &str) -> bool {
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
