//! What engines do, in words. Rows of `assets/engines.toml` bring their own.

use super::engines::{ENGINES, Engine};
use super::question::{Part, Question, Taken};
use vramlab_units::show::{grouped, number};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "点一行，读它怎么拿、满了怎么办；↑ ↓ 换行。",
    "Press a row to read how it takes and what it does when full; ↑ ↓ move.",
);
pub const TAKES: [Text; 3] =
    [Text::new("怎么拿", "How it takes"), Text::new("满了怎么办", "When full"), Text::new("前缀", "Prefixes")];
pub const SHORT: Text = Text::new("留给激活的不够", "too little for activations");
pub const MISSING: Text = Text::new("放不下", "does not fit");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn part(part: Part) -> Text {
    match part {
        Part::NonTorch => Text::new("PyTorch 之外", "outside of PyTorch"),
        Part::Weights => Text::new("权重", "weights"),
        Part::Activations => Text::new("激活峰值", "activation peak"),
        Part::Pool => Text::new("KV 池，启动时拿下", "KV pool, taken at the start"),
        Part::Growing => Text::new("KV 随用随长", "KV grows as needed"),
        Part::Left => Text::new("不拿", "not taken"),
    }
}

pub fn gb(bytes: f64) -> String {
    format!("{:.1}\u{2009}GB", bytes / 1e9)
}

/// What stands behind a bar.
pub fn after(taken: &Taken, lang: Lang) -> String {
    if taken.pool_bytes <= 0.0 {
        return format!("{} · −{}", MISSING.get(lang), gb(-taken.pool_bytes));
    }
    let n = taken.requests as f64;
    let requests = if n < 1e4 { grouped(n) } else { format!("{:.0}k", n / 1e3) };
    pick(
        lang,
        format!("{} · {requests} 个请求", gb(taken.pool_bytes)),
        format!("{} · {requests} requests", gb(taken.pool_bytes)),
    )
}

pub fn row(engine: &Engine, taken: &Taken, lang: Lang) -> String {
    let tokens = grouped(taken.tokens as f64);
    let share = if engine.share < 1.0 { format!(" {}", number(engine.share)) } else { String::new() };
    let short = if taken.is_short { format!("；{}", SHORT.get(Lang::Zh)) } else { String::new() };
    let short_en = if taken.is_short { format!("; {}", SHORT.get(Lang::En)) } else { String::new() };
    pick(
        lang,
        format!("{}{share}：{}，{tokens} 个 token{short}。", engine.name, after(taken, lang)),
        format!("{}{share}: {}, {tokens} tokens{short_en}.", engine.name, after(taken, lang)),
    )
}

pub fn finding(question: &Question, lang: Lang) -> String {
    let all: Vec<(&Engine, Taken)> = ENGINES.iter().map(|engine| (engine, question.taken(engine))).collect();
    let reserved = all.iter().filter(|(engine, taken)| engine.share < 1.0 && taken.pool_bytes > 0.0);
    let most = reserved.clone().max_by_key(|(_, taken)| taken.requests);
    let least = reserved.min_by_key(|(_, taken)| taken.requests);
    let card = number(question.card_gb);
    let (Some((a, most)), Some((b, least))) = (most, least) else {
        return pick(
            lang,
            format!("{card} GB 的卡，按这些引擎的缺省放不下。"),
            format!("By their defaults nothing is left on a card of {card} GB."),
        );
    };
    let mut said = pick(
        lang,
        format!(
            "同样的卡和模型，按各自的缺省：{} 留下 {}（{} 个请求），{} 留下 {}（{} 个）。",
            a.name,
            gb(most.pool_bytes),
            most.requests,
            b.name,
            gb(least.pool_bytes),
            least.requests
        ),
        format!(
            "The same card and model, by their defaults: {} leaves {} ({} requests), {} {} ({}).",
            a.name,
            gb(most.pool_bytes),
            most.requests,
            b.name,
            gb(least.pool_bytes),
            least.requests
        ),
    );
    for (engine, _) in all.iter().filter(|(_, taken)| taken.is_short) {
        said += &pick(
            lang,
            format!("{} 留给激活的那一份不够：装得进，长提示来了会 OOM。", engine.name),
            format!(" {} sets too little aside for activations: it starts, and a long prompt kills it.", engine.name),
        );
    }
    said
}
