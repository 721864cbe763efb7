//! Questions to models, and numbers out of their answers.

use vramlab_units::{FieldError, Map, Value};

/// A question by its pairs.
pub fn ask<const N: usize>(model: &str, pairs: [(&str, Value); N]) -> Result<Map, FieldError> {
    vramlab_model::eval(model, &pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub fn number(map: &Map, key: &str) -> f64 {
    map.get(key).and_then(Value::as_f64).unwrap_or_default()
}

/// Numbers that an answer holds as text, apart by blanks.
pub fn numbers(map: &Map, key: &str) -> Vec<f64> {
    let text = map.get(key).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// A list of whole numbers.
pub fn ints(map: &Map, key: &str) -> Vec<i64> {
    let list = map.get(key).and_then(Value::as_array);
    list.map(|list| list.iter().filter_map(Value::as_i64).collect()).unwrap_or_default()
}

/// Numbers as a text for a question, at most four places each.
pub fn joined(values: &[f64]) -> String {
    let shown = |value: &f64| {
        let text = format!("{value:.4}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    };
    values.iter().map(shown).collect::<Vec<_>>().join(" ")
}
