//! Arrays of structs against structs of arrays on the GPU.
//!
//! Question: struct and field size, how many neighbouring fields a kernel reads, layout, peak. Answer: sectors of a
//! warp request, efficiency, useful GB/s of a long run.
//! Assumption: each field is one load; the data are not in L2; a DRAM piece is fetched once for all fields that it
//! holds (so a kernel that reads the whole struct loses no bandwidth to the layout, only requests); enough bytes are in
//! flight. The first field read starts at the struct's beginning.
//! Source: arithmetic over sectors (`coalescing`) and DRAM pieces (`stream`); public example: a 12-byte struct, one
//! float: 12 sectors, 33 %.
//! Errors: a struct that is no multiple of its field, more fields than it holds.

use crate::access::{self, AccessError};
use crate::coalescing;
use crate::fields;
use crate::registry::Model;
use crate::stream::Stream;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, GbPerSec, Map, Ratio, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One array of structs.
    Aos,
    /// One array for each field.
    Soa,
}

impl Layout {
    pub(crate) fn of(args: &Args) -> Self {
        if args.text("layout") == "soa" { Self::Soa } else { Self::Aos }
    }
}

/// A struct of equal fields, of which the first `n_fields_read` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub struct_bytes: Bytes,
    pub field: Bytes,
    pub n_fields_read: u64,
}

impl Record {
    /// The record of a checked question.
    pub(crate) fn of(args: &Args) -> Result<Self, FieldError> {
        let struct_bytes = fields::bytes(args, "struct_bytes");
        let field = Bytes(fields::chosen(args, "field_bytes"));
        let n_fields_read = args.uint("n_fields_read");
        if !struct_bytes.0.is_multiple_of(field.0) {
            let reason = format!("{} is not a multiple of field_bytes = {}", struct_bytes.0, field.0);
            return Err(FieldError::conflict("struct_bytes", reason));
        }
        let n_fields = struct_bytes.0 / field.0;
        if n_fields_read > n_fields {
            let reason = format!("the struct has {n_fields} fields; {n_fields_read} cannot be read");
            return Err(FieldError::conflict("n_fields_read", reason));
        }
        Ok(Self { struct_bytes, field, n_fields_read })
    }

    pub(crate) fn question() -> Vec<FieldSpec> {
        let size = Text::new("结构体的字节数，须是字段的整数倍", "Bytes of the struct, a multiple of the field");
        let count = Text::new("读取结构体开头的几个字段", "How many fields are read, from the struct's beginning");
        vec![
            FieldSpec::int("struct_bytes", "B", 1, 4096, size),
            fields::access_bytes("field_bytes", Text::new("一个字段的字节数", "Bytes of one field")),
            fields::layout(),
            FieldSpec::int("n_fields_read", "1", 1, 4096, count).default_value(1),
        ]
    }

    pub fn used(self) -> Bytes {
        self.field * self.n_fields_read
    }

    /// Bytes that a memory of such pieces moves per record.
    pub fn moved(self, layout: Layout, piece: Bytes) -> f64 {
        match layout {
            Layout::Aos => {
                Stream { step: self.struct_bytes, offset: Bytes(0), used: self.used() }.moved_per_step(piece)
            }
            Layout::Soa => self.used().0 as f64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutCost {
    /// Mean over the loads, one for each field read.
    pub sectors_per_request: f64,
    pub efficiency: Ratio,
    /// Bytes from DRAM per record.
    pub dram_bytes_per_record: f64,
    pub useful: GbPerSec,
}

pub fn run(record: Record, layout: Layout, peak: GbPerSec, dram_piece: Bytes) -> Result<LayoutCost, AccessError> {
    let mut n_sectors = 0;
    for field_idx in 0..record.n_fields_read {
        let lanes = match layout {
            Layout::Aos => access::struct_field(record.struct_bytes, record.field * field_idx),
            Layout::Soa => access::struct_field(record.field, Bytes(0)),
        };
        n_sectors += coalescing::run(&lanes, record.field)?.sectors.len();
    }
    let used = (record.used() * access::WARP_LANES as u64).0 as f64;
    let moved = record.moved(layout, dram_piece);
    Ok(LayoutCost {
        sectors_per_request: n_sectors as f64 / record.n_fields_read as f64,
        efficiency: Ratio(used / (coalescing::SECTOR * n_sectors as u64).0 as f64),
        dram_bytes_per_record: moved,
        useful: GbPerSec(peak.0 * record.used().0 as f64 / moved),
    })
}

pub struct AosSoa;

impl Model for AosSoa {
    const ID: &'static str = "aos_soa";
    const TITLE: Text = Text::new("结构体数组与数组结构体（AoS，SoA）", "Array of structs or struct of arrays");
    const ASSUMES: Text = Text::new(
        "每个字段一次读取；数据不在 L2；同一块 DRAM 数据里的各字段只搬一次；在途字节足够多。",
        "One load for each field; the data are not in L2; a DRAM piece is fetched once for all fields in it; enough \
         bytes are in flight.",
    );
    const SOURCE: &'static str = "arithmetic over sectors and DRAM pieces: see coalescing and strided_bandwidth";
    const EXAMPLE: &'static str = r#"{"struct_bytes": 12, "field_bytes": 4, "layout": "aos", "peak_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        let mut question = Record::question();
        question.extend([fields::peak(), fields::dram_piece()]);
        question
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en));
        vec![
            num(
                "sectors_per_request",
                "1",
                32.0,
                "每次读取平均碰到几个 sector",
                "Sectors per warp request, mean over the fields read",
            ),
            num("efficiency", "1", 1.0, "L2 到 L1 的字节里有用的比例", "Bytes asked for per byte from L2 to L1"),
            num("dram_bytes_per_record", "B", 4224.0, "每个结构体从 DRAM 搬多少字节", "Bytes from DRAM per struct"),
            num("gb_per_s", "GB/s", 1.0e6, "有效带宽", "Useful bandwidth"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let record = Record::of(args)?;
        let piece = Bytes(fields::chosen(args, "dram_piece_bytes"));
        let found = run(record, Layout::of(args), GbPerSec(args.num("peak_gb_per_s")), piece)
            .map_err(|error| FieldError::conflict("struct_bytes", error.to_string()))?;
        Ok(fields::answer([
            ("sectors_per_request", fields::number(found.sectors_per_request)),
            ("efficiency", fields::number(found.efficiency.0)),
            ("dram_bytes_per_record", fields::number(found.dram_bytes_per_record)),
            ("gb_per_s", fields::number(found.useful.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn answers(struct_bytes: u64, n_fields_read: u64, layout: &str, sectors: u64, efficiency: f64, gb_per_s: f64) {
        let given = json!({"struct_bytes": struct_bytes, "field_bytes": 4, "n_fields_read": n_fields_read,
            "layout": layout, "peak_gb_per_s": 4800});
        let answer = eval("aos_soa", &question(&given)).unwrap();
        assert_eq!(answer["sectors_per_request"], sectors);
        assert_eq!(answer["efficiency"].as_f64(), Some(efficiency));
        assert_eq!(answer["gb_per_s"].as_f64(), Some(gb_per_s));
    }

    /// Public row 32: the first float of a 12-byte struct takes 12 sectors, 33 %.
    #[test]
    fn a_field_of_a_small_struct() {
        answers(12, 1, "aos", 12, 1.0 / 3.0, 1600.0);
        answers(12, 1, "soa", 4, 1.0, 4800.0);
    }

    /// A struct as long as a sector fills 32 sectors; one of 64 bytes costs DRAM twice as much again.
    #[test]
    fn long_structs_stop_getting_worse_at_a_dram_piece() {
        answers(32, 1, "aos", 32, 0.125, 600.0);
        answers(64, 1, "aos", 32, 0.125, 300.0);
        answers(256, 1, "aos", 32, 0.125, 300.0);
    }

    /// Reading all of a struct wastes requests, not bandwidth.
    #[test]
    fn reading_every_field_moves_no_waste_from_dram() {
        answers(12, 3, "aos", 12, 1.0 / 3.0, 4800.0);
        answers(32, 8, "aos", 32, 0.125, 4800.0);
    }

    #[track_caller]
    fn refuse(given: Value, field: &str) {
        assert_eq!(eval("aos_soa", &question(&given)).unwrap_err().field(), field, "{given}");
    }

    #[test]
    fn errors_name_the_field() {
        refuse(json!({"struct_bytes": 10, "field_bytes": 4, "layout": "aos", "peak_gb_per_s": 1}), "struct_bytes");
        refuse(
            json!({"struct_bytes": 12, "field_bytes": 4, "n_fields_read": 4, "layout": "aos", "peak_gb_per_s": 1}),
            "n_fields_read",
        );
        refuse(json!({"struct_bytes": 12, "field_bytes": 4, "layout": "table", "peak_gb_per_s": 1}), "layout");
    }
}
