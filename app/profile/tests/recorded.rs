//! Recordings of an H200, made by `vramlab profile`, against what PyTorch itself said in the same runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use serde_json::Value;
use std::collections::BTreeSet;
use vramlab_profile::live::{DEVICE, Live};
use vramlab_profile::record::Profile;
use vramlab_profile::{Report, read};

const MIB: u64 = 1 << 20;

fn bytes(path: &str) -> Vec<u8> {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn profile(path: &str) -> Profile {
    read(&bytes(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&bytes(path)).unwrap()
}

/// Every segment of PyTorch's allocator was seen as an allocation of the same address and size; what else was allocated are
/// ten calls of cuBLAS, five for each of its two handles.
#[test]
fn allocations_are_the_segments_and_two_cublas_handles() {
    let profile = profile("assets/profiles/gpt_training.json.gz");
    let said = json("tests/data/profile/gpt_training.pytorch.json");
    let segments: BTreeSet<(u64, u64)> = said["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| (segment[0].as_u64().unwrap(), segment[1].as_u64().unwrap()))
        .collect();
    let live = Live::of(&profile.activities[0].memory, DEVICE, false);
    let open: BTreeSet<(u64, u64)> = live.open.iter().map(|(address, bytes)| (*address, *bytes)).collect();
    assert_eq!((segments.len(), segments.is_subset(&open)), (56, true));
    let reserved: u64 = segments.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(Some(reserved), said["max_reserved"].as_u64());
    let mut others: Vec<u64> = open.difference(&segments).map(|(_, bytes)| *bytes).collect();
    others.sort_unstable();
    assert_eq!(others, [4, 4, 1_024, 1_024, 25_344, 25_344, 131_072, 131_072, 67_108_864, 67_108_864]);
    assert_eq!(live.peak_bytes, reserved + others.iter().sum::<u64>());
}

/// What the card had used at the end, by `torch.cuda.mem_get_info`, is NVML's figure of the process plus what NVML keeps
/// apart from every process; the context is the same 530 MiB in every run in which a sample fell right after it.
#[test]
fn nvml_agrees_with_pytorch_and_the_context_is_the_same_everywhere() {
    let profile = profile("assets/profiles/gpt_training.json.gz");
    let said = json("tests/data/profile/gpt_training.pytorch.json");
    let report = Report::of(&profile);
    let (tree, card) = (report.tree.unwrap(), report.device.unwrap());
    assert_eq!(tree.bytes, 3_912 * MIB);
    let used = said["card_used"].as_u64().unwrap();
    assert!(used.abs_diff(card.bytes) <= 2 * MIB, "{used} {}", card.bytes);
    let traced = report.traced.unwrap();
    assert_eq!(traced.context_bytes, Some(530 * MIB));
    // 3,912 MiB less 3,270.3 of allocations.
    assert_eq!(traced.outside_bytes, Some(672_870_904));
    assert_eq!((traced.n_kernels, traced.n_lost, traced.is_cut), (7_357, 0, false));
    let killed = Report::of(&self::profile("tests/data/profile/killed.json.gz"));
    assert_eq!(killed.traced.unwrap().context_bytes, Some(530 * MIB));
}

/// The process was killed by SIGKILL in its 55th of 105 steps: what was flushed before is there.
#[test]
fn a_killed_process_leaves_what_was_flushed() {
    let profile = profile("tests/data/profile/killed.json.gz");
    assert_eq!((profile.exit.code, profile.exit.signal), (None, Some(9)));
    let traced = Report::of(&profile).traced.unwrap();
    assert!(traced.is_cut && traced.n_lost == 0);
    // 105 steps would be 31,000 kernels: 7,357 of the other run are 25 steps.
    let a_step = 7_357 / 25;
    assert!((traced.n_kernels / a_step).abs_diff(55) <= 8, "{}", traced.n_kernels);
}

#[test]
fn two_processes_are_told_apart_and_added_up() {
    let profile = profile("tests/data/profile/two_processes.json.gz");
    let report = Report::of(&profile);
    let tree = report.tree.unwrap();
    assert_eq!((tree.bytes, tree.by.len()), (2 * 3_912 * MIB, 2));
    assert!(tree.by.iter().all(|(idx, bytes)| profile.processes[*idx].name == "python3" && *bytes == 3_912 * MIB));
    assert_eq!(report.traced.unwrap().n_processes, 2);
}

/// Our own experiment takes most of its memory from pools: what lies outside plain allocations says nothing then.
#[test]
fn pools_are_counted_apart() {
    let report = Report::of(&profile("tests/data/profile/alloc_cost.json.gz"));
    let traced = report.traced.unwrap();
    assert!(traced.n_pool > 10_000, "{}", traced.n_pool);
    assert_eq!((traced.live.n_allocs, traced.live.n_frees, traced.live.at_end()), (236, 236, 0));
    assert_eq!((traced.live.peak_bytes, traced.outside_bytes), (1 << 30, None));
}

/// 200 steps, in turns: the sampler alone does not slow the fastest step; the injected library does, by some percent.
#[test]
fn the_overhead_that_the_course_quotes() {
    let steps = json("tests/data/profile/steps.json");
    let median = |kind: &str, key: &str| {
        let mut all: Vec<f64> = steps[kind].as_array().unwrap().iter().map(|run| run[key].as_f64().unwrap()).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let plain = median("plain", "least_ms");
    assert!((median("nvml", "least_ms") / plain - 1.0).abs() < 0.01);
    let injected = median("inject", "least_ms") / plain - 1.0;
    assert!((0.03..0.09).contains(&injected), "{injected}");
    let nvml = Report::of(&profile("tests/data/profile/nvml_only.json.gz"));
    assert!((0.02..0.03).contains(&nvml.sampler_share) && nvml.traced.is_none(), "{}", nvml.sampler_share);
}
