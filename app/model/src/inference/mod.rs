//! Models of inference: attention and its cache, serving, formats of few bits, compression. They ask `serve` and `codec`,
//! which hold the machines; here are the questions.

pub mod attention_io;
pub mod bf16_entropy;
pub mod bit_lanes;
pub mod block_tables;
pub mod codec_payoff;
pub mod engine_capacity;
pub mod engine_log;
pub mod exponent_entropy;
pub mod flash_tiles;
pub mod format_error;
pub mod fp_block;
pub mod group_error;
pub mod kv_config;
pub mod kv_mistakes;
pub mod lossless_ratio;
pub mod low_rank;
pub mod number_line;
pub mod online_softmax;
pub mod outlier_error;
pub mod prefix_pool;
pub mod quant_noise;
pub mod quant_size;
pub mod quant_values;
pub mod replay_step;
pub mod schedule;
pub mod serve_stream;
pub mod sparse_24;
pub mod sparse_allreduce;
pub mod sparse_size;
pub mod speculative;
pub mod step_time;
pub mod told_numbers;
pub mod topk_descent;
pub mod topk_feedback;

use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Text, Value};

/// Longest list of numbers or script that is taken as text.
pub(crate) const MAX_TEXT: usize = 8_192;

/// A text field of words or numbers.
pub(crate) fn text(key: &'static str, zh: &'static str, en: &'static str) -> FieldSpec {
    FieldSpec::new(key, "", FieldKind::Text { max_len: MAX_TEXT }, Text::new(zh, en))
}

/// A field of an answer that holds words or numbers as text.
pub(crate) fn shown(key: &'static str, zh: &'static str, en: &'static str) -> FieldSpec {
    FieldSpec::new(key, "", FieldKind::Text { max_len: 1 << 20 }, Text::new(zh, en))
}

/// A list of whole numbers in an answer.
pub(crate) fn list(key: &'static str, unit: &'static str, zh: &'static str, en: &'static str) -> FieldSpec {
    let kind = FieldKind::IntList { min_len: 0, max_len: 1 << 20, min: -(1 << 53), max: 1 << 53 };
    FieldSpec::new(key, unit, kind, Text::new(zh, en))
}

pub(crate) fn ints<T: Copy + Into<i64>>(values: &[T]) -> Value {
    values.iter().map(|value| Value::from((*value).into())).collect::<Vec<Value>>().into()
}

/// The numbers of a text field, apart by blanks or commas.
pub(crate) fn numbers(args: &Args, key: &str) -> Result<Vec<f64>, FieldError> {
    let words = args.text(key).split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let numbers: Vec<f64> = words
        .map(|word| {
            let number = word.parse::<f64>().ok().filter(|x| x.is_nan() || x.is_infinite() || x.abs() <= 1e30);
            let cut: String = word.chars().take(20).collect();
            number.ok_or_else(|| FieldError::conflict(key, format!("\"{cut}\" is no number of at most 1e30")))
        })
        .collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        return Err(FieldError::conflict(key, "there is no number"));
    }
    Ok(numbers)
}

/// Numbers as a text, at most nine digits each.
pub(crate) fn join(values: impl IntoIterator<Item = f64>) -> Value {
    let shown = |value: f64| {
        if value == 0.0 {
            return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
        }
        let digits = 8 - value.abs().log10().floor() as i32;
        let rounded = format!("{value:.*}", digits.clamp(0, 30) as usize);
        if rounded.contains('.') { rounded.trim_end_matches('0').trim_end_matches('.').to_owned() } else { rounded }
    };
    values.into_iter().map(shown).collect::<Vec<_>>().join(" ").into()
}

pub(crate) fn serving(problem: &vramlab_serve::Problem, names: &[(&str, &str)]) -> FieldError {
    blame(problem.field, problem.to_string(), names)
}

pub(crate) fn coding(problem: &vramlab_codec::Problem, names: &[(&str, &str)]) -> FieldError {
    blame(problem.field, problem.to_string(), names)
}

/// The machine's name of a field as the question's.
fn blame(field: &str, reason: String, names: &[(&str, &str)]) -> FieldError {
    let known = names.iter().find(|(machine, _)| *machine == field).map_or(field, |(_, question)| *question);
    FieldError::conflict(known, reason)
}
