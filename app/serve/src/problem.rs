//! What is wrong with a stream, a script or a log, in both languages, with its line where a text was read.

use std::fmt;
use vramlab_units::{Lang, Localized};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The setting or field that is meant: `pool_blocks`.
    pub field: &'static str,
    /// Line of a text, from one.
    pub line: Option<usize>,
    pub text: Localized,
}

impl Problem {
    pub fn new(field: &'static str, zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { field, line: None, text: Localized::both(zh, en) }
    }

    #[must_use]
    pub fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub fn get(&self, lang: Lang) -> String {
        match (self.line, lang) {
            (Some(line), Lang::Zh) => format!("第 {line} 行：{}", self.text.get(lang)),
            (Some(line), Lang::En) => format!("line {line}: {}", self.text.get(lang)),
            (None, _) => self.text.get(lang).to_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get(Lang::En))
    }
}

impl std::error::Error for Problem {}
