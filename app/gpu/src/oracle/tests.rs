//! Each reference against a plain loop that computes the same on a filled buffer, and against damage.

use super::*;
use crate::manifest::{Buffer, Fill, Oracle};
use std::collections::BTreeMap;
use vramlab_units::Localized;

const SEED: u64 = 41;

fn kernel(id: &str, fills: &[(&str, Fill)], with: &[(&str, &str)]) -> Kernel {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let buffer = |(name, fill): &(&str, Fill)| Buffer {
        name: (*name).to_owned(),
        bytes: "0".into(),
        fill: *fill,
        keep: None,
        set: None,
    };
    Kernel {
        schema: 1,
        slug: "test".into(),
        title: Localized::default(),
        about: Localized::default(),
        params: vec![],
        derive: Default::default(),
        buffers: fills.iter().map(buffer).collect(),
        work: Default::default(),
        oracle: Oracle { id: id.into(), tolerance: 1e-15, with: with.iter().map(own).collect() },
        cuda: None,
        cuda_host: None,
        cpu: None,
        safety: Localized::default(),
    }
}

/// What a device would find in buffer `position`.
fn filled(position: usize, n_words: usize) -> Vec<u32> {
    let mut bytes = vec![0; n_words * 4];
    fill_bytes(Fill::Random, buffer_seed(SEED, position), 0, &mut bytes);
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn run(kernel: &Kernel, vars: &[(&str, f64)], out: Vec<u8>, max_words: u64) -> OracleOutcome {
    let vars: Vars = vars.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let buffers = BTreeMap::from([("out".to_owned(), out)]);
    check(&Check { kernel, vars: &vars, job_seed: SEED, buffers: &buffers, max_words }).unwrap()
}

/// Passes as computed, fails at the one damaged word.
#[track_caller]
fn passes_and_catches(kernel: &Kernel, vars: &[(&str, f64)], out: &[u32]) {
    let n = out.len() as u64;
    let passed = run(kernel, vars, bytes(out), u64::MAX);
    assert_eq!(passed, OracleOutcome::Passed { n_checked: n, worst_error: 0.0 });
    let mut damaged = out.to_vec();
    damaged[7] ^= 1;
    match run(kernel, vars, bytes(&damaged), u64::MAX) {
        OracleOutcome::Failed { first_wrong_idx: 7, n_wrong: 1, .. } => {}
        other => panic!("{other:?}"),
    }
    // Poison is never a result.
    assert!(matches!(run(kernel, vars, vec![0xFF; out.len() * 4], 64), OracleOutcome::Failed { .. }));
}

const IN_OUT: [(&str, Fill); 2] = [("input", Fill::Random), ("out", Fill::Poison)];

#[test]
fn strided_sum_follows_the_tiles() {
    let with = [
        ("input", "input"),
        ("out", "out"),
        ("n_threads", "n"),
        ("loads", "4"),
        ("tile", "32"),
        ("stride", "s"),
        ("offset", "3"),
        ("width", "2"),
    ];
    let kernel = kernel("strided_sum", &IN_OUT, &with);
    let input = filled(0, 8192);
    // Two blocks of 32 threads; a block's four loads cover 128 neighbouring elements of two words, at stride 5.
    let out: Vec<u32> = (0..64usize)
        .map(|t| {
            let elems = (0..4).map(|k| 3 + ((t / 32) * 128 + k * 32 + t % 32) * 5);
            elems.fold(0u32, |sum, e| sum.wrapping_add(input[2 * e]).wrapping_add(input[2 * e + 1]))
        })
        .collect();
    passes_and_catches(&kernel, &[("n", 64.0), ("s", 5.0)], &out);
}

#[test]
fn field_sum_knows_both_layouts() {
    let with = [
        ("input", "input"),
        ("out", "out"),
        ("n_threads", "64"),
        ("layout", "layout"),
        ("n_elems", "64"),
        ("n_fields", "3"),
        ("n_read", "2"),
    ];
    let kernel = kernel("field_sum", &IN_OUT, &with);
    let input = filled(0, 192);
    let aos: Vec<u32> = (0..64).map(|e| input[3 * e].wrapping_add(input[3 * e + 1])).collect();
    let soa: Vec<u32> = (0..64).map(|e| input[e].wrapping_add(input[64 + e])).collect();
    passes_and_catches(&kernel, &[("layout", 0.0)], &aos);
    passes_and_catches(&kernel, &[("layout", 1.0)], &soa);
    assert!(matches!(run(&kernel, &[("layout", 1.0)], bytes(&aos), 1 << 20), OracleOutcome::Failed { .. }));
}

#[test]
fn gather_sum_reads_by_formula() {
    let with = [
        ("input", "input"),
        ("out", "out"),
        ("n", "128"),
        ("block", "64"),
        ("loads", "2"),
        ("rounds", "3"),
        ("word", "block_idx * 256 + (lane * s + warp + k) % 256"),
    ];
    let kernel = kernel("gather_sum", &IN_OUT, &with);
    let input = filled(0, 512);
    let out: Vec<u32> = (0..128usize)
        .map(|i| {
            let (block, lane, warp) = (i / 64, i % 32, i % 64 / 32);
            let read = |k: usize| input[block * 256 + (lane * 9 + warp + k) % 256];
            read(0).wrapping_add(read(1)).wrapping_mul(3)
        })
        .collect();
    passes_and_catches(&kernel, &[("s", 9.0)], &out);
}

#[test]
fn copy_transpose_and_fill_compare_bits() {
    let input = filled(0, 96);
    let copy = kernel("copy", &IN_OUT, &[("input", "input"), ("out", "out"), ("n", "96")]);
    passes_and_catches(&copy, &[], &input);
    let transpose = kernel("transpose", &IN_OUT, &[("input", "input"), ("out", "out"), ("rows", "8"), ("cols", "12")]);
    let out: Vec<u32> = (0..96).map(|place| input[(place % 8) * 12 + place / 8]).collect();
    passes_and_catches(&transpose, &[], &out);
    let fill = kernel("fill", &[("out", Fill::Poison)], &[("out", "out"), ("n", "96"), ("value", "12")]);
    passes_and_catches(&fill, &[], &[12; 96]);
}

#[test]
fn triad_allows_the_rounding_and_no_more() {
    let fills = [("b", Fill::UnitF64), ("c", Fill::UnitF64), ("out", Fill::Poison)];
    let kernel = kernel("triad", &fills, &[("b", "b"), ("c", "c"), ("out", "out"), ("n", "100")]);
    let value = |i| unit_f64_at(buffer_seed(SEED, 0), i) + 0.4 * unit_f64_at(buffer_seed(SEED, 1), i);
    let out = |wrong: f64| (0..100).flat_map(|i| (value(i) * wrong).to_le_bytes()).collect::<Vec<u8>>();
    assert!(matches!(run(&kernel, &[], out(1.0), 1 << 20), OracleOutcome::Passed { n_checked: 100, .. }));
    assert!(matches!(run(&kernel, &[], out(1.0 + 1e-12), 1 << 20), OracleOutcome::Failed { n_wrong: 100, .. }));
    assert!(matches!(run(&kernel, &[], vec![0xFF; 800], 1 << 20), OracleOutcome::Failed { .. }));
}

/// Reads of two blocks that meet the same three tiles; written arrays of each kind.
#[test]
fn footprint_knows_tiles_and_operations() {
    let fills = [("b", Fill::UnitF32), ("c", Fill::UnitF32), ("a", Fill::Poison), ("out", Fill::Poison)];
    let with = [
        ("b", "b"),
        ("c", "c"),
        ("a", "out"),
        ("sums", "out"),
        ("op", "op"),
        ("n", "n"),
        ("n_warps", "8"),
        ("n_tiles", "3"),
        ("block", "64"),
        ("unroll", "2"),
        ("rounds", "2"),
    ];
    let kernel = kernel("footprint", &fills, &with);
    let tile_words = 64 * 2 * 4;
    let b = |i: usize| unit_f32_at(buffer_seed(SEED, 0), i as u64);
    let c = |i: usize| unit_f32_at(buffer_seed(SEED, 1), i as u64);
    let reads = |thread: usize, block: usize| -> u32 {
        let tiles = [block * 2 % 3, (block * 2 + 1) % 3];
        let pieces = tiles.iter().flat_map(|tile| (0..2).map(move |k| tile * tile_words + (k * 64 + thread) * 4));
        pieces.flat_map(|first| first..first + 4).fold(0, |sum, i| sum.wrapping_add(b(i).to_bits()))
    };
    let sums: Vec<u32> = (0..8usize)
        .map(|warp| (0..32).fold(0, |sum: u32, lane| sum.wrapping_add(reads(warp % 2 * 32 + lane, warp / 2))))
        .collect();
    passes_and_catches(&kernel, &[("op", 0.0), ("n", 1536.0)], &sums);
    let written: Vec<u32> = (0..64u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    passes_and_catches(&kernel, &[("op", 1.0), ("n", 64.0)], &written);
    let copied: Vec<u32> = (0..64).map(|i| b(i).to_bits()).collect();
    passes_and_catches(&kernel, &[("op", 2.0), ("n", 64.0)], &copied);
    let triad: Vec<u32> =
        (0..64).map(|i| (f64::from(b(i)) + f64::from(0.4f32) * f64::from(c(i))) as f32).map(f32::to_bits).collect();
    passes_and_catches(&kernel, &[("op", 3.0), ("n", 64.0)], &triad);
}

#[test]
fn a_chase_ends_where_the_cycle_says() {
    let with = [("out", "out"), ("chain", "out"), ("n", "20"), ("hops", "25"), ("line_words", "1")];
    let walk =
        kernel("chase", &[("out", Fill::Poison)], &with[..1].iter().chain(&with[2..4]).copied().collect::<Vec<_>>());
    let chain = kernel("chase", &[("out", Fill::Zero)], &with);
    // The walk itself, from line to line: what is stored at the line of position p is the line of p + 1.
    let lines: Vec<u32> = (0..20).map(|position| cycle::place(position, 20, 5)).collect();
    let mut stored = [0u32; 20];
    (0..20).for_each(|position| stored[lines[position] as usize] = lines[(position + 1) % 20]);
    let end = (0..25).fold(lines[0], |line, _| stored[line as usize]);
    assert_eq!(run(&walk, &[], bytes(&[end]), 1 << 20), OracleOutcome::Passed { n_checked: 1, worst_error: 0.0 });
    assert!(matches!(run(&walk, &[], bytes(&[end ^ 1]), 1 << 20), OracleOutcome::Failed { .. }));
    // The stored cycle is checked word by word (its word 0 stands for the end of the walk here, so that one may differ).
    stored[lines[3] as usize] ^= 1;
    assert!(matches!(run(&chain, &[], bytes(&stored), 1 << 20), OracleOutcome::Failed { .. }));
}

/// Four turns worked in double precision: the float result may differ by its own rounding alone, which the check repeats.
#[test]
fn chains_and_products_are_recomputed() {
    let fills = [("input", Fill::UnitF32), ("out", Fill::Poison)];
    let with = [("input", "input"), ("out", "out"), ("n", "64"), ("turns", "4"), ("a", "0.5"), ("b", "0.25")];
    let chain = kernel("fma_chain", &fills, &with);
    // Halving is exact and so is a quarter added below one, down to the last bits: the closed form is x/16 + 15/32.
    let x = |i: u64| f64::from(unit_f32_at(buffer_seed(SEED, 0), i));
    let out: Vec<u32> = (0..64)
        .map(|i| {
            let float = (0..4).fold(x(i) as f32, |x, _| x * 0.5 + 0.25);
            assert!((f64::from(float) - (x(i) / 16.0 + 15.0 / 32.0)).abs() < 1e-7);
            float.to_bits()
        })
        .collect();
    passes_and_catches(&chain, &[], &out);

    let fills = [("w", Fill::UnitBf16), ("x", Fill::UnitBf16), ("out", Fill::Poison)];
    let with = [("w", "w"), ("x", "x"), ("out", "out"), ("m", "2"), ("n", "3"), ("k", "8"), ("bf16", "1")];
    let mut product = kernel("matmul", &fills, &with);
    product.oracle.tolerance = 0.0039;
    // The elements from the filled bytes themselves.
    let matrix = |position: usize, n: usize| -> Vec<f32> {
        let mut filled = vec![0; n * 2];
        fill_bytes(Fill::UnitBf16, buffer_seed(SEED, position), 0, &mut filled);
        filled.chunks(2).map(|pair| f32::from_bits(u32::from(u16::from_le_bytes([pair[0], pair[1]])) << 16)).collect()
    };
    let (w, x) = (matrix(0, 24), matrix(1, 16));
    let sum = |j: usize, i: usize| (0..8).map(|q| x[j * 8 + q] * w[i * 8 + q]).sum::<f32>();
    let shorts = |scale: f32| -> Vec<u8> {
        let sums = (0..6).map(|at| sum(at / 3, at % 3) * scale);
        sums.flat_map(|sum| (((sum.to_bits() + 0x8000) >> 16) as u16).to_le_bytes()).collect()
    };
    assert!(matches!(run(&product, &[], shorts(1.0), 1 << 20), OracleOutcome::Passed { n_checked: 6, .. }));
    assert!(matches!(run(&product, &[], shorts(1.02), 1 << 20), OracleOutcome::Failed { n_wrong: 6, .. }));
}

/// Two query heads over one KV head, by online softmax in blocks of 4 keys and in floats: whole rows pass; a row that saw a
/// later key, and one damaged element, do not.
#[test]
fn attention_is_what_online_softmax_makes() {
    const N: usize = 16;
    const D: usize = 4;
    let fills = ["q", "k", "v"].map(|name| (name, Fill::UnitF32));
    let fills = [&fills[..], &[("out", Fill::Poison), ("lse", Fill::Poison)]].concat();
    let names = ["q", "k", "v", "out", "lse"].map(|name| (name, name));
    let numbers = [("n", "16"), ("d", "4"), ("heads", "2"), ("kv_heads", "1"), ("causal", "1"), ("bf16", "0")];
    let with = [&names[..], &numbers, &[("scale", "3"), ("error", "0.00001")]].concat();
    let kernel = kernel("attention", &fills, &with);
    let element = |position: usize, at: usize| unit_f32_at(buffer_seed(SEED, position), at as u64);
    let row = |head: usize, i: usize, n_keys: usize| -> (Vec<f32>, f32) {
        let (mut most, mut sum, mut out) = (f32::NEG_INFINITY, 0.0_f32, vec![0.0_f32; D]);
        for block in (0..n_keys).step_by(4) {
            let keys = block..n_keys.min(block + 4);
            let score = |j: usize| {
                3.0 * (0..D).map(|c| element(0, (head * N + i) * D + c) * element(1, j * D + c)).sum::<f32>()
            };
            let next = keys.clone().map(score).fold(most, f32::max);
            let shrink = (most - next).exp();
            (most, sum) = (next, sum * shrink);
            out.iter_mut().for_each(|x| *x *= shrink);
            for j in keys {
                let weight = (score(j) - most).exp();
                sum += weight;
                out.iter_mut().enumerate().for_each(|(c, x)| *x += weight * element(2, j * D + c));
            }
        }
        (out.iter().map(|x| x / sum).collect(), most + sum.ln())
    };
    let judge = |n_keys: fn(usize) -> usize, damage: f32| {
        let (mut out, mut lse) = (Vec::new(), Vec::new());
        for at in 0..2 * N {
            let (numbers, log) = row(at / N, at % N, n_keys(at % N));
            out.extend(numbers);
            lse.extend(log.to_le_bytes());
        }
        out[7] *= damage;
        let out = out.iter().flat_map(|x| x.to_le_bytes()).collect();
        let buffers = BTreeMap::from([("out".to_owned(), out), ("lse".to_owned(), lse)]);
        let vars = Vars::new();
        check(&Check { kernel: &kernel, vars: &vars, job_seed: SEED, buffers: &buffers, max_words: 1 << 20 }).unwrap()
    };
    let passed = judge(|i| i + 1, 1.0);
    assert!(matches!(passed, OracleOutcome::Passed { n_checked: 160, .. }), "{passed:?}");
    let damaged = judge(|i| i + 1, 1.001);
    assert!(matches!(damaged, OracleOutcome::Failed { first_wrong_idx: 7, n_wrong: 1, .. }), "{damaged:?}");
    assert!(matches!(judge(|i| (i + 2).min(N), 1.0), OracleOutcome::Failed { .. }));
}

#[test]
fn a_sampled_check_visits_every_lane_and_both_ends() {
    let lanes: std::collections::BTreeSet<u64> = sampled(1000, 15).map(|i| i % 32).collect();
    assert_eq!(lanes.len(), 32);
    assert_eq!(sampled(1000, 15).last(), Some(999));
    assert_eq!(sampled(0, 15).count(), 0);
}

#[test]
fn mistakes_of_the_manifest_are_sentences() {
    let fails = |kernel: &Kernel| {
        let buffers = BTreeMap::from([("out".to_owned(), vec![0u8; 8])]);
        check(&Check { kernel, vars: &Vars::new(), job_seed: SEED, buffers: &buffers, max_words: 10 }).unwrap_err()
    };
    let with = |n| [("input", "input"), ("out", "out"), ("n", n)];
    assert!(fails(&kernel("copy", &IN_OUT, &with("3"))).contains("needs 12"));
    assert!(fails(&kernel("copy", &IN_OUT, &with("n_elems"))).contains("n_elems"));
    assert!(fails(&kernel("copi", &IN_OUT, &with("2"))).contains("copi"));
    assert!(fails(&kernel("copy", &IN_OUT[1..], &with("2"))).contains("input"));
}
