//! Some results of the last layer in double precision, from the numbers that `fill` wrote.

use super::super::Card;
use super::bench::{Bench, KEYS};
use super::{BLOCK_TOKENS, HEAD, INNER, KV_HEADS, LAYER_ROWS, Q_HEADS};
use crate::error::RunError;
use vramlab_serve::replay::{Piece, Work};

/// A result in bf16, or weights that are: off by up to 1/256.
const TOLERANCE: f64 = 0.00395;
/// Of the scores: 1 ÷ ln 2 of it is the kernel's.
const SCALE: f64 = 4.328_085 * std::f64::consts::LN_2;

/// Number `at` of a filled buffer.
fn unit(key: u32, at: u64) -> f64 {
    let mut x = ((at / 2) as u32 ^ key).wrapping_mul(0x9E37_79B1);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    f64::from(x >> (at % 2 * 16) & 255) / 256.0
}

fn float(card: &mut dyn Card, address: u64) -> Result<f64, RunError> {
    let mut bytes = [0; 4];
    card.get(address, &mut bytes)?;
    Ok(f32::from_le_bytes(bytes).into())
}

fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * expected
}

/// Products of the first, a middle and the last token with rows spread over the layer.
pub fn products(bench: &Bench, card: &mut dyn Card, tokens: u64) -> Result<bool, RunError> {
    let first_row = (bench.n_layers - 1) * LAYER_ROWS;
    for token in [0, tokens / 2, tokens - 1] {
        for row in [0, 129, LAYER_ROWS / 2 + 77, LAYER_ROWS - 1] {
            let term = |k| unit(KEYS[2], token * INNER + k) * unit(KEYS[0], (first_row + row) * INNER + k);
            let expected: f64 = (0..INNER).map(term).sum();
            let mut bytes = [0; 2];
            card.get(bench.made + (token * LAYER_ROWS + row) * 2, &mut bytes)?;
            let found = f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16);
            if !is_close(found.into(), expected) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Heads of the first and the last request, and of the longest chunk.
pub fn heads(bench: &Bench, card: &mut dyn Card, work: &Work) -> Result<bool, RunError> {
    let longest = (0..work.pieces.len()).max_by_key(|at| work.pieces[*at].tokens).unwrap_or_default();
    for (at, head) in [(0, 5), (work.pieces.len() - 1, Q_HEADS - 1), (longest, 18)] {
        let (piece, row) = (&work.pieces[at], u64::from(bench.lists.rows[at]));
        for token in [0, piece.tokens - 1] {
            let expected = attend(bench, piece, row, token, head);
            let from = bench.seen + ((row + u64::from(token)) * Q_HEADS + head) * HEAD * 4;
            for (place, expected) in (0..HEAD).zip(expected) {
                if !is_close(float(card, from + 4 * place)?, expected) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

fn attend(bench: &Bench, piece: &Piece, row: u64, token: u32, head: u64) -> Vec<f64> {
    let layer = (bench.n_layers - 1) * 2 * bench.kv_rows;
    let query = (row + u64::from(token)) * Q_HEADS + head;
    let q: Vec<f64> = (0..HEAD).map(|place| unit(KEYS[2], query * HEAD + place) - 0.5).collect();
    let n_seen = u64::from(piece.context - piece.tokens + token) + 1;
    let place_of = |at: u64| {
        let block = u64::from(piece.blocks[(at / BLOCK_TOKENS) as usize]);
        (block * KV_HEADS + head / (Q_HEADS / KV_HEADS)) * BLOCK_TOKENS + at % BLOCK_TOKENS
    };
    let number = |is_value: u64, at: u64, place: u64| {
        unit(KEYS[1], (layer + is_value * bench.kv_rows + place_of(at)) * HEAD + place)
    };
    let score = |at| SCALE * (0..HEAD).zip(&q).map(|(place, q)| q * number(0, at, place)).sum::<f64>();
    let scores: Vec<f64> = (0..n_seen).map(score).collect();
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let (mut sum, mut total) = (vec![0.0; HEAD as usize], 0.0);
    for (at, score) in (0..).zip(scores) {
        let weight = (score - most).exp();
        total += weight;
        for (place, sum) in (0..HEAD).zip(&mut sum) {
            *sum += weight * number(1, at, place);
        }
    }
    sum.iter().map(|sum| sum / total).collect()
}
