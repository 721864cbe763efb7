//! What the reader has shown so far, from the notebook's runs and the answers in the progress. Nothing is stored here: the
//! table is worked out from what is kept anyway.
//!
//! A processor's run is CPU evidence, also on a machine with a GPU. A replay shows what somebody else measured.

use crate::app::App;
use vramlab_kit::tokens::{Tokens, Verdict};
use vramlab_lesson::course::{Evidence, Needs, Task};
use vramlab_lesson::{Chapter, StepBody};
use vramlab_trace::Backend;
use vramlab_units::Text;

/// How far a claim is confirmed, from nothing to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    #[default]
    Open,
    /// Run or answered on the processor.
    Cpu,
    /// Seen in a recording of another device.
    Replayed,
    /// Run on the reader's own GPU.
    Live,
}

impl State {
    pub const ALL: [Self; 4] = [Self::Open, Self::Cpu, Self::Replayed, Self::Live];

    pub fn name(self) -> Text {
        match self {
            Self::Open => Text::new("未做", "not done"),
            Self::Cpu => Text::new("已做：CPU 证据", "done on CPU evidence"),
            Self::Replayed => Text::new("看过录制", "replayed from a recording"),
            Self::Live => Text::new("已做：GPU 实测", "done live on a GPU"),
        }
    }

    pub fn verdict(self) -> Verdict {
        match self {
            Self::Open | Self::Replayed => Verdict::Neutral,
            Self::Cpu | Self::Live => Verdict::Good,
        }
    }

    pub fn color(self, tokens: &Tokens) -> egui::Color32 {
        match self {
            Self::Replayed => tokens.accent,
            other => tokens.verdict(other.verdict()),
        }
    }
}

/// One thing that the reader can do to confirm something, and how far it is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub title: String,
    /// Where it is done.
    pub chapter: String,
    pub step: Option<String>,
    /// `None` while the chapter is not written.
    pub state: Option<State>,
}

/// The best state of an experiment: a run in the notebook with at least one valid point, else a replay that was seen.
pub fn of_experiment(app: &App, id: &str) -> State {
    let runs = app.notebook.entries.iter().filter(|entry| entry.run.experiment == id);
    let valid = runs.filter(|entry| entry.rows.iter().any(|row| row.measured.is_some() && row.invalid.is_none()));
    let best = valid.map(|entry| match entry.run.backend {
        Backend::Cuda => State::Live,
        _ => State::Cpu,
    });
    let best = best.max().unwrap_or_default();
    if best == State::Open && is_replayed(app, id) { State::Replayed } else { best }
}

/// The step of the experiment is done, and a recording is what it showed.
fn is_replayed(app: &App, id: &str) -> bool {
    let Some((chapter, step)) = app.library.step_of(id) else { return false };
    !app.library.trace_paths(id).is_empty() && app.progress.is_done(&chapter, &step)
}

/// A check that was answered rightly.
fn of_check(app: &App, chapter: &str, step: &str) -> State {
    let is_right = app.progress.step(chapter, step).and_then(|progress| progress.is_right) == Some(true);
    if is_right { State::Cpu } else { State::Open }
}

/// A row of a task: every check must be right, one of the experiments must have run. What a GPU has to confirm is open
/// as long as only the processor has spoken.
pub fn of_row(app: &App, row: &Evidence) -> Option<State> {
    if row.runs.is_empty() && row.checks.is_empty() {
        return None;
    }
    let checks = row.checks.iter().filter_map(|check| check.split_once('/'));
    let all_checks = checks.map(|(chapter, step)| of_check(app, chapter, step)).min();
    let best_run = row.runs.iter().map(|id| of_experiment(app, id)).max();
    let state = match (all_checks, best_run) {
        (Some(State::Open), _) => State::Open,
        (Some(_), Some(run)) => run,
        (Some(state), None) | (None, Some(state)) => state,
        (None, None) => State::Open,
    };
    Some(if row.needs == Needs::Gpu && state == State::Cpu { State::Open } else { state })
}

/// The items of a written chapter, by who can confirm them: its experiments, and its checks for the processor's side.
pub fn of_chapter(app: &App, chapter: &Chapter, needs: Needs) -> Vec<Item> {
    let lang = app.lang();
    let mut items = Vec::new();
    for step in &chapter.steps {
        let item = |title: String, state| Item {
            title,
            chapter: chapter.id.clone(),
            step: Some(step.id.clone()),
            state: Some(state),
        };
        match &step.body {
            StepBody::Experiment(body) => {
                for run in body.all() {
                    let Some((experiment, _)) = app.library.experiment(&run.run) else { continue };
                    if (experiment.backend == Backend::Cpu) == (needs == Needs::Cpu) {
                        items.push(item(experiment.title.get(lang).to_owned(), of_experiment(app, &run.run)));
                    }
                }
            }
            StepBody::Check(_) if needs == Needs::Cpu => {
                items.push(item(step.title.get(lang).to_owned(), of_check(app, &chapter.id, &step.id)));
            }
            _ => {}
        }
    }
    items
}

/// The exit of a chapter: its last check.
pub fn exit_of_chapter(app: &App, chapter: &Chapter) -> Option<State> {
    let last = chapter.steps.iter().rfind(|step| matches!(step.body, StepBody::Check(_)))?;
    Some(of_check(app, &chapter.id, &last.id))
}

/// The exit of a task is reached when every row is; `None` while one of its chapters is not written.
pub fn exit_of_task(app: &App, task: &Task) -> Option<State> {
    let states: Option<Vec<State>> = task.evidence.iter().map(|row| of_row(app, row)).collect();
    states?.into_iter().min()
}

/// How many of the items are done in any way.
pub fn n_done(items: &[Item]) -> usize {
    items.iter().filter(|item| item.state.is_some_and(|state| state != State::Open)).count()
}
