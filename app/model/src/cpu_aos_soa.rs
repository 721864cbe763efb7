//! Arrays of structs against structs of arrays on the processor.
//!
//! Question: struct and field size, how many neighbouring fields are read, layout, line. Answer: bytes and lines moved
//! per record, and the time relative to one array for each field.
//! Assumption: the arrays are much larger than the last-level cache and time goes with the lines moved; a line is
//! fetched once for all fields in it. Arithmetic and prefetching hide part of it: an upper bound for the ratio.
//! Source: arithmetic over cache lines; U. Drepper, "What Every Programmer Should Know About Memory", section 6.2.1.
//! Errors: a struct that is no multiple of its field, more fields than it holds.

use crate::aos_soa::{Layout, Record};
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, Map, Ratio, Text};

/// Bytes moved per byte used: the time relative to reading only what is used.
pub fn relative_time(record: Record, layout: Layout, line: Bytes) -> Ratio {
    Ratio(record.moved(layout, line) / record.used().0 as f64)
}

pub struct CpuAosSoa;

impl Model for CpuAosSoa {
    const ID: &'static str = "cpu_aos_soa";
    const TITLE: Text = Text::new("处理器上的 AoS 与 SoA", "AoS and SoA on the processor");
    const ASSUMES: Text = Text::new(
        "数组远大于末级缓存，时间正比于搬动的缓存行；一条缓存行里的各字段只搬一次。相对时间是上界。",
        "The arrays are much larger than the last cache and time goes with the lines moved; a line is fetched once for \
         all fields in it. The relative time is an upper bound.",
    );
    const SOURCE: &'static str = "U. Drepper, \"What Every Programmer Should Know About Memory\" (2007), section 6.2.1";
    const EXAMPLE: &'static str = r#"{"struct_bytes": 64, "field_bytes": 4, "layout": "aos"}"#;

    fn question() -> Vec<FieldSpec> {
        let mut question = Record::question();
        question.push(fields::cpu_line());
        question
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en));
        vec![
            num("bytes_per_record", "B", 8192.0, "每个结构体搬多少字节", "Bytes moved per struct"),
            num("lines_per_record", "1", 512.0, "每个结构体搬几条缓存行", "Cache lines moved per struct"),
            num("relative_time", "1", 256.0, "每个结构体的时间，soa 为 1", "Time per struct; soa is 1"),
            num("relative_rate", "1", 1.0, "有效带宽，soa 为 1", "Useful bandwidth; soa is 1"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (record, layout) = (Record::of(args)?, Layout::of(args));
        let line = Bytes(fields::chosen(args, "line_bytes"));
        let moved = record.moved(layout, line);
        let time = relative_time(record, layout, line);
        Ok(fields::answer([
            ("bytes_per_record", fields::number(moved)),
            ("lines_per_record", fields::number(moved / line.0 as f64)),
            ("relative_time", fields::number(time.0)),
            ("relative_rate", fields::number(1.0 / time.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(struct_bytes: u64, n_fields_read: u64, layout: Layout, expected: f64) {
        let record = Record { struct_bytes: Bytes(struct_bytes), field: Bytes(4), n_fields_read };
        assert_eq!(relative_time(record, layout, Bytes(64)), Ratio(expected));
    }

    /// Hand-worked with 64-byte lines.
    #[test]
    fn a_record_costs_the_lines_that_its_fields_lie_in() {
        check(16, 1, Layout::Aos, 4.0);
        check(64, 1, Layout::Aos, 16.0);
        check(128, 1, Layout::Aos, 16.0);
        check(64, 16, Layout::Aos, 1.0);
        check(64, 1, Layout::Soa, 1.0);
        check(96, 1, Layout::Aos, 16.0); // two records in three lines; each first field has a line of its own
        check(48, 1, Layout::Aos, 12.0); // four records in three lines, all of them needed
    }
}
