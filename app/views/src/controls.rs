//! The controls that figures share. Thin: each wraps a widget and gives it a name for screen readers.

use egui::{Response, RichText, Slider, Ui, WidgetInfo};
use std::ops::RangeInclusive;
use vramlab_kit::{Tokens, Type, Verdict};
use vramlab_units::{Lang, Text};

/// A row of controls that wraps when the card is narrow.
pub fn row<R>(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Ui) -> R) -> R {
    ui.spacing_mut().item_spacing.x = tokens.space.l;
    let inner = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(tokens.space.l, tokens.space.xs);
        add(ui)
    });
    inner.inner
}

/// A whole number on a slider, with its value in words beside it.
pub fn slider(
    ui: &mut Ui,
    tokens: &Tokens,
    label: &str,
    value: &mut u64,
    range: RangeInclusive<u64>,
    shown: impl Fn(u64) -> String,
) -> Response {
    let scope = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xs;
        ui.label(RichText::new(label).font(tokens.font(Type::Note)).color(tokens.muted));
        let response = ui.add(Slider::new(value, range).show_value(false));
        ui.label(RichText::new(shown(*value)).font(tokens.font(Type::Mono)).color(tokens.ink));
        response
    });
    let response = scope.inner;
    let number = *value as f64;
    response.widget_info(|| WidgetInfo::slider(true, number, label));
    response
}

/// One of a few values.
pub fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    tokens: &Tokens,
    label: &str,
    value: &mut T,
    options: &[(T, String)],
) -> bool {
    let before = *value;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xxs;
        ui.label(RichText::new(label).font(tokens.font(Type::Note)).color(tokens.muted));
        ui.add_space(tokens.space.xxs);
        for (option, text) in options {
            let is_chosen = *value == *option;
            let response = ui.selectable_label(is_chosen, RichText::new(text).font(tokens.font(Type::Note)));
            response.widget_info(|| WidgetInfo::selected(egui::Role::RadioButton, true, is_chosen, format!("{label} {text}")));
            if response.clicked() {
                *value = *option;
            }
        }
    });
    before != *value
}

/// A yes or no.
pub fn toggle(ui: &mut Ui, tokens: &Tokens, label: &str, value: &mut bool) -> Response {
    ui.checkbox(value, RichText::new(label).font(tokens.font(Type::Note)))
}

/// A number worth reading from the last row.
pub struct KeyNumber {
    pub label: Text,
    pub value: String,
    pub verdict: Verdict,
}

impl KeyNumber {
    pub fn new(label: Text, value: impl Into<String>) -> Self {
        Self { label, value: value.into(), verdict: Verdict::Neutral }
    }

    #[must_use]
    pub fn judged(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }
}

/// Key numbers side by side, wrapping.
pub fn key_numbers(ui: &mut Ui, tokens: &Tokens, lang: Lang, numbers: &[KeyNumber]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(tokens.space.xl, tokens.space.xs);
        for number in numbers {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.label(RichText::new(number.label.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
                let color = if number.verdict == Verdict::Neutral { tokens.ink } else { tokens.verdict(number.verdict) };
                ui.label(RichText::new(&number.value).font(tokens.font(Type::Number)).color(color));
            });
        }
    });
}
