//! Python pickles by their opcodes. Arguments are stepped over; nothing is built, looked up or run, so there is nothing a
//! hostile file could make happen. What is kept: the first strings, and the first reference to code.

use crate::kind::{shown, size};
use crate::{Head, Kind, Sniffed};

/// Opcodes that are stepped through.
const MAX_STEPS: usize = 400_000;
/// Strings that are compared with the keys of a snapshot.
const MAX_STRINGS: usize = 4_096;

/// What the opcodes said.
#[derive(Default)]
struct Seen {
    protocol: u8,
    strings: Vec<Vec<u8>>,
    /// A reference to code, and the byte where it stands.
    code: Option<(String, usize)>,
    n_steps: usize,
    ended: bool,
}

pub fn sniff(head: Head<'_>) -> Option<Sniffed> {
    let bytes = head.bytes;
    let is_binary = bytes.len() >= 3 && bytes[0] == 0x80 && (2..=5).contains(&bytes[1]);
    let is_old =
        [&b"}q\x00("[..], b"(dp0\n", b"(dp1\n", b"(lp0\n", b"(dq\x00"].iter().any(|start| bytes.starts_with(start));
    if !(is_binary || is_old) {
        return None;
    }
    let seen = walk(bytes)?;
    let has = |key: &str| seen.strings.iter().any(|text| text == key.as_bytes());
    let is_snapshot = has("segments") && (has("device_traces") || has("blocks") || has("total_size"));
    let mut sniffed = match (&seen.code, is_snapshot) {
        (None, true) => Sniffed::plain(Kind::Snapshot),
        (Some((code, _)), _)
            if code.starts_with("torch") || code.starts_with("collections") || code.starts_with("numpy") =>
        {
            Sniffed::plain(Kind::Checkpoint)
        }
        _ => Sniffed::plain(Kind::OtherPickle),
    };
    sniffed = sniffed.fact("pickle 协议", "pickle protocol", seen.protocol.to_string());
    if sniffed.kind == Kind::Snapshot && head.is_whole() {
        sniffed = sniffed.fact("大小", "size", size(head.n_bytes));
    }
    if let Some((code, at)) = &seen.code {
        let code = shown(code);
        let zh = format!("第 {at} 字节引用了代码 {code}。这里什么都不会执行");
        sniffed = sniffed.warn(zh, format!("it refers to code at byte {at}: {code}. Nothing of it is run here"));
    } else if head.is_whole() && !seen.ended && seen.n_steps < MAX_STEPS {
        sniffed = sniffed.warn("文件不完整：没有结束符", "the file is cut off: it has no end mark");
    }
    Some(sniffed)
}

/// Steps through the opcodes; `None` if the first few are none at all.
fn walk(bytes: &[u8]) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut at = 0;
    while seen.n_steps < MAX_STEPS && at < bytes.len() {
        let op = bytes[at];
        let rest = &bytes[at + 1..];
        let Some(len) = argument(op, rest, &mut seen, at) else {
            // An unknown opcode at the very start: no pickle.
            return (seen.n_steps >= 4).then_some(seen);
        };
        seen.n_steps += 1;
        if op == b'.' {
            seen.ended = true;
            break;
        }
        let Some(next) = at.checked_add(1).and_then(|at| at.checked_add(len)) else { break };
        at = next;
    }
    (seen.n_steps >= 3).then_some(seen)
}

/// How many bytes the argument of an opcode takes; strings and references to code are noted on the way.
fn argument(op: u8, rest: &[u8], seen: &mut Seen, at: usize) -> Option<usize> {
    let number = |n: usize| -> Option<usize> {
        let slice = rest.get(..n)?;
        usize::try_from(slice.iter().rev().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte))).ok()
    };
    let sized = |n: usize| Some((n, number(n)?));
    let line = || rest.iter().take(65_536).position(|byte| *byte == b'\n').map(|end| end + 1);
    let (skip, len) = match op {
        0x80 => {
            seen.protocol = *rest.first()?;
            return Some(1);
        }
        // Without an argument.
        b'('
        | b'.'
        | b'0'
        | b'1'
        | b'2'
        | b'N'
        | b'R'
        | b'Q'
        | b'a'
        | b'b'
        | b'd'
        | b'}'
        | b'e'
        | b'l'
        | b']'
        | b'o'
        | b's'
        | b't'
        | b')'
        | b'u'
        | 0x81
        | 0x85..=0x89
        | 0x8f..=0x94
        | 0x97
        | 0x98 => {
            if op == 0x93 {
                let parts: Vec<String> =
                    seen.strings.iter().rev().take(2).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
                note_code(
                    seen,
                    format!("{}.{}", parts.get(1).map_or("", String::as_str), parts.first().map_or("", String::as_str)),
                    at,
                );
            }
            return Some(0);
        }
        b'K' | b'h' | b'q' | 0x82 => return Some(1),
        b'M' | 0x83 => return Some(2),
        b'J' | b'j' | b'r' | 0x84 => return Some(4),
        b'G' | 0x95 => return Some(8),
        // A line of text.
        b'F' | b'I' | b'L' | b'S' | b'V' | b'P' | b'g' | b'p' => {
            let end = line()?;
            if matches!(op, b'S' | b'V') {
                note_string(seen, rest[..end - 1].trim_ascii_matches());
            }
            return Some(end);
        }
        // Two lines: module and name.
        b'c' | b'i' => {
            let first = line()?;
            let second = rest.get(first..)?.iter().take(65_536).position(|byte| *byte == b'\n')? + 1;
            let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
            note_code(seen, format!("{}.{}", text(&rest[..first - 1]), text(&rest[first..first + second - 1])), at);
            return Some(first + second);
        }
        b'U' | b'C' | 0x8a | 0x8c => sized(1)?,
        b'T' | b'X' | b'B' | 0x8b => sized(4)?,
        0x8d | 0x8e | 0x96 => sized(8)?,
        _ => return None,
    };
    let end = skip.checked_add(len)?;
    if matches!(op, 0x8c | b'X' | b'U' | b'T' | 0x8d)
        && let Some(text) = rest.get(skip..end)
    {
        note_string(seen, text);
    }
    Some(end)
}

fn note_string(seen: &mut Seen, text: &[u8]) {
    if seen.strings.len() < MAX_STRINGS && text.len() <= 64 {
        seen.strings.push(text.to_vec());
    }
}

fn note_code(seen: &mut Seen, code: String, at: usize) {
    if seen.code.is_none() {
        seen.code = Some((code, at));
    }
}

/// The quotes around a string of protocol 0.
trait Quoted {
    fn trim_ascii_matches(&self) -> &[u8];
}

impl Quoted for [u8] {
    fn trim_ascii_matches(&self) -> &[u8] {
        match self {
            [first, inner @ .., last] if first == last && matches!(first, b'\'' | b'"') => inner,
            other => other,
        }
    }
}
