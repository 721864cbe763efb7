//! Where the conveyor puts things. The belt is as long as the latency and as tall as the peak, so that its area is the
//! bytes that must be under way; time runs right, one square is a fixed number of bytes.

use super::question::{Answer, MOST_LATENCY_NS, Question};
use egui::{Pos2, Rect, pos2, vec2};

/// Nanoseconds that a column of squares stands for.
pub const COLUMN_NS: f64 = 25.0;
/// Rows of squares on the belt; each is a tenth of the peak.
pub const ROWS: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// The whole belt: latency × peak.
    pub belt: Rect,
    /// The part of it that is filled: latency × reached.
    pub filled: Rect,
    /// Bytes that wait for room on the belt, on the same scale, cut where the figure ends. The belt ends at the right,
    /// where data arrives; the longer the latency, the further left it begins.
    pub queue: Option<Rect>,
    /// The queue is longer than there is room.
    pub is_queue_cut: bool,
    pub column: f32,
    pub row: f32,
}

const TOP: f32 = 24.0;
const BELT_HEIGHT: f32 = 170.0;
const BELOW: f32 = 44.0;

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question, answer: &Answer) -> Self {
        let rect = Rect::from_min_size(origin, vec2(width, (TOP + BELT_HEIGHT + BELOW) * scale));
        let lead = width * 0.06;
        let beside = (62.0 * scale).min(width * 0.2);
        let per_ns = (width - lead - beside) / MOST_LATENCY_NS as f32;
        let (left, right) = (rect.left(), rect.right() - beside);
        let length = question.latency_ns as f32 * per_ns;
        let top = rect.top() + TOP * scale;
        let belt = Rect::from_min_size(pos2(right - length, top), vec2(length, BELT_HEIGHT * scale));
        let filled = belt.with_min_y(belt.bottom() - belt.height() * answer.share as f32);
        let waiting = (answer.latency_loaded_ns - question.latency_ns) as f32 * per_ns;
        let gap = 4.0 * scale;
        let room = belt.left() - gap - left;
        let queue = (waiting > 0.5).then(|| {
            let right = belt.left() - gap;
            Rect::from_min_max(pos2(right - waiting.min(room), belt.top()), pos2(right, belt.bottom()))
        });
        let is_queue_cut = waiting > room;
        let column = COLUMN_NS as f32 * per_ns;
        Self { rect, belt, filled, queue, is_queue_cut, column, row: belt.height() / ROWS as f32 }
    }

    /// Columns of the belt, the last one perhaps cut.
    pub fn n_columns(&self) -> usize {
        (self.belt.width() / self.column - 1e-3).ceil() as usize
    }
}

/// Steps of the animation until the first bytes arrive.
pub fn steps_to_first(latency_ns: f64) -> usize {
    (latency_ns / COLUMN_NS).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::{Args, Map};

    fn figure(change: impl FnOnce(&mut Question)) -> (Geometry, Answer) {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        change(&mut question);
        let answer = question.answer().unwrap();
        (Geometry::new(pos2(5.0, 6.0), 844.0, 1.0, &question, &answer), answer)
    }

    #[test]
    fn area_is_bytes() {
        let (geometry, answer) = figure(|_| ());
        let share = geometry.filled.area() / geometry.belt.area();
        assert!((f64::from(share) - answer.bytes_in_flight / answer.bytes_needed).abs() < 1e-4);
        let (slower, _) = figure(|question| question.latency_ns = 300.0);
        assert!((geometry.belt.width() / slower.belt.width() - 2.0).abs() < 1e-4, "twice the latency, twice the belt");
        assert_eq!(geometry.n_columns(), 24);
    }

    #[test]
    fn what_is_too_much_waits_on_the_left() {
        let (geometry, answer) = figure(|question| question.bytes_per_load = 8);
        assert!(geometry.queue.is_none() == (answer.bytes_in_flight <= answer.bytes_needed));
        let (geometry, answer) = figure(|question| (question.bytes_per_load, question.latency_ns) = (8, 400.0));
        let queue = geometry.queue.unwrap();
        let surplus = answer.bytes_in_flight / answer.bytes_needed - 1.0;
        assert!((f64::from(queue.area() / geometry.belt.area()) - surplus).abs() < 1e-3 && !geometry.is_queue_cut);
        let (geometry, _) = figure(|question| (question.bytes_per_load, question.loads_per_thread) = (16, 16));
        assert!(geometry.is_queue_cut && geometry.rect.contains_rect(geometry.queue.unwrap()));
    }
}
