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
    assert!(error(&deep).contains("more containers") || error(&deep).contains("a dictionary"), "{}", error(&deep));
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
    assert!(error(&dicts).contains("more containers"), "{}", error(&dicts));
    let none = [b"\x80\x04".to_vec(), vec![b'N'; 32 << 20]].concat();
    assert!(error(&none).contains("more values"), "{}", error(&none));
    let memos = [b"\x80\x04N".to_vec(), vec![0x94; 8 << 20]].concat();
    assert!(error(&memos).contains("remembers more"), "{}", error(&memos));
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
        (b"\x80\x04}(\x8c\x08segments]u.", "device_traces is missing"),
        (b"", "the file ends at byte 0"),
        (b"PK\x03\x04", "opcode 0x50"),
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
