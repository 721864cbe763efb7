//! One block as a square: large ones with hatch, number and marks, small ones as plain rectangles of one mesh.

use super::frame::{Block, Fresh};
use super::paint::color;
use super::words;
use crate::ink;
use egui::{Align2, Color32, Mesh, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{dashed_rect, hatch};
use vramlab_kit::{Tokens, Type, palette};

/// How much of a request's colour its unfilled slots have; hatched is what nobody holds.
pub const UNFILLED: f32 = 0.15;
/// From this side on a block has its hatch and its edge.
const LARGE: f32 = 13.0;
/// From here on there is a line between blocks.
const APART: f32 = 5.0;

pub struct Cell {
    pub block: Block,
    /// Part of the slots with a token.
    pub share: f32,
    pub label: Option<u32>,
}

/// Paints a block, what is plain of it into `mesh`.
pub fn paint(painter: &Painter, mesh: &mut Mesh, tokens: &Tokens, rect: Rect, cell: &Cell) {
    let side = rect.width().min(rect.height());
    if side >= tokens.px(LARGE) {
        large(painter, tokens, rect.shrink(1.0), cell);
    } else {
        let gap = if side >= APART { 0.5 } else { 0.0 };
        small(mesh, tokens, rect.shrink(gap), cell);
    }
}

fn large(painter: &Painter, tokens: &Tokens, rect: Rect, cell: &Cell) {
    let Cell { block, share, label } = cell;
    let edge = tokens.stroke(1.0, palette::mix(tokens.line, tokens.muted, 0.35));
    let quiet = tokens.stroke(1.0, tokens.tint(tokens.muted, 0.6));
    if let (Some(owner), 1..) = (block.owner, block.holders) {
        let full = color(tokens, owner);
        let split = rect.left() + rect.width() * share;
        let filled = Rect::from_min_max(rect.min, pos2(split, rect.bottom()));
        let rest = Rect::from_min_max(pos2(split, rect.top()), rect.max);
        painter.rect_filled(filled, 1.0, tokens.tint(full, 0.5));
        if rest.width() > 1.0 {
            painter.rect_filled(rest, 1.0, tokens.tint(full, UNFILLED));
        }
        painter.rect_stroke(rect, 1.0, tokens.stroke(1.2, full), StrokeKind::Inside);
    } else if block.is_cached {
        hatch(painter, rect, tokens.px(7.0), quiet, false);
        painter.rect_stroke(rect, 1.0, edge, StrokeKind::Inside);
    } else {
        painter.rect_stroke(rect, 1.0, edge, StrokeKind::Inside);
    }
    let has_content = content(painter, tokens, rect, cell, *label);
    if !has_content {
        number(painter, tokens, rect, cell, *label);
    }
    if block.holders > 1 {
        shared(painter, tokens, rect, block.holders);
    }
    fresh(painter, tokens, rect, block.fresh);
}

/// The number above, the tokens that the block holds below; false where there is no room for both.
fn content(painter: &Painter, tokens: &Tokens, rect: Rect, cell: &Cell, label: Option<u32>) -> bool {
    let (Some(number), Some(ends)) = (label, cell.block.content) else { return false };
    let text = words::content(ends, cell.block.filled);
    let font = tokens.font(Type::Small);
    if rect.height() < tokens.px(34.0) || ink::text_width(painter, &text, font.clone()) > rect.width() - 2.0 {
        return false;
    }
    let (middle, color) = (Align2::CENTER_CENTER, if cell.block.holders > 0 { tokens.ink } else { tokens.muted });
    let at = |share: f32| pos2(rect.center().x, rect.top() + rect.height() * share);
    ink::text_on(
        painter,
        at(0.36),
        middle,
        number.to_string(),
        tokens.font(Type::MonoSmall),
        color,
        ground(tokens, cell),
    );
    ink::text_on(painter, at(0.74), middle, text, font, color, ground(tokens, cell));
    true
}

/// What lies behind the words of a block.
fn ground(tokens: &Tokens, cell: &Cell) -> Color32 {
    match (cell.block.owner, cell.block.holders) {
        (Some(owner), 1..) if cell.share >= 0.6 => tokens.tint(color(tokens, owner), 0.5),
        _ => tokens.surface,
    }
}

fn number(painter: &Painter, tokens: &Tokens, rect: Rect, cell: &Cell, label: Option<u32>) {
    let Some(label) = label.map(|label| label.to_string()) else { return };
    let font = tokens.font(Type::MonoSmall);
    let is_room =
        ink::text_width(painter, &label, font.clone()) + 3.0 <= rect.width() && rect.height() >= tokens.px(15.0);
    if !is_room {
        return;
    }
    let is_held = cell.block.holders > 0;
    let is_hatched = (is_held && cell.share < 0.6) || (!is_held && cell.block.is_cached);
    let color = if is_held { tokens.ink } else { tokens.muted };
    let middle = Align2::CENTER_CENTER;
    if is_hatched {
        ink::text_on(painter, rect.center(), middle, label, font, color, tokens.surface);
    } else {
        ink::text(painter, rect.center(), middle, label, font, color);
    }
}

/// A bar on top for each holder.
fn shared(painter: &Painter, tokens: &Tokens, rect: Rect, holders: u32) {
    let n = holders.min(4) as f32;
    let (wide, gap) = ((rect.width() / 7.0).max(2.0), tokens.px(2.0));
    let left = rect.left() + tokens.px(3.0);
    for idx in 0..holders.min(4) {
        let x = left + idx as f32 * (wide + gap);
        if x + wide < rect.right() || n < 2.0 {
            // Below the number where there is little room above it.
            let is_low = rect.height() < tokens.px(26.0);
            let high = tokens.px(if is_low { 2.0 } else { 3.0 });
            let y = if is_low { rect.bottom() - high - 1.0 } else { rect.top() + tokens.px(2.0) };
            let bar = Rect::from_min_size(pos2(x, y), vec2(wide, high));
            painter.rect_filled(bar, 0.0, tokens.ink);
        }
    }
}

fn fresh(painter: &Painter, tokens: &Tokens, rect: Rect, fresh: Fresh) {
    let stroke = tokens.stroke(2.0, tokens.ink);
    match fresh {
        Fresh::No => {}
        Fresh::Taken | Fresh::Shared => {
            painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Inside);
        }
        Fresh::Copied => dashed_rect(painter, rect.shrink(1.0), 1.0, stroke, tokens.px(4.0)),
        Fresh::Given => dashed_rect(painter, rect.shrink(0.5), 1.0, tokens.stroke(1.2, tokens.muted), tokens.px(3.0)),
    }
}

fn small(mesh: &mut Mesh, tokens: &Tokens, rect: Rect, cell: &Cell) {
    let Cell { block, share, .. } = cell;
    let (Some(owner), 1..) = (block.owner, block.holders) else {
        let ground = if block.is_cached { tokens.tint(tokens.muted, 0.4) } else { tokens.tint(tokens.muted, 0.12) };
        mesh.add_colored_rect(rect, ground);
        return;
    };
    let full = color(tokens, owner);
    let is_new = matches!(block.fresh, Fresh::Taken | Fresh::Shared | Fresh::Copied);
    let full = if is_new { palette::mix(full, tokens.ink, 0.45) } else { full };
    let split = rect.left() + rect.width() * share;
    mesh.add_colored_rect(Rect::from_min_max(rect.min, pos2(split, rect.bottom())), full);
    if *share < 1.0 {
        let rest = Rect::from_min_max(pos2(split, rect.top()), rect.max);
        mesh.add_colored_rect(rest, tokens.tint(full, 0.35));
    }
    if block.holders > 1 {
        let dot = Rect::from_center_size(rect.center(), rect.size() * 0.4);
        mesh.add_colored_rect(dot, tokens.ink);
    }
}

/// Several blocks as one square: the part of them that is held, from below.
pub fn group(mesh: &mut Mesh, tokens: &Tokens, rect: Rect, blocks: &[Block]) {
    mesh.add_colored_rect(rect, tokens.tint(tokens.muted, 0.12));
    let held = blocks.iter().filter(|block| block.holders > 0).count();
    if let Some(owner) = blocks.iter().find_map(|block| block.owner) {
        let top = rect.bottom() - rect.height() * held as f32 / blocks.len().max(1) as f32;
        mesh.add_colored_rect(Rect::from_min_max(pos2(rect.left(), top), rect.max), color(tokens, owner));
    }
}

/// Four thin rectangles around a square.
pub fn ring(mesh: &mut Mesh, rect: Rect, wide: f32, color: Color32) {
    let (min, max) = (rect.min, rect.max);
    for part in [
        Rect::from_min_max(min, pos2(max.x, min.y + wide)),
        Rect::from_min_max(pos2(min.x, max.y - wide), max),
        Rect::from_min_max(min, pos2(min.x + wide, max.y)),
        Rect::from_min_max(pos2(max.x - wide, min.y), max),
    ] {
        mesh.add_colored_rect(part, color);
    }
}
