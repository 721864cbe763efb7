//! Where operators and tensors go: an operator stands one column behind all that it reads, tensors that pass a column have a
//! lane of their own there. From left to right where there is room, else from top to bottom.

use super::question::Question;
use egui::{Pos2, Rect, Vec2, pos2, vec2};

const NODE: Vec2 = vec2(66.0, 40.0);
const COLUMN: f32 = 86.0;
const MOST_COLUMN: f32 = 158.0;
const LANE: f32 = 72.0;
/// Columns and lanes when they run down.
const DOWN: f32 = 74.0;
const LEAST_ACROSS: f32 = 84.0;
const HEAD: f32 = 16.0;

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Op(usize),
    Tensor(usize),
    Pass(usize),
    Out(usize),
}

/// A tensor on its way to one reader, or out.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    pub tensor: usize,
    pub from: Option<usize>,
    pub to: Option<usize>,
    pub points: Vec<Pos2>,
    /// Where its label may stand.
    pub label: Pos2,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub is_down: bool,
    pub ops: Vec<Rect>,
    /// Where an input comes in and a result goes out, by tensor.
    pub ends: Vec<(usize, Pos2)>,
    pub pipes: Vec<Pipe>,
    pub tensors: Vec<String>,
}

struct Grid {
    items: Vec<(Item, usize, f32)>,
    n_columns: usize,
    n_lanes: usize,
}

fn grid(question: &Question, tensors: &[String]) -> Grid {
    let ops = &question.ops;
    let maker = |tensor: usize| ops.iter().position(|op| op.output == tensors[tensor]);
    let reads = |op: usize, tensor: usize| ops[op].inputs.contains(&tensors[tensor]);
    let mut depth = vec![1_usize; ops.len()];
    for op in 0..ops.len() {
        let before = (0..op).filter(|from| ops[op].inputs.contains(&ops[*from].output));
        depth[op] = before.map(|from| depth[from] + 1).max().unwrap_or(1);
    }
    let mut columns: Vec<Vec<Item>> = vec![Vec::new(); depth.iter().max().map_or(1, |last| last + 2)];
    for (op, at) in depth.iter().enumerate() {
        columns[*at].push(Item::Op(op));
    }
    for tensor in 0..tensors.len() {
        let users: Vec<usize> = (0..ops.len()).filter(|op| reads(*op, tensor)).map(|op| depth[op]).collect();
        let from = maker(tensor).map_or_else(|| users.iter().min().map_or(0, |first| first - 1), |op| depth[op]);
        if maker(tensor).is_none() {
            columns[from].push(Item::Tensor(tensor));
        }
        match users.iter().max() {
            Some(last) => (from + 1..*last).for_each(|at| columns[at].push(Item::Pass(tensor))),
            None => columns[from + 1].push(Item::Out(tensor)),
        }
    }
    let mut items: Vec<(Item, usize, f32)> = Vec::new();
    for (column, here) in columns.iter().enumerate() {
        let lane_of = |tensor: usize| {
            items.iter().rev().find(|(item, at, _)| {
                *at + 1 == column
                    && match item {
                        Item::Op(op) => ops[*op].output == tensors[tensor],
                        Item::Tensor(other) | Item::Pass(other) => *other == tensor,
                        Item::Out(_) => false,
                    }
            })
        };
        let wish = |item: &Item| match item {
            Item::Op(op) => {
                let lanes = (0..tensors.len()).filter(|tensor| reads(*op, *tensor)).filter_map(lane_of);
                lanes.map(|(_, _, lane)| *lane).fold(f32::INFINITY, f32::min)
            }
            Item::Pass(tensor) | Item::Out(tensor) => lane_of(*tensor).map_or(0.0, |(_, _, lane)| lane + 0.1),
            Item::Tensor(_) => f32::INFINITY,
        };
        let mut sorted: Vec<(f32, Item)> = here.iter().map(|item| (wish(item), *item)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = 0.0_f32;
        for (wish, item) in sorted {
            let lane = if wish.is_finite() { wish.floor().max(free) } else { free };
            free = lane + 1.0;
            items.push((item, column, lane));
        }
    }
    let n_lanes = items.iter().map(|(_, _, lane)| *lane as usize + 1).max().unwrap_or(1);
    Grid { items, n_columns: columns.len(), n_lanes }
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question) -> Self {
        let px = |points: f32| points * scale;
        let tensors = question.tensors();
        let grid = grid(question, &tensors);
        let (columns, lanes) = (grid.n_columns as f32, grid.n_lanes as f32);
        let is_down = (columns - 1.0) * px(COLUMN) + px(NODE.x) > width;
        let node = NODE * scale;
        let (along, across, size) = if is_down {
            let room = if lanes > 1.0 { (width - node.x - px(24.0)) / (lanes - 1.0) } else { 0.0 };
            let across = room.clamp(px(LEAST_ACROSS), px(MOST_COLUMN));
            let wide = (across * (lanes - 1.0) + node.x + px(24.0)).max(width);
            (px(DOWN), across, vec2(wide, px(DOWN) * (columns - 1.0) + node.y + px(HEAD)))
        } else {
            let along = ((width - node.x) / (columns - 1.0)).min(px(MOST_COLUMN));
            (along, px(LANE), vec2(width, px(LANE) * (lanes - 1.0) + node.y + px(2.0 * HEAD)))
        };
        let used = if is_down { across * (lanes - 1.0) + node.x } else { along * (columns - 1.0) + node.x };
        let left = origin.x + ((size.x - used) / 2.0).max(0.0) + node.x / 2.0;
        let top = origin.y + node.y / 2.0 + if is_down { px(HEAD / 2.0) } else { px(HEAD) };
        let center = |column: usize, lane: f32| {
            let column = column as f32;
            if is_down {
                pos2(left + lane * across, top + column * along)
            } else {
                pos2(left + column * along, top + lane * across)
            }
        };
        let place = |wanted: Item| grid.items.iter().find(|(item, ..)| *item == wanted);
        let at = |wanted: Item| place(wanted).map(|(_, column, lane)| center(*column, *lane));
        let ops: Vec<Rect> = (0..question.ops.len())
            .map(|op| Rect::from_center_size(at(Item::Op(op)).unwrap_or(origin), node))
            .collect();
        let mut ends = Vec::new();
        for (item, column, lane) in &grid.items {
            if let Item::Tensor(tensor) | Item::Out(tensor) = item {
                ends.push((*tensor, center(*column, *lane)));
            }
        }
        let passes = |tensor: usize| {
            let mine = grid.items.iter().filter(move |(item, ..)| *item == Item::Pass(tensor));
            mine.map(|(_, column, lane)| (*column, center(*column, *lane))).collect::<Vec<_>>()
        };
        let mut pipes = Vec::new();
        let half = if is_down { vec2(0.0, node.y / 2.0) } else { vec2(node.x / 2.0, 0.0) };
        // An input is a word, not a box: its pipe begins close to it.
        let word = if is_down { vec2(0.0, px(10.0)) } else { vec2(px(30.0), 0.0) };
        for (tensor, name) in tensors.iter().enumerate() {
            let from = question.ops.iter().position(|op| op.output == *name);
            let start =
                from.map_or_else(|| at(Item::Tensor(tensor)).unwrap_or(origin) + word, |op| ops[op].center() + half);
            let mut to = |to: Option<usize>, end: Pos2, before: usize| {
                let mut knots = vec![start];
                knots.extend(passes(tensor).into_iter().filter(|(column, _)| *column < before).map(|(_, at)| at));
                knots.push(end);
                let points = smooth(&knots, is_down);
                let label = points[0].lerp(knots[1], 0.5);
                pipes.push(Pipe { tensor, from, to, points, label });
            };
            for (op, rect) in ops.iter().enumerate().filter(|(op, _)| question.ops[*op].inputs.contains(name)) {
                let column = place(Item::Op(op)).map_or(0, |(_, column, _)| *column);
                to(Some(op), rect.center() - half, column);
            }
            if let Some(end) = at(Item::Out(tensor)) {
                to(None, end - word, usize::MAX);
            }
        }
        Self { rect: Rect::from_min_size(origin, size), is_down, ops, ends, pipes, tensors }
    }

    pub fn op_at(&self, at: Pos2) -> Option<usize> {
        self.ops.iter().position(|rect| rect.expand(3.0).contains(at))
    }

    /// The tensor whose pipe or word is under a point.
    pub fn tensor_at(&self, at: Pos2, reach: f32) -> Option<usize> {
        let end = self.ends.iter().find(|(_, end)| Rect::from_center_size(*end, vec2(6.0, 3.0) * reach).contains(at));
        let near = |pipe: &&Pipe| pipe.points.iter().any(|point| point.distance(at) < reach);
        end.map(|(tensor, _)| *tensor).or_else(|| self.pipes.iter().find(near).map(|pipe| pipe.tensor))
    }

    /// Operators whose middle is in the rectangle.
    pub fn inside(&self, area: Rect) -> Vec<usize> {
        (0..self.ops.len()).filter(|op| area.contains(self.ops[*op].center())).collect()
    }
}

/// A line through the knots that leaves and enters each along the flow.
fn smooth(knots: &[Pos2], is_down: bool) -> Vec<Pos2> {
    let mut points = vec![knots[0]];
    for pair in knots.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let lean = if is_down { vec2(0.0, (b.y - a.y) * 0.5) } else { vec2((b.x - a.x) * 0.5, 0.0) };
        for step in 1..=16 {
            let (t, s) = (step as f32 / 16.0, 1.0 - step as f32 / 16.0);
            let mix = |w: f32, at: Pos2| at.to_vec2() * w;
            let at =
                mix(s * s * s, a) + mix(3.0 * s * s * t, a + lean) + mix(3.0 * s * t * t, b - lean) + mix(t * t * t, b);
            points.push(at.to_pos2());
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::super::question::PRESETS;
    use super::*;

    #[test]
    fn every_operator_has_its_place() {
        for preset in &PRESETS {
            let question = Question::of(preset);
            for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
                let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, &question);
                for (op, rect) in geometry.ops.iter().enumerate() {
                    assert!(geometry.rect.expand(0.5).contains_rect(*rect), "{} {width} {op}: {rect:?}", preset.id);
                    assert_eq!(geometry.op_at(rect.center()), Some(op));
                    let others = geometry.ops.iter().enumerate().filter(|(other, _)| *other != op);
                    assert!(others.into_iter().all(|(_, other)| !other.intersects(*rect)), "{} {width}", preset.id);
                }
                assert_eq!(geometry.inside(geometry.rect).len(), question.ops.len());
                let n_pipes: usize = question.ops.iter().map(|op| op.inputs.len()).sum::<usize>() + 1;
                assert_eq!(geometry.pipes.len(), n_pipes, "{}", preset.id);
            }
        }
    }
}
