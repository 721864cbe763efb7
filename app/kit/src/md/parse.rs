//! Markdown as a small tree of blocks: what the painter needs, and no more. Bounded by the caller's text and by
//! [`MAX_NESTING`].

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Deepest nesting of lists and quotes; what lies deeper is drawn at this depth.
pub(super) const MAX_NESTING: usize = 16;

/// A run of text in one style.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Span {
    pub text: String,
    pub is_strong: bool,
    pub is_emphasis: bool,
    pub is_code: bool,
    pub is_struck: bool,
    pub link: Option<String>,
}

pub(super) type Spans = Vec<Span>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Heading(u8, Spans),
    Paragraph(Spans),
    /// `depth` counts from 0; `marker` is `•`, `1.` or a task's box.
    Item {
        depth: usize,
        marker: String,
        blocks: Vec<Block>,
    },
    Quote(Vec<Block>),
    Code {
        language: String,
        text: String,
    },
    Table {
        aligned: Vec<Alignment>,
        rows: Vec<Vec<Spans>>,
    },
    Image {
        path: String,
        alt: String,
    },
    Rule,
}

pub(super) fn parse(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder { open: vec![Vec::new()], ..Builder::default() };
    for event in Parser::new_ext(text, options) {
        builder.take(event);
    }
    builder.flush();
    builder.open.drain(..).flatten().collect()
}

#[derive(Default)]
struct Builder {
    /// Blocks of the page and of each open list item and quote.
    open: Vec<Vec<Block>>,
    spans: Spans,
    style: Span,
    /// The next number of each open list, or none for bullets.
    lists: Vec<Option<u64>>,
    marker: Vec<String>,
    code: Option<(String, String)>,
    image: Option<(String, String)>,
    aligned: Vec<Alignment>,
    rows: Vec<Vec<Spans>>,
    is_in_table: bool,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                let style = Span { is_code: true, text: text.into_string(), ..self.style.clone() };
                self.spans.push(style);
            }
            Event::SoftBreak => self.soft_break(),
            Event::HardBreak => self.text("\n"),
            Event::Rule => self.push(Block::Rule),
            // Shown as it is written: a lesson cannot bring markup of its own.
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::TaskListMarker(is_done) => {
                if let Some(marker) = self.marker.last_mut() {
                    *marker = if is_done { "✓" } else { "□" }.to_owned();
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(text) => self.text(&format!("[{text}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.style.is_strong = true,
            Tag::Emphasis => self.style.is_emphasis = true,
            Tag::Strikethrough => self.style.is_struck = true,
            Tag::Link { dest_url, .. } => self.style.link = Some(dest_url.into_string()),
            Tag::Image { dest_url, .. } => self.image = Some((dest_url.into_string(), String::new())),
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    _ => "•".to_owned(),
                };
                self.marker.push(marker);
                self.open.push(Vec::new());
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.open.push(Vec::new());
            }
            Tag::CodeBlock(kind) => {
                let language = if let CodeBlockKind::Fenced(name) = kind { name.into_string() } else { String::new() };
                self.code = Some((language, String::new()));
            }
            Tag::Table(aligned) => (self.aligned, self.is_in_table) = (aligned, true),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.style.is_strong = false,
            TagEnd::Emphasis => self.style.is_emphasis = false,
            TagEnd::Strikethrough => self.style.is_struck = false,
            TagEnd::Link => self.style.link = None,
            TagEnd::Image => {
                if let Some((path, alt)) = self.image.take() {
                    self.flush();
                    self.push(Block::Image { path, alt });
                }
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.push(Block::Heading(level_number(level), spans));
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                let blocks = self.open.pop().unwrap_or_default();
                let depth = self.lists.len().saturating_sub(1).min(MAX_NESTING);
                let marker = self.marker.pop().unwrap_or_default();
                self.push(Block::Item { depth, marker, blocks });
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                let blocks = self.open.pop().unwrap_or_default();
                self.push(Block::Quote(blocks));
            }
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.push(Block::Code { language, text: text.trim_end_matches('\n').to_owned() });
                }
            }
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Some(row) = self.rows.last_mut() {
                    row.push(spans);
                }
            }
            TagEnd::Table => {
                let (aligned, rows) = (std::mem::take(&mut self.aligned), std::mem::take(&mut self.rows));
                self.is_in_table = false;
                self.push(Block::Table { aligned, rows });
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
        } else if let Some((_, alt)) = &mut self.image {
            alt.push_str(text);
        } else {
            match self.spans.last_mut() {
                Some(last) if (Span { text: String::new(), ..last.clone() }) == self.style => last.text.push_str(text),
                _ => self.spans.push(Span { text: text.to_owned(), ..self.style.clone() }),
            }
        }
    }

    /// A line break in the source is a space between Latin words and nothing between 汉字.
    fn soft_break(&mut self) {
        let last = self.spans.last().and_then(|span| span.text.chars().last());
        if last.is_none_or(|c| !is_wide(c)) {
            self.text(" ");
        }
    }

    fn flush(&mut self) {
        if self.spans.iter().any(|span| !span.text.trim().is_empty()) {
            let spans = std::mem::take(&mut self.spans);
            self.push(Block::Paragraph(spans));
        } else if !self.is_in_table {
            self.spans.clear();
        }
    }

    fn push(&mut self, block: Block) {
        if let Some(blocks) = self.open.last_mut() {
            blocks.push(block);
        }
    }
}

/// 汉字 and full-width punctuation.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303F}' | '\u{3400}'..='\u{9FFF}' | '\u{FF00}'..='\u{FFEF}')
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Span {
        Span { text: text.to_owned(), ..Span::default() }
    }

    #[test]
    fn inline_styles_and_links_become_spans() {
        let blocks = parse("把 **256 B** 和 `stride` 看作[一件事](chapter:02)。");
        let Block::Paragraph(spans) = &blocks[0] else { panic!("{blocks:?}") };
        assert_eq!(spans[0], plain("把 "));
        assert_eq!(spans[1], Span { is_strong: true, ..plain("256 B") });
        assert_eq!(spans[3], Span { is_code: true, ..plain("stride") });
        assert_eq!(spans[5], Span { link: Some("chapter:02".into()), ..plain("一件事") });
    }

    #[test]
    fn a_line_break_is_a_space_only_between_latin_words() {
        let one = |text: &str| match &parse(text)[0] {
            Block::Paragraph(spans) => spans.iter().map(|span| span.text.as_str()).collect::<String>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(one("one\ntwo"), "one two");
        assert_eq!(one("显存\n带宽"), "显存带宽");
        assert_eq!(one("第一行  \n第二行"), "第一行\n第二行");
    }

    #[test]
    fn lists_nest_and_count() {
        let blocks = parse("3. a\n   - b\n4. c\n");
        let Block::Item { depth: 0, marker, blocks: first } = &blocks[0] else { panic!("{blocks:?}") };
        assert_eq!((marker.as_str(), first.len()), ("3.", 2));
        assert!(matches!(&first[1], Block::Item { depth: 1, marker, .. } if marker == "•"));
        assert!(matches!(&blocks[1], Block::Item { depth: 0, marker, .. } if marker == "4."));
    }

    #[test]
    fn tables_code_images_and_html_are_kept_as_data() {
        let blocks = parse("| a | b |\n| --- | ---: |\n| 1 | `x` |\n\n```c\nint a;\n```\n\n![alt](x.png)\n\n<b>hi</b>");
        let Block::Table { aligned, rows } = &blocks[0] else { panic!("{blocks:?}") };
        assert_eq!((aligned[1], rows.len(), rows[1].len()), (Alignment::Right, 2, 2));
        assert_eq!(blocks[1], Block::Code { language: "c".into(), text: "int a;".into() });
        assert_eq!(blocks[2], Block::Image { path: "x.png".into(), alt: "alt".into() });
        assert_eq!(blocks[3], Block::Paragraph(vec![plain("<b>hi</b>")]));
    }

    #[test]
    fn hostile_text_ends() {
        for text in ["> ".repeat(3_000), "- ".repeat(3_000), "*".repeat(5_000), "[".repeat(5_000), "|a".repeat(3_000)] {
            parse(&text);
        }
    }
}
