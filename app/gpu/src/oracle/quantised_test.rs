use super::*;
use crate::manifest::{Buffer, Fill, Kernel, Oracle};
use crate::oracle::{buffer_seed, check, word_at};
use crate::vars::Vars;
use std::collections::BTreeMap;
use vramlab_units::Localized;

const SEED: u64 = 77;

fn kernel(id: &str, buffers: &[(&str, Fill, u32, u32)], with: &[(&str, String)]) -> Kernel {
    let buffer = |(name, fill, keep, set): &(&str, Fill, u32, u32)| Buffer {
        name: (*name).to_owned(),
        bytes: "0".into(),
        fill: *fill,
        keep: Some(keep.to_string()),
        set: Some(set.to_string()),
    };
    Kernel {
        schema: 1,
        slug: "test".into(),
        title: Localized::default(),
        about: Localized::default(),
        params: vec![],
        derive: Default::default(),
        buffers: buffers.iter().map(buffer).collect(),
        work: Default::default(),
        oracle: Oracle {
            id: id.into(),
            tolerance: 0.0,
            with: with.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        },
        cuda: None,
        cuda_host: None,
        cpu: None,
        safety: Localized::default(),
    }
}

fn run(kernel: &Kernel, out: &[f32]) -> OracleOutcome {
    let bytes: Vec<u8> = out.iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffers = BTreeMap::from([("out".to_owned(), bytes)]);
    check(&Check { kernel, vars: &Vars::new(), job_seed: SEED, buffers: &buffers, max_words: u64::MAX }).unwrap()
}

fn word(position: usize, index: usize, keep: u32, set: u32) -> u32 {
    word_at(buffer_seed(SEED, position), index as u64) & keep | set
}

fn named(parts: &[(&'static str, u64)]) -> Vec<(&'static str, String)> {
    let buffers = ["w", "x", "out"].map(|name| (name, name.to_owned()));
    buffers.into_iter().chain(parts.iter().map(|(name, value)| (*name, value.to_string()))).collect()
}

const X_KEEP: u32 = 0x8060_8060;
const X_SET: u32 = 0x3F80_3F80;

fn x_at(index: usize) -> f64 {
    let half = word(2, index / 2, X_KEEP, X_SET) >> (index % 2 * 16) & 0xFFFF;
    f32::from_bits(half << 16).into()
}

/// Two rows of 256 int4 codes, unpacked here word by word: nibbles 0 to 3 are the even values, 4 to 7 the odd ones.
#[test]
fn int4_in_groups() {
    let (n, k) = (2, 256);
    let (keep, set) = (0x03FF_03FF, 0x2400_2400);
    let buffers = [
        ("w", Fill::Random, u32::MAX, 0),
        ("scales", Fill::Random, keep, set),
        ("x", Fill::Random, X_KEEP, X_SET),
        ("out", Fill::Poison, u32::MAX, 0),
    ];
    let mut with = named(&[("m", 1), ("n", n as u64), ("k", k as u64), ("format", 2)]);
    with.extend([("scales", "scales".to_owned()), ("slack", "0.000001".to_owned())]);
    let mut out = vec![0.0_f32; n];
    for (row, sum) in out.iter_mut().enumerate() {
        let mut exact = 0.0;
        for col in 0..k {
            let (at, packed) = (col % 8, word(0, (row * k + col) / 8, u32::MAX, 0));
            let code = packed >> (4 * [0, 4, 1, 5, 2, 6, 3, 7][at]) & 15;
            let group = col / 128 * n + row;
            let half = word(1, group / 2, keep, set) >> (group % 2 * 16) & 0xFFFF;
            // Exponent 9 of binary16: 2^-6 and ten bits of fraction.
            let scale = (1.0 + f64::from(half & 0x3FF) / 1024.0) / 64.0;
            exact += (f64::from(code) - 8.0) * scale * x_at(col);
        }
        *sum = exact as f32;
    }
    let kernel = kernel("quant_matmul", &buffers, &with);
    assert!(matches!(run(&kernel, &out), OracleOutcome::Passed { n_checked: 2, .. }));
    out[1] *= 1.01;
    assert!(matches!(run(&kernel, &out), OracleOutcome::Failed { first_wrong_idx: 1, n_wrong: 1, .. }));
}

/// A step of the sparse instruction as the PTX ISA has it: lane 4g + t holds kept values 2t, 2t + 1, 2t + 8, 2t + 9 of rows g and
/// g + 8; lanes 4g and 4g + 1 the places of 16 columns each.
#[test]
fn two_of_four_by_fragments() {
    let (n, k) = (16, 64);
    let (keep, set) = (0xDDDD_DDDD, 0x8888_8888);
    let buffers = [
        ("w", Fill::Random, X_KEEP, X_SET),
        ("meta", Fill::Random, keep, set),
        ("x", Fill::Random, X_KEEP, X_SET),
        ("out", Fill::Poison, u32::MAX, 0),
    ];
    let mut with = named(&[("m", 1), ("n", n as u64), ("k", k as u64), ("sparse", 1)]);
    with.push(("meta", "meta".to_owned()));
    let mut pruned = vec![0.0; n * k];
    for step in 0..2 {
        for lane in 0..32 {
            let (g, t) = (lane / 4, lane % 4);
            for reg in 0..4 {
                let pair = word(0, (step * 32 + lane) * 4 + reg, X_KEEP, X_SET);
                let row = g + reg % 2 * 8;
                for half in 0..2 {
                    let kept = 2 * t + reg / 2 * 8 + half;
                    let owner = 4 * g + 2 * step + kept / 8;
                    let places = word(1, owner, keep, set) >> (reg % 2 * 16 + kept % 8 / 2 * 4) & 15;
                    let place = if half == 0 { places & 3 } else { places >> 2 } as usize;
                    let value = f32::from_bits(pair >> (16 * half) << 16);
                    pruned[row * k + step * 32 + kept / 2 * 4 + place] = f64::from(value);
                }
            }
        }
    }
    assert_eq!(pruned.iter().filter(|value| **value != 0.0).count(), n * k / 2);
    let sum = |row: usize| (0..k).map(|col| pruned[row * k + col] * x_at(col)).sum::<f64>() as f32;
    let mut out: Vec<f32> = (0..n).map(sum).collect();
    let kernel = kernel("sparse_matmul", &buffers, &with);
    assert_eq!(run(&kernel, &out), OracleOutcome::Passed { n_checked: 16, worst_error: 0.0 });
    out[9] += 0.0625;
    assert!(matches!(run(&kernel, &out), OracleOutcome::Failed { first_wrong_idx: 9, .. }));
}
