//! Short forms of the kit's widgets, and the few that only the shell needs: options of a question, pills, the ruler of a
//! prediction.

pub use vramlab_kit::widgets::{Evidence, card, card_header, chip, step_bar};

use egui::{Align2, Frame, InnerResponse, Margin, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use std::ops::RangeInclusive;
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_kit::widgets::{Button, Slider};
use vramlab_units::{Lang, Text, show};

pub fn primary(ui: &mut Ui, tokens: &Tokens, label: &str) -> Response {
    Button::primary(label).show(ui, tokens)
}

pub fn secondary(ui: &mut Ui, tokens: &Tokens, label: &str) -> Response {
    Button::secondary(label).show(ui, tokens)
}

/// A button without a frame, for what is seldom needed.
pub fn link(ui: &mut Ui, tokens: &Tokens, label: &str) -> Response {
    Button::quiet(label).show(ui, tokens)
}

/// One of a few choices in a row.
pub fn pill(ui: &mut Ui, tokens: &Tokens, is_chosen: bool, label: &str) -> Response {
    Button::secondary(label).selected(is_chosen).show(ui, tokens)
}

/// A verdict with its word, on a line of its own.
pub fn verdict(ui: &mut Ui, tokens: &Tokens, tone: Verdict, words: &str) -> Response {
    let (word, rest) = words.split_once(" · ").unwrap_or((words, ""));
    vramlab_kit::widgets::finding(ui, tokens, tone, word, rest)
}

/// The caption of a figure.
pub fn finding(ui: &mut Ui, tokens: &Tokens, sentence: &str) -> Response {
    vramlab_kit::widgets::finding(ui, tokens, Verdict::Neutral, "", sentence)
}

pub fn slider(
    ui: &mut Ui,
    tokens: &Tokens,
    label: &str,
    value: &mut f64,
    range: RangeInclusive<f64>,
    step: f64,
    unit: &str,
) -> Response {
    Slider::new(label, value, range).step(step).unit(unit).width(180.0).show(ui, tokens)
}

/// A card inside the notebook.
pub fn card_small<R>(ui: &mut Ui, tokens: &Tokens, contents: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
    let frame = Frame::new()
        .fill(tokens.surface)
        .stroke(tokens.hairline())
        .corner_radius(tokens.card_corner())
        .inner_margin(Margin::symmetric(tokens.space.s as i8, tokens.space.xs as i8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        contents(ui)
    })
}

/// An option of a question: the whole row can be pressed; round for one of many, square for several.
pub fn option(ui: &mut Ui, tokens: &Tokens, is_chosen: bool, is_multi: bool, text: &str) -> Response {
    let width = ui.available_width();
    let left = tokens.px(36.0);
    let color = if is_chosen { tokens.accent } else { tokens.ink };
    let galley = ui.painter().layout(text.to_owned(), tokens.font(Type::Body), color, width - left - tokens.px(12.0));
    let height = (galley.size().y + tokens.px(14.0)).max(tokens.px(36.0));
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    let kind = if is_multi { Role::CheckBox } else { Role::RadioButton };
    response.widget_info(|| WidgetInfo::selected(kind, ui.is_enabled(), is_chosen, text));
    let painter = ui.painter();
    let is_lit = response.hovered() || response.has_focus();
    let fill = match (is_chosen, is_lit) {
        (true, _) => tokens.accent_soft,
        (_, true) => tokens.sunken,
        _ => tokens.surface,
    };
    let edge = if is_chosen { tokens.stroke(1.0, tokens.accent) } else { tokens.hairline() };
    painter.rect(rect.shrink(1.0), tokens.control_corner(), fill, edge, egui::StrokeKind::Inside);
    let center = pos2(rect.left() + tokens.px(18.0), rect.center().y);
    let radius = tokens.px(7.0);
    let ring = tokens.stroke(1.5, if is_chosen { tokens.accent } else { tokens.muted });
    if is_multi {
        let square = egui::Rect::from_center_size(center, vec2(radius * 1.8, radius * 1.8));
        painter.rect_stroke(square, 3, ring, egui::StrokeKind::Inside);
        if is_chosen {
            painter.rect_filled(square.shrink(tokens.px(3.0)), 2, tokens.accent);
        }
    } else {
        painter.circle_stroke(center, radius, ring);
        if is_chosen {
            painter.circle_filled(center, radius * 0.55, tokens.accent);
        }
    }
    painter.galley(pos2(rect.left() + left, rect.center().y - galley.size().y / 2.0), galley, color);
    response
}

const MODEL: Text = Text::new("模型", "model");
const YOU: Text = Text::new("你", "you");

/// Where a prediction lies against the truth: the reader's diamond and the model's ring on one ruler, logarithmic when
/// its ends are a factor of 100 apart. Returns nothing; the gap in words is the caller's.
#[expect(clippy::too_many_arguments, reason = "a ruler has two ends, a unit and two marks")]
pub fn ruler(ui: &mut Ui, tokens: &Tokens, lang: Lang, min: f64, max: f64, unit: &str, given: f64, truth: f64) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width().min(tokens.px(560.0)), tokens.px(64.0)), Sense::hover());
    let words = format!(
        "{} {}, {} {}",
        YOU.get(lang),
        show::with_unit(given, unit),
        MODEL.get(lang),
        show::with_unit(truth, unit)
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    let line = rect.shrink2(vec2(tokens.px(14.0), 0.0));
    let y = rect.center().y;
    let x_from_value = |value: f64| {
        let share = if min > 0.0 && max / min >= 100.0 {
            (value.max(min).ln() - min.ln()) / (max.ln() - min.ln())
        } else {
            (value - min) / (max - min)
        };
        line.left() + line.width() * share.clamp(0.0, 1.0) as f32
    };
    let painter = ui.painter();
    painter.hline(line.x_range(), y, tokens.stroke(2.0, tokens.line));
    for (value, align) in [(min, Align2::LEFT_CENTER), (max, Align2::RIGHT_CENTER)] {
        let at = pos2(x_from_value(value), y + tokens.px(22.0));
        painter.text(at, align, show::with_unit(value, unit), tokens.font(Type::MonoSmall), tokens.muted);
    }
    let (from, to) = (x_from_value(given), x_from_value(truth));
    painter.hline(from.min(to)..=from.max(to), y, tokens.stroke(4.0, tokens.tint(tokens.accent, 0.4)));
    painter.circle(pos2(to, y), tokens.px(7.0), tokens.surface, tokens.stroke(2.0, tokens.ink));
    let half = tokens.px(7.0);
    let diamond = [pos2(from, y - half), pos2(from + half, y), pos2(from, y + half), pos2(from - half, y)];
    painter.add(egui::Shape::convex_polygon(diamond.to_vec(), tokens.accent, egui::Stroke::NONE));
    let above = y - tokens.px(18.0);
    let is_close = (from - to).abs() < tokens.px(40.0);
    let (left, right) = if from <= to {
        (Align2::RIGHT_CENTER, Align2::LEFT_CENTER)
    } else {
        (Align2::LEFT_CENTER, Align2::RIGHT_CENTER)
    };
    let (you, model) = if is_close { (left, right) } else { (Align2::CENTER_CENTER, Align2::CENTER_CENTER) };
    painter.text(pos2(from, above), you, YOU.get(lang), tokens.font(Type::Small), tokens.accent);
    painter.text(pos2(to, above), model, MODEL.get(lang), tokens.font(Type::Small), tokens.ink);
}
