//! Where the bank grid puts things: 32 bank columns under 32 lanes, one row for each pass, phases apart.

use crate::lanes::LaneRow;
use egui::{Pos2, Rangef, Rect, pos2, vec2};
use vramlab_model::bank_conflicts::{BANKS, Conflicts};

/// A row of the grid: one pass of one phase, in which each bank hands over at most one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBox {
    pub phase_idx: usize,
    pub pass: u32,
    pub y: Rangef,
}

/// The whole figure. Lanes and banks share their columns, so a stride of one falls straight down.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub lanes: LaneRow,
    pub lane_band: f32,
    /// The bank numbers.
    pub header: Rangef,
    pub rows: Vec<RowBox>,
    /// Cells have room for a number.
    pub has_cell_labels: bool,
    /// Bank numbers are printed for every so many banks.
    pub label_every: usize,
}

/// Width kept free on the left for the names of the rows.
pub fn gutter(scale: f32) -> f32 {
    34.0 * scale
}

impl Geometry {
    /// Lays the figure out from `origin`. With `lanes` the dots are already elsewhere (the access map) and the grid
    /// hangs under them.
    pub fn new(origin: Pos2, width: f32, scale: f32, answer: &Conflicts, lanes: Option<LaneRow>) -> Self {
        let columns = Rangef::new(origin.x + gutter(scale), origin.x + width);
        let lane_band = 28.0 * scale;
        let own = LaneRow::new(columns, origin.y + lane_band / 2.0, 7.0 * scale);
        let below_lanes = lanes.map_or(origin.y + lane_band, |lanes| lanes.y + lane_band / 2.0);
        let header_top = below_lanes + 44.0 * scale;
        let header = Rangef::new(header_top, header_top + 16.0 * scale);
        let n_rows: u32 = answer.wavefronts();
        let height = row_height(n_rows) * scale;
        let gap = if n_rows > 16 { 1.0 } else { 2.0 };
        let mut y = header.max + 3.0 * scale;
        let mut rows = Vec::with_capacity(n_rows as usize);
        for (phase_idx, phase) in answer.phases.iter().enumerate() {
            for pass in 0..phase.passes {
                rows.push(RowBox { phase_idx, pass, y: Rangef::new(y, y + height) });
                y += height + gap;
            }
            if phase.passes > 0 && phase_idx + 1 < answer.phases.len() {
                y += 7.0 * scale;
            }
        }
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, y.max(header.max + height)));
        let lanes = lanes.unwrap_or(own);
        let cell = lanes.pitch();
        Self {
            rect,
            lanes,
            lane_band,
            header,
            rows,
            has_cell_labels: height >= 14.0 * scale && cell >= 17.0 * scale,
            label_every: [1, 2, 4, 8].into_iter().find(|every| cell * *every as f32 >= 17.0 * scale).unwrap_or(8),
        }
    }

    /// The columns of banks `first..first + n` in a row.
    pub fn cells(&self, row: &RowBox, first: u32, n: u32) -> Rect {
        let left = self.lanes.x.min + self.lanes.pitch() * first as f32;
        let rect = Rect::from_x_y_ranges(left..=left + self.lanes.pitch() * n as f32, row.y);
        rect.shrink2(vec2((self.lanes.pitch() * 0.06).min(1.5), 0.0))
    }

    /// The row of a pass.
    pub fn row(&self, phase_idx: usize, pass: u32) -> Option<(usize, &RowBox)> {
        self.rows.iter().enumerate().find(|(_, row)| row.phase_idx == phase_idx && row.pass == pass)
    }

    /// Where a lane's curve enters the columns of banks `first..first + n`: over the header.
    pub fn entry(&self, first: u32, n: u32) -> Pos2 {
        let middle = first as f32 + n as f32 / 2.0;
        pos2(self.lanes.x.min + self.lanes.pitch() * middle, self.header.min)
    }

    /// What a pointer at `pos` means.
    pub fn hit(&self, pos: Pos2) -> Option<Pointed> {
        if self.lanes.band(self.lane_band).contains(pos) {
            return self.lanes.lane_from_x(pos.x).map(Pointed::Lane);
        }
        let bank = self.lanes.lane_from_x(pos.x).filter(|bank| (*bank as u64) < BANKS)? as u32;
        let row_idx = self.rows.iter().position(|row| row.y.contains(pos.y))?;
        Some(Pointed::Cell { row_idx, bank })
    }
}

fn row_height(n_rows: u32) -> f32 {
    match n_rows {
        0..=4 => 26.0,
        5..=8 => 22.0,
        9..=16 => 15.0,
        _ => 9.0,
    }
}

/// Something in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    Lane(usize),
    Cell { row_idx: usize, bank: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::access::{ALL_LANES, strided};
    use vramlab_model::bank_conflicts::run;
    use vramlab_units::Bytes;

    fn figure(stride_bytes: i64, width_bytes: u64, width: f32) -> (Geometry, Conflicts) {
        let answer = run(&strided(stride_bytes, 0, ALL_LANES).unwrap(), Bytes(width_bytes)).unwrap();
        (Geometry::new(pos2(3.0, 5.0), width, 1.0, &answer, None), answer)
    }

    #[test]
    fn a_row_for_every_wavefront_inside_the_figure() {
        for (stride, width_bytes, rows) in [(4, 4, 1), (8, 4, 2), (128, 4, 32), (16, 16, 4), (128, 16, 32)] {
            for width in [328.0, 844.0] {
                let (figure, answer) = figure(stride, width_bytes, width);
                assert_eq!(figure.rows.len(), rows);
                for (phase_idx, phase) in answer.phases.iter().enumerate() {
                    for hit in &phase.hits {
                        let (_, row) = figure.row(phase_idx, hit.pass).unwrap();
                        let cell = figure.cells(row, hit.bank, 1);
                        assert!(figure.rect.expand(0.1).contains_rect(cell), "{cell:?} outside {:?}", figure.rect);
                    }
                }
                assert!(figure.rows.windows(2).all(|pair| pair[1].y.min >= pair[0].y.max));
            }
        }
    }

    #[test]
    fn lanes_stand_over_their_banks_at_stride_one() {
        let (figure, answer) = figure(4, 4, 844.0);
        for hit in &answer.phases[0].hits {
            assert!((figure.lanes.center(hit.lane).x - figure.entry(hit.bank, 1).x).abs() < 1e-3);
        }
    }

    #[test]
    fn pointers_find_lanes_and_cells() {
        let (figure, _) = figure(8, 4, 844.0);
        assert_eq!(figure.hit(figure.lanes.center(9)), Some(Pointed::Lane(9)));
        let cell = figure.cells(&figure.rows[1], 30, 1);
        assert_eq!(figure.hit(cell.center()), Some(Pointed::Cell { row_idx: 1, bank: 30 }));
    }
}
