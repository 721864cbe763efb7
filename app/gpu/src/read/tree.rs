//! TOML as tables with byte ranges. Every getter reports what it does not like and goes on, so that one reading finds
//! every problem of a file.

use super::problem::ManifestProblem;
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use vramlab_units::field::did_you_mean;
use vramlab_units::{Localized, Value};

/// Largest accepted manifest, in bytes.
pub const MAX_BYTES: usize = 256 << 10;

/// The file being read, with what was found in it.
pub struct Doc<'a> {
    pub file: &'a str,
    pub text: &'a str,
    problems: RefCell<Vec<ManifestProblem>>,
}

impl<'a> Doc<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, problems: RefCell::default() }
    }

    /// The problems, in the order of the file, each once.
    pub fn into_problems(self) -> Vec<ManifestProblem> {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        problems
    }

    pub fn has_errors(&self) -> bool {
        self.problems.borrow().iter().any(|problem| !problem.is_warning)
    }

    /// True if this rule was broken already: what follows from it is not reported again.
    pub fn has(&self, rule: &str) -> bool {
        self.problems.borrow().iter().any(|problem| problem.rule == rule)
    }

    pub fn problem(&self, rule: &'static str, span: Range<usize>, what: impl Into<String>, help: Option<String>) {
        let problem = self.locate(rule, span, what.into(), help);
        self.problems.borrow_mut().push(problem);
    }

    pub fn warning(&self, rule: &'static str, span: Range<usize>, what: impl Into<String>, help: Option<String>) {
        let problem = ManifestProblem { is_warning: true, ..self.locate(rule, span, what.into(), help) };
        self.problems.borrow_mut().push(problem);
    }

    fn locate(&self, rule: &'static str, span: Range<usize>, what: String, help: Option<String>) -> ManifestProblem {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_text = self.text[line_start..].lines().next().unwrap_or_default();
        let end = span.end.clamp(start, (line_start + line_text.len()).max(start));
        let underlined = self.text.get(start..end).map_or(1, |part| part.chars().count());
        ManifestProblem {
            file: self.file.to_owned(),
            line: self.text[..line_start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            width: underlined.max(1),
            text: line_text.to_owned(),
            rule,
            what,
            help,
            is_warning: false,
        }
    }

    /// The root table, or nothing if the file is not TOML at all; every syntax error is reported.
    pub fn parse(&self) -> Option<Spanned<DeTable<'a>>> {
        if self.text.len() > MAX_BYTES {
            let what = format!("the file has {} bytes; a manifest may have {MAX_BYTES}", self.text.len());
            self.problem("too-large", 0..0, what, None);
            return None;
        }
        let (root, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            self.problem("syntax", error.span().unwrap_or(0..0), error.message(), None);
        }
        errors.is_empty().then_some(root)
    }
}

/// "did you mean" as a help text.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(word, known.iter().copied()) {
        Some(near) => Some(format!("did you mean \"{near}\"?")),
        None if known.is_empty() || known.len() > 24 => None,
        None => Some(format!("there are {}", known.join(", "))),
    }
}

/// A table being read; remembers which keys were asked for.
pub struct Table<'a, 'd> {
    pub doc: &'d Doc<'a>,
    table: &'d DeTable<'a>,
    pub span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a, 'd> Table<'a, 'd> {
    pub fn new(doc: &'d Doc<'a>, table: &'d DeTable<'a>, span: Range<usize>) -> Self {
        Self { doc, table, span, asked: RefCell::default() }
    }

    /// The value of `key`, if it is there.
    pub fn get(&self, key: &'static str) -> Option<&'d Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// The value of `key`, reported if it is missing.
    pub fn need(&self, key: &'static str) -> Option<&'d Spanned<DeValue<'a>>> {
        let found = self.get(key);
        if found.is_none() {
            self.doc.problem("missing-field", self.span.clone(), format!("{key} is missing"), None);
        }
        found
    }

    /// Reports every key that nobody asked for.
    pub fn finish(self) {
        let asked = self.asked.into_inner();
        for key in self.table.keys().filter(|key| !asked.contains(&key.get_ref().as_ref())) {
            let what = format!("there is no field \"{}\" here", key.get_ref());
            self.doc.problem("unknown-field", key.span(), what, hint(key.get_ref(), asked.iter().copied()));
        }
    }

    fn wrong_kind(&self, key: &str, node: &Spanned<DeValue<'_>>, wanted: &str) {
        let what = format!("{key} must be {wanted}, not {}", kind(node.get_ref()));
        self.doc.problem("wrong-kind", node.span(), what, None);
    }

    pub fn opt_text(&self, key: &'static str) -> Option<String> {
        let node = self.get(key)?;
        let text = node.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_kind(key, node, "text");
        }
        text
    }

    pub fn text(&self, key: &'static str) -> String {
        self.need(key).and_then(|_| self.opt_text(key)).unwrap_or_default()
    }

    pub fn opt_number(&self, key: &'static str) -> Option<f64> {
        let node = self.get(key)?;
        let value = number(node.get_ref());
        if value.is_none() {
            self.wrong_kind(key, node, "a number");
        }
        value
    }

    pub fn number(&self, key: &'static str) -> f64 {
        self.need(key).and_then(|_| self.opt_number(key)).unwrap_or_default()
    }

    pub fn opt_numbers(&self, key: &'static str) -> Vec<f64> {
        let Some(node) = self.get(key) else { return Vec::new() };
        let list = node.get_ref().as_array();
        let values = list.map(|list| list.iter().map(|item| number(item.get_ref())).collect::<Option<Vec<f64>>>());
        values.flatten().unwrap_or_else(|| {
            self.wrong_kind(key, node, "a list of numbers");
            Vec::new()
        })
    }

    pub fn opt_table(&self, key: &'static str) -> Option<Table<'a, 'd>> {
        let node = self.get(key)?;
        let table = node.get_ref().as_table();
        if table.is_none() {
            self.wrong_kind(key, node, "a table");
        }
        Some(Table::new(self.doc, table?, node.span()))
    }

    pub fn need_table(&self, key: &'static str) -> Option<Table<'a, 'd>> {
        self.need(key).and_then(|_| self.opt_table(key))
    }

    /// `[[key]]`, in order.
    pub fn tables(&self, key: &'static str) -> Vec<Table<'a, 'd>> {
        let Some(node) = self.get(key) else { return Vec::new() };
        let Some(list) = node.get_ref().as_array() else {
            self.wrong_kind(key, node, &format!("a list of tables, [[{key}]]"));
            return Vec::new();
        };
        let table = |item: &'d Spanned<DeValue<'a>>| match item.get_ref().as_table() {
            Some(table) => Some(Table::new(self.doc, table, item.span())),
            None => {
                self.wrong_kind(key, item, "a table");
                None
            }
        };
        list.iter().filter_map(table).collect()
    }

    /// Every key of this table with its place and value, in the author's order.
    pub fn entries(&self) -> Vec<(String, Range<usize>, &'d Spanned<DeValue<'a>>)> {
        let entry = |(key, node): (&Spanned<toml::de::DeString<'a>>, &'d Spanned<DeValue<'a>>)| {
            (key.get_ref().to_string(), key.span(), node)
        };
        let mut entries: Vec<_> = self.table.iter().map(entry).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    /// `{ zh = "…", en = "…" }`. One language is enough to run; the other is asked for.
    pub fn localized(&self, key: &'static str) -> Localized {
        let Some(table) = self.need_table(key) else { return Localized::default() };
        let text = Localized { zh: table.opt_text("zh"), en: table.opt_text("en") };
        for (lang, part) in [("zh", &text.zh), ("en", &text.en)] {
            if part.as_ref().is_none_or(|part| part.trim().is_empty()) {
                let what = format!("{key} has no {lang}");
                let help = Some(format!("write {key} = {{ zh = \"…\", en = \"…\" }}"));
                if text.is_empty() {
                    self.doc.problem("missing-translation", table.span.clone(), what, help);
                } else {
                    self.doc.warning("missing-translation", table.span.clone(), what, help);
                }
            }
        }
        table.finish();
        text
    }

    /// The schema version, checked before anything else is read strictly.
    pub fn schema(&self) -> u32 {
        let found = self.number("schema");
        let ours = crate::manifest::SCHEMA;
        if self.table.contains_key("schema") && found != f64::from(ours) {
            let what = format!("schema {found} is not the version that this program reads ({ours})");
            let help = if found > f64::from(ours) { "it needs a newer program" } else { "run `vramlab migrate`" };
            self.doc.problem("schema", self.span_of("schema"), what, Some(help.to_owned()));
        }
        ours
    }
}

/// A finite number.
pub fn number(value: &DeValue<'_>) -> Option<f64> {
    let found = match value {
        DeValue::Integer(int) => i64::from_str_radix(int.as_str(), int.radix()).ok()? as f64,
        DeValue::Float(float) => float.as_str().parse().ok()?,
        _ => return None,
    };
    f64::is_finite(found).then_some(found)
}

/// A plain value as JSON; tables and dates are not plain.
pub fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(_) | DeValue::Float(_) => crate::vars::json_number(number(value)?),
        DeValue::Array(list) => list.iter().map(|item| json(item.get_ref())).collect::<Option<Vec<_>>>()?.into(),
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}

/// What an author would call it.
pub fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
