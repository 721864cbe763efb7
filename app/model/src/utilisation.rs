//! Utilisation as a monitor reports it, beside the bandwidth that was really reached.
//!
//! Question: when kernels ran, in which window one looks, and perhaps how many bytes each moved. Answer: the share of the
//! window in which at least one kernel ran, and the bytes of the window against the peak.
//! Assumption: a kernel moves its bytes evenly over its time, so that one which is partly in the window brings that part.
//! Source: NVML API Reference, `nvmlUtilization_t`: `gpu` is the share of the sample period in which one or more kernels
//! ran; a period is 1/6 to 1 second. It is not a share of any peak.
//! Errors: lists of different lengths, a kernel that ends before it starts, an empty window, more bytes than the peak.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// When a kernel ran, and what it moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    pub start_us: f64,
    pub end_us: f64,
    pub bytes: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub window_us: f64,
    /// Time in which at least one kernel ran.
    pub busy_us: f64,
    /// Bytes moved inside the window.
    pub bytes: f64,
}

impl Found {
    pub fn gpu_util(&self) -> f64 {
        self.busy_us / self.window_us
    }

    pub fn achieved_gb_per_s(&self) -> f64 {
        self.bytes / (self.window_us * 1.0e3)
    }

    /// Achieved bandwidth over `peak_gb_per_s`.
    pub fn share_of(&self, peak_gb_per_s: f64) -> f64 {
        self.achieved_gb_per_s() / peak_gb_per_s
    }
}

/// `from_us < to_us`, and no kernel ends before it starts.
pub fn run(kernels: &[Kernel], from_us: f64, to_us: f64) -> Found {
    let mut inside: Vec<(f64, f64)> = kernels
        .iter()
        .map(|kernel| (kernel.start_us.max(from_us), kernel.end_us.min(to_us)))
        .filter(|(start, end)| end > start)
        .collect();
    inside.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut busy_us, mut seen_to) = (0.0, f64::NEG_INFINITY);
    for (start, end) in inside {
        busy_us += (end - start.max(seen_to)).max(0.0);
        seen_to = seen_to.max(end);
    }
    let bytes = kernels.iter().map(|kernel| bytes_inside(kernel, from_us, to_us)).sum();
    Found { window_us: to_us - from_us, busy_us, bytes }
}

fn bytes_inside(kernel: &Kernel, from_us: f64, to_us: f64) -> f64 {
    let whole = kernel.end_us - kernel.start_us;
    let part = (kernel.end_us.min(to_us) - kernel.start_us.max(from_us)).max(0.0);
    if whole > 0.0 { kernel.bytes * part / whole } else { 0.0 }
}

const MOST_KERNELS: usize = 1024;
const MOST_US: i64 = 1_000_000_000_000;
const MOST_BYTES: i64 = 1_000_000_000_000_000;

pub struct Utilisation;

impl Model for Utilisation {
    const ID: &'static str = "utilisation";
    const TITLE: Text = Text::new("利用率与实际带宽", "Utilisation and achieved bandwidth");
    const ASSUMES: Text = Text::new(
        "利用率只看有没有内核在跑，不看跑得多满。内核的字节按时间均匀分布。",
        "Utilisation asks only whether a kernel runs, not how hard. A kernel moves its bytes evenly over its time.",
    );
    const SOURCE: &'static str = "NVML API Reference, nvmlUtilization_t";
    const EXAMPLE: &'static str =
        r#"{"starts_us": [0, 20, 25], "ends_us": [10, 30, 40], "window_start_us": 0, "window_end_us": 100}"#;

    fn question() -> Vec<FieldSpec> {
        let list = |key, unit, max, zh, en| {
            let kind = FieldKind::IntList { min_len: 0, max_len: MOST_KERNELS, min: 0, max };
            FieldSpec::new(key, unit, kind, Text::new(zh, en))
        };
        let time = |key, zh, en| FieldSpec::int(key, "µs", 0, MOST_US, Text::new(zh, en));
        vec![
            list("starts_us", "µs", MOST_US, "每个内核开始的时刻", "When each kernel starts"),
            list("ends_us", "µs", MOST_US, "每个内核结束的时刻", "When each kernel ends"),
            list("kernel_bytes", "B", MOST_BYTES, "每个内核搬的字节", "Bytes that each kernel moves").optional(),
            time("window_start_us", "采样窗口的开始", "Start of the window"),
            time("window_end_us", "采样窗口的结束", "End of the window"),
            fields::peak().optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, most, zh, en| FieldSpec::num(key, unit, 0.0, most, Text::new(zh, en));
        vec![
            num("busy_us", "µs", MOST_US as f64, "至少有一个内核在跑的时间", "Time in which at least one kernel ran"),
            num("gpu_util", "%", 1.0, "利用率：上一项除以窗口", "Utilisation: that over the window"),
            num("achieved_gb_per_s", "GB/s", 1.0e16, "窗口内的平均带宽", "Bandwidth, averaged over the window")
                .optional(),
            num("achieved_share", "%", 1.0, "平均带宽占峰值的份额", "That as a share of the peak").optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let kernels = kernels(args)?;
        let (from, to) = (args.int("window_start_us"), args.int("window_end_us"));
        if to <= from {
            let reason = format!("{to} must be later than window_start_us = {from}");
            return Err(FieldError::conflict("window_end_us", reason));
        }
        let found = run(&kernels, from as f64, to as f64);
        let has_bytes = args.has("kernel_bytes");
        let share = (has_bytes && args.has("peak_gb_per_s")).then(|| found.share_of(args.num("peak_gb_per_s")));
        if let Some(share) = share.filter(|share| *share > 1.0) {
            let reason = format!("would need {share:.3} times peak_gb_per_s = {}", args.num("peak_gb_per_s"));
            return Err(FieldError::conflict("kernel_bytes", reason));
        }
        let or_null = |value: Option<f64>| value.map_or(Value::Null, fields::number);
        Ok(fields::answer([
            ("busy_us", fields::number(found.busy_us)),
            ("gpu_util", fields::number(found.gpu_util())),
            ("achieved_gb_per_s", or_null(has_bytes.then(|| found.achieved_gb_per_s()))),
            ("achieved_share", or_null(share)),
        ]))
    }
}

fn kernels(args: &Args) -> Result<Vec<Kernel>, FieldError> {
    let (starts, ends) = (args.ints("starts_us"), args.ints("ends_us"));
    let bytes = if args.has("kernel_bytes") { args.ints("kernel_bytes") } else { vec![0; starts.len()] };
    for (key, list) in [("ends_us", &ends), ("kernel_bytes", &bytes)] {
        if list.len() != starts.len() {
            let reason = format!("has {} values, starts_us has {}; each kernel needs one", list.len(), starts.len());
            return Err(FieldError::conflict(key, reason));
        }
    }
    if let Some((start, end)) = starts.iter().zip(&ends).find(|(start, end)| end < start) {
        return Err(FieldError::conflict("ends_us", format!("a kernel ends at {end}, before it starts at {start}")));
    }
    let kernel = |((start, end), bytes): ((i64, i64), i64)| Kernel {
        start_us: start as f64,
        end_us: end as f64,
        bytes: bytes as f64,
    };
    Ok(starts.into_iter().zip(ends).zip(bytes).map(kernel).collect())
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};
    use vramlab_units::{FieldError, Map};

    fn ask(given: &Value) -> Result<Map, FieldError> {
        eval("utilisation", &question(given))
    }

    #[track_caller]
    fn util(kernels: &[(i64, i64)], window: (i64, i64), expected: f64) {
        let starts: Vec<i64> = kernels.iter().map(|kernel| kernel.0).collect();
        let ends: Vec<i64> = kernels.iter().map(|kernel| kernel.1).collect();
        let given =
            json!({"starts_us": starts, "ends_us": ends, "window_start_us": window.0, "window_end_us": window.1});
        let found = ask(&given).unwrap()["gpu_util"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    /// Brief 01, vector 5.
    #[test]
    fn utilisation_is_the_union_of_intervals() {
        util(&[(0, 10), (20, 30), (25, 40)], (0, 100), 0.30);
        let nine_of_ten: Vec<(i64, i64)> = (0..10).map(|idx| (idx * 10_000, idx * 10_000 + 9_000)).collect();
        util(&nine_of_ten, (0, 100_000), 0.90);
        util(&[], (0, 100), 0.0);
    }

    #[test]
    fn only_what_lies_in_the_window_counts() {
        util(&[(0, 100)], (50, 150), 0.5);
        util(&[(0, 10), (200, 300)], (20, 100), 0.0);
        util(&[(0, 100), (10, 20), (30, 40)], (0, 100), 1.0); // kernels inside another add nothing
    }

    /// A second at 100 % in which 400 GB move, of the 4800 that could: a twelfth.
    #[test]
    fn a_busy_card_may_move_little() {
        let given = json!({"starts_us": [0], "ends_us": [2_000_000], "kernel_bytes": [800_000_000_000u64],
            "window_start_us": 0, "window_end_us": 1_000_000, "peak_gb_per_s": 4800});
        let answer = ask(&given).unwrap();
        assert_eq!((&answer["gpu_util"], &answer["achieved_gb_per_s"]), (&json!(1), &json!(400)));
        assert!((answer["achieved_share"].as_f64().unwrap() - 1.0 / 12.0).abs() < 1e-12);
    }

    /// Brief 01, vector 7: an empty window and a kernel that ends before it starts; and lists that do not match.
    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let given = |starts: &[i64], ends: &[i64], window: (i64, i64)| json!({"starts_us": starts, "ends_us": ends, "window_start_us": window.0, "window_end_us": window.1});
        assert_eq!(ask(&given(&[0], &[1], (5, 5))).unwrap_err().field(), "window_end_us");
        assert_eq!(ask(&given(&[0], &[1], (5, 4))).unwrap_err().field(), "window_end_us");
        let error = ask(&given(&[10], &[9], (0, 100))).unwrap_err();
        assert_eq!(error.to_string(), "ends_us: a kernel ends at 9, before it starts at 10");
        assert_eq!(ask(&given(&[10, 20], &[15], (0, 100))).unwrap_err().field(), "ends_us");
        let mut fast = given(&[0], &[100], (0, 100));
        (fast["kernel_bytes"], fast["peak_gb_per_s"]) = (json!([1_000_000]), json!(1));
        assert_eq!(ask(&fast).unwrap_err().field(), "kernel_bytes");
    }
}
