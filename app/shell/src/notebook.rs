//! Every run that was kept: hypothesis, configuration, samples, verdict. What is made of them on paper is `report/`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
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
    /// The hypothesis for the next run, written before it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub draft: String,
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
        let mut out =
            Self { schema: SCHEMA, next_n: theirs.next_n.max(mine.next_n), entries: theirs.entries, draft: mine.draft };
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
        if entry.hypothesis.is_empty() {
            entry.hypothesis = std::mem::take(&mut self.draft);
        }
        self.entries.push(entry);
        self.next_n
    }
}

/// Runs that come back from an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    pub notebook: Notebook,
    /// For a report of two runs, baseline first: the lens through which it was made (empty: the measure).
    pub report_lens: Option<String>,
}

/// A notebook or a report of two runs, as this program exports them; nothing for other JSON.
pub fn imported(bytes: &[u8]) -> Option<Result<Imported, String>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    if value.get("vramlab_report").is_some() {
        return Some(of_report(&value));
    }
    let is_notebook = value.get("entries").is_some_and(Value::is_array) && value.get("next_n").is_some();
    let read = || {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Ok(Imported { notebook: Notebook::from_json(text)?, report_lens: None })
    };
    is_notebook.then(read)
}

/// True for what [`imported`] reads.
pub fn is_notebook(bytes: &[u8]) -> bool {
    imported(bytes).is_some()
}

fn of_report(value: &Value) -> Result<Imported, String> {
    let version = value.get("vramlab_report").and_then(Value::as_u64).unwrap_or_default();
    if version > u64::from(SCHEMA) {
        return Err(format!("written by a newer version (report {version}, this program reads {SCHEMA})"));
    }
    let mut notebook = Notebook { schema: SCHEMA, ..Notebook::default() };
    for side in ["baseline", "candidate"] {
        let entry = value.get(side).cloned().unwrap_or_default();
        let entry: Entry = serde_json::from_value(entry).map_err(|error| format!("{side}: {error}"))?;
        notebook.next_n = notebook.next_n.max(entry.n);
        notebook.entries.push(entry);
    }
    let lens = value.get("lens").and_then(Value::as_str).unwrap_or_default();
    Ok(Imported { notebook, report_lens: Some(lens.to_owned()) })
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
        let base = Notebook { schema: 1, next_n: 1, entries: vec![entry(1, "2026-11-01")], draft: String::new() };
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
    fn a_hypothesis_written_before_a_run_goes_with_it() {
        let mut notebook = Notebook { draft: "half as fast".into(), ..Notebook::default() };
        notebook.push(entry(0, "2026-11-01"));
        notebook.push(entry(0, "2026-11-02"));
        let words: Vec<&str> = notebook.entries.iter().map(|entry| entry.hypothesis.as_str()).collect();
        assert_eq!(words, ["half as fast", ""]);
        assert_eq!(notebook.draft, "");
    }

    #[test]
    fn a_notebook_of_a_newer_version_is_not_read() {
        assert!(Notebook::from_json(r#"{"schema": 9, "entries": []}"#).is_err());
    }
}
