//! What lies where after so many steps: the block's accesses, followed element by element.

use vramlab_model::bank_conflicts::WORD;
use vramlab_model::transpose::{Cell, Stage, Step, TILE};

/// The elements that tile and target hold, each named by its place in the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// By word address.
    pub tile: Vec<Option<Cell>>,
    /// By row × 32 + column.
    pub target: Vec<Option<Cell>>,
    /// Rows of the source that have been read.
    pub n_rows_read: u64,
}

/// The state after the first `n` of `steps`.
pub fn after(steps: &[Step], n: usize) -> Held {
    let mut held = Held { tile: Vec::new(), target: vec![None; (TILE * TILE) as usize], n_rows_read: 0 };
    let mut in_lanes: Vec<Option<Cell>> = Vec::new();
    for step in steps.iter().take(n) {
        match step.stage {
            Stage::ReadSource => {
                in_lanes = step.cells.iter().copied().map(Some).collect();
                held.n_rows_read += 1;
            }
            Stage::StoreTile => {
                for (word, cell) in words(step).zip(&in_lanes) {
                    if held.tile.len() <= word {
                        held.tile.resize(word + 1, None);
                    }
                    held.tile[word] = *cell;
                }
            }
            Stage::Barrier => in_lanes.clear(),
            Stage::LoadTile => in_lanes = words(step).map(|word| held.tile.get(word).copied().flatten()).collect(),
            Stage::WriteTarget => {
                for (to, cell) in step.cells.iter().zip(&in_lanes) {
                    if let Some(slot) = held.target.get_mut((to.row * TILE + to.col) as usize) {
                        *slot = *cell;
                    }
                }
            }
        }
    }
    held
}

/// The words of shared memory that a step touches, in order of lanes.
pub fn words(step: &Step) -> impl Iterator<Item = usize> + '_ {
    step.lane_addrs.iter().flatten().map(|addr| (addr.0 / WORD.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::transpose::{Method, steps};

    #[test]
    fn at_the_end_every_method_has_transposed() {
        for method in Method::ALL {
            let steps = steps(method, 64).unwrap();
            let held = after(&steps, steps.len());
            for row in 0..TILE {
                for col in 0..TILE {
                    let found = held.target[(row * TILE + col) as usize];
                    assert_eq!(found, Some(Cell { row: col, col: row }), "{method:?}");
                }
            }
        }
    }
}
