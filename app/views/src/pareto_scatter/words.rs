//! The plans in words.

use super::question::{Found, GIB, Question};
use vramlab_model::plan_pareto::Plan;
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

/// A change by its id, for the picture.
pub fn toggle(id: &str) -> Text {
    match id {
        "fuse" => Text::new("融合", "fuse"),
        "tile" => Text::new("分块", "tile"),
        "precision" => Text::new("降精度", "precision"),
        "graph" => Text::new("图", "graph"),
        "overlap" => Text::new("重叠", "overlap"),
        "checkpoint" => Text::new("检查点", "checkpoint"),
        "accumulate" => Text::new("累积", "accumulate"),
        _ => Text::new("卸载", "offload"),
    }
}

pub fn ms(value: f64) -> String {
    with_unit(value, "ms")
}

pub fn gib(bytes: i64) -> String {
    with_unit(bytes as f64 / GIB, "GiB")
}

/// A plan's changes with plus signs between; the baseline has none.
pub fn plan(question: &Question, plan: &Plan, lang: Lang) -> String {
    let names: Vec<&str> = plan.toggles(&question.toggles).map(|it| toggle(&it.id).get(lang)).collect();
    match (names.is_empty(), lang) {
        (true, Lang::Zh) => "基线".to_owned(),
        (true, Lang::En) => "baseline".to_owned(),
        _ => names.join(" + "),
    }
}

/// Why a plan is out, or where it ends.
pub fn looked_at(question: &Question, found: &Found, bits: u32, lang: Lang) -> String {
    let Some(it) = found.plans.get(bits as usize) else { return String::new() };
    let name = plan(question, it, lang);
    if let Some(refused) = it.refused {
        let over = gib(i64::try_from(refused.by_bytes).unwrap_or(i64::MAX));
        return match (refused.step, lang) {
            (0, Lang::Zh) => format!("基线就放不下，差 {over}：没有可以比的东西。"),
            (0, Lang::En) => format!("The baseline itself is {over} too large: there is nothing to compare with."),
            (step, Lang::Zh) => format!("{name}：第 {step} 步放不下，差 {over}。"),
            (step, Lang::En) => format!("{name}: infeasible at step {step}, by {over}."),
        };
    }
    let is_best = found.set.iter().any(|other| other.bits == bits);
    let beaten = found.set.iter().find(|other| other.time_ms <= it.time_ms * (1.0 + 1e-9) && other.peak <= it.peak);
    let (time, peak) = (ms(it.time_ms), gib(it.peak));
    match (is_best, beaten, lang) {
        (false, Some(by), Lang::Zh) => {
            format!("{name}：{time}，{peak}。“{}”两样都不比它差。", plan(question, by, lang))
        }
        (false, Some(by), Lang::En) => {
            format!("{name}: {time}, {peak}. \"{}\" is no worse in either.", plan(question, by, lang))
        }
        (_, _, Lang::Zh) => format!("{name}：{time}，{peak}。没有方案两样都不比它差。"),
        (_, _, Lang::En) => format!("{name}: {time}, {peak}. No plan is at least as good in both."),
    }
}

pub fn finding(question: &Question, found: &Found, lang: Lang) -> String {
    let n = found.plans.len();
    let n_fit = found.plans.iter().filter(|plan| plan.refused.is_none()).count();
    let card = with_unit(question.card_gib, "GiB");
    let (Some(fastest), Some(leanest)) = (found.set.first(), found.set.last()) else {
        return looked_at(question, found, 0, lang);
    };
    let (fast, lean) = (plan(question, fastest, lang), plan(question, leanest, lang));
    let (time, peak, n_set) = (ms(fastest.time_ms), gib(leanest.peak), found.set.len());
    match lang {
        Lang::Zh if n_set == 1 => {
            format!("{card} 的卡：{n} 个方案里 {n_fit} 个每一步都放得下；最快的也最省：{fast}，{time}，{peak}。")
        }
        Lang::En if n_set == 1 => format!(
            "On a card of {card}, {n_fit} of {n} plans fit at every step; the fastest is also the leanest: {fast}, {time}, {peak}."
        ),
        Lang::Zh => format!(
            "{card} 的卡：{n} 个方案里 {n_fit} 个每一步都放得下，{n_set} 个不输给谁：最快 {fast}（{time}），最省 {lean}（{peak}）。"
        ),
        Lang::En => format!(
            "On a card of {card}, {n_fit} of {n} plans fit at every step, and nothing beats {n_set} of them: fastest {fast} ({time}), leanest {lean} ({peak})."
        ),
    }
}
