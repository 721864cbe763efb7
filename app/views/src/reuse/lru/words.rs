//! The stack in words and numbers.

use super::layout::Hit;
use super::question::{Answer, Question, Source};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "点一次访问跳过去；在曲线图上左右拖，改缓存的行数。键盘：← → 走一步，↑ ↓ 加减一行，空格播放。",
    "Press an access to go there; drag across the curve to change the cache. Keys: ← → a step, ↑ ↓ a line more or less, Space plays.",
);
pub const HIT: Text = Text::new("命中", "hit");
pub const MISS: Text = Text::new("没命中", "miss");
pub const HELD: Text = Text::new("在缓存里", "in the cache");
pub const GONE: Text = Text::new("已挤出去", "fallen out");
pub const STACK: Text = Text::new("栈，最近用的在前", "the stack, latest first");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn curve_title(lang: Lang) -> &'static str {
    Text::new("没命中几次，随缓存的行数", "misses, by the lines of the cache").get(lang)
}

pub fn tile(tile: u64, lang: Lang) -> String {
    pick(lang, format!("块 {tile}"), format!("tile {tile}"))
}

pub fn more(n: usize, lang: Lang) -> String {
    pick(lang, format!("还有 {n} 行"), format!("{n} more"))
}

/// One access: its distance, and whether it hits.
pub fn access(question: &Question, answer: &Answer, idx: usize, lang: Lang) -> String {
    let (name, lines) = (answer.name(answer.lines[idx]), question.lines);
    let nth = idx + 1;
    match answer.distances[idx] {
        None => pick(
            lang,
            format!("第 {nth} 次，{name}：第一次用，多大的缓存都没命中。"),
            format!("Access {nth}, {name}: its first use, a miss at any size."),
        ),
        Some(far) if (far as u64) < lines => pick(
            lang,
            format!("第 {nth} 次，{name}：上次以来用过 {far} 行别的，{far} < {lines}，命中。"),
            format!("Access {nth}, {name}: {far} other lines since its last use, {far} < {lines}, a hit."),
        ),
        Some(far) => pick(
            lang,
            format!("第 {nth} 次，{name}：上次以来用过 {far} 行别的，{far} ≥ {lines}，没命中。"),
            format!("Access {nth}, {name}: {far} other lines since its last use, {far} ≥ {lines}, a miss."),
        ),
    }
}

pub fn hit(question: &Question, answer: &Answer, stack: &[u32], hit: Hit, lang: Lang) -> String {
    match hit {
        Hit::Access(idx) => access(question, answer, idx, lang),
        Hit::Chip(nth) => {
            let name = stack.get(nth).map_or("", |line| answer.name(*line));
            let is_held = (nth as u64) < question.lines;
            let place = if is_held { HELD } else { GONE }.get(lang);
            pick(
                lang,
                format!("{name}：最近用过的第 {} 行，{place}；现在再用，栈距离是 {nth}。", nth + 1),
                format!("{name}: number {} by last use, {place}; used now, its distance would be {nth}.", nth + 1),
            )
        }
        Hit::Curve(lines) => {
            let all = answer.curves.iter().map(|(size, misses)| {
                let n = misses[(lines as usize).min(misses.len() - 1)];
                if question.source == Source::Product { format!("{} {n}", tile(*size, lang)) } else { n.to_string() }
            });
            let all: Vec<String> = all.collect();
            let (comma, colon) = if lang == Lang::Zh { ("，", "：") } else { (", ", ": ") };
            let lead = pick(lang, format!("{lines} 行，没命中"), format!("Misses with {lines} lines"));
            format!("{lead}{colon}{}", all.join(comma))
        }
    }
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let (n, lines, misses) = (answer.lines.len(), question.lines, answer.misses(question.lines));
    let share = with_unit(1.0 - misses as f64 / n as f64, "%");
    let distinct = answer.distinct();
    match question.source {
        Source::Typed => pick(
            lang,
            format!("{n} 次访问，{distinct} 个不同的行，缓存 {lines} 行：{misses} 次没命中，命中 {share}。"),
            format!("{n} accesses to {distinct} lines, a cache of {lines}: {misses} misses, {share} hits."),
        ),
        Source::Product => {
            let (edge, tile) = (question.edge, question.tile);
            pick(
                lang,
                format!(
                    "{edge} × {edge} 矩阵乘，块 {tile}，缓存 {lines} 行：{n} 次访问，{misses} 次没命中，命中 {share}。"
                ),
                format!(
                    "{edge} × {edge} product in tiles of {tile}, a cache of {lines} lines: {misses} misses in {n} accesses, {share} hits."
                ),
            )
        }
    }
}
