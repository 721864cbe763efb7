//! A formula in one line of text: for screen readers, captions and copying.

use super::{Names, layout};
use vramlab_units::Formula;
use vramlab_units::formula::{Node, Op};

/// The formula with `names` put in, on one line: `used ÷ (32 × sectors)`.
pub fn spoken(formula: &Formula, names: &Names<'_>) -> String {
    node(&formula.root, 0, names)
}

fn node(what: &Node, at_least: u8, names: &Names<'_>) -> String {
    match what {
        Node::Number(value) => layout::number(*value),
        Node::Name(name) => names.text(name).unwrap_or_else(|| name.clone()),
        Node::Negate(inner) => bracketed(format!("−{}", node(inner, 4, names)), 4 < at_least),
        Node::Binary(op, left, right) => {
            let strength = op.strength();
            // Operators of equal strength group to the left, powers to the right.
            let (left_least, right_least) =
                if *op == Op::Pow { (strength + 1, strength) } else { (strength, strength + 1) };
            let (left, right) = (node(left, left_least, names), node(right, right_least, names));
            let text = match op {
                Op::Pow => format!("{left}^{right}"),
                op => format!("{left} {} {right}", sign(*op)),
            };
            bracketed(text, strength < at_least)
        }
        Node::Call(name, args) => {
            let args: Vec<String> = args.iter().map(|arg| node(arg, 0, names)).collect();
            format!("{name}({})", args.join(", "))
        }
    }
}

fn bracketed(text: String, is_needed: bool) -> String {
    if is_needed { format!("({text})") } else { text }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Mul => "×",
        Op::Div => "÷",
        Op::Sub => "−",
        Op::Rem => "mod",
        Op::Le => "≤",
        Op::Ge => "≥",
        Op::Eq => "=",
        Op::Ne => "≠",
        op => op.sign(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let values = BTreeMap::from([("used".to_owned(), 128.0), ("sectors".to_owned(), 8.0)]);
        let formula = Formula::parse(source).unwrap();
        assert_eq!(spoken(&formula, &Names::Values(&values)), expected);
    }

    #[test]
    fn values_stand_in_for_names_and_brackets_where_they_change_the_meaning() {
        check("used / (32 * sectors)", "128 ÷ (32 × 8)");
        check("used / 32 * sectors", "128 ÷ 32 × 8");
        check("a - (b - c)", "a − (b − c)");
        check("(a + b) ^ 2 ^ c", "(a + b)^2^c");
        check("-(a + b)", "−(a + b)");
        check("ceil_div(used, 32) % 3 <= 1", "ceil_div(128, 32) mod 3 ≤ 1");
    }
}
