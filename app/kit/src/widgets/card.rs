//! The card: a white sheet with a hairline. Cards do not lie in cards.

use crate::tokens::{Tokens, Type};
use egui::{Align, Frame, InnerResponse, Label, Layout, Margin, RichText, Ui};

/// A card over the whole width.
pub fn card<R>(ui: &mut Ui, tokens: &Tokens, contents: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
    let margin = Margin::symmetric(tokens.space.l as i8, tokens.space.m as i8);
    let frame = Frame::new()
        .fill(tokens.surface)
        .stroke(tokens.hairline())
        .corner_radius(tokens.card_corner())
        .inner_margin(margin);
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        contents(ui)
    })
}

/// Title, the term in the other language, and what stands at the right edge: evidence chip, reset, menu. `right` adds
/// its things from the right edge leftwards. In a narrow card they get a row of their own.
pub fn card_header(ui: &mut Ui, tokens: &Tokens, title: &str, term: &str, right: impl FnOnce(&mut Ui)) {
    let is_narrow = ui.available_width() < tokens.px(480.0);
    let row_height = tokens.px(34.0);
    if is_narrow {
        ui.horizontal(|ui| titles(ui, tokens, title, term));
        let size = egui::vec2(ui.available_width(), row_height);
        let layout = Layout::right_to_left(Align::Center).with_main_wrap(true);
        let row = egui::Rect::from_min_size(ui.cursor().min, size);
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(row).layout(layout));
        right(&mut child);
        // A header with nothing at its right has no second row.
        if child.min_rect().width() > 0.0 {
            ui.allocate_rect(row.union(child.min_rect()), egui::Sense::hover());
        }
    } else {
        ui.horizontal(|ui| {
            ui.set_min_height(row_height);
            titles(ui, tokens, title, term);
            ui.with_layout(Layout::right_to_left(Align::Center), right);
        });
    }
}

fn titles(ui: &mut Ui, tokens: &Tokens, title: &str, term: &str) {
    let heading = RichText::new(title).font(tokens.font(Type::Card)).color(tokens.ink);
    let response = ui.add(Label::new(heading).truncate());
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
    // Beside a title that fills the row there is no room for even the ellipsis of the term.
    if !term.is_empty() && ui.available_width() > tokens.px(24.0) {
        ui.add(Label::new(RichText::new(term).font(tokens.font(Type::Note)).color(tokens.muted)).truncate());
    }
}

/// The heading of a group outside cards, such as "Device" or "Notebook".
pub fn section(ui: &mut Ui, tokens: &Tokens, title: &str) {
    let response = ui.label(RichText::new(title).font(tokens.font(Type::BodyStrong)).color(tokens.ink));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
}
