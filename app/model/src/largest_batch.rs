//! The largest batch that a step fits, when every tensor of the batch is a request of its own to the driver.
//!
//! Question: what is free, what no batch changes, how many tensors of the batch are alive at the peak, and an item's bytes
//! in one of them. Answer: the batch, what is left of the card, and by how much one item more is too large.
//! Assumption: the driver hands out whole pieces of 2 MiB, as measured, and nothing else asks meanwhile.
//! Source: the ledger of the chapter on the peak, with the rounding of the driver measured in the chapter on allocation.
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const PAGE: u64 = 2 * MIB;
const MOST_MIB: i64 = 1 << 24;

/// Bytes that a batch takes of the card.
pub fn taken(batch: u64, n_slots: u64, item_bytes: u64) -> u64 {
    n_slots.saturating_mul(batch.saturating_mul(item_bytes).next_multiple_of(PAGE))
}

/// The largest batch for which [`taken`] stays within `free`.
pub fn largest(free: u64, n_slots: u64, item_bytes: u64) -> u64 {
    free / n_slots / PAGE * PAGE / item_bytes
}

pub struct LargestBatch;

impl Model for LargestBatch {
    const ID: &'static str = "largest_batch";
    const TITLE: Text = Text::new("放得下的最大批", "The largest batch that fits");
    const ASSUMES: Text = Text::new(
        "驱动按 2 MiB 整块给显存；期间没有别人申请。",
        "The driver hands out whole pieces of 2 MiB, and nobody else asks meanwhile.",
    );
    const SOURCE: &'static str = "sum of the ledger, rounded to the driver's pieces of 2 MiB (measured in chapter 11)";
    const EXAMPLE: &'static str = r#"{"free_mib": 142000, "fixed_mib": 16384, "n_slots": 33, "item_bytes": 10240000}"#;

    fn question() -> Vec<FieldSpec> {
        let slots = Text::new("峰值时还活着几个随批变大的张量", "Tensors of the batch that are alive at the peak");
        let item = Text::new("一项在一个这样的张量里占多少", "Bytes of one item in one such tensor");
        let fixed = Text::new("不随批变化的部分", "What no batch changes");
        vec![
            FieldSpec::int("free_mib", "MiB", 0, MOST_MIB, Text::new("空闲显存", "Free memory")),
            FieldSpec::int("fixed_mib", "MiB", 0, MOST_MIB, fixed).default_value(0),
            FieldSpec::int("n_slots", "1", 1, 4096, slots),
            FieldSpec::int("item_bytes", "B", 1, 1 << 40, item),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::num(key, "MiB", 0.0, f64::MAX, Text::new(zh, en));
        vec![
            FieldSpec::int("batch", "1", 0, i64::MAX, Text::new("最大的批", "The largest batch")),
            mib("left_mib", "还剩多少", "What is left of the card"),
            mib("short_mib", "再多一项就差多少", "What one item more lacks"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (free, fixed) = (args.uint("free_mib"), args.uint("fixed_mib"));
        if fixed > free {
            let reason =
                format!("{fixed} MiB of weights do not fit into {free} MiB; even a batch of nothing is too large");
            return Err(FieldError::conflict("fixed_mib", reason));
        }
        let (free, n_slots, item) = ((free - fixed) * MIB, args.uint("n_slots"), args.uint("item_bytes"));
        let batch = largest(free, n_slots, item);
        let left = free - taken(batch, n_slots, item);
        let short = taken(batch + 1, n_slots, item).saturating_sub(free);
        Ok(fields::answer([
            ("batch", batch.into()),
            ("left_mib", fields::number(left as f64 / MIB as f64)),
            ("short_mib", fields::number(short as f64 / MIB as f64)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// By hand: 4000 MiB in 4 tensors of 3 MiB an item: 1000 MiB each, 333 items are 999 and take 1000. One more: 1002
    /// take 1002 each, 8 MiB too many.
    #[test]
    fn worked_case() {
        let given = json!({"free_mib": 4096, "fixed_mib": 96, "n_slots": 4, "item_bytes": 3 * MIB});
        let answer = eval("largest_batch", &question(&given)).unwrap();
        assert_eq!((&answer["batch"], &answer["left_mib"], &answer["short_mib"]), (&json!(333), &json!(0), &json!(8)));
    }

    #[test]
    fn the_batch_is_the_last_that_fits() {
        for (free, n, item) in [(100 * MIB, 3, 7_000_001), (4 * MIB, 1, 1), (140_000 * MIB, 33, 10_240_000)] {
            let batch = largest(free, n, item);
            assert!(taken(batch, n, item) <= free && taken(batch + 1, n, item) > free, "{free} {n} {item}: {batch}");
        }
        assert_eq!(largest(MIB, 1, 1), 0, "less than a piece serves nothing");
    }

    #[test]
    fn weights_that_do_not_fit_are_refused() {
        let given = json!({"free_mib": 10, "fixed_mib": 11, "n_slots": 1, "item_bytes": 1});
        assert_eq!(eval("largest_batch", &question(&given)).unwrap_err().field(), "fixed_mib");
    }
}
