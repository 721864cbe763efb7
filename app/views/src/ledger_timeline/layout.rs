//! Where the figure puts things: phases above, bytes upwards, events to the right, the axis on the left.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread};
use vramlab_ledger::Timeline;

pub const GIB: f64 = 1_073_741_824.0;
pub const MIB: f64 = 1_048_576.0;

const HEIGHT: f32 = 300.0;
const LEFT: f32 = 62.0;
const TOP: f32 = 46.0;
const BOTTOM: f32 = 30.0;
const RIGHT: f32 = 8.0;
/// A line of capacity higher than this many peaks would flatten the picture.
const MOST_ABOVE: f64 = 1.6;

#[derive(Clone, Debug)]
pub struct Geometry {
    pub rect: Rect,
    pub plane: Plane,
    /// Bytes of the axis' unit, and its name.
    pub unit: (f64, &'static str),
    /// The event that each column shows, left to right.
    pub columns: Vec<usize>,
    pub shows_card: bool,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, timeline: &Timeline, card_bytes: f64) -> Self {
        let rect = Rect::from_min_size(origin, vec2(width, HEIGHT * scale));
        let plot = Rect::from_min_max(rect.min + vec2(LEFT, TOP) * scale, rect.max - vec2(RIGHT, BOTTOM) * scale);
        let highest = timeline.reserved.iter().copied().max().unwrap_or(1).max(timeline.peak.bytes) as f64;
        let shows_card = card_bytes <= MOST_ABOVE * highest && card_bytes > 0.0;
        let top = if shows_card { highest.max(card_bytes) } else { highest };
        let unit = if top >= 2.0 * GIB { (GIB, "GiB") } else { (MIB, "MiB") };
        let whole = Axis { spread: Spread::Linear, min: 0.0, max: 1.0 };
        let y = Axis::new(Spread::Linear, 0.0, top * 1.04 / unit.0).unwrap_or(whole);
        let n = timeline.allocated.len().max(1) as f64;
        let x = Axis::new(Spread::Linear, 0.0, n).unwrap_or(whole);
        let columns = timeline.columns((plot.width() * 1.5).max(1.0) as usize);
        Self { rect, plane: Plane { x, y, rect: plot }, unit, columns, shows_card }
    }

    pub fn plot(&self) -> Rect {
        self.plane.rect
    }

    pub fn y_from_bytes(&self, bytes: f64) -> f32 {
        let share = self.plane.y.share_from_value(bytes / self.unit.0).unwrap_or(0.0);
        self.plot().bottom() - self.plot().height() * share as f32
    }

    /// The middle of an event's place.
    pub fn x_from_event(&self, at: usize) -> f32 {
        let share = self.plane.x.share_from_value(at as f64 + 0.5).unwrap_or(0.0);
        self.plot().left() + self.plot().width() * share as f32
    }

    /// The edge before an event.
    pub fn x_before(&self, at: usize) -> f32 {
        let share = self.plane.x.share_from_value(at as f64).unwrap_or(0.0);
        self.plot().left() + self.plot().width() * share as f32
    }

    /// The event under the pointer: that of its column, which is the column's highest.
    pub fn event_at(&self, pos: Pos2) -> Option<usize> {
        let plot = self.plot();
        if !plot.contains(pos) || self.columns.is_empty() {
            return None;
        }
        let share = (pos.x - plot.left()) / plot.width();
        let idx = ((share * self.columns.len() as f32) as usize).min(self.columns.len() - 1);
        self.columns.get(idx).copied()
    }

    /// Left and right of a column.
    pub fn column(&self, idx: usize) -> (f32, f32) {
        let plot = self.plot();
        let edge = |idx: usize| plot.left() + plot.width() * idx as f32 / self.columns.len() as f32;
        (edge(idx), edge(idx + 1))
    }

    pub fn pos(&self, at: usize, bytes: u64) -> Pos2 {
        pos2(self.x_from_event(at), self.y_from_bytes(bytes as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_ledger::{Plan, Start, record};

    #[test]
    fn the_peak_is_inside_and_the_card_flattens_nothing() {
        let plan = Plan { layers: 2, hidden: 128, heads: 2, vocab: 500, seq_len: 64, ..Plan::default() };
        let timeline = Timeline::new(&record(&plan).unwrap(), Start::default(), 1);
        let at = |card: f64| Geometry::new(pos2(3.0, 4.0), 500.0, 1.0, &timeline, card);
        let figure = at(80.0 * GIB);
        assert!(!figure.shows_card && figure.unit.1 == "MiB");
        let peak = figure.pos(timeline.peak.at, timeline.peak.bytes);
        assert!(figure.plot().contains(peak));
        let reserved = timeline.reserved[0] as f64;
        let near = at(reserved * 1.5);
        assert!(near.shows_card && near.y_from_bytes(reserved * 1.5) > near.plot().top());
        let columns: Vec<_> = (0..figure.columns.len()).map(|idx| figure.column(idx)).collect();
        assert!(columns.windows(2).all(|pair| (pair[0].1 - pair[1].0).abs() < 1e-3));
        assert!(figure.event_at(pos2(0.0, 0.0)).is_none());
    }
}
