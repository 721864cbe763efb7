//! The hash by which `check` sees that a trace is older than its kernel.
//!
//! Hashed is what shapes the numbers: the sources (line ends made equal, space at line ends dropped), the kernel's
//! parameters, derived quantities, buffers, work, oracle and launch, and the experiment's back end, sweep, series
//! (parameters only), plan, samples, measured quantity, counters. Not hashed is what only words or judges them: titles,
//! prose, labels, scales, units in words, predictions (recomputed for every run), the effect, causes, needs, time.

use crate::manifest::{Experiment, Kernel};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// `sha256:` and 16 hexadecimal digits: 64 bits are plenty to notice a change, and a trace stays small.
pub fn content_hash(experiment: &Experiment, kernel: &Kernel, sources: &BTreeMap<String, String>) -> String {
    let mut hasher = Sha256::new();
    let mut put = |name: &str, text: &str| {
        for part in [name, text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    };
    for (name, text) in sources {
        put(name, &normalised(text));
    }
    put("params", &json(&kernel.params.iter().map(|p| (&p.key, p.default)).collect::<Vec<_>>()));
    put("derive", &json(&kernel.derive));
    put("buffers", &json(&kernel.buffers));
    put("work", &json(&kernel.work));
    put("oracle", &json(&kernel.oracle));
    match experiment.backend {
        vramlab_trace::Backend::Cpu => put("cpu", &json(&kernel.cpu)),
        _ if kernel.cuda_host.is_some() => put("cuda_host", &json(&kernel.cuda_host)),
        _ => put("cuda", &json(&kernel.cuda)),
    }
    let series: Vec<_> = experiment.series.iter().map(|series| (&series.id, &series.set)).collect();
    put("backend", &json(&experiment.backend));
    put("sweep", &json(&(&experiment.sweep.param, &experiment.sweep.values)));
    put("series", &json(&series));
    put("plan", &json(&experiment.plan));
    put("samples", &json(&experiment.samples));
    put("measure", &experiment.measure.value);
    put("counters", &json(&experiment.counters.iter().map(|counter| &counter.metric).collect::<Vec<_>>()));
    let digest = hasher.finalize();
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn json<T: Serialize>(value: &T) -> String {
    // Manifest types hold only texts and finite numbers.
    serde_json::to_string(value).expect("a manifest is plain data")
}

fn normalised(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
