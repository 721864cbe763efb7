//! How many clock cycles pass while a memory answers.
//!
//! Question: a latency and a clock. Answer: the cycles, which is also how many instructions one scheduler could have
//! issued meanwhile.
//! Assumption: one instruction a cycle and scheduler at best (NVIDIA since Volta); the clock is the one at which the
//! latency was measured.
//! Source: CUDA Programming Guide, "Multiprocessor Level" (each scheduler issues one instruction a cycle).
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Nanos, Text};

/// A clock of one MHz ticks once in a thousand nanoseconds.
pub fn run(latency: Nanos, clock_mhz: f64) -> f64 {
    latency.0 * clock_mhz / 1000.0
}

pub struct LatencyCycles;

impl Model for LatencyCycles {
    const ID: &'static str = "latency_cycles";
    const TITLE: Text = Text::new("等一次内存的周期数", "Cycles of a wait for memory");
    const ASSUMES: Text = Text::new(
        "一个调度器每周期最多发一条指令；时钟是测延迟时的时钟。",
        "A scheduler issues at most one instruction a cycle; the clock is the one at which the latency was measured.",
    );
    const SOURCE: &'static str = "CUDA Programming Guide, \"Multiprocessor Level\"";
    const EXAMPLE: &'static str = r#"{"latency_ns": 340, "clock_mhz": 1980}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("latency_ns", "ns", 0.0, 1.0e9, Text::new("一次读取的延迟", "Latency of one read")),
            FieldSpec::num("clock_mhz", "MHz", 1.0, 1.0e5, Text::new("核心时钟", "Clock of the core")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let doc =
            Text::new("等待的周期数，也是一个调度器错过的发射机会", "Cycles waited: issue slots of one scheduler");
        vec![FieldSpec::num("cycles", "1", 0.0, 1.0e11, doc)]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let cycles = run(Nanos(args.num("latency_ns")), args.num("clock_mhz"));
        Ok(fields::answer([("cycles", fields::number(cycles))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured on an H200 at 1980 MHz: L1 32.0 cycles = 16.2 ns, near L2 281 = 142 ns, DRAM 668 = 337 ns.
    #[test]
    fn cycles_and_nanoseconds_of_one_measurement_agree() {
        for (latency_ns, cycles) in [(16.2, 32.0), (142.0, 281.0), (337.0, 668.0)] {
            let found = run(Nanos(latency_ns), 1980.0);
            assert!((found - cycles).abs() < 1.0, "{found} is not {cycles}");
        }
    }
}
