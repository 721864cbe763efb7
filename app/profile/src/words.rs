//! The report in words, the same in the terminal and on the page: a label and a sentence a line.

use crate::record::{Exit, Profile};
use crate::report::{Peak, Report, Traced};
use vramlab_units::{Bytes, Lang, Text, show};

/// One line of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub label: Text,
    pub text: String,
}

const ENDED: Text = Text::new("结束", "ended");
const PEAK: Text = Text::new("GPU 峰值", "GPU peak");
const HOST: Text = Text::new("主机内存", "host memory");
const CARD: Text = Text::new("卡", "card");
const ALLOCATIONS: Text = Text::new("分配", "allocations");
const KERNELS: Text = Text::new("内核", "kernels");
const COPIES: Text = Text::new("拷贝", "copies");
const UNSEEN: Text = Text::new("看不见的", "not seen");
const OVERHEAD: Text = Text::new("开销", "overhead");

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// A time with a unit that suits it.
pub fn time(us: u64) -> String {
    match us {
        0..1_000 => show::with_unit(us as f64, "µs"),
        1_000..1_000_000 => show::with_unit(us as f64 / 1e3, "ms"),
        _ => show::with_unit(us as f64 / 1e6, "s"),
    }
}

fn percent(share: f64) -> String {
    show::with_unit((share * 1e4).round() / 1e4, "%")
}

/// Every line of the report, in order.
pub fn lines(profile: &Profile, report: &Report, lang: Lang) -> Vec<Line> {
    let mut out = vec![Line { label: ENDED, text: ended(profile, lang) }];
    let mut push = |label: Text, text: Option<String>| out.extend(text.map(|text| Line { label, text }));
    push(PEAK, peak(profile, report, lang));
    push(HOST, report.host.as_ref().map(|peak| with_holders(profile, peak, lang)));
    push(CARD, card(report, lang));
    if let Some(traced) = &report.traced {
        push(ALLOCATIONS, Some(allocations(traced, lang)));
        push(KERNELS, Some(kernels(profile, traced, lang)));
        push(COPIES, copies(traced, lang));
    }
    push(UNSEEN, Some(unseen(profile, report, lang)));
    push(OVERHEAD, Some(overhead(profile, report, lang)));
    out
}

fn ended(profile: &Profile, lang: Lang) -> String {
    let after = time(profile.wall_us);
    match (profile.exit, lang) {
        (Exit { code: Some(code), .. }, Lang::Zh) => format!("{after} 后以代码 {code} 退出"),
        (Exit { code: Some(code), .. }, Lang::En) => format!("with code {code} after {after}"),
        (Exit { signal: Some(signal), .. }, Lang::Zh) => format!("{after} 后被信号 {signal} 终止"),
        (Exit { signal: Some(signal), .. }, Lang::En) => format!("by signal {signal} after {after}"),
        (_, Lang::Zh) => format!("{after} 后结束，方式不明"),
        (_, Lang::En) => format!("after {after}, how is not known"),
    }
}

/// `5.93 GiB at 3.4 s: python 1234 5.93 GiB`.
fn with_holders(profile: &Profile, peak: &Peak, lang: Lang) -> String {
    const MOST: usize = 3;
    let name = |idx: usize| {
        let process = &profile.processes[idx];
        format!("{} {}", process.name, process.pid)
    };
    let held: Vec<String> =
        peak.by.iter().take(MOST).map(|(idx, bytes)| format!("{} {}", name(*idx), size(*bytes))).collect();
    let rest = peak.by.len().saturating_sub(MOST);
    let (at, comma) = match lang {
        Lang::Zh => (format!("{}（{} 时）", size(peak.bytes), time(peak.t_us)), "，"),
        Lang::En => (format!("{} at {}", size(peak.bytes), time(peak.t_us)), ", "),
    };
    let more = match (rest, lang) {
        (0, _) => String::new(),
        (n, Lang::Zh) => format!("{comma}另有 {n} 个进程"),
        (n, Lang::En) => format!("{comma}{n} more"),
    };
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    if held.is_empty() { at } else { format!("{at}{colon}{}{more}", held.join(comma)) }
}

fn peak(profile: &Profile, report: &Report, lang: Lang) -> Option<String> {
    let device = profile.device.as_ref()?;
    let used = report.device.as_ref()?;
    let whole = match lang {
        Lang::Zh => format!("整张卡 {}，开始前 {}", size(used.bytes), size(device.before_bytes)),
        Lang::En => format!("the whole card {}, {} before the start", size(used.bytes), size(device.before_bytes)),
    };
    let semicolon = if lang == Lang::Zh { "；" } else { "; " };
    Some(match &report.tree {
        Some(tree) => format!("{}{semicolon}{whole}", with_holders(profile, tree, lang)),
        None => match lang {
            Lang::Zh => format!("{whole}；NVML 没有把显存记到这个程序的进程上"),
            Lang::En => format!("{whole}; NVML attributes no memory to this program's processes"),
        },
    })
}

fn card(report: &Report, lang: Lang) -> Option<String> {
    let mut words = Vec::new();
    if let Some((mean, most)) = report.util {
        let (mean, most) = (percent(mean / 100.0), percent(f64::from(most) / 100.0));
        words.push(match lang {
            Lang::Zh => format!("利用率平均 {mean}，最高 {most}"),
            Lang::En => format!("utilisation {mean} on average, {most} at most"),
        });
    }
    if let Some((_, most)) = report.power_mw {
        let most = show::with_unit(f64::from(most) / 1e3, "W");
        words.push(if lang == Lang::Zh { format!("功率最高 {most}") } else { format!("{most} at most") });
    }
    if let Some((least, most)) = report.sm_mhz {
        let range = format!("{least}–{}", show::with_unit(f64::from(most), "MHz"));
        words.push(if lang == Lang::Zh { format!("SM 时钟 {range}") } else { format!("SM clock {range}") });
    }
    for (name, share) in &report.throttle {
        let share = percent(*share);
        words.push(match lang {
            Lang::Zh => format!("{share} 的样本因 {name} 降频"),
            Lang::En => format!("{name} in {share} of the samples"),
        });
    }
    let comma = if lang == Lang::Zh { "，" } else { ", " };
    (!words.is_empty()).then(|| words.join(comma))
}

fn allocations(traced: &Traced, lang: Lang) -> String {
    let live = &traced.live;
    let (peak, at, end) = (size(live.peak_bytes), time(live.peak_ns / 1000), size(live.at_end()));
    let (n, freed) = (show::grouped(live.n_allocs as f64), show::grouped(live.n_frees as f64));
    let mut text = match lang {
        Lang::Zh => format!("程序自己的分配最多 {peak}（{at} 时）：分配 {n} 次，释放 {freed} 次，结束时还有 {end}"),
        Lang::En => {
            let calls = if live.n_allocs == 1 { "call" } else { "calls" };
            let releases = if live.n_frees == 1 { "release" } else { "releases" };
            format!("the program's own reach {peak} at {at}: {n} {calls}, {freed} {releases}, {end} left at the end")
        }
    };
    if let Some(context) = traced.context_bytes {
        text += &match lang {
            Lang::Zh => format!("；第一次分配时，此外已占 {}（上下文）", size(context)),
            Lang::En => format!("; {} beside the first of them (the context)", size(context)),
        };
    }
    if traced.n_pool > 0 {
        let n = show::grouped(traced.n_pool as f64);
        text += &match lang {
            Lang::Zh => format!("；另有 {n} 次来自 cudaMallocAsync 的池"),
            Lang::En => format!("; {n} more came from pools of cudaMallocAsync"),
        };
    }
    if let Some(outside) = traced.outside_bytes.and_then(|bytes| u64::try_from(bytes).ok()) {
        text += &match lang {
            Lang::Zh => format!("；NVML 峰值时，分配之外占 {}", size(outside)),
            Lang::En => format!("; {} beside them at NVML's peak", size(outside)),
        };
    }
    text
}

fn kernels(profile: &Profile, traced: &Traced, lang: Lang) -> String {
    let n = show::grouped(traced.n_kernels as f64);
    let share = percent(traced.busy_ns as f64 / 1e3 / profile.wall_us.max(1) as f64);
    let top = traced.kernels.first();
    let of_all = |ns: u64| percent(ns as f64 / traced.kernels.iter().map(|group| group.ns).sum::<u64>().max(1) as f64);
    match (top, lang) {
        (None, Lang::Zh) => "没有内核".to_owned(),
        (None, Lang::En) => "none".to_owned(),
        (Some(top), Lang::Zh) => {
            format!("{n} 个，占运行时间的 {share}；最久的是 {}（内核时间的 {}）", top.name, of_all(top.ns))
        }
        (Some(top), Lang::En) => {
            format!("{n}, running {share} of the time; longest: {} ({} of kernel time)", top.name, of_all(top.ns))
        }
    }
}

fn copies(traced: &Traced, lang: Lang) -> Option<String> {
    let one = |group: &crate::report::Group| {
        let (bytes, n, took) = (size(group.bytes), show::grouped(group.n as f64), time(group.ns / 1000));
        match lang {
            Lang::Zh => format!("{} {bytes}（{n} 次，{took}）", group.name),
            Lang::En => format!("{} {bytes} ({n}×, {took})", group.name),
        }
    };
    let all: Vec<String> = traced.copies.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(if lang == Lang::Zh { "，" } else { ", " }))
}

/// What the figures above cannot say.
fn unseen(profile: &Profile, report: &Report, lang: Lang) -> String {
    let every = time(profile.interval_us);
    let mut text = match (&profile.device, lang) {
        (None, Lang::Zh) => "没有 GPU：这里只有主机内存".to_owned(),
        (None, Lang::En) => "there is no GPU here: host memory only".to_owned(),
        (Some(_), Lang::Zh) => {
            format!(
                "NVML 每 {every} 看一眼整个进程：两次之间的尖峰、框架缓存里空着的部分、上下文与张量的区别，它都不知道"
            )
        }
        (Some(_), Lang::En) => format!(
            "NVML looks at whole processes every {every}: it knows neither spikes between two looks, nor what a framework's \
             cache holds unused, nor contexts from tensors"
        ),
    };
    if let Some(few) = few(profile, report, lang) {
        text = format!("{few}{}{text}", if lang == Lang::Zh { "；" } else { "; " });
    }
    let Some(traced) = &report.traced else { return text };
    if traced.n_lost > 0 {
        let n = show::grouped(traced.n_lost as f64);
        text += &match lang {
            Lang::Zh => format!("；CUPTI 的记录丢了 {n} 条"),
            Lang::En => format!("; {n} of CUPTI's records were lost"),
        };
    }
    if traced.is_cut {
        text += Text::new(
            "；有进程没有正常结束，最后不到一秒的记录可能缺失",
            "; a process did not end in its own way: less than its last second of records may be missing",
        )
        .get(lang);
    }
    text
}

/// Fewer samples than this show no peak.
const FEW: usize = 3;

/// A program that was over before it could be looked at a few times.
fn few(profile: &Profile, report: &Report, lang: Lang) -> Option<String> {
    let (n, every) = (report.n_samples, time(profile.interval_us));
    let finer = if profile.interval_us > 1000 {
        Text::new("；--interval 1ms 看得更密", "; --interval 1ms looks more often").get(lang)
    } else {
        ""
    };
    (n < FEW).then(|| match (n, lang) {
        (0, Lang::Zh) => format!("一个样本也没有，间隔 {every}{finer}"),
        (0, Lang::En) => format!("not one sample at intervals of {every}{finer}"),
        (_, Lang::Zh) => format!("只有 {n} 个样本，间隔 {every}：上面是看的那一刻的值，不是峰值{finer}"),
        (1, Lang::En) => {
            format!("1 sample only, at intervals of {every}: the figures are of that moment and no peak{finer}")
        }
        (_, Lang::En) => {
            format!("{n} samples only, {every} apart: the figures are of those moments and no peak{finer}")
        }
    })
}

fn overhead(profile: &Profile, report: &Report, lang: Lang) -> String {
    let sampler = &profile.sampler;
    let share = percent(report.sampler_share);
    let (calibrated, sample) = (time(sampler.calibrated_ns / 1000), time(sampler.sample_ns / 1000));
    let (n, late) = (show::grouped(report.n_samples as f64), sampler.n_late);
    let samples = if report.n_samples == 1 { "sample" } else { "samples" };
    let mut text = match lang {
        Lang::Zh => format!(
            "采样线程占一个核的 {share}；{n} 个样本，每个 {sample}（开始前校准 {calibrated}），{late} 个迟到；对程序运行时间的影响"
        ),
        Lang::En => format!(
            "the sampler took {share} of one core; {n} {samples} of {sample} each ({calibrated} when calibrated before the \
             start), {late} of them late; what it does to the program's time "
        ),
    };
    text += &match (&profile.compared, lang) {
        (None, Lang::Zh) => "没有测（--compare）".to_owned(),
        (None, Lang::En) => "was not measured (--compare)".to_owned(),
        (Some(both), Lang::Zh) => {
            format!("：{} 对不采样时的 {}", time(both.watched_us), time(both.plain_us))
        }
        (Some(both), Lang::En) => format!("was {} against {} unwatched", time(both.watched_us), time(both.plain_us)),
    };
    if let Some(traced) = &report.traced {
        let (own, cupti) = (time(traced.own_ns / 1000), time(traced.overhead_ns / 1000));
        text += &match lang {
            Lang::Zh => format!("；注入的库自己用了 {own}，CUPTI 自报 {cupti}"),
            Lang::En => format!("; the injected library took {own}, CUPTI reports {cupti} of its own"),
        };
    }
    text
}
