//! A step with seeded defects: a batch to the card, eight elementwise operations, a sum over rows, a small matrix product,
//! the result back. Any of five fixes may be in; the result of every step is held against the processor's, number by number.

use super::{Card, Input, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const FIXES: &str = "fixes";
const ELEMS: &str = "n_elems";
/// Columns and outputs of a row, as in the kernel's source.
const COLUMNS: u64 = 64;
const OUTPUTS: u64 = 16;
/// Rows after which the batch repeats, so that the processor works out this many and compares all.
const PERIOD: u64 = 1024;
/// Launches of one operation while they are tiny.
const PIECES: u64 = 128;
const BLOCK: u64 = 256;
const EACH: u64 = 4;
const WARM: usize = 2;

pub const CAPSTONE: Routine = Routine {
    id: "capstone",
    about: Text::new(
        "带五处毛病的一步：拷入、逐元素、归约、矩阵乘、拷出",
        "a step with five seeded defects, any of which may be mended",
    ),
    inputs: &[
        Input {
            name: FIXES,
            min: 0,
            max: 31,
            about: "bits: 1 pinned, 2 contiguous, 4 padded, 8 fused, 16 half precision",
        },
        Input { name: ELEMS, min: 1 << 18, max: 1 << 28, about: "numbers of a batch, a power of two" },
    ],
    readings: &["up_ms", "ops_ms", "sum_ms", "product_ms", "down_ms", "peak_mib"],
    checks: &["every number of every result is that of the processor", "all memory is back at the end"],
    run,
};

/// What is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fixes {
    is_pinned: bool,
    is_contiguous: bool,
    is_padded: bool,
    is_fused: bool,
    is_half: bool,
}

impl Fixes {
    fn of(bits: u64) -> Self {
        let has = |bit: u64| bits & bit != 0;
        Self { is_pinned: has(1), is_contiguous: has(2), is_padded: has(4), is_fused: has(8), is_half: has(16) }
    }

    /// Elements of a row of the tile.
    fn pitch(self) -> u64 {
        match (self.is_padded, self.is_half) {
            (false, _) => COLUMNS,
            (true, false) => COLUMNS + 1,
            // Whole words, and an odd number of them.
            (true, true) => COLUMNS + 2,
        }
    }

    fn entry(self, name: &str) -> String {
        format!("{name}_{}", if self.is_half { "f16" } else { "f32" })
    }
}

/// Everything that a step works on.
struct Step {
    fixes: Fixes,
    n: u64,
    batch: u64,
    result: u64,
    raw: u64,
    x: u64,
    sums: u64,
    out: u64,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let step = Step::open(stage)?;
    let peak = before.saturating_sub(stage.card.memory()?[0]);
    let expected = expected();
    let (mut taken, mut is_right) = (Taken::default(), true);
    for turn in 0..WARM + stage.n_samples {
        stage.cx.check()?;
        step.poison(stage.card)?;
        let ((), ns) = steps::once(|| step.whole(stage.card))?;
        is_right &= step.is_right(stage.card, &expected)?;
        if turn < WARM {
            continue;
        }
        taken.samples_ns.push(ns);
        step.in_parts(stage.card, &mut taken)?;
        taken.read("peak_mib", peak as f64 / MIB as f64);
    }
    step.close(stage.card)?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

impl Step {
    fn open(stage: &mut Stage<'_>) -> Result<Self, RunError> {
        let (fixes, n) = (Fixes::of(stage.get(FIXES)), stage.get(ELEMS));
        let rows = n / COLUMNS;
        let batch = stage.card.host(2 * n, fixes.is_pinned)?;
        let result = stage.card.host(4 * rows * OUTPUTS, fixes.is_pinned)?;
        for (at, word) in stage.card.host_bytes(batch)?.chunks_exact_mut(2).enumerate() {
            word.copy_from_slice(&raw(at as u64).to_le_bytes());
        }
        Ok(Self {
            fixes,
            n,
            batch,
            result,
            raw: stage.must(2 * n)?,
            x: stage.must(if fixes.is_half { 2 * n } else { 4 * n })?,
            sums: stage.must(4 * rows)?,
            out: stage.must(4 * rows * OUTPUTS)?,
        })
    }

    fn close(&self, card: &mut dyn Card) -> Result<(), RunError> {
        card.drop_host(self.batch)?;
        card.drop_host(self.result)?;
        [self.raw, self.x, self.sums, self.out].into_iter().try_for_each(|address| card.free(address))
    }

    /// No number of the last step may stand in for one of the next.
    fn poison(&self, card: &mut dyn Card) -> Result<(), RunError> {
        card.set(self.out, 0xAB, 4 * self.n / COLUMNS * OUTPUTS)?;
        card.set(self.sums, 0xAB, 4 * self.n / COLUMNS)?;
        card.host_bytes(self.result)?.fill(0xCD);
        card.sync()
    }

    fn whole(&self, card: &mut dyn Card) -> Result<(), RunError> {
        card.upload(self.raw, self.batch)?;
        self.operations(card)?;
        self.sum(card)?;
        self.product(card)?;
        card.download(self.out, self.result)?;
        card.sync()
    }

    /// The same step once more, waiting after each part.
    fn in_parts(&self, card: &mut dyn Card, taken: &mut Taken) -> Result<(), RunError> {
        let mut part = |name, work: &dyn Fn(&mut dyn Card) -> Result<(), RunError>| {
            let ((), ns) = steps::once(|| work(card).and_then(|()| card.sync()))?;
            taken.read(name, ns / 1e6);
            Ok::<(), RunError>(())
        };
        part("up_ms", &|card| card.upload(self.raw, self.batch))?;
        part("ops_ms", &|card| self.operations(card))?;
        part("sum_ms", &|card| self.sum(card))?;
        part("product_ms", &|card| self.product(card))?;
        part("down_ms", &|card| card.download(self.out, self.result))
    }

    fn is_strided(&self) -> u64 {
        u64::from(!self.fixes.is_contiguous)
    }

    fn operations(&self, card: &mut dyn Card) -> Result<(), RunError> {
        let (n, is_strided) = (self.n, self.is_strided());
        if self.fixes.is_fused {
            let blocks = blocks(n / (BLOCK * EACH));
            return card.launch(&self.fixes.entry("all"), blocks, BLOCK as u32, &[self.raw, self.x, n, is_strided]);
        }
        let (entry, piece) = (self.fixes.entry("one"), n / PIECES);
        for k in 0..8 {
            for first in (0..n).step_by(piece as usize) {
                let args = [self.raw, self.x, first, n, is_strided, k];
                card.launch(&entry, blocks(piece / (BLOCK * EACH)), BLOCK as u32, &args)?;
            }
        }
        Ok(())
    }

    fn sum(&self, card: &mut dyn Card) -> Result<(), RunError> {
        let args = [self.x, self.sums, self.n, self.is_strided()];
        card.launch(&self.fixes.entry("sum"), blocks(self.n / COLUMNS * 32 / BLOCK), BLOCK as u32, &args)
    }

    fn product(&self, card: &mut dyn Card) -> Result<(), RunError> {
        let args = [self.x, self.sums, self.out, self.n, self.is_strided(), self.fixes.pitch()];
        card.launch(&self.fixes.entry("product"), blocks(self.n / COLUMNS / 32), BLOCK as u32, &args)
    }

    fn is_right(&self, card: &mut dyn Card, expected: &[u8]) -> Result<bool, RunError> {
        Ok(card.host_bytes(self.result)?.chunks(expected.len()).all(|rows| expected.starts_with(rows)))
    }
}

fn blocks(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Number `at` of the batch: four bits, repeated after [`PERIOD`] rows.
fn raw(at: u64) -> u16 {
    let at = at % (PERIOD * COLUMNS);
    (at.wrapping_mul(2_654_435_761) >> 11 & 15) as u16
}

/// The results of [`PERIOD`] rows in double precision, as the bytes of 32-bit numbers.
fn expected() -> Vec<u8> {
    let weight = |column: u64, output: u64| ((column * 7 + output * 3) % 5) as f64 - 2.0;
    let row = |row: u64| {
        let x: Vec<f64> = (0..COLUMNS).map(|column| eight(f64::from(raw(row * COLUMNS + column)))).collect();
        let sum: f64 = x.iter().sum();
        (0..OUTPUTS)
            .map(|output| sum + (0..).zip(&x).map(|(column, x)| x * weight(column, output)).sum::<f64>())
            .collect::<Vec<f64>>()
    };
    (0..PERIOD).flat_map(row).flat_map(|value| (value as f32).to_le_bytes()).collect()
}

/// The eight operations in turn.
fn eight(x: f64) -> f64 {
    (0..8).fold(x, |x, k| if k % 2 == 0 { 2.0 * x + 1.0 } else { 0.5 * x - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair of operations takes off a half; nothing on the way needs more than the 11 bits of a half.
    #[test]
    fn every_number_is_exact_in_sixteen_bits() {
        for start in 0..16 {
            let mut x = f64::from(start);
            for k in 0..8 {
                x = if k % 2 == 0 { 2.0 * x + 1.0 } else { 0.5 * x - 1.0 };
                assert!((x * 4.0).fract() == 0.0 && x.abs() < 64.0, "{x} after {k}");
            }
            assert_eq!(x, f64::from(start) - 2.0);
        }
    }

    #[test]
    fn the_batch_repeats_and_uses_all_values() {
        let n = PERIOD * COLUMNS;
        assert!((0..1000).all(|at| raw(at) == raw(at + n)));
        assert!((0..16).all(|value| (0..n).any(|at| raw(at) == value)));
    }

    /// Row 0, output 0, by the definition: the sum over columns of (raw − 2) · (weight + 1).
    #[test]
    fn the_expected_result_is_the_definition() {
        let bytes = expected();
        let found = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let by_hand: i64 = (0..64).map(|c| (i64::from(raw(c)) - 2) * ((c as i64 * 7) % 5 - 2 + 1)).sum();
        assert_eq!(f64::from(found), by_hand as f64);
    }

    #[test]
    fn padding_makes_the_pitch_an_odd_number_of_words() {
        let words = |bits: u64| Fixes::of(bits).pitch() * if bits & 16 != 0 { 2 } else { 4 } / 4;
        assert_eq!([0, 4, 16, 20].map(words), [64, 65, 32, 33]);
    }
}
