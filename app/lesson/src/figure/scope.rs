//! The names of a figure while it is read: which exist, in what unit, and whether a formula goes by them. Everything
//! wrong is noted at its place in the file.

use super::{Expr, MAX_FORMULA_NODES, ROLES};
use crate::read::{Reader, shorten, text};
use crate::tree::{Span, Table};
use std::collections::BTreeSet;
use vramlab_units::field::did_you_mean;
use vramlab_units::formula::{FUNCTIONS, MAX_LEN, Node};
use vramlab_units::{Formula, Localized, Unit, unit};

pub struct Scope<'r, 's> {
    pub reader: &'r mut Reader<'s>,
    /// Where a thing stands that is not written.
    header: Span,
    names: Vec<Name>,
    /// Values that stand further down.
    later: Vec<String>,
    n_nodes: usize,
    /// Pairs of units that have been found unlike.
    unlike: BTreeSet<(String, String)>,
    /// The unit of a value is in doubt.
    pub is_doubtful: bool,
}

struct Name {
    name: String,
    unit: Unit,
    written: String,
    means: Localized,
}

impl<'r, 's> Scope<'r, 's> {
    pub fn new(reader: &'r mut Reader<'s>, header: Span, later: Vec<String>) -> Self {
        Self { reader, header, names: Vec::new(), later, n_nodes: 0, unlike: BTreeSet::new(), is_doubtful: false }
    }

    pub fn span(&self, path: &str) -> Span {
        self.reader.spans.get(path).unwrap_or(&self.header).clone()
    }

    pub fn fail(&mut self, rule: &'static str, path: &str, what: String, help: Option<&str>) {
        let span = self.span(path);
        self.reader.fail(rule, &span, what, help.map(str::to_owned));
    }

    /// A list that is too long.
    pub fn is_short(&mut self, n: usize, most: usize, noun: &str, path: &str) -> bool {
        if n > most {
            let path = format!("{path}[{most}]");
            self.fail("too-large", &path, format!("{n} {noun}; a figure may have {most}"), Some("show less at once"));
        }
        n <= most
    }

    /// Adds a slider or a value to the names that formulas may use from here on.
    pub fn declare(&mut self, table: &Table, path: &str) -> Option<()> {
        let (name, written) = (text(table, "name")?, text(table, "unit")?);
        self.later.retain(|later| *later != name);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = (1..=32).contains(&name.len())
            && name.chars().all(is_word)
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name {
            let what = format!("\"{}\" cannot be a name in a formula", shorten(&name));
            self.fail(
                "bad-name",
                &format!("{path}.name"),
                what,
                Some("1 to 32 letters, digits and _, not a digit first"),
            );
        } else if FUNCTIONS.iter().any(|(known, _)| *known == name) {
            let what = format!("{name} is the name of a function");
            self.fail("bad-name", &format!("{path}.name"), what, Some("choose another"));
        } else if self.names.iter().any(|known| known.name == name) {
            self.fail("duplicate-id", &format!("{path}.name"), format!("{name} is declared twice"), None);
        }
        let unit = match Unit::parse(&written) {
            Ok(unit) => unit,
            Err(error) => {
                let rule = if written.trim().is_empty() { "no-unit" } else { "bad-unit" };
                self.fail(rule, &format!("{path}.unit"), error.to_string(), Some("write unit = \"1\" if it has none"));
                Unit::default()
            }
        };
        let means = self.reader.localized(table, "means");
        self.names.push(Name { name, unit, written, means });
        Some(())
    }

    pub fn is_known(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.name == name)
    }

    /// The unit that was declared for `name`.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        self.names.iter().find(|known| known.name == name).map(|known| &known.unit)
    }

    /// What a formula that is only a name stands for.
    pub fn means(&self, expr: &Expr) -> Localized {
        let Node::Name(name) = &expr.formula.root else { return Localized::default() };
        self.names.iter().find(|known| known.name == *name).map(|known| known.means.clone()).unwrap_or_default()
    }

    /// A name that is used: noted if there is none, or none yet.
    pub fn use_name(&mut self, name: &str, span: &Span) -> bool {
        if self.is_known(name) {
            return true;
        }
        if self.later.iter().any(|later| later == name) {
            let what = format!("\"{name}\" is used before it is there");
            let help = "a value may use sliders and the values above it; values that need each other form a circle";
            self.reader.fail("cyclic", span, what, Some(help.to_owned()));
        } else {
            let known: Vec<&str> = self.names.iter().map(|known| known.name.as_str()).collect();
            let help = match did_you_mean(name, known.iter().copied()) {
                Some(hint) => format!("did you mean \"{hint}\"?"),
                None if known.is_empty() => "the figure has no sliders and no values".to_owned(),
                None => format!("there are {}", known.join(", ")),
            };
            let what = format!("nothing is called \"{}\" here", shorten(name));
            self.reader.fail("unknown-symbol", span, what, Some(help));
        }
        false
    }

    /// The formula in the field `key`; nothing if the field is not there.
    pub fn expr(&mut self, table: &Table, key: &str, path: &str) -> Option<Expr> {
        let source = text(table, key)?;
        self.formula(&source, &format!("{path}.{key}"))
    }

    /// A formula, its names and its units checked.
    pub fn formula(&mut self, source: &str, path: &str) -> Option<Expr> {
        let whole = self.span(path);
        // Escapes make the text in the file longer than its value; then the whole field is underlined.
        let found = self.reader.source.find_within(&whole, source);
        let place = |at: usize, len: usize| match found.is_empty() {
            true => whole.clone(),
            false => (found.start + at).min(whole.end)..(found.start + at + len.max(1)).min(whole.end),
        };
        let formula = match Formula::parse(source) {
            Ok(formula) => formula,
            Err(error) => {
                let len = source.get(error.at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                let what = format!("the formula cannot be read: {error}");
                // A formula that is too long is marked at its beginning: its end may be far from any screen.
                let span = if source.len() > MAX_LEN { whole.start..whole.start + 1 } else { place(error.at, len) };
                self.reader.fail("bad-formula", &span, what, None);
                return None;
            }
        };
        self.n_nodes += formula.n_nodes();
        if self.n_nodes > MAX_FORMULA_NODES {
            let what =
                format!("the formulas of one figure have more than {MAX_FORMULA_NODES} numbers, names and signs");
            self.reader.fail("too-costly", &whole, what, Some("compute it in a model, or in two figures".to_owned()));
            return None;
        }
        let mut is_known = true;
        for name in formula.names() {
            let at = word_at(source, name).unwrap_or_default();
            is_known &= self.use_name(name, &place(at, name.len()));
        }
        let units = |name: &str| self.unit(name).cloned();
        match unit::of_formula(&formula, &units) {
            Ok(unit) => {
                let written = match &formula.root {
                    Node::Name(name) => {
                        self.names.iter().find(|known| known.name == *name).map(|known| known.written.clone())
                    }
                    _ => None,
                };
                is_known.then(|| Expr { unit: written.unwrap_or_else(|| unit.to_string()), formula })
            }
            Err(error) if is_known => {
                let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let rest = source.get(error.at..).unwrap_or_default();
                let len = rest.find(|c| !word(c)).filter(|len| *len > 0).unwrap_or(1);
                self.reader.fail("unlike-units", &place(error.at, len), error.what, Some(error.help));
                None
            }
            Err(_) => None,
        }
    }

    /// Notes an expression whose unit is not `unit`, the one that `whose` has.
    pub fn is_in(&mut self, expr: &Expr, unit: &str, whose: &str, path: &str) -> bool {
        let is_alike = are_alike(&expr.unit, unit);
        // One slip in a value's unit shows wherever the value is drawn: each pair of units is told of once, and none
        // after a value whose formula gives another unit than it says.
        let is_new = self.unlike.insert((expr.unit.clone(), unit.to_owned()));
        if !is_alike && is_new && !self.is_doubtful {
            let what = format!("this is in {}; {whose} is in {unit}", expr.unit);
            let help = help_for(&expr.unit, unit);
            self.fail("unlike-units", path, what, Some(&help));
        } else if !is_alike {
            self.reader.n_fatal += 1;
        }
        is_alike
    }

    pub fn role(&self, table: &Table) -> Option<&'static str> {
        let role = text(table, "role")?;
        ROLES.iter().copied().find(|known| *known == role)
    }

    /// The label, else what the value stands for.
    pub fn label(&self, table: &Table, value: &Expr) -> Localized {
        let label = self.reader.localized(table, "label");
        if label.is_empty() { self.means(value) } else { label }
    }
}

/// How to bring `has` beside `wants` in one drawing.
fn help_for(has: &str, wants: &str) -> String {
    let pure = |unit: &str| unit == "%" || unit == "1";
    match (Unit::parse(wants), Unit::parse(has)) {
        (Ok(wanted), Ok(found)) if !pure(has) && !pure(wants) => {
            format!("multiply it by a constant in {}, or draw it in a figure of its own", wanted.times(&found, -1))
        }
        _ if wants == "1" => "divide it by one of its unit, or draw it in a figure of its own".to_owned(),
        _ => format!("one drawing has one unit; give {has} a figure of its own"),
    }
}

/// Equal units, written one way or another. A ratio printed in percent is not drawn beside a plain number.
pub fn are_alike(a: &str, b: &str) -> bool {
    (a == "%") == (b == "%") && Unit::parse(a).ok() == Unit::parse(b).ok()
}

/// Where `name` stands as a whole word.
fn word_at(text: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    text.match_indices(name)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word))
}
