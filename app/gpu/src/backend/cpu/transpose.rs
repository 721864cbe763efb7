//! Transposes a square matrix of words: rows in and columns out, straight or block by block. The reference copies it.

use super::bench::{self, Taken};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::Range;
use vramlab_units::Text;

pub const TRANSPOSE: Routine = Routine {
    id: "transpose",
    about: Text::new(
        "方阵转置：逐行读、逐列写，或者分块",
        "transposes a square matrix: rows in, columns out, or block by block",
    ),
    inputs: &[
        Input { name: "n", min: 1, max: 1 << 15, about: "rows and columns" },
        Input { name: "block_elems", min: 0, max: 1024, about: "rows and columns of a block; 0 goes straight" },
    ],
    buffers: &["input", "out"],
    readings: &["copy_ns"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (n, block) = (stage.get("n"), stage.get("block_elems"));
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let Some((input, out)) = input.get(..n * n).zip(out.get_mut(..n * n)) else {
        return Err(RunError::Content { what: format!("the buffers are too small for a matrix of {n} × {n} words") });
    };
    let out = std::cell::RefCell::new(out);
    let subject = |_| {
        let mut out = out.borrow_mut();
        match block {
            0 => straight(input, &mut out, n),
            _ => blocked(input, &mut out, n, block),
        }
        black_box(&mut **out);
    };
    let reference = |_| {
        let mut out = out.borrow_mut();
        out.copy_from_slice(input);
        black_box(&mut **out);
    };
    let (samples_ns, copy_ns) = bench::in_turn(n_samples, cx, subject, reference)?;
    Ok(Taken { samples_ns, readings: BTreeMap::from([("copy_ns".to_owned(), copy_ns)]) })
}

fn straight(input: &[u32], out: &mut [u32], n: usize) {
    for (row, words) in input.chunks_exact(n).enumerate() {
        scatter(words, &mut out[row..], n);
    }
}

fn blocked(input: &[u32], out: &mut [u32], n: usize, block: usize) {
    let whole = n / block * block;
    for first_row in (0..whole).step_by(block) {
        for first_col in (0..whole).step_by(block) {
            match block {
                16 => tile::<16>(input, out, n, first_row, first_col),
                32 => tile::<32>(input, out, n, first_row, first_col),
                64 => tile::<64>(input, out, n, first_row, first_col),
                _ => piece(input, out, n, first_row..first_row + block, first_col..first_col + block),
            }
        }
    }
    // What no whole block covers: columns at the right, rows at the bottom.
    piece(input, out, n, 0..n, whole..n);
    piece(input, out, n, whole..n, 0..whole);
}

/// One block by way of a copy on the stack: each line of the input and of the output is touched once and whole, however
/// far apart the rows lie.
fn tile<const BLOCK: usize>(input: &[u32], out: &mut [u32], n: usize, first_row: usize, first_col: usize) {
    let mut held = [[0u32; BLOCK]; BLOCK];
    for (row, held) in held.iter_mut().enumerate() {
        held.copy_from_slice(&input[(first_row + row) * n + first_col..][..BLOCK]);
    }
    for col in 0..BLOCK {
        let line = &mut out[(first_col + col) * n + first_row..][..BLOCK];
        for (word, held) in line.iter_mut().zip(&held) {
            *word = held[col];
        }
    }
}

fn piece(input: &[u32], out: &mut [u32], n: usize, rows: Range<usize>, cols: Range<usize>) {
    for row in rows.filter(|_| !cols.is_empty()) {
        scatter(&input[row * n + cols.start..row * n + cols.end], &mut out[cols.start * n + row..], n);
    }
}

/// Writes a piece of a row down a column.
fn scatter(words: &[u32], out: &mut [u32], n: usize) {
    for (place, word) in out.iter_mut().step_by(n).zip(words) {
        *place = *word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_transpose() {
        for (n, block) in [(1, 4), (5, 2), (16, 16), (33, 8), (40, 64), (75, 16), (70, 32), (130, 64)] {
            let input: Vec<u32> = (0..(n * n) as u32).collect();
            let expected: Vec<u32> = (0..n * n).map(|place| (place % n * n + place / n) as u32).collect();
            let mut out = vec![0; n * n];
            straight(&input, &mut out, n);
            assert_eq!(out, expected, "{n} straight");
            out.fill(0);
            blocked(&input, &mut out, n, block);
            assert_eq!(out, expected, "{n} by {block}");
        }
    }
}
