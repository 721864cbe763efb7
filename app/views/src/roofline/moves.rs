//! The table under the roofline: what moves the dot up or to the right, and by how much. Pressing a row makes the change.

use super::answer::{Change, Effect, effects};
use super::question::Question;
use super::words;
use egui::{Align, Layout, RichText, Ui, vec2};
use vramlab_kit::{Button, Tokens, Type};
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("什么能移动这个点", "What moves this dot");
const HEAD: [Text; 4] = [
    Text::new("改动", "change"),
    Text::new("显存字节", "HBM bytes"),
    Text::new("最短时间", "shortest time"),
    Text::new("点往哪走", "where the dot goes"),
];
/// Widths of the columns.
const COLUMNS: [f32; 4] = [172.0, 132.0, 132.0, 200.0];
const PER_ROW: Text = Text::new("（每行）", " (a row)");

/// The question after the change that the reader pressed, if one was.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question) -> Option<Question> {
    let effects = effects(question);
    if effects.is_empty() {
        return None;
    }
    ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
    let mut pressed = None;
    if ui.available_width() < tokens.px(690.0) {
        for effect in &effects {
            if narrow_row(ui, tokens, lang, question, effect) {
                pressed = Some(effect.after.clone());
            }
        }
        return pressed;
    }
    row(ui, tokens, |ui, idx| {
        cell(ui, tokens, HEAD[idx].get(lang), false);
    });
    for effect in &effects {
        row(ui, tokens, |ui, idx| match idx {
            0 if button(ui, tokens, lang, question, effect) => pressed = Some(effect.after.clone()),
            0 => {}
            1 => cell(ui, tokens, &factor(effect.hbm_bytes, effect, lang), true),
            2 => cell(ui, tokens, &factor(effect.secs, effect, lang), true),
            _ => cell(ui, tokens, &words::effect_note(effect, question.has_levels, lang), false),
        });
    }
    pressed
}

/// One row of the table: four cells in columns of their own.
fn row(ui: &mut Ui, tokens: &Tokens, mut add: impl FnMut(&mut Ui, usize)) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.s;
        for (idx, width) in COLUMNS.into_iter().enumerate() {
            let size = vec2(tokens.px(width), tokens.px(22.0));
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(size.x);
                add(ui, idx);
            });
        }
    });
}

fn narrow_row(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question, effect: &Effect) -> bool {
    let pressed = button(ui, tokens, lang, question, effect);
    let time = format!("{} {}", HEAD[2].get(lang), factor(effect.secs, effect, lang));
    let note = words::effect_note(effect, question.has_levels, lang);
    let text = RichText::new(format!("{time} · {note}")).font(tokens.font(Type::Small)).color(tokens.muted);
    ui.add(egui::Label::new(text).wrap());
    pressed
}

fn button(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question, effect: &Effect) -> bool {
    let name = words::change_name(effect.change, question, &effect.after).get(lang);
    Button::secondary(&name).show(ui, tokens).clicked()
}

fn cell(ui: &mut Ui, tokens: &Tokens, text: &str, is_number: bool) {
    let (font, color) = if is_number { (Type::Mono, tokens.ink) } else { (Type::Note, tokens.muted) };
    ui.label(RichText::new(text).font(tokens.font(font)).color(color));
}

fn factor(ratio: f64, effect: &Effect, lang: Lang) -> String {
    let per = if effect.change == Change::Batch { PER_ROW.get(lang) } else { "" };
    format!("×{}{per}", number(ratio))
}
