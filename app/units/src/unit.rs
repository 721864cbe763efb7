//! Units as products of powers, and the unit that a formula has. `GB` and `B` are different units here: a formula adds
//! numbers as they stand, so a conversion is a factor that the author writes, with the unit `B/GB`.

use crate::formula::{Formula, Node, Op};
use std::collections::BTreeMap;
use std::fmt;

/// Longest accepted unit, in bytes.
pub const MAX_LEN: usize = 40;
/// Largest accepted power.
const MAX_POWER: i32 = 9;

/// A product of powers of names; empty for a pure number. `%` is a pure number too: its values are ratios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit(BTreeMap<String, i32>);

/// A unit that cannot be read. Its text is shown to the author as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a unit; write 1, B, GB/s, B/token or FLOP/(SM*s)")]
pub struct BadUnit(pub String);

impl Unit {
    /// `1`, `%`, `B`, `GB/s`, `B/token/layer`, `m^2`, `FLOP/(SM*s)`.
    pub fn parse(text: &str) -> Result<Self, BadUnit> {
        let bad = || BadUnit(text.chars().take(MAX_LEN).collect());
        if text.len() > MAX_LEN {
            return Err(bad());
        }
        let mut unit = Self::default();
        // Inside the one bracket that is allowed, behind a stroke, everything divides.
        let (mut sign, mut is_inside, mut is_expected) = (1, false, true);
        let mut rest = text.trim();
        while let Some(c) = rest.chars().next() {
            match c {
                '*' | '·' | '/' if is_expected => return Err(bad()),
                '*' | '·' => (is_expected, sign) = (true, if is_inside { -1 } else { 1 }),
                '/' if is_inside => return Err(bad()),
                '/' => (is_expected, sign) = (true, -1),
                '(' if is_expected && sign < 0 && !is_inside => is_inside = true,
                ')' if !is_expected && is_inside => (is_inside, sign) = (false, 1),
                ' ' => {}
                _ if is_expected => {
                    let len = rest.find(['*', '·', '/', '(', ')', ' ']).unwrap_or(rest.len());
                    unit.factor(&rest[..len], sign).ok_or_else(bad)?;
                    is_expected = false;
                    rest = &rest[len..];
                    continue;
                }
                _ => return Err(bad()),
            }
            rest = &rest[c.len_utf8()..];
        }
        if is_expected || is_inside { Err(bad()) } else { Ok(unit) }
    }

    fn factor(&mut self, text: &str, sign: i32) -> Option<()> {
        let (name, power) = match text.split_once('^') {
            Some((name, power)) => (name, power.parse().ok().filter(|power: &i32| power.abs() <= MAX_POWER)?),
            None => (text, 1),
        };
        if name.is_empty() || name.contains('^') {
            return None;
        }
        if !matches!(name, "1" | "%") {
            if name.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            self.multiply(name, sign * power);
        }
        Some(())
    }

    fn multiply(&mut self, name: &str, power: i32) {
        let sum = self.0.get(name).copied().unwrap_or_default() + power;
        if sum == 0 {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), sum);
        }
    }

    /// Whether something that is measured is in it: bytes, time, rates. `GPU`, `token` or `piece` are counts with a noun.
    pub fn is_measure(&self) -> bool {
        const MEASURES: &[&str] =
            &["b", "bit", "s", "ns", "us", "µs", "ms", "min", "h", "d", "hz", "flop", "op", "w", "j", "wh", "m", "g"];
        let is_known = |name: &str| {
            let name = name.to_ascii_lowercase();
            let bare = name.trim_start_matches(['k', 'm', 'g', 't', 'p']);
            let bare = bare.strip_prefix('i').unwrap_or(bare);
            MEASURES.contains(&name.as_str()) || MEASURES.contains(&bare)
        };
        self.0.iter().any(|(name, _)| is_known(name))
    }

    pub fn is_pure(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn times(mut self, other: &Self, power: i32) -> Self {
        for (name, other) in &other.0 {
            self.multiply(name, other * power);
        }
        self
    }

    fn root(&self) -> Option<Self> {
        let halves = self.0.iter().map(|(name, power)| (power % 2 == 0).then(|| (name.clone(), power / 2)));
        halves.collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |name: &str, power: i32| if power == 1 { name.to_owned() } else { format!("{name}^{power}") };
        let over: Vec<String> = self.0.iter().filter(|(_, p)| **p > 0).map(|(name, p)| part(name, *p)).collect();
        let under: Vec<String> = self.0.iter().filter(|(_, p)| **p < 0).map(|(name, p)| part(name, -p)).collect();
        let over = if over.is_empty() { "1".to_owned() } else { over.join("*") };
        match under.len() {
            0 => f.write_str(&over),
            1 => write!(f, "{over}/{}", under[0]),
            _ => write!(f, "{over}/({})", under.join("*")),
        }
    }
}

/// Units that do not go together. `at` is a byte offset into the formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct UnitError {
    pub at: usize,
    pub what: String,
    pub help: String,
}

/// The unit of a part of a formula; `None` for a literal 0, which fits everywhere.
type Found = Option<Unit>;

/// The unit of `formula`, whose names have the units that `lookup` gives. Literals are pure numbers; names without a
/// unit count as such.
pub fn of_formula(formula: &Formula, lookup: &dyn Fn(&str) -> Option<Unit>) -> Result<Unit, UnitError> {
    let mut walk = Walk { formula, lookup, n_done: 0 };
    walk.node(&formula.root).map(Option::unwrap_or_default)
}

struct Walk<'a> {
    formula: &'a Formula,
    lookup: &'a dyn Fn(&str) -> Option<Unit>,
    n_done: usize,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node) -> Result<Found, UnitError> {
        match node {
            Node::Number(value) => {
                self.place();
                Ok((*value != 0.0).then(Unit::default))
            }
            Node::Name(name) => {
                self.place();
                Ok(Some((self.lookup)(name).unwrap_or_default()))
            }
            Node::Negate(inner) => {
                let unit = self.node(inner)?;
                self.place();
                Ok(unit)
            }
            Node::Binary(op, left, right) => {
                let (a, b) = (self.node(left)?, self.node(right)?);
                let at = self.place();
                binary(*op, a, b, right, at)
            }
            Node::Call(name, args) => {
                let units = args.iter().map(|arg| self.node(arg)).collect::<Result<Vec<_>, _>>()?;
                let at = self.place();
                call(name, units, at)
            }
        }
    }

    /// Where the node that is complete now stands.
    fn place(&mut self) -> usize {
        self.n_done += 1;
        self.formula.marks.get(self.n_done - 1).copied().unwrap_or_default()
    }
}

fn binary(op: Op, a: Found, b: Found, right: &Node, at: usize) -> Result<Found, UnitError> {
    match op {
        Op::Add | Op::Sub | Op::Rem => alike(a, b, op.sign(), at),
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
            alike(a, b, op.sign(), at).map(|_| Some(Unit::default()))
        }
        Op::Mul => Ok(Some(a.unwrap_or_default().times(&b.unwrap_or_default(), 1))),
        Op::Div => Ok(Some(a.unwrap_or_default().times(&b.unwrap_or_default(), -1))),
        Op::Pow => power(a.unwrap_or_default(), b.unwrap_or_default(), right, at),
    }
}

/// Both sides of a sum, a comparison, `min` and the like.
fn alike(a: Found, b: Found, sign: &str, at: usize) -> Result<Found, UnitError> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => {
            let what = format!("`{sign}` joins unlike units: {a} and {b}");
            let help = if a.is_pure() || b.is_pure() {
                let unit = if a.is_pure() { b } else { a };
                match unit.is_measure() {
                    true => format!("a plain number has the unit 1; multiply it by a constant in {unit}"),
                    false => format!(
                        "a plain number has the unit 1: if {unit} only counts things, declare it with unit = \"1\" and name \
                         them in the caption; else multiply the number by a constant in {unit}"
                    ),
                }
            } else {
                format!("bring one to the other's unit with a constant in {}", a.times(&b, -1))
            };
            Err(UnitError { at, what, help })
        }
        (a, b) => Ok(a.or(b)),
    }
}

fn power(base: Unit, exponent: Unit, right: &Node, at: usize) -> Result<Found, UnitError> {
    if !exponent.is_pure() {
        let what = format!("an exponent is a pure number; this one has the unit {exponent}");
        return Err(UnitError { at, what, help: "divide it by one of its unit first".to_owned() });
    }
    if base.is_pure() {
        return Ok(Some(base));
    }
    let whole = match right {
        Node::Number(value) => Some(*value),
        Node::Negate(inner) => match inner.as_ref() {
            Node::Number(value) => Some(-value),
            _ => None,
        },
        _ => None,
    };
    match whole.filter(|value| value.fract() == 0.0 && value.abs() <= f64::from(MAX_POWER)) {
        Some(value) => Ok(Some(Unit::default().times(&base, value as i32))),
        None => {
            let what = format!("{base} can only be raised to a whole number from -{MAX_POWER} to {MAX_POWER}");
            Err(UnitError { at, what, help: "write the exponent as a number, as in x ^ 2".to_owned() })
        }
    }
}

fn call(name: &str, mut units: Vec<Found>, at: usize) -> Result<Found, UnitError> {
    let mut next = || if units.is_empty() { None } else { units.remove(0) };
    match name {
        "min" | "max" | "gcd" | "round_up" | "round_down" => alike(next(), next(), name, at),
        "ceil_div" => Ok(Some(next().unwrap_or_default().times(&next().unwrap_or_default(), -1))),
        "log2" | "log10" => match next().unwrap_or_default() {
            unit if unit.is_pure() => Ok(Some(unit)),
            unit => {
                let what = format!("{name} takes a pure number; this one has the unit {unit}");
                Err(UnitError { at, what, help: format!("divide it by one {unit} first") })
            }
        },
        "sqrt" => {
            let unit = next().unwrap_or_default();
            unit.root().map(Some).ok_or_else(|| {
                let what = format!("the square root of {unit} is no unit");
                UnitError { at, what, help: "the powers under a root must be even".to_owned() }
            })
        }
        "if" => {
            next();
            alike(next(), next(), name, at)
        }
        _ => Ok(next()), // ceil, floor, round, abs, pow2_floor keep the unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn printed(text: &str, expected: &str) {
        assert_eq!(Unit::parse(text).unwrap().to_string(), expected, "{text}");
    }

    #[test]
    fn units_are_products_of_powers() {
        printed("1", "1");
        printed("%", "1");
        printed("GB/s", "GB/s");
        printed("B/token/layer", "B/(layer*token)");
        printed("B/(layer*token)", "B/(layer*token)");
        printed("1/s", "1/s");
        printed("m^2", "m^2");
        printed("B·s/B", "s");
        for bad in ["", " ", "/s", "B/", "B//s", "B/(s", "B)", "2B", "B^99", "B s", "B^", "x".repeat(41).as_str()] {
            assert!(Unit::parse(bad).is_err(), "{bad}");
        }
    }

    fn unit_of(source: &str) -> Result<String, UnitError> {
        let lookup = |name: &str| {
            let unit = match name {
                "bytes" | "more" => "B",
                "gb" => "GB",
                "rate" => "GB/s",
                "secs" => "s",
                "gpus" => "GPU",
                "area" => "m^2",
                "share" => "%",
                _ => "1",
            };
            Unit::parse(unit).ok()
        };
        of_formula(&Formula::parse(source).unwrap(), &lookup).map(|unit| unit.to_string())
    }

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(unit_of(source).as_deref(), Ok(expected), "{source}");
    }

    #[test]
    fn a_formula_has_the_unit_of_its_arithmetic() {
        check("rate * secs", "GB");
        check("bytes / secs", "B/s");
        check("1 / (1 - share + share / n)", "1");
        check("sqrt(area) * 2", "m");
        check("area ^ -2", "1/m^4");
        check("max(0, bytes - more) + 0", "B");
        check("if(bytes > 0, bytes, more)", "B");
        check("log2(bytes / more)", "1");
        check("ceil_div(bytes, more) * secs", "s");
        check("round_up(bytes, more)", "B");
        check("bytes > more", "1");
    }

    /// The offset counts bytes; each case names the sign or word that it must fall on.
    #[track_caller]
    fn refuse(source: &str, at: &str, what: &str) {
        let error = unit_of(source).unwrap_err();
        assert!(source[error.at..].starts_with(at), "{source}: byte {}", error.at);
        assert!(error.what.contains(what), "{source}: {}", error.what);
        assert!(!error.help.is_empty());
    }

    #[test]
    fn unlike_units_are_refused_at_their_place() {
        refuse("2 * (bytes + secs)", "+", "B and s");
        refuse("bytes + 1", "+", "B and 1");
        refuse("rate * secs - bytes", "-", "GB and B");
        refuse("1 + max(bytes, secs)", "max", "B and s");
        refuse("2 ^ bytes", "^", "exponent");
        refuse("area ^ n", "^", "whole number");
        refuse("1 + log2(bytes)", "log2", "pure number");
        refuse("n * sqrt(bytes)", "sqrt", "B");
        refuse("if(bytes < secs, 1, 2)", "<", "B and s");
        refuse("if(n, bytes, secs)", "if", "B and s");
        assert_eq!(
            unit_of("bytes + 1").unwrap_err().help,
            "a plain number has the unit 1; multiply it by a constant in B"
        );
        assert!(
            unit_of("gpus - 1").unwrap_err().help.contains("if GPU only counts things, declare it with unit = \"1\"")
        );
        assert_eq!(unit_of("gb + bytes").unwrap_err().help, "bring one to the other's unit with a constant in GB/B");
    }

    #[test]
    fn a_mark_is_kept_for_every_node() {
        let formula = Formula::parse("-x + min(2, y ^ 2) * 3").unwrap();
        assert_eq!(formula.marks, [1, 0, 9, 12, 16, 14, 5, 21, 19, 3]);
        assert_eq!(formula.n_nodes(), 10);
    }
}
