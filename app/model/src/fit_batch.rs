//! The peak as a straight line over the batch: two measured peaks give the line, and the line the largest batch.
//!
//! Question: two batches with their peaks, the room; a third batch if its peak is wanted. Answer: bytes of one more sample,
//! the part that does not depend on the batch, the largest batch, the third peak.
//! Assumption: the same moment of the step holds the peak at all batches, and each sample adds the same. It fails where
//! another moment takes over, or a library takes another algorithm or workspace.
//! Source: arithmetic, from two measurements of one's own.
//! Errors: equal batches; a fixed part below 0, which no step has; a line that falls below 0; a peak that does not grow with
//! the batch; a batch of 1 beyond the room; fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MOST: f64 = 1.0e15;
/// No line through two legal points goes beyond it at a legal batch.
const FARTHEST: f64 = 1.0e25;

/// Bytes over the batch, as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub slope: f64,
    pub fixed: f64,
}

impl Line {
    /// The line through two points of different batch.
    pub fn through(a: (u64, f64), b: (u64, f64)) -> Option<Self> {
        let run = b.0 as f64 - a.0 as f64;
        let slope = (b.1 - a.1) / run;
        (run != 0.0).then_some(Self { slope, fixed: a.1 - slope * a.0 as f64 })
    }

    pub fn at(&self, batch: u64) -> f64 {
        self.fixed + self.slope * batch as f64
    }

    /// The largest batch within `room`, on a line that rises; a thousandth of a byte is taken for rounding.
    pub fn largest(&self, room: f64) -> u64 {
        let most = ((room - self.fixed + 1e-3) / self.slope).floor().max(0.0) as u64;
        most.min(i64::MAX as u64)
    }
}

pub struct FitBatch;

impl Model for FitBatch {
    const ID: &'static str = "fit_batch";
    const TITLE: Text = Text::new("批大小与峰值：一条直线", "The peak over the batch: a line");
    const ASSUMES: Text = Text::new(
        "各个批大小的峰值落在同一时刻，每多一个样本多同样多。换了时刻、换了算法，直线就断了。",
        "The peak falls on the same moment at every batch, and each sample adds the same. Another moment or another \
         algorithm breaks the line.",
    );
    const SOURCE: &'static str = "arithmetic, from two measurements of one's own";
    const EXAMPLE: &'static str =
        r#"{"batch_1": 32, "bytes_1": 4000000000, "batch_2": 64, "bytes_2": 7000000000, "room_bytes": 80000000000}"#;

    fn question() -> Vec<FieldSpec> {
        let batch = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 30, Text::new(zh, en));
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, MOST, Text::new(zh, en));
        vec![
            batch("batch_1", "第一次的批大小", "The first batch"),
            bytes("bytes_1", "它的峰值", "Its peak"),
            batch("batch_2", "第二次的批大小", "The second batch"),
            bytes("bytes_2", "它的峰值", "Its peak"),
            bytes("room_bytes", "放得下多少", "What there is room for").optional(),
            batch("batch_3", "再问一个批大小", "A third batch to ask for").optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, FARTHEST, Text::new(zh, en));
        let slope = Text::new("多一个样本多多少", "What one more sample adds");
        vec![
            FieldSpec::num("slope_bytes", "B", -FARTHEST, FARTHEST, slope),
            bytes("fixed_bytes", "与批大小无关的", "What does not depend on the batch"),
            FieldSpec::int("max_batch", "1", 0, i64::MAX, Text::new("最大的批", "The largest batch")).optional(),
            bytes("bytes_3", "第三个批大小的峰值", "The peak of the third batch").optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let point = |batch: &str, bytes: &str| (args.uint(batch), args.num(bytes));
        let (a, b) = (point("batch_1", "bytes_1"), point("batch_2", "bytes_2"));
        let Some(line) = Line::through(a, b) else {
            let reason = format!("both batches are {}; a line takes two different ones", a.0);
            return Err(FieldError::conflict("batch_2", reason));
        };
        let line = physical(line, b.1)?;
        let largest = if args.has("room_bytes") { Some(largest(&line, args.num("room_bytes"))?) } else { None };
        let third = if args.has("batch_3") { Some(third(&line, args.uint("batch_3"))?) } else { None };
        Ok(fields::answer([
            ("slope_bytes", fields::number(line.slope)),
            ("fixed_bytes", fields::number(line.fixed)),
            ("max_batch", largest.map_or(Value::Null, Value::from)),
            ("bytes_3", third.map_or(Value::Null, fields::number)),
        ]))
    }
}

/// The line if a step can have it: weights take room at any batch. A fixed part below 0 by rounding alone is 0.
fn physical(line: Line, bytes: f64) -> Result<Line, FieldError> {
    if line.fixed >= 0.0 {
        return Ok(line);
    }
    if line.fixed >= -1e-9 * bytes {
        return Ok(Line { fixed: 0.0, ..line });
    }
    let reason = format!(
        "this line has a fixed part of {:.0} B, below 0: the peak grows faster than the batch, so another moment or \
         algorithm came in, and no line gives the largest batch",
        line.fixed
    );
    Err(FieldError::conflict("bytes_2", reason))
}

fn third(line: &Line, batch: u64) -> Result<f64, FieldError> {
    let bytes = line.at(batch);
    if bytes < 0.0 {
        let reason = format!("the line falls, and at a batch of {batch} it is below 0");
        return Err(FieldError::conflict("batch_3", reason));
    }
    Ok(bytes)
}

fn largest(line: &Line, room: f64) -> Result<u64, FieldError> {
    if line.slope <= 0.0 {
        let reason = "the peak does not grow with the batch, so no batch is too large for this line";
        return Err(FieldError::conflict("bytes_2", reason));
    }
    if line.at(1) > room {
        let reason = format!("a batch of 1 takes {:.0} B, more than room_bytes = {room:.0}", line.at(1));
        return Err(FieldError::conflict("room_bytes", reason));
    }
    Ok(line.largest(room))
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    fn ask(more: &Value) -> Result<vramlab_units::Map, vramlab_units::FieldError> {
        let mut given = question(&json!({"batch_1": 32, "bytes_1": 4.0e9, "batch_2": 64, "bytes_2": 7.0e9}));
        given.extend(question(more));
        crate::eval("fit_batch", &given)
    }

    /// 3 GB over 32 samples; (80 − 1) / 0.09375 = 842.67.
    #[test]
    fn two_peaks_give_the_largest_batch() {
        let found = ask(&json!({"room_bytes": 80.0e9, "batch_3": 128})).unwrap();
        assert_eq!((&found["slope_bytes"], &found["fixed_bytes"]), (&json!(93_750_000), &json!(1_000_000_000)));
        assert_eq!((&found["max_batch"], &found["bytes_3"]), (&json!(842), &json!(13_000_000_000_u64)));
        // A peak that fits to the byte fits.
        assert_eq!(ask(&json!({"room_bytes": 13.0e9})).unwrap()["max_batch"], 128);
        assert!(ask(&json!({})).unwrap()["max_batch"].is_null());
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let error = ask(&json!({"batch_2": 32})).unwrap_err();
        assert_eq!(error.to_string(), "batch_2: both batches are 32; a line takes two different ones");
        assert_eq!(ask(&json!({"bytes_2": 4.0e9, "room_bytes": 8.0e9})).unwrap_err().field(), "bytes_2");
        assert_eq!(ask(&json!({"room_bytes": 1.0e9})).unwrap_err().field(), "room_bytes");
        assert_eq!(ask(&json!({"room_bytes": 0})).unwrap_err().field(), "room_bytes");
        let falls = ask(&json!({"bytes_2": 3.0e9, "batch_3": 1000})).unwrap_err();
        assert_eq!(falls.to_string(), "batch_3: the line falls, and at a batch of 1000 it is below 0");
    }

    /// 5 GB over 32 samples are 156.25 MB each: 4 − 5 = −1 GB would be there at a batch of 0.
    #[test]
    fn no_step_has_a_fixed_part_below_nothing() {
        for more in [json!({"bytes_2": 9.0e9, "room_bytes": 0}), json!({"bytes_2": 9.0e9})] {
            let error = ask(&more).unwrap_err();
            assert_eq!(error.field(), "bytes_2");
            assert!(error.to_string().contains("a fixed part of -1000000000 B, below 0"), "{error}");
        }
        let straight = ask(&json!({"bytes_2": 8.0e9, "room_bytes": 80.0e9})).unwrap();
        assert_eq!((&straight["fixed_bytes"], &straight["max_batch"]), (&json!(0), &json!(640)));
    }
}
