//! What to do: whether other settings would have helped, and the one thing to do first about a refusal.

use crate::analysis::{Analysis, Cache};
pub use crate::findings::thousands;
use crate::model::Snapshot;
use crate::oom::{Cause, Oom};
use crate::peak::{By, holders};
use crate::roles::Role;
use crate::what_if::WhatIf;
use vramlab_units::{Bytes, Lang, Localized, Text, show};

/// Settings as `PYTORCH_ALLOC_CONF` writes them, with what they would have held.
pub type Tried = (String, WhatIf);

/// Settings that differ by less are not worth a change.
const WORTH_NAMING: f64 = 0.02;

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// The setting that refuses least; among these, that which reserves least.
pub fn best(tried: &[Tried]) -> Option<&Tried> {
    tried.iter().min_by_key(|(_, got)| (got.n_ooms, got.peak_reserved))
}

/// The setting under which nothing is refused, where the recording was refused something.
pub fn cure<'a>(analysis: &Analysis, tried: &'a [Tried]) -> Option<&'a Tried> {
    best(tried).filter(|(_, got)| got.n_ooms == 0 && !analysis.ooms.is_empty())
}

/// A setting in words.
pub fn name(settings: &str, lang: Lang) -> &str {
    if settings.is_empty() { Text::new("默认设置", "the default").get(lang) } else { settings }
}

/// The change against the recording; a dash where requests were refused, for then less is no gain.
pub fn change(got: &WhatIf, recorded: u64) -> String {
    if recorded == 0 || got.n_ooms > 0 {
        return "–".to_owned();
    }
    let change = got.peak_reserved as f64 / recorded as f64 - 1.0;
    if change >= 1.0 {
        return format!("×{}", show::number(change + 1.0));
    }
    let share = show::with_unit((change.abs() * 1000.0).round() / 1000.0, "%");
    match change {
        _ if change.abs() < 0.0005 => "±0".to_owned(),
        _ if change < 0.0 => format!("−{share}"),
        _ => format!("+{share}"),
    }
}

/// Which of the settings that were tried would have been best: refusals count first.
pub fn settings(analysis: &Analysis, tried: &[Tried], recorded: u64) -> Localized {
    let Some((settings, got)) = best(tried) else {
        return Localized::both("没有可比的设置", "no other setting was tried");
    };
    let (zh, en) = (name(settings, Lang::Zh), name(settings, Lang::En));
    let (n_recorded, most) = (analysis.ooms.len() as u64, size(got.peak_reserved));
    match (n_recorded, got.n_ooms) {
        (0, 0) => by_size(got, recorded, zh, en),
        (0, _) => Localized::both("试过的设置都放不下", "none that was tried fits under that limit"),
        (_, 0) => Localized::both(
            format!("{zh} 可以避免 OOM（最多要 {most}）"),
            format!("{en} would have avoided the OOM (at most {most} reserved)"),
        ),
        (n, left) if left < n => Localized::both(
            format!("没有一个能避免全部 OOM；{zh} 最好：{n} 次变 {left} 次"),
            format!("none avoids every OOM; {en} comes closest: {left} in place of {n}"),
        ),
        _ => Localized::both("试过的都避免不了 OOM", "none that was tried avoids the OOM"),
    }
}

fn by_size(got: &WhatIf, recorded: u64, zh: &str, en: &str) -> Localized {
    let (most, change) = (size(got.peak_reserved), change(got, recorded));
    let ratio = got.peak_reserved as f64 / recorded.max(1) as f64;
    if (ratio - 1.0).abs() < WORTH_NAMING {
        return Localized::both(
            format!("换设置几乎没有差别：最少的是 {zh}，{most}（{change}）"),
            format!("hardly a difference: least is {en}, {most} ({change})"),
        );
    }
    if ratio > 1.0 {
        return Localized::both(
            format!("试过的都比录制时要得多：最少的是 {zh}，{most}（{change}）"),
            format!("each that was tried reserves more; least is {en}, {most} ({change})"),
        );
    }
    Localized::both(
        format!("{zh} 只会向设备要 {most}（{change}）"),
        format!("{en} would have reserved {most} ({change})"),
    )
}

/// Under what limit the settings were tried; nothing if under none.
pub fn limit(analysis: &Analysis) -> Option<Localized> {
    let room = analysis.room?;
    let bytes = size(room.bytes);
    Some(match room.is_guess {
        true => Localized::both(
            format!("上限不在文件里：按拒绝之前最多保留过的 {bytes} 猜；真正的上限可能更高"),
            format!(
                "the limit is not in the file: guessed as the {bytes} that were reserved at most; it may be higher"
            ),
        ),
        false => Localized::both(format!("上限 {bytes}"), format!("under {bytes}")),
    })
}

/// What the cache was of use for, at the moment that it names.
pub fn cache(analysis: &Analysis, cache: &Cache) -> Localized {
    let metrics = &cache.map.metrics;
    let (reserved, inactive, split) = (size(metrics.reserved), size(metrics.inactive), size(metrics.unreleasable()));
    let (event, all) = (thousands(cache.at as u64), thousands(analysis.timeline.n_events() as u64));
    let Some(miss) = cache.miss else {
        return Localized::both(
            format!("录制里没有向设备要过内存；结尾缓存里空闲 {inactive}"),
            format!("no memory was asked of the device in the recording; {inactive} free in the cache at its end"),
        );
    };
    let (request, small, hole) = (size(miss.bytes), size(miss.too_small), size(miss.largest_hole));
    let holes = miss.too_small > 0;
    let (zh, en) = match (cache.is_oom, holes) {
        (_, false) => (String::new(), String::new()),
        (true, true) => (
            format!("；被拒的申请要 {request}：{small} 的空洞都太小，最大 {hole}"),
            format!("; {request} was refused: {small} lay in holes too small, the largest {hole}"),
        ),
        (false, true) => (
            format!("；要的是 {request}：{small} 的空洞都太小，最大 {hole}"),
            format!("; {request} was wanted: {small} lay in holes too small, the largest {hole}"),
        ),
    };
    let (when_zh, when_en) = match cache.is_oom {
        true => (format!("OOM 时（事件 {event}）"), format!("at the OOM (event {event})")),
        false => (
            format!("最后一次向设备要内存时（第 {event} / {all} 个事件）"),
            format!("when memory was last asked of the device (event {event} of {all})"),
        ),
    };
    Localized::both(
        format!("{when_zh}保留 {reserved}，其中空闲 {inactive}（{split} 夹在用着的块之间，还不回去）{zh}"),
        format!(
            "{when_en} {reserved} reserved, of it {inactive} free ({split} beside blocks in use, not returnable){en}"
        ),
    )
}

/// The one thing to do first about the first refusal.
pub fn first(snapshot: &Snapshot, analysis: &Analysis, tried: &[Tried]) -> Option<Localized> {
    let oom = analysis.ooms.first()?;
    let cure = cure(analysis, tried).map(|(settings, _)| settings.as_str()).filter(|settings| !settings.is_empty());
    if oom.is_capped {
        return Some(raise(snapshot, analysis, oom, cure));
    }
    if let Some(settings) = cure {
        return Some(Localized::both(
            format!("先做：设 PYTORCH_ALLOC_CONF={settings}，同样的申请就都放得下"),
            format!("Do first: set PYTORCH_ALLOC_CONF={settings}; the same requests then all fit"),
        ));
    }
    let (zh, en) = by_cause(snapshot, analysis, oom);
    Some(Localized::both(format!("先做：{zh}"), format!("Do first: {en}")))
}

/// The card had room.
fn raise(snapshot: &Snapshot, analysis: &Analysis, oom: &Oom, cure: Option<&str>) -> Localized {
    let free = size(oom.device_free);
    let (zh, en) = match cure {
        Some(settings) => (
            format!("设 PYTORCH_ALLOC_CONF={settings}，重放时就不再被拒"),
            format!("set PYTORCH_ALLOC_CONF={settings}, under which the replay is refused nothing"),
        ),
        None => hold_less(snapshot, analysis, oom),
    };
    Localized::both(
        format!(
            "先做：调高或去掉本进程的上限（torch.cuda.set_per_process_memory_fraction），设备还空着 {free}；上限不能动，就{zh}"
        ),
        format!(
            "Do first: raise or remove this process's limit (torch.cuda.set_per_process_memory_fraction): the device had \
             {free} free; if it must stay, {en}"
        ),
    )
}

fn by_cause(snapshot: &Snapshot, analysis: &Analysis, oom: &Oom) -> (String, String) {
    let event = analysis.events(snapshot)[oom.event];
    match oom.cause {
        Cause::TooBig => {
            let place = analysis.sites.label(snapshot, analysis.sites.of_stack(event.stack));
            let (zh, en) = (place.zh.unwrap_or_default(), place.en.unwrap_or_default());
            (format!("把 {zh} 的那次申请改小"), format!("make the request at {en} smaller"))
        }
        Cause::Outside => (
            "用 nvidia-smi 看卡上还有谁，先停掉或挪走它".to_owned(),
            "see with nvidia-smi who else is on the card, and stop or move it".to_owned(),
        ),
        Cause::FitsNow => (
            "原样再跑一次：出错之后这次申请已经放得下".to_owned(),
            "run it again as it is: after the error the request would fit".to_owned(),
        ),
        Cause::Leak => match analysis.growth.sites.first() {
            Some(site) => {
                let place = analysis.sites.label(snapshot, site.site);
                let (zh, en) = (place.zh.unwrap_or_default(), place.en.unwrap_or_default());
                (format!("放掉 {zh} 每步留下的"), format!("let go of what {en} keeps every step"))
            }
            None => hold_less(snapshot, analysis, oom),
        },
        Cause::Fragmentation | Cause::Capacity => hold_less(snapshot, analysis, oom),
    }
}

/// Who held most when it was refused, and how that gets smaller.
fn hold_less(snapshot: &Snapshot, analysis: &Analysis, oom: &Oom) -> (String, String) {
    let roles = holders(snapshot, analysis, oom.event, By::Role);
    let sites = holders(snapshot, analysis, oom.event, By::Site);
    let role = roles.iter().find(|holder| holder.key.0 != Role::Unknown as u32 && holder.share >= 0.3);
    if let Some(role) = role.filter(|role| role.key.0 == Role::Activation as u32) {
        let held = size(role.bytes);
        return (
            format!("减小 batch，或对激活做重计算（checkpoint）：激活当时占 {held}"),
            format!("make the batch smaller or checkpoint activations, which held {held} then"),
        );
    }
    let Some(site) = sites.iter().find(|holder| holder.key.0 != 0).or(sites.first()) else {
        return ("把这次申请改小".to_owned(), "make the request smaller".to_owned());
    };
    let held = size(site.bytes);
    let (zh, en) = (site.label.get(Lang::Zh), site.label.get(Lang::En));
    (format!("让 {zh} 少占一些：当时占 {held}"), format!("hold less at {en}, which held {held} then"))
}
