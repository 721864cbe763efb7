//! Groups and errors in words.

use super::question::{Answer, N, Question};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const ROW: Text = Text::new(
    "一行 256 个权重（σ），底色是每组的码能到的范围",
    "a row of 256 weights (σ); behind them the range of each group's codes",
);
pub const ROW_SHORT: Text = Text::new("权重（σ）与码的范围", "weights (σ), range of codes");
pub const BITS_SHORT: Text = Text::new("位/权重", "bits a weight");
pub const ERROR: Text = Text::new("均方根误差，σ（虚线：没有离群值时）", "RMS error in σ (dashed: no outlier)");
pub const BITS: Text = Text::new("每个权重的位数，含 16 位缩放", "bits a weight, with a 16-bit scale a group");
pub const HINT: Text = Text::new(
    "抓住任何一个权重上下拉。键盘：← → 选权重，↑ ↓ 拉，0 放回去。",
    "Take any weight and pull it. Keys: ← → choose one, ↑ ↓ pull it, 0 puts it back.",
);

/// The largest code.
pub fn codes(bits: u64) -> f64 {
    ((1_u64 << (bits - 1)) - 1) as f64
}

pub fn group(group: u64, lang: Lang) -> String {
    match (group == N as u64, lang) {
        (true, Lang::Zh) => "整行".to_owned(),
        (true, Lang::En) => "row".to_owned(),
        _ => group.to_string(),
    }
}

/// Over the number line.
pub fn line(group: usize, scale: f64, question: &Question, lang: Lang) -> String {
    let step = number(scale);
    let n = group + 1;
    match (question.group == N as u64, lang) {
        (true, Lang::Zh) => format!("整行的码，一格 {step} σ"),
        (true, Lang::En) => format!("codes of the row, {step} σ apart"),
        (_, Lang::Zh) => format!("第 {n} 组的码，一格 {step} σ"),
        (_, Lang::En) => format!("codes of group {n}, {step} σ apart"),
    }
}

/// One weight: value, code, what comes back.
pub fn weight(question: &Question, answer: &Answer, at: usize, lang: Lang) -> String {
    let (value, back) = (answer.values[at], answer.decoded.get(at).copied().unwrap_or_default());
    let code = answer.codes.get(at).copied().unwrap_or_default();
    let group = at / question.group as usize;
    let step = number(answer.scale(group));
    let n_zero = answer.n_zeroed(group);
    let (size, n) = (question.group, at + 1);
    let (value, back) = (number(value).replace('-', "−"), number(back).replace('-', "−"));
    let code = code.to_string().replace('-', "−");
    match lang {
        Lang::Zh => {
            format!("权重 {n}：{value} → 码 {code} → {back}，步长 {step}。它那组 {size} 个里，{n_zero} 个成了 0。")
        }
        Lang::En => format!(
            "Weight {n}: {value} → code {code} → {back}, step {step}. Of the {size} in its group {n_zero} became 0."
        ),
    }
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let point = answer.point(question.group);
    let (bits, rms) = (with_unit(point.bits, "bit"), number(point.rms));
    let blown = answer.blow_up(question.group);
    let of = if lang == Lang::Zh && question.group != N as u64 { " 个" } else { "" };
    let name = group(question.group, lang) + of;
    let groups =
        if question.group == N as u64 { "one scale for the row".to_owned() } else { format!("groups of {name}") };
    let Some(outlier) = question.outlier else {
        return match lang {
            Lang::Zh => {
                format!("int{}，{name}一组：每个权重 {bits}，均方根误差 {rms} σ。还没有离群值。", question.bits)
            }
            Lang::En => {
                format!("int{}, {groups}: {bits} a weight, an RMS error of {rms} σ. No outlier yet.", question.bits)
            }
        };
    };
    let outlier = number(outlier).replace('-', "−");
    let n_hit = answer.n_zeroed(question.outlier_at / question.group as usize);
    let factor = number(blown);
    match lang {
        Lang::Zh => format!(
            "一个权重拉到 {outlier} σ：{name}一组，误差变成 {factor} 倍，它那组有 {n_hit} 个权重成了 0；每个权重 {bits}。"
        ),
        Lang::En => format!(
            "One weight at {outlier} σ, {groups}: the error grows {factor}-fold and {n_hit} weights of its group become 0, at {bits} a weight."
        ),
    }
}
