//! Useful bandwidth of a long strided read from DRAM.
//!
//! Question: stride, element, peak bandwidth and the least that DRAM hands over. Answer: useful GB/s, with what one
//! warp request moves on each level.
//! Assumption: the data are not in L2, and a piece that neighbouring warps share is fetched once. Enough bytes are in
//! flight, unless the question says how many: then Little's law is a second ceiling (`bytes_in_flight`), and a kernel
//! below it shows no effect of the stride. Address translation and DRAM rows are left out: on an H200 the rate falls
//! below this model past stride 16 (281 at 24, 251 at 32, 180 GB/s at 64 where it says 291).
//! Source: arithmetic; held by counters and times of an H200 (stride 1 to 16, driver 580.159.04, 2026-11-30), and by
//! CUDA C++ Best Practices Guide, "Strided Accesses".
//! Errors: fields out of range; bytes in flight without a latency, or a latency without them.

use crate::access;
use crate::bytes_in_flight;
use crate::coalescing;
use crate::fields;
use crate::registry::Model;
use crate::stream::Stream;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, GbPerSec, Map, Nanos, Ratio, Text};

/// The question. `stride_elems` is at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub stride_elems: u64,
    pub elem: Bytes,
    pub offset_elems: u64,
    pub peak: GbPerSec,
    pub dram_piece: Bytes,
    /// What the loads in flight sustain, if that is known to be little.
    pub sustained: Option<GbPerSec>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strided {
    /// Bytes that the kernel asked for, per second.
    pub useful: GbPerSec,
    /// Bytes asked for per byte that DRAM moves.
    pub useful_share: Ratio,
    /// Sectors of one warp request; every warp of the stream has as many.
    pub sectors_per_request: u64,
    /// Bytes from DRAM per warp request, on average over the stream.
    pub dram_bytes_per_request: f64,
    pub bound: Bound,
}

/// What decides the useful rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Every byte moved is used.
    Peak,
    /// The bytes between the elements travel too: the rate falls with the stride.
    Stride,
    /// One piece per element: a longer stride costs no more.
    Piece,
    /// Too few bytes in flight: the memory waits for the kernel, and the stride does not show.
    Latency,
}

impl Bound {
    pub fn id(self) -> &'static str {
        match self {
            Self::Peak => "peak",
            Self::Stride => "stride",
            Self::Piece => "piece",
            Self::Latency => "latency",
        }
    }
}

pub fn run(question: Question) -> Result<Strided, access::AccessError> {
    let Question { stride_elems, elem, offset_elems, peak, dram_piece, sustained } = question;
    let step = elem * stride_elems;
    let lanes = access::strided(step.0 as i64, (elem * offset_elems).0 as i64, access::ALL_LANES)?;
    let request = coalescing::run(&lanes, elem)?;
    let stream = Stream { step, offset: Bytes(0), used: elem };
    let useful_share = stream.useful_share(dram_piece);
    let dram_useful = GbPerSec(peak.0 * useful_share.0);
    let sustained = sustained.filter(|sustained| *sustained < dram_useful);
    let bound = match step {
        _ if sustained.is_some() => Bound::Latency,
        step if step == elem => Bound::Peak,
        step if step < dram_piece => Bound::Stride,
        _ => Bound::Piece,
    };
    Ok(Strided {
        useful: sustained.unwrap_or(dram_useful),
        useful_share,
        sectors_per_request: request.sectors.len() as u64,
        dram_bytes_per_request: stream.moved_per_step(dram_piece) * access::WARP_LANES as f64,
        bound,
    })
}

pub struct StridedBandwidth;

impl Model for StridedBandwidth {
    const ID: &'static str = "strided_bandwidth";
    const TITLE: Text = Text::new("跨步读取的有效带宽", "Useful bandwidth of a strided read");
    const ASSUMES: Text = Text::new(
        "数据不在 L2；在途字节足够多；相邻 warp 共用的数据块只搬一次。不计地址转换和 DRAM 换行，步长很大时实测会更低。",
        "The data are not in L2; enough bytes are in flight; a piece shared by neighbouring warps is fetched once. \
         Address translation and DRAM rows are left out, so very long strides measure lower.",
    );
    const SOURCE: &'static str = "arithmetic over 64-byte DRAM pieces, as counted on an H200 (driver 580.159.04, \
        2026-11-30); CUDA C++ Best Practices Guide, \"Strided Accesses\"";
    const EXAMPLE: &'static str = r#"{"stride_elems": 8, "elem_bytes": 4, "peak_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int(
                "stride_elems",
                "element",
                1,
                4096,
                Text::new("相邻 lane 相差几个元素", "Distance of neighbouring lanes in elements"),
            ),
            fields::access_bytes("elem_bytes", Text::new("每个 lane 读多少字节", "Bytes that each lane reads")),
            fields::peak(),
            FieldSpec::int(
                "offset_elems",
                "element",
                0,
                1 << 20,
                Text::new("第一个元素的位置", "Place of the first element"),
            )
            .default_value(0),
            fields::dram_piece(),
            FieldSpec::int(
                "bytes_in_flight",
                "B",
                1,
                1 << 40,
                Text::new(
                    "同时在途的有用字节数；不填表示足够多，填了就要同时给 latency_ns",
                    "Useful bytes in flight at once; absent means enough; needs latency_ns",
                ),
            )
            .optional(),
            FieldSpec::num(
                "latency_ns",
                "ns",
                0.1,
                1.0e6,
                Text::new(
                    "有负载时的读取延迟，与 bytes_in_flight 一起给",
                    "Latency of a load on a busy memory, with bytes_in_flight",
                ),
            )
            .optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en));
        vec![
            num(
                "gb_per_s",
                "GB/s",
                1.0e6,
                "有效带宽：每秒真正要的字节",
                "Useful bandwidth: bytes asked for per second",
            ),
            num("useful_share", "1", 1.0, "DRAM 搬出的字节里有用的比例", "Bytes asked for per byte that DRAM moves"),
            FieldSpec::int(
                "sectors_per_request",
                "1",
                1,
                32,
                Text::new("每条 warp 请求的 sector 数", "Sectors per warp request"),
            ),
            num(
                "dram_bytes_per_request",
                "B",
                4096.0,
                "每条 warp 请求平均从 DRAM 搬多少字节",
                "Bytes from DRAM per warp request, averaged over the stream",
            ),
            fields::choice(
                "bound",
                "",
                &["peak", "stride", "piece", "latency"],
                Text::new(
                    "什么决定有效带宽：peak 没有浪费，stride 元素之间的字节也要搬，piece 每个元素占一整块、步长再大也不变，latency 在途字节太少、步长的影响显不出来",
                    "What decides the rate: peak, nothing is wasted; stride, the bytes between elements travel too; \
                     piece, one piece per element, flat from there on; latency, too few bytes in flight for the stride \
                     to show",
                ),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let question = Question {
            stride_elems: args.uint("stride_elems"),
            elem: Bytes(fields::chosen(args, "elem_bytes")),
            offset_elems: args.uint("offset_elems"),
            peak: GbPerSec(args.num("peak_gb_per_s")),
            dram_piece: Bytes(fields::chosen(args, "dram_piece_bytes")),
            sustained: sustained(args)?,
        };
        let found = run(question).map_err(|error| FieldError::conflict("stride_elems", error.to_string()))?;
        Ok(fields::answer([
            ("gb_per_s", fields::number(found.useful.0)),
            ("useful_share", fields::number(found.useful_share.0)),
            ("sectors_per_request", found.sectors_per_request.into()),
            ("dram_bytes_per_request", fields::number(found.dram_bytes_per_request)),
            ("bound", found.bound.id().into()),
        ]))
    }
}

/// The ceiling by Little's law, if the question asks for it.
fn sustained(args: &Args) -> Result<Option<GbPerSec>, FieldError> {
    match (args.has("bytes_in_flight"), args.has("latency_ns")) {
        (false, false) => Ok(None),
        (true, true) => {
            let in_flight = fields::bytes(args, "bytes_in_flight");
            Ok(Some(bytes_in_flight::rate_sustained(in_flight, Nanos(args.num("latency_ns")))))
        }
        (true, false) => Err(FieldError::conflict("latency_ns", "needed because bytes_in_flight is given")),
        (false, true) => Err(FieldError::conflict("bytes_in_flight", "needed because latency_ns is given")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    fn fp32_question(stride_elems: u64, peak: f64) -> Question {
        let (elem, dram_piece) = (Bytes(4), coalescing::DRAM_PIECE);
        Question { stride_elems, elem, offset_elems: 0, peak: GbPerSec(peak), dram_piece, sustained: None }
    }

    fn fp32(stride_elems: u64, peak: f64) -> Strided {
        run(fp32_question(stride_elems, peak)).unwrap()
    }

    /// Measured on an H200 with 8 loads a thread in flight: useful GB/s at strides 2, 3, 4, 8, 16. The ceiling is the
    /// float4 read of the same start, 4663 GB/s.
    #[test]
    fn strides_to_16_fall_as_measured() {
        for (stride, measured) in [(2, 2305.0), (3, 1549.0), (4, 1168.0), (8, 586.0), (16, 292.0)] {
            let predicted = fp32(stride, 4663.0).useful.0;
            assert!((predicted / measured - 1.0).abs() < 0.02, "stride {stride}: {predicted} against {measured}");
        }
    }

    /// Counters of an H200 over 32 768 requests: MB from DRAM at strides 1, 2, 4, 8, 16, 32, within 0.07 %.
    #[test]
    fn dram_bytes_are_as_counted() {
        for (stride, counted_mb) in [(1, 4.197), (2, 8.391), (4, 16.78), (8, 33.56), (16, 67.11), (32, 67.11)] {
            let predicted_mb = fp32(stride, 1.0).dram_bytes_per_request * 32_768.0 / 1e6;
            assert!((predicted_mb / counted_mb - 1.0).abs() < 0.0008, "stride {stride}: {predicted_mb}");
        }
    }

    #[test]
    fn between_8_and_16_only_dram_notices() {
        let (eight, sixteen, more) = (fp32(8, 4800.0), fp32(16, 4800.0), fp32(64, 4800.0));
        assert_eq!((eight.sectors_per_request, sixteen.sectors_per_request), (32, 32));
        assert_eq!((eight.useful.0, sixteen.useful.0, more.useful.0), (600.0, 300.0, 300.0));
        assert_eq!([fp32(1, 1.0).bound, eight.bound, sixteen.bound], [Bound::Peak, Bound::Stride, Bound::Piece]);
    }

    #[test]
    fn a_card_with_32_byte_pieces_is_flat_from_stride_8() {
        let on_that_card = |stride| run(Question { dram_piece: Bytes(32), ..fp32_question(stride, 320.0) }).unwrap();
        assert_eq!((on_that_card(8).useful.0, on_that_card(64).useful.0), (40.0, 40.0));
    }

    #[test]
    fn an_offset_costs_a_sector_but_no_dram() {
        let found = run(Question { offset_elems: 1, ..fp32_question(1, 4800.0) }).unwrap();
        assert_eq!((found.sectors_per_request, found.useful.0), (5, 4800.0));
    }

    /// Measured on an H200 with one 4-byte load a thread, 2048 threads on 132 SMs, 643 ns: 1682 GB/s at stride 1 and
    /// 1635 at stride 2. The stride shows only where DRAM gives less than that.
    #[test]
    fn with_one_small_load_a_thread_strides_1_and_2_look_alike() {
        let few = |stride| {
            let given = json!({"stride_elems": stride, "elem_bytes": 4, "peak_gb_per_s": 4663,
                "bytes_in_flight": 2048 * 132 * 4, "latency_ns": 643});
            eval("strided_bandwidth", &question(&given)).unwrap()
        };
        for (stride, measured) in [(1, 1682.0), (2, 1635.0)] {
            let found = few(stride)["gb_per_s"].as_f64().unwrap();
            assert!((found / measured - 1.0).abs() < 0.03, "stride {stride}: {found}");
            assert_eq!(few(stride)["bound"], "latency");
        }
        assert_eq!(few(4)["bound"], "stride");
    }

    #[test]
    fn bytes_in_flight_need_a_latency() {
        let given = json!({"stride_elems": 1, "elem_bytes": 4, "peak_gb_per_s": 4663, "bytes_in_flight": 4096});
        assert_eq!(eval("strided_bandwidth", &question(&given)).unwrap_err().field(), "latency_ns");
    }
}
