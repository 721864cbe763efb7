//! Files that are known by their first bytes.

use crate::{Head, Kind, Sniffed};

const MAGIC: &[(&[u8], Kind)] = &[
    (b"\x89PNG\r\n", Kind::Picture),
    (b"\xff\xd8\xff", Kind::Picture),
    (b"GIF8", Kind::Picture),
    (b"\x1f\x8b", Kind::Archive),
    (b"\x28\xb5\x2f\xfd", Kind::Archive),
    (b"7z\xbc\xaf\x27\x1c", Kind::Archive),
    (b"Rar!\x1a\x07", Kind::Archive),
    (b"\xfd7zXZ\x00", Kind::Archive),
    (b"BZh9", Kind::Archive),
    (b"SQLite format 3\x00", Kind::NsysReport),
    (b"version https://git-lfs", Kind::LfsPointer),
];

pub fn sniff(head: Head<'_>) -> Option<Sniffed> {
    if vramlab_trace::file::is_trace(head.bytes) {
        return Some(trace(head));
    }
    let (_, kind) = MAGIC.iter().find(|(magic, _)| head.bytes.starts_with(magic))?;
    Some(Sniffed::plain(*kind))
}

fn trace(head: Head<'_>) -> Sniffed {
    let sniffed = Sniffed::plain(Kind::Trace);
    match head.bytes.get(8..10) {
        Some(version) => {
            sniffed.fact("格式版本", "format version", u16::from_le_bytes([version[0], version[1]]).to_string())
        }
        None => sniffed.warn("文件只剩开头几个字节", "only the first bytes of the file are there"),
    }
}
