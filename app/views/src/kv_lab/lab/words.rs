//! The laboratory in words.

use super::frame::{Block, Frame, Moment, Phase, Table};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const TABLES: Text = Text::new("块表", "Block tables");
pub const POOL: Text = Text::new("物理池", "Physical pool");
pub const QUEUE: Text = Text::new("空闲块，先取的在前", "Free blocks, next first");
pub const LINE: Text = Text::new("用着的块", "Blocks in use");
pub const NOBODY: Text = Text::new("此刻没有请求", "no request is here now");
pub const NONE_FREE: Text = Text::new("一块也没有", "none");
pub const HINT: Text = Text::new(
    "把指针放到一块上，看它是谁的；按一下，盯住那个请求。← → 走一步，↑ ↓ 换请求。",
    "Rest the pointer on a block to see whose it is; press it to follow that request. ← → step, ↑ ↓ change the request.",
);

pub const HELD: Text = Text::new("一个请求的块", "a request's block");
pub const EMPTY: Text = Text::new("末块没写满的位置", "slots not filled yet");
pub const CACHED: Text = Text::new("空闲，内容还认得出", "free, its content can be found");
pub const FREE: Text = Text::new("空闲", "free");
pub const MARKS: Text = Text::new(
    "横条：几张表在用。粗框：这一步取的或认出的；粗虚框：抄出来的；细虚框：刚还回的。",
    "Bars: how many tables hold it. Thick frame: taken or found in this step; thick dashes: a copy; thin dashes: given back.",
);
pub const SMALL_MARKS: Text = Text::new(
    "块太小时：浅色是没写满的位置，深一档是这一步取的，中间的点是共用的。",
    "Where blocks are small: pale is not filled yet, darker is taken in this step, a dot is shared.",
);

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn phase(phase: Phase) -> Text {
    match phase {
        Phase::Running => Text::new("在跑", "runs"),
        Phase::Waiting => Text::new("排队", "waits"),
        Phase::Preempted => Text::new("被抢占", "preempted"),
    }
}

pub fn tokens_of(n: u32, lang: Lang) -> String {
    pick(lang, format!("{n} token"), format!("{n} tok"))
}

pub fn seats(frame: &Frame, lang: Lang) -> String {
    let counters = frame.counters;
    let waiting = counters.waiting + counters.preempted;
    pick(
        lang,
        format!("{} 个在跑，{waiting} 个在等", counters.running),
        format!("{} run, {waiting} wait", counters.running),
    )
}

pub fn more_tables(n: usize, lang: Lang) -> String {
    pick(lang, format!("另有 {n} 个请求没列出，块都在池里"), format!("{n} more requests; their blocks are in the pool"))
}

pub fn pool_note(frame: &Frame, per_cell: u32, lang: Lang) -> String {
    let (n, size) = (frame.blocks.len(), frame.block_tokens);
    if per_cell > 1 {
        return pick(
            lang,
            format!("{n} 块，一格是 {per_cell} 块，从下往上填的是用着的"),
            format!("{n} blocks, {per_cell} a square, filled from below"),
        );
    }
    pick(lang, format!("{n} 块，每块 {size} 个 token"), format!("{n} blocks of {size} tokens"))
}

pub fn queue_note(frame: &Frame, lang: Lang) -> String {
    let (free, cached) = (frame.counters.free, frame.counters.cached);
    if cached > 0 {
        return pick(
            lang,
            format!("{free} 块，其中 {cached} 块内容还在；轮到谁，谁的内容作废"),
            format!("{free}, {cached} still hold content until their turn comes"),
        );
    }
    pick(lang, format!("{free} 块"), free.to_string())
}

pub fn line_note(history: &[Moment], lang: Lang) -> String {
    let n = history.iter().filter(|moment| moment.is_preempted).count();
    if n == 0 {
        return String::new();
    }
    pick(lang, format!("红：{n} 步里有抢占"), format!("red: {n} steps with a preemption"))
}

pub fn steps(n: usize, lang: Lang) -> String {
    pick(lang, format!("第 {n} 步"), format!("step {n}"))
}

/// The tokens that a block holds, by the first and the last of `n`.
pub fn content((first, last): (u32, u32), n: u32) -> String {
    match last.checked_sub(first) {
        Some(0) => first.to_string(),
        Some(more) if more + 1 == n => format!("{first}–{last}"),
        _ => format!("{first}…{last}"),
    }
}

/// The same in a sentence.
fn held(one: Block, lang: Lang) -> String {
    let Some(ends) = one.content else { return String::new() };
    let tokens = content(ends, one.filled);
    pick(lang, format!("内容是 token {tokens}。"), format!(" It holds the tokens {tokens}."))
}

/// What lies at a block, or at the several that one square stands for.
pub fn block(frame: &Frame, number: u32, per_cell: u32, lang: Lang) -> String {
    if per_cell > 1 {
        let last = (number + per_cell).min(frame.blocks.len() as u32) - 1;
        let held = (number..=last).filter(|one| frame.blocks[*one as usize].holders > 0).count();
        return pick(
            lang,
            format!("块 {number} 到 {last}：{held} 块在用。"),
            format!("Blocks {number} to {last}: {held} in use."),
        );
    }
    let one = frame.blocks[number as usize];
    let size = frame.block_tokens;
    let owners: Vec<&Table> = frame.tables.iter().filter(|table| table.blocks.contains(&number)).collect();
    let Some(first) = owners.first() else { return free(frame, number, one, lang) };
    let place = first.blocks.iter().position(|other| *other == number).unwrap_or(0);
    let names: Vec<&str> = owners.iter().map(|table| table.name.as_str()).collect();
    let filled = one.filled;
    let said = pick(
        lang,
        format!("块 {number}：{} 的第 {place} 块，{size} 个位置写了 {filled} 个。", names.join("、")),
        format!("Block {number}: block {place} of {}, {filled} of {size} slots are filled.", names.join(", ")),
    );
    said + &held(one, lang)
}

fn free(frame: &Frame, number: u32, one: Block, lang: Lang) -> String {
    let place = frame.queue.iter().position(|other| *other == number).map_or(0, |place| place + 1);
    let (zh, en) = if one.is_cached { ("，内容还认得出", ", its content can be found") } else { ("", "") };
    let said = pick(
        lang,
        format!("块 {number}：空闲{zh}，队列里第 {place} 个。"),
        format!("Block {number}: free{en}, number {place} in the queue."),
    );
    said + &held(one, lang)
}

/// A table in words.
pub fn table(table: &Table, lang: Lang) -> String {
    let shown: Vec<String> = table.blocks.iter().take(16).map(u32::to_string).collect();
    let more = if table.blocks.len() > 16 { " …" } else { "" };
    let (name, tokens, n, phase) = (&table.name, table.tokens, table.blocks.len(), phase(table.phase).get(lang));
    let list = shown.join(" ") + more;
    pick(
        lang,
        format!("{name} {phase}：{tokens} 个 token，{n} 块：{list}"),
        format!("{name} {phase}: {tokens} tokens, {n} blocks: {list}"),
    )
}

pub fn waste(frame: &Frame) -> String {
    let counters = frame.counters;
    let share = if counters.slots > 0 { counters.empty_slots as f64 / counters.slots as f64 } else { 0.0 };
    with_unit(share, "%")
}

/// The finding for the state shown. Every number is the machine's.
pub fn finding(frame: &Frame, step: usize, n_steps: usize, word: Option<&str>, lang: Lang) -> String {
    let counters = frame.counters;
    let (used, n, waste) = (counters.used, frame.blocks.len(), waste(frame));
    let (running, waiting) = (counters.running, counters.waiting + counters.preempted);
    let at = word.map(|word| pick(lang, format!("（{word}）"), format!(" ({word})"))).unwrap_or_default();
    let queue = if waiting > 0 {
        pick(lang, format!("，{waiting} 个在等"), format!(", {waiting} waiting"))
    } else {
        String::new()
    };
    let head = pick(
        lang,
        format!(
            "第 {step} 步{at}，共 {n_steps} 步：{n} 块用了 {used} 块，其中 {waste} 的位置还空着；{running} 个在跑{queue}。"
        ),
        format!(
            "Step {step}{at} of {n_steps}: {used} of {n} blocks are in use, {waste} of their slots are empty; {running} running{queue}. "
        ),
    );
    let shared = match counters.shared {
        0 => String::new(),
        k => pick(lang, format!("{k} 块有不止一张表在用。"), format!("{k} blocks are held by more than one table. ")),
    };
    let why = frame.whys.first().map(|why| why.text.get(lang).to_owned()).unwrap_or_default();
    (head + &shared + &why).trim_end().to_owned()
}
