//! One linear walk over the Markdown of a lesson: its limits, links, images and tables. Drawing it is the shell's work.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Deepest nesting of lists and quotes that is drawn.
pub const MAX_NESTING: usize = 16;
/// Most cells of one table.
pub const MAX_CELLS: usize = 4_096;

/// The extensions in use, for every reader of lesson Markdown.
pub fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES
}

/// What a text contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub links: Vec<String>,
    pub images: Vec<Image>,
    /// Text of each table, cells separated by line breaks.
    pub tables: Vec<String>,
    /// Prose without code, tables and image descriptions.
    pub prose: String,
    /// Byte ranges of raw HTML, which is shown as text.
    pub html: Vec<Range<usize>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    pub path: String,
    pub alt: String,
}

/// Which limit `text` breaks, if any.
pub fn over_limit(text: &str) -> Option<String> {
    let (mut depth, mut cells) = (0_usize, 0_usize);
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::Table(_) => cells = 0,
                    Tag::TableCell => cells += 1,
                    _ => {}
                }
                depth += 1;
                if depth > MAX_NESTING {
                    return Some(format!("nested deeper than {MAX_NESTING} levels"));
                }
                if cells > MAX_CELLS {
                    return Some(format!("a table has more than {MAX_CELLS} cells"));
                }
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Walks `text`, which should be within its limits.
pub fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    let (mut in_code, mut in_table, mut image) = (false, false, None::<Image>);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => facts.links.push(dest_url.into_string()),
            Event::Start(Tag::Image { dest_url, .. }) => {
                image = Some(Image { path: dest_url.into_string(), alt: String::new() });
            }
            Event::End(TagEnd::Image) => facts.images.extend(image.take()),
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Table(_)) => {
                in_table = true;
                facts.tables.push(String::new());
            }
            Event::End(TagEnd::Table) => in_table = false,
            Event::Html(_) | Event::InlineHtml(_) => facts.html.push(range),
            Event::Text(part) => match (&mut image, in_code, in_table) {
                (Some(image), _, _) => image.alt.push_str(&part),
                (None, true, _) => {}
                (None, false, true) => push_line(facts.tables.last_mut(), &part),
                (None, false, false) => facts.prose.push_str(&part),
            },
            Event::Code(part) if in_table => push_line(facts.tables.last_mut(), &part),
            Event::Code(_) | Event::SoftBreak | Event::HardBreak | Event::End(_) if !in_table => facts.prose.push(' '),
            _ => {}
        }
    }
    facts
}

fn push_line(table: Option<&mut String>, part: &str) {
    if let Some(table) = table {
        table.push_str(part);
        table.push('\n');
    }
}
