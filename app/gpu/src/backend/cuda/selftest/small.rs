//! Every kernel once, at a small size, in this process and without counters: what a memory checker can watch.

use super::super::Cuda;
use crate::RunError;
use crate::manifest::{Experiment, Kernel};
use crate::plan::{Mode, Plan, PointPlan};
use crate::protocol::Job;
use crate::read::Library;
use crate::vars::PointVars;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome};
use vramlab_units::{Map, Value};

/// Sizes that finish within seconds under a checker, by the name of the parameter.
const SIZES: &[(&str, u64)] = &[
    ("n_words", 1 << 19),
    ("n_records", 1 << 16),
    ("n_elems", 1 << 19),
    ("n_bytes", 1 << 21),
    ("n_floats", 1 << 14),
    ("cap_bytes", 1 << 21),
    ("traffic_bytes", 1 << 22),
    ("n", 256),
    ("n_rounds", 16),
    ("hops", 1024),
    ("n_mat", 1),
    ("m", 64),
    ("weights_mib", 1),
    ("resident_mib", 1),
    ("n_tokens", 256),
    ("base_tokens", 1 << 16),
];

/// Launches every series of every experiment at the first, middle and last value of its sweep. Gives the number of
/// launches; the error names the first that is wrong.
pub fn small(library: &Library) -> Result<usize, RunError> {
    let mut cuda = Cuda::open(None)?;
    let facts = cuda.facts.clone();
    let mut n = 0;
    for (id, experiment) in library.experiments.iter().filter(|(_, found)| found.backend == Backend::Cuda) {
        // Work on the host launches nothing that a memory checker would look at.
        let Some((_, kernel)) = library.get(id).filter(|(_, kernel)| kernel.cuda_host.is_none()) else { continue };
        for point in points(experiment, kernel, &facts) {
            let job = job(library, id, kernel, point.clone());
            let ready = cuda.ready(&job, &point)?;
            let outcome = cuda.verify(&job, &point, &ready)?;
            if let OracleOutcome::Failed { first_wrong_idx, expected, found, .. } = outcome {
                let what = format!("{id} {:?}: [{first_wrong_idx}] is {found}, not {expected}", point.params);
                return Err(RunError::Content { what });
            }
            n += 1;
        }
    }
    Ok(n)
}

fn points(experiment: &Experiment, kernel: &Kernel, facts: &DeviceFacts) -> Vec<PointPlan> {
    let values = &experiment.sweep.values;
    let mut picked: Vec<f64> =
        [values.first(), values.get(values.len() / 2), values.last()].into_iter().flatten().copied().collect();
    picked.dedup();
    let mut out = Vec::new();
    for series in &experiment.series {
        for x in &picked {
            let mut params: Map = kernel.params.iter().map(|param| (param.key.clone(), param.default.into())).collect();
            for (key, size) in SIZES.iter().filter(|(key, _)| params.contains_key(*key)).collect::<Vec<_>>() {
                params.insert((*key).to_owned(), Value::from(*size));
            }
            params.extend(series.set.clone());
            if !SIZES.iter().any(|(key, _)| *key == experiment.sweep.param) {
                params.insert(experiment.sweep.param.clone(), (*x).into());
            }
            let vars = PointVars::of(kernel, &params, facts).vars;
            out.push(PointPlan { series: series.id.clone(), x: *x, params, vars, predicted: None, n_samples: 1 });
        }
    }
    out
}

fn job(library: &Library, id: &str, kernel: &Kernel, point: PointPlan) -> Job {
    let plan =
        Plan { experiment: id.to_owned(), mode: Mode::Full, points: vec![point], peak_bytes: 0, deadline_secs: 60.0 };
    let sources = library.sources(&kernel.slug).cloned().unwrap_or_default();
    Job { id: 1, kernel: kernel.clone(), sources, plan, counters: Vec::new(), seed: 7, inspect: None }
}
