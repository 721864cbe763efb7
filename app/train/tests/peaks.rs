//! Peaks against formulas worked out by hand, apart from the tape.

use vramlab_train::cpu::Cpu;
use vramlab_train::device::{Phase, Trouble};
use vramlab_train::dry::Dry;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::{Strategy, Trainer, Workload, forecast};

const MLP: Workload = Workload {
    net: Kind::Mlp,
    n_layers: 8,
    width: 64,
    n_heads: 1,
    seq_len: 1,
    batch: 512,
    n_classes: 16,
    dtype: Dtype::Fp32,
    optimizer: Optimizer::Sgd,
    seed: 1,
    n_steps: 1,
};

const BLOCK: Workload = Workload { net: Kind::Block, n_heads: 4, seq_len: 32, batch: 16, ..MLP };

/// Kept: the input and, of each of L layers, x·W and its GELU; classes; at the top the logits and a loss a row.
/// The peak is at the head: nothing but activations grows until then, and the first gradient is smaller than what the
/// losses' end frees: rows·d for dx against nothing freed but the losses, so the peak is the head's dx.
#[test]
fn an_mlp_that_keeps_all() {
    let (l, m, d, c) = (8_u64, 512_u64, 64_u64, 16_u64);
    let params = l * (d * d + d) + d * c + c;
    assert_eq!(MLP.n_params() as u64, params);
    let found = forecast(&MLP, Strategy::default()).unwrap();
    // Forward: parameters, (2L + 1) matrices of m × d, classes, logits, losses.
    let forward = params + (2 * l + 1) * m * d + m + m * c + m;
    assert_eq!(found.phases[&Phase::Forward], 4 * forward);
    // Backward of the head: gradients of its parameters, dx beside the logits' gradient; losses are gone.
    let head = params + (2 * l + 1) * m * d + m + m * c + (d * c + c) + m * d;
    // Next layer: the last result is gone with its gradient's use, and the next dx stands beside this one.
    let next = head - m * c - m - m * d + (d * d + d) - m * d + m * d;
    assert_eq!(found.phases[&Phase::Backward], 4 * head.max(next));
    assert_eq!(found.peak.total(), 4 * forward.max(head).max(next));
    assert_eq!(found.peak.parameters, 4 * params);
}

/// One layer's input each, then two matrices of the layer that runs again.
#[test]
fn checkpoints_keep_an_input_a_layer() {
    let keep = forecast(&MLP, Strategy::default()).unwrap();
    let check = forecast(&MLP, Strategy::parse("checkpoint").unwrap()).unwrap();
    let (l, m, d, c) = (8_u64, 512_u64, 64_u64, 16_u64);
    let params = l * (d * d + d) + d * c + c;
    // L inputs, both matrices of the last layer, the classes; logits and losses are smaller than a matrix.
    assert_eq!(check.phases[&Phase::Forward], 4 * (params + (l + 2) * m * d + m));
    assert!(check.peak.activations < keep.peak.activations * 6 / 10);
    assert_eq!(check.flop_ratio, 1.0 + (l * d * d) as f64 / (3 * (l * d * d + d * c)) as f64);
}

/// A block keeps 16 matrices of m × d, its scores and four numbers a row: 1 + 1 + 3 + 1 + 1 + 1 + 4 + 4 are x, norm 1,
/// q k v, attention, middle, norm 2, up, GELU.
#[test]
fn a_block_keeps_sixteen_matrices_and_its_scores() {
    let forward = |n_layers| forecast(&Workload { n_layers, ..BLOCK }, Strategy::default()).unwrap();
    let (m, d) = (512_u64, 64_u64);
    let scores = 16 * 4 * 32 * 32;
    let (two, three) = (forward(2), forward(3));
    let params = (12 * d * d + 13 * d) * 4;
    assert_eq!(three.phases[&Phase::Forward] - two.phases[&Phase::Forward], 4 * (16 * m * d + scores + 4 * m) + params);
    assert_eq!(
        Workload { n_layers: 3, ..BLOCK }.n_params() - Workload { n_layers: 2, ..BLOCK }.n_params(),
        params as usize / 4
    );
}

/// Model state by the number: 4 bytes a parameter each for weight and gradient, 8 for AdamW.
#[test]
fn states_are_sixteen_bytes_a_parameter() {
    let work = Workload { optimizer: Optimizer::Adamw, batch: 8, ..MLP };
    let found = forecast(&work, Strategy::default()).unwrap();
    let n = work.n_params() as u64;
    assert_eq!((found.peak.parameters, found.peak.optimizer_state), (4 * n, 8 * n));
    // Eight rows: the peak lies at the last but one gradient of all; only the bias of the first layer is missing.
    assert_eq!(found.peak.gradients, 4 * (n - 64));
}

/// Accumulation holds every gradient while the next part runs forward.
#[test]
fn accumulation_pays_with_gradients() {
    let work = Workload { optimizer: Optimizer::Adamw, ..BLOCK };
    let n = work.n_params() as u64;
    let keep = forecast(&work, Strategy::default()).unwrap();
    let parts = forecast(&work, Strategy::parse("accumulate4").unwrap()).unwrap();
    assert_eq!(parts.peak.gradients, 4 * n);
    let saved = keep.peak.activations as f64 / parts.peak.activations as f64;
    assert!((3.5..4.5).contains(&saved), "{saved}");
}

#[test]
fn offloading_moves_every_saved_byte_twice() {
    let found = forecast(&BLOCK, Strategy::parse("offload").unwrap()).unwrap();
    let kept = (16 * 512 * 64 + 16 * 4 * 32 * 32 + 4 * 512) * 4 * BLOCK.n_layers as u64;
    assert_eq!((found.host_bytes, found.moved_bytes), (kept, 2 * kept));
}

#[test]
fn a_budget_is_a_result_that_names_what_did_not_fit() {
    let need = forecast(&BLOCK, Strategy::default()).unwrap();
    let mut dry = Dry::new(4);
    let peak = need.peak.total();
    Trainer::new(BLOCK, Strategy::default(), &mut dry, Some(peak)).unwrap().step().unwrap();
    let mut dry = Dry::new(4);
    let refused = Trainer::new(BLOCK, Strategy::default(), &mut dry, Some(peak - 1)).unwrap().step().unwrap_err();
    let Trouble::OverBudget { asked_bytes, live_bytes, budget_bytes, label, phase } = refused else {
        panic!("{refused}")
    };
    assert_eq!((live_bytes + asked_bytes, budget_bytes), (peak, peak - 1));
    assert_eq!((label, phase), (need.at, need.phase));
    // A step that broke off gives everything back.
    let mut cpu = Cpu::<f32>::default();
    Trainer::new(BLOCK, Strategy::default(), &mut cpu, Some(peak / 2)).unwrap().step().unwrap_err();
    assert!(cpu.is_empty() && cpu.held_bytes()[1] <= peak / 2);
}

#[test]
fn strategies_are_read_as_they_are_written() {
    for text in ["keep", "checkpoint", "checkpoint4", "accumulate8", "offload", "checkpoint2+accumulate4+offload"] {
        assert_eq!(Strategy::parse(text).unwrap().id(), text);
    }
    for text in [
        "",
        "checkpoint0",
        "chekpoint",
        "keep+offload",
        "offload+offload",
        "accumulate99999",
        "offload2",
        "checkpoint-1",
    ] {
        assert!(Strategy::parse(text).unwrap_err().to_string().contains("checkpoint[N]"), "{text}");
    }
}
