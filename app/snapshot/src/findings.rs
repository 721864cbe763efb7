//! What a snapshot says, in words: findings for which a program should stop, and notes worth reading.

use crate::analysis::Analysis;
use crate::growth::{GrowingSite, Growth, Verdict};
use crate::model::{Snapshot, StackId};
use crate::oom::{Oom, Otherwise};
use crate::steps::How;
use vramlab_units::{Bytes, Localized, show};

/// Fewer new blocks a step than this are none.
const FEW_BLOCKS: f64 = 0.01;
/// The share of the growth that a place must account for to be named.
const EXPLAINS: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Oom,
    /// The peak is more than the reader says is allowed.
    OverLimit,
    Growth,
    LeakSuspect,
}

impl Kind {
    pub fn id(self) -> &'static str {
        match self {
            Self::Oom => "oom",
            Self::OverLimit => "over_limit",
            Self::Growth => "growth",
            Self::LeakSuspect => "leak_suspect",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    /// The event, or the end of the last step, in events done.
    pub at: usize,
    /// The refused request; what is gained a step.
    pub bytes: u64,
    pub what: Localized,
    pub why: Localized,
}

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// Refusals, a peak over the reader's limit, and growth over at least three steps.
pub fn findings(snapshot: &Snapshot, analysis: &Analysis) -> Vec<Finding> {
    let mut out: Vec<Finding> = analysis.ooms.iter().map(oom).collect();
    out.extend(over_limit(analysis).filter(|_| out.is_empty()));
    out.extend(growth(snapshot, analysis));
    out
}

/// What is allocated at the peak would not fit under the limit, whatever the cache does.
fn over_limit(analysis: &Analysis) -> Option<Finding> {
    let limit = analysis.room.filter(|room| !room.is_guess)?.bytes;
    let at = analysis.timeline.peak();
    let peak = analysis.timeline.allocated.value(at);
    let over = peak.checked_sub(limit).filter(|over| *over > 0)?;
    let (peak, limit, gap) = (size(peak), size(limit), size(over));
    Some(Finding {
        kind: Kind::OverLimit,
        at,
        bytes: over,
        what: Localized::both(
            format!("峰值 {peak} 超出上限 {limit}：在这个上限下会 OOM"),
            format!("the peak of {peak} is over the limit of {limit}: under it this run ends in an OOM"),
        ),
        why: Localized::both(
            format!("峰值时在用的比上限多 {gap}，换分配器设置省不出来"),
            format!("{gap} more are in use at the peak than are allowed; no setting of the allocator saves that"),
        ),
    })
}

fn oom(oom: &Oom) -> Finding {
    let evidence = &oom.evidence;
    let (request, hole) = (size(evidence.request), size(evidence.largest_hole));
    let inactive = size(evidence.inactive);
    let (title_zh, title_en) = title(oom);
    let (zh, en) = room(oom);
    Finding {
        kind: Kind::Oom,
        at: oom.event,
        bytes: evidence.request,
        what: Localized::both(
            format!("事件 {}：申请 {request} 失败（OOM）。{title_zh}", thousands(oom.event as u64)),
            format!("event {}: a request for {request} was refused (OOM): {title_en}", thousands(oom.event as u64)),
        ),
        why: Localized::both(
            format!("{zh}；缓存里空闲 {inactive}，最大的空洞 {hole}"),
            format!("{en}; the cache held {inactive}, its largest hole {hole}"),
        ),
    }
}

/// The cause, or the two that the unknown limit decides between.
fn title(oom: &Oom) -> (String, String) {
    let title = oom.cause.title();
    let Some(otherwise) = oom.otherwise else { return (title.zh.to_owned(), title.en.to_owned()) };
    let (a, b) = (oom.cause.title(), otherwise.cause.title());
    let short = |text: &str, end: char| text.split(end).next().unwrap_or(text).to_owned();
    (
        format!("{}或{}，取决于上限，而快照里没有上限", short(b.zh, '：'), short(a.zh, '：')),
        format!("{} or {}, as the limit decides, which a snapshot does not hold", short(b.en, ':'), short(a.en, ':')),
    )
}

/// What the device and the limit had left.
fn room(oom: &Oom) -> (String, String) {
    let (device, left) = (size(oom.device_free), size(oom.evidence.device_free));
    if !oom.is_capped {
        return (format!("设备空闲 {device}"), format!("The device had {device} free"));
    }
    let zh = format!("设备空闲 {device}，所以拒绝它的是进程自己的上限（set_per_process_memory_fraction）");
    let en =
        format!("The device had {device} free, so a limit of the process refused (set_per_process_memory_fraction)");
    match oom.otherwise {
        Some(Otherwise { cause, room }) => {
            let (room, short) = (size(room), cause.title());
            let (short_zh, short_en) = (short.zh.split('：').next(), short.en.split(':').next());
            let (short_zh, short_en) = (short_zh.unwrap_or_default(), short_en.unwrap_or_default());
            (
                format!(
                    "{zh}：上限之下若还剩 {room} 以上，就是{short_zh}（报错文字里有上限：填上它，或用 --limit 给）"
                ),
                format!(
                    "{en}: with {room} or more left under it, this is {short_en} (the error's message has the limit: \
                     fill it in, or give it by --limit)"
                ),
            )
        }
        None if oom.is_limit_given => (format!("{zh}，其下还剩 {left}"), format!("{en}, with {left} left under it")),
        None => (zh, en),
    }
}

/// 1,234,567.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let comma = |idx: usize| idx > 0 && (digits.len() - idx).is_multiple_of(3);
    digits.char_indices().map(|(idx, digit)| if comma(idx) { format!(",{digit}") } else { digit.to_string() }).collect()
}

/// The place that grows, if it is growth that speaks of something: kept blocks, or one buffer that is rebuilt larger and
/// larger. What comes from many places a little, as with inputs that get longer, is held back.
fn leading(growth: &Growth) -> Option<&GrowingSite> {
    if matches!(growth.verdict, Verdict::TooFewSteps | Verdict::Steady) {
        return None;
    }
    let site = growth.sites.first()?;
    let explains = site.bytes_per_step >= growth.bytes_per_step * EXPLAINS;
    let is_kept = site.blocks_per_step >= FEW_BLOCKS;
    let is_rebuilt = growth.verdict == Verdict::LeakSuspect && site.site.0 != 0;
    (explains && (is_kept || is_rebuilt)).then_some(site)
}

fn growth(snapshot: &Snapshot, analysis: &Analysis) -> Option<Finding> {
    let growth = &analysis.growth;
    let site = leading(growth)?;
    // A leak keeps blocks; a buffer that grows replaces them.
    let is_suspect = growth.verdict == Verdict::LeakSuspect && site.blocks_per_step >= FEW_BLOCKS;
    let kind = if is_suspect { Kind::LeakSuspect } else { Kind::Growth };
    let (slope, n) = (size(growth.bytes_per_step.round() as u64), growth.ends.len());
    let place = analysis.sites.label(snapshot, site.site);
    let (zh, en) = (place.zh.unwrap_or_default(), place.en.unwrap_or_default());
    let (gain_zh, gain_en) = gain(&analysis.steps.how, &slope, n);
    Some(Finding {
        kind,
        at: growth.ends.last().map_or(0, |(at, _)| *at),
        bytes: growth.bytes_per_step.round() as u64,
        what: Localized::both(format!("{gain_zh}，主要来自 {zh}"), format!("{gain_en}, most of it at {en}")),
        why: nature(site, is_cat(snapshot, analysis, site)),
    })
}

/// Whether a stack of the place ends in `torch.cat`. Python's stacks do not show it, C++ stacks do.
fn is_cat(snapshot: &Snapshot, analysis: &Analysis, site: &GrowingSite) -> bool {
    let stacks = (0..snapshot.stack_ends.len() as u32).map(StackId);
    let mut own = stacks.filter(|stack| analysis.sites.of_stack(*stack) == site.site);
    let is_cat =
        |name: &str| name == "cat" || name.split(['(', '<']).next().is_some_and(|head| head.ends_with("::cat"));
    own.any(|stack| snapshot.stack(stack).any(|frame| is_cat(snapshot.text(frame.name))))
}

/// Why nothing was found.
pub fn nothing(analysis: &Analysis) -> Localized {
    let (n, growth) = (analysis.steps.ends.len(), &analysis.growth);
    if matches!(growth.verdict, Verdict::Grows | Verdict::LeakSuspect) && leading(growth).is_none() {
        let slope = size(growth.bytes_per_step.round() as u64);
        return Localized::both(
            format!("没有 OOM；每步末多 {slope}，但不来自哪一处：输入变长就会这样，看不出泄漏"),
            format!(
                "no OOM; {slope} more at each step's end, from no one place: longer inputs do this, no leak is seen"
            ),
        );
    }
    match &analysis.steps.how {
        How::NotFound => Localized::both(
            "没有 OOM；没有找到重复的步，看不出增长",
            "no OOM; no steps were found, so growth cannot be seen",
        ),
        How::Period { .. } => {
            Localized::both(format!("没有 OOM；{n} 次重复里没有增长"), format!("no OOM; no growth over {n} repeats"))
        }
        How::Annotation(_) if n < 3 => Localized::both(
            format!("没有 OOM；只有 {n} 步，看增长至少要 3 步"),
            format!("no OOM; {n} {}, and growth needs at least 3", if n == 1 { "step" } else { "steps" }),
        ),
        How::Annotation(_) => {
            Localized::both(format!("没有 OOM；{n} 步里没有增长"), format!("no OOM; no growth over {n} steps"))
        }
    }
}

/// What is gained. A period that was found is a repeat, and how many of them the program calls a step is not known.
fn gain(how: &How, slope: &str, n: usize) -> (String, String) {
    match how {
        How::Annotation(name) => {
            let short = name.split('#').next_back().unwrap_or(name);
            (
                format!("{n} 步里每步多 {slope}（按 {short} 的标注分步）"),
                format!("{slope} more each step over {n} steps (by the annotation {short})"),
            )
        }
        How::Period { n_requests } => (
            format!(
                "{n} 次重复里每次多 {slope}（没有步的标注；一次重复是同样的 {n_requests} 次申请与释放，一步可能含好几次）"
            ),
            format!(
                "{slope} more each repeat over {n} repeats (no steps are annotated; a repeat is the same {n_requests} \
                 requests and frees, and a step may hold several)"
            ),
        ),
        How::NotFound => (format!("每步多 {slope}"), format!("{slope} more each step")),
    }
}

/// More blocks, or larger ones. A trace cannot tell a leak from what the program means to keep.
fn nature(site: &GrowingSite, is_cat: bool) -> Localized {
    if site.blocks_per_step < FEW_BLOCKS && is_cat {
        return Localized::both(
            "块数没变，块在变大：旧块不断被 torch.cat 做出的更大的新块替换，增长的 KV cache 就是这样。一次按最终大小分配，就不会有",
            "As many blocks as before, each replaced by a larger one that torch.cat makes, as a growing KV cache does. \
             Allocating the final size at once avoids it",
        );
    }
    if site.blocks_per_step < FEW_BLOCKS {
        return Localized::both(
            "块数没变，块在变大：旧块不断被更大的新块替换。一次按最终大小分配，就不会有",
            "As many blocks as before, each replaced by a larger one. Allocating the final size at once avoids it",
        );
    }
    Localized::both(
        "块数在增加：每步都有块留了下来。看看这里的结果被谁引用着，比如存进列表的 loss 没有 .item()",
        "More blocks each step: some are kept. Look for what still refers to them, such as losses kept in a list without \
         .item()",
    )
}
