//! `kernel.toml` and `experiment.toml` as types. Formulas are kept as text and parsed when the manifest is read, so
//! that a bad one is a finding of the checker with its place.

use crate::lens::{Lens, LensKind, NoLens};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use vramlab_units::{Localized, Map, Value};

pub const SCHEMA: u32 = 1;

/// Named formulas in the order in which the author wrote them. A map in TOML and JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formulas(pub Vec<(String, String)>);

impl Formulas {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, formula)| formula.as_str())
    }

    /// Names and formulas, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, formula)| (name.as_str(), formula.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Formulas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Formulas {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Formulas;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a table of formulas")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Formulas, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Formulas(out))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A kernel: what it computes, its parameters, how it is launched on each back end, what it moves, how it is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    pub schema: u32,
    /// The folder's name; filled in by the reader.
    #[serde(default)]
    pub slug: String,
    pub title: Localized,
    /// What it does in one or two sentences.
    pub about: Localized,
    #[serde(default, rename = "param")]
    pub params: Vec<Param>,
    /// Derived quantities, in order; each may use parameters, `device.*` facts and earlier ones.
    #[serde(default)]
    pub derive: Formulas,
    #[serde(default, rename = "buffer")]
    pub buffers: Vec<Buffer>,
    /// Bytes and operations of one launch, by formula: `bytes_moved`, `bytes_useful`, `flop`, `n_requests`, …, in order;
    /// later ones may use `work.NAME` of earlier ones. `est_ns`, if given, replaces the planner's own estimate of one
    /// launch's time (`work.bytes_moved` over the device's peak).
    pub work: Formulas,
    pub oracle: Oracle,
    pub cuda: Option<CudaLaunch>,
    /// A routine of the CUDA back end that drives the card from the host, in place of a launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda_host: Option<HostRoutine>,
    /// Name of the routine of the CPU back end, if it has one.
    pub cpu: Option<CpuRoutine>,
    /// Why it is safe to run with any legal parameters.
    pub safety: Localized,
}

/// A parameter of a kernel. `unit` is required; `1` means a plain count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    pub key: String,
    pub unit: String,
    pub min: f64,
    pub max: f64,
    pub default: f64,
    /// Only these values, if given.
    #[serde(default)]
    pub options: Vec<f64>,
    pub means: Localized,
}

impl Kernel {
    /// True if an experiment may run it on CUDA.
    pub fn runs_on_cuda(&self) -> bool {
        self.cuda.is_some() || self.cuda_host.is_some()
    }
}

impl Param {
    /// True if `value` may be given.
    pub fn allows(&self, value: f64) -> bool {
        (self.min..=self.max).contains(&value) && (self.options.is_empty() || self.options.contains(&value))
    }

    /// The legal values in words.
    pub fn legal(&self) -> String {
        if self.options.is_empty() {
            format!("a number from {} to {}", self.min, self.max)
        } else {
            let options: Vec<String> = self.options.iter().map(f64::to_string).collect();
            format!("one of {}", options.join(", "))
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    pub name: String,
    /// Size by formula, in bytes.
    pub bytes: String,
    pub fill: Fill,
    /// Bits of a random word that stay, and bits that are set afterwards, by formula: codes of a number format without
    /// those that the kernel must not meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
}

/// Which bits of a random word stay, and which are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    pub keep: u32,
    pub set: u32,
}

impl Mask {
    pub fn of(self, word: u32) -> u32 {
        word & self.keep | self.set
    }
}

impl Buffer {
    /// The mask of a random fill at one point.
    pub fn mask(&self, vars: &crate::vars::Vars) -> Result<Mask, String> {
        let bits = |formula: &Option<String>, default: u32| match formula {
            None => Ok(default),
            Some(formula) => crate::vars::eval_whole(formula, vars, u32::MAX.into()).map(|bits| bits as u32),
        };
        Ok(Mask { keep: bits(&self.keep, u32::MAX)?, set: bits(&self.set, 0)? })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// 32-bit words of a counter-based generator (`oracle::word_at(seed, index)`), so that any element can be recomputed.
    Random,
    /// Doubles in [0, 1), one a word of the generator: `oracle::unit_f64_at(seed, index)`.
    UnitF64,
    /// Floats in [0, 1), one a word of the generator: `oracle::unit_f32_at(seed, index)`.
    UnitF32,
    /// Two bf16 numbers in [0, 1) a word of the generator, steps of 1/256: `oracle::unit_bf16_at(seed, index)`.
    UnitBf16,
    /// 32-bit indices 0 … n − 1 in random order, n a power of two: `oracle::words::shuffled`.
    Shuffled,
    /// 0xFF in every byte: a NaN, and an index that no kernel writes.
    Poison,
    Zero,
}

/// The check against the processor: an id in `oracle/`, with what it needs by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oracle {
    pub id: String,
    /// Relative tolerance; 0 compares bits.
    #[serde(default)]
    pub tolerance: f64,
    /// Named formulas or buffer names for the oracle.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaLaunch {
    /// File in the kernel's folder.
    pub source: String,
    /// `sm_90a`: on that architecture the source is compiled for its own instructions too (wgmma), elsewhere as ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// `extern "C"` name; `{param}` is replaced by an integer parameter, for kernels instantiated by macro.
    pub entry: String,
    /// Blocks (x), threads a block (x), dynamic shared bytes, by formula. 2-D shapes use the `_y` fields.
    pub grid: String,
    #[serde(default)]
    pub grid_y: Option<String>,
    pub block: String,
    #[serde(default)]
    pub block_y: Option<String>,
    #[serde(default)]
    pub shared: Option<String>,
    /// `#define NAME value` passed to the compiler, by formula: parameters that must be compile-time constants.
    #[serde(default)]
    pub define: BTreeMap<String, String>,
    /// In order: `ptr:NAME`, `u32:FORMULA`, `u64:FORMULA`, `f32:FORMULA`, and `tensor_map:NAME; ROWS; COLUMNS; BOX_ROWS;
    /// BOX_COLUMNS` (bf16, row after row, boxes of rows of 128 bytes, swizzled) for the copy engine of a Hopper.
    pub args: Vec<String>,
    /// Buffers of 64-bit cycle counts that the kernel writes itself; each becomes a reading (the median over the buffer).
    #[serde(default)]
    pub cycles: Vec<String>,
    /// Launches of the same source right behind this one, in order: timed, counted and checked together with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Then>,
}

/// A launch that follows another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Then {
    pub entry: String,
    /// Left out where this is 0.
    #[serde(default)]
    pub when: Option<String>,
    pub grid: String,
    pub block: String,
    #[serde(default)]
    pub shared: Option<String>,
    pub args: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRoutine {
    /// Id in `backend/cpu`.
    pub routine: String,
    /// Named formulas the routine reads.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

/// Work of the CUDA back end that is not one launch: allocations, pools, traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRoutine {
    /// Id in `backend/host`.
    pub routine: String,
    /// File in the kernel's folder, if the routine launches kernels of its own.
    #[serde(default)]
    pub source: Option<String>,
    /// Named formulas the routine reads.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

/// An experiment: a sweep over one kernel's parameters with a prediction and an expected effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub schema: u32,
    /// `SLUG/NAME`, filled in by the reader from the folder and file name (`experiment.toml` → NAME = `main`,
    /// `offset.experiment.toml` → NAME = `offset`).
    #[serde(default)]
    pub id: String,
    pub title: Localized,
    /// The question that it answers.
    pub asks: Localized,
    pub backend: vramlab_trace::Backend,
    /// Parameter on the x axis and its values.
    pub sweep: Sweep,
    /// One curve each.
    #[serde(rename = "series")]
    pub series: Vec<Series>,
    /// Sizes for the device at hand, by formula over `device.*` and `budget_bytes`; they set kernel parameters.
    /// In order; each may use `device.*`, `budget_bytes`, the kernel's parameters and earlier ones.
    #[serde(default)]
    pub plan: Formulas,
    /// Conditions over the plan that must hold, each with its reason when it does not: the experiment then says so
    /// instead of running.
    #[serde(default)]
    pub needs: Vec<Need>,
    pub measure: Measure,
    /// Ranges of the x axis that the chart marks.
    #[serde(default, rename = "mark")]
    pub marks: Vec<Mark>,
    pub effect: Effect,
    /// Longest a full run may take when it is recorded, in seconds; at most 12.
    pub time_secs: f64,
    /// Samples a point, quick and full.
    #[serde(default = "default_samples")]
    pub samples: [u32; 2],
    /// Counters to read, each with the formula over `work.*` and parameters that it must equal.
    #[serde(default, rename = "counter")]
    pub counters: Vec<Counter>,
    /// Other observables of the same run.
    #[serde(default, rename = "lens")]
    pub lenses: Vec<Lens>,
    /// Lenses that would show nothing true here, with the reason.
    #[serde(default)]
    pub absent: Vec<NoLens>,
}

fn default_samples() -> [u32; 2] {
    [9, 31]
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub param: String,
    /// The parameter in a word, as sentences and axes name it; the key where it is empty.
    #[serde(default)]
    pub title: Localized,
    pub values: Vec<f64>,
    /// Fewer of them, for a quick run; empty means all.
    #[serde(default)]
    pub quick: Vec<f64>,
    /// `log2`, `linear` or `category`.
    #[serde(default)]
    pub scale: String,
    /// Names of the categories, one a value.
    #[serde(default)]
    pub labels: Vec<Localized>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    pub id: String,
    pub title: Localized,
    /// Kernel parameters fixed for this curve.
    #[serde(default)]
    pub set: Map,
    pub predict: Predict,
}

/// The predicted value of each point: one field of a model's answer, then an optional formula over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predict {
    pub model: String,
    /// Question fields by formula over parameters, derived quantities and `device.*`; a text in quotes `'…'` is taken
    /// literally.
    pub set: BTreeMap<String, Value>,
    pub take: String,
    /// Optional formula over every field of the answer, the question's values, `work.*` and `device.*`.
    #[serde(default)]
    pub then: Option<String>,
}

/// What is measured: a formula over `time_ns` (median of one launch), `reading.NAME` (medians; `NAME` for short), `counter.METRIC` (every
/// character of the metric that is no letter or digit written `_`), the sensors (`sm_clock_mhz`, …) and everything a
/// point is known by; and the hardware's limit for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub value: String,
    pub unit: String,
    pub title: Localized,
    /// Ceiling by formula over `device.*`; a value above it is invalid. Absent facts leave the check out.
    #[serde(default)]
    pub at_most: Option<String>,
    /// Floor, for quantities of which less is faster (cycles, time); a value below it is invalid.
    #[serde(default)]
    pub at_least: Option<String>,
    #[serde(default)]
    pub scale: String,
    /// The lens that the measure belongs to.
    #[serde(default)]
    pub lens: LensKind,
}

/// A marked range of the x axis: "64-byte pieces" between strides 8 and 16.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub from: f64,
    pub to: f64,
    pub says: Localized,
}

/// The effect that must show: the ratio of two points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// `series@x` of the larger value, `series@x` of the smaller.
    pub larger: String,
    pub smaller: String,
    /// The least ratio at which the effect counts as shown.
    pub at_least: f64,
    pub sentence: Localized,
    /// Causes to test, in order, when it does not show.
    #[serde(default, rename = "hidden_by")]
    pub causes: Vec<Cause>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// `l2_resident`, `dram_bound`, `launch_bound`, `clock_not_settled`, `shared_gpu`, `noise`, …
    pub id: String,
    /// True when the cause applies; formula over `device.*`, the plan, `larger.time_ns`, `smaller.time_ns`, `spread`, …
    pub when: String,
    pub says: Localized,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    pub holds: String,
    pub says: Localized,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The profiler's name: `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`.
    pub metric: String,
    pub equals: String,
    /// Relative tolerance; 0 means equal.
    #[serde(default)]
    pub tolerance: f64,
    pub means: Localized,
}
