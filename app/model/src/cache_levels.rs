//! What a footprint costs in a hierarchy of caches: latency of a random access, or rate of a stream.
//!
//! Question: the footprint, up to four levels from the nearest outwards, each with its size and what it gives. Answer:
//! the share of each level, the level that answers most, and the mean cost.
//! Assumption: the footprint is walked again and again, and a full cache drops a line at random. Then a line survives a
//! pass with probability exp(−misses ÷ lines), and the share h that is still there solves h = exp(−(1 − h) · footprint ÷
//! size). A cache that holds the footprint answers everything; shares of outer levels are taken from what is left over.
//! Real replacement is neither random nor LRU: near the size of a cache measured values lie off by a third.
//! Source: arithmetic; held by an H200 (pointer chase and footprint sweep, driver 580.159.04, 2026-11-30).
//! Errors: no level at all, sizes that do not grow outwards, a size without its value.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// One level: how much it holds, and what an access costs or what rate it gives. The last level holds everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub bytes: f64,
    pub value: f64,
}

/// The share of accesses that a cache of `bytes` answers when a footprint is walked again and again.
pub fn kept_share(footprint: f64, bytes: f64) -> f64 {
    if footprint <= bytes {
        return 1.0;
    }
    // The curve crosses the identity twice, at 1 and below; from 0 the iteration rises to the lower crossing.
    let ratio = footprint / bytes;
    (0..200).fold(0.0, |share: f64, _| (-(1.0 - share) * ratio).exp())
}

/// The share that each level answers, in the order of `levels`; the memory behind the last gets the rest.
pub fn shares(footprint: f64, cache_bytes: &[f64]) -> Vec<f64> {
    let mut left = 1.0;
    let mut out = Vec::with_capacity(cache_bytes.len() + 1);
    for bytes in cache_bytes {
        // What an inner cache keeps, an outer one keeps too.
        let inner = 1.0 - left;
        let here = (kept_share(footprint, *bytes) - inner).clamp(0.0, left);
        out.push(here);
        left -= here;
    }
    out.push(left);
    out
}

pub struct CacheLevels;

const LEVELS: [&str; 3] = ["1", "2", "3"];

impl Model for CacheLevels {
    const ID: &'static str = "cache_levels";
    const TITLE: Text = Text::new("占用范围多大，由哪一级回答", "Which level answers at a footprint");
    const ASSUMES: Text = Text::new(
        "同一片数据反复走过；缓存满了随机丢一行。真实的替换策略介于随机和 LRU 之间，占用范围接近某级容量时实测会差到三分之一。",
        "The footprint is walked again and again, and a full cache drops a line at random. Real replacement lies \
         between random and LRU: near the size of a cache measurements differ by up to a third.",
    );
    const SOURCE: &'static str =
        "arithmetic over a fixed point of random replacement; held by an H200 (driver 580.159.04, 2026-11-30)";
    const EXAMPLE: &'static str = r#"{"footprint_bytes": 1048576, "kind": "latency", "bytes_1": 212992, "value_1": 16.2, "bytes_2": 31457280, "value_2": 141.8, "memory_value": 335}"#;

    fn question() -> Vec<FieldSpec> {
        let size =
            Text::new("第几级能放多少字节，从最近的一级数起", "Bytes that this level holds, counted from the nearest");
        let value = Text::new("这一级的延迟或速率", "Latency or rate of this level");
        let mut out = vec![
            FieldSpec::num(
                "footprint_bytes",
                "B",
                1.0,
                1.0e15,
                Text::new("反复走过多少字节", "Bytes walked again and again"),
            ),
            fields::choice(
                "kind",
                "",
                &["latency", "rate"],
                Text::new(
                    "value 是什么：延迟取平均，速率按每字节的时间平均",
                    "What the values are: latencies average; rates average by the time of a byte",
                ),
            ),
        ];
        for (bytes_key, value_key) in [("bytes_1", "value_1"), ("bytes_2", "value_2"), ("bytes_3", "value_3")] {
            out.push(FieldSpec::num(bytes_key, "B", 1.0, 1.0e15, size).optional());
            out.push(FieldSpec::num(value_key, "1", 1.0e-6, 1.0e9, value).optional());
        }
        let memory = Text::new("缓存之外的内存的延迟或速率", "Latency or rate of the memory behind the caches");
        out.push(FieldSpec::num("memory_value", "1", 1.0e-6, 1.0e9, memory));
        out
    }

    fn answer() -> Vec<FieldSpec> {
        let share = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1.0, Text::new(zh, en));
        vec![
            FieldSpec::num("value", "1", 0.0, 1.0e9, Text::new("平均延迟或速率", "Mean latency, or rate")),
            fields::choice(
                "level",
                "",
                &["level_1", "level_2", "level_3", "memory"],
                Text::new("回答最多的一级", "The level that answers most"),
            ),
            share("share_1", "第 1 级回答的份额", "Share that level 1 answers"),
            share("share_2", "第 2 级回答的份额", "Share that level 2 answers"),
            share("share_3", "第 3 级回答的份额", "Share that level 3 answers"),
            share("memory_share", "内存回答的份额", "Share that memory answers"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (levels, places) = levels(args)?;
        let sizes: Vec<f64> = levels.iter().map(|level| level.bytes).collect();
        let shares = shares(args.num("footprint_bytes"), &sizes);
        let values = levels.iter().map(|level| level.value).chain([args.num("memory_value")]);
        let is_rate = args.text("kind") == "rate";
        let cost: f64 =
            shares.iter().zip(values).map(|(share, value)| share * if is_rate { 1.0 / value } else { value }).sum();
        let value = if is_rate { 1.0 / cost } else { cost };
        // A level that is not given answers nothing.
        let mut by_place = [0.0; 4];
        places.iter().chain([&3]).zip(&shares).for_each(|(place, share)| by_place[*place] = *share);
        let most = (0..4).fold(0, |best, place| if by_place[place] > by_place[best] { place } else { best });
        let level = ["level_1", "level_2", "level_3", "memory"][most];
        Ok(fields::answer([
            ("value", fields::number(value)),
            ("level", Value::from(level)),
            ("share_1", fields::number(by_place[0])),
            ("share_2", fields::number(by_place[1])),
            ("share_3", fields::number(by_place[2])),
            ("memory_share", fields::number(by_place[3])),
        ]))
    }
}

/// The levels that are given, and which of the three each is.
fn levels(args: &Args) -> Result<(Vec<Level>, Vec<usize>), FieldError> {
    let (mut out, mut places) = (Vec::<Level>::new(), Vec::new());
    for (place, name) in LEVELS.iter().enumerate() {
        let (bytes_key, value_key) = (format!("bytes_{name}"), format!("value_{name}"));
        match (args.has(&bytes_key), args.has(&value_key)) {
            (false, false) => continue,
            (true, true) => {}
            (true, false) => return Err(lacks(value_key, &bytes_key)),
            (false, true) => return Err(lacks(bytes_key, &value_key)),
        }
        let level = Level { bytes: args.num(&bytes_key), value: args.num(&value_key) };
        if let Some(inner) = out.last().filter(|inner| inner.bytes > level.bytes) {
            let reason = format!("an outer level holds at least as much as an inner one, here {} bytes", inner.bytes);
            return Err(FieldError::conflict(&bytes_key, reason));
        }
        out.push(level);
        places.push(place);
    }
    Ok((out, places))
}

fn lacks(field: String, given: &str) -> FieldError {
    FieldError::Missing { field, legal: format!("a number, because {given} is given") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn value(given: &serde_json::Value) -> f64 {
        eval("cache_levels", &question(given)).unwrap()["value"].as_f64().unwrap()
    }

    /// h = exp(−(1 − h)·r) at r = 2 has the known solution of the branching process: 0.2032 (its survival is 0.7968).
    #[test]
    fn the_share_that_survives_is_the_fixed_point() {
        assert!((kept_share(2.0, 1.0) - 0.2032).abs() < 1e-4);
        assert!(kept_share(100.0, 1.0) < 1e-40);
        assert_eq!(kept_share(1.0, 1.0), 1.0);
    }

    /// gpu-latency on an H200 (public benchmark, measured): L1 32–34 cycles, near L2 283, far L2 450–493, DRAM 658–665.
    #[test]
    fn the_levels_of_an_h200_in_cycles() {
        let at = |footprint: f64| {
            value(&json!({"footprint_bytes": footprint, "kind": "latency", "bytes_1": 212_992, "value_1": 32,
                "bytes_2": 31_457_280, "value_2": 281, "bytes_3": 52_428_800, "value_3": 512, "memory_value": 662}))
        };
        assert_eq!(at(131_072.0), 32.0);
        assert!((at(4_194_304.0) - 281.0).abs() < 0.01, "{}", at(4_194_304.0));
        assert!((650.0..=662.0).contains(&at(1_073_741_824.0)), "{}", at(1_073_741_824.0));
        assert!((400.0..=512.0).contains(&at(48.0 * 1_048_576.0)), "{}", at(48.0 * 1_048_576.0));
    }

    /// gpu-l2-cache on an H200 (measured): 9.5 TB/s at 33 MB, 4.8 at 76 MB, 4.62 past 120 MB.
    #[test]
    fn rates_average_by_time() {
        let at = |megabytes: f64| {
            value(&json!({"footprint_bytes": megabytes * 1e6, "kind": "rate", "bytes_1": 40e6, "value_1": 9500,
                "memory_value": 4620}))
        };
        assert_eq!(at(33.0), 9500.0);
        assert!((at(76.0) / 4800.0 - 1.0).abs() < 0.1, "{}", at(76.0));
        assert!((at(230.0) / 4620.0 - 1.0).abs() < 0.01, "{}", at(230.0));
    }

    #[test]
    fn half_a_level_and_levels_in_the_wrong_order_are_named() {
        let ask = |given| eval("cache_levels", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(ask(json!({"footprint_bytes": 1, "kind": "rate", "bytes_2": 5, "memory_value": 1})), "value_2");
        let turned = json!({"footprint_bytes": 1, "kind": "rate", "bytes_1": 5, "value_1": 1, "bytes_2": 4, "value_2": 1,
            "memory_value": 1});
        assert_eq!(ask(turned), "bytes_2");
    }
}
