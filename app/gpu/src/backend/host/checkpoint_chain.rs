//! A step over a chain of equal layers that keeps only every k-th activation: how many are alive at once, by the pool's own
//! high-water mark, and how long it takes beside the same step that keeps all.

use super::{Card, Input, Routine, Stage, Taken, refused};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const LAYERS: &str = "n_layers";
const SEGMENT: &str = "segment";
const BYTES: &str = "bytes";
const TURNS: &str = "turns";
const HELD: &str = "is_held";
const TIMED: &str = "is_timed";
/// Floats of a block: 256 threads, four each.
const BLOCK: u64 = 1024;
/// Elements whose way through the chain the processor walks too.
const WALKED: u64 = 24;
/// Step of the flow that every turn follows, as in the kernels.
const H: f32 = 1.0 / 8192.0;

pub const CHECKPOINT_CHAIN: Routine = Routine {
    id: "checkpoint_chain",
    about: Text::new(
        "一条等长的链，只存每 k 层的输入：同时在场几份，多花多少时间",
        "a chain of equal layers that keeps every k-th input: how many are alive at once, and what it costs in time",
    ),
    inputs: &[
        Input { name: LAYERS, min: 1, max: 512, about: "layers of the chain" },
        Input { name: SEGMENT, min: 1, max: 512, about: "layers of a segment; 1 keeps every input" },
        Input { name: BYTES, min: BLOCK * 4, max: 1 << 32, about: "size of an activation" },
        Input { name: TURNS, min: 1, max: 4096, about: "turns of arithmetic on each element of a layer" },
        Input { name: HELD, min: 0, max: 1, about: "1 keeps all segment inputs to the end of the step" },
        Input { name: TIMED, min: 0, max: 1, about: "1 times the step in turn with one that keeps all" },
    ],
    readings: &["slots", "reserved_mib", "ratio", "recomputed"],
    checks: &[
        "the gradient is that of the step that keeps all, bit by bit",
        "and that of the processor",
        "all memory is back at the end",
    ],
    run,
};

/// The work of one step.
#[derive(Clone, Copy)]
struct Chain {
    n: u64,
    k: u64,
    bytes: u64,
    turns: u64,
    is_held: bool,
    /// Waits after every free, so that the pool's counter has seen it.
    is_counted: bool,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let chain = Chain {
        n: stage.get(LAYERS),
        k: stage.get(SEGMENT).min(stage.get(LAYERS)),
        bytes: stage.get(BYTES) / (BLOCK * 4) * (BLOCK * 4),
        turns: stage.get(TURNS),
        is_held: stage.get(HELD) == 1,
        is_counted: false,
    };
    let all = Chain { k: 1, is_held: false, ..chain };
    let mut taken = Taken::default();
    let wanted = stage.must(chain.bytes)?;
    let (reference, _) = in_pool(stage.card, all, Some((wanted, false)))?;
    let is_walked = walks(stage.card, wanted, chain)?;
    let mut is_same = reference.differing == 0;
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        sample(stage, chain, all, wanted, &mut taken, &mut is_same)?;
    }
    stage.card.free(wanted)?;
    stage.card.sync()?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_same, is_walked, is_back];
    Ok(taken)
}

fn sample(
    stage: &mut Stage<'_>,
    chain: Chain,
    all: Chain,
    wanted: u64,
    taken: &mut Taken,
    is_same: &mut bool,
) -> Result<(), RunError> {
    let is_timed = stage.get(TIMED) == 1;
    let (counted, most_reserved) = in_pool(stage.card, Chain { is_counted: true, ..chain }, Some((wanted, true)))?;
    *is_same &= counted.differing == 0;
    let (mut ns, mut base_ns) = (counted.ns, counted.ns);
    if is_timed {
        // A step to warm up, then both in turn.
        in_pool(stage.card, chain, None)?;
        base_ns = in_pool(stage.card, all, None)?.0.ns;
        ns = in_pool(stage.card, chain, None)?.0.ns;
    }
    taken.samples_ns.push(ns.max(1.0));
    taken.read("slots", counted.most_used as f64 / chain.bytes as f64);
    taken.read("reserved_mib", most_reserved as f64 / MIB as f64);
    taken.read("ratio", ns / base_ns);
    taken.read("recomputed", counted.n_forward as f64 / chain.n as f64 - 1.0);
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Walked {
    ns: f64,
    most_used: u64,
    n_forward: u64,
    /// Elements of the gradient that are not those of the reference.
    differing: u32,
}

/// One step in a pool of its own; its gradient becomes the reference (`false`) or is held against it (`true`).
fn in_pool(card: &mut dyn Card, chain: Chain, wanted: Option<(u64, bool)>) -> Result<(Walked, u64), RunError> {
    card.open_pool(u64::MAX)?;
    // The pool takes its memory from the driver before the clock starts.
    let slots = chain.n.div_ceil(chain.k) + chain.k;
    if !chain.is_counted {
        let first: Vec<u64> = (0..slots).map(|_| take(card, chain.bytes)).collect::<Result<_, _>>()?;
        first.into_iter().try_for_each(|address| card.pool_free(address))?;
    }
    card.sync()?;
    let mut step = Step { card, chain, walked: Walked::default() };
    step.card.start_clock()?;
    let gradient = step.play()?;
    step.walked.ns = step.card.stop_clock()?;
    step.walked.most_used = step.card.pool_bytes()?.most_used;
    let most_reserved = step.card.pool_bytes()?.most_reserved;
    if let Some((wanted, is_compared)) = wanted {
        step.hold(gradient, wanted, is_compared)?;
    }
    let walked = step.walked;
    card.pool_free(gradient)?;
    card.sync()?;
    card.close_pool()?;
    Ok((walked, most_reserved))
}

fn take(card: &mut dyn Card, bytes: u64) -> Result<u64, RunError> {
    match card.pool_malloc(bytes)? {
        Some(address) => Ok(address),
        None => Err(refused(card, bytes)),
    }
}

struct Step<'a> {
    card: &'a mut dyn Card,
    chain: Chain,
    walked: Walked,
}

impl Step<'_> {
    fn launch(&mut self, entry: &str, args: &[u64]) -> Result<(), RunError> {
        let n_blocks = u32::try_from(self.chain.bytes / 4 / BLOCK).unwrap_or(u32::MAX);
        self.card.launch(entry, n_blocks, 256, args)
    }

    fn free(&mut self, address: u64) -> Result<(), RunError> {
        self.card.pool_free(address)?;
        if self.chain.is_counted { self.card.sync() } else { Ok(()) }
    }

    /// A layer's output from its input.
    fn forward(&mut self, input: u64) -> Result<u64, RunError> {
        let out = take(self.card, self.chain.bytes)?;
        self.launch("forward", &[input, out, self.chain.turns])?;
        self.walked.n_forward += 1;
        Ok(out)
    }

    /// Forward, then backward segment by segment; the address of the gradient of the chain's input.
    fn play(&mut self) -> Result<u64, RunError> {
        let Chain { n, k, .. } = self.chain;
        let first = take(self.card, self.chain.bytes)?;
        self.launch("start", &[first])?;
        let (mut kept, mut now) = (vec![first], first);
        for layer in 0..n {
            let next = self.forward(now)?;
            if layer % k != 0 {
                self.free(now)?;
            }
            if (layer + 1) % k == 0 && layer + 1 < n {
                kept.push(next);
            }
            now = next;
        }
        // The loss is the sum of the last output: its gradient is one, in the same place.
        let gradient = now;
        self.launch("ones", &[gradient])?;
        for segment in (0..n.div_ceil(k)).rev() {
            self.backward(&mut kept, segment, gradient)?;
        }
        for address in kept {
            self.free(address)?;
        }
        Ok(gradient)
    }

    /// Computes the inputs of a segment's layers again, then goes back through them.
    fn backward(&mut self, kept: &mut Vec<u64>, segment: u64, gradient: u64) -> Result<(), RunError> {
        let Chain { n, k, turns, is_held, .. } = self.chain;
        let n_layers = k.min(n - segment * k);
        let mut inputs = vec![kept[segment as usize]];
        for _ in 1..n_layers {
            let last = inputs.last().copied().unwrap_or_default();
            inputs.push(self.forward(last)?);
        }
        while let Some(input) = inputs.pop() {
            self.launch("backward", &[input, gradient, turns])?;
            let is_kept = inputs.is_empty();
            if is_kept && is_held {
                continue;
            }
            self.free(input)?;
            if is_kept {
                kept.pop();
            }
        }
        Ok(())
    }

    /// Makes the gradient the reference, or counts where it differs from it.
    fn hold(&mut self, gradient: u64, wanted: u64, is_compared: bool) -> Result<(), RunError> {
        if !is_compared {
            self.launch("copy", &[gradient, wanted])?;
            return self.card.sync();
        }
        let count = take(self.card, 512)?;
        self.card.set(count, 0, 4)?;
        self.launch("differ", &[gradient, wanted, count])?;
        self.card.sync()?;
        let mut bytes = [0_u8; 4];
        self.card.get(count, &mut bytes)?;
        self.walked.differing = u32::from_le_bytes(bytes);
        self.card.pool_free(count)
    }
}

/// A few elements of the gradient against the same arithmetic on the processor, bit by bit.
fn walks(card: &mut dyn Card, gradient: u64, chain: Chain) -> Result<bool, RunError> {
    let n = chain.bytes / 4;
    for at in (0..WALKED).map(|i| i * (n / WALKED).max(1) + i).filter(|at| *at < n) {
        let mut bytes = [0_u8; 4];
        card.get(gradient + 4 * at, &mut bytes)?;
        if u32::from_le_bytes(bytes) != walk(at, chain.n, chain.turns).to_bits() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The gradient of one element: every turn is x ← x · (1 + h − h·x), which follows the logistic equation.
fn walk(at: u64, n_layers: u64, turns: u64) -> f32 {
    let mut inputs = vec![(((at as u32).wrapping_mul(2_654_435_761)) >> 8) as f32 * (1.0 / 16_777_216.0)];
    for layer in 0..n_layers as usize {
        inputs.push((0..turns).fold(inputs[layer], |x, _| x * x.mul_add(-H, 1.0 + H)));
    }
    inputs.pop();
    let mut gradient = 1.0_f32;
    while let Some(mut x) = inputs.pop() {
        let mut slope = 1.0_f32;
        for _ in 0..turns {
            slope *= x.mul_add(-2.0 * H, 1.0 + H);
            x *= x.mul_add(-H, 1.0 + H);
        }
        gradient *= slope;
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flow of x' = x(1 − x) for time T = n·turns·h: x(T) = x eᵀ / (1 + x (eᵀ − 1)), whose derivative by x is
    /// eᵀ / (1 + x (eᵀ − 1))².
    #[test]
    fn the_gradient_is_that_of_the_logistic_equation() {
        for at in [1, 17, 4096] {
            let x = f64::from((((at as u32).wrapping_mul(2_654_435_761)) >> 8) as f32 / 16_777_216.0);
            let grown = (64.0 * 128.0 * f64::from(H)).exp();
            let exact = grown / (1.0 + x * (grown - 1.0)).powi(2);
            let found = f64::from(walk(at, 64, 128));
            assert!((found / exact - 1.0).abs() < 1e-3, "{found} for {exact}");
        }
    }
}
