//! A reduction in words.

use super::question::{Question, STEPS, start};
use vramlab_model::kernels::warp_reduce::{Cost, Form, Round};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "指一个格子，看它从哪里来。点下面一行换做法。键盘：← → 走一步，↑ ↓ 换 lane，空格播放。",
    "Point at a cell to see where it comes from; press a row below for that form. Keys: ← → a step, ↑ ↓ another lane, Space plays.",
);
pub const NEEDED: Text = Text::new("还要用", "still needed");
pub const NOW: Text = Text::new("全和", "the whole sum");
pub const DEAD: Text = Text::new("没人再用", "needed by nobody");
pub const BARRIER: Text = Text::new("barrier", "barrier");
pub const LATER: Text = Text::new("还没到", "still to come");
pub const COSTS: Text = Text::new("一个 block 的开销，点一行就看它", "What a block pays; press a row to see it");
pub const HEADS: [Text; 5] = [
    Text::new("步", "steps"),
    Text::new("shuffle", "shuffles"),
    Text::new("barrier", "barriers"),
    Text::new("共享请求", "requests"),
    Text::new("共享字节", "bytes"),
];

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn form(form: Form) -> Text {
    match form {
        Form::ShuffleDown => Text::new("往下 shuffle", "shuffle down"),
        Form::Butterfly => Text::new("蝶形", "butterfly"),
        Form::Redux => Text::new("redux", "redux"),
        Form::SharedTree => Text::new("共享内存的树", "shared tree"),
    }
}

/// The instruction of a form.
pub fn code(form: Form, distance: usize) -> String {
    match form {
        Form::ShuffleDown => format!("v += __shfl_down_sync(~0u, v, {distance})"),
        Form::Butterfly => format!("v += __shfl_xor_sync(~0u, v, {distance})"),
        Form::Redux => "v = __reduce_add_sync(~0u, v)".to_owned(),
        Form::SharedTree => format!("if (t < {distance}) part[t] += part[t + {distance}]; __syncthreads()"),
    }
}

/// The title over a panel.
pub fn panel(form: Form, lang: Lang) -> &'static str {
    match form {
        Form::ShuffleDown => Text::new("往下 shuffle：寄存器之间直接传", "Shuffle down: from register to register"),
        Form::Butterfly => Text::new("蝶形：两两交换，人人都加", "Butterfly: pairs swap, everyone adds"),
        Form::Redux => Text::new("redux：一条指令，32 位整数", "Redux: one instruction, integers"),
        Form::SharedTree => Text::new("共享内存的树：写、等、读", "Shared tree: store, wait, load"),
    }
    .get(lang)
}

/// The line about what happens between warps.
pub fn across(question: Question, form: Form, lang: Lang) -> String {
    let (warps, cost) = (question.warps(), question.cost(form));
    if warps == 1 {
        return pick(
            lang,
            "一个 warp：到这里就完了，不要 barrier。".to_owned(),
            "One warp: done, and no barrier.".to_owned(),
        );
    }
    let rest = cost.steps - if form == Form::Redux { 1 } else { 5 };
    let pad = if lang == Lang::En && rest == 1 { "" } else { "s" };
    pick(
        lang,
        format!("{warps} 个 warp 各写 1 个字，等 1 次，第一个 warp 再走 {rest} 步"),
        format!("{warps} warps store a word each, wait once; the first warp takes {rest} more step{pad}"),
    )
}

/// Where a cell's value comes from.
pub fn cell(rounds: &[Round], step: usize, lane: usize, form: Form, lang: Lang) -> String {
    let Some(round) = step.checked_sub(1).and_then(|at| rounds.get(at)) else {
        return pick(lang, format!("lane {lane}：起初是 {lane}。"), format!("Lane {lane} begins with {lane}."));
    };
    let first = start();
    let before = if step == 1 { &first[..] } else { &rounds[step - 2].values[..] };
    let value = round.values[lane];
    let thing = if form == Form::SharedTree { "part" } else { "lane" };
    let text = match round.from[lane] {
        _ if form == Form::Redux => {
            pick(lang, format!("lane {lane}：一条指令就是 {value}"), format!("Lane {lane}: {value} by one instruction"))
        }
        Some(other) if other == lane => pick(
            lang,
            format!(
                "第 {step} 步后 lane {lane}：{} + {} = {value}，源 lane 出了 warp，加的是自己",
                before[lane], before[lane]
            ),
            format!(
                "Lane {lane} after step {step}: {} + {} = {value}; the source lies beyond the warp, so it added itself",
                before[lane], before[lane]
            ),
        ),
        Some(other) => pick(
            lang,
            format!(
                "第 {step} 步后 {thing} {lane}：{} + {} = {value}，来自 {thing} {other}",
                before[lane], before[other]
            ),
            format!(
                "{thing} {lane} after step {step}: {} + {} = {value}, from {thing} {other}",
                before[lane], before[other]
            ),
        ),
        None => {
            pick(lang, format!("第 {step} 步没动 {thing} {lane}"), format!("Step {step} left {thing} {lane} alone"))
        }
    };
    let tail = match (round.is_needed[lane], step == STEPS, lang) {
        (true, _, Lang::Zh) => "。",
        (true, _, Lang::En) => ".",
        (false, _, Lang::Zh) => "；这个值没人再用。",
        (false, _, Lang::En) => "; nobody needs this value any more.",
    };
    text + tail
}

pub fn finding(question: Question, step: usize, lang: Lang) -> String {
    let cost: Cost = question.cost(question.form);
    let tree = question.cost(Form::SharedTree);
    let name = form(question.form).get(lang);
    let (threads, n) = (question.threads, cost.steps);
    let head = pick(
        lang,
        format!("{threads} 个线程，{name}：{n} 步，{} 个 barrier，共享内存 {} B", cost.barriers, cost.shared_bytes),
        format!(
            "{threads} threads, {name}: {n} step{}, {} barrier{}, {} B of shared memory traffic",
            if n == 1 { "" } else { "s" },
            cost.barriers,
            if cost.barriers == 1 { "" } else { "s" },
            cost.shared_bytes
        ),
    );
    let against = if question.form == Form::SharedTree {
        String::new()
    } else {
        pick(
            lang,
            format!("；树是 {} 步、{} 个、{} B", tree.steps, tree.barriers, tree.shared_bytes),
            format!("; the tree takes {}, {} and {} B", tree.steps, tree.barriers, tree.shared_bytes),
        )
    };
    let where_ = match (question.form, step >= STEPS) {
        (Form::Butterfly | Form::Redux, true) => Text::new("。每个 lane 都是 496。", ". Every lane holds 496."),
        (_, true) => Text::new("。0 到 31 的和 496 在 lane 0。", ". Lane 0 holds 496, the sum of 0 to 31."),
        _ => Text::new("。", "."),
    };
    format!("{head}{against}{}", where_.get(lang))
}
