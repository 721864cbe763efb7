//! Blocks of GGUF files: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 in both directions, Q4_K, Q5_K and Q6_K as they are read.
//!
//! Scales are half-precision numbers at the front of a block (at the end in Q6_K); values follow packed, the first half of a
//! block in the low nibbles, the second in the high. Codes are rounded as a fused multiply-add does, as `gguf` has them.
//! Source: ggml's block structures and reference quantisers (`ggml-common.h`, `ggml-quants.c`); held bit by bit against the
//! Python package `gguf`.

use crate::Problem;
use crate::float::F16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
}

impl Kind {
    pub const ALL: [Self; 8] =
        [Self::Q4_0, Self::Q4_1, Self::Q5_0, Self::Q5_1, Self::Q8_0, Self::Q4K, Self::Q5K, Self::Q6K];

    pub fn name(self) -> &'static str {
        match self {
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q4K => "q4_k",
            Self::Q5K => "q5_k",
            Self::Q6K => "q6_k",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Values and bytes of a block.
    pub fn size(self) -> (usize, usize) {
        match self {
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }

    pub fn encodes(self) -> bool {
        self.size().0 == 32
    }
}

fn half(x: f32) -> [u8; 2] {
    (F16.encode(x.into(), false) as u16).to_le_bytes()
}

fn number(bytes: &[u8]) -> f32 {
    F16.decode(u16::from_le_bytes([bytes[0], bytes[1]]).into()) as f32
}

fn wrong(field: &'static str, n: usize, need: usize) -> Problem {
    Problem::new(field, format!("一块要 {need}，这里有 {n}"), format!("a block needs {need}, got {n}"))
}

/// Encodes one block of 32 values.
pub fn encode(kind: Kind, values: &[f32]) -> Result<Vec<u8>, Problem> {
    let (n, _) = kind.size();
    if !kind.encodes() {
        let name = kind.name();
        let en = format!("{name} is only read here: its encoder searches for the best scales");
        return Err(Problem::new("format", format!("{name} 在这里只读：它的编码要搜索最好的缩放"), en));
    }
    if values.len() != n {
        return Err(wrong("values", values.len(), n));
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Problem::new("values", "块里有不是有限的数", "block holds a non-finite value"));
    }
    Ok(match kind {
        Kind::Q8_0 => q8(values),
        Kind::Q4_0 | Kind::Q5_0 => signed(values, kind == Kind::Q5_0),
        _ => from_least(values, kind == Kind::Q5_1),
    })
}

fn q8(values: &[f32]) -> Vec<u8> {
    let scale = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs())) / 127.0;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    let code = |value: &f32| (value * inverse).round() as i8;
    half(scale).into_iter().chain(values.iter().map(|value| code(value).to_le_bytes()[0])).collect()
}

/// The value of the largest magnitude is −8 (or −16), so that its sign is kept in the scale.
fn signed(values: &[f32], is_five: bool) -> Vec<u8> {
    let far = values.iter().fold(0.0_f32, |far, value| if value.abs() > far.abs() { *value } else { far });
    let (zero, most) = if is_five { (16.0, 31) } else { (8.0, 15) };
    let scale = far / -(zero as f32);
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    let code = |value: &f32| ((f64::from(*value) * f64::from(inverse) + zero + 0.5) as u8).min(most);
    packed(half(scale).to_vec(), &values.iter().map(code).collect::<Vec<_>>(), is_five)
}

/// Codes count from the smallest value.
fn from_least(values: &[f32], is_five: bool) -> Vec<u8> {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let top = if is_five { 31 } else { 15 };
    let scale = (most - least) / top as f32;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    let code = |value: &f32| (((value - least) * inverse + 0.5) as u8).min(top);
    let head = [half(scale), half(least)].concat();
    packed(head, &values.iter().map(code).collect::<Vec<_>>(), is_five)
}

/// Fifth bits, if any, as one word; then the first half in the low nibbles and the second in the high.
fn packed(mut out: Vec<u8>, codes: &[u8], is_five: bool) -> Vec<u8> {
    if is_five {
        let word = codes.iter().enumerate().fold(0_u32, |word, (at, code)| word | u32::from(code >> 4) << at);
        out.extend(word.to_le_bytes());
    }
    let (low, high) = codes.split_at(codes.len() / 2);
    out.extend(low.iter().zip(high).map(|(low, high)| (low & 15) | high << 4));
    out
}

/// Decodes one block.
pub fn decode(kind: Kind, block: &[u8]) -> Result<Vec<f32>, Problem> {
    let (_, bytes) = kind.size();
    if block.len() != bytes {
        return Err(wrong("bytes", block.len(), bytes));
    }
    Ok(match kind {
        Kind::Q8_0 => {
            let scale = number(block);
            block[2..].iter().map(|code| f32::from(i8::from_le_bytes([*code])) * scale).collect()
        }
        Kind::Q4_0 => nibbles(&block[2..]).map(|code| (f32::from(code) - 8.0) * number(block)).collect(),
        Kind::Q4_1 => nibbles(&block[4..]).map(|code| f32::from(code) * number(block) + number(&block[2..])).collect(),
        Kind::Q5_0 => fives(&block[2..]).map(|code| (f32::from(code) - 16.0) * number(block)).collect(),
        Kind::Q5_1 => fives(&block[4..]).map(|code| f32::from(code) * number(block) + number(&block[2..])).collect(),
        Kind::Q4K | Kind::Q5K => with_small_scales(block, kind == Kind::Q5K),
        Kind::Q6K => q6(block),
    })
}

fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().map(|byte| byte & 15).chain(bytes.iter().map(|byte| byte >> 4))
}

fn fives(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    nibbles(&bytes[4..]).enumerate().map(move |(at, code)| code | ((word >> at & 1) as u8) << 4)
}

/// Eight groups of 32, each with a scale and an offset of six bits, which twelve bytes hold.
fn with_small_scales(block: &[u8], is_five: bool) -> Vec<f32> {
    let (scale, least) = (number(block), number(&block[2..]));
    let small = &block[4..16];
    let (fifths, quarters) = if is_five { (&block[16..48], &block[48..]) } else { (&block[..0], &block[16..]) };
    let mut out = Vec::with_capacity(256);
    for group in 0..8 {
        let (by, from) = if group < 4 {
            (small[group] & 63, small[group + 4] & 63)
        } else {
            let low = small[group + 4];
            (low & 15 | small[group - 4] >> 6 << 4, low >> 4 | small[group] >> 6 << 4)
        };
        let (by, from) = (scale * f32::from(by), least * f32::from(from));
        // Two groups share 32 bytes: the even one has their low nibbles.
        for (at, byte) in quarters[group / 2 * 32..group / 2 * 32 + 32].iter().enumerate() {
            let mut code = if group % 2 == 0 { byte & 15 } else { byte >> 4 };
            if is_five {
                code |= (fifths[at] >> group & 1) << 4;
            }
            out.push(by * f32::from(code) - from);
        }
    }
    out
}

/// Low four bits, high two bits, sixteen signed scales of a byte, one half-precision scale.
fn q6(block: &[u8]) -> Vec<f32> {
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let scale = number(&rest[16..]);
    (0..256)
        .map(|at| {
            let (part, lane, row) = (at / 128, at % 32, at % 128 / 32);
            let nibble = low[part * 64 + row % 2 * 32 + lane] >> (row / 2 * 4) & 15;
            let two = high[part * 32 + lane] >> (row * 2) & 3;
            let code = f32::from(nibble | two << 4) - 32.0;
            scale * f32::from(i8::from_le_bytes([rest[at / 16]])) * code
        })
        .collect()
}
