//! What is wrong with a file: where, at which field, and what would be right. Both languages; the program shows one.

use std::fmt;
use vramlab_units::{Lang, Localized};

/// A place in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of byte `at`; columns count characters.
    pub fn of(text: &[u8], at: usize) -> Self {
        Lines::of(text).place(at)
    }
}

/// Where the lines of a text begin: places of many values without reading the text for each.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Characters of a line that are counted one by one; farther right a column counts bytes.
    const COUNTED: usize = 4_096;

    pub fn of(text: &'a [u8]) -> Self {
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    pub fn place(&self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at);
        let before = &self.text[self.starts[line - 1]..at];
        let is_near = before.len() <= Self::COUNTED;
        let n = if is_near { String::from_utf8_lossy(before).chars().count() } else { before.len() };
        Place { line, column: n + 1 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The key in the file, where the problem is one of a value.
    pub field: Option<String>,
    pub place: Option<Place>,
    pub text: Localized,
    /// So many bytes from the beginning of the file would be enough to go on.
    pub need: Option<u64>,
}

impl Problem {
    pub fn new(zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { field: None, place: None, text: Localized::both(zh, en), need: None }
    }

    /// A header that goes on beyond the bytes at hand.
    pub fn needs(n: u64) -> Self {
        let mut problem = Self::new("文件头还没读完", "the header goes on beyond what was read");
        problem.need = Some(n);
        problem
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    #[must_use]
    pub fn field(mut self, key: impl Into<String>) -> Self {
        self.field = Some(key.into());
        self
    }

    /// The problem in `lang`, with its place.
    pub fn message(&self, lang: Lang) -> String {
        let text = self.text.get(lang);
        match (self.place, lang) {
            (None, _) => text.to_owned(),
            (Some(Place { line, column }), Lang::Zh) => format!("第 {line} 行第 {column} 列：{text}"),
            (Some(Place { line, column }), Lang::En) => format!("line {line}, column {column}: {text}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message(Lang::En))
    }
}

impl std::error::Error for Problem {}
