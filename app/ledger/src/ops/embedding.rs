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
    // Radix sort of pairs: the other half of two double buffers.
    drop((sim.scratch(16 * n_index), range));
    let out = sim.alloc(n_rows * h, dtype);
    let offsets = whole(n_index);
    let n_segments = n_index.min(n_rows);
    let n_partial = n_index / 10 + n_segments;
    let counts = (whole(n_segments), whole(n_segments), whole(1));
    let partial = (whole(n_partial), sim.scratch(4 * n_partial * h.next_multiple_of(32)));
    drop((sorted, offsets, counts, partial));
    out
}
