//! A finding of the checker beside the text: the sentence, the place, the line with its caret, what to do. The line is cut
//! to the page and never wraps, so that the caret stays under what it marks.

use egui::{RichText, TextWrapMode, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::{Problem, Severity, problem};

pub fn ui(ui: &mut Ui, tokens: &Tokens, problem: &Problem) {
    let color = if problem.severity == Severity::Error { tokens.bad } else { tokens.caution };
    let what = format!("{}: {}", problem.severity.id(), problem.what);
    ui.label(RichText::new(what).font(tokens.font(Type::NoteStrong)).color(color));
    let place = &problem.place;
    let at =
        if place.line > 0 { format!("{}:{}:{}", place.file, place.line, place.column) } else { place.file.clone() };
    ui.label(RichText::new(at).font(tokens.font(Type::MonoSmall)).color(tokens.muted));
    let font = tokens.font(Type::MonoSmall);
    let letter = ui.painter().layout_no_wrap("M".to_owned(), font.clone(), tokens.ink).size().x;
    // The line number and its bar take some ten columns, wide characters a few more.
    let most = ((ui.available_width() / letter.max(1.0)) as usize).saturating_sub(18).clamp(16, 96);
    if let Some(lines) = problem::excerpt(problem, most) {
        let text = RichText::new(lines).font(font).color(tokens.ink);
        ui.add(egui::Label::new(text).wrap_mode(TextWrapMode::Extend));
    }
    if let Some(help) = &problem.help {
        ui.label(RichText::new(help).font(tokens.font(Type::Note)).color(tokens.muted));
    }
}
