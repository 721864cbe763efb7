//! `doctor`: what works on this machine, what doesn't, why, and what to do. Under a second, and it changes nothing.
//!
//! `gpu.rs` asks about NVIDIA's parts, `machine.rs` about everything else. The CUDA driver itself is only touched by
//! the runner's child, which gets a bounded time to answer.

mod gpu;
mod machine;

use super::layout::{COLUMNS, labelled, plain, table, wrap};
use super::say::{Ink, Say};
use super::{Common, Exit};
use serde_json::{Value, json};
use vramlab_units::{Lang, Localized, Text};

pub const SCHEMA: u32 = 1;

/// How a part of the machine stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Works,
    /// Works, with a limit worth knowing.
    Limited,
    Missing,
}

impl State {
    fn id(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub id: &'static str,
    pub title: Text,
    pub state: State,
    /// What was found, or why it does not work.
    pub what: Localized,
    /// What to do, if anything needs doing.
    pub fix: Option<Localized>,
}

impl Line {
    pub fn new(id: &'static str, title: Text, state: State, zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { id, title, state, what: Localized::both(zh, en), fix: None }
    }

    #[must_use]
    pub fn fix(mut self, zh: impl Into<String>, en: impl Into<String>) -> Self {
        self.fix = Some(Localized::both(zh, en));
        self
    }
}

/// One row of the table of versions.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub part: Text,
    pub found: Option<String>,
    pub needed: Localized,
    /// What this version allows.
    pub allows: Localized,
}

const LINES: Text = Text::new("这台机器", "This machine");
const VERSIONS: Text = Text::new("版本配合", "Versions and what they allow together");
const HEADER: [Text; 4] =
    [Text::new("部件", "part"), Text::new("找到", "found"), Text::new("需要", "needed"), Text::new("结果", "allows")];

/// Everything that `doctor` says.
pub struct Report {
    pub lines: Vec<Line>,
    pub versions: Vec<Version>,
}

pub fn examine(common: &Common) -> Report {
    // The child opens the device while the rest is looked at.
    let probe = gpu::Probe::start();
    let mut lines = machine::hardware();
    let (gpu, versions) = gpu::lines(probe);
    lines.extend(gpu);
    lines.extend(machine::program(common));
    Report { lines, versions }
}

pub fn run(common: &Common, say: &Say) -> anyhow::Result<Exit> {
    let report = examine(common);
    if say.is_json {
        say.json(&json(&report))
    } else {
        say.data(&text(&report, say))
    }
    Ok(Exit::Fine)
}

pub fn json(report: &Report) -> Value {
    let line = |line: &Line| json!({ "id": line.id, "state": line.state.id(), "what": line.what, "fix": line.fix });
    let version = |version: &Version| json!({ "part": version.part.en, "found": version.found, "needed": version.needed, "allows": version.allows });
    json!({
        "schema": SCHEMA,
        "program": format!("vramlab {}", env!("CARGO_PKG_VERSION")),
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "lines": report.lines.iter().map(line).collect::<Vec<_>>(),
        "versions": report.versions.iter().map(version).collect::<Vec<_>>(),
    })
}

fn text(report: &Report, say: &Say) -> String {
    let lang = say.lang;
    let system = format!("vramlab {} · {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let mut out = vec![system, String::new(), say.ink(Ink::Strong, say.text(LINES))];
    out.extend(report.lines.iter().map(|line| line_text(line, say)));
    out.extend([String::new(), say.ink(Ink::Strong, say.text(VERSIONS))]);
    let header: Vec<&str> = HEADER.iter().map(|text| text.get(lang)).collect();
    let row = |version: &Version| {
        vec![
            say.text(version.part).to_owned(),
            version.found.clone().unwrap_or_else(|| "–".to_owned()),
            version.needed.get(lang).to_owned(),
            version.allows.get(lang).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = report.versions.iter().map(row).collect();
    out.extend(table(&header, &rows, &[]).lines().map(|line| format!("  {line}")));
    out.join("\n")
}

/// A line and, below it, what to do.
pub fn line_text(line: &Line, say: &Say) -> String {
    let (mark, ink) = match line.state {
        State::Works => ("✓", Ink::Good),
        State::Limited => ("!", Ink::Caution),
        State::Missing => ("✗", Ink::Bad),
    };
    let columns = if say.lang == Lang::Zh { 12 } else { 14 };
    let body = labelled(4, say.text(line.title), columns, line.what.get(say.lang));
    let mut out = format!("  {} {body}", say.ink(ink, mark));
    if let Some(fix) = &line.fix {
        let indent = " ".repeat(columns + 6);
        let text = plain(&wrap(fix.get(say.lang), COLUMNS, &indent));
        out.push_str(&format!("\n{}→ {}", " ".repeat(columns + 4), text.trim_start()));
    }
    out
}
