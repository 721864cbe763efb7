//! Which names a formula may use, and the check that it uses no other.

use super::tree::{Doc, Table, hint, kind};
use crate::manifest::Formulas;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;
use vramlab_trace::DeviceFacts;
use vramlab_units::Formula;

/// The names known at one place of a manifest.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: Vec<String>,
    /// Whole families that cannot be listed, e.g. `reading.`.
    families: Vec<&'static str>,
}

impl Names {
    /// `device.*` and `known.*`.
    pub fn device() -> Self {
        let both = |name: &&str| [format!("device.{name}"), format!("known.{name}")];
        Self { known: DeviceFacts::NAMES.iter().flat_map(both).collect(), families: Vec::new() }
    }

    pub fn push(&mut self, name: impl Into<String>) {
        self.known.push(name.into());
    }

    #[must_use]
    pub fn with<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.known.extend(names.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn family(mut self, prefix: &'static str) -> Self {
        self.families.push(prefix);
        self
    }

    /// These names behind a prefix, beside the names themselves.
    #[must_use]
    pub fn prefixed(&self, prefixes: &[&str]) -> Self {
        let mut out = self.clone();
        for prefix in prefixes {
            out.known.extend(self.known.iter().map(|name| format!("{prefix}{name}")));
        }
        out
    }

    pub fn has(&self, name: &str) -> bool {
        self.known.iter().any(|known| known == name) || self.families.iter().any(|prefix| name.starts_with(prefix))
    }

    /// What to offer for a wrong name: the near ones of its own family.
    fn hint(&self, word: &str) -> Option<String> {
        let prefix = word.split_once('.').map(|(prefix, _)| format!("{prefix}."));
        let is_near = |name: &&str| match &prefix {
            Some(prefix) => name.starts_with(prefix.as_str()),
            None => !name.contains('.'),
        };
        hint(word, self.known.iter().map(String::as_str).filter(is_near))
    }
}

/// Parses a formula and checks its names. A plain number is a formula, too. The text is returned even if it is wrong.
pub fn formula(doc: &Doc<'_>, field: &str, node: &Spanned<DeValue<'_>>, names: &Names) -> String {
    match node.get_ref() {
        DeValue::String(text) => {
            check_text(doc, field, text, node.span(), names);
            text.to_string()
        }
        value => match super::tree::number(value) {
            Some(number) => number.to_string(),
            None => {
                let what = format!("{field} must be a formula in quotes, not {}", kind(value));
                doc.problem("wrong-kind", node.span(), what, None);
                String::new()
            }
        },
    }
}

/// [`formula`] for text that is part of a value; `span` is the whole value's.
pub fn check_text(doc: &Doc<'_>, field: &str, text: &str, span: Range<usize>, names: &Names) {
    match Formula::parse(text) {
        Err(error) => {
            let place = inside(doc, text, &span, error.at..error.at + 1);
            doc.problem("bad-formula", place, format!("{field}: {error}"), None);
        }
        Ok(parsed) => {
            for name in parsed.names().into_iter().filter(|name| !names.has(name)) {
                let at = find_name(text, name).unwrap_or_default();
                let place = inside(doc, text, &span, at..at + name.len());
                doc.problem(
                    "unknown-name",
                    place,
                    format!("{field}: nothing is called \"{name}\" here"),
                    names.hint(name),
                );
            }
        }
    }
}

/// The place of a part of a formula, if the formula stands in the file as it is; else the whole value.
fn inside(doc: &Doc<'_>, text: &str, span: &Range<usize>, part: Range<usize>) -> Range<usize> {
    match doc.text.get(span.clone()).and_then(|raw| raw.find(text)) {
        Some(start) if !text.is_empty() => span.start + start + part.start..span.start + start + part.end,
        _ => span.clone(),
    }
}

fn find_name(text: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

impl Table<'_, '_> {
    pub fn opt_formula(&self, key: &'static str, names: &Names) -> Option<String> {
        self.get(key).map(|node| formula(self.doc, key, node, names))
    }

    pub fn formula(&self, key: &'static str, names: &Names) -> String {
        self.need(key).map(|node| formula(self.doc, key, node, names)).unwrap_or_default()
    }

    /// A table of formulas in the author's order; each may use the earlier ones under `prefix`. The names it defines are
    /// added to `names`.
    pub fn formulas(&self, key: &'static str, prefix: &str, names: &mut Names) -> Formulas {
        let Some(table) = self.opt_table(key) else { return Formulas::default() };
        let mut out = Formulas::default();
        for (name, span, node) in table.entries() {
            let full = format!("{prefix}{name}");
            if !is_identifier(&name) || names.has(&full) {
                let what = format!("{key}: \"{name}\" is not a new name");
                let help = "use letters, digits and _, and no name twice".to_owned();
                self.doc.problem("bad-name", span, what, Some(help));
            }
            let text = formula(self.doc, &format!("{key}.{name}"), node, names);
            names.push(full);
            out.0.push((name, text));
        }
        out
    }
}

/// A name that formulas can spell.
pub fn is_identifier(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
