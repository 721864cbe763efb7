//! The tiles in words and numbers.

use super::layout::Hit;
use super::question::{Answer, Question};
use vramlab_model::kernels::gemm_tile::BLOCK_LIMIT;
use vramlab_model::kernels::gemm_time::{Bound, MOST_THREADS};
use vramlab_model::kernels::gemm_walk::Matrix;
use vramlab_units::show::{grouped_with_unit, number, readable, with_unit};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "点或拖矩阵，跳到那一块；拖圆点，块跟着变。键盘：← → 走一步，↑ ↓ 换块的边长，空格播放。",
    "Press or drag a matrix to go to a tile; drag the dot and the tile follows. Keys: ← → a step, ↑ ↓ the tile's edge, Space plays.",
);
pub const NOW: Text = Text::new("这一步用的块", "the tiles of this step");
pub const RECENT: Text = Text::new("刚用过（越久越淡）", "used lately, fading with age");
pub const FRESH: Text = Text::new("还没碰过", "not touched yet");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn letter(matrix: Matrix) -> &'static str {
    match matrix {
        Matrix::A => "A",
        Matrix::B => "B",
        Matrix::C => "C",
    }
}

pub fn limit(size: &str, lang: Lang) -> String {
    pick(lang, format!("上限 {size}"), format!("limit {size}"))
}

pub fn taken(size: &str, overflows: bool, lang: Lang) -> String {
    match (lang, overflows) {
        (Lang::Zh, false) => format!("共享 {size}"),
        (Lang::En, false) => format!("shared {size}"),
        (Lang::Zh, true) => format!("要 {size}，溢出"),
        (Lang::En, true) => format!("{size}: overflows"),
    }
}

pub fn y_axis(lang: Lang) -> &'static str {
    Text::new("TFLOP/s，H200，按模型", "TFLOP/s, H200, by the model").get(lang)
}

pub fn shared_ceiling(tflops: f64, lang: Lang) -> String {
    pick(lang, format!("共享内存 {}", number(tflops)), format!("shared memory {}", number(tflops)))
}

/// A bar: its name, the value as shown, bytes, how far the level is.
pub struct Level {
    pub name: String,
    pub shown: String,
    pub bytes: f64,
    pub far: f32,
}

pub fn levels(question: &Question, answer: &Answer, lang: Lang) -> Vec<Level> {
    let level = |zh: &'static str, en: &'static str, bytes: f64, far: f32| Level {
        name: Text::new(zh, en).get(lang).to_owned(),
        shown: readable(bytes, "B"),
        bytes,
        far,
    };
    let mut levels = vec![
        level("L2、显存 → 共享内存", "L2, DRAM → shared memory", answer.bytes as f64, 0.5),
        level("至少：每个矩阵搬一次", "at least: each matrix once", answer.least_bytes as f64, 0.75),
    ];
    if question.is_by_threads() {
        levels.insert(0, level("共享内存 → 寄存器", "shared memory → registers", answer.register_bytes, 0.1));
    }
    levels
}

fn bound(bound: Bound, lang: Lang) -> &'static str {
    match bound {
        Bound::Compute => Text::new("计算", "arithmetic"),
        Bound::Memory => Text::new("显存", "memory"),
        Bound::Shared => Text::new("共享内存", "shared memory"),
    }
    .get(lang)
}

/// What keeps such a block from running; none if nothing does.
pub fn problem(answer: &Answer, lang: Lang) -> Option<String> {
    if answer.overflows() {
        let (needs, limit) = (answer.shared_bytes, BLOCK_LIMIT);
        return Some(pick(
            lang,
            format!("共享内存要 {needs} B，一个 block 最多 {limit} B：启动不了。"),
            format!("Shared memory: needs {needs} B, block limit {limit} B. It will not launch."),
        ));
    }
    answer.has_too_many_threads().then(|| {
        let n = answer.threads;
        pick(
            lang,
            format!("{n} 个线程，一个 block 最多 {MOST_THREADS} 个：加大 TM、TN。"),
            format!("{n} threads, a block has at most {MOST_THREADS}: raise TM and TN."),
        )
    })
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let size = question.size;
    let dtype = if question.value == 4 { "fp32" } else { "bf16" };
    let [m, n, _] = question.tile;
    let (bytes, intensity) = (readable(answer.bytes as f64, "B"), number(answer.intensity));
    let said = pick(
        lang,
        format!("{size}³，{dtype}，块 {m} × {n}，次序 {}：搬 {bytes}，每字节 {intensity} FLOP。", question.order),
        format!(
            "{size}³ in {dtype}, tiles of {m} × {n}, order {}: {bytes} moved, {intensity} FLOP a byte.",
            question.order
        ),
    );
    let gap = if lang == Lang::En { " " } else { "" };
    let rest = problem(answer, lang).unwrap_or_else(|| {
        let (rate, by) = (number(answer.tflops), bound(answer.bound, lang));
        pick(
            lang,
            format!("没有缓存帮忙时最多 {rate} TFLOP/s，受限于{by}。"),
            format!("Without a cache at most {rate} TFLOP/s, bound by {by}."),
        )
    });
    format!("{said}{gap}{rest}")
}

/// The loops of the step.
pub fn step(answer: &Answer, step: u64, lang: Lang) -> String {
    let [i, j, k] = answer.walk.at(step);
    let brought = Matrix::ALL.map(|matrix| answer.walk.brought(matrix, step));
    let [a, b, c] = brought;
    pick(
        lang,
        format!("i = {i}，j = {j}，k = {k}：A 已取 {a} 块，B {b} 块，C 换了 {c} 块。"),
        format!("i = {i}, j = {j}, k = {k}: {a} tiles of A brought so far, {b} of B, {c} of C."),
    )
}

pub fn hit(question: &Question, answer: &Answer, hit: Hit, now: u64, lang: Lang) -> String {
    match hit {
        Hit::Tile(matrix, row, column) => tile(question, answer, matrix, (row, column), now, lang),
        Hit::Tank => tank(question, answer, lang),
        Hit::Dot => pick(
            lang,
            format!(
                "每字节 {} FLOP；显存 {} 只喂得出 {} TFLOP/s。",
                number(answer.intensity),
                with_unit(answer.roof.gb_per_s, "GB/s"),
                number(answer.intensity * answer.roof.gb_per_s / 1e3)
            ),
            format!(
                "{} FLOP a byte: {} of memory feed {} TFLOP/s.",
                number(answer.intensity),
                with_unit(answer.roof.gb_per_s, "GB/s"),
                number(answer.intensity * answer.roof.gb_per_s / 1e3)
            ),
        ),
        Hit::Level(idx) => levels(question, answer, lang).get(idx).map_or_else(String::new, |level| {
            let exact = grouped_with_unit(level.bytes, "B");
            let name = &level.name;
            pick(lang, format!("{name}：{exact}（条按对数画）"), format!("{name}: {exact} (bars are logarithmic)"))
        }),
    }
}

fn tile(question: &Question, answer: &Answer, matrix: Matrix, at: (u64, u64), now: u64, lang: Lang) -> String {
    let (row, column) = at;
    let name = letter(matrix);
    let times = answer.walk.times(matrix);
    let touched = match answer.walk.last_touch(matrix, row, column, now) {
        None => Text::new("还没碰过", "not touched yet").get(lang).to_owned(),
        Some(last) if last == now => Text::new("正在用", "in use").get(lang).to_owned(),
        Some(last) => pick(lang, format!("{} 步前用过", now - last), format!("used {} steps ago", now - last)),
    };
    let [rows, columns] = matrix.loops().map(|of| question.tile[of]);
    pick(
        lang,
        format!("{name} 的第 ({row}, {column}) 块，{rows} × {columns}：{touched}；走完全程要取 {times} 次。"),
        format!("Tile ({row}, {column}) of {name}, {rows} × {columns}: {touched}; brought {times} times in all."),
    )
}

fn tank(question: &Question, answer: &Answer, lang: Lang) -> String {
    let ([m, n, k], s, v) = (question.tile, question.stages, question.value);
    let bytes = answer.shared_bytes;
    pick(
        lang,
        format!("{s} 级 × {v} B × {k} × ({m} + {n}) = {bytes} B，一个 block 最多 {BLOCK_LIMIT} B。"),
        format!("{s} stages × {v} B × {k} × ({m} + {n}) = {bytes} B; a block has at most {BLOCK_LIMIT} B."),
    )
}
