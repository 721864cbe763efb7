//! Helpers shared by the suites: the repository as files and as text.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// The text of a file of the repository. Panics with its path: a suite cannot go on without it.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file under `dir` whose name ends with `suffix`, as paths from the root with `/`, sorted.
pub fn files(dir: &str, suffix: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root().join(dir), &mut found);
    let root = root();
    let mut paths: Vec<String> = found
        .iter()
        .filter_map(|path| path.strip_prefix(&root).ok())
        .map(|path| path.to_string_lossy().replace('\\', "/"))
        .filter(|path| path.ends_with(suffix))
        .collect();
    paths.sort();
    paths
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "target" && name != "node_modules" {
                walk(&path, out);
            }
        } else {
            out.push(path);
        }
    }
}

/// Source text without its tests: everything before the first `#[cfg(test)]` that opens a module with a body.
pub fn without_tests(text: &str) -> &str {
    match text.find("#[cfg(test)]\nmod ") {
        Some(at) if text[at..].lines().nth(1).is_some_and(|line| line.ends_with('{')) => &text[..at],
        _ => text,
    }
}

/// Source text without comments and without the contents of strings, so that a scan finds code only.
pub fn code_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_string = false;
    for line in text.lines() {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if is_string => {
                    chars.next();
                }
                // The characters '"' and '\"' open no string.
                '\'' if !is_string && matches!(chars.peek(), Some('"' | '\\')) => {
                    let is_escape = chars.next() == Some('\\');
                    if is_escape {
                        chars.next();
                    }
                }
                '"' => is_string = !is_string,
                '/' if !is_string && chars.peek() == Some(&'/') => break,
                _ if is_string => {}
                _ => out.push(c),
            }
        }
        out.push('\n');
    }
    out
}
