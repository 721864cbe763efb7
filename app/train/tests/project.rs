//! The project chain without running anything: what is refused, what is chosen, what a damaged file says.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use proptest::prelude::*;
use vramlab_train::arena::{Bytes, Holder, Owner};
use vramlab_train::compare::Gap;
use vramlab_train::device::Phase;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::project::*;
use vramlab_train::{Strategy, Workload};
use vramlab_units::Lang;

const WORK: Workload = Workload {
    net: Kind::Block,
    n_layers: 4,
    width: 32,
    n_heads: 4,
    seq_len: 16,
    batch: 8,
    n_classes: 64,
    dtype: Dtype::Fp32,
    optimizer: Optimizer::Adamw,
    seed: 1,
    n_steps: 2,
};

fn entry(strategy: &str, activations: u64, ns: f64) -> Entry {
    let owners = Bytes { parameters: 1000, gradients: 100, optimizer_state: 2000, activations, workspace: 50 };
    let run = Run {
        used_bytes: owners.total(),
        owners,
        predicted_bytes: owners.total(),
        phase: Phase::Backward,
        holders: vec![Holder { label: "layer 3 · gelu".into(), owner: Owner::Activations, bytes: activations / 2 }],
        n_holders: 40,
        host_bytes: 0,
        moved_bytes: 0,
        losses: vec![4.2, 4.1],
        gap: Gap { n: 100, ..Gap::default() },
        samples_ns: vec![ns; 9],
        base_ns: vec![100.0; 9],
    };
    Entry {
        strategy: Strategy::parse(strategy).unwrap(),
        work: WORK,
        device: Device { backend: "cpu".into(), name: "a processor".into(), driver: "Linux".into() },
        date: "2026-11-30".into(),
        program: "vramlab 0.1.0".into(),
        result: Outcome::Ran(Box::new(run)),
    }
}

fn project() -> Project {
    let refused = Outcome::OutOfMemory { needed_bytes: 9000, limit_bytes: Some(8000), label: "layer 2 · up".into() };
    Project {
        schema: SCHEMA.into(),
        name: "halves | the # peak".into(),
        hypothesis: "checkpoints halve it".into(),
        work: WORK,
        gate: Gate { loss: 1e-5, gradient: 1e-4 },
        baseline: Some(entry("keep", 10_000, 100.0)),
        candidates: vec![
            entry("checkpoint", 2000, 133.0),
            entry("accumulate4", 3000, 101.0),
            entry("checkpoint2", 4000, 134.0),
            Entry { result: refused, ..entry("offload", 1, 1.0) },
        ],
        decision: None,
    }
}

fn run_of(entry: &mut Entry) -> &mut Run {
    match &mut entry.result {
        Outcome::Ran(run) => run,
        Outcome::OutOfMemory { .. } => panic!("it did not run"),
    }
}

#[test]
fn the_fastest_that_fits_is_chosen() {
    let project = project();
    let chosen = |budget| decide(&project, budget, 0.03, "2026-11-30", &|_| None);
    assert_eq!(chosen(20_000).chosen.as_deref(), Some("accumulate4"), "within the noise of the baseline, and smaller");
    assert_eq!(decide(&project, 20_000, 0.0, "", &|_| None).chosen.as_deref(), Some("keep"));
    assert_eq!(chosen(6200).chosen.as_deref(), Some("accumulate4"));
    assert_eq!(chosen(6149).chosen.as_deref(), Some("checkpoint"));
    let none = chosen(5149);
    assert_eq!((none.chosen, none.short_bytes), (None, Some(1)));
    // checkpoint2 is larger and slower than checkpoint.
    assert_eq!(none.pareto, ["keep", "checkpoint", "accumulate4"]);
    let why = |strategy: &str| none.rejected.iter().find(|one| one.strategy == strategy).unwrap().why.clone();
    assert_eq!((why("offload").as_str(), why("keep").as_str()), ("out_of_memory", "over_budget"));
}

/// Where the intervals of two ratios overlap, nothing shows that one is slower: the smaller one is taken, by name.
#[test]
fn overlapping_intervals_are_no_difference() {
    let mut project = project();
    let ends = |values: &[f64]| {
        let (low, high) =
            values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        Some([low, values[values.len() / 2], high])
    };
    let spread = |run: &mut Run, low: f64, high: f64| {
        run.samples_ns = [[low; 4], [(low + high) / 2.0; 4]].concat().into_iter().chain([high]).collect()
    };
    // × 0.9–1.3 against × 1.2–1.4; the median of the second is higher by far more than the noise.
    spread(run_of(&mut project.candidates[1]), 90.0, 130.0);
    spread(run_of(&mut project.candidates[0]), 120.0, 140.0);
    let found = decide(&project, 7000, 0.03, "", &ends);
    assert_eq!(found.chosen.as_deref(), Some("checkpoint"));
    let why = |found: &Decision, strategy: &str| {
        found.rejected.iter().find(|one| one.strategy == strategy).unwrap().why.clone()
    };
    assert_eq!(why(&found, "accumulate4"), "larger");
    // Apart from each other, it is slower.
    spread(run_of(&mut project.candidates[0]), 131.0, 140.0);
    let found = decide(&project, 7000, 0.03, "", &ends);
    assert_eq!((found.chosen.as_deref(), why(&found, "checkpoint").as_str()), (Some("accumulate4"), "slower"));
}

#[test]
fn a_candidate_that_changes_the_result_is_never_chosen() {
    let mut project = project();
    run_of(&mut project.candidates[0]).gap.n_differ = 1;
    let decision = decide(&project, 5500, 0.03, "", &|_| None);
    assert_eq!(decision.chosen, None, "a checkpoint must keep every bit");
    assert!(decision.rejected.iter().any(|one| one.strategy == "checkpoint" && one.why == "quality"));
    // Accumulation may round differently, but only so far.
    let parts = &mut project.candidates[1];
    run_of(parts).gap = Gap { n: 100, n_differ: 90, relative: 1e-6, is_broken: false };
    assert!(judge(project.gate, project.baseline.as_ref().unwrap(), &project.candidates[1], |_| true).is_accepted);
    run_of(&mut project.candidates[1]).gap.relative = 1e-3;
    assert!(!judge(project.gate, project.baseline.as_ref().unwrap(), &project.candidates[1], |_| true).is_accepted);
    run_of(&mut project.candidates[1]).gap.relative = 0.0;
    run_of(&mut project.candidates[1]).losses[1] = 4.2;
    assert!(!judge(project.gate, project.baseline.as_ref().unwrap(), &project.candidates[1], |_| true).is_accepted);
}

#[test]
fn whatever_differs_is_named() {
    let baseline = entry("keep", 1, 1.0);
    let same = entry("checkpoint", 1, 1.0);
    assert!(compare(&baseline, &same).is_empty());
    type Change = fn(&mut Entry);
    let changes: [(&str, &str, Change); 9] = [
        ("dtype", "fp32 vs fp64", |entry| entry.work.dtype = Dtype::Fp64),
        ("batch", "8 vs 16", |entry| entry.work.batch = 16),
        ("seq_len", "16 vs 32", |entry| entry.work.seq_len = 32),
        ("seed", "1 vs 2", |entry| entry.work.seed = 2),
        ("net", "block vs mlp", |entry| entry.work.net = Kind::Mlp),
        ("width", "32 vs 64", |entry| entry.work.width = 64),
        ("optimizer", "adamw vs sgd", |entry| entry.work.optimizer = Optimizer::Sgd),
        ("backend", "cpu vs cuda", |entry| entry.device.backend = "cuda".into()),
        ("device", "a processor vs another", |entry| entry.device.name = "another".into()),
    ];
    for (field, says, change) in changes {
        let mut other = same.clone();
        change(&mut other);
        let found = compare(&baseline, &other);
        let [difference] = found.as_slice() else { panic!("{field}: {found:?}") };
        assert_eq!(difference.field, field);
        assert_eq!(format!("{} vs {}", difference.baseline, difference.candidate), says);
    }
}

/// A run on the processor stays E1, however often it is repeated; a card's is E2, and E3 with an interval.
#[test]
fn levels_of_evidence_follow_the_device() {
    let (gate, base) = (project().gate, entry("keep", 10, 1.0));
    let mut card = (base.clone(), entry("checkpoint", 5, 1.0));
    let judged = judge(gate, &base, &card.1, |_| true);
    assert_eq!((judged.gradient, judged.peak, judged.time), (Evidence::E1, Evidence::E1, Evidence::E1));
    card.0.device.backend = "cuda".into();
    card.1.device.backend = "cuda".into();
    assert_eq!(judge(gate, &card.0, &card.1, |_| false).peak, Evidence::E2);
    assert_eq!(judge(gate, &card.0, &card.1, |_| true).peak, Evidence::E3);
    let cpu = report(&project(), Lang::En, &|_| Some([1.0, 2.0, 3.0]));
    assert!(cpu.contains("a processor's evidence") && !cpu.contains("| E2") && !cpu.contains("| E3"), "{cpu}");
}

#[test]
fn a_report_tells_whose_bytes_were_saved_in_both_languages() {
    let mut project = project();
    project.decision = Some(decide(&project, 6200, 0.03, "2026-11-30", &|_| None));
    for (lang, words) in [
        (Lang::En, ["activations", "Beaten by no other", "out of memory", "Hypothesis", "E0"]),
        (Lang::Zh, ["激活", "不被别人压过", "放不下", "假设", "E0"]),
    ] {
        let text = report(&project, lang, &|_| None);
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
        // The name of a file cannot break the page.
        assert!(text.starts_with("# halves \\| the \\# peak"), "{text}");
    }
    let owners = saving(project.baseline.as_ref().unwrap(), &project.candidates[0]);
    assert_eq!((owners[0].owner, owners[0].saved()), (Owner::Activations, 8000));
    assert!(owners[1..].iter().all(|saving| saving.saved() == 0));
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let project = project();
    assert_eq!(read(write(&project).unwrap().as_bytes()).unwrap(), project);
}

/// The same errors in Chinese, the values in them untouched.
#[test]
fn errors_are_told_in_chinese_too() {
    let text = write(&project()).unwrap();
    let told = |text: &str| read(text.as_bytes()).unwrap_err().told().zh.unwrap();
    assert!(told(&text[..text.len() / 2]).ends_with("：文件到这里断了"), "{}", told(&text[..text.len() / 2]));
    let edited = text.replacen("\"batch\": 8", "\"batch\": 16", 1);
    assert_eq!(told(&edited), "work：不可比：batch 是 16，基线是用 8 测的");
    let off = text.replacen("\"used_bytes\": 13150", "\"used_bytes\": 5", 1);
    assert_eq!(told(&off), "baseline.result.used_bytes：5 和各归属之和 13150 对不上");
}

/// What a damaged file says: the place and what is wrong with it.
#[test]
fn damaged_files_name_the_place() {
    let text = write(&project()).unwrap();
    let says = |from: &str, to: &str, word: &str| {
        assert!(text.contains(from), "{from}");
        let error = read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{to}: {error}");
    };
    says(SCHEMA, "vramlab-project/2", "this program reads \"vramlab-project/1\"");
    says("\"schema\"", "\"shema\"", "its schema is missing");
    says("\"batch\": 8", "\"batch\": 0", "batch");
    says("\"batch\": 8", "\"batch\": -8", "line");
    says("\"batch\": 8", "\"bach\": 8", "unknown field `bach`");
    says("\"n_steps\": 2", "\"n_steps\": 3", "a project compares 2");
    says("\"n_heads\": 4", "\"n_heads\": 5", "cannot be shared by 5 heads");
    says("\"loss\": 0.00001", "\"loss\": 7", "gate.loss: 7 is not from 0 to 1");
    says("\"backend\": \"cpu\"", "\"backend\": \"tpu\"", "baseline.device.backend: \"tpu\" is not cpu or cuda");
    says("\"parameters\": 1000", "\"parameters\": 18446744073709551615", "larger than any memory");
    says("\"used_bytes\": 13150", "\"used_bytes\": 5", "5 is not what its owners hold together, 13150");
    says("\"used_bytes\": 13150", "\"used_bytes\": 99999999", "99999999 is not what its owners hold together, 13150");
    // The work at the top edited, and what was measured left as it is.
    says("\"batch\": 8", "\"batch\": 16", "work: not comparable: batch is 16, and the baseline was measured with 8");
    says("\"outcome\": \"ran\"", "\"outcome\": \"run\"", "unknown variant `run`");
    says("\"losses\": [", "\"losses\": [1.0, ", "baseline.result.losses: there are 3, not 2");
    says("\"micro_batches\": 4", "\"micro_batches\": 3", "does not split into 3");
    says("\"checkpoint_every\": 0", "\"checkpoint_every\": 1", "the baseline keeps everything");
    says("4.2", "1e999", "line");
    says("100.0,", "-1.0,", "a step takes time");
    for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(97) {
        assert!(read(&text.as_bytes()[..cut]).is_err());
    }
    for hostile in [&b""[..], b"\0\0\0\0", b"[]", b"null", b"\xff\xfe{", b"{\"schema\":\"vramlab-project/1\"}"] {
        assert!(read(hostile).is_err());
    }
    let deep = "[".repeat(200_000);
    assert!(read(deep.as_bytes()).is_err());
    assert!(matches!(read(&vec![b' '; MAX_BYTES + 1]), Err(ReadError::TooLong { .. })));
}

proptest! {
    /// Any byte changed: an error or a project that holds together, never a panic.
    #[test]
    fn one_changed_byte_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = write(&project()).unwrap().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(project) = read(&bytes) {
            let decision = decide(&project, 6200, 0.03, "", &|_| None);
            prop_assert!(decision.rejected.len() <= 5);
            for lang in [Lang::Zh, Lang::En] {
                let text = report(&project, lang, &|_| None);
                prop_assert!(!text.contains("NaN") && !text.contains("inf "));
            }
        }
    }
}
