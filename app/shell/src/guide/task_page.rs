//! A task: its question, mechanism → strategy → exit side by side, its chapters, and its rows of the evidence table.

use crate::action::{Action, ExportFormat};
use crate::app::App;
use crate::guide::{evidence_page, parts};
use crate::route::{Page, Route};
use crate::widgets;
use egui::{RichText, Ui, vec2};
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::course::Task;
use vramlab_units::{Lang, Text};

const MECHANISM: Text = Text::new("机制", "Mechanism");
const STRATEGY: Text = Text::new("策略", "Strategy");
const EXIT: Text = Text::new("出口", "Exit");
const MECHANISM_MEANS: Text = Text::new("先弄懂", "understand this first");
const STRATEGY_MEANS: Text = Text::new("再动手", "then do this");
const EXIT_MEANS: Text = Text::new("凭什么算过关", "what shows that you have it");
const CHAPTERS: Text = Text::new("要学的章节", "The chapters it takes");
const EVIDENCE: Text = Text::new("证据", "Evidence");
const REPORT: Text = Text::new("把笔记本导出成报告…", "Export the notebook as a report…");
const IN_ROUTES: Text = Text::new("所在路线", "Part of");

/// `Task 0 · 对象的生命周期`
pub fn title(task: &Task, lang: Lang) -> String {
    let number = task.id.rsplit('-').next().unwrap_or_default();
    match lang {
        Lang::Zh => format!("任务 {number} · {}", task.title.get(lang)),
        Lang::En => format!("Task {number} · {}", task.title.get(lang)),
    }
}

pub fn ui(app: &App, ui: &mut Ui, id: &str, actions: &mut Vec<Action>) {
    let guide = Rc::clone(&app.guide);
    let Some(task) = guide.course.task(id) else { return };
    let tokens = app.tokens().clone();
    let lang = app.lang();
    parts::page(ui, &tokens, "task", &title(task, lang), task.asks.get(lang), |ui| {
        columns_ui(ui, &tokens, task, lang);
        ui.add_space(tokens.space.m);
        widgets::card(ui, &tokens, |ui| {
            parts::heading(ui, &tokens, CHAPTERS.get(lang));
            for (id, part) in &task.chapters {
                parts::chapter_line(app, ui, id, part, actions);
            }
        });
        ui.add_space(tokens.space.m);
        widgets::card(ui, &tokens, |ui| {
            parts::heading(ui, &tokens, EVIDENCE.get(lang));
            evidence_page::legend_ui(ui, &tokens, lang);
            ui.add_space(tokens.space.xs);
            evidence_page::task_rows_ui(app, ui, task, actions);
            if !app.notebook.entries.is_empty() {
                ui.add_space(tokens.space.s);
                if widgets::secondary(ui, &tokens, REPORT.get(lang)).clicked() {
                    actions.push(Action::ExportNotebook(ExportFormat::Markdown));
                }
            }
        });
        ui.add_space(tokens.space.m);
        routes_ui(app, ui, &tokens, task, actions);
    });
}

/// Three columns of one height, one below the other where there is no room.
fn columns_ui(ui: &mut Ui, tokens: &Tokens, task: &Task, lang: Lang) {
    let all = [
        (MECHANISM, MECHANISM_MEANS, &task.mechanism),
        (STRATEGY, STRATEGY_MEANS, &task.strategy),
        (EXIT, EXIT_MEANS, &task.exit),
    ];
    let gap = tokens.space.s;
    let room = ui.available_width();
    let is_wide = room >= tokens.px(620.0);
    let width = if is_wide { (room - 2.0 * gap) / 3.0 } else { room };
    let inner = width - 2.0 * tokens.space.m;
    let texts = all.map(|(_, _, text)| parts::laid(ui, tokens, text.get(lang), tokens.ink, inner));
    let tallest = texts.iter().map(|text| text.size().y).fold(0.0, f32::max);
    let column = |ui: &mut Ui, idx: usize, height: f32| {
        let (name, means, _) = all[idx];
        let is_exit = idx == 2;
        let fill = if is_exit { tokens.accent_soft } else { tokens.surface };
        let frame = egui::Frame::new().fill(fill).stroke(tokens.hairline()).corner_radius(tokens.card_corner());
        frame.inner_margin(egui::Margin::same(tokens.space.m as i8)).show(ui, |ui| {
            ui.set_width(inner);
            ui.spacing_mut().item_spacing.y = tokens.space.xxs;
            let color = if is_exit { tokens.accent } else { tokens.ink };
            let title = format!("{} · {}", idx + 1, name.get(lang));
            ui.label(RichText::new(title).font(tokens.font(Type::Card)).color(color));
            parts::label(ui, tokens, means.get(lang));
            let galley = std::sync::Arc::clone(&texts[idx]);
            let (rect, response) = ui.allocate_exact_size(vec2(inner, height), egui::Sense::hover());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, galley.text()));
            ui.painter().galley(rect.min, std::sync::Arc::clone(&galley), tokens.ink);
        });
    };
    if is_wide {
        ui.spacing_mut().item_spacing = vec2(gap, gap);
        ui.horizontal_top(|ui| {
            for idx in 0..3 {
                ui.vertical(|ui| column(ui, idx, tallest));
            }
        });
    } else {
        for (idx, text) in texts.iter().enumerate() {
            column(ui, idx, text.size().y);
            ui.add_space(gap);
        }
    }
}

fn routes_ui(app: &App, ui: &mut Ui, tokens: &Tokens, task: &Task, actions: &mut Vec<Action>) {
    let lang = app.lang();
    ui.horizontal_wrapped(|ui| {
        parts::label(ui, tokens, IN_ROUTES.get(lang));
        for route in app.guide.course.routes_with(&task.id) {
            if widgets::link(ui, tokens, route.title.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Route { id: route.id.clone() })));
            }
        }
    });
}
