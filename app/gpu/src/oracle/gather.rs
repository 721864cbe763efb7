//! Sums over loads: each output word is the wrapping sum of the words that its thread read. Exact in integers.
//!
//! The loads of a thread go by *tiles*: `tile` threads side by side read `tile` neighbouring elements at once, then the
//! next `tile`, `loads` times, so that many loads are in flight and each warp request still has the pattern under study.
//! Element number e of thread t at load k: `e = (t div tile) * tile * loads + k * tile + t mod tile`.
//! `tile` = threads of a block gives every block its own stretch; `tile` = `n_threads` walks the whole buffer in step.

use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

const TILE: &str = "neighbouring threads that read together, n_threads or the block size";

pub const STRIDED_SUM: Entry = Entry {
    id: "strided_sum",
    about: Text::new(
        "每个线程按步长读若干个字，输出它们的和（32 位，溢出回绕）",
        "each thread reads words at a stride and writes their wrapping sum",
    ),
    with: STRIDED,
    run: strided_sum,
};

/// `out[t] = Σ_k Σ_j in[(offset + e(t, k) * stride) * width + j]`, j below `width`.
const STRIDED: &[With] = &[
    input("input", "filled with random words"),
    output("out", "one word a thread"),
    whole("n_threads", None, "threads of the launch"),
    whole("loads", None, "loads a thread"),
    whole("tile", Some("n_threads"), TILE),
    whole("stride", Some("1"), "elements from one lane to the next"),
    whole("offset", Some("0"), "elements before the first"),
    whole("width", Some("1"), "words an element: 1, 2 or 4"),
    whole("most", Some("2 ^ 40"), "input words recomputed at most, for experiments of many points"),
];

/// Element of a thread's first load; each later load is `tile` elements on.
fn first_element(thread: u64, tile: u64, loads: u64) -> u64 {
    (thread / tile) * tile * loads + thread % tile
}

/// `tile`, which defaults to the number of threads.
fn tile(check: &Check<'_>, n_threads: u64) -> Result<u64, String> {
    match check.kernel.oracle.with.get("tile") {
        None => Ok(n_threads.max(1)),
        Some(_) => Ok(check.whole(STRIDED, "tile")?.max(1)),
    }
}

fn strided_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(STRIDED, name);
    let (n_threads, loads) = (get("n_threads")?, get("loads")?);
    let (stride, offset, width) = (get("stride")?, get("offset")?, get("width")?);
    let tile = tile(check, n_threads)?;
    let key = key_of(check.seed(STRIDED, "input")?);
    let out = check.output(STRIDED, "out", n_threads * 4)?;
    let mut tally = Tally::default();
    for thread in sampled(n_threads, check.at_most(get("most")?).step(n_threads, loads * width)) {
        let mut sum = 0u32;
        let start = first_element(thread, tile, loads);
        for load in 0..loads {
            let first = (offset + (start + load * tile) * stride) * width;
            for index in first..first + width {
                sum = sum.wrapping_add(word_with_key(key, index));
            }
        }
        tally.word(thread, sum, word(out, thread));
    }
    Ok(tally.outcome())
}

pub const FIELD_SUM: Entry = Entry {
    id: "field_sum",
    about: Text::new(
        "每个线程读若干个结构体的前几个字段（AoS 或 SoA），输出它们的和",
        "each thread reads the first fields of some structs, AoS or SoA, and writes their wrapping sum",
    ),
    with: FIELDS,
    run: field_sum,
};

/// `out[t] = Σ_k Σ_f in[place(e(t, k), f)]`, f below `n_read`. `layout` 0 is AoS, `place(e, f) = e * n_fields + f`;
/// `layout` 1 is SoA, `place(e, f) = f * n_elems + e`.
const FIELDS: &[With] = &[
    input("input", "filled with random words"),
    output("out", "one word a thread"),
    whole("n_threads", None, "threads of the launch"),
    whole("loads", Some("1"), "structs a thread"),
    whole("tile", Some("n_threads"), TILE),
    whole("layout", None, "0 AoS, 1 SoA"),
    whole("n_elems", None, "structs in the buffer"),
    whole("n_fields", None, "words of a struct"),
    whole("n_read", Some("1"), "fields read, from the first"),
];

fn field_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(FIELDS, name);
    let (n_threads, loads, layout) = (get("n_threads")?, get("loads")?, get("layout")?);
    let (n_elems, n_fields, n_read) = (get("n_elems")?, get("n_fields")?, get("n_read")?);
    let tile = tile(check, n_threads)?;
    let key = key_of(check.seed(FIELDS, "input")?);
    let out = check.output(FIELDS, "out", n_threads * 4)?;
    let mut tally = Tally::default();
    for thread in sampled(n_threads, check.step(n_threads, loads * n_read)) {
        let mut sum = 0u32;
        let start = first_element(thread, tile, loads);
        for load in 0..loads {
            let elem = start + load * tile;
            for field in 0..n_read {
                let place = if layout == 0 { elem * n_fields + field } else { field * n_elems + elem };
                sum = sum.wrapping_add(word_with_key(key, place));
            }
        }
        tally.word(thread, sum, word(out, thread));
    }
    Ok(tally.outcome())
}

pub const GATHER_SUM: Entry = Entry {
    id: "gather_sum",
    about: Text::new(
        "每个线程读公式给出的字，输出它们的和；共享内存的实验用它",
        "each thread reads the words that a formula gives and writes their wrapping sum; for shared-memory kernels",
    ),
    with: GATHER,
    run: gather_sum,
};

/// `out[i] = rounds * Σ_k Σ_j in[word(i, k) + j]`, j below `width`, everything wrapping. `word` may use `i` (index of
/// the output), `k` (load), and with `block` given also `thread`, `lane`, `warp` and `block_idx`. A kernel that stages
/// its input in shared memory under padding or a swizzle stores and loads by the same map, so the sum knows nothing of it.
const GATHER: &[With] = &[
    input("input", "filled with random words"),
    output("out", "one word a thread"),
    whole("n", None, "outputs"),
    With {
        name: "word",
        kind: WithKind::PerElement(&["i", "k", "thread", "lane", "warp", "block_idx"]),
        default: None,
        about: "index of the first word read",
    },
    whole("loads", Some("1"), "loads an output"),
    whole("width", Some("1"), "neighbouring words a load"),
    whole("rounds", Some("1"), "times that the same loads are added"),
    whole("block", Some("1024"), "threads of a block"),
    whole("most", Some("2 ^ 40"), "words recomputed at most, for formulas that take long"),
];

fn gather_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(GATHER, name);
    let (n, loads, width, rounds) = (get("n")?, get("loads")?, get("width")?, get("rounds")?);
    let block = get("block")?.max(1);
    let index_of = check.per_element(GATHER, "word")?;
    let key = key_of(check.seed(GATHER, "input")?);
    let out = check.output(GATHER, "out", n * 4)?;
    let mut tally = Tally::default();
    // A formula costs about as much as sixteen words.
    for i in sampled(n, check.at_most(get("most")?).step(n, loads * (width + 16))) {
        let mut sum = 0u32;
        for k in 0..loads {
            let thread = i % block;
            let value = index_of.eval(&|name| {
                Some(match name {
                    "i" => i as f64,
                    "k" => k as f64,
                    "thread" => thread as f64,
                    "lane" => (thread % 32) as f64,
                    "warp" => (thread / 32) as f64,
                    "block_idx" => (i / block) as f64,
                    name => return check.vars.get(name).copied(),
                })
            });
            let first = value.map_err(|error| format!("oracle.with.word: {error}"))?;
            if first < 0.0 || first.fract() != 0.0 {
                return Err(format!("oracle.with.word is {first} at output {i}; it must be a whole number"));
            }
            for index in first as u64..first as u64 + width {
                sum = sum.wrapping_add(word_with_key(key, index));
            }
        }
        tally.word(i, sum.wrapping_mul(rounds as u32), word(out, i));
    }
    Ok(tally.outcome())
}
