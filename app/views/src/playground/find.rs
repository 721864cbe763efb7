//! Find in the code: a field, how many places, the next one and the one before.

use super::{typing, words};
use egui::{Key, Modifiers, Role, TextEdit, Ui, WidgetInfo, vec2};
use std::ops::Range;
use vramlab_kit::icons::Icon;
use vramlab_kit::{Button, Tokens, Type};
use vramlab_units::Lang;

#[derive(Default)]
pub struct Find {
    wanted: String,
    at: usize,
    is_new: bool,
    /// A place was shown; before that the first Enter shows the first one.
    is_begun: bool,
}

/// What the reader asked for in this frame.
pub enum Found {
    Nothing,
    /// The characters to select.
    Here(Range<usize>),
    Close,
}

impl Find {
    pub fn open() -> Self {
        Self { is_new: true, ..Self::default() }
    }

    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, text: &str) -> Found {
        let places = typing::matches(text, &self.wanted);
        let mut step = 0_isize;
        let mut found = Found::Nothing;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = tokens.space.xs;
            let field = TextEdit::singleline(&mut self.wanted)
                .hint_text(words::FIND.get(lang))
                .font(tokens.font(Type::Mono))
                .desired_width(tokens.px(180.0))
                .margin(vec2(tokens.space.xs, tokens.px(5.0)));
            let field = ui.add(field);
            field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, words::FIND.get(lang)));
            if std::mem::take(&mut self.is_new) {
                field.request_focus();
            }
            if field.changed() {
                (self.at, self.is_begun) = (0, false);
            }
            if field.lost_focus() {
                let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
                step = match () {
                    () if pressed(Modifiers::SHIFT, Key::Enter) => -1,
                    () if pressed(Modifiers::NONE, Key::Enter) => 1,
                    () => 0,
                };
                if ui.input(|input| input.key_pressed(Key::Escape)) {
                    found = Found::Close;
                }
                if step != 0 {
                    field.request_focus();
                }
            }
            let shown = if places.is_empty() { 0 } else { self.at.min(places.len() - 1) + 1 };
            ui.label(
                egui::RichText::new(format!("{shown}/{}", places.len()))
                    .font(tokens.font(Type::Small))
                    .color(tokens.muted),
            );
            if Button::icon_only(Icon::StepBack, words::PREVIOUS.get(lang)).show(ui, tokens).clicked() {
                step = -1;
            }
            if Button::icon_only(Icon::StepForward, words::NEXT.get(lang)).show(ui, tokens).clicked() {
                step = 1;
            }
            if Button::icon_only(Icon::Close, words::CLOSE.get(lang)).show(ui, tokens).clicked() {
                found = Found::Close;
            }
        });
        match (step, places.len()) {
            (0, _) | (_, 0) => found,
            (_, n) => {
                let from = self.at.min(n - 1);
                self.at = if self.is_begun { (from + n).saturating_add_signed(step) % n } else { 0 };
                self.is_begun = true;
                places.get(self.at).cloned().map_or(found, Found::Here)
            }
        }
    }
}
