//! What a serving engine printed when it started: numbers found in a pasted log, and how they hang together.
//!
//! `patterns.rs` is the table of wordings, of vLLM from 0.2 to the present V1, of SGLang and TensorRT-LLM, each with where it
//! was read; `explain.rs` recomputes each printed number from the others. A log is untrusted: it is read line by line with
//! limits, nothing in it is executed, and lines without a known number are kept and shown as they are.

mod explain;
mod patterns;

pub use explain::{Check, explain};
pub use patterns::{Key, Unit};

use crate::Problem;
use patterns::{PATTERNS, Pattern};

/// Longest log, in bytes, and longest part of a line that is searched.
pub const MAX_LOG: usize = 16 << 20;
const MAX_LINE: usize = 64 << 10;
/// Unknown lines that are kept, and characters of each.
const MAX_UNKNOWN: usize = 2_000;
const MAX_SHOWN: usize = 300;
/// Numbers that are kept.
const MAX_FOUND: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Vllm,
    Sglang,
    TensorrtLlm,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::TensorrtLlm => "TensorRT-LLM",
        }
    }
}

/// A number in a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub key: Key,
    /// Bytes where the key is of bytes.
    pub value: f64,
    /// As it stood there: `23.58GiB`.
    pub printed: String,
    /// From one.
    pub line: usize,
    pub engine: Engine,
    /// Half of the last printed digit, in the unit of `value`.
    pub rounding: f64,
    /// `GB` was printed where 2³⁰ bytes are meant.
    pub says_gb: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    pub found: Vec<Found>,
    /// Lines without a known number, with their place.
    pub unknown: Vec<(usize, String)>,
    /// Unknown lines beyond those that are kept.
    pub n_unknown_more: usize,
    pub n_lines: usize,
}

impl Log {
    /// The engine that printed most of what was found.
    pub fn engine(&self) -> Option<Engine> {
        let count = |engine| self.found.iter().filter(|found| found.engine == engine).count();
        let engines = [Engine::TensorrtLlm, Engine::Sglang, Engine::Vllm];
        engines.into_iter().filter(|engine| count(*engine) > 0).max_by_key(|engine| count(*engine))
    }

    /// The number that counts: where several cards print their own, the smallest pool and the largest use.
    pub fn get(&self, key: Key) -> Option<&Found> {
        let all = self.found.iter().filter(|found| found.key == key);
        if key.is_room() {
            all.min_by(|a, b| a.value.total_cmp(&b.value))
        } else {
            all.max_by(|a, b| a.value.total_cmp(&b.value))
        }
    }

    pub fn value(&self, key: Key) -> Option<f64> {
        self.get(key).map(|found| found.value)
    }
}

/// Reads a log. A text in which nothing is known is a problem that says what is looked for.
pub fn read(text: &str) -> Result<Log, Problem> {
    if text.len() > MAX_LOG {
        let (mb, most) = (text.len() >> 20, MAX_LOG >> 20);
        let en = format!("the log has {mb} MiB, at most {most} are read; the lines of the start are enough");
        return Err(Problem::new("log", format!("日志有 {mb} MiB，最多读 {most} MiB；有启动那几行就够了"), en));
    }
    let mut log = Log::default();
    for (idx, line) in text.lines().enumerate() {
        log.n_lines += 1;
        let clean = clean(line);
        let before = log.found.len();
        read_line(&clean, idx + 1, &mut log.found);
        if log.found.len() == before && !clean.trim().is_empty() {
            if log.unknown.len() < MAX_UNKNOWN {
                log.unknown.push((idx + 1, clean.trim().chars().take(MAX_SHOWN).collect()));
            } else {
                log.n_unknown_more += 1;
            }
        }
    }
    if log.found.is_empty() {
        if let Some(idx) = text.lines().position(has_endless_number) {
            let en = "the number has more than 18 digits; no block, token or byte count of a card does";
            return Err(Problem::new("log", "这个数超过 18 位，卡上的块、token、字节都没有这么多", en).at(idx + 1));
        }
        return Err(Problem::new(
            "log",
            "没有认出任何一行；这里读 vLLM、SGLang、TensorRT-LLM 的启动日志，例如 “GPU KV cache size: 178,880 tokens”",
            "no line is known; start-up logs of vLLM, SGLang and TensorRT-LLM are read here, e.g. \"GPU KV cache size: \
             178,880 tokens\"",
        ));
    }
    Ok(log)
}

/// A log that fits into `most` bytes: the whole of a short one, of a long one the lines with known numbers.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let before = found.len();
        if text.len() > most {
            read_line(&clean(line), 0, &mut found);
        }
        if (text.len() <= most || found.len() > before) && out.len() + line.len() < most {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Without colour codes and other control characters, cut to what is searched.
pub fn clean(line: &str) -> String {
    let mut out = String::with_capacity(line.len().min(MAX_LINE));
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if out.len() >= MAX_LINE {
            break;
        }
        if c == '\u{1b}' {
            // `ESC [ … letter`
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else if c == '\t' {
            out.push(' ');
        } else if !c.is_control() {
            out.push(c);
        }
    }
    out
}

fn read_line(line: &str, number: usize, found: &mut Vec<Found>) {
    let lower = line.to_ascii_lowercase();
    // A place is read once: the first wording of the table that knows it.
    let mut taken: Vec<usize> = Vec::new();
    for pattern in PATTERNS {
        if found.len() >= MAX_FOUND || !pattern.with.iter().all(|word| lower.contains(word)) {
            continue;
        }
        let Some(number_at) = pattern.find(&lower) else { continue };
        if taken.contains(&number_at) {
            continue;
        }
        if let Some(one) = one(pattern, line, number_at, number) {
            taken.push(number_at);
            found.push(one);
        }
    }
}

/// A known wording before a number of more digits than anything on a card can have.
fn has_endless_number(line: &str) -> bool {
    let lower = clean(line).to_ascii_lowercase();
    let n_digits = |at: usize| lower[at..].chars().take_while(char::is_ascii_digit).count();
    let known = PATTERNS.iter().filter(|pattern| pattern.with.iter().all(|word| lower.contains(word)));
    known.filter_map(|pattern| pattern.find(&lower)).any(|at| n_digits(at) > 18)
}

/// Commas and underscores part groups of three, the first of one to three: `178,880`, and not `1,2,3,,4`.
fn is_grouped(digits: &str) -> bool {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut groups = whole.split([',', '_']);
    let first = groups.next().unwrap_or_default();
    let n_first = first.len();
    !fraction.contains([',', '_'])
        && (n_first == whole.len() || (1..=3).contains(&n_first))
        && groups.all(|group| group.len() == 3)
}

fn one(pattern: &Pattern, line: &str, at: usize, number: usize) -> Option<Found> {
    let text = line.get(at..)?;
    let digits: String =
        text.chars().take(30).take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '_')).collect();
    let digits = digits.trim_end_matches([',', '.', '_']);
    let plain = Some(digits).filter(|digits| is_grouped(digits))?.replace([',', '_'], "");
    // No request is 0 tokens long.
    let is_possible = |value: &f64| *value < 1e18 && (pattern.key != Key::MaxLen || *value > 0.0);
    let value: f64 = plain.parse().ok().filter(is_possible)?;
    let decimals = plain.split_once('.').map_or(0, |(_, part)| part.len() as i32);
    let unit: String = text[digits.len()..].trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    let (factor, says_gb) = pattern.key.unit().factor(&unit, pattern.engine)?;
    let shown = text[..digits.len()].to_owned() + if pattern.key.unit() == Unit::Bytes { &unit } else { "" };
    Some(Found {
        key: pattern.key,
        value: value * factor,
        printed: shown,
        line: number,
        engine: pattern.engine,
        rounding: factor * 0.5 * 10.0_f64.powi(-decimals),
        says_gb,
    })
}

#[cfg(test)]
mod tests;
