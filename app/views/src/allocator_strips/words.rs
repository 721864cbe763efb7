//! The sentences: what the last event did in each allocator, what is pointed at, and the finding.

use super::layout::Hit;
use super::run::{Answered, Run};
use vramlab_alloc::replay::frame::{Cell, Frame};
use vramlab_alloc::replay::{Block, Explanation, Part, Source};
use vramlab_alloc::trace::{Event, Trace};
use vramlab_units::show::{bytes_binary, grouped_with_unit};
use vramlab_units::{Bytes, Lang};

pub fn size(bytes: u64) -> String {
    bytes_binary(Bytes(bytes))
}

/// Sizes that stand side by side: in bytes where two that differ would read alike.
pub fn sizes<const N: usize>(bytes: [u64; N]) -> [String; N] {
    bytes.map(|value| {
        let has_twin = bytes.iter().any(|other| *other != value && size(*other) == size(value));
        if has_twin { grouped_with_unit(value as f64, "B") } else { size(value) }
    })
}

/// The bytes of a moment by the marks of the legend: asked for and in use, given beyond that, freed but not yet free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Painted {
    pub in_use: u64,
    pub beyond: u64,
    pub pending: u64,
}

impl Painted {
    pub fn of(frame: &Frame) -> Self {
        let mut out = Self::default();
        for cell in frame.strips.iter().flat_map(|strip| &strip.cells) {
            match cell.piece.part {
                Part::Used => {
                    out.beyond += cell.slack_bytes();
                    out.in_use += cell.piece.size - cell.slack_bytes();
                }
                Part::Pending => out.pending += cell.piece.size,
                Part::Free | Part::Unmapped => {}
            }
        }
        out
    }
}

/// The state of a lane, longest form first. What it counts as in use is what the legend and the table call so.
pub fn lane_states(frame: &Frame, lang: Lang) -> Vec<String> {
    let now = Painted::of(frame);
    let [reserved, in_use, beyond, pending] = sizes([frame.after.reserved_bytes, now.in_use, now.beyond, now.pending]);
    let and = |bytes: u64, said: String| if bytes > 0 { format!(" · {said}") } else { String::new() };
    match lang {
        Lang::Zh => {
            let beyond = and(now.beyond, format!("多给 {beyond}"));
            let pending = and(now.pending, format!("待回收 {pending}"));
            vec![
                format!("从卡上拿走 {reserved} · 在用 {in_use}{beyond}{pending}"),
                format!("拿走 {reserved} · 在用 {in_use}"),
                format!("{reserved} · {in_use}"),
            ]
        }
        Lang::En => {
            let beyond = and(now.beyond, format!("{beyond} beyond the request"));
            let pending = and(now.pending, format!("{pending} freed, not yet free"));
            vec![
                format!("holds {reserved} of the card · {in_use} in use{beyond}{pending}"),
                format!("{reserved} held · {in_use} in use{beyond}"),
                format!("{reserved} held · {in_use} used"),
                format!("{reserved} · {in_use}"),
            ]
        }
    }
}

/// What is said of the whole figure.
pub fn finding(answered: &Answered, done: usize, lang: Lang) -> String {
    let Some(word) = done.checked_sub(1).and_then(|idx| answered.words.get(idx)) else {
        return match lang {
            Lang::Zh => "轨迹是空的：写一个词，比如 a:9M。".to_owned(),
            Lang::En => "The trace is empty: write a word, a:9M for one.".to_owned(),
        };
    };
    let n = answered.n_events();
    let mut out = match lang {
        Lang::Zh => format!("第 {done} 步（共 {n} 步）{word}。"),
        Lang::En => format!("Event {done} of {n}, {word}. "),
    };
    for run in &answered.runs {
        let said = event(&answered.trace, run, lang);
        match (answered.runs.len(), lang) {
            (1, _) => out.push_str(&said),
            (_, Lang::Zh) => out.push_str(&format!("{}：{said}", run.engine.label().get(lang))),
            (_, Lang::En) => out.push_str(&format!("{}: {said} ", run.engine.label().get(lang))),
        }
    }
    out.trim_end().to_owned()
}

/// What the last event did.
pub fn event(trace: &Trace, run: &Run, lang: Lang) -> String {
    let frame = &run.frame;
    let Some(step) = &frame.step else { return String::new() };
    match step.event {
        Event::Malloc { id, bytes, .. } => match (&step.block, &step.refusal, &frame.explanation) {
            (Some(block), _, explanation) => served(trace.name(id), bytes, *block, frame, explanation.as_ref(), lang),
            (None, Some(refusal), Some(explanation)) if refusal.is_oom => {
                out_of_memory(trace.name(id), frame, explanation, lang)
            }
            (None, Some(refusal), _) => match lang {
                Lang::Zh => format!("{} 遭拒：{}。", trace.name(id), refusal.message),
                Lang::En => format!("{} is refused: {}.", trace.name(id), refusal.message),
            },
            (None, None, _) => match lang {
                Lang::Zh => format!("{} 要 0 字节，得到空指针，什么都不变。", trace.name(id)),
                Lang::En => format!("{} asks for 0 bytes and gets a null pointer; nothing changes.", trace.name(id)),
            },
        },
        Event::Free { id, .. } => freed(trace.name(id), frame, lang),
        _ => other(trace, run, lang),
    }
}

fn served(
    name: &str,
    asked: u64,
    block: Block,
    frame: &Frame,
    explanation: Option<&Explanation>,
    lang: Lang,
) -> String {
    let chosen = explanation.and_then(Explanation::chosen);
    let rest_bytes = explanation.map_or(0, |it| it.rest_bytes);
    let [wish, got, hole, rest] = sizes([asked, block.size, chosen.map_or(0, |it| it.size), rest_bytes]);
    let head = match (lang, asked == block.size) {
        (Lang::Zh, true) => format!("{name} 得到 {got}，"),
        (Lang::Zh, false) => format!("{name} 要 {wish}，得到 {got}，"),
        (Lang::En, true) => format!("{name} gets {got}, "),
        (Lang::En, false) => format!("{name} asks for {wish} and gets {got}, "),
    };
    let from = match (block.source, chosen) {
        (Source::Cached, Some(_)) if rest_bytes > 0 => match lang {
            Lang::Zh => format!("切自 {hole} 的空洞，剩 {rest}。"),
            Lang::En => format!("cut from a hole of {hole}; {rest} of it stay free."),
        },
        (Source::Cached, _) => pick(lang, "正是一个空洞，整块拿走。", "a free block, taken whole."),
        (Source::Device, _) => device(frame, explanation, lang),
        (Source::AfterReturning, _) => pick(
            lang,
            "先把旧的空闲块还给卡，再向卡要来。",
            "from the card, after old free blocks had gone back to it.",
        ),
        (Source::AfterFlush, _) => pick(
            lang,
            "卡先拒绝了：整段空闲的都还回去，再要一次才成。",
            "at the second try: the card refused, every wholly free segment went back to it, and it was asked again.",
        ),
        (Source::OrderedBefore, _) => {
            pick(lang, "释放它的流，这个流已经等过。", "freed on a stream that this one has waited for.")
        }
        (Source::Synchronised, _) => pick(lang, "同步之后谁都能用。", "free for every stream since the sync."),
        (Source::Joined, _) => pick(lang, "由相邻的几段拼成。", "joined from neighbouring free ranges."),
    };
    head + &from
}

fn pick(lang: Lang, zh: &str, en: &str) -> String {
    match lang {
        Lang::Zh => zh.to_owned(),
        Lang::En => en.to_owned(),
    }
}

fn device(frame: &Frame, explanation: Option<&Explanation>, lang: Lang) -> String {
    let has_holes = explanation.is_some_and(|it| !it.candidates.is_empty());
    let taken = size(frame.after.reserved_bytes.saturating_sub(frame.before.reserved_bytes));
    match (lang, has_holes) {
        (Lang::Zh, true) => format!("空洞都不合适，向卡要来 {taken}。"),
        (Lang::Zh, false) => format!("手里没有空洞，向卡要来 {taken}。"),
        (Lang::En, true) => format!("no hole will do, so {taken} come from the card."),
        (Lang::En, false) => format!("there is no hole, so {taken} come from the card."),
    }
}

fn out_of_memory(name: &str, frame: &Frame, explanation: &Explanation, lang: Lang) -> String {
    let total: u64 = explanation.candidates.iter().map(|candidate| candidate.size).sum();
    let largest = explanation.candidates.iter().map(|candidate| candidate.size).max().unwrap_or(0);
    let n = explanation.candidates.len();
    let [wanted, card, all, most] = sizes([explanation.rounded_bytes, frame.card_bytes, total, largest]);
    let holes = match (lang, n) {
        (Lang::Zh, 0) => format!("{name} 要 {wanted}，手里没有空洞"),
        (Lang::Zh, _) => format!("{name} 要 {wanted}；空闲共 {all}，分在 {n} 处，最大一处 {most}"),
        (Lang::En, 0) => format!("{name} wants {wanted}; there is no hole"),
        (Lang::En, 1) => format!("{name} wants {wanted}; the one hole has {all}"),
        (Lang::En, _) => format!("{name} wants {wanted}; {all} are free in {n} holes, the largest {most}"),
    };
    let flush = match (lang, frame.returned_bytes) {
        (Lang::Zh, 0) if frame.card_bytes == 0 => "，卡上一点不剩".to_owned(),
        (Lang::En, 0) if frame.card_bytes == 0 => ", and the card has nothing left".to_owned(),
        (Lang::Zh, 0) => format!("，卡上还有 {card}"),
        (Lang::Zh, returned) => format!("；还给卡 {} 之后，卡上也只有 {card}", size(returned)),
        (Lang::En, 0) => format!(", and the card has {card} left"),
        (Lang::En, returned) => format!("; {} go back to the card, which then has {card}", size(returned)),
    };
    match lang {
        Lang::Zh => format!("{holes}{flush}：显存不足（OOM）。"),
        Lang::En => format!("{holes}{flush}: out of memory."),
    }
}

/// What was free before a request that failed, longest form first.
pub fn free_all_the_same(frame: &Frame, lang: Lang) -> Vec<String> {
    let Some(explanation) = &frame.explanation else { return Vec::new() };
    let sizes = || explanation.candidates.iter().map(|candidate| candidate.size);
    let (total, largest) = (size(sizes().sum()), size(sizes().max().unwrap_or(0)));
    match (lang, explanation.candidates.len()) {
        (_, 0) => Vec::new(),
        (Lang::Zh, n) => vec![
            format!("缓存里空闲 {total}，分在 {n} 处，最大一处 {largest}"),
            format!("空闲 {total}，最大 {largest}"),
            format!("空闲 {total}"),
        ],
        (Lang::En, n) => vec![
            format!("{total} were free in the cache, in {n} holes, the largest {largest}"),
            format!("{total} free, largest {largest}"),
            format!("{total} free"),
        ],
    }
}

fn cell_at(frame: &Frame, address: u64) -> Option<&Cell> {
    let cells = frame.strips.iter().flat_map(|strip| &strip.cells);
    cells.into_iter().find(|cell| (cell.piece.address..cell.piece.address + cell.piece.size).contains(&address))
}

fn freed(name: &str, frame: &Frame, lang: Lang) -> String {
    let Some((address, bytes)) = frame.changed else {
        return match lang {
            Lang::Zh => format!("{name} 当初就没拿到，没有可放的。"),
            Lang::En => format!("{name} never got a block; there is nothing to free."),
        };
    };
    let freed = size(bytes);
    match cell_at(frame, address).map(|cell| cell.piece) {
        Some(piece) if piece.part == Part::Pending => match lang {
            Lang::Zh => format!("{name} 释放了，可另一个流还在用这 {freed}：既不空闲，也不能合并。"),
            Lang::En => {
                format!("{name} is freed, but another stream still uses its {freed}: neither free nor mergeable.")
            }
        },
        Some(piece) if piece.part == Part::Free && piece.size > bytes => match lang {
            Lang::Zh => format!("{name} 的 {freed} 放了，和相邻的空闲合成 {}。", size(piece.size)),
            Lang::En => {
                format!("{name}'s {freed} are freed and merge with their neighbours into {}.", size(piece.size))
            }
        },
        Some(piece) if piece.part == Part::Free => match lang {
            Lang::Zh => format!("{name} 的 {freed} 放了，留在分配器手里，卡拿不回去。"),
            Lang::En => format!("{name}'s {freed} are freed and stay with the allocator."),
        },
        _ => match lang {
            Lang::Zh => format!("{name} 的 {freed} 放了，立刻还给卡。"),
            Lang::En => format!("{name}'s {freed} are freed and go back to the card at once."),
        },
    }
}

fn other(trace: &Trace, run: &Run, lang: Lang) -> String {
    let frame = &run.frame;
    let returned = size(frame.returned_bytes);
    let has_returned = frame.returned_bytes > 0;
    let Some(step) = &frame.step else { return String::new() };
    match (step.event, lang) {
        (Event::Use { id, stream }, Lang::Zh) => format!("流 {stream} 也在用 {}。", trace.name(id)),
        (Event::Use { id, stream }, Lang::En) => format!("Stream {stream} uses {} too.", trace.name(id)),
        (Event::Wait { stream, on }, Lang::Zh) => format!("流 {stream} 等流 {on} 做完手里的活。"),
        (Event::Wait { stream, on }, Lang::En) => format!("Stream {stream} waits for what stream {on} was given."),
        (Event::Sync, Lang::Zh) if has_returned => format!("主机等所有流；池把 {returned} 还给卡。"),
        (Event::Sync, Lang::En) if has_returned => {
            format!("The host waits for all streams; the pool returns {returned}.")
        }
        (Event::Sync, Lang::Zh) => "主机等所有流做完。".to_owned(),
        (Event::Sync, Lang::En) => "The host waits for all streams.".to_owned(),
        (Event::EmptyCache, Lang::Zh) if has_returned => format!("空闲的整段（整页）还给卡：{returned}。"),
        (Event::EmptyCache, Lang::En) if has_returned => {
            format!("What is wholly free goes back to the card: {returned}.")
        }
        (Event::EmptyCache, Lang::Zh) if run.engine.is_pytorch() => "没有整段空闲，什么也还不了。".to_owned(),
        (Event::EmptyCache, Lang::En) if run.engine.is_pytorch() => {
            "Nothing is wholly free, so nothing goes back.".to_owned()
        }
        (Event::EmptyCache, Lang::Zh) => "empty_cache 是 PyTorch 的，它不理会。".to_owned(),
        (Event::EmptyCache, Lang::En) => "empty_cache is PyTorch's; nothing happens.".to_owned(),
        (Event::BeginCapture { pool, .. }, Lang::Zh) => format!("开始录制 CUDA 图；从这里起用私有池 {pool}。"),
        (Event::BeginCapture { pool, .. }, Lang::En) => {
            format!("A CUDA graph is captured; from here on private pool {pool} serves.")
        }
        (Event::EndCapture { .. }, Lang::Zh) => "录制结束，私有池归图所有。".to_owned(),
        (Event::EndCapture { .. }, Lang::En) => "The capture ends; the graph keeps its pool.".to_owned(),
        (Event::DestroyGraph { .. }, Lang::Zh) => "图销毁，它的池可以还了。".to_owned(),
        (Event::DestroyGraph { .. }, Lang::En) => "The graph is destroyed; its pool may go.".to_owned(),
        (Event::Malloc { .. } | Event::Free { .. }, _) => String::new(),
    }
}

/// What is under the pointer.
pub fn readout(answered: &Answered, hit: Hit, lang: Lang) -> String {
    match hit {
        Hit::Word(idx) => match lang {
            Lang::Zh => format!("第 {} 步：点它就跳到这里。", idx + 1),
            Lang::En => format!("Event {}: click to go there.", idx + 1),
        },
        Hit::Card(lane) => match lang {
            Lang::Zh => format!("分配器没有拿的显存：{}。别的进程也能用。", size(answered.runs[lane].frame.card_bytes)),
            Lang::En => format!(
                "Memory that the allocator has not taken: {}. Other processes may use it.",
                size(answered.runs[lane].frame.card_bytes)
            ),
        },
        Hit::Cell(lane, strip, cell) => {
            let run = &answered.runs[lane];
            let found = run.frame.strips.get(strip).and_then(|strip| Some((strip, strip.cells.get(cell)?)));
            found.map_or_else(String::new, |(strip, cell)| piece(answered, strip.address, strip.is_free(), cell, lang))
        }
    }
}

fn piece(answered: &Answered, base: u64, is_free: bool, cell: &Cell, lang: Lang) -> String {
    let at = size(cell.piece.address - base);
    let name = cell.holder.map_or("?", |(id, _)| answered.trace.name(id));
    let stream = cell.holder.map_or(0, |(_, stream)| stream);
    let [bytes, asked, slack] = sizes([cell.piece.size, cell.piece.requested, cell.slack_bytes()]);
    match (cell.piece.part, lang) {
        (Part::Used, Lang::Zh) => {
            format!("{name}：{bytes} 的块，段内 {at} 处；要了 {asked}，多出 {slack}；流 {stream}。")
        }
        (Part::Used, Lang::En) => {
            format!(
                "{name}: a block of {bytes} at {at} in its segment; asked {asked}, {slack} more than that; stream {stream}."
            )
        }
        (Part::Pending, Lang::Zh) => format!("{name}：{bytes}，已释放，另一个流可能还在用。"),
        (Part::Pending, Lang::En) => format!("{name}: {bytes}, freed, while another stream may still use it."),
        (Part::Free, Lang::Zh) if is_free => format!("整段空闲 {bytes}：empty_cache 能还给卡。"),
        (Part::Free, Lang::En) if is_free => format!("{bytes}, wholly free: empty_cache would return it."),
        (Part::Free, Lang::Zh) => format!("空洞 {bytes}，段内 {at} 处：旁边还在用，还不了，更大的申请也放不下。"),
        (Part::Free, Lang::En) => {
            format!(
                "A hole of {bytes} at {at} in its segment: beside blocks in use, so it can neither go back nor hold more."
            )
        }
        (Part::Unmapped, Lang::Zh) => format!("{bytes} 的地址，背后没有显存。"),
        (Part::Unmapped, Lang::En) => format!("{bytes} of addresses with no memory behind them."),
    }
}

/// Under the picture when nothing is pointed at.
pub const HINT: vramlab_units::Text = vramlab_units::Text::new(
    "一条横条是一段，长度就是字节；虚线框是卡上还没拿的。指向任何一块看大小，点词跳到那一步，左右键逐步走。",
    "A bar is a segment, its length is bytes; dashed is what the card has left. Point at anything for its size, click a word to go there, step with the arrow keys.",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator_strips::presets::PRESETS;
    use crate::allocator_strips::question::{Engine, Question};

    fn played(preset: &str, engine: Engine, trace: Option<&str>) -> Answered {
        let mut question = Question::of(PRESETS.iter().find(|it| it.id == preset).unwrap());
        question.engines = vec![engine];
        if let Some(trace) = trace {
            question.trace = trace.to_owned();
        }
        Answered::new(&question, usize::MAX).unwrap()
    }

    /// 1,048,577 B are two multiples of 512 B apart from 1,049,088 B; both round to 1 MiB.
    #[test]
    fn sizes_that_would_read_alike_are_told_in_bytes() {
        let told = sizes([1_048_577, 1_049_088, 2 << 20]).map(|text| text.replace(vramlab_units::show::THIN, " "));
        assert_eq!(told, ["1 048 577 B", "1 049 088 B", "2 MiB"]);
        let answered = played("small", Engine::Native, Some("e:1048577"));
        let said = event(&answered.trace, &answered.runs[0], Lang::En).replace(vramlab_units::show::THIN, " ");
        assert!(said.starts_with("e asks for 1 048 577 B and gets 1 049 088 B,"), "{said}");
    }

    /// What a lane says is in use is what its cells paint so: BFC gives 20 MiB a chunk of 32, its region, which it does
    /// not split below twice the request.
    #[test]
    fn in_use_is_what_was_asked_for() {
        let answered = played("holes", Engine::Bfc, Some("a:24M -a b:20M"));
        let frame = &answered.runs[0].frame;
        let painted = Painted::of(frame);
        assert_eq!(painted.in_use, 20 << 20);
        assert_eq!(painted.in_use + painted.beyond, frame.after.allocated_bytes);
        let said = lane_states(frame, Lang::En)[0].replace(vramlab_units::show::THIN, " ");
        assert!(said.contains("· 20 MiB in use · 12 MiB beyond the request"), "{said}");
    }
}
