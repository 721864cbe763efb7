//! The closed formula for a GPT's training step: sums of tensors, no operations, no allocator.
//!
//! Question: as `training_step` for a GPT. Answer: the same figures in the steady state. Assumption: the loss is the peak,
//! which holds for large vocabularies only; tensors are rounded to 512 bytes, and nothing is left unsplit. `training_step` is
//! the exact one; this one is what fits on a page, and the gap between them is the lesson.
//! Source: derived from what PyTorch 2.11 saves, operation by operation (`vramlab_ledger`), and measured with it.

use crate::fields::answer as pairs;
use crate::registry::Model;
use crate::training_step;
use vramlab_ledger::{Attention, Net, Optimizer, Plan, Precision};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct ClosedFormulaStep;

const KEYS: [&str; 10] =
    ["layers", "hidden", "heads", "vocab", "seq_len", "batch", "attention", "checkpoint", "precision", "optimizer"];
const FIGURES: [&str; 6] =
    ["after_forward", "peak_forward", "after_backward", "peak_backward", "after_step", "peak_step"];

impl Model for ClosedFormulaStep {
    const ID: &'static str = "closed_formula_step";
    const TITLE: Text = Text::new("训练步显存的封闭公式", "The closed formula for a training step");
    const ASSUMES: Text = Text::new(
        "GPT 块，峰值在损失处（词表大时才对）；每个张量取整到 512 字节。",
        "GPT blocks; the peak is in the loss, which holds for large vocabularies; tensors rounded to 512 bytes.",
    );
    const SOURCE: &'static str = "sums of the tensors that torch 2.11 keeps; checked against measured steps on an H200";
    const EXAMPLE: &'static str = training_step::TrainingStep::EXAMPLE;

    fn question() -> Vec<FieldSpec> {
        training_step::TrainingStep::question().into_iter().filter(|spec| KEYS.contains(&spec.key.as_ref())).collect()
    }

    fn answer() -> Vec<FieldSpec> {
        training_step::TrainingStep::answer().into_iter().filter(|spec| FIGURES.contains(&spec.key.as_ref())).collect()
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        // The other fields of a step take their defaults.
        let given = args.map().clone();
        let args = Args::check(&training_step::TrainingStep::question(), &given)?;
        let plan = training_step::plan(&args)?;
        plan.check().map_err(|error| FieldError::conflict(error.field, error.reason))?;
        let Figures { after_forward, peak_forward, after_backward, peak_backward, after_step, peak_step } =
            figures(&plan);
        Ok(pairs([
            ("after_forward", after_forward.into()),
            ("peak_forward", peak_forward.into()),
            ("after_backward", after_backward.into()),
            ("peak_backward", peak_backward.into()),
            ("after_step", after_step.into()),
            ("peak_step", peak_step.into()),
        ]))
    }
}

/// Bytes at the moments of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub after_forward: u64,
    pub peak_forward: u64,
    pub after_backward: u64,
    pub peak_backward: u64,
    pub after_step: u64,
    pub peak_step: u64,
}

/// The steady state of a GPT by the closed formula; other nets answer as a GPT of the same sizes would.
pub fn figures(plan: &Plan) -> Figures {
    debug_assert_eq!(plan.net, Net::Gpt);
    let n = plan.n_tokens();
    let (l, h, v, t) = (plan.layers, plan.hidden, plan.vocab, plan.seq_len);
    let is_fp32 = plan.precision == Precision::Fp32;
    let (e, r) = match plan.precision {
        Precision::Fp32 => (4, 4),
        Precision::Amp => (2, 4),
        Precision::Bf16 => (2, 2),
    };
    let params = parameter_bytes(plan);
    let states = match plan.optimizer {
        Optimizer::AdamW | Optimizer::AdamW8bit => 2 * params,
        Optimizer::Sgdm => params,
        Optimizer::Sgd => 0,
    };
    let held = params + states + 8 * n;
    let kept = if plan.is_recomputed() { 0 } else { l * block_bytes(plan) };
    let is_amp = plan.precision == Precision::Amp;
    let head_cast = if is_amp { 2 * v * h } else { 0 };
    let after_forward =
        held + (l + 1) * r * n * h + kept + 8 * t + 8 * n + e * n * h + head_cast + e * n * v + 4 * n * v + 1024;
    let casts = if is_amp { 18 * l * h + if plan.is_recomputed() { 24 * h * h * l } else { 0 } } else { 0 };
    let peak_forward = after_forward + if is_fp32 { 0 } else { 4 * n * v } + casts;
    let peak_backward = peak_forward.max(after_forward - e * n * v + 8 * n * v);
    let after_backward = held + params + 512;
    let roots = if plan.optimizer == Optimizer::AdamW { params } else { 0 };
    let peak_step = peak_backward.max(after_backward + roots);
    Figures { after_forward, peak_forward, after_backward, peak_backward, after_step: after_backward, peak_step }
}

/// Every parameter rounded to 512 bytes.
fn parameter_bytes(plan: &Plan) -> u64 {
    let width = if plan.precision == Precision::Bf16 { 2 } else { 4 };
    let round = |n: u64| (n * width).next_multiple_of(512);
    let h = plan.hidden;
    let linear = |k: u64, c: u64| round(k * c) + round(c);
    let block = 4 * round(h) + linear(h, 3 * h) + linear(h, h) + linear(h, 4 * h) + linear(4 * h, h);
    2 * round(plan.vocab * h) + round(plan.seq_len * h) + plan.layers * block + 2 * round(h)
}

/// What a block saves beside its input.
fn block_bytes(plan: &Plan) -> u64 {
    let (n, h, t) = (plan.n_tokens(), plan.hidden, plan.seq_len);
    let scores = plan.batch * plan.heads * t * t;
    let rows = plan.batch * plan.heads * t;
    let is_flash = plan.attention == Attention::Flash;
    let (per_token, per_score, casts) = match (plan.precision, is_flash) {
        (Precision::Amp, true) => (32, 0, 24 * h * h),
        (Precision::Amp, false) => (32, 6, 24 * h * h),
        (Precision::Bf16, true) => (30, 0, 0),
        (Precision::Bf16, false) => (30, 2, 0),
        (Precision::Fp32, _) => (60, 4, 0),
    };
    let attention = if is_flash { 4 * rows + 1024 } else { per_score * scores + t * t };
    per_token * n * h + attention + 16 * n + casts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example: every line of its table is a sum done by hand.
    #[test]
    fn the_worked_example() {
        let mut plan = Plan::default();
        let steady = figures(&plan);
        assert_eq!(
            steady,
            Figures {
                after_forward: 4_819_687_936,
                peak_forward: 5_643_264_512,
                after_backward: 2_608_628_224,
                peak_backward: 6_054_803_968,
                after_step: 2_608_628_224,
                peak_step: 6_054_803_968,
            }
        );
        // Where the vocabulary is small the loss is not the peak, and the formula misses it.
        (plan.vocab, plan.layers) = (500, 6);
        plan.attention = Attention::Math;
        let run = vramlab_ledger::record(&plan).unwrap();
        let (_, steps) = vramlab_ledger::figures(&run.tape, vramlab_ledger::Start::default(), |_, _, _| {});
        assert!((figures(&plan).peak_backward as f64) < 0.95 * steps[1].peak_backward as f64);
    }
}
