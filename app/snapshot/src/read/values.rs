//! Single values of the heap: fields, numbers, texts, lists. What is copied is counted: a small file may refer to the same
//! large list from everywhere.

use super::{ReadError, Reader};
use crate::pickle::{Slot, Value};
use std::cell::Cell;

/// An honest file is copied about eight times on the way to the model.
const TIMES_ITS_SIZE: u64 = 64;
const AT_LEAST: u64 = 16 << 20;

/// What may be copied.
pub(super) struct Budget {
    limit: u64,
    spent: Cell<u64>,
}

impl Budget {
    pub fn of(n_bytes: usize) -> Self {
        Self { limit: n_bytes as u64 * TIMES_ITS_SIZE + AT_LEAST, spent: Cell::new(0) }
    }

    pub fn spend(&self, n_bytes: usize) {
        self.spent.set(self.spent.get().saturating_add(n_bytes as u64));
    }

    /// What stays is dearer than what is copied in passing.
    pub fn keep(&self, n_bytes: usize) {
        self.spend(n_bytes.saturating_mul(4));
    }

    pub fn check(&self) -> Result<(), ReadError> {
        match self.spent.get() <= self.limit {
            true => Ok(()),
            false => Err(ReadError::Unfolds { limit: self.limit }),
        }
    }
}

impl Reader {
    pub(super) fn field(&self, fields: &[(Value, Value)], key: &str) -> Option<Value> {
        let is_key = |value: &Value| matches!(value, Value::Text(id) if self.heap.texts[id.0 as usize] == key);
        // A key that is given twice takes its last value, as in Python.
        fields.iter().rev().find(|(known, _)| is_key(known)).map(|(_, value)| *value)
    }

    pub(super) fn int(&self, fields: &[(Value, Value)], key: &str) -> Option<u64> {
        match self.field(fields, key)? {
            Value::Int(bits) => Some(bits as u64),
            _ => None,
        }
    }

    pub(super) fn words(&self, value: Value) -> String {
        match value {
            Value::Text(id) => {
                self.budget.keep(self.heap.texts[id.0 as usize].len());
                self.heap.texts[id.0 as usize].clone()
            }
            other => self.plain(other),
        }
    }

    /// A value as one line.
    pub(super) fn plain(&self, value: Value) -> String {
        match value {
            Value::Text(id) => {
                self.budget.keep(self.heap.texts[id.0 as usize].len());
                self.heap.texts[id.0 as usize].clone()
            }
            Value::Int(int) => int.to_string(),
            Value::Float(float) => float.to_string(),
            Value::Bool(is) => if is { "True" } else { "False" }.to_owned(),
            Value::None => "None".to_owned(),
            Value::Slot(slot) => match &self.heap.slots[slot as usize] {
                // One level: a settings table nested deeper would be new.
                Slot::Dict(pairs) => {
                    let flat = |value: &Value| match value {
                        Value::Slot(_) => "…".to_owned(),
                        value => self.plain(*value),
                    };
                    let affordable = pairs.iter().take_while(|_| self.budget.check().is_ok());
                    let all: Vec<String> = affordable.map(|(k, v)| format!("{}:{}", flat(k), flat(v))).collect();
                    format!("[{}]", all.join(","))
                }
                _ => "…".to_owned(),
            },
            Value::Opaque | Value::Event(_) | Value::Frame(_) | Value::Remembered { .. } | Value::Unset => {
                "…".to_owned()
            }
        }
    }

    pub(super) fn dict(&self, value: Value, path: impl Fn() -> String) -> Result<Vec<(Value, Value)>, ReadError> {
        match value {
            Value::Slot(slot) if matches!(self.heap.slots[slot as usize], Slot::Dict(_)) => {
                match &self.heap.slots[slot as usize] {
                    Slot::Dict(pairs) => {
                        self.budget.spend(size_of_val(pairs.as_slice()));
                        Ok(pairs.clone())
                    }
                    _ => Ok(Vec::new()),
                }
            }
            other => Err(self.wrong(&path(), other, "a dictionary")),
        }
    }

    pub(super) fn list(&self, value: Value, path: &str) -> Result<Vec<Value>, ReadError> {
        match value {
            Value::Slot(slot) => match &self.heap.slots[slot as usize] {
                Slot::List(items) | Slot::Tuple(items) => {
                    self.budget.spend(size_of_val(items.as_slice()));
                    Ok(items.clone())
                }
                Slot::Run { from, n } => {
                    self.budget.spend(*n as usize * size_of::<Value>());
                    self.budget.check()?;
                    Ok((*from..from + n).map(Value::Event).collect())
                }
                Slot::Stack(_) => Ok(Vec::new()),
                _ => Err(self.wrong(path, value, "a list")),
            },
            other => Err(self.wrong(path, other, "a list")),
        }
    }

    pub(super) fn items(&self, value: Value) -> Vec<Value> {
        self.list(value, "").unwrap_or_default()
    }

    pub(super) fn wrong(&self, path: &str, value: Value, legal: &'static str) -> ReadError {
        let found = match value {
            Value::None => "None",
            Value::Bool(_) => "True or False",
            Value::Int(_) => "an integer",
            Value::Opaque => "bytes or a very large integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a text",
            Value::Remembered { .. } | Value::Unset => "nothing",
            Value::Event(_) => "an event",
            Value::Frame(_) => "a frame of a stack",
            Value::Slot(slot) => match &self.heap.slots[slot as usize] {
                Slot::List(_) | Slot::Stack(_) | Slot::Run { .. } => "a list",
                Slot::Event(_) => "an event",
                Slot::Tuple(_) => "a tuple",
                Slot::Dict(_) | Slot::Frame(_) | Slot::Vacant => "a dictionary",
            },
        };
        ReadError::Wrong { path: path.to_owned(), found, legal }
    }
}
