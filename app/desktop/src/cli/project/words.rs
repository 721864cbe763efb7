//! What `project` prints.

use super::interval;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use vramlab_train::project::{self, Entry, Outcome, Project, size};
use vramlab_train::strategy::STRATEGIES;
use vramlab_train::{Strategy, forecast};
use vramlab_units::{Lang, Text};

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
        say.data(&format!("  {:26} {:>14}  flop × {:.2}", named.id, size(found.peak.total()), found.flop_ratio));
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
            let limit = limit_bytes.map_or_else(|| "?".to_owned(), size);
            let what = Text::new("放不下：", "out of memory:");
            let label = project::label(label, say.lang);
            format!("  {strategy:26} {} {label} {} > {limit}", say.text(what), size(*needed_bytes))
        }
        Outcome::Ran(run) => {
            let off = run.used_bytes as f64 / run.predicted_bytes.max(1) as f64 * 100.0 - 100.0;
            let mark = if judged.is_accepted { "✓" } else { "✗" };
            format!(
                "  {strategy:26} {:>14} {} ({off:+.2} %)  × {:.2} {}  {mark} {} {}",
                size(run.used_bytes),
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
    let budget = size(decision.budget_bytes);
    let chosen = decision.chosen.as_deref().map(|id| format!("{id}  {}", ratio(project, id, say)));
    let text = match (&chosen, say.lang) {
        (Some(id), Lang::Zh) => format!("预算 {budget}：选 {id}"),
        (Some(id), Lang::En) => format!("Under {budget}: {id}"),
        (None, Lang::Zh) => {
            format!("预算 {budget}：没有一个放得下，最小的还差 {}", size(decision.short_bytes.unwrap_or_default()))
        }
        (None, Lang::En) => {
            format!(
                "Under {budget}: none fits; the smallest is {} over",
                size(decision.short_bytes.unwrap_or_default())
            )
        }
    };
    say.data(&text);
    let pareto = Text::new("时间和峰值都不被压过：", "Beaten by no other in both: ");
    say.data(&format!("{}{}", say.text(pareto), decision.pareto.join(", ")));
    for rejected in &decision.rejected {
        let why = project::why(&rejected.why).get(say.lang);
        // Where time decided, both intervals are there to be compared.
        let ratio = match rejected.why.as_str() {
            "slower" | "larger" => ratio(project, &rejected.strategy, say),
            _ => String::new(),
        };
        say.data(format!("  {:26} {why}  {ratio}", rejected.strategy).trim_end());
    }
}

/// `× 1.19 (1.17–1.24)`: a step over the baseline's beside it, with the interval where there are samples enough.
fn ratio(project: &Project, id: &str, say: &Say) -> String {
    let entries = project.baseline.iter().chain(&project.candidates);
    let Some(run) = entries.filter(|entry| entry.strategy.id() == id).find_map(Entry::ran) else {
        return String::new();
    };
    let found = project::time_ratio(run);
    match (interval(&project::ratios(run)), say.lang) {
        (Some([low, _, high]), Lang::Zh) => format!("× {found:.2}（{low:.2}–{high:.2}）"),
        (Some([low, _, high]), Lang::En) => format!("× {found:.2} ({low:.2}–{high:.2})"),
        (None, _) => format!("× {found:.2}"),
    }
}

pub fn explain(project: &Project, wanted: Option<Strategy>, say: &Say) -> Result<(), Fault> {
    let nothing = || {
        let what = Text::new("还没有什么可解释的", "there is nothing to explain yet");
        let help = Text::new(
            "先 `vramlab project compare FILE checkpoint`",
            "`vramlab project compare FILE checkpoint` first",
        );
        Fault::usage(say.text(what)).help(say.text(help))
    };
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
