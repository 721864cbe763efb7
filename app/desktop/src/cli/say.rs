//! How the program speaks in a terminal: data to standard output, everything else to standard error; colour only where
//! it is wanted; the language of the reader.

use super::Common;
use serde_json::Value;
use std::io::{IsTerminal as _, Write as _};
use vramlab_units::{Lang, Text};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    // On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    fn is_on(self, is_terminal: bool) -> bool {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && !is_refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// What a piece of text is, in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Strong,
    Muted,
    Good,
    Caution,
    Bad,
    /// Measured values.
    Accent,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Muted => "2",
            Self::Good => "32",
            Self::Caution => "33",
            Self::Bad => "31",
            Self::Accent => "36",
        }
    }
}

const ERROR: Text = Text::new("错误", "error");
const HELP: Text = Text::new("建议", "help");
const NOTE: Text = Text::new("提示", "note");
const COLON: Text = Text::new("：", ": ");

/// The voice of one command.
#[derive(Clone, Debug)]
pub struct Say {
    pub lang: Lang,
    pub is_json: bool,
    is_colored: bool,
    is_colored_err: bool,
    pub is_quiet: bool,
}

impl Say {
    pub fn new(common: &Common) -> Self {
        Self {
            lang: common.lang.or_else(locale).unwrap_or(Lang::En),
            is_json: common.json,
            is_colored: common.color.is_on(std::io::stdout().is_terminal()),
            is_colored_err: common.color.is_on(std::io::stderr().is_terminal()),
            is_quiet: common.quiet,
        }
    }

    pub fn text(&self, text: Text) -> &'static str {
        text.get(self.lang)
    }

    /// `text` in colour, for standard output.
    pub fn ink(&self, ink: Ink, text: &str) -> String {
        painted(self.is_colored && !text.is_empty(), ink, text)
    }

    /// A line of data.
    pub fn data(&self, text: &str) {
        out(text.as_bytes());
        out(b"\n");
    }

    /// A document of data, on one line if it is flat.
    pub fn json(&self, value: &Value) {
        let is_flat = value.as_object().is_some_and(|map| !map.values().any(has_inner));
        let text = if is_flat { value.to_string() } else { format!("{value:#}") };
        self.data(&text);
    }

    /// Something about the work, not part of its result.
    pub fn note(&self, text: &str) {
        if !self.is_quiet {
            eprintln!("{text}");
        }
    }

    /// What went wrong, with what to do about it. Printed even when quiet.
    pub fn error(&self, what: &str, help: Option<&str>) {
        let colon = self.text(COLON);
        eprintln!("{}{colon}{what}", painted(self.is_colored_err, Ink::Bad, self.text(ERROR)));
        if let Some(help) = help {
            eprintln!("  {}{colon}{help}", self.text(HELP));
        }
    }

    pub fn warn(&self, what: &str) {
        if !self.is_quiet {
            eprintln!("{}{}{what}", painted(self.is_colored_err, Ink::Caution, self.text(NOTE)), self.text(COLON));
        }
    }
}

fn has_inner(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        _ => false,
    }
}

fn painted(is_on: bool, ink: Ink, text: &str) -> String {
    if is_on { format!("\x1b[{}m{text}\x1b[0m", ink.code()) } else { text.to_owned() }
}

/// Writes to standard output. A reader that has gone away (`| head`) ends the program without a word.
pub fn out(bytes: &[u8]) {
    if std::io::stdout().lock().write_all(bytes).is_err() {
        std::process::exit(0);
    }
}

/// The language of the system, if it names one.
pub fn locale() -> Option<Lang> {
    let name = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
    Some(if name.to_ascii_lowercase().starts_with("zh") { Lang::Zh } else { Lang::En })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_nested_documents_take_several_lines() {
        assert!(!json!({"a": 1, "b": [1, 2]}).as_object().unwrap().values().any(has_inner));
        assert!(json!({"a": [{"b": 1}]}).as_object().unwrap().values().any(has_inner));
    }

    #[test]
    fn colour_is_an_escape_around_the_text_and_nothing_when_off() {
        assert_eq!(painted(true, Ink::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(painted(false, Ink::Bad, "x"), "x");
    }
}
