//! How much more a tiled stencil loads than it computes.
//!
//! Question: edge T of a square tile, radius r. Answer: (T + 2r)² ÷ T² loads for each point.
//! Assumption: the whole halo is loaded, corners too. Source: arithmetic. Errors: none beyond the fields'.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Loads for each point of a square tile.
pub fn amplification(tile: u64, radius: u64) -> f64 {
    let loaded = (tile + 2 * radius) as f64 / tile as f64;
    loaded * loaded
}

pub struct StencilHalo;

impl Model for StencilHalo {
    const ID: &'static str = "stencil_halo";
    const TITLE: Text = Text::new("模板计算的边缘要多读多少", "The halo of a tiled stencil");
    const ASSUMES: Text = Text::new("整圈边缘都读，角也读。", "The whole halo is loaded, corners too.");
    const SOURCE: &'static str = "arithmetic over tiles";
    const EXAMPLE: &'static str = r#"{"tile": 32, "radius": 3}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("tile", "1", 1, 4096, Text::new("方块的边长 T", "Edge of the tile, T")),
            FieldSpec::int("radius", "1", 0, 512, Text::new("半径 r", "Radius, r")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 1.0, 1e12, Text::new(zh, en));
        vec![
            num("amplification", "每个点读几个", "Loads for each point"),
            num("untiled", "不分块时每个点读几个", "Loads for each point without a tile, all neighbours"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (tile, radius) = (args.uint("tile"), args.uint("radius"));
        let around = (2 * radius + 1) as f64;
        Ok(answer([("amplification", number(amplification(tile, radius))), ("untiled", number(around * around))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 03, vector 6.
    #[test]
    fn worked_cases() {
        for (tile, radius, expected) in [(8, 1, 1.5625), (32, 1, 1.128_906_25), (32, 3, 1.410_156_25), (16, 0, 1.0)] {
            assert!((amplification(tile, radius) - expected).abs() < 1e-12, "{tile} by {radius}");
        }
    }
}
