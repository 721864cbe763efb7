//! A finding in a manifest. The same shape as a chapter's, so that one renderer draws both; this crate knows no lessons.

/// What is wrong, where, and what to do. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestProblem {
    /// Path inside the pack, with `/`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// Characters to underline.
    pub width: usize,
    /// The text of the line, for the caret.
    pub text: String,
    /// Stable id of the rule: `unknown-name`, `bad-formula`, `missing-translation`.
    pub rule: &'static str,
    /// One sentence without a full stop.
    pub what: String,
    pub help: Option<String>,
    /// Worth mending, but the experiment runs.
    pub is_warning: bool,
}

impl std::fmt::Display for ManifestProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}:{}: {}", self.file, self.line, self.column, self.what)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(out, " ({help})"))
    }
}
