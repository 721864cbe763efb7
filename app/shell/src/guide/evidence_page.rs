//! The evidence table: what a processor can confirm, what needs a GPU, and the exit; filled from the reader's own runs and
//! answers.

use crate::action::Action;
use crate::app::App;
use crate::guide::evidence::{self, Item, State};
use crate::guide::{parts, task_page};
use crate::route::{Page, Route};
use crate::widgets;
use egui::{Label, RichText, Sense, Ui, vec2};
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::course::{Course, Evidence, Needs, Task};
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("证据表", "Evidence");
const SUBTITLE: Text = Text::new(
    "CPU 能确认道理，只有 GPU 能确认数值。这张表由你自己的运行和回答填满；重放别人的录制不算自己测过。",
    "A processor can confirm the reasoning, only a GPU the numbers. Your own runs and answers fill this table; a replay of somebody's recording is not a measurement of yours.",
);
const BY_CPU: Text = Text::new("CPU 能确认", "A CPU can confirm");
const BY_GPU: Text = Text::new("要 GPU 才能确认", "Needs a GPU");
const EXIT: Text = Text::new("出口", "Exit");
const WRITTEN: Text = Text::new("写好的章节", "Written chapters");
const NOTHING: Text = Text::new("没有", "nothing");
const LATER: Text = Text::new(
    "其余 {n} 章还没写，写好后会在这里出现",
    "the other {n} chapters are not written yet and will appear here",
);
const CHECKED: Text = Text::new("自测与实验完成 {n}/{all}", "checks and experiments done: {n} of {all}");

pub fn ui(app: &App, ui: &mut Ui, route: Option<&str>, actions: &mut Vec<Action>) {
    let guide = Rc::clone(&app.guide);
    let tokens = app.tokens().clone();
    let lang = app.lang();
    parts::page(ui, &tokens, "evidence", TITLE.get(lang), SUBTITLE.get(lang), |ui| {
        filter_ui(app, ui, &tokens, route, actions);
        ui.add_space(tokens.space.s);
        legend_ui(ui, &tokens, lang);
        ui.add_space(tokens.space.m);
        let chosen = route.and_then(|id| guide.course.route(id)).or_else(|| guide.course.route("full"));
        let Some(chosen) = chosen else { return };
        for task in guide.course.tasks_of(chosen) {
            widgets::card(ui, &tokens, |ui| {
                parts::heading(ui, &tokens, &task_page::title(task, lang));
                task_rows_ui(app, ui, task, actions);
            });
            ui.add_space(tokens.space.s);
        }
        let ids = guide.course.chapters_of(chosen);
        chapters_ui(app, ui, &tokens, &ids, actions);
    });
}

fn filter_ui(app: &App, ui: &mut Ui, tokens: &Tokens, route: Option<&str>, actions: &mut Vec<Action>) {
    let course: &Course = &app.guide.course;
    ui.horizontal_wrapped(|ui| {
        for option in &course.routes {
            let is_chosen = route.unwrap_or("full") == option.id;
            if widgets::pill(ui, tokens, is_chosen, option.title.get(app.lang())).clicked() {
                let page = Page::Evidence { route: Some(option.id.clone()) };
                actions.push(Action::Go(Route::page(page)));
            }
        }
    });
}

/// What the marks mean.
pub fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
        for state in State::ALL {
            let name = state.name().get(lang);
            let text = vramlab_kit::paint::text(ui, tokens, Type::Small, tokens.muted, name);
            let lead = tokens.px(22.0);
            let (rect, response) = ui.allocate_exact_size(vec2(lead + text.size().x, tokens.px(20.0)), Sense::hover());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
            let mark = egui::pos2(rect.left() + tokens.px(9.0), rect.center().y);
            parts::state_mark(ui, tokens, mark, Some(state));
            let at = egui::pos2(rect.left() + lead, rect.center().y - text.size().y / 2.0);
            ui.painter().galley(at, text, tokens.muted);
        }
    });
}

/// The rows of a task: both columns, then its exit.
pub fn task_rows_ui(app: &App, ui: &mut Ui, task: &Task, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let items = |needs: Needs| -> Vec<Item> {
        let rows = task.evidence.iter().filter(|row| row.needs == needs);
        rows.map(|row: &Evidence| Item {
            title: row.claim.get(lang).to_owned(),
            chapter: row.chapter.clone(),
            step: row.runs.iter().find_map(|run| app.library.step_of(run)).map(|(_, step)| step),
            state: evidence::of_row(app, row),
        })
        .collect()
    };
    let tokens = app.tokens().clone();
    let exit = (task.exit.get(lang), evidence::exit_of_task(app, task));
    three(ui, &tokens, lang, app, &items(Needs::Cpu), &items(Needs::Gpu), exit, actions);
}

/// The written chapters of a route, each with its own experiments and checks.
fn chapters_ui(app: &App, ui: &mut Ui, tokens: &Tokens, ids: &[&str], actions: &mut Vec<Action>) {
    let lang = app.lang();
    let written: Vec<_> = ids.iter().filter_map(|id| app.library.chapter(id)).collect();
    if !written.is_empty() {
        parts::label(ui, tokens, WRITTEN.get(lang));
    }
    for chapter in &written {
        let (cpu, gpu) =
            (evidence::of_chapter(app, chapter, Needs::Cpu), evidence::of_chapter(app, chapter, Needs::Gpu));
        let (n, all) = (evidence::n_done(&cpu) + evidence::n_done(&gpu), cpu.len() + gpu.len());
        let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
        widgets::card(ui, tokens, |ui| {
            let title = format!("{number}{}", chapter.title.get(lang));
            let count = CHECKED.get(lang).replace("{n}", &n.to_string()).replace("{all}", &all.to_string());
            widgets::card_header(ui, tokens, &title, "", |ui| parts::label(ui, tokens, &count));
            let exit = (chapter.outcome.get(lang), evidence::exit_of_chapter(app, chapter));
            three(ui, tokens, lang, app, &cpu, &gpu, exit, actions);
        });
        ui.add_space(tokens.space.s);
    }
    let n_later = ids.len() - written.len();
    if n_later > 0 {
        parts::label(ui, tokens, &LATER.get(lang).replace("{n}", &n_later.to_string()));
    }
}

/// The three columns of the table; one below the other where there is no room.
#[expect(clippy::too_many_arguments, reason = "three columns and what they need to be painted and pressed")]
fn three(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    app: &App,
    cpu: &[Item],
    gpu: &[Item],
    exit: (&str, Option<State>),
    actions: &mut Vec<Action>,
) {
    let gap = tokens.space.l;
    let room = ui.available_width();
    let is_wide = room >= tokens.px(600.0);
    let width = if is_wide { (room - 2.0 * gap) / 3.0 } else { room };
    let mut column = |ui: &mut Ui, idx: usize| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.y = tokens.space.xxs;
        let head = [BY_CPU, BY_GPU, EXIT][idx].get(lang);
        ui.label(RichText::new(head).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
        match idx {
            0 => items_ui(app, ui, tokens, cpu, actions),
            1 => items_ui(app, ui, tokens, gpu, actions),
            _ => exit_ui(ui, tokens, exit, lang),
        }
    };
    if is_wide {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for idx in 0..3 {
                ui.vertical(|ui| column(ui, idx));
            }
        });
    } else {
        for idx in 0..3 {
            ui.vertical(|ui| column(ui, idx));
            ui.add_space(tokens.space.xs);
        }
    }
}

/// The exit with the mark of what shows it.
fn exit_ui(ui: &mut Ui, tokens: &Tokens, (text, state): (&str, Option<State>), lang: Lang) {
    let lead = tokens.px(24.0);
    let galley = parts::laid(ui, tokens, text, tokens.muted, ui.available_width() - lead);
    let size = vec2(ui.available_width(), galley.size().y.max(tokens.px(22.0)));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let name = state.map_or(parts::NOT_WRITTEN, State::name).get(lang);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{text} {name}")));
    parts::state_mark(ui, tokens, egui::pos2(rect.left() + tokens.px(8.0), rect.top() + tokens.px(11.0)), state);
    ui.painter().galley(egui::pos2(rect.left() + lead, rect.top()), galley, tokens.muted);
}

fn items_ui(app: &App, ui: &mut Ui, tokens: &Tokens, items: &[Item], actions: &mut Vec<Action>) {
    let lang = app.lang();
    if items.is_empty() {
        parts::label(ui, tokens, NOTHING.get(lang));
    }
    for item in items {
        item_ui(app, ui, tokens, item, actions);
    }
}

/// A mark and a sentence; pressing it goes to where it is done.
fn item_ui(app: &App, ui: &mut Ui, tokens: &Tokens, item: &Item, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let is_live = app.library.chapter(&item.chapter).is_some();
    let state = match item.state {
        Some(state) => state.name().get(lang).to_owned(),
        None => parts::NOT_WRITTEN.get(lang).to_owned(),
    };
    let lead = tokens.px(24.0);
    let room = ui.available_width() - lead;
    let color = if is_live { tokens.ink } else { tokens.muted };
    let mut job = egui::text::LayoutJob::default();
    let format = |role: Type, color| egui::TextFormat {
        line_height: Some(tokens.px(20.0)),
        ..egui::TextFormat::simple(tokens.font(role), color)
    };
    job.append(&item.title, 0.0, format(Type::Note, color));
    if item.state.is_none() {
        job.append(&state, tokens.space.xs, format(Type::Small, tokens.muted));
    }
    job.wrap.max_width = room;
    let galley = ui.painter().layout_job(job);
    let size = vec2(lead + room, galley.size().y.max(tokens.hit - tokens.px(4.0)));
    let (rect, response) = ui.allocate_exact_size(size, if is_live { Sense::click() } else { Sense::hover() });
    let spoken = format!("{}. {state}", item.title);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, is_live, &spoken));
    if is_live && (response.hovered() || response.has_focus()) {
        ui.painter().rect_filled(rect.expand(2.0), tokens.control_corner(), tokens.accent_soft);
    }
    parts::state_mark(ui, tokens, egui::pos2(rect.left() + tokens.px(8.0), rect.top() + tokens.px(11.0)), item.state);
    ui.painter().galley(egui::pos2(rect.left() + lead, rect.top() + tokens.px(1.0)), galley, color);
    if response.clicked() {
        actions.push(Action::Go(match &item.step {
            Some(step) => Route::step(&item.chapter, step),
            None => Route::chapter(&item.chapter),
        }));
    }
    if is_live {
        response.on_hover_ui(|ui| drop(ui.add(Label::new(&state))));
    }
}
