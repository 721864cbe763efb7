//! Places in the program: of every stack the innermost frame that is not a library's.

use crate::fast::FastMap;
use crate::model::{Frame, Snapshot, StackId};
use vramlab_units::Localized;

/// Index of a [`Site`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// A place that asked for memory; nothing is known of that of an empty stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub frame: Option<Frame>,
    /// False if the stack has only frames of libraries: then it is the innermost of them.
    pub is_own: bool,
}

/// The sites of a snapshot, and of each stack its site. Site 0 is that of the empty stack.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    pub all: Vec<Site>,
    of_stack: Vec<SiteId>,
}

impl Sites {
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut this = Self { all: vec![Site { frame: None, is_own: false }], of_stack: Vec::new() };
        let mut known: FastMap<Frame, SiteId> = FastMap::default();
        let is_library: Vec<bool> = snapshot.texts.iter().map(|text| is_library(text)).collect();
        for id in 0..snapshot.stack_ends.len() as u32 {
            let own = |frame: &Frame| !is_library.get(frame.file.0 as usize).copied().unwrap_or(true);
            let found = snapshot.stack(StackId(id)).find(own);
            let Some(frame) = found.or_else(|| snapshot.stack(StackId(id)).next()) else {
                this.of_stack.push(SiteId(0));
                continue;
            };
            let next = SiteId(this.all.len() as u32);
            let site = *known.entry(frame).or_insert(next);
            if site == next {
                this.all.push(Site { frame: Some(frame), is_own: found.is_some() });
            }
            this.of_stack.push(site);
        }
        this
    }

    pub fn of_stack(&self, stack: StackId) -> SiteId {
        self.of_stack.get(stack.0 as usize).copied().unwrap_or_default()
    }

    /// `train.py:67 step`, or that no stack was recorded.
    pub fn label(&self, snapshot: &Snapshot, site: SiteId) -> Localized {
        match self.all.get(site.0 as usize).and_then(|site| site.frame) {
            Some(frame) => same(&frame_text(snapshot, &frame)),
            None => Localized::both("没有调用栈", "no stack"),
        }
    }
}

/// `file.py:12 function`.
pub fn frame_text(snapshot: &Snapshot, frame: &Frame) -> String {
    format!("{}:{} {}", snapshot.text(frame.file), frame.line, snapshot.text(frame.name)).trim_end().to_owned()
}

/// `file.py:12 function` without the folders of the file.
pub fn short_text(text: &str) -> &str {
    // A function's name may hold slashes of its own: only what stands before the line counts.
    let digit = |at: usize| text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let end = text.match_indices(':').map(|(at, _)| at).find(|at| digit(*at)).unwrap_or(0);
    let start = text[..end].rfind(['/', '\\']).map_or(0, |at| at + 1);
    &text[start..]
}

/// The same words in both languages.
pub(crate) fn same(text: &str) -> Localized {
    Localized::both(text, text)
}

/// Whether a file belongs to PyTorch, to an installed package, to Python or to compiled code.
pub fn is_library(file: &str) -> bool {
    const PACKAGES: &[&str] = &["torch/", "torchvision/", "torchaudio/", "importlib/"];
    const INSIDE: &[&str] = &["site-packages", "dist-packages", "/lib/python", "/torch/", "\\lib\\"];
    const COMPILED: &[&str] = &[".cpp", ".cc", ".c", ".cu", ".cuh", ".h", ".hpp", ".so"];
    file.is_empty()
        || file.starts_with('<')
        || file == "??"
        || PACKAGES.iter().any(|head| file.starts_with(head))
        || INSIDE.iter().any(|part| file.contains(part))
        || COMPILED.iter().any(|end| file.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_place_has_no_folders() {
        assert_eq!(short_text("kernels/peers/snapshots.py:101 train"), "snapshots.py:101 train");
        assert_eq!(short_text("C:\\run\\a.py:3 <module>"), "a.py:3 <module>");
        assert_eq!(short_text("train.py:7 a/b"), "train.py:7 a/b");
        assert_eq!(short_text("no stack"), "no stack");
    }

    #[test]
    fn the_readers_own_files_are_not_a_library() {
        for own in ["train.py", "/home/a/project/model.py", "src/torch_utils.py", "my/torchlike.py"] {
            assert!(!is_library(own), "{own}");
        }
        for library in [
            "torch/nn/functional.py",
            "/usr/lib/python3.12/threading.py",
            "/venv/lib/python3.11/site-packages/transformers/trainer.py",
            "<frozen importlib._bootstrap>",
            "<string>",
            "??",
            "",
            "/pytorch/aten/src/ATen/Context.cpp",
        ] {
            assert!(is_library(library), "{library}");
        }
    }
}
