//! How often the banks of shared memory must answer one warp-wide access.
//!
//! Question: 32 byte addresses in shared memory and an access width, or a stride with padding or a swizzle. Answer:
//! the phases, the passes of each, and which word each lane takes from which bank in which pass.
//! Rule: 32 banks of 4 bytes, `bank = word mod 32`. Lanes that read the same word are served together; different words
//! of one bank wait for each other. 128 bytes return per pass, so 8-byte accesses go in two phases of 16 lanes and
//! 16-byte accesses in four of 8. Wavefronts are the passes of all phases, the degree is wavefronts per phase.
//! Assumption: an upper bound for 8- and 16-byte accesses, because the hardware may merge phases whose lane pairs share
//! addresses (reported for compute capability 7.x).
//! Source: bank rule as in modal-labs/gpu-glossary, "bank conflict"; phases and pair merging: NVIDIA developer forum,
//! topic 77228; measured within 0.1 % on an H200 (cycles 1, 2, 4, 8, 16, 32 at those strides; 4, 8, 16, 32 for 16-byte
//! accesses).
//! Errors: wrong lane count, width, alignment or a negative address ([`AccessError`]).

use crate::access::{self, AccessError, WARP_LANES};
use crate::fields::{self, Pattern};
use crate::registry::Model;
use std::collections::BTreeMap;
use std::ops::Range;
use vramlab_units::{Args, ByteAddr, Bytes, FieldError, FieldKind, FieldSpec, Map, Text};

/// Banks of an SM's shared memory.
pub const BANKS: u64 = 32;
/// What one bank holds at one address, and hands over per pass.
pub const WORD: Bytes = Bytes(4);

/// One word that one lane takes from one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub lane: usize,
    pub word: u64,
    pub bank: u32,
    /// The pass of the phase in which the bank serves this word, from 0. Lanes with the same word share it.
    pub pass: u32,
}

/// The lanes that are served together, and what they take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub lanes: Range<usize>,
    /// In order of lanes, then words.
    pub hits: Vec<Hit>,
    /// How often the busiest bank must answer; 0 when no lane of the phase takes part.
    pub passes: u32,
}

/// The answer for one access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    pub phases: Vec<Phase>,
    /// Banks that hold at least one word asked for.
    pub banks_used: u32,
}

impl Conflicts {
    /// Passes of all phases: what the counter of shared wavefronts counts.
    pub fn wavefronts(&self) -> u32 {
        self.phases.iter().map(|phase| phase.passes).sum()
    }

    /// Wavefronts per phase; 1 is free of conflicts.
    pub fn degree(&self) -> f64 {
        f64::from(self.wavefronts()) / self.phases.len() as f64
    }

    /// Passes beyond the first of each phase: what the counter of bank conflicts counts.
    pub fn extra_passes(&self) -> u32 {
        self.phases.iter().map(|phase| phase.passes.saturating_sub(1)).sum()
    }
}

/// Answers for one access of `width` bytes a lane.
pub fn run(lane_addrs: &[Option<ByteAddr>], width: Bytes) -> Result<Conflicts, AccessError> {
    access::check(lane_addrs, width)?;
    let n_phases = (width.0 / WORD.0).max(1) as usize;
    let lanes_per_phase = WARP_LANES / n_phases;
    let phases: Vec<Phase> = (0..n_phases)
        .map(|phase| serve(lane_addrs, width, phase * lanes_per_phase..(phase + 1) * lanes_per_phase))
        .collect();
    let mut used = 0_u32;
    for hit in phases.iter().flat_map(|phase| &phase.hits) {
        used |= 1 << hit.bank;
    }
    Ok(Conflicts { phases, banks_used: used.count_ones() })
}

/// Serves the lanes of one phase: the words of a bank queue in the order in which lanes ask for them.
fn serve(lane_addrs: &[Option<ByteAddr>], width: Bytes, lanes: Range<usize>) -> Phase {
    let mut queues: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut hits = Vec::new();
    for (lane, addr) in access::active(lane_addrs).filter(|(lane, _)| lanes.contains(lane)) {
        let first = addr.0 / WORD.0;
        for word in first..first + (width.0 / WORD.0).max(1) {
            let bank = bank_from_word(word);
            let queue = queues.entry(bank).or_default();
            let place = queue.iter().position(|queued| *queued == word).unwrap_or_else(|| {
                queue.push(word);
                queue.len() - 1
            });
            hits.push(Hit { lane, word, bank, pass: place as u32 });
        }
    }
    let passes = queues.values().map(Vec::len).max().unwrap_or_default() as u32;
    Phase { lanes, hits, passes }
}

pub fn bank_from_word(word: u64) -> u32 {
    (word % BANKS) as u32
}

/// Degree of 4-byte accesses at a stride of at least one word, in closed form.
pub fn degree_of_stride(stride_words: u64) -> u64 {
    let (mut a, mut b) = (stride_words, BANKS);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Where a word goes when the array is kept in rows of 32 words, one row across all banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Unused words after each row: the pitch is 32 + `pad_words`.
    pub pad_words: u64,
    pub swizzle: Swizzle,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    #[default]
    None,
    /// The column is combined with the row by exclusive or, in pieces as wide as the access.
    Xor,
}

impl Layout {
    /// The address of `word` under this layout, for accesses of `width_words`.
    ///
    /// Row `r = word / 32`, column `c = word mod 32`. Padding: `r · (32 + pad) + c`. Swizzle: column piece
    /// `c / width` becomes `(c / width) xor (r mod pieces per row)`; for 4-byte words that is `c xor (r mod 32)`.
    pub fn place(self, word: u64, width_words: u64) -> u64 {
        let width_words = width_words.clamp(1, BANKS);
        let (row, col) = (word / BANKS, word % BANKS);
        let n_pieces = BANKS / width_words;
        let piece = match self.swizzle {
            Swizzle::None => col / width_words,
            Swizzle::Xor => (col / width_words) ^ (row % n_pieces),
        };
        row * (BANKS + self.pad_words) + piece * width_words + col % width_words
    }
}

const PATTERN: Pattern =
    Pattern { stride: "stride_words", offset: "offset_words", list: "word_addresses", width: "width_bytes" };

/// The registry entry: a stride, or 32 word addresses, under a layout.
pub struct BankConflicts;

impl Model for BankConflicts {
    const ID: &'static str = "bank_conflicts";
    const TITLE: Text = Text::new("共享内存的 bank 冲突（bank conflict）", "Bank conflicts in shared memory");
    const ASSUMES: Text = Text::new(
        "32 个 bank，每个 4 字节；同一个字只取一次（广播）。8 字节访问分两个阶段，16 字节分四个；硬件可能合并阶段，所以宽访问的结果是上界。",
        "32 banks of 4 bytes; a word wanted by several lanes is fetched once (broadcast). 8-byte accesses go in two \
         phases, 16-byte accesses in four; hardware may merge phases, so wide accesses get an upper bound.",
    );
    const SOURCE: &'static str = "modal-labs/gpu-glossary, \"bank conflict\"; NVIDIA developer forum topics 77228 \
        (phases) and 359822 (wavefronts of 128-bit loads)";
    const EXAMPLE: &'static str = r#"{"stride_words": 32, "width_bytes": 4, "pad_words": 1}"#;

    fn question() -> Vec<FieldSpec> {
        question()
    }

    fn answer() -> Vec<FieldSpec> {
        let wavefronts = Text::new(
            "一次访问占用的 wavefront（所有阶段的趟数之和）",
            "Wavefronts of the access: passes of all phases",
        );
        let degree = Text::new("每个阶段平均几趟；1 表示没有冲突", "Wavefronts per phase; 1 is free of conflicts");
        let banks = Text::new("至少被访问一次的 bank 数", "Banks that are asked at least once");
        vec![
            FieldSpec::num("degree", "1", 0.0, 32.0, degree),
            FieldSpec::int("wavefronts", "1", 0, 32, wavefronts),
            FieldSpec::int("banks_used", "1", 0, 32, banks),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let found = conflicts_asked(args)?;
        Ok(fields::answer([
            ("degree", fields::number(found.degree())),
            ("wavefronts", found.wavefronts().into()),
            ("banks_used", found.banks_used.into()),
        ]))
    }
}

fn question() -> Vec<FieldSpec> {
    let stride = Text::new(
        "相邻 lane 的地址相差几个 4 字节字；float4 连续访问是 4",
        "Distance of neighbouring lanes in 4-byte words; contiguous float4 is 4",
    );
    let width = Text::new("每个 lane 一次访问多少字节", "Bytes that each lane accesses at once");
    let pad = Text::new(
        "数组按每行 32 个字存放，每行之后空出几个字",
        "The array lies in rows of 32 words; so many words stay unused after each row",
    );
    let swizzle = Text::new(
        "xor：列号与行号异或（以访问宽度为一格），不占额外空间",
        "xor: the column, in pieces of the access width, is combined with the row by exclusive or; no extra space",
    );
    let offset = Text::new("lane 0 的字地址", "Word address of lane 0");
    let list =
        Text::new("直接给出 32 个 lane 的字地址，代替步长", "The 32 word addresses themselves, instead of a stride");
    let list_kind = FieldKind::IntList { min_len: 32, max_len: 32, min: 0, max: 65_535 };
    vec![
        FieldSpec::int("stride_words", "word", -1024, 1024, stride).optional(),
        fields::access_bytes("width_bytes", width).default_value("4"),
        FieldSpec::int("pad_words", "word", 0, 32, pad).default_value(0),
        fields::choice("swizzle", "", &["none", "xor"], swizzle).default_value("none"),
        FieldSpec::int("offset_words", "word", 0, 32_768, offset).default_value(0),
        fields::active_mask(),
        FieldSpec::new("word_addresses", "word", list_kind, list).optional(),
    ]
}

/// The conflicts of the access that a checked question describes.
fn conflicts_asked(args: &Args) -> Result<Conflicts, FieldError> {
    let width = Bytes(fields::chosen(args, "width_bytes"));
    let asked = PATTERN.lane_addrs(args, fields::mask(args), WORD)?;
    access::check(&asked, width).map_err(|error| PATTERN.blame(args, WORD, &error))?;
    let swizzle = if args.text("swizzle") == "xor" { Swizzle::Xor } else { Swizzle::None };
    let layout = Layout { pad_words: args.uint("pad_words"), swizzle };
    let place = |addr: ByteAddr| ByteAddr(layout.place(addr.0 / WORD.0, width.0 / WORD.0) * WORD.0);
    let placed: Vec<_> = asked.into_iter().map(|addr| addr.map(place)).collect();
    run(&placed, width).map_err(|error| {
        let every = (width.0 / WORD.0).max(1);
        FieldError::conflict(
            "pad_words",
            format!("{error}; with width_bytes = {} it must be a multiple of {every}", width.0),
        )
    })
}

#[cfg(test)]
mod tests;
