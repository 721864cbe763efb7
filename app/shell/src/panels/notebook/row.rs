//! One kept run as a row: what it was, how it ended, where it ran, and its place in a comparison.

use super::state::Side;
use crate::app::App;
use crate::notebook::Entry;
use crate::report::Sheet;
use egui::{Align, Align2, Layout, Rect, Role, Sense, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2};
use vramlab_kit::Icon;
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_kit::widgets::Button;
use vramlab_units::{Lang, Text};

pub const BASELINE: Text = Text::new("基线", "Baseline");
pub const CANDIDATE: Text = Text::new("候选", "Candidate");
const QUICK: Text = Text::new("快速", "quick");
const FULL: Text = Text::new("完整", "full");
const OPEN: Text = Text::new("展开", "open");
const CLOSE: Text = Text::new("收起", "close");

/// Of a line of words.
const LINE: f32 = 21.0;

/// Of every row, so that a list of thousands needs no layout of its own.
pub fn height(tokens: &Tokens) -> f32 {
    3.0 * tokens.px(LINE) + tokens.hit + 2.0 * tokens.space.xs
}

/// Paints the row and lets the reader open it or choose it for a comparison.
pub fn ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, idx: usize) {
    let entry = &app.notebook.entries[idx];
    let n = entry.n;
    let sheet = app.notebook_view.sheet(entry, &app.notebook, &app.library, lang);
    let is_open = app.notebook_view.open == Some(n);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height(tokens)), Sense::hover());
    let id = ui.scope_id().with(("run", n));
    let response = ui.interact(rect, id, Sense::click());
    let about = about(entry, lang);
    response.widget_info(|| {
        let what = if is_open { CLOSE } else { OPEN }.get(lang);
        let spoken = format!("#{n} {}. {}. {about}. {what}", sheet.title, sheet.verdict);
        WidgetInfo::labeled(Role::Button, true, spoken)
    });
    if response.clicked() {
        app.notebook_view.open = (!is_open).then_some(n);
    }
    let is_picked = Side::ALL.iter().any(|side| app.notebook_view.pick(*side).is_some_and(|pick| pick.n == n));
    let edge = match (is_picked, response.hovered()) {
        (true, _) => tokens.stroke(1.0, tokens.accent),
        (false, true) => tokens.stroke(1.0, tokens.muted),
        (false, false) => tokens.hairline(),
    };
    // An open row and what it tells are one card.
    let mut card = rect;
    if is_open {
        card.max.y += app.notebook_view.detail_height;
    }
    ui.painter().rect(card, tokens.card_corner(), tokens.surface, edge, StrokeKind::Inside);
    paint::focus_ring(ui, tokens, &response, rect, f32::from(tokens.card_radius));
    let inner = rect.shrink2(vec2(tokens.space.s, tokens.space.xs));
    paint_words(ui, tokens, inner, n, &sheet, &about, is_open);
    picks_ui(app, ui, tokens, lang, inner, idx);
}

fn paint_words(ui: &Ui, tokens: &Tokens, inner: Rect, n: u64, sheet: &Sheet, about: &str, is_open: bool) {
    let line = tokens.px(LINE);
    let middle = |row: f32| inner.top() + line * (row + 0.5);
    let painter = ui.painter();
    // The first line: the title, the level of evidence and the number.
    let number = format!("#{n}");
    let number = painter.layout_no_wrap(number, tokens.font(Type::MonoSmall), tokens.muted);
    let mut right = inner.right() - number.size().x;
    painter.galley(pos2(right, middle(0.0) - number.size().y / 2.0), number, tokens.muted);
    if let Some(evidence) = &sheet.evidence {
        right -= badge(ui, tokens, pos2(right - tokens.space.xs, middle(0.0)), evidence.level.id());
    }
    let chevron =
        Rect::from_center_size(pos2(inner.left() + tokens.px(6.0), middle(0.0)), egui::Vec2::splat(tokens.px(14.0)));
    let icon = if is_open { Icon::ChevronDown } else { Icon::ChevronRight };
    icon.paint(painter, tokens, chevron, tokens.muted);
    let left = inner.left() + tokens.px(18.0);
    let text = |role: Type, color, words: &str, row: f32, right: f32| {
        let galley = paint::elided(ui, tokens, role, color, words, right - left - tokens.space.xs);
        painter.galley(pos2(left, middle(row) - galley.size().y / 2.0), galley, color);
    };
    text(Type::NoteStrong, tokens.ink, &sheet.title, 0.0, right);
    // The second: how it ended.
    let dot = pos2(inner.left() + tokens.px(6.0), middle(1.0));
    painter.circle_filled(dot, tokens.px(3.5), tokens.verdict(sheet.tone));
    text(Type::Note, tokens.ink, &sheet.verdict, 1.0, inner.right());
    // The third: where and when.
    text(Type::Small, tokens.muted, about, 2.0, inner.right());
}

/// A small outlined word that ends at `right`; answers with its width and gap.
fn badge(ui: &Ui, tokens: &Tokens, right: egui::Pos2, word: &str) -> f32 {
    let galley = ui.painter().layout_no_wrap(word.to_owned(), tokens.font(Type::Small), tokens.muted);
    let size = galley.size() + vec2(tokens.px(10.0), tokens.px(2.0));
    let rect = Rect::from_min_size(pos2(right.x - size.x, right.y - size.y / 2.0), size);
    ui.painter().rect_stroke(rect, tokens.px(6.0), tokens.hairline(), StrokeKind::Inside);
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, word, tokens.font(Type::Small), tokens.muted);
    size.x + tokens.space.xs
}

fn picks_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, inner: Rect, idx: usize) {
    let (n, experiment) = (app.notebook.entries[idx].n, app.notebook.entries[idx].run.experiment.clone());
    let bottom = Rect::from_min_max(pos2(inner.left() + tokens.px(10.0), inner.bottom() - tokens.hit), inner.max);
    let builder = UiBuilder::new().max_rect(bottom).layout(Layout::left_to_right(Align::Center)).id_salt(("pick", n));
    // A child that leaves the list's own place alone.
    let mut ui = ui.new_child(builder);
    for (side, word) in [(Side::Baseline, BASELINE), (Side::Candidate, CANDIDATE)] {
        let is_chosen = app.notebook_view.pick(side).is_some_and(|pick| pick.n == n);
        if Button::quiet(word.get(lang)).selected(is_chosen).show(&mut ui, tokens).clicked() {
            let lens = app.lens_of(&experiment);
            app.notebook_view.toggle_pick(side, n, &lens);
        }
    }
}

/// Device, mode and date.
fn about(entry: &Entry, lang: Lang) -> String {
    let run = &entry.run;
    let mode = match run.mode.as_str() {
        "quick" => QUICK.get(lang),
        "full" => FULL.get(lang),
        other => other,
    };
    let parts = [short_device(&run.device.name), mode.to_owned(), run.date.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// A device's name without what everybody knows.
pub fn short_device(name: &str) -> String {
    crate::page::experiment::short_device(name)
}
