//! Headers of weight files: safetensors and GGUF. Every count in a header is held against the bytes that are there before
//! it is used; the weights themselves are never read.

use crate::kind::size;
use crate::{Head, Kind, Sniffed};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Largest header of a safetensors file, as its format defines it.
const MAX_HEADER: u64 = 100_000_000;

pub fn sniff(head: Head<'_>) -> Option<Sniffed> {
    if head.bytes.starts_with(b"GGUF") { Some(gguf(head)) } else { safetensors(head) }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn gguf(head: Head<'_>) -> Sniffed {
    let bytes = head.bytes;
    let sniffed = Sniffed::plain(Kind::Gguf);
    let version = bytes.get(4..8).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (Some(version), Some(n_tensors), Some(n_keys)) = (version, u64_at(bytes, 8), u64_at(bytes, 16)) else {
        return sniffed.warn("文件头不完整", "the header is cut off");
    };
    let sniffed = sniffed.fact("GGUF 版本", "GGUF version", version.to_string());
    // A tensor takes at least 24 bytes of header (name length, dimensions, type, offset), a key at least 13.
    if n_tensors > head.n_bytes / 24 || n_keys > head.n_bytes / 13 {
        let zh = format!("文件头说有 {n_tensors} 个张量、{n_keys} 个键，文件却没有那么大");
        return sniffed.warn(
            zh,
            format!("the header claims {n_tensors} tensors and {n_keys} keys; the file is too small for that"),
        );
    }
    let sniffed = sniffed.fact("张量数", "tensors", n_tensors.to_string());
    sniffed.fact("大小", "size", size(head.n_bytes))
}

/// Eight bytes of length, then JSON. The length is not trusted: it must fit into the file.
fn safetensors(head: Head<'_>) -> Option<Sniffed> {
    let bytes = head.bytes;
    let len = u64_at(bytes, 0)?;
    if bytes.get(8) != Some(&b'{') {
        return None;
    }
    let sniffed = Sniffed::plain(Kind::Safetensors);
    if len > MAX_HEADER || len > head.n_bytes.saturating_sub(8) {
        let zh = format!("文件头说自己有 {len} 字节，文件里没有那么多");
        return Some(sniffed.warn(zh, format!("the header says that it has {len} bytes; the file has not")));
    }
    let end = usize::try_from(len + 8).ok()?;
    let Some(header) = bytes.get(8..end) else {
        return Some(sniffed.fact("文件头", "header", size(len)));
    };
    match serde_json::from_slice::<Map<String, Value>>(header) {
        Ok(map) => Some(of_header(sniffed, &map, head.n_bytes - 8 - len)),
        Err(error) => {
            let (zh, en) = (format!("文件头不是 JSON：{error}"), format!("the header is no JSON: {error}"));
            Some(sniffed.warn(zh, en))
        }
    }
}

fn of_header(sniffed: Sniffed, map: &Map<String, Value>, n_data: u64) -> Sniffed {
    let tensors = map.iter().filter(|(key, _)| *key != "__metadata__");
    let mut dtypes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut n_tensors = 0;
    let mut is_beyond = false;
    for (_, tensor) in tensors {
        n_tensors += 1;
        let offsets = tensor.get("data_offsets").and_then(Value::as_array);
        let at = |idx: usize| offsets.and_then(|pair| pair.get(idx)?.as_u64()).unwrap_or(0);
        let (from, to) = (at(0), at(1));
        is_beyond |= to > n_data || from > to;
        let dtype = tensor.get("dtype").and_then(Value::as_str).unwrap_or("?");
        let sum = dtypes.entry(dtype).or_default();
        *sum = sum.saturating_add(to.saturating_sub(from));
    }
    let mut sniffed = sniffed.fact("张量数", "tensors", n_tensors.to_string());
    let mut sizes: Vec<(&str, u64)> = dtypes.into_iter().collect();
    sizes.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for (dtype, bytes) in sizes.into_iter().take(3) {
        sniffed = sniffed.fact("其中", "of these", format!("{} {}", crate::kind::shown(dtype), size(bytes)));
    }
    if is_beyond {
        return sniffed.warn("有张量的位置超出了文件", "some tensor lies beyond the end of the file");
    }
    sniffed
}
