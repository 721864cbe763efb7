//! What it costs to change a layout, and after how many uses that is worth it; and what padded rows waste.
//!
//! Question: elements and bytes of one, bandwidth; the time of a use in either layout; a row and the multiple that rows are padded to.
//! Answer: the least time of a transposition, 2·N·e ÷ BW; uses k* = ⌈t ÷ (t_bad − t_good)⌉, none where the other layout is no faster;
//! pitch and waste of a row.
//! Assumption: the transposition reads everything once and writes it once. Source: arithmetic. Errors: none beyond the fields'.

use crate::fields::{self, answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// Uses after which a change of layout has paid for itself; none if it never does.
pub fn uses(change: f64, bad: f64, good: f64) -> Option<u64> {
    (bad > good).then(|| (change / (bad - good)).ceil().max(1.0) as u64)
}

pub struct LayoutChange;

impl Model for LayoutChange {
    const ID: &'static str = "layout_change";
    const TITLE: Text = Text::new("换一种排法值不值", "What a change of layout costs");
    const ASSUMES: Text =
        Text::new("转置把全部数据读一遍、写一遍。", "The transposition reads everything once and writes it once.");
    const SOURCE: &'static str = "arithmetic over passes";
    const EXAMPLE: &'static str =
        r#"{"elements": 67108864, "value_bytes": "4", "peak_gb_per_s": 4800, "bad_us": 142, "good_us": 112}"#;

    fn question() -> Vec<FieldSpec> {
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1e12, Text::new(zh, en)).optional();
        vec![
            FieldSpec::int("elements", "1", 1, 1 << 40, Text::new("元素个数", "Elements")),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个元素的字节", "Bytes of an element"))
                .default_value("4"),
            fields::peak(),
            us(
                "change_us",
                "转置实测的时间；不给就用下限",
                "Measured time of the transposition; the floor, if not given",
            ),
            us("bad_us", "现在的排法用一次多久", "Time of a use in the layout as it is"),
            us("good_us", "换了以后用一次多久", "Time of a use in the other layout"),
            FieldSpec::int("row_bytes", "B", 1, 1 << 40, Text::new("一行的字节", "Bytes of a row")).default_value(1),
            FieldSpec::int(
                "pitch_multiple",
                "B",
                1,
                1 << 20,
                Text::new("行距补到几的倍数", "Rows are padded to a multiple of this"),
            )
            .default_value(512),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e20, Text::new(zh, en));
        vec![
            num("floor_us", "µs", "转置至少要多久", "Least time of the transposition"),
            num("change_us", "µs", "转置的时间", "Time of the transposition"),
            FieldSpec::int("uses", "1", 1, i64::MAX, Text::new("用几次才回本", "Uses after which it has paid"))
                .optional(),
            num("pitch_bytes", "B", "行距", "Pitch of a row"),
            num("pitch_waste", "1", "行距浪费的份额", "Share that the pitch wastes"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let bytes = 2.0 * args.uint("elements") as f64 * chosen(args, "value_bytes") as f64;
        let floor = bytes / args.num("peak_gb_per_s") / 1e3;
        let change = if args.has("change_us") { args.num("change_us") } else { floor };
        let is_asked = args.has("bad_us") && args.has("good_us");
        let paid = is_asked.then(|| uses(change, args.num("bad_us"), args.num("good_us"))).flatten();
        let row = args.uint("row_bytes");
        let pitch = row.next_multiple_of(args.uint("pitch_multiple"));
        Ok(answer([
            ("floor_us", number(floor)),
            ("change_us", number(change)),
            ("uses", paid.map_or(Value::Null, Value::from)),
            ("pitch_bytes", pitch.into()),
            ("pitch_waste", number(pitch as f64 / row as f64 - 1.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 13, vector 6 and check question 3.
    #[test]
    fn worked_cases() {
        let ask = |given| eval("layout_change", &question(&given)).unwrap();
        let square = ask(json!({"elements": 8192 * 8192, "peak_gb_per_s": 4800}));
        assert!((square["floor_us"].as_f64().unwrap() - 111.848).abs() < 1e-3);
        assert!(square["uses"].is_null());
        for (row, pitch, waste) in [(4000, 4096, 0.024), (4 * 4097, 16_896, 16_896.0 / 16_388.0 - 1.0)] {
            let found = ask(json!({"elements": 1, "peak_gb_per_s": 1, "row_bytes": row}));
            assert_eq!(found["pitch_bytes"].as_u64(), Some(pitch));
            assert!((found["pitch_waste"].as_f64().unwrap() - waste).abs() < 1e-9, "{row}");
        }
        assert_eq!((uses(112.0, 60.0, 30.0), uses(112.0, 30.0, 30.0), uses(112.0, 20.0, 30.0)), (Some(4), None, None));
    }
}
