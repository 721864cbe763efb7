//! What may stand beside what, and which quality a candidate must keep.

use super::file::{Entry, Evidence, Gate, Outcome, Run};
use vramlab_units::Text;

/// Why two runs may not be compared: the field, and what each says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub field: &'static str,
    pub baseline: String,
    pub candidate: String,
}

/// Every difference that forbids a comparison; the strategy alone may differ.
pub fn compare(baseline: &Entry, candidate: &Entry) -> Vec<Difference> {
    let (a, b) = (&baseline.work, &candidate.work);
    let fields = [
        ("net", format!("{:?}", a.net).to_lowercase(), format!("{:?}", b.net).to_lowercase()),
        ("n_layers", a.n_layers.to_string(), b.n_layers.to_string()),
        ("width", a.width.to_string(), b.width.to_string()),
        ("n_heads", a.n_heads.to_string(), b.n_heads.to_string()),
        ("n_classes", a.n_classes.to_string(), b.n_classes.to_string()),
        ("dtype", a.dtype.id().to_owned(), b.dtype.id().to_owned()),
        ("batch", a.batch.to_string(), b.batch.to_string()),
        ("seq_len", a.seq_len.to_string(), b.seq_len.to_string()),
        ("optimizer", format!("{:?}", a.optimizer).to_lowercase(), format!("{:?}", b.optimizer).to_lowercase()),
        ("seed", a.seed.to_string(), b.seed.to_string()),
        ("n_steps", a.n_steps.to_string(), b.n_steps.to_string()),
        ("backend", baseline.device.backend.clone(), candidate.device.backend.clone()),
        ("device", baseline.device.name.clone(), candidate.device.name.clone()),
        ("driver", baseline.device.driver.clone(), candidate.device.driver.clone()),
        ("program", baseline.program.clone(), candidate.program.clone()),
    ];
    let differs = |(field, a, b): (&'static str, String, String)| {
        (a != b).then_some(Difference { field, baseline: a, candidate: b })
    };
    fields.into_iter().filter_map(differs).collect()
}

/// What a candidate's run says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub is_accepted: bool,
    /// Why not, or what was found equal.
    pub why: Text,
    /// Largest relative difference of a loss.
    pub loss_gap: f64,
    /// How sure the gradient, the peak and the time are.
    pub gradient: Evidence,
    pub peak: Evidence,
    pub time: Evidence,
}

const LOSS: Text = Text::new("损失超出容差", "the loss is outside the tolerance");
const BITS: Text = Text::new(
    "这种策略不改变求和次序，梯度却有数不同",
    "this strategy changes no sum, and yet numbers of the gradient differ",
);
const GRADIENT: Text = Text::new("梯度超出容差", "the gradient is outside the tolerance");
const BROKEN: Text =
    Text::new("梯度里有非数，或形状不同", "the gradient holds what is no number, or has another shape");
const EQUAL: Text = Text::new("损失和梯度逐位相同", "loss and gradient are equal bit for bit");
const WITHIN: Text = Text::new("损失和梯度在容差内相同", "loss and gradient are equal within the tolerance");
const OOM: Text = Text::new("没跑完：放不下", "it did not finish: it does not fit");

/// Holds a candidate against the baseline. `enough` says whether that many samples give an interval.
pub fn judge(gate: Gate, baseline: &Entry, candidate: &Entry, enough: impl Fn(&[f64]) -> bool) -> Judged {
    let nothing = |why| Judged {
        is_accepted: false,
        why,
        loss_gap: 0.0,
        gradient: Evidence::E0,
        peak: Evidence::E0,
        time: Evidence::E0,
    };
    let (Outcome::Ran(base), Outcome::Ran(run)) = (&baseline.result, &candidate.result) else { return nothing(OOM) };
    let loss_gap = loss_gap(base, run);
    let gap = run.gap;
    let (is_accepted, why) = if gap.is_broken {
        (false, BROKEN)
    } else if loss_gap.is_nan() || loss_gap > gate.loss {
        (false, LOSS)
    } else if candidate.strategy.is_exact() && gap.n_differ > 0 {
        (false, BITS)
    } else if gap.relative > gate.gradient {
        (false, GRADIENT)
    } else {
        (true, if gap.n_differ == 0 && loss_gap == 0.0 { EQUAL } else { WITHIN })
    };
    let is_repeated = enough(&run.samples_ns) && enough(&run.base_ns);
    // The device's counter is independent of the arena's books, and every timed step allocates anew; time has one clock.
    let (gradient, peak, time) = match (candidate.device.is_cpu(), is_repeated) {
        (true, _) => (Evidence::E1, Evidence::E1, Evidence::E1),
        (false, false) => (Evidence::E2, Evidence::E2, Evidence::E2),
        (false, true) => (Evidence::E2, Evidence::E3, Evidence::E2),
    };
    Judged { is_accepted, why, loss_gap, gradient, peak, time }
}

fn loss_gap(base: &Run, run: &Run) -> f64 {
    let each = base.losses.iter().zip(&run.losses);
    each.map(|(a, b)| (a - b).abs() / a.abs().max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
}
