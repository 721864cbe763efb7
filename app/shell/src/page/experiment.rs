//! An experiment card: what it asks, the chart with prediction and measurement, the verdict in words, and what the
//! reader can do. Live and recorded runs go through exactly the same code.

use crate::action::Action;
use crate::app::App;
use crate::experiments::{Activity, ExperimentState};
use crate::page::chart;
use crate::page::figure::separated;
use crate::page::lens::{self, Looking};
use crate::page::prose::markdown_ui;
use crate::page::verdict_words::{finding, verdict_ui};
use crate::page::{runs, sketch, veil};
use crate::platform::{BackendState, Fetch};
use crate::text;
use crate::widgets::{self, Evidence};
use egui::{RichText, Ui};
use std::rc::Rc;
use vramlab_gpu::RunError;
use vramlab_gpu::manifest::{Experiment, Kernel};
use vramlab_gpu::verdict::{self, Counters, Judged, Verdict};
use vramlab_kit::tokens::{Tokens, Type, Verdict as Tone};
use vramlab_lesson::{Chapter, ExperimentStep, Step, StepBody};
use vramlab_trace::{Backend, Run};
use vramlab_units::{Lang, Text};
use vramlab_views::ChartData;

const EXPERIMENT: Text = Text::new("实验", "Experiment");
const LOADING: Text = Text::new("正在取录制…", "fetching the recording…");
const NO_RECORDING: Text =
    Text::new("还没有结果：在本机运行，几秒钟就有。", "No result yet: run it on this machine; it takes seconds.");
const OPENING: Text = Text::new("正在启动…", "starting…");
const DEVICES: Text = Text::new("设备", "Device");
const MEASURE_TO_SEE: Text = Text::new("先想好你的答案，再看结果。", "Settle on your answer first, then look.");
const SHOW_RECORDED: Text = Text::new("揭晓录制的结果", "Reveal the recorded result");
const TURN_ON: Text = Text::new("重新启用运行器", "Turn the runner on again");
const COPY_TSV: Text = Text::new("复制数据（TSV）", "Copy data as TSV");
const SAVE_CSV: Text = Text::new("保存数据为 CSV…", "Save data as CSV…");

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, all: &ExperimentStep, actions: &mut Vec<Action>) {
    let run_idx = runs::chosen(app, chapter, step, all);
    let body = all.at(run_idx);
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let kernels = Rc::clone(app.library.kernels());
    let Some((experiment, kernel)) = kernels.get(&body.run) else {
        widgets::card(ui, &tokens, |ui| {
            ui.label(RichText::new(format!("no experiment is called \"{}\"", body.run)).color(tokens.bad));
        });
        return;
    };
    let fetching = load_recordings(app, &body.run);
    advance(app, ui, &body.run);
    // Taken out for the frame: the card borrows both the state and the application.
    let state = std::mem::take(app.experiments.get(&body.run));
    let shown = shown(app, chapter, step, &state, (experiment, kernel));
    let is_hidden = is_hidden(app, chapter, step, run_idx, &state);
    widgets::card(ui, &tokens, |ui| {
        header_ui(app, ui, &tokens, step, experiment, &state, shown.judged.as_ref(), actions);
        runs::ui(app, ui, &tokens, (chapter, step), all, actions);
        markdown_ui(app, ui, &chapter.id, &body.text, actions);
        ui.add_space(tokens.space.xs);
        if is_hidden || shown.is_empty {
            // Nothing to show, or nothing yet: no empty axes.
            if !shown.is_empty {
                hidden_ui(ui, &tokens, lang, &state, &body.run, actions);
            }
            return activity_ui(ui, &tokens, lang, &state, fetching.as_deref(), actions);
        }
        lens::ui(app, ui, &tokens, (chapter, step), (all, run_idx), experiment, actions);
        if let Some(why) = &shown.nothing {
            return lens::nothing_ui(ui, &tokens, why.get(lang));
        }
        let figure = app.charts.entry(body.run.clone()).or_default().ui(ui, &tokens, lang, &shown.data).rect;
        ui.add_space(tokens.space.xs);
        activity_ui(ui, &tokens, lang, &state, fetching.as_deref(), actions);
        if let Some(judged) = &shown.judged {
            verdict_ui(ui, &tokens, lang, &state, judged, experiment);
            lens::verdict_note_ui(ui, &tokens, lang, experiment, &shown.key.lens);
            sketch::gap_ui(ui, &tokens, lang, experiment, &shown.data, &shown.key.curves);
            if !matches!(judged.verdict, Verdict::Incomplete) {
                markdown_ui(app, ui, &chapter.id, &body.explain, actions);
                actions.extend(done(app, chapter, step));
            }
        }
        menu_ui(ui, &tokens, lang, &shown.data, figure, step, actions);
    });
    *app.experiments.get(&body.run) = state;
}

/// What a card shows, judged and made into a chart once for each state and not in every frame.
pub struct Shown {
    key: Key,
    judged: Option<Judged>,
    data: ChartData,
    /// Why the lens shows nothing.
    nothing: Option<vramlab_units::Localized>,
    /// Neither a run nor a plan.
    is_empty: bool,
}

/// Everything on which [`Shown`] depends.
#[derive(PartialEq)]
struct Key {
    lang: Lang,
    lens: String,
    shows_live: bool,
    recorded_idx: usize,
    n_recorded: usize,
    n_points: usize,
    job_id: Option<u64>,
    reader: Vec<(f64, crate::answers::Given)>,
    curves: Vec<(Option<String>, crate::answers::Given)>,
}

fn shown(
    app: &mut App,
    chapter: &Chapter,
    step: &Step,
    state: &ExperimentState,
    (experiment, kernel): (&Experiment, &Kernel),
) -> Rc<Shown> {
    let run = state.shown();
    let lens = app.lens_of(&experiment.id);
    let looking = Looking::of(experiment, &lens);
    // What the reader predicted is the measure.
    let is_measure = looking == Looking::Measure;
    let key = Key {
        lang: app.lang(),
        shows_live: state.shows_live,
        recorded_idx: state.recorded_idx,
        n_recorded: state.recorded.len(),
        n_points: run.map_or(0, |(_, n)| n),
        job_id: state.activity.job_id(),
        reader: if is_measure { reader_marks(app, chapter, step, &experiment.measure.unit) } else { Vec::new() },
        curves: if is_measure { sketch::curves(app, chapter, step, &experiment.id) } else { Vec::new() },
        lens,
    };
    if let Some(known) = app.shown.get(&experiment.id).filter(|known| known.key == key) {
        return Rc::clone(known);
    }
    let plan = match &state.activity {
        Activity::Running { plan, .. } => Some(plan),
        _ => None,
    };
    let run = run.map(|(run, n)| Run { points: run.points[..n].to_vec(), ..run.clone() });
    let judged = run.as_ref().map(|run| verdict::judge(run, experiment, kernel));
    let words = judged.as_ref().map(|judged| finding(judged, experiment)).unwrap_or_default();
    let is_empty = run.is_none() && plan.is_none();
    let nothing = lens::nothing(looking, experiment, judged.as_ref());
    let seen = run.as_ref().zip(judged.as_ref()).and_then(|(run, judged)| looking.see(experiment, run, judged));
    let (cx, seen) = match &seen {
        Some((through, seen)) => ((through, kernel), Some(seen)),
        None => ((experiment, kernel), judged.as_ref()),
    };
    let plan = plan.filter(|_| is_measure);
    let mut data = chart::chart(cx, seen, run.as_ref(), plan, &key.reader, words, key.lang);
    for (idx, (series, given)) in key.curves.iter().enumerate() {
        if let crate::answers::Given::Sketch { points } = given {
            sketch::add(&mut data, idx + 1, series.as_deref(), points, experiment);
        }
    }
    let made = Rc::new(Shown { key, judged, data, nothing, is_empty });
    app.shown.insert(experiment.id.clone(), Rc::clone(&made));
    made
}

/// Loads the program's own recordings the first time the card is seen. The words say why there is none yet.
fn load_recordings(app: &mut App, experiment: &str) -> Option<String> {
    let lang = app.lang();
    let paths = app.library.trace_paths(experiment);
    let known: Vec<String> = app.experiments.get(experiment).recorded.iter().map(|r| r.path.clone()).collect();
    let mut words = None;
    for path in &paths {
        if known.contains(path) || app.broken_traces.contains_key(path) {
            continue;
        }
        match app.platform.fetch(path) {
            Fetch::Here(bytes) => match app.library.recorded(path, &bytes) {
                Ok(recorded) => app.experiments.get(experiment).recorded.push(recorded),
                Err(why) => drop(app.broken_traces.insert(path.clone(), why)),
            },
            Fetch::Waiting => words = Some(LOADING.get(lang).to_owned()),
            Fetch::Failed(why) => drop(app.broken_traces.insert(path.clone(), why)),
        }
    }
    let has_any = !app.experiments.get(experiment).recorded.is_empty();
    let broken = paths.iter().find_map(|path| app.broken_traces.get(path).cloned());
    words.or(broken.filter(|_| !has_any)).or_else(|| {
        let is_live_only = app.experiments.get(experiment).live.is_some();
        (!has_any && !is_live_only && paths.is_empty()).then(|| NO_RECORDING.get(lang).to_owned())
    })
}

fn advance(app: &mut App, ui: &Ui, experiment: &str) {
    let now = ui.input(|input| input.time);
    let state = app.experiments.get(experiment);
    if state.advance_replay(now, REPLAY_STEP_SECS) || state.activity.is_busy() {
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(60));
    }
}

/// Nothing is shown before the reader has committed: to every prediction that this step reveals, or else by asking for the
/// result. Once a step is done its result stays.
fn is_hidden(app: &App, chapter: &Chapter, step: &Step, run_idx: usize, state: &ExperimentState) -> bool {
    let is_done = run_idx == 0 && app.progress.is_done(&chapter.id, &step.id);
    if state.is_revealed || state.activity.is_busy() || app.reveals_all || is_done {
        return false;
    }
    veil::asked(chapter, step).next().is_none() || veil::open_question(app, chapter, step).is_some()
}

/// What stands in the place of a result that the reader has not asked for yet.
fn hidden_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &ExperimentState, id: &str, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if !state.recorded.is_empty() && widgets::secondary(ui, tokens, SHOW_RECORDED.get(lang)).clicked() {
            actions.push(Action::Replay { experiment: id.to_owned() });
        }
        ui.label(RichText::new(MEASURE_TO_SEE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    });
}

/// Time between two points of a replay.
pub const REPLAY_STEP_SECS: f64 = 0.08;

fn done(app: &App, chapter: &Chapter, step: &Step) -> Option<Action> {
    let is_open = !app.reveals_all && !app.progress.is_done(&chapter.id, &step.id);
    is_open.then(|| Action::StepDone { chapter: chapter.id.clone(), step: step.id.clone() })
}

/// Number predictions of the chapter that this step reveals, at the x they were asked for.
fn reader_marks(app: &App, chapter: &Chapter, step: &Step, unit: &str) -> Vec<(f64, crate::answers::Given)> {
    chapter
        .steps
        .iter()
        .filter_map(|candidate| match &candidate.body {
            StepBody::Predict(predict) if predict.revealed_by.as_deref() == Some(step.id.as_str()) => {
                let given = app.answer(&chapter.id, &candidate.id)?.clone();
                let is_same_unit =
                    matches!(&predict.question.form, vramlab_lesson::Form::Number { unit: asked, .. } if asked == unit);
                Some((predict.at_x.filter(|_| is_same_unit)?, given))
            }
            _ => None,
        })
        .collect()
}

#[expect(clippy::too_many_arguments, reason = "one call site, borrowed from one frame")]
fn header_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    step: &Step,
    experiment: &Experiment,
    state: &ExperimentState,
    judged: Option<&Judged>,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    let title = match step.title.get(lang) {
        "" => experiment.title.get(lang),
        title => title,
    };
    let id = experiment.id.clone();
    widgets::card_header(ui, tokens, title, EXPERIMENT.get(lang), |ui| {
        if state.activity.is_busy() {
            if widgets::secondary(ui, tokens, text::CANCEL.get(lang)).clicked() {
                actions.push(Action::Cancel { experiment: id.clone() });
            }
        } else {
            run_buttons(app, ui, tokens, lang, step, experiment, actions);
            let has_result =
                state.is_revealed || app.reveals_all || judged.is_some_and(|judged| !judged.points.is_empty());
            if has_result
                && !state.recorded.is_empty()
                && widgets::secondary(ui, tokens, text::REPLAY.get(lang)).clicked()
            {
                actions.push(Action::Replay { experiment: id.clone() });
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        for evidence in evidence(state, judged) {
            widgets::chip(ui, tokens, &evidence, lang);
        }
    });
    ui.add_space(tokens.space.xxs);
    if state.recorded.len() > 1 {
        device_choice(ui, tokens, lang, &id, state, actions);
    }
}

/// Where the numbers on screen come from.
fn evidence(state: &ExperimentState, judged: Option<&Judged>) -> Vec<Evidence> {
    let mut out = Vec::new();
    if judged.is_some_and(|judged| matches!(judged.counters, Counters::Agree { .. })) {
        out.push(Evidence::Counter);
    }
    match (state.shown_recording(), &state.live) {
        (Some(recorded), _) => out.push(Evidence::Recorded {
            device: short_device(&recorded.run.device.name),
            driver: recorded.run.device.driver.clone(),
            date: recorded.run.date.clone(),
        }),
        (None, Some(run)) => {
            out.push(Evidence::Live { device: short_device(&run.device.name), is_cpu: run.backend == Backend::Cpu })
        }
        (None, None) => out.push(Evidence::Model),
    }
    out
}

/// A device's name without what everybody knows.
pub fn short_device(name: &str) -> String {
    name.replace("NVIDIA ", "").replace("(R)", "").replace(" Processor", "")
}

fn run_buttons(
    app: &App,
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    step: &Step,
    experiment: &Experiment,
    actions: &mut Vec<Action>,
) {
    let run = |is_full: bool| Action::Run {
        step: step.id.clone(),
        experiment: experiment.id.clone(),
        backend: experiment.backend,
        is_full,
    };
    match app.platform.backend(experiment.backend) {
        BackendState::Unavailable { why, fix } => {
            ui.add_enabled(false, egui::Button::new(text::RUN_HERE.get(lang))).on_disabled_hover_text(format!(
                "{}\n{}",
                why.get(lang),
                fix.get(lang)
            ));
        }
        _ => {
            if widgets::primary(ui, tokens, text::RUN_HERE.get(lang)).clicked() {
                actions.push(run(false));
            }
            if widgets::link(ui, tokens, text::RUN_FULL.get(lang)).clicked() {
                actions.push(run(true));
            }
        }
    }
}

fn device_choice(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    id: &str,
    state: &ExperimentState,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(DEVICES.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        for (idx, recorded) in state.recorded.iter().enumerate() {
            let is_here = idx == state.recorded_idx && !(state.shows_live && state.live.is_some());
            let name = format!("{} · {}", recorded.run.device.name, recorded.run.date);
            if widgets::pill(ui, tokens, is_here, &name).clicked() {
                actions.push(Action::ShowRecording { experiment: id.to_owned(), idx });
            }
        }
    });
}

/// Progress, errors, and what can be done about them.
fn activity_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    state: &ExperimentState,
    fetching: Option<&str>,
    actions: &mut Vec<Action>,
) {
    let note = |ui: &mut Ui, text: &str| {
        ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
    };
    match &state.activity {
        Activity::Idle => {
            if let Some(words) = fetching {
                note(ui, words);
            }
        }
        Activity::Opening { .. } => note(ui, OPENING.get(lang)),
        Activity::Running { done, total, .. } => {
            let share = *done as f32 / (*total).max(1) as f32;
            ui.add(egui::ProgressBar::new(share).desired_height(tokens.px(6.0)));
        }
        Activity::Failed { error } => error_ui(ui, tokens, lang, error, actions),
    }
}

/// What happened and what to do; compiler output in full.
fn error_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, error: &RunError, actions: &mut Vec<Action>) {
    let said = error.say(lang);
    let mut note = vramlab_kit::widgets::Note::new(Tone::Bad, &said.what, &said.advice);
    let retry = TURN_ON.get(lang);
    if matches!(error, RunError::CrashLoop { .. }) {
        note = note.action(retry);
    }
    if note.show(ui, tokens).is_action_clicked {
        actions.push(Action::RetryRunner(Backend::Cuda));
    }
    if let RunError::Compile { log, .. } = error {
        ui.label(RichText::new(log).font(tokens.font(Type::MonoSmall)));
    }
}

fn menu_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    data: &ChartData,
    chart: egui::Rect,
    step: &Step,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        if widgets::link(ui, tokens, COPY_TSV.get(lang)).clicked() {
            actions.push(Action::CopyText(separated(&data.table(lang), "\t")));
        }
        if widgets::link(ui, tokens, SAVE_CSV.get(lang)).clicked() {
            actions
                .push(Action::SaveText { name: format!("{}.csv", step.id), text: separated(&data.table(lang), ",") });
        }
        if widgets::link(ui, tokens, text::COPY_IMAGE.get(lang)).clicked() {
            actions.push(Action::CopyImage(chart.expand(8.0)));
        }
        if widgets::link(ui, tokens, text::SAVE_SVG.get(lang)).clicked() {
            let text = vramlab_views::svg::from_painter(ui.painter(), chart, tokens.surface, data.finding.get(lang));
            actions.push(Action::SaveText { name: format!("{}.svg", step.id), text });
        }
    });
}
