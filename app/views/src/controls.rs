//! The controls that figures share. Thin: each wraps a widget and gives it a name for screen readers.

use crate::ink;
use egui::{Align, Layout, Pos2, Rect, Response, RichText, Slider, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2};
use std::ops::RangeInclusive;
use vramlab_kit::{Tokens, Type, Verdict};
use vramlab_units::{Lang, Text};

/// Controls side by side, wrapping where the card ends. A control is a label, a slider and a value that must stay
/// together, which egui's wrapping does not do, so the size that each had in the last pass decides.
pub fn row<R>(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Flow<'_>) -> R) -> R {
    let id = ui.next_auto_id().with("flow");
    let known: Vec<Vec2> = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let area = Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), 0.0));
    let gap = vec2(tokens.space.l, tokens.space.xs);
    let mut flow = Flow { ui, known, sizes: Vec::new(), at: area.min, area, row_height: 0.0, gap };
    let result = add(&mut flow);
    let Flow { ui, known, sizes, at, row_height, .. } = flow;
    let bottom = at.y + row_height;
    ui.allocate_rect(Rect::from_min_max(area.min, pos2(area.right(), bottom)), egui::Sense::hover());
    if known != sizes {
        ui.data_mut(|data| data.insert_temp(id, sizes));
        ui.ctx().request_discard("controls found their sizes");
    }
    result
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
}

impl Flow<'_> {
    /// The width of a whole row.
    pub fn width(&self) -> f32 {
        self.area.width()
    }

    /// The width that `text` takes in a control.
    pub fn text_width(&self, tokens: &Tokens, text: &str) -> f32 {
        ink::text_width(self.ui.painter(), text, tokens.font(Type::Note))
    }

    /// One control, kept together.
    pub fn item<R>(&mut self, add: impl FnOnce(&mut Ui) -> R) -> R {
        let least = vec2(0.0, self.ui.spacing().interact_size.y);
        let known = self.known.get(self.sizes.len()).copied().unwrap_or(least);
        if self.at.x > self.area.left() && self.at.x + known.x > self.area.right() + 0.5 {
            self.at = pos2(self.area.left(), self.at.y + self.row_height + self.gap.y);
            self.row_height = 0.0;
        }
        let room = Rect::from_min_size(self.at, vec2(self.area.right() - self.at.x, known.y));
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

/// A whole number on a slider, with its value in words beside it.
pub fn slider(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    label: &str,
    value: &mut u64,
    range: RangeInclusive<u64>,
    shown: impl Fn(u64) -> String,
) -> Response {
    let response = flow.item(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xs;
        ui.label(RichText::new(label).font(tokens.font(Type::Note)).color(tokens.muted));
        let response = ui.add(Slider::new(value, range).show_value(false));
        ui.label(RichText::new(shown(*value)).font(tokens.font(Type::Mono)).color(tokens.ink));
        response
    });
    let number = *value as f64;
    response.widget_info(|| WidgetInfo::slider(true, number, label));
    response
}

/// One of a few values: side by side, or a menu where the card is too narrow for that.
pub fn choice<T: Copy + PartialEq>(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    label: &str,
    value: &mut T,
    options: &[(T, String)],
) -> bool {
    let before = *value;
    let padding = tokens.space.s * 2.0 + tokens.space.xxs;
    let needed: f32 = options.iter().map(|(_, text)| flow.text_width(tokens, text) + padding).sum();
    let is_menu = needed + flow.text_width(tokens, label) + tokens.space.xs > flow.width();
    flow.item(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xxs;
        ui.label(RichText::new(label).font(tokens.font(Type::Note)).color(tokens.muted));
        ui.add_space(tokens.space.xxs);
        if is_menu {
            menu_ui(ui, tokens, label, value, options);
        } else {
            for (option, text) in options {
                option_ui(ui, tokens, label, value, *option, text);
            }
        }
    });
    before != *value
}

fn option_ui<T: Copy + PartialEq>(ui: &mut Ui, tokens: &Tokens, label: &str, value: &mut T, option: T, text: &str) {
    let is_chosen = *value == option;
    let response = ui.selectable_label(is_chosen, RichText::new(text).font(tokens.font(Type::Note)));
    let name = format!("{label} {text}");
    response.widget_info(|| WidgetInfo::selected(egui::Role::RadioButton, true, is_chosen, &name));
    if response.clicked() {
        *value = option;
    }
}

fn menu_ui<T: Copy + PartialEq>(ui: &mut Ui, tokens: &Tokens, label: &str, value: &mut T, options: &[(T, String)]) {
    let chosen = options.iter().find(|(option, _)| option == value).map_or("", |(_, text)| text.as_str());
    let text = RichText::new(chosen).font(tokens.font(Type::Note));
    let menu = egui::ComboBox::from_id_salt(label).selected_text(text).show_ui(ui, |ui| {
        for (option, text) in options {
            option_ui(ui, tokens, label, value, *option, text);
        }
    });
    let name = format!("{label} {chosen}");
    menu.response.widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, &name));
}

/// A yes or no.
pub fn toggle(flow: &mut Flow<'_>, tokens: &Tokens, label: &str, value: &mut bool) -> Response {
    flow.item(|ui| ui.checkbox(value, RichText::new(label).font(tokens.font(Type::Note))))
}

/// A button among the controls.
pub fn button(flow: &mut Flow<'_>, tokens: &Tokens, label: &str) -> bool {
    flow.item(|ui| ui.button(RichText::new(label).font(tokens.font(Type::Note))).clicked())
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

    fn ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.label(RichText::new(self.label.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
        let color = if self.verdict == Verdict::Neutral { tokens.ink } else { tokens.verdict(self.verdict) };
        ui.label(RichText::new(&self.value).font(tokens.font(Type::Number)).color(color));
    }

    #[must_use]
    pub fn judged(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }
}

/// Key numbers side by side, wrapping.
pub fn key_numbers(ui: &mut Ui, tokens: &Tokens, lang: Lang, numbers: &[KeyNumber]) {
    row(ui, tokens, |flow| {
        for number in numbers {
            flow.item(|ui| ui.vertical(|ui| number.ui(ui, tokens, lang)));
        }
    });
}
