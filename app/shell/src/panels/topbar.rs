//! The bar of smaller windows: curriculum, title, notebook.

use crate::action::Action;
use crate::app::App;
use crate::panels::{Drawer, Width};
use crate::text;
use egui::{Align, Layout, RichText, Ui};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const CURRICULUM: Text = Text::new("目录", "Chapters");
const NOTEBOOK: Text = Text::new("笔记本", "Notebook");

pub fn ui(app: &mut App, ui: &mut Ui, width: Width, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ui.add_space(tokens.space.xs);
    ui.horizontal(|ui| {
        ui.add_space(tokens.space.s);
        toggle(app, ui, Drawer::Rail, CURRICULUM.get(lang));
        if width != Width::Narrow {
            ui.label(RichText::new(text::APP.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.muted));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(tokens.space.s);
            toggle(app, ui, Drawer::Notebook, NOTEBOOK.get(lang));
            if ui.button(lang.other().code().to_uppercase()).clicked() {
                actions.push(Action::ToggleLang);
            }
        });
    });
    ui.add_space(tokens.space.xs);
}

fn toggle(app: &mut App, ui: &mut Ui, drawer: Drawer, label: &str) {
    let is_open = app.drawer == Some(drawer);
    if ui.selectable_label(is_open, label).clicked() {
        app.drawer = if is_open { None } else { Some(drawer) };
    }
}
