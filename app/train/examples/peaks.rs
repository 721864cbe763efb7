//! Peaks of a net under every strategy: `cargo run -p vramlab-train --example peaks -- mlp 8 2048 1 1 512 64`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::strategy::STRATEGIES;
use vramlab_train::{Workload, forecast};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let size = |at: usize, usual: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(usual);
    let work = Workload {
        net: if words.first().is_some_and(|word| word == "mlp") { Kind::Mlp } else { Kind::Block },
        n_layers: size(1, 8),
        width: size(2, 512),
        n_heads: size(3, 8),
        seq_len: size(4, 256),
        batch: size(5, 8),
        n_classes: size(6, 1024),
        dtype: Dtype::Fp32,
        optimizer: Optimizer::Adamw,
        seed: 1,
        n_steps: 1,
    };
    println!("{work:?}, {} parameters", work.n_params());
    for named in &STRATEGIES {
        match forecast(&work, named.strategy) {
            Ok(found) => println!(
                "{:24} {:9.2} MiB  {:9}  {:?}  flop × {:.3}",
                named.id,
                found.peak.total() as f64 / 1_048_576.0,
                found.phase.id(),
                found.peak,
                found.flop_ratio
            ),
            Err(trouble) => println!("{:24} {trouble}", named.id),
        }
    }
}
