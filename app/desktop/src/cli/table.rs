//! `__table`: predicted, measured and error of every recorded trace and of every experiment of this processor. The test
//! command prints it last.

use super::Exit;
use super::drive::{Ask, Driver};
use super::layout::{plain, table};
use super::report::{Report, percent};
use super::say::Say;
use serde_json::{Value, json};
use vramlab_gpu::plan::split_reference;
use vramlab_gpu::verdict::{Counters, Verdict};
use vramlab_shell::Library;
use vramlab_trace::Backend;
use vramlab_units::show;

/// One end of an experiment's effect, or the ratio of both.
struct Row {
    experiment: String,
    device: String,
    evidence: &'static str,
    what: String,
    predicted: Option<f64>,
    measured: Option<f64>,
    error: Option<f64>,
    unit: String,
    verdict: String,
}

pub fn run(say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let mut driver = Driver::new(&library, say);
    let mut rows = Vec::new();
    let mut exit = Exit::Fine;
    for (id, experiment) in &library.kernels().experiments {
        let Some(known) = library.experiment(id) else { continue };
        for recorded in driver.recordings(id) {
            match recorded {
                Ok(recorded) => rows.extend(rows_of(&Report::recorded(&recorded, known))),
                Err(fault) => {
                    say.error(&fault.what, None);
                    exit = Exit::Findings;
                }
            }
        }
        if experiment.backend == Backend::Cpu {
            match driver.live(&Ask::quick(id), Backend::Cpu) {
                Ok(run) => rows.extend(rows_of(&Report::live(&run, known))),
                Err(fault) => {
                    say.error(&format!("{id}: {}", fault.what), fault.help.as_deref());
                    exit = fault.exit;
                }
            }
        }
    }
    if say.is_json {
        say.json(&json!({ "schema": 1, "rows": rows.iter().map(row_json).collect::<Vec<_>>() }))
    } else {
        say.data(&text(&rows))
    }
    Ok(exit)
}

fn rows_of(report: &Report<'_>) -> Vec<Row> {
    let effect = &report.experiment.effect;
    let end = |reference: &str| {
        let (series, x) = split_reference(reference)?;
        report.judged.points.iter().find(|point| point.series == series && point.x == Some(x))
    };
    let row = |what: &str, predicted, measured, error, unit: &str, verdict: String| Row {
        experiment: report.experiment.id.clone(),
        device: short(&report.run.device.name),
        evidence: if report.is_recorded() { "recorded" } else { "live" },
        what: what.to_owned(),
        predicted,
        measured,
        error,
        unit: if unit == "1" { String::new() } else { unit.to_owned() },
        verdict,
    };
    let mut out = Vec::new();
    for reference in [&effect.larger, &effect.smaller] {
        let point = end(reference);
        out.push(row(
            reference,
            point.and_then(|point| point.predicted),
            point.and_then(|point| point.value),
            point.and_then(|point| point.rel_error),
            &report.experiment.measure.unit,
            String::new(),
        ));
    }
    let (ratio, expected) = match &report.judged.verdict {
        Verdict::Shown { ratio, expected, .. } | Verdict::Hidden { ratio, expected, .. } => (Some(*ratio), *expected),
        Verdict::Invalid { .. } | Verdict::Incomplete => (None, None),
    };
    let error = ratio.zip(expected.filter(|expected| *expected != 0.0)).map(|(ratio, expected)| ratio / expected - 1.0);
    let counters = match report.judged.counters {
        Counters::NotRead => String::new(),
        Counters::Agree { n_checked } => format!(", {n_checked} counters agree"),
        Counters::Differ { n_wrong, n_checked } => format!(", {n_wrong}/{n_checked} counters differ"),
    };
    let verdict = format!("{}{counters}", report.judged.verdict.id());
    out.push(row("ratio", expected, ratio, error, "×", verdict));
    out
}

/// The end of a device's name: `NVIDIA H200` is `H200`, a processor's marketing words go.
fn short(name: &str) -> String {
    let kept: Vec<&str> = name
        .split_whitespace()
        .filter(|word| !matches!(*word, "NVIDIA" | "AMD" | "Intel(R)" | "CPU" | "Processor"))
        .collect();
    kept.join(" ").chars().take(18).collect::<String>().trim_end().to_owned()
}

fn text(rows: &[Row]) -> String {
    let number = |value: Option<f64>| plain(&value.map_or("–".to_owned(), show::number));
    let cells = |row: &Row| {
        vec![
            row.experiment.clone(),
            row.device.clone(),
            row.evidence.to_owned(),
            row.what.clone(),
            number(row.predicted),
            number(row.measured),
            row.unit.clone(),
            row.error.map_or("–".to_owned(), percent),
            row.verdict.clone(),
        ]
    };
    let header = ["experiment", "device", "evidence", "point", "predicted", "measured", "unit", "error", "verdict"];
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table(&header, &rows, &[4, 5, 7])
}

fn row_json(row: &Row) -> Value {
    json!({
        "experiment": row.experiment,
        "device": row.device,
        "evidence": row.evidence,
        "point": row.what,
        "predicted": row.predicted,
        "measured": row.measured,
        "rel_error": row.error,
        "unit": row.unit,
        "verdict": row.verdict,
    })
}
