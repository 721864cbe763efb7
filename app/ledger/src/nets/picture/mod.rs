//! A step of a diffusion UNet and the decoding of its picture, without gradients: Stable Diffusion 1.5's sizes, random weights.
//! `kernels/peers/diffusion_nets.py` is the same in PyTorch, line by line.

mod decoder;
mod parts;
mod unet;

use super::Params;
use crate::optim::Optim;
use crate::plan::{Plan, PlanError};
use crate::sim::{Dtype, H200, Sim, Tensor};
use crate::tape::{Mark, Owner, Tape};
use decoder::Decoder;
use unet::Unet;

const WIDTHS: [u64; 4] = [320, 640, 1280, 1280];
const TIME_WIDTH: u64 = 1280;
const DECODER_WIDTHS: [u64; 4] = [512, 512, 256, 128];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PicturePart {
    /// One evaluation; with guidance two rows an image.
    Unet,
    Decoder,
}

/// How attention goes through its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attend {
    /// PyTorch's own kernels, no scores in memory.
    Kernel,
    /// All at once.
    Whole,
    /// So many rows of batch × heads at a time.
    Rows(u64),
    /// So many queries at a time.
    Queries(u64),
}

/// Tiles of a decoder, in latents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub edge: u64,
    pub overlap: u64,
}

impl Tile {
    /// Where the tiles of an axis begin; the last one ends at the edge.
    pub fn starts(self, edge: u64) -> Vec<u64> {
        if edge <= self.edge {
            return vec![0];
        }
        let (rest, step) = (edge - self.edge, self.edge - self.overlap);
        (0..=rest.div_ceil(step)).map(|n| (n * step).min(rest)).collect()
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub part: PicturePart,
    /// Latents along an edge: an eighth of the pixels.
    pub edge: u64,
    /// Rows of the UNet, images of the decoder.
    pub batch: u64,
    pub is_half: bool,
    pub attention: Attend,
    pub tile: Option<Tile>,
    /// The decoder takes one image after the other.
    pub is_singly: bool,
}

/// A call of the model: the figures of the tape are those of step 0.
#[derive(Clone, Debug)]
pub struct Shot {
    pub tape: Tape,
    pub n_params: u64,
    pub n_tiles: u64,
}

impl Config {
    fn check(&self) -> Result<(), PlanError> {
        let refuse = |field, reason: String| Err(PlanError { field, reason });
        let is_unet = self.part == PicturePart::Unet;
        if self.batch == 0 || self.batch > 4096 {
            return refuse("batch", format!("batch = {}; it must be from 1 to 4096", self.batch));
        }
        if self.edge == 0 || self.edge > 1024 {
            return refuse("latent_edge", format!("latent_edge = {}; it must be from 1 to 1024", self.edge));
        }
        if is_unet && !self.edge.is_multiple_of(8) {
            return refuse(
                "latent_edge",
                format!("the UNet halves the edge three times: {} is no multiple of 8", self.edge),
            );
        }
        if is_unet && (self.tile.is_some() || self.is_singly) {
            return refuse("tile", "tiles and single images belong to the decoder".to_owned());
        }
        if self.tile.is_some_and(|tile| tile.edge == 0 || tile.overlap >= tile.edge) {
            return refuse("overlap", "tiles must be larger than their overlap".to_owned());
        }
        if matches!(self.attention, Attend::Rows(0) | Attend::Queries(0)) {
            return refuse("slice_rows", "a piece has at least one row".to_owned());
        }
        if self.attention == Attend::Kernel && !self.is_half {
            return refuse("attention", "the flash kernels take half precision; in fp32 take eager".to_owned());
        }
        Ok(())
    }
}

/// Two training steps of the UNet: float32 weights under autocast to bfloat16, PyTorch's attention kernels, the noise guessed, mean of
/// squares, AdamW.
pub fn train_picture(batch: u64, edge: u64) -> Result<Shot, PlanError> {
    let attention = Attend::Kernel;
    let part = PicturePart::Unet;
    let config = Config { part, edge, batch, is_half: true, attention, tile: None, is_singly: false };
    config.check()?;
    let sim = Sim::new(H200);
    let mut params = Params::listing();
    drop(Unet::new(&mut params, &config));
    let tensors = params.place(&sim, Dtype::F32);
    let n_params = tensors.iter().map(|tensor| tensor.n).sum();
    let mut optim = Optim::new(&sim, &Plan::default(), tensors.clone());
    let unet = Unet::new(&mut params.again(tensors), &config);
    sim.mark(Mark::EmptyCache);
    sim.mark(Mark::AfterModel);
    let latents = decoder::latents(&sim, &config, Dtype::F32);
    let words = words(&sim, &config, Dtype::F32);
    let noise = sim.alloc_for(latents.x.n, Dtype::F32, Owner::Input);
    for _ in 0..2 {
        sim.mark(Mark::StepStart);
        let (guess, loss) = sim.autocast(true, || {
            let guess = unet.forward(&sim, &latents, &words.1);
            let full = sim.cast(&guess, Dtype::F32);
            let loss = sim.mean_square(&full, &noise);
            (guess, loss)
        });
        sim.mark(Mark::AfterForward);
        drop(guess);
        sim.backward(&loss);
        sim.mark(Mark::AfterBackward);
        optim.step(&sim);
        sim.mark(Mark::AfterStep);
        optim.drop_grads(&sim);
        drop(loss);
        sim.mark(Mark::StepEnd);
    }
    Ok(Shot { tape: sim.into_tape(), n_params, n_tiles: 1 })
}

enum Model {
    Unet(Box<Unet>),
    Decoder(Box<Decoder>),
}

/// Plays one call: the model is made in float32, converted, the cache emptied, the inputs made, the model called.
pub fn shoot(config: &Config) -> Result<Shot, PlanError> {
    config.check()?;
    let sim = Sim::new(H200);
    let dtype = if config.is_half { Dtype::Bf16 } else { Dtype::F32 };
    let make = |params: &mut Params| match config.part {
        PicturePart::Unet => Model::Unet(Box::new(Unet::new(params, config))),
        PicturePart::Decoder => Model::Decoder(Box::new(Decoder::new(params, config))),
    };
    let mut params = Params::listing();
    drop(make(&mut params));
    let tensors = params.place(&sim, dtype);
    let n_params = tensors.iter().map(|tensor| tensor.n).sum();
    let model = make(&mut params.again(tensors));
    sim.mark(Mark::EmptyCache);
    sim.mark(Mark::AfterModel);
    let latents = decoder::latents(&sim, config, dtype);
    let words = words(&sim, config, dtype);
    sim.mark(Mark::EmptyCache);
    sim.mark(Mark::StepStart);
    let out = sim.without_grad(|| match &model {
        Model::Unet(unet) => unet.forward(&sim, &latents, &words.1),
        Model::Decoder(decoder) => match config.tile {
            Some(tile) => decoder.forward_tiled(&sim, &latents, tile),
            None if config.is_singly => decoder.forward_singly(&sim, &latents),
            None => decoder.forward(&sim, &latents),
        },
    });
    for mark in [Mark::AfterForward, Mark::AfterBackward, Mark::AfterStep, Mark::StepEnd] {
        sim.mark(mark);
    }
    drop((out, latents, words, model));
    let n_tiles = config.tile.map_or(1, |tile| tile.starts(config.edge).len().pow(2) as u64);
    let mut tape = sim.into_tape();
    name_owners(&mut tape);
    Ok(Shot { tape, n_params, n_tiles })
}

/// The step's number and the words, for the UNet.
fn words(sim: &Sim, config: &Config, dtype: Dtype) -> (Tensor, Tensor) {
    sim.name("words");
    if config.part == PicturePart::Decoder {
        return (Tensor::outside(0), Tensor::outside(0));
    }
    let step = sim.alloc_for(config.batch, Dtype::I64, Owner::Input);
    let n = config.batch * parts::WORDS * parts::WORD_WIDTH;
    let words = sim.alloc_for(n, Dtype::F32, Owner::Input);
    (step, if dtype == Dtype::F32 { words } else { sim.alloc_for(n, dtype, Owner::Input) })
}

/// Without gradients nothing is kept for long: what is no workspace is an activation.
fn name_owners(tape: &mut Tape) {
    for item in &mut tape.items {
        if item.owner == Owner::Temporary && item.op != "workspace" {
            item.owner = Owner::Activation;
        }
    }
}
