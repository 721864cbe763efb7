//! The report for people, as Markdown, in one language.

use super::decide::{Decision, Interval, ratios, saving, time_ratio};
use super::file::{Entry, Outcome, Project, Run};
use super::label::label as named;
use super::rules::{Judged, judge};
use crate::arena::{Holder, Owner};
use std::fmt::Write as _;
use vramlab_units::{Lang, Text};

/// The whole report. `interval` gives low, median and high of samples, or nothing where there are too few.
pub fn report(project: &Project, lang: Lang, interval: Interval<'_>) -> String {
    let mut out = String::new();
    let say = |zh, en| Text::new(zh, en).get(lang);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# {}\n", escaped(&project.name));
    if !project.hypothesis.is_empty() {
        let _ = writeln!(out, "**{}** {}\n", say("假设：", "Hypothesis:"), escaped(&project.hypothesis));
    }
    let _ = writeln!(out, "## {}\n\n{}\n", say("固定的工作量", "The fixed work"), work(project, lang));
    let Some(baseline) = &project.baseline else {
        let _ = writeln!(out, "{}", say("还没有基线。", "There is no baseline yet."));
        return out;
    };
    let _ = writeln!(out, "{}\n", device(baseline, lang));
    let _ = writeln!(out, "## {}\n", say("结果", "Results"));
    table(&mut out, project, baseline, lang, interval);
    if let Some(decision) = &project.decision {
        let _ = writeln!(out, "\n## {}\n\n{}", say("决定", "Decision"), decided(decision, lang));
    }
    for candidate in &project.candidates {
        explain(&mut out, baseline, candidate, lang);
    }
    let _ =
        writeln!(out, "\n## {}\n\n{}", say("证据等级", "Levels of evidence"), levels(baseline.device.is_cpu(), lang));
    out
}

/// Text of a file, so that it cannot become a heading, a table or a link.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }) {
        if "\\`*_{}[]<>()#+!|~".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn work(project: &Project, lang: Lang) -> String {
    let work = project.work;
    let net = format!("{:?}", work.net).to_lowercase();
    let optimizer = format!("{:?}", work.optimizer).to_lowercase();
    let sizes = format!(
        "{net}, n_layers {}, width {}, n_heads {}, seq_len {}, batch {}, n_classes {}, {}, {optimizer}, seed {}",
        work.n_layers,
        work.width,
        work.n_heads,
        work.seq_len,
        work.batch,
        work.n_classes,
        work.dtype.id(),
        work.seed
    );
    let gate = project.gate;
    match lang {
        Lang::Zh => format!(
            "{sizes}；{} 个参数。质量门槛：损失相对差不超过 {:e}；不改变求和次序的策略，梯度要逐位相同，其余不超过 {:e}。",
            work.n_params(),
            gate.loss,
            gate.gradient
        ),
        Lang::En => format!(
            "{sizes}; {} parameters. Quality gate: losses within {:e}; gradients bit for bit where a strategy changes no sum, else within {:e}.",
            work.n_params(),
            gate.loss,
            gate.gradient
        ),
    }
}

fn device(baseline: &Entry, lang: Lang) -> String {
    let device = &baseline.device;
    let name = format!("{} · {} · {}", device.backend, escaped(&device.name), escaped(&device.driver));
    match (device.is_cpu(), lang) {
        (true, Lang::Zh) => {
            format!("设备：{name}。这是处理器上的证据：梯度和申请的字节可信，GPU 的峰值和时间不能由它得出。")
        }
        (true, Lang::En) => format!(
            "Device: {name}. This is a processor's evidence: it holds for gradients and for bytes asked for, and says nothing of a GPU's peak or time."
        ),
        (false, Lang::Zh) => format!("设备：{name}。"),
        (false, Lang::En) => format!("Device: {name}."),
    }
}

/// Bytes with two decimals, in the unit that suits them: `26.63 KiB`, `1 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = format!("{value:.2}");
    format!("{} {}", number.strip_suffix(".00").unwrap_or(&number), UNITS[unit])
}

/// A difference of bytes, with its sign where there is one.
fn difference(bytes: i128) -> String {
    let told = size(u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX));
    match bytes {
        0 => "0".to_owned(),
        1.. => format!("+{told}"),
        _ => format!("−{told}"),
    }
}

fn table(out: &mut String, project: &Project, baseline: &Entry, lang: Lang, interval: Interval<'_>) {
    let head = Text::new(
        "| 策略 | 峰值 | 预测 | 一步 ÷ 旁边的基线（95 % 区间） | 一步；旁边的基线（ms，95 % 区间） | 质量 | 证据：峰值 / 时间 / 梯度 |",
        "| strategy | peak | predicted | step ÷ baseline beside it (95 % interval) | step; baseline beside it (ms, 95 % intervals) | quality | evidence: peak / time / gradient |",
    );
    let _ = writeln!(out, "{}\n|---|---:|---:|---:|---:|---|---|", head.get(lang));
    for entry in std::iter::once(baseline).chain(&project.candidates) {
        let judged = judge(project.gate, baseline, entry, |samples| interval(samples).is_some());
        let _ = writeln!(out, "{}", row(entry, &name(baseline, entry, lang), &judged, lang, interval));
    }
}

/// The strategy; the baseline's, measured once more as a candidate, is told apart from the baseline.
fn name(baseline: &Entry, entry: &Entry, lang: Lang) -> String {
    let strategy = entry.strategy.id();
    if std::ptr::eq(baseline, entry) || entry.strategy != baseline.strategy {
        return strategy;
    }
    Text::new("{}（再测一次）", "{} (once more)").get(lang).replace("{}", &strategy)
}

fn row(entry: &Entry, strategy: &str, judged: &Judged, lang: Lang, interval: Interval<'_>) -> String {
    match &entry.result {
        Outcome::OutOfMemory { needed_bytes, limit_bytes, label } => {
            let limit = limit_bytes.map(size).unwrap_or_else(|| "—".to_owned());
            let label = escaped(&named(label, lang));
            match lang {
                Lang::Zh => format!(
                    "| {strategy} | 放不下：到 {label} 时要 {}，上限 {limit} | — | — | — | {} | — |",
                    size(*needed_bytes),
                    judged.why.get(lang)
                ),
                Lang::En => format!(
                    "| {strategy} | out of memory: {label} needs {} of {limit} | — | — | — | {} | — |",
                    size(*needed_bytes),
                    judged.why.get(lang)
                ),
            }
        }
        Outcome::Ran(run) => {
            let few = Text::new("样本不够", "too few samples").get(lang);
            let ms = |samples: &[f64]| {
                interval(samples)
                    .map_or_else(|| few.to_owned(), |[low, _, high]| format!("{:.3}–{:.3}", low / 1e6, high / 1e6))
            };
            let ratio = interval(&ratios(run)).map_or(String::new(), |[low, _, high]| match lang {
                Lang::Zh => format!("（{low:.3}–{high:.3}）"),
                Lang::En => format!(" ({low:.3}–{high:.3})"),
            });
            let times = match lang {
                Lang::Zh => format!("{}；{}", ms(&run.samples_ns), ms(&run.base_ns)),
                Lang::En => format!("{}; {}", ms(&run.samples_ns), ms(&run.base_ns)),
            };
            let mark = if judged.is_accepted { "✓" } else { "✗" };
            let levels = format!("{} / {} / {}", judged.peak.id(), judged.time.id(), judged.gradient.id());
            format!(
                "| {strategy} | {} | {} (E0) | {:.3}{ratio} | {times} | {mark} {} | {levels} |",
                size(run.used_bytes),
                size(run.predicted_bytes),
                time_ratio(run),
                judged.why.get(lang)
            )
        }
    }
}

fn decided(decision: &Decision, lang: Lang) -> String {
    let budget = size(decision.budget_bytes);
    let pareto = decision.pareto.iter().map(|id| escaped(id)).collect::<Vec<_>>().join(", ");
    let head = match (&decision.chosen, decision.short_bytes, lang) {
        (Some(id), _, Lang::Zh) => {
            format!(
                "预算 {budget}：选 **{}**，放得下的里面没有更快的（差距在噪声以内或区间重叠，取峰值小的）。",
                escaped(id)
            )
        }
        (Some(id), _, Lang::En) => format!(
            "Under {budget}: **{}**, none that fits is faster (where times differ by no more than noise, or their intervals overlap, the smaller one is taken).",
            escaped(id)
        ),
        (None, short, Lang::Zh) => {
            format!("预算 {budget}：没有一个放得下，最小的还差 {}。", size(short.unwrap_or_default()))
        }
        (None, short, Lang::En) => {
            format!("Under {budget}: none fits; the smallest is {} over.", size(short.unwrap_or_default()))
        }
    };
    let mut out = match lang {
        Lang::Zh => format!("{head}\n\n时间和峰值都不被别人压过的：{pareto}。\n\n"),
        Lang::En => format!("{head}\n\nBeaten by no other in both time and peak: {pareto}.\n\n"),
    };
    for rejected in &decision.rejected {
        let _ = writeln!(out, "- {}: {}", escaped(&rejected.strategy), why(&rejected.why).get(lang));
    }
    out
}

/// Why an option was not chosen, in words.
pub fn why(id: &str) -> Text {
    match id {
        "quality" => Text::new("没过质量门槛", "fails the quality gate"),
        "out_of_memory" => Text::new("放不下", "did not fit"),
        "over_budget" => Text::new("峰值超出预算", "its peak is over the budget"),
        "slower" => Text::new("放得下，但更慢，不只是噪声", "it fits, but is slower, and not by noise"),
        _ => Text::new("快慢分不出，但更大", "not shown to be faster or slower, but larger"),
    }
}

/// Where one candidate's saving came from, as Markdown.
pub fn explained(baseline: &Entry, candidate: &Entry, lang: Lang) -> String {
    let mut out = String::new();
    explain(&mut out, baseline, candidate, lang);
    out
}

/// Where the saving came from.
fn explain(out: &mut String, baseline: &Entry, candidate: &Entry, lang: Lang) {
    let (Some(base), Some(run)) = (baseline.ran(), candidate.ran()) else { return };
    let say = |zh, en| Text::new(zh, en).get(lang);
    let title = say("省在哪里：", "Where the saving came from: ");
    let _ = writeln!(out, "\n## {title}{}\n", name(baseline, candidate, lang));
    let head = say("| 归谁 | 基线 | 候选 | 省下 |", "| owner | baseline | candidate | saved |");
    let _ = writeln!(out, "{head}\n|---|---:|---:|---:|");
    for saving in saving(baseline, candidate) {
        let saved = difference(saving.saved());
        let owner = owner(saving.owner).get(lang);
        let _ =
            writeln!(out, "| {owner} | {} | {} | {saved} |", size(saving.baseline_bytes), size(saving.candidate_bytes));
    }
    let _ = writeln!(out, "\n{}", moment(base, run, lang));
}

fn moment(base: &Run, run: &Run, lang: Lang) -> String {
    let (before, after) = (phase(base.phase.id()).get(lang), phase(run.phase.id()).get(lang));
    let first = |run: &Run| {
        let told = |holder: &Holder| format!("{} ({})", escaped(&named(&holder.label, lang)), size(holder.bytes));
        run.holders.first().map(told).unwrap_or_default()
    };
    let (a, b, n, m) = (first(base), first(run), base.n_holders, run.n_holders);
    let when = match (before == after, lang) {
        (true, Lang::Zh) => format!("峰值仍在{before}。"),
        (true, Lang::En) => format!("The peak stays in {before}."),
        (false, Lang::Zh) => format!("峰值从{before}移到{after}。"),
        (false, Lang::En) => format!("The peak moves from {before} to {after}."),
    };
    let mut text = match lang {
        Lang::Zh => format!("{when}峰值时在场的张量：{n} → {m} 个；最大的一个：{a} → {b}。"),
        Lang::En => format!("{when} Tensors alive at it: {n} → {m}; the largest: {a} → {b}."),
    };
    if run.moved_bytes > 0 {
        let (host, moved) = (size(run.host_bytes), size(run.moved_bytes));
        text.push_str(&match lang {
            Lang::Zh => format!("主机上最多等着 {host}，一步里有 {moved} 过链路。"),
            Lang::En => format!(" Up to {host} wait on the host; {moved} cross the link in a step."),
        });
    }
    text
}

/// An owner in words.
pub fn owner(owner: Owner) -> Text {
    match owner {
        Owner::Parameters => Text::new("参数", "parameters"),
        Owner::Gradients => Text::new("梯度", "gradients"),
        Owner::OptimizerState => Text::new("优化器状态", "optimizer state"),
        Owner::Activations => Text::new("激活", "activations"),
        Owner::Workspace => Text::new("反向的临时张量", "temporaries of backward"),
    }
}

fn phase(id: &str) -> Text {
    match id {
        "forward" => Text::new("前向", "forward"),
        "backward" => Text::new("反向", "backward"),
        "recompute" => Text::new("重算", "recomputation"),
        "update" => Text::new("更新", "the update"),
        _ => Text::new("开始", "the start"),
    }
}

fn levels(is_cpu: bool, lang: Lang) -> String {
    let text = match lang {
        Lang::Zh => {
            "- E0：公式或不做计算的磁带走查。\n- E1：处理器上跑过的检查。\n- E2：在一块 GPU 上与配对的基线一起测过。\n- E3：重复测过，有区间，并有独立的计数器核对。"
        }
        Lang::En => {
            "- E0: a formula, or the tape walked without computing.\n- E1: a check that ran on a processor.\n- E2: measured on one GPU beside a matched baseline.\n- E3: repeated, with an interval and an independent counter."
        }
    };
    let stays = match (is_cpu, lang) {
        (false, _) => "",
        (true, Lang::Zh) => "\n\n这里的数都是处理器测的，最高 E1；换到有 GPU 的机器上也还是 E1。",
        (true, Lang::En) => {
            "\n\nAll numbers here are a processor's: E1 at the most, also where they are read on a machine with a GPU."
        }
    };
    format!("{text}{stays}")
}
