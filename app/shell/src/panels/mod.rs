//! The parts of the window: rail on the left, page in the middle, notebook on the right, what floats above.
//!
//! Wide windows show all three; medium ones fold the rail and turn the notebook into a drawer; narrow ones show one
//! column with a bar at the top. The widths come from the design and are scaled with the text.

pub mod drop;
pub mod halo;
pub mod notebook;
pub mod notes;
pub mod palette;
pub mod rail;
pub mod settings;
pub mod share;
pub mod shortcuts;
pub mod start;
pub mod topbar;

use crate::action::Action;
use crate::app::App;
use crate::platform::Rest;
use crate::route::Page;
use egui::{CentralPanel, Frame, Margin, Panel, Ui};

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Wide,
    Medium,
    Narrow,
}

impl Width {
    /// By the width in points, already divided by the text scale.
    pub fn of(points: f32) -> Self {
        match points {
            w if w >= 1280.0 => Self::Wide,
            w if w >= 760.0 => Self::Medium,
            _ => Self::Narrow,
        }
    }
}

const RAIL: f32 = 264.0;
const NOTEBOOK: f32 = 336.0;
/// The widest column of a chapter.
pub const COLUMN: f32 = 880.0;

/// Lays the window out and paints it.
pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let width = Width::of(ui.available_width() / tokens.scale);
    let ground = Frame::new().fill(tokens.ground);
    let is_bare = app.is_presenting;
    if !is_bare && width != Width::Wide {
        Panel::top("topbar").frame(ground).show_separator_line(false).show(ui, |ui| {
            topbar::ui(app, ui, width, actions);
        });
    }
    let shows_rail = !is_bare && app.is_rail_open && width == Width::Wide;
    if shows_rail {
        let frame = ground.inner_margin(Margin { left: 16, right: 8, top: 20, bottom: 12 });
        Panel::left("rail").exact_size(tokens.px(RAIL)).resizable(false).frame(frame).show(ui, |ui| {
            rail::ui(app, ui, actions);
        });
    }
    let shows_notebook = !is_bare && app.settings.is_notebook_open && width == Width::Wide;
    if shows_notebook {
        let frame = ground.inner_margin(Margin { left: 20, right: 16, top: 24, bottom: 12 });
        Panel::right("notebook").exact_size(tokens.px(NOTEBOOK)).resizable(false).frame(frame).show(ui, |ui| {
            notebook::ui(app, ui, actions);
        });
    }
    if width != Width::Wide {
        drawers(app, ui, &tokens, actions);
    }
    CentralPanel::default().frame(ground).show(ui, |ui| match app.route.page.clone() {
        Page::Start => start::ui(app, ui, actions),
        Page::Settings => settings::ui(app, ui, actions),
        Page::Review => crate::study::ui(app, ui, actions),
        Page::Route { id } => crate::guide::route_page::ui(app, ui, &id, actions),
        Page::Task { id } => crate::guide::task_page::ui(app, ui, &id, actions),
        Page::Evidence { route } => crate::guide::evidence_page::ui(app, ui, route.as_deref(), actions),
        Page::Help { symptom, answers } => {
            crate::guide::help_page::ui(app, ui, symptom.as_deref(), &answers, actions);
        }
        Page::Files => start::files_page(app, ui, actions),
        Page::Snapshot | Page::Fit | Page::Profile | Page::Playground { .. } if app.platform.rest() != Rest::Here => {
            crate::page::coming::ui(app, ui, None);
        }
        Page::Snapshot => crate::snapshot::ui(app, ui, actions),
        Page::Fit => crate::fit::ui(app, ui, actions),
        Page::Profile => crate::profile::ui(app, ui, actions),
        Page::Playground { kernel } => crate::playground::ui(app, ui, kernel.as_deref(), actions),
        Page::Chapter { chapter, .. } => crate::page::ui(app, ui, &chapter, actions),
    });
    notes::ui(app, ui, actions);
    palette::ui(app, ui, actions);
    shortcuts::ui(app, ui, actions);
    share::ui(app, ui, actions);
    halo::ui(app, ui);
    drop::ui(app, ui);
}

/// Rail and notebook on smaller windows: over the page, opened from the bar.
fn drawers(app: &mut App, ui: &mut Ui, tokens: &vramlab_kit::Tokens, actions: &mut Vec<Action>) {
    let room = ui.available_width();
    let frame = Frame::new().fill(tokens.ground).stroke(tokens.hairline()).inner_margin(Margin::same(16));
    if app.drawer == Some(Drawer::Rail) {
        Panel::left("rail_drawer").exact_size(tokens.px(RAIL).min(room)).resizable(false).frame(frame).show(ui, |ui| {
            rail::ui(app, ui, actions);
        });
    }
    if app.drawer == Some(Drawer::Notebook) {
        let size = tokens.px(NOTEBOOK).min(room);
        Panel::right("notebook_drawer").exact_size(size).resizable(false).frame(frame).show(ui, |ui| {
            notebook::ui(app, ui, actions);
        });
    }
}

/// What is pulled over the page on smaller windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawer {
    Rail,
    Notebook,
}

/// Text measured and cut with `…` to fit `width`.
pub fn elided(
    ui: &Ui,
    text: &str,
    font: egui::FontId,
    color: egui::Color32,
    width: f32,
) -> std::sync::Arc<egui::Galley> {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}
