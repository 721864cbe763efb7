//! The vectors that need a whole trace, several engines on one trace, and explanations held against what was done.

use super::*;
use crate::MIB;
use crate::generate::Pattern;

fn native() -> Kind {
    Kind::Caching(Config::default())
}

fn expandable() -> Kind {
    Kind::Caching(Config::parse("expandable_segments:True").unwrap())
}

fn caching(settings: &str) -> Kind {
    Kind::Caching(Config::parse(settings).unwrap())
}

fn every_kind() -> Vec<Kind> {
    vec![
        native(),
        expandable(),
        caching("max_split_size_mb:32"),
        caching("roundup_power2_divisions:4"),
        Kind::Bfc(bfc::Options::growing(1 << 30)),
        Kind::Bfc(bfc::Options::fixed(500 * MIB)),
        Kind::Jax(Policy::default()),
        Kind::Jax(Policy::OnDemand { fraction: 0.75 }),
        Kind::Jax(Policy::Platform),
        Kind::StreamPool { release_threshold_bytes: 0 },
        Kind::StreamPool { release_threshold_bytes: 128 * MIB },
        Kind::Plain,
    ]
}

fn play(kind: &Kind, capacity_mib: u64, text: &str) -> Vec<Step> {
    run(&Trace::parse(text).unwrap(), kind, capacity_mib * MIB)
}

fn block(step: &Step) -> u64 {
    step.block.unwrap().size
}

/// Chapter 24, PyTorch, a card of 100 MiB.
#[test]
fn a_trace_under_pytorch() {
    let steps = play(&native(), 100, "a:700 b:1M c:1048577 d:10M e:19.5M");
    assert_eq!(steps.iter().map(block).collect::<Vec<_>>(), [1024, 1_048_576, 1_049_088, 10_485_760, 20_971_520]);
    assert_eq!((steps[0].after.reserved_bytes, steps[0].after.largest_free_bytes), (2_097_152, 2_096_128));
    assert_eq!(steps[2].after.reserved_bytes, 23_068_672);
    assert_eq!(steps[3].block.unwrap().source, Source::Cached, "from the same 20 MiB segment");
    let last = steps[4].after;
    assert_eq!((last.allocated_bytes, last.reserved_bytes, last.n_segments), (33_555_968, 44_040_192, 3));
}

/// Chapter 24, the hole that is too small.
#[test]
fn fragmentation_under_pytorch() {
    let steps = play(&native(), 40, "a:6M b:6M c:6M -a -c d:10M e:12M");
    let holes = steps[4].after;
    assert_eq!((holes.allocated_bytes, holes.largest_free_bytes), (6_291_456, 8_388_608));
    assert_eq!(holes.total_free_bytes, 14 * MIB);
    assert!((holes.fragmentation() - (1.0 - 8.0 / 14.0)).abs() < 1e-12);
    assert_eq!(steps[5].after.reserved_bytes, 31_457_280);
    let refusal = steps[6].refusal.as_ref().unwrap();
    assert!(refusal.is_oom);
    assert_eq!(
        refusal.message,
        "tried to reserve 12582912 bytes; reserved 31457280, allocated 16777216, capacity 41943040"
    );
}

/// Chapter 24, the same trace under BFC.
#[test]
fn the_traces_under_bfc() {
    let growing = Kind::Bfc(bfc::Options::growing(1 << 30));
    let steps = play(&growing, 1 << 17, "a:700 b:1M c:1048577 d:10M e:19.5M");
    assert_eq!(steps.iter().map(block).collect::<Vec<_>>(), [768, 2_096_384, 1_048_832, 16_777_216, 33_554_432]);
    assert_eq!((steps[0].after.reserved_bytes, steps[4].after.reserved_bytes), (2_097_152, 56_623_104));
    assert_eq!(steps[4].after.n_segments, 4);
    let fixed = Kind::Bfc(bfc::Options::fixed(20 * MIB));
    let steps = play(&fixed, 1 << 17, "a:6M b:6M c:6M -a -c d:10M -b e:10M z:0");
    assert_eq!(
        steps[5].refusal.as_ref().unwrap().message,
        "requested 10485760, in use 6291456, pool 20971520, limit 20971520"
    );
    assert_eq!(
        (block(&steps[7]), steps[8].refusal.as_ref().unwrap().message.as_str()),
        (10_485_760, "size must be positive")
    );
}

/// Chapter 11, vectors 5, 8 and 9 through the one trace format.
#[test]
fn chapter_11_through_traces() {
    let crowded = "a:9M b:9M c:9M d:9M e:9M f:9M";
    let last = |kind: &Kind, text: &str| play(kind, 60, text).pop().unwrap();
    let first_half = format!("{crowded} -a -b -c g:24M");
    let step = last(&native(), &first_half);
    assert!(step.refusal.is_some());
    assert_eq!((step.after.reserved_bytes, step.after.n_retries, step.after.n_ooms), (41_943_040, 1, 1));
    let step = last(&expandable(), &first_half);
    assert!(step.refusal.is_none());
    assert_eq!(step.after.reserved_bytes, 62_914_560);
    for kind in [native(), expandable()] {
        let step = last(&kind, &format!("{crowded} -a -c -e g:20M"));
        assert!(step.refusal.is_some());
        assert_eq!(step.after.largest_free_bytes, 9_437_184);
    }
    let growing = Pattern::GrowingSequence { n_steps: 4, first_bytes: 32 * MIB, step_bytes: MIB }.trace(0).unwrap();
    for (kind, reserved) in [(native(), 123_731_968), (expandable(), 62_914_560)] {
        assert_eq!(run(&growing, &kind, 1 << 37).pop().unwrap().after.reserved_bytes, reserved);
    }
    let steps = play(&native(), 1 << 17, "a:6M a>1 -a b:6M sync c:1.5M");
    let base = steps[0].block.unwrap().address;
    let freed = steps[2].after;
    assert_eq!((freed.allocated_bytes, freed.active_bytes, freed.requested_bytes), (0, 6_291_456, 6_291_456));
    assert_eq!(freed.inactive_split_bytes, 14_680_064);
    assert_eq!(steps[3].block.unwrap().address - base, 6 * MIB);
    assert_eq!((steps[3].after.inactive_split_bytes, steps[3].after.active_bytes), (8_388_608, 12_582_912));
    assert_eq!(steps[5].block.unwrap().address, base);
    let done = steps[5].after;
    assert_eq!(
        (done.allocated_bytes, done.active_bytes, done.inactive_split_bytes),
        (7_864_320, 7_864_320, 13_107_200)
    );
}

/// Chapter 11, vector 12.
#[test]
fn a_graph_keeps_its_pool_in_a_trace() {
    let steps = play(&native(), 1 << 17, "a:4M -a capture:1 b:4M -b end empty destroy:1 empty");
    let reserved: Vec<u64> = steps.iter().map(|step| step.after.reserved_bytes).collect();
    assert_eq!((reserved[3], reserved[6], reserved[8]), (41_943_040, 20_971_520, 0));
}

/// Chapter 11: the stream-ordered pool.
#[test]
fn the_pool_in_a_trace() {
    let kind = Kind::StreamPool { release_threshold_bytes: 0 };
    let steps = play(&kind, 1 << 17, "a:100M -a sync b:32M@0 -b c:32M@1 1<0 d:32M@1");
    let reserved: Vec<u64> = steps.iter().map(|step| step.after.reserved_bytes / MIB).collect();
    assert_eq!(reserved, [128, 128, 0, 32, 32, 64, 64, 64]);
    assert_eq!(steps[0].after.allocated_bytes, 100 * MIB);
    assert_eq!(steps[7].block.unwrap().source, Source::OrderedBefore);
}

#[test]
fn a_refused_request_is_not_freed_later() {
    for kind in every_kind() {
        let steps = play(&kind, 600, "a:100M b:700M -b c:10M -a -c sync empty");
        assert!(steps[1].refusal.as_ref().unwrap().is_oom, "{kind:?}");
        let last = steps.last().unwrap().after;
        assert_eq!((last.allocated_bytes, last.n_ooms), (0, 1), "{kind:?}");
    }
}

/// On random traces: pieces tile what is reserved, sums agree, and the explanation before a request names the block that
/// the request then gets.
#[test]
fn explanations_and_pieces_agree_with_what_is_done() {
    let patterns = [
        Pattern::Random { n_events: 1500, n_live: 60, most_bytes: 24 * MIB },
        Pattern::TrainingStep { n_layers: 6, n_steps: 3 },
        Pattern::AlternatingSizes { n_pairs: 40, large_bytes: 11 * MIB, small_bytes: 3 * MIB },
    ];
    for kind in every_kind() {
        for pattern in patterns {
            let trace = pattern.trace(5).unwrap();
            explained(&kind, &trace, 700);
        }
        for capacity_mib in [1, 3, 70, 700] {
            explained(&kind, &streams(), capacity_mib);
        }
    }
}

/// Requests on three streams, used across them, with waits and synchronisations.
fn streams() -> Trace {
    let mut random = crate::generate::Random::new(9);
    let mut words: Vec<String> = Vec::new();
    let mut live: Vec<u64> = Vec::new();
    for n in 0..1500_u64 {
        let stream = random.below(3);
        match random.below(20) {
            0..=9 => {
                let power = 1 << random.below(25);
                words.push(format!("r{n}:{}@{stream}", power + random.below(power)));
                live.push(n);
            }
            10..=17 if !live.is_empty() => {
                let id = live.swap_remove(random.below(live.len() as u64) as usize);
                if random.below(3) == 0 {
                    words.push(format!("r{id}>{stream}"));
                }
                words.push(format!("-r{id}"));
            }
            18 => words.push(format!("{stream}<{}", random.below(3))),
            _ => words.push(if random.below(4) == 0 { "empty".into() } else { "sync".into() }),
        }
    }
    Trace::parse(&words.join(" ")).unwrap()
}

fn explained(kind: &Kind, trace: &Trace, capacity_mib: u64) {
    let mut player = Player::new(trace, kind, capacity_mib * MIB);
    loop {
        let explanation = player.explain_next();
        let Some(step) = player.step() else { break };
        if let Some(explanation) = explanation {
            agrees(kind, &explanation, &step);
        }
        tiles(kind, &player, &step.after);
        assert!(step.after.reserved_bytes <= capacity_mib * MIB, "{kind:?}");
    }
}

fn agrees(kind: &Kind, explanation: &Explanation, step: &Step) {
    let chosen = explanation.chosen();
    let Some(block) = step.block else {
        assert_eq!(chosen, None, "{kind:?} {step:?}");
        return;
    };
    assert!(block.size >= explanation.rounded_bytes, "{kind:?} {step:?}");
    let is_new = matches!(block.source, Source::Device | Source::AfterReturning | Source::AfterFlush);
    match chosen {
        Some(candidate) => {
            assert!(!is_new, "{kind:?} {step:?} {explanation:?}");
            assert_eq!(candidate.address, block.address, "{kind:?} {step:?}");
            let taken: u64 = explanation.candidates.iter().filter(|it| it.against.is_none()).map(|it| it.size).sum();
            assert_eq!(taken - explanation.rest_bytes, block.size, "{kind:?} {step:?}");
        }
        None => assert!(is_new, "{kind:?} {step:?} {explanation:?}"),
    }
}

fn tiles(kind: &Kind, player: &Player<'_>, after: &Counters) {
    let pieces = player.pieces();
    let sum = |part: Part| pieces.iter().filter(|piece| piece.part == part).map(|piece| piece.size).sum::<u64>();
    assert_eq!(sum(Part::Used) + sum(Part::Pending), after.active_bytes, "{kind:?}");
    assert_eq!(sum(Part::Free), after.total_free_bytes, "{kind:?}");
    assert_eq!(after.active_bytes + after.total_free_bytes, after.reserved_bytes, "{kind:?}");
    let largest = pieces.iter().filter(|piece| piece.part == Part::Free).map(|piece| piece.size).max();
    assert_eq!(largest.unwrap_or(0), after.largest_free_bytes, "{kind:?}");
    for pair in pieces.windows(2) {
        let end = pair[0].address + pair[0].size;
        assert!(end <= pair[1].address, "{kind:?}: no overlap");
        assert!(pair[0].segment != pair[1].segment || end == pair[1].address, "{kind:?}: no gap in a segment");
        assert!(pair[1].segment - pair[0].segment <= 1, "{kind:?}");
    }
}

#[test]
fn reasons_are_named() {
    let trace = Trace::parse("a:30M b:25M c:2M d:12M@1 -a -b -c -d e:24M").unwrap();
    let mut player = Player::new(&trace, &native(), 1 << 37);
    let explanation = (0..8).map(|_| player.step()).count();
    assert_eq!(explanation, 8);
    let explanation = player.explain_next().unwrap();
    let reasons: Vec<(u64, Option<Against>)> =
        explanation.candidates.iter().map(|it| (it.size / MIB, it.against)).collect();
    let expected =
        [(30, Some(Against::Larger)), (26, None), (20, Some(Against::TooSmall)), (12, Some(Against::OtherStream(1)))];
    assert_eq!(reasons, expected);
    assert_eq!((explanation.rest_bytes, explanation.device_bytes), (2 * MIB, 24 * MIB));
}

#[test]
fn a_limit_on_splitting_ends_the_search() {
    let trace = Trace::parse("a:64M b:70M -a -b c:8M d:40M").unwrap();
    let mut player = Player::new(&trace, &caching("max_split_size_mb:32"), 1 << 37);
    for _ in 0..4 {
        player.step();
    }
    let reasons = |explanation: Explanation| explanation.candidates.iter().map(|it| it.against).collect::<Vec<_>>();
    // 8 MiB go to the large pool as the two do, and both are oversize.
    assert_eq!(reasons(player.explain_next().unwrap()), [Some(Against::Oversize(32 * MIB)), Some(Against::NotReached)]);
    player.step();
    let for_40 = reasons(player.explain_next().unwrap());
    assert_eq!(for_40[..2], [Some(Against::TooLoose(20 * MIB)), Some(Against::NotReached)]);
}

#[test]
fn bins_are_searched_upwards() {
    let trace = Trace::parse("a:1M b:1M c:4M -a d:3M").unwrap();
    let mut player = Player::new(&trace, &Kind::Bfc(bfc::Options::fixed(32 * MIB)), 1 << 37);
    for _ in 0..4 {
        player.step();
    }
    let explanation = player.explain_next().unwrap();
    assert_eq!(explanation.candidates[0].against, Some(Against::LowerBin(12)));
    assert_eq!(explanation.chosen().unwrap().size, 26 * MIB);
    let bins = player.bins().unwrap();
    assert_eq!((bins[12], bins[16]), ((1, MIB), (1, 26 * MIB)));
}
