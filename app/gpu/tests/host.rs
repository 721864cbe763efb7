//! Kernels whose work is a routine on the host: they name a routine and its inputs, and every experiment of theirs plans
//! and predicts on the recording machine. `--nocapture` prints what the models expect.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use std::path::Path;
use vramlab_gpu::backend::host::{OUT, ROUTINES, find};
use vramlab_gpu::plan::{Mode, default_budget, plan, predicted_ratio};
use vramlab_gpu::read::Library;
use vramlab_trace::DeviceFacts;
use vramlab_units::Map;

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

/// An H200 as its driver tells of itself.
fn h200() -> DeviceFacts {
    DeviceFacts {
        name: "NVIDIA H200".into(),
        driver: "580".into(),
        cc: Some(90.0),
        sm_count: Some(132.0),
        sm_clock_mhz: Some(1980.0),
        peak_gb_per_s: Some(4814.3),
        l2_bytes: Some(62_914_560.0),
        total_bytes: Some(150_109_880_320.0),
        free_bytes: Some(149_500_000_000.0),
        has_kernel_timeout: Some(0.0),
        ..DeviceFacts::default()
    }
}

#[test]
fn every_routine_is_used_and_every_host_kernel_names_one_with_its_inputs() {
    let library = library();
    assert!(library.problems.is_empty(), "{:#?}", library.problems);
    for kernel in library.kernels.values() {
        let Some(host) = &kernel.cuda_host else { continue };
        let routine = find(&host.routine).unwrap_or_else(|| panic!("{}: no routine {}", kernel.slug, host.routine));
        for name in host.with.keys() {
            assert!(routine.inputs.iter().any(|input| input.name == name), "{}: with.{name}", kernel.slug);
        }
        for input in routine.inputs {
            assert!(host.with.contains_key(input.name), "{}: with.{} is missing", kernel.slug, input.name);
        }
        let out = kernel.buffers.iter().find(|buffer| buffer.name == OUT).unwrap();
        assert_eq!(out.bytes, (4 * routine.checks.len()).to_string(), "{}", kernel.slug);
        let sources = library.sources(&kernel.slug).cloned().unwrap_or_default();
        assert!(host.source.as_ref().is_none_or(|source| sources.contains_key(source)), "{}", kernel.slug);
    }
    for routine in ROUTINES {
        let is_used = |kernel: &vramlab_gpu::manifest::Kernel| {
            kernel.cuda_host.as_ref().is_some_and(|host| host.routine == routine.id)
        };
        assert!(library.kernels.values().any(is_used), "no kernel uses {}", routine.id);
    }
}

#[test]
fn every_host_experiment_plans_and_predicts_its_effect() {
    let (library, facts) = (library(), h200());
    let mut n = 0;
    for (id, experiment) in &library.experiments {
        let (_, kernel) = library.get(id).unwrap();
        if kernel.cuda_host.is_none() {
            continue;
        }
        for mode in [Mode::Quick, Mode::Full] {
            let planned = plan(experiment, kernel, &facts, mode, default_budget(&facts), &Map::new());
            let planned = planned.unwrap_or_else(|why| panic!("{id}: {why}"));
            let ratio = predicted_ratio(&planned, &experiment.effect).unwrap();
            assert!(ratio >= experiment.effect.at_least, "{id}: {ratio}");
            for point in &planned.points {
                let predicted = point.predicted.unwrap_or_else(|| panic!("{id}: {}@{}", point.series, point.x));
                println!("{id} {} {}@{} {predicted:.4}", mode.id(), point.series, point.x);
            }
        }
        n += 1;
    }
    assert!(n >= 11, "only {n} experiments work on the host");
}
