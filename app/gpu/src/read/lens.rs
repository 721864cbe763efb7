//! `[[lens]]` and `[no_lens]` of an experiment.

use super::experiment::read_measure;
use super::names::Names;
use super::tree::{Table, hint};
use crate::lens::{Lens, LensKind, NoLens};
use vramlab_units::Localized;

/// Names of the measured point, of what a point is known by, and of the answer that every series' model gives.
pub struct LensNames<'a> {
    pub names: &'a Names,
    pub measured: &'a Names,
    pub answer: Vec<String>,
}

/// The lens that a table names under `key`.
pub fn kind(item: &Table<'_, '_>, key: &'static str) -> Option<LensKind> {
    let word = item.opt_text(key)?;
    let found = LensKind::from_id(&word);
    if found.is_none() {
        let known = LensKind::ALL.map(LensKind::id);
        item.doc.problem("unknown-id", item.span_of(key), format!("there is no lens \"{word}\""), hint(&word, known));
    }
    found
}

/// Every observable, and the reasons of the absent lenses. `own` is the lens of the measure.
pub fn read(table: &Table<'_, '_>, cx: &LensNames<'_>, own: LensKind) -> (Vec<Lens>, Vec<NoLens>) {
    let mut lenses: Vec<Lens> = Vec::new();
    let mut is_clear = true;
    for item in table.tables("lens") {
        item.need("of");
        let of = kind(&item, "of");
        let id = item.text("id");
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if id.is_empty() || !id.chars().all(is_plain) || lenses.iter().any(|known| known.id == id) {
            let what = format!("\"{id}\" is not a new lens id; use small letters, digits and _");
            item.doc.problem("bad-name", item.span_of("id"), what, None);
        }
        let expected =
            cx.names.clone().with(cx.answer.iter().map(|field| format!("model.{field}"))).with(["predicted"]);
        let predict = item.opt_formula("predict", &expected);
        let assumes = if item.get("assumes").is_some() { item.localized("assumes") } else { Localized::default() };
        let shows = read_measure(&item, cx.names, cx.measured);
        item.finish();
        match of {
            Some(of) => lenses.push(Lens { of, id, shows, predict, assumes }),
            None => is_clear = false,
        }
    }
    let absent = no_lens(table, &lenses, own);
    // A lens of an unknown kind may be meant for any of them.
    if is_clear {
        check_cover(table, &lenses, &absent, own);
    }
    (lenses, absent)
}

fn no_lens(table: &Table<'_, '_>, lenses: &[Lens], own: LensKind) -> Vec<NoLens> {
    let Some(item) = table.opt_table("no_lens") else { return Vec::new() };
    let mut out = Vec::new();
    for of in LensKind::ALL {
        if item.get(of.id()).is_none() {
            continue;
        }
        if of == own || lenses.iter().any(|lens| lens.of == of) {
            let what = format!("the lens \"{}\" is there, so it needs no reason to be absent", of.id());
            item.doc.problem("bad-name", item.span_of(of.id()), what, None);
        }
        out.push(NoLens { of, why: item.localized(of.id()) });
    }
    item.finish();
    out
}

/// Whoever declares a lens says of every other one what it shows or why it is absent.
fn check_cover(table: &Table<'_, '_>, lenses: &[Lens], absent: &[NoLens], own: LensKind) {
    if lenses.is_empty() && absent.is_empty() {
        return;
    }
    let is_covered = |of: LensKind| {
        of == own || lenses.iter().any(|lens| lens.of == of) || absent.iter().any(|absent| absent.of == of)
    };
    let open: Vec<&str> = LensKind::ALL.into_iter().filter(|of| !is_covered(*of)).map(LensKind::id).collect();
    if !open.is_empty() {
        let key = if lenses.is_empty() { "no_lens" } else { "lens" };
        let what = format!("nothing is said of the lenses {}", open.join(", "));
        let help = "add [[lens]] for it, or a reason in [no_lens]".to_owned();
        table.doc.problem("missing-field", table.span_of(key), what, Some(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::lens::{LensKind, View};
    use crate::manifest::Experiment;
    use crate::read::{ManifestProblem, read_experiment};
    use crate::testing::{EXPERIMENT, kernel};

    const LENSES: &str = r#"
[[lens]]
of = "memory"
id = "dram"
title = { zh = "搬运", en = "moved" }
value = "work.bytes_moved / time_ns"
unit = "GB/s"
at_most = "device.peak_gb_per_s"
predict = "predicted / model.efficiency"

[[lens]]
of = "kernel"
id = "sectors"
title = { zh = "扇区", en = "sectors" }
value = "counter.l1tex__t_sectors_pipe_lsu_mem_global_op_ld_sum / (blocks * 8 * loads)"
unit = "1"

[no_lens]
inference = { zh = "没有权重", en = "there are no weights" }
training = { zh = "没有训练", en = "nothing is trained" }
"#;

    fn read(lenses: &str) -> (Option<Experiment>, Vec<ManifestProblem>) {
        let text = format!("{EXPERIMENT}{lenses}");
        read_experiment("read/stride.experiment.toml", "read/stride", &text, &kernel())
    }

    /// One problem, under the word.
    #[track_caller]
    fn one(lenses: &str, rule: &str, says: &str) {
        let problems = read(lenses).1;
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].rule == rule && problems[0].what.contains(says), "{problems:#?}");
    }

    #[test]
    fn every_lens_shows_something_or_says_why_not() {
        let (experiment, problems) = read(LENSES);
        assert!(problems.is_empty(), "{problems:#?}");
        let experiment = experiment.unwrap();
        let names = |kind| -> Vec<&str> {
            let name = |view| match view {
                View::Measure => "measure",
                View::Lens(lens) => lens.id.as_str(),
            };
            experiment.views(kind).into_iter().map(name).collect()
        };
        assert_eq!(names(LensKind::Kernel), ["measure", "sectors"]);
        assert_eq!(names(LensKind::Memory), ["dram"]);
        assert_eq!(names(LensKind::Training), [""; 0]);
        assert_eq!(experiment.why_no_lens(LensKind::Inference).unwrap().en.as_deref(), Some("there are no weights"));
        assert_eq!(experiment.why_no_lens(LensKind::Memory), None);
    }

    #[test]
    fn mistakes_in_a_lens_are_found() {
        one(&LENSES.replace("of = \"memory\"", "of = \"memmory\""), "unknown-id", "memmory");
        one(&LENSES.replace("training = {", "# = {"), "missing-field", "training");
        one(&LENSES.replace("id = \"sectors\"", "id = \"dram\""), "bad-name", "dram");
        one(&LENSES.replace("model.efficiency", "model.efficency"), "unknown-name", "model.efficency");
        // A prediction knows no measured time.
        one(&LENSES.replace("\"predicted / model.efficiency\"", "\"predicted / time_ns\""), "unknown-name", "time_ns");
        one(&LENSES.replace("unit = \"1\"", "unit = \" \""), "missing-unit", "unit");
        let twice = LENSES.replace("[no_lens]", "[no_lens]\nmemory = { zh = \"无\", en = \"none\" }");
        one(&twice, "bad-name", "memory");
    }

    #[test]
    fn without_a_lens_nothing_is_asked_for() {
        assert!(read("").1.is_empty());
        let own = EXPERIMENT.replace("[measure]", "[measure]\nlens = \"memory\"");
        let (experiment, problems) = read_experiment("e", "read/stride", &own, &kernel());
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(experiment.unwrap().measure.lens, LensKind::Memory);
    }
}
