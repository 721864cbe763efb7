//! The sweep in words.

use super::question::{Question, Sums};
use vramlab_model::inference::online_softmax::Running;
use vramlab_units::quantity::Bytes;
use vramlab_units::show::{bytes_binary, number};
use vramlab_units::{Lang, Text};

pub const SCORES: Text = Text::new("分数 Q·K", "Scores Q·K");
pub const REGISTERS: Text = Text::new("每行只留三个数", "What each row keeps");
pub const HINT: Text = Text::new(
    "点或拖格子：走到那一块。← → 走一块，↑ ↓ 换一行。",
    "Press or drag in the grid to go to a tile. ← → move a tile, ↑ ↓ change the row.",
);
pub const METERS: Text = Text::new("字节", "Bytes");
pub const NAIVE: Text = Text::new("HBM：写出分数再读回", "HBM, scores written and read");
pub const TILED: Text = Text::new("HBM：分块，走到这里", "HBM, in tiles, so far");
pub const SHARED: Text = Text::new("共享内存：Q、K、V 各一块", "Shared memory: a tile of Q, K, V");
pub const FILE: Text = Text::new("寄存器：分数、输出、m、l", "Registers: scores, output, m, l");
pub const ONCE: Text = Text::new("K、V 只读一次", "K, V read once");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn bytes(bytes: u128) -> String {
    bytes_binary(Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)))
}

/// A number of the softmax, with the digits that one works with by hand.
pub fn short(value: f64) -> String {
    if value == f64::NEG_INFINITY {
        return "−∞".to_owned();
    }
    let digits = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        size if size < 100.0 => 4,
        size if size < 1000.0 => 2,
        _ => 1,
    };
    format!("{value:.digits$}")
}

/// What one tile does to one row, with the numbers put in.
pub fn step(row: u64, before: Running, after: Running, lang: Lang) -> String {
    let Some([alpha, plus_l, plus_o]) = before.change(after) else {
        return pick(
            lang,
            format!("第 {row} 行：这一块全被掩码，m、l、o 不变。"),
            format!("Row {row}: all of this tile is masked, m, l and o stay."),
        );
    };
    let (m, l, o, result) = (short(after.m), short(after.l), short(after.o), short(after.result()));
    if before.m == f64::NEG_INFINITY {
        return pick(
            lang,
            format!("第 {row} 行，第一块：m = {m}，l = Σe^(x−m) = {l}，o = Σe^(x−m)·v = {o}。"),
            format!("Row {row}, first tile: m = {m}, l = Σe^(x−m) = {l}, o = Σe^(x−m)·v = {o}."),
        );
    }
    let (old, was_l, was_o, alpha) = (short(before.m), short(before.l), short(before.o), short(alpha));
    let (plus_l, plus_o) = (short(plus_l), short(plus_o));
    pick(
        lang,
        format!(
            "第 {row} 行：α = e^({old}−{m}) = {alpha}，l = {was_l}·α + {plus_l} = {l}，o = {was_o}·α + {plus_o} = {o}，o ÷ l = {result}。"
        ),
        format!(
            "Row {row}: α = e^({old}−{m}) = {alpha}, l = {was_l}·α + {plus_l} = {l}, o = {was_o}·α + {plus_o} = {o}, o ÷ l = {result}."
        ),
    )
}

/// A tile under the pointer.
pub fn tile(question: &Question, row: u64, col: u64, lang: Lang) -> String {
    let tiling = &question.tiling;
    let (top, left) = (row * tiling.rows, col * tiling.cols);
    let (bottom, right) = (top + tiling.rows_in(row) - 1, left + tiling.cols_in(col) - 1);
    match tiling.step_of(row, col) {
        None => pick(
            lang,
            format!("query {top} 到 {bottom}，key {left} 到 {right}：整块在掩码下，不读也不算。"),
            format!("Queries {top} to {bottom}, keys {left} to {right}: all masked, neither read nor computed."),
        ),
        Some(step) => pick(
            lang,
            format!("第 {step} 块：query {top} 到 {bottom}，key {left} 到 {right}。"),
            format!("Tile {step}: queries {top} to {bottom}, keys {left} to {right}."),
        ),
    }
}

/// The finding for the state shown. Every number is a model's.
pub fn finding(question: &Question, sums: &Sums, step: u64, lang: Lang) -> String {
    let Sums { io, tiled, steps, skipped } = sums;
    let so_far = bytes(question.tiling.hbm_after(step));
    let (naive, all, once) = (bytes(io.naive), bytes(*tiled), bytes(io.resident));
    let (scores, stats) = (bytes(io.scores), bytes(io.stats));
    let ratio = number(io.naive as f64 / (*tiled).max(1) as f64);
    let mask = match skipped {
        0 => String::new(),
        n => pick(lang, format!("掩码跳过 {n} 块。"), format!("The mask skips {n} tiles. ")),
    };
    let head = if step < *steps {
        pick(
            lang,
            format!("第 {step} 块，共 {steps} 块：HBM 走了 {so_far}；分数只在片上待一块，HBM 里一个也没有。"),
            format!(
                "Tile {step} of {steps}: {so_far} have crossed HBM; scores exist on chip, a tile at a time, and never in HBM. "
            ),
        )
    } else {
        pick(
            lang,
            format!(
                "走完 {steps} 块：HBM {all}，写出分数要 {naive}（{ratio} 倍）；K、V 若留在 L2 里，{once}。另占的显存：{stats} 对 {scores}。"
            ),
            format!(
                "All {steps} tiles: {all} cross HBM, {naive} with scores written out ({ratio} times as much), {once} if K and V stay in L2. Extra memory: {stats} against {scores}. "
            ),
        )
    };
    (head + &mask).trim_end().to_owned()
}
