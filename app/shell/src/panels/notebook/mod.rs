//! The right side: what the device does now, and every run that was kept: filtered, opened, set side by side.
//!
//! `gauges.rs` is the device, `list.rs` the rows (only those in sight are laid out), `row.rs` one of them, `detail.rs`
//! what an open row tells, `versus.rs` baseline against candidate, `table.rs` their rows of numbers, `state.rs` what the panel remembers.

mod detail;
mod gauges;
mod list;
mod row;
mod state;
mod table;
mod versus;

use state::Choices;
pub use state::{NotebookView, Side};

use crate::action::{Action, ExportFormat};
use crate::app::App;
use crate::widgets;
use egui::{ComboBox, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use std::collections::BTreeMap;
use vramlab_kit::Icon;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_kit::widgets::{Button, section};
use vramlab_units::{Lang, Text};

const DEVICE: Text = Text::new("设备", "Device");
const NOTEBOOK: Text = Text::new("笔记本", "Notebook");
const EXPORT: Text = Text::new("导出", "Export");
const ALL_EXPERIMENTS: Text = Text::new("全部实验", "All experiments");
const ALL_DEVICES: Text = Text::new("全部设备", "All devices");
const FILTER_EXPERIMENT: Text = Text::new("按实验筛选", "Filter by experiment");
const FILTER_DEVICE: Text = Text::new("按设备筛选", "Filter by device");
const NONE_LEFT: Text = Text::new("没有符合筛选的运行。", "No run passes the filter.");
const SHOW_ALL: Text = Text::new("全部显示", "Show all");
const EMPTY_TITLE: Text = Text::new("这里会留下你的每一次运行", "Every run of yours is kept here");
const EMPTY_STEPS: [Text; 3] = [
    Text::new("先写一句假设：你改了什么，为什么会变", "Write a hypothesis: what you changed, and why it should matter"),
    Text::new("在实验卡片上运行，结果自动记下来", "Run an experiment on its card; the result is noted by itself"),
    Text::new(
        "挑两次作基线和候选，看中位数的区间是否分开",
        "Choose a baseline and a candidate, and see whether the \
         intervals of their medians part",
    ),
];
const NEXT: Text = Text::new("下一次运行的假设", "Hypothesis for the next run");
const TO_EXPERIMENT: Text = Text::new("去第一个实验", "Go to the first experiment");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ScrollArea::vertical().id_salt("notebook").auto_shrink([false, false]).show(ui, |ui| {
        section(ui, &tokens, DEVICE.get(lang));
        ui.add_space(tokens.space.xs);
        gauges::ui(app, ui, &tokens, lang);
        ui.add_space(tokens.space.l);
        heading_ui(app, ui, &tokens, lang);
        ui.add_space(tokens.space.xs);
        draft_ui(app, ui, &tokens, lang);
        ui.add_space(tokens.space.xs);
        if app.notebook.entries.is_empty() {
            return empty_ui(app, ui, &tokens, lang, actions);
        }
        versus::ui(app, ui, &tokens, lang, actions);
        filters_ui(app, ui, &tokens, lang);
        let shown = app.notebook_view.shown(&app.notebook);
        if shown.is_empty() {
            none_left_ui(app, ui, &tokens, lang);
        }
        list::ui(app, ui, &tokens, lang, &shown, actions);
        export_ui(ui, &tokens, lang, actions);
    });
}

/// "Notebook" and how many runs it holds.
fn heading_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.horizontal(|ui| {
        section(ui, tokens, NOTEBOOK.get(lang));
        let n = app.notebook.entries.len();
        if n > 0 {
            ui.label(RichText::new(n.to_string()).font(tokens.font(Type::MonoSmall)).color(tokens.muted));
        }
    });
}

/// A hypothesis is written before the run; it goes with the next one.
fn draft_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let edit = TextEdit::singleline(&mut app.notebook.draft)
        .hint_text(NEXT.get(lang))
        .font(tokens.font(Type::Note))
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, NEXT.get(lang)));
    if response.changed() {
        app.notebook_saver.changed(app.now_secs);
    }
}

/// What the notebook is for, told by what the reader does with it.
fn empty_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    widgets::card_small(ui, tokens, |ui| {
        ui.label(RichText::new(EMPTY_TITLE.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
        ui.add_space(tokens.space.xs);
        for (idx, step) in EMPTY_STEPS.iter().enumerate() {
            ui.horizontal_top(|ui| {
                let number = RichText::new((idx + 1).to_string()).font(tokens.font(Type::Mono)).color(tokens.accent);
                ui.label(number);
                let text = RichText::new(step.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted);
                ui.add(egui::Label::new(text).wrap());
            });
            ui.add_space(tokens.space.xxs);
        }
        if let Some(route) = app.library.first_experiment() {
            ui.add_space(tokens.space.xxs);
            if widgets::secondary(ui, tokens, TO_EXPERIMENT.get(lang)).clicked() {
                actions.push(Action::Go(route));
            }
        }
    });
}

/// Two menus, each only where there is a choice.
fn filters_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let choices = app.notebook_view.choices(&app.notebook, &app.library, lang);
    let Choices { experiments, devices } = choices.as_ref();
    if experiments.len() < 2 && devices.len() < 2 {
        return;
    }
    let view = &mut app.notebook_view;
    ui.horizontal_wrapped(|ui| {
        if experiments.len() > 1 {
            let names = [FILTER_EXPERIMENT.get(lang), ALL_EXPERIMENTS.get(lang)];
            filter_ui(ui, tokens, names, experiments, &mut view.experiment);
        }
        if devices.len() > 1 {
            let names = [FILTER_DEVICE.get(lang), ALL_DEVICES.get(lang)];
            filter_ui(ui, tokens, names, devices, &mut view.device);
        }
    });
    ui.add_space(tokens.space.xs);
}

fn filter_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    [name, all]: [&str; 2],
    known: &BTreeMap<String, String>,
    chosen: &mut Option<String>,
) {
    let title = chosen.as_ref().and_then(|id| known.get(id)).map_or(all, String::as_str);
    let text = RichText::new(title).font(tokens.font(Type::Note));
    let response =
        ComboBox::from_id_salt(name).selected_text(text).width(tokens.px(136.0)).truncate().show_ui(ui, |ui| {
            ui.selectable_value(chosen, None, all);
            for (id, title) in known {
                ui.selectable_value(chosen, Some(id.clone()), title);
            }
        });
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, format!("{name}: {title}")));
}

fn none_left_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(NONE_LEFT.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        if widgets::link(ui, tokens, SHOW_ALL.get(lang)).clicked() {
            app.notebook_view.show_all();
        }
    });
}

fn export_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    ui.add_space(tokens.space.xs);
    if let Some(format) = formats_ui(ui, tokens, EXPORT.get(lang)) {
        actions.push(Action::ExportNotebook(format));
    }
}

/// A row of the three formats behind a word.
fn formats_ui(ui: &mut Ui, tokens: &Tokens, word: &str) -> Option<ExportFormat> {
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xxs;
        let (square, _) = ui.allocate_exact_size(egui::Vec2::splat(tokens.px(16.0)), egui::Sense::hover());
        Icon::Save.paint(ui.painter(), tokens, square, tokens.muted);
        ui.label(RichText::new(word).font(tokens.font(Type::Note)).color(tokens.muted));
        let all = [(ExportFormat::Json, "JSON"), (ExportFormat::Csv, "CSV"), (ExportFormat::Markdown, "Markdown")];
        for (format, name) in all {
            if Button::quiet(name).show(ui, tokens).clicked() {
                chosen = Some(format);
            }
        }
    });
    chosen
}
