//! Single blocks inside the bands of the timeline. A block is drawn by itself once it is high enough to be seen; what is
//! smaller lies together on top of its band, so that every byte is drawn and none twice. Blocks from before the recording
//! lie lowest, because they are the oldest.

use super::columns::Column;
use super::scene::Scene;

/// A block over some columns, all bytes at one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub life: u32,
    pub band: u16,
    /// Columns `from..until`.
    pub from: u32,
    pub until: u32,
    /// Bytes below it.
    pub bottom: u64,
    pub size: u64,
}

/// Blocks that are drawn singly, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    pub cells: Vec<Cell>,
    pub n_blocks: usize,
    /// Blocks of this size and more are drawn singly.
    pub least: u64,
    /// All blocks that are in use somewhere between the first and the last column.
    pub n_all: usize,
}

/// More are not drawn singly: the largest are.
const MOST_BLOCKS: usize = 3000;
/// More would be no picture any more.
const MOST_CELLS: usize = 60_000;

/// A block in sight, with the columns in which it is in use.
struct Seen {
    life: u32,
    band: u16,
    from: usize,
    until: usize,
    size: u64,
}

impl Detail {
    /// Cells for `columns`, whose bands have `values` (as many a column as there are bands).
    pub fn of(scene: &Scene, columns: &[Column], values: &[u64], least: u64) -> Self {
        let n_bands = scene.bands.all.len();
        let (mut seen, n_all) = seen(scene, columns, least.max(1));
        let mut least = least;
        if seen.len() > MOST_BLOCKS {
            seen.sort_unstable_by_key(|block| std::cmp::Reverse(block.size));
            seen.truncate(MOST_BLOCKS);
            least = seen.last().map_or(least, |block| block.size);
        }
        // By band, the oldest first: in this order they lie from below.
        seen.sort_unstable_by_key(|block| (block.band, block.life));
        let mut out = Self { cells: Vec::new(), n_blocks: seen.len(), least, n_all };
        let mut start = 0;
        for band in 0..n_bands {
            let len = seen[start..].iter().take_while(|block| usize::from(block.band) == band).count();
            out.stack(&seen[start..start + len], columns.len(), |column| {
                values.get(column * n_bands..column * n_bands + band).map_or(0, |below| below.iter().sum())
            });
            start += len;
        }
        out
    }

    /// One band from left to right. A block keeps its cell for as long as its height stays.
    fn stack(&mut self, blocks: &[Seen], n_columns: usize, base: impl Fn(usize) -> u64) {
        if blocks.is_empty() {
            return;
        }
        let mut starts: Vec<usize> = (0..blocks.len()).collect();
        starts.sort_by_key(|idx| blocks[*idx].from);
        let mut next = 0;
        // Blocks in use, oldest first, with the cell that each is in.
        let mut active: Vec<(usize, usize)> = Vec::new();
        let mut last_base = None;
        for column in 0..n_columns {
            let before = active.len();
            active.retain(|(idx, _)| blocks[*idx].until > column);
            let mut is_changed = active.len() != before;
            while let Some(idx) = starts.get(next).copied().filter(|idx| blocks[*idx].from <= column) {
                let at = active.partition_point(|(known, _)| *known < idx);
                active.insert(at, (idx, usize::MAX));
                (next, is_changed) = (next + 1, true);
            }
            let below = base(column);
            is_changed |= last_base != Some(below);
            last_base = Some(below);
            if is_changed {
                self.lay(blocks, &mut active, column, below);
            }
            for (_, cell) in &active {
                if let Some(cell) = self.cells.get_mut(*cell) {
                    cell.until = column as u32 + 1;
                }
            }
        }
    }

    fn lay(&mut self, blocks: &[Seen], active: &mut [(usize, usize)], column: usize, mut bottom: u64) {
        for (idx, cell) in active.iter_mut() {
            let block = &blocks[*idx];
            let is_there = self.cells.get(*cell).is_some_and(|cell| cell.bottom == bottom);
            if !is_there {
                *cell = self.cells.len();
                if self.cells.len() < MOST_CELLS {
                    let (from, until) = (column as u32, column as u32 + 1);
                    self.cells.push(Cell { life: block.life, band: block.band, from, until, bottom, size: block.size });
                } else {
                    *cell = usize::MAX;
                }
            }
            bottom += block.size;
        }
    }

    /// Where the blocks of a band end that are drawn singly, if there are any in this column.
    pub fn top_of(&self, column: usize, band: usize) -> Option<u64> {
        let column = column as u32;
        let here = |cell: &&Cell| usize::from(cell.band) == band && (cell.from..cell.until).contains(&column);
        self.cells.iter().filter(here).map(|cell| cell.bottom + cell.size).max()
    }

    /// The block at a column and height.
    pub fn at(&self, column: usize, bytes: u64) -> Option<u32> {
        let column = column as u32;
        let here = |cell: &&Cell| {
            (cell.from..cell.until).contains(&column) && (cell.bottom..cell.bottom + cell.size).contains(&bytes)
        };
        self.cells.iter().find(here).map(|cell| cell.life)
    }
}

/// The blocks that are large enough, and how many there are of any size.
fn seen(scene: &Scene, columns: &[Column], least: u64) -> (Vec<Seen>, usize) {
    let n_bands = scene.bands.all.len();
    let moments: Vec<usize> = columns.iter().map(|column| column.moment).collect();
    let (first, last) = (moments.first().copied().unwrap_or(0), moments.last().copied().unwrap_or(0));
    let mut out = Vec::new();
    scene.spans.at_any(&moments, |idx| {
        let life = &scene.analysis.lives[idx as usize];
        let band = scene.bands.of_life.get(idx as usize).copied().unwrap_or(u16::MAX);
        if life.size < least || usize::from(band) >= n_bands {
            return;
        }
        let begun = life.from.map_or(0, |from| from as usize + 1);
        let gone = life.freed.map_or(usize::MAX, |freed| freed as usize);
        let from = moments.partition_point(|moment| *moment < begun);
        let until = moments.partition_point(|moment| *moment <= gone);
        out.push(Seen { life: idx, band, from, until, size: life.size });
    });
    (out, scene.spans.count(first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::columns::columns;
    use crate::snapshot::scene::Colour;
    use std::sync::Arc;
    use vramlab_snapshot::{Analysis, Options, read};

    fn scene(name: &str) -> Scene {
        let path = format!("{}/../../tests/data/snapshots/{name}.pickle.gz", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("a recording");
        let snapshot = Arc::new(read(&bytes, 64 << 20).expect("it is read"));
        let analysis = Arc::new(Analysis::of(&snapshot, 0, &Options::default()));
        Scene::new(snapshot, analysis, Colour::default())
    }

    /// In every column the blocks of a band lie one upon the other from its lower edge, are in use at that moment, and
    /// reach no higher than the band; with no least size they fill it.
    #[test]
    fn blocks_lie_in_their_bands_without_a_gap() {
        for (name, n_pixels, least) in
            [("mlp_adam", 5_000, 1), ("mlp_adam", 300, 1 << 20), ("kv_cat", 700, 1 << 20), ("resnet50_b32", 400, 4096)]
        {
            let scene = scene(name);
            let columns = columns(scene.totals(), 0, scene.n_events(), n_pixels);
            let n_bands = scene.bands.all.len();
            let values: Vec<u64> =
                columns.iter().flat_map(|c| scene.bands.all.iter().map(|band| band.value(c.moment))).collect();
            let detail = Detail::of(&scene, &columns, &values, least);
            assert!(detail.n_blocks > 0 && detail.n_blocks <= detail.n_all, "{name}");
            for (idx, column) in columns.iter().enumerate() {
                let mut base = 0;
                for band in 0..n_bands {
                    let value = values[idx * n_bands + band];
                    let here = |cell: &&Cell| {
                        usize::from(cell.band) == band && (cell.from..cell.until).contains(&(idx as u32))
                    };
                    let mut cells: Vec<&Cell> = detail.cells.iter().filter(here).collect();
                    cells.sort_by_key(|cell| cell.bottom);
                    let mut top = base;
                    for cell in cells {
                        assert_eq!(cell.bottom, top, "{name}: column {idx}, band {band}");
                        let life = scene.life(cell.life).expect("a life");
                        assert!(life.is_allocated(column.moment) && life.size == cell.size, "{name}: column {idx}");
                        top += cell.size;
                    }
                    assert!(top <= base + value, "{name}: column {idx}, band {band}");
                    assert!(least > 1 || top == base + value, "{name}: nothing is left out in column {idx}");
                    base += value;
                }
            }
        }
    }

    /// What lies under a point is the block that is drawn there; the README's 148 requests are all counted.
    #[test]
    fn a_point_finds_its_block() {
        let scene = scene("mlp_adam");
        let columns = columns(scene.totals(), 0, scene.n_events(), 5_000);
        let values: Vec<u64> =
            columns.iter().flat_map(|c| scene.bands.all.iter().map(|band| band.value(c.moment))).collect();
        let detail = Detail::of(&scene, &columns, &values, 1);
        assert_eq!((detail.n_all, detail.n_blocks), (148, 148));
        let cell = detail.cells[detail.cells.len() / 2];
        assert_eq!(detail.at(cell.from as usize, cell.bottom), Some(cell.life));
        assert_eq!(detail.at(cell.from as usize, u64::MAX / 2), None);
    }
}
