//! A log as the figure shows it: its lines, what was known in each, the card in parts, the sums. `vramlab_serve::log` reads.

use vramlab_serve::Problem;
use vramlab_serve::log::{Check, Found, Key, Log, clean, explain, read};
use vramlab_units::Text;

/// Longest text that is taken; longer ones go through `vramlab eval engine_log`.
pub const MOST_TEXT: usize = 16_384;
/// Lines that are drawn.
pub const MOST_LINES: usize = 40;

/// A published log.
#[derive(Debug)]
pub struct Example {
    pub id: &'static str,
    pub label: Text,
    pub text: &'static str,
    pub source: &'static str,
    pub date: &'static str,
}

pub const EXAMPLES: [Example; 4] = [
    Example {
        id: "vllm_v1",
        label: Text::new("vLLM V1，80 GB 卡", "vLLM V1, 80 GB card"),
        text: include_str!("../../../../../assets/engine_logs/vllm_v1_2026.log"),
        source: "vllm-project/vllm#57936",
        date: "2026-10-06",
    },
    Example {
        id: "vllm_0_6",
        label: Text::new("vLLM 0.6.6，多模态", "vLLM 0.6.6, vision"),
        text: include_str!("../../../../../assets/engine_logs/vllm_0_6_6.log"),
        source: "vllm-project/vllm#12126",
        date: "2025-01-16",
    },
    Example {
        id: "refusal",
        label: Text::new("启动不了", "refuses to start"),
        text: include_str!("../../../../../assets/engine_logs/refusal.log"),
        source: "vllm-project/vllm#25350",
        date: "2025-09-21",
    },
    Example {
        id: "sglang",
        label: Text::new("SGLang", "SGLang"),
        text: include_str!("../../../../../assets/engine_logs/sglang.log"),
        source: "vllm-project/vllm#21348",
        date: "2025-07-22",
    },
];

/// A line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// From one.
    pub number: usize,
    pub text: String,
    pub found: Vec<Found>,
}

/// What a part of the card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Weights,
    /// Weights and what is outside of PyTorch, in one sum.
    Consumed,
    NonTorch,
    Activations,
    Graphs,
    Pool,
    /// What the printed numbers leave open.
    Open,
    /// Beyond what the engine may use.
    Beyond,
}

#[derive(Clone, Debug)]
pub struct Reading {
    pub log: Log,
    pub lines: Vec<Line>,
    /// Lines beyond those that are drawn.
    pub n_more: usize,
    pub checks: Vec<Check>,
    /// The card in parts, bytes; empty where the log does not say how large it is.
    pub parts: Vec<(Part, f64)>,
}

impl Reading {
    pub fn new(text: &str) -> Result<Self, Problem> {
        let log = read(text)?;
        let mut lines: Vec<Line> = Vec::new();
        for (idx, line) in text.lines().enumerate() {
            let found: Vec<Found> = log.found.iter().filter(|one| one.line == idx + 1).cloned().collect();
            let unknown = log.unknown.iter().find(|(number, _)| *number == idx + 1);
            if found.is_empty() && unknown.is_none() {
                continue;
            }
            let shown = unknown.map_or_else(|| plain(line), |(_, text)| text.clone());
            lines.push(Line { number: idx + 1, text: shown, found });
        }
        // Of a long log the known lines are what is looked for.
        if lines.len() > MOST_LINES {
            lines.sort_by_key(|line| (line.found.is_empty(), line.number));
        }
        let n_more = lines.len().saturating_sub(MOST_LINES) + log.n_unknown_more;
        lines.truncate(MOST_LINES);
        lines.sort_by_key(|line| line.number);
        let (checks, parts) = (explain(&log), parts(&log));
        Ok(Self { log, lines, n_more, checks, parts })
    }

    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }

    pub fn n_unknown(&self) -> usize {
        self.log.unknown.len() + self.log.n_unknown_more
    }

    pub fn n_wrong(&self) -> usize {
        self.checks.iter().filter(|check| !check.agrees()).count()
    }
}

/// Without colour codes, cut to what a row can say.
fn plain(line: &str) -> String {
    clean(line).trim().chars().take(600).collect()
}

fn parts(log: &Log) -> Vec<(Part, f64)> {
    let Some(total) = log.value(Key::Total) else { return Vec::new() };
    let Some(usable) = log.value(Key::Usable).or_else(|| Some(total * log.value(Key::Utilisation)?)) else {
        return Vec::new();
    };
    let weights = log.value(Key::Weights).unwrap_or(0.0);
    // PyTorch's peak has the weights in it.
    let torch = log.value(Key::TorchPeak).map(|peak| (peak - weights).max(0.0));
    let has_sum = log.value(Key::Consumed).is_some();
    let mut parts: Vec<(Part, f64)> = [
        (Part::Consumed, log.value(Key::Consumed)),
        (Part::Weights, log.value(Key::Weights).filter(|_| !has_sum)),
        (Part::NonTorch, log.value(Key::NonTorch).filter(|_| !has_sum)),
        (Part::Activations, log.value(Key::ActivationPeak).or(torch)),
        (Part::Pool, log.value(Key::Pool)),
    ]
    .into_iter()
    .filter_map(|(part, bytes)| Some((part, bytes.filter(|bytes| *bytes > 0.0)?)))
    .collect();
    let open = usable - parts.iter().map(|(_, bytes)| bytes).sum::<f64>();
    // Rounding of the printed terms is no part.
    if open > total * 0.003 {
        parts.push((Part::Open, open));
    }
    let mut beyond = total - usable;
    if let Some(graphs) = log.value(Key::Graphs).filter(|graphs| *graphs < beyond) {
        // Captured after the pool was sized, out of what is left beside it.
        parts.push((Part::Graphs, graphs));
        beyond -= graphs;
    }
    if beyond > 0.0 {
        parts.push((Part::Beyond, beyond));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn of(id: &str) -> Reading {
        Reading::new(EXAMPLES.iter().find(|example| example.id == id).unwrap().text).unwrap()
    }

    const GIB: f64 = 1_073_741_824.0;

    /// 79.25 GiB: 15.26 + 1.44 + 56.21 are 0.92 of it; graphs come out of the rest.
    #[test]
    fn a_card_is_the_sum_of_its_parts() {
        let reading = of("vllm_v1");
        assert_eq!(
            reading.parts.iter().map(|(part, _)| *part).collect::<Vec<_>>(),
            [Part::Consumed, Part::Activations, Part::Pool, Part::Graphs, Part::Beyond]
        );
        assert!((reading.total() / GIB - 79.25).abs() < 0.02, "{}", reading.total() / GIB);
        assert_eq!((reading.lines.len(), reading.n_unknown(), reading.n_wrong()), (4, 0, 0));
        let vision = of("vllm_0_6");
        assert_eq!(vision.parts[2], (Part::Activations, 36.63 * GIB), "more than the weights");
        assert_eq!(vision.checks.len(), 2);
    }

    /// A refusal does not say how large the card is, but its sum is checked: 5.59 of 10.12 GiB hold 122,080 of 221,000 tokens.
    #[test]
    fn a_refusal_has_no_card() {
        let reading = of("refusal");
        assert!(reading.parts.is_empty() && reading.checks.len() == 1 && reading.n_wrong() == 0);
        assert_eq!(of("sglang").log.engine().map(|engine| engine.name()), Some("SGLang"));
    }

    /// Unknown lines are kept and said to be unknown; of a long log the known ones stay.
    #[test]
    fn unknown_lines_are_kept() {
        let long = format!("{}GPU KV cache size: 1,024 tokens\n{}", "noise\n".repeat(100), "more\n".repeat(3000));
        let reading = Reading::new(&long).unwrap();
        assert_eq!((reading.lines.len(), reading.n_unknown()), (MOST_LINES, 3100));
        assert!(reading.lines.iter().any(|line| line.number == 101 && !line.found.is_empty()));
        assert_eq!(reading.n_more, 3101 - MOST_LINES);
        assert!(Reading::new("nothing of this is known").is_err());
        let coloured = Reading::new("\u{1b}[32mINFO\u{1b}[0m GPU KV cache size: 8 tokens").unwrap();
        assert_eq!(coloured.lines[0].text, "INFO GPU KV cache size: 8 tokens");
    }
}
