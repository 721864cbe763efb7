//! What happens with a file from the reader: recognised by content (`vramlab_sniff`), opened where there is a page for it,
//! and otherwise shown with the chapter that will handle it. The list of recent files is kept in the settings.

use crate::action::Action;
use crate::app::{App, Note};
use crate::documents::Doc;
use crate::route::{Page, Route};
use serde::{Deserialize, Serialize};
pub use vramlab_sniff::HEAD_BYTES;
use vramlab_sniff::{Head, Kind, Sniffed, sniff};
use vramlab_units::{Lang, Text};

/// What the program does with a kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Opened at once.
    Open,
    /// Recognised; its page comes with this chapter, and this place helps meanwhile.
    Later { chapter: &'static str, help: Option<&'static str> },
    /// Recognised as something that is of no use here.
    No,
}

/// The table of kinds: what is done with each, and what the reader is told. In the order of the list on the page.
pub fn use_of(kind: Kind) -> Use {
    let later = |chapter, help| Use::Later { chapter, help };
    match kind {
        Kind::Trace | Kind::Pack | Kind::Chapter | Kind::Progress | Kind::Notebook | Kind::Profile => Use::Open,
        Kind::Snapshot | Kind::MemorySummary | Kind::OomMessage => Use::Open,
        Kind::HfConfig | Kind::Safetensors | Kind::SafetensorsIndex | Kind::Gguf => Use::Open,
        Kind::Adapter => later("05_peak", Some("/task/task-2")),
        Kind::Checkpoint => later("18_debugging", None),
        Kind::NvidiaSmi => later("01_bottleneck", Some("/help/memory_missing")),
        Kind::Topology => later("09_frontier", Some("/help/slow_link")),
        Kind::NsysStats | Kind::NsysReport | Kind::TorchTrace => later("01_bottleneck", Some("/help/slow_kernel")),
        Kind::NcuReport => later("12_roofline", Some("/help/slow_kernel")),
        Kind::Project => later("08_cases", Some("/task/task-3")),
        Kind::Sanitizer => later("18_debugging", Some("/help/access_error")),
        Kind::VllmLog => later("21_serving", Some("/help/serving_capacity")),
        Kind::OtherPickle
        | Kind::OtherZip
        | Kind::Empty
        | Kind::Html
        | Kind::LfsPointer
        | Kind::Picture
        | Kind::Archive
        | Kind::Json
        | Kind::Text
        | Kind::Binary => Use::No,
    }
}

/// What a file is; of a compressed one, what it holds if that is of use here.
pub fn recognise(head: Head<'_>) -> Sniffed {
    let mut sniffed = sniff(head);
    if sniffed.kind == Kind::Sanitizer {
        sniffed.facts.extend(crate::checkers::facts(head.bytes));
    }
    if sniffed.kind == Kind::Project {
        sniffed.facts.extend(crate::chain::facts(head.bytes));
    }
    if sniffed.kind != Kind::Archive {
        return sniffed;
    }
    let inside = vramlab_snapshot::unpacked_head(head.bytes, UNPACKED_BYTES);
    let inside = inside.map(|bytes| sniff(Head { bytes: &bytes, n_bytes: u64::MAX }));
    inside.filter(|inside| matches!(inside.kind, Kind::Snapshot | Kind::Profile)).unwrap_or(sniffed)
}

/// As much of a compressed file is unpacked to tell what it is.
const UNPACKED_BYTES: usize = 256 << 10;

/// The step of its chapter where such a file is read together with the reader.
pub fn step_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::NvidiaSmi | Kind::NsysStats | Kind::NsysReport | Kind::TorchTrace => Some("reading"),
        Kind::NcuReport => Some("nsight"),
        Kind::Sanitizer => Some("zoo"),
        Kind::OomMessage => Some("message"),
        Kind::VllmLog => Some("log"),
        _ => None,
    }
}

/// Whether the beginning of a large file is all that is needed of it.
pub fn is_head_enough(head: &[u8], n_bytes: u64) -> bool {
    let kind = recognise(Head { bytes: head, n_bytes }).kind;
    matches!(use_of(kind), Use::Later { .. }) || is_model(kind)
}

/// Files that describe a model; of weights the header is enough.
fn is_model(kind: Kind) -> bool {
    matches!(kind, Kind::HfConfig | Kind::Safetensors | Kind::SafetensorsIndex | Kind::Gguf)
}

/// Whether a file that begins so is a memory snapshot: those are opened at almost any size.
pub fn is_snapshot(head: &[u8], n_bytes: u64) -> bool {
    recognise(Head { bytes: head, n_bytes }).kind == Kind::Snapshot
}

/// Kinds that are of use, as the page lists them.
pub fn accepted() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| use_of(*kind) != Use::No)
}

/// As much of an engine's log is handed to its figure.
const MOST_LOG: usize = 16_000;

const OPENS: Text = Text::new("{kind}：直接打开", "{kind}: opens at once");
const LATER: Text =
    Text::new("{kind}：认得，由第 {chapter} 章处理", "{kind}: recognised; chapter {chapter} handles it");
const OF_NO_USE: Text = Text::new("{kind}：这里用不上", "{kind}: of no use here");

/// What will happen with a file, in a line.
pub fn in_a_line(sniffed: &Sniffed, lang: Lang) -> String {
    let kind = sniffed.kind.name().get(lang);
    match use_of(sniffed.kind) {
        Use::Open => OPENS.get(lang).replace("{kind}", kind),
        Use::Later { chapter, .. } => {
            let number = chapter.split('_').next().unwrap_or(chapter);
            LATER.get(lang).replace("{kind}", kind).replace("{chapter}", number)
        }
        Use::No => OF_NO_USE.get(lang).replace("{kind}", kind),
    }
}

/// The last file that came and has no page of its own yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    pub name: String,
    pub sniffed: Sniffed,
}

/// What hangs over the window: looked into once, when it comes.
#[derive(Clone, Debug, Default)]
pub struct Hovering {
    key: String,
    pub files: Vec<Hovered>,
}

/// One file over the window.
#[derive(Clone, Debug)]
pub struct Hovered {
    pub name: String,
    /// Absent where the platform shows nothing before the file is dropped.
    pub sniffed: Option<Sniffed>,
    pub is_folder: bool,
}

impl Hovered {
    /// What becomes of the file, and whether it is of use.
    pub fn in_a_line(&self, lang: Lang) -> (String, bool) {
        match &self.sniffed {
            Some(sniffed) => (in_a_line(sniffed, lang), use_of(sniffed.kind) != Use::No),
            None if self.is_folder => (FOLDER.get(lang).to_owned(), true),
            None => (BLIND.get(lang).to_owned(), true),
        }
    }
}

const FOLDER: Text = Text::new("文件夹：里面的章节会打开", "a folder: the chapters in it open");
const BLIND: Text = Text::new("松手后按内容识别", "recognised by its content once you release");

/// Files over the window that are looked into.
const MAX_HOVERED: usize = 6;

impl Hovering {
    /// Looks into the files that hang over the window now, if they are others than before.
    pub fn refresh(&mut self, hovered: &[egui::HoveredFile], platform: &mut dyn crate::platform::Platform) {
        let key = format!("{hovered:?}");
        if self.key == key {
            return;
        }
        self.key = key;
        self.files = hovered.iter().take(MAX_HOVERED).map(|file| look(file, platform)).collect();
    }
}

fn look(file: &egui::HoveredFile, platform: &mut dyn crate::platform::Platform) -> Hovered {
    let name = file.path.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let head = file.path.as_ref().and_then(|path| platform.peek(path));
    let sniffed = head.as_ref().map(|(bytes, n_bytes)| recognise(Head { bytes, n_bytes: *n_bytes }));
    let is_folder = file.path.is_some() && sniffed.is_none() && file.mime.is_empty();
    Hovered { name: name.unwrap_or_else(|| file.mime.clone()), sniffed, is_folder }
}

/// A file of the past. On the web there is no path, so it can only be brought again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recent {
    pub name: String,
    /// Where it lies, if the platform can find it again.
    pub path: Option<String>,
    /// Id of its [`Kind`].
    pub kind: String,
    /// The place it led to.
    pub route: Option<String>,
}

/// Files of the past that are kept.
const MAX_RECENT: usize = 10;

/// Reads the list, also as names alone, as older settings had it.
pub fn read_recent<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Recent>, D::Error> {
    let values = Vec::<serde_json::Value>::deserialize(from)?;
    let read = |value: serde_json::Value| match value {
        serde_json::Value::String(name) => Some(Recent { name, ..Recent::default() }),
        other => serde_json::from_value(other).ok(),
    };
    Ok(values.into_iter().filter_map(read).collect())
}

impl App {
    /// A file arrived: whole, or the beginning of a large one. `path` is where it lies, if the platform can say.
    #[inline(never)] // it comes late on the web
    pub(crate) fn receive(&mut self, name: &str, path: Option<String>, bytes: Vec<u8>, n_bytes: u64) {
        let sniffed = recognise(Head { bytes: &bytes, n_bytes });
        let is_beside = self.snapshot.shelf.arrives(sniffed.kind == Kind::Snapshot);
        let (kind, is_whole) = (sniffed.kind, bytes.len() as u64 >= n_bytes);
        // Text under the name of a chapter is read as one, so that its author hears what is wrong with it.
        let is_chapter = kind == Kind::Text && name.ends_with(".toml");
        let is_kept = match use_of(kind) {
            _ if is_whole && self.offer_to_figure(name, kind, &bytes) => true,
            _ if kind == Kind::VllmLog && self.open_engine_log(&bytes) => true,
            Use::Open if is_model(kind) => self.open_model(name, &bytes, n_bytes),
            Use::Open if is_whole && kind == Kind::Snapshot => self.open_snapshot(name, bytes, is_beside),
            Use::Open if kind == Kind::OomMessage && !(is_whole && self.open_summary(&bytes)) => {
                // The words without their numbers: what to read is told.
                self.received = Some(Received { name: name.to_owned(), sniffed });
                self.go(Route::page(Page::Files), true);
                true
            }
            Use::Open if kind == Kind::OomMessage => true,
            Use::Open if is_whole => self.open_bytes(name, kind, bytes),
            Use::No if is_chapter && is_whole => self.open_bytes(name, kind, bytes),
            Use::No if kind == Kind::Json && is_whole && self.import_notebook(name, &bytes) => true,
            Use::No if kind == Kind::Json && is_whole && self.open_summary(&bytes) => true,
            Use::No => {
                self.say_of_no_use(name, &sniffed);
                self.received = Some(Received { name: name.to_owned(), sniffed });
                false
            }
            // A platform that hands on the beginning of a file alone has asked `is_head_enough` before.
            Use::Open => false,
            Use::Later { .. } => {
                self.received = Some(Received { name: name.to_owned(), sniffed });
                self.go(Route::page(Page::Files), true);
                true
            }
        };
        if is_kept {
            let route = Some(self.route.text());
            self.remember(Recent { name: name.to_owned(), path, kind: kind.id().to_owned(), route });
        }
    }

    /// A serving engine's log goes to the figure that reads it, cut to the lines with numbers; false if it is not there.
    fn open_engine_log(&mut self, bytes: &[u8]) -> bool {
        let (chapter, step) = ("21_serving", "log");
        let log = vramlab_serve::log::excerpt(&String::from_utf8_lossy(bytes), MOST_LOG);
        if log.is_empty() || !self.library.has_step(chapter, step) {
            return false;
        }
        let params = [("log".to_owned(), log.into())].into_iter().collect();
        self.steps.open_with(chapter, step, &params);
        self.go(Route::step(chapter, step), true);
        true
    }

    /// A configuration, a log or a stream that a figure of the page at hand has a use for is read there; false if none has.
    fn offer_to_figure(&mut self, name: &str, kind: Kind, bytes: &[u8]) -> bool {
        let Page::Chapter { chapter, step } = self.route.page.clone() else { return false };
        let is_text = matches!(kind, Kind::HfConfig | Kind::VllmLog | Kind::Text | Kind::Json);
        let Some(text) = std::str::from_utf8(bytes).ok().filter(|_| is_text) else { return false };
        let Some((step, read)) = self.steps.offer(&chapter, step.as_deref(), text) else { return false };
        let lang = self.lang();
        match read {
            Ok(()) => self.note(READ_HERE.get(lang).replace("{}", name), false),
            Err(why) => self.note(format!("{name}: {}", why.get(lang)), true),
        }
        self.go(Route::step(&chapter, &step), true);
        true
    }

    /// Opens a file of ours; false if it could not be read, with the reason as a note.
    fn open_bytes(&mut self, name: &str, kind: Kind, bytes: Vec<u8>) -> bool {
        let lang = self.lang();
        match kind {
            Kind::Progress => return self.open_progress(name, &bytes),
            Kind::Notebook => return self.import_notebook(name, &bytes),
            Kind::MemorySummary => return self.open_summary(&bytes),
            Kind::Profile => return self.open_profile(name, bytes),
            _ => {}
        }
        match self.library.open_bytes(name, &bytes, lang) {
            Ok(opened) => {
                self.take_opened(opened);
                true
            }
            Err(why) => {
                self.note(format!("{name}: {why}"), true);
                false
            }
        }
    }

    fn open_snapshot(&mut self, name: &str, bytes: Vec<u8>, is_beside: bool) -> bool {
        self.snapshot.take(name, bytes, is_beside);
        self.go(Route::page(Page::Snapshot), true);
        true
    }

    /// A table of `memory_summary()`, the counters of `memory_stats()` or an out-of-memory error; false if it is none.
    fn open_summary(&mut self, bytes: &[u8]) -> bool {
        let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| crate::snapshot::is_paper(text)) else {
            return false;
        };
        self.snapshot.paper.take(text);
        self.go(Route::page(Page::Snapshot), true);
        true
    }

    fn open_progress(&mut self, name: &str, bytes: &[u8]) -> bool {
        match vramlab_lesson::progress::Progress::from_bytes(bytes) {
            Ok(other) => {
                self.change_progress(|mine| *mine = vramlab_lesson::progress::merge(std::mem::take(mine), other));
                self.note(crate::text::PROGRESS_MERGED.get(self.lang()), false);
                true
            }
            Err(why) => {
                self.note(format!("{name}: {why}"), true);
                false
            }
        }
    }

    fn take_opened(&mut self, opened: crate::library::Opened) {
        for text in opened.notes {
            self.note(text, false);
        }
        for (experiment, recorded) in opened.traces {
            let state = self.experiments.get(&experiment);
            state.recorded.push(recorded);
            state.recorded_idx = state.recorded.len() - 1;
            state.shows_live = false;
        }
        if let Some(route) = opened.go {
            self.go(route, true);
        }
    }

    fn say_of_no_use(&mut self, name: &str, sniffed: &Sniffed) {
        let text = format!("{name}: {}", in_a_line(sniffed, self.lang()));
        let offer = Some((WHAT_OPENS, Action::Go(Route::page(Page::Files))));
        let note = Note { text, is_bad: true, offer };
        self.notes.retain(|known| *known != note);
        self.notes.push(note);
        let n_over = self.notes.len().saturating_sub(MAX_NOTES);
        self.notes.drain(..n_over);
    }

    /// Files dropped on the window, the first few of many.
    pub(crate) fn take_drops(&mut self, ctx: &egui::Context) {
        let files = ctx.input_mut(|input| std::mem::take(&mut input.raw.dropped_files));
        if files.len() > MAX_DROPPED {
            let text = TOO_MANY.get(self.lang()).replace("{all}", &files.len().to_string());
            self.note(text.replace("{n}", &MAX_DROPPED.to_string()), false);
        }
        if files.len() > 1 {
            self.snapshot.shelf.expects(files.len().min(MAX_DROPPED));
        }
        for file in files.into_iter().take(MAX_DROPPED) {
            self.platform.open_dropped(file);
        }
    }

    /// What hangs over the window, with what a release would do.
    pub fn hovered(&self) -> Vec<(String, String)> {
        let lang = self.lang();
        self.hovering.files.iter().map(|file| (file.name.clone(), file.in_a_line(lang).0)).collect()
    }

    /// A folder of lessons that was opened.
    pub(crate) fn remember_folder(&mut self, root: &str, go: Option<&Route>) {
        let name = root.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(root).to_owned();
        let route = go.map(Route::text);
        self.remember(Recent { name, path: Some(root.to_owned()), kind: Kind::Pack.id().to_owned(), route });
    }

    pub(crate) fn forget_recent(&mut self) {
        self.settings.recent.clear();
        self.mark(Doc::Settings);
    }

    pub(crate) fn remember(&mut self, recent: Recent) {
        let is_same = |known: &Recent| known.name == recent.name && known.path == recent.path;
        self.settings.recent.retain(|known| !is_same(known));
        self.settings.recent.insert(0, recent);
        self.settings.recent.truncate(MAX_RECENT);
        self.mark(Doc::Settings);
    }

    fn say_missing(&mut self, name: &str) {
        self.look_for_recent();
        self.note(MISSING.get(self.lang()).replace("{}", name), true);
    }

    /// Which files of the past are gone. Asked when a page is opened and not in every frame: a disk may be far away.
    pub(crate) fn look_for_recent(&mut self) {
        let paths = self.settings.recent.iter().filter_map(|recent| recent.path.clone());
        self.missing = paths.filter(|path| !self.platform.has_file(path)).collect();
    }

    /// Opens a file of the past: from where it lies, else the place it led to.
    pub(crate) fn open_recent(&mut self, idx: usize) {
        let Some(recent) = self.settings.recent.get(idx).cloned() else { return };
        let lang = self.lang();
        match (&recent.path, &recent.route) {
            (Some(path), _) if self.platform.reopen(path) => {}
            (Some(_), _) => self.say_missing(&recent.name),
            (None, Some(route)) if recent.kind == Kind::Progress.id() => self.follow(&route.clone()),
            (None, _) => self.note(BRING_AGAIN.get(lang).replace("{}", &recent.name), false),
        }
    }
}

const READ_HERE: Text = Text::new(
    "“{}”读进了这张图；完整的账在“放得下吗”页，回首页再拖一次",
    "the figure has read \"{}\"; the full account is on the page \"Does it fit\", from the start page",
);

/// Files of one drop that are opened: the ranks of a job among them.
const MAX_DROPPED: usize = crate::snapshot::MOST_BESIDE;
/// Notes about files that stay.
const MAX_NOTES: usize = 6;
const TOO_MANY: Text =
    Text::new("拖进来 {all} 个文件，只看前 {n} 个", "{all} files were dropped; the first {n} are looked at");
const WHAT_OPENS: Text = Text::new("能打开什么", "What can be opened");
const MISSING: Text = Text::new("“{}”不在原来的地方了", "\"{}\" is no longer where it was");
const BRING_AGAIN: Text =
    Text::new("浏览器不保留文件。请再拖入一次“{}”", "the browser keeps no files; drop \"{}\" in once more");

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a file is told in both languages, and what is accepted is of use.
    #[test]
    fn every_kind_has_a_use_and_a_line() {
        assert_eq!(accepted().count(), 24);
        for kind in Kind::ALL {
            for lang in Lang::ALL {
                let line = in_a_line(&Sniffed { kind, facts: Vec::new(), warning: None }, lang);
                assert!(line.contains(kind.name().get(lang)) && !line.contains('{'), "{line}");
            }
        }
    }

    #[test]
    fn places_named_by_the_table_can_be_followed() {
        let library = crate::Library::built_in();
        let guide = crate::guide::Guide::built_in(&library);
        for kind in Kind::ALL {
            let Use::Later { chapter, help } = use_of(kind) else { continue };
            assert!(library.row(chapter).is_some(), "{chapter}");
            assert!(step_of(kind).is_none_or(|step| library.has_step(chapter, step)), "{kind:?} {chapter}");
            let (route, notes) = Route::parse(help.unwrap_or("/"));
            assert!(notes.is_empty() && guide.corrected(&route.page).is_none(), "{kind:?}: {help:?}");
        }
    }

    #[test]
    fn settings_with_names_alone_are_still_read() {
        let settings = crate::settings::Settings::from_json(r#"{"recent": ["a.zip", {"name": "b", "path": "/b"}, 7]}"#);
        let recent = settings.unwrap().recent;
        assert_eq!(recent.len(), 2);
        assert_eq!((recent[0].name.as_str(), recent[1].path.as_deref()), ("a.zip", Some("/b")));
    }
}
