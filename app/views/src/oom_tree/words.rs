//! The decision tree in words.

use super::question::Given;
use vramlab_alloc::refusal::{Cause, Evidence, OUTSIDE_SHARE};
use vramlab_units::show::{bytes_binary, with_unit};
use vramlab_units::{Bytes, Lang, Text};

pub const YES: Text = Text::new("是", "yes");
pub const NO: Text = Text::new("否", "no");
pub const NOT_TOLD: Text = Text::new("没有说，比申请小", "not told; below the request");

pub fn size(bytes: u64) -> String {
    bytes_binary(Bytes(bytes))
}

/// What is asked at a node.
pub fn question(cause: Cause) -> Text {
    match cause {
        Cause::TooBig => Text::new("比这个进程能拿到的还多？", "More than this process could ever get?"),
        Cause::FitsNow => Text::new("有一块放得下，或清空缓存就放得下？", "Does it fit into a hole, or after a flush?"),
        Cause::Fragmentation => Text::new("空闲的加起来够？", "Is it enough in sum?"),
        Cause::Outside => Text::new("分配器之外占了一成以上？", "Over a tenth held outside the allocator?"),
        Cause::Leak => Text::new("步末的已分配一步步在涨？", "Does it grow from step to step?"),
        Cause::Capacity => Text::new("", ""),
    }
}

/// The cause in two or three words.
pub fn title(cause: Cause) -> Text {
    match cause {
        Cause::TooBig => Text::new("要得太多", "too large"),
        Cause::FitsNow => Text::new("现在放得下", "fits now"),
        Cause::Fragmentation => Text::new("碎片", "fragmentation"),
        Cause::Outside => Text::new("外部占用", "held outside"),
        Cause::Leak => Text::new("疑似泄漏", "suspected leak"),
        Cause::Capacity => Text::new("真的满了", "truly full"),
    }
}

/// What to do first.
pub fn advice(cause: Cause) -> Text {
    match cause {
        Cause::TooBig => Text::new("拆小、换格式，或者换卡", "split it, change its format, or the card"),
        Cause::FitsNow => Text::new("找瞬时峰值，或别的进程", "look for a short peak, or another process"),
        Cause::Fragmentation => Text::new("可扩展段；empty_cache 没用", "expandable segments; empty_cache is no help"),
        Cause::Outside => Text::new("查 NCCL、别的库、别的进程", "look at NCCL, other libraries, other processes"),
        Cause::Leak => Text::new("用快照找在涨的那一行", "find the growing line by a snapshot"),
        Cause::Capacity => Text::new("看峰值由谁占着，减它", "see who holds the peak, and cut that"),
    }
}

/// A node's answer with its numbers, for the line under the picture.
pub fn working(cause: Cause, given: &Given, lang: Lang) -> String {
    let evidence = given.evidence();
    let zh = lang == Lang::Zh;
    let request = size(given.request);
    match cause {
        Cause::TooBig => {
            let most = size(evidence.attainable().unwrap_or(0));
            let sign = if cause.holds(&evidence) == Some(true) { ">" } else { "≤" };
            let words = if zh { "申请 对 整卡 − 外部占用" } else { "request against card − held outside" };
            format!("{words}: {request} {sign} {} − {} = {most}", size(given.capacity), outside(&evidence))
        }
        Cause::FitsNow => {
            let sign = if cause.holds(&evidence) == Some(true) { "≤" } else { ">" };
            let words =
                if zh { "申请 对 设备空闲 + 可归还" } else { "request against device free + releasable" };
            let sum = format!("{} + {} = {}", size(given.free), size(given.releasable), size(evidence.after_flush()));
            let hole = if zh { "最大空洞" } else { "largest hole" };
            format!("{words}: {request} {sign} {sum}; {hole}: {}", hole_text(given, lang))
        }
        Cause::Fragmentation => {
            let sign = if given.request <= evidence.unused() { "≤" } else { ">" };
            let words = if zh {
                "申请 对 设备空闲 + 缓存空闲"
            } else {
                "request against device free + free in the cache"
            };
            let sum = size(evidence.unused());
            format!("{words}: {request} {sign} {} + {} = {sum}", size(given.free), size(evidence.inactive))
        }
        Cause::Outside => {
            let words = if zh {
                "整卡 − 设备空闲 − 保留 − 上下文"
            } else {
                "card − device free − reserved − context"
            };
            let share = with_unit(evidence.outside_share().unwrap_or(0.0), "%");
            format!("{words} = {} = {share}", outside(&evidence))
        }
        Cause::Leak => growing(given, lang).to_owned(),
        Cause::Capacity => advice(cause).get(lang).to_owned(),
    }
}

pub fn growing(given: &Given, lang: Lang) -> &'static str {
    match given.is_growing {
        true => Text::new("一步比一步多", "more at each step's end").get(lang),
        false => Text::new("没有一步步涨", "level from step to step").get(lang),
    }
}

pub fn outside(evidence: &Evidence) -> String {
    size(evidence.outside().unwrap_or(0))
}

/// The bytes that a tenth of the card is.
pub fn tenth(given: &Given) -> u64 {
    (given.capacity as f64 * OUTSIDE_SHARE).round() as u64
}

pub fn hole_text(given: &Given, lang: Lang) -> String {
    if given.knows_holes() { size(given.largest_hole) } else { NOT_TOLD.get(lang).to_owned() }
}

/// The finding for the state shown.
pub fn finding(given: &Given, cause: Cause, lang: Lang) -> String {
    let evidence = given.evidence();
    let request = size(given.request);
    let (free, inactive) = (size(given.free), size(evidence.inactive));
    let (zh, en) = match cause {
        Cause::TooBig => {
            let most = size(evidence.attainable().unwrap_or(0));
            (
                format!("申请 {request}，这个进程最多也只拿得到 {most}：换什么设置都没用。"),
                format!("{request} were asked for, and this process could get {most} at most: no setting helps."),
            )
        }
        Cause::FitsNow => {
            let room = size(evidence.largest_request());
            (
                format!("申请 {request}，一次最多能给 {room}：现在放得下，失败的那一刻占着的已经走了。"),
                format!(
                    "{request} against {room} free or releasable: it fits now, and whatever was in the way is gone."
                ),
            )
        }
        Cause::Fragmentation => (
            format!("碎片：设备空闲 {free}，缓存里还有 {inactive}，加起来够 {request}，可是没有一块够大，也还不回去。"),
            format!(
                "Fragmentation: {free} on the device and {inactive} in the cache are enough for {request}, but no piece is, and none can be returned."
            ),
        ),
        Cause::Outside => {
            let (held, share) = (outside(&evidence), with_unit(evidence.outside_share().unwrap_or(0.0), "%"));
            (
                format!("有 {held}（整卡的 {share}）不在分配器的账上：在 PyTorch 的数字里怎么找也找不到。"),
                format!(
                    "{held}, {share} of the card, is on no account of the allocator: PyTorch's own numbers cannot show it."
                ),
            )
        }
        Cause::Leak => (
            format!("放不下 {request}，而且步末的已分配一直在涨：先找是哪一行在留。"),
            format!("No room for {request}, and allocated grows from step to step: find the line that keeps it."),
        ),
        Cause::Capacity => {
            let used = size(given.allocated);
            (
                format!("放不下 {request}：{used} 真的在用，空闲的只有 {}。要减的是用量。", size(evidence.unused())),
                format!(
                    "No room for {request}: {used} is in use and only {} is not. Use less.",
                    size(evidence.unused())
                ),
            )
        }
    };
    if lang == Lang::Zh { zh } else { en }
}
