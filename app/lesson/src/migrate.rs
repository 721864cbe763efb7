//! Older chapters to the version of today, one version at a time, keeping comments and layout: each step is a function
//! from text to text that only touches the lines it must.
//!
//! Version 0 is the format that the first drafts of the course used. It differs from 1 in this: a figure was
//! `kind = "figure"` with `visual = "…"` (now `kind = "visualizer"`, `show`), and a right option was `correct = true` (now
//! `right`).

use crate::chapter::SCHEMA;

/// A chapter that cannot be migrated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrateError {
    #[error("the file is not UTF-8 text")]
    NotText,
    #[error("the file has no line `schema = N` above its first step")]
    NoVersion,
    #[error("the chapter needs version {0} of the format; this program writes version {SCHEMA}")]
    Newer(u32),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    pub from: u32,
    /// The text of today's version; the same text if it was that already.
    pub text: String,
    /// What was changed, line by line, for the terminal.
    pub changes: Vec<String>,
}

type Step = fn(&mut Lines);

/// Index `n` makes version `n + 1` of version `n`.
const STEPS: &[Step] = &[from_0];

/// Brings a chapter file to [`SCHEMA`].
pub fn migrate(bytes: &[u8]) -> Result<Migrated, MigrateError> {
    let text = std::str::from_utf8(bytes).map_err(|_| MigrateError::NotText)?;
    let mut lines = Lines::new(text);
    let from = lines.version().ok_or(MigrateError::NoVersion)?;
    if from > SCHEMA {
        return Err(MigrateError::Newer(from));
    }
    for step in &STEPS[(from as usize).min(STEPS.len())..] {
        step(&mut lines);
    }
    if from < SCHEMA {
        lines.set_version(SCHEMA);
    }
    Ok(Migrated { from, text: lines.text.concat(), changes: lines.changes })
}

fn from_0(lines: &mut Lines) {
    lines.edit("kind", |value| (value == "\"figure\"").then(|| ("kind", "\"visualizer\"".to_owned())));
    lines.edit("visual", |value| Some(("show", value.to_owned())));
    lines.edit("correct", |value| Some(("right", value.to_owned())));
}

/// The file as lines with their line ends, and which of them are fields rather than text between `"""`.
struct Lines {
    text: Vec<String>,
    is_field: Vec<bool>,
    changes: Vec<String>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let mut this = Self { text: Vec::new(), is_field: Vec::new(), changes: Vec::new() };
        let mut open: Option<&str> = None;
        for line in text.split_inclusive('\n') {
            this.text.push(line.to_owned());
            this.is_field.push(open.is_none());
            open = quote_after(line, open);
        }
        this
    }

    /// Edits `key = value` lines: `to` gives the new key and value. Trailing comments and spaces stay.
    fn edit(&mut self, key: &str, to: impl Fn(&str) -> Option<(&'static str, String)>) {
        for idx in 0..self.text.len() {
            let line = &self.text[idx];
            let Some((start, value)) = field(line, key).filter(|_| self.is_field[idx]) else { continue };
            if let Some((new_key, new_value)) = to(&line[value.clone()]) {
                let end = &line[value.end..];
                let between = &line[start + key.len()..value.start];
                let new = format!("{}{new_key}{between}{new_value}{end}", &line[..start]);
                self.changes.push(format!("line {}: {} → {}", idx + 1, line.trim(), new.trim()));
                self.text[idx] = new;
            }
        }
    }

    fn version(&self) -> Option<u32> {
        for line in &self.text {
            if line.trim_start().starts_with('[') {
                return None;
            }
            if let Some((_, value)) = field(line.trim_start_matches('\u{feff}'), "schema") {
                return line.trim_start_matches('\u{feff}')[value].parse().ok();
            }
        }
        None
    }

    fn set_version(&mut self, version: u32) {
        self.edit("schema", |_| Some(("schema", version.to_string())));
    }
}

/// Where `key` starts and what range its value has, without a trailing comment, if `line` is `key = value`.
fn field(line: &str, key: &str) -> Option<(usize, std::ops::Range<usize>)> {
    let start = line.len() - line.trim_start_matches([' ', '\t', '\u{feff}']).len();
    let rest = line[start..].strip_prefix(key)?.trim_start();
    let value = rest.strip_prefix('=')?.trim_start();
    let value_start = line.len() - value.len();
    let is_quoted = value.starts_with(['"', '\'']);
    let len = if is_quoted {
        let quote = value.chars().next().unwrap_or('"');
        value[1..].find(quote).map_or(value.trim_end().len(), |at| at + 2)
    } else {
        value.find('#').map_or(value, |at| &value[..at]).trim_end().len()
    };
    Some((start, value_start..value_start + len))
}

/// Whether a multi-line text is open behind `line`.
fn quote_after<'a>(line: &str, open: Option<&'a str>) -> Option<&'a str> {
    let mut open = open;
    let mut rest = line;
    loop {
        match open {
            Some(quote) => match rest.find(quote) {
                Some(at) => (rest, open) = (&rest[at + 3..], None),
                None => return open,
            },
            None => {
                let first = ["\"\"\"", "'''"].into_iter().filter_map(|quote| Some((rest.find(quote)?, quote))).min();
                match first {
                    Some((at, _)) if rest[..at].contains('#') => return None, // inside a comment
                    Some((at, quote)) => (rest, open) = (&rest[at + 3..], Some(quote)),
                    None => return None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapter::StepBody;
    use crate::parse;

    const V0: &str = include_str!("../examples/v0.toml");

    #[test]
    fn version_0_becomes_version_1_and_keeps_its_comments() {
        let refused = parse("00_old", "00_old/chapter.toml", V0.as_bytes());
        assert_eq!((refused.chapter, refused.problems[0].rule), (None, "older-version"));
        let migrated = migrate(V0.as_bytes()).unwrap();
        assert_eq!((migrated.from, migrated.changes.len()), (0, 4));
        assert!(migrated.text.contains("show = \"sector_map\"   # the id"), "{}", migrated.text);
        assert!(migrated.text.contains("\nkind = \"figure\"\n"), "text between quotes is not a field");
        let parsed = parse("00_old", "00_old/chapter.toml", migrated.text.as_bytes());
        assert_eq!(parsed.problems, []);
        let chapter = parsed.chapter.unwrap();
        assert!(matches!(&chapter.steps[1].body, StepBody::Visualizer(step) if step.show == "sector_map"));
        assert_eq!(migrate(migrated.text.as_bytes()).unwrap().changes, Vec::<String>::new(), "once is enough");
    }

    #[test]
    fn what_cannot_be_migrated_says_why() {
        assert_eq!(migrate(b"schema = 9\n"), Err(MigrateError::Newer(9)));
        assert_eq!(migrate(b"[[step]]\nschema = 0\n"), Err(MigrateError::NoVersion));
        assert_eq!(migrate(b"\xff"), Err(MigrateError::NotText));
        for end in 0..V0.len() {
            let _ = migrate(&V0.as_bytes()[..end]);
        }
    }
}
