//! Marks that several figures paint: text in a place, dashes, diamonds, strikes, a box with lines of text.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};

/// A text colour by its weight, so that words can be made without a theme at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    Ink,
    Muted,
    Bad,
}

impl Shade {
    pub fn color(self, tokens: &Tokens) -> Color32 {
        match self {
            Self::Ink => tokens.ink,
            Self::Muted => tokens.muted,
            Self::Bad => tokens.bad,
        }
    }
}

/// Text at `pos`, returning the area it takes.
pub fn text(
    painter: &Painter,
    pos: Pos2,
    anchor: Align2,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
) -> Rect {
    painter.text(pos, anchor, text.into(), font, color)
}

/// Text with a quiet patch of `ground` behind it, where lines pass.
pub fn text_on(
    painter: &Painter,
    pos: Pos2,
    anchor: Align2,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
    ground: Color32,
) -> Rect {
    let galley = painter.layout_no_wrap(text.into(), font, color);
    let rect = anchor.anchor_size(pos, galley.size());
    painter.rect_filled(rect.expand2(vec2(2.0, -1.0)), CornerRadius::same(2), ground);
    painter.galley(rect.min, galley, color);
    rect
}

/// The width that `text` would take.
pub fn text_width(painter: &Painter, text: &str, font: FontId) -> f32 {
    painter.layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER).size().x
}

/// A line of dashes through `points`.
pub fn dashes(painter: &Painter, points: &[Pos2], stroke: Stroke, dash: f32, gap: f32) {
    painter.extend(Shape::dashed_line(points, stroke, dash, gap));
}

/// A rhombus standing on its corner: the reader's own prediction.
pub fn diamond(painter: &Painter, center: Pos2, radius: f32, fill: Color32, stroke: Stroke) {
    let corners = [vec2(0.0, -radius), vec2(radius, 0.0), vec2(0.0, radius), vec2(-radius, 0.0)];
    painter.add(Shape::convex_polygon(corners.map(|corner| center + corner).to_vec(), fill, stroke));
}

/// A handle that can be pulled up and down.
pub fn grip(painter: &Painter, tokens: &Tokens, at: Pos2, is_picked: bool) {
    let fill = if is_picked { tokens.accent } else { tokens.surface };
    let rect = Rect::from_center_size(at, vec2(tokens.px(18.0), tokens.px(12.0)));
    painter.rect(rect, CornerRadius::same(6), fill, tokens.stroke(1.8, tokens.accent), StrokeKind::Middle);
    let bar = if is_picked { tokens.on_accent } else { tokens.accent };
    for dx in [-3.0, 0.0, 3.0] {
        let x = at.x + tokens.px(dx);
        painter.vline(x, at.y - tokens.px(2.5)..=at.y + tokens.px(2.5), tokens.stroke(1.2, bar));
    }
}

/// Two strokes through a mark that is not valid.
pub fn strike(painter: &Painter, center: Pos2, radius: f32, stroke: Stroke) {
    for (a, b) in [(vec2(-radius, -radius), vec2(radius, radius)), (vec2(-radius, radius), vec2(radius, -radius))] {
        painter.line_segment([center + a, center + b], stroke);
    }
}

/// A small box of text lines beside `anchor`, kept inside `bounds`; the first line is stronger.
pub fn info_box(painter: &Painter, tokens: &Tokens, bounds: Rect, anchor: Pos2, lines: &[(String, Shade)]) {
    let font = |idx: usize| tokens.font(if idx == 0 { Type::NoteStrong } else { Type::Small });
    let limit = (bounds.width() - 2.0 * tokens.space.s).max(40.0);
    let galleys: Vec<_> = lines
        .iter()
        .enumerate()
        .map(|(idx, (line, shade))| painter.layout(line.clone(), font(idx), shade.color(tokens), limit))
        .collect();
    let width = galleys.iter().map(|galley| galley.size().x).fold(0.0, f32::max);
    let gap = tokens.space.xxs;
    let height: f32 = galleys.iter().map(|galley| galley.size().y + gap).sum::<f32>() - gap;
    let size = vec2(width, height) + vec2(tokens.space.s, tokens.space.xs) * 2.0;
    let step = tokens.px(14.0);
    let x = if anchor.x + step + size.x <= bounds.right() { anchor.x + step } else { anchor.x - step - size.x };
    let x = x.clamp(bounds.left(), (bounds.right() - size.x).max(bounds.left()));
    let y = (anchor.y - size.y - step / 2.0).clamp(bounds.top(), (bounds.bottom() - size.y).max(bounds.top()));
    let rect = Rect::from_min_size(pos2(x, y), size);
    let corner = CornerRadius::same(tokens.control_radius);
    painter.rect_filled(rect.translate(vec2(0.0, 2.0)).expand(1.0), corner, tokens.shadow);
    painter.rect(rect, corner, tokens.surface, Stroke::new(1.0, tokens.line), StrokeKind::Inside);
    let mut y = rect.top() + tokens.space.xs;
    for galley in galleys {
        let height = galley.size().y;
        painter.galley(pos2(rect.left() + tokens.space.s, y), galley, tokens.ink);
        y += height + gap;
    }
}
