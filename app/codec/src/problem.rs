//! What cannot be encoded, in both languages, with the field that is meant.

use std::fmt;
use vramlab_units::{Lang, Localized};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub field: &'static str,
    pub text: Localized,
}

impl Problem {
    pub fn new(field: &'static str, zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { field, text: Localized::both(zh, en) }
    }

    pub fn get(&self, lang: Lang) -> &str {
        self.text.get(lang)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.get(Lang::En))
    }
}

impl std::error::Error for Problem {}

/// Values that a format can only hold if they are finite.
pub(crate) fn finite(values: &[f64]) -> Result<(), Problem> {
    let Some(at) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let en = format!("block holds a non-finite value, at {at}");
    Err(Problem::new("values", format!("第 {at} 个值不是有限的数"), en))
}
