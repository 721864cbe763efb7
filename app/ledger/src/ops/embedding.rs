//! Looking rows up, and the dense gradient of it.

use super::{incoming, one};
use crate::sim::{Dtype, Sim, Tensor};

/// More indices are sorted before their rows are added.
const MOST_UNSORTED: u64 = 3072;

impl Sim {
    /// `F.embedding(index, table)` with rows of `h`.
    pub fn embedding(&self, index: &Tensor, table: &Tensor, h: u64) -> Tensor {
        self.name("embedding");
        let saved = self.save_if(table.needs_grad(), index);
        let out = self.alloc(index.n * h, table.dtype);
        let (n_index, n_rows) = (index.n, table.n / h);
        let edge = self.node("embedding", [table.into()], move |sim, grads| {
            let _index = saved.as_ref().map(|it| it.get(sim));
            one(dense_gradient(sim, n_index, n_rows, h, incoming(grads).dtype))
        });
        out.with_edge(edge)
    }
}

/// `embedding_dense_backward`. Source: `ATen/native/cuda/Embedding.cu` and `EmbeddingBackwardKernel.cu`.
fn dense_gradient(sim: &Sim, n_index: u64, n_rows: u64, h: u64, dtype: Dtype) -> Tensor {
    if n_index <= MOST_UNSORTED {
        return sim.alloc(n_rows * h, dtype);
    }
    let whole = |n: u64| sim.scratch(8 * n);
    let sorted = (whole(n_index), whole(n_index));
    let range = whole(n_index);
    drop((sim.scratch(sort_bytes(n_index, n_rows)), range));
    let out = sim.alloc(n_rows * h, dtype);
    let (offsets, n_found) = (whole(n_index), whole(1));
    let range = whole(n_index);
    drop((sim.scratch(SCAN_BYTES), range));
    let n_segments = n_index.min(n_rows);
    let n_partial = n_index / 10 + n_segments;
    let counts = (whole(n_segments), whole(n_segments));
    drop(sim.scratch(SCAN_BYTES));
    let n_parts = whole(1);
    let starts = whole(n_partial);
    let width = h.next_multiple_of(32);
    let n_blocks = (n_segments * width).div_ceil(width.min(MOST_THREADS));
    // Few rows with many indices each are added atomically, half precision in a float32 copy; others go through partial sums.
    let is_atomic = n_blocks < sim.card.sm_count * ATOMIC_BLOCKS && n_partial > 4 * n_blocks;
    let partial = match is_atomic {
        true => {
            let map = whole(n_partial);
            (map, (dtype != Dtype::F32).then(|| sim.scratch(4 * n_rows * h)))
        }
        false => (sim.scratch(4 * n_partial * h), None),
    };
    drop((sorted, offsets, n_found, counts, n_parts, starts, partial));
    out
}

const MOST_THREADS: u64 = 1024;
/// Blocks of the atomic form on each multiprocessor.
const ATOMIC_BLOCKS: u64 = 4;

/// Scratch of a scan over the indices, as recorded.
const SCAN_BYTES: u64 = 1279;

/// Scratch of a radix sort of pairs: the other halves of two double buffers, and counters for every pass of 8 bits. As
/// recorded for 4096, 8192 and 98 304 indices.
fn sort_bytes(n_index: u64, n_rows: u64) -> u64 {
    let bits = u64::from(n_rows.max(2).next_power_of_two().ilog2());
    16 * n_index + n_index / 4 + 12_799 + 2048 * bits.div_ceil(8)
}
