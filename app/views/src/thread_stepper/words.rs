//! The thread stepper in words. Every number is the model's.

use super::layout::Hit;
use super::question::{Question, source, source_of};
use vramlab_model::divergence::kernel::{Line, Slot, Walk};
use vramlab_model::thread_index::LANES;
use vramlab_units::{Lang, show};

/// The finding for the warp shown.
pub fn finding(question: &Question, walk: &Walk, lang: Lang) -> String {
    let (block, warp) = (question.block_idx, question.warp);
    let (n_slots, n_taken, n_active) = (walk.slots.len(), walk.taken.count_ones(), walk.active.count_ones());
    let share = show::with_unit(use_of(walk), "%");
    let condition = source_of(question.condition);
    if walk.active == 0 {
        return pick(
            lang,
            format!("线程块 {block} 的 warp {warp}：没有一个线程分到元素，走到 if (i < n) 就结束，可两个槽已经用掉。"),
            format!(
                "Block {block}, warp {warp}: no thread has an element. It ends at the guard, after two slots all the same."
            ),
        );
    }
    let tail = idle(walk, lang);
    let body = if walk.is_divergent() {
        let n_other = n_active - n_taken;
        pick(
            lang,
            format!(
                "线程块 {block} 的 warp {warp} 在 {condition} 处分成两路：先是 {n_taken} 个 lane 走 if，再是 {n_other} 个走 else，一共 {n_slots} 个槽，lane 只用上 {share}。"
            ),
            format!(
                "Block {block}, warp {warp} splits at {condition}: first {n_taken} lanes walk the if, then {n_other} the else. That is {n_slots} slots, with {share} of the lanes at work."
            ),
        )
    } else {
        let (zh_side, en_side) = if n_taken > 0 { ("if", "if") } else { ("else", "else") };
        pick(
            lang,
            format!(
                "线程块 {block} 的 warp {warp} 意见一致，全走 {zh_side}：{n_slots} 个槽，另一路一个槽也不占，lane 用上 {share}。"
            ),
            format!(
                "The lanes of block {block}, warp {warp} agree and all take the {en_side}: {n_slots} slots, none for the other side, {share} of the lanes at work."
            ),
        )
    };
    format!("{body}{tail}")
}

/// The lanes that never have anything to do, as one more sentence; empty if there are none.
fn idle(walk: &Walk, lang: Lang) -> String {
    let n_threads = walk.threads.count_ones();
    let (no_elem, no_thread) = (n_threads - walk.active.count_ones(), LANES as u32 - n_threads);
    let (zh_lack, en_lack, n) = match (no_elem, no_thread) {
        (0, 0) => return String::new(),
        (n, 0) => ("没有元素", "have no element", n),
        (0, n) => ("没有线程", "hold no thread", n),
        (a, b) => ("没有元素或没有线程", "lack an element or a thread", a + b),
    };
    pick(
        lang,
        format!("另有 {n} 个 lane {zh_lack}，从头到尾白占位子。"),
        format!(" Another {n} lanes {en_lack} and idle along."),
    )
}

/// Share of the lane slots that did work.
pub fn use_of(walk: &Walk) -> f64 {
    let all = walk.slots.len() as u64 * LANES;
    if all == 0 { 1.0 } else { walk.lane_slots_used(usize::MAX) as f64 / all as f64 }
}

/// What stands between the two sides of a divided warp.
pub fn turn(walk: &Walk, lang: Lang) -> Option<String> {
    let n_other = (walk.active & !walk.taken).count_ones();
    walk.is_divergent().then(|| {
        let lanes = if n_other == 1 { "lane" } else { "lanes" };
        pick(lang, format!("轮到另外 {n_other} 个 lane"), format!("now the other {n_other} {lanes}"))
    })
}

/// The slot that is on.
pub fn slot(question: &Question, walk: &Walk, n_done: usize, lang: Lang) -> String {
    let Some(Slot { line, mask }) = n_done.checked_sub(1).and_then(|idx| walk.slots.get(idx)).copied() else {
        return pick(lang, "还没开始。".into(), "Nothing has run yet.".into());
    };
    let text = source(super::question::Row::Line(line), question.condition);
    let text = text.trim();
    let (n_on, n_slots) = (mask.count_ones(), walk.slots.len());
    let n_waiting = walk.threads.count_ones() - n_on;
    let (zh_rest, en_rest) = match n_waiting {
        0 => (String::new(), String::new()),
        n => (format!("，{n} 个等着"), format!(", {n} wait")),
    };
    pick(
        lang,
        format!("第 {n_done} 个槽，共 {n_slots} 个 · {text} · {n_on} 个 lane 在干活{zh_rest}"),
        format!("slot {n_done} of {n_slots} · {text} · {n_on} lanes at work{en_rest}"),
    )
}

/// What the pointer is on.
pub fn hit(question: &Question, walk: &Walk, hit: Hit, lang: Lang) -> String {
    match hit {
        Hit::Block(block) => {
            let first = question.launch.place(block as u64, 0).global_index;
            let last = first + question.launch.block_threads - 1;
            pick(
                lang,
                format!("线程块 {block} · 线程 i = {first} 到 {last} · 点一下看它"),
                format!("block {block} · threads i = {first} to {last} · click to look inside"),
            )
        }
        Hit::Warp(warp) => {
            let thread = warp as u64 * LANES;
            let last = (thread + LANES).min(question.launch.block_threads) - 1;
            pick(
                lang,
                format!("warp {warp} · 块内线程 {thread} 到 {last} · 点一下看它"),
                format!("warp {warp} · threads {thread} to {last} of the block · click to look inside"),
            )
        }
        Hit::Lane(lane) => lane_words(question, walk, lane, lang),
    }
}

fn lane_words(question: &Question, walk: &Walk, lane: usize, lang: Lang) -> String {
    let has = |mask: u32| mask >> lane & 1 == 1;
    if !has(walk.threads) {
        return pick(lang, format!("lane {lane} · 没有线程"), format!("lane {lane} · holds no thread"));
    }
    let (i, thread) = (question.index_of(lane), question.warp * LANES + lane as u64);
    let block = question.block_idx;
    let (zh_way, en_way) = match (has(walk.active), has(walk.taken)) {
        (false, _) => ("i ≥ n，没有元素", "i ≥ n, no element"),
        (true, true) => ("走 if", "takes the if"),
        (true, false) => ("走 else", "takes the else"),
    };
    pick(
        lang,
        format!(
            "lane {lane} · 块内线程 {thread} · i = {block} × {} + {thread} = {i} · {zh_way}",
            question.launch.block_threads
        ),
        format!(
            "lane {lane} · thread {thread} of the block · i = {block} × {} + {thread} = {i} · {en_way}",
            question.launch.block_threads
        ),
    )
}

/// What stands between a part and its whole.
pub fn of(lang: Lang) -> &'static str {
    match lang {
        Lang::Zh => " / ",
        Lang::En => " of ",
    }
}

/// The launched threads that have no element, beside the pale end of the grid.
pub fn past_n(n: u64, lang: Lang) -> String {
    pick(lang, format!("多出 {n} 个"), format!("{n} past n"))
}

/// Names of grid, block and warp, beside their pictures.
pub fn names(question: &Question, lang: Lang) -> [String; 3] {
    let launch = question.launch;
    let (n_blocks, n_warps) = (launch.n_blocks(), launch.warps_per_block());
    let (block, warp) = (question.block_idx, question.warp);
    match lang {
        Lang::Zh => [
            format!("网格 grid：{n_blocks} 个线程块"),
            format!("线程块 {block}：{} 个线程 = {n_warps} 个 warp", launch.block_threads),
            format!("warp {warp}：32 个 lane，此刻"),
        ],
        Lang::En => [
            format!("grid: {n_blocks} {}", plural(n_blocks, "block")),
            format!("block {block}: {} threads = {n_warps} {}", launch.block_threads, plural(n_warps, "warp")),
            format!("warp {warp}: its 32 lanes, now"),
        ],
    }
}

/// A statement for the table of numbers.
pub fn statement(question: &Question, line: Line) -> String {
    source(super::question::Row::Line(line), question.condition).trim().to_owned()
}

fn plural(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}
