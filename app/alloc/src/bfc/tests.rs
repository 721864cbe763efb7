//! The vectors of the chapter on frameworks, and what the source says beyond them.

use super::*;
use crate::caching::Card;
use crate::generate::Random;

const GIB: u64 = 1 << 30;

fn growing(limit: u64, card: u64) -> Bfc<Card> {
    Bfc::new(Options::growing(limit), Card::new(card))
}

fn fixed(limit: u64) -> Bfc<Card> {
    Bfc::new(Options::fixed(limit), Card::new(1 << 40))
}

fn sizes(bfc: &mut Bfc<Card>, requests: &[u64]) -> Vec<u64> {
    requests.iter().map(|bytes| bfc.malloc(*bytes).unwrap().size).collect()
}

#[test]
fn bins_are_powers_of_two_from_256() {
    for (bytes, bin) in [(0, 0), (256, 0), (511, 0), (512, 1), (MIB, 12), (256 * MIB, 20), (GIB, 20)] {
        assert_eq!(bin_of(bytes), bin, "{bytes}");
    }
}

#[test]
fn regions_double_and_a_chunk_below_twice_the_request_is_not_split() {
    let mut bfc = growing(GIB, 1 << 40);
    let mut pools = Vec::new();
    let chunks: Vec<u64> = [700, MIB, MIB + 1, 10 * MIB, 20_447_232]
        .iter()
        .map(|bytes| {
            let size = bfc.malloc(*bytes).unwrap().size;
            pools.push(bfc.pool_bytes);
            size
        })
        .collect();
    assert_eq!(chunks, [768, 2_096_384, 1_048_832, 16_777_216, 33_554_432]);
    assert_eq!((pools[0], pools[4], bfc.regions().count()), (2_097_152, 56_623_104, 4));
}

#[test]
fn fixed_pool_with_two_holes() {
    let mut bfc = fixed(20 * MIB);
    let blocks: Vec<Served> = (0..3).map(|_| bfc.malloc(6 * MIB).unwrap()).collect();
    assert_eq!(blocks[2].size, 8_388_608);
    bfc.free(blocks[0].chunk).unwrap();
    bfc.free(blocks[2].chunk).unwrap();
    let holes: Vec<u64> = bfc.views().iter().filter(|view| view.is_free).map(|view| view.size).collect();
    assert_eq!(holes, [6_291_456, 8_388_608]);
    let error = bfc.malloc(10 * MIB).unwrap_err();
    assert_eq!(error.to_string(), "requested 10485760, in use 6291456, pool 20971520, limit 20971520");
    bfc.free(blocks[1].chunk).unwrap();
    assert_eq!(bfc.largest_free(), 20_971_520);
    assert_eq!(bfc.malloc(10 * MIB).unwrap().size, 10_485_760);
}

#[test]
fn waste_inside_a_chunk_has_a_limit() {
    assert_eq!(sizes(&mut fixed(150 * MIB), &[100 * MIB]), [157_286_400]);
    assert_eq!(sizes(&mut fixed(GIB), &[700 * MIB]), [734_003_200]);
    // Half of the limit may be lost, not 128 MiB.
    let options = Options { fragmentation_fraction: Some(0.5), ..Options::fixed(GIB) };
    assert_eq!(sizes(&mut Bfc::new(options, Card::new(GIB)), &[700 * MIB]), [GIB]);
}

#[test]
fn sizes_and_blocks_that_cannot_be_are_refused() {
    let mut bfc = fixed(20 * MIB);
    assert_eq!(bfc.malloc(0).unwrap_err().to_string(), "size must be positive");
    let block = bfc.malloc(MIB).unwrap();
    bfc.free(block.chunk).unwrap();
    let error = bfc.free(block.chunk).unwrap_err().to_string();
    assert!(error.starts_with("free of unknown block"), "{error}");
    assert_eq!((bfc.in_use_bytes, bfc.largest_free()), (0, 20 * MIB));
}

/// 20 MiB are left on the card: 32, then 0.9 × that, until it fits; each step rounded up to 256.
#[test]
fn a_refusing_device_is_asked_for_a_tenth_less() {
    let mut bfc = growing(GIB, 20 * MIB);
    bfc.malloc(17 * MIB).unwrap();
    let mut bytes = 32 * MIB;
    while bytes > 20 * MIB {
        bytes = (bytes * 9 / 10).next_multiple_of(256);
    }
    // Single precision holds 24 bits: within a few units of the exact product.
    assert!(bfc.pool_bytes.abs_diff(bytes) <= 512 && bfc.pool_bytes.is_multiple_of(256), "{} {bytes}", bfc.pool_bytes);
    assert!(growing(GIB, 20 * MIB).malloc(21 * MIB).is_err());
}

#[test]
fn a_region_is_clipped_to_what_is_left_of_the_limit() {
    let mut bfc = growing(5 * MIB, 1 << 40);
    sizes(&mut bfc, &[MIB + 1, 2 * MIB + 1]);
    assert_eq!(bfc.regions().map(|region| region.1).collect::<Vec<_>>(), [2 * MIB, 3 * MIB]);
    assert!(matches!(bfc.malloc(4 * MIB), Err(Error::OutOfMemory { pool_bytes: 5_242_880, .. })));
}

#[test]
fn regions_merge_only_on_request() {
    let request = |merges_regions| {
        let mut bfc = Bfc::new(Options { merges_regions, ..Options::growing(7 * MIB) }, Card::new(GIB));
        let blocks = [bfc.malloc(2 * MIB).unwrap(), bfc.malloc(4 * MIB).unwrap()];
        blocks.iter().for_each(|block| bfc.free(block.chunk).unwrap());
        (bfc.malloc(6 * MIB).is_ok(), bfc.regions().count())
    };
    assert_eq!(request(false), (false, 2));
    assert_eq!(request(true), (true, 1));
}

#[test]
fn free_regions_go_back_where_that_is_on() {
    let request = |returns_regions| {
        let mut bfc = Bfc::new(Options { returns_regions, ..Options::growing(7 * MIB) }, Card::new(GIB));
        let blocks = [bfc.malloc(2 * MIB).unwrap(), bfc.malloc(4 * MIB).unwrap()];
        blocks.iter().for_each(|block| bfc.free(block.chunk).unwrap());
        bfc.malloc(6 * MIB).map(|served| served.source)
    };
    assert!(request(false).is_err());
    assert_eq!(request(true), Ok(Source::AfterReturning));
}

/// However requests come: chunks tile their regions, no two free neighbours, sums agree, the smallest chunk was taken.
#[test]
fn chunks_and_counters_agree_after_any_requests() {
    for options in [
        Options::growing(300 * MIB),
        Options::fixed(300 * MIB),
        Options { returns_regions: true, merges_regions: true, ..Options::growing(300 * MIB) },
    ] {
        let mut bfc = Bfc::new(options, Card::new(280 * MIB));
        let mut random = Random::new(11);
        let mut held: Vec<Served> = Vec::new();
        for _ in 0..4000 {
            if held.is_empty() || random.below(100) < 55 {
                let power = 1 << random.below(25);
                held.extend(bfc.malloc(power + random.below(power)));
            } else {
                let idx = random.below(held.len() as u64) as usize;
                bfc.free(held.swap_remove(idx).chunk).unwrap();
            }
            check(&bfc, &held);
        }
    }
}

fn check(bfc: &Bfc<Card>, held: &[Served]) {
    let views = bfc.views();
    let used: u64 = views.iter().filter(|view| !view.is_free).map(|view| view.size).sum();
    assert_eq!((used, held.iter().map(|served| served.size).sum()), (bfc.in_use_bytes, used));
    assert_eq!(views.iter().map(|view| view.size).sum::<u64>(), bfc.pool_bytes);
    assert_eq!(bfc.device.used_bytes, bfc.pool_bytes);
    let mut views = views.into_iter().peekable();
    for (start, bytes) in bfc.regions() {
        let mut at = start;
        let mut was_free = false;
        while at < start + bytes {
            let view = views.next().unwrap();
            assert_eq!(view.address, at);
            assert!(!(was_free && view.is_free), "free neighbours are one chunk");
            was_free = view.is_free;
            at += view.size;
        }
        assert_eq!(at, start + bytes);
    }
    assert!(views.next().is_none());
}
