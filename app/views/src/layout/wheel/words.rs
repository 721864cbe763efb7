//! The wheel in words.

use crate::layout::pick;
use vramlab_model::kernels::bank_wheel::{Walk, Wheel};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "在右边（窄屏在下面）的柱子上拖行距；指一个 bank 看谁在等。键盘：← → 行距减一、加一，↑ ↓ 换走法。",
    "Drag the pitch along the bars; point at a bank to see who waits there. Keys: ← → pitch, ↑ ↓ another walk.",
);
pub const BARS: Text = Text::new("每种行距几路冲突（越低越好）", "Conflict degree of each pitch");
pub const STEP: Text = Text::new("弦：一个 lane 到下一个", "chord: from a lane to the next");
pub const WAIT: Text = Text::new("向外的柱子：这个 bank 里有几个 lane", "bar outwards: lanes in that bank");

pub fn walk(walk: Walk) -> Text {
    match walk {
        Walk::Column => Text::new("一列 32 行", "a column of 32"),
        Walk::TwoColumns => Text::new("两列 16 行", "two columns of 16"),
        Walk::Half => Text::new("一列 16 行", "a column of 16"),
    }
}

pub fn bank(wheel: &Wheel, bank: usize, lang: Lang) -> String {
    let lanes = &wheel.banks[bank];
    if lanes.is_empty() {
        return pick(lang, format!("bank {bank}：空着。"), format!("Bank {bank} is idle."));
    }
    let shown: Vec<String> = lanes.iter().take(8).map(|lane| format!("{lane}（{}）", wheel.words[*lane])).collect();
    let plain: Vec<String> = lanes.iter().take(8).map(|lane| format!("{lane} ({})", wheel.words[*lane])).collect();
    let more = if lanes.len() > 8 { "…" } else { "" };
    let n = lanes.len();
    pick(
        lang,
        format!("bank {bank}：{n} 个 lane，lane（字）是 {}{more}。", shown.join("、")),
        format!("Bank {bank}: {n} lanes, lane (word) {}{more}.", plain.join(", ")),
    )
}

pub fn finding(walked: Walk, pitch: u64, wheel: &Wheel, lang: Lang) -> String {
    let (degree, used, align) = (wheel.degree, wheel.banks_used, wheel.row_align_bytes);
    let name = walk(walked).get(lang);
    let head = match (degree == 1, lang) {
        (true, Lang::Zh) => format!("行距 {pitch} 个字，{name}：落在 {used} 个不同的 bank，没有冲突"),
        (true, Lang::En) => format!("Pitch {pitch} words, {name}: {used} different banks, no conflict"),
        (false, Lang::Zh) => format!("行距 {pitch} 个字，{name}：只用 {used} 个 bank，{degree} 路冲突，要 {degree} 趟"),
        (false, Lang::En) => {
            format!("Pitch {pitch} words, {name}: {used} banks, a {degree}-way conflict, {degree} passes")
        }
    };
    let tail = match (align >= 16, lang) {
        (true, Lang::Zh) => "；每行都从 16 字节的整数倍开始，float4 能用。".to_owned(),
        (true, Lang::En) => "; every row begins at a multiple of 16 bytes, so float4 works.".to_owned(),
        (false, Lang::Zh) => format!("；行首只对齐到 {align} 字节，一次取 16 字节的 float4 不能用。"),
        (false, Lang::En) => format!("; rows are aligned to {align} bytes only, and float4, 16 bytes at once, is out."),
    };
    head + &tail
}
