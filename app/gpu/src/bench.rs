//! An edited kernel on a device: the job that compiles, runs and counts it, and its goals by hardware counters. Who runs the job is
//! the caller's: the window's client, or the self-test.

use crate::exercise::{Exercise, Judged, Metric};
use crate::manifest::Kernel;
use crate::plan::{Mode, Plan, PointPlan};
use crate::protocol::{Inspect, Job};
use crate::vars::PointVars;
use std::collections::{BTreeMap, BTreeSet};
use vramlab_simt::{Act, Report, Space};
use vramlab_trace::DeviceFacts;
use vramlab_units::Map;

/// Longest that compiling and running may take, in seconds. A kernel of the course is done in a tenth.
pub const DEADLINE_SECS: f64 = 20.0;
const N_SAMPLES: u32 = 7;
const SEED: u64 = 20_261_130;

const LOAD_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
const LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const STORE_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
const STORE_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const SHARED_LOADS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
const SHARED_STORES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
/// What DRAM gave to a launch on a cold L2: shown beside the goal, and not its judge, because what is written stays in L2.
pub const DRAM_READ: &str = "dram__bytes_read.sum";

/// Wavefronts of shared memory wait for one another now and then, and the counter takes some of that for a further wavefront: an
/// excess of this share of the fewest is none.
const ARBITRATION: f64 = 0.02;

/// Where an edited kernel is to run.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    pub kernel: &'a Kernel,
    pub source: &'a str,
    pub params: &'a Map,
    pub facts: &'a DeviceFacts,
}

impl Bench<'_> {
    /// A job that compiles the source and says what it takes; if asked, it runs it against the oracle too and reads `counters`. The
    /// error is a sentence.
    pub fn job(&self, counters: Vec<String>, asked: Inspect) -> Result<Job, String> {
        let kernel = self.kernel;
        let Some(cuda) = &kernel.cuda else { return Err(format!("{} has no CUDA source", kernel.slug)) };
        let point = PointVars::of(kernel, self.params, self.facts);
        let peak_bytes = point.buffer_bytes(kernel);
        let Some(peak_bytes) = peak_bytes else {
            let reasons: Vec<String> = point.missing.values().cloned().collect();
            return Err(reasons.join("; "));
        };
        crate::launch::Launch::all(cuda, &point.vars)?;
        let params = kernel.params.iter().map(|param| {
            let value = self.params.get(&param.key).cloned();
            (param.key.clone(), value.unwrap_or_else(|| crate::vars::json_number(param.default)))
        });
        let planned = PointPlan {
            series: "edited".to_owned(),
            x: 0.0,
            params: params.collect(),
            vars: point.vars,
            predicted: None,
            n_samples: N_SAMPLES,
        };
        let plan = Plan {
            experiment: format!("{}/playground", kernel.slug),
            mode: Mode::Quick,
            points: vec![planned],
            peak_bytes: if asked == Inspect::Only { 0 } else { peak_bytes },
            deadline_secs: DEADLINE_SECS,
        };
        Ok(Job {
            id: 0,
            kernel: kernel.clone(),
            sources: BTreeMap::from([(cuda.source.clone(), self.source.to_owned())]),
            plan,
            counters: if asked == Inspect::AndRun { counters } else { Vec::new() },
            seed: SEED,
            inspect: Some(asked),
        })
    }
}

impl Metric {
    /// The counters from which it can be told; none if only the addresses tell it.
    pub fn counters(self) -> &'static [&'static str] {
        match self {
            Self::SectorsPerLoad | Self::WastedLoadSectors => &[LOAD_REQUESTS, LOAD_SECTORS],
            Self::SectorsPerStore | Self::WastedStoreSectors => &[STORE_REQUESTS, STORE_SECTORS],
            Self::GlobalRequests => &[LOAD_REQUESTS, STORE_REQUESTS],
            Self::L2Bytes => &[LOAD_SECTORS, STORE_SECTORS],
            Self::DramBytes => &[DRAM_READ],
            Self::ExcessWavefronts => &[SHARED_LOADS, SHARED_STORES],
            Self::SharedRequests | Self::Atomics | Self::DivergentBranches | Self::Barriers | Self::Races => &[],
        }
    }

    /// Its value by counters. The fewest sectors and wavefronts that the requests could do with are those of the addresses in
    /// `reports`: no counter knows them. None where nothing tells it.
    pub fn counted(self, counters: &BTreeMap<String, f64>, reports: Option<&[Report]>) -> Option<f64> {
        let get = |name: &str| counters.get(name).copied();
        let least = |space, act| {
            let least = |report: &Report| report.sum(space, act).least;
            reports.map(|reports| reports.iter().map(least).sum::<u64>() as f64)
        };
        let each = |moved: f64, requests: f64| if requests > 0.0 { moved / requests } else { 0.0 };
        match self {
            Self::SectorsPerLoad => Some(each(get(LOAD_SECTORS)?, get(LOAD_REQUESTS)?)),
            Self::SectorsPerStore => Some(each(get(STORE_SECTORS)?, get(STORE_REQUESTS)?)),
            Self::WastedLoadSectors => Some(get(LOAD_SECTORS)? - least(Space::Global, Act::Load)?),
            Self::WastedStoreSectors => Some(get(STORE_SECTORS)? - least(Space::Global, Act::Store)?),
            Self::GlobalRequests => Some(get(LOAD_REQUESTS)? + get(STORE_REQUESTS)?),
            Self::L2Bytes => Some(32.0 * (get(LOAD_SECTORS)? + get(STORE_SECTORS)?)),
            Self::ExcessWavefronts => {
                let fewest = least(Space::Shared, Act::Load)? + least(Space::Shared, Act::Store)?;
                let excess = get(SHARED_LOADS)? + get(SHARED_STORES)? - fewest;
                Some(if excess.abs() <= ARBITRATION * fewest { 0.0 } else { excess })
            }
            Self::DramBytes
            | Self::SharedRequests
            | Self::Atomics
            | Self::DivergentBranches
            | Self::Barriers
            | Self::Races => None,
        }
    }
}

impl Exercise {
    /// The counters of its goals, each once.
    pub fn counters(&self) -> Vec<String> {
        let all: BTreeSet<&str> = self.goals.iter().flat_map(|goal| goal.metric.counters()).copied().collect();
        all.into_iter().map(str::to_owned).collect()
    }

    /// The goals by counters, in order; none where a goal stays judged by addresses. `reports` are those of the same text, if the
    /// processor can play it.
    pub fn by_counters(&self, counters: &BTreeMap<String, f64>, reports: Option<&[Report]>) -> Vec<Option<Judged>> {
        let judge = |goal: &crate::exercise::Goal| Some(goal.judge_value(goal.metric.counted(counters, reports)?));
        self.goals.iter().map(judge).collect()
    }
}
