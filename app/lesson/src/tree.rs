//! TOML as a tree with byte ranges, in the order of the file, cut into the head and one item per `[[step]]`,
//! `[[audit]]` or `[[review]]`.
//!
//! A file with a syntax error is read item by item, so that one broken step costs that step and no other.

use crate::problem::MAX_PROBLEMS;
use crate::slip;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use vramlab_units::{Map, Value};

pub type Span = Range<usize>;

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub span: Span,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Line ends are `\n`.
    Text(String),
    /// Always finite.
    Number(serde_json::Number),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// A value that no field can use, with the reason.
    Unusable(&'static str),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at).node)
    }
}

impl Node {
    /// What an author would call it.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "text",
            Data::Number(_) => "a number",
            Data::Flag(_) => "true or false",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
            Data::Unusable(reason) => reason,
        }
    }

    /// As JSON, for parameters. `None` if something in it cannot be used.
    pub fn to_json(&self) -> Option<Value> {
        Some(match &self.data {
            Data::Text(text) => Value::String(text.clone()),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Flag(flag) => Value::Bool(*flag),
            Data::List(list) => Value::Array(list.iter().map(Self::to_json).collect::<Option<_>>()?),
            Data::Table(table) => {
                let pairs = table.entries.iter().map(|entry| Some((entry.key.clone(), entry.node.to_json()?)));
                Value::Object(pairs.collect::<Option<Map>>()?)
            }
            Data::Unusable(_) => return None,
        })
    }
}

/// What the TOML parser complained about.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxError {
    pub span: Span,
    pub what: String,
    pub help: Option<String>,
}

/// One `[[step]]`, `[[audit]]` or `[[review]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// `step`, `audit` or `review`.
    pub list: &'static str,
    /// From its header to the next one.
    pub span: Span,
    /// The header itself, for "field missing".
    pub header: Span,
    /// What could be read; complete if `errors` is empty.
    pub table: Table,
    pub errors: Vec<SyntaxError>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Everything before the first item.
    pub head: Table,
    pub head_errors: Vec<SyntaxError>,
    pub items: Vec<Item>,
}

/// The lists of a chapter, in the order in which they usually stand.
pub const LISTS: [&str; 3] = ["step", "audit", "review"];

/// Reads `text`. Never fails: what cannot be read is in the errors of the item it belongs to.
pub fn read(text: &str) -> Document {
    let (root, errors) = parse(text, 0);
    let is_listed = |list: &&str| matches!(root.get(list), None | Some(Node { data: Data::List(_), .. }));
    let is_whole = errors.is_empty() && LISTS.iter().all(is_listed);
    let mut document = if is_whole { from_whole(root) } else { from_pieces(text) };
    let starts: Vec<usize> = document.items.iter().map(|item| item.header.start).collect();
    for (idx, item) in document.items.iter_mut().enumerate() {
        item.span = item.header.start..starts.get(idx + 1).copied().unwrap_or(text.len()).max(item.header.end);
    }
    document
}

/// A content file that is not a chapter: one table, and what the parser complained about.
pub fn whole(text: &str) -> (Table, Vec<SyntaxError>) {
    parse(text, 0)
}

fn from_whole(mut head: Table) -> Document {
    let mut items = Vec::new();
    for list in LISTS {
        if let Some(Node { data: Data::List(nodes), .. }) = head.take(list) {
            items.extend(nodes.into_iter().map(|node| item_from_node(list, node)));
        }
    }
    items.sort_by_key(|item| item.header.start);
    Document { head, head_errors: Vec::new(), items }
}

fn not_a_list(list: &str, span: Span) -> SyntaxError {
    SyntaxError { span, what: format!("there may be several; write [[{list}]] with two brackets"), help: None }
}

fn item_from_node(list: &'static str, node: Node) -> Item {
    let header = node.span.clone();
    match node.data {
        Data::Table(table) => Item { list, span: header.clone(), header, table, errors: Vec::new() },
        _ => {
            let what = format!("`{list}` must hold tables: [[{list}]]");
            let error = SyntaxError { span: header.clone(), what, help: None };
            Item { list, span: header.clone(), header, table: Table::default(), errors: vec![error] }
        }
    }
}

/// Most pieces that are joined when a header stands inside a text, as it may in a chapter about chapters.
const MAX_JOINED: usize = 3;

fn from_pieces(text: &str) -> Document {
    let headers = headers(text);
    let end_of_head = headers.first().map_or(text.len(), |(_, span)| span.start);
    let (mut head, mut head_errors) = parse(&text[..end_of_head], 0);
    head_errors.extend(LISTS.into_iter().filter_map(|list| Some(not_a_list(list, head.take(list)?.span))));
    let mut document = Document { head, head_errors, items: Vec::new() };
    let mut idx = 0;
    while let Some((list, header)) = headers.get(idx) {
        let end_after = |n: usize| headers.get(idx + n).map_or(text.len(), |(_, next)| next.start);
        let mut n_joined = 1;
        let (mut table, mut errors) = parse_item(text, list, header.start..end_after(1));
        for n in 2..=MAX_JOINED.min(headers.len() - idx) {
            if errors.is_empty() {
                break;
            }
            let (longer, longer_errors) = parse_item(text, list, header.start..end_after(n));
            if longer_errors.is_empty() {
                (table, errors, n_joined) = (longer, longer_errors, n);
            }
        }
        let span = header.clone();
        document.items.push(Item { list, header: span.clone(), span, table, errors });
        idx += n_joined;
    }
    document
}

fn parse_item(text: &str, list: &str, span: Span) -> (Table, Vec<SyntaxError>) {
    let start = span.start;
    let (mut root, mut errors) = parse(&text[span], start);
    let table = match root.take(list) {
        Some(Node { data: Data::List(mut nodes), .. }) if nodes.len() == 1 => match nodes.pop().map(|node| node.data) {
            Some(Data::Table(table)) => table,
            _ => Table::default(),
        },
        Some(node) => {
            if errors.is_empty() {
                errors.push(not_a_list(list, node.span));
            }
            Table::default()
        }
        None => Table::default(),
    };
    (table, errors)
}

/// Lines that open an item, also slightly misspelt ones such as `[step]` or `[[step]`.
fn headers(text: &str) -> Vec<(&'static str, Span)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start_matches([' ', '\t']);
        if let Some(name) = trimmed.strip_prefix('[') {
            let name = name.trim_start_matches(['[', ' ']);
            for list in LISTS {
                let rest = name.strip_prefix(list);
                if rest.is_some_and(|rest| rest.trim_start().starts_with(']') || rest.trim().is_empty()) {
                    let indent = line.len() - trimmed.len();
                    found.push((list, start + indent..start + line.trim_end().len()));
                }
            }
        }
        start += line.len();
    }
    found
}

fn parse(text: &str, offset: usize) -> (Table, Vec<SyntaxError>) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let errors = errors.iter().enumerate().map(|(idx, error)| {
        let span = error.span().unwrap_or_default();
        let slip = (idx < MAX_PROBLEMS).then(|| slip::find(text, span.start)).flatten();
        let span = slip.as_ref().map_or(span, |slip| slip.span.clone());
        let (what, help) = match slip {
            Some(slip) => (slip.what, Some(slip.help)),
            None => (error.message().to_owned(), None),
        };
        SyntaxError { span: span.start + offset..span.end + offset, what, help }
    });
    (table(root.get_ref(), offset), errors.collect())
}

fn table(from: &DeTable<'_>, offset: usize) -> Table {
    let mut entries: Vec<Entry> = from
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: shift(key.span(), offset),
            node: node(value, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Table { entries }
}

fn node(from: &toml::Spanned<DeValue<'_>>, offset: usize) -> Node {
    let data = match from.get_ref() {
        DeValue::String(text) => Data::Text(text.replace("\r\n", "\n")),
        DeValue::Boolean(flag) => Data::Flag(*flag),
        DeValue::Integer(int) => match i64::from_str_radix(int.as_str(), int.radix()) {
            Ok(int) => Data::Number(int.into()),
            Err(_) => Data::Unusable("an integer beyond 64 bits"),
        },
        DeValue::Float(float) => match float.as_str().parse().ok().and_then(serde_json::Number::from_f64) {
            Some(number) => Data::Number(number),
            None => Data::Unusable("a number that is not finite"),
        },
        DeValue::Datetime(_) => Data::Unusable("a date"),
        DeValue::Array(list) => Data::List(list.iter().map(|value| node(value, offset)).collect()),
        DeValue::Table(from) => Data::Table(table(from, offset)),
    };
    Node { span: shift(from.span(), offset), data }
}

fn shift(span: Span, offset: usize) -> Span {
    span.start + offset..span.end + offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_step_costs_that_step() {
        let text = "schema = 1\n[[step]]\nid = \"a\"\n[[step]]\nid = = 1\n[[step]]\nid = \"c\"\n";
        let document = read(text);
        assert_eq!(document.items.iter().map(|item| item.errors.is_empty()).collect::<Vec<_>>(), [true, false, true]);
        let id = document.items[2].table.get("id").unwrap();
        assert_eq!(&text[id.span.clone()], "\"c\"", "offsets are those of the whole file");
        assert_eq!(&text[document.items[1].span.clone()], "[[step]]\nid = = 1\n");
    }

    #[test]
    fn an_unclosed_text_does_not_swallow_the_next_step() {
        let document = read("[[step]]\ntext = \"\"\"\nhello\n[[step]]\nid = \"b\"\n");
        assert_eq!(document.items.len(), 2);
        assert!(!document.items[0].errors.is_empty());
        assert!(document.items[1].errors.is_empty());
    }

    #[test]
    fn a_header_inside_a_text_is_text() {
        let good = "[[step]]\ntext = \"\"\"\n```toml\n[[step]]\nid = 1\n```\n\"\"\"\n[[audit]]\nid = \"q\"\n";
        assert_eq!(read(good).items.len(), 2);
        let with_error = format!("{good}[[review]]\nid = = 1\n");
        let document = read(&with_error);
        assert_eq!(document.items.iter().map(|item| item.list).collect::<Vec<_>>(), ["step", "audit", "review"]);
        assert!(document.items[0].errors.is_empty());
    }

    #[test]
    fn single_brackets_are_named() {
        let document = read("schema = 1\n[step]\nid = \"a\"\n");
        assert_eq!(document.items.len(), 1);
        assert!(document.items[0].errors[0].what.contains("[[step]]"));
        assert_eq!(read("step = 1\n").head_errors.len(), 1);
    }
}
