//! What `project` prints.

use super::interval;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use vramlab_train::project::{self, Entry, Outcome, Project};
use vramlab_train::strategy::STRATEGIES;
use vramlab_train::{Strategy, forecast};
use vramlab_units::{Lang, Text};

fn mib(bytes: u64) -> String {
    format!("{:.2} MiB", bytes as f64 / 1_048_576.0)
}

/// What the tape predicts for the strategies of the course, before anything runs.
pub fn predictions(project: &Project, say: &Say) -> Result<(), Fault> {
    if say.is_json {
        say.json(&serde_json::to_value(project).unwrap_or_default());
        return Ok(());
    }
    say.data(
        say.text(Text::new("预测（E0，磁带走查，什么也没跑）：", "Predicted (E0, the tape walked, nothing ran):")),
    );
    for named in STRATEGIES.iter().filter(|named| !named.strategy.is_undivided) {
        if named.strategy.check(project.work.batch).is_err() {
            continue;
        }
        let found = forecast(&project.work, named.strategy).map_err(|trouble| Fault::usage(trouble.to_string()))?;
        say.data(&format!("  {:26} {:>14}  flop × {:.2}", named.id, mib(found.peak.total()), found.flop_ratio));
    }
    Ok(())
}

pub fn table(project: &Project, say: &Say) {
    if say.is_json {
        say.json(&serde_json::to_value(project).unwrap_or_default());
        return;
    }
    let Some(baseline) = &project.baseline else { return };
    let device = &baseline.device;
    let note = Text::new("（处理器上的证据）", " (a processor's evidence)");
    let note = if device.is_cpu() { say.text(note) } else { "" };
    say.data(&format!("{}{note}", device.name));
    for entry in std::iter::once(baseline).chain(&project.candidates) {
        say.data(&line(project, baseline, entry, say));
    }
}

fn line(project: &Project, baseline: &Entry, entry: &Entry, say: &Say) -> String {
    let strategy = entry.strategy.id();
    let judged = project::judge(project.gate, baseline, entry, |samples| interval(samples).is_some());
    match &entry.result {
        Outcome::OutOfMemory { needed_bytes, limit_bytes, label } => {
            let limit = limit_bytes.map_or_else(|| "?".to_owned(), mib);
            let what = Text::new("放不下：", "out of memory:");
            let label = project::label(label, say.lang);
            format!("  {strategy:26} {} {label} {} > {limit}", say.text(what), mib(*needed_bytes))
        }
        Outcome::Ran(run) => {
            let off = run.used_bytes as f64 / run.predicted_bytes.max(1) as f64 * 100.0 - 100.0;
            let mark = if judged.is_accepted { "✓" } else { "✗" };
            format!(
                "  {strategy:26} {:>14} {} ({off:+.2} %)  × {:.2} {}  {mark} {} {}",
                mib(run.used_bytes),
                judged.peak.id(),
                project::time_ratio(run),
                judged.time.id(),
                judged.why.get(say.lang),
                judged.gradient.id()
            )
        }
    }
}

pub fn decision(project: &Project, say: &Say) {
    let Some(decision) = &project.decision else { return };
    if say.is_json {
        say.json(&serde_json::to_value(decision).unwrap_or_default());
        return;
    }
    let budget = mib(decision.budget_bytes);
    let text = match (&decision.chosen, say.lang) {
        (Some(id), Lang::Zh) => format!("预算 {budget}：选 {id}"),
        (Some(id), Lang::En) => format!("Under {budget}: {id}"),
        (None, Lang::Zh) => {
            format!("预算 {budget}：没有一个放得下，最小的还差 {}", mib(decision.short_bytes.unwrap_or_default()))
        }
        (None, Lang::En) => {
            format!("Under {budget}: none fits; the smallest is {} over", mib(decision.short_bytes.unwrap_or_default()))
        }
    };
    say.data(&text);
    let pareto = Text::new("时间和峰值都不被压过：", "Beaten by no other in both: ");
    say.data(&format!("{}{}", say.text(pareto), decision.pareto.join(", ")));
    for rejected in &decision.rejected {
        say.data(&format!("  {:26} {}", rejected.strategy, project::why(&rejected.why).get(say.lang)));
    }
}

pub fn explain(project: &Project, wanted: Option<Strategy>, say: &Say) -> Result<(), Fault> {
    let nothing =
        || Fault::usage("there is nothing to explain yet").help("`vramlab project compare FILE checkpoint` first");
    let baseline = project.baseline.as_ref().ok_or_else(nothing)?;
    let is_wanted = |entry: &&Entry| wanted.is_none_or(|strategy| entry.strategy == strategy);
    let found: Vec<&Entry> = project.candidates.iter().filter(is_wanted).collect();
    if found.is_empty() {
        return Err(nothing());
    }
    if say.is_json {
        let each = |entry: &&Entry| {
            let owners: Vec<_> = project::saving(baseline, entry)
                .into_iter()
                .map(|saving| {
                    serde_json::json!({"owner": saving.owner.id(), "baseline_bytes": saving.baseline_bytes,
                        "candidate_bytes": saving.candidate_bytes})
                })
                .collect();
            serde_json::json!({"strategy": entry.strategy.id(), "owners": owners})
        };
        say.json(&serde_json::json!({"schema": 1, "strategies": found.iter().map(each).collect::<Vec<_>>()}));
        return Ok(());
    }
    for entry in found {
        say.data(project::explained(baseline, entry, say.lang).trim_end());
    }
    Ok(())
}

/// One language, or both if none was chosen.
pub fn markdown(project: &Project, lang: Option<Lang>) -> String {
    match lang {
        Some(lang) => project::report(project, lang, &interval),
        None => {
            let [zh, en] = [Lang::Zh, Lang::En].map(|lang| project::report(project, lang, &interval));
            format!("{zh}\n---\n\n{en}")
        }
    }
}
