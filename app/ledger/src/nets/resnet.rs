//! ResNet-50 as torchvision builds it, on images of 224×224.

use super::{Model, Params};
use crate::ops::{BatchNorm, Conv, Linear, Map};
use crate::plan::Plan;
use crate::sim::{Dtype, Sim, Tensor};
use crate::tape::Owner;

const EDGE: u64 = 224;
const CLASSES: u64 = 1000;

struct Unit {
    conv: Conv,
    norm: BatchNorm,
}

/// 1×1, 3×3, 1×1, and where the shape changes a 1×1 beside them.
struct Bottleneck {
    units: [Unit; 3],
    downsample: Option<Unit>,
    layer: usize,
}

pub(super) struct Resnet {
    stem: Unit,
    blocks: Vec<Bottleneck>,
    head: Linear,
    batch: u64,
    is_channels_last: bool,
}

impl Unit {
    fn new(params: &mut Params, inputs: u64, outputs: u64, kernel: u64, stride: u64) -> Self {
        let weight = params.take_map(inputs * outputs * kernel * kernel);
        let conv = Conv { weight, inputs, outputs, kernel, stride };
        let norm = BatchNorm { weight: params.take(outputs), bias: params.take(outputs) };
        // Running mean, running variance, and how many batches they have seen.
        params.buffer(outputs, Dtype::F32);
        params.buffer(outputs, Dtype::F32);
        params.buffer(1, Dtype::I64);
        Self { conv, norm }
    }

    fn forward(&self, sim: &Sim, map: &Map) -> Map {
        let map = sim.conv(map, &self.conv);
        sim.batch_norm(&map, &self.norm)
    }
}

impl Bottleneck {
    fn new(params: &mut Params, inputs: u64, width: u64, stride: u64, layer: usize) -> Self {
        params.layer = Some(layer);
        let outputs = 4 * width;
        let units = [
            Unit::new(params, inputs, width, 1, 1),
            Unit::new(params, width, width, 3, stride),
            Unit::new(params, width, outputs, 1, 1),
        ];
        let downsample = (inputs != outputs).then(|| Unit::new(params, inputs, outputs, 1, stride));
        Self { units, downsample, layer }
    }

    fn forward(&self, sim: &Sim, x: &Map) -> Map {
        sim.enter(Some(self.layer));
        let out = sim.relu_in_place(&self.units[0].forward(sim, x));
        let out = sim.relu_in_place(&self.units[1].forward(sim, &out));
        let out = self.units[2].forward(sim, &out);
        let identity = self.downsample.as_ref().map(|unit| unit.forward(sim, x));
        let out = sim.add_in_place(&out, &identity.as_ref().unwrap_or(x).x);
        sim.relu_in_place(&out)
    }
}

impl Resnet {
    pub fn new(plan: &Plan, params: &mut Params) -> Self {
        let stem = Unit::new(params, 3, 64, 7, 2);
        let mut blocks = Vec::new();
        let mut inputs = 64;
        for (stage, (width, count)) in [(64, 3), (128, 4), (256, 6), (512, 3)].into_iter().enumerate() {
            for idx in 0..count {
                let stride = if idx == 0 && stage > 0 { 2 } else { 1 };
                blocks.push(Bottleneck::new(params, inputs, width, stride, blocks.len()));
                inputs = 4 * width;
            }
        }
        params.layer = None;
        let head = params.linear(2048, CLASSES, true);
        Self { stem, blocks, head, batch: plan.batch, is_channels_last: plan.is_channels_last }
    }
}

impl Model for Resnet {
    fn forward(&self, sim: &Sim, images: &Tensor) -> (Tensor, Vec<Tensor>) {
        let map = Map { x: images.clone(), images: self.batch, edge: EDGE, is_channels_last: self.is_channels_last };
        let map = sim.relu_in_place(&self.stem.forward(sim, &map));
        let map = self.blocks.iter().fold(sim.max_pool(&map), |map, block| block.forward(sim, &map));
        sim.enter(None);
        let logits = sim.linear(sim.average_pool(&map), &self.head);
        sim.own(&logits, Owner::Logits);
        (logits, Vec::new())
    }

    fn input(&self) -> (u64, Dtype, Option<u64>) {
        (self.batch * 3 * EDGE * EDGE, Dtype::F32, Some(self.batch))
    }
}
