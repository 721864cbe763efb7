//! Bytes and mistakes in words.

use super::answer::{Answer, Kept, Way};
use super::question::{Mistake, Question};
use vramlab_units::quantity::Bytes;
use vramlab_units::show::{bytes_binary, number, readable, with_unit};
use vramlab_units::{Lang, Text};

pub const WEIGHTS: Text = Text::new("权重", "Weights");
pub const TOTAL: Text = Text::new("全部参数", "all");
pub const ACTIVE: Text = Text::new("用到的", "active");

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn bytes(bytes: f64) -> String {
    bytes_binary(Bytes(bytes.round().max(0.0) as u64))
}

pub fn title(question: &Question, lang: Lang) -> String {
    let n = question.tokens;
    pick(lang, format!("{n} 个 token，六种存法"), format!("Six ways to keep {n} tokens"))
}

pub fn per_token(per: f64) -> String {
    format!("{}/token", bytes(per))
}

pub fn times(factor: f64) -> String {
    format!("  ×{}", number(factor))
}

/// Behind a bar: what the request takes, and the mistake's factor.
pub fn after(kept: &Kept, mistake: Mistake, lang: Lang) -> String {
    let right = bytes(kept.request);
    match mistake {
        Mistake::None | Mistake::ActiveParams => right,
        // The digits stay, the unit is another: it is the bytes that shrink.
        Mistake::Gb => right + &times(kept.factor()),
        Mistake::QueryHeads | Mistake::FullContext => {
            let is_same = (kept.factor() - 1.0).abs() < 1e-9;
            let same = pick(lang, "  不变".into(), "  the same".into());
            right + &if is_same { same } else { times(kept.factor()) }
        }
    }
}

pub fn weight(params_b: f64, value_bytes: f64) -> String {
    readable((params_b * value_bytes * 1e9).round(), "B")
}

/// One row in words.
pub fn kept(kept: &Kept, question: &Question, lang: Lang) -> String {
    let shape = &question.shape;
    let (layers, size) = (shape.layers, shape.head_dim);
    let b = number(question.value_bytes);
    let formula = match kept.way {
        Way::Mha => format!("2 × {layers} × {} × {size} × {b} B", shape.q_heads),
        Way::Gqa => format!("2 × {layers} × {} × {size} × {b} B", shape.kv_heads),
        Way::Mqa => format!("2 × {layers} × 1 × {size} × {b} B"),
        Way::Mla => format!("{layers} × ({} + {}) × {b} B", shape.kv_rank, shape.rope_dim),
        Way::Window => {
            let full = layers - shape.window_layers;
            return pick(
                lang,
                format!(
                    "{full} 层留全部 token，{} 层只留最近 {} 个；一个请求 {}。",
                    shape.window_layers,
                    shape.window,
                    bytes(kept.request)
                ),
                format!(
                    "{full} layers keep all tokens, {} keep the last {}; a request takes {}.",
                    shape.window_layers,
                    shape.window,
                    bytes(kept.request)
                ),
            );
        }
        Way::Hybrid => format!("2 × {} × {} × {size} × {b} B", shape.attention_layers, shape.kv_heads),
    };
    let (per, request) = (bytes(kept.per_token), bytes(kept.request));
    let name = kept.way.name().get(lang);
    pick(
        lang,
        format!("{name}：每 token {formula} = {per}，一个请求 {request}。"),
        format!("{name}: {formula} = {per} a token, {request} a request."),
    )
}

pub const HINT: Text = Text::new(
    "把指针放到一行上，看它怎么算出来。↑ ↓ 换行。",
    "Rest the pointer on a row to see how it comes about. ↑ ↓ change the row.",
);

fn lost(factor: f64) -> String {
    with_unit(1.0 - 1.0 / factor, "%")
}

/// The finding for the state shown. Every number is a model's.
pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let request = |way| answer.of(way).map_or(0.0, |kept| kept.request);
    let (mha, gqa, mla) = (request(Way::Mha), request(Way::Gqa), request(Way::Mla));
    let n = question.tokens;
    let head = pick(
        lang,
        format!("{n} 个 token 的 KV：MHA {}，GQA {}，MLA {}。", bytes(mha), bytes(gqa), bytes(mla)),
        format!("KV of {n} tokens: {} with MHA, {} with GQA, {} with MLA. ", bytes(mha), bytes(gqa), bytes(mla)),
    );
    let factors = answer.factors;
    let (q, kv) = (question.shape.q_heads, question.shape.kv_heads);
    let tail = match question.mistake {
        Mistake::None => {
            pick(lang, "差别只在每层留下什么。".into(), "The difference is only what each layer keeps.".into())
        }
        Mistake::QueryHeads => pick(
            lang,
            format!(
                "拿 {q} 个 query 头当 {kv} 个 KV 头，GQA 就多算 {} 倍；真正存的是 KV 头。",
                number(factors.q_heads)
            ),
            format!(
                "Counting {q} query heads in the place of {kv} KV heads makes GQA {} times as large; what is kept are KV heads.",
                number(factors.q_heads)
            ),
        ),
        Mistake::FullContext => pick(
            lang,
            format!(
                "按 {} 的满上下文算，比眼下的 {n} 个 token 多 {} 倍；分页只占写下的。",
                question.context,
                number(factors.context)
            ),
            format!(
                "Assuming the full context of {} is {} times the {n} tokens that are there; pages hold what is written.",
                question.context,
                number(factors.context)
            ),
        ),
        Mistake::Gb => pick(
            lang,
            format!("把 GiB 读成 GB，字节就少看了 {}：1 GiB 是 {} GB。", lost(factors.gb), number(factors.gb)),
            format!("Reading GiB as GB loses {} of the bytes: 1 GiB is {} GB.", lost(factors.gb), number(factors.gb)),
        ),
        Mistake::ActiveParams => pick(
            lang,
            format!(
                "权重要全部放下：总参数是每个 token 用到的 {} 倍；激活参数决定算多少，不决定占多少。",
                number(factors.params)
            ),
            format!(
                "All weights have to be there: {} times those that a token uses. Active parameters say what is computed, not what is stored.",
                number(factors.params)
            ),
        ),
    };
    head + &tail
}
