//! The list of keys, made from the command registry.

use crate::action::Action;
use crate::app::App;
use crate::commands::COMMANDS;
use egui::{Grid, RichText, Ui, Window};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const TITLE: Text = Text::new("快捷键", "Keyboard shortcuts");
const FIGURES: &[(&str, Text)] = &[
    ("Tab", Text::new("到下一个控件或图", "to the next control or figure")),
    ("← → ↑ ↓", Text::new("在图里移动", "move inside a figure")),
    ("Space", Text::new("播放、暂停、切换", "play, pause, switch")),
    ("Ctrl +/−/0", Text::new("放大、缩小、复原界面", "enlarge, reduce, restore the interface")),
];

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    if !app.shows_shortcuts {
        return;
    }
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let mut is_open = true;
    Window::new(TITLE.get(lang))
        .collapsible(false)
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .open(&mut is_open)
        .show(ui.ctx(), |ui| {
            Grid::new("shortcuts").num_columns(2).spacing([tokens.space.xl, tokens.space.xs]).show(ui, |ui| {
                for command in COMMANDS {
                    let Some(shortcut) = command.shortcut else { continue };
                    let keys = ui.ctx().format_shortcut(&shortcut);
                    ui.label(RichText::new(keys).font(tokens.font(Type::Mono)).color(tokens.accent));
                    ui.label(RichText::new(command.title.get(lang)).font(tokens.font(Type::Note)));
                    ui.end_row();
                }
                for (keys, what) in FIGURES {
                    ui.label(RichText::new(*keys).font(tokens.font(Type::Mono)).color(tokens.accent));
                    ui.label(RichText::new(what.get(lang)).font(tokens.font(Type::Note)));
                    ui.end_row();
                }
            });
        });
    if !is_open || ui.input(|input| input.key_pressed(egui::Key::Escape)) {
        actions.push(Action::ClosePopups);
    }
}
