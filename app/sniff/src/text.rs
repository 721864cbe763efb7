//! Text by its tell-tale words: chapters, logs, and the output of tools.

use crate::kind::shown;
use crate::{Head, Kind, Sniffed, json};

/// Text that is searched, from the beginning; logs say who they are early.
pub const WINDOW: usize = 2 << 20;

pub fn sniff(head: Head<'_>) -> Option<Sniffed> {
    let text = decode(head.bytes)?;
    let text = text.as_str();
    if let Some(sniffed) = json::sniff(head, text) {
        return Some(sniffed);
    }
    let start = text.trim_start().to_ascii_lowercase();
    if ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag)) {
        return Some(Sniffed::plain(Kind::Html));
    }
    Some(by_words(text).unwrap_or_else(|| if is_chapter(text) { chapter(text) } else { Sniffed::plain(Kind::Text) }))
}

/// The text of the window; `None` if it is none. A window that ends inside a character is cut before it. Windows
/// consoles write UTF-16.
fn decode(bytes: &[u8]) -> Option<String> {
    let bytes = &bytes[..bytes.len().min(WINDOW)];
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        return Some(String::from_utf16_lossy(&units));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    // Logs are coloured: the escape is no sign of a binary file.
    let is_binary = |c: char| c.is_control() && !c.is_whitespace() && c != '\u{1b}' && c != '\u{8}';
    (!text.chars().take(4_096).any(is_binary)).then(|| text.to_owned())
}

/// A kind of text: all words of one of its groups must be there.
struct Words {
    kind: Kind,
    any: &'static [&'static [&'static str]],
}

/// In this order: what a training log quotes is told before the log itself.
const WORDS: &[Words] = &[
    Words { kind: Kind::Sanitizer, any: &[&["========= COMPUTE-SANITIZER"]] },
    Words {
        kind: Kind::VllmLog,
        any: &[
            &["Maximum concurrency for"],
            &["GPU KV cache size:"],
            &["# GPU blocks:"],
            &["Available KV cache memory:"],
            &["No available memory for the cache blocks"],
            &["KV cache is needed, which is larger than"],
            &["KV Cache is allocated.", "#tokens:"],
            &["[TensorRT-LLM]", "paged KV cache"],
            &["vLLM API server version"],
            &["Avg prompt throughput:", "Avg generation throughput:"],
        ],
    },
    Words { kind: Kind::MemorySummary, any: &[&["PyTorch CUDA memory summary"]] },
    Words {
        kind: Kind::OomMessage,
        any: &[
            &["CUDA out of memory. Tried to allocate"],
            &["torch.OutOfMemoryError"],
            &["torch.cuda.OutOfMemoryError"],
        ],
    },
    Words {
        kind: Kind::NsysStats,
        any: &[
            &["cuda_gpu_kern_sum"],
            &["cuda_gpu_mem_time_sum"],
            &["cuda_api_sum"],
            &["CUDA GPU Kernel Summary"],
            &["CUDA API Summary"],
            &["Time (%)", "Total Time (ns)", "Instances"],
            &["Time (%)", "Total Time (ns)", "Num Calls"],
        ],
    },
    Words {
        kind: Kind::NcuReport,
        any: &[
            &["Section: GPU Speed Of Light Throughput"],
            &["==PROF==", "Metric Name", "Metric Value"],
            &["\"Kernel Name\"", "\"Metric Name\"", "\"Metric Value\""],
        ],
    },
    Words { kind: Kind::TorchTrace, any: &[&["Self CPU %", "CPU total", "Self CUDA"]] },
    Words { kind: Kind::Topology, any: &[&["CPU Affinity", "NUMA Affinity", "GPU0"]] },
    Words {
        kind: Kind::NvidiaSmi,
        any: &[
            &["NVIDIA-SMI", "Driver Version"],
            &["NVSMI LOG"],
            &["# gpu", "pwr", "gtemp"],
            &["# gpu", "# Idx", "sm", "mem"],
            &["memory.used [MiB]"],
            &["utilization.gpu [%]"],
            &["memory.total [MiB]"],
        ],
    },
];

fn by_words(text: &str) -> Option<Sniffed> {
    let words = WORDS.iter().find(|words| words.any.iter().any(|all| all.iter().all(|word| text.contains(word))))?;
    let sniffed = Sniffed::plain(words.kind);
    let line = |word: &str| {
        text.lines().find(|line| line.contains(word)).map(|line| shown(line.trim().trim_matches('|').trim()))
    };
    let told = match words.kind {
        Kind::OomMessage => line("Tried to allocate").map(|text| ("报错", "message", text)),
        Kind::VllmLog => {
            let telling = [
                "Maximum concurrency for",
                "GPU KV cache size:",
                "# GPU blocks:",
                "No available memory",
                "KV cache is needed",
                "KV Cache is allocated.",
                "paged KV cache",
            ];
            telling.iter().find_map(|word| line(word)).map(|text| ("关键一行", "the telling line", text))
        }
        Kind::NvidiaSmi => line("Driver Version").map(|text| ("驱动", "driver", text)),
        Kind::MemorySummary => line("device ID").map(|text| ("设备", "device", text)),
        Kind::Sanitizer => line("ERROR SUMMARY").map(|text| ("小结", "summary", text)),
        _ => None,
    };
    Some(match told {
        Some((zh, en, value)) => sniffed.fact(zh, en, value),
        None => sniffed,
    })
}

/// A chapter says its version before its first table, and has steps.
fn is_chapter(text: &str) -> bool {
    let says_version = text
        .lines()
        .take(200)
        .any(|line| line.trim_start().strip_prefix("schema").is_some_and(|rest| rest.trim_start().starts_with('=')));
    says_version || text.lines().any(|line| line.trim_start().starts_with("[[step]]"))
}

fn chapter(text: &str) -> Sniffed {
    let n_steps = text.lines().filter(|line| line.trim_start().starts_with("[[step]]")).count();
    Sniffed::plain(Kind::Chapter).fact("步骤数", "steps", n_steps.to_string())
}
