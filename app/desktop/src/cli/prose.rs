//! Markdown of lessons as plain text in 80 columns: paragraphs, lists, tables, code. Emphasis is dropped, links keep
//! their text, pictures their description.

use super::layout::{table, wrap};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// `markdown` as lines of at most `columns`, each after `indent`.
pub fn text(markdown: &str, columns: usize, indent: &str) -> String {
    let mut out = Out { columns, indent: indent.to_owned(), ..Out::default() };
    for event in Parser::new_ext(markdown, vramlab_lesson::markdown::options()) {
        out.hear(event);
    }
    out.flush();
    out.blocks.join("\n\n")
}

#[derive(Default)]
struct Out {
    columns: usize,
    indent: String,
    blocks: Vec<String>,
    /// The paragraph that is being read.
    line: String,
    /// Open lists: the number of the next item, or none for dots.
    lists: Vec<Option<u64>>,
    /// Lines of the list that is being read.
    items: Vec<String>,
    /// What stands before the first line of the item.
    marker: String,
    rows: Vec<Vec<String>>,
}

impl Out {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.line.push_str(&text),
            Event::Code(text) => self.line.push_str(&format!("`{text}`")),
            Event::SoftBreak => self.line.push(' '),
            Event::HardBreak => self.line.push('\n'),
            Event::Rule => self.blocks.push(format!("{}────", self.indent)),
            Event::Start(tag) => self.open(&tag),
            Event::End(tag) => self.close(tag),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.item();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.item();
                self.marker = match self.lists.last_mut() {
                    Some(Some(n)) => {
                        *n += 1;
                        format!("{}. ", *n - 1)
                    }
                    _ => "• ".to_owned(),
                };
            }
            Tag::CodeBlock(_) => self.flush(),
            Tag::TableRow | Tag::TableHead => self.rows.push(Vec::new()),
            Tag::Image { .. } => self.line.push('['),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph if self.lists.is_empty() => self.flush(),
            TagEnd::Heading(_) => self.flush(),
            TagEnd::Item => self.item(),
            TagEnd::List(_) => {
                self.item();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.blocks.push(std::mem::take(&mut self.items).join("\n"));
                }
            }
            TagEnd::CodeBlock => {
                let code = std::mem::take(&mut self.line);
                let lines = code.trim_end().lines().map(|line| format!("{}    {line}", self.indent));
                self.blocks.push(lines.collect::<Vec<_>>().join("\n"));
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                let text = table(&[], &rows, &[]);
                let lines = text.lines().map(|line| format!("{}{line}", self.indent));
                self.blocks.push(lines.collect::<Vec<_>>().join("\n"));
            }
            TagEnd::Image => self.line.push(']'),
            _ => {}
        }
    }

    /// The text so far as an item of the innermost list.
    fn item(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.trim().is_empty() || self.lists.is_empty() {
            self.line = line;
            return;
        }
        let outer = format!("{}{}", self.indent, "  ".repeat(self.lists.len().saturating_sub(1)));
        let marker = std::mem::take(&mut self.marker);
        let inner = format!("{outer}{}", " ".repeat(marker.chars().count().max(2)));
        let body = wrap(line.trim(), self.columns, &inner);
        self.items.push(format!("{outer}{marker}{}", body.trim_start()));
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim().is_empty() {
            self.blocks.push(wrap(line.trim(), self.columns, &self.indent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lists_and_code() {
        let markdown = "A **bold** word and `code`,\nwith a [link](ch:01).\n\n- one\n- two\n\n1. first\n2. second\n\n```\nx = 1\n```\n";
        let expected =
            "  A bold word and `code`, with a link.\n\n  • one\n  • two\n\n  1. first\n  2. second\n\n      x = 1";
        assert_eq!(text(markdown, 60, "  "), expected);
    }

    #[test]
    fn tables_line_up_and_long_items_hang() {
        let text_of = |markdown: &str| text(markdown, 24, "");
        assert_eq!(text_of("| a | b |\n|---|---|\n| 步长 | 8 |"), "a     b\n步长  8");
        assert_eq!(text_of("- one two three four five six"), "• one two three four\n  five six");
    }
}
