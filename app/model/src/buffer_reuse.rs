//! A chain of operations, each of which reads the last result and writes the next: buffers of their own, or a pool.
//!
//! Question: how many operations, the size of a buffer, whether every result is kept for a backward pass. Answer: what both
//! ways hold at the most, and what the pool saves.
//! Assumption: all results are of one size; an operation needs its input and its output at once, and nothing else.
//! Source: the peak of overlapping lifetimes, counted.
//! Errors: none beyond the ranges.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct BufferReuse;

impl Model for BufferReuse {
    const ID: &'static str = "buffer_reuse";
    const TITLE: Text = Text::new("一串算子的缓冲区复用", "Reusing the buffers of a chain");
    const ASSUMES: Text = Text::new(
        "每个结果一样大；算子只需要输入和输出同时在。",
        "All results are of one size; an operation needs its input and its output, nothing else.",
    );
    const SOURCE: &'static str = "the peak of overlapping lifetimes, counted";
    const EXAMPLE: &'static str = r#"{"n_ops": 2, "buffer_mib": 64}"#;

    fn question() -> Vec<FieldSpec> {
        let kept = Text::new("每个结果都留给反向用", "Every result is kept for a backward pass");
        vec![
            FieldSpec::int("n_ops", "1", 1, 1 << 20, Text::new("几个算子", "Operations")),
            FieldSpec::num("buffer_mib", "MiB", 0.0, 1.0e9, Text::new("一块缓冲区", "One buffer")),
            FieldSpec::new("is_kept", "", FieldKind::Bool, kept).default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::num(key, "MiB", 0.0, 1.0e16, Text::new(zh, en));
        let saved = Text::new("池省下的份额", "The share that the pool saves");
        vec![
            mib("separate_mib", "各占各的", "With buffers of their own"),
            mib("pooled_mib", "用池", "Through a pool"),
            FieldSpec::num("saved_share", "1", 0.0, 1.0, saved),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n_buffers, one) = (args.uint("n_ops") as f64 + 1.0, args.num("buffer_mib"));
        // An input and an output at a time, unless all must stay.
        let n_alive = if args.flag("is_kept") { n_buffers } else { 2.0 };
        Ok(fields::answer([
            ("separate_mib", fields::number(n_buffers * one)),
            ("pooled_mib", fields::number(n_alive * one)),
            ("saved_share", fields::number(1.0 - n_alive / n_buffers)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn saved(given: &Value) -> f64 {
        eval("buffer_reuse", &question(given)).unwrap()["saved_share"].as_f64().unwrap()
    }

    /// LayerNorm then GELU: of three buffers two live at once. A longer chain saves more, a training pass nothing.
    #[test]
    fn what_is_saved_is_what_does_not_overlap() {
        assert!((saved(&json!({"n_ops": 2, "buffer_mib": 64})) - 1.0 / 3.0).abs() < 1e-12);
        assert!((saved(&json!({"n_ops": 4, "buffer_mib": 64})) - 0.6).abs() < 1e-12);
        assert_eq!(saved(&json!({"n_ops": 1, "buffer_mib": 64})), 0.0);
        assert_eq!(saved(&json!({"n_ops": 16, "buffer_mib": 64, "is_kept": true})), 0.0);
    }
}
