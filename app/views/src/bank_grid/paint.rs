//! Painting the bank grid. It sees the answer, the geometry, how many passes are over, and the tokens; it decides nothing.

use super::layout::{Geometry, Pointed, RowBox};
use crate::ink;
use crate::lanes::{LANES, drop_curve};
use egui::{Align2, Color32, CornerRadius, Painter, Stroke, StrokeKind, pos2};
use vramlab_kit::{Palette, Role, Tokens, Type};
use vramlab_model::bank_conflicts::{BANKS, Conflicts, Hit};

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub geometry: &'a Geometry,
    pub answer: &'a Conflicts,
    /// Passes that have been served; all of them when nothing is being stepped through.
    pub n_served: usize,
    pub picked: Option<Pointed>,
    /// The dots are painted here, not by the figure above.
    pub has_lanes: bool,
}

/// A word as the grid shows it: neighbouring banks that serve the same lanes are one box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    pub first_bank: u32,
    pub n_banks: u32,
    pub lanes: Vec<usize>,
    pub words: Vec<u64>,
}

/// The boxes of one pass, by bank.
pub fn served(hits: &[Hit], pass: u32) -> Vec<Served> {
    let mut by_bank: Vec<Served> = Vec::new();
    for bank in 0..BANKS as u32 {
        let here: Vec<&Hit> = hits.iter().filter(|hit| hit.pass == pass && hit.bank == bank).collect();
        let Some(first) = here.first() else { continue };
        let lanes: Vec<usize> = here.iter().map(|hit| hit.lane).collect();
        match by_bank.last_mut() {
            Some(last)
                if last.first_bank + last.n_banks == bank
                    && last.lanes == lanes
                    && last.words.last().is_some_and(|word| word + 1 == first.word) =>
            {
                last.n_banks += 1;
                last.words.push(first.word);
            }
            _ => by_bank.push(Served { first_bank: bank, n_banks: 1, lanes, words: vec![first.word] }),
        }
    }
    by_bank
}

/// The boxes of every row, made once a frame.
type Rows = Vec<Vec<Served>>;

impl Scene<'_> {
    pub fn paint(&self) {
        let rows: Rows = self.geometry.rows.iter().map(|row| self.words(row)).collect();
        self.curves(&rows);
        self.header();
        self.slots();
        for (row_idx, row) in self.geometry.rows.iter().enumerate() {
            self.row(row_idx, row, &rows[row_idx]);
        }
        self.highlight(&rows);
        if self.has_lanes {
            self.lanes(&rows);
        }
    }

    fn words(&self, row: &RowBox) -> Vec<Served> {
        self.answer.phases.get(row.phase_idx).map(|phase| served(&phase.hits, row.pass)).unwrap_or_default()
    }

    /// Passes of a phase along one ordered ramp: first dark, last light.
    fn color(&self, row: &RowBox) -> Color32 {
        let n_passes = self.answer.phases.iter().map(|phase| phase.passes).max().unwrap_or(1);
        if n_passes <= 1 {
            return self.tokens.role(Role::Parameters);
        }
        let (first, last) = if self.tokens.is_dark() { (0.36, 0.82) } else { (0.0, 0.62) };
        let share = row.pass as f32 / (n_passes - 1) as f32;
        self.tokens.magnitude(Palette::Viridis, first + (last - first) * share)
    }

    fn is_whole(&self) -> bool {
        self.n_served >= self.geometry.rows.len()
    }

    fn is_current(&self, row_idx: usize) -> bool {
        !self.is_whole() && row_idx + 1 == self.n_served
    }

    fn is_lit(&self, row_idx: usize, word: &Served, lane: usize) -> bool {
        match self.picked {
            Some(Pointed::Lane(picked)) => picked == lane,
            Some(Pointed::Cell { row_idx: picked, bank }) => {
                picked == row_idx && (word.first_bank..word.first_bank + word.n_banks).contains(&bank)
            }
            None => false,
        }
    }

    fn curve(&self, lane: usize, word: &Served, stroke: Stroke) {
        let mut from = self.geometry.lanes.center(lane);
        from.y += self.geometry.lanes.radius;
        self.painter.add(drop_curve(from, self.geometry.entry(word.first_bank, word.n_banks), stroke));
    }

    fn curves(&self, rows: &Rows) {
        for (row_idx, row) in self.geometry.rows.iter().enumerate() {
            let share = match (self.is_whole(), self.is_current(row_idx)) {
                (true, _) => 0.55,
                (_, true) => 1.0,
                _ => 0.12,
            };
            let width = if self.is_current(row_idx) { 1.8 } else { 1.1 };
            let stroke = self.tokens.stroke(width, self.tokens.tint(self.color(row), share));
            for word in &rows[row_idx] {
                word.lanes.iter().for_each(|lane| self.curve(*lane, word, stroke));
            }
        }
    }

    fn header(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let font = tokens.font(Type::MonoSmall);
        for bank in (0..LANES).step_by(geometry.label_every) {
            let place = pos2(geometry.lanes.center(bank).x, geometry.header.center());
            ink::text(painter, place, Align2::CENTER_CENTER, bank.to_string(), font.clone(), tokens.muted);
        }
        let place = pos2(geometry.rect.left(), geometry.header.center());
        ink::text(painter, place, Align2::LEFT_CENTER, "bank", tokens.font(Type::Small), tokens.muted);
    }

    /// A strip for each pass with a slot for each bank: what stays empty is time that the bank stood idle.
    fn slots(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let (Some(first), Some(last)) = (geometry.rows.first(), geometry.rows.last()) else { return };
        for row in &geometry.rows {
            painter.rect_filled(geometry.cells(row, 0, BANKS as u32), CornerRadius::same(2), tokens.sunken);
        }
        let gap = Stroke::new((geometry.lanes.pitch() * 0.12).clamp(1.0, 3.0), tokens.surface);
        for bank in 1..BANKS {
            let x = geometry.lanes.x.min + geometry.lanes.pitch() * bank as f32;
            painter.vline(x, first.y.min..=last.y.max, gap);
        }
    }

    fn row(&self, row_idx: usize, row: &RowBox, words: &[Served]) {
        let Self { painter, tokens, geometry, .. } = self;
        let (color, is_over) = (self.color(row), row_idx < self.n_served);
        for word in words {
            let cell = geometry.cells(row, word.first_bank, word.n_banks);
            if is_over {
                painter.rect_filled(cell, corner(cell.height()), color);
            } else {
                let edge = tokens.stroke(1.2, tokens.tint(color, 0.6));
                painter.rect(cell, corner(cell.height()), tokens.surface, edge, StrokeKind::Inside);
            }
            if geometry.has_cell_labels {
                let label = match word.lanes.as_slice() {
                    [lane] => lane.to_string(),
                    lanes => format!("×{}", lanes.len()),
                };
                let ink_color = if is_over { contrast(tokens, color) } else { tokens.muted };
                ink::text(
                    painter,
                    cell.center(),
                    Align2::CENTER_CENTER,
                    label,
                    tokens.font(Type::MonoSmall),
                    ink_color,
                );
            } else if is_over && word.lanes.len() > 1 {
                let radius = (cell.height() * 0.2).max(1.5);
                painter.circle_filled(cell.center(), radius, contrast(tokens, color)); // several lanes, one word
            }
        }
        self.row_name(row_idx, row);
    }

    /// The number of the pass; of low rows every fourth has one.
    fn row_name(&self, row_idx: usize, row: &RowBox) {
        let Self { painter, tokens, geometry, .. } = self;
        let is_low = row.y.span() < tokens.px(12.0);
        if is_low && !(row_idx + 1).is_multiple_of(4) && row_idx != 0 {
            return;
        }
        let color = if self.is_current(row_idx) { tokens.accent } else { tokens.muted };
        let place = pos2(geometry.lanes.x.min - tokens.px(6.0), row.y.center());
        ink::text(painter, place, Align2::RIGHT_CENTER, (row_idx + 1).to_string(), tokens.font(Type::MonoSmall), color);
    }

    fn highlight(&self, rows: &Rows) {
        let stroke = self.tokens.stroke(2.0, self.tokens.accent);
        for (row_idx, row) in self.geometry.rows.iter().enumerate() {
            if self.is_current(row_idx) {
                let rect = self.geometry.cells(row, 0, BANKS as u32).expand(1.5);
                self.painter.rect_stroke(rect, corner(rect.height()), stroke, StrokeKind::Outside);
            }
            for word in &rows[row_idx] {
                let mut lit = word.lanes.iter().filter(|lane| self.is_lit(row_idx, word, **lane)).peekable();
                if lit.peek().is_some() {
                    let cell = self.geometry.cells(row, word.first_bank, word.n_banks);
                    self.painter.rect_stroke(cell, corner(cell.height()), stroke, StrokeKind::Outside);
                }
                lit.for_each(|lane| self.curve(*lane, word, stroke));
            }
        }
    }

    fn lanes(&self, rows: &Rows) {
        let Self { painter, tokens, geometry, .. } = self;
        for lane in 0..LANES {
            let (center, radius) = (geometry.lanes.center(lane), geometry.lanes.radius);
            let served_in = rows.iter().position(|words| words.iter().any(|word| word.lanes.contains(&lane)));
            match served_in {
                Some(row_idx) if row_idx < self.n_served => {
                    painter.circle_filled(center, radius, self.color(&geometry.rows[row_idx]));
                }
                Some(row_idx) => {
                    let edge = tokens.stroke(1.8, self.color(&geometry.rows[row_idx]));
                    painter.circle(center, radius, tokens.surface, edge);
                }
                None => {
                    painter.circle(center, radius, tokens.surface, tokens.stroke(1.5, tokens.muted));
                }
            }
            if self.lane_is_lit(rows, lane) {
                painter.circle_stroke(center, radius + tokens.px(2.5), tokens.stroke(2.0, tokens.accent));
            }
        }
    }

    fn lane_is_lit(&self, rows: &Rows, lane: usize) -> bool {
        match self.picked {
            Some(Pointed::Lane(picked)) => picked == lane,
            Some(Pointed::Cell { row_idx, .. }) => rows.get(row_idx).is_some_and(|words| {
                words.iter().any(|word| word.lanes.contains(&lane) && self.is_lit(row_idx, word, lane))
            }),
            None => false,
        }
    }
}

fn corner(height: f32) -> CornerRadius {
    CornerRadius::same((height * 0.16).clamp(1.0, 5.0) as u8)
}

/// Ink or surface, whichever reads on `fill`.
fn contrast(tokens: &Tokens, fill: Color32) -> Color32 {
    let is_light = fill.intensity() > 0.45;
    match (is_light, tokens.is_dark()) {
        (true, false) | (false, true) => tokens.ink,
        (true, true) | (false, false) => tokens.surface,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::access::{ALL_LANES, strided};
    use vramlab_model::bank_conflicts::run;
    use vramlab_units::Bytes;

    #[test]
    fn lanes_that_share_a_word_share_a_box_and_a_wide_lane_is_one_box() {
        let one = run(&strided(0, 0, ALL_LANES).unwrap(), Bytes(4)).unwrap();
        let boxes = served(&one.phases[0].hits, 0);
        assert_eq!((boxes.len(), boxes[0].lanes.len()), (1, 32));
        let wide = run(&strided(16, 0, ALL_LANES).unwrap(), Bytes(16)).unwrap();
        let boxes = served(&wide.phases[1].hits, 0);
        assert_eq!(boxes.len(), 8);
        assert_eq!((boxes[0].n_banks, boxes[0].lanes.as_slice()), (4, &[8][..]));
    }
}
