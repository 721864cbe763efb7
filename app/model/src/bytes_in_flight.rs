//! Little's law for memory: what a number of loads in flight can reach.
//!
//! Question: threads resident at once, bytes and loads of each, latency, peak. Answer: bytes in flight, the rate that
//! they sustain, and how many a thread would need for the peak.
//! Assumption: every load takes the same latency and a new one starts as soon as one ends. Loaded memory answers more
//! slowly, so give the latency under load.
//! Source: J. D. C. Little, "A Proof for the Queuing Formula L = λW", Operations Research 9(3), 1961; as taught in
//! modal-labs/gpu-glossary, "Little's law".
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, GbPerSec, Map, Nanos, Text};

/// Operations in flight that keep `per_cycle` going at a latency of `latency_cycles`.
pub fn operations_in_flight(latency_cycles: f64, per_cycle: f64) -> f64 {
    latency_cycles * per_cycle
}

/// Bytes that must be in flight to sustain `rate`; one GB/s is one byte a nanosecond.
pub fn bytes_needed(latency: Nanos, rate: GbPerSec) -> f64 {
    operations_in_flight(latency.0, rate.0)
}

/// The rate that `in_flight` bytes sustain.
pub fn rate_sustained(in_flight: Bytes, latency: Nanos) -> GbPerSec {
    in_flight / latency
}

pub struct BytesInFlight;

impl Model for BytesInFlight {
    const ID: &'static str = "bytes_in_flight";
    const TITLE: Text = Text::new("在途字节与 Little 定律（Little's law）", "Bytes in flight: Little's law");
    const ASSUMES: Text = Text::new(
        "每次读取的延迟相同，一次结束立刻发出下一次。内存忙时延迟会变长，请填有负载时的延迟。",
        "Every load takes the same latency, and the next starts as one ends. Busy memory answers more slowly: give the \
         latency under load.",
    );
    const SOURCE: &'static str =
        "J. D. C. Little, Operations Research 9(3), 1961; modal-labs/gpu-glossary, \"Little's law\"";
    const EXAMPLE: &'static str =
        r#"{"n_threads": 270336, "bytes_per_load": 4, "latency_ns": 643, "peak_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
        vec![
            int("n_threads", "1", 1_000_000_000, "同时驻留的线程总数", "Threads resident at once on the whole device"),
            fields::access_bytes("bytes_per_load", Text::new("一次读取的字节数", "Bytes of one load")),
            int("loads_per_thread", "1", 1024, "每个线程同时在途的读取数", "Loads that each thread keeps in flight")
                .default_value(1),
            FieldSpec::num("latency_ns", "ns", 0.1, 1.0e6, Text::new("一次读取的延迟", "Latency of one load")),
            fields::peak(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1.0e18, Text::new(zh, en));
        vec![
            num("bytes_in_flight", "B", "在途字节数", "Bytes in flight"),
            num("sustained_gb_per_s", "GB/s", "这些字节能维持的速率，不设上限", "Rate that they sustain, not capped"),
            num("gb_per_s", "GB/s", "可达带宽：不超过峰值", "Bandwidth reached, at most the peak"),
            FieldSpec::num(
                "share",
                "%",
                0.0,
                1.0,
                Text::new("可达带宽占峰值的份额", "Bandwidth reached over the peak"),
            ),
            num(
                "latency_loaded_ns",
                "ns",
                "排队算进去以后一个来回的时间：在途字节除以可达带宽",
                "Round trip with waiting: bytes in flight over bandwidth reached",
            ),
            num("bytes_needed", "B", "达到峰值所需的在途字节数", "Bytes in flight that the peak needs"),
            num(
                "bytes_needed_per_thread",
                "B",
                "达到峰值时平均每个线程要有多少字节在途",
                "Bytes in flight per thread that the peak needs, on average",
            ),
            num(
                "loads_needed",
                "1",
                "达到峰值时每个线程要有几次读取在途",
                "Loads in flight per thread that the peak needs",
            ),
            fields::choice(
                "bound",
                "",
                &["latency", "peak"],
                Text::new("被什么限制：延迟，还是峰值带宽", "What limits it: latency or peak bandwidth"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (latency, peak) = (Nanos(args.num("latency_ns")), GbPerSec(args.num("peak_gb_per_s")));
        let per_load = Bytes(fields::chosen(args, "bytes_per_load")) * args.uint("n_threads");
        let in_flight = per_load * args.uint("loads_per_thread");
        let sustained = rate_sustained(in_flight, latency);
        let (needed, reached) = (bytes_needed(latency, peak), sustained.0.min(peak.0));
        Ok(fields::answer([
            ("bytes_in_flight", in_flight.0.into()),
            ("sustained_gb_per_s", fields::number(sustained.0)),
            ("gb_per_s", fields::number(reached)),
            ("share", fields::number(reached / peak.0)),
            ("latency_loaded_ns", fields::number(in_flight.0 as f64 / reached)),
            ("bytes_needed", fields::number(needed)),
            ("bytes_needed_per_thread", fields::number(needed / args.uint("n_threads") as f64)),
            ("loads_needed", fields::number((needed / per_load.0 as f64).ceil())),
            ("bound", if sustained.0 < peak.0 { "latency" } else { "peak" }.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Public row 48 (modal-labs/gpu-glossary, perf/littles-law): 400 cycles at 1 and 10 operations a cycle.
    #[test]
    fn littles_law() {
        assert_eq!(operations_in_flight(400.0, 1.0), 400.0);
        assert_eq!(operations_in_flight(400.0, 10.0), 4000.0);
    }

    /// Measured on an H200: one 4-byte load a thread, 2048 threads on each of 132 SMs, 643 ns, gives 1682 GB/s.
    #[test]
    fn one_small_load_a_thread_cannot_fill_the_bus() {
        let given = json!({"n_threads": 2048 * 132, "bytes_per_load": 4, "latency_ns": 643, "peak_gb_per_s": 4814});
        let answer = eval("bytes_in_flight", &question(&given)).unwrap();
        assert!((answer["gb_per_s"].as_f64().unwrap() - 1682.0).abs() < 1.0, "{answer:?}");
        assert_eq!((&answer["bytes_in_flight"], &answer["bound"]), (&json!(1_081_344), &json!("latency")));
        assert_eq!(answer["loads_needed"], 3);
    }

    fn ask(threads_per_sm: u64, bytes_per_load: u64) -> Map {
        let given = json!({"n_threads": 132 * threads_per_sm, "bytes_per_load": bytes_per_load, "latency_ns": 600,
            "peak_gb_per_s": 4800});
        eval("bytes_in_flight", &question(&given)).unwrap()
    }

    #[track_caller]
    fn near(answer: &Map, key: &str, expected: f64) {
        let found = answer[key].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-5, "{key}: {found}, not {expected}");
    }

    /// Brief 01, vector 3: 4.8 TB/s at 600 ns need 2 880 000 B, 21 818.2 on each of 132 SMs, 10.6534 a thread of 2048.
    #[test]
    fn the_peak_needs_megabytes_in_flight() {
        let answer = ask(2048, 4);
        assert_eq!(answer["bytes_needed"], 2_880_000);
        near(&ask(1, 4), "bytes_needed_per_thread", 21_818.181_8);
        near(&answer, "bytes_needed_per_thread", 10.6534);
    }

    /// Brief 01, vector 4: 1802.24 GB/s with 4 bytes a thread, 4800 with 16 (7208.96 uncapped), 450.56 with 512 threads.
    #[test]
    fn threads_and_width_fill_the_pipe() {
        near(&ask(2048, 4), "gb_per_s", 1802.24);
        near(&ask(2048, 16), "gb_per_s", 4800.0);
        near(&ask(2048, 16), "sustained_gb_per_s", 7208.96);
        near(&ask(512, 4), "gb_per_s", 450.56);
        near(&ask(512, 4), "share", 450.56 / 4800.0);
    }

    /// Bytes beyond the need do not move faster, they wait: 7208.96 GB/s worth of them at 4800 take 600 × 1.50187 ns.
    #[test]
    fn what_is_too_much_waits() {
        near(&ask(2048, 16), "latency_loaded_ns", 600.0 * 7208.96 / 4800.0);
        near(&ask(2048, 4), "latency_loaded_ns", 600.0);
    }

    /// Brief 01, vector 7: a negative latency and a peak of nothing are refused by name.
    #[test]
    fn impossible_latencies_and_peaks_are_refused() {
        let field = |latency: f64, peak: f64| {
            let given = json!({"n_threads": 1, "bytes_per_load": 4, "latency_ns": latency, "peak_gb_per_s": peak});
            eval("bytes_in_flight", &question(&given)).unwrap_err().field().to_owned()
        };
        assert_eq!((field(-1.0, 1.0), field(1.0, 0.0)), ("latency_ns".to_owned(), "peak_gb_per_s".to_owned()));
    }

    #[test]
    fn the_peak_is_the_ceiling() {
        let given = json!({"n_threads": 2048 * 132, "bytes_per_load": 16, "loads_per_thread": 4, "latency_ns": 643,
            "peak_gb_per_s": 4814});
        let answer = eval("bytes_in_flight", &question(&given)).unwrap();
        assert_eq!((&answer["gb_per_s"], &answer["bound"]), (&json!(4814), &json!("peak")));
    }
}
