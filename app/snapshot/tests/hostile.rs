//! Files that are damaged, hostile, or something else: an error with its place, at once, and bounded memory.

mod common;

use common::{Forge, many_events};
use std::time::{Duration, Instant};
use vramlab_snapshot::{Action, PickleError, ReadError, Snapshot, read};

const LIMIT: usize = 64 << 20;

fn error(bytes: &[u8]) -> String {
    let start = Instant::now();
    let error = read(bytes, LIMIT).expect_err("this is no snapshot").to_string();
    assert!(start.elapsed() < Duration::from_secs(5), "{error}");
    error
}

/// S1: the classic attack, in both spellings. Nothing is looked up.
#[test]
fn s1_a_class_is_refused_with_its_name_and_place() {
    assert_eq!(
        read(b"cposix\nsystem\n(S'echo hi'\ntR.", LIMIT).unwrap_err(),
        ReadError::Pickle(PickleError::Class { offset: 0, name: "posix.system".to_owned() })
    );
    let mut forge = Forge::new();
    forge.text("builtins");
    forge.text("eval");
    forge.op(&[0x93]);
    let said = error(&forge.bytes);
    assert!(said.contains("builtins.eval") && said.contains("byte 20"), "{said}");
    for (opcode, name) in [(b'R', "REDUCE"), (b'b', "BUILD"), (0x81, "NEWOBJ"), (b'Q', "BINPERSID"), (0x82, "EXT1")] {
        let said = error(&[b'N', b'N', opcode, b'.']);
        assert!(said.contains(&format!("byte 2: opcode 0x{opcode:02x}")), "{name}: {said}");
    }
}

/// S2: every protocol, through opcodes that Python 2.7 to 3.14 write.
#[test]
fn s2_protocols_0_to_5() {
    let ascii = "(dp0\nS'segments'\np1\n(lp2\nsV\\u0064evice_traces\np3\n(lp4\n(lp5\n(dp6\nS'action'\nS'alloc'\nsS'addr'\n\
                 L140000000000000L\nsS'size'\nI512\nsS'stream'\nI0\nsaas.";
    let binary = b"\x80\x02}q\x00(U\x08segmentsq\x01]q\x02X\x0d\x00\x00\x00device_tracesq\x03]q\x04]q\x05}q\x06(U\x06actionU\x05allocU\x04addr\x8a\x06\x00\x40\x3b\x1d\x54\x7fU\x04sizeM\x00\x02U\x06streamK\x00uaau.";
    for bytes in [ascii.as_bytes(), &binary[..]] {
        let snapshot = read(bytes, LIMIT).unwrap();
        assert_eq!((snapshot.traces.len(), snapshot.n_events()), (1, 1));
        let event = snapshot.traces[0][0];
        assert_eq!((event.action, event.size), (Action::Alloc, 512));
    }
    let said = error(&[0x80, 6, b'N', b'.']);
    assert!(said.contains("protocol 6; 0 to 5 are read"), "{said}");
}

/// S3: depth, doubling and lengths that lie.
#[test]
fn s3_small_files_that_want_to_be_large() {
    let deep: Vec<u8> = [b"\x80\x04".to_vec(), vec![b']'; 400_000], vec![b'a'; 399_999], b".".to_vec()].concat();
    assert!(["more containers", "a dictionary", "needs about"].iter().any(|says| error(&deep).contains(says)));
    let mut forge = Forge::new();
    forge.op(b"]\x94");
    for memo in 0..40_u8 {
        // A list of the list before, twice.
        forge.op(&[b']', 0x94, b'(', b'h', memo, b'h', memo, b'e']);
    }
    forge.op(b".");
    assert!(error(&forge.bytes).contains("must be a dictionary"), "{}", error(&forge.bytes));
    for opcode in [0x8d_u8, 0x8e] {
        let lie = [&[0x80, 4, opcode][..], &(1_u64 << 63).to_le_bytes()].concat();
        assert!(error(&lie).contains("the file ends"), "{}", error(&lie));
    }
    assert!(error(b"\x80\x04N\x72\xff\xff\xff\x7f.").contains("memo index beyond"), "LONG_BINPUT of 2^31");
    let dicts = [b"\x80\x04".to_vec(), vec![b'}'; 8 << 20]].concat();
    assert!(error(&dicts).contains("needs about"), "{}", error(&dicts));
    let none = [b"\x80\x04".to_vec(), vec![b'N'; 32 << 20]].concat();
    assert!(error(&none).contains("needs about"), "{}", error(&none));
    let memos = [b"\x80\x04N".to_vec(), vec![0x94; 8 << 20]].concat();
    assert!(error(&memos).contains("needs about"), "{}", error(&memos));
}

/// S3: a small compressed file that unpacks to a very large one.
#[test]
fn s3_a_bomb_stops_at_the_limit() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&vec![b'N'; LIMIT + 1]).unwrap();
    let said = error(&encoder.finish().unwrap());
    assert!(said.contains("unpacks to more than 67108864 bytes"), "{said}");
}

/// S6: older files, actions and fields that came later, addresses with the highest bit.
#[test]
fn s6_older_and_newer_files_are_read_and_what_is_unknown_is_listed() {
    let mut forge = Forge::new();
    forge.op(b"}(");
    forge.text("segments");
    forge.op(b"](}(");
    for (key, value) in [("address", 0xffff_8000_0000_0000), ("total_size", 2_097_152)] {
        forge.text(key);
        forge.int(value);
    }
    forge.text("blocks");
    forge.op(b"](");
    // Without addresses, as torch 2.0 wrote them.
    for (size, state) in [(512, "active_awaiting_free"), (2_096_640, "inactive")] {
        forge.op(b"}(");
        forge.text("size");
        forge.int(size);
        forge.text("state");
        forge.text(state);
        forge.op(b"u");
    }
    forge.op(b"eue");
    forge.text("device_traces");
    forge.op(b"](](}(");
    forge.text("action");
    forge.text("teleport");
    forge.text("colour");
    forge.int(3);
    forge.op(b"uee");
    forge.text("host_memory");
    forge.op(b"N");
    forge.op(b"u.");
    let snapshot = read(&forge.bytes, LIMIT).unwrap();
    let blocks = &snapshot.segments[0].blocks;
    assert_eq!(blocks[1].address, 0xffff_8000_0000_0200, "an address follows from the block before");
    assert!(matches!(snapshot.traces[0][0].action, Action::Other(name) if snapshot.text(name) == "teleport"));
    let unknown: Vec<&str> = snapshot.unknown.keys().map(String::as_str).collect();
    assert_eq!(unknown, ["device_traces[].colour", "host_memory"]);
    assert!(snapshot.warnings.is_empty(), "{:?}", snapshot.warnings);
}

/// S7: frees of blocks from before the recording, and freed twice: counted, and no counter goes below zero.
#[test]
fn s7_frees_without_an_alloc_are_counted() {
    let mut snapshot: Snapshot = read(&many_events(30), LIMIT).unwrap();
    let freed = snapshot.traces[0][1];
    snapshot.traces[0].extend([freed, freed]);
    let got = vramlab_snapshot::replay::replay(&snapshot, 0, &vramlab_alloc::caching::Config::default());
    assert!(got.n_unexplained >= 1, "{got:?}");
    for (name, value) in got.stats.named() {
        assert!(value < 1 << 40, "{name} = {value}");
    }
}

#[test]
fn what_is_missing_or_of_a_wrong_kind_is_named() {
    for (bytes, says) in [
        (&b"\x80\x04N."[..], "the file is None; it must be a dictionary"),
        (b"\x80\x04}.", "segments is missing"),
        (b"\x80\x04}(\x8c\x08segmentsK\x01u.", "segments is an integer; it must be a list"),
        (b"", "the file ends at byte 0"),
        (b"PK\x03\x04\0\0archive/data.pkl", "a checkpoint, not a memory snapshot"),
        (b"PK\x03\x04\0\0xl/workbook.xml", "a zip archive, not a memory snapshot"),
        (b"\x80\x04}(K\x01u.", "a key without a value"),
        (b"\x80\x04u", "there is no mark"),
        (b"\x80\x04h\x05", "never set"),
    ] {
        assert!(error(bytes).contains(says), "{:?}: {}", String::from_utf8_lossy(bytes), error(bytes));
    }
}

/// Cut anywhere, any bit flipped: an answer or an error, never a panic.
#[test]
fn damage_anywhere_is_an_answer_or_an_error() {
    let whole = many_events(400);
    assert!(read(&whole, LIMIT).is_ok());
    for at in (0..whole.len()).step_by(61) {
        let _ = read(&whole[..at], LIMIT);
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        if let Ok(snapshot) = read(&flipped, LIMIT) {
            let _ = vramlab_snapshot::replay::replay(&snapshot, 0, &vramlab_alloc::caching::Config::default());
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_an_error(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read(&bytes, LIMIT);
    }
}

/// A recording with any bit flipped: what can still be read is also analysed, and nothing panics or hangs.
#[test]
fn a_damaged_recording_is_analysed_without_a_panic() {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/files/mlp_adam.pickle");
    let whole = std::fs::read(path).unwrap();
    let start = Instant::now();
    let mut n_read = 0;
    for at in (0..whole.len()).step_by(37) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        let Ok(snapshot) = read(&flipped, LIMIT) else { continue };
        n_read += 1;
        ask_everything(&snapshot);
    }
    assert!(n_read > 100, "{n_read}");
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

fn ask_everything(snapshot: &Snapshot) {
    use vramlab_snapshot::peak::By;
    use vramlab_snapshot::{Analysis, Options, analysis, bands, findings, peak, segments, what_if};
    let asked = Analysis::of(snapshot, 0, &Options::default());
    let top = asked.timeline.peak();
    for by in [By::Site, By::Stack, By::Stream, By::Role] {
        let held = peak::holders(snapshot, &asked, top, by);
        assert!(held.len() <= asked.lives.len());
    }
    let _ = bands::bands(snapshot, &asked, By::Stack, 4);
    let _ = analysis::icicle(snapshot, &asked, top);
    let _ = analysis::cache(snapshot, &asked);
    let _ = findings::findings(snapshot, &asked);
    for at in [0, top, asked.timeline.n_events()] {
        let map = segments::at(snapshot, &asked, at);
        assert!(map.metrics.largest_hole <= map.metrics.inactive);
    }
    let config = vramlab_alloc::caching::Config::parse("expandable_segments:True").unwrap_or_default();
    let _ = what_if::replay_under(snapshot, &asked, &config);
}

/// Sizes and addresses at the ends of what the reader lets through, where sums would overflow.
#[test]
fn extremes_of_every_number_are_survived() {
    use vramlab_snapshot::{Block, BlockState, Event, Segment, StackId};
    for address in [0, 1, 511, 1 << 20, u64::MAX / 2, u64::MAX - (4 << 44)] {
        for size in [0, 1, 511, 1 << 20, 1 << 44] {
            let event = |action| Event { action, stack: StackId(0), stream: 0, address, size, time_us: u64::MAX };
            let block = Block { address, size, requested: size, state: BlockState::Allocated, stack: StackId(0) };
            let segment = Segment {
                device: 0,
                address,
                size,
                stream: 0,
                is_small: false,
                pool: (1, u64::MAX),
                is_expandable: size % 2 == 0,
                stack: StackId(0),
                blocks: vec![block],
            };
            let snapshot = Snapshot {
                segments: vec![segment.clone(), segment],
                traces: vec![vec![
                    event(Action::SegmentAlloc),
                    event(Action::Alloc),
                    event(Action::Alloc),
                    event(Action::FreeRequested),
                    event(Action::Oom),
                    event(Action::SegmentMap),
                    event(Action::SegmentUnmap),
                    event(Action::FreeCompleted),
                    event(Action::SegmentFree),
                ]],
                streams: vec![0],
                texts: vec![String::new()],
                stack_ends: vec![0],
                ..Snapshot::default()
            };
            ask_everything(&snapshot);
        }
    }
}

/// Chapter 18, vector 6: a negative size is an error with its path.
#[test]
fn a_negative_size_is_an_error_with_its_path() {
    let with = |key: &str, value: &[u8]| {
        let mut forge = Forge::new();
        forge.op(b"}(");
        forge.text("segments");
        forge.op(b"]");
        forge.text("device_traces");
        forge.op(b"](](}(");
        forge.text("action");
        forge.text("alloc");
        forge.text(key);
        forge.op(value);
        forge.op(b"ueeu.");
        forge.bytes
    };
    assert!(error(&with("size", b"J\xff\xff\xff\xff")).contains("device_traces[0][0], its size, is negative"));
    assert!(error(&with("addr", b"J\xff\xff\xff\xff")).contains("device_traces[0][0], its address, is at the end"));
    assert_eq!(read(&with("size", b"M\x00\x02"), LIMIT).unwrap().traces[0][0].size, 512);
}
