//! Geometry and picture of the merges. Values stand at the top, each step is a row below. Decides nothing.

use super::question::Question;
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::kernels::merge_tree::{Node, Shape};

const BOX: f32 = 42.0;
const LEAF: f32 = 26.0;
const ROW: f32 = 62.0;
const CHAIN_ROW: f32 = 54.0;
const MOST_BOX: f32 = 92.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub nodes: Vec<Rect>,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question, nodes: &[Node]) -> Self {
        let px = |points: f32| points * scale;
        let n = question.values.len().max(1);
        let pitch = width / n as f32;
        let row = px(if question.shape == Shape::Tree { ROW } else { CHAIN_ROW });
        let place = |node: &Node| {
            let column = match question.shape {
                Shape::Tree => node.first as f32 + node.n as f32 / 2.0,
                Shape::Chain => (node.first + node.n) as f32 - 0.5,
            };
            let is_leaf = node.step == 0;
            let wide = if is_leaf { (pitch - px(4.0)).min(px(MOST_BOX)) } else { px(MOST_BOX).min(width / 2.2) };
            let (top, tall) = if is_leaf {
                (origin.y, px(LEAF))
            } else {
                (origin.y + px(LEAF + 20.0) + (node.step - 1) as f32 * row, px(BOX))
            };
            // The boxes of a chain end where their newest value does, so that later values pass on the right.
            let is_chain = question.shape == Shape::Chain && !is_leaf;
            let back = if is_chain { (wide - (pitch - px(4.0))).max(0.0) / 2.0 } else { 0.0 };
            let x = (origin.x + column * pitch - back).clamp(origin.x + wide / 2.0, origin.x + width - wide / 2.0);
            Rect::from_min_size(pos2(x - wide / 2.0, top), vec2(wide, tall))
        };
        let places: Vec<Rect> = nodes.iter().map(place).collect();
        let bottom = places.iter().map(Rect::bottom).fold(origin.y, f32::max);
        let places =
            if question.shape == Shape::Tree { spread(places, nodes, origin.x, width, px(4.0)) } else { places };
        Self { rect: Rect::from_min_max(origin, pos2(origin.x + width, bottom + px(4.0))), nodes: places }
    }

    pub fn node_at(&self, at: Pos2) -> Option<usize> {
        self.nodes.iter().position(|rect| rect.contains(at))
    }
}

/// Boxes of one step that would overlap get narrower.
fn spread(mut places: Vec<Rect>, nodes: &[Node], left: f32, width: f32, gap: f32) -> Vec<Rect> {
    let last = nodes.last().map_or(0, |node| node.step);
    for step in 1..=last {
        let mine: Vec<usize> = (0..nodes.len()).filter(|idx| nodes[*idx].step == step).collect();
        let room = width / mine.len() as f32 - gap;
        if mine.iter().all(|idx| places[*idx].width() <= room) {
            continue;
        }
        for (nth, idx) in mine.iter().enumerate() {
            let x = left + (nth as f32 + 0.5) * (room + gap);
            let rect = places[*idx];
            places[*idx] = Rect::from_center_size(pos2(x, rect.center().y), vec2(room, rect.height()));
        }
    }
    places
}

pub fn color(tokens: &Tokens) -> Color32 {
    tokens.hierarchy(0.2)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub nodes: &'a [Node],
    pub step: usize,
    pub picked: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let Self { painter, tokens, geometry, nodes, .. } = self;
        for (idx, node) in nodes.iter().enumerate() {
            let Some((a, b)) = node.parts else { continue };
            let is_done = node.step <= self.step;
            let color = match (idx == self.picked, is_done) {
                (true, _) => tokens.accent,
                (false, true) => color(tokens),
                (false, false) => tokens.line,
            };
            let stroke = tokens.stroke(if idx == self.picked { 2.0 } else { 1.4 }, color);
            let into = geometry.nodes[idx];
            for part in [a, b] {
                let from = geometry.nodes[part].center_bottom();
                // A value comes straight down in a chain, past the boxes before.
                let is_straight = self.question.shape == Shape::Chain && nodes[part].step == 0;
                let x = if is_straight { from.x.clamp(into.left(), into.right()) } else { into.center().x };
                painter.line_segment([from, pos2(x, into.top())], stroke);
            }
        }
        for (idx, node) in nodes.iter().enumerate() {
            self.node(idx, node);
        }
    }

    fn node(&self, idx: usize, node: &Node) {
        let Self { painter, tokens, geometry, .. } = self;
        let rect = geometry.nodes[idx];
        let corner = tokens.control_corner();
        let edge =
            if idx == self.picked { tokens.stroke(2.0, tokens.accent) } else { tokens.stroke(1.0, tokens.muted) };
        if node.step > self.step {
            painter.rect_filled(rect, corner, tokens.surface);
            let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
            ink::dashes(painter, &corners, tokens.stroke(1.0, tokens.line), 4.0, 3.0);
            return;
        }
        let share = if node.step == self.step && node.step > 0 { 0.42 } else { 0.18 };
        let fill = if node.step == 0 { tokens.surface } else { tokens.tint(color(tokens), share) };
        painter.rect(rect, corner, fill, edge, StrokeKind::Inside);
        let font = tokens.font(Type::MonoSmall);
        let lines = if node.step == 0 { vec![words::short(node.max)] } else { words::lines(node, self.question.kept) };
        let room = rect.width() - tokens.px(4.0);
        if lines.iter().any(|line| ink::text_width(painter, line, font.clone()) > room) {
            return;
        }
        let pitch = tokens.px(16.0);
        let top = rect.center().y - pitch * (lines.len() as f32 - 1.0) / 2.0;
        for (nth, line) in lines.iter().enumerate() {
            let at = pos2(rect.center().x, top + nth as f32 * pitch);
            ink::text(painter, at, Align2::CENTER_CENTER, line, font.clone(), tokens.ink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::question::Kept;
    use super::*;

    #[test]
    fn no_two_boxes_meet() {
        for shape in [Shape::Tree, Shape::Chain] {
            for row in ["1 2 3 4 8 7 6 5", "1 2 3 4 5", "1", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"] {
                let question = Question::read(row, Kept::Softmax, shape).unwrap();
                let nodes = question.nodes();
                for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
                    let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, &question, &nodes);
                    for (idx, rect) in geometry.nodes.iter().enumerate() {
                        assert!(geometry.rect.expand(0.5).contains_rect(*rect), "{row} {width}: {rect:?}");
                        let others = geometry.nodes.iter().skip(idx + 1);
                        assert!(others.into_iter().all(|other| !other.shrink(0.1).intersects(*rect)), "{row} {width}");
                        assert_eq!(geometry.node_at(rect.center()), Some(idx));
                    }
                }
            }
        }
    }
}
