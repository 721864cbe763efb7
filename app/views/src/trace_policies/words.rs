//! The comparison in words.

use super::policies::Policy;
use vramlab_snapshot::policies::Held;
use vramlab_units::{Bytes, Lang, show};

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn bytes(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

pub fn mib(mib: u64) -> String {
    bytes(mib << 20)
}

pub fn requests(n: usize, lang: Lang) -> String {
    pick(lang, format!("{n} 次申请"), format!("{n} requests"))
}

/// A bar's number: how much it took, or where it stopped.
pub fn value(held: &Held, lang: Lang) -> String {
    match held.first_oom {
        Some(nth) => pick(lang, format!("第 {nth} 次申请失败"), format!("request {nth} fails")),
        None => bytes(held.peak_reserved),
    }
}

/// Who takes least and most, and who does not get through.
pub fn finding(held: &[Held], capacity_mib: u64, lang: Lang) -> String {
    let all = Policy::ALL.iter().zip(held);
    let failed: Vec<&str> =
        all.clone().filter(|(_, held)| held.n_ooms > 0).map(|(policy, _)| policy.name().get(lang)).collect();
    let through = || all.clone().filter(|(policy, held)| held.n_ooms == 0 && !policy.preallocates());
    let least = through().min_by_key(|(_, held)| held.peak_reserved);
    let most = through().max_by_key(|(_, held)| held.peak_reserved);
    let asked = held.iter().filter(|held| held.n_ooms == 0).map(|held| held.peak_requested).max();
    let mut text = match (least, most, asked) {
        (Some((low, least)), Some((high, most)), Some(asked)) => pick(
            lang,
            format!(
                "同一串申请，峰值只要 {}。按需拿的里面，最多的是“{}”（{}），最少的是“{}”（{}）。",
                bytes(asked),
                high.name().get(lang),
                bytes(most.peak_reserved),
                low.name().get(lang),
                bytes(least.peak_reserved)
            ),
            format!(
                "The same requests need {} at their peak. Of those that take on demand, {} takes most, {}, and {} least, {}.",
                bytes(asked),
                high.name().get(lang),
                bytes(most.peak_reserved),
                low.name().get(lang),
                bytes(least.peak_reserved)
            ),
        ),
        _ => pick(lang, "没有一种放得下。".into(), "None of them gets through.".into()),
    };
    if !failed.is_empty() {
        let (card, n) = (mib(capacity_mib), failed.len());
        text.push_str(&pick(
            lang,
            format!("{card} 的卡上失败的有 {n} 种：{}。", failed.join("；")),
            format!(" On a card of {card}, {n} of them fail: {}.", failed.join("; ")),
        ));
    }
    text
}
