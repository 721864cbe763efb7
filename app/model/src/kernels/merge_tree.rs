//! A row taken apart and merged again: by a tree, which many threads can do at once, or from left to right, as a stream would come.
//!
//! Question: the values and the shape. Answer: maximum and sum of exponentials, mean and variance of the whole, merges, and steps
//! that must follow one another. Each merge is `merge.rs`'s.
//! Assumption: float64; a step merges every pair that it can. Source: Milakov and Gimelshein 2018, section 3.1 (the merge is
//! associative); Chan, Golub and LeVeque 1979. Errors: no value, more than 64, not a number.

use super::merge::{self, Moments};
use crate::fields::{answer, choice, number};
use crate::inference::text;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Most values of a row.
pub const MOST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Neighbours in pairs, then pairs of pairs.
    Tree,
    /// The first two, then each next one.
    Chain,
}

/// A stretch of the row, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The first value and the number of them.
    pub first: usize,
    pub n: usize,
    /// The step in which it is made; values themselves are step 0.
    pub step: usize,
    /// The two that were merged into it.
    pub parts: Option<(usize, usize)>,
    pub max: f64,
    pub sum: f64,
    pub moments: Moments,
}

impl Shape {
    pub fn from_name(name: &str) -> Self {
        if name == "chain" { Self::Chain } else { Self::Tree }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Chain => "chain",
        }
    }
}

/// Values as they are written: apart by blanks or commas.
pub fn values(text: &str) -> Result<Vec<f64>, String> {
    let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    let value = |word: &str| {
        let number = word.parse::<f64>().ok().filter(|value| value.abs() <= 1e6);
        number.ok_or_else(|| format!("\"{word}\" is not a number from -1e6 to 1e6"))
    };
    let values: Vec<f64> = words.map(value).collect::<Result<_, _>>()?;
    if values.is_empty() || values.len() > MOST {
        return Err(format!("{} values; a row has 1 to {MOST}", values.len()));
    }
    Ok(values)
}

/// Every stretch that is made, in the order of the steps; the last is the whole.
pub fn nodes(values: &[f64], shape: Shape) -> Vec<Node> {
    let leaf = |(first, value): (usize, &f64)| Node {
        first,
        n: 1,
        step: 0,
        parts: None,
        max: *value,
        sum: 1.0,
        moments: Moments { n: 1.0, mean: *value, m2: 0.0 },
    };
    let mut nodes: Vec<Node> = values.iter().enumerate().map(leaf).collect();
    let mut open: Vec<usize> = (0..nodes.len()).collect();
    let mut step = 0;
    while open.len() > 1 {
        step += 1;
        let pairs = if shape == Shape::Tree { open.len() / 2 } else { 1 };
        let mut next = Vec::with_capacity(open.len() - pairs);
        for pair in open[..2 * pairs].chunks_exact(2) {
            next.push(nodes.len());
            nodes.push(join(&nodes, (pair[0], pair[1]), step));
        }
        next.extend_from_slice(&open[2 * pairs..]);
        open = next;
    }
    nodes
}

fn join(nodes: &[Node], parts: (usize, usize), step: usize) -> Node {
    let (a, b) = (nodes[parts.0], nodes[parts.1]);
    let (max, sum) = merge::softmax((a.max, a.sum), (b.max, b.sum));
    Node { first: a.first, n: a.n + b.n, step, parts: Some(parts), max, sum, moments: a.moments.merge(b.moments) }
}

pub struct MergeTree;

impl Model for MergeTree {
    const ID: &'static str = "merge_tree";
    const TITLE: Text = Text::new("一行拆开再合：树还是链", "A row taken apart and merged: tree or chain");
    const ASSUMES: Text = Text::new("float64；一步里能合的都合。", "Float64; a step merges every pair that it can.");
    const SOURCE: &'static str = "Milakov and Gimelshein 2018; Chan, Golub and LeVeque 1979";
    const EXAMPLE: &'static str = r#"{"scores": "1 2 3 4", "shape": "tree"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            text("scores", "一行的数", "Values of the row"),
            choice(
                "shape",
                "",
                &["tree", "chain"],
                Text::new("两两合，还是从左到右", "In pairs, or from left to right"),
            )
            .default_value("tree"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", -1e30, 1e30, Text::new(zh, en));
        vec![
            num("max", "最大的数 m", "The largest value, m"),
            num("sum", "指数之和 d", "Sum of exponentials, d"),
            num("mean", "均值", "Mean"),
            num("variance", "方差，除以 n", "Variance, divided by n"),
            num("merges", "合并几次", "Merges"),
            num("steps", "先后几步", "Steps one after another"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let values = values(args.text("scores")).map_err(|why| FieldError::conflict("scores", why))?;
        let nodes = nodes(&values, Shape::from_name(args.text("shape")));
        let whole = nodes[nodes.len() - 1];
        Ok(answer([
            ("max", number(whole.max)),
            ("sum", number(whole.sum)),
            ("mean", number(whole.moments.mean)),
            ("variance", number(whole.moments.m2 / whole.moments.n)),
            ("merges", (nodes.len() - values.len()).into()),
            ("steps", whole.step.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    fn ask(scores: &str, shape: &str) -> Result<Map, FieldError> {
        eval("merge_tree", &question(&json!({"scores": scores, "shape": shape})))
    }

    /// Brief 04, vectors 5 and 6 (m and d of 1 2 3 4 are those of the two halves, one higher), and the definitions.
    #[test]
    fn worked_cases() {
        for (shape, steps) in [("tree", 2), ("chain", 3)] {
            let found = ask("1 2 3 4", shape).unwrap();
            assert!(
                (found["sum"].as_f64().unwrap() - 1.553_001_792_775_919).abs() < 1e-12,
                "{shape}: {}",
                found["sum"]
            );
            assert_eq!((found["max"].as_f64(), found["mean"].as_f64()), (Some(4.0), Some(2.5)));
            assert_eq!((found["merges"].as_u64(), found["steps"].as_u64()), (Some(3), Some(steps)));
            assert_eq!(found["variance"].as_f64(), Some(1.25));
        }
        let row: Vec<f64> = (0..37).map(|at| f64::from((at * 29) % 41) / 7.0).collect();
        let words: Vec<String> = row.iter().map(f64::to_string).collect();
        let sum: f64 = row.iter().map(|value| (value - 40.0 / 7.0).exp()).sum();
        for (shape, steps) in [("tree", 6), ("chain", 36)] {
            let found = ask(&words.join(" "), shape).unwrap();
            assert!((found["sum"].as_f64().unwrap() / sum - 1.0).abs() < 1e-12, "{shape}");
            assert_eq!(found["steps"].as_u64(), Some(steps));
        }
    }

    #[test]
    fn what_is_no_row_is_said() {
        for (scores, said) in [("", "0 values"), ("1 x", "\"x\" is not a number"), ("inf", "\"inf\" is not a number")] {
            let error = ask(scores, "tree").unwrap_err();
            assert!(error.field() == "scores" && error.to_string().contains(said), "{scores}: {error}");
        }
    }
}
