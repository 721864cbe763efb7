//! The right side: what the device does now, and every run that was kept.

use crate::action::{Action, ExportFormat};
use crate::app::App;
use crate::notebook::Entry;
use crate::widgets;
use egui::{Align, Layout, RichText, ScrollArea, TextEdit, Ui, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Text, show};

const DEVICE: Text = Text::new("设备", "Device");
const NOTEBOOK: Text = Text::new("笔记本", "Notebook");
const EMPTY: Text = Text::new(
    "每次运行都会留在这里：假设、配置、样本、结论。",
    "Every run is kept here: hypothesis, configuration, samples, verdict.",
);
const HYPOTHESIS: Text = Text::new("写下你的假设", "Write your hypothesis");
const MEMORY: Text = Text::new("显存", "Memory");
const POWER: Text = Text::new("功耗", "Power");
const CLOCK: Text = Text::new("SM 时钟", "SM clock");
const EXPORT: Text = Text::new("导出", "Export");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ScrollArea::vertical().id_salt("notebook").auto_shrink([false, false]).show(ui, |ui| {
        ui.label(RichText::new(DEVICE.get(lang)).font(tokens.font(Type::NoteStrong)));
        ui.add_space(tokens.space.xs);
        gauges_ui(app, ui, &tokens, lang);
        ui.add_space(tokens.space.l);
        ui.label(RichText::new(NOTEBOOK.get(lang)).font(tokens.font(Type::NoteStrong)));
        ui.add_space(tokens.space.xs);
        if app.notebook.entries.is_empty() {
            ui.label(RichText::new(EMPTY.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            return;
        }
        for idx in (0..app.notebook.entries.len()).rev() {
            entry_ui(app, ui, &tokens, lang, idx, actions);
            ui.add_space(tokens.space.xs);
        }
        ui.horizontal(|ui| {
            ui.label(RichText::new(EXPORT.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            let formats =
                [(ExportFormat::Json, "JSON"), (ExportFormat::Csv, "CSV"), (ExportFormat::Markdown, "Markdown")];
            for (format, name) in formats {
                if widgets::secondary(ui, &tokens, name).clicked() {
                    actions.push(Action::ExportNotebook(format));
                }
            }
        });
    });
}

fn gauges_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let gauges = app.platform.gauges();
    if !gauges.device.is_empty() {
        ui.label(RichText::new(&gauges.device).font(tokens.font(Type::Note)));
    }
    let gib = |bytes: f64| show::bytes_binary(vramlab_units::Bytes(bytes as u64));
    let share = |value: Option<f64>, of: Option<f64>| Some((value? / of?).clamp(0.0, 1.0) as f32);
    let rows = [
        (MEMORY, gauges.used_bytes.map(gib), share(gauges.used_bytes, gauges.total_bytes)),
        (
            POWER,
            gauges.telemetry.power_w.map(|watts| show::with_unit(watts.round(), "W")),
            share(gauges.telemetry.power_w, gauges.power_limit_w),
        ),
        (
            CLOCK,
            gauges.telemetry.sm_clock_mhz.map(|mhz| show::with_unit(mhz, "MHz")),
            share(gauges.telemetry.sm_clock_mhz, gauges.max_sm_clock_mhz),
        ),
    ];
    for (label, value, share) in rows {
        if let Some(value) = value {
            gauge_ui(ui, tokens, label.get(lang), &value, share);
        }
    }
    if !gauges.why_absent.is_empty() {
        ui.label(RichText::new(gauges.why_absent.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    }
}

fn gauge_ui(ui: &mut Ui, tokens: &Tokens, label: &str, value: &str, share: Option<f32>) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(26.0)), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{label} {value}")));
    let painter = ui.painter();
    let left = rect.left_center();
    painter.text(left, egui::Align2::LEFT_CENTER, label, tokens.font(Type::Note), tokens.ink);
    painter.text(rect.right_center(), egui::Align2::RIGHT_CENTER, value, tokens.font(Type::Mono), tokens.ink);
    let from = rect.left() + tokens.px(82.0);
    let to = rect.right() - tokens.px(92.0);
    if to > from {
        let track = egui::Rect::from_min_max(
            egui::pos2(from, rect.center().y - tokens.px(3.0)),
            egui::pos2(to, rect.center().y + tokens.px(3.0)),
        );
        painter.rect_filled(track, 3, tokens.grid);
        if let Some(share) = share {
            let mut filled = track;
            filled.set_width(track.width() * share);
            painter.rect_filled(filled, 3, tokens.tint(tokens.ink, 0.7));
        }
    }
}

fn entry_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, idx: usize, actions: &mut Vec<Action>) {
    let Some(entry) = app.notebook.entries.get(idx) else { return };
    let title = app.library.experiment_title(&entry.run.experiment, lang);
    widgets::card_small(ui, tokens, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new(title).font(tokens.font(Type::NoteStrong)));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(RichText::new(format!("#{}", entry.n)).font(tokens.font(Type::MonoSmall)).color(tokens.muted));
            });
        });
        let about = format!("{} · {} · {}", entry.run.device.name, entry.run.mode, entry.run.date);
        ui.label(RichText::new(about).font(tokens.font(Type::Small)).color(tokens.muted));
        ui.label(RichText::new(&entry.verdict).font(tokens.font(Type::Note)));
        hypothesis_ui(ui, tokens, lang, idx, entry, actions);
    });
}

fn hypothesis_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, idx: usize, entry: &Entry, actions: &mut Vec<Action>) {
    let mut text = entry.hypothesis.clone();
    let edit = TextEdit::singleline(&mut text)
        .hint_text(HYPOTHESIS.get(lang))
        .font(tokens.font(Type::Note))
        .desired_width(f32::INFINITY);
    if ui.add(edit).changed() {
        actions.push(Action::SetHypothesis { run_idx: idx, text });
    }
}
