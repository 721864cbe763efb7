//! The waterfall in words.

use super::question::Order;
use super::recorded::Steps;
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

/// The fix of each defect, by bit.
pub const FIX: [Text; 5] = [
    Text::new("锁页内存", "pinned memory"),
    Text::new("连续布局", "contiguous layout"),
    Text::new("补一列", "padded tile"),
    Text::new("融合成一次", "one fused launch"),
    Text::new("半精度", "half precision"),
];

/// What is wrong while it is not mended.
pub const DEFECT: [Text; 5] = [
    Text::new("拷贝走可分页内存", "copies from pageable memory"),
    Text::new("相邻的数隔 32 个", "neighbours lie 32 apart"),
    Text::new("共享内存的块没有补列", "the tile is not padded"),
    Text::new("1024 次小启动", "1,024 tiny launches"),
    Text::new("处处 fp32", "fp32 everywhere"),
];

/// The parts of a step.
pub const PART: [Text; 5] = [
    Text::new("拷到卡上", "copy to the card"),
    Text::new("八个逐元素", "eight elementwise"),
    Text::new("逐行求和", "row sums"),
    Text::new("矩阵乘", "product"),
    Text::new("拷回来", "copy back"),
];

pub const BASELINE: Text = Text::new("基线，五处都没修", "baseline, nothing mended");

pub fn ms(value: f64) -> String {
    with_unit(value, "ms")
}

/// `−4.2 ms`, `−31 %`; a plain zero where nothing changed by half a per cent.
pub fn change(before: f64, after: f64) -> String {
    let share = after / before - 1.0;
    if share.abs() < 0.005 {
        return "0\u{2009}%".to_owned();
    }
    let sign = if share < 0.0 { '−' } else { '+' };
    format!("{sign}{:.0}\u{2009}%", (share * 100.0).abs())
}

/// The finding for the order shown.
pub fn finding(order: &Order, steps: &Steps, lang: Lang) -> String {
    let n = order.0.len();
    let (base, now) = (steps.best(0).whole, steps.best(order.bits(n)).whole);
    let source = match (steps.is_measured(), lang) {
        (true, Lang::Zh) => "实测",
        (false, Lang::Zh) => "模型说",
        (true, Lang::En) => "Measured",
        (false, Lang::En) => "By the model",
    };
    let Some(last) = order.0.last() else {
        return match lang {
            Lang::Zh => format!("{source}：什么都没修时一步 {}。按下任何一处，看它值多少。", ms(base)),
            Lang::En => {
                format!("{source}: with nothing mended a step takes {}. Press a fix to see what it is worth.", ms(base))
            }
        };
    };
    let before = steps.best(order.bits(n - 1)).whole;
    let fix = FIX[*last].get(lang);
    let (now_ms, ratio) = (ms(now), with_unit(base / now, "×"));
    let is_idle = (now / before - 1.0).abs() < 0.02;
    match lang {
        Lang::Zh if is_idle => format!(
            "{source}：在这里，“{fix}”几乎不值什么：一步还是 {now_ms}，比基线快 {ratio}。它修的不是眼下的瓶颈。"
        ),
        Lang::En if is_idle => format!(
            "{source}: here \"{fix}\" is worth almost nothing: the step is still {now_ms}, {ratio} as fast as the baseline. It does not mend what binds now."
        ),
        Lang::Zh => format!(
            "{source}：修到第 {n} 处，一步 {now_ms}，比基线快 {ratio}；最后这处“{fix}”让它变了 {}。",
            change(before, now)
        ),
        Lang::En => format!(
            "{source}: after {n} of 5 fixes a step takes {now_ms}, {ratio} as fast as the baseline; the last, \"{fix}\", changed it by {}.",
            change(before, now)
        ),
    }
}
