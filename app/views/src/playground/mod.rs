//! The playground: a kernel of the course in an editor, most of them exercises about how a kernel treats memory. A check plays it on
//! the processor and judges its goals by the addresses that it used; where there is a GPU, the same text is compiled, run and counted
//! there. What is slow or fast, only a GPU tells; no goal is time.
//!
//! `desk.rs` is the kernel and the text, shared by every figure and page that shows it; `files.rs` brings it; `device.rs` is what a
//! GPU said. `code.rs` is the editor, `typing.rs` what its keys do, `find.rs` the search in it, `device_ui.rs` the GPU's part,
//! `words.rs` the sentences.

mod code;
pub mod desk;
pub mod device;
mod device_ui;
mod files;
pub mod find;
mod typing;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use desk::Desk;
use egui::{Grid, Key, Label, Modifiers, RichText, Ui};
use files::Files;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_gpu::exercise::{Exercise, Judged, Try};
use vramlab_kit::{Button, Tokens, Type, Verdict};
use vramlab_simt::Space;
use vramlab_units::show::{grouped, number};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text, Value};

/// Every exercise, in the order of difficulty.
pub const EXERCISES: &[&str] = &[
    "exercise_coalesce",
    "exercise_vector_copy",
    "exercise_struct_tile",
    "exercise_transpose",
    "exercise_bank_conflicts",
    "exercise_swizzle",
    "exercise_missing_barrier",
    "exercise_window",
    "exercise_tiled_product",
    "exercise_register_reuse",
    "exercise_atomics",
    "exercise_warp_sum",
    "exercise_softmax",
];

/// What an exercise asks for, in a line.
pub fn goals_of(exercise: &Exercise, lang: Lang) -> String {
    let semicolon = if lang == Lang::Zh { "；" } else { "; " };
    exercise.goals.iter().map(|goal| words::goal(goal, lang)).collect::<Vec<_>>().join(semicolon)
}

/// A desk that several figures may stand at.
pub type Shared = Rc<RefCell<Desk>>;

enum State {
    Loading(Files),
    Ready(Shared),
    Failed(String),
}

/// See the module's docs.
pub struct Playground {
    slug: String,
    state: State,
}

impl Playground {
    /// The playground of any kernel of the course.
    pub fn of(slug: &str) -> Self {
        Self { slug: slug.to_owned(), state: State::Loading(Files::of(slug)) }
    }

    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The desk, once its files are here.
    pub fn desk(&self) -> Option<&Shared> {
        match &self.state {
            State::Ready(desk) => Some(desk),
            State::Loading(_) | State::Failed(_) => None,
        }
    }

    /// Stands at another's desk from now on.
    pub fn share(&mut self, desk: &Shared) {
        self.state = State::Ready(Rc::clone(desk));
    }

    fn buttons_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, wants_focus: bool) {
        let is_asked = ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Enter));
        controls::row(ui, tokens, |flow| {
            if desk.host().is_none() {
                let check = Button::primary(words::CHECK.get(lang));
                let response = flow.item(|ui| check.show(ui, tokens)).on_hover_text("Ctrl+Enter");
                if wants_focus {
                    response.request_focus();
                }
                if response.clicked() || is_asked {
                    desk.ask_check();
                }
                device_ui::buttons_ui(flow, tokens, lang, desk);
            }
            let all = desk.exercise.as_ref().map_or(0, |exercise| exercise.hints.len());
            let hint = format!("{} {}/{all}", words::HINT.get(lang), desk.n_hints);
            if all > 0 && controls::button(flow, tokens, &hint) {
                desk.n_hints = if desk.n_hints < all { desk.n_hints + 1 } else { 0 };
            }
            let label = if desk.shows_solution() { words::BACK } else { words::SOLUTION };
            let solution = Button::quiet(label.get(lang)).selected(desk.shows_solution());
            if desk.solution.is_some() && flow.item(|ui| solution.show(ui, tokens)).clicked() {
                desk.toggle_solution();
            }
            if desk.is_changed() && controls::button(flow, tokens, words::RESET.get(lang)) {
                desk.reset();
            }
            if desk.can_take_back() && controls::button(flow, tokens, words::TAKE_BACK.get(lang)) {
                desk.take_back();
            }
            if let Some(line) = desk.first_fault()
                && controls::button(flow, tokens, &words::go_to(line, lang))
            {
                desk.jump = Some(line);
            }
            let find = Button::quiet(words::FIND.get(lang)).selected(desk.find.is_some());
            if flow.item(|ui| find.show(ui, tokens)).on_hover_text("Ctrl+F").clicked() {
                desk.find = if desk.find.is_some() { None } else { Some(find::Find::open()) };
            }
        });
    }

    fn desk_ui(ui: &mut Ui, cx: &mut ViewCx<'_>, desk: &mut Desk) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let task = desk.exercise.as_ref().map_or(desk.kernel.about.get(lang), |exercise| exercise.task.get(lang));
        text_ui(ui, tokens, task, Type::Body, tokens.ink);
        ui.add_space(tokens.space.s);
        if desk.host().is_some() {
            if !desk.source.is_empty() {
                code::editor_ui(ui, tokens, lang, desk, &BTreeMap::new());
                ui.add_space(tokens.space.s);
                Self::buttons_ui(ui, tokens, lang, desk, false);
            }
            return;
        }
        let marks = desk.marks();
        let wants_out = code::editor_ui(ui, tokens, lang, desk, &marks);
        if let Some(bytes) = desk.refused {
            judged_ui(ui, tokens, false, &words::refused(bytes, lang));
        }
        ui.add_space(tokens.space.s);
        Self::buttons_ui(ui, tokens, lang, desk, wants_out);
        device_ui::state_ui(ui, tokens, lang, desk);
        Self::hints_ui(ui, tokens, lang, desk);
        ui.add_space(tokens.space.xs);
        let outcome = ui.scope(|ui| Self::outcome_ui(ui, tokens, lang, desk)).response;
        let figure = ui.interact(outcome.rect, ui.scope_id().with("outcome"), egui::Sense::focusable_noninteractive());
        figure::focus_ring(ui, tokens, &figure);
        figure::speak(&figure, &words::finding(desk, lang), None);
        device_ui::ui(ui, tokens, lang, desk, cx.actions);
        ui.add_space(tokens.space.s);
        if let Some(Ok(tried)) = &desk.outcome {
            controls::key_numbers(ui, tokens, lang, &numbers(tried));
        }
    }

    fn hints_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &Desk) {
        let hints = desk.exercise.iter().flat_map(|exercise| &exercise.hints);
        for hint in hints.take(desk.n_hints) {
            text_ui(ui, tokens, &format!("· {}", hint.get(lang)), Type::Note, tokens.muted);
        }
    }

    fn outcome_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &Desk) {
        let Some(Ok(tried)) = &desk.outcome else { return };
        if desk.is_stale() {
            return;
        }
        ui.add_space(tokens.space.xs);
        if let (None, Some(params)) = (&desk.exercise, &desk.params) {
            text_ui(ui, tokens, &words::played_with(params, lang), Type::Small, tokens.muted);
        }
        goals_ui(ui, tokens, lang, tried, &desk.counted());
        ui.add_space(tokens.space.s);
        accesses_ui(ui, tokens, lang, tried);
    }
}

fn text_ui(ui: &mut Ui, tokens: &Tokens, text: &str, role: Type, color: egui::Color32) {
    ui.add(Label::new(RichText::new(text).font(tokens.font(role)).color(color)).wrap());
}

/// A line with a tick or a cross.
fn judged_ui(ui: &mut Ui, tokens: &Tokens, is_met: bool, text: &str) {
    let (mark, color) = if is_met { ("✓", tokens.good) } else { ("✗", tokens.bad) };
    text_ui(ui, tokens, &format!("{mark}  {text}"), Type::Note, color);
}

fn goals_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, tried: &Try, counted: &[Option<Judged>]) {
    let is_passed = matches!(tried.played.oracle, vramlab_trace::OracleOutcome::Passed { .. });
    let said = words::oracle(&tried.played.oracle, lang);
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    judged_ui(ui, tokens, is_passed, &format!("{}{colon}{said}", words::RIGHT.get(lang)));
    for report in &tried.played.reports {
        for race in &report.races {
            judged_ui(ui, tokens, false, &words::race(race.first.line, race.second.line, lang));
        }
        for at in &report.unwritten {
            judged_ui(ui, tokens, false, &words::unwritten(at.line, lang));
        }
    }
    for (idx, goal) in tried.goals.iter().enumerate() {
        let comma = if lang == Lang::Zh { "，" } else { ", " };
        let mut said = format!("{}{comma}{}", words::goal(&goal.goal, lang), words::found(goal, lang));
        let counted = counted.get(idx).and_then(Option::as_ref);
        if let Some(counted) = counted {
            said = format!("{said}{comma}{}", words::counted(counted, lang));
        }
        judged_ui(ui, tokens, goal.is_met && counted.is_none_or(|counted| counted.is_met), &said);
    }
}

/// Every access of the source with what its requests come to.
fn accesses_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, tried: &Try) {
    text_ui(ui, tokens, words::ACCESSES.get(lang), Type::NoteStrong, tokens.ink);
    let small = |text: String, color| Label::new(RichText::new(text).font(tokens.font(Type::MonoSmall)).color(color));
    egui::ScrollArea::horizontal().id_salt("accesses").show(ui, |ui| {
        Grid::new("accesses").spacing([tokens.space.m, tokens.space.xxs]).show(ui, |ui| {
            for header in words::HEADER {
                ui.add(small(header.get(lang).to_owned(), tokens.muted));
            }
            ui.end_row();
            for row in rows(tried, lang) {
                let color = if row.is_wasteful { tokens.caution } else { tokens.ink };
                for cell in row.cells {
                    ui.add(small(cell, color));
                }
                ui.end_row();
            }
        });
    });
}

struct Row {
    cells: [String; 5],
    is_wasteful: bool,
}

fn rows(tried: &Try, lang: Lang) -> Vec<Row> {
    let sites = tried.played.reports.iter().flat_map(|report| &report.sites);
    let shown = sites.filter(|(key, _)| key.space != Space::Local).map(|(key, site)| {
        let each = |count: u64| number(count as f64 / site.requests.max(1) as f64);
        let what = format!("{} {} B", words::act(key.space, key.act).get(lang), key.width);
        let moved = format!("{} {}", each(site.moved), words::unit(key.space).get(lang));
        let cells = [key.at.line.to_string(), what, grouped(site.requests as f64), moved, each(site.least)];
        Row { cells, is_wasteful: site.moved > site.least }
    });
    shown.collect()
}

impl View for Playground {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        match &self.state {
            State::Loading(_) => text_ui(ui, cx.tokens, words::LOADING.get(cx.lang), Type::Note, cx.tokens.muted),
            State::Failed(why) => figure::problem_ui(ui, cx.tokens, why),
            State::Ready(desk) => Self::desk_ui(ui, cx, &mut desk.borrow_mut()),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.state {
            State::Loading(_) => words::LOADING.get(lang).to_owned(),
            State::Failed(why) => why.clone(),
            State::Ready(desk) => words::finding(&desk.borrow(), lang),
        }
    }

    fn params(&self) -> Map {
        Map::from_iter([("exercise".to_owned(), Value::from(self.slug.as_str()))])
    }

    fn playground(&mut self) -> Option<&mut Playground> {
        Some(self)
    }

    fn data(&self) -> DataTable {
        let State::Ready(desk) = &self.state else { return DataTable::default() };
        let desk = desk.borrow();
        let Some(Ok(tried)) = &desk.outcome else { return goals(&desk) };
        let header = words::HEADER.iter().map(|text| text.get(Lang::En).to_owned()).collect();
        DataTable { header, rows: rows(tried, Lang::En).into_iter().map(|row| row.cells.to_vec()).collect() }
    }

    fn wants(&self) -> Option<String> {
        if let State::Loading(files) = &self.state { files.wanted(&self.slug) } else { None }
    }

    fn take(&mut self, asset: Result<&[u8], String>) {
        let State::Loading(files) = &mut self.state else { return };
        match asset.and_then(|bytes| String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())) {
            Ok(text) => files.add(&self.slug, text),
            Err(why) => {
                self.state = State::Failed(why);
                return;
            }
        }
        if files.wanted(&self.slug).is_none() {
            self.state = match files.desk(&self.slug) {
                Ok(desk) => State::Ready(Rc::new(RefCell::new(desk))),
                Err(why) => State::Failed(why),
            };
        }
    }
}

/// What is asked for, before anything was checked.
fn goals(desk: &Desk) -> DataTable {
    let bound = |bound: Option<f64>| bound.map(number).unwrap_or_default();
    let row = |goal: &vramlab_gpu::exercise::Goal| vec![goal.metric.id(), bound(goal.at_most), bound(goal.at_least)];
    let header = ["metric", "at_most", "at_least"].map(str::to_owned).to_vec();
    DataTable { header, rows: desk.exercise.iter().flat_map(|exercise| &exercise.goals).map(row).collect() }
}

fn numbers(tried: &Try) -> Vec<KeyNumber> {
    let reports = &tried.played.reports;
    let sum = |of: fn(&vramlab_simt::Report) -> u64| reports.iter().map(of).sum::<u64>();
    let bytes = sum(|report| report.dram_read_bytes + report.dram_write_bytes);
    let met = tried.goals.iter().filter(|goal| goal.is_met).count();
    let verdict = if tried.is_solved() { Verdict::Good } else { Verdict::Bad };
    let goals = Text::new("达到的目标", "goals met");
    let goals = KeyNumber::new(goals, format!("{met} / {}", tried.goals.len())).judged(verdict);
    let rest = [
        KeyNumber::new(Text::new("显存至少搬", "least bytes of DRAM"), format!("{} B", grouped(bytes as f64))),
        KeyNumber::new(Text::new("浮点运算", "FLOP"), grouped(sum(|report| report.flop) as f64)),
        KeyNumber::new(Text::new("barrier", "barriers"), grouped(sum(|report| report.barriers) as f64)),
    ];
    // A kernel that is no exercise has no goals.
    (!tried.goals.is_empty()).then_some(goals).into_iter().chain(rest).collect()
}

impl Visualizer for Playground {
    const ID: &'static str = "playground";
    const TITLE: Text = Text::new("改 kernel，看它怎样碰内存", "Edit a kernel and see how it treats memory");

    fn fields() -> Vec<FieldSpec> {
        let options = EXERCISES.iter().map(|slug| (*slug).into()).collect();
        let doc = Text::new("哪一道题", "Which exercise");
        vec![FieldSpec::new("exercise", "", FieldKind::Choice { options }, doc).default_value(EXERCISES[0])]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let given = args.text("exercise");
        let slug = EXERCISES.iter().find(|slug| **slug == given).copied().unwrap_or(EXERCISES[0]);
        Ok(Self::of(slug))
    }
}

#[cfg(test)]
mod tests;
