//! Parts that the pages of the guide and the start page share: page titles, tiles that can be pressed, lines of chapters,
//! marks of evidence.

use crate::action::Action;
use crate::app::App;
use crate::guide::evidence::State;
use crate::panels::elided;
use crate::route::Route;
use egui::text::LayoutJob;
use egui::{Align2, Galley, Rect, Response, RichText, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use vramlab_kit::icons::Icon;
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Localized, Text};

pub const NOT_WRITTEN: Text = Text::new("还没写", "not written yet");
const DONE: Text = Text::new("学完", "done");

/// A page of the guide: a scrolling column with title and subtitle.
pub fn page(ui: &mut Ui, tokens: &Tokens, id: &str, title: &str, subtitle: &str, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical().id_salt(id).auto_shrink([false, false]).show(ui, |ui| {
        crate::page::column(ui, tokens, |ui| {
            let response = ui.label(RichText::new(title).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
            if !subtitle.is_empty() {
                ui.add_space(tokens.space.xxs);
                body(ui, tokens, subtitle, tokens.muted);
            }
            ui.add_space(tokens.space.l);
            add(ui);
        });
    });
}

/// A paragraph with the line height of prose.
pub fn body(ui: &mut Ui, tokens: &Tokens, text: &str, color: egui::Color32) {
    paragraph(ui, tokens, text, Type::Body, 24.0, color);
}

/// A smaller paragraph.
pub fn note(ui: &mut Ui, tokens: &Tokens, text: &str, color: egui::Color32) {
    paragraph(ui, tokens, text, Type::Note, 21.0, color);
}

fn paragraph(ui: &mut Ui, tokens: &Tokens, text: &str, role: Type, line: f32, color: egui::Color32) {
    let mut job = LayoutJob::default();
    let format =
        egui::TextFormat { line_height: Some(tokens.px(line)), ..egui::TextFormat::simple(tokens.font(role), color) };
    job.append(text, 0.0, format);
    ui.add(egui::Label::new(job).wrap());
}

/// A smaller paragraph laid out for a width.
pub fn laid(ui: &Ui, tokens: &Tokens, text: &str, color: egui::Color32, width: f32) -> Arc<Galley> {
    let format = egui::TextFormat {
        line_height: Some(tokens.px(21.0)),
        ..egui::TextFormat::simple(tokens.font(Type::Note), color)
    };
    let mut job = LayoutJob::default();
    job.append(text, 0.0, format);
    job.wrap.max_width = width;
    ui.painter().layout_job(job)
}

/// The title of a card that has nothing at its right edge.
pub fn heading(ui: &mut Ui, tokens: &Tokens, text: &str) {
    let title = RichText::new(text).font(tokens.font(Type::Card)).color(tokens.ink);
    let response = ui.add(egui::Label::new(title).wrap());
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
    ui.add_space(tokens.space.xs);
}

/// A small heading inside a card, in the secondary colour.
pub fn label(ui: &mut Ui, tokens: &Tokens, text: &str) {
    ui.label(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted));
}

/// A command to copy: monospaced on sunken ground, with a button.
pub fn code(ui: &mut Ui, tokens: &Tokens, text: &str, copy: &str, actions: &mut Vec<Action>) {
    let frame = egui::Frame::new().fill(tokens.sunken).corner_radius(tokens.control_corner());
    let frame = frame.inner_margin(egui::Margin::symmetric(tokens.space.s as i8, tokens.space.xs as i8));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let width = (ui.available_width() - tokens.hit - tokens.space.s).max(tokens.px(80.0));
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.add_space(tokens.px(4.0));
                ui.add(egui::Label::new(RichText::new(text).font(tokens.font(Type::Mono)).color(tokens.ink)).wrap());
                ui.add_space(tokens.px(2.0));
            });
            if vramlab_kit::widgets::Button::icon_only(Icon::Copy, copy).show(ui, tokens).clicked() {
                actions.push(Action::CopyText(text.to_owned()));
            }
        });
    });
}

/// Something to press with a title and a sentence.
#[derive(Clone, Debug, Default)]
pub struct Tile {
    /// Small, above the title.
    pub over: String,
    pub title: String,
    pub text: String,
    /// What cannot be opened yet is muted and says why.
    pub why_not: Option<String>,
    /// The one that a newcomer should press.
    pub is_first: bool,
}

/// A tile laid out for a width.
struct LaidTile {
    over: Arc<Galley>,
    title: Arc<Galley>,
    text: Arc<Galley>,
}

impl LaidTile {
    fn new(ui: &Ui, tokens: &Tokens, tile: &Tile, width: f32) -> Self {
        let room = width - 2.0 * tokens.space.m - tokens.px(20.0);
        let is_live = tile.why_not.is_none();
        let ink = if is_live { tokens.ink } else { tokens.muted };
        let lay = |text: &str, role: Type, color, line: f32| {
            let format = egui::TextFormat {
                line_height: Some(tokens.px(line)),
                ..egui::TextFormat::simple(tokens.font(role), color)
            };
            let mut job = LayoutJob::default();
            job.append(text, 0.0, format);
            job.wrap.max_width = room;
            ui.painter().layout_job(job)
        };
        let below = tile.why_not.as_ref().map_or(tile.text.clone(), |why| format!("{} · {why}", tile.text));
        let over_color = if tile.is_first { tokens.accent } else { tokens.muted };
        Self {
            over: lay(&tile.over, Type::Small, over_color, 18.0),
            title: lay(&tile.title, Type::Card, ink, 24.0),
            text: lay(&below, Type::Note, tokens.muted, 21.0),
        }
    }

    fn height(&self, tokens: &Tokens, tile: &Tile) -> f32 {
        let over = if tile.over.is_empty() { 0.0 } else { self.over.size().y + tokens.px(2.0) };
        let text =
            if tile.text.is_empty() && tile.why_not.is_none() { 0.0 } else { self.text.size().y + tokens.px(4.0) };
        over + self.title.size().y + text + 2.0 * tokens.space.s
    }
}

/// Tiles in as many columns as `least` points allow, rows of equal height. Gives the index of the one that was pressed.
pub fn tiles(ui: &mut Ui, tokens: &Tokens, all: &[Tile], least: f32) -> Option<usize> {
    let gap = tokens.space.s;
    let room = ui.available_width();
    let most = ((room + gap) / (tokens.px(least) + gap)).floor().max(1.0) as usize;
    let n_columns = most.min(all.len().max(1));
    let width = (room - gap * (n_columns as f32 - 1.0)) / n_columns as f32;
    let mut pressed = None;
    ui.spacing_mut().item_spacing = vec2(gap, gap);
    for (row_idx, row) in all.chunks(n_columns).enumerate() {
        let laid: Vec<LaidTile> = row.iter().map(|tile| LaidTile::new(ui, tokens, tile, width)).collect();
        let heights = row.iter().zip(&laid).map(|(tile, laid)| laid.height(tokens, tile));
        let height = heights.fold(tokens.px(56.0), f32::max);
        ui.horizontal(|ui| {
            for (idx, (tile, laid)) in row.iter().zip(laid).enumerate() {
                if tile_ui(ui, tokens, tile, laid, vec2(width, height)).clicked() && tile.why_not.is_none() {
                    pressed = Some(row_idx * n_columns + idx);
                }
            }
        });
    }
    pressed
}

fn tile_ui(ui: &mut Ui, tokens: &Tokens, tile: &Tile, laid: LaidTile, size: egui::Vec2) -> Response {
    let is_live = tile.why_not.is_none();
    let (rect, response) = ui.allocate_exact_size(size, if is_live { Sense::click() } else { Sense::hover() });
    let spoken = [tile.over.as_str(), &tile.title, &tile.text, tile.why_not.as_deref().unwrap_or_default()];
    let spoken: Vec<&str> = spoken.into_iter().filter(|part| !part.is_empty()).collect();
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, is_live, spoken.join(". ")));
    let is_lit = is_live && (response.hovered() || response.has_focus());
    let fill = match (is_live, is_lit, tile.is_first) {
        (false, ..) => tokens.ground,
        (_, true, _) | (.., true) => tokens.accent_soft,
        _ => tokens.surface,
    };
    let edge = if is_lit || tile.is_first { tokens.stroke(1.0, tokens.accent) } else { tokens.hairline() };
    ui.painter().rect(rect, tokens.card_corner(), fill, edge, StrokeKind::Inside);
    paint::focus_ring(ui, tokens, &response, rect, f32::from(tokens.card_radius));
    // An answer of one line stands in the middle; tiles with text begin at one height.
    let is_bare = tile.text.is_empty() && tile.over.is_empty();
    let top = if is_bare { (rect.height() - laid.title.size().y) / 2.0 } else { tokens.space.s };
    let mut at = rect.min + vec2(tokens.space.m, top);
    if !tile.over.is_empty() {
        ui.painter().galley(at, Arc::clone(&laid.over), tokens.muted);
        at.y += laid.over.size().y + tokens.px(2.0);
    }
    ui.painter().galley(at, Arc::clone(&laid.title), tokens.ink);
    at.y += laid.title.size().y + tokens.px(4.0);
    ui.painter().galley(at, laid.text, tokens.muted);
    if is_live {
        let square = Rect::from_center_size(
            pos2(rect.right() - tokens.space.m, rect.center().y),
            vec2(tokens.px(16.0), tokens.px(16.0)),
        );
        Icon::ChevronRight.paint(ui.painter(), tokens, square, if is_lit { tokens.accent } else { tokens.muted });
    }
    response
}

/// What a line of chapters shows at its right edge.
pub fn progress_mark(app: &App, id: &str, n_steps: usize) -> String {
    match (n_steps, app.n_done(id)) {
        (0, _) | (_, 0) => String::new(),
        (all, done) if done >= all => "✓".to_owned(),
        (all, done) => format!("{done}/{all}"),
    }
}

/// A chapter as a line that can be pressed; one that is not written yet is muted and says so.
pub fn chapter_line(app: &App, ui: &mut Ui, id: &str, part: &Localized, actions: &mut Vec<Action>) {
    line(app, ui, id, part, true, actions);
}

/// As [`chapter_line`], in a list whose heading says that the muted ones are not written.
pub fn chapter_line_plain(app: &App, ui: &mut Ui, id: &str, actions: &mut Vec<Action>) {
    line(app, ui, id, &Localized::default(), false, actions);
}

fn line(app: &App, ui: &mut Ui, id: &str, part: &Localized, says_missing: bool, actions: &mut Vec<Action>) {
    let tokens = app.tokens();
    let lang = app.lang();
    let Some(row) = app.library.row(id) else { return };
    let size = vec2(ui.available_width(), tokens.hit.max(tokens.px(32.0)));
    let sense = if row.is_written { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let part = if part.is_empty() { String::new() } else { part_text(part, lang) };
    let title = format!("{}{part}", row.title.get(lang));
    let missing = if row.is_written { "" } else { NOT_WRITTEN.get(lang) };
    let mark = progress_mark(app, id, row.n_steps);
    let mark = if says_missing && !row.is_written { missing.to_owned() } else { mark };
    let spoken = format!("{} {title} {mark}", row.number);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, row.is_written, &spoken));
    let is_lit = row.is_written && (response.hovered() || response.has_focus());
    if is_lit {
        ui.painter().rect_filled(rect, tokens.control_corner(), tokens.accent_soft);
    }
    let color = if row.is_written { tokens.ink } else { tokens.tint(tokens.muted, 0.8) };
    let x = rect.left() + tokens.px(8.0);
    let y = rect.center().y;
    let number = tokens.font(Type::MonoSmall);
    ui.painter().text(pos2(x, y), Align2::LEFT_CENTER, &row.number, number, tokens.tint(color, 0.75));
    let mark_color = if mark == "✓" { tokens.good } else { tokens.muted };
    let right = pos2(rect.right() - tokens.px(8.0), y);
    let used = ui.painter().text(right, Align2::RIGHT_CENTER, &mark, tokens.font(Type::Small), mark_color);
    let left = x + tokens.px(30.0);
    let galley = elided(ui, &title, tokens.font(Type::Note), color, used.left() - left - tokens.px(8.0));
    ui.painter().galley(pos2(left, y - galley.size().y / 2.0), galley, color);
    let response = if row.is_written { response } else { response.on_hover_text(missing) };
    if response.clicked() {
        actions.push(Action::Go(Route::chapter(id)));
    }
}

fn part_text(part: &Localized, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("（{}）", part.get(lang)),
        Lang::En => format!(" ({})", part.get(lang)),
    }
}

/// How much of a row of chapters is done: one square a chapter, in the order of the route.
pub fn strip(app: &App, ui: &mut Ui, ids: &[&str]) {
    let tokens = app.tokens();
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(12.0)), Sense::hover());
    let n_done = paint_strip(app, ui.painter(), rect, ids);
    let spoken = format!("{} {n_done}/{}", DONE.get(app.lang()), ids.len());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &spoken));
}

/// Paints the squares of [`strip`] and gives how many chapters are done.
pub fn paint_strip(app: &App, painter: &egui::Painter, rect: Rect, ids: &[&str]) -> usize {
    let tokens = app.tokens();
    let gap = tokens.px(2.5);
    let n = ids.len().max(1) as f32;
    let side = ((rect.width() - gap * (n - 1.0)) / n).clamp(tokens.px(3.0), rect.height());
    let mut n_done = 0;
    for (idx, id) in ids.iter().enumerate() {
        let at = pos2(rect.left() + idx as f32 * (side + gap), rect.center().y - side / 2.0);
        let square = Rect::from_min_size(at, vec2(side, side));
        let n_steps = app.library.row(id).filter(|row| row.is_written).map_or(0, |row| row.n_steps);
        let share = if n_steps == 0 { 0.0 } else { app.n_done(id) as f32 / n_steps as f32 };
        let (fill, edge) = match n_steps {
            0 => (tokens.sunken, tokens.hairline()),
            _ => (tokens.surface, tokens.stroke(1.0, tokens.accent)),
        };
        let radius = tokens.px(2.0);
        painter.rect(square, radius, fill, edge, StrokeKind::Inside);
        if share > 0.0 {
            let top = square.bottom() - square.height() * share.min(1.0);
            painter.rect_filled(square.with_min_y(top), radius, tokens.accent);
        }
        n_done += usize::from(share >= 1.0);
    }
    n_done
}

/// The mark of a state: told apart by shape as well as by colour.
pub fn state_mark(ui: &Ui, tokens: &Tokens, center: egui::Pos2, state: Option<State>) {
    let radius = tokens.px(7.0);
    let square = Rect::from_center_size(center, vec2(radius * 2.0, radius * 2.0));
    let painter = ui.painter();
    match state {
        None => {
            painter.hline(square.shrink(tokens.px(3.0)).x_range(), center.y, tokens.stroke(1.5, tokens.line));
        }
        Some(State::Open) => {
            painter.circle_stroke(center, radius - 1.0, tokens.stroke(1.5, tokens.muted));
        }
        Some(State::Cpu) => {
            painter.rect_stroke(
                square.shrink(1.0),
                tokens.px(3.0),
                tokens.stroke(1.5, tokens.good),
                StrokeKind::Inside,
            );
            tick(ui, tokens, square, tokens.good);
        }
        Some(State::Replayed) => {
            painter.circle_stroke(center, radius - 1.0, tokens.stroke(1.5, tokens.accent));
            let corners =
                [(-2.0, -3.0), (3.5, 0.0), (-2.0, 3.0)].map(|(x, y)| center + vec2(tokens.px(x), tokens.px(y)));
            painter.add(egui::Shape::convex_polygon(corners.to_vec(), tokens.accent, egui::Stroke::NONE));
        }
        Some(State::Live) => {
            painter.circle_filled(center, radius, tokens.good);
            tick(ui, tokens, square, tokens.surface);
        }
    }
}

fn tick(ui: &Ui, tokens: &Tokens, square: Rect, color: egui::Color32) {
    let at = |x: f32, y: f32| square.min + vec2(square.width() * x, square.height() * y);
    let points = vec![at(0.28, 0.52), at(0.44, 0.68), at(0.73, 0.34)];
    ui.painter().add(egui::Shape::line(points, tokens.stroke(1.5, color)));
}
