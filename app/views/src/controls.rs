//! Rows of controls and key numbers. The widgets are the kit's; here they are named, kept together and wrapped.

use egui::{Align, Color32, Layout, Pos2, Rect, Response, RichText, Sense, Ui, UiBuilder, Vec2, pos2, vec2};
use std::ops::RangeInclusive;
use vramlab_kit::{Button, Slider, Tokens, Type, Verdict, check_box, key_number, segmented};
use vramlab_units::{Lang, Text};

/// Controls side by side, wrapping where the card ends. A control is a label, a slider and a value that must stay
/// together, which egui's wrapping does not do, so the size that each had in the last pass decides.
pub fn row<R>(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Flow<'_>) -> R) -> R {
    let id = ui.next_auto_id().with("flow");
    let known: Vec<Vec2> = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let area = Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), 0.0));
    let gap = vec2(tokens.space.xl, tokens.space.xs);
    let least = tokens.px(30.0);
    let mut flow =
        Flow { ui, known, sizes: Vec::new(), at: area.min, area, row_height: 0.0, gap, breaks: Vec::new(), least };
    let result = add(&mut flow);
    let Flow { ui, known, sizes, at, row_height, breaks, .. } = flow;
    let bottom = at.y + row_height;
    ui.allocate_rect(Rect::from_min_max(area.min, pos2(area.right(), bottom)), Sense::hover());
    if breaks != breaks_of(&sizes, area.width(), gap.x) {
        ui.ctx().request_discard("controls need other rows than they took");
    }
    if known != sizes {
        ui.data_mut(|data| data.insert_temp(id, sizes));
    }
    result
}

/// For each item whether it begins a new row.
fn breaks_of(sizes: &[Vec2], width: f32, gap: f32) -> Vec<bool> {
    let mut at = 0.0;
    let is_break = |size: &Vec2| {
        let is_break = at > 0.0 && at + size.x > width + 0.5;
        at = if is_break { 0.0 } else { at } + size.x + gap;
        is_break
    };
    sizes.iter().map(is_break).collect()
}

/// See [`row`].
pub struct Flow<'a> {
    ui: &'a mut Ui,
    known: Vec<Vec2>,
    sizes: Vec<Vec2>,
    at: Pos2,
    area: Rect,
    row_height: f32,
    gap: Vec2,
    breaks: Vec<bool>,
    /// Rows are at least this tall, so that controls of one row share their middle.
    least: f32,
}

impl Flow<'_> {
    /// One control, kept together.
    pub fn item<R>(&mut self, add: impl FnOnce(&mut Ui) -> R) -> R {
        let least = vec2(0.0, self.least);
        let known = self.known.get(self.sizes.len()).copied().unwrap_or(least);
        let is_break = self.at.x > self.area.left() && self.at.x + known.x > self.area.right() + 0.5;
        self.breaks.push(is_break);
        if is_break {
            self.at = pos2(self.area.left(), self.at.y + self.row_height + self.gap.y);
            self.row_height = 0.0;
        }
        // As wide as a whole row, so that a control says what it would like; the next pass finds it the row it needs.
        let room = Rect::from_min_size(self.at, vec2(self.area.width(), known.y));
        let layout = Layout::left_to_right(Align::Center);
        let mut child = self.ui.new_child(UiBuilder::new().max_rect(room).layout(layout).id_salt(self.sizes.len()));
        let result = add(&mut child);
        let size = child.min_size().max(least).ceil();
        self.sizes.push(size);
        self.at.x += size.x + self.gap.x;
        self.row_height = self.row_height.max(size.y);
        result
    }
}

/// A whole number on a slider, with its value in words beside it. A double click goes back to the lower end.
pub fn slider(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    label: &str,
    value: &mut u64,
    range: RangeInclusive<u64>,
    shown: impl Fn(u64) -> String,
) -> Response {
    let (low, high) = (*range.start() as f64, *range.end() as f64);
    let mut number = *value as f64;
    let slider = Slider::new(label, &mut number, low..=high).step(1.0).default_value(low);
    let slider = slider.shown(|number| shown(number.round().max(0.0) as u64));
    let response = flow.item(|ui| slider.show(ui, tokens));
    *value = number.round().max(0.0) as u64;
    response
}

/// One of a few values, all in view.
pub fn choice<T: Copy + PartialEq>(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    label: &str,
    value: &mut T,
    options: &[(T, String)],
) -> bool {
    let options: Vec<(T, &str)> = options.iter().map(|(option, text)| (*option, text.as_str())).collect();
    flow.item(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.xs, tokens.space.xxs);
        let width =
            |text: &str| ui.painter().layout_no_wrap(text.to_owned(), tokens.font(Type::Note), tokens.ink).size().x;
        let all: f32 = options.iter().map(|(_, text)| (width(text) + tokens.px(24.0)).max(tokens.hit)).sum();
        let is_stacked = width(label) + tokens.space.xs + all > ui.available_width();
        let mut add = |ui: &mut Ui| {
            ui.label(RichText::new(label).font(tokens.font(Type::Note)).color(tokens.muted));
            segmented(ui, tokens, label, value, &options)
        };
        // What does not fit beside its label goes under it.
        if is_stacked { ui.vertical(add).inner } else { add(ui) }
    })
}

/// A yes or no.
pub fn toggle(flow: &mut Flow<'_>, tokens: &Tokens, label: &str, value: &mut bool) -> Response {
    flow.item(|ui| check_box(ui, tokens, value, label))
}

/// A button among the controls.
pub fn button(flow: &mut Flow<'_>, tokens: &Tokens, label: &str) -> bool {
    flow.item(|ui| Button::quiet(label).show(ui, tokens).clicked())
}

/// A number worth reading from the last row.
pub struct KeyNumber {
    pub label: Text,
    pub value: String,
    /// The number to more digits and under which assumption, for the pointer.
    pub exact: Option<String>,
    pub verdict: Verdict,
    /// What the number is the quotient of, as `128 of 256 B`: before it with an equals sign, or in the label if that is too wide.
    pub fraction: Option<String>,
    /// The colour of what the number counts, where the picture has one.
    pub swatch: Option<Color32>,
}

impl KeyNumber {
    pub fn new(label: Text, value: impl Into<String>) -> Self {
        Self { label, value: value.into(), exact: None, verdict: Verdict::Neutral, fraction: None, swatch: None }
    }

    #[must_use]
    pub fn exact(mut self, exact: String) -> Self {
        self.exact = Some(exact);
        self
    }

    #[must_use]
    pub fn judged(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }

    #[must_use]
    pub fn fraction(mut self, fraction: String) -> Self {
        self.fraction = Some(fraction);
        self
    }
}

/// One number, with a bar of its colour before it if it has one.
fn number_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, number: &KeyNumber) -> Response {
    if let Some(color) = number.swatch {
        let height = tokens.px(34.0);
        let (bar, _) = ui.allocate_exact_size(vec2(tokens.px(6.0), height), Sense::hover());
        ui.painter().rect_filled(bar, 2.0, color);
    }
    let (mut label, mut value) = (number.label.get(lang).to_owned(), number.value.clone());
    if let Some(fraction) = &number.fraction {
        let whole = format!("{fraction} = {value}");
        let font = tokens.font(Type::Number);
        if ui.painter().layout_no_wrap(whole.clone(), font, tokens.ink).size().x <= ui.available_width() {
            value = whole;
        } else {
            label = format!("{label} · {fraction}");
        }
    }
    key_number(ui, tokens, &label, &value, number.exact.as_deref(), number.verdict)
}

/// Key numbers side by side, wrapping.
pub fn key_numbers(ui: &mut Ui, tokens: &Tokens, lang: Lang, numbers: &[KeyNumber]) {
    row(ui, tokens, |flow| {
        for number in numbers {
            flow.item(|ui| number_ui(ui, tokens, lang, number));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_where_the_card_ends() {
        let items = [40.0, 50.0, 30.0, 200.0, 10.0].map(|width| vec2(width, 30.0));
        assert_eq!(breaks_of(&items, 100.0, 10.0), [false, false, true, true, true]);
        assert_eq!(breaks_of(&items, 400.0, 10.0), [false; 5]);
    }
}
