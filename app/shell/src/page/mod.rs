//! A chapter's page: title, progress bar, the column of step cards, the decks. It scrolls as one page; figures never
//! capture the wheel unless focused.

pub mod chart;
pub mod check;
pub mod coming;
pub mod decks;
pub mod equation;
pub mod experiment;
pub mod figure;
pub mod lens;
pub mod order_gap;
pub mod point_name;
pub mod predict;
pub mod problem;
pub mod prose;
pub mod runs;
pub mod sketch;
pub mod veil;
pub mod verdict_words;

use crate::action::Action;
use crate::app::App;
use crate::panels::COLUMN;
use crate::route::{Page, Route};
use egui::{RichText, ScrollArea, Ui};
use std::collections::BTreeMap;
use std::sync::Arc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::{Chapter, Step, StepBody};
use vramlab_units::{Lang, Map, Text};
use vramlab_views::View;

const STEP_OF: Text = Text::new("第 {n} 步，共 {all} 步", "step {n} of {all}");
const MINUTES: Text = Text::new("约 {n} 分钟", "about {n} minutes");
const YOU_CAN: Text = Text::new("学完能做到", "What you can do afterwards");
const BROKEN: Text = Text::new("这一步读不出来，其余照常", "This step could not be read; the rest works");

/// The state of a step's widgets, kept while the program runs.
#[derive(Default)]
pub struct StepState {
    /// The figure, or why its parameters were refused.
    pub view: Option<Result<Box<dyn View>, String>>,
    /// The author's figure that the view was opened from; another one means that its file has changed.
    pub read_from: Option<Arc<vramlab_lesson::Figure>>,
    /// Parameters of the figure as the chapter opens it: reset and links compare with them.
    pub initial: Map,
    /// Parameters of the figure that the address carries.
    pub addressed: Map,
    /// Parameters the figure should be opened with, when a link brought some.
    pub wanted: Option<Map>,
    /// Why parameters of a link were refused, shown above the figure.
    pub refused: Option<String>,
    /// Text of a number field, and the number that the ruler shows.
    pub draft: String,
    pub guess: Option<f64>,
    /// A curve that is being drawn.
    pub marks: Vec<vramlab_views::experiment_chart::ReaderMark>,
    /// When the question came on screen, on egui's clock: what an answer took.
    pub asked_at: Option<f64>,
    pub chosen: Vec<usize>,
    pub order: Vec<usize>,
    pub n_hints: usize,
    pub sliders: BTreeMap<String, f64>,
    pub error: Option<String>,
    /// Which run of a review this is, for redrawing.
    pub draw_n: u64,
    pub is_answered: bool,
    /// How tall the card was, and for which page, when it was last laid out.
    pub laid_out: Option<LaidOut>,
    /// Which run of a card with several is looked at.
    pub run_idx: usize,
    /// Where the figure stood in the last frame, and whether its shapes are wanted as SVG.
    pub painted: Option<egui::Rect>,
    pub wants_svg: bool,
    /// When the end of the step came on screen.
    pub seen_since: Option<f64>,
    /// The reader asked for another try; earlier answers are kept but not shown.
    pub is_retrying: bool,
    /// The reader asked to see the figure before predicting.
    pub is_unveiled: bool,
    pub last_given: Option<crate::answers::Given>,
}

/// The height of a card on a page of this width, scale and language.
#[derive(Clone, Copy)]
pub struct LaidOut {
    width: f32,
    scale: f32,
    lang: Lang,
    height: f32,
}

/// The step that the page is on its way to.
pub struct Target {
    step: String,
    /// Where its card stood in the last frame, from the top of what is seen; for how many frames it has.
    top: f32,
    n_still: u8,
}

impl Target {
    pub fn new(step: &str) -> Self {
        Self { step: step.to_owned(), top: f32::NAN, n_still: 0 }
    }
}

/// Every step's state by `chapter/step`.
#[derive(Default)]
pub struct StepStates(BTreeMap<String, StepState>);

impl StepStates {
    pub fn get(&mut self, chapter: &str, step: &str) -> &mut StepState {
        self.0.entry(format!("{chapter}/{step}")).or_default()
    }

    /// Every state by `chapter/step`.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &StepState)> {
        self.0.iter().map(|(id, state)| (id.as_str(), state))
    }

    /// A link brought parameters for the figure at a step: whoever sent it wants this state seen.
    pub fn open_with(&mut self, chapter: &str, step: &str, params: &Map) {
        let state = self.get(chapter, step);
        state.wanted = Some(params.clone());
        state.is_unveiled = true;
        state.view = None;
    }

    /// Offers a text file to the figures of a chapter that are open, the one at `first` before the others: the step of the
    /// one that had a use for it, and whether it could be read.
    pub fn offer(
        &mut self,
        chapter: &str,
        first: Option<&str>,
        text: &str,
    ) -> Option<(String, Result<(), vramlab_units::Localized>)> {
        let prefix = format!("{chapter}/");
        let mut ours: Vec<_> = self.0.iter_mut().filter(|(key, _)| key.starts_with(&prefix)).collect();
        ours.sort_by_key(|(key, _)| key.strip_prefix(&prefix) != first);
        ours.into_iter().find_map(|(key, state)| {
            let view = state.view.as_mut()?.as_mut().ok()?;
            let read = view.offer(text)?;
            Some((key[prefix.len()..].to_owned(), read))
        })
    }

    pub fn forget(&mut self, chapter: &str) {
        let prefix = format!("{chapter}/");
        self.0.retain(|key, _| !key.starts_with(&prefix));
    }

    /// Figures are opened anew when their chapter has changed on disk.
    pub fn reload(&mut self, chapter: &str) {
        let prefix = format!("{chapter}/");
        for (_, state) in self.0.iter_mut().filter(|(key, _)| key.starts_with(&prefix)) {
            if matches!(state.view, Some(Err(_))) {
                state.view = None;
            }
        }
    }
}

/// A centred column no wider than the design's.
pub fn column(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Ui)) {
    let room = ui.available_width();
    let side = if room < tokens.px(640.0) { tokens.space.s } else { tokens.space.xxl };
    let width = (room - 2.0 * side).min(tokens.px(COLUMN)).max(240.0);
    let left = ((room - width) / 2.0).max(0.0);
    ui.horizontal_top(|ui| {
        ui.add_space(left);
        ui.vertical(|ui| {
            ui.set_width(width);
            ui.add_space(tokens.space.xl);
            add(ui);
            ui.add_space(tokens.space.xxl * 2.0);
        });
    });
}

/// The page of a chapter.
pub fn ui(app: &mut App, ui: &mut Ui, chapter_id: &str, actions: &mut Vec<Action>) {
    let Some(chapter) = app.library.chapter(chapter_id) else {
        return match app.library.awaited(chapter_id) {
            Some(path) => coming::ui(app, ui, Some((chapter_id, path))),
            None => crate::panels::start::ui(app, ui, actions),
        };
    };
    let tokens = app.tokens().clone();
    ScrollArea::vertical().id_salt(chapter_id).auto_shrink([false, false]).show(ui, |ui| {
        column(ui, &tokens, |ui| {
            header_ui(app, ui, &tokens, &chapter, actions);
            problems_ui(app, ui, &tokens, chapter_id);
            for step in &chapter.steps {
                step_ui(app, ui, &chapter, step, actions);
                ui.add_space(tokens.space.l);
            }
            decks::ui(app, ui, &chapter, actions);
            outcome_ui(ui, &tokens, &chapter, app.lang());
        });
    });
}

fn header_ui(app: &App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
    let title = format!("{number}{}", chapter.title.get(lang));
    ui.label(RichText::new(title).font(tokens.font(Type::Chapter)).color(tokens.ink));
    let current = current_step(app);
    let at = chapter.steps.iter().position(|step| Some(step.id.as_str()) == current);
    let mut parts = vec![chapter.subtitle.get(lang).to_owned()];
    match at {
        Some(at) => parts.push(
            STEP_OF.get(lang).replace("{n}", &(at + 1).to_string()).replace("{all}", &chapter.steps.len().to_string()),
        ),
        None if chapter.minutes > 0 => parts.push(MINUTES.get(lang).replace("{n}", &chapter.minutes.to_string())),
        None => {}
    }
    parts.retain(|part| !part.is_empty());
    ui.label(RichText::new(parts.join(" · ")).font(tokens.font(Type::Note)).color(tokens.muted));
    ui.add_space(tokens.space.s);
    let steps: Vec<(f32, String)> = chapter
        .steps
        .iter()
        .map(|step| {
            let share = if app.progress.is_done(&chapter.id, &step.id) { 1.0 } else { 0.0 };
            (share, step.title.get(lang).to_owned())
        })
        .collect();
    if let Some(idx) = crate::widgets::step_bar(ui, tokens, &steps, at.unwrap_or(usize::MAX)) {
        actions.push(Action::Go(Route::step(&chapter.id, &chapter.steps[idx].id)));
    }
    ui.add_space(tokens.space.l);
}

/// The id of the step in the address.
fn current_step(app: &App) -> Option<&str> {
    match &app.route.page {
        Page::Chapter { step: Some(step), .. } => Some(step),
        _ => None,
    }
}

/// Problems of a chapter from a pack, beside the text, so that its author sees them.
fn problems_ui(app: &App, ui: &mut Ui, tokens: &Tokens, chapter: &str) {
    let problems = app.library.problems(chapter);
    if problems.is_empty() {
        return;
    }
    crate::widgets::card(ui, tokens, |ui| {
        for problem in problems.iter().take(12) {
            problem::ui(ui, tokens, problem);
            ui.add_space(tokens.space.m);
        }
        if problems.len() > 12 {
            ui.label(format!("+ {}", problems.len() - 12));
        }
    });
    ui.add_space(tokens.space.l);
}

fn step_ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, actions: &mut Vec<Action>) {
    let is_target = app.scroll_to.as_ref().is_some_and(|target| target.step == step.id);
    let mut here =
        LaidOut { width: ui.available_width(), scale: ui.pixels_per_point(), lang: app.lang(), height: f32::NAN };
    let known = app.steps.get(&chapter.id, &step.id).laid_out;
    let far = known.filter(|_| !is_target).filter(|known| is_far_off(ui, *known, here));
    let response = ui.scope_builder(egui::UiBuilder::new().id_salt(&step.id), |ui| match (far, &step.body) {
        (Some(known), _) => {
            ui.allocate_space(egui::vec2(known.width, known.height));
        }
        (None, StepBody::Prose { text }) => prose::ui(app, ui, chapter, step, text, actions),
        (None, StepBody::Equation(equation)) => equation::ui(app, ui, chapter, step, equation, actions),
        (None, StepBody::Visualizer(figure)) => {
            figure::ui(app, ui, chapter, step, figure::Source::Visualizer(figure), actions)
        }
        (None, StepBody::Figure(figure)) => figure::ui(app, ui, chapter, step, figure::Source::Author(figure), actions),
        (None, StepBody::Predict(predict)) => predict::ui(app, ui, chapter, step, predict, actions),
        (None, StepBody::Experiment(experiment)) => experiment::ui(app, ui, chapter, step, experiment, actions),
        (None, StepBody::Check(question)) => {
            check::ui(app, ui, chapter, &step.id, step.title.get(app.lang()), question, actions)
        }
        (None, StepBody::Broken { problem }) => broken_ui(ui, app, problem),
    });
    if far.is_none() {
        here.height = response.response.rect.height();
        app.steps.get(&chapter.id, &step.id).laid_out = Some(here);
    }
    if is_target {
        hold_ui(app, ui, response.response.rect);
    }
}

/// Frames a card must stand still before the page leaves it to the reader.
const STILL_FRAMES: u8 = 3;

/// Keeps the page on the step that was asked for: cards above it grow when they are first laid out and when what they
/// fetch arrives. It ends when nothing moves any more, or as soon as the reader does.
fn hold_ui(app: &mut App, ui: &Ui, card: egui::Rect) {
    let has_moved = ui.input(|input| {
        input.pointer.any_down() || !input.keys_down.is_empty() || input.smooth_scroll_delta != egui::Vec2::ZERO
    });
    let top = card.top() - ui.clip_rect().top();
    let is_fetching = app.platform.is_fetching();
    let Some(target) = &mut app.scroll_to else { return };
    target.n_still = if (target.top - top).abs() < 0.5 && !is_fetching { target.n_still + 1 } else { 0 };
    target.top = top;
    if has_moved || target.n_still >= STILL_FRAMES {
        app.scroll_to = None;
        return;
    }
    let card = card.expand2(egui::vec2(0.0, 20.0));
    ui.scroll_to_rect_animation(card, Some(egui::Align::TOP), egui::style::ScrollAnimation::none());
    ui.ctx().request_repaint();
}

/// Whether a card of this height stands more than a screen away from what is seen: it keeps its place and costs nothing.
/// A screen reader reads the whole page, so for one nothing is left out.
fn is_far_off(ui: &Ui, known: LaidOut, here: LaidOut) -> bool {
    let is_same_page = (known.width, known.scale, known.lang) == (here.width, here.scale, here.lang);
    let is_read_aloud = ui.ctx().has_accesskit_node(egui::accesskit_root_id());
    let seen = ui.clip_rect();
    let top = ui.cursor().top();
    let is_near = top < seen.bottom() + seen.height() && top + known.height > seen.top() - seen.height();
    is_same_page && !is_read_aloud && !is_near
}

fn broken_ui(ui: &mut Ui, app: &App, problem: &vramlab_lesson::Problem) {
    let tokens = app.tokens();
    crate::widgets::card(ui, tokens, |ui| {
        ui.label(RichText::new(BROKEN.get(app.lang())).font(tokens.font(Type::Card)).color(tokens.bad));
        problem::ui(ui, tokens, problem);
    });
}

fn outcome_ui(ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, lang: Lang) {
    if chapter.outcome.is_empty() {
        return;
    }
    crate::widgets::card(ui, tokens, |ui| {
        ui.label(RichText::new(YOU_CAN.get(lang)).font(tokens.font(Type::Card)));
        ui.add_space(tokens.space.xs);
        ui.label(RichText::new(chapter.outcome.get(lang)).font(tokens.font(Type::Body)));
    });
}
