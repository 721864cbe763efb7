//! The peak of a stack of convolutions at one batch, beside what two smaller batches say that it will be.

use super::stock::Plain;
use super::{Input, Routine, Stage, Taken, refused, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_alloc::caching::{Caching, Class, Config, Metric};
use vramlab_units::Text;

const BATCH: &str = "batch";
const WORKSPACE: &str = "workspace_bytes";
/// Side and channels of the input; every second layer halves the side and takes the next channels.
const SIDE: u64 = 128;
const CHANNELS: [u64; 5] = [3, 16, 32, 64, 128];
/// Images are compared to this share of the largest value.
const TOLERANCE: f32 = 1e-4;

pub const AFFINE_PEAK: Routine = Routine {
    id: "affine_peak",
    about: Text::new(
        "卷积栈的峰值随批大小怎么涨；两个小批能不能推出大批",
        "how the peak of a stack of convolutions grows with the batch, and whether two small batches tell a large one",
    ),
    inputs: &[
        Input { name: BATCH, min: 4, max: 1024, about: "images" },
        Input { name: WORKSPACE, min: 0, max: 1 << 30, about: "a buffer that does not depend on the batch" },
    ],
    readings: &["allocated_mib", "reserved_mib", "card_mib", "fitted_mib", "fitted_reserved_mib"],
    checks: &["the last image comes out as on the processor", "all memory is back at the end"],
    run,
};

/// A convolution of 3 × 3, with padding, over a square image.
#[derive(Clone, Copy, Debug)]
struct Layer {
    from: u64,
    to: u64,
    side: u64,
    stride: u64,
}

impl Layer {
    fn out_side(self) -> u64 {
        self.side / self.stride
    }

    fn n_weights(self) -> u64 {
        9 * self.from * self.to
    }

    /// Floats of one image's output.
    fn n_out(self) -> u64 {
        self.to * self.out_side().pow(2)
    }
}

fn layers() -> Vec<Layer> {
    let mut out = Vec::new();
    let mut side = SIDE;
    for pair in CHANNELS.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        out.push(Layer { from, to, side, stride: 2 });
        side /= 2;
        out.push(Layer { from: to, to, side, stride: 1 });
    }
    out
}

/// Bytes of one forward pass at its peak, as the allocator and the driver count them.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    allocated: f64,
    reserved: f64,
    card: f64,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let batch = stage.get(BATCH);
    let (mut taken, mut is_right) = (Taken::default(), true);
    let mut last = Vec::new();
    let fit = |small: f64, large: f64| large + 2.0 * (large - small);
    for sample in 0..stage.n_samples {
        stage.cx.check()?;
        let (quarter, _) = forward(stage, batch / 4, None)?;
        let (half, _) = forward(stage, batch / 2, None)?;
        let is_first = sample == 0;
        let ((peak, ns), ()) = (forward(stage, batch, is_first.then_some(&mut last))?, ());
        taken.samples_ns.push(ns);
        taken.read("allocated_mib", peak.allocated);
        taken.read("reserved_mib", peak.reserved);
        taken.read("card_mib", peak.card);
        taken.read("fitted_mib", fit(quarter.allocated, half.allocated));
        taken.read("fitted_reserved_mib", fit(quarter.reserved, half.reserved));
    }
    let wanted = reference(batch - 1);
    let largest = wanted.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    is_right &= last.len() == wanted.len();
    is_right &= last.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= TOLERANCE * largest);
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

/// One forward pass that keeps every activation, through our own caching allocator; the peaks in MiB and the time. The
/// last image's output goes to `last`.
fn forward(stage: &mut Stage<'_>, batch: u64, last: Option<&mut Vec<f32>>) -> Result<(Peak, f64), RunError> {
    let before = stage.card.memory()?[0];
    let workspace = stage.get(WORKSPACE);
    let mut pool = Caching::new(Config::default(), Plain::new(&mut *stage.card, u64::MAX / 2));
    let mut fixed = Vec::new();
    // Weights, gradients and momentum of each layer, as a training step has them.
    for layer in layers() {
        let three: Vec<u64> = (0..3).map(|_| take(&mut pool, 4 * layer.n_weights())).collect::<Result<_, _>>()?;
        launch(&mut pool, "weights", layer.n_weights(), &[three[0], layer.n_weights()])?;
        fixed.push(three[0]);
    }
    if workspace > 0 {
        take(&mut pool, workspace)?;
    }
    let n_in = batch * CHANNELS[0] * SIDE * SIDE;
    let mut now = take(&mut pool, 4 * n_in)?;
    launch(&mut pool, "images", n_in, &[now, n_in])?;
    let (_, ns) = steps::once(|| {
        for (layer, weights) in layers().into_iter().zip(&fixed) {
            let n_out = batch * layer.n_out();
            let next = take(&mut pool, 4 * n_out)?;
            let shape = [layer.from, layer.to, layer.side, layer.stride, n_out];
            let args: Vec<u64> = [now, *weights, next].into_iter().chain(shape).collect();
            launch(&mut pool, "convolve", n_out, &args)?;
            now = next;
        }
        pool.device.card.sync()
    })?;
    let card = before.saturating_sub(pool.device.card.memory()?[0]);
    if let Some(last) = last {
        *last = image(&mut pool, now, batch - 1)?;
    }
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    let peak = |metric| mib(pool.stats().get(metric, Class::All).peak);
    let peak = Peak { allocated: peak(Metric::AllocatedBytes), reserved: peak(Metric::ReservedBytes), card: mib(card) };
    super::stock::Memory::close(pool.device)?;
    Ok((peak, ns))
}

fn take(pool: &mut Caching<Plain<'_>>, bytes: u64) -> Result<u64, RunError> {
    if let Ok(Some(served)) = pool.malloc(bytes, 0) {
        return Ok(served.address);
    }
    pool.device.trouble.end()?;
    Err(refused(pool.device.card, bytes))
}

fn launch(pool: &mut Caching<Plain<'_>>, entry: &str, n: u64, args: &[u64]) -> Result<(), RunError> {
    pool.device.card.launch(entry, u32::try_from(n.div_ceil(256)).unwrap_or(u32::MAX), 256, args)
}

/// The output of one image.
fn image(pool: &mut Caching<Plain<'_>>, out: u64, at: u64) -> Result<Vec<f32>, RunError> {
    let n = layers().last().map_or(0, |layer| layer.n_out());
    let mut bytes = vec![0_u8; 4 * n as usize];
    pool.device.card.get(out + 4 * n * at, &mut bytes)?;
    Ok(bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

/// A number in [0, 1) for each place, as in the kernels.
fn begun(at: u64) -> f32 {
    ((at as u32).wrapping_mul(2_654_435_761) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// The whole stack on the processor for one image.
fn reference(image: u64) -> Vec<f32> {
    let n_in = CHANNELS[0] * SIDE * SIDE;
    let first = (0..n_in).map(|at| begun(image * n_in + at)).collect();
    layers().into_iter().fold(first, |x, layer| convolve(&x, layer))
}

fn convolve(x: &[f32], layer: Layer) -> Vec<f32> {
    let (side, out, stride) = (layer.side as i64, layer.out_side() as i64, layer.stride as i64);
    let weights: Vec<f32> = (0..layer.n_weights()).map(|at| (begun(at) - 0.5) / layer.from as f32).collect();
    let mut result = Vec::with_capacity(layer.n_out() as usize);
    for to in 0..layer.to as usize {
        for (row, col) in (0..out).flat_map(|row| (0..out).map(move |col| (row, col))) {
            let mut sum = 0.0_f32;
            for from in 0..layer.from as usize {
                let plane = &x[from * (side * side) as usize..];
                let kernel = &weights[(to * layer.from as usize + from) * 9..][..9];
                for (tap, weight) in kernel.iter().enumerate() {
                    let (y, z) = (row * stride + tap as i64 / 3 - 1, col * stride + tap as i64 % 3 - 1);
                    if (0..side).contains(&y) && (0..side).contains(&z) {
                        sum += plane[(y * side + z) as usize] * weight;
                    }
                }
            }
            result.push(sum.max(0.0));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by hand: 49 152 floats of input, twice 65 536, 32 768, 16 384 and 8 192 of outputs; 293 040 weights.
    #[test]
    fn the_stack_has_the_size_that_the_manifest_says() {
        let all = layers();
        let n_out: u64 = all.iter().map(|layer| layer.n_out()).sum();
        let n_weights: u64 = all.iter().map(|layer| layer.n_weights()).sum();
        assert_eq!((n_out + 49_152, n_weights, all.len()), (294_912, 293_040, 8));
    }

    /// A constant image under a kernel of ones: nine in the middle, six at an edge, four in a corner, times the value.
    #[test]
    fn padding_counts_as_nothing() {
        let layer = Layer { from: 1, to: 1, side: 4, stride: 1 };
        let sums = convolve(&[1.0; 16], layer);
        let weights: Vec<f32> = (0..9).map(|at| begun(at) - 0.5).collect();
        let all: f32 = weights.iter().sum();
        let corner: f32 = [4, 5, 7, 8].iter().map(|at: &usize| weights[*at]).sum();
        assert!((sums[5] - all.max(0.0)).abs() < 1e-6 && (sums[0] - corner.max(0.0)).abs() < 1e-6);
    }
}
