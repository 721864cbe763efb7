//! Sums over the rows of a matrix, and the scratch memory that they take when many thread blocks share a column.

use crate::sim::{Card, Sim, Tensor};

/// Sums the leading dimensions away: `n_columns` numbers are left.
pub(crate) fn columns(sim: &Sim, grad: &Tensor, n_columns: u64) -> Tensor {
    let out = sim.alloc(n_columns, grad.dtype);
    let scratch = scratch(sim.card, grad.n / n_columns, n_columns);
    if let Some((values, semaphores)) = scratch {
        let values = sim.scratch(values);
        drop(sim.scratch(semaphores));
        drop(values);
    }
    out
}

/// Bytes of partial sums and of semaphores, if blocks share a column. Source: `ATen/native/cuda/Reduce.cuh`, `setReduceConfig`.
pub(crate) fn scratch(card: Card, n_rows: u64, n_columns: u64) -> Option<(u64, u64)> {
    let vector = [4, 2].into_iter().find(|width| n_columns.is_multiple_of(*width)).unwrap_or(1);
    let threads = 512 / vector;
    let pow2 = |n: u64| 1 << n.max(1).ilog2();
    let across = n_columns / vector;
    let height = pow2(n_rows).min(threads / pow2(across).min(32));
    let width = pow2(across).min(threads / height);
    let groups = across.div_ceil(width);
    let per_thread = n_rows.div_ceil(height);
    let target = card.sm_count * (card.threads_per_sm / (width * height));
    if per_thread < 256 || groups > target {
        return None;
    }
    let shared = target.div_ceil(groups).min(per_thread.div_ceil(16)).max(per_thread.div_ceil(256));
    (shared > 1).then(|| (4 * n_columns * shared * width * vector, 4 * groups))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::H200;

    /// `curriculum` values for 4096 rows on an H200, measured.
    #[test]
    fn partial_sums_of_a_bias_gradient() {
        for (n_columns, bytes) in [(768, 25_165_824), (2304, 75_497_472), (3072, 100_663_296), (8192, 138_412_032)] {
            assert_eq!(scratch(H200, 4096, n_columns).map(|it| it.0), Some(bytes), "{n_columns}");
        }
        assert_eq!(scratch(H200, 1020, 768), None);
    }
}
