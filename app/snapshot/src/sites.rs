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
    /// Of each frame, whether it only passes a call on.
    is_glue: Vec<bool>,
}

impl Sites {
    pub fn of(snapshot: &Snapshot) -> Self {
        let glue = |frame: &Frame| is_glue(snapshot.text(frame.file), snapshot.text(frame.name));
        let mut this = Self {
            all: vec![Site { frame: None, is_own: false }],
            of_stack: Vec::new(),
            is_glue: snapshot.frames.iter().map(glue).collect(),
        };
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

    /// Frames of a stack that tell something, innermost first: without those that only pass a call on, and a frame that
    /// repeats itself once. A stack of nothing else keeps its innermost frame.
    pub fn telling(&self, snapshot: &Snapshot, stack: StackId) -> Vec<u32> {
        let frames = snapshot.stack_indices(stack);
        let tells = |frame: &u32| !self.is_glue.get(*frame as usize).copied().unwrap_or(false);
        let mut out: Vec<u32> = frames.iter().copied().filter(tells).collect();
        out.dedup();
        if out.is_empty() {
            out.extend(frames.first());
        }
        out
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

/// Whether a frame only passes a call on: the interpreter, the dispatcher, wrappers around `forward` and `step`.
pub fn is_glue(file: &str, name: &str) -> bool {
    const WRAPPERS: &[&str] = &["_wrapped_call_impl", "_call_impl", "decorate_context", "profile_hook_step"];
    const PLACES: &[&str] = &["ceval", "/boxing/", "Redispatch", "RegisterCUDA", "Objects/call.c", "pythonrun.c"];
    const HEADS: &[&str] =
        &["_PyEval", "PyEval_", "_PyObject_", "PyObject_", "_PyFunction", "PyRun_", "Py_Run", "__libc_"];
    (is_library(file) && WRAPPERS.contains(&name))
        || PLACES.iter().any(|part| file.contains(part))
        || HEADS.iter().any(|head| name.starts_with(head))
        || ["_start", "clone", "??"].contains(&name)
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
    fn what_only_passes_a_call_on_is_left_out() {
        for (file, name) in [
            ("torch/nn/modules/module.py", "_call_impl"),
            ("/usr/local/src/conda/python-3.11/Python/ceval.c", "_PyEval_EvalFrameDefault"),
            ("??", "__libc_start_main"),
        ] {
            assert!(is_glue(file, name), "{file} {name}");
        }
        for (file, name) in [
            ("train.py", "_call_impl"),
            ("torch/nn/modules/linear.py", "forward"),
            ("aten/src/ATen/Context.cpp", "empty"),
        ] {
            assert!(!is_glue(file, name), "{file} {name}");
        }
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
