//! The loop: forward, backward, step, and the marks where figures are taken.

use crate::nets;
use crate::optim::Optim;
use crate::plan::{Plan, PlanError, Precision};
use crate::sim::{H200, Sim};
use crate::tape::{Mark, Owner, Tape};

/// A plan and its tape of two steps: the first makes the optimizer's state, the second is the steady state.
#[derive(Clone, Debug)]
pub struct Run {
    pub plan: Plan,
    pub tape: Tape,
    /// Parameters, and those of them that are trained.
    pub n_params: u64,
    pub n_trained: u64,
}

/// Plays two steps of a plan.
pub fn record(plan: &Plan) -> Result<Run, PlanError> {
    plan.check()?;
    let sim = Sim::new(H200);
    let built = nets::build(&sim, plan);
    let (model, n_params) = (&built.model, built.n_params);
    sim.mark(Mark::AfterModel);
    let n_trained = built.trained.iter().map(|tensor| tensor.n).sum();
    let mut optim = Optim::new(&sim, plan, built.trained.clone());
    sim.name("input");
    let (n_input, dtype, n_targets) = model.input();
    let mut input = sim.alloc_for(n_input, dtype, Owner::Input);
    if plan.is_channels_last {
        input = sim.alloc_for(n_input, dtype, Owner::Input);
    }
    let targets = match n_targets {
        Some(n) => sim.alloc_for(n, crate::sim::Dtype::I64, Owner::Input),
        None => input.clone(),
    };
    for _ in 0..2 {
        sim.mark(Mark::StepStart);
        let mut loss = None;
        // Later micro-batches repeat the third.
        let n_micro = plan.accumulation.min(3);
        for micro in 0..n_micro {
            let is_last = micro + 1 == n_micro;
            let (logits, new) = sim.autocast(plan.precision == Precision::Amp, || {
                let (logits, extras) = model.forward(&sim, &input);
                let loss = sim.cross_entropy(&logits, &targets);
                let loss = if extras.is_empty() { loss } else { sim.add_balance(loss, &extras) };
                (logits, loss)
            });
            loss = Some(new);
            if is_last {
                sim.mark(Mark::AfterForward);
            }
            drop(logits);
            if let Some(loss) = &loss {
                if plan.accumulation > 1 {
                    let share = sim.scale(loss.clone());
                    sim.backward(&share);
                } else {
                    sim.backward(loss);
                }
            }
        }
        sim.mark(Mark::AfterBackward);
        optim.step(&sim);
        sim.mark(Mark::AfterStep);
        if plan.sets_grads_to_none {
            optim.drop_grads(&sim);
        }
        drop(loss);
        sim.mark(Mark::StepEnd);
    }
    Ok(Run { plan: plan.clone(), tape: sim.into_tape(), n_params, n_trained })
}
