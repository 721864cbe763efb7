//! Where everything lies: the tape of words on top, then a lane for each allocator with its strips, and what the card has
//! left behind them. Bytes run to the right, on one scale for all lanes and all moments.

use super::run::{Answered, Run};
use egui::{Pos2, Rect, pos2, vec2};
use vramlab_alloc::replay::frame::Strip;

const WORD_GAP: f32 = 4.0;
const TAPE_ROW: f32 = 24.0;
/// More words than these are shown around the current one.
const MOST_WORDS: usize = 31;
const HEADER: f32 = 26.0;
const ROW: f32 = 34.0;
const ROW_GAP: f32 = 6.0;
const STRIP_GAP: f32 = 4.0;
const GHOST: f32 = 38.0;
const LANE_GAP: f32 = 16.0;
const LEAST_STRIP: f32 = 6.0;
/// The card where it is too large to be drawn to scale.
const STUB: f32 = 128.0;
const FOOT: f32 = 22.0;

/// Bytes to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub px_per_byte: f64,
    /// The whole card is drawn to scale.
    pub has_card: bool,
}

impl Scale {
    pub fn new(width: f32, zoom: f32, runs: &[Run], capacity_bytes: u64) -> Self {
        let most = runs.iter().map(|run| run.extent.0).max().unwrap_or(0).max(1);
        let wanted = runs.iter().flat_map(|run| &run.steps).filter(|step| super::run::is_oom(step));
        let n_strips = runs.iter().map(|run| run.extent.1).max().unwrap_or(0);
        let has_card = capacity_bytes as f64 <= most as f64 * 1.7 || wanted.count() > 0;
        let span = if has_card { capacity_bytes.max(most) } else { most };
        let stub = if has_card { 0.0 } else { STUB * zoom };
        let gaps = STRIP_GAP * zoom * (n_strips + 1) as f32;
        let room = (width - stub - gaps).max(width * 0.4);
        Self { px_per_byte: f64::from(room) / span as f64, has_card }
    }

    pub fn px(self, bytes: u64) -> f32 {
        (bytes as f64 * self.px_per_byte) as f32
    }
}

/// What can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hit {
    /// A word of the tape.
    Word(usize),
    /// Lane, strip, cell.
    Cell(usize, usize, usize),
    /// What the card has left, of a lane.
    Card(usize),
}

/// A request that failed, drawn as wide as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghost {
    pub rect: Rect,
    /// The most room there was.
    pub gap: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub header: Rect,
    /// One for each strip.
    pub strips: Vec<Rect>,
    pub card: Option<Rect>,
    pub ghost: Option<Ghost>,
}

pub struct Geometry {
    pub rect: Rect,
    /// Words in sight with their places.
    pub tape: Vec<(usize, Rect)>,
    pub lanes: Vec<Lane>,
    pub scale: Scale,
    pub foot: Rect,
}

impl Geometry {
    /// `word_width` measures a word of the tape.
    pub fn new(
        origin: Pos2,
        width: f32,
        zoom: f32,
        answered: &Answered,
        done: usize,
        word_width: &dyn Fn(&str) -> f32,
    ) -> Self {
        let mut y = origin.y;
        let tape = tape(&mut y, origin.x, width, zoom, &answered.words, done, word_width);
        y += 10.0 * zoom;
        let scale = Scale::new(width, zoom, &answered.runs, answered.capacity_bytes);
        let mut lanes = Vec::new();
        for run in &answered.runs {
            lanes.push(lane(&mut y, origin.x, width, zoom, run, scale));
            y += LANE_GAP * zoom;
        }
        let foot = Rect::from_min_size(pos2(origin.x, y - 6.0 * zoom), vec2(width, FOOT * zoom));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, foot.bottom()));
        Self { rect, tape, lanes, scale, foot }
    }

    pub fn hit(&self, pos: Pos2, answered: &Answered) -> Option<Hit> {
        if let Some((idx, _)) = self.tape.iter().find(|(_, rect)| rect.contains(pos)) {
            return Some(Hit::Word(*idx));
        }
        for (lane_idx, (lane, run)) in self.lanes.iter().zip(&answered.runs).enumerate() {
            if lane.card.is_some_and(|card| card.contains(pos)) {
                return Some(Hit::Card(lane_idx));
            }
            for (strip_idx, (rect, strip)) in lane.strips.iter().zip(&run.frame.strips).enumerate() {
                if rect.contains(pos) {
                    let cell = cell_at(*rect, strip, pos.x)?;
                    return Some(Hit::Cell(lane_idx, strip_idx, cell));
                }
            }
        }
        None
    }
}

/// The place of `size` bytes from `address` in a strip.
pub fn span(rect: Rect, strip: &Strip, address: u64, size: u64) -> Rect {
    let x = |at: u64| {
        rect.left() + rect.width() * (at.saturating_sub(strip.address) as f64 / strip.size.max(1) as f64) as f32
    };
    let (left, right) = (x(address), x(address.saturating_add(size)).min(rect.right()));
    Rect::from_x_y_ranges(left..=right.max(left + 1.0), rect.y_range())
}

fn cell_at(rect: Rect, strip: &Strip, x: f32) -> Option<usize> {
    let under = |cell: &vramlab_alloc::replay::frame::Cell| span(rect, strip, cell.piece.address, cell.piece.size);
    // Narrow cells are reached a little beside themselves.
    let exact = strip.cells.iter().position(|cell| under(cell).x_range().contains(x));
    let near =
        strip.cells.iter().position(|cell| under(cell).expand(2.0).x_range().contains(x) && under(cell).width() < 3.0);
    near.or(exact)
}

fn tape(
    y: &mut f32,
    left: f32,
    width: f32,
    zoom: f32,
    words: &[String],
    done: usize,
    word_width: &dyn Fn(&str) -> f32,
) -> Vec<(usize, Rect)> {
    let half = MOST_WORDS / 2;
    let first = done.saturating_sub(half + 1).min(words.len().saturating_sub(MOST_WORDS));
    let last = (first + MOST_WORDS).min(words.len());
    let (row, pad) = (TAPE_ROW * zoom, 6.0 * zoom);
    let mut x = left;
    let mut out = Vec::new();
    for (idx, word) in words.iter().enumerate().take(last).skip(first) {
        let w = (word_width(word) + 2.0 * pad).min(width);
        if x + w > left + width && x > left {
            x = left;
            *y += row + 2.0 * zoom;
        }
        out.push((idx, Rect::from_min_size(pos2(x, *y), vec2(w, row))));
        x += w + WORD_GAP * zoom;
    }
    *y += row;
    out
}

fn lane(y: &mut f32, left: f32, width: f32, zoom: f32, run: &Run, scale: Scale) -> Lane {
    let header = Rect::from_min_size(pos2(left, *y), vec2(width, HEADER * zoom));
    *y = header.bottom();
    let (row, right) = (ROW * zoom, left + width);
    let mut at = pos2(left, *y);
    let mut place = |w: f32, gap: f32| {
        let w = w.min(width);
        if at.x + w > right + 0.5 && at.x > left {
            at = pos2(left, at.y + row + ROW_GAP * zoom);
        }
        let rect = Rect::from_min_size(at, vec2(w, row));
        at.x += w + gap;
        rect
    };
    let gap = STRIP_GAP * zoom;
    let strips: Vec<Rect> =
        run.frame.strips.iter().map(|strip| place(scale.px(strip.size).max(LEAST_STRIP * zoom), gap)).collect();
    let card_width = if scale.has_card { scale.px(run.frame.card_bytes) } else { STUB * zoom };
    let card = (run.frame.card_bytes > 0 && card_width >= 2.0).then(|| place(card_width, gap));
    *y = at.y + row;
    let ghost = run.frame.miss.map(|miss| {
        let in_strip = |(address, size): (u64, u64)| {
            let with = run
                .frame
                .strips
                .iter()
                .zip(&strips)
                .find(|(strip, _)| (strip.address..strip.address + strip.size).contains(&address))?;
            Some(span(*with.1, with.0, address, size))
        };
        let gap =
            miss.hole.and_then(in_strip).or(card).unwrap_or(Rect::from_min_size(pos2(left, *y - row), vec2(0.0, row)));
        let bytes = if miss.hole.is_some() { miss.wanted_bytes } else { miss.device_bytes };
        let w = scale.px(bytes).clamp(10.0 * zoom, width);
        // It begins where the room begins, or ends where it ends if it would leave the row.
        let x = if gap.left() + w <= right + 0.5 { gap.left() } else { (gap.right() - w).max(left) };
        let top = *y + 6.0 * zoom;
        Ghost { rect: Rect::from_min_size(pos2(x, top), vec2(w, (GHOST - 12.0) * zoom)), gap }
    });
    if run.has_oom() {
        *y += GHOST * zoom;
    }
    Lane { header, strips, card, ghost }
}
