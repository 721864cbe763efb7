//! What the device does now: memory, power, clock.

use crate::app::App;
use egui::{RichText, Ui, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Text, show};

const MEMORY: Text = Text::new("显存", "Memory");
const POWER: Text = Text::new("功耗", "Power");
const CLOCK: Text = Text::new("SM 时钟", "SM clock");

pub fn ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
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
