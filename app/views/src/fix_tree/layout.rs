//! Where the tree puts things: a node a question, its end beside it, or below it where there is no room.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_model::next_fix::Bound;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The question with its bar; nothing at the last.
    pub node: Option<Rect>,
    pub end: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<Row>,
    pub is_narrow: bool,
}

const NODE: f32 = 54.0;
const END: f32 = 54.0;
/// An end that is too narrow for its advice on one line.
const TALL_END: f32 = 70.0;
const GAP: f32 = 20.0;
/// Between a question and the end below it: room for the arrow's word.
const BELOW: f32 = 18.0;
const ARROW: f32 = 44.0;
const NARROW: f32 = 600.0;

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let is_narrow = width < NARROW * scale;
        let px = |points: f32| points * scale;
        let node_width = if is_narrow { width } else { (width - px(ARROW)) * 0.46 };
        let indent = if is_narrow { px(36.0) } else { node_width + px(ARROW) };
        let end_height = px(if is_narrow { TALL_END } else { END });
        let mut y = origin.y;
        let mut rows = Vec::new();
        for bound in Bound::ALL {
            let has_node = bound != Bound::Waiting;
            let node = has_node.then(|| Rect::from_min_size(pos2(origin.x, y), vec2(node_width, px(NODE))));
            let (x, end_width) = if has_node { (indent, width - indent) } else { (0.0, width) };
            let end_y = if has_node && is_narrow { y + px(NODE + BELOW) } else { y };
            let end = Rect::from_min_size(pos2(origin.x + x, end_y), vec2(end_width, end_height));
            y = node.map_or(end.bottom(), |node| node.bottom().max(end.bottom())) + px(GAP);
            rows.push(Row { node, end });
        }
        let rect = Rect::from_min_size(origin, vec2(width, y - px(GAP) - origin.y));
        Self { rect, rows, is_narrow }
    }

    /// The row of the end under a point.
    pub fn hit(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.end.contains(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_inside() {
        for width in [240.0, 599.0, 600.0, 844.0] {
            let figure = Geometry::new(pos2(3.0, 4.0), width, 1.0);
            let boxes: Vec<Rect> = figure.rows.iter().flat_map(|row| row.node.into_iter().chain([row.end])).collect();
            assert_eq!(boxes.len(), 15);
            for (idx, one) in boxes.iter().enumerate() {
                assert!(figure.rect.expand(0.01).contains_rect(*one), "{width}: {one:?}");
                assert!(boxes[idx + 1..].iter().all(|other| !one.shrink(0.5).intersects(*other)), "{width}: {one:?}");
            }
            assert_eq!(figure.hit(figure.rows[4].end.center()), Some(4));
        }
    }
}
