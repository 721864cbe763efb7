//! Shapes that several widgets draw: focus rings, dashed outlines, hatches, text laid out in a role.

use crate::tokens::{Tokens, Type};
use egui::{Color32, Galley, Painter, Pos2, Rect, Response, Shape, Stroke, StrokeKind, Ui, pos2, vec2};
use std::sync::Arc;

/// Text on one line in the font of `role`.
pub fn text(ui: &Ui, tokens: &Tokens, role: Type, color: Color32, text: impl Into<String>) -> Arc<Galley> {
    ui.painter().layout_no_wrap(text.into(), tokens.font(role), color)
}

/// As [`text`], cut with `…` where it would be wider than `most`.
pub fn elided(ui: &Ui, tokens: &Tokens, role: Type, color: Color32, text: impl Into<String>, most: f32) -> Arc<Galley> {
    let mut job = egui::text::LayoutJob::simple_singleline(text.into(), tokens.font(role), color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(most.max(tokens.px(24.0)));
    ui.painter().layout_job(job)
}

/// The width that a widget may take: what is left of a row that does not wrap, the whole row of one that does.
pub fn most_width(ui: &Ui) -> f32 {
    if ui.layout().main_wrap() { ui.max_rect().width() } else { ui.available_width() }
}

/// Lets what scrolls sideways in `ui` show its bar: a floating one shows only under the pointer, and on a phone nothing
/// would say that a line goes on. egui keeps bars within the clip, so what begins below it shows none.
pub fn show_scroll_bar(ui: &mut Ui) {
    let is_begun = ui.cursor().top() < ui.clip_rect().bottom();
    let scroll = &mut ui.spacing_mut().scroll;
    scroll.floating_allocated_width = scroll.floating_width + 2.0;
    scroll.dormant_handle_opacity = if is_begun { 0.6 } else { 0.0 };
}

/// The ring around what has the keyboard.
pub fn focus_ring(ui: &Ui, tokens: &Tokens, response: &Response, rect: Rect, radius: f32) {
    if response.has_focus() {
        let rect = rect.expand(tokens.px(2.0));
        ui.painter().rect_stroke(rect, radius + 2.0, tokens.stroke(1.5, tokens.accent), StrokeKind::Middle);
    }
}

/// A dashed outline with round corners.
pub fn dashed_rect(painter: &Painter, rect: Rect, radius: f32, stroke: Stroke, dash: f32) {
    let path = round_path(rect, radius);
    painter.extend(Shape::dashed_line(&path, stroke, dash, dash * 0.75));
}

fn round_path(rect: Rect, radius: f32) -> Vec<Pos2> {
    const STEPS: usize = 8;
    let radius = radius.min(rect.width() / 2.0).min(rect.height() / 2.0);
    let inner = rect.shrink(radius);
    let corners = [inner.right_bottom(), inner.left_bottom(), inner.left_top(), inner.right_top()];
    let mut path = Vec::with_capacity(4 * (STEPS + 1) + 1);
    for (corner_idx, centre) in corners.into_iter().enumerate() {
        for step in 0..=STEPS {
            let turn = (corner_idx as f32 + step as f32 / STEPS as f32) * std::f32::consts::FRAC_PI_2;
            path.push(centre + radius * vec2(turn.cos(), turn.sin()));
        }
    }
    path.extend(path.first().copied());
    path
}

/// What an area of memory is when it holds no data. Told apart by shape, not by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Outline only.
    Free,
    /// Held by the allocator, but free: light hatch.
    CachedFree,
    /// Free, but too small to be used: dense hatch.
    Fragmented,
    /// Grey with a question mark.
    Unknown,
    /// Used bytes around unused ones: padding, the unread part of a sector.
    Wasted,
}

/// Paints an area of memory that holds no data into `rect`.
pub fn area(painter: &Painter, tokens: &Tokens, rect: Rect, kind: Area) {
    let edge = Stroke::new(1.0, crate::palette::mix(tokens.line, tokens.muted, 0.35));
    match kind {
        Area::Free => {}
        Area::CachedFree => hatch(painter, rect, tokens.px(7.0), Stroke::new(1.0, edge.color), false),
        Area::Fragmented => hatch(painter, rect, tokens.px(4.0), Stroke::new(1.0, tokens.muted), true),
        Area::Wasted => {
            painter.rect_filled(rect, 1.0, tokens.tint(tokens.muted, 0.12));
        }
        Area::Unknown => {
            painter.rect_filled(rect, 1.0, tokens.sunken);
            if rect.width() >= tokens.px(10.0) && rect.height() >= tokens.px(14.0) {
                let font = tokens.font(Type::Small);
                painter.text(rect.center(), egui::Align2::CENTER_CENTER, "?", font, tokens.muted);
            }
        }
    }
    if kind != Area::Wasted {
        painter.rect_stroke(rect, 1.0, edge, StrokeKind::Inside);
    }
}

/// Parallel strokes from lower left to upper right; `is_crossed` adds the other direction.
pub fn hatch(painter: &Painter, rect: Rect, gap: f32, stroke: Stroke, is_crossed: bool) {
    let mut shapes = Vec::new();
    let n_lines = ((rect.width() + rect.height()) / gap).floor().min(4_000.0) as usize;
    for line_idx in 1..=n_lines {
        let offset = line_idx as f32 * gap;
        let from = pos2(rect.left() + (offset - rect.height()).max(0.0), rect.top() + offset.min(rect.height()));
        let to = pos2(rect.left() + offset.min(rect.width()), rect.top() + (offset - rect.width()).max(0.0));
        shapes.push(Shape::line_segment([from, to], stroke));
        if is_crossed {
            let mirror = |at: Pos2| pos2(rect.left() + rect.right() - at.x, at.y);
            shapes.push(Shape::line_segment([mirror(from), mirror(to)], stroke));
        }
    }
    painter.extend(shapes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_path_closes_and_stays_inside() {
        let rect = Rect::from_min_size(pos2(10.0, 20.0), vec2(60.0, 24.0));
        let path = round_path(rect, 99.0); // as round as the height allows
        assert_eq!(path.first(), path.last());
        assert!(path.iter().all(|at| rect.expand(1e-3).contains(*at)));
        let bounds = path.iter().fold(Rect::NOTHING, |bounds, at| bounds.union(Rect::from_min_max(*at, *at)));
        assert!((bounds.width() - 60.0).abs() < 1e-3 && (bounds.height() - 24.0).abs() < 1e-3, "{bounds:?}");
    }
}
