//! How long a change of a 70B model's configuration takes: `cargo run --release -p vramlab-ledger --example speed`.

use std::io::Write as _;
use std::time::Instant;
use vramlab_ledger::{Net, Norm, Plan, Precision, Start, figures, record};

fn main() {
    let plan = Plan {
        net: Net::Llama,
        layers: 80,
        hidden: 8192,
        heads: 64,
        kv_heads: 8,
        ffn: 28_672,
        vocab: 128_256,
        seq_len: 8192,
        batch: 1,
        norm: Norm::Fused,
        precision: Precision::Bf16,
        ..Plan::default()
    };
    let mut out = std::io::stdout();
    for (name, plan) in [
        ("70B, all kept", plan.clone()),
        ("70B, recomputed", Plan { checkpoint_every: 1, ..plan.clone() }),
        ("70B, amp, norm written out", Plan { precision: Precision::Amp, norm: Norm::Plain, ..plan.clone() }),
        ("70B, LoRA", Plan { lora_rank: 16, ..plan }),
    ] {
        let mut best = (f64::MAX, f64::MAX, 0);
        for _ in 0..10 {
            let started = Instant::now();
            let run = record(&plan).expect("a plan that runs");
            let taped = started.elapsed().as_secs_f64() * 1e3;
            let (_, steps) = figures(&run.tape, Start::default(), |_, _, _| {});
            assert_eq!(steps.len(), 2);
            let all = started.elapsed().as_secs_f64() * 1e3;
            best = (best.0.min(taped), best.1.min(all), run.tape.events.len());
        }
        let _ = writeln!(out, "{name}: tape {:.1} ms, with the allocator {:.1} ms, {} events", best.0, best.1, best.2);
    }
}
