//! The map of the course: its routes with how far the reader is, and every chapter, written or not.

use crate::action::Action;
use crate::app::App;
use crate::guide::{parts, route_page};
use crate::route::{Page, Route};
use crate::widgets;
use egui::{Align2, Rect, Sense, Ui, WidgetInfo, pos2, vec2};
use std::rc::Rc;
use vramlab_kit::icons::Icon;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::Text;

const ROUTES: Text = Text::new("路线", "Routes");
const ALL: Text = Text::new("全部章节", "All chapters");
const GREY: Text = Text::new("，灰色的还没写", "; grey ones are to come");
const EVIDENCE: Text = Text::new("证据表", "Evidence table");

pub fn ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let guide = Rc::clone(&app.guide);
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, ROUTES.get(lang), "", |ui| {
            if widgets::link(ui, tokens, EVIDENCE.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Evidence { route: None })));
            }
        });
        for route in &guide.course.routes {
            let ids = guide.course.chapters_of(route);
            if route_line(app, ui, tokens, route.title.get(lang), route.text.get(lang), &ids) {
                actions.push(Action::Go(Route::page(Page::Route { id: route.id.clone() })));
            }
        }
    });
    ui.add_space(tokens.space.s);
    let ids = guide.course.route("full").map(|route| guide.course.chapters_of(route)).unwrap_or_default();
    widgets::card(ui, tokens, |ui| {
        let written = format!("{}{}", route_page::written(app, &ids, lang), GREY.get(lang));
        widgets::card_header(ui, tokens, ALL.get(lang), "", |ui| parts::label(ui, tokens, &written));
        chapters_ui(app, ui, tokens, &ids, actions);
    });
}

/// One route: name, for whom, and a square for each of its chapters. True when it was pressed.
fn route_line(app: &App, ui: &mut Ui, tokens: &Tokens, title: &str, text: &str, ids: &[&str]) -> bool {
    let room = ui.available_width();
    let is_wide = room >= tokens.px(560.0);
    let height = tokens.px(if is_wide { 40.0 } else { 76.0 });
    let (rect, response) = ui.allocate_exact_size(vec2(room, height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, format!("{title}. {text}")));
    let is_lit = response.hovered() || response.has_focus();
    if is_lit {
        ui.painter().rect_filled(rect, tokens.control_corner(), tokens.accent_soft);
    }
    let left = rect.left() + tokens.px(8.0);
    let line = if is_wide { rect.center().y } else { rect.top() + tokens.px(20.0) };
    let strong = tokens.font(Type::NoteStrong);
    let name = ui.painter().text(pos2(left, line), Align2::LEFT_CENTER, title, strong, tokens.ink);
    let strip_left = if is_wide { rect.right() - tokens.px(330.0) } else { left };
    let most = if is_wide { strip_left } else { rect.right() - tokens.px(28.0) };
    let start = if is_wide { name.right() + tokens.px(10.0) } else { left };
    let text_line = if is_wide { line } else { line + tokens.px(21.0) };
    let galley = crate::panels::elided(ui, text, tokens.font(Type::Small), tokens.muted, most - start - tokens.px(8.0));
    ui.painter().galley(pos2(start, text_line - galley.size().y / 2.0), galley, tokens.muted);
    let strip_y = if is_wide { line - tokens.px(4.5) } else { rect.top() + tokens.px(56.0) };
    let strip =
        Rect::from_min_max(pos2(strip_left, strip_y), pos2(rect.right() - tokens.px(32.0), strip_y + tokens.px(9.0)));
    parts::paint_strip(app, ui.painter(), strip, ids);
    let square = Rect::from_center_size(pos2(rect.right() - tokens.px(14.0), rect.center().y), vec2(16.0, 16.0));
    Icon::ChevronRight.paint(ui.painter(), tokens, square, if is_lit { tokens.accent } else { tokens.muted });
    response.clicked()
}

/// Every chapter in as many columns as fit, read downwards.
fn chapters_ui(app: &App, ui: &mut Ui, tokens: &Tokens, ids: &[&str], actions: &mut Vec<Action>) {
    let gap = tokens.space.s;
    let room = ui.available_width();
    let n_columns = ((room + gap) / (tokens.px(250.0) + gap)).floor().clamp(1.0, 3.0) as usize;
    let width = (room - gap * (n_columns as f32 - 1.0)) / n_columns as f32;
    let n_rows = ids.len().div_ceil(n_columns);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for column in ids.chunks(n_rows.max(1)) {
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing.y = 0.0;
                for id in column {
                    parts::chapter_line_plain(app, ui, id, actions);
                }
            });
        }
    });
}
