//! The vectors of the course's allocation chapter, computed apart from this code, and what PyTorch's source says of the
//! settings.

use super::{Caching, Card, Class, Config, Error, Metric, Served, State, Why};
use crate::MIB;

type Machine = Caching<Card>;

fn machine(settings: &str, capacity_mib: u64) -> Machine {
    Caching::new(Config::parse(settings).unwrap(), Card::new(capacity_mib * MIB))
}

fn native() -> Machine {
    machine("", 1 << 17)
}

fn expandable(capacity_mib: u64) -> Machine {
    machine("expandable_segments:True", capacity_mib)
}

fn take(m: &mut Machine, bytes: u64) -> Served {
    m.malloc(bytes, 0).unwrap().unwrap()
}

/// a = allocated, r = reserved, s = inactive split, bytes.
fn ars(m: &Machine) -> (u64, u64, u64) {
    let now = |metric| m.stats().get(metric, Class::All).current;
    (now(Metric::AllocatedBytes), now(Metric::ReservedBytes), now(Metric::InactiveSplitBytes))
}

fn of(m: &Machine, metric: Metric) -> u64 {
    m.stats().get(metric, Class::All).current
}

#[test]
fn v1_the_smallest_block() {
    let mut m = native();
    assert_eq!(m.malloc(0, 0), Ok(None));
    assert_eq!(ars(&m), (0, 0, 0));
    take(&mut m, 1);
    assert_eq!(ars(&m), (512, 2_097_152, 2_096_640));
    let mut m = native();
    take(&mut m, 513);
    assert_eq!(ars(&m).0, 1024);
}

#[test]
fn v2_one_mebibyte_is_the_border_of_the_small_pool() {
    let mut m = native();
    take(&mut m, 1_048_576);
    assert_eq!(ars(&m).1, 2_097_152);
    let mut m = native();
    take(&mut m, 1_048_577);
    assert_eq!(ars(&m), (1_049_088, 20_971_520, 19_922_432));
}

#[test]
fn v3_ten_mebibytes_take_a_segment_of_their_own() {
    let mut m = native();
    take(&mut m, 10_485_248);
    assert_eq!(ars(&m).1, 20_971_520);
    let mut m = native();
    take(&mut m, 10_485_760);
    assert_eq!(ars(&m), (10_485_760, 10_485_760, 0));
    let mut m = native();
    take(&mut m, 11_534_337);
    assert_eq!(ars(&m), (12_582_912, 12_582_912, 0));
    assert_eq!(of(&m, Metric::RequestedBytes), 11_534_337);
}

/// The constants as the allocator's source prints them: request, live bytes, segment.
#[test]
fn the_published_constants() {
    for (request, live, segment) in [
        (1, 512, 2 << 20),
        (4_000_000, 4_000_256, 20 << 20),
        ((1 << 20) + 1, 1_049_088, 20 << 20),
        ((10 << 20) + 1, 10_486_272, 12 << 20),
        (514 << 20, 514 << 20, 514 << 20),
    ] {
        let mut m = native();
        take(&mut m, request);
        assert_eq!((ars(&m).0, ars(&m).1), (live, segment), "{request}");
    }
}

#[test]
fn v4_freed_neighbours_become_one_block() {
    let mut m = native();
    for _ in 0..5 {
        take(&mut m, 524_288);
    }
    assert_eq!(ars(&m), (2_621_440, 4_194_304, 1_572_864));
    let mut m = native();
    let blocks: Vec<Served> = (0..3).map(|_| take(&mut m, 9 * MIB)).collect();
    assert_eq!(ars(&m), (28_311_552, 41_943_040, 13_631_488));
    assert_eq!(m.largest_free(), 11_534_336);
    m.free(blocks[0].id).unwrap();
    m.free(blocks[1].id).unwrap();
    assert_eq!((ars(&m).0, ars(&m).1, m.largest_free()), (9_437_184, 41_943_040, 20_971_520));
    m.empty_cache();
    assert_eq!(ars(&m).1, 20_971_520);
}

/// Six blocks of 9 MiB on a card of 60 MiB, some freed, then one request.
fn crowded(mut m: Machine, freed: [usize; 3], mib: u64) -> (Machine, Result<Option<Served>, Error>) {
    let blocks: Vec<Served> = (0..6).map(|_| take(&mut m, 9 * MIB)).collect();
    assert_eq!(ars(&m).1, 62_914_560);
    for idx in freed {
        m.free(blocks[idx].id).unwrap();
    }
    let got = m.malloc(mib * MIB, 0);
    (m, got)
}

#[test]
fn v5_fragmentation_that_expandable_segments_cure_and_that_they_do_not() {
    let (m, got) = crowded(machine("", 60), [0, 1, 2], 24);
    assert!(matches!(got, Err(Error::OutOfMemory { reserved_bytes: 41_943_040, .. })), "{got:?}");
    assert_eq!((m.stats().n_retries, m.stats().n_ooms), (1, 1));
    let (m, got) = crowded(expandable(60), [0, 1, 2], 24);
    assert!(got.is_ok());
    assert_eq!(ars(&m).1, 62_914_560);
    for m in [machine("", 60), expandable(60)] {
        let (m, got) = crowded(m, [0, 2, 4], 20);
        assert!(matches!(got, Err(Error::OutOfMemory { largest_free_bytes: 9_437_184, .. })), "{got:?}");
        assert_eq!(m.stats().n_ooms, 1);
    }
}

#[test]
fn v6_a_flush_saves_the_request() {
    let mut m = machine("", 60);
    let blocks: Vec<Served> = (0..3).map(|_| take(&mut m, 20 * MIB)).collect();
    m.free(blocks[0].id).unwrap();
    m.free(blocks[2].id).unwrap();
    assert_eq!(take(&mut m, 40 * MIB).why, Why::AfterFlush);
    assert_eq!((m.stats().n_retries, ars(&m).1), (1, 62_914_560));
}

#[test]
fn v7_blocks_beyond_the_split_limit_are_kept_apart() {
    let reuse = |settings: &str, mib: u64| {
        let mut m = machine(settings, 1 << 17);
        let first = take(&mut m, 64 * MIB);
        m.free(first.id).unwrap();
        take(&mut m, mib * MIB);
        m
    };
    let limit = "max_split_size_mb:32";
    assert_eq!(ars(&reuse(limit, 40)).1, 109_051_904);
    assert_eq!(ars(&reuse(limit, 46)), (67_108_864, 67_108_864, 0));
    assert_eq!((ars(&reuse("", 8)).1, reuse("", 8).largest_free()), (67_108_864, 58_720_256));
    assert_eq!(ars(&reuse(limit, 8)).1, 88_080_384);
}

#[test]
fn v8_rounding_and_what_it_saves() {
    let four = Config::parse("roundup_power2_divisions:4").unwrap();
    for (bytes, rounded) in [(1_200, 1_536), (2_049, 2_560), (9_000, 10_240), (3_145_729, 3_670_016)] {
        assert_eq!(four.round(bytes), rounded, "{bytes}");
    }
    assert_eq!(Config::default().round(9_000), 9_216);
    let growing = |mut m: Machine| {
        for mib in 32..=35 {
            let both = [take(&mut m, mib * MIB), take(&mut m, mib * MIB / 2)];
            both.iter().for_each(|block| m.free(block.id).unwrap());
        }
        ars(&m).1
    };
    assert_eq!(growing(native()), 123_731_968);
    assert_eq!(growing(expandable(1 << 17)), 62_914_560);
}

#[test]
fn v8_garbage_collection_returns_what_is_old() {
    let collected = |threshold: &str| {
        let mut m = machine(&format!("garbage_collection_threshold:{threshold},per_process_memory_fraction:1.0"), 100);
        let blocks = [take(&mut m, 30 * MIB), take(&mut m, 20 * MIB)];
        blocks.iter().for_each(|block| m.free(block.id).unwrap());
        take(&mut m, 40 * MIB);
        ars(&m).1
    };
    assert_eq!(collected("0.4"), 41_943_040);
    assert_eq!(collected("0.5"), 94_371_840);
}

#[test]
fn v8_pages_of_both_pools() {
    let mut m = expandable(1 << 17);
    take(&mut m, 1);
    assert_eq!(ars(&m).1, 2_097_152);
    take(&mut m, 3 * MIB);
    assert_eq!(ars(&m).1, 23_068_672);
}

#[test]
fn v9_a_block_that_another_stream_uses() {
    let mut m = native();
    let first = take(&mut m, 6 * MIB);
    m.free_pending(first.id).unwrap();
    assert_eq!(ars(&m), (0, 20_971_520, 14_680_064));
    assert_eq!((of(&m, Metric::ActiveBytes), of(&m, Metric::RequestedBytes)), (6_291_456, 6_291_456));
    let second = take(&mut m, 6 * MIB);
    assert_eq!(second.address - first.address, 6 * MIB);
    assert_eq!((ars(&m).2, of(&m, Metric::ActiveBytes)), (8_388_608, 12_582_912));
    m.event_done(first.id).unwrap();
    let third = take(&mut m, 3 * MIB / 2);
    assert_eq!(third.address, first.address, "the hole is the smaller fit");
    assert_eq!((ars(&m).0, of(&m, Metric::ActiveBytes), ars(&m).2), (7_864_320, 7_864_320, 13_107_200));
}

#[test]
fn v10_a_hole_beats_a_smaller_tail_before_unmapped_space() {
    let mut m = expandable(1 << 17);
    let base = take(&mut m, 9 * MIB);
    let offsets: Vec<u64> =
        [9 * MIB, 5 * MIB, 17 * MIB / 2].iter().map(|bytes| take(&mut m, *bytes).address - base.address).collect();
    assert_eq!(offsets, [9 * MIB, 18 * MIB, 23 * MIB]);
    assert_eq!(ars(&m).1, 41_943_040);
    m.free(base.id).unwrap();
    assert_eq!(take(&mut m, 8 * MIB).address, base.address);
}

#[test]
fn v10_empty_cache_unmaps_whole_pages() {
    let mut m = expandable(1 << 17);
    let base = take(&mut m, 50 * MIB);
    take(&mut m, 5 * MIB);
    assert_eq!(ars(&m).1, 62_914_560);
    m.free(base.id).unwrap();
    m.empty_cache();
    assert_eq!((ars(&m).1, m.largest_free()), (20_971_520, 10_485_760));
    let again = take(&mut m, 30 * MIB);
    assert_eq!((again.address, ars(&m).1, m.largest_free()), (base.address, 62_914_560, 20_971_520));
}

/// PyTorch's documentation prints 1,280 for these numbers; its code gives 1,536.
#[test]
fn v11_divisions_count_from_the_request() {
    assert_eq!(Config::parse("roundup_power2_divisions:[256:4,>:1]").unwrap().round(1_200), 1_536);
}

#[test]
fn v12_a_graph_keeps_its_pool() {
    let mut m = native();
    let outside = take(&mut m, 4 * MIB);
    m.free(outside.id).unwrap();
    m.begin_capture(0, 1);
    let inside = take(&mut m, 4 * MIB);
    assert_eq!(ars(&m).1, 41_943_040);
    m.free(inside.id).unwrap();
    m.end_capture(0);
    m.empty_cache();
    assert_eq!(ars(&m).1, 20_971_520);
    m.release_pool(1);
    m.empty_cache();
    assert_eq!(ars(&m).1, 0);
}

#[test]
fn what_cannot_be_is_an_error_and_changes_nothing() {
    let mut m = native();
    let block = take(&mut m, 100);
    m.free(block.id).unwrap();
    let before = m.stats().clone();
    assert_eq!(m.free(block.id), Err(Error::NotAllocated));
    assert_eq!(m.malloc(1 << 60, 0), Err(Error::TooLarge { bytes: 1 << 60 }));
    assert!(m.event_done(block.id).is_err());
    assert_eq!(*m.stats(), before);
}

#[test]
fn settings_are_read_as_pytorch_reads_them() {
    let config = Config::parse("max_split_size_mb:128, roundup_power2_divisions:[256:1,512:2,1024:4,>:8]").unwrap();
    assert_eq!(config.max_split_bytes, Some(128 * MIB));
    let classes = config.roundup_divisions;
    assert_eq!((classes[0], classes[8], classes[9], classes[10], classes[11], classes[15]), (1, 1, 2, 4, 8, 8));
    // A class between two that are named and that is not named itself stays off.
    assert_eq!(Config::parse("roundup_power2_divisions:[256:4,1024:4]").unwrap().roundup_divisions[9], 0);
    for (bad, says) in [
        ("max_split_size_mb:20", "max_split_size_mb = 20 is not allowed; it must be above the large segment"),
        ("garbage_collection_threshold:1.0", "above 0 and below 1"),
        (
            "per_process_memory_fraction:1.01",
            "per_process_memory_fraction = 1.01 is not allowed; it must be from 0 to 1",
        ),
        ("per_process_memory_fraction:-0.1", "from 0 to 1"),
        ("per_process_memory_fraction:NaN", "from 0 to 1"),
        ("roundup_power2_divisions:3", "a power of two"),
        ("roundup_power2_divisions:[300:2]", "a power of two in MiB, or >"),
        ("roundup_power2_divisions:[256:2", "closed by ]"),
        ("expandable_segments:Yes", "True or False"),
        ("split:3", "the setting = split is not allowed"),
        ("max_split_size_mb", "name:value"),
    ] {
        let error = Config::parse(bad).unwrap_err();
        assert!(error.to_string().contains(says), "{bad}: {error}");
        let zh = error.told().zh.unwrap_or_default();
        assert!(zh.contains("不合法：要") && !zh.contains("must"), "{bad}: {zh}");
    }
    // Both ends are PyTorch's own: "set it in [0.0, 1.0]".
    for fraction in ["0", "0.5", "1.0"] {
        assert!(Config::parse(&format!("per_process_memory_fraction:{fraction}")).is_ok(), "{fraction}");
    }
}

/// However requests come, the blocks tile their segments and the counters are sums over blocks.
#[test]
fn blocks_and_counters_agree_after_any_requests() {
    for settings in ["", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4"] {
        let mut m = machine(settings, 700);
        let mut held: Vec<Served> = Vec::new();
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for step in 0..4000 {
            if random(100) < 55 || held.is_empty() {
                let bytes = 1 << random(26);
                let bytes = bytes + random(bytes);
                held.extend(m.malloc(bytes, random(3) as u32).ok().flatten());
            } else {
                let block = held.swap_remove(random(held.len() as u64) as usize);
                if random(4) == 0 {
                    m.free_pending(block.id).unwrap();
                    m.event_done(block.id).unwrap();
                } else {
                    m.free(block.id).unwrap();
                }
            }
            if random(200) == 0 {
                m.empty_cache();
            }
            if step % 100 == 0 {
                check(&m, settings);
            }
        }
    }
}

fn check(m: &Machine, settings: &str) {
    let blocks = m.blocks();
    let sum = |wanted: &dyn Fn(&super::View) -> bool| blocks.iter().filter(|b| wanted(b)).map(|b| b.size).sum::<u64>();
    assert_eq!(sum(&|b| b.state == State::Allocated), of(m, Metric::AllocatedBytes), "{settings}");
    assert_eq!(sum(&|b| b.state != State::Free), of(m, Metric::ActiveBytes), "{settings}");
    assert_eq!(sum(&|b| b.is_mapped), of(m, Metric::ReservedBytes), "{settings}");
    let split = |b: &super::View| b.state == State::Free && !b.is_expandable && (b.prev.is_some() || b.next.is_some());
    assert_eq!(sum(&split), of(m, Metric::InactiveSplitBytes), "{settings}");
    assert_eq!(m.device.used_bytes, of(m, Metric::ReservedBytes), "{settings}");
    for block in &blocks {
        if let Some(next) = block.next {
            let next = m.view(next);
            assert_eq!(block.address + block.size, next.address, "{settings}: no gap between neighbours");
            assert_eq!(next.prev, Some(block.id), "{settings}");
            let both_free =
                block.state == State::Free && next.state == State::Free && block.is_mapped == next.is_mapped;
            assert!(!both_free, "{settings}: free neighbours are one block");
        }
    }
}
