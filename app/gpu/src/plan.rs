//! An experiment for the device at hand: sizes, launches and predictions, computed before anything runs.
//!
//! The formulas of `[plan]` see `budget_bytes`. When the buffers exceed the budget, or one launch would take too long on
//! a card that drives a display, the planner halves `budget_bytes` and evaluates them again; an experiment shrinks by
//! the sizes that it derives from the budget, and says that it does not fit when it derives none.

use crate::manifest::{Effect, Experiment, Kernel, Param, Series};
use crate::vars::{PointVars, eval, eval_with, fact_not_told, json_number};
use crate::{launch::Launch, predict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::field::did_you_mean;
use vramlab_units::{Bytes, FieldError, Lang, Localized, Map, show};

/// The most a run may take when nobody says otherwise: the smaller of this and half of what is free.
pub const BUDGET_BYTES: u64 = 8 << 30;
/// Longest launch planned for a card that drives a display, by the bytes-over-peak estimate. Scattered patterns take up
/// to twice that, and an operating system ends kernels after some seconds; 200 ms is where a desktop starts to stutter.
pub const DISPLAY_EST_NS: f64 = 100e6;
/// The planner gives up below this budget.
const LEAST_BUDGET_BYTES: f64 = 65_536.0;
/// Allowance of a deadline for start-up, compiling and filling, in seconds.
const DEADLINE_BASE_SECS: f64 = 10.0;

/// Quick runs answer in seconds; full runs are what `record` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Quick,
    Full,
}

impl Mode {
    /// As written in a run: `quick` or `full`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// One point to run, with everything resolved to numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPlan {
    pub series: String,
    /// Value of the sweep's parameter.
    pub x: f64,
    /// Kernel parameters, sizes of the plan included.
    pub params: Map,
    /// Every number a later formula may name: parameters, derived quantities, `work.*`, `bytes.BUFFER` (size of a
    /// buffer), `device.*` facts, `budget_bytes`, `est_ns`. Launch shapes, oracles and routines need no other lookup.
    pub vars: BTreeMap<String, f64>,
    /// What the model predicts, in the unit of the measure; nothing if the device does not tell a fact that it needs.
    pub predicted: Option<f64>,
    pub n_samples: u32,
}

/// A runnable experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub experiment: String,
    pub mode: Mode,
    pub points: Vec<PointPlan>,
    /// Largest sum of buffers of one point.
    pub peak_bytes: u64,
    /// Longest the run may take before it is ended.
    pub deadline_secs: f64,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The experiment cannot run, or cannot show its effect, on this device; the reason is for the reader.
    #[error("{}", .why.get(Lang::En))]
    Unfit { why: Localized },
    /// A parameter that the reader set.
    #[error(transparent)]
    Setting(#[from] FieldError),
    /// A mistake in a manifest that the checker should have found.
    #[error("{what}")]
    Content { what: String },
}

/// The budget when nobody says otherwise: the smaller of 8 GiB and half of what is free.
pub fn default_budget(facts: &DeviceFacts) -> u64 {
    facts.free_bytes.map_or(BUDGET_BYTES, |free| BUDGET_BYTES.min((free / 2.0) as u64))
}

/// The kernel's parameters that a reader may set: neither swept nor fixed by every series.
pub fn settable<'a>(experiment: &Experiment, kernel: &'a Kernel) -> Vec<&'a Param> {
    let is_fixed = |key: &str| experiment.series.iter().all(|series| series.set.contains_key(key));
    kernel.params.iter().filter(|param| param.key != experiment.sweep.param && !is_fixed(&param.key)).collect()
}

/// Whether a reader or a chapter may set these parameters.
pub fn check_settings(experiment: &Experiment, kernel: &Kernel, settings: &Map) -> Result<(), FieldError> {
    let facts = DeviceFacts::default();
    Cx { experiment, kernel, facts: &facts, mode: Mode::Quick, settings }.check_settings()
}

/// Plans `experiment` for the device. `settings` are parameters that the reader chose; they override the plan's sizes.
pub fn plan(
    experiment: &Experiment,
    kernel: &Kernel,
    facts: &DeviceFacts,
    mode: Mode,
    budget_bytes: u64,
    settings: &Map,
) -> Result<Plan, PlanError> {
    let cx = Cx { experiment, kernel, facts, mode, settings };
    cx.check_settings()?;
    let mut lever = budget_bytes as f64;
    loop {
        let plan = cx.attempt(lever)?;
        let Some(why) = cx.too_large(&plan, budget_bytes) else {
            cx.check_needs(&plan)?;
            cx.check_effect(&plan)?;
            return Ok(plan);
        };
        lever /= 2.0;
        if lever < LEAST_BUDGET_BYTES {
            return Err(PlanError::Unfit { why });
        }
    }
}

/// The ratio that the plan predicts for the experiment's effect.
pub fn predicted_ratio(plan: &Plan, effect: &Effect) -> Option<f64> {
    let predicted = |reference: &str| {
        let (series, x) = split_reference(reference)?;
        plan.points.iter().find(|point| point.series == series && point.x == x)?.predicted
    };
    let (larger, smaller) = (predicted(&effect.larger)?, predicted(&effect.smaller)?);
    (smaller != 0.0).then(|| larger / smaller)
}

/// Splits `series@x`.
pub fn split_reference(reference: &str) -> Option<(&str, f64)> {
    let (series, x) = reference.rsplit_once('@')?;
    Some((series, x.parse().ok()?))
}

struct Cx<'a> {
    experiment: &'a Experiment,
    kernel: &'a Kernel,
    facts: &'a DeviceFacts,
    mode: Mode,
    settings: &'a Map,
}

impl Cx<'_> {
    fn check_settings(&self) -> Result<(), FieldError> {
        let known = settable(self.experiment, self.kernel);
        for (key, value) in self.settings {
            let Some(param) = known.iter().find(|param| param.key == *key) else {
                return Err(self.not_settable(key, &known));
            };
            value
                .as_f64()
                .filter(|value| param.allows(*value))
                .ok_or_else(|| FieldError::illegal(key, value, param.legal()))?;
        }
        Ok(())
    }

    fn not_settable(&self, key: &str, known: &[&Param]) -> FieldError {
        if key == self.experiment.sweep.param {
            return FieldError::conflict(key, "it is the x axis of this experiment, which runs all of its values");
        }
        if self.kernel.params.iter().any(|param| param.key == key) {
            return FieldError::conflict(
                key,
                "the curves of this experiment differ in it, so it cannot be set for all",
            );
        }
        let names = || known.iter().map(|param| param.key.as_str());
        FieldError::Unknown {
            field: key.to_owned(),
            hint: did_you_mean(key, names()).map(str::to_owned),
            known: names().collect::<Vec<_>>().join(", "),
        }
    }

    /// All points for one value of `budget_bytes`.
    fn attempt(&self, budget_bytes: f64) -> Result<Plan, PlanError> {
        let sweep = &self.experiment.sweep;
        let is_quick = self.mode == Mode::Quick;
        let values = if is_quick && !sweep.quick.is_empty() { &sweep.quick } else { &sweep.values };
        let mut points = Vec::new();
        let mut peak_bytes = 0;
        for series in &self.experiment.series {
            for x in values {
                let (point, bytes) = self.point(series, *x, budget_bytes)?;
                peak_bytes = peak_bytes.max(bytes);
                points.push(point);
            }
        }
        let secs = self.experiment.time_secs;
        let deadline_secs = DEADLINE_BASE_SECS + if is_quick { secs } else { 3.0 * secs };
        Ok(Plan { experiment: self.experiment.id.clone(), mode: self.mode, points, peak_bytes, deadline_secs })
    }

    fn point(&self, series: &Series, x: f64, budget_bytes: f64) -> Result<(PointPlan, u64), PlanError> {
        let params = self.params(series, x, budget_bytes)?;
        let mut point = PointVars::of(self.kernel, &params, self.facts);
        point.vars.insert("budget_bytes".to_owned(), budget_bytes);
        let bytes = point.buffer_bytes(self.kernel).ok_or_else(|| unresolved(&point))?;
        if self.experiment.backend == Backend::Cuda {
            self.check_launch(&point)?;
        }
        let predicted = predict::predict(&series.predict, &point.vars).ok().map(|answer| answer.value);
        let n_samples = self.experiment.samples[usize::from(self.mode == Mode::Full)];
        Ok((PointPlan { series: series.id.clone(), x, params, vars: point.vars, predicted, n_samples }, bytes))
    }

    /// Every parameter of the kernel: its default, then the plan's size, the reader's setting, the series' value, x.
    fn params(&self, series: &Series, x: f64, budget_bytes: f64) -> Result<Map, PlanError> {
        let mut fixed = Map::new();
        for (key, value) in self.settings.iter().chain(&series.set) {
            fixed.insert(key.clone(), value.clone());
        }
        fixed.insert(self.experiment.sweep.param.clone(), json_number(x));
        let mut vars = PointVars::of(self.kernel, &fixed, self.facts).vars;
        vars.insert("budget_bytes".to_owned(), budget_bytes);
        for (key, formula) in self.experiment.plan.iter() {
            if fixed.contains_key(key) {
                continue;
            }
            let value = eval(formula, &vars).map_err(|why| self.no_size(key, &why))?;
            self.check_size(key, value)?;
            vars.insert(key.to_owned(), value);
            fixed.insert(key.to_owned(), json_number(value));
        }
        let value = |param: &Param| fixed.get(&param.key).cloned().unwrap_or_else(|| json_number(param.default));
        Ok(self.kernel.params.iter().map(|param| (param.key.clone(), value(param))).collect())
    }

    fn check_size(&self, key: &str, value: f64) -> Result<(), PlanError> {
        let Some(param) = self.kernel.params.iter().find(|param| param.key == key) else {
            return Err(PlanError::Content { what: format!("plan.{key}: the kernel has no parameter \"{key}\"") });
        };
        if value < param.min {
            let (value, min) = (show::number(value), show::number(param.min));
            let zh = format!("这台设备留给实验的空间太小：{key} 只能取到 {value}，至少要 {min}");
            let en = format!("too little memory is free on this device: {key} could only be {value}, it needs {min}");
            return Err(PlanError::Unfit { why: Localized::both(zh, en) });
        }
        if !param.allows(value) {
            return Err(PlanError::Content { what: format!("plan.{key} gives {value}; it must be {}", param.legal()) });
        }
        Ok(())
    }

    /// A size that cannot be computed: the device does not tell a fact, or the formula is wrong.
    fn no_size(&self, key: &str, why: &str) -> PlanError {
        let Some(fact) = fact_not_told(why) else {
            return PlanError::Content { what: format!("plan.{key}: {why}") };
        };
        let zh = format!("这台设备没有报告 {fact}，算不出 {key}");
        let en = format!("this device does not report {fact}, from which the size {key} is computed");
        PlanError::Unfit { why: Localized::both(zh, en) }
    }

    fn check_launch(&self, point: &PointVars) -> Result<(), PlanError> {
        if self.kernel.cuda_host.is_some() {
            return Ok(());
        }
        let Some(cuda) = &self.kernel.cuda else {
            let what = format!("kernel \"{}\" has no [cuda] part, but the experiment runs on CUDA", self.kernel.slug);
            return Err(PlanError::Content { what });
        };
        let launches = Launch::all(cuda, &point.vars).map_err(|what| PlanError::Content { what })?;
        let asked = launches.iter().map(|launch| launch.shared_bytes).max().unwrap_or_default();
        let Some(limit) = self.facts.shared_per_block_bytes.filter(|limit| f64::from(asked) > *limit) else {
            return Ok(());
        };
        let (asked, limit) = (show::bytes_binary(Bytes(asked.into())), show::bytes_binary(Bytes(limit as u64)));
        let zh = format!("每个线程块需要 {asked} 共享内存，这台设备最多给 {limit}");
        let en = format!("a block needs {asked} of shared memory, this device gives at most {limit}");
        Err(PlanError::Unfit { why: Localized::both(zh, en) })
    }

    /// Why the plan must shrink, if it must.
    fn too_large(&self, plan: &Plan, budget_bytes: u64) -> Option<Localized> {
        if plan.peak_bytes > budget_bytes {
            let (asked, budget) = (show::bytes_binary(Bytes(plan.peak_bytes)), show::bytes_binary(Bytes(budget_bytes)));
            let zh = format!("实验需要 {asked}，预算是 {budget}");
            let en = format!("the experiment needs {asked}, the budget is {budget}");
            return Some(Localized::both(zh, en));
        }
        if self.facts.has_kernel_timeout != Some(1.0) {
            return None;
        }
        let longest = plan.points.iter().filter_map(|point| point.vars.get("est_ns")).copied().fold(0.0, f64::max);
        (longest > DISPLAY_EST_NS).then(|| {
            let ms = show::number(longest / 1e6);
            let zh = format!("这张卡同时负责显示，而一次启动至少要 {ms} ms，画面会卡住");
            let en = format!("this card drives a display, and one launch would hold it for at least {ms} ms");
            Localized::both(zh, en)
        })
    }

    fn check_needs(&self, plan: &Plan) -> Result<(), PlanError> {
        for need in &self.experiment.needs {
            for point in &plan.points {
                // A condition over a fact that the device does not tell is left to the verdict.
                if eval_with(&need.holds, &|name| point.vars.get(name).copied()) == Ok(0.0) {
                    return Err(PlanError::Unfit { why: need.says.clone() });
                }
            }
        }
        Ok(())
    }

    /// An effect that the model does not expect here is not promised. With the reader's own settings anything may run:
    /// the verdict then says whether it showed.
    fn check_effect(&self, plan: &Plan) -> Result<(), PlanError> {
        let effect = &self.experiment.effect;
        let Some(ratio) = predicted_ratio(plan, effect).filter(|ratio| *ratio < effect.at_least) else { return Ok(()) };
        if !self.settings.is_empty() {
            return Ok(());
        }
        let (ratio, at_least) = (show::number(ratio), show::number(effect.at_least));
        let zh = format!("按模型，这台设备上两者只差 {ratio} 倍，不到 {at_least} 倍，看不出效果");
        let en = format!("on this device the model expects a ratio of only {ratio}; the effect counts from {at_least}");
        Err(PlanError::Unfit { why: Localized::both(zh, en) })
    }
}

/// The buffers' sizes could not be computed: a fact is absent, or the manifest is wrong.
fn unresolved(point: &PointVars) -> PlanError {
    if let Some(fact) = point.missing.values().find_map(|why| fact_not_told(why)) {
        let zh = format!("这台设备没有报告 {fact}，算不出实验的大小");
        let en = format!("this device does not report {fact}, from which the sizes are computed");
        return PlanError::Unfit { why: Localized::both(zh, en) };
    }
    let reasons: Vec<String> = point.missing.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    PlanError::Content { what: reasons.join("; ") }
}

#[cfg(test)]
#[path = "plan_test.rs"]
mod tests;
