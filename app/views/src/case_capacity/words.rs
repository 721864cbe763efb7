//! The cases in words.

use super::question::{Attention, Bar, Case, GB, Question};
use vramlab_units::show::{grouped, number};
use vramlab_units::{Lang, Text};

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn case(case: Case) -> Text {
    match case {
        Case::Training => Text::new("训练 ResNet-50", "training ResNet-50"),
        Case::Serving => Text::new("服务大模型", "serving an LLM"),
        Case::Diffusion => Text::new("Stable Diffusion", "Stable Diffusion"),
    }
}

pub fn attention(attention: Attention) -> Text {
    match attention {
        Attention::Whole => Text::new("整张分数", "whole"),
        Attention::Sliced => Text::new("一次一个头", "head by head"),
        Attention::Fused => Text::new("融合内核", "fused"),
    }
}

/// Bytes in GB, or in MB below one.
pub fn size(bytes: f64) -> String {
    if bytes.abs() < GB {
        format!("{}\u{2009}MB", number(bytes / 1e6))
    } else {
        format!("{}\u{2009}GB", number(bytes / GB))
    }
}

pub fn card(bytes: f64, lang: Lang) -> String {
    let size = size(bytes);
    pick(lang, format!("卡 {size}"), format!("card {size}"))
}

pub fn measured(bytes: f64, lang: Lang) -> String {
    let size = size(bytes);
    pick(lang, format!("实测 {size}"), format!("measured {size}"))
}

pub fn total(bar: &Bar, card: f64, lang: Lang) -> String {
    let used = size(bar.used());
    if bar.used() > card {
        let over = size(bar.used() - card);
        return pick(lang, format!("{used}，超出 {over}"), format!("{used}, {over} too much"));
    }
    used
}

/// What is counted, under the picture.
pub fn counted(case: Case) -> Text {
    match case {
        Case::Training => Text::new(
            "账本算到分配器（reserved）；CUDA 上下文不在里面，H200 上另有 0.55 GB。",
            "The ledger up to the allocator (reserved); the CUDA context is not in it, another 0.55 GB on an H200.",
        ),
        Case::Serving => Text::new(
            "激活 2 GB、其他 1 GB 是给定的，不是算的：真的服务器启动时会量一次。",
            "2 GB of activations and 1 GB of others are given, not computed: a real server measures them at its start.",
        ),
        Case::Diffusion => Text::new(
            "fp16，张量用着的（allocated）；带引导时一张图占两行。每条只有那一段的权重，文本编码器（0.25 GB）不在里面。",
            "fp16, what tensors use (allocated); with guidance one picture takes two rows. Each bar has the weights of its own stage; the text encoder (0.25 GB) is not in them.",
        ),
    }
}

pub const TILES: Text = Text::new("解码一张图", "Decoding a picture");

/// The tiles of the decoder.
pub fn tiles(side: u64, (cover, started): (u64, u64), lang: Lang) -> String {
    if cover == 1 && started == 1 {
        return pick(
            lang,
            format!("{side} × {side} 一次解完：每张特征图随面积涨。"),
            format!("{side} × {side} in one piece: each feature map grows with the area."),
        );
    }
    let head = pick(
        lang,
        format!("512 一块，重叠 128：{cover} 块盖住 {side} × {side}，一次一块，所以峰值不随图变大。"),
        format!(
            "Tiles of 512 that overlap by 128: {cover} cover {side} × {side}, one at a time, so the peak does not follow the picture. "
        ),
    );
    if started == cover {
        return head.trim_end().to_owned();
    }
    let more = started - cover;
    head + &pick(
        lang,
        format!("diffusers 的循环起 {started} 块：多出的 {more} 块（橙色）整块落在别的里面，白算。"),
        format!(
            "The loop in diffusers starts {started}: the {more} more (orange) lie wholly inside others and add nothing."
        ),
    )
}

/// The finding for the state shown. Every number is a model's.
pub fn finding(question: &Question, bars: &[Bar], lang: Lang) -> String {
    match question.case {
        Case::Training => training(question, bars, lang),
        Case::Serving => serving(question, lang),
        Case::Diffusion => diffusion(question, bars, lang),
    }
}

fn verdict(bar: &Bar, card: f64, lang: Lang) -> String {
    if bar.used() <= card {
        let left = size(card - bar.used());
        pick(lang, format!("放得下，还空 {left}"), format!("it fits, with {left} to spare"))
    } else {
        let over = size(bar.used() - card);
        pick(lang, format!("放不下，差 {over}"), format!("it does not fit, by {over}"))
    }
}

fn training(question: &Question, bars: &[Bar], lang: Lang) -> String {
    let Some(bar) = bars.first() else { return String::new() };
    let (batch, total) = (question.batch, size(bar.used()));
    let verdict = verdict(bar, question.card(), lang);
    let head = pick(
        lang,
        format!("批大小 {batch}，一步要 {total}：{verdict}。"),
        format!("A batch of {batch} takes {total}: {verdict}. "),
    );
    let tail = bar.measured.map_or_else(String::new, |measured| {
        let error = number((bar.used() / measured - 1.0).abs() * 100.0);
        let measured = size(measured);
        pick(
            lang,
            format!("实测 {measured}，差 {error}\u{2009}%。"),
            format!("Measured: {measured}, {error}\u{2009}% away."),
        )
    });
    (head + &tail).trim_end().to_owned()
}

fn serving(question: &Question, lang: Lang) -> String {
    let share = number(question.util * 100.0);
    match question.served().pool {
        Ok(pool) => {
            let (kv, tokens) = (size(pool.bytes as f64), grouped(pool.tokens as f64));
            let (n, longest) = (pool.concurrency.floor(), question.max_len);
            pick(
                lang,
                format!(
                    "占整卡的 {share}\u{2009}%，减去权重和激活，KV 池有 {kv}，{tokens} 个 token：都用到 {longest} 时是 {n} 个请求。"
                ),
                format!(
                    "{share}\u{2009}% of the card less weights and activations leave {kv} for keys and values, {tokens} tokens: \
                     {n} requests of {longest} each."
                ),
            )
        }
        Err(missing) => {
            let missing = size(missing);
            pick(
                lang,
                format!("占整卡的 {share}\u{2009}% 还不够权重和激活，差 {missing}：一个请求也放不下。"),
                format!(
                    "{share}\u{2009}% of the card do not hold weights and activations, by {missing}: not one request fits."
                ),
            )
        }
    }
}

fn diffusion(question: &Question, bars: &[Bar], lang: Lang) -> String {
    let [denoise, decode] = bars else { return String::new() };
    let side = question.size_px;
    let (a, b) = (size(denoise.used()), size(decode.used()));
    let is_decode = decode.used() > denoise.used();
    let (high, bar) =
        if is_decode { (Text::new("解码", "decoding"), decode) } else { (Text::new("去噪", "denoising"), denoise) };
    let (high, verdict) = (high.get(lang), verdict(bar, question.card(), lang));
    pick(
        lang,
        format!("{side} × {side}：去噪要 {a}，解码要 {b}，峰值在{high}：{verdict}。"),
        format!("{side} × {side}: denoising takes {a}, decoding {b}; the peak is in {high}: {verdict}."),
    )
}
