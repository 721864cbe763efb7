//! Ten digits, drawn on a grid of eight by eight: moved, faint or bold, under noise. Made from a seed, so nothing is fetched.

use vramlab_units::Random;

/// Dots along an edge of the picture.
pub const SIDE: usize = 8;
pub const CLASSES: usize = 10;
const ROWS: usize = 7;
const COLS: usize = 5;
/// Standard deviation of what lies over every dot.
const NOISE: f64 = 0.32;

/// Seven rows of five dots, the leftmost in the highest of five bits.
const GLYPHS: [[u8; ROWS]; CLASSES] = [
    [0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// Pictures row by row, and the digit of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digits {
    pub x: Vec<f64>,
    pub classes: Vec<usize>,
}

impl Digits {
    /// `n` pictures; streams of another number have no picture in common.
    pub fn draw(seed: u64, stream: u64, n: usize) -> Self {
        let mut random = Random::new(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        let mut digits = Self { x: Vec::with_capacity(n * SIDE * SIDE), classes: Vec::with_capacity(n) };
        for _ in 0..n {
            let class = (random.word() % CLASSES as u64) as usize;
            digits.x.extend(picture(&mut random, &GLYPHS[class]));
            digits.classes.push(class);
        }
        digits
    }

    pub fn len(&self) -> usize {
        self.classes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }
}

fn picture(random: &mut Random, glyph: &[u8; ROWS]) -> Vec<f64> {
    let (down, right) = ((random.word() % 2) as usize, (random.word() % 4) as usize);
    let ink = 0.7 + 0.6 * random.unit();
    let mut out: Vec<f64> = (0..SIDE * SIDE).map(|_| NOISE * random.normal()).collect();
    for (row, bits) in glyph.iter().enumerate() {
        for col in (0..COLS).filter(|col| bits >> (COLS - 1 - col) & 1 == 1) {
            out[(row + down) * SIDE + col + right] += ink;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_from_their_seed() {
        let digits = Digits::draw(1, 0, 500);
        assert_eq!(digits, Digits::draw(1, 0, 500));
        assert_ne!(digits, Digits::draw(1, 1, 500));
        assert_eq!((digits.x.len(), digits.len()), (500 * 64, 500));
        for class in 0..CLASSES {
            let n = digits.classes.iter().filter(|found| **found == class).count();
            assert!((25..=75).contains(&n), "{class}: {n}");
        }
    }

    /// A one has ten dots of ink, 0.7 to 1.3 each: their sum stands out of the noise of 64 dots.
    #[test]
    fn ink_is_where_the_glyph_is() {
        let n_dots = |class: usize| GLYPHS[class].iter().map(|row| row.count_ones()).sum::<u32>();
        assert_eq!((n_dots(1), n_dots(8)), (10, 17));
        let digits = Digits::draw(3, 0, 4000);
        let mean = |class: usize| {
            let of = digits.classes.iter().zip(digits.x.chunks_exact(64)).filter(|(found, _)| **found == class);
            let sums: Vec<f64> = of.map(|(_, x)| x.iter().sum()).collect();
            sums.iter().sum::<f64>() / sums.len() as f64
        };
        assert!((mean(1) - 10.0).abs() < 0.8 && (mean(8) - 17.0).abs() < 0.8, "{} {}", mean(1), mean(8));
    }
}
