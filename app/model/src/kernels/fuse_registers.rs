//! About how many registers a thread of a fused kernel needs. Used by `fusion_graph`.
//!
//! Two for the address of each tensor that the kernel reads or writes, and six. A kernel that keeps a row for what follows its
//! reduction holds the row's values instead: 16 and as many as each of its 256 threads has.
//! Assumption: values of 4 bytes, one element a thread, 256 threads a block. Fitted to what NVRTC 12 made for sm_90: within 2 for
//! sums of 1 to 8 inputs and for softmax rows of 2 to 64 values a thread. A matrix product's tile is not counted.

use super::graph::{Kind, Op};
use std::collections::BTreeSet;

/// Threads of a block that share a row.
pub const THREADS: u64 = 256;

/// Most registers of any group; none if every kernel is a library's.
pub fn most(ops: &[Op], of: &[usize], row_bytes: u64) -> Option<u64> {
    let mut groups: Vec<usize> = of.to_vec();
    groups.sort_unstable();
    groups.dedup();
    groups.into_iter().filter_map(|group| one(ops, of, group, row_bytes)).max()
}

/// Registers of a thread of one group.
pub fn one(ops: &[Op], of: &[usize], group: usize, row_bytes: u64) -> Option<u64> {
    let mine: Vec<&Op> = ops.iter().zip(of).filter(|(_, at)| **at == group).map(|(op, _)| op).collect();
    if mine.iter().any(|op| matches!(op.kind, Kind::Gemm | Kind::Opaque)) {
        return None;
    }
    let is_made = |name: &String| mine.iter().any(|op| op.output == *name);
    let outside = |op: &&Op| {
        let users = ops.iter().zip(of).filter(|(other, _)| other.inputs.contains(&op.output));
        let mut groups = users.map(|(_, at)| *at).peekable();
        groups.peek().is_none() || groups.any(|at| at != group)
    };
    let mut tensors: BTreeSet<&String> = mine.iter().flat_map(|op| &op.inputs).filter(|name| !is_made(name)).collect();
    tensors.extend(mine.iter().copied().filter(outside).map(|op| &op.output));
    let addresses = 6 + 2 * tensors.len() as u64;
    let keeps_row =
        mine.iter().any(|op| op.kind == Kind::Reduce && mine.iter().any(|to| to.inputs.contains(&op.output)));
    let row = if keeps_row { 16 + row_bytes.div_ceil(4).div_ceil(THREADS) } else { 0 };
    Some(addresses.max(row))
}

#[cfg(test)]
mod tests {
    use super::super::graph;
    use super::*;

    #[track_caller]
    fn near(operators: &str, row_bytes: u64, compiled: u64) {
        let ops = graph::parse(operators).unwrap();
        let found = one(&ops, &vec![0; ops.len()], 0, row_bytes).unwrap();
        assert!(found.abs_diff(compiled) <= 2, "{operators}: {found}, compiled {compiled}");
    }

    /// What NVRTC 12 said of such kernels for sm_90.
    #[test]
    fn the_compiler_is_near() {
        near("copy map a > y", 0, 10);
        for (inputs, compiled) in
            [("a b", 12), ("a b c", 14), ("a b c d", 16), ("a b c d e f", 18), ("a b c d e f g h", 22)]
        {
            near(&format!("sum map {inputs} > y"), 0, compiled);
        }
        near("mul map x w > t; add map t b > u; gelu map u > v; sum map v r > y", 0, 17);
        let softmax = "max reduce x > m; sub map x m > d; exp map d > e; sum reduce e > s; div map e s > y";
        for (values, compiled) in [(2, 17), (4, 19), (8, 23), (16, 32), (32, 48), (64, 80)] {
            near(softmax, values * 4 * THREADS, compiled);
        }
    }
}
