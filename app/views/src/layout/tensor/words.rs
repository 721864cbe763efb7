//! The tensor in words.

use super::question::Question;
use crate::layout::{percent, pick};
use vramlab_model::kernels::tensor_strides::AXES;
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "指一个格子：上面的下标，下面的位置，两头对着看。点一根轴，它和右边一根换位。键盘：← → 沿内存走，↑ ↓ 换顺序。",
    "Point at a cell: its index above, its place below. Press an axis to swap it with the next. Keys: ← → along memory, ↑ ↓ another order.",
);
pub const ORDER: Text = Text::new("内存里的顺序：左边在外，右边步长 1", "In memory, outermost at the left");
pub const PLANES: Text = Text::new("程序看到的：N 批，每批 C 张 H × W", "N images of C planes, H × W each");
pub const MEMORY: Text = Text::new("内存里的：一条线，折成几行", "Memory: one line, folded");
pub const PADDED: Text = Text::new("补的通道", "padded channels");
pub const CHANNEL: Text = Text::new("通道", "channel");

pub fn tuple(values: [u64; 4]) -> String {
    format!("({})", values.map(|value| value.to_string()).join(", "))
}

/// `offset = 1·60 + 2·20 + …` for an element.
pub fn element(question: &Question, at: [u64; 4], lang: Lang) -> String {
    let strides = question.strides();
    let terms: Vec<String> = at.iter().zip(strides).map(|(at, stride)| format!("{at}·{stride}")).collect();
    let (index, terms, offset) = (tuple(at), terms.join(" + "), question.offset(at));
    let pad = match (question.is_padding(at), lang) {
        (false, _) => "",
        (true, Lang::Zh) => "（补的，没人用）",
        (true, Lang::En) => " (padding, used by nobody)",
    };
    pick(
        lang,
        format!("(n, c, h, w) = {index}{pad}：位置 = {terms} = {offset}"),
        format!("(n, c, h, w) = {index}{pad}: offset = {terms} = {offset}"),
    )
}

pub fn finding(question: &Question, lang: Lang) -> String {
    let name = question.name().to_uppercase();
    let (shape, strides) = (tuple(question.shape), tuple(question.strides()));
    let unit = AXES[question.order[3]].to_uppercase();
    let (nchw, nhwc) = (question.is_dense([0, 1, 2, 3]), question.is_dense([0, 2, 3, 1]));
    let dense = match (nchw, nhwc, lang) {
        (true, true, Lang::Zh) => "contiguous 和 channels_last 都成立",
        (true, true, Lang::En) => "contiguous and channels_last at once",
        (true, false, Lang::Zh) => "是 contiguous，不是 channels_last",
        (true, false, Lang::En) => "contiguous, not channels_last",
        (false, true, Lang::Zh) => "是 channels_last，不是 contiguous",
        (false, true, Lang::En) => "channels_last, not contiguous",
        (false, false, Lang::Zh) => "两样都不是",
        (false, false, Lang::En) => "neither contiguous nor channels_last",
    };
    let pad = match (question.waste() > 0.0, lang) {
        (false, _) => String::new(),
        (true, Lang::Zh) => format!("通道补到 {}，多占 {}。", question.stored()[1], percent(question.waste())),
        (true, Lang::En) => {
            format!(" Channels are padded to {}: {} more memory.", question.stored()[1], percent(question.waste()))
        }
    };
    pick(
        lang,
        format!("{name}：形状还是 {shape}，步长 {strides}，步长为 1 的是 {unit}；{dense}。{pad}"),
        format!("{name}: the shape stays {shape}, strides {strides}, {unit} has stride 1; {dense}.{pad}"),
    )
}
