//! Stable Diffusion 1.5's UNet: four levels down, a middle, four up, each with what the way down kept.

use super::parts::{GroupNorm, ResBlock, Transformer, Up, smooth_conv};
use super::{Config, TIME_WIDTH, WIDTHS};
use crate::nets::Params;
use crate::ops::{Kernel, Linear, Picture};
use crate::sim::{Dtype, Sim, Tensor};

const HEADS: u64 = 8;
const BLOCKS: usize = 2;

/// A residual block and, where words reach, a transformer.
struct Level {
    res: ResBlock,
    attn: Option<Transformer>,
}

enum Part {
    Level(Box<Level>),
    Down(Kernel),
    Up(Up),
}

pub(super) struct Unet {
    time: [Linear; 2],
    inward: Kernel,
    downs: Vec<Part>,
    middle1: Level,
    middle2: ResBlock,
    ups: Vec<Part>,
    norm: GroupNorm,
    outward: Kernel,
}

impl Level {
    fn new(params: &mut Params, config: &Config, inputs: u64, outputs: u64, has_words: bool) -> Self {
        let res = ResBlock::new(params, inputs, outputs, TIME_WIDTH);
        Self { res, attn: has_words.then(|| Transformer::new(params, config, outputs, HEADS)) }
    }

    fn forward(&self, sim: &Sim, x: &Picture, time: &Tensor, words: &Tensor) -> Picture {
        let x = self.res.forward(sim, x, Some(time));
        match &self.attn {
            None => x,
            Some(attn) => attn.forward(sim, &x, words),
        }
    }
}

impl Unet {
    pub fn new(params: &mut Params, config: &Config) -> Self {
        let first = WIDTHS[0];
        let last = WIDTHS.len() - 1;
        let time = [params.linear(first, TIME_WIDTH, true), params.linear(TIME_WIDTH, TIME_WIDTH, true)];
        let inward = params.kernel(4, first, 3, 1);
        let (mut downs, mut skips, mut x) = (Vec::new(), vec![first], first);
        for (level, width) in WIDTHS.into_iter().enumerate() {
            params.enter(Some(level));
            for _ in 0..BLOCKS {
                downs.push(Part::Level(Box::new(Level::new(params, config, x, width, level < last))));
                x = width;
                skips.push(x);
            }
            if level < last {
                downs.push(Part::Down(params.kernel(x, x, 3, 2)));
                skips.push(x);
            }
        }
        params.enter(Some(WIDTHS.len()));
        let middle1 = Level::new(params, config, x, x, true);
        let middle2 = ResBlock::new(params, x, x, TIME_WIDTH);
        let mut ups = Vec::new();
        for (level, width) in WIDTHS.into_iter().enumerate().rev() {
            params.enter(Some(level));
            for _ in 0..=BLOCKS {
                let inputs = x + skips.pop().unwrap_or_default();
                ups.push(Part::Level(Box::new(Level::new(params, config, inputs, width, level < last))));
                x = width;
            }
            if level > 0 {
                ups.push(Part::Up(Up::new(params, x)));
            }
        }
        params.enter(None);
        let norm = GroupNorm::new(params, x);
        Self { time, inward, downs, middle1, middle2, ups, norm, outward: params.kernel(x, 4, 3, 1) }
    }

    /// Sines and cosines of the step through two layers.
    fn embed(&self, sim: &Sim, batch: u64, dtype: Dtype) -> Tensor {
        sim.name("time");
        let half = WIDTHS[0] / 2;
        let speed = {
            let mut at = sim.alloc(half, Dtype::I64);
            for _ in 0..3 {
                at = sim.alloc(half, Dtype::F32);
            }
            at
        };
        let angle = {
            let _step = sim.alloc(batch, Dtype::F32);
            sim.alloc(batch * half, Dtype::F32)
        };
        let waves = {
            let _two = [0; 2].map(|_| sim.alloc(batch * half, Dtype::F32));
            sim.alloc(2 * batch * half, Dtype::F32)
        };
        let waves = sim.cast_away(waves, dtype);
        let time = sim.linear(sim.activation("silu", sim.linear(waves, &self.time[0])), &self.time[1]);
        drop((speed, angle));
        time
    }

    pub fn forward(&self, sim: &Sim, latents: &Picture, words: &Tensor) -> Tensor {
        let time = self.embed(sim, latents.images, words.dtype);
        let mut x = sim.kernel(latents, &self.inward);
        let mut skips = vec![x.clone()];
        for part in &self.downs {
            x = part.forward(sim, &x, &time, words);
            skips.push(x.clone());
        }
        x = {
            let middle = self.middle1.forward(sim, &x, &time, words);
            self.middle2.forward(sim, &middle, Some(&time))
        };
        for part in &self.ups {
            x = match (part, skips.last()) {
                (Part::Level(level), Some(_)) => {
                    let both = skips.pop().map_or_else(|| x.clone(), |skip| sim.join_channels(&x, &skip));
                    level.forward(sim, &both, &time, words)
                }
                _ => part.forward(sim, &x, &time, words),
            };
        }
        smooth_conv(sim, &x, &self.norm, &self.outward).x
    }
}

impl Part {
    fn forward(&self, sim: &Sim, x: &Picture, time: &Tensor, words: &Tensor) -> Picture {
        match self {
            Self::Level(level) => level.forward(sim, x, time, words),
            Self::Down(kernel) => sim.kernel(x, kernel),
            Self::Up(up) => up.forward(sim, x),
        }
    }
}
