//! The nets, layer by layer, on the tape.

use crate::arena::Tensor;
use crate::device::Trouble;
use crate::net::{Heads, Kind, Workload};
use crate::tape::{Linear, Tape};

/// Rows that one pass works on.
#[derive(Clone, Copy)]
pub struct Part {
    pub batch: usize,
    pub rows: usize,
}

/// One layer. `x` is dropped by the caller.
pub fn layer(tape: &mut Tape<'_>, work: &Workload, part: Part, idx: usize, x: &Tensor) -> Result<Tensor, Trouble> {
    tape.arena.place = format!("layer {idx}");
    let at = idx * work.params_of_layer();
    match work.net {
        Kind::Mlp => {
            let h =
                tape.linear(x, Linear { weight: at, rows: part.rows, from: work.width, to: work.width }, "linear")?;
            tape.gelu(&h, "gelu")
        }
        Kind::Block => block(tape, work, part, at, x),
    }
}

fn block(tape: &mut Tape<'_>, work: &Workload, part: Part, at: usize, x: &Tensor) -> Result<Tensor, Trouble> {
    let (d, rows) = (work.width, part.rows);
    let linear = |weight: usize, from: usize, to: usize| Linear { weight: at + weight, rows, from, to };
    let normed = tape.norm(x, at, rows, "norm 1")?;
    let qkv = tape.linear(&normed, linear(2, d, 3 * d), "q, k, v")?;
    drop(normed);
    let heads = Heads { batch: part.batch, seq: work.seq_len, heads: work.n_heads, size: d / work.n_heads };
    let mixed = tape.attention(&qkv, heads)?;
    drop(qkv);
    let out = tape.linear(&mixed, linear(4, d, d), "attention out")?;
    drop(mixed);
    let middle = tape.add(x, out)?;
    let normed = tape.norm(&middle, at + 6, rows, "norm 2")?;
    let up = tape.linear(&normed, linear(8, d, 4 * d), "up")?;
    drop(normed);
    let bent = tape.gelu(&up, "gelu")?;
    drop(up);
    let down = tape.linear(&bent, linear(10, 4 * d, d), "down")?;
    drop(bent);
    tape.add(&middle, down)
}

/// From the last layer to logits.
pub fn head(tape: &mut Tape<'_>, work: &Workload, part: Part, x: &Tensor) -> Result<Tensor, Trouble> {
    tape.arena.place = "head".to_owned();
    let at = work.n_layers * work.params_of_layer();
    let linear = |weight: usize| Linear { weight, rows: part.rows, from: work.width, to: work.n_classes };
    match work.net {
        Kind::Mlp => tape.linear(x, linear(at), "logits"),
        Kind::Block => {
            let normed = tape.norm(x, at, part.rows, "norm")?;
            tape.linear(&normed, linear(at + 2), "logits")
        }
    }
}
