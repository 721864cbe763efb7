//! Every run that was kept: hypothesis, configuration, samples, verdict; and its three exports.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use vramlab_trace::Run;

pub const SCHEMA: u32 = 1;

/// One kept run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts up over the life of the notebook; order never depends on the clock.
    pub n: u64,
    pub hypothesis: String,
    /// Counts the edits of the hypothesis.
    #[serde(default)]
    pub edit: u64,
    pub run: Run,
    /// The verdict in words at the time, for exports; the page judges anew.
    pub verdict: String,
    /// Predicted, measured and unit of each point, for exports.
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub series: String,
    pub x: Option<f64>,
    pub predicted: Option<f64>,
    pub measured: Option<f64>,
    pub unit: String,
    pub invalid: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notebook {
    pub schema: u32,
    pub next_n: u64,
    pub entries: Vec<Entry>,
}

impl Notebook {
    pub fn from_json(text: &str) -> Result<Self, String> {
        let this: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if this.schema > SCHEMA {
            return Err(format!("written by a newer version (schema {}, this program reads {SCHEMA})", this.schema));
        }
        Ok(this)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a notebook is plain data")
    }

    /// Every run of both, the older ones first. Of one run in both, the later edit counts.
    pub fn merge(theirs: Self, mine: Self) -> Self {
        let mut out = Self { schema: SCHEMA, next_n: theirs.next_n.max(mine.next_n), entries: theirs.entries };
        for entry in mine.entries {
            match out.entries.iter_mut().find(|known| known.run == entry.run) {
                Some(known) if entry.edit >= known.edit => *known = entry,
                Some(_) => {}
                None => out.entries.push(entry),
            }
        }
        // Two windows may have given the same number to different runs.
        out.entries.sort_by_key(|entry| entry.n);
        for idx in 1..out.entries.len() {
            let least = out.entries[idx - 1].n + 1;
            out.entries[idx].n = out.entries[idx].n.max(least);
        }
        out.next_n = out.next_n.max(out.entries.last().map_or(0, |entry| entry.n));
        out
    }

    /// The reader wrote or changed a hypothesis.
    pub fn set_hypothesis(&mut self, idx: usize, text: String) {
        if let Some(entry) = self.entries.get_mut(idx) {
            entry.hypothesis = text;
            entry.edit += 1;
        }
    }

    pub fn push(&mut self, mut entry: Entry) -> u64 {
        self.schema = SCHEMA;
        self.next_n += 1;
        entry.n = self.next_n;
        self.entries.push(entry);
        self.next_n
    }

    /// One line a point, unrounded, units in the header; every sample in the JSON export.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "run,experiment,backend,device,driver,date,mode,series,x,predicted,measured,unit,relative_error,n_samples,median_ns,mad_ns,invalid\n",
        );
        for entry in &self.entries {
            for (row, point) in entry.rows.iter().zip(&entry.run.points) {
                let error = match (row.predicted, row.measured) {
                    (Some(predicted), Some(measured)) if predicted != 0.0 => {
                        ((measured - predicted) / predicted).to_string()
                    }
                    _ => String::new(),
                };
                let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
                let cells = [
                    entry.n.to_string(),
                    entry.run.experiment.clone(),
                    entry.run.backend.id().to_owned(),
                    entry.run.device.name.clone(),
                    entry.run.device.driver.clone(),
                    entry.run.date.clone(),
                    entry.run.mode.clone(),
                    row.series.clone(),
                    number(row.x),
                    number(row.predicted),
                    number(row.measured),
                    row.unit.clone(),
                    error,
                    point.samples_ns.len().to_string(),
                    number(point.median_ns()),
                    number(point.mad_ns()),
                    row.invalid.clone().unwrap_or_default(),
                ];
                let line: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
                let _ = writeln!(out, "{}", line.join(","));
            }
        }
        out
    }

    pub fn to_markdown(&self) -> String {
        let mut out = String::from("# VRAM Lab notebook\n");
        for entry in &self.entries {
            let run = &entry.run;
            let _ = writeln!(out, "\n## {} · {}\n", entry.n, run.experiment);
            let _ = writeln!(out, "- device: {} · {} · {}", run.device.name, run.device.driver, run.date);
            let _ =
                writeln!(out, "- back end: {} · mode: {} · counters: {}", run.backend.id(), run.mode, run.counter_rung);
            if !entry.hypothesis.is_empty() {
                let _ = writeln!(out, "- hypothesis: {}", entry.hypothesis.replace('\n', " "));
            }
            let _ = writeln!(out, "- verdict: {}\n", entry.verdict);
            let _ = writeln!(
                out,
                "| series | x | predicted | measured | unit | error |\n| --- | --- | --- | --- | --- | --- |"
            );
            for row in &entry.rows {
                let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), vramlab_units::show::number);
                let error = match (row.predicted, row.measured) {
                    (Some(predicted), Some(measured)) if predicted != 0.0 => {
                        format!("{:+.1} %", (measured - predicted) / predicted * 100.0)
                    }
                    _ => "–".to_owned(),
                };
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} | {error} |",
                    row.series,
                    number(row.x),
                    number(row.predicted),
                    number(row.measured),
                    row.unit
                );
            }
        }
        out
    }
}

/// Quotes a cell where needed, and disarms what a spreadsheet would take for a formula.
fn csv_cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let text = if !is_number && text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_trace::{Backend, DeviceFacts};

    fn entry(n: u64, date: &str) -> Entry {
        let run = Run {
            experiment: "a/b".into(),
            backend: Backend::Cpu,
            date: date.into(),
            device: DeviceFacts::default(),
            content_hash: String::new(),
            program: String::new(),
            mode: "quick".into(),
            settings: vramlab_units::Map::new(),
            counter_rung: "none".into(),
            points: Vec::new(),
        };
        Entry { n, hypothesis: String::new(), edit: 0, run, verdict: String::new(), rows: Vec::new() }
    }

    #[test]
    fn two_windows_keep_every_run_and_the_later_words() {
        let base = Notebook { schema: 1, next_n: 1, entries: vec![entry(1, "2026-11-01")] };
        let (mut left, mut right) = (base.clone(), base);
        left.push(entry(0, "2026-11-02"));
        right.push(entry(0, "2026-11-03"));
        right.set_hypothesis(0, "half".into());
        let merged = Notebook::merge(left, right);
        let dates: Vec<&str> = merged.entries.iter().map(|entry| entry.run.date.as_str()).collect();
        assert_eq!(dates, ["2026-11-01", "2026-11-02", "2026-11-03"]);
        assert_eq!(merged.entries[0].hypothesis, "half");
        let numbers: Vec<u64> = merged.entries.iter().map(|entry| entry.n).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }

    #[test]
    fn a_cell_that_a_spreadsheet_would_run_is_disarmed() {
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("-1.5"), "-1.5");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_notebook_of_a_newer_version_is_not_read() {
        assert!(Notebook::from_json(r#"{"schema": 9, "entries": []}"#).is_err());
    }
}
