//! Speculative decoding in words.

use super::question::Question;
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

pub const SPEEDUP: Text = Text::new("快几倍 S", "speed-up S");
pub const LENGTH: Text = Text::new("草稿长度 γ", "draft length γ");
pub const ALPHA: Text = Text::new("接受率 α", "acceptance α");
pub const COST: Text = Text::new("开销 c", "cost c");
pub const DEAR: Text = Text::new("检查不再白做", "checks cost time");
pub const PLAIN: Text = Text::new("不用草稿", "no draft");
pub const FREE: Text = Text::new("假定检查白做", "if checks were free");
pub const HINT: Text = Text::new(
    "左图拖草稿长度；右图拖着点走，换接受率和开销。键盘：← → 改 γ，↑ ↓ 改 α。",
    "Drag the draft length on the left; drag the point on the right for acceptance and cost. Keys: ← → for γ, ↑ ↓ for α.",
);

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn times(value: f64) -> String {
    format!("{}×", number(value))
}

/// One draft length.
pub fn point(question: &Question, gamma: u32, lang: Lang) -> String {
    let draft = question.draft();
    let (tokens, check, cost) = (draft.tokens(gamma), draft.check(gamma), f64::from(gamma) * question.cost);
    let (e, s) = (number(tokens), number(draft.speedup(gamma)));
    let all = number(cost + check);
    pick(
        lang,
        format!("γ = {gamma}：一轮得 {e} 个 token，花 {} + {} = {all} 步，快 {s} 倍。", number(cost), number(check)),
        format!(
            "γ = {gamma}: a round gives {e} tokens and takes {} + {} = {all} steps: {s} times as fast.",
            number(cost),
            number(check)
        ),
    )
}

pub fn finding(question: &Question, lang: Lang) -> String {
    let best = question.best();
    let said = point(question, question.gamma, lang);
    let top = number(question.draft().speedup(best));
    let judged = match best {
        0 => pick(lang, "多长的草稿都不划算。".into(), " No draft pays, whatever its length.".into()),
        _ if best == question.gamma => pick(lang, "这就是最好的长度。".into(), " No length is better.".into()),
        _ => pick(
            lang,
            format!("最好是 γ = {best}，快 {top} 倍。"),
            format!(" Best is γ = {best}, {top} times as fast."),
        ),
    };
    let dear = match question.first_dear() {
        None => String::new(),
        Some(1) => pick(
            lang,
            format!("批 {}，一步已经受算力限制，每多检查一个都要时间。", question.batch),
            format!(
                " With {} sequences a step is bound by sums already: every checked token costs time.",
                question.batch
            ),
        ),
        Some(gamma) => pick(
            lang,
            format!("批 {}：草稿到 {} 个为止，检查才是白做的。", question.batch, gamma - 1),
            format!(" With {} sequences checks are free up to a draft of {}.", question.batch, gamma - 1),
        ),
    };
    said + &judged + &dear
}
