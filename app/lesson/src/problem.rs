//! One diagnostic type for every content file. Rendered once, at the edge: by the terminal or by a card.

/// Where in a file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Path inside the pack, with `/`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// Characters to underline.
    pub width: usize,
    /// The text of the line, for the caret.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    /// Worth mending, but the chapter can be taught: a missing translation, a missing alt text.
    Warning,
}

/// A finding in a content file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Stable id of the rule: `unknown-visualizer`, `wrong-answer`, `missing-translation`.
    pub rule: &'static str,
    /// What is wrong, one sentence without a full stop.
    pub what: String,
    pub place: Place,
    /// What to do about it.
    pub help: Option<String>,
}
