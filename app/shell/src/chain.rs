//! A project that the reader opened: what was compared, what was chosen and whose bytes were saved, in a few lines.

use vramlab_model::samples;
use vramlab_sniff::Fact;
use vramlab_train::project::{self, Entry, Outcome, Project};
use vramlab_units::{Lang, Localized, Text};

/// Candidates that are told; the report has all of them.
const MOST: usize = 8;

const DEVICE: Text = Text::new("设备", "device");
const DECISION: Text = Text::new("决定", "decision");
const DAMAGED: Text = Text::new("读不了", "cannot be read");
const REPORT: Text = Text::new("整份报告", "the whole report");

/// The project in words; of a damaged one, the place.
pub fn facts(bytes: &[u8]) -> Vec<Fact> {
    let project = match project::read(bytes) {
        Ok(project) => project,
        Err(error) => return vec![both(DAMAGED, error.to_string(), error.to_string())],
    };
    let mut out = Vec::new();
    if let Some(baseline) = &project.baseline {
        let name = &baseline.device.name;
        out.push(match baseline.device.is_cpu() {
            true => both(DEVICE, format!("{name}（处理器上的证据）"), format!("{name} (a processor's evidence)")),
            false => both(DEVICE, name.clone(), name.clone()),
        });
        let entries = std::iter::once(baseline).chain(&project.candidates).take(MOST);
        out.extend(entries.map(|entry| run(&project, baseline, entry)));
    }
    out.extend(decision(&project));
    let command = "vramlab project report FILE";
    out.push(both(REPORT, command.to_owned(), command.to_owned()));
    out
}

fn both(name: Text, zh: String, en: String) -> Fact {
    Fact { name, value: Localized { zh: Some(zh), en: Some(en) } }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1_048_576.0)
}

fn run(project: &Project, baseline: &Entry, entry: &Entry) -> Fact {
    const NAME: Text = Text::new("策略", "strategy");
    let id = entry.strategy.id();
    let judged = project::judge(project.gate, baseline, entry, |values| samples::interval(values).is_some());
    let say = |lang: Lang| match &entry.result {
        Outcome::Ran(run) => {
            let (peak, time) = (mib(run.used_bytes), project::time_ratio(run));
            let (why, level) = (judged.why.get(lang), judged.peak.id());
            match lang {
                Lang::Zh => format!("{id}：{peak}（{level}），一步 × {time:.2}，{why}"),
                Lang::En => format!("{id}: {peak} ({level}), a step × {time:.2}, {why}"),
            }
        }
        Outcome::OutOfMemory { needed_bytes, .. } => match lang {
            Lang::Zh => format!("{id}：放不下，要 {}", mib(*needed_bytes)),
            Lang::En => format!("{id}: out of memory, {} needed", mib(*needed_bytes)),
        },
    };
    both(NAME, say(Lang::Zh), say(Lang::En))
}

/// What was chosen, and whose bytes that saves.
fn decision(project: &Project) -> Option<Fact> {
    let decision = project.decision.as_ref()?;
    let budget = mib(decision.budget_bytes);
    let Some(chosen) = &decision.chosen else {
        let short = mib(decision.short_bytes.unwrap_or_default());
        return Some(both(
            DECISION,
            format!("{budget} 以内没有一个放得下，最小的还差 {short}"),
            format!("none fits {budget}; the smallest is {short} over"),
        ));
    };
    let entry = project.candidates.iter().find(|entry| entry.strategy.id() == *chosen);
    let saving =
        project.baseline.as_ref().zip(entry).and_then(|(base, entry)| project::saving(base, entry).first().copied());
    let Some(saving) = saving else {
        return Some(both(DECISION, format!("{budget} 以内：{chosen}"), format!("under {budget}: {chosen}")));
    };
    let saved = mib(u64::try_from(saving.saved()).unwrap_or_default());
    let owner = project::owner(saving.owner);
    Some(both(
        DECISION,
        format!("{budget} 以内：{chosen}；省得最多的是{}，{saved}", owner.get(Lang::Zh)),
        format!("under {budget}: {chosen}; most is saved of {}: {saved}", owner.get(Lang::En)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &[u8] = include_bytes!("../../../tests/data/train/project.json");

    fn words(bytes: &[u8], lang: Lang) -> String {
        facts(bytes).iter().map(|fact| fact.value.get(lang).to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// A project of the H200, as `vramlab project` wrote it there.
    #[test]
    fn a_project_tells_what_was_chosen_and_why() {
        let en = words(RECORDED, Lang::En);
        for part in [
            "NVIDIA H200",
            "keep: 944.9 MiB (E3)",
            "checkpoint: 464.8 MiB (E3)",
            "equal bit for bit",
            "checkpoint2: out of memory, 488.7 MiB needed",
            "under 500.0 MiB: checkpoint; most is saved of activations",
        ] {
            assert!(en.contains(part), "{part}: {en}");
        }
        assert!(words(RECORDED, Lang::Zh).contains("省得最多的是激活"));
    }

    #[test]
    fn a_damaged_project_names_the_place() {
        let half = &RECORDED[..RECORDED.len() / 2];
        let found = words(half, Lang::En);
        assert!(found.starts_with("line "), "{found}");
    }
}
