//! Test vectors 4 to 7 of the chapter's brief, public rows 29 and 31, and the closed form.

use super::*;
use crate::access::{ALL_LANES, by_lane, strided};
use crate::fields::testing::question;
use crate::registry::eval;
use proptest::prelude::*;
use serde_json::{Value, json};

#[track_caller]
fn check(lane_addrs: &[Option<ByteAddr>], width: u64, wavefronts: u32, degree: f64) {
    let found = run(lane_addrs, Bytes(width)).unwrap();
    assert_eq!((found.wavefronts(), found.degree()), (wavefronts, degree));
}

#[track_caller]
fn answers(given: Value, degree: u32, wavefronts: u32, banks_used: u32) {
    let answer = eval("bank_conflicts", &question(&given)).unwrap();
    let expected = json!({"degree": degree, "wavefronts": wavefronts, "banks_used": banks_used});
    assert_eq!(Value::Object(answer), expected, "{given}");
}

/// Test vector 4; public row 29 (rule of the bank-conflict page of modal-labs/gpu-glossary).
#[test]
fn words_at_a_stride() {
    let cases = [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (31, 1), (32, 32), (33, 1), (3, 1), (7, 1)];
    for (stride, degree) in cases {
        check(&strided(stride * 4, 0, ALL_LANES).unwrap(), 4, degree, f64::from(degree));
    }
}

/// Test vector 5: float2, then float4 contiguous and at 32, 128 and 144 bytes.
#[test]
fn wide_accesses_count_per_phase() {
    check(&strided(8, 0, ALL_LANES).unwrap(), 8, 2, 1.0);
    for (stride_bytes, wavefronts, degree) in [(16, 4, 1.0), (32, 8, 2.0), (128, 32, 8.0), (144, 4, 1.0)] {
        check(&strided(stride_bytes, 0, ALL_LANES).unwrap(), 16, wavefronts, degree);
    }
}

/// Cycles a warp load measured on an H200: 64-bit 2, 4, 8, 16, 32 at strides of 1, 2, 4, 8, 16 elements; 128-bit 4, 8,
/// 16, 32 at 1, 2, 4, 8.
#[test]
fn wide_strides_take_the_cycles_measured() {
    for (stride, cycles) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32)] {
        assert_eq!(run(&strided(stride * 8, 0, ALL_LANES).unwrap(), Bytes(8)).unwrap().wavefronts(), cycles);
    }
    for (stride, cycles) in [(1, 4), (2, 8), (4, 16), (8, 32)] {
        assert_eq!(run(&strided(stride * 16, 0, ALL_LANES).unwrap(), Bytes(16)).unwrap().wavefronts(), cycles);
    }
}

/// Public row 31 (NVIDIA forum topic 359822): 8 844 480 128-bit loads take 283 023 360 wavefronts in the bad layout
/// (128 bytes between lanes) and 35 377 920 in the good one (contiguous); the conflict counter shows the difference.
#[test]
fn wavefronts_of_the_forum_thread() {
    let n_loads = 8_844_480_u64;
    let bad = run(&strided(128, 0, ALL_LANES).unwrap(), Bytes(16)).unwrap();
    let good = run(&strided(16, 0, ALL_LANES).unwrap(), Bytes(16)).unwrap();
    assert_eq!(n_loads * u64::from(bad.wavefronts()), 283_023_360);
    assert_eq!(n_loads * u64::from(good.wavefronts()), 35_377_920);
    assert_eq!(n_loads * u64::from(bad.extra_passes()), 247_645_440);
    assert_eq!(good.extra_passes(), 0);
}

/// Counters of an H200: 1056 warp loads show 0, 1056, 3168, 7392, 15 840, 32 736 conflicts at 1 to 32 ways.
#[test]
fn the_conflict_counter_counts_extra_passes() {
    for (stride, conflicts) in [(1, 0), (2, 1056), (4, 3168), (8, 7392), (16, 15_840), (32, 32_736)] {
        let found = run(&strided(stride * 4, 0, ALL_LANES).unwrap(), WORD).unwrap();
        assert_eq!(1056 * found.extra_passes(), conflicts);
    }
}

fn tile_words(pitch: i64, is_by_column: bool) -> Vec<i64> {
    (0..32)
        .map(|lane| if is_by_column { lane % 16 * pitch + lane / 16 } else { lane / 16 * pitch + lane % 16 })
        .collect()
}

/// Test vector 6: a 16 × 16 tile. A pitch of 17 leaves two-way conflicts both ways.
#[test]
fn padding_a_16_wide_tile_by_one_is_not_enough() {
    for (pitch, is_by_column, degree) in [(16, true, 8), (17, true, 2), (17, false, 2), (16, false, 1)] {
        let words = tile_words(pitch, is_by_column);
        check(&by_lane(ALL_LANES, |lane| words[lane as usize] * 4).unwrap(), 4, degree, f64::from(degree));
        let answer = eval("bank_conflicts", &question(&json!({"word_addresses": words}))).unwrap();
        assert_eq!(answer["degree"], degree, "pitch {pitch}");
    }
}

/// Test vector 7: a column of a 32 × 32 tile; padding and swizzle each leave its rows free of conflicts too.
#[test]
fn padding_and_swizzle_mend_a_32_wide_tile() {
    answers(json!({"stride_words": 32, "width_bytes": 4}), 32, 32, 1);
    answers(json!({"stride_words": 33, "width_bytes": 4}), 1, 1, 32);
    answers(json!({"stride_words": 32, "width_bytes": 4, "pad_words": 1}), 1, 1, 32);
    answers(json!({"stride_words": 32, "width_bytes": 4, "swizzle": "xor"}), 1, 1, 32);
    for row in 0..32 {
        let offset_words = row * 32;
        answers(json!({"stride_words": 1, "offset_words": offset_words, "pad_words": 1}), 1, 1, 32);
        answers(json!({"stride_words": 1, "offset_words": offset_words, "swizzle": "xor"}), 1, 1, 32);
        answers(json!({"stride_words": 32, "offset_words": row, "swizzle": "xor"}), 1, 1, 32);
    }
}

/// The swizzle of a float4 tile: 8 rows of 128 bytes, one column of float4 per phase.
#[test]
fn padding_and_swizzle_mend_wide_accesses() {
    answers(json!({"stride_words": 32, "width_bytes": 16}), 8, 32, 4);
    answers(json!({"stride_words": 32, "width_bytes": 16, "pad_words": 4}), 1, 4, 32);
    answers(json!({"stride_words": 32, "width_bytes": 16, "swizzle": "xor"}), 1, 4, 32);
}

#[test]
fn a_swizzled_row_is_a_permutation() {
    let layout = Layout { pad_words: 0, swizzle: Swizzle::Xor };
    for width_words in [1, 2, 4] {
        for row in 0..40 {
            let mut words: Vec<u64> = (0..32).map(|col| layout.place(row * 32 + col, width_words)).collect();
            words.sort_unstable();
            assert_eq!(words, (row * 32..row * 32 + 32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn passes_say_who_waits() {
    let lanes = by_lane(0b1111, |lane| [0, 128, 0, 4][lane as usize]).unwrap();
    let found = run(&lanes, WORD).unwrap();
    let passes: Vec<_> = found.phases[0].hits.iter().map(|hit| (hit.lane, hit.bank, hit.pass)).collect();
    assert_eq!(passes, [(0, 0, 0), (1, 0, 1), (2, 0, 0), (3, 1, 0)]);
    assert_eq!(found.banks_used, 2);
}

/// Test vector 8: without active lanes nothing is served.
#[test]
fn no_lane_takes_no_pass() {
    answers(json!({"stride_words": 32, "active_mask": 0}), 0, 0, 0);
}

#[track_caller]
fn refuse(given: Value, field: &str, says: &str) {
    let error = eval("bank_conflicts", &question(&given)).unwrap_err();
    assert_eq!(error.field(), field, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn errors_name_the_field() {
    refuse(json!({"stride_words": 1, "width_bytes": 8}), "stride_words", "address 4 is not aligned to 8");
    refuse(json!({"stride_words": 2, "offset_words": 1, "width_bytes": 8}), "offset_words", "multiples of 2");
    refuse(json!({"stride_words": 32, "width_bytes": 16, "pad_words": 1}), "pad_words", "a multiple of 4");
    refuse(json!({"stride_words": 1, "width_bytes": 12}), "width_bytes", "one of 1, 2, 4, 8, 16");
    refuse(json!({"stride_words": 1, "swizzle": "yes"}), "swizzle", "one of none, xor");
    refuse(json!({"stride_words": -1}), "offset_words", "at least 31");
    refuse(json!({"stride_words": 4000}), "stride_words", "from -1024 to 1024");
    refuse(json!({}), "stride_words", "missing");
    refuse(json!({"word_addresses": vec![0; 31]}), "word_addresses", "31 values");
    refuse(json!({"word_addresses": vec![0; 32], "stride_words": 1}), "word_addresses", "not both");
}

#[test]
fn the_degree_of_a_stride_is_its_gcd_with_32() {
    for stride in 1..=1024_u64 {
        let found = run(&strided(stride as i64 * 4, 0, ALL_LANES).unwrap(), WORD).unwrap();
        assert_eq!(u64::from(found.wavefronts()), degree_of_stride(stride), "stride {stride}");
    }
    assert_eq!([31, 32, 48, 6].map(degree_of_stride), [1, 32, 16, 2]);
}

proptest! {
    /// Within a phase the order of the lanes does not matter, and no access is worse than its distinct words.
    #[test]
    fn narrow_accesses_know_no_order(
        words in proptest::collection::vec(0u64..4096, 32),
        seed in proptest::sample::subsequence((0..32usize).collect::<Vec<_>>(), 32).prop_shuffle(),
    ) {
        let lanes: Vec<_> = words.iter().map(|word| Some(ByteAddr(word * 4))).collect();
        let shuffled: Vec<_> = seed.iter().map(|place| lanes[*place]).collect();
        let (one, other) = (run(&lanes, WORD).unwrap(), run(&shuffled, WORD).unwrap());
        prop_assert_eq!(one.wavefronts(), other.wavefronts());
        let distinct = words.iter().collect::<std::collections::BTreeSet<_>>().len() as u32;
        prop_assert!(one.wavefronts() <= distinct);
        prop_assert!(one.wavefronts() >= distinct.div_ceil(one.banks_used));
    }
}
