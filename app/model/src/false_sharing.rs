//! False sharing: counters of different threads on one cache line.
//!
//! Question: counter, padding between counters, line, threads. Answer: how many counters share a line, lines used, and
//! by how much the time per increment grows at least.
//! Rule: a core must own a line alone to change it, so atomic increments on one line follow each other, whichever
//! counter they change. With k threads on a line each waits for the others: at least k times the time of a line of its
//! own, and more for the time in which the line travels, which this model does not know.
//! Assumption: atomic increments, each thread on a core with an L1 of its own, the first counter at a line's start.
//! Two hardware threads of one core share its L1 and may show less; plain stores may be gathered in store buffers.
//! Source: M. Papamarcos and J. Patel, "A Low-Overhead Coherence Solution for Multiprocessors with Private Cache
//! Memories", ISCA 1984 (exclusive ownership); U. Drepper, "What Every Programmer Should Know About Memory", 6.4.1.
//! Errors: padding that breaks the counter's alignment.

use crate::fields;
use crate::registry::Model;
use std::collections::BTreeMap;
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Map, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Threads on the fullest line.
    pub counters_per_line: u64,
    pub n_lines: u64,
}

/// Counters of `counter` bytes, `pitch` apart, from the start of a line. `pitch` is a multiple of `counter`, which
/// divides `line`.
pub fn run(counter: Bytes, pitch: Bytes, line: Bytes, n_threads: u64) -> Sharing {
    let mut counters: BTreeMap<u64, u64> = BTreeMap::new();
    for thread_idx in 0..n_threads {
        *counters.entry(thread_idx * pitch.0 / line.0).or_default() += 1;
    }
    debug_assert!(counter <= pitch, "counters do not overlap");
    let counters_per_line = counters.values().copied().max().unwrap_or_default();
    Sharing { counters_per_line, n_lines: counters.len() as u64 }
}

pub struct FalseSharing;

impl Model for FalseSharing {
    const ID: &'static str = "false_sharing";
    const TITLE: Text = Text::new("伪共享（false sharing）", "False sharing");
    const ASSUMES: Text = Text::new(
        "原子自增；每个线程独占一个有自己 L1 的核心；第一个计数器在行首。结果只是下界：缓存行来回传递的时间没有算。同一核心的两个硬件线程共用 L1，差别可能更小。",
        "Atomic increments; each thread on a core with an L1 of its own; the first counter at the start of a line. \
         Only a lower bound: the time in which the line travels is not counted. Two hardware threads of one core share \
         an L1 and may show less.",
    );
    const SOURCE: &'static str = "M. Papamarcos, J. Patel, ISCA 1984 (exclusive ownership of a line); \
        U. Drepper, \"What Every Programmer Should Know About Memory\" (2007), section 6.4.1";
    const EXAMPLE: &'static str = r#"{"padding_bytes": 0, "n_threads": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let padding = Text::new("相邻计数器之间空出的字节", "Bytes left unused between neighbouring counters");
        let counter = Text::new("一个计数器的字节数", "Bytes of one counter");
        let threads = Text::new("线程数，每个线程一个计数器", "Threads, each with a counter of its own");
        vec![
            FieldSpec::int("padding_bytes", "B", 0, 4096, padding),
            FieldSpec::int("n_threads", "1", 1, 1024, threads),
            fields::choice("counter_bytes", "B", &["1", "2", "4", "8"], counter).default_value("8"),
            fields::cpu_line(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, unit, max, zh, en| FieldSpec::int(key, unit, 0, max, Text::new(zh, en));
        let shared = Text::new("是否有两个计数器落在同一条缓存行", "Whether two counters lie on one line");
        let time = Text::new(
            "每次自增的时间至少是独占缓存行时的几倍",
            "Time per increment, at least so many times that of a line of its own",
        );
        vec![
            int("counters_per_line", "1", 256, "最满的缓存行上有几个计数器", "Counters on the fullest line"),
            int("lines_used", "1", 1024, "计数器占了几条缓存行", "Lines that hold counters"),
            FieldSpec::new("is_shared", "", FieldKind::Bool, shared),
            FieldSpec::num("relative_time_at_least", "1", 1.0, 256.0, time),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let counter = Bytes(fields::chosen(args, "counter_bytes"));
        let padding = fields::bytes(args, "padding_bytes");
        if !padding.0.is_multiple_of(counter.0) {
            let legal = format!("a multiple of counter_bytes = {}, so that counters stay aligned", counter.0);
            return Err(FieldError::illegal("padding_bytes", &padding.0.into(), legal));
        }
        let line = Bytes(fields::chosen(args, "line_bytes"));
        let found = run(counter, counter + padding, line, args.uint("n_threads"));
        Ok(fields::answer([
            ("counters_per_line", found.counters_per_line.into()),
            ("lines_used", found.n_lines.into()),
            ("is_shared", (found.counters_per_line > 1).into()),
            ("relative_time_at_least", found.counters_per_line.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(padding: u64, n_threads: u64, counters_per_line: u64, n_lines: u64) {
        let found = run(Bytes(8), Bytes(8 + padding), Bytes(64), n_threads);
        assert_eq!(found, Sharing { counters_per_line, n_lines });
    }

    /// Hand-worked: eight 8-byte counters fill a 64-byte line.
    #[test]
    fn padding_to_a_line_parts_the_counters() {
        check(0, 4, 4, 1);
        check(0, 16, 8, 2);
        check(24, 4, 2, 2);
        check(56, 4, 1, 4);
        check(120, 4, 1, 4);
        check(0, 1, 1, 1);
    }

    #[test]
    fn the_bound_is_the_number_of_threads_that_take_turns() {
        let answer = eval("false_sharing", &question(&json!({"padding_bytes": 0, "n_threads": 2}))).unwrap();
        let expected = json!({"counters_per_line": 2, "lines_used": 1, "is_shared": true, "relative_time_at_least": 2});
        assert_eq!(serde_json::Value::Object(answer), expected);
    }

    #[test]
    fn padding_keeps_the_counters_aligned() {
        let error = eval("false_sharing", &question(&json!({"padding_bytes": 3, "n_threads": 2}))).unwrap_err();
        assert_eq!(error.field(), "padding_bytes");
    }
}
