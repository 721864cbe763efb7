//! The record of one experiment.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use vramlab_units::Map;

/// Where the numbers were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// An NVIDIA GPU, through the CUDA driver API.
    Cuda,
    /// The learner's own processor, really measured.
    Cpu,
    /// A GPU through WebGPU or Vulkan.
    Wgpu,
    /// Plays scripted results and failures; never shown as a measurement.
    Fake,
}

impl Backend {
    pub fn id(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
            Self::Wgpu => "wgpu",
            Self::Fake => "fake",
        }
    }
}

/// What is known of the device that ran, as its driver or operating system reports it. Formulas see the numbers as
/// `device.sm_count` and so on; a fact that the machine does not tell is `None`, never a guess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceFacts {
    pub name: String,
    /// Driver version, or the kernel version of the operating system for a processor.
    pub driver: String,
    /// Versions of whatever else shaped the result: `nvrtc`, `cuda_driver_api`, `rustc`.
    pub versions: BTreeMap<String, String>,
    /// Compute capability × 10: 90 for sm_90.
    pub cc: Option<f64>,
    pub sm_count: Option<f64>,
    pub sm_clock_mhz: Option<f64>,
    pub mem_clock_mhz: Option<f64>,
    pub bus_bits: Option<f64>,
    /// Published or computed peak of the main memory.
    pub peak_gb_per_s: Option<f64>,
    pub l2_bytes: Option<f64>,
    /// Size of the last-level cache and of a line, for a processor.
    pub l1_bytes: Option<f64>,
    pub l3_bytes: Option<f64>,
    pub line_bytes: Option<f64>,
    pub n_cores: Option<f64>,
    pub total_bytes: Option<f64>,
    pub free_bytes: Option<f64>,
    pub shared_per_sm_bytes: Option<f64>,
    /// The most that a kernel may ask for, opt-in included: 232 448 on an H200.
    pub shared_per_block_bytes: Option<f64>,
    pub threads_per_sm: Option<f64>,
    /// 1 if the operating system kills long kernels (the card drives a display).
    pub has_kernel_timeout: Option<f64>,
    pub ecc: Option<f64>,
    /// 1 if this is a MIG slice.
    pub mig: Option<f64>,
}

impl DeviceFacts {
    /// Every name that [`Self::get`] knows.
    pub const NAMES: &[&str] = &[
        "cc",
        "sm_count",
        "sm_clock_mhz",
        "mem_clock_mhz",
        "bus_bits",
        "peak_gb_per_s",
        "l1_bytes",
        "l2_bytes",
        "l3_bytes",
        "line_bytes",
        "n_cores",
        "total_bytes",
        "free_bytes",
        "shared_per_sm_bytes",
        "shared_per_block_bytes",
        "threads_per_sm",
        "has_kernel_timeout",
        "ecc",
        "mig",
    ];

    /// The number called `name` (without the `device.` prefix).
    pub fn get(&self, name: &str) -> Option<f64> {
        Some(match name {
            "cc" => self.cc?,
            "sm_count" => self.sm_count?,
            "sm_clock_mhz" => self.sm_clock_mhz?,
            "mem_clock_mhz" => self.mem_clock_mhz?,
            "bus_bits" => self.bus_bits?,
            "peak_gb_per_s" => self.peak_gb_per_s?,
            "l1_bytes" => self.l1_bytes?,
            "l2_bytes" => self.l2_bytes?,
            "l3_bytes" => self.l3_bytes?,
            "line_bytes" => self.line_bytes?,
            "n_cores" => self.n_cores?,
            "total_bytes" => self.total_bytes?,
            "free_bytes" => self.free_bytes?,
            "shared_per_sm_bytes" => self.shared_per_sm_bytes?,
            "shared_per_block_bytes" => self.shared_per_block_bytes?,
            "threads_per_sm" => self.threads_per_sm?,
            "has_kernel_timeout" => self.has_kernel_timeout?,
            "ecc" => self.ecc?,
            "mig" => self.mig?,
            _ => return None,
        })
    }
}

/// What the sensors said around one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Telemetry {
    pub sm_clock_mhz: Option<f64>,
    pub mem_clock_mhz: Option<f64>,
    pub power_w: Option<f64>,
    pub temperature_c: Option<f64>,
    /// Clock-limiting reasons in NVML's words: `sw_power_cap`, `hw_thermal_slowdown`, …
    pub throttle: Vec<String>,
    /// Other compute processes on the device at that moment.
    pub other_processes: Option<u32>,
}

/// How the results compared with the CPU reference. A point without a passed check is never shown as a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum OracleOutcome {
    Passed {
        n_checked: u64,
        worst_error: f64,
    },
    Failed {
        first_wrong_idx: u64,
        #[serde(deserialize_with = "nan_if_null")]
        expected: f64,
        #[serde(deserialize_with = "nan_if_null")]
        found: f64,
        n_wrong: u64,
    },
}

/// JSON has no NaN and writes `null` for it; a kernel that computes one has failed its check, and the record says so.
fn nan_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Why a number is not shown as a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Invalid {
    /// Faster than the hardware allows: `value` against `limit`, both in the measured unit.
    FasterThanHardware {
        value: f64,
        limit: f64,
    },
    WrongResult,
    /// Nobody held the results against the reference.
    Unchecked,
    /// The launch is too short for the clock that timed it.
    TooShort {
        median_ns: f64,
        floor_ns: f64,
    },
    /// The run failed; the text is the runner's error.
    Failed {
        message: String,
    },
}

/// One measured point of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The series it belongs to, as named in the experiment.
    pub series: String,
    /// The kernel's parameters at this point, every one of them.
    pub params: Map,
    /// One duration a sample, in nanoseconds for one launch, in the order they were taken.
    pub samples_ns: Vec<f64>,
    /// Numbers that the kernel wrote itself, one a sample, e.g. cycles by the SM's clock.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub readings: BTreeMap<String, Vec<f64>>,
    /// Hardware counters by their profiler name; empty when no counter was read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
    #[serde(default)]
    pub telemetry: Telemetry,
    pub oracle: Option<OracleOutcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<Invalid>,
}

/// One experiment on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `SLUG/NAME` of the experiment.
    pub experiment: String,
    pub backend: Backend,
    /// Local date of the run, `2026-11-30`.
    pub date: String,
    pub device: DeviceFacts,
    /// Hash of the kernel's sources and manifest and of the experiment (see `vramlab-gpu`).
    pub content_hash: String,
    /// Version of the program that ran it.
    pub program: String,
    /// `quick` or `full`.
    pub mode: String,
    /// The parameters of the experiment that the reader may set.
    #[serde(default)]
    pub settings: Map,
    /// How counters were read: `cupti`, `ncu`, `none`.
    #[serde(default)]
    pub counter_rung: String,
    pub points: Vec<Point>,
}

impl Point {
    /// Median of the launch times.
    pub fn median_ns(&self) -> Option<f64> {
        median(&self.samples_ns)
    }

    /// Median absolute deviation of the launch times, in nanoseconds.
    pub fn mad_ns(&self) -> Option<f64> {
        let middle = self.median_ns()?;
        median(&self.samples_ns.iter().map(|sample| (sample - middle).abs()).collect::<Vec<_>>())
    }
}

/// The median of finite numbers; the mean of the two middle ones if their count is even.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|sample| sample.is_finite()).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    Some(if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) })
}
