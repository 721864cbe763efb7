//! From the bytes of a chapter file to a [`Chapter`], collecting every problem on the way.
//!
//! The format is described by `fields.rs` and shown by `examples/every_step.toml`. Nothing a file can contain makes
//! this panic or run long: the size is bounded first, the nesting by the TOML reader, the texts by `markdown.rs`.

use crate::build;
use crate::chapter::{Chapter, SCHEMA, Step, StepBody};
use crate::fields;
use crate::problem::{MAX_PROBLEMS, Problem, Severity, cut_list, sort};
use crate::read::{self, Reader, Spans, is_bidi, is_id, shorten};
use crate::source::Source;
use crate::tree::{self, Document, Item, SyntaxError};
use std::collections::BTreeMap;
use vramlab_units::{Lang, Localized};

/// Largest accepted chapter file.
pub const MAX_FILE_BYTES: usize = 2 << 20;
/// Most steps, audits and reviews of one chapter.
pub const MAX_ITEMS: usize = 500;

/// What became of a chapter file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// `None` if nothing can be shown: not text, too large, or of another format version.
    pub chapter: Option<Chapter>,
    /// In the order of the file. Not yet those of [`crate::check`].
    pub problems: Vec<Problem>,
    pub source: Source,
    /// Where everything stands, for the checker.
    pub spans: Spans,
    /// Typed values given beside a model, by the path of their `answer`: the checker compares them.
    pub typed: BTreeMap<String, f64>,
}

/// Reads a chapter. `id` is the folder's name, or the stem of a single file; `file` its path inside the pack.
pub fn parse(id: &str, file: &str, bytes: &[u8]) -> Parsed {
    let text = match decode(file, bytes) {
        Ok(text) => text,
        Err(problem) => return Parsed { problems: vec![*problem], ..Parsed::default() },
    };
    let source = Source::new(file, text);
    let mut reader = Reader::new(&source);
    note_characters(&mut reader);
    let mut typed = BTreeMap::new();
    let chapter = is_this_version(&mut reader).then(|| {
        let document = tree::read(source.text());
        chapter(&mut reader, &mut typed, id, &document)
    });
    let (mut problems, spans, n_dropped) = (reader.problems, reader.spans, reader.n_dropped);
    drop_echoes(&mut problems);
    sort(&mut problems);
    cut_list(&mut problems, n_dropped);
    Parsed { chapter, problems, source, spans, typed }
}

/// A control character is also a syntax error; once is enough.
fn drop_echoes(problems: &mut Vec<Problem>) {
    let at = |problem: &Problem| (problem.place.line, problem.place.column);
    let named: Vec<_> = problems.iter().filter(|problem| problem.rule == "control-character").map(at).collect();
    problems.retain(|problem| problem.rule != "syntax" || !named.contains(&at(problem)));
}

fn decode(file: &str, bytes: &[u8]) -> Result<String, Box<Problem>> {
    let problem = |rule, what: String, help: &str, place| {
        Box::new(Problem { severity: Severity::Error, rule, what, place, help: Some(help.to_owned()) })
    };
    if bytes.len() > MAX_FILE_BYTES {
        let what = format!("the file has {} bytes; a chapter may have {MAX_FILE_BYTES} (2 MiB)", bytes.len());
        let place = Source::new(file, "").place(&(0..0));
        return Err(problem("too-large", what, "put tables and pictures into files of their own", place));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let at = error.valid_up_to();
        let readable = String::from_utf8_lossy(bytes);
        let place = Source::new(file, readable).place(&(at..at + 1));
        let what = format!("the file is not UTF-8 text: byte {at} is 0x{:02x}", bytes.get(at).copied().unwrap_or(0));
        problem("encoding", what, "save it as UTF-8", place)
    })
}

/// Controls that change what a reader sees without being seen.
fn note_characters(reader: &mut Reader<'_>) {
    let source = reader.source;
    for (at, c) in source.text().char_indices() {
        let span = at..at + c.len_utf8();
        if is_bidi(c) {
            let what = format!("U+{:04X} changes the direction of the text without being seen", c as u32);
            reader.note("bidi-control", &span, what, Some("delete it; nothing in a chapter needs it".to_owned()));
        } else if c.is_control() && !matches!(c, '\n' | '\t') && !source.text()[at..].starts_with("\r\n") {
            let what = format!("U+{:04X} at byte {at} is a control character", c as u32);
            reader.note("control-character", &span, what, Some("delete it".to_owned()));
        } else {
            continue;
        }
        if reader.problems.len() > MAX_PROBLEMS {
            return;
        }
    }
}

/// Looks for `schema = N` above the first header before anything else is read, so that an older or newer chapter gets
/// a sentence about versions and not a list of unknown fields.
fn is_this_version(reader: &mut Reader<'_>) -> bool {
    let source = reader.source;
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            break;
        }
        if let Some(value) = trimmed.strip_prefix("schema").and_then(|rest| rest.trim_start().strip_prefix('=')) {
            let value = value.split('#').next().unwrap_or_default().trim();
            let at = start + line.find(value).unwrap_or_default();
            return is_version(reader, value, &(at..at + value.len()));
        }
        start += line.len();
    }
    true
}

fn is_version(reader: &mut Reader<'_>, value: &str, span: &tree::Span) -> bool {
    match value.parse::<u64>() {
        Ok(found) if found == u64::from(SCHEMA) => true,
        Ok(found) if found > u64::from(SCHEMA) => {
            let what = format!("this chapter needs version {found} of the format; this program reads version {SCHEMA}");
            reader.note("newer-version", span, what, Some("update VRAM Lab".to_owned()));
            false
        }
        Ok(found) => {
            let what = format!("this chapter has version {found} of the format; this program reads version {SCHEMA}");
            reader.note("older-version", span, what, Some("run `vramlab migrate` on it".to_owned()));
            false
        }
        Err(_) => true, // not a version at all: the field table says so
    }
}

type Typed = BTreeMap<String, f64>;

fn chapter(reader: &mut Reader<'_>, typed: &mut Typed, id: &str, document: &Document) -> Chapter {
    let head = &document.head;
    note_syntax(reader, &document.head_errors);
    reader.lang = read::text(head, "lang").and_then(|code| Lang::from_code(&code));
    if document.head_errors.is_empty() {
        reader.check(head, &[fields::CHAPTER], "the chapter", "", &(0..0));
    }
    if !is_id(id) {
        let help = "a folder's name has 1 to 64 lower-case letters, digits, _ or -: 02_access_patterns";
        reader.note("bad-id", &(0..0), format!("\"{}\" cannot be the id of a chapter", shorten(id)), Some(help.into()));
    }
    let mut chapter = head_of(reader, head, id);
    if document.items.len() > MAX_ITEMS {
        let what =
            format!("the chapter has {} steps, audits and reviews; it may have {MAX_ITEMS}", document.items.len());
        reader.note("too-large", &document.items[MAX_ITEMS].header, what, Some("split it".to_owned()));
    }
    for item in document.items.iter().take(MAX_ITEMS) {
        add_item(reader, typed, &mut chapter, item);
    }
    note_duplicates(reader, &chapter);
    chapter
}

fn head_of(reader: &Reader<'_>, head: &tree::Table, id: &str) -> Chapter {
    let title = reader.localized(head, "title");
    let digits: String = id.chars().take_while(char::is_ascii_digit).collect();
    Chapter {
        id: id.to_owned(),
        number: digits.parse().ok(),
        title: if title.is_empty() { Localized::both(id, id) } else { title },
        subtitle: reader.localized(head, "subtitle"),
        outcome: reader.localized(head, "outcome"),
        layer: read::text(head, "layer").filter(|layer| fields::LAYERS.contains(&layer.as_str())).unwrap_or_default(),
        minutes: read::number(head, "minutes").map_or(0, |minutes| minutes.clamp(0.0, 600.0) as u32),
        lang: reader.lang,
        steps: Vec::new(),
        audits: Vec::new(),
        reviews: Vec::new(),
    }
}

/// One problem a line: the reader of TOML tends to stumble twice over one slip.
fn note_syntax(reader: &mut Reader<'_>, errors: &[SyntaxError]) {
    let mut errors: Vec<&SyntaxError> = errors.iter().take(MAX_PROBLEMS).collect();
    errors.sort_by_key(|error| error.span.start);
    let mut last_line = 0;
    for error in errors {
        let line = reader.source.place(&error.span).line;
        if line != last_line {
            reader.fail("syntax", &error.span, error.what.clone(), error.help.clone());
        }
        last_line = line;
    }
}

fn add_item(reader: &mut Reader<'_>, typed: &mut Typed, chapter: &mut Chapter, item: &Item) {
    let (n_problems, n_fatal) = (reader.problems.len(), reader.n_fatal);
    note_syntax(reader, &item.errors);
    let is_whole = item.errors.is_empty();
    match item.list {
        "step" => {
            let path = format!("step[{}]", chapter.steps.len());
            reader.spans.insert(path.clone(), item.header.clone());
            let body = if is_whole { build::step(reader, typed, item, &path) } else { None };
            // The list of problems is bounded; past its end the last one stands for this step's.
            let problem = reader.problems.get(n_problems).or(reader.problems.last()).cloned();
            let body = match (body, problem) {
                (Some(body), _) if reader.n_fatal == n_fatal => body,
                (_, Some(problem)) => StepBody::Broken { problem },
                (_, None) => return,
            };
            let id = read::text(&item.table, "id").filter(|id| is_id(id));
            let id = id.unwrap_or_else(|| format!("step-{}", chapter.steps.len() + 1));
            let title = reader.localized(&item.table, "title");
            chapter.steps.push(Step { id, title, body, span: item.span.clone() });
        }
        "audit" if is_whole => {
            let path = format!("audit[{}]", chapter.audits.len());
            reader.spans.insert(path.clone(), item.header.clone());
            let audit = build::audit(reader, item, &path);
            chapter.audits.extend(audit.filter(|_| reader.n_fatal == n_fatal));
        }
        "review" if is_whole => {
            let path = format!("review[{}]", chapter.reviews.len());
            reader.spans.insert(path.clone(), item.header.clone());
            let review = build::review(reader, typed, item, &path);
            chapter.reviews.extend(review.filter(|_| reader.n_fatal == n_fatal));
        }
        _ => {}
    }
}

fn note_duplicates(reader: &mut Reader<'_>, chapter: &Chapter) {
    let steps = chapter.steps.iter().enumerate().map(|(idx, step)| (format!("step[{idx}]"), step.id.as_str()));
    let audits = chapter.audits.iter().enumerate().map(|(idx, audit)| (format!("audit[{idx}]"), audit.id.as_str()));
    let reviews = chapter.reviews.iter().enumerate().map(|(idx, item)| (format!("review[{idx}]"), item.id.as_str()));
    let mut first_of: BTreeMap<String, usize> = BTreeMap::new();
    for (path, id) in steps.chain(audits).chain(reviews) {
        let header = reader.spans.get(&path).cloned().unwrap_or_default();
        let span = reader.spans.get(&format!("{path}.id")).cloned().unwrap_or(header);
        let line = reader.source.place(&span).line;
        if let Some(first) = first_of.get(id) {
            let what = format!("the id \"{id}\" is taken: it first stands on line {first}");
            reader.note("duplicate-id", &span, what, Some("progress hangs on ids; give each its own".to_owned()));
        } else {
            first_of.insert(id.to_owned(), line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const EXAMPLE: &str = include_str!("../examples/every_step.toml");

    #[test]
    fn the_example_opens_without_a_problem() {
        let parsed = parse("00_example", "00_example/chapter.toml", EXAMPLE.as_bytes());
        assert_eq!(parsed.problems, []);
        let chapter = parsed.chapter.unwrap();
        assert_eq!((chapter.number, chapter.steps.len()), (Some(0), 9));
        assert_eq!((chapter.audits.len(), chapter.reviews.len()), (1, 2));
        assert!(!chapter.steps.iter().any(|step| matches!(step.body, StepBody::Broken { .. })));
    }
}
