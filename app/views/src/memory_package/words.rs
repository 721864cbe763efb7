//! The memory package in words: names, the finding, and what the pointer or the cursor is on.

use super::question::{Kind, Question};
use vramlab_model::peak_bandwidth;
use vramlab_units::{Lang, Text, show};

pub const PACKAGE: Text = Text::new("封装 package", "package");
pub const BOARD: Text = Text::new("电路板 board", "board");

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

fn rate(gb_per_s: f64) -> String {
    show::with_unit(gb_per_s, "GB/s")
}

/// A pin's rate to four digits: 6.402 is not 6.4 once it is multiplied by 6016.
pub fn pin(gbit_per_pin: f64) -> String {
    let text = format!("{gbit_per_pin:.3}");
    format!("{}{}Gb/s", text.trim_end_matches('0').trim_end_matches('.'), show::THIN)
}

/// A ratio near 1 to a tenth of a per cent.
pub fn percent(ratio: f64) -> String {
    format!("{:.1}{}%", ratio * 100.0, show::THIN)
}

/// A number of data pins.
pub fn pins(bits: u64, lang: Lang) -> String {
    pick(lang, format!("{bits} 根"), format!("{bits} pins"))
}

/// What the dashed outline stands for.
pub fn published_label(gb_per_s: f64, lang: Lang) -> [String; 2] {
    let name = pick(lang, "公布".into(), "published".into());
    [name, rate(gb_per_s)]
}

/// `6 stacks · HBM3e`; chips are too small for the unit in them, so it stands here: `12 chips of 32 pins`.
pub fn memory(question: &Question, bits: &[u64], lang: Lang) -> String {
    let mut parts = parts(question.kind, bits.len(), lang);
    if let (Kind::Gddr, Some(each)) = (question.kind, bits.first()) {
        parts = pick(lang, format!("{parts} × {}", pins(*each, lang)), format!("{parts} of {}", pins(*each, lang)));
    }
    match question.card() {
        Some(card) => format!("{parts} · {}", card.memory),
        None => parts,
    }
}

fn parts(kind: Kind, n: usize, lang: Lang) -> String {
    match (kind, n) {
        (Kind::Hbm, 1) => pick(lang, "1 个堆叠".into(), "1 stack".into()),
        (Kind::Hbm, n) => pick(lang, format!("{n} 个堆叠"), format!("{n} stacks")),
        (Kind::Gddr, 1) => pick(lang, "1 颗芯片".into(), "1 chip".into()),
        (Kind::Gddr, n) => pick(lang, format!("{n} 颗芯片"), format!("{n} chips")),
    }
}

/// `H200 · 132 SM`.
pub fn card(question: &Question, lang: Lang) -> String {
    match question.card() {
        Some(card) => format!("{} · {} SM", card.name, card.sm_count),
        None => pick(lang, "自定".into(), "custom".into()),
    }
}

/// The finding for the state shown. Every number is the model's or the hardware file's.
pub fn finding(question: &Question, bits: &[u64], lang: Lang) -> String {
    let (parts, pin, peak) = (parts(question.kind, bits.len(), lang), pin(question.gbit_per_pin), question.peak());
    let wires = question.bus_bits;
    let mut text = match question.card() {
        Some(card) => pick(
            lang,
            format!("{}：{parts}，{wires} 根数据线，每根 {pin}，合 {}。", card.name, rate(peak.0)),
            format!("{}: {parts}, {wires} data pins at {pin} each, {} in all.", card.name, rate(peak.0)),
        ),
        None => pick(
            lang,
            format!("{parts}，{wires} 根数据线，每根 {pin}，合 {}。", rate(peak.0)),
            format!("{parts}, {wires} data pins at {pin} each: {} in all.", rate(peak.0)),
        ),
    };
    let full = question.kind.part_bits() * bits.len() as u64;
    if full != wires {
        let (zh, en) = match question.card() {
            Some(_) => ("驱动报告的少一些", "the driver reports fewer"),
            None => ("这里设的少一些", "fewer are set here"),
        };
        text.push_str(&pick(
            lang,
            format!("接满是 {full} 根，{zh}。"),
            format!(" With every pin wired it would be {full}; {en}."),
        ));
    }
    text.push_str(&published(question, lang).unwrap_or_default());
    text
}

fn published(question: &Question, lang: Lang) -> Option<String> {
    let published = question.card()?.published.as_ref()?;
    let ratio = peak_bandwidth::of_published(question.peak(), published.gb_per_s);
    let (shown, share) = (rate(published.gb_per_s), percent(ratio.0));
    Some(pick(
        lang,
        format!("厂商公布 {shown}，算出来的是它的 {share}。"),
        format!(" The vendor prints {shown}; the computed figure is {share} of that."),
    ))
}

/// A part, for the line under the figure.
pub fn part(question: &Question, bits: &[u64], idx: usize, lang: Lang) -> String {
    let Some(n_bits) = bits.get(idx).copied() else { return scale(question, bits, lang) };
    let name = match question.kind {
        Kind::Hbm => pick(lang, format!("堆叠 {idx}"), format!("stack {idx}")),
        Kind::Gddr => pick(lang, format!("芯片 {idx}"), format!("chip {idx}")),
    };
    let (pin, given) = (pin(question.gbit_per_pin), rate(question.part_rate(n_bits).0));
    format!("{name} · {n_bits} bit × {pin} ÷ 8 = {given}")
}

/// What the picture's measures are, when nothing is pointed at.
pub fn scale(question: &Question, bits: &[u64], lang: Lang) -> String {
    let is_full = bits.iter().all(|bits| *bits == question.kind.part_bits());
    let (zh, en) = match (is_full, question.card()) {
        (true, _) => ("", ""),
        (false, Some(_)) => ("斜纹是驱动没有报告的线。", " Hatched: pins that the driver does not report."),
        (false, None) => ("斜纹是没接的线。", " Hatched: pins that are not wired."),
    };
    pick(
        lang,
        format!("方块里是数据线的根数；带子越粗，GB/s 越多，各张卡同一比例。{zh}"),
        format!("A box holds its number of data pins. Thickness is GB/s, on one scale for every card.{en}"),
    )
}
