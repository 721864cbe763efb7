//! Painting the rows, and the list of their pieces below.

use super::layout::{Part, Piece, Row};
use super::words;
use egui::{Color32, Painter, Rect, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

/// A name inside its piece needs so much room beside it.
const PADDING: f32 = 12.0;

/// How a piece is filled.
enum Fill {
    Color(Color32),
    Area(Area),
}

fn fill(tokens: &Tokens, part: Part) -> Fill {
    const OWNERS: [Role; 5] = [Role::Parameters, Role::Gradients, Role::Optimizer, Role::Activations, Role::Workspace];
    match part {
        Part::Owner(idx) => Fill::Color(tokens.role(OWNERS[idx.min(4)])),
        Part::Cached => Fill::Area(Area::CachedFree),
        Part::Rounding => Fill::Area(Area::Wasted),
        Part::UnknownOutside | Part::Unowned => Fill::Area(Area::Unknown),
        Part::Context => Fill::Color(tokens.category(7)),
        Part::Libraries => Fill::Color(tokens.tint(tokens.category(7), 0.62)),
        Part::Process => Fill::Color(tokens.tint(tokens.ink, 0.72)),
        Part::Reserved => Fill::Color(tokens.tint(tokens.ink, 0.46)),
        Part::Allocated => Fill::Color(tokens.tint(tokens.ink, 0.34)),
        Part::Requested => Fill::Color(tokens.tint(tokens.ink, 0.24)),
    }
}

fn mark(painter: &Painter, tokens: &Tokens, rect: Rect, part: Part) {
    match fill(tokens, part) {
        Fill::Color(color) => {
            painter.rect_filled(rect, 2.0, color);
        }
        Fill::Area(area) => {
            painter.rect_filled(rect, 2.0, tokens.sunken);
            paint::area(painter, tokens, rect, area);
            if words::is_unknown(part) {
                paint::hatch(painter, rect, tokens.px(7.0), tokens.stroke(1.0, tokens.muted), false);
                painter.rect_stroke(rect, 2.0, tokens.stroke(1.0, tokens.muted), StrokeKind::Inside);
            }
        }
    }
}

/// Ink that is read on a piece.
fn ink_on(tokens: &Tokens, part: Part) -> Color32 {
    match part {
        Part::Process | Part::Owner(_) | Part::Context | Part::Libraries | Part::Reserved => tokens.surface,
        _ => tokens.ink,
    }
}

pub fn paint(ui: &Ui, painter: &Painter, tokens: &Tokens, lang: Lang, rect: Rect, rows: &[Row], places: &[Vec<Rect>]) {
    for (idx, (row, pieces)) in rows.iter().zip(places).enumerate() {
        // What the next row takes apart: a funnel from the first piece to the row below.
        if let (Some(first), Some(below)) = (pieces.first(), places.get(idx + 1)) {
            let first = first.translate(rect.min.to_vec2());
            let end = below.last().map_or(first.right(), |last| last.right() + rect.left());
            let top = first.bottom();
            let corners = [first.right(), end].map(|x| x.min(rect.right()));
            let low = below.first().map_or(top, |below| below.top() + rect.top());
            let line = tokens.stroke(1.0, tokens.line);
            painter.line_segment([pos2(rect.left() + 0.5, top), pos2(rect.left() + 0.5, low)], line);
            painter.line_segment([pos2(corners[0], top), pos2(corners[1], low)], line);
        }
        for (piece, place) in row.pieces.iter().zip(pieces) {
            piece_ui(ui, painter, tokens, lang, place.translate(rect.min.to_vec2()), piece);
        }
    }
}

fn piece_ui(ui: &Ui, painter: &Painter, tokens: &Tokens, lang: Lang, rect: Rect, piece: &Piece) {
    mark(painter, tokens, rect, piece.part);
    if rect.width() > tokens.px(4.0) {
        painter.line_segment([rect.right_top(), rect.right_bottom()], tokens.stroke(1.0, tokens.surface));
    }
    let size = words::size(piece.bytes);
    let long = format!("{} · {size}", words::name(piece.part).get(lang));
    for text in [long, words::name(piece.part).get(lang).to_owned(), size] {
        let galley = paint::text(ui, tokens, Type::Small, ink_on(tokens, piece.part), text);
        if galley.size().x + tokens.px(PADDING) <= rect.width() {
            let at = pos2(rect.left() + tokens.px(PADDING) / 2.0, rect.center().y - galley.size().y / 2.0);
            let is_hatched = matches!(fill(tokens, piece.part), Fill::Area(_));
            if is_hatched {
                let ground = Rect::from_min_size(at, galley.size()).expand2(vec2(tokens.px(3.0), tokens.px(1.0)));
                painter.rect_filled(ground, 2.0, tokens.surface);
            }
            painter.galley(at, galley, tokens.ink);
            return;
        }
    }
}

/// Every piece with its mark, name, bytes and share; the narrow ones of the picture are read here.
pub fn list_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, rows: &[Row], whole: u64) {
    for (depth, row) in rows.iter().enumerate() {
        for piece in &row.pieces {
            line_ui(ui, tokens, lang, depth, piece, whole);
        }
    }
}

fn line_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, depth: usize, piece: &Piece, whole: u64) {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, tokens.px(22.0)), Sense::hover());
    let (name, size) = (words::name(piece.part).get(lang), words::size(piece.bytes));
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {size}")));
    let step = if width < tokens.px(400.0) { 5.0 } else { 14.0 };
    let left = rect.left() + depth as f32 * tokens.px(step);
    let square =
        Rect::from_min_size(pos2(left, rect.center().y - tokens.px(6.0)), vec2(tokens.px(12.0), tokens.px(12.0)));
    mark(ui.painter(), tokens, square, piece.part);
    let right = (rect.left() + tokens.px(430.0)).min(rect.right());
    let share = paint::text(ui, tokens, Type::Small, tokens.muted, words::share(piece.bytes, whole));
    let y = |height: f32| rect.center().y - height / 2.0;
    ui.painter().galley(pos2(right - share.size().x, y(share.size().y)), share, tokens.muted);
    let size = paint::text(ui, tokens, Type::NoteStrong, tokens.ink, size);
    let size_right = right - tokens.px(64.0);
    let size_left = size_right - size.size().x;
    ui.painter().galley(pos2(size_left, y(size.size().y)), size, tokens.ink);
    let most = size_left - square.right() - tokens.px(14.0);
    let name = paint::elided(ui, tokens, Type::Note, tokens.ink, name, most.max(10.0));
    ui.painter().galley(pos2(square.right() + tokens.px(8.0), y(name.size().y)), name, tokens.ink);
}
