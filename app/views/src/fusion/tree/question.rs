//! What the reader sets: the values, what is merged of them, the shape; and the model's stretches.

use vramlab_model::kernels::merge_tree::{self, Node, Shape};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Values that are drawn.
pub const MOST: usize = 16;
pub const MOST_TEXT: usize = 256;

/// What a stretch keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Maximum and sum of exponentials.
    Softmax,
    /// Count, mean and squares.
    Variance,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub scores: String,
    pub values: Vec<f64>,
    pub kept: Kept,
    pub shape: Shape,
}

impl Question {
    pub fn read(scores: &str, kept: Kept, shape: Shape) -> Result<Self, String> {
        let values = merge_tree::values(scores)?;
        if values.len() > MOST {
            return Err(format!("{} values; at most {MOST} are drawn", values.len()));
        }
        Ok(Self { scores: scores.trim().to_owned(), values, kept, shape })
    }

    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: [&'static str; 2], zh, en| {
            let options = options.map(Into::into).to_vec();
            FieldSpec::new(key, "", FieldKind::Choice { options }, Text::new(zh, en))
        };
        let scores = Text::new("一行的数，用空格隔开", "Values of the row, apart by blanks");
        let step = Text::new("走到第几步", "Steps that are over");
        vec![
            FieldSpec::new("scores", "", FieldKind::Text { max_len: MOST_TEXT }, scores)
                .default_value("1 2 3 4 8 7 6 5"),
            choice(
                "kind",
                ["softmax", "variance"],
                "合什么：softmax 还是方差",
                "What is merged: a softmax or a variance",
            )
            .default_value("softmax"),
            choice("shape", ["tree", "chain"], "两两合，还是从左到右", "In pairs, or from left to right")
                .default_value("tree"),
            FieldSpec::int("step", "1", 0, MOST as i64, step).optional(),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let kept = if args.text("kind") == "variance" { Kept::Variance } else { Kept::Softmax };
        let shape = Shape::from_name(args.text("shape"));
        Self::read(args.text("scores"), kept, shape).map_err(|why| FieldError::conflict("scores", why))
    }

    pub fn params(&self, step: usize) -> Map {
        let kind = match self.kept {
            Kept::Softmax => "softmax",
            Kept::Variance => "variance",
        };
        let values: [(&str, Value); 4] = [
            ("scores", self.scores.as_str().into()),
            ("kind", kind.into()),
            ("shape", self.shape.name().into()),
            ("step", step.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn nodes(&self) -> Vec<Node> {
        merge_tree::nodes(&self.values, self.shape)
    }
}
