//! The bank grid in words: the finding, and what the pointer or the cursor is on.

use super::layout::{Geometry, Pointed};
use super::question::{Pattern, Question};
use crate::sector_map::words::ranges;
use vramlab_model::bank_conflicts::{BANKS, Conflicts};
use vramlab_units::{Lang, show};

/// The finding for the state shown. Every number is the model's.
pub fn finding(question: &Question, answer: &Conflicts, lang: Lang) -> String {
    let (wavefronts, banks) = (answer.wavefronts(), answer.banks_used);
    let degree = answer.degree();
    let n_phases = answer.phases.iter().filter(|phase| phase.passes > 0).count();
    if wavefronts == 0 {
        return pick(lang, "没有 lane 参与，一趟也不用。".into(), "No lane takes part, so no pass is needed.".into());
    }
    let (zh, en) = case(question);
    let is_broadcast = question.pattern == Pattern::Strided && question.stride_words == 0;
    if is_broadcast && wavefronts == 1 && question.active_mask.count_ones() > 1 {
        return pick(
            lang,
            "所有 lane 要同一个字：广播一次就够，一趟取完，不算冲突。".into(),
            "All lanes want the same word: one broadcast, one pass, no conflict.".into(),
        );
    }
    if answer.extra_passes() == 0 && n_phases > 1 {
        return pick(
            lang,
            format!("{zh}没有冲突：{n_phases} 个阶段各一趟，{wavefronts} 个 wavefront 是数据量，不是排队。"),
            format!(
                "{en}no conflict: {n_phases} phases of one pass each. {wavefronts} wavefronts are volume, not queueing."
            ),
        );
    }
    if answer.extra_passes() == 0 {
        return pick(
            lang,
            format!("{zh}没有冲突：用到 {banks} 个 bank，一趟取完。"),
            format!("{en}no conflict: {banks} banks answer once each, one pass."),
        );
    }
    let ways = show::number(degree);
    pick(
        lang,
        format!("{zh}{ways} 路冲突：{BANKS} 个 bank 用到 {banks} 个，要 {wavefronts} 趟才取完。"),
        format!(
            "{en}{} {ways}-way conflict: {banks} of {BANKS} banks are used and the access takes {wavefronts} passes.",
            article(degree)
        ),
    )
}

/// The pattern in words, as the beginning of a sentence.
fn case(question: &Question) -> (String, String) {
    let (mut zh, mut en) = match question.pattern {
        Pattern::Strided => {
            let (stride, width) = (question.stride_words, question.width_bytes);
            let words = format!("a stride of {stride} word{}", plural(stride as u32));
            if width > 4 {
                (format!("{width} 字节访问、步长 {stride} 个字"), format!("With {width}-byte accesses at {words}"))
            } else {
                (format!("步长 {stride} 个字"), format!("At {words}"))
            }
        }
        Pattern::Tile { side, is_column: true } => {
            (format!("取 {side}×{side} 小块的一列"), format!("For a column of a {side}×{side} tile"))
        }
        Pattern::Tile { side, is_column: false } => {
            (format!("取 {side}×{side} 小块的一行"), format!("For a row of a {side}×{side} tile"))
        }
    };
    if question.pad_words > 0 {
        zh.push_str(&format!("、每行垫 {} 个字", question.pad_words));
        en.push_str(&format!(" with rows padded by {}", question.pad_words));
    }
    if question.has_swizzle {
        zh.push_str("、加 swizzle");
        en.push_str(if question.pad_words > 0 { " and a swizzle" } else { " with a swizzle" });
    }
    (format!("{zh}时，"), format!("{en}, "))
}

/// What a lane or a cell holds.
pub fn readout(geometry: &Geometry, answer: &Conflicts, pointed: Pointed, lang: Lang) -> String {
    match pointed {
        Pointed::Lane(lane) => lane_readout(geometry, answer, lane, lang),
        Pointed::Cell { row_idx, bank } => cell_readout(geometry, answer, row_idx, bank, lang),
    }
}

fn lane_readout(geometry: &Geometry, answer: &Conflicts, lane: usize, lang: Lang) -> String {
    let mut parts = Vec::new();
    for (phase_idx, phase) in answer.phases.iter().enumerate() {
        for hit in phase.hits.iter().filter(|hit| hit.lane == lane) {
            let row = geometry.row(phase_idx, hit.pass).map_or(0, |(row_idx, _)| row_idx + 1);
            parts.push(match lang {
                Lang::Zh => format!("字 {} 在 bank {}，第 {row} 趟", hit.word, hit.bank),
                Lang::En => format!("word {} in bank {}, pass {row}", hit.word, hit.bank),
            });
        }
    }
    if parts.is_empty() {
        return pick(lang, format!("lane {lane} · 不参与"), format!("lane {lane} · switched off"));
    }
    format!("lane {lane} · {}", parts.join(pick_str(lang, "；", "; ")))
}

fn cell_readout(geometry: &Geometry, answer: &Conflicts, row_idx: usize, bank: u32, lang: Lang) -> String {
    let Some(row) = geometry.rows.get(row_idx) else { return String::new() };
    let hits = answer.phases.get(row.phase_idx).map(|phase| phase.hits.as_slice()).unwrap_or_default();
    let here: Vec<_> = hits.iter().filter(|hit| hit.pass == row.pass && hit.bank == bank).collect();
    let pass = row_idx + 1;
    let Some(first) = here.first() else {
        return pick(lang, format!("bank {bank} · 第 {pass} 趟 · 空着"), format!("bank {bank} · pass {pass} · idle"));
    };
    let lanes = ranges(&here.iter().map(|hit| hit.lane).collect::<Vec<_>>());
    let shared = if here.len() > 1 { pick_str(lang, " · 广播", " · broadcast") } else { "" };
    pick(
        lang,
        format!("bank {bank} · 第 {pass} 趟 · 字 {} · lane {lanes}{shared}", first.word),
        format!("bank {bank} · pass {pass} · word {} · lane {lanes}{shared}", first.word),
    )
}

/// "an" before 8, 11 and 18; other degrees up to 32 begin with a consonant.
fn article(degree: f64) -> &'static str {
    if matches!(degree as u32, 8 | 11 | 18) { "an" } else { "a" }
}

fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

fn pick_str(lang: Lang, zh: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}
