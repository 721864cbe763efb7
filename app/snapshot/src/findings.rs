//! What a snapshot says, in words: findings for which a program should stop, and notes worth reading.

use crate::analysis::Analysis;
use crate::growth::{GrowingSite, Verdict};
use crate::model::Snapshot;
use crate::oom::Oom;
use crate::steps::How;
use vramlab_units::{Bytes, Localized, show};

/// Fewer new blocks a step than this are none.
const FEW_BLOCKS: f64 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Oom,
    Growth,
    LeakSuspect,
}

impl Kind {
    pub fn id(self) -> &'static str {
        match self {
            Self::Oom => "oom",
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

/// Refusals, and growth over at least three steps.
pub fn findings(snapshot: &Snapshot, analysis: &Analysis) -> Vec<Finding> {
    let mut out: Vec<Finding> = analysis.ooms.iter().map(oom).collect();
    out.extend(growth(snapshot, analysis));
    out
}

fn oom(oom: &Oom) -> Finding {
    let evidence = &oom.evidence;
    let (request, hole) = (size(evidence.request), size(evidence.largest_hole));
    let (inactive, device) = (size(evidence.inactive), size(oom.device_free));
    let title = oom.cause.title();
    let (zh, en) = match oom.is_capped {
        true => ("，所以拒绝它的是进程自己的上限", ", so a limit of the process refused"),
        false => ("", ""),
    };
    Finding {
        kind: Kind::Oom,
        at: oom.event,
        bytes: evidence.request,
        what: Localized::both(
            format!("事件 {}：申请 {request} 失败（OOM）。{}", oom.event, title.zh),
            format!("event {}: a request for {request} was refused (OOM): {}", oom.event, title.en),
        ),
        why: Localized::both(
            format!("设备空闲 {device}{zh}；缓存里空闲 {inactive}，最大的空洞 {hole}"),
            format!("The device had {device} free{en}; the cache held {inactive}, its largest hole {hole}"),
        ),
    }
}

fn growth(snapshot: &Snapshot, analysis: &Analysis) -> Option<Finding> {
    let growth = &analysis.growth;
    if matches!(growth.verdict, Verdict::TooFewSteps | Verdict::Steady) {
        return None;
    }
    // Growth without a place that grows is a swing of many.
    let site = growth.sites.first()?;
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
        what: Localized::both(format!("{gain_zh}，主要在 {zh}"), format!("{gain_en}, most of it at {en}")),
        why: nature(site),
    })
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
fn nature(site: &GrowingSite) -> Localized {
    if site.blocks_per_step < FEW_BLOCKS {
        return Localized::both(
            "块数没变，块在变大：旧块不断被更大的新块替换，用 torch.cat 增长的 KV cache 就是这样。一次按最终大小分配，就不会有",
            "As many blocks as before, each replaced by a larger one: a KV cache that grows by torch.cat does this. Allocating \
             the final size at once avoids it",
        );
    }
    Localized::both(
        "块数在增加：每步都有块留了下来。看看这里的结果被谁引用着，比如存进列表的 loss 没有 .item()",
        "More blocks each step: some are kept. Look for what still refers to them, such as losses kept in a list without \
         .item()",
    )
}
