//! The processor as a device: every CPU experiment of the course plans, runs and passes its check on the machine at
//! hand. Whether an effect shows here is for the page to say: this machine may be busy. `--nocapture` prints what was
//! measured beside what the model says.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use vramlab_gpu::RunError;
use vramlab_gpu::backend::cpu::{ROUTINES, facts};
use vramlab_gpu::client::{Client, Limits, Spawn, Target};
use vramlab_gpu::plan::{Mode, Plan, PlanError, default_budget, plan};
use vramlab_gpu::protocol::{FromChild, Job};
use vramlab_gpu::read::Library;
use vramlab_gpu::verdict::{Verdict, judge};
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point, Run};
use vramlab_units::{Lang, Map};

const SEED: u64 = 20_261_130;

fn library() -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let slug = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            files.extend(std::fs::read_to_string(&file).ok().map(|text| (format!("{slug}/{name}"), text)));
        }
    }
    Library::from_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

fn experiments(library: &Library) -> Vec<&str> {
    let cpu = library.experiments.iter().filter(|(_, experiment)| experiment.backend == Backend::Cpu);
    cpu.map(|(id, _)| id.as_str()).collect()
}

fn job(library: &Library, id: &str, plan: Plan) -> Job {
    let (_, kernel) = library.get(id).unwrap();
    Job {
        id: 0,
        kernel: kernel.clone(),
        sources: BTreeMap::new(),
        plan,
        counters: Vec::new(),
        seed: SEED,
        inspect: None,
    }
}

fn client() -> Client {
    let no_script: [&str; 0] = [];
    let spawn = Spawn::program(env!("CARGO_BIN_EXE_vramlab-fake-runner"), no_script);
    Client::new(spawn, Limits::default(), Arc::new(|| {}))
}

fn run_of(id: &str, device: &DeviceFacts, points: Vec<Point>) -> Run {
    Run {
        experiment: id.to_owned(),
        backend: Backend::Cpu,
        date: "2026-11-30".to_owned(),
        device: device.clone(),
        content_hash: String::new(),
        program: String::new(),
        mode: "quick".to_owned(),
        settings: Map::new(),
        counter_rung: "none".to_owned(),
        points,
    }
}

#[test]
fn every_routine_is_used_and_every_cpu_kernel_names_one_with_its_buffers() {
    let library = library();
    for routine in ROUTINES {
        let users =
            library.kernels.values().filter(|kernel| kernel.cpu.as_ref().is_some_and(|cpu| cpu.routine == routine.id));
        assert!(users.count() > 0, "no kernel uses {}", routine.id);
    }
    for kernel in library.kernels.values() {
        let Some(cpu) = &kernel.cpu else { continue };
        let routine = ROUTINES.iter().find(|routine| routine.id == cpu.routine);
        let routine = routine.unwrap_or_else(|| panic!("{}: no routine {}", kernel.slug, cpu.routine));
        for name in routine.buffers {
            assert!(kernel.buffers.iter().any(|buffer| buffer.name == *name), "{}: no buffer {name}", kernel.slug);
        }
        for name in cpu.with.keys() {
            assert!(routine.inputs.iter().any(|input| input.name == name), "{}: with.{name}", kernel.slug);
        }
    }
}

#[test]
fn every_cpu_experiment_runs_in_a_child_and_passes_its_check() {
    let library = library();
    assert!(experiments(&library).len() >= 19, "only {} experiments", experiments(&library).len());
    let mut client = client();
    let device = client.facts_blocking(Target::new(Backend::Cpu)).unwrap();
    for id in experiments(&library) {
        let (experiment, kernel) = library.get(id).unwrap();
        for mode in [Mode::Quick, Mode::Full] {
            if mode == Mode::Full && std::env::var_os("VRAMLAB_FULL").is_none() {
                continue;
            }
            let plan = match plan(experiment, kernel, &device, mode, default_budget(&device), &Map::new()) {
                Ok(plan) => plan,
                Err(PlanError::Unfit { why }) => {
                    println!("{id}: skipped, {}", why.get(Lang::En));
                    continue;
                }
                Err(error) => panic!("{id}: {error}"),
            };
            let n_points = plan.points.len();
            let start = Instant::now();
            let mut first = None;
            let job = job(&library, id, plan);
            let points = client.run_blocking(Target::new(Backend::Cpu), job, |event| {
                if matches!(event, vramlab_gpu::client::ClientEvent::Job(FromChild::Point { .. })) {
                    first.get_or_insert_with(|| start.elapsed());
                }
                ControlFlow::Continue(())
            });
            let points = points.unwrap_or_else(|error| panic!("{id}: {error}"));
            println!("{id} {}: first {:.2?}, all {:.2?}", mode.id(), first.unwrap(), start.elapsed());
            assert_eq!(points.len(), n_points);
            for point in &points {
                check_point(id, point);
            }
            let judged = judge(&run_of(id, &device, points), experiment, kernel);
            for point in &judged.points {
                let (value, predicted) = (point.value.unwrap(), point.predicted.unwrap());
                let (x, spread) = (point.x.unwrap(), 100.0 * point.spread.unwrap());
                let time_us = point.vars["time_ns"] / 1e3;
                println!(
                    "  {:8} {x:6} model {predicted:7.3} measured {value:7.3} ± {spread:4.1} %  {time_us:8.0} µs",
                    point.series
                );
            }
            let verdict = judged.verdict;
            println!("  {verdict:?}");
            assert!(matches!(verdict, Verdict::Shown { .. } | Verdict::Hidden { .. }), "{id}: {verdict:?}");
        }
    }
}

fn check_point(id: &str, point: &Point) {
    let Some(OracleOutcome::Passed { n_checked, .. }) = point.oracle else { panic!("{id}: {:?}", point.oracle) };
    assert!(n_checked > 0 && point.invalid.is_none(), "{id}: {:?}", point.invalid);
    let taken = &point.samples_ns;
    assert!(!taken.is_empty() && taken.iter().all(|ns| ns.is_finite() && *ns > 0.0), "{id}: {taken:?}");
    for (name, numbers) in &point.readings {
        let is_told = |value: f64| value.is_finite() && value >= 0.0 && (value > 0.0 || may_be_nothing(name));
        assert!(!numbers.is_empty() && numbers.iter().all(|value| is_told(*value)), "{id}: {name} {numbers:?}");
    }
}

/// Readings that are no times and no sums of bytes that must be there.
fn may_be_nothing(name: &str) -> bool {
    const MAY: [&str; 12] = [
        "share_hit",
        "zeroed_pct",
        "workspace_mib",
        "gradients_mib",
        "host_mib",
        "moved_mib",
        "differ_share",
        "gap",
        "cpu_bits",
        "refused_mib",
        "optimizer_state_mib",
        "activations_mib",
    ];
    MAY.contains(&name)
}

#[test]
fn an_experiment_that_does_not_fit_the_budget_shrinks_or_says_so() {
    let library = library();
    let device = facts();
    for id in experiments(&library) {
        let (experiment, kernel) = library.get(id).unwrap();
        match plan(experiment, kernel, &device, Mode::Quick, 64 << 20, &Map::new()) {
            Ok(plan) => assert!(plan.peak_bytes <= 64 << 20, "{id}: {}", plan.peak_bytes),
            Err(PlanError::Unfit { .. }) => {}
            Err(error) => panic!("{id}: {error}"),
        }
    }
}

#[test]
fn a_machine_that_tells_nothing_still_gets_its_plan() {
    let library = library();
    for id in experiments(&library) {
        let (experiment, kernel) = library.get(id).unwrap();
        let plan = plan(experiment, kernel, &DeviceFacts::default(), Mode::Full, 1 << 30, &Map::new());
        let plan = plan.unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(plan.points.iter().all(|point| point.predicted.is_some()), "{id}");
    }
}

#[test]
fn one_core_is_an_honest_reason() {
    let library = library();
    let (experiment, kernel) = library.get("cpu_false_sharing/main").unwrap();
    let device = DeviceFacts { n_cores: Some(1.0), ..DeviceFacts::default() };
    let error = plan(experiment, kernel, &device, Mode::Quick, 1 << 30, &Map::new()).unwrap_err();
    assert!(
        matches!(&error, PlanError::Unfit { why } if why.get(Lang::En).contains("take turns on one core")),
        "{error}"
    );
}

#[test]
fn a_cancelled_cpu_job_ends_and_the_child_serves_the_next() {
    let library = library();
    let mut client = client();
    let target = Target::new(Backend::Cpu);
    let device = client.facts_blocking(target).unwrap();
    let (experiment, kernel) = library.get("cpu_stride/main").unwrap();
    let plan = plan(experiment, kernel, &device, Mode::Full, default_budget(&device), &Map::new()).unwrap();
    let result = client.run_blocking(target, job(&library, "cpu_stride/main", plan), |_| ControlFlow::Break(()));
    assert_eq!(result.unwrap_err(), RunError::Cancelled);
    assert!(client.facts_blocking(target).is_ok());
}
