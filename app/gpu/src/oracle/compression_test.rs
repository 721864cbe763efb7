use super::*;
use crate::manifest::{Buffer, Fill, Kernel, Oracle};
use crate::oracle::{buffer_seed, check, word_at};
use crate::vars::Vars;
use std::collections::BTreeMap;
use vramlab_units::Localized;

fn run(id: &str, with: &[(&str, &str)], buffers: BTreeMap<String, Vec<u8>>) -> OracleOutcome {
    let buffer = |name: &str, fill, keep: Option<u32>, set: Option<u32>| Buffer {
        name: name.to_owned(),
        bytes: "0".into(),
        fill,
        keep: keep.map(|bits| bits.to_string()),
        set: set.map(|bits| bits.to_string()),
    };
    let mut all = vec![buffer("input", Fill::Random, Some(0x87FF_FFFF), Some(0x3000_0000))];
    all.extend(buffers.keys().map(|name| buffer(name, Fill::Poison, None, None)));
    let kernel = Kernel {
        schema: 1,
        slug: "test".into(),
        title: Localized::default(),
        about: Localized::default(),
        params: vec![],
        derive: Default::default(),
        buffers: all,
        work: Default::default(),
        oracle: Oracle {
            id: id.into(),
            tolerance: 0.0,
            with: with.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        },
        cuda: None,
        cuda_host: None,
        cpu: None,
        safety: Localized::default(),
    };
    check(&Check { kernel: &kernel, vars: &Vars::new(), job_seed: 3, buffers: &buffers, max_words: u64::MAX }).unwrap()
}

/// Exponents 127 three times and 126 once: 0.8113 bits.
#[test]
fn exponents_are_counted() {
    let values: Vec<u8> = [0x3F80_u16, 0xBFC0, 0x3FFF, 0x3F00].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut counts = [0_u64; 256];
    (counts[127], counts[126]) = (3, 1);
    let bits = (0.811_278_124_459_133 * 2.0_f64.powi(40)).round() as u64;
    let with = [("values", "values"), ("counts", "counts"), ("entropy", "entropy"), ("n", "4")];
    let filled = |counts: &[u64], bits: u64| {
        let counts = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        BTreeMap::from([
            ("values".to_owned(), values.clone()),
            ("counts".to_owned(), counts),
            ("entropy".to_owned(), bits.to_le_bytes().to_vec()),
        ])
    };
    let outcome = run("exponent_counts", &with, filled(&counts, bits));
    assert!(matches!(outcome, OracleOutcome::Passed { n_checked: 257, .. }), "{outcome:?}");
    let wrong_bits = run("exponent_counts", &with, filled(&counts, bits + 3_000));
    assert!(matches!(wrong_bits, OracleOutcome::Failed { first_wrong_idx: 256, .. }), "{wrong_bits:?}");
    counts[126] = 2;
    let wrong_count = run("exponent_counts", &with, filled(&counts, bits));
    assert!(matches!(wrong_count, OracleOutcome::Failed { first_wrong_idx: 126, .. }), "{wrong_count:?}");
}

/// The largest 100 of 5000 by a plain sort, in any order; a missing, a doubled and a smaller one are seen.
#[test]
fn the_largest_are_found() {
    let (n, k) = (5000_u32, 100);
    let word = |index: u32| word_at(buffer_seed(3, 0), index.into()) & 0x87FF_FFFF | 0x3000_0000;
    let mut order: Vec<u32> = (0..n).collect();
    order.sort_by_key(|index| std::cmp::Reverse(word(*index) & 0x7FFF_FFFF));
    let least = word(order[k - 1]) & 0x7FFF_FFFF;
    let bin = least >> 20;
    let above = order.iter().filter(|index| (word(**index) & 0x7FFF_FFFF) >> 20 > bin).count();
    let outcome = |places: &[u32], all: &str| {
        let mut state = vec![0_u32; 4112];
        (state[4096], state[4098], state[4099]) = (places.len() as u32, bin, (k - above) as u32);
        let bytes = |words: Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut out: Vec<u32> = places.iter().flat_map(|place| [*place, word(*place)]).collect();
        out.resize(2 * n as usize, u32::MAX);
        let buffers = BTreeMap::from([("state".to_owned(), bytes(state)), ("out".to_owned(), bytes(out))]);
        let with = [("input", "input"), ("state", "state"), ("out", "out"), ("n", "5000"), ("k", "100"), ("all", all)];
        run("top_k", &with, buffers)
    };
    let passes = |outcome: OracleOutcome| matches!(outcome, OracleOutcome::Passed { .. });
    let mut taken = order[..k].to_vec();
    taken.reverse();
    assert!(passes(outcome(&taken, "1")) && passes(outcome(&[], "0")));
    assert!(!passes(outcome(&taken[1..], "1")));
    let doubled = [&taken[1..], &taken[1..2]].concat();
    assert!(!passes(outcome(&doubled, "1")));
    taken[0] = order[k];
    assert!(!passes(outcome(&taken, "1")), "a smaller one");
}
