//! Where the tree puts things: a node for each question, its cause beside it, or below it where there is no room.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_alloc::refusal::Cause;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The question with its evidence; nothing at the last, which asks nothing.
    pub node: Option<Rect>,
    pub leaf: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<Row>,
    pub is_narrow: bool,
}

/// Above the bars, the question included, and below them.
pub const HEAD: f32 = 29.0;
pub const FOOT: f32 = 6.0;
pub const BAR: f32 = 18.0;
/// A title and two lines.
const LEAF: f32 = 70.0;
/// The last cause where it is wide enough for one line.
const LAST: f32 = 52.0;
const GAP: f32 = 16.0;
const ARROW: f32 = 46.0;
const NARROW: f32 = 600.0;

/// Bars of evidence at a node.
pub fn n_bars(cause: Cause) -> usize {
    match cause {
        Cause::TooBig | Cause::Fragmentation | Cause::Outside => 2,
        Cause::FitsNow => 3,
        Cause::Leak => 1,
        Cause::Capacity => 0,
    }
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let is_narrow = width < NARROW * scale;
        let px = |points: f32| points * scale;
        let node_width = if is_narrow { width } else { (width - px(ARROW)) * 0.62 };
        let leaf_x = if is_narrow { px(40.0) } else { node_width + px(ARROW) };
        let mut y = origin.y;
        let mut rows = Vec::new();
        for cause in Cause::ALL {
            let height = HEAD + BAR * n_bars(cause) as f32 + FOOT;
            let has_node = cause != Cause::Capacity;
            // Beside its cause a question is at least as high.
            let height = if is_narrow { height } else { height.max(LEAF) };
            let node = has_node.then(|| Rect::from_min_size(pos2(origin.x, y), vec2(node_width, px(height))));
            let leaf_y = match (has_node, is_narrow) {
                (true, true) => y + px(height + 8.0),
                (true, false) => y + px((height - LEAF).max(0.0) / 2.0),
                (false, _) => y,
            };
            // The last cause stands under the last question.
            let (x, leaf_width) = if has_node { (leaf_x, width - leaf_x) } else { (0.0, node_width) };
            let leaf_height = if has_node || is_narrow { LEAF } else { LAST };
            let leaf = Rect::from_min_size(pos2(origin.x + x, leaf_y), vec2(leaf_width, px(leaf_height)));
            y = node.map_or(leaf.bottom(), |node| node.bottom().max(leaf.bottom())) + px(GAP);
            rows.push(Row { node, leaf });
        }
        let rect = Rect::from_min_size(origin, vec2(width, y - px(GAP) - origin.y));
        Self { rect, rows, is_narrow }
    }

    /// The row under a point.
    pub fn hit(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.leaf.contains(at) || row.node.is_some_and(|node| node.contains(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_inside() {
        for width in [240.0, 599.0, 600.0, 844.0] {
            let figure = Geometry::new(pos2(3.0, 4.0), width, 1.0);
            let boxes: Vec<Rect> = figure.rows.iter().flat_map(|row| row.node.into_iter().chain([row.leaf])).collect();
            assert_eq!(boxes.len(), 11);
            for (idx, one) in boxes.iter().enumerate() {
                assert!(figure.rect.expand(0.01).contains_rect(*one), "{width}: {one:?}");
                assert!(boxes[idx + 1..].iter().all(|other| !one.shrink(0.5).intersects(*other)), "{width}: {one:?}");
            }
            assert_eq!(figure.hit(figure.rows[2].leaf.center()), Some(2));
            assert_eq!(figure.hit(figure.rows[5].leaf.center()), Some(5));
        }
    }
}
