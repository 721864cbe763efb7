//! The chart of models in words.

use super::answer::{Answer, Fit};
use super::question::{Question, Shows};
use crate::kv_lab::bytes::words::bytes;
use vramlab_units::show::{grouped, number, readable};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "点一行，或按 ↑ ↓：换模型。拖下面的卡：改每个请求的 token。",
    "Press a row, or ↑ ↓, to change the model. Drag on the card to change the tokens of a request.",
);
pub const WEIGHTS: Text = Text::new("权重", "weights");
pub const CACHE: Text = Text::new("KV 缓存", "KV cache");
pub const FREE: Text = Text::new("空闲", "free");
pub const OVER: Text = Text::new("放不下", "does not fit");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn size(bytes: f64) -> String {
    readable(bytes.round(), "B")
}

pub fn count(n: u64) -> String {
    grouped(n as f64)
}

pub fn title(question: &Question, lang: Lang) -> String {
    let b = number(question.value_bytes);
    match question.shows {
        Shows::Token => pick(
            lang,
            format!("每来一个 token，留下多少字节（一个值 {b} B）"),
            format!("Bytes that a token leaves ({b} B a value)"),
        ),
        Shows::Request => {
            let n = count(question.tokens);
            pick(lang, format!("一个 {n} token 的请求占多少"), format!("What a request of {n} tokens takes"))
        }
    }
}

/// The same where there is little room.
pub fn short_title(question: &Question, lang: Lang) -> String {
    match question.shows {
        Shows::Token => pick(lang, "每个 token 的字节".into(), "Bytes of a token".into()),
        Shows::Request => pick(lang, "一个请求的字节".into(), "Bytes of a request".into()),
    }
}

pub fn card_title(question: &Question, name: &str, lang: Lang) -> String {
    let (gb, n, requests, tokens) =
        (number(question.card_gb), question.n_cards, count(question.requests), count(question.tokens));
    let cards = if n == 1 {
        pick(lang, format!("{gb} GB 的卡"), format!("a card of {gb} GB"))
    } else {
        pick(lang, format!("{n} 张 {gb} GB 的卡里的一张"), format!("one of {n} cards of {gb} GB"))
    };
    pick(
        lang,
        format!("{name}，{cards}：{requests} × {tokens} token"),
        format!("{name} on {cards}: {requests} × {tokens} tokens"),
    )
}

/// The same where there is little room.
pub fn short_card_title(question: &Question, name: &str) -> String {
    format!("{name} · {} GB", number(question.card_gb))
}

/// The row that the pointer or the keyboard is on.
pub fn row(answer: &Answer, question: &Question, at: usize, lang: Lang) -> String {
    let row = &answer.rows[at];
    let name = row.name.get(lang);
    let (formula, b, per) = (row.shape.words(), number(question.value_bytes), count(row.per_token as u64));
    let window = if row.shape.window_layers > 0 {
        let (n, w) = (row.shape.window_layers, count(row.shape.window));
        pick(lang, format!("其中 {n} 层只留最近 {w} 个。"), format!("{n} of the layers keep the last {w} only."))
    } else {
        String::new()
    };
    pick(
        lang,
        format!("{name}：{formula} × {b} B = {per} B/token。{window}"),
        format!("{name}: {formula} × {b} B = {per} B a token. {window}"),
    )
}

fn copies(question: &Question, fit: &Fit, lang: Lang) -> String {
    let factor = fit.all_cards / fit.once.max(1.0);
    if question.n_cards == 1 || factor < 1.01 {
        return String::new();
    }
    let (n, factor) = (question.n_cards, number(factor));
    pick(
        lang,
        format!("{n} 张卡合起来存了 {factor} 份：卡比 KV 头多，或是 MLA。"),
        format!(
            "All {n} cards together hold the cache {factor} times: there are more cards than KV heads, or it is MLA. "
        ),
    )
}

/// The finding for the state shown. Every number is a model's.
pub fn finding(answer: &Answer, question: &Question, lang: Lang) -> String {
    let (row, fit) = (answer.row(), answer.fit);
    let name = row.name.get(lang);
    let per = bytes(row.per_token);
    let (cache, requests, tokens) = (size(fit.cache), count(question.requests), count(question.tokens));
    let head = pick(
        lang,
        format!("{name} 每 token {per}；{requests} 个请求、各 {tokens} token，一张卡上是 {cache}。"),
        format!("{name} keeps {per} a token; {requests} requests of {tokens} tokens take {cache} of a card. "),
    );
    let Some(weights) = fit.weights else {
        let tail = pick(
            lang,
            "参数量没给，权重没算。".into(),
            "Its parameters are not known, so weights are left out.".into(),
        );
        return head + &tail;
    };
    let (weights, most) = (size(weights), count(fit.most_tokens));
    let tail = if fit.most_tokens == 0 {
        pick(
            lang,
            format!("权重 {weights}，一个 token 也放不下。"),
            format!("With weights of {weights} not one token fits."),
        )
    } else if fit.fits() {
        pick(
            lang,
            format!("权重 {weights}，还放得下；每个请求最长 {most} token。"),
            format!("With weights of {weights} it fits; each request may grow to {most} tokens."),
        )
    } else {
        let over = size(fit.used() - fit.room);
        pick(
            lang,
            format!("权重 {weights}，超出 {over}；每个请求最长 {most} token。"),
            format!("With weights of {weights} that is {over} too much; each request may have {most} tokens at most."),
        )
    };
    head + &tail + &copies(question, &fit, lang)
}

pub const NOT_COUNTED: Text = Text::new(
    "没有算：激活、运行时的几百 MB、末页的空位；所以真正放得下的更少。",
    "Not counted: activations, some hundred MB of runtime, empty slots of last pages; less fits in truth.",
);
