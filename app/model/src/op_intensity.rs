//! FLOPs and bytes of a few operations: what a roofline needs to know of a kernel before it is written.
//!
//! Question: the operation, its size, the bytes of an element, how far a block shares what it loads. Answer: FLOPs, and
//! bytes at HBM, L2 and L1, with the intensity at each.
//! Assumption: HBM bytes are compulsory, each input read once and each output written once. Bytes further in follow from
//! tiling: a block of `tile` × `tile` outputs loads its operands from L2 once, a warp of `inner_tile` × `inner_tile`
//! outputs loads its own from L1 or shared memory once; a tile of 1 shares nothing. An exponential counts
//! as one FLOP. Further one-FLOP steps per output (bias, activation) cost no bytes when fused, and a read and a write of
//! every output each when they are kernels of their own.
//! Source: the course's op library; 2mnk and (mk + kn + mn) elements for a product as in Williams, Waterman, Patterson,
//! CACM 52(4), 2009, and NVIDIA, "Matrix Multiplication Background User's Guide", "Math And Memory Bounds".
//! Errors: fields out of range; a batch for an operation that has none.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `y = x`.
    Copy,
    /// `y = a·x + y`.
    Saxpy,
    /// The sum of `x·y`.
    Dot,
    /// Each point of a plane from itself and its four neighbours.
    Stencil5,
    /// A row, in three passes: maximum, sum of exponentials, division.
    Softmax,
    /// One vector by n × k weights: a linear layer while it decodes one token.
    Gemv,
    /// m × k by k × n.
    Gemm,
}

impl Op {
    pub const ALL: [Self; 7] =
        [Self::Copy, Self::Saxpy, Self::Dot, Self::Stencil5, Self::Softmax, Self::Gemv, Self::Gemm];

    pub fn id(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Saxpy => "saxpy",
            Self::Dot => "dot",
            Self::Stencil5 => "stencil5",
            Self::Softmax => "softmax",
            Self::Gemv => "gemv",
            Self::Gemm => "gemm",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.id() == id)
    }

    /// Matrix products, which tensor cores can do; the rest runs on the ordinary lanes.
    pub fn is_product(self) -> bool {
        matches!(self, Self::Gemv | Self::Gemm)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub op: Op,
    pub elem_bytes: f64,
    /// Elements; of a product the columns.
    pub n: f64,
    /// Rows of a product: the batch.
    pub m: f64,
    pub k: f64,
    pub tile: f64,
    pub inner_tile: f64,
    pub extra_steps: f64,
    pub is_fused: bool,
}

/// FLOPs, and bytes at each level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    pub flops: f64,
    pub hbm_bytes: f64,
    pub l2_bytes: f64,
    pub l1_bytes: f64,
}

pub fn run(question: &Question) -> Traffic {
    let Question { op, elem_bytes, n, tile, extra_steps, is_fused, .. } = *question;
    // FLOPs, elements at HBM, L2 and L1, and outputs.
    let (flops, hbm, l2, l1, outputs) = match op {
        Op::Copy => (0.0, 2.0 * n, 2.0 * n, 2.0 * n, n),
        Op::Saxpy => (2.0 * n, 3.0 * n, 3.0 * n, 3.0 * n, n),
        Op::Dot => (2.0 * n, 2.0 * n, 2.0 * n, 2.0 * n, 1.0),
        Op::Stencil5 => (5.0 * n, 2.0 * n, n * (1.0 + 4.0 / tile) + n, 6.0 * n, n),
        Op::Softmax => (5.0 * n, 2.0 * n, 2.0 * n, 4.0 * n, n),
        Op::Gemv | Op::Gemm => product(question),
    };
    let extra = if is_fused { 0.0 } else { 2.0 * outputs * extra_steps };
    let bytes = |elems: f64| (elems + extra) * elem_bytes;
    Traffic { flops: flops + outputs * extra_steps, hbm_bytes: bytes(hbm), l2_bytes: bytes(l2), l1_bytes: bytes(l1) }
}

fn product(question: &Question) -> (f64, f64, f64, f64, f64) {
    let Question { n, m, k, tile, inner_tile, .. } = *question;
    // Each block of outputs reads its rows and columns once; a tile cannot be larger than the matrix.
    let loads = |side: f64| m * n * k * (1.0 / side.min(m) + 1.0 / side.min(n));
    let inner = inner_tile.min(tile);
    (2.0 * m * n * k, m * k + k * n + m * n, loads(tile) + m * n, loads(inner) + m * n, m * n)
}

pub struct OpIntensity;

impl Model for OpIntensity {
    const ID: &'static str = "op_intensity";
    const TITLE: Text = Text::new("一个算子的运算与字节", "FLOPs and bytes of an operation");
    const ASSUMES: Text = Text::new(
        "显存字节按最少算：输入各读一次，输出各写一次。L2、L1 的字节由分块决定。指数算一次运算。",
        "HBM bytes are the least possible: inputs read once, outputs written once. Tiles decide the bytes of L2 and L1. An \
         exponential counts as one FLOP.",
    );
    const SOURCE: &'static str = "Williams, Waterman, Patterson, CACM 52(4), 2009; NVIDIA, \"Matrix Multiplication \
                                  Background User's Guide\", \"Math And Memory Bounds\"";
    const EXAMPLE: &'static str = r#"{"op": "gemm", "m": 64, "n": 4096, "k": 4096, "elem_bytes": 2}"#;

    fn question() -> Vec<FieldSpec> {
        let size = |key, zh, en| FieldSpec::int(key, "1", 1, 1_000_000_000_000, Text::new(zh, en));
        let steps = Text::new(
            "每个输出再做几步一次运算的逐元素操作，如偏置、激活",
            "Further one-FLOP steps on each output: bias, activation",
        );
        let fused = Text::new(
            "这几步并进同一个内核，不再多搬字节",
            "Whether those steps run in the same kernel and move no more bytes",
        );
        vec![
            fields::choice("op", "", &Op::ALL.map(Op::id), Text::new("算子", "The operation")),
            fields::choice(
                "elem_bytes",
                "B",
                &["1", "2", "4", "8"],
                Text::new("一个元素的字节数", "Bytes of one element"),
            )
            .default_value("4"),
            size("n", "元素数；矩阵乘时是输出的列数", "Elements; for a product, columns of the output"),
            size("m", "矩阵乘的行数，即批大小", "Rows of a product: the batch").default_value(1),
            size("k", "矩阵乘的内维；不给就等于 n", "Inner size of a product; as n if not given").optional(),
            size(
                "tile",
                "一个线程块的输出小块边长；1 表示不分块",
                "Side of the tile of outputs of a block; 1 is no tiling",
            )
            .default_value(128),
            size("inner_tile", "一个 warp 的输出小块边长", "Side of the tile of outputs of a warp").default_value(32),
            FieldSpec::int("extra_steps", "1", 0, 1000, steps).default_value(0),
            FieldSpec::new("fused", "", vramlab_units::FieldKind::Bool, fused).default_value(true),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let amount = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e42, Text::new(zh, en));
        vec![
            amount("flops", "FLOP", "浮点运算数", "Floating-point operations"),
            amount("bytes", "B", "显存字节，至少这么多", "Bytes of device memory, at least"),
            amount("l2_bytes", "B", "L2 与 SM 之间的字节", "Bytes between L2 and the SMs"),
            amount("l1_bytes", "B", "L1 或共享内存读写的字节", "Bytes through L1 or shared memory"),
            amount("intensity_flop_per_byte", "FLOP/B", "算术强度，按显存字节", "Intensity by bytes of device memory"),
            amount("l2_intensity_flop_per_byte", "FLOP/B", "算术强度，按 L2 字节", "Intensity by bytes of L2"),
            amount("l1_intensity_flop_per_byte", "FLOP/B", "算术强度，按 L1 字节", "Intensity by bytes of L1"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let op = Op::from_id(args.text("op")).ok_or_else(|| FieldError::conflict("op", "is not among its options"))?;
        let m = args.uint("m");
        if m > 1 && op != Op::Gemm {
            let reason = format!("{} has no batch: m must be 1, unless op is gemm", op.id());
            return Err(FieldError::conflict("m", reason));
        }
        let n = args.uint("n") as f64;
        let found = run(&Question {
            op,
            elem_bytes: fields::chosen(args, "elem_bytes") as f64,
            n,
            m: m as f64,
            k: if args.has("k") { args.uint("k") as f64 } else { n },
            tile: args.uint("tile") as f64,
            inner_tile: args.uint("inner_tile") as f64,
            extra_steps: args.uint("extra_steps") as f64,
            is_fused: args.flag("fused"),
        });
        let per = |bytes: f64| fields::number(found.flops / bytes);
        Ok(fields::answer([
            ("flops", fields::number(found.flops)),
            ("bytes", fields::number(found.hbm_bytes)),
            ("l2_bytes", fields::number(found.l2_bytes)),
            ("l1_bytes", fields::number(found.l1_bytes)),
            ("intensity_flop_per_byte", per(found.hbm_bytes)),
            ("l2_intensity_flop_per_byte", per(found.l2_bytes)),
            ("l1_intensity_flop_per_byte", per(found.l1_bytes)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: Value, flops: f64, bytes: f64) {
        let answer = eval("op_intensity", &question(&given)).unwrap();
        assert_eq!((answer["flops"].as_f64(), answer["bytes"].as_f64()), (Some(flops), Some(bytes)), "{given}");
    }

    /// The op library of the brief, with e bytes an element: (FLOPs, bytes).
    #[test]
    fn the_library_counts_as_the_brief_does() {
        check(json!({"op": "copy", "n": 1000}), 0.0, 8000.0);
        check(json!({"op": "saxpy", "n": 1000}), 2000.0, 12_000.0);
        check(json!({"op": "dot", "n": 1000, "elem_bytes": 8}), 2000.0, 16_000.0);
        check(json!({"op": "stencil5", "n": 1000}), 5000.0, 8000.0);
        check(json!({"op": "softmax", "n": 1000, "elem_bytes": 2}), 5000.0, 4000.0);
    }

    /// Vectors 3 and 4 of the brief for the roofline.
    #[test]
    fn products_count_as_the_brief_does() {
        let gemm = |m: u64| json!({"op": "gemm", "m": m, "n": 4096, "elem_bytes": 2});
        check(gemm(4096), 137_438_953_472.0, 100_663_296.0);
        check(gemm(1), 33_554_432.0, 33_570_816.0);
        check(json!({"op": "gemv", "n": 4096, "elem_bytes": 2}), 33_554_432.0, 33_570_816.0);
        let at_64 = eval("op_intensity", &question(&gemm(64))).unwrap();
        assert!((at_64["intensity_flop_per_byte"].as_f64().unwrap() - 62.0606).abs() < 1e-4);
    }

    /// NVIDIA, "Matrix Multiplication Background User's Guide", "Math And Memory Bounds": 8192 × 128 × 8192 has 124.1
    /// FLOP a byte, below the V100's 138.9 and so bound by memory; 8192³ has 2730. A product with m = 1 stays below 1.
    #[test]
    fn products_have_the_intensity_of_the_vendors_guide() {
        let at = |m: u64, n: u64| {
            let given = json!({"op": "gemm", "m": m, "n": n, "k": 8192, "elem_bytes": 2});
            eval("op_intensity", &question(&given)).unwrap()["intensity_flop_per_byte"].as_f64().unwrap()
        };
        assert!((at(8192, 128) - 124.1).abs() < 0.05, "{}", at(8192, 128));
        assert!((at(8192, 8192) - 2730.0).abs() < 1.0, "{}", at(8192, 8192));
        assert!(at(1, 8192) < 1.0);
    }

    /// A tile of T shares each load among T outputs: 2mnk FLOP for 2mnk/T elements, T FLOP an element.
    #[test]
    fn tiles_raise_the_intensity_of_the_level_they_spare() {
        let at = |tile: u64, key: &str| {
            let given = json!({"op": "gemm", "m": 4096, "n": 4096, "elem_bytes": 4, "tile": tile, "inner_tile": 8});
            eval("op_intensity", &question(&given)).unwrap()[key].as_f64().unwrap()
        };
        for tile in [16, 64, 256] {
            let expected = tile as f64 / 4.0;
            assert!((at(tile, "l2_intensity_flop_per_byte") / expected - 1.0).abs() < 0.04, "{tile}");
        }
        assert!((at(128, "l1_intensity_flop_per_byte") / 2.0 - 1.0).abs() < 0.01);
        assert!((at(1, "l1_intensity_flop_per_byte") / 0.25 - 1.0).abs() < 0.01, "no tile: two loads for two FLOP");
    }

    /// Four steps after a saxpy: fused they add 4 FLOP an element and no byte, apart 8 bytes each as well.
    #[test]
    fn fusion_spares_bytes_and_keeps_flops() {
        check(json!({"op": "saxpy", "n": 1000, "extra_steps": 4}), 6000.0, 12_000.0);
        check(json!({"op": "saxpy", "n": 1000, "extra_steps": 4, "fused": false}), 6000.0, 44_000.0);
    }

    #[test]
    fn only_a_product_has_a_batch() {
        let error = eval("op_intensity", &question(&json!({"op": "gemv", "n": 8, "m": 2}))).unwrap_err();
        assert_eq!(error.field(), "m");
    }
}
