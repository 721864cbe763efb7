//! Memory of a training step, phase by phase, with owners.
//!
//! Question: a model, its sizes, how it is trained. Answer: what `memory_allocated`, its maximum and `memory_reserved` say in
//! the steady state (the second step), as `cases/train_peaks.md` defines them, and whose bytes they are. The machine itself
//! is `vramlab_ledger`: PyTorch operation by operation, then its caching allocator.
//! Assumption: PyTorch 2.11 in eager mode on an H200, a fresh process that holds 68 MiB of cuBLAS and cuBLASLt workspaces
//! (in `reserved` only), nobody else on the card.
//! Source: measured; `kernels/peers/train_peaks.py` and its records in `tests/data/train_peaks`.
//! Errors: sizes that do not go together, kernels that PyTorch does not have.

mod fields;

use crate::fields as shared;
use crate::registry::Model;
use vramlab_ledger::{Plan, Run, Start, Timeline};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// The steady state is the second step: the first makes the optimizer's state.
const STEADY: u64 = 1;

const GIB: f64 = 1_073_741_824.0;

pub struct TrainingStep;

impl Model for TrainingStep {
    const ID: &'static str = "training_step";
    const TITLE: Text = Text::new("一个训练步的显存", "The memory of a training step");
    const ASSUMES: Text = Text::new(
        "PyTorch 2.11 的 eager 模式，H200，新进程；reserved 含 68 MiB 的 cuBLAS 工作区，其余各项不含。",
        "PyTorch 2.11 in eager mode on an H200, in a fresh process; reserved includes 68 MiB of cuBLAS workspaces, the others do not.",
    );
    const SOURCE: &'static str =
        "measured: kernels/peers/train_peaks.py, torch 2.11.0+cu130 on an H200, records in tests/data/train_peaks";
    const EXAMPLE: &'static str = r#"{"layers": 12, "hidden": 768, "heads": 12, "vocab": 50257, "seq_len": 1024, "batch": 4, "attention": "flash",
        "checkpoint": false, "precision": "amp", "optimizer": "adamw"}"#;

    fn question() -> Vec<FieldSpec> {
        fields::question()
    }

    fn answer() -> Vec<FieldSpec> {
        fields::answer()
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let plan = fields::plan(args)?;
        let step = if args.has("step") { args.uint("step") } else { STEADY };
        let run = record(&plan)?;
        Ok(answered(&run, &Timeline::new(&run, Start::default(), step as usize)))
    }
}

/// The run of a plan; a refusal names the question's field.
pub fn record(plan: &Plan) -> Result<Run, FieldError> {
    vramlab_ledger::record(plan).map_err(|error| FieldError::conflict(error.field, error.reason))
}

/// A plan from a checked question of [`TrainingStep`]: for whoever draws it.
pub fn plan(args: &Args) -> Result<Plan, FieldError> {
    fields::plan(args)
}

fn answered(run: &Run, timeline: &Timeline) -> Map {
    let figures = timeline.figures;
    let mut out = shared::answer([
        ("after_model", timeline.after_model.into()),
        ("after_forward", figures.after_forward.into()),
        ("peak_forward", figures.peak_forward.into()),
        ("after_backward", figures.after_backward.into()),
        ("peak_backward", figures.peak_backward.into()),
        ("after_step", figures.after_step.into()),
        ("peak_step", figures.peak_step.into()),
        ("reserved", figures.reserved.into()),
        ("peak_gib", shared::number(figures.peak_step as f64 / GIB)),
        ("reserved_gib", shared::number(figures.reserved as f64 / GIB)),
        ("n_params", run.n_params.into()),
        ("n_trained", run.n_trained.into()),
        ("peak_phase", fields::phase(timeline.peak.part).into()),
        ("peak_op", timeline.peak.item.op.into()),
        ("peak_layer", timeline.peak.item.layer.map_or(Value::Null, |layer| (u64::from(layer) + 1).into())),
    ]);
    for moment in fields::MOMENTS {
        let at = fields::moment_at(timeline, moment);
        for (holder, bytes) in timeline.at(at) {
            out.insert(fields::owner_key(moment, holder).to_owned(), bytes.into());
        }
    }
    out
}

#[cfg(test)]
mod tests;
