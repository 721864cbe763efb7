//! The expression language of the content files: launch shapes, byte counts, plans, equations.
//!
//! Numbers (with `k`-free units written out by the author), names (`stride`, `device.l2_bytes`), `+ - * / % ^`,
//! comparisons (1 or 0), `if(c, a, b)`, and the functions in [`FUNCTIONS`]. Bounded: at most [`MAX_LEN`] bytes and
//! [`MAX_DEPTH`] levels, no loops, so any text evaluates in microseconds. The syntax tree is public because the
//! equation step draws it.

/// Longest accepted source text, in bytes.
pub const MAX_LEN: usize = 2_000;
/// Deepest accepted nesting.
pub const MAX_DEPTH: usize = 40;

/// A parsed expression, with the text it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub source: String,
    pub root: Node,
    /// Where each node stands in the source, for messages: an operator's sign, a name's or number's first letter. In
    /// the order in which nodes are complete: operands before their operator, arguments before their function.
    pub marks: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Number(f64),
    Name(String),
    Negate(Box<Node>),
    Binary(Op, Box<Node>, Box<Node>),
    Call(String, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// Function names with their number of arguments.
pub const FUNCTIONS: &[(&str, usize)] = &[
    ("min", 2),
    ("max", 2),
    ("ceil", 1),
    ("floor", 1),
    ("round", 1),
    ("sqrt", 1),
    ("log2", 1),
    ("log10", 1),
    ("abs", 1),
    ("gcd", 2),
    ("ceil_div", 2),
    ("round_up", 2),
    ("round_down", 2),
    ("pow2_floor", 1),
    ("if", 3),
];

/// A formula that cannot be read or evaluated. `at` is a byte offset into the source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct FormulaError {
    pub at: usize,
    pub what: String,
}

impl Formula {
    pub fn parse(source: &str) -> Result<Self, FormulaError> {
        if source.len() > MAX_LEN {
            let what = format!("a formula may have {MAX_LEN} bytes; this one has {}", source.len());
            return Err(FormulaError { at: MAX_LEN, what });
        }
        let mut parser = Parser { text: source.as_bytes(), at: 0, depth: 0, marks: Vec::new() };
        let root = parser.expression(0)?;
        parser.skip_space();
        if parser.at < parser.text.len() {
            return parser.fail("expected an operator or the end of the formula");
        }
        Ok(Self { source: source.to_owned(), root, marks: parser.marks })
    }

    /// The number of nodes: what one evaluation costs.
    pub fn n_nodes(&self) -> usize {
        self.marks.len()
    }

    /// The value with names looked up by `lookup`. An unknown name, a division by zero and a value that is not finite
    /// are errors.
    pub fn eval(&self, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<f64, FormulaError> {
        let value = self.root.eval(lookup).map_err(|what| FormulaError { at: 0, what })?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(FormulaError { at: 0, what: format!("`{}` has no finite value", self.source) })
        }
    }

    /// Every name that occurs, in order, once each.
    pub fn names(&self) -> Vec<&str> {
        fn walk<'a>(node: &'a Node, out: &mut Vec<&'a str>) {
            match node {
                Node::Number(_) => {}
                Node::Name(name) => {
                    if !out.contains(&name.as_str()) {
                        out.push(name);
                    }
                }
                Node::Negate(inner) => walk(inner, out),
                Node::Binary(_, left, right) => {
                    walk(left, out);
                    walk(right, out);
                }
                Node::Call(_, args) => args.iter().for_each(|arg| walk(arg, out)),
            }
        }
        let mut out = Vec::new();
        walk(&self.root, &mut out);
        out
    }
}

impl Node {
    fn eval(&self, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        Ok(match self {
            Self::Number(value) => *value,
            Self::Name(name) => lookup(name).ok_or_else(|| format!("nothing is called `{name}` here"))?,
            Self::Negate(inner) => -inner.eval(lookup)?,
            Self::Binary(op, left, right) => {
                let (left, right) = (left.eval(lookup)?, right.eval(lookup)?);
                if matches!(op, Op::Div | Op::Rem) && right == 0.0 {
                    return Err("division by zero".to_owned());
                }
                op.apply(left, right)
            }
            Self::Call(name, args) if name == "if" => {
                let branch = if args[0].eval(lookup)? != 0.0 { 1 } else { 2 };
                args[branch].eval(lookup)?
            }
            Self::Call(name, args) => {
                let values = args.iter().map(|arg| arg.eval(lookup)).collect::<Result<Vec<_>, _>>()?;
                call(name, &values)?
            }
        })
    }
}

impl Op {
    /// The sign as written in the source.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Pow => "^",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
        }
    }

    /// Binding strength; larger binds tighter.
    pub fn strength(self) -> u8 {
        match self {
            Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne => 1,
            Self::Add | Self::Sub => 2,
            Self::Mul | Self::Div | Self::Rem => 3,
            Self::Pow => 5,
        }
    }

    fn apply(self, left: f64, right: f64) -> f64 {
        let truth = |yes: bool| f64::from(u8::from(yes));
        match self {
            Self::Add => left + right,
            Self::Sub => left - right,
            Self::Mul => left * right,
            Self::Div => left / right,
            Self::Rem => left.rem_euclid(right),
            Self::Pow => left.powf(right),
            Self::Lt => truth(left < right),
            Self::Le => truth(left <= right),
            Self::Gt => truth(left > right),
            Self::Ge => truth(left >= right),
            Self::Eq => truth(left == right),
            Self::Ne => truth(left != right),
        }
    }
}

fn call(name: &str, args: &[f64]) -> Result<f64, String> {
    let positive = |value: f64| if value > 0.0 { Ok(value) } else { Err(format!("{name} needs a positive argument")) };
    Ok(match name {
        "min" => args[0].min(args[1]),
        "max" => args[0].max(args[1]),
        "ceil" => args[0].ceil(),
        "floor" => args[0].floor(),
        "round" => args[0].round(),
        "sqrt" if args[0] >= 0.0 => args[0].sqrt(),
        "sqrt" => return Err("sqrt needs an argument that is not negative".to_owned()),
        "log2" => positive(args[0])?.log2(),
        "log10" => positive(args[0])?.log10(),
        "abs" => args[0].abs(),
        "gcd" => gcd(args[0].abs() as u64, args[1].abs() as u64) as f64,
        "ceil_div" => (args[0] / positive(args[1])?).ceil(),
        "round_up" => (args[0] / positive(args[1])?).ceil() * args[1],
        "round_down" => (args[0] / positive(args[1])?).floor() * args[1],
        "pow2_floor" => positive(args[0])?.log2().floor().exp2(),
        _ => return Err(format!("there is no function `{name}`")),
    })
}

/// Greatest common divisor; `gcd(0, n)` is `n`.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    marks: Vec<usize>,
}

impl Parser<'_> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError { at: self.at, what: what.into() })
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek_op(&mut self) -> Option<(Op, usize)> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let two: &[(&[u8], Op)] = &[(b"<=", Op::Le), (b">=", Op::Ge), (b"==", Op::Eq), (b"!=", Op::Ne)];
        let one: &[(u8, Op)] = &[
            (b'+', Op::Add),
            (b'-', Op::Sub),
            (b'*', Op::Mul),
            (b'/', Op::Div),
            (b'%', Op::Rem),
            (b'^', Op::Pow),
            (b'<', Op::Lt),
            (b'>', Op::Gt),
        ];
        two.iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .map(|(_, op)| (*op, 2))
            .or_else(|| one.iter().find(|(sign, _)| rest.first() == Some(sign)).map(|(_, op)| (*op, 1)))
    }

    fn expression(&mut self, weakest: u8) -> Result<Node, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        let mut left = self.prefix()?;
        while let Some((op, len)) = self.peek_op() {
            if op.strength() < weakest {
                break;
            }
            let sign = self.at;
            self.at += len;
            // `^` binds to the right, everything else to the left.
            let next = if op == Op::Pow { op.strength() } else { op.strength() + 1 };
            let right = self.expression(next)?;
            left = Node::Binary(op, Box::new(left), Box::new(right));
            self.marks.push(sign);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Node, FormulaError> {
        self.skip_space();
        match self.text.get(self.at) {
            None => self.fail("the formula ends where a value is expected"),
            Some(b'-') => {
                let sign = self.at;
                self.at += 1;
                let inner = self.expression(4)?;
                self.marks.push(sign);
                Ok(Node::Negate(Box::new(inner)))
            }
            Some(b'(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.close()?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || *c == b'.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || *c == b'_' => self.name(),
            Some(_) => self.fail("expected a number, a name or `(`"),
        }
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        self.skip_space();
        if self.text.get(self.at) == Some(&b')') {
            self.at += 1;
            Ok(())
        } else {
            self.fail("expected `)`")
        }
    }

    fn number(&mut self) -> Result<Node, FormulaError> {
        let start = self.at;
        while self.at < self.text.len() {
            let c = self.text[self.at];
            let is_exponent_sign =
                matches!(c, b'+' | b'-') && self.at > start && matches!(self.text[self.at - 1], b'e' | b'E');
            if c.is_ascii_digit() || matches!(c, b'.' | b'_' | b'e' | b'E') || is_exponent_sign {
                self.at += 1;
            } else {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).replace('_', "");
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.marks.push(start);
                Ok(Node::Number(value))
            }
            _ => {
                self.at = start;
                self.fail(format!("`{text}` is not a number"))
            }
        }
    }

    fn name(&mut self) -> Result<Node, FormulaError> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.')) {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        self.skip_space();
        if self.text.get(self.at) != Some(&b'(') {
            self.marks.push(start);
            return Ok(Node::Name(name));
        }
        let Some((_, n_args)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            self.at = start;
            let known = FUNCTIONS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            return self.fail(format!("there is no function `{name}`; there are {known}"));
        };
        self.at += 1;
        let mut args = vec![self.expression(0)?];
        self.skip_space();
        while self.text.get(self.at) == Some(&b',') {
            self.at += 1;
            args.push(self.expression(0)?);
            self.skip_space();
        }
        self.close()?;
        if args.len() != *n_args {
            self.at = start;
            return self.fail(format!("`{name}` takes {n_args} arguments, not {}", args.len()));
        }
        self.marks.push(start);
        Ok(Node::Call(name, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: f64) {
        let formula = Formula::parse(source).unwrap();
        let value = formula.eval(&|name| (name == "x").then_some(3.0).or((name == "device.l2").then_some(60.0)));
        assert_eq!(value, Ok(expected), "{source}");
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        check("1 + 2 * 3", 7.0);
        check("2 ^ 3 ^ 2", 512.0);
        check("-2 ^ 2", -4.0);
        check("8 - 4 - 2", 2.0);
        check("(1 + 2) * x", 9.0);
        check("1_000 * 1e-3", 1.0);
        check("x > 2", 1.0);
        check("if(x == 3, device.l2, 1 / 0)", 60.0);
    }

    #[test]
    fn functions_answer() {
        check("gcd(24, 32)", 8.0);
        check("round_up(33, 32)", 64.0);
        check("pow2_floor(1000)", 512.0);
        check("ceil_div(33, 32)", 2.0);
    }

    #[track_caller]
    fn refuse(source: &str, at: usize) {
        assert_eq!(Formula::parse(source).unwrap_err().at, at, "{source}");
    }

    #[test]
    fn errors_point_at_the_place() {
        refuse("1 +", 3);
        refuse("2 * foo(3)", 4);
        refuse("min(1)", 0);
        refuse("3 3", 2);
        refuse("1e999", 0);
    }

    #[test]
    fn hostile_text_is_refused_quickly() {
        assert!(Formula::parse(&"(".repeat(1_999)).is_err());
        assert!(Formula::parse(&"-".repeat(1_999)).is_err());
        assert!(Formula::parse(&"1+".repeat(5_000)).is_err());
    }

    #[test]
    fn nothing_evaluates_to_infinity() {
        let formula = Formula::parse("10 ^ 400").unwrap();
        assert!(formula.eval(&|_| None).is_err());
        assert!(Formula::parse("1 / (x - 3)").unwrap().eval(&|_| Some(3.0)).is_err());
    }
}
