//! Where everything of the SM stands: partitions, slots, register cells, the column of shared memory, the cliff finder, the waves.

use super::question::{Answer, Question};
use egui::{Pos2, Rect, pos2, vec2};
use vramlab_model::kernels::architecture::{PARTITIONS, REGISTER_UNIT, REGISTERS};

/// Register cells of a partition: one is 256 registers, 8 for each lane of a warp.
pub const CELLS: u64 = REGISTERS / PARTITIONS / REGISTER_UNIT;
const COLUMNS: u64 = 8;
const SLOT_COLUMNS: u64 = 4;
/// Narrower than this the cliff finder goes under the SM.
const WIDE: f32 = 660.0;
const LABEL: f32 = 22.0;
const METER: f32 = 22.0;
const CHART: f32 = 250.0;
const WAVE: f32 = 30.0;
const GAP: f32 = 10.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    pub frame: Rect,
    pub slots: Rect,
    pub registers: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub sm: Rect,
    pub partitions: Vec<Partition>,
    pub shared: Rect,
    pub ticks: Rect,
    pub meters: [Rect; 4],
    pub chart: Rect,
    pub waves: Rect,
    pub slot_rows: u64,
    pub cell_gap: f32,
    pub label: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question) -> Self {
        let px = |points: f32| points * scale;
        let is_wide = width >= px(WIDE);
        let left = if is_wide { width * 0.56 } else { width };
        let (label, gap) = (px(LABEL), px(GAP));
        let column = px(34.0);
        let room = left - column - gap;
        let wide = (room - 3.0 * px(6.0)) / 4.0;
        let slot_rows = question.sm.warps.div_ceil(PARTITIONS).div_ceil(SLOT_COLUMNS);
        let inner = wide - px(8.0);
        let slot = inner / SLOT_COLUMNS as f32;
        let cell = inner / COLUMNS as f32;
        let (slots_tall, cells_tall) = ((slot * 0.76) * slot_rows as f32, cell * (CELLS / COLUMNS) as f32);
        let top = origin.y + label;
        let tall = label + slots_tall + label + cells_tall + px(6.0);
        let partition = |idx: usize| {
            let frame = Rect::from_min_size(pos2(origin.x + idx as f32 * (wide + px(6.0)), top), vec2(wide, tall));
            let slots = Rect::from_min_size(frame.min + vec2(px(4.0), label), vec2(inner, slots_tall));
            let at = pos2(slots.left(), slots.bottom() + label);
            Partition { frame, slots, registers: Rect::from_min_size(at, vec2(inner, cells_tall)) }
        };
        let partitions: Vec<Partition> = (0..PARTITIONS as usize).map(partition).collect();
        let x = origin.x + room + gap;
        let shared = Rect::from_min_max(pos2(x, top), pos2(origin.x + left, top + tall));
        let ticks = Rect::from_min_size(pos2(origin.x, top + tall + label), vec2(left, px(12.0)));
        let first = ticks.bottom() + label + px(6.0);
        let meter =
            |idx: usize| Rect::from_min_size(pos2(origin.x, first + idx as f32 * px(METER)), vec2(left, px(METER)));
        let meters = [meter(0), meter(1), meter(2), meter(3)];
        let sm = Rect::from_min_max(origin, pos2(origin.x + left, meters[3].bottom()));
        let chart = if is_wide {
            let at = pos2(origin.x + left + px(64.0), origin.y + px(42.0));
            Rect::from_min_max(at, pos2(origin.x + width - px(16.0), sm.bottom() - px(36.0)))
        } else {
            let at = pos2(origin.x + px(42.0), sm.bottom() + px(52.0));
            Rect::from_min_size(at, vec2(width - px(58.0), px(CHART - 60.0)))
        };
        let below = if is_wide { sm.bottom() } else { chart.bottom() + px(36.0) };
        let waves =
            Rect::from_min_size(pos2(origin.x, below + px(if is_wide { 30.0 } else { 64.0 })), vec2(width, px(WAVE)));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, waves.bottom() + px(4.0)));
        let cell_gap = px(1.0);
        Self { rect, sm, partitions, shared, ticks, meters, chart, waves, slot_rows, cell_gap, label }
    }

    /// The slot of a warp by its number on the SM: neighbours go to neighbouring partitions.
    pub fn slot(&self, warp: u64) -> Rect {
        let part = &self.partitions[(warp % PARTITIONS) as usize].slots;
        let at = warp / PARTITIONS;
        grid(*part, SLOT_COLUMNS, self.slot_rows, at).shrink(self.cell_gap)
    }

    /// A register cell of a partition.
    pub fn cell(&self, partition: u64, at: u64) -> Rect {
        let part = &self.partitions[(partition % PARTITIONS) as usize].registers;
        grid(*part, COLUMNS, CELLS / COLUMNS, at).shrink(self.cell_gap * 0.6)
    }

    /// The stretch of shared memory of a block, from the bottom.
    pub fn stretch(&self, question: &Question, idx: u64) -> Rect {
        let each = question.launch.shared_per_block(question.sm) as f32;
        let per_byte = self.shared.height() / (question.sm.shared_kib << 10) as f32;
        let bottom = self.shared.bottom() - idx as f32 * each * per_byte;
        Rect::from_min_max(pos2(self.shared.left(), bottom - each * per_byte), pos2(self.shared.right(), bottom))
    }

    pub fn tick(&self, question: &Question, idx: u64) -> Rect {
        let wide = self.ticks.width() / question.sm.blocks as f32;
        let at = pos2(self.ticks.left() + idx as f32 * wide, self.ticks.top());
        Rect::from_min_size(at, vec2(wide, self.ticks.height())).shrink2(vec2(self.cell_gap, 0.0))
    }

    /// Register cells that a block's warps take in their partitions: partition and cell.
    pub fn cells_of(question: &Question, warp: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let each = question.launch.registers_per_warp() / REGISTER_UNIT;
        let first = warp / PARTITIONS * each;
        (first..first + each).map(move |cell| (warp % PARTITIONS, cell))
    }

    pub fn block_at(&self, question: &Question, answer: &Answer, at: Pos2) -> Option<u64> {
        let warps = question.launch.warps();
        (0..answer.blocks).find(|block| {
            let mine = block * warps..(block + 1) * warps;
            let is_warp = mine.clone().any(|warp| {
                let has = |rect: Rect| rect.expand(self.cell_gap).contains(at);
                has(self.slot(warp)) || Self::cells_of(question, warp).any(|(part, cell)| has(self.cell(part, cell)))
            });
            is_warp || self.stretch(question, *block).contains(at) || self.tick(question, *block).contains(at)
        })
    }

    pub fn x(&self, question: &Question, value: u64) -> f32 {
        let (least, most) = question.axis.ends(question.sm);
        let share = (value - least.min(value)) as f32 / (most - least) as f32;
        self.chart.left() + self.chart.width() * share.min(1.0)
    }

    pub fn y(&self, question: &Question, warps: u64) -> f32 {
        self.chart.bottom() - self.chart.height() * warps as f32 / question.sm.warps as f32
    }

    /// The value of the axis under the pointer.
    pub fn value_at(&self, question: &Question, at: Pos2) -> u64 {
        let (least, most) = question.axis.ends(question.sm);
        let share = f64::from(((at.x - self.chart.left()) / self.chart.width()).clamp(0.0, 1.0));
        let value = least + (share * (most - least) as f64).round() as u64;
        match question.axis {
            vramlab_model::kernels::occupancy_cliff::Axis::Shared => value / 128 * 128,
            _ => value,
        }
    }
}

fn grid(rect: Rect, columns: u64, rows: u64, at: u64) -> Rect {
    let size = vec2(rect.width() / columns as f32, rect.height() / rows as f32);
    let cell = pos2(rect.left() + (at % columns) as f32 * size.x, rect.top() + (at / columns) as f32 * size.y);
    Rect::from_min_size(cell, size)
}

#[cfg(test)]
mod tests {
    use super::super::question::sms;
    use super::*;
    use vramlab_units::{Args, Map, Value};

    fn question(threads: u64, registers: u64) -> Question {
        let given = [("threads_per_block", threads), ("registers_per_thread", registers)];
        let given: Map = given.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect();
        Question::from_args(&Args::check(&Question::fields(), &given).unwrap()).unwrap()
    }

    /// What the model says fits, fits into the picture: no warp or register cell lies outside its partition.
    #[test]
    fn every_block_that_fits_is_inside() {
        for sm in sms() {
            for (threads, registers) in [(256, 32), (256, 64), (96, 255), (33, 32), (1024, 64), (384, 168), (1, 8)] {
                let mut asked = question(threads, registers);
                asked.set_sm(sm);
                let answer = asked.answer();
                for (width, scale) in [(300.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
                    let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, &asked);
                    for warp in 0..answer.warps {
                        let part = &geometry.partitions[(warp % PARTITIONS) as usize];
                        assert!(part.slots.expand(0.5).contains_rect(geometry.slot(warp)), "{sm:?} {threads} {warp}");
                        for (at, cell) in Geometry::cells_of(&asked, warp) {
                            let rect = geometry.cell(at, cell);
                            assert!(part.registers.expand(0.5).contains_rect(rect), "{sm:?} {threads} {registers}");
                        }
                    }
                    for block in 0..answer.blocks {
                        let rect = geometry.stretch(&asked, block);
                        assert!(geometry.shared.expand(0.5).contains_rect(rect), "{sm:?} {threads} {block}");
                        assert_eq!(
                            geometry.block_at(&asked, &answer, geometry.slot(block * asked.launch.warps()).center()),
                            Some(block)
                        );
                    }
                    assert!(geometry.rect.contains_rect(geometry.chart) && geometry.rect.contains_rect(geometry.waves));
                }
            }
        }
    }

    #[test]
    fn a_value_is_found_where_it_is_drawn() {
        let asked = question(256, 65);
        let geometry = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, &asked);
        assert_eq!(geometry.value_at(&asked, pos2(geometry.x(&asked, 65), geometry.chart.center().y)), 65);
    }
}
