//! What the reader should know, at the lower edge: one card a note, dismissed by hand, with the action it offers.

use crate::action::Action;
use crate::app::App;
use egui::{Align2, Area, Frame, Label, Margin, Order, RichText, Ui, vec2};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const DISMISS: Text = Text::new("知道了", "Dismiss");

pub fn ui(app: &App, ui: &mut Ui, actions: &mut Vec<Action>) {
    if app.notes.is_empty() {
        return;
    }
    let tokens = app.tokens();
    let lang = app.lang();
    let room = ui.ctx().content_rect().width();
    Area::new(egui::Id::unique("notes")).order(Order::Foreground).anchor(Align2::CENTER_BOTTOM, vec2(0.0, -20.0)).show(
        ui.ctx(),
        |ui| {
            ui.set_max_width(tokens.px(560.0).min(room - 24.0));
            for (idx, note) in app.notes.iter().enumerate() {
                let color = if note.is_bad { tokens.bad } else { tokens.ink };
                let frame = Frame::new()
                    .fill(tokens.surface)
                    .stroke(tokens.hairline())
                    .corner_radius(tokens.control_corner())
                    .shadow(egui::Shadow { offset: [0, 4], blur: 16, spread: 0, color: tokens.shadow })
                    .inner_margin(Margin::symmetric(14, 8));
                frame.show(ui, |ui| {
                    ui.horizontal_wrapped(|ui| {
                        // A finding of the checker has a caret under its line.
                        let font = if note.text.contains('\n') { Type::MonoSmall } else { Type::Note };
                        let text = RichText::new(&note.text).font(tokens.font(font)).color(color);
                        ui.add(Label::new(text).wrap());
                        if let Some((label, action)) = &note.offer
                            && ui.button(label.get(lang)).clicked()
                        {
                            actions.push(action.clone());
                            actions.push(Action::DismissNote(idx));
                        }
                        if ui.button(DISMISS.get(lang)).clicked() {
                            actions.push(Action::DismissNote(idx));
                        }
                    });
                });
                ui.add_space(tokens.space.xs);
            }
        },
    );
}
