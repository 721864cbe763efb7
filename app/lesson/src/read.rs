//! Validates tables of the tree by the field tables, and reads values out of them. Every problem is collected; a
//! reading function that finds nothing usable returns nothing, because its problem has been noted already.

use crate::fields::{Field, Holds, Need};
use crate::problem::{MAX_COLLECTED, Problem, Severity};
use crate::source::Source;
use crate::tree::{Data, Node, Span, Table};
use std::collections::BTreeMap;
use vramlab_units::field::did_you_mean;
use vramlab_units::{Lang, Localized, Map};

/// Byte ranges of what a chapter says, by path: `step[3].params.stride_bytes`, `audit[0].claim.en`.
pub type Spans = BTreeMap<String, Span>;

/// Longest text of one field, in bytes.
pub const MAX_TEXT_BYTES: usize = 200_000;

pub struct Reader<'a> {
    pub source: &'a Source,
    pub problems: Vec<Problem>,
    pub spans: Spans,
    pub lang: Option<Lang>,
    /// Problems, counted, that make the table at hand unusable.
    pub n_fatal: usize,
    /// Problems beyond what is collected.
    pub n_dropped: usize,
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a Source) -> Self {
        Self { source, problems: Vec::new(), spans: Spans::new(), lang: None, n_fatal: 0, n_dropped: 0 }
    }

    /// Notes an error that leaves the table readable.
    pub fn note(&mut self, rule: &'static str, span: &Span, what: String, help: Option<String>) {
        if self.problems.len() >= MAX_COLLECTED {
            self.n_dropped += 1;
            return;
        }
        let place = self.source.place(span);
        self.problems.push(Problem { severity: Severity::Error, rule, what, place, help });
    }

    /// Notes an error after which the table cannot be used.
    pub fn fail(&mut self, rule: &'static str, span: &Span, what: String, help: Option<String>) {
        self.n_fatal += 1;
        self.note(rule, span, what, help);
    }

    /// Checks `table` against its fields: unknown ones, missing ones, wrong types. `name` is what the author calls it.
    pub fn check(&mut self, table: &Table, fields: &[&'static [Field]], name: &str, path: &str, header: &Span) {
        let all = || fields.iter().copied().flatten();
        for entry in &table.entries {
            let Some(field) = all().find(|field| field.key == entry.key) else {
                let known: Vec<&str> = all().map(|field| field.key).collect();
                let hint = did_you_mean(&entry.key, known.iter().copied());
                let help = hint.map_or_else(
                    || format!("the fields are {}", known.join(", ")),
                    |hint| format!("did you mean \"{hint}\"?"),
                );
                let what = format!("{name} has no field \"{}\"", entry.key);
                self.note("unknown-field", &entry.key_span, what, Some(help));
                continue;
            };
            let path = join(path, field.key);
            self.spans.insert(path.clone(), entry.node.span.clone());
            self.check_value(&entry.node, field, &path);
        }
        for field in all().filter(|field| field.need != Need::May && table.get(field.key).is_none()) {
            let rule = match field.key {
                "alt" => "missing-alt",
                "why" => "missing-why",
                _ => "missing-field",
            };
            self.n_fatal += usize::from(field.need == Need::Must);
            let what = format!("{name} needs the field \"{}\"", field.key);
            self.note(rule, header, what, Some(format!("{}: {}", field.key, field.doc.en)));
        }
    }

    fn check_value(&mut self, node: &Node, field: &Field, path: &str) {
        let key = field.key;
        match (field.holds, &node.data) {
            (Holds::Plain, Data::Text(text)) => self.check_length(text, key, &node.span),
            (Holds::Id, Data::Text(text)) => self.check_id(text, key, &node.span),
            (Holds::Localized, _) => self.check_localized(node, key, path),
            (Holds::LocalizedList, Data::List(list)) => {
                for (idx, item) in list.iter().enumerate() {
                    let path = format!("{path}[{idx}]");
                    self.spans.insert(path.clone(), item.span.clone());
                    self.check_localized(item, key, &path);
                }
            }
            (Holds::PlainList, Data::List(list)) => {
                for (idx, item) in list.iter().enumerate() {
                    self.spans.insert(format!("{path}[{idx}]"), item.span.clone());
                    match &item.data {
                        Data::Text(text) => self.check_length(text, key, &item.span),
                        _ => self.wrong_type(item, key, "a list of texts"),
                    }
                }
            }
            (Holds::Number, Data::Number(_)) | (Holds::Flag, Data::Flag(_)) => {}
            (Holds::Numbers, Data::List(list)) => {
                for (idx, item) in list.iter().enumerate() {
                    self.spans.insert(format!("{path}[{idx}]"), item.span.clone());
                    if !matches!(item.data, Data::Number(_)) {
                        self.wrong_type(item, key, "a list of numbers");
                    }
                }
            }
            (Holds::Version, Data::Number(number)) => {
                if number.as_u64() != Some(u64::from(crate::SCHEMA)) {
                    let what = format!("{key} = {number} is not a version of the format");
                    self.fail("wrong-type", &node.span, what, Some(format!("write {key} = {}", crate::SCHEMA)));
                }
            }
            (Holds::Minutes, Data::Number(number)) => {
                if !number.as_u64().is_some_and(|minutes| (1..=600).contains(&minutes)) {
                    let what = format!("{key} = {number} is not allowed; it must be an integer from 1 to 600");
                    self.fail("out-of-range", &node.span, what, None);
                }
            }
            (Holds::Choice(options), Data::Text(text)) => {
                if !options.contains(&text.as_str()) {
                    let what = format!("{key} = \"{text}\" is not allowed; it must be one of {}", options.join(", "));
                    let help = did_you_mean(text, options.iter().copied());
                    self.fail("out-of-range", &node.span, what, help.map(|hint| format!("did you mean \"{hint}\"?")));
                }
            }
            (Holds::Params, Data::Table(table)) => self.check_params(table, path),
            (Holds::Redraw, Data::Table(table)) => self.check_redraw(table, path),
            (Holds::Table(fields), Data::Table(table)) => self.check(table, &[fields], key, path, &node.span),
            (Holds::Tables(fields), Data::List(list)) => {
                for (idx, item) in list.iter().enumerate() {
                    let path = format!("{path}[{idx}]");
                    self.spans.insert(path.clone(), item.span.clone());
                    match &item.data {
                        Data::Table(table) => self.check(table, &[fields], key, &path, &item.span),
                        _ => self.wrong_type(item, key, "a table"),
                    }
                }
            }
            (holds, _) => self.wrong_type(node, key, expected(holds)),
        }
    }

    fn wrong_type(&mut self, node: &Node, key: &str, expected: &str) {
        let what = format!("{key} must be {expected}; this is {}", node.kind());
        self.fail("wrong-type", &node.span, what, None);
    }

    fn check_length(&mut self, text: &str, key: &str, span: &Span) {
        if text.len() > MAX_TEXT_BYTES {
            let what = format!("{key} has {} bytes; a field may have {MAX_TEXT_BYTES}", text.len());
            self.fail("too-large", span, what, Some("split it over several steps".to_owned()));
        }
    }

    fn check_id(&mut self, id: &str, key: &str, span: &Span) {
        if !is_id(id) {
            let what = format!("{key} = \"{}\" is not an id", shorten(id));
            let help = "an id has 1 to 64 lower-case letters, digits, _ or -, and starts with a letter or digit";
            self.fail("bad-id", span, what, Some(help.to_owned()));
        }
    }

    fn check_localized(&mut self, node: &Node, key: &str, path: &str) {
        match &node.data {
            Data::Text(text) => {
                self.check_markdown(text, key, &node.span);
                if text.trim().is_empty() {
                    self.fail("empty-text", &node.span, format!("{key} is empty"), None);
                } else if self.lang.is_none() {
                    let what = format!("{key} is in one language, and the chapter does not say in which");
                    let help =
                        format!("write {key} = {{ zh = \"…\", en = \"…\" }}, or lang = \"zh\" at the top of the file");
                    self.note("no-language", &node.span, what, Some(help));
                }
            }
            Data::Table(table) => self.check_languages(table, key, path, &node.span),
            _ => self.wrong_type(node, key, expected(Holds::Localized)),
        }
    }

    fn check_languages(&mut self, table: &Table, key: &str, path: &str, span: &Span) {
        let mut n_texts = 0;
        for entry in &table.entries {
            if Lang::from_code(&entry.key).is_none() {
                let what = format!("{key} has no language \"{}\"", entry.key);
                self.note("unknown-field", &entry.key_span, what, Some("the languages are zh and en".to_owned()));
                continue;
            }
            self.spans.insert(join(path, &entry.key), entry.node.span.clone());
            let name = format!("{key}.{}", entry.key);
            match &entry.node.data {
                Data::Text(text) if text.trim().is_empty() => {
                    self.note("empty-text", &entry.node.span, format!("{name} is empty"), None);
                }
                Data::Text(text) => {
                    n_texts += 1;
                    self.check_markdown(text, &name, &entry.node.span);
                }
                _ => self.wrong_type(&entry.node, &name, "text"),
            }
        }
        if n_texts == 0 {
            let help = format!("write {key} = {{ zh = \"…\", en = \"…\" }}");
            self.fail("empty-text", span, format!("{key} has no text"), Some(help));
        }
    }

    fn check_markdown(&mut self, text: &str, key: &str, span: &Span) {
        self.check_length(text, key, span);
        self.check_escapes(text, key, span);
        if let Some(what) = crate::markdown::over_limit(text) {
            self.fail("too-deep", span, format!("{key}: {what}"), None);
        }
    }

    /// Characters that only an escape such as `\u202e` brings in; written plainly they are found in the source.
    fn check_escapes(&mut self, text: &str, key: &str, span: &Span) {
        let is_hidden = |c: &char| is_bidi(*c) || (c.is_control() && !matches!(c, '\n' | '\t'));
        let raw = self.source.text().get(span.clone()).unwrap_or_default();
        if let Some(c) = text.chars().find(is_hidden).filter(|c| !raw.contains(*c)) {
            let rule = if is_bidi(c) { "bidi-control" } else { "control-character" };
            let what = format!("{key} holds U+{:04X}, which is not seen", c as u32);
            self.note(rule, span, what, Some("delete it; nothing in a chapter needs it".to_owned()));
        }
    }

    fn check_params(&mut self, table: &Table, path: &str) {
        for entry in &table.entries {
            self.spans.insert(join(path, &entry.key), entry.node.span.clone());
            if entry.node.to_json().is_none() {
                let what = format!("{} must be a number, text, true, false or a list of these", entry.key);
                self.fail(
                    "wrong-type",
                    &entry.node.span,
                    what,
                    Some("NaN, infinities and dates have no use here".to_owned()),
                );
            }
        }
    }

    fn check_redraw(&mut self, table: &Table, path: &str) {
        for entry in &table.entries {
            self.spans.insert(join(path, &entry.key), entry.node.span.clone());
            let is_list = matches!(&entry.node.data, Data::List(list) if !list.is_empty() && list.len() <= 1_000
                && list.iter().all(|item| matches!(item.data, Data::Number(_))));
            if !is_list {
                let what = format!("redraw.{} must be a list of 1 to 1000 numbers", entry.key);
                self.fail("wrong-type", &entry.node.span, what, None);
            }
        }
    }

    /// The text of a localised field.
    pub fn localized(&self, table: &Table, key: &str) -> Localized {
        table.get(key).map(|node| self.localized_node(node)).unwrap_or_default()
    }

    pub fn localized_list(&self, table: &Table, key: &str) -> Vec<Localized> {
        match table.get(key).map(|node| &node.data) {
            Some(Data::List(list)) => list.iter().map(|node| self.localized_node(node)).collect(),
            _ => Vec::new(),
        }
    }

    fn localized_node(&self, node: &Node) -> Localized {
        let mut out = Localized::default();
        match &node.data {
            Data::Text(text) => {
                let guess = if text.chars().any(is_han) { Lang::Zh } else { Lang::En };
                out = Localized::one(self.lang.unwrap_or(guess), text.clone());
            }
            Data::Table(table) => {
                let text = |lang: Lang| match table.get(lang.code()).map(|node| &node.data) {
                    Some(Data::Text(text)) if !text.trim().is_empty() => Some(text.clone()),
                    _ => None,
                };
                (out.zh, out.en) = (text(Lang::Zh), text(Lang::En));
            }
            _ => {}
        }
        out
    }
}

pub fn text(table: &Table, key: &str) -> Option<String> {
    match table.get(key).map(|node| &node.data) {
        Some(Data::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// The texts of a list; what is no text has been noted.
pub fn texts(table: &Table, key: &str) -> Vec<String> {
    let Some(Data::List(list)) = table.get(key).map(|node| &node.data) else { return Vec::new() };
    let texts = list.iter().filter_map(|node| match &node.data {
        Data::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

pub fn number(table: &Table, key: &str) -> Option<f64> {
    match table.get(key).map(|node| &node.data) {
        Some(Data::Number(number)) => number.as_f64(),
        _ => None,
    }
}

pub fn is_true(table: &Table, key: &str) -> bool {
    matches!(table.get(key).map(|node| &node.data), Some(Data::Flag(true)))
}

pub fn inner<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    match table.get(key).map(|node| &node.data) {
        Some(Data::Table(table)) => Some(table),
        _ => None,
    }
}

pub fn tables<'t>(table: &'t Table, key: &str) -> Vec<&'t Table> {
    let Some(Data::List(list)) = table.get(key).map(|node| &node.data) else { return Vec::new() };
    let tables = list.iter().filter_map(|node| match &node.data {
        Data::Table(table) => Some(table),
        _ => None,
    });
    tables.collect()
}

pub fn params(table: &Table, key: &str) -> Map {
    match table.get(key).and_then(Node::to_json) {
        Some(vramlab_units::Value::Object(map)) => map,
        _ => Map::new(),
    }
}

pub fn redraw(table: &Table, key: &str) -> BTreeMap<String, Vec<f64>> {
    let Some(table) = inner(table, key) else { return BTreeMap::new() };
    let lists = table.entries.iter().filter_map(|entry| match &entry.node.data {
        Data::List(list) => {
            let numbers = list.iter().filter_map(|node| match &node.data {
                Data::Number(number) => number.as_f64(),
                _ => None,
            });
            Some((entry.key.clone(), numbers.collect()))
        }
        _ => None,
    });
    lists.collect()
}

/// Ids of chapters, steps, audits and questions.
pub fn is_id(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&text.len())
        && text.chars().all(|c| is_word(c) || c == '_' || c == '-')
        && text.starts_with(is_word)
}

/// Controls that change the direction of a text.
pub fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A value as it may stand in a message.
pub fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(60).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn expected(holds: Holds) -> &'static str {
    match holds {
        Holds::Plain | Holds::Id | Holds::Choice(_) => "text",
        Holds::Localized => "text, or { zh = \"…\", en = \"…\" }",
        Holds::LocalizedList | Holds::PlainList => "a list of texts",
        Holds::Number => "a number",
        Holds::Numbers => "a list of numbers",
        Holds::Version | Holds::Minutes => "an integer",
        Holds::Flag => "true or false",
        Holds::Params | Holds::Redraw | Holds::Table(_) => "a table",
        Holds::Tables(_) => "a list of tables",
    }
}
