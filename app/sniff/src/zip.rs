//! Zip archives by their listing; nothing is unpacked. The central directory stands at the end; where only the beginning
//! is here, the headers of the first entries are read.

use crate::kind::shown;
use crate::{Fact, Head, Kind, Sniffed};
use vramlab_units::{Localized, Text};

/// One entry of an archive.
struct Entry {
    name: String,
    packed: u64,
    unpacked: u64,
}

/// Entries that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// Unpacked over packed bytes from which an archive is called suspicious.
const RATIO: u64 = 1_000;
/// Unpacked bytes that a lesson pack may have.
const PACK_BYTES: u64 = 64 << 20;

pub fn sniff(head: Head<'_>) -> Option<Sniffed> {
    let bytes = head.bytes;
    if !(bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")) {
        return None;
    }
    let entries = if head.is_whole() { directory(bytes) } else { None };
    let is_listed = entries.is_some();
    let entries = entries.unwrap_or_else(|| local(bytes));
    let kind = kind(&entries, is_listed);
    let mut sniffed = Sniffed::plain(kind);
    if is_listed {
        sniffed = sniffed.fact("文件数", "files", entries.len().to_string());
    }
    if kind == Kind::OtherZip
        && let Some(value) = holds(&entries)
    {
        sniffed.facts.push(Fact { name: Text::new("内容", "holds"), value });
    }
    if let Some(first) = entries.first() {
        sniffed = sniffed.fact("第一个", "first", shown(&first.name));
    }
    Some(warn(sniffed, &entries, head.is_whole() && !is_listed))
}

fn kind(entries: &[Entry], is_listed: bool) -> Kind {
    let has = |test: &dyn Fn(&str) -> bool| entries.iter().any(|entry| test(&entry.name));
    let is_top_toml = |name: &str| name.ends_with(".toml") && !name.contains('/');
    if has(&|name| name == "chapter.toml" || name.ends_with("/chapter.toml") || is_top_toml(name)) {
        Kind::Pack
    } else if has(&|name| name == "data.pkl" || name.ends_with("/data.pkl")) {
        Kind::Checkpoint
    } else if is_listed || holds(entries).is_some() {
        Kind::OtherZip
    } else {
        // Cut off or damaged: the reader of packs says what is wrong with it.
        Kind::Pack
    }
}

/// What an archive is that is none of ours, where its names tell.
fn holds(entries: &[Entry]) -> Option<Localized> {
    let has = |test: &dyn Fn(&str) -> bool| entries.iter().map(|entry| entry.name.as_str()).any(test);
    let find = |ends: &[&str]| entries.iter().find(|entry| ends.iter().any(|end| entry.name.ends_with(end)));
    let begins = |head: &'static str| move |name: &str| name.starts_with(head);
    if let Some(inside) = find(&[".pickle", ".pkl", ".pickle.gz", ".pickle.zst"]) {
        let name = shown(&inside.name);
        return Some(Localized::both(format!("{name}，解开后打开它"), format!("{name}: unpack it and open that")));
    }
    if let Some(inside) = find(&[".safetensors", ".gguf", ".bin", ".pt"]) {
        let name = shown(&inside.name);
        return Some(Localized::both(format!("权重 {name}"), format!("weights, {name}")));
    }
    let files = entries.iter().filter(|entry| !entry.name.ends_with('/'));
    let text = if !entries.is_empty() && files.clone().all(|entry| entry.name.ends_with(".npy")) {
        Text::new("NumPy 数组（.npz）", "NumPy arrays (.npz)")
    } else if has(&begins("word/")) {
        Text::new("Word 文档", "a Word document")
    } else if has(&begins("xl/")) {
        Text::new("Excel 工作簿", "an Excel workbook")
    } else if has(&begins("ppt/")) {
        Text::new("PowerPoint 演示文稿", "a PowerPoint presentation")
    } else if has(&|name| name.contains(".dist-info/")) {
        Text::new("Python 的安装包（wheel）", "a Python package (wheel)")
    } else if has(&begins("META-INF/")) {
        Text::new("Java 程序包，或 EPUB", "a Java archive or an EPUB")
    } else {
        return None;
    };
    Some(text.into())
}

fn warn(sniffed: Sniffed, entries: &[Entry], is_cut: bool) -> Sniffed {
    let is_pack = sniffed.kind == Kind::Pack;
    let bomb = entries.iter().find(|entry| entry.unpacked / entry.packed.max(1) > RATIO);
    let total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.unpacked));
    if let Some(bomb) = bomb {
        let (name, ratio) = (shown(&bomb.name), bomb.unpacked / bomb.packed.max(1));
        let zh = format!("“{name}”解开后是压缩大小的 {ratio} 倍，不会解开");
        return sniffed.warn(zh, format!("\"{name}\" unpacks to {ratio} times its size and will not be unpacked"));
    }
    if is_pack && total > PACK_BYTES {
        let (mib, limit) = (total >> 20, PACK_BYTES >> 20);
        let zh = format!("解开后有 {mib} MiB，课程包最多 {limit} MiB");
        return sniffed.warn(zh, format!("it unpacks to {mib} MiB; a pack may have {limit}"));
    }
    if is_cut {
        return sniffed.warn("压缩包不完整：末尾没有目录", "the archive is cut off: there is no directory at its end");
    }
    sniffed
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u64> {
    let slice = bytes.get(at..at.checked_add(2)?)?;
    Some(u64::from(u16::from_le_bytes([slice[0], slice[1]])))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u16_at(bytes, at)? | (u16_at(bytes, at.checked_add(2)?)? << 16))
}

/// The listing at the end. A comment of up to 65,535 bytes may follow its last record.
fn directory(bytes: &[u8]) -> Option<Vec<Entry>> {
    let tail = bytes.len().saturating_sub(22 + 65_535);
    let end = (tail..bytes.len().saturating_sub(21)).rev().find(|at| bytes[*at..].starts_with(b"PK\x05\x06"))?;
    let n = usize::try_from(u16_at(bytes, end + 10)?).ok()?.min(MAX_ENTRIES);
    let mut at = usize::try_from(u32_at(bytes, end + 16)?).ok()?;
    let mut entries = Vec::new();
    for _ in 0..n {
        if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
            return None;
        }
        let (name_len, extra, comment) = (u16_at(bytes, at + 28)?, u16_at(bytes, at + 30)?, u16_at(bytes, at + 32)?);
        entries.push(Entry {
            name: name(bytes, at + 46, name_len)?,
            packed: u32_at(bytes, at + 20)?,
            unpacked: u32_at(bytes, at + 24)?,
        });
        at = at.checked_add(usize::try_from(46 + name_len + extra + comment).ok()?)?;
    }
    Some(entries)
}

fn name(bytes: &[u8], at: usize, len: u64) -> Option<String> {
    let end = at.checked_add(usize::try_from(len).ok()?)?;
    Some(String::from_utf8_lossy(bytes.get(at..end)?).into_owned())
}

/// The first entries by their own headers, as far as each says how long it is.
fn local(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while entries.len() < MAX_ENTRIES
        && let Some((entry, next)) = local_at(bytes, at)
    {
        entries.push(entry);
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    entries
}

fn local_at(bytes: &[u8], at: usize) -> Option<(Entry, Option<usize>)> {
    if !bytes.get(at..)?.starts_with(b"PK\x03\x04") {
        return None;
    }
    let (flags, packed, unpacked) = (u16_at(bytes, at + 6)?, u32_at(bytes, at + 18)?, u32_at(bytes, at + 22)?);
    let (name_len, extra) = (u16_at(bytes, at + 26)?, u16_at(bytes, at + 28)?);
    let entry = Entry { name: name(bytes, at + 30, name_len)?, packed, unpacked };
    // Bit 3: the sizes stand behind the data, so nothing here says where the next entry begins.
    let next =
        (flags & 8 == 0).then(|| at.checked_add(usize::try_from(30 + name_len + extra + packed).ok()?)).flatten();
    Some((entry, next))
}
