//! The ledger over a step in words.

use super::layout::GIB;
use super::ops;
use vramlab_ledger::{Holder, Item, Owner, Part, Peak, Timeline};
use vramlab_units::show::{self, bytes_binary, with_unit};
use vramlab_units::{Bytes, Lang, Text};

pub fn size(bytes: u64) -> String {
    bytes_binary(Bytes(bytes))
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// A holder's name inside its band.
pub fn short(holder: Holder, lang: Lang) -> &'static str {
    let text = match holder {
        Holder::Owner(Owner::Parameter) => Text::new("参数", "parameters"),
        Holder::Owner(Owner::Optimizer) => Text::new("优化器状态", "optimizer state"),
        Holder::Owner(Owner::Gradient) => Text::new("梯度", "gradients"),
        Holder::Owner(Owner::Input) => Text::new("输入", "inputs"),
        Holder::Owner(Owner::Activation) => Text::new("激活", "activations"),
        Holder::Owner(Owner::WeightCast) => Text::new("16 位权重副本", "16-bit weight copies"),
        Holder::Owner(Owner::Logits) => Text::new("logits 与损失", "logits and loss"),
        Holder::Owner(Owner::ActivationGradient) => Text::new("激活的梯度", "activation gradients"),
        Holder::Owner(Owner::Temporary) => Text::new("临时", "temporaries"),
        Holder::Rest => Text::new("切不下的余量", "unsplit rests"),
    };
    text.get(lang)
}

pub fn card(bytes: f64, lang: Lang) -> String {
    let size = with_unit(bytes / GIB, "GiB");
    pick(lang, format!("卡 {size}"), format!("card {size}"))
}

/// What the horizontal axis counts.
pub fn axis(n_events: usize, lang: Lang) -> String {
    let n = show::grouped(n_events as f64);
    pick(lang, format!("申请与释放，共 {n} 次 →"), format!("requests and frees, {n} in all →"))
}

fn part(part: Part, lang: Lang) -> &'static str {
    match (part, lang) {
        (Part::Forward, Lang::Zh) => "前向",
        (Part::Backward, Lang::Zh) => "反向",
        (Part::Step, Lang::Zh) => "更新",
        (Part::Zero, Lang::Zh) => "清梯度",
        (Part::Forward, Lang::En) => "forward",
        (Part::Backward, Lang::En) => "backward",
        (Part::Step, Lang::En) => "the step",
        (Part::Zero, Lang::En) => "zeroing",
    }
}

/// The label at the peak.
pub fn peak(peak: &Peak, lang: Lang) -> String {
    let size = size(peak.bytes);
    let op = ops::name(peak.item.op, lang);
    pick(lang, format!("峰值 {size} · {op}"), format!("peak {size} · {op}"))
}

/// An operation with its block: `linear, block 3`.
pub fn op(item: &Item, lang: Lang) -> String {
    match item.layer {
        None => ops::name(item.op, lang).to_owned(),
        Some(layer) => {
            let n = layer + 1;
            let op = ops::name(item.op, lang);
            pick(lang, format!("第 {n} 块 {op}"), format!("{op}, block {n}"))
        }
    }
}

/// Where a moment lies: `backward · event 1204`.
pub fn moment(timeline: &Timeline, at: usize, lang: Lang) -> String {
    let found = timeline.phases.iter().find(|phase| (phase.from..phase.until).contains(&at));
    let name = found.map_or("", |phase| part(phase.part, lang));
    let size = size(timeline.allocated.get(at).copied().unwrap_or(0));
    pick(lang, format!("{name}，第 {at} 个事件：{size}"), format!("{name}, event {at}: {size}"))
}

/// The owners of a moment that hold the most.
pub fn owners(timeline: &Timeline, at: usize, lang: Lang) -> String {
    let mut owners: Vec<(Holder, u64)> = timeline.at(at).into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    owners.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let words: Vec<String> =
        owners.iter().take(4).map(|(holder, bytes)| format!("{} {}", short(*holder, lang), size(*bytes))).collect();
    words.join(pick(lang, "，".into(), ", ".into()).as_str())
}

/// The finding: the peak, what makes it, whose it is, whether it fits.
pub fn finding(timeline: &Timeline, card_gib: f64, lang: Lang) -> String {
    let peak = &timeline.peak;
    let mut owners = timeline.at(peak.at);
    owners.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let (first, bytes) = owners.first().copied().unwrap_or((Holder::Rest, 0));
    let share = with_unit(bytes as f64 / peak.bytes.max(1) as f64, "%");
    let (size, name) = (size(peak.bytes), short(first, lang));
    let head = pick(
        lang,
        format!(
            "峰值 {size}，出现在{}的{}；最大的一份是{name}，占 {share}。",
            part(peak.part, lang),
            ops::name(peak.item.op, lang)
        ),
        format!(
            "The peak is {size}, in {} at {}; the largest share is {name}, {share}.",
            part(peak.part, lang),
            peak.item.op
        ),
    );
    let reserved = timeline.figures.reserved as f64 / GIB;
    let card = with_unit(card_gib, "GiB");
    let fits = if reserved <= card_gib {
        pick(
            lang,
            format!("分配器要 {}，{card} 的卡装得下。", with_unit(reserved, "GiB")),
            format!(" The allocator takes {}; a card of {card} holds it.", with_unit(reserved, "GiB")),
        )
    } else {
        pick(
            lang,
            format!("分配器要 {}，{card} 的卡装不下。", with_unit(reserved, "GiB")),
            format!(" The allocator would take {}; a card of {card} does not hold it.", with_unit(reserved, "GiB")),
        )
    };
    head + &fits
}
