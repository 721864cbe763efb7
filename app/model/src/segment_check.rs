//! Whether the blocks of a segment can be what a caching allocator left behind, and what its holes are worth.
//!
//! Question: the segment and its blocks by address. Answer: the first rule that is broken, and the holes. The rules are
//! `vramlab_alloc::tally`, those that snapshots are checked by.
//! Assumption: a native segment, which goes back to the device only as a whole.
//! Source: pytorch/pytorch, `c10/cuda/CUDACachingAllocator.cpp` (`free_block` merges a freed block with its neighbours).
//! Errors: a block in a spelling that is not read.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::tally::{Part, breaches};
use vramlab_alloc::trace::{MOST_BYTES, size_of};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

const MOST_MIB: i64 = 1 << 24;
const MOST_TEXT: usize = 4096;
const LEGAL: &str = "a block is used:9M, free:9M or wait:9M (K, M, G by 1024)";
const RULES: [&str; 4] = ["none", "sum", "gap", "unmerged"];

pub struct SegmentCheck;

/// The blocks that the words describe, side by side from address 0.
fn parts(text: &str) -> Result<Vec<Part>, FieldError> {
    let mut address = 0_u64;
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        let bad = || FieldError::conflict("blocks", format!("{word} is not read; {LEGAL}"));
        let (state, size) = word.split_once(':').ok_or_else(bad)?;
        let size = size_of(size).and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0).ok_or_else(bad)?;
        let is_free = match state {
            "free" => true,
            "used" | "wait" => false,
            _ => return Err(bad()),
        };
        out.push(Part { address, size, is_free });
        address = address.checked_add(size).filter(|end| *end <= MOST_BYTES).ok_or_else(bad)?;
    }
    Ok(out)
}

impl Model for SegmentCheck {
    const ID: &'static str = "segment_check";
    const TITLE: Text = Text::new("一段显存的账对不对", "Whether a segment adds up");
    const ASSUMES: Text = Text::new(
        "普通的段：只能整段还给设备，释放的块立即和空闲的邻块合并。",
        "A native segment: it goes back to the device as a whole, and a freed block merges with free neighbours at once.",
    );
    const SOURCE: &'static str = "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp, free_block";
    const EXAMPLE: &'static str = r#"{"segment_mib": 20, "blocks": "used:9M free:11M"}"#;

    fn question() -> Vec<FieldSpec> {
        let blocks = Text::new(
            "按地址排的块：used:9M 在用，free:9M 空闲，wait:2M 已释放、还等着别的流",
            "Blocks by address: used:9M in use, free:9M free, wait:2M freed while another stream may still use it",
        );
        vec![
            FieldSpec::int("segment_mib", "MiB", 1, MOST_MIB, Text::new("整段多大", "Size of the segment")),
            FieldSpec::new("blocks", "", FieldKind::Text { max_len: MOST_TEXT }, blocks),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, i64::MAX, Text::new(zh, en));
        let problems = Text::new("几处不对", "How many things are wrong");
        let share = Text::new("1 − 最大空洞 ÷ 全部空洞", "1 − largest hole ÷ all holes");
        vec![
            FieldSpec::new("is_valid", "", FieldKind::Bool, Text::new("账对不对", "Whether it adds up")),
            fields::choice("rule", "", &RULES, Text::new("第一条不成立的规则", "The first rule that is broken")),
            FieldSpec::int("n_problems", "1", 0, MOST_TEXT as i64, problems),
            bytes("inactive_bytes", "空闲的", "Free"),
            bytes("largest_hole_bytes", "最大的空洞", "The largest hole"),
            bytes("releasable_bytes", "能还给设备的", "What could go back to the device"),
            FieldSpec::num("fragmentation", "%", 0.0, 1.0, share),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let parts = parts(args.text("blocks"))?;
        let found = breaches(args.uint("segment_mib") * MIB, &parts);
        let holes = || parts.iter().filter(|part| part.is_free).map(|part| part.size);
        let (inactive, largest) = (holes().sum::<u64>(), holes().max().unwrap_or(0));
        let is_free = parts.iter().all(|part| part.is_free);
        let fragmentation = if inactive == 0 { 0.0 } else { 1.0 - largest as f64 / inactive as f64 };
        Ok(fields::answer([
            ("is_valid", found.is_empty().into()),
            ("rule", found.first().map_or("none", |breach| breach.id()).into()),
            ("n_problems", found.len().into()),
            ("inactive_bytes", inactive.into()),
            ("largest_hole_bytes", largest.into()),
            ("releasable_bytes", if is_free { inactive } else { 0 }.into()),
            ("fragmentation", fields::number(fragmentation)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, expected: &Value) {
        let answer = eval("segment_check", &question(given)).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&answer[key], value, "{key} of {given}");
        }
    }

    /// Brief 18, vector 1.
    #[test]
    fn free_neighbours_must_have_merged() {
        check(
            &json!({"segment_mib": 20, "blocks": "used:9M free:9M free:2M"}),
            &json!({"is_valid": false, "rule": "unmerged", "n_problems": 1}),
        );
        check(
            &json!({"segment_mib": 20, "blocks": "used:9M free:11M"}),
            &json!({"is_valid": true, "rule": "none", "fragmentation": 0, "releasable_bytes": 0}),
        );
    }

    /// Brief 18, vector 6: blocks that do not sum to the segment, a negative size.
    #[test]
    fn blocks_fill_their_segment() {
        check(&json!({"segment_mib": 20, "blocks": "used:9M free:9M"}), &json!({"is_valid": false, "rule": "sum"}));
        check(
            &json!({"segment_mib": 20, "blocks": "free:20M"}),
            &json!({"is_valid": true, "releasable_bytes": 20 << 20}),
        );
        for blocks in ["used:-1", "lost:1M", "9M", "free:0"] {
            let given = question(&json!({"segment_mib": 20, "blocks": blocks}));
            assert_eq!(eval("segment_check", &given).unwrap_err().field(), "blocks", "{blocks}");
        }
    }
}
