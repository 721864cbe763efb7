//! Strides of a four-dimensional tensor in NCHW and NHWC, the offset of an element, and which axis is contiguous.
//!
//! Question: shape N, C, H, W, layout, an index, bytes of an element, channels padded to a multiple. Answer: strides in the order N, C,
//! H, W, offset, bytes, waste of the padding.
//! Assumption: dense in the layout's own order. The shape stays N, C, H, W in both: only strides differ.
//! Source: PyTorch, "Channels Last Memory Format in PyTorch". Errors: an index outside the shape, an empty tensor's offset.

use crate::fields::{answer, choice, chosen, number};
use crate::inference::list;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub const AXES: [&str; 4] = ["n", "c", "h", "w"];

/// Every order of four axes, by name.
pub const ORDERS: [&str; 24] = [
    "nchw", "nhwc", "ncwh", "nhcw", "nwch", "nwhc", "cnhw", "cnwh", "chnw", "chwn", "cwnh", "cwhn", "hncw", "hnwc",
    "hcnw", "hcwn", "hwnc", "hwcn", "wnch", "wnhc", "wcnh", "wchn", "whnc", "whcn",
];

/// Strides in elements, in the order N, C, H, W.
pub fn strides(shape: [u64; 4], is_channels_last: bool) -> [u64; 4] {
    let [_, c, h, w] = shape;
    if is_channels_last { [h * w * c, 1, w * c, c] } else { [c * h * w, h * w, w, 1] }
}

/// Strides in the order N, C, H, W of a dense tensor whose axes lie in memory as `order` names them, the outermost first.
pub fn strides_of(shape: [u64; 4], order: [usize; 4]) -> [u64; 4] {
    let mut strides = [0; 4];
    let mut step = 1;
    for axis in order.into_iter().rev() {
        strides[axis] = step;
        step *= shape[axis];
    }
    strides
}

/// An order of memory by its name, `nhwc` say: every axis once.
pub fn order_from(name: &str) -> Option<[usize; 4]> {
    let mut order = [4; 4];
    for (at, letter) in name.chars().enumerate() {
        let axis = AXES.iter().position(|axis| axis.starts_with(letter))?;
        *order.get_mut(at)? = axis;
    }
    let mut sorted = order;
    sorted.sort_unstable();
    (sorted == [0, 1, 2, 3]).then_some(order)
}

/// Whether walking the axes in `order` walks memory without a gap: what PyTorch asks before it calls a tensor contiguous in a memory
/// format. An axis of size 1 has no say, for its stride is never taken.
pub fn is_dense(shape: [u64; 4], strides: [u64; 4], order: [usize; 4]) -> bool {
    let mut step = 1;
    order.into_iter().rev().filter(|axis| shape[*axis] != 1).all(|axis| {
        let fits = strides[axis] == step;
        step *= shape[axis];
        fits
    })
}

/// The index of the element that lies at `offset` of a dense tensor.
pub fn index_at(shape: [u64; 4], order: [usize; 4], offset: u64) -> [u64; 4] {
    let strides = strides_of(shape, order);
    std::array::from_fn(|axis| offset / strides[axis].max(1) % shape[axis].max(1))
}

/// Element offset of an index that is inside the shape.
pub fn offset(strides: [u64; 4], index: [u64; 4]) -> u64 {
    strides.iter().zip(index).map(|(stride, at)| stride * at).sum()
}

pub struct TensorStrides;

impl Model for TensorStrides {
    const ID: &'static str = "tensor_strides";
    const TITLE: Text = Text::new("NCHW 与 NHWC 的步长", "Strides of NCHW and NHWC");
    const ASSUMES: Text = Text::new(
        "按各自的顺序紧挨着放；形状都是 N、C、H、W，不同的只是步长。",
        "Dense in its own order. The shape is N, C, H, W in both; only the strides differ.",
    );
    const SOURCE: &'static str = "PyTorch tutorials, Channels Last Memory Format in PyTorch";
    const EXAMPLE: &'static str =
        r#"{"n": 2, "c": 3, "h": 5, "w": 7, "layout": "nhwc", "at_n": 1, "at_c": 2, "at_h": 3, "at_w": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let size = |key, zh, en| FieldSpec::int(key, "1", 0, 65_536, Text::new(zh, en));
        let at = |key, zh, en| FieldSpec::int(key, "1", 0, 65_535, Text::new(zh, en)).optional();
        vec![
            size("n", "批 N", "Batch, N"),
            size("c", "通道 C", "Channels, C"),
            size("h", "高 H", "Height, H"),
            size("w", "宽 W", "Width, W"),
            choice(
                "layout",
                "",
                &ORDERS,
                Text::new("内存里的顺序，从外到内", "Order in memory, the outermost axis first"),
            ),
            at("at_n", "元素的 n", "The element's n"),
            at("at_c", "元素的 c", "The element's c"),
            at("at_h", "元素的 h", "The element's h"),
            at("at_w", "元素的 w", "The element's w"),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个元素的字节", "Bytes of an element"))
                .default_value("4"),
            FieldSpec::int(
                "channel_multiple",
                "1",
                1,
                1024,
                Text::new("通道补到几的倍数", "Channels are padded to a multiple of this"),
            )
            .default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en));
        vec![
            list("strides", "1", "N、C、H、W 的步长，按元素数", "Strides of N, C, H and W in elements"),
            FieldSpec::int("offset", "1", 0, i64::MAX, Text::new("元素的位置", "Offset of the element")).optional(),
            flag("is_contiguous", "按 N、C、H、W 走，内存不跳", "Contiguous in the order N, C, H, W"),
            flag("is_channels_last", "按 N、H、W、C 走，内存不跳", "Contiguous in the order N, H, W, C"),
            FieldSpec::num("bytes", "B", 0.0, 1e20, Text::new("占的字节", "Bytes of the tensor")),
            FieldSpec::int("channels", "1", 0, 1 << 20, Text::new("补齐后的通道数", "Channels after padding")),
            FieldSpec::num(
                "waste",
                "1",
                0.0,
                1e6,
                Text::new("补齐浪费的份额：补齐后 ÷ 原来 − 1", "Waste of the padding: padded over used, minus 1"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let channels = args.uint("c").next_multiple_of(args.uint("channel_multiple"));
        let shape = [args.uint("n"), channels, args.uint("h"), args.uint("w")];
        let order = order_from(args.text("layout")).unwrap_or([0, 1, 2, 3]);
        if shape.iter().try_fold(1_u64, |all, size| all.checked_mul(*size)).is_none_or(|all| all > i64::MAX as u64) {
            return Err(FieldError::conflict("n", "the tensor has more than 2^63 elements"));
        }
        let strides = strides_of(shape, order);
        let elements: u128 = shape.iter().map(|size| u128::from(*size)).product();
        let waste = if args.uint("c") > 0 { channels as f64 / args.uint("c") as f64 - 1.0 } else { 0.0 };
        Ok(answer([
            ("strides", strides.iter().map(|stride| Value::from(*stride)).collect::<Vec<_>>().into()),
            ("offset", element(args, strides)?.map_or(Value::Null, Value::from)),
            ("is_contiguous", is_dense(shape, strides, [0, 1, 2, 3]).into()),
            ("is_channels_last", is_dense(shape, strides, [0, 2, 3, 1]).into()),
            ("bytes", number(elements as f64 * chosen(args, "value_bytes") as f64)),
            ("channels", channels.into()),
            ("waste", number(waste)),
        ]))
    }
}

/// A place on an axis; 0 where none is given.
fn place(args: &Args, key: &str) -> u64 {
    if args.has(key) { args.uint(key) } else { 0 }
}

/// The offset of the element asked for, if one is.
fn element(args: &Args, strides: [u64; 4]) -> Result<Option<u64>, FieldError> {
    const AT: [&str; 4] = ["at_n", "at_c", "at_h", "at_w"];
    if AT.iter().all(|key| !args.has(key)) {
        return Ok(None);
    }
    for (key, axis) in AT.iter().zip(AXES) {
        let (at, size) = (place(args, key), args.uint(axis));
        if size == 0 {
            return Err(FieldError::conflict(axis, format!("{axis} = 0: an empty tensor has no element")));
        }
        if at >= size {
            return Err(FieldError::conflict(key, format!("{key} = {at} is outside 0…{}", size - 1)));
        }
    }
    Ok(Some(offset(strides, AT.map(|key| place(args, key)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 13, vectors 1 and 2.
    #[test]
    fn worked_cases() {
        assert_eq!(strides([8, 3, 224, 224], false), [150_528, 50_176, 224, 1]);
        assert_eq!(strides([8, 3, 224, 224], true), [150_528, 1, 672, 3]);
        assert_eq!(strides([10, 3, 32, 32], true), [3072, 1, 96, 3]);
        for (layout, strides, offset) in [("nchw", [105, 35, 7, 1], 200), ("nhwc", [105, 1, 21, 3], 182)] {
            let given =
                json!({"n": 2, "c": 3, "h": 5, "w": 7, "layout": layout, "at_n": 1, "at_c": 2, "at_h": 3, "at_w": 4});
            let found = eval("tensor_strides", &question(&given)).unwrap();
            assert_eq!(
                (found["strides"].clone(), found["offset"].as_u64()),
                (json!(strides), Some(offset)),
                "{layout}"
            );
        }
    }

    /// A tensor of one channel is contiguous in both formats, as PyTorch says of N1HW; others in one, and an order of its own in none.
    #[test]
    fn contiguity_is_that_of_pytorch() {
        for (c, layout, flags) in [
            (3, "nchw", (true, false)),
            (3, "nhwc", (false, true)),
            (1, "nchw", (true, true)),
            (1, "nhwc", (true, true)),
            (3, "chwn", (false, false)),
        ] {
            let found =
                eval("tensor_strides", &question(&json!({"n": 2, "c": c, "h": 5, "w": 7, "layout": layout}))).unwrap();
            let told = (found["is_contiguous"].as_bool().unwrap(), found["is_channels_last"].as_bool().unwrap());
            assert_eq!(told, flags, "{c} {layout}");
        }
    }

    /// Offset and index are each other's inverse in every order, and the named orders are all there are.
    #[test]
    fn every_order_goes_both_ways() {
        let shape = [2, 3, 4, 5];
        let mut seen = std::collections::BTreeSet::new();
        for name in ORDERS {
            let order = order_from(name).unwrap();
            assert!(seen.insert(order));
            for at in 0..120 {
                assert_eq!(offset(strides_of(shape, order), index_at(shape, order, at)), at, "{name}");
            }
        }
        assert_eq!(seen.len(), 24);
        assert_eq!((order_from("nchh"), order_from("nch"), order_from("nchwx")), (None, None, None));
        assert_eq!(strides_of([8, 3, 224, 224], [0, 2, 3, 1]), strides([8, 3, 224, 224], true));
        let huge = json!({"n": 65_536, "c": 65_536, "h": 65_536, "w": 65_536, "layout": "nchw"});
        assert_eq!(eval("tensor_strides", &question(&huge)).unwrap_err().field(), "n");
    }

    /// Brief 13, vectors 6 and 7.
    #[test]
    fn padding_and_what_cannot_be() {
        let given = json!({"n": 1, "c": 3, "h": 2, "w": 2, "layout": "nhwc", "channel_multiple": 8});
        let found = eval("tensor_strides", &question(&given)).unwrap();
        assert!((found["waste"].as_f64().unwrap() - 5.0 / 3.0).abs() < 1e-12);
        let refused = |given| eval("tensor_strides", &question(&given)).unwrap_err();
        let outside = refused(json!({"n": 1, "c": 1, "h": 5, "w": 1, "layout": "nchw", "at_h": 5}));
        assert!(outside.field() == "at_h" && outside.to_string().contains("outside 0…4"), "{outside}");
        let empty = json!({"n": 0, "c": 3, "h": 2, "w": 2, "layout": "nchw"});
        assert_eq!(eval("tensor_strides", &question(&empty)).unwrap()["bytes"].as_u64(), Some(0));
        assert_eq!(refused(json!({"n": 0, "c": 3, "h": 2, "w": 2, "layout": "nchw", "at_n": 0})).field(), "n");
    }
}
