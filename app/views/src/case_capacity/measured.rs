//! Recorded peaks that stand beside the models' bars: PyTorch 2.11 on an H200. Tests hold them to the files they come
//! from.

use super::question::Attention;

/// One training step of ResNet-50, steady state, SGD with momentum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub batch: u64,
    pub is_amp: bool,
    /// Allocated at most.
    pub peak: u64,
    /// What the allocator holds, base included.
    pub reserved: u64,
}

const fn step(batch: u64, is_amp: bool, peak: u64, reserved: u64) -> Step {
    Step { batch, is_amp, peak, reserved }
}

pub const RESNET: [Step; 8] = [
    step(8, false, 966_031_360, 1_220_542_464),
    step(16, false, 1_654_323_200, 1_992_294_400),
    step(32, false, 3_009_739_264, 3_686_793_216),
    step(64, false, 5_786_630_144, 7_031_750_656),
    step(8, true, 655_311_360, 757_071_872),
    step(16, true, 997_310_976, 1_182_793_728),
    step(32, true, 1_715_847_680, 2_015_363_072),
    step(64, true, 3_150_234_112, 3_594_518_528),
];

/// The denoiser of Stable Diffusion 1.5 on two rows (one picture with guidance), fp16: side, attention, allocated at most.
pub const UNET: [(u64, Attention, u64); 9] = [
    (512, Attention::Whole, 2_877_758_464),
    (512, Attention::Sliced, 1_876_368_384),
    (512, Attention::Fused, 1_866_685_440),
    (768, Attention::Whole, 7_324_621_824),
    (768, Attention::Sliced, 2_240_338_944),
    (768, Attention::Fused, 2_031_410_176),
    (1024, Attention::Whole, 19_188_063_232),
    (1024, Attention::Sliced, 3_102_907_392),
    (1024, Attention::Fused, 2_259_852_288),
];

/// Its decoder, one picture, fp16: side, tiles of 512 with an overlap of 128, allocated at most.
pub const VAE: [(u64, bool, u64); 8] = [
    (512, false, 675_212_288),
    (768, false, 1_388_284_928),
    (1024, false, 2_386_586_624),
    (1536, false, 5_727_513_600),
    (768, true, 678_825_472),
    (1024, true, 681_635_328),
    (1536, true, 689_663_488),
    (2048, true, 700_902_912),
];

pub fn resnet(batch: u64, is_amp: bool) -> Option<Step> {
    RESNET.into_iter().find(|row| row.batch == batch && row.is_amp == is_amp)
}

pub fn unet(size_px: u64, images: u64, attention: Attention) -> Option<f64> {
    let row = UNET.into_iter().find(|row| (row.0, row.1) == (size_px, attention));
    row.filter(|_| images == 2).map(|row| row.2 as f64)
}

pub fn vae(size_px: u64, is_tiled: bool) -> Option<f64> {
    VAE.into_iter().find(|row| (row.0, row.1) == (size_px, is_tiled)).map(|row| row.2 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::Value;

    const STEPS: &str = include_str!("../../../../tests/data/train_peaks/resnet50.json");
    const PICTURES: &str = include_str!("../../../../tests/data/diffusion/peaks.json");

    fn records(file: &str) -> Vec<Value> {
        let file: Value = serde_json::from_str(file).unwrap();
        file["records"].as_array().unwrap().clone()
    }

    #[test]
    fn steps_are_those_of_the_file() {
        let file = records(STEPS);
        for row in RESNET {
            let dtype = if row.is_amp { "amp" } else { "fp32" };
            let found = file
                .iter()
                .find(|it| it["b"] == row.batch && it["dtype"] == dtype && it["opt"] == "sgdm")
                .unwrap_or_else(|| panic!("no record of batch {} in {dtype}", row.batch));
            let steady = &found["steps"][1];
            assert_eq!((&steady["peak_step"], &steady["reserved"]), (&row.peak.into(), &row.reserved.into()));
        }
    }

    #[test]
    fn pictures_are_those_of_the_file() {
        let file = records(PICTURES);
        let peak = |wanted: &dyn Fn(&Value) -> bool| {
            let found: Vec<&Value> = file.iter().filter(|it| it["dtype"] == "fp16" && wanted(it)).collect();
            assert_eq!(found.len(), 1, "{found:?}");
            found[0]["peak"].as_u64().unwrap()
        };
        for (side, attention, bytes) in UNET {
            let (kind, size) = match attention {
                Attention::Whole => ("eager", Value::Null),
                Attention::Sliced => ("rows", 1.into()),
                Attention::Fused => ("sdpa", Value::Null),
            };
            let is_it = |it: &Value| {
                (&it["part"], &it["edge"], &it["b"]) == (&"unet".into(), &(side / 8).into(), &2.into())
                    && it["attn"] == kind
                    && it["size"] == size
            };
            assert_eq!(peak(&is_it), bytes, "{side} {attention:?}");
        }
        for (side, is_tiled, bytes) in VAE {
            let tile = if is_tiled { 64.into() } else { Value::Null };
            let is_it = |it: &Value| {
                (&it["part"], &it["edge"], &it["b"]) == (&"vae".into(), &(side / 8).into(), &1.into())
                    && it["attn"] == "eager"
                    && it["tile"] == tile
            };
            assert_eq!(peak(&is_it), bytes, "{side} {is_tiled}");
        }
    }
}
