//! The samples in words.

use super::question::{Line, Question, verdict};
use vramlab_model::bench_stats::Stats;
use vramlab_model::samples::{Change, LEAST_SAMPLES};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const AXIS: Text = Text::new("一次的时间，ms", "time of one sample, ms");
pub const MARKS: Text = Text::new(
    "竖线是中位数，× 是平均数；! 标出的离群样本照样算在里面。",
    "The stroke is the median, × the mean; samples marked ! are far out and still counted.",
);

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn name(idx: usize, n_lines: usize) -> Text {
    match (n_lines, idx) {
        (1, _) => Text::new("样本", "samples"),
        (_, 0) => Text::new("基线", "baseline"),
        _ => Text::new("候选", "candidate"),
    }
}

/// Above a pile, long and short.
pub fn head(stats: &Stats, lang: Lang) -> (String, String) {
    let n = stats.sorted.len();
    let median = with_unit(stats.median, "ms");
    let ends = stats.interval().map(|(low, high)| format!("{}–{}", number(low), number(high)));
    let ranks = stats.ranks.map(|ranks| (ranks.low, ranks.high));
    let long = match (&ends, ranks) {
        (Some(ends), Some((low, high))) => pick(
            lang,
            format!("{n} 个 · 中位数 {median} · 区间 {ends}（第 {low} 和第 {high} 小）"),
            format!("{n} samples · median {median} · interval {ends} (ranks {low} and {high})"),
        ),
        _ => pick(lang, format!("{n} 个 · 中位数 {median}"), format!("{n} samples · median {median}")),
    };
    (long, format!("n = {n} · {median}"))
}

pub fn no_interval(n: usize, lang: Lang) -> String {
    pick(
        lang,
        format!("{n} 个样本没有 95 % 区间，至少要 {LEAST_SAMPLES} 个"),
        format!("no 95 % interval from {n} samples; it takes {LEAST_SAMPLES}"),
    )
}

/// The same where there is little room.
pub fn none(lang: Lang) -> String {
    pick(lang, "没有区间".into(), "no interval".into())
}

pub fn change(change: Change) -> Text {
    match change {
        Change::Improved => Text::new("候选更快", "faster"),
        Change::Regressed => Text::new("候选更慢", "slower"),
        Change::NoDifference => Text::new("看不出差别", "none detected"),
        Change::Insufficient => Text::new("样本不够", "too few samples"),
    }
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(question: &Question, lines: &[Line], lang: Lang) -> String {
    let Some(found) = verdict(lines) else {
        return lines.first().map_or_else(String::new, |line| alone(line, lang));
    };
    let truth = with_unit(question.slower, "%");
    let head = match found {
        Change::Insufficient => {
            no_interval(lines[0].samples.len(), lang)
                + &pick(lang, "：什么也不能说。".into(), ": nothing can be said.".into())
        }
        Change::NoDifference => {
            pick(lang, "两个区间重叠：看不出差别。".into(), "The intervals overlap: no difference is detected.".into())
        }
        Change::Regressed => {
            pick(lang, "两个区间分得开：候选更慢。".into(), "The intervals are apart: the candidate is slower.".into())
        }
        Change::Improved => {
            pick(lang, "两个区间分得开：候选更快。".into(), "The intervals are apart: the candidate is faster.".into())
        }
    };
    let tail = match (found, question.slower > 0.0) {
        (Change::NoDifference, true) => pick(
            lang,
            format!("其实候选慢 {truth}，只是样本不够说出来。"),
            format!(" In truth the candidate is {truth} slower, and these samples do not tell."),
        ),
        (Change::NoDifference, false) => {
            pick(lang, "两边本来就一样。".into(), " The two are in truth the same.".into())
        }
        (Change::Insufficient, _) => String::new(),
        (Change::Regressed, true) => {
            pick(lang, format!("真的慢 {truth}。"), format!(" In truth it is {truth} slower."))
        }
        _ => {
            pick(lang, "这次抽样碰巧骗了人：再抽一次看看。".into(), " This draw misleads by chance: draw again.".into())
        }
    };
    head + &tail
}

fn alone(line: &Line, lang: Lang) -> String {
    let stats = &line.stats;
    let (median, mean) = (with_unit(stats.median, "ms"), with_unit(stats.mean, "ms"));
    let n = stats.outliers();
    pick(
        lang,
        format!("中位数 {median}，平均数 {mean}；标出的离群样本有 {n} 个，没有删。"),
        format!("Median {median}, mean {mean}; {n} flagged far out, none dropped."),
    )
}
