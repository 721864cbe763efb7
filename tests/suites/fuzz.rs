//! Every reader against bytes that nobody wrote: seeded mutations of honest files, for a few seconds each. No panic, no
//! hang. `cargo xtask fuzz 600` takes ten minutes for each reader instead, with another seed each time.
//!
//! What is found is kept as a file whose place the failure names; it becomes a test of its own beside the reader.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use vramlab_alloc::generate::Random;
use vramlab_tests::files;

/// Seconds for each reader; `VRAMLAB_FUZZ_SECS` overrides.
const SECS: f64 = 4.0;
const SEED: u64 = 1;
/// A reader that takes longer over a file of a few kilobytes hangs.
const AT_ONCE: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 16 << 10;
const LIMIT: usize = 16 << 20;

fn from_env<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Files of the repository to begin with: those of a folder with an ending, small ones whole.
fn honest(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let paths = files(folder, ending);
    let read = |path: &String| std::fs::read(root.join(path)).unwrap();
    let mut all: Vec<Vec<u8>> = paths.iter().map(read).filter(|bytes| bytes.len() <= MOST_BYTES).take(12).collect();
    if all.is_empty() {
        all = paths.iter().take(4).map(read).collect();
        all.iter_mut().for_each(|bytes| bytes.truncate(MOST_BYTES));
    }
    assert!(!all.is_empty(), "no *{ending} in {folder}");
    all
}

/// Numbers at the ends of ranges, little-endian.
const ENDS: [u64; 8] = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, 1 << 63, u64::MAX];

/// One change to `bytes`.
fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let mut below = |n: usize| random.below(n.max(1) as u64) as usize;
    let at = below(bytes.len());
    match below(9) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << below(8),
        1 if !bytes.is_empty() => bytes[at] = below(256) as u8,
        2 => bytes.truncate(at),
        3 => bytes.insert(at, below(256) as u8),
        4 => {
            let end = (at + 1 + below(16)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        5 => {
            let piece = bytes[at..(at + 1 + below(64)).min(bytes.len()).max(at)].to_vec();
            let to = below(bytes.len() + 1);
            for _ in 0..=below(4) {
                bytes.splice(to..to, piece.iter().copied());
            }
        }
        6 => {
            let number = ENDS[below(ENDS.len())].to_le_bytes();
            let n = [1, 2, 4, 8][below(4)].min(bytes.len() - at.min(bytes.len()));
            bytes[at..at + n].copy_from_slice(&number[..n]);
        }
        7 => {
            let other = &others[below(others.len())];
            let from = below(other.len());
            let piece = &other[from..(from + 1 + below(256)).min(other.len()).max(from)];
            bytes.splice(at..at, piece.iter().copied());
        }
        _ => {
            let (a, b) = (below(bytes.len()), below(bytes.len()));
            if !bytes.is_empty() {
                bytes.swap(a, b);
            }
        }
    }
    bytes.truncate(MOST_BYTES * 2);
}

/// Reads mutated files until the time is over.
#[expect(clippy::print_stdout, reason = "how many files were read is worth seeing")]
fn fuzz(name: &str, seeds: &[Vec<u8>], read: impl Fn(&[u8])) {
    let secs = from_env("VRAMLAB_FUZZ_SECS", SECS);
    let seed = from_env("VRAMLAB_FUZZ_SEED", SEED);
    let mut random = Random::new(seed);
    let start = Instant::now();
    let mut n = 0_u64;
    while start.elapsed().as_secs_f64() < secs {
        let mut bytes = seeds[random.below(seeds.len() as u64) as usize].clone();
        // Every eighth is as it was, so that a seed that fails is found too.
        for _ in 0..random.below(8) {
            change(&mut bytes, seeds, &mut random);
        }
        let began = Instant::now();
        let is_calm = catch_unwind(AssertUnwindSafe(|| read(&bytes))).is_ok();
        if !is_calm || began.elapsed() > AT_ONCE {
            let path = std::env::temp_dir().join(format!("vramlab-fuzz-{name}-{seed}-{n}.bin"));
            std::fs::write(&path, &bytes).unwrap();
            let what = if is_calm { "takes too long" } else { "panics" };
            panic!("{name} {what} on file {n} of seed {seed}, kept as {}", path.display());
        }
        n += 1;
    }
    println!("{name}: {n} files, seed {seed}");
    assert!(n > 20, "{name}: only {n} files in {secs} s");
}

fn unpacked(folder: &str) -> Vec<Vec<u8>> {
    let packed = honest(folder, ".pickle.gz");
    packed.iter().filter_map(|bytes| vramlab_snapshot::unpacked_head(bytes, MOST_BYTES)).collect()
}

#[test]
fn pickles() {
    fuzz("pickle", &unpacked("tests/data/snapshots"), |bytes| {
        let _ = vramlab_snapshot::pickle::Machine::new(bytes).run(LIMIT, &mut |_| true);
    });
}

#[test]
fn snapshots() {
    // Whole ones, so that what is read is also asked.
    let small = honest("tests/data/snapshots", ".pickle.gz");
    let whole: Vec<Vec<u8>> = small
        .iter()
        .filter_map(|bytes| vramlab_snapshot::unpacked_head(bytes, 64 << 10))
        .filter(|bytes| bytes.len() < 48 << 10)
        .collect();
    assert!(!whole.is_empty());
    fuzz("snapshot", &whole, |bytes| {
        let _ = vramlab_snapshot::count(bytes, LIMIT);
        if let Ok(mut snapshot) = vramlab_snapshot::read(bytes, LIMIT) {
            let options = vramlab_snapshot::Options::default();
            let analysis = vramlab_snapshot::Analysis::of(&snapshot, 0, &options);
            let n = analysis.timeline.n_events();
            let _ = vramlab_snapshot::findings::findings(&snapshot, &analysis);
            let _ = vramlab_snapshot::segments::at(&snapshot, &analysis, n / 2);
            snapshot.keep(&vramlab_snapshot::Range { device: None, from: n / 4, until: n / 2 });
            let _ = vramlab_snapshot::Analysis::of(&snapshot, 0, &options);
        }
    });
}

#[test]
fn compressed_files() {
    let mut seeds = honest("tests/data/snapshots", ".pickle.gz");
    let plain = vramlab_snapshot::unpacked_head(&seeds[0], 4096).unwrap();
    seeds.push(ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest));
    fuzz("compressed", &seeds, |bytes| {
        let _ = vramlab_snapshot::unpacked_head(bytes, MOST_BYTES);
        let _ = vramlab_snapshot::read(bytes, 1 << 20);
    });
}

#[test]
fn traces_of_allocations() {
    let seeds: Vec<Vec<u8>> = [
        "a:9M b:700K@1 -a c:4G@2 b>2 1<0 -b@1 sync empty -c@2",
        "capture:1@0 a:1M -a end@0 destroy:1 b:20M",
        "a:1048577,b:10M;c:19.5M\n-b d:512 -a -c -d",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    let config = vramlab_alloc::caching::Config::default();
    let kind = vramlab_alloc::replay::Kind::Caching(config);
    fuzz("alloc trace", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(trace) = vramlab_alloc::trace::Trace::parse(&text) {
            let again = vramlab_alloc::trace::Trace::parse(&trace.to_text()).expect("what was written is read");
            assert_eq!(again.events().len(), trace.events().len());
            let _ = vramlab_alloc::replay::run(&trace, &kind, 1 << 36);
        }
    });
}

#[test]
fn summaries_and_counters() {
    let mut seeds = honest("tests/data/files", ".txt");
    seeds.push(br#"{"allocated_bytes.all.current": 877854720, "num_ooms": 0}"#.to_vec());
    fuzz("summary", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if vramlab_snapshot::summary::is_text(&text) {
            let _ = vramlab_snapshot::summary::read_text(&text);
        }
        let _ = vramlab_snapshot::summary::read_stats(&text);
    });
}

#[test]
fn logs_and_streams_of_serving_engines() {
    use vramlab_serve::schedule::{Detail, Settings, continuous};
    let mut seeds = honest("tests/data/serving", ".log");
    seeds.extend(honest("tests/data/serving", ".csv"));
    seeds.push(b"0:100:50 0:4:6:-1\n# a comment\n3 7 9".to_vec());
    fuzz("serving", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(log) = vramlab_serve::log::read(&text) {
            let _ = vramlab_serve::log::explain(&log);
        }
        if let Ok(mut requests) = vramlab_serve::request::read(&text) {
            requests.truncate(64);
            requests.iter_mut().for_each(|one| one.output = one.output.min(256));
            let _ = continuous(&requests, &Settings::new(8, 512, 16, 256), Detail::Events);
        }
    });
}

#[test]
fn lessons() {
    let seeds = honest("lessons", "chapter.toml");
    fuzz("lesson", &seeds, |bytes| {
        let _ = vramlab_lesson::parse::parse("01_x", "chapter.toml", bytes);
    });
}

#[test]
fn trace_files() {
    fuzz("trace", &honest("tests/data/traces", ".vltrace"), |bytes| {
        let _ = vramlab_trace::file::read(bytes);
    });
}

#[test]
fn whatever_is_dropped() {
    let mut seeds = honest("tests/data/files", ".txt");
    seeds.extend(honest("tests/data/snapshots", ".json"));
    seeds.extend(unpacked("tests/data/snapshots").into_iter().take(2));
    seeds.push(b"PK\x03\x04archive/data.pkl".to_vec());
    seeds.push(b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0".to_vec());
    seeds.push(b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}".to_vec());
    fuzz("sniff", &seeds, |bytes| {
        let _ = vramlab_sniff::sniff(vramlab_sniff::Head::whole(bytes));
        let head = vramlab_sniff::Head { bytes: &bytes[..bytes.len() / 2], n_bytes: u64::MAX };
        let _ = vramlab_sniff::sniff(head);
    });
}
