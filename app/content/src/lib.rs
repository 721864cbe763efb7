//! The content of the program as a table from path to bytes: `lessons/`, `kernels/`, `assets/`.
//!
//! `build.rs` makes the table. The desktop program carries every file. The web page carries the small ones of its first
//! page ([`rule::is_carried`]) and the names of the others, which it fetches by their path, relative to the page. Kernels
//! that its first chapter does not show come with the late part of the program. Nothing here reads a file or knows what is
//! in one.

pub mod rule;

use std::sync::atomic::{AtomicBool, Ordering};

struct File {
    path: &'static str,
    len: u64,
    /// The bytes, unless they come late or are fetched.
    bytes: Option<&'static [u8]>,
    /// The place in the table of what comes late.
    late: Option<usize>,
}

include!(concat!(env!("OUT_DIR"), "/index.rs"));

static IS_WHOLE: AtomicBool = AtomicBool::new(false);

/// The late part of the program is here, and with it the files that are late.
pub fn set_whole() {
    IS_WHOLE.store(true, Ordering::Relaxed);
}

/// The bytes of a late file. The web page's first part does without this function, and so without the files.
#[inline(never)]
fn late_bytes(idx: usize) -> Option<&'static [u8]> {
    LATE.get(idx).copied()
}

/// Where the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Here(&'static [u8]),
    /// To be fetched; the path is the address, relative to the page.
    Fetch,
}

impl Content {
    /// The bytes, if they are here.
    pub fn here(self) -> Option<&'static [u8]> {
        match self {
            Self::Here(bytes) => Some(bytes),
            Self::Fetch => None,
        }
    }
}

/// The file at `path`, such as `lessons/02_access_patterns/chapter.toml`; `None` if there is no such file.
pub fn get(path: &str) -> Option<Content> {
    let file = find(path)?;
    let late = file.late.filter(|_| IS_WHOLE.load(Ordering::Relaxed));
    let bytes = file.bytes.or_else(|| late_bytes(late?));
    Some(bytes.map_or(Content::Fetch, Content::Here))
}

/// The text at `path`, if it is here and is UTF-8.
pub fn text(path: &str) -> Option<&'static str> {
    get(path)?.here().and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// Size of the file in bytes, also of one that is yet to be fetched.
pub fn len(path: &str) -> Option<u64> {
    find(path).map(|file| file.len)
}

/// Every path that begins with `prefix`, in order. `""` lists all.
pub fn list(prefix: &str) -> impl Iterator<Item = &'static str> {
    let start = FILES.partition_point(|file| file.path < prefix);
    FILES[start..].iter().map(|file| file.path).take_while(move |path| path.starts_with(prefix))
}

fn find(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().map(|idx| &FILES[idx])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { walk(&path, out) } else { out.push(path) }
        }
    }

    #[test]
    fn a_native_build_carries_every_file_as_it_is_on_disk() {
        let mut on_disk = Vec::new();
        rule::TREES.iter().for_each(|tree| walk(&root().join(tree), &mut on_disk));
        let mut n_checked = 0;
        for place in on_disk {
            let path = place.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            if path.contains("/.") || !rule::is_content(&path) {
                assert_eq!(get(&path), None, "{path}");
                continue;
            }
            let bytes = std::fs::read(&place).unwrap();
            assert_eq!(get(&path).and_then(Content::here), Some(bytes.as_slice()), "{path}");
            assert_eq!(len(&path), Some(bytes.len() as u64), "{path}");
            n_checked += 1;
        }
        assert_eq!(n_checked, list("").count());
    }

    #[test]
    fn lists_by_prefix_and_refuses_what_does_not_exist() {
        let fonts: Vec<&str> = list("assets/fonts/").collect();
        assert!(fonts.contains(&"assets/fonts/mono.ttf") && fonts.contains(&"assets/fonts/OFL.txt"));
        assert!(fonts.is_sorted() && fonts.iter().all(|path| path.starts_with("assets/fonts/")));
        assert_eq!(list("assets/nothing").count(), 0);
        assert_eq!(get("assets/nothing"), None);
        assert!(text("assets/theme.toml").is_some_and(|text| text.contains("[light]")));
        assert_eq!(text("assets/fonts/mono.ttf"), None);
    }

    #[test]
    fn the_first_download_is_the_first_page_only() {
        let first = |path| (rule::is_content(path), rule::is_carried(path));
        assert_eq!(first("lessons/curriculum.toml"), (true, true));
        assert_eq!(first("lessons/chapter.schema.json"), (true, false));
        assert_eq!(first("lessons/02_access_patterns/chapter.toml"), (true, true));
        assert_eq!(first("lessons/16_attention/chapter.toml"), (true, false));
        assert_eq!(first("assets/fonts/sans-first.otf"), (true, true));
        assert_eq!(first("assets/fonts/strong-first.otf"), (true, false));
        assert_eq!(first("assets/fonts/sans-rest.otf"), (true, false));
        assert_eq!(first("assets/traces/h200.vltrace"), (true, false));
        assert_eq!(first("kernels/stride/stride.experiment.toml"), (true, true));
        assert_eq!(first("kernels/stride/stride.cu"), (true, true));
        let chapter = "run = \"stride/main\"\nshow = \"sector_map\"";
        let kernels = rule::kernels_of(chapter);
        assert!(
            !rule::is_late("kernels/stride/stride.cu", &kernels) && rule::is_late("kernels/casts/casts.cu", &kernels)
        );
        assert!(!rule::is_late("assets/hardware.toml", &kernels));
        assert!(!rule::is_content("assets/fonts/build.py") && !rule::is_content("lessons/README.md"));
    }
}
