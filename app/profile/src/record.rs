//! What a profile holds. Columns of equal length: a row is a moment. Times of samples are microseconds since the program
//! began, times of activities nanoseconds since then.

use serde::{Deserialize, Serialize};
use vramlab_units::Localized;

/// The version that is written.
pub const VERSION: u32 = 1;

/// A whole recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// The version of the format; the first key of the file, by which it is recognised.
    pub vramlab_profile: u32,
    pub program: String,
    /// Date of the recording, `2026-11-30`.
    pub date: String,
    pub command: Vec<String>,
    /// Absent without a GPU; `notes` says why.
    pub device: Option<Device>,
    pub interval_us: u64,
    pub wall_us: u64,
    pub exit: Exit,
    pub sampler: Sampler,
    pub processes: Vec<Process>,
    pub samples: Samples,
    pub activities: Vec<Activity>,
    /// The same command without sampler and library, where that was measured.
    pub compared: Option<Compared>,
    pub notes: Vec<Localized>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    pub name: String,
    pub driver: String,
    pub index: u32,
    pub n_devices: u32,
    pub total_bytes: u64,
    /// What the driver keeps for itself and reports apart from used memory.
    pub reserved_bytes: Option<u64>,
    /// Used before the program began, by others.
    pub before_bytes: u64,
}

/// How the program ended: one of the two, or neither if that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// What watching cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampler {
    /// Processor time of the sampling thread while the program ran.
    pub cpu_us: u64,
    /// A sample, measured before the program began: median and most of some.
    pub calibrated_ns: u64,
    pub calibrated_most_ns: u64,
    /// A sample while the program ran, median.
    pub sample_ns: u64,
    /// Samples that came more than half an interval late.
    pub n_late: u64,
}

/// A process of the program's tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    /// The sample in which it was first seen.
    pub first: usize,
    /// Memory on the device as NVML attributes it, bytes, from `first` on; nothing where NVML did not list it.
    pub gpu: Vec<Option<u64>>,
    /// Resident memory on the host, bytes.
    pub rss: Vec<Option<u64>>,
}

/// What does not belong to one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Samples {
    pub t_us: Vec<u64>,
    /// Used on the device, by everybody.
    pub used: Vec<Option<u64>>,
    /// Percent of the sensor's own window.
    pub util: Vec<Option<u32>>,
    pub sm_mhz: Vec<Option<u32>>,
    pub mem_mhz: Vec<Option<u32>>,
    pub power_mw: Vec<Option<u32>>,
    /// NVML's bits.
    pub throttle: Vec<Option<u64>>,
}

/// What the injected library recorded in one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    pub pid: u32,
    pub cupti_version: u32,
    /// The process ended in its own way; otherwise what was flushed before is here.
    pub is_whole: bool,
    pub n_dropped: u64,
    pub n_over: u64,
    pub n_unknown: u64,
    /// Time in the library's own callbacks.
    pub own_ns: u64,
    /// CUPTI's own account of its overhead, by its kinds.
    pub overhead: Vec<(u8, u64)>,
    pub names: Vec<String>,
    pub kernels: Kernels,
    pub copies: Transfers,
    pub sets: Transfers,
    pub memory: Memory,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernels {
    pub start_ns: Vec<u64>,
    pub ns: Vec<u64>,
    /// Index into the names.
    pub name: Vec<u32>,
    pub stream: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transfers {
    pub start_ns: Vec<u64>,
    pub ns: Vec<u64>,
    pub bytes: Vec<u64>,
    /// As CUPTI numbers kinds of copies; 0 for memset.
    pub kind: Vec<u8>,
}

/// Allocations and releases, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub t_ns: Vec<u64>,
    pub is_free: Vec<bool>,
    /// As CUPTI numbers kinds of memory: 2 pinned, 3 device, 5 managed.
    pub kind: Vec<u8>,
    pub address: Vec<u64>,
    pub bytes: Vec<u64>,
    /// From a stream-ordered pool.
    pub is_pool: Vec<bool>,
}

/// Two runs of the same command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    pub watched_us: u64,
    pub plain_us: u64,
}

impl Profile {
    /// Whether CUPTI's records are here.
    pub fn has_activity(&self) -> bool {
        self.activities.iter().any(|activity| activity.n_records() > 0)
    }

    /// As a file's bytes.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Activity {
    pub fn n_records(&self) -> usize {
        self.kernels.ns.len() + self.copies.ns.len() + self.sets.ns.len() + self.memory.t_ns.len()
    }
}

impl Process {
    /// What NVML attributed to it in sample `row`.
    pub fn gpu_at(&self, row: usize) -> Option<u64> {
        *self.gpu.get(row.checked_sub(self.first)?)?
    }

    pub fn rss_at(&self, row: usize) -> Option<u64> {
        *self.rss.get(row.checked_sub(self.first)?)?
    }
}
