//! The tile in words.

use super::{Answer, SIDE};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const STAYS: Text = Text::new("留下", "stays");
pub const GOES: Text = Text::new("剪掉", "goes");
pub const HINT: Text = Text::new(
    "上下拖一个格子改它的值；键盘：方向键选格，+ − 改值，0 归零。",
    "Pull a cell up or down to change its value; arrow keys choose a cell, + and − change it, 0 clears it.",
);

pub fn heads(lang: Lang) -> [&'static str; 3] {
    match lang {
        Lang::Zh => ["稠密", "留下的值", "元数据"],
        Lang::En => ["dense", "values kept", "metadata"],
    }
}

pub fn sizes(answer: &Answer) -> [String; 3] {
    let values = answer.bytes - answer.index_bytes;
    [answer.dense_bytes, values, answer.index_bytes].map(|bytes| with_unit(bytes, "B"))
}

pub fn value(value: f64) -> String {
    format!("{value:.1}").replace('-', "−")
}

pub fn nibble(nibble: i64) -> String {
    format!("= {nibble}")
}

/// The row of a cell: who stays, why, and the nibble.
pub fn cell(values: &[f64; 16], answer: &Answer, cell: usize, lang: Lang) -> String {
    let row = cell / SIDE;
    let four = &values[row * SIDE..(row + 1) * SIDE];
    let places: Vec<i64> = answer.places.iter().skip(2 * row).take(2).copied().collect();
    let [Some(first), Some(second)] = [places.first(), places.get(1)] else { return String::new() };
    let nibble = answer.nibbles.get(row).copied().unwrap_or_default();
    let least = places.iter().map(|place| four[*place as usize].abs()).fold(f64::INFINITY, f64::min);
    let is_tied = (0..SIDE).any(|col| !places.contains(&(col as i64)) && four[col].abs() == least);
    let tie = match (is_tied, lang) {
        (false, _) => "",
        (true, Lang::Zh) => "一样大的取靠前的。",
        (true, Lang::En) => " Of equals the lower place stays.",
    };
    let n = row + 1;
    match lang {
        Lang::Zh => format!(
            "第 {n} 行：留下位置 {first} 和 {second}。{tie}元数据 = {first} + {second} × 4 = {nibble}，即 {nibble:04b}。"
        ),
        Lang::En => format!(
            "Row {n}: places {first} and {second} stay.{tie} Metadata = {first} + {second} × 4 = {nibble}, in bits {nibble:04b}."
        ),
    }
}

pub fn finding(answer: &Answer, bits: u64, lang: Lang) -> String {
    let [dense, _, meta] = sizes(answer);
    let (all, ratio, lost) = (with_unit(answer.bytes, "B"), answer.ratio, with_unit(answer.lost, "%"));
    match lang {
        Lang::Zh => format!(
            "{bits} 位的 16 个值，{dense}；2:4 之后 {all}，其中元数据 {meta}：是原来的 {ratio}，不是一半。丢掉的平方和占 {lost}。"
        ),
        Lang::En => format!(
            "Sixteen values of {bits} bits are {dense}; under 2:4 they are {all}, {meta} of it metadata: {ratio} of dense, not a half. {lost} of the energy is lost."
        ),
    }
}
