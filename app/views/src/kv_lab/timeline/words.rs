//! The two ways of batching in words.

use super::run::{Act, Run, Side};
use vramlab_serve::schedule::record::Row;
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const NAMES: [Text; 2] =
    [Text::new("连续批处理", "Continuous batching"), Text::new("静态批处理", "Static batching")];
pub const SEATS: Text = Text::new("座位", "seats");
pub const BLOCKS: Text = Text::new("KV 块", "KV blocks");
pub const AT_ONCE: Text = Text::new(
    "静态批处理整批一次返回，没有 token 之间的时间。",
    "A static batch returns everything at once: there is no time between its tokens.",
);
pub const HINT: Text = Text::new(
    "把指针放到一步上，两边同时看；← → 移动游标。",
    "Rest the pointer on a step to read both sides; ← → move the cursor.",
);

pub fn act(act: Act) -> Text {
    match act {
        Act::Waiting => Text::new("排队", "waits"),
        Act::Prefill => Text::new("预填充", "prefill"),
        Act::Decode => Text::new("解码", "decode"),
        Act::Preempted => Text::new("被抢占", "preempted"),
        Act::Idle => Text::new("占着座位，没事做", "keeps a seat, does nothing"),
    }
}

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn ends(side: &Side, lang: Lang) -> String {
    let end = number(side.outcome.record.rows.last().map_or(0.0, |row| row.end));
    pick(lang, format!("第 {end} 步全部写完"), format!("all done in step {end}"))
}

fn row(side: &Side, time: f64, lang: Lang) -> String {
    let waiting = side.n_waiting(time);
    let Some(row) = side.row_at(time) else { return pick(lang, "没有请求".into(), "nobody is there".into()) };
    let Row { running, prefill_tokens: prefill, decode_tokens: decode, used_blocks: used, .. } = *row;
    pick(
        lang,
        format!("{running} 个在跑、{waiting} 个在等，预填充 {prefill}、解码 {decode} 个 token，用 {used} 块"),
        format!("{running} run, {waiting} wait, {prefill} tokens of prefill, {decode} of decoding, {used} blocks"),
    )
}

/// Both sides at one step, or one request's.
pub fn step(run: &Run, step: usize, request: Option<usize>, lang: Lang) -> String {
    let time = step as f64;
    let of = |side: &Side| match request {
        None => row(side, time, lang),
        Some(one) => side.act(one as u32, time).map_or_else(
            || {
                let is_done = side.outcome.done.get(one).is_some_and(|done| *done < time);
                let text =
                    if is_done { Text::new("写完了", "done") } else { Text::new("还没来", "not there yet") };
                text.get(lang).to_owned()
            },
            |one| act(one).get(lang).to_owned(),
        ),
    };
    let (a, b) = (of(&run.flowing), of(&run.still));
    let who = request.map(|one| pick(lang, format!("，R{}", one + 1), format!(", R{}", one + 1))).unwrap_or_default();
    pick(
        lang,
        format!("第 {step} 步{who}。连续：{a}。静态：{b}。"),
        format!("Step {step}{who}. Continuous: {a}. Static: {b}."),
    )
}

/// The finding. Every number is the scheduler's.
pub fn finding(run: &Run, lang: Lang) -> String {
    let n = run.requests.len();
    let refused = match run.n_refused {
        0 => String::new(),
        k => pick(
            lang,
            format!("{k} 个请求比整个池还大，拒收。"),
            format!("{k} requests exceed the whole pool and are refused. "),
        ),
    };
    if n == 0 {
        return refused.trim_end().to_owned();
    }
    let end = |side: &Side| number(side.outcome.record.rows.last().map_or(0.0, |row| row.end));
    let seats = |side: &Side| with_unit(side.outcome.totals.slot_use, "%");
    let first = |side: &Side| number(side.latency.ttft.p50);
    let (a, b) = (&run.flowing, &run.still);
    let preempted = match a.outcome.totals.preemptions {
        0 => String::new(),
        k => {
            let lost = a.outcome.totals.discarded_tokens;
            pick(
                lang,
                format!("块不够，抢占 {k} 次，{lost} 个 token 的 KV 要重算。"),
                format!("Blocks run out {k} times, and {lost} tokens of KV are computed again."),
            )
        }
    };
    let head = pick(
        lang,
        format!(
            "同样 {n} 个请求：连续批处理到第 {} 步写完，座位用了 {}；静态批处理到第 {} 步，用了 {}。首 token 中位数 {} 步，静态的 {} 步。",
            end(a),
            seats(a),
            end(b),
            seats(b),
            first(a),
            first(b)
        ),
        format!(
            "The same {n} requests: continuous batching ends in step {} and fills {} of its seats, static batching in step {} and {}. First token, median: after {} against {} steps. ",
            end(a),
            seats(a),
            end(b),
            seats(b),
            first(a),
            first(b)
        ),
    );
    let found = match a.outcome.totals.hit_tokens {
        0 => String::new(),
        n => pick(
            lang,
            format!("前缀缓存认出 {n} 个 token，不用算。"),
            format!(" {n} tokens are found in the prefix cache and not computed."),
        ),
    };
    (refused + &head + preempted.trim_end() + &found).trim_end().to_owned()
}
