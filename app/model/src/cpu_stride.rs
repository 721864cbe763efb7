//! A strided walk on the processor: cache lines per access, and the time relative to walking every element.
//!
//! Question: line, stride, element. Answer: lines and bytes moved per access, relative time and rate.
//! Assumption: the array is much larger than the last-level cache and time goes with the lines moved. At unit stride
//! a core may be busy with arithmetic rather than waiting, so read the relative time as an upper bound; it levels off
//! once every access has its own line. Prefetchers that fetch lines in pairs can move that point to two lines.
//! Source: U. Drepper, "What Every Programmer Should Know About Memory", section 3.3; arithmetic.
//! Errors: a stride that is no multiple of the element.

use crate::fields;
use crate::registry::Model;
use crate::stream::Stream;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, Map, Ratio, Text};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    pub lines_per_access: f64,
    /// Time per access, relative to stride one.
    pub relative_time: Ratio,
}

/// `stride` is a multiple of `elem`, and at least as much.
pub fn run(line: Bytes, stride: Bytes, elem: Bytes) -> Walk {
    let moved = Stream { step: stride, offset: Bytes(0), used: elem }.moved_per_step(line);
    Walk { lines_per_access: moved / line.0 as f64, relative_time: Ratio(moved / elem.0 as f64) }
}

pub struct CpuStride;

impl Model for CpuStride {
    const ID: &'static str = "cpu_stride";
    const TITLE: Text = Text::new("处理器上的跨步读取", "Strided reads on the processor");
    const ASSUMES: Text = Text::new(
        "数组远大于末级缓存，时间正比于搬动的缓存行。步长为 1 时核心可能忙于计算，所以相对时间是上界。",
        "The array is much larger than the last cache and time goes with the lines moved. At unit stride a core may be \
         busy computing: the relative time is an upper bound.",
    );
    const SOURCE: &'static str = "U. Drepper, \"What Every Programmer Should Know About Memory\" (2007), section 3.3";
    const EXAMPLE: &'static str = r#"{"stride_bytes": 32, "elem_bytes": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let stride =
            Text::new("相邻两次访问的距离，元素大小的整数倍", "Distance of two accesses, a multiple of the element");
        vec![
            FieldSpec::int("stride_bytes", "B", 1, 1 << 20, stride),
            fields::access_bytes("elem_bytes", Text::new("一次访问的字节数", "Bytes of one access")),
            fields::cpu_line(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en));
        vec![
            num("lines_per_access", "1", 1.0, "平均每次访问搬几条缓存行", "Cache lines moved per access, on average"),
            num("bytes_per_access", "B", 256.0, "平均每次访问搬多少字节", "Bytes moved per access, on average"),
            num("relative_time", "1", 256.0, "每次访问的时间，步长 1 为 1", "Time per access; stride one is 1"),
            num("relative_rate", "1", 1.0, "有效带宽，步长 1 为 1", "Useful bandwidth; stride one is 1"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (stride, elem) = (fields::bytes(args, "stride_bytes"), Bytes(fields::chosen(args, "elem_bytes")));
        let line = Bytes(fields::chosen(args, "line_bytes"));
        if !stride.0.is_multiple_of(elem.0) {
            let reason = format!("{} is not a multiple of elem_bytes = {}", stride.0, elem.0);
            return Err(FieldError::conflict("stride_bytes", reason));
        }
        let walk = run(line, stride, elem);
        Ok(fields::answer([
            ("lines_per_access", fields::number(walk.lines_per_access)),
            ("bytes_per_access", fields::number(walk.lines_per_access * line.0 as f64)),
            ("relative_time", fields::number(walk.relative_time.0)),
            ("relative_rate", fields::number(1.0 / walk.relative_time.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Hand-worked: a 64-byte line holds 16 floats; from stride 16 on every access takes a line of its own.
    #[test]
    fn time_grows_with_the_stride_up_to_one_line() {
        let expected = [(1, 1.0 / 16.0, 1.0), (2, 0.125, 2.0), (3, 0.1875, 3.0), (16, 1.0, 16.0), (64, 1.0, 16.0)];
        for (stride, lines, time) in expected {
            let walk = run(Bytes(64), Bytes(stride * 4), Bytes(4));
            assert_eq!((walk.lines_per_access, walk.relative_time), (lines, Ratio(time)), "stride {stride}");
        }
    }

    #[test]
    fn longer_lines_make_strides_dearer() {
        assert_eq!(run(Bytes(128), Bytes(256), Bytes(8)).relative_time, Ratio(16.0));
    }

    #[test]
    fn a_stride_between_elements_is_refused() {
        let error = eval("cpu_stride", &question(&json!({"stride_bytes": 6, "elem_bytes": 4}))).unwrap_err();
        assert_eq!(error.to_string(), "stride_bytes: 6 is not a multiple of elem_bytes = 4");
    }
}
