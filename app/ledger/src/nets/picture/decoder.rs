//! The image decoder: latents to pixels, eight times the edge; whole, image by image, or tile by tile.

use super::parts::{Attention, GroupNorm, ResBlock, Up, smooth_conv};
use super::{Config, DECODER_WIDTHS, Tile};
use crate::nets::Params;
use crate::ops::{Kernel, Picture};
use crate::sim::{Dtype, Sim, Tensor};

const BLOCKS: usize = 3;
/// Pixels of a latent's edge.
const SCALE: u64 = 8;

enum Part {
    Res(ResBlock),
    Attention(GroupNorm, Attention),
    Up(Up),
}

pub(super) struct Decoder {
    quant: Kernel,
    inward: Kernel,
    parts: Vec<Part>,
    norm: GroupNorm,
    outward: Kernel,
}

impl Decoder {
    pub fn new(params: &mut Params, config: &Config) -> Self {
        let mut x = DECODER_WIDTHS[0];
        let (quant, inward) = (params.kernel(4, 4, 1, 1), params.kernel(4, x, 3, 1));
        let mut parts = vec![
            Part::Res(ResBlock::new(params, x, x, 0)),
            Part::Attention(GroupNorm::new(params, x), Attention::new(params, config, x, 1, x, true)),
            Part::Res(ResBlock::new(params, x, x, 0)),
        ];
        for (level, width) in DECODER_WIDTHS.into_iter().enumerate() {
            params.enter(Some(level));
            for _ in 0..BLOCKS {
                parts.push(Part::Res(ResBlock::new(params, x, width, 0)));
                x = width;
            }
            if level + 1 < DECODER_WIDTHS.len() {
                parts.push(Part::Up(Up::new(params, x)));
            }
        }
        params.enter(None);
        Self { quant, inward, parts, norm: GroupNorm::new(params, x), outward: params.kernel(x, 3, 3, 1) }
    }

    pub fn forward(&self, sim: &Sim, latents: &Picture) -> Tensor {
        let mut x = sim.kernel(&sim.kernel(latents, &self.quant), &self.inward);
        for part in &self.parts {
            x = match part {
                Part::Res(block) => block.forward(sim, &x, None),
                Part::Attention(norm, attention) => {
                    let n = {
                        let n = norm.forward(sim, &x);
                        sim.copy(n.x)
                    };
                    let out = attention.forward(sim, &n, &n, x.images);
                    drop(n);
                    x.with(sim.add(x.x.clone(), out))
                }
                Part::Up(up) => up.forward(sim, &x),
            };
        }
        smooth_conv(sim, &x, &self.norm, &self.outward).x
    }

    /// Tile by tile into one picture; a tile fades in over what its neighbours left in the overlap.
    pub fn forward_tiled(&self, sim: &Sim, latents: &Picture, tile: Tile) -> Tensor {
        let (images, dtype) = (latents.images, latents.x.dtype);
        sim.name("pixels");
        let edge = SCALE * latents.edge;
        let out = sim.alloc(images * 3 * edge * edge, dtype);
        let ramp = sim.alloc(SCALE * tile.overlap, dtype);
        let starts = tile.starts(latents.edge);
        for top in &starts {
            for left in &starts {
                let part = tile.edge.min(latents.edge);
                sim.name("tile");
                let cut = sim.alloc(images * 4 * part * part, dtype);
                let pixels = self.forward(sim, &Picture { x: cut, images, channels: 4, edge: part });
                let fade = images * 3 * SCALE * part * (SCALE * tile.overlap);
                sim.name("fade");
                for start in [left, top] {
                    if *start > 0 {
                        drop(sim.alloc(fade, dtype));
                    }
                }
                drop(pixels);
            }
        }
        drop(ramp);
        out
    }

    /// One image after the other, joined at the end.
    pub fn forward_singly(&self, sim: &Sim, latents: &Picture) -> Tensor {
        let one = |_| {
            let x = latents.x.view(latents.x.n / latents.images);
            self.forward(sim, &Picture { x, images: 1, ..latents.clone() })
        };
        let all: Vec<Tensor> = (0..latents.images).map(one).collect();
        sim.name("join");
        let out = sim.alloc(all.iter().map(|image| image.n).sum(), latents.x.dtype);
        drop(all);
        out
    }
}

/// Sizes of an input.
pub(super) fn latents(sim: &Sim, config: &Config, dtype: Dtype) -> Picture {
    let n = config.batch * 4 * config.edge * config.edge;
    sim.name("latents");
    let x = sim.alloc_for(n, Dtype::F32, crate::Owner::Input);
    let x = if dtype == Dtype::F32 { x } else { sim.alloc_for(n, dtype, crate::Owner::Input) };
    Picture { x, images: config.batch, channels: 4, edge: config.edge }
}
