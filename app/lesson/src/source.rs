//! The text of a content file and its positions: byte offsets in, lines, columns and underlined text out.

use crate::problem::Place;
use std::ops::Range;

/// Longest line copied into a [`Place`]; a longer one is cut, and the caret is left out behind the cut.
const MAX_LINE_BYTES: usize = 2_000;

/// A content file that could be decoded: without byte order mark, line ends as they stand on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    file: String,
    text: String,
    line_starts: Vec<usize>,
}

impl Source {
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file: file.into(), text, line_starts }
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line, column and text of a byte range. A range over several lines is underlined to the end of its first.
    pub fn place(&self, span: &Range<usize>) -> Place {
        let start = self.floor(span.start);
        let line_idx = self.line_starts.partition_point(|line| *line <= start).saturating_sub(1);
        let line_start = self.line_starts.get(line_idx).copied().unwrap_or_default();
        let line = self.text[line_start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let line_end = line_start + line.len();
        let end = self.floor(span.end).clamp(start.min(line_end), line_end);
        Place {
            file: self.file.clone(),
            line: line_idx + 1,
            column: self.text[line_start..start].chars().count() + 1,
            width: self.text[start.min(end)..end].chars().count().max(1),
            text: cut(line).to_owned(),
        }
    }

    /// Where `needle` stands inside `span`, for a link in a long text; the start of `span` if it cannot be found.
    pub fn find_within(&self, span: &Range<usize>, needle: &str) -> Range<usize> {
        let (start, end) = (self.floor(span.start), self.floor(span.end));
        match self.text.get(start..end).and_then(|text| text.find(needle)) {
            Some(at) if !needle.is_empty() => start + at..start + at + needle.len(),
            _ => start..start,
        }
    }

    /// The nearest character boundary at or before `at`.
    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

fn cut(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let source = Source::new("a.toml", "title = \"合并访问\" # x\nb = 1\r\n");
        let at = source.text().find('#').unwrap();
        let place = source.place(&(at..at + 1));
        assert_eq!((place.line, place.column, place.width), (1, 16, 1));
        let at = source.text().find("b =").unwrap();
        let place = source.place(&(at..at + 100));
        assert_eq!((place.line, place.column, place.width, place.text.as_str()), (2, 1, 5, "b = 1"));
    }

    #[test]
    fn offsets_outside_the_text_are_clamped() {
        let source = Source::new("a.toml", "é");
        assert_eq!(source.place(&(1..9)).column, 1);
        assert_eq!(source.place(&(99..200)).column, 2);
        assert_eq!(Source::default().place(&(3..4)).line, 1);
    }
}
