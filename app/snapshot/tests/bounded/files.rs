//! The files, made here: nothing hostile lies in the repository.

use super::common::Forge;
use std::io::Write as _;

pub enum Expect {
    /// An error that says this.
    Error(&'static str),
    Opens,
}

pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
    pub expect: Expect,
}

#[derive(Default)]
struct Shelf(Vec<File>);

impl Shelf {
    fn error(&mut self, name: impl Into<String>, bytes: Vec<u8>, says: &'static str) {
        self.0.push(File { name: name.into(), bytes, expect: Expect::Error(says) });
    }

    fn opens(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.0.push(File { name: name.into(), bytes, expect: Expect::Opens });
    }
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Keys with values that are written by `write`.
fn dict(forge: &mut Forge, fields: &[(&str, &[u8])]) {
    forge.op(b"}(");
    for (key, value) in fields {
        forge.text(key);
        forge.op(value);
    }
    forge.op(b"u");
}

fn long(value: u64) -> Vec<u8> {
    let mut forge = Forge::new();
    forge.int(value);
    forge.bytes[2..].to_vec()
}

fn text(word: &str) -> Vec<u8> {
    [&[0x8c, word.len() as u8], word.as_bytes()].concat()
}

/// One segment with one block, one event.
pub fn snapshot(segment: &[(&str, &[u8])], block: &[(&str, &[u8])], event: &[(&str, &[u8])]) -> Vec<u8> {
    let mut forge = Forge::new();
    forge.op(b"}(");
    forge.text("segments");
    forge.op(b"](}(");
    for (key, value) in segment {
        forge.text(key);
        forge.op(value);
    }
    if !block.is_empty() {
        forge.text("blocks");
        forge.op(b"](");
        dict(&mut forge, block);
        forge.op(b"e");
    }
    forge.op(b"ue");
    forge.text("device_traces");
    forge.op(b"](](");
    dict(&mut forge, event);
    forge.op(b"eeu.");
    forge.bytes
}

const SEGMENT: &[(&str, &[u8])] = &[("address", b"J\x00\x00\x00\x10"), ("total_size", b"J\x00\x00\x20\x00")];

fn block() -> Vec<(&'static str, Vec<u8>)> {
    vec![("size", b"J\x00\x00\x20\x00".to_vec()), ("state", text("inactive"))]
}

fn event(action: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("action", text(action)),
        ("addr", b"J\x00\x00\x00\x10".to_vec()),
        ("size", b"M\x00\x02".to_vec()),
        ("stream", b"K\x00".to_vec()),
    ]
}

fn with(block: &[(&'static str, Vec<u8>)], event: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let block: Vec<(&str, &[u8])> = block.iter().map(|(key, value)| (*key, value.as_slice())).collect();
    let event: Vec<(&str, &[u8])> = event.iter().map(|(key, value)| (*key, value.as_slice())).collect();
    snapshot(SEGMENT, &block, &event)
}

/// Small valid files.
pub fn small() -> Vec<(&'static str, Vec<u8>)> {
    let plain = with(&block(), &event("alloc"));
    let ascii = "(dp0\nS'segments'\np1\n(lp2\nsV\\u0064evice_traces\np3\n(lp4\n(lp5\n(dp6\nS'action'\nS'alloc'\nsS'addr'\n\
                 L140000000000000L\nsS'size'\nI512\nsS'stream'\nI0\nsaas.";
    let packed = gz(&plain);
    let squeezed = zst(&plain);
    vec![("protocol 4", plain), ("protocol 0", ascii.as_bytes().to_vec()), ("gzip", packed), ("zstd", squeezed)]
}

pub fn all() -> Vec<File> {
    let mut shelf = Shelf::default();
    cut_and_flipped(&mut shelf);
    deep_and_long(&mut shelf);
    code(&mut shelf);
    something_else(&mut shelf);
    bombs(&mut shelf);
    again_and_again(&mut shelf);
    numbers(&mut shelf);
    missing(&mut shelf);
    shelf.0
}

fn cut_and_flipped(shelf: &mut Shelf) {
    let whole = super::common::many_events(300);
    for n in [0, 1, 2, whole.len() / 3, whole.len() - 1] {
        shelf.error(format!("cut after {n} bytes"), whole[..n].to_vec(), "the file ends at byte");
    }
    let packed = gz(&whole);
    shelf.error("gzip, cut", packed[..packed.len() / 2].to_vec(), "the gzip stream is damaged");
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 0x40;
    shelf.error("gzip, a flipped bit", flipped, "the gzip stream is damaged");
    let squeezed = zst(&whole);
    shelf.error("zstd, cut", squeezed[..squeezed.len() / 2].to_vec(), "the zstd stream is damaged");
    shelf.error("zstd, no frame", vec![0x28, 0xb5, 0x2f, 0xfd], "the zstd stream is damaged");
    shelf.error("gzip in gzip", gz(&packed), "opcode 0x1f");
    shelf.error("four letters too early", [b"abcd".to_vec(), whole.clone()].concat(), "byte 0");
    shelf.opens("something after the end", [whole, b"and more".to_vec()].concat());
}

fn deep_and_long(shelf: &mut Shelf) {
    let deep: Vec<u8> = [b"\x80\x04".to_vec(), vec![b']'; 400_000], vec![b'a'; 399_999], b".".to_vec()].concat();
    shelf.error("400 kB of nested lists", deep, "more containers");
    let tuples = [b"\x80\x04)".to_vec(), vec![0x85; 400_000], b".".to_vec()].concat();
    shelf.error("400 kB of nested tuples", tuples, "more containers");
    let marks = [b"\x80\x04".to_vec(), vec![b'('; 16 << 20]].concat();
    shelf.error("16 MB of marks", marks, "needs about");
    let mut forge = Forge::new();
    forge.op(b"]\x94");
    for memo in 0..40_u8 {
        forge.op(&[b']', 0x94, b'(', b'h', memo, b'h', memo, b'e']);
    }
    forge.op(b".");
    shelf.error("a list of the list before, twice, 40 deep", forge.bytes, "must be a dictionary");
    for (opcode, name) in [(0x8d_u8, "text"), (0x8e, "bytes"), (0x96, "byte array")] {
        let lie = [&[0x80, 5, opcode][..], &(1_u64 << 63).to_le_bytes()].concat();
        shelf.error(format!("a {name} of 2^63"), lie, "the file ends");
    }
    for (opcode, name) in [(b'X', "text"), (b'T', "string"), (b'B', "bytes"), (0x8b, "integer")] {
        let lie = [&[0x80, 4, opcode][..], &u32::MAX.to_le_bytes()].concat();
        shelf.error(format!("a {name} of 2^32"), lie, "the file ends");
    }
    shelf.error("a memo index of 2^31", b"\x80\x04Nr\xff\xff\xff\x7f.".to_vec(), "memo index beyond");
    shelf.error("a memo index that is no number", b"(dp9999999999999999999999\n.".to_vec(), "no number");
    let ones = [b"\x80\x04".to_vec(), vec![b'N'; 32 << 20]].concat();
    shelf.error("32 MB of None", ones, "needs about");
    shelf.error(
        "an integer of a million digits",
        [b"I".to_vec(), vec![b'9'; 1 << 20], b"\n.".to_vec()].concat(),
        "no number",
    );
}

/// S1: everything that could look something up or call it, in every protocol.
fn code(shelf: &mut Shelf) {
    for protocol in 0..=5 {
        let bytes = [&[0x80, protocol][..], b"cposix\nsystem\n(S'echo hi'\ntR."].concat();
        shelf.error(format!("posix.system, protocol {protocol}"), bytes, "the class posix.system");
    }
    shelf.error("INST", b"(S'echo hi'\nios\nsystem\n.".to_vec(), "the class os.system");
    let mut forge = Forge::new();
    forge.text("builtins");
    forge.text("eval");
    forge.op(b"\x93.");
    shelf.error("STACK_GLOBAL", forge.bytes, "the class builtins.eval");
    for (opcode, name) in [
        (b'R', "REDUCE"),
        (b'o', "OBJ"),
        (b'b', "BUILD"),
        (0x81, "NEWOBJ"),
        (0x92, "NEWOBJ_EX"),
        (b'P', "PERSID"),
        (b'Q', "BINPERSID"),
        (0x82, "EXT1"),
        (0x83, "EXT2"),
        (0x84, "EXT4"),
        (0x97, "NEXT_BUFFER"),
        (0x98, "READONLY_BUFFER"),
    ] {
        shelf.error(name, vec![b'N', b'N', opcode, b'0', b'\n', b'.'], "is not one of plain data");
    }
}

/// S5: what people have at hand instead.
fn something_else(shelf: &mut Shelf) {
    shelf.error("a .pt zip", b"PK\x03\x04\x00\x00archive/data.pkl".to_vec(), "a checkpoint, not a memory snapshot");
    let sklearn = b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x10sklearn.ensemble\x94\x8c\x16RandomForestClassifier\x94\x93\x94)\x81\x94.";
    shelf.error("a model of scikit-learn", sklearn.to_vec(), "the class sklearn.ensemble.RandomForestClassifier");
    let legacy = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.";
    shelf.error("an old checkpoint", legacy.to_vec(), "must be a dictionary");
    shelf.error(
        "weights by name",
        b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01.".to_vec(),
        "collections.OrderedDict",
    );
    shelf.error("a page", b"<!DOCTYPE html><html></html>".to_vec(), "opcode 0x3c");
    shelf.error("JSON", br#"{"segments": []}"#.to_vec(), "opcode");
    shelf.error("a pointer of LFS", b"version https://git-lfs.github.com/spec/v1\n".to_vec(), "opcode");
    shelf.error("a number", b"\x80\x04K\x01.".to_vec(), "the file is an integer");
    shelf.error("a list of numbers", b"\x80\x04](K\x01K\x02e.".to_vec(), "the file is a list");
}

fn bombs(shelf: &mut Shelf) {
    let zeros = vec![b'N'; (64 << 20) + 1];
    shelf.error("a gzip bomb", gz(&zeros), "unpacks to more than");
    shelf.error("a zstd bomb", zst(&zeros), "unpacks to more than");
}

/// Small files that refer to one large thing from everywhere.
fn again_and_again(shelf: &mut Shelf) {
    let mut forge = Forge::new();
    forge.op(b"](");
    let mut blocks = Forge::new();
    dict(&mut blocks, &[("size", b"M\x00\x02"), ("state", &text("inactive"))]);
    forge.op(&blocks.bytes[2..]);
    // Memo 0 and 1 are the keys, the block is remembered as the next.
    forge.op(b"\x94");
    forge.op(&[b'h', 2].repeat(100_000));
    forge.op(b"e\x940}\x94(");
    for (key, value) in SEGMENT {
        forge.op(&text(key));
        forge.op(value);
    }
    forge.op(&text("blocks"));
    forge.op(b"h\x03u0}(");
    forge.op(&text("segments"));
    forge.op(b"](");
    forge.op(&[b'h', 4].repeat(100_000));
    forge.op(b"e");
    forge.op(&text("device_traces"));
    forge.op(b"]u.");
    shelf.error("100,000 times a segment of 100,000 blocks", forge.bytes, "again and again");

    let many = super::common::many_events(30_000);
    // The list of the only device, remembered and repeated.
    let inner = many[2..many.len() - 3].to_vec();
    let mut forge = Forge::new();
    forge.op(&inner);
    forge.op(b"r\xff\xff\x00\x00(");
    forge.op(&[b'j', 0xff, 0xff, 0, 0].repeat(50_000));
    forge.op(b"eu.");
    shelf.error("one device's list 50,000 times", forge.bytes, "");

    let name = "x".repeat(4_000_000);
    let mut forge = Forge::new();
    forge.op(b"X");
    forge.op(&(name.len() as u32).to_le_bytes());
    forge.op(name.as_bytes());
    forge.op(b"\x940}\x94(");
    forge.op(&text("name"));
    forge.op(b"h\x00u0}(");
    forge.op(&text("segments"));
    forge.op(b"]");
    forge.op(&text("device_traces"));
    forge.op(b"]");
    forge.op(&text("external_annotations"));
    forge.op(b"](");
    forge.op(&[b'h', 1].repeat(200_000));
    forge.op(b"eu.");
    shelf.error("200,000 annotations with a name of 4 MB", forge.bytes, "again and again");
}

fn numbers(shelf: &mut Shelf) {
    let replaced = |fields: &[(&'static str, Vec<u8>)], key: &str, value: Vec<u8>| {
        fields
            .iter()
            .map(|(name, old)| (*name, if *name == key { value.clone() } else { old.clone() }))
            .collect::<Vec<_>>()
    };
    let minus = b"J\xff\xff\xff\xff".to_vec();
    shelf.error(
        "a negative size of an event",
        with(&block(), &replaced(&event("alloc"), "size", minus.clone())),
        "its size, is negative",
    );
    shelf.error(
        "a negative address",
        with(&block(), &replaced(&event("alloc"), "addr", minus.clone())),
        "its address, is at the end",
    );
    shelf.error(
        "a block of a negative size",
        with(&replaced(&block(), "size", minus), &event("alloc")),
        "its size, is negative",
    );
    shelf.error(
        "a size of 2^63",
        with(&block(), &replaced(&event("alloc"), "size", long(1 << 63))),
        "its size, is negative",
    );
    shelf
        .opens("an address over 2^63", with(&block(), &replaced(&event("alloc"), "addr", long(0xffff_8000_0000_0000))));
    shelf.opens("a size that is a text", with(&block(), &replaced(&event("alloc"), "size", text("much"))));
    shelf.opens(
        "a stream of 2^64 - 1",
        with(&block(), &replaced(&event("alloc"), "stream", b"J\xff\xff\xff\xff".to_vec())),
    );
    shelf.opens("an unknown action", with(&block(), &event("teleport")));
    shelf.opens("a refusal that asked for 2^62", with(&block(), &replaced(&event("oom"), "size", long(1 << 62))));
    shelf.opens("a free of nothing, twice", with(&block(), &event("free_completed")));
    shelf.error(
        "a block in an unknown state",
        with(&replaced(&block(), "state", text("asleep")), &event("alloc")),
        "a block in an unknown state",
    );
}

fn missing(shelf: &mut Shelf) {
    let bare: &[(&str, &[u8])] = &[("size", b"M\x00\x02"), ("state", b"\x8c\x08inactive")];
    let event: &[(&str, &[u8])] = &[("action", b"\x8c\x05alloc")];
    shelf.error("a segment without an address", snapshot(&SEGMENT[1..], bare, event), "address is missing");
    shelf.error("a segment without a size", snapshot(&SEGMENT[..1], bare, event), "total_size is missing");
    shelf.error("a segment without blocks", snapshot(SEGMENT, &[], event), "blocks is missing");
    shelf.error("a block without a size", snapshot(SEGMENT, &bare[1..], event), "size is missing");
    shelf.opens("an event with only its action", snapshot(SEGMENT, bare, event));
    shelf.error("no segments", b"\x80\x04}.".to_vec(), "segments is missing");
    shelf.error("segments that are a number", b"\x80\x04}(\x8c\x08segmentsK\x01u.".to_vec(), "segments is an integer");
    shelf.opens("no history", b"\x80\x04}(\x8c\x08segments]u.".to_vec());
    let no_events = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces](](K\x01eeu.";
    shelf.error("an event that is a number", no_events.to_vec(), "device_traces[0][0] is an integer");
    shelf.opens("a dictionary that holds itself", b"\x80\x04}\x94(\x8c\x08segments]\x8c\x04selfh\x00u.".to_vec());
    shelf.error(
        "a list of segments that holds itself",
        b"\x80\x04}(\x8c\x08segments]\x94(h\x00eu.".to_vec(),
        "segments[0] is a list",
    );
}
