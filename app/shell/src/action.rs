//! Everything that reaches beyond a widget's own state. Panels push actions; [`crate::App::apply`] performs them after
//! the frame, and nothing else does.

use crate::route::Route;
use crate::settings::ThemeChoice;
use vramlab_lesson::Verdict;
use vramlab_lesson::answer::Given;
use vramlab_trace::Backend;
use vramlab_units::{Lang, Map};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Go(Route),
    /// The figure of a step was changed: the address follows, the page stays.
    Address {
        chapter: String,
        step: String,
        /// What differed from the chapter before, for undo.
        before: Map,
        params: Map,
    },
    /// What is looked at in the open snapshot changed: the address follows, the page stays.
    SnapshotAddress(Map),
    /// Opens a snapshot that is part of the program, by its path.
    OpenExample(String),
    /// Takes the last change of a figure back, or makes it again.
    Undo,
    Redo,
    /// The window with link and QR code.
    ShowShare,
    /// The next or previous step of the chapter (presenter, keys).
    StepBy(i32),
    Back,
    SetLang(Lang),
    ToggleLang,
    SetTheme(ThemeChoice),
    CycleTheme,
    SetTextScale(f32),
    SetReducedMotion(Option<bool>),
    ToggleWheelZoom,
    TogglePresenter,
    ToggleNotebook,
    ToggleRail,
    ShowPalette,
    ShowShortcuts,
    ClosePopups,
    CopyLink,
    OpenFile,
    /// Opens a file of the list of recent ones again.
    OpenRecent(usize),
    ForgetRecent,
    /// Groups the curriculum by a route, or by layer.
    GroupRail(Option<String>),
    /// Starts an experiment on a back end.
    Run {
        step: String,
        experiment: String,
        backend: Backend,
        is_full: bool,
    },
    Cancel {
        experiment: String,
    },
    /// Shows the recording of another device.
    ShowRecording {
        experiment: String,
        idx: usize,
    },
    /// Shows the recorded run again, from the start.
    Replay {
        experiment: String,
    },
    /// A prediction: kept, not graded.
    Predict {
        chapter: String,
        step: String,
        given: Given,
    },
    /// An answer to a check.
    Answer {
        chapter: String,
        step: String,
        given: Given,
        is_right: bool,
    },
    /// Shows the truth of a prediction, which then stays as it is.
    Reveal {
        chapter: String,
        step: String,
    },
    /// An answer to a review question.
    Review {
        chapter: String,
        question: String,
        grade: vramlab_lesson::schedule::Grade,
    },
    /// A judgement of an audit.
    Judge {
        chapter: String,
        audit: String,
        verdict: Verdict,
    },
    StepDone {
        chapter: String,
        step: String,
    },
    ResetChapter(String),
    UndoReset,
    SetHypothesis {
        run_idx: usize,
        text: String,
    },
    ExportNotebook(ExportFormat),
    ExportProgress,
    CopyText(String),
    /// Copies a part of the screen as a picture; the rectangle is in points.
    CopyImage(egui::Rect),
    SaveText {
        name: String,
        text: String,
    },
    OpenUrl(String),
    RetryRunner(Backend),
    DismissNote(usize),
    CopyDiagnostics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Json,
    Csv,
    Markdown,
}
