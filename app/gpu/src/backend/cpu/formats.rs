//! What formats of few bits lose, on normal values, with an outlier, and on the weights of a trained net.

use super::bench::{self, Taken};
use super::real_net::{normal, real_net};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_codec::float::{E2M1, E4M3, E5M2, Format};
use vramlab_codec::int::{Grouping, Scheme, quantise};
use vramlab_codec::{Problem, mx, nf4};
use vramlab_units::Text;

const OUT: &str = "out";

pub const FORMATS: Routine = Routine {
    id: "formats",
    about: Text::new(
        "少位格式丢了多少：正态值、带离群值、真的权重",
        "what formats of few bits lose on normal values, with an outlier, on real weights",
    ),
    inputs: &[
        Input {
            name: "format",
            min: 0,
            max: 7,
            about: "0 int8, 1 int8 by 128, 2 int4 by 128, 3 E4M3, 4 E5M2, 5 MXFP8, 6 MXFP4, 7 NF4",
        },
        Input { name: "data", min: 0, max: 2, about: "0 normal, 1 normal with an outlier, 2 weights of a trained net" },
        Input { name: "outlier", min: 0, max: 10_000, about: "the outlier, in standard deviations" },
        Input { name: "n_values", min: 1024, max: 1 << 22, about: "values that are drawn" },
        Input { name: "seed", min: 0, max: 1 << 32, about: "the seed of what is drawn" },
    ],
    buffers: &[OUT],
    readings: &["error_pct", "largest_sigma", "zeroed_pct"],
    run,
};

/// A block and what comes back of it.
type Coder<'a> = &'a dyn Fn(&[f64]) -> Result<Vec<f64>, Problem>;

/// What comes back of `values`.
fn stored(format: usize, values: &[f64]) -> Result<Vec<f64>, Problem> {
    let ints = |bits, grouping| quantise(values, 1, bits, Scheme::Symmetric, grouping).map(|got| got.decode());
    let blocks = |size, block: Coder<'_>| {
        values.chunks_exact(size).map(block).collect::<Result<Vec<_>, _>>().map(|blocks| blocks.concat())
    };
    match format {
        0 => ints(8, Grouping::Tensor),
        1 => ints(8, Grouping::Group(128)),
        2 => ints(4, Grouping::Group(128)),
        3 => Ok(scaled(values, E4M3)),
        4 => Ok(scaled(values, E5M2)),
        5 => blocks(mx::BLOCK, &|block| mx::encode(block, E4M3).map(|block| block.decode())),
        6 => blocks(mx::BLOCK, &|block| mx::encode(block, E2M1).map(|block| block.decode())),
        _ => blocks(nf4::BLOCK, &|block| nf4::encode(block).map(|block| block.decode())),
    }
}

/// One scale: largest ÷ the format's largest.
fn scaled(values: &[f64], format: Format) -> Vec<f64> {
    let by = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())) / format.largest();
    values.iter().map(|value| by * format.round(value / by)).collect()
}

/// Values, and the place of the outlier among them.
fn values(stage: &Stage<'_>) -> Result<(Vec<f64>, Option<usize>), RunError> {
    let n = stage.get("n_values") / 128 * 128;
    let seed = stage.get("seed") as u64;
    Ok(match stage.get("data") {
        0 => (normal(n, 0.0, seed), None),
        1 => (normal(n, stage.get("outlier") as f64, seed), Some(n / 2)),
        _ => (real_net()?.trained.iter().take(n).map(|value| f64::from(*value)).collect(), None),
    })
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (values, outlier) = values(stage)?;
    let format = stage.get("format");
    let content = |problem: Problem| RunError::Content { what: problem.to_string() };
    let got = stored(format, &values).map_err(content)?;
    let pairs = || values.iter().zip(&got).enumerate().filter(|(at, _)| Some(*at) != outlier).map(|(_, pair)| pair);
    let energy: f64 = pairs().map(|(x, y)| (x - y).powi(2)).sum();
    let signal: f64 = pairs().map(|(x, _)| x * x).sum();
    let sigma = (signal / pairs().count() as f64).sqrt();
    let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let zeroed = pairs().filter(|(x, y)| **x != 0.0 && **y == 0.0).count() as f64;
    // Rounding once more changes nothing: what is stored is a number of the format.
    let again = stored(format, &got).map_err(content)?;
    let checks = [
        got.len() == values.len() && got.iter().all(|value| value.is_finite()),
        got.iter().zip(&again).all(|(x, y)| (x - y).abs() <= 1e-6 * most),
    ];
    for (word, holds) in stage.memory.output(OUT)?.iter_mut().zip(checks) {
        *word = u32::from(holds);
    }
    let samples_ns = bench::alone(stage.n_samples, stage.cx, |_| drop(black_box(stored(format, black_box(&values)))))?;
    let readings = BTreeMap::from([
        ("error_pct".to_owned(), vec![100.0 * (energy / signal).sqrt()]),
        ("largest_sigma".to_owned(), vec![most / sigma]),
        ("zeroed_pct".to_owned(), vec![100.0 * zeroed / values.len() as f64]),
    ]);
    Ok(Taken { samples_ns, readings })
}
