//! Every routine on a simulated card: what it counts, and that it leaves nothing behind.

use super::sim::Sim;
use super::*;
use vramlab_alloc::MIB;
use vramlab_alloc::replay;
use vramlab_alloc::scenario::{Policy, Scenario};

const CARD: u64 = 4096 * MIB;

#[track_caller]
fn play(id: &str, inputs: &[(&'static str, u64)]) -> Taken {
    let routine = find(id).unwrap();
    let inputs: BTreeMap<&'static str, u64> = inputs.iter().copied().collect();
    for input in routine.inputs {
        let value = inputs.get(input.name).copied().unwrap_or_else(|| panic!("{id} needs {}", input.name));
        assert!((input.min..=input.max).contains(&value), "{id}: {} = {value}", input.name);
    }
    let mut card = Sim::new(CARD);
    let before = card.memory().unwrap();
    let taken = (routine.run)(&mut Stage { inputs, card: &mut card, n_samples: 3, cx: &PointCx::alone() }).unwrap();
    assert_eq!(card.memory().unwrap(), before, "{id} leaves memory behind");
    assert_eq!(taken.checks.len(), routine.checks.len(), "{id}");
    assert_eq!(taken.samples_ns.len(), 3, "{id}");
    let read: Vec<&str> = taken.readings.keys().map(String::as_str).collect();
    assert!(
        routine.readings.iter().all(|name| read.contains(name)) && read.len() == routine.readings.len(),
        "{read:?}"
    );
    taken
}

fn median(taken: &Taken, name: &str) -> f64 {
    vramlab_trace::run::median(&taken.readings[name]).unwrap()
}

#[test]
fn ids_are_sorted_and_unique() {
    assert!(ROUTINES.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn every_way_of_allocating_is_timed_and_gives_all_back() {
    for mode in 0..=4 {
        for busy_us in [0, 10] {
            let taken = play("alloc_cost", &[("mode", mode), ("bytes", 3 * MIB), ("busy_us", busy_us)]);
            assert!(taken.checks.iter().all(|holds| *holds) && taken.samples_ns.iter().all(|ns| *ns > 0.0), "{mode}");
        }
    }
}

/// The driver's pattern as brief 11 has it: 1 B opens 2 MiB, small ones share it, 2 MiB + 1 B takes 4 MiB.
#[test]
fn memory_leaves_the_card_in_pieces() {
    for (bytes, n, gone) in [
        (1, 1, 2 * MIB),
        (1, 64, 2 * MIB),
        (MIB, 64, 64 * MIB),
        (MIB + 1, 1, 2 * MIB),
        (2 * MIB + 1, 1, 4 * MIB),
        (2 * MIB + 1, 64, 256 * MIB),
    ] {
        let taken = play("granularity", &[("bytes", bytes), ("n_requests", n)]);
        assert_eq!(median(&taken, "gone_bytes"), gone as f64, "{n} × {bytes}");
        assert_eq!(taken.checks, [true, true]);
    }
}

/// On pages that really run out, our allocators refuse where they do on a counted card.
#[test]
fn a_stock_of_pages_runs_out_where_the_model_says() {
    for seed in 1..=6 {
        for (number, scenario, capacity) in [(1, 0, 64), (2, 0, 64), (1, 1, 40), (2, 1, 40), (3, 1, 40), (4, 1, 40)] {
            let inputs = [("scenario", scenario), ("seed", seed), ("policy", number), ("capacity_mib", capacity)];
            let taken = play("capped_replay", &inputs);
            let trace = Scenario::of(scenario).unwrap().trace(seed).unwrap();
            let kind = Policy::of(number).unwrap().kind(capacity * MIB);
            let steps = replay::run(&trace, &kind, capacity * MIB);
            let refused = steps.iter().position(|step| step.refusal.is_some()).unwrap_or(steps.len());
            assert_eq!(median(&taken, "served_events"), refused as f64, "seed {seed}, policy {number}");
            assert_eq!(taken.checks, [true, true]);
        }
    }
}

#[test]
fn policies_take_what_the_model_says() {
    for number in 0..=6 {
        for scenario in [2, 3] {
            let capacity = if number == 4 { 2048 } else { 3072 };
            let inputs = [("scenario", scenario), ("seed", 1), ("policy", number), ("capacity_mib", capacity)];
            let taken = play("alloc_policies", &inputs);
            let trace = Scenario::of(scenario).unwrap().trace(1).unwrap();
            let steps = replay::run(&trace, &Policy::of(number).unwrap().kind(capacity * MIB), CARD);
            let peak = steps.iter().map(|step| step.after.reserved_bytes).max().unwrap();
            assert_eq!(median(&taken, "peak_mib"), peak as f64 / MIB as f64, "policy {number}, scenario {scenario}");
            assert_eq!(taken.checks, [true, true]);
        }
    }
}

/// Two buffers are enough for a chain; 2n + 1 without reuse, and with a backward pass.
#[test]
fn a_chain_needs_two_buffers() {
    for (how, n, held) in [(0, 1, 3), (0, 4, 9), (1, 1, 2), (1, 4, 2), (2, 1, 3), (2, 4, 9)] {
        let taken = play("buffer_pool", &[("n_stages", n), ("bytes", 16 * MIB), ("how", how)]);
        assert_eq!(median(&taken, "held_mib"), f64::from(held * 16), "how {how}, {n} stages");
        // The arithmetic needs a GPU; what is checked here is the second: all memory is back.
        assert!(taken.checks[1]);
    }
}

/// Brief 16: N²e a head for the scores, 4N for what tiles keep; the pool takes 32 MiB at a time.
#[test]
fn scores_take_n_squared_and_tiles_take_n() {
    for (is_tiled, n, extra, reserved) in [(0, 1024, 8.0, 32.0), (0, 8192, 512.0, 512.0), (1, 8192, 0.125, 32.0)] {
        let taken = play("attention_peak", &[("n_tokens", n), ("n_heads", 4), ("is_tiled", is_tiled)]);
        assert_eq!((median(&taken, "extra_mib"), median(&taken, "reserved_mib")), (extra, reserved), "{n} {is_tiled}");
        // The arithmetic needs a GPU.
        assert!(taken.checks[1]);
    }
}

#[test]
fn the_largest_request_is_what_is_free_in_whole_pages() {
    for (permille, largest) in [(0, 4096), (500, 2048), (250, 3072)] {
        let taken = play("largest", &[("held_permille", permille)]);
        assert_eq!(median(&taken, "largest_mib"), f64::from(largest));
        assert_eq!((median(&taken, "gap_mib"), &taken.checks[..]), (0.0, &[true, true][..]));
    }
}

#[test]
fn a_full_card_refuses_and_works_again() {
    let taken = play("fill_card", &[("parts", 6)]);
    assert_eq!((median(&taken, "served"), median(&taken, "refused_free_mib")), (6.0, 4.0));
    assert_eq!(taken.checks, [true; 3]);
}

/// Brief 18, experiment 3: noticed within five steps of the rise, and the slope is exact.
#[test]
fn a_kept_tensor_is_noticed() {
    let taken = play("kept_tensor", &[("every", 1), ("n_steps", 24), ("kept_mib", 4)]);
    assert_eq!((median(&taken, "slope_mib"), median(&taken, "noticed_step")), (4.0, 6.0));
    assert_eq!(taken.checks, [true, true]);
    let taken = play("kept_tensor", &[("every", 2), ("n_steps", 24), ("kept_mib", 4)]);
    assert_eq!(median(&taken, "slope_mib"), 2.0);
}

/// By hand: 4096 MiB, 96 of them fixed; 4 tensors of a batch in whole pieces of 2 MiB leave 1000 MiB each, which is 333
/// items of 3 MiB. With 5 of 3 MiB less a byte, 800 MiB each hold 266, as 266 × 3 MiB are 798.
#[test]
fn the_largest_batch_is_found_from_wherever_one_starts() {
    for guess in [0, 1, 100, 333, 334, 5000] {
        let inputs = [("fixed_mib", 96), ("n_slots", 4), ("item_bytes", 3 * MIB), ("guess", guess)];
        let taken = play("capacity_boundary", &inputs);
        assert_eq!(median(&taken, "batch"), 333.0, "from {guess}");
        assert_eq!(taken.checks, [true; 3], "from {guess}");
        assert!(median(&taken, "n_refused") >= 1.0, "the refusal was met");
    }
    let taken =
        play("capacity_boundary", &[("fixed_mib", 96), ("n_slots", 5), ("item_bytes", 3 * MIB - 1), ("guess", 9)]);
    assert_eq!(median(&taken, "batch"), 266.0);
    let taken =
        play("capacity_boundary", &[("fixed_mib", 2), ("n_slots", 1), ("item_bytes", 4096 * MIB), ("guess", 1)]);
    assert_eq!(median(&taken, "batch"), 0.0);
}

/// No kernel runs here, so the results are not right; what is read, and that all is given back, is.
#[test]
fn a_step_is_timed_whole_and_in_parts() {
    for (fixes, peak) in [(0, 30.0), (31, 22.0)] {
        let taken = play("capstone", &[("fixes", fixes), ("n_elems", 1 << 22)]);
        assert_eq!(median(&taken, "peak_mib"), peak, "8 + 16 or 8 + 4 + 1/4 MiB in whole pieces of 2 MiB");
        assert!(!taken.checks[0] && taken.checks[1], "{:?}", taken.checks);
    }
}

#[test]
fn builds_are_timed_in_pairs() {
    for how in [0, 1] {
        let taken = play("regression_gate", &[("turns", 8), ("more", 1), ("how", how)]);
        assert_eq!(taken.readings["ratio"].len(), 3);
        assert!(taken.checks.iter().all(|holds| *holds));
    }
}

/// The pool's own high-water mark: ⌈n/k⌉ + k where kept inputs stay, ⌊n/k⌋ + k where they go once used.
#[test]
fn a_chain_holds_what_the_model_says() {
    for (n, k) in [(64, 1), (64, 8), (64, 11), (17, 3), (17, 4), (10, 10), (2, 1)] {
        for is_held in [0, 1] {
            let inputs = [("n_layers", n), ("segment", k), ("bytes", MIB), ("turns", 1), ("is_held", is_held)];
            let taken = play("checkpoint_chain", &[&inputs[..], &[("is_timed", 1 - is_held)]].concat());
            let whole = if is_held == 1 { n.div_ceil(k) } else { n / k };
            assert_eq!(median(&taken, "slots"), (whole + k) as f64, "{n} by {k}, held {is_held}");
            let recomputed = 1.0 - n.div_ceil(k) as f64 / n as f64;
            assert!((median(&taken, "recomputed") - recomputed).abs() < 1e-12, "{n} by {k}");
            // The arithmetic needs a GPU; nothing differs where nothing runs, and all memory is back.
            assert!(taken.checks[0] && taken.checks[2]);
        }
    }
}

#[test]
fn every_way_of_bringing_a_buffer_back_gives_all_back() {
    for how in 0..=4 {
        let inputs = [("bytes", 64 << 10), ("fmas", 3), ("n_between", 4), ("how", how)];
        let taken = play("keep_recompute_offload", &inputs);
        assert_eq!(median(&taken, "freed_mib") > 0.0, how > 0);
        assert!(taken.checks[1], "how {how}");
    }
}

/// A line in what tensors hold, to the 512 bytes of a block; what segments add stays below three large ones.
#[test]
fn the_peak_is_a_line_over_the_batch() {
    for batch in [8, 64, 512] {
        let taken = play("affine_peak", &[("batch", batch), ("workspace_bytes", 32 * MIB)]);
        let line = 32.0 + (12.0 * 293_040.0 + 4.0 * 294_912.0 * batch as f64) / MIB as f64;
        let (allocated, reserved) = (median(&taken, "allocated_mib"), median(&taken, "reserved_mib"));
        assert!((0.0..0.03).contains(&(allocated - line)), "{batch}: {allocated} for {line}");
        assert!((median(&taken, "fitted_mib") - allocated).abs() < 0.03, "{batch}");
        assert!((0.0..60.0).contains(&(reserved - allocated)), "{batch}: {reserved} for {allocated}");
        assert_eq!(median(&taken, "card_mib"), reserved, "{batch}");
        assert!(taken.checks[1]);
    }
}

#[test]
fn every_habit_of_measuring_gives_all_back() {
    for habit in 0..=7 {
        let inputs = [("habit", habit), ("bytes", 256 << 10), ("flush_bytes", MIB), ("per_range", 64)];
        let taken = play("methodology", &inputs);
        assert_eq!(median(&taken, "ranged"), f64::from(u8::from(habit == 7)));
        assert!(taken.checks[1], "habit {habit}");
    }
}

/// No kernel runs here, so the count is not right; a graph is one call for all of its kernels, and all is given back.
#[test]
fn every_way_of_launching_gives_all_back() {
    for how in 0..=2 {
        for n_elems in [0, 4096] {
            let inputs = [("how", how), ("n_kernels", 8), ("n_elems", n_elems), ("turns", 1), ("cycles", 1000)];
            let taken = play("launch_cost", &inputs);
            assert_eq!(median(&taken, "build_us") > 0.0, how == 2, "how {how}");
            assert!(!taken.checks[0] && taken.checks[1], "how {how}: {:?}", taken.checks);
        }
    }
}

/// A graph keeps what was launched while it was recorded, and runs all of it each time.
#[test]
fn a_graph_runs_what_it_recorded() {
    let mut card = Sim::new(CARD);
    card.launch("k", 1, 32, &[]).unwrap();
    card.begin_graph().unwrap();
    (0..5).for_each(|_| card.launch("k", 1, 32, &[]).unwrap());
    assert!(card.begin_graph().is_err());
    let graph = card.end_graph().unwrap();
    assert_eq!(card.n_launched, 1);
    card.launch_graph(graph).unwrap();
    card.launch_graph(graph).unwrap();
    assert_eq!(card.n_launched, 11);
    card.drop_graph(graph).unwrap();
    assert!(card.launch_graph(graph).is_err() && card.end_graph().is_err());
}

/// No kernel runs here, so the results are not right; the lists are built for every kind of step, and all is given back.
#[test]
fn steps_of_a_request_stream_give_all_back() {
    for step in [0, 96, 192, 100_000] {
        let taken = play("serve_steps", &[("seed", 1), ("step", step), ("n_layers", 1)]);
        assert!(!taken.checks[0] && !taken.checks[1] && taken.checks[2], "step {step}: {:?}", taken.checks);
        assert!(median(&taken, "model_ms") > 0.0 && median(&taken, "launch_us") > 0.0);
    }
}

/// Nothing is computed here, so nothing is right but that all is given back.
#[test]
fn errors_of_a_cache_give_all_back() {
    for format in 0..3 {
        let taken = play("kv_error", &[("format", format), ("n_heads", 2), ("length", 16)]);
        assert!(!taken.checks[0] && taken.checks[1], "format {format}");
    }
}

/// Brief 23: 8 blocks of 256 threads at 32 registers, 4 at 64; 48 KiB a block leave 4; 228 KiB are more than a block may have.
#[test]
fn an_sm_holds_what_the_driver_says() {
    for (registers, threads, shared, blocks) in [
        (32, 256, 0, 8),
        (64, 256, 0, 4),
        (72, 256, 0, 3),
        (128, 128, 48 << 10, 4),
        (255, 96, 0, 2),
        (32, 256, 228 << 10, 0),
    ] {
        let inputs = [("registers", registers), ("threads", threads), ("shared_bytes", shared)];
        let taken = play("occupancy_truth", &inputs);
        assert_eq!(median(&taken, "blocks_per_sm"), f64::from(blocks), "{inputs:?}");
        // The sums need a GPU; what cannot be launched has none.
        assert_eq!(taken.checks, [blocks == 0, true], "{inputs:?}");
    }
}
