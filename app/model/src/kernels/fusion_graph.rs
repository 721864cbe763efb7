//! Operators grouped into kernels: whether they may be, the bytes that move, the launches.
//!
//! Question: operators and sizes as text, the groups, the row that is reduced, what a block holds. Answer: bytes and launches of the
//! groups and of one kernel an operator. A group reads every tensor from outside once and writes every tensor that is used outside,
//! or by nobody, once.
//! Rules: those of `fuse_rules.rs`. Registers: the estimate of `fuse_registers.rs`.
//! Assumption: no cache helps between kernels. Source: arithmetic over tensors. Errors: what breaks a rule, in words.

use super::fuse_registers;
use super::fuse_rules::{Room, refusal};
use super::graph;
use crate::fields::{answer, number};
use crate::inference::text;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct FusionGraph;

impl Model for FusionGraph {
    const ID: &'static str = "fusion_graph";
    const TITLE: Text = Text::new("算子图怎样合并成 kernel", "A graph of operators as kernels");
    const ASSUMES: Text = Text::new(
        "kernel 之间缓存不帮忙；组外来的张量读一次，组外要用的写一次。",
        "No cache helps between kernels. A group reads each tensor from outside once and writes each that is used outside once.",
    );
    const SOURCE: &'static str = "arithmetic over tensors";
    const EXAMPLE: &'static str = r#"{"operators": "mul map x w > t; add map t b > u; gelu map u > v; sum map v r > y", "sizes": "x=2e6 w=2e3 t=2e6 b=2e3 u=2e6 v=2e6 r=2e6 y=2e6", "groups": "mul+add gelu+sum"}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, 1 << 40, Text::new(zh, en));
        vec![
            text(
                "operators",
                "算子：名字 类别 输入 > 输出，用 ; 隔开；类别是 map、reduce、gemm、opaque",
                "Operators as name kind inputs > output, with ; between; a kind is map, reduce, gemm or opaque",
            ),
            text("sizes", "张量的字节，x=2e6", "Bytes of the tensors, x=2e6"),
            text(
                "groups",
                "合在一起的算子，a+b；没写的各自一个 kernel",
                "Operators that are one kernel, a+b; the others are alone",
            )
            .default_value(""),
            bytes("row_bytes", "归约的一行有几字节", "Bytes of a row that is reduced").default_value(0),
            bytes("block_bytes", "一个 block 放得下几字节", "Bytes that one block can hold").default_value(232_448),
            FieldSpec::new(
                "is_grid_barrier",
                "",
                FieldKind::Bool,
                Text::new("可以用全网格的屏障", "A barrier over the grid is allowed"),
            )
            .default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            num("bytes", "B", "搬的字节", "Bytes moved"),
            num("megabytes", "MB", "搬的字节", "Bytes moved"),
            num("apart_bytes", "B", "一个算子一个 kernel 时的字节", "Bytes with one kernel an operator"),
            num("saved_share", "1", "省下的份额", "Share that is saved"),
            num("launches", "1", "启动次数", "Launches"),
            num("apart_launches", "1", "一个算子一个 kernel 时的启动次数", "Launches with one kernel an operator"),
            num(
                "registers",
                "1",
                "最费的 kernel 一个线程约用几个寄存器",
                "Registers of a thread of the dearest kernel, about",
            )
            .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let blame = |field: &'static str| move |why: String| FieldError::conflict(field, why);
        let ops = graph::parse(args.text("operators")).map_err(blame("operators"))?;
        let sizes = graph::sizes(args.text("sizes")).map_err(blame("sizes"))?;
        let of = graph::groups(&ops, args.text("groups")).map_err(blame("groups"))?;
        let room = Room {
            row_bytes: args.uint("row_bytes"),
            block_bytes: args.uint("block_bytes"),
            is_grid_barrier: args.flag("is_grid_barrier"),
        };
        if let Some(why) = refusal(&ops, &of, room) {
            return Err(FieldError::conflict("groups", why.to_string()));
        }
        let alone: Vec<usize> = (0..ops.len()).collect();
        let bytes = graph::traffic(&ops, &of, &sizes).map_err(blame("sizes"))?;
        let apart = graph::traffic(&ops, &alone, &sizes).map_err(blame("sizes"))?;
        let launches = of.iter().max().map_or(0, |last| last + 1);
        Ok(answer([
            ("bytes", number(bytes)),
            ("megabytes", number(bytes / 1e6)),
            ("apart_bytes", number(apart)),
            ("saved_share", number(if apart > 0.0 { 1.0 - bytes / apart } else { 0.0 })),
            ("launches", launches.into()),
            ("apart_launches", ops.len().into()),
            ("registers", fuse_registers::most(&ops, &of, room.row_bytes).map_or(Value::Null, Value::from)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    const GELU: &str = "mul map x w > t; add map t b > u; gelu map u > v; sum map v r > y";
    const SIZES: &str = "x=2e6 w=2e3 t=2e6 b=2e3 u=2e6 v=2e6 r=2e6 y=2e6";

    fn ask(operators: &str, sizes: &str, groups: &str, more: &Value) -> Result<Map, FieldError> {
        let mut given = json!({"operators": operators, "sizes": sizes, "groups": groups});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        eval("fusion_graph", &question(&given))
    }

    /// Brief 04, vector 3: y = gelu(x·w + b) + r.
    #[test]
    fn a_gelu_with_its_neighbours() {
        for (groups, bytes, launches) in
            [("", 18_004_000, 4), ("mul+add gelu+sum", 10_004_000, 2), ("mul+add+gelu+sum", 6_004_000, 1)]
        {
            let found = ask(GELU, SIZES, groups, &json!({})).unwrap();
            assert_eq!(
                (found["bytes"].as_u64(), found["launches"].as_u64()),
                (Some(bytes), Some(launches)),
                "{groups}"
            );
            assert_eq!((found["apart_bytes"].as_u64(), found["apart_launches"].as_u64()), (Some(18_004_000), Some(4)));
        }
    }

    #[track_caller]
    fn refused(operators: &str, groups: &str, more: &Value, said: &str) {
        let sizes = "x=8 y=8 z=8 w=8 t=8";
        let error = ask(operators, sizes, groups, more).unwrap_err().to_string();
        assert!(error.contains(said), "{groups}: {error}");
    }

    /// Brief 04, vector 8 and its rules of legality.
    #[test]
    fn what_may_not_be_one_kernel() {
        let none = json!({});
        refused(
            "a map x > y; b opaque y > z; c map y z > w",
            "a+c",
            &none,
            "fusing {a,c} makes group depend on itself through b",
        );
        refused("a map x > y; b map y > z", "a+b d", &none, "no operator is named d");
        refused("a map x > y; b map q > z", "", &none, "no size is given for tensor q");
        refused("a map x > y; b map w > z; a map z > t", "", &none, "two operators are named a");
        refused("a map y > z; b map x > y", "", &none, "a reads y before it is produced");
        refused("a map x > y; b opaque y > z", "a+b", &none, "b is opaque");
        refused("a map x > y; b gemm y w > z", "a+b", &none, "would be computed again for every tile");
        // A kernel ends as a whole: p and q are one, so b waits for both, and q waits for a.
        let halves = "p map x > t; a map x > y; q map y > z; b map t > w";
        refused(halves, "a+b p+q", &none, "makes group depend on itself through");
        // The reduction is two steps behind the product, and its row still lies in tiles.
        refused("a gemm x w > y; b map y > z; c reduce z > t", "a+b+c", &none, "c reduces over tiles of a");
        refused("a sum x > y", "", &none, "kind sum is none of");
        let long = json!({"row_bytes": 262_144});
        refused("a reduce x > y; b map y x > z", "a+b", &long, "row does not fit one block: 262144 B > 232448 B");
        let sizes = "x=8 y=8 z=8 w=8";
        for (operators, more) in [
            ("a reduce x > y; b map y x > z", json!({"row_bytes": 262_144, "is_grid_barrier": true})),
            ("a reduce x > y; b map y x > z", json!({"row_bytes": 4096})),
            ("a map x > y; b reduce y > z", long),
            ("a gemm x w > y; b map y > z", none),
        ] {
            assert!(ask(operators, sizes, "a+b", &more).is_ok(), "{operators}");
        }
    }
}
