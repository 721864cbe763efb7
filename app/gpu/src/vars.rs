//! The numbers that the formulas of a manifest may name, and the one place that evaluates them.
//!
//! | name | what |
//! |---|---|
//! | `stride` | a parameter or a derived quantity of the kernel |
//! | `work.NAME` | bytes and operations of one launch |
//! | `bytes.NAME` | the size of a buffer |
//! | `device.NAME` | a fact of the device; absent if the machine does not tell it |
//! | `known.NAME` | 1 if the fact `device.NAME` is there, else 0: `if(known.l2_bytes, device.l2_bytes, 0)` |
//! | `est_ns` | the least time of one launch: `work.est_ns`, else `work.bytes_moved` over the device's peak |

use crate::manifest::Kernel;
use std::collections::BTreeMap;
use vramlab_trace::DeviceFacts;
use vramlab_units::{Formula, Map, Value};

/// Numbers by name.
pub type Vars = BTreeMap<String, f64>;

/// The numbers of one point, and what could not be computed, each with its reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointVars {
    pub vars: Vars,
    pub missing: BTreeMap<String, String>,
}

/// Evaluates `formula` over `vars`; the error is a sentence.
pub fn eval(formula: &str, vars: &Vars) -> Result<f64, String> {
    eval_with(formula, &|name| vars.get(name).copied())
}

/// Evaluates `formula` with names looked up by `lookup`; the error is a sentence.
pub fn eval_with(formula: &str, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
    let parsed = Formula::parse(formula).map_err(|error| format!("`{formula}`: {error}"))?;
    if let Some(fact) = missing_fact(&parsed, lookup) {
        return Err(format!("{NOT_TOLD}{fact}"));
    }
    parsed.eval(lookup).map_err(|error| format!("`{formula}`: {error}"))
}

const NOT_TOLD: &str = "the device does not report ";

/// The fact whose absence an error is about, for a sentence in another language.
pub fn fact_not_told(error: &str) -> Option<&str> {
    error.split_once(NOT_TOLD).map(|(_, fact)| fact)
}

/// A `device.NAME` that the formula cannot do without here. `if(known.x, device.x, …)` can.
fn missing_fact<'a>(formula: &'a Formula, lookup: &dyn Fn(&str) -> Option<f64>) -> Option<&'a str> {
    if formula.eval(lookup).is_ok() {
        return None;
    }
    let is_missing = |name: &&str| lookup(name).is_none();
    formula.names().into_iter().filter(is_missing).find_map(|name| name.strip_prefix("device."))
}

/// A whole number from 0 to `max`.
pub fn eval_whole(formula: &str, vars: &Vars, max: u64) -> Result<u64, String> {
    let value = eval(formula, vars)?;
    if value.fract() == 0.0 && (0.0..=max as f64).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!("`{formula}` is {value}; it must be a whole number from 0 to {max}"))
    }
}

/// `value` as JSON: an integer if it is one.
pub fn json_number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// The device's facts as variables.
pub fn device_vars(device: &DeviceFacts) -> Vars {
    let mut vars = Vars::new();
    for name in DeviceFacts::NAMES {
        let fact = device.get(name).filter(|fact| fact.is_finite());
        vars.insert(format!("known.{name}"), f64::from(u8::from(fact.is_some())));
        if let Some(fact) = fact {
            vars.insert(format!("device.{name}"), fact);
        }
    }
    vars
}

impl PointVars {
    /// Everything that follows from a kernel's parameters on a device. Parameters that `params` does not give have
    /// their defaults; what cannot be computed is left out and said in `missing`.
    pub fn of(kernel: &Kernel, params: &Map, device: &DeviceFacts) -> Self {
        let mut this = Self { vars: device_vars(device), missing: BTreeMap::new() };
        for param in &kernel.params {
            let given = params.get(&param.key).and_then(Value::as_f64);
            this.vars.insert(param.key.clone(), given.unwrap_or(param.default));
        }
        for (name, formula) in kernel.derive.iter() {
            this.put(name.to_owned(), formula);
        }
        for (name, formula) in kernel.work.iter() {
            this.put(format!("work.{name}"), formula);
        }
        for buffer in &kernel.buffers {
            this.put(format!("bytes.{}", buffer.name), &buffer.bytes);
        }
        if let Some(est_ns) = this.est_ns() {
            this.vars.insert("est_ns".to_owned(), est_ns);
        }
        this
    }

    /// Sum of all buffers, rounded up to whole bytes.
    pub fn buffer_bytes(&self, kernel: &Kernel) -> Option<u64> {
        let sizes = kernel.buffers.iter().map(|buffer| self.vars.get(&format!("bytes.{}", buffer.name)).copied());
        sizes.sum::<Option<f64>>().map(|bytes| bytes.ceil() as u64)
    }

    fn put(&mut self, name: String, formula: &str) {
        match eval(formula, &self.vars) {
            Ok(value) => {
                self.vars.insert(name, value);
            }
            Err(why) => {
                self.missing.insert(name, why);
            }
        }
    }

    fn est_ns(&self) -> Option<f64> {
        let get = |name: &str| self.vars.get(name).copied();
        // One byte per nanosecond is exactly 1 GB/s.
        get("work.est_ns").or_else(|| Some(get("work.bytes_moved")? / get("device.peak_gb_per_s")?))
    }
}
