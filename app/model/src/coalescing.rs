//! Which sectors, lines and DRAM pieces one warp-wide global access touches.
//!
//! Question: 32 lane addresses (some perhaps inactive) and an access width. Answer: the sets of 32-byte sectors,
//! 128-byte lines and 64-byte DRAM pieces, and how many of the bytes moved were asked for.
//! Assumption: compute capability 6.0 or later, caches cold, one request by itself. Sectors are what crosses from L2 to
//! L1; what a neighbouring warp reuses is not counted (`strided_bandwidth` looks at the whole stream).
//! Source: sectors and lines as Nsight Compute's Kernel Profiling Guide, "Memory Tables", defines them; CUDA C++ Best
//! Practices Guide, "Coalesced Access to Global Memory". That DRAM moves 64-byte pieces was measured with counters on
//! an H200 (33.56 MB at stride 8, 67.11 MB at stride 16 for the same number of sectors).
//! Errors: wrong lane count, width, alignment or a negative address ([`AccessError`]).

use crate::access::{self, AccessError};
use crate::fields::{self, Pattern};
use crate::registry::Model;
use std::collections::BTreeSet;
use vramlab_units::{Args, ByteAddr, Bytes, FieldError, FieldKind, FieldSpec, Map, Ratio, Text, Value};

/// What L1 asks L2 for.
pub const SECTOR: Bytes = Bytes(32);
/// A cache line of L1 and L2: four sectors.
pub const LINE: Bytes = Bytes(128);
/// What DRAM hands over at least, measured on an H200.
pub const DRAM_PIECE: Bytes = Bytes(64);

/// The answer for one request. Sets are sorted; an index is the address divided by the size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coalesced {
    pub sectors: Vec<u64>,
    pub lines: Vec<u64>,
    pub dram_pieces: Vec<u64>,
    /// For each lane, the place of its sector in `sectors`. An aligned access never spans two.
    pub sector_of_lane: Vec<Option<usize>>,
    /// Different bytes asked for: a byte wanted by many lanes counts once.
    pub bytes_used: Bytes,
}

impl Coalesced {
    pub fn bytes_moved(&self) -> Bytes {
        SECTOR * self.sectors.len() as u64
    }

    pub fn dram_bytes(&self) -> Bytes {
        DRAM_PIECE * self.dram_pieces.len() as u64
    }

    /// Bytes used per byte moved; undefined when no lane takes part.
    pub fn efficiency(&self) -> Option<Ratio> {
        let moved = self.bytes_moved().0;
        (moved > 0).then(|| Ratio(self.bytes_used.0 as f64 / moved as f64))
    }
}

/// Answers for one request of `width` bytes a lane.
pub fn run(lane_addrs: &[Option<ByteAddr>], width: Bytes) -> Result<Coalesced, AccessError> {
    access::check(lane_addrs, width)?;
    let pieces = |size: Bytes| -> Vec<u64> {
        let set: BTreeSet<u64> = access::active(lane_addrs).map(|(_, addr)| addr.0 / size.0).collect();
        set.into_iter().collect()
    };
    let sectors = pieces(SECTOR);
    let sector_of_lane =
        lane_addrs.iter().map(|addr| addr.and_then(|addr| sectors.binary_search(&(addr.0 / SECTOR.0)).ok())).collect();
    let n_words = pieces(width).len() as u64;
    Ok(Coalesced {
        lines: pieces(LINE),
        dram_pieces: pieces(DRAM_PIECE),
        sector_of_lane,
        bytes_used: width * n_words,
        sectors,
    })
}

/// Sectors of a warp whose lanes read `elem` bytes every `stride_elems` elements from an aligned base, in closed form.
pub fn sectors_of_stride(stride_elems: u64, elem: Bytes) -> u64 {
    (stride_elems * elem.0).min(access::WARP_LANES as u64) // as many bytes apart as lanes over 32-byte sectors
}

const PATTERN: Pattern =
    Pattern { stride: "stride_bytes", offset: "offset_bytes", list: "addresses", width: "elem_bytes" };

/// The registry entry: a stride, or 32 addresses.
pub struct Coalescing;

impl Model for Coalescing {
    const ID: &'static str = "coalescing";
    const TITLE: Text = Text::new("合并访问（coalesced access）", "Coalesced access");
    const ASSUMES: Text = Text::new(
        "计算能力 6.0 及以上；缓存为空，只看这一条请求，不计相邻 warp 的复用。DRAM 每次至少给 64 字节（H200 上由计数器测得）。",
        "Compute capability 6.0 or later; caches cold; one request by itself, without reuse by neighbouring warps. \
         DRAM hands over 64 bytes at least (counted on an H200).",
    );
    const SOURCE: &'static str = "Nsight Compute Kernel Profiling Guide, \"Memory Tables\" (sector, line); \
        CUDA C++ Best Practices Guide, \"Coalesced Access to Global Memory\"; \
        DRAM pieces: counters of an H200, driver 580.159.04, 2026-11-30";
    const EXAMPLE: &'static str = r#"{"stride_bytes": 8, "elem_bytes": 4}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int(
                "stride_bytes",
                "B",
                -(1 << 20),
                1 << 20,
                Text::new("相邻 lane 的地址相差多少字节", "Distance between the addresses of neighbouring lanes"),
            )
            .optional(),
            fields::access_bytes("elem_bytes", Text::new("每个 lane 读多少字节", "Bytes that each lane reads")),
            FieldSpec::int(
                "offset_bytes",
                "B",
                0,
                1 << 40,
                Text::new("lane 0 的地址；0 对齐到 128 字节", "Address of lane 0; 0 is aligned to 128 bytes"),
            )
            .default_value(0),
            FieldSpec::int(
                "lanes",
                "1",
                0,
                32,
                Text::new("前多少个 lane 参与", "How many of the first lanes take part"),
            )
            .default_value(32),
            fields::active_mask(),
            FieldSpec::new(
                "addresses",
                "B",
                FieldKind::IntList { min_len: 32, max_len: 32, min: 0, max: 1 << 40 },
                Text::new(
                    "直接给出 32 个 lane 的字节地址，代替步长",
                    "The 32 byte addresses themselves, instead of a stride",
                ),
            )
            .optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, unit, max, zh, en| FieldSpec::int(key, unit, 0, max, Text::new(zh, en));
        vec![
            int("sectors", "1", 32, "碰到多少个 32 字节 sector", "32-byte sectors touched"),
            int("lines", "1", 32, "碰到多少条 128 字节缓存行", "128-byte cache lines touched"),
            int("bytes_moved", "B", 1024, "从 L2 搬到 L1 的字节数，32 × sectors", "Bytes from L2 to L1, 32 × sectors"),
            int("bytes_used", "B", 512, "真正要的字节数，重复的只算一次", "Bytes asked for, each counted once"),
            FieldSpec::num(
                "efficiency",
                "1",
                0.0,
                1.0,
                Text::new(
                    "bytes_used ÷ bytes_moved；没有 lane 参与时无定义（null）",
                    "bytes_used ÷ bytes_moved; undefined (null) when no lane takes part",
                ),
            )
            .optional(),
            int("dram_bytes", "B", 2048, "DRAM 搬出的字节数，按 64 字节一块", "Bytes from DRAM, in pieces of 64"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let width = Bytes(fields::chosen(args, "elem_bytes"));
        let mask = fields::mask(args) & access::first_lanes(args.uint("lanes"));
        let lane_addrs = PATTERN.lane_addrs(args, mask, Bytes(1))?;
        let found = run(&lane_addrs, width).map_err(|error| PATTERN.blame(args, Bytes(1), &error))?;
        Ok(fields::answer([
            ("sectors", found.sectors.len().into()),
            ("lines", found.lines.len().into()),
            ("bytes_moved", found.bytes_moved().0.into()),
            ("bytes_used", found.bytes_used.0.into()),
            ("efficiency", found.efficiency().map_or(Value::Null, |ratio| fields::number(ratio.0))),
            ("dram_bytes", found.dram_bytes().0.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{ALL_LANES, by_lane, strided, struct_field};
    use crate::fields::testing::question;
    use crate::registry::eval;
    use proptest::prelude::*;
    use serde_json::json;

    const FP32: Bytes = Bytes(4);

    #[track_caller]
    fn check(lane_addrs: &[Option<ByteAddr>], width: Bytes, sectors: usize, lines: usize, efficiency: f64) {
        let found = run(lane_addrs, width).unwrap();
        assert_eq!(found.sectors.len(), sectors);
        assert_eq!(found.lines.len(), lines);
        assert_eq!(found.efficiency(), Some(Ratio(efficiency)));
    }

    /// Test vector 1 of the chapter's brief, and public row 32 (strides 1, 2, 4, 8, 32: 4, 8, 16, 32, 32 sectors; 4 and
    /// 32 are also in the chapter summary "Memory coalescing" of GPU Programming with Triton, Manning).
    #[test]
    fn a_stride_spreads_a_warp_over_sectors() {
        for (stride, sectors, lines, efficiency) in [
            (1, 4, 1, 1.0),
            (2, 8, 2, 0.5),
            (3, 12, 3, 1.0 / 3.0),
            (4, 16, 4, 0.25),
            (8, 32, 8, 0.125),
            (32, 32, 32, 0.125),
            (33, 32, 32, 0.125),
        ] {
            check(&strided(stride * 4, 0, ALL_LANES).unwrap(), FP32, sectors, lines, efficiency);
        }
    }

    /// Test vector 2, and public row 32 (offset of 4 bytes: 5 sectors, 80 %).
    #[test]
    fn an_offset_spills_into_a_fifth_sector() {
        for (offset, sectors, lines, efficiency) in [(0, 4, 1, 1.0), (1, 5, 2, 0.8), (8, 4, 2, 1.0), (31, 5, 2, 0.8)] {
            check(&strided(4, offset * 4, ALL_LANES).unwrap(), FP32, sectors, lines, efficiency);
        }
    }

    /// Test vector 3: broadcast, float4, half; and public row 32 (12-byte AoS field: 12 sectors, 33 %).
    #[test]
    fn widths_and_layouts() {
        check(&strided(0, 0, ALL_LANES).unwrap(), FP32, 1, 1, 0.125);
        check(&strided(16, 0, ALL_LANES).unwrap(), Bytes(16), 16, 4, 1.0);
        check(&strided(2, 0, ALL_LANES).unwrap(), Bytes(2), 2, 1, 1.0);
        check(&struct_field(Bytes(12), Bytes(0)), FP32, 12, 3, 1.0 / 3.0);
    }

    /// Check questions 1 and 3 of the brief.
    #[test]
    fn the_check_questions_of_the_chapter() {
        check(&strided(24, 0, ALL_LANES).unwrap(), FP32, 24, 6, 1.0 / 6.0);
        check(&strided(64, 0, ALL_LANES).unwrap(), Bytes(1), 32, 16, 1.0 / 32.0);
    }

    /// Counters of an H200, 32 768 requests: 33.56 MB of DRAM at stride 8, 67.11 MB at 16 and 32, for equal sectors.
    #[test]
    fn dram_moves_pieces_of_64_bytes() {
        for (stride, dram_bytes) in [(1, 128), (2, 256), (4, 512), (8, 1024), (16, 2048), (32, 2048)] {
            let found = run(&strided(stride * 4, 0, ALL_LANES).unwrap(), FP32).unwrap();
            assert_eq!(found.dram_bytes(), Bytes(dram_bytes), "stride {stride}");
        }
    }

    /// Test vector 8: no lane takes part.
    #[test]
    fn no_lane_moves_nothing_and_has_no_efficiency() {
        let found = run(&strided(4, 0, 0).unwrap(), FP32).unwrap();
        assert_eq!((found.sectors.len(), found.bytes_moved(), found.efficiency()), (0, Bytes(0), None));
        let answer = eval("coalescing", &question(&json!({"stride_bytes": 4, "elem_bytes": 4, "lanes": 0}))).unwrap();
        assert_eq!(answer["efficiency"], Value::Null);
        assert_eq!(answer["sectors"], 0);
    }

    #[test]
    fn each_lane_knows_its_sector() {
        let lanes = by_lane(0b111, |lane| [64, 0, 68][lane as usize % 3]).unwrap();
        let found = run(&lanes, FP32).unwrap();
        assert_eq!(found.sectors, [0, 2]);
        assert_eq!(found.sector_of_lane[..4], [Some(1), Some(0), Some(1), None]);
    }

    /// The shortcut of the brief, 4s sectors up to stride 8 and 32 beyond, against enumeration.
    #[test]
    fn the_closed_form_counts_as_the_enumeration_does() {
        for elem in [1, 2, 4, 8, 16] {
            for stride in 1..=64 {
                let counted = run(&strided(stride * elem, 0, ALL_LANES).unwrap(), Bytes(elem as u64)).unwrap();
                let expected = sectors_of_stride(stride as u64, Bytes(elem as u64));
                assert_eq!(counted.sectors.len() as u64, expected, "stride {stride}, {elem} bytes");
            }
        }
        for stride in 1..=8 {
            assert_eq!(sectors_of_stride(stride, FP32), 4 * stride);
        }
    }

    #[test]
    fn the_question_of_the_command_line() {
        let answer = eval("coalescing", &question(&json!({"stride_bytes": 8, "elem_bytes": 4}))).unwrap();
        let expected = json!({"sectors": 8, "lines": 2, "bytes_moved": 256, "bytes_used": 128, "efficiency": 0.5,
            "dram_bytes": 256});
        assert_eq!(Value::Object(answer), expected);
    }

    #[test]
    fn addresses_replace_the_stride() {
        let addresses: Vec<u64> = (0..32).rev().map(|lane| lane * 4).collect();
        let given = json!({"addresses": addresses, "elem_bytes": 4, "active_mask": 0xFF});
        assert_eq!(eval("coalescing", &question(&given)).unwrap()["sectors"], 1);
    }

    #[track_caller]
    fn refuse(given: Value, field: &str, says: &str) {
        let error = eval("coalescing", &question(&given)).unwrap_err();
        assert_eq!(error.field(), field, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }

    /// Test vector 8: every wrong input names its field, the value and what is legal.
    #[test]
    fn errors_name_the_field() {
        refuse(
            json!({"stride_bytes": 4, "elem_bytes": 4, "offset_bytes": 2}),
            "offset_bytes",
            "address 2 is not aligned to 4",
        );
        refuse(json!({"stride_bytes": 2, "elem_bytes": 4}), "stride_bytes", "address 2 is not aligned to 4");
        refuse(json!({"stride_bytes": 3, "elem_bytes": 3}), "elem_bytes", "one of 1, 2, 4, 8, 16");
        refuse(json!({"stride_bytes": 4, "elem_bytes": 4, "lanes": 33}), "lanes", "from 0 to 32");
        refuse(json!({"stride_bytes": 4, "elem_bytes": 4, "offset_bytes": -4}), "offset_bytes", "from 0 to");
        refuse(json!({"stride_bytes": -4, "elem_bytes": 4}), "offset_bytes", "at least 124");
        refuse(json!({"elem_bytes": 4}), "stride_bytes", "missing");
        refuse(json!({"stride_bytes": 4}), "elem_bytes", "missing");
        refuse(json!({"stride_byte": 4, "elem_bytes": 4}), "stride_byte", "did you mean \"stride_bytes\"");
        for n_lanes in [31, 33] {
            refuse(json!({"addresses": vec![0; n_lanes], "elem_bytes": 4}), "addresses", "32 to 32 integers");
        }
        refuse(json!({"addresses": vec![-4; 32], "elem_bytes": 4}), "addresses", "-4");
        refuse(json!({"addresses": vec![2; 32], "elem_bytes": 4}), "addresses", "address 2 is not aligned to 4");
        refuse(json!({"addresses": vec![0; 32], "stride_bytes": 4, "elem_bytes": 4}), "addresses", "not both");
    }

    proptest! {
        /// "Coalesced" has nothing to do with the order of the lanes.
        #[test]
        fn any_permutation_of_lanes_touches_the_same_sectors(
            addrs in Just((0..32u64).map(|lane| lane * 4).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let lanes: Vec<_> = addrs.into_iter().map(|addr| Some(ByteAddr(addr))).collect();
            prop_assert_eq!(run(&lanes, FP32).unwrap().sectors, vec![0, 1, 2, 3]);
        }

        #[test]
        fn sectors_lie_between_the_bytes_used_and_the_lanes(
            elems in proptest::collection::vec(proptest::option::of(0u64..4096), 32),
            width in proptest::sample::select(access::ACCESS_BYTES.to_vec()),
        ) {
            let lanes: Vec<_> = elems.iter().map(|elem| elem.map(|elem| ByteAddr(elem * width))).collect();
            let found = run(&lanes, Bytes(width)).unwrap();
            let n_sectors = found.sectors.len() as u64;
            prop_assert!(n_sectors >= found.bytes_used.0.div_ceil(32));
            prop_assert!(n_sectors <= elems.iter().flatten().count() as u64);
            prop_assert!(found.lines.len() <= found.dram_pieces.len());
            prop_assert!(found.dram_pieces.len() <= found.sectors.len());
            prop_assert!(found.efficiency().is_none_or(|ratio| ratio.0 > 0.0 && ratio.0 <= 1.0));
        }
    }
}
