//! The kernels of the course: their manifests read without a problem, and every experiment plans for every device of
//! `assets/hardware.toml`, fits its budget and keeps its effect, or gives a reason.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

use std::collections::BTreeMap;
use std::path::Path;
use vramlab_gpu::hardware::Hardware;
use vramlab_gpu::plan::{DISPLAY_EST_NS, Mode, PlanError, default_budget, plan, predicted_ratio};
use vramlab_gpu::read::Library;
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::{Lang, Map};

fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut out = BTreeMap::new();
    for folder in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            out.insert(name, std::fs::read_to_string(&file).unwrap());
        }
    }
    out
}

fn library() -> Library {
    let files = files();
    Library::from_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

#[test]
fn manifests_have_no_problem() {
    let library = library();
    let problems: Vec<String> = library.problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(!library.kernels.is_empty() && !library.experiments.is_empty());
    for slug in library.kernels.keys() {
        let is_used = library.experiments.keys().any(|id| id.starts_with(&format!("{slug}/")));
        assert!(is_used || library.exercises.contains_key(slug), "kernel {slug} has neither experiment nor exercise");
    }
}

#[test]
fn every_experiment_plans_for_every_device_or_says_why_not() {
    let hardware = Hardware::read(include_str!("../../../assets/hardware.toml")).unwrap();
    let library = library();
    for (id, experiment) in library.experiments.iter().filter(|(_, experiment)| experiment.backend == Backend::Cuda) {
        let (_, kernel) = library.get(id).unwrap();
        let mut fits = Vec::new();
        for device in &hardware.devices {
            let facts = device.device_facts();
            let budget = default_budget(&facts);
            for mode in [Mode::Quick, Mode::Full] {
                match plan(experiment, kernel, &facts, mode, budget, &Map::new()) {
                    Ok(plan) => {
                        fits.push(device.id.as_str());
                        assert!(plan.peak_bytes <= budget, "{id} on {}: {} bytes", device.id, plan.peak_bytes);
                        let ratio = predicted_ratio(&plan, &experiment.effect).unwrap();
                        assert!(ratio >= experiment.effect.at_least, "{id} on {}: ratio {ratio}", device.id);
                        assert!(plan.points.iter().all(|point| point.predicted.is_some()), "{id} on {}", device.id);
                        if facts.has_kernel_timeout == Some(1.0) {
                            let longest = plan.points.iter().filter_map(|point| point.vars.get("est_ns"));
                            assert!(longest.copied().fold(0.0, f64::max) <= DISPLAY_EST_NS, "{id} on {}", device.id);
                        }
                    }
                    Err(PlanError::Unfit { why }) => {
                        assert!(!why.get(Lang::Zh).is_empty() && !why.get(Lang::En).is_empty(), "{id}: {why:?}");
                        eprintln!("{id} on {}: {}", device.id, why.get(Lang::En));
                    }
                    Err(error) => panic!("{id} on {}: {error}", device.id),
                }
            }
        }
        assert!(fits.contains(&"h200"), "{id} fits only on {fits:?}; the traces are recorded on an H200");
    }
}

/// A laptop, a large server, and a virtual machine that tells almost nothing.
fn processors() -> [DeviceFacts; 3] {
    let gib = f64::from(1 << 30);
    let facts = |name: &str, free_gib: f64| DeviceFacts {
        name: name.into(),
        free_bytes: Some(free_gib * gib),
        ..DeviceFacts::default()
    };
    let kib = |n: u32| Some(f64::from(n) * 1024.0);
    let cached = |l1: u32, l2: u32, l3: u32, n_cores: f64, facts: DeviceFacts| DeviceFacts {
        l1_bytes: kib(l1),
        l2_bytes: kib(l2),
        l3_bytes: kib(l3),
        line_bytes: Some(64.0),
        n_cores: Some(n_cores),
        ..facts
    };
    [
        cached(32, 1024, 16 << 10, 8.0, facts("laptop", 6.0)),
        cached(48, 2048, 300 << 10, 64.0, facts("server", 200.0)),
        DeviceFacts { n_cores: Some(2.0), ..facts("virtual machine", 2.0) },
    ]
}

#[test]
fn every_processor_experiment_plans_on_every_processor_or_says_why_not() {
    let library = library();
    for (id, experiment) in library.experiments.iter().filter(|(_, experiment)| experiment.backend == Backend::Cpu) {
        let (_, kernel) = library.get(id).unwrap();
        let mut n_fit = 0;
        for facts in processors() {
            let budget = default_budget(&facts);
            match plan(experiment, kernel, &facts, Mode::Quick, budget, &Map::new()) {
                Ok(plan) => {
                    n_fit += 1;
                    assert!(plan.peak_bytes <= budget, "{id} on {}", facts.name);
                    let ratio = predicted_ratio(&plan, &experiment.effect);
                    assert!(ratio.is_none_or(|ratio| ratio >= experiment.effect.at_least), "{id}: {ratio:?}");
                }
                Err(PlanError::Unfit { why }) => eprintln!("{id} on {}: {}", facts.name, why.get(Lang::En)),
                Err(error) => panic!("{id} on {}: {error}", facts.name),
            }
        }
        assert!(n_fit > 0, "{id} fits nowhere");
    }
}

/// Whoever records a pack of their own card waits for all of it: a quarter of an hour for the chapters that stand.
#[test]
fn recorded_times_add_up() {
    let times: Vec<f64> = library().experiments.values().map(|experiment| experiment.time_secs).collect();
    assert!(times.iter().all(|secs| *secs <= vramlab_gpu::read::MAX_SECS), "{times:?}");
    let total: f64 = times.iter().sum();
    assert!(total <= 900.0, "{total} s over {} experiments", times.len());
}
