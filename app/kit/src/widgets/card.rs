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
/// its things from the right edge leftwards. Where they do not fit beside the title they get a row of their own; a term
/// that does not fit is left out.
pub fn card_header(ui: &mut Ui, tokens: &Tokens, title: &str, term: &str, right: impl FnOnce(&mut Ui)) {
    let row_height = tokens.px(34.0);
    let gap = ui.spacing().item_spacing.x;
    let wide = |text: &str, role| ui.painter().layout_no_wrap(text.to_owned(), tokens.font(role), tokens.ink).size().x;
    let (title_width, term_width) = (wide(title, Type::Card), wide(term, Type::Note));
    // What stands at the right is known once it was drawn; until then it has most of the row.
    let id = ui.scope_id().with(("card header", title));
    let known = ui.data(|data| data.get_temp::<f32>(id));
    let room = known.map_or(ui.available_width() * 0.4, |right| ui.available_width() - right - gap);
    let is_narrow = ui.available_width() < tokens.px(480.0) || known.is_some() && title_width > room;
    let width = if is_narrow {
        let room = ui.available_width();
        let term = if title_width + gap + term_width < room { term } else { "" };
        ui.horizontal_wrapped(|ui| titles(ui, tokens, title, term));
        let layout = Layout::right_to_left(Align::Center).with_main_wrap(true);
        let row = egui::Rect::from_min_size(ui.cursor().min, egui::vec2(room, row_height));
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(row).layout(layout));
        right(&mut child);
        // A header with nothing at its right has no second row.
        if child.min_rect().width() > 0.0 {
            ui.allocate_rect(row.union(child.min_rect()), egui::Sense::hover());
        }
        child.min_rect().width()
    } else {
        let term = if title_width + gap + term_width < room { term } else { "" };
        let row = ui.horizontal(|ui| {
            ui.set_min_height(row_height);
            ui.scope(|ui| {
                ui.set_max_width(room);
                titles(ui, tokens, title, term);
            });
            let layout = Layout::right_to_left(Align::Center);
            ui.with_layout(layout, |ui| {
                let from = ui.cursor().right();
                right(ui);
                from - ui.cursor().right()
            })
        });
        row.inner.inner
    };
    if known.is_none_or(|known| (width - known).abs() > 0.5) {
        ui.data_mut(|data| data.insert_temp(id, width));
        ui.ctx().request_discard("a card's header has another width");
    }
}

fn titles(ui: &mut Ui, tokens: &Tokens, title: &str, term: &str) {
    let heading = RichText::new(title).font(tokens.font(Type::Card)).color(tokens.ink);
    let response = ui.add(Label::new(heading).wrap());
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
    if !term.is_empty() {
        ui.add(Label::new(RichText::new(term).font(tokens.font(Type::Note)).color(tokens.muted)).truncate());
    }
}

/// The heading of a group outside cards, such as "Device" or "Notebook".
pub fn section(ui: &mut Ui, tokens: &Tokens, title: &str) {
    let response = ui.label(RichText::new(title).font(tokens.font(Type::BodyStrong)).color(tokens.ink));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
}
