//! What parent and child say to each other: one JSON object a line, over any byte stream. The first message each way
//! is the version; unknown versions are refused before anything else is read. `wire.rs` puts the lines on a stream.

use crate::build::Build;
use crate::error::RunError;
use crate::manifest::Kernel;
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vramlab_trace::{Backend, DeviceFacts, Point, Telemetry};

pub const VERSION: u32 = 1;
/// Longest accepted line, in bytes.
pub const MAX_LINE: usize = 8 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "say")]
pub enum ToChild {
    Hello {
        version: u32,
    },
    /// Which back end, and the most memory a job may take.
    Open {
        backend: Backend,
        budget_bytes: Option<u64>,
    },
    Run {
        job: Box<Job>,
    },
    Cancel {
        job_id: u64,
    },
    Quit,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: u64,
    pub kernel: Kernel,
    /// Source files of the kernel by name.
    pub sources: BTreeMap<String, String>,
    pub plan: Plan,
    /// Profiler metrics to read once a point, outside the timed launches.
    pub counters: Vec<String>,
    pub seed: u64,
    /// The compiler's findings are asked for too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspect: Option<Inspect>,
}

/// What a job of an edited source is to tell beside its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspect {
    /// Compile and say what came of it; the point is not run.
    Only,
    AndRun,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "say")]
pub enum FromChild {
    Hello {
        version: u32,
        program: String,
    },
    /// The back end asked for is open. A back end that cannot be opened is a `Failed` without a job.
    Opened {
        backend: Backend,
        facts: Box<DeviceFacts>,
    },
    /// Sent several times a second while a job runs or a back end opens; 0 stands for no job.
    Heartbeat {
        job_id: u64,
    },
    Progress {
        job_id: u64,
        done: u32,
        total: u32,
        telemetry: Telemetry,
    },
    Point {
        job_id: u64,
        point: Box<Point>,
    },
    /// How counters were read in this job: `cupti` or `none`, with the reason.
    Rung {
        job_id: u64,
        rung: String,
        why: String,
    },
    /// What became of the source, before its first point: only where [`Job::inspect`] asks.
    Built {
        job_id: u64,
        build: Box<Build>,
    },
    Done {
        job_id: u64,
    },
    Failed {
        job_id: Option<u64>,
        error: RunError,
    },
}

impl FromChild {
    /// The job that the message is about.
    pub fn job_id(&self) -> Option<u64> {
        match self {
            Self::Hello { .. } | Self::Opened { .. } => None,
            Self::Heartbeat { job_id } => Some(*job_id).filter(|id| *id != 0),
            Self::Progress { job_id, .. }
            | Self::Point { job_id, .. }
            | Self::Rung { job_id, .. }
            | Self::Built { job_id, .. }
            | Self::Done { job_id } => Some(*job_id),
            Self::Failed { job_id, .. } => *job_id,
        }
    }
}
