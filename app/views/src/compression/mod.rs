//! Figures of chapter 25: which bits carry information, the numbers of a short format, the debt of a sparse gradient, the links on
//! which packing pays. Each is a question, a model's answer and a picture; the models are `vramlab_model::inference`.

pub mod bit_lanes;
pub mod codec_payoff;
pub mod number_line;
pub mod residual_debt;

use vramlab_units::{FieldError, Map, Value};

/// A model's answer, read field by field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer(Map);

impl Answer {
    pub fn of(model: &str, question: Map) -> Result<Self, FieldError> {
        vramlab_model::eval(model, &question).map(Self)
    }

    pub fn num(&self, key: &str) -> f64 {
        self.maybe(key).unwrap_or(0.0)
    }

    pub fn maybe(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    pub fn count(&self, key: &str) -> usize {
        self.num(key).max(0.0) as usize
    }

    /// Numbers that an answer holds as text or as a list.
    pub fn list(&self, key: &str) -> Vec<f64> {
        match self.0.get(key) {
            Some(Value::String(text)) => text.split(' ').filter_map(|word| word.parse().ok()).collect(),
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_f64).collect(),
            _ => Vec::new(),
        }
    }
}

/// A question of a few fields.
pub(crate) fn asking<const N: usize>(fields: [(&str, Value); N]) -> Map {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
