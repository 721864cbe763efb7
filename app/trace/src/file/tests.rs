//! Cases T1 to T6 of the fault list, on a small file; T7 needs a model and lives with the verdicts.

use super::problem::Damage;
use super::*;
use crate::{Backend, DeviceFacts, OracleOutcome, Point, Telemetry};
use std::collections::BTreeMap;
use vramlab_units::{Lang, Map};

/// A run with `n_points` points of `n_samples` samples that look like times of a GPU.
fn run(n_points: usize, n_samples: usize) -> Run {
    let noise = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f64 / f64::from(1u32 << 24);
    let point = |at: usize| Point {
        series: if at.is_multiple_of(2) { "read".into() } else { "copy".into() },
        params: Map::from_iter([("stride".to_owned(), (at + 1).into()), ("n_words".to_owned(), (1u64 << 30).into())]),
        samples_ns: (0..n_samples).map(|i| 479_232.0 * (at + 1) as f64 * (1.0 + 1e-3 * noise(at * 97 + i))).collect(),
        readings: BTreeMap::from([("cycles".to_owned(), vec![1_056.0, 1_057.0])]),
        counters: BTreeMap::from([("dram__bytes_read.sum".to_owned(), 33_560_000.0)]),
        telemetry: Telemetry { sm_clock_mhz: Some(1980.0), power_w: Some(613.25), ..Telemetry::default() },
        oracle: Some(OracleOutcome::Passed { n_checked: 1 << 20, worst_error: 0.0 }),
        invalid: None,
    };
    Run {
        experiment: "sample/main".into(),
        backend: Backend::Fake,
        date: "2026-11-30".into(),
        device: DeviceFacts {
            name: "Sample".into(),
            driver: "0".into(),
            peak_gb_per_s: Some(4814.3),
            ..DeviceFacts::default()
        },
        content_hash: "sha256:0123456789abcdef".into(),
        program: "0.1.0".into(),
        mode: "full".into(),
        settings: Map::new(),
        counter_rung: "none".into(),
        points: (0..n_points).map(point).collect(),
    }
}

/// Small enough to try every byte, with two blocks of points.
fn small() -> (Run, Vec<u8>) {
    let run = run(POINTS, 2);
    let bytes = write(&run);
    (run, bytes)
}
const POINTS: usize = 18;

#[test]
fn a_run_comes_back_bit_for_bit() {
    let (run, bytes) = small();
    let read = read(&bytes).unwrap();
    assert_eq!((read.problems.len(), read.n_points, read.version), (0, POINTS, 1));
    assert_eq!(read.run, run);
}

#[test]
fn a_run_of_the_course_takes_a_few_kilobytes() {
    let bytes = write(&run(24, 31));
    assert!(bytes.len() < 8_000, "{} bytes", bytes.len());
}

#[test]
fn t1_every_prefix_gives_all_whole_blocks_and_says_where_it_ends() {
    let (run, bytes) = small();
    let mut seen = Vec::new();
    for length in 1..bytes.len() {
        match read(&bytes[..length]) {
            Ok(read) => {
                let n_read = read.run.points.len();
                assert_eq!(read.run.points[..], run.points[..n_read], "{length} bytes");
                assert_eq!(read.problems, [TraceProblem::EndsEarly { n_read, n_points: Some(POINTS) }]);
                seen.push(n_read);
            }
            Err(TraceError::NoDescription { .. }) => assert!(seen.is_empty(), "{length} bytes"),
            Err(other) => panic!("{length} bytes: {other}"),
        }
    }
    seen.dedup();
    assert_eq!(seen, [0, 16, 18]);
    let read = read(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(read.problems[0].to_string(), "recording ends early at point 18 of 18");
}

#[test]
fn t2_every_flipped_byte_is_named_and_costs_one_block() {
    let (run, bytes) = small();
    for at in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            let read = read(&damaged).unwrap_or_else(|error| panic!("byte {at}: {error}"));
            assert!(!read.problems.is_empty(), "byte {at} was not noticed");
            let lost = run.points.len() - read.run.points.len();
            assert!(lost <= 16, "byte {at}: {lost} points lost");
            assert!(read.run.points.iter().all(|point| run.points.contains(point)), "byte {at} changed a point");
        }
    }
    // A byte in the middle of block 1: named, the two points of block 2 stay.
    let at = (START_BYTES..bytes.len()).filter(|at| bytes[*at..].starts_with(b"VLBK")).nth(1).unwrap() + 40;
    let mut damaged = bytes;
    damaged[at] ^= 0x10;
    let read = read(&damaged).unwrap();
    assert_eq!(read.problems, [TraceProblem::BadBlock { number: 1, why: Damage::Checksum }]);
    assert_eq!(read.run.points[..], run.points[16..]);
}

#[test]
fn t3_what_is_no_trace_is_called_what_it_is() {
    let is = |bytes: &[u8], looks: Looks| assert_eq!(read(bytes), Err(TraceError::NotATrace { looks }));
    is(b"", Looks::Empty);
    is(b"\n <!DOCTYPE html><html><body>404 Not Found", Looks::Html);
    is(b"{\"error\": \"not found\"}", Looks::Json);
    is(b"PK\x03\x04\x14\0\0\0", Looks::Zip);
    is(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Looks::Png);
    is(b"version https://git-lfs.github.com/spec/v1\noid sha256:0", Looks::LfsPointer);
    is(b"\x80\x04\x95\x10", Looks::Pickle);
    is("步长，时间\n1,2\n".as_bytes(), Looks::Text);
    is(&[0, 1, 2, 3, 0xFF, 0xFE], Looks::Binary);
    let error = read(b"<html>").unwrap_err();
    assert_eq!(error.to_string(), "this is not a trace; it looks like an HTML page, perhaps a login or error page");
    assert!(error.sentence(Lang::Zh).contains("HTML"));
}

#[test]
fn t4_a_version_from_the_future_says_so_and_the_first_one_opens() {
    let (_, mut bytes) = small();
    bytes[8..10].copy_from_slice(&2u16.to_le_bytes());
    bytes[10..12].copy_from_slice(&(!2u16).to_le_bytes());
    let error = read(&bytes).unwrap_err();
    assert_eq!(error, TraceError::Future { version: 2, ours: 1 });
    assert!(error.to_string().contains("update the program"));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/traces/v1-sample.vltrace");
    let expected = run(3, 5);
    if std::env::var_os("VRAMLAB_WRITE_SAMPLES").is_some() && !std::path::Path::new(path).exists() {
        std::fs::write(path, write(&expected)).unwrap();
    }
    let sample = read(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((sample.version, sample.problems.len()), (1, 0));
    assert_eq!(sample.run, expected);
}

#[test]
fn t5_odd_durations_are_counted_and_left_out() {
    let mut run = run(2, 4);
    run.points[1].samples_ns = vec![10.0, -1.0, 0.0, f64::NAN, f64::INFINITY, 1e18];
    let read = read(&write(&run)).unwrap();
    assert_eq!(read.run.points[1].samples_ns, [10.0, 1e18]);
    run.points[1].counters.insert("broken".into(), f64::NAN);
    run.points[1].readings.insert("odd".into(), vec![f64::NAN, 2.0]);
    let kept = super::read(&write(&run)).unwrap().run;
    assert!(!kept.points[1].counters.contains_key("broken") && kept.points[1].readings["odd"][0].is_nan());
    assert_eq!(read.problems, [TraceProblem::OddSamples { series: "copy".into(), point: 1, n_left_out: 4 }]);
}

/// One block by hand: `declared` bytes of content, whatever `stored` is.
fn block(codec: u8, number: u16, stored: &[u8], declared: u32) -> Vec<u8> {
    let mut out = b"VLBK".to_vec();
    out.extend([2, codec]);
    out.extend(number.to_le_bytes());
    out.extend((stored.len() as u32).to_le_bytes());
    out.extend(declared.to_le_bytes());
    out.extend(crc32fast::hash(stored).to_le_bytes());
    let crc = crc32fast::hash(&out);
    out.extend(crc.to_le_bytes());
    out.extend(stored);
    out
}

#[test]
fn t6_bombs_stop_at_the_cap() {
    let zeros = vec![0u8; 32 << 20];
    let bomb = ruzstd::encoding::compress_to_vec(zeros.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    // A frame header that asks for a window of 2 GiB (exponent 21), then one raw block.
    let wide = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 0x09, 0x00, 0x00, b'x'];
    let (run, small) = small();
    let end = (0..small.len()).rfind(|at| small[*at..].starts_with(b"VLBK")).unwrap();
    let crafted = |blocks: &[Vec<u8>]| [&small[..end], &blocks.concat(), &small[end..]].concat();
    let lie = block(1, 3, &bomb, 1_000);
    let huge = block(1, 3, &bomb, 32 << 20);
    let window = block(1, 3, &wide, 1);
    for bytes in [crafted(&[lie]), crafted(&[huge]), crafted(&[window])] {
        let read = read(&bytes).unwrap();
        assert!(
            read.problems.contains(&TraceProblem::BadBlock { number: 3, why: Damage::Packing }),
            "{:?}",
            read.problems
        );
        assert_eq!(read.run.points, run.points);
    }
    let eight = ruzstd::encoding::compress_to_vec(&zeros[..8 << 20], ruzstd::encoding::CompressionLevel::Fastest);
    let many: Vec<Vec<u8>> = (0..200).map(|i| block(1, 3 + i, &eight, 8 << 20)).collect();
    let read = read(&crafted(&many)).unwrap();
    assert_eq!(read.run.points, run.points);
    // Only 64 MiB are ever unpacked: eight of these blocks, and a moment's work.
    let capped = |problem: &&TraceProblem| matches!(problem, TraceProblem::BadBlock { why: Damage::Packing, .. });
    assert!(read.problems.iter().filter(capped).count() >= 190);
}
