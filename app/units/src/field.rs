//! Described fields: the flat JSON objects that models, kernels, experiments and visualizers take.
//!
//! One description serves the `eval` schema, the checker, the URL codec, the sliders and the error messages.
//! Nothing is clamped in silence: a wrong value is a [`FieldError`] naming the field, the value and the legal range.

use crate::text::Text;
use serde::Serialize;
use std::borrow::Cow;

pub type Map = serde_json::Map<String, Value>;
pub use serde_json::Value;

/// What a field holds, with its legal range (both ends included).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FieldKind {
    Int {
        min: i64,
        max: i64,
    },
    Num {
        min: f64,
        max: f64,
    },
    Bool,
    Choice {
        options: Vec<Cow<'static, str>>,
    },
    /// A list of integers, e.g. 32 word addresses.
    IntList {
        min_len: usize,
        max_len: usize,
        min: i64,
        max: i64,
    },
    /// Words of a small language that the model reads itself, e.g. a trace of allocations.
    Text {
        max_len: usize,
    },
}

/// One field of a question, an answer or a parameter set.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSpec {
    /// The field's standard term with its unit as suffix: `stride_bytes`.
    pub key: Cow<'static, str>,
    /// Unit as printed: `B`, `GB/s`, `1`, …
    pub unit: Cow<'static, str>,
    pub kind: FieldKind,
    /// The value used when the field is not given; `None` in a question means "required", and an optional field
    /// without a default is marked by [`Self::optional`].
    pub default: Option<Value>,
    /// May be absent although it has no default.
    pub is_optional: bool,
    pub doc: Text,
}

impl FieldSpec {
    pub const fn new(key: &'static str, unit: &'static str, kind: FieldKind, doc: Text) -> Self {
        Self { key: Cow::Borrowed(key), unit: Cow::Borrowed(unit), kind, default: None, is_optional: false, doc }
    }

    pub const fn int(key: &'static str, unit: &'static str, min: i64, max: i64, doc: Text) -> Self {
        Self::new(key, unit, FieldKind::Int { min, max }, doc)
    }

    pub const fn num(key: &'static str, unit: &'static str, min: f64, max: f64, doc: Text) -> Self {
        Self::new(key, unit, FieldKind::Num { min, max }, doc)
    }

    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// The legal values in words: `1 to 64`, `one of 1, 2, 4, 8, 16`.
    pub fn legal(&self) -> String {
        match &self.kind {
            FieldKind::Int { min, max } => format!("an integer from {min} to {max}"),
            FieldKind::Num { min, max } if *max == f64::MAX => format!("a finite number from {}", plain(*min)),
            FieldKind::Num { min, max } => format!("a number from {} to {}", plain(*min), plain(*max)),
            FieldKind::Bool => "true or false".to_owned(),
            FieldKind::Choice { options } => format!("one of {}", options.join(", ")),
            FieldKind::IntList { min_len, max_len, min, max } => {
                format!("a list of {min_len} to {max_len} integers from {min} to {max}")
            }
            FieldKind::Text { max_len } => format!("a text of at most {max_len} bytes"),
        }
    }

    /// Checks one value. Integers written as `2.0` are accepted, because JSON and TOML writers differ there.
    pub fn check(&self, value: &Value) -> Result<Value, FieldError> {
        let bad = || FieldError::illegal(&self.key, value, self.legal());
        let int = |value: &Value, min: i64, max: i64| -> Option<Value> {
            let number = value
                .as_i64()
                .or_else(|| value.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 9.0e15).map(|x| x as i64))?;
            (min..=max).contains(&number).then(|| number.into())
        };
        match &self.kind {
            FieldKind::Int { min, max } => int(value, *min, *max).ok_or_else(bad),
            FieldKind::Num { min, max } => match value.as_f64() {
                Some(x) if x.is_finite() && (*min..=*max).contains(&x) => Ok(value.clone()),
                _ => Err(bad()),
            },
            FieldKind::Bool => value.as_bool().map(Value::from).ok_or_else(bad),
            FieldKind::Choice { options } => {
                let whole = || int(value, i64::MIN, i64::MAX).map(|number| number.to_string());
                let text = value.as_str().map(str::to_owned).or_else(whole);
                match text {
                    Some(text) if options.iter().any(|option| *option == text) => Ok(text.into()),
                    _ => Err(bad()),
                }
            }
            FieldKind::IntList { min_len, max_len, min, max } => {
                let list = value.as_array().ok_or_else(bad)?;
                if !(*min_len..=*max_len).contains(&list.len()) {
                    return Err(FieldError::Illegal {
                        field: self.key.to_string(),
                        value: format!("{} values", list.len()),
                        legal: self.legal(),
                    });
                }
                list.iter()
                    .map(|item| int(item, *min, *max).ok_or_else(|| FieldError::illegal(&self.key, item, self.legal())))
                    .collect::<Result<Vec<_>, _>>()
                    .map(Value::Array)
            }
            FieldKind::Text { max_len } => match value.as_str() {
                Some(text) if text.len() <= *max_len => Ok(value.clone()),
                // A long text is not repeated in the error.
                Some(text) => Err(FieldError::Illegal {
                    field: self.key.to_string(),
                    value: format!("{} bytes of text", text.len()),
                    legal: self.legal(),
                }),
                None => Err(bad()),
            },
        }
    }
}

/// A number in a sentence: with a power of ten where its zeros could not be counted, `1e18` and not nineteen digits.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    if size >= 1.0e15 || (size > 0.0 && size < 1.0e-6) { format!("{value:e}") } else { value.to_string() }
}

/// What was wrong with a field. Its text is shown to the reader as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    #[error("{field} = {value} is not allowed; it must be {legal}")]
    Illegal { field: String, value: String, legal: String },
    #[error("{field} is missing; it must be {legal}")]
    Missing { field: String, legal: String },
    #[error("there is no field \"{field}\"{}; the fields are {known}", .hint.as_ref().map(|h| format!(" (did you mean \"{h}\"?)")).unwrap_or_default())]
    Unknown { field: String, hint: Option<String>, known: String },
    /// Fields that are each legal but do not go together, or a computed value that cannot be.
    #[error("{field}: {reason}")]
    Conflict { field: String, reason: String },
}

impl FieldError {
    pub fn illegal(field: &str, value: &Value, legal: impl Into<String>) -> Self {
        Self::Illegal { field: field.to_owned(), value: value.to_string(), legal: legal.into() }
    }

    pub fn conflict(field: &str, reason: impl Into<String>) -> Self {
        Self::Conflict { field: field.to_owned(), reason: reason.into() }
    }

    /// The field the error is about.
    pub fn field(&self) -> &str {
        match self {
            Self::Illegal { field, .. }
            | Self::Missing { field, .. }
            | Self::Unknown { field, .. }
            | Self::Conflict { field, .. } => field,
        }
    }
}

/// The nearest of `known` to `word`, if near enough to be a slip of the pen.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Fields that have passed [`Args::check`]: every default filled in, every value in range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args(Map);

impl Args {
    /// Validates `given` against `specs`. The key `schema` is ignored.
    pub fn check(specs: &[FieldSpec], given: &Map) -> Result<Self, FieldError> {
        for key in given.keys().filter(|key| *key != "schema") {
            if !specs.iter().any(|spec| spec.key == *key) {
                let known = specs.iter().map(|spec| spec.key.as_ref());
                return Err(FieldError::Unknown {
                    field: key.clone(),
                    hint: did_you_mean(key, known.clone()).map(str::to_owned),
                    known: known.collect::<Vec<_>>().join(", "),
                });
            }
        }
        let mut out = Map::new();
        for spec in specs {
            let value = match given.get(spec.key.as_ref()) {
                Some(Value::Null) | None => match &spec.default {
                    Some(value) => value.clone(),
                    None if spec.is_optional => continue,
                    None => return Err(FieldError::Missing { field: spec.key.to_string(), legal: spec.legal() }),
                },
                Some(value) => spec.check(value)?,
            };
            out.insert(spec.key.to_string(), value);
        }
        Ok(Self(out))
    }

    pub fn map(&self) -> &Map {
        &self.0
    }

    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// An integer field; 0 if the spec has no such field (a bug in the caller's table, caught by the registry tests).
    pub fn int(&self, key: &str) -> i64 {
        debug_assert!(self.has(key), "no field {key}");
        self.0.get(key).and_then(Value::as_i64).unwrap_or_default()
    }

    /// As [`Self::int`], for fields whose range is not negative.
    pub fn uint(&self, key: &str) -> u64 {
        u64::try_from(self.int(key)).unwrap_or_default()
    }

    pub fn num(&self, key: &str) -> f64 {
        debug_assert!(self.has(key), "no field {key}");
        self.0.get(key).and_then(Value::as_f64).unwrap_or_default()
    }

    pub fn flag(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn ints(&self, key: &str) -> Vec<i64> {
        let list = self.0.get(key).and_then(Value::as_array);
        list.map(|list| list.iter().filter_map(Value::as_i64).collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_written_with_a_power_of_ten() {
        let legal = |min, max| FieldSpec::num("x", "B", min, max, Text::new("", "")).legal();
        assert_eq!(legal(0.0, f64::MAX), "a finite number from 0");
        assert_eq!(legal(0.0, 1.0e18), "a number from 0 to 1e18");
        assert_eq!(legal(1.0e-9, 32.0), "a number from 1e-9 to 32");
        assert_eq!(legal(0.001, 150_109_880_320.0), "a number from 0.001 to 150109880320");
        assert_eq!([-1.0e300, 0.0, 1.1].map(plain), ["-1e300", "0", "1.1"]);
    }
}
