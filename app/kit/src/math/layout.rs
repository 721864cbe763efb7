//! From the syntax tree to boxes: which sign, which fence, where brackets are needed.

use super::Names;
use super::boxes::{Fence, MathBox};
use crate::tokens::{Tokens, Type};
use egui::{Color32, FontFamily, FontId, Stroke, Ui};
use vramlab_units::formula::{Node, Op};
use vramlab_units::{Formula, show};

/// Lays a formula out in one size; smaller ones are made for scripts and for fractions within fractions.
#[derive(Clone, Copy)]
pub(super) struct Pen<'a> {
    pub ui: &'a Ui,
    pub tokens: &'a Tokens,
    pub names: &'a Names<'a>,
    pub size: f32,
}

/// Binding strength from which a node needs no brackets: a whole expression, a factor, the base of a power.
const ANY: u8 = 0;
const TERM: u8 = 2;
const FACTOR: u8 = 3;
const ATOM: u8 = 6;

impl Pen<'_> {
    pub fn formula(&self, formula: &Formula) -> MathBox {
        self.node(&formula.root, ANY)
    }

    /// `node`, in brackets if it binds more loosely than `at_least`.
    fn node(&self, node: &Node, at_least: u8) -> MathBox {
        let drawn = match node {
            Node::Number(value) => self.number(*value),
            Node::Name(name) => self.name(name),
            Node::Negate(inner) => MathBox::row(vec![self.upright("−"), self.node(inner, FACTOR)]),
            Node::Binary(op, left, right) => self.binary(*op, left, right),
            Node::Call(name, args) => self.call(name, args),
        };
        if strength(node) < at_least { drawn.fenced(Fence::Paren, self.stroke()) } else { drawn }
    }

    fn binary(&self, op: Op, left: &Node, right: &Node) -> MathBox {
        match op {
            Op::Div => self.fraction(left, right),
            Op::Pow => {
                let base = self.node(left, ATOM);
                let raise = base.ascent * 0.45;
                MathBox::script(base, self.smaller(0.72).node(right, ANY), raise)
            }
            Op::Mul => self.infix(left, FACTOR, "×", right, FACTOR),
            Op::Rem => self.infix(left, FACTOR, "mod", right, ATOM),
            Op::Add => self.infix(left, TERM, "+", right, TERM),
            Op::Sub => self.infix(left, TERM, "−", right, FACTOR),
            Op::Lt => self.infix(left, TERM, "<", right, TERM),
            Op::Le => self.infix(left, TERM, "≤", right, TERM),
            Op::Gt => self.infix(left, TERM, ">", right, TERM),
            Op::Ge => self.infix(left, TERM, "≥", right, TERM),
            Op::Eq => self.infix(left, TERM, "=", right, TERM),
            Op::Ne => self.infix(left, TERM, "≠", right, TERM),
        }
    }

    fn infix(&self, left: &Node, left_least: u8, sign: &str, right: &Node, right_least: u8) -> MathBox {
        MathBox::row(vec![self.node(left, left_least), self.sign(sign), self.node(right, right_least)])
    }

    fn fraction(&self, over: &Node, under: &Node) -> MathBox {
        let inner = self.smaller(0.92);
        let (axis, gap) = (self.size * 0.30, self.size * 0.16);
        MathBox::fraction(inner.node(over, ANY), inner.node(under, ANY), axis, gap, self.stroke())
    }

    fn call(&self, name: &str, args: &[Node]) -> MathBox {
        match (name, args) {
            ("sqrt", [x]) => self.node(x, ANY).root(self.stroke()),
            ("ceil", [x]) => self.node(x, ANY).fenced(Fence::Ceil, self.stroke()),
            ("floor", [x]) => self.node(x, ANY).fenced(Fence::Floor, self.stroke()),
            ("round", [x]) => self.node(x, ANY).fenced(Fence::Bracket, self.stroke()),
            ("abs", [x]) => self.node(x, ANY).fenced(Fence::Bar, self.stroke()),
            ("ceil_div", [a, b]) => self.fraction(a, b).fenced(Fence::Ceil, self.stroke()),
            ("round_up", [a, b]) => self.rounded(a, b, Fence::Ceil),
            ("round_down", [a, b]) => self.rounded(a, b, Fence::Floor),
            ("log2", [x]) => self.log("2", x),
            ("log10", [x]) => self.log("10", x),
            ("pow2_floor", [x]) => {
                let exponent = self.smaller(0.72).log("2", x).fenced(Fence::Floor, self.stroke());
                let two = self.number(2.0);
                let raise = two.ascent * 0.45;
                MathBox::script(two, exponent, raise)
            }
            ("if", [condition, yes, no]) => self.cases(condition, yes, no),
            _ => self.listed(name, args),
        }
    }

    /// `x` rounded to a multiple of `step`.
    fn rounded(&self, x: &Node, step: &Node, fence: Fence) -> MathBox {
        let quotient = self.fraction(x, step).fenced(fence, self.stroke());
        MathBox::row(vec![quotient, self.sign("×"), self.node(step, FACTOR)])
    }

    fn log(&self, base: &str, x: &Node) -> MathBox {
        let word = MathBox::script(self.upright("log"), self.smaller(0.72).upright(base), -self.size * 0.2);
        MathBox::row(vec![word, MathBox::space(self.size * 0.16), self.node(x, ATOM)])
    }

    fn cases(&self, condition: &Node, yes: &Node, no: &Node) -> MathBox {
        let space = || MathBox::space(self.size * 0.9);
        // A comma and the condition, and a dash for "else", need no word of either language.
        let first = MathBox::row(vec![self.node(yes, ANY), space(), self.upright("⇐ "), self.node(condition, ANY)]);
        let second = MathBox::row(vec![self.node(no, ANY), space(), self.upright("⇐ …")]);
        MathBox::cases(vec![first, second], self.size * 0.30, self.size * 0.3, self.stroke())
    }

    fn listed(&self, name: &str, args: &[Node]) -> MathBox {
        let mut inside = Vec::new();
        for (arg_idx, arg) in args.iter().enumerate() {
            if arg_idx > 0 {
                inside.extend([self.upright(","), MathBox::space(self.size * 0.3)]);
            }
            inside.push(self.node(arg, ANY));
        }
        MathBox::row(vec![self.upright(name), MathBox::row(inside).fenced(Fence::Paren, self.stroke())])
    }

    /// A sign between two pieces, with its space.
    pub fn sign(&self, sign: &str) -> MathBox {
        let gap = || MathBox::space(self.size * 0.28);
        MathBox::row(vec![gap(), self.text(sign, FontFamily::Proportional, self.tokens.muted), gap()])
    }

    fn upright(&self, text: &str) -> MathBox {
        self.text(text, FontFamily::Proportional, self.tokens.ink)
    }

    fn number(&self, value: f64) -> MathBox {
        match power_of_ten(value) {
            Some(exponent) => {
                let ten = self.upright("10");
                let raise = ten.ascent * 0.45;
                MathBox::script(ten, self.smaller(0.72).upright(&exponent.to_string()), raise)
            }
            None => self.upright(&number(value)),
        }
    }

    pub fn name(&self, name: &str) -> MathBox {
        if let Some(text) = self.names.text(name) {
            let family = if self.names.is_value() { crate::fonts::strong() } else { FontFamily::Proportional };
            return self.text(&text, family, self.tokens.ink);
        }
        let (base, subscript) = name_parts(name);
        let base = self.upright(&base);
        match subscript {
            Some(subscript) => MathBox::script(base, self.smaller(0.74).upright(&subscript), -self.size * 0.22),
            None => base,
        }
    }

    pub fn text(&self, text: &str, family: FontFamily, color: Color32) -> MathBox {
        let font = FontId::new(self.size, family);
        let galley = self.ui.painter().layout_no_wrap(text.to_owned(), font, color);
        let baseline =
            galley.rows.first().map_or(0.0, |row| row.glyphs.first().map_or(row.height() * 0.8, |glyph| glyph.pos.y));
        MathBox::text(galley, baseline, color)
    }

    fn smaller(&self, factor: f32) -> Self {
        let least = self.tokens.font(Type::Small).size * 0.85;
        Self { size: (self.size * factor).max(least), ..*self }
    }

    fn stroke(&self) -> Stroke {
        self.tokens.stroke(1.2, self.tokens.ink)
    }
}

fn strength(node: &Node) -> u8 {
    match node {
        Node::Binary(Op::Div, ..) => ATOM - 1, // stacked: only a power needs brackets around it
        Node::Binary(op, ..) => op.strength(),
        Node::Negate(_) => TERM,
        Node::Call(name, _) if matches!(name.as_str(), "round_up" | "round_down") => FACTOR,
        Node::Call(name, _) if matches!(name.as_str(), "log2" | "log10" | "if") => FACTOR,
        Node::Call(name, _) if name == "pow2_floor" => ATOM - 1,
        Node::Number(value) if *value < 0.0 => TERM,
        Node::Number(_) | Node::Name(_) | Node::Call(..) => ATOM,
    }
}

/// `stride_bytes` is stride with the subscript bytes; Greek letters are written as such.
fn name_parts(name: &str) -> (String, Option<String>) {
    let (base, subscript) = match name.split_once('_') {
        Some((base, rest)) if !base.is_empty() && !rest.is_empty() => (base, Some(rest.replace('_', " "))),
        _ => (name, None),
    };
    let base = GREEK.iter().find(|(spelt, _)| *spelt == base).map_or(base, |(_, letter)| letter);
    (base.to_owned(), subscript)
}

const GREEK: &[(&str, &str)] = &[
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("eta", "η"),
    ("theta", "θ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("phi", "φ"),
    ("omega", "ω"),
];

/// The exponent of a round power of ten that is easier read so.
fn power_of_ten(value: f64) -> Option<i32> {
    let exponent = value.log10().round();
    (exponent >= 6.0 && value == 10_f64.powi(exponent as i32)).then_some(exponent as i32)
}

/// As `units::show`, with thin spaces between thousands from five digits on.
pub(super) fn number(value: f64) -> String {
    let text = show::number(value);
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("−", digits));
    let mut out = String::from(sign);
    for (digit_idx, digit) in digits.chars().enumerate() {
        let n_left = digits.len() - digit_idx;
        if digit_idx > 0 && n_left % 3 == 0 && digits.len() > 4 {
            out.push(show::THIN);
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_letters_and_subscripts() {
        assert_eq!(name_parts("stride_bytes"), ("stride".into(), Some("bytes".into())));
        assert_eq!(name_parts("lambda_max_load"), ("λ".into(), Some("max load".into())));
        assert_eq!(name_parts("sectors"), ("sectors".into(), None));
        assert_eq!(name_parts("_x"), ("_x".into(), None));
    }

    #[test]
    fn numbers_are_grouped_and_round_powers_are_powers() {
        assert_eq!(number(1_048_576.0), "1\u{2009}048\u{2009}576");
        assert_eq!((number(4096.0), number(-12.5), number(0.125)), ("4096".into(), "−12.5".into(), "0.125".into()));
        assert_eq!((power_of_ten(1e9), power_of_ten(2e9), power_of_ten(1000.0)), (Some(9), None, None));
    }
}
