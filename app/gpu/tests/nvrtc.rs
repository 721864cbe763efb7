//! Every kernel compiles for every architecture that we name, and in every instance that its experiments ask for: through
//! NVRTC, on a machine without a GPU. `VRAMLAB_NVRTC_DIR` names the folder of a libnvrtc, for instance that of the Python
//! package nvidia-cuda-nvrtc-cu12. Without one the suite says so and counts what it skips; `VRAMLAB_STRICT=1`, or a
//! folder that was named and does not serve, makes that a failure.
#![cfg(feature = "cuda")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

mod loader;

use loader::has_nvrtc;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use vramlab_gpu::RunError;
use vramlab_gpu::backend::cuda::{compile, inspect, tools};
use vramlab_gpu::launch::Launch;
use vramlab_gpu::plan::{self, Mode};
use vramlab_gpu::read::Library;
use vramlab_gpu::vars::PointVars;
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::Map;

/// Turing to Blackwell, as in the table of supported devices.
const ARCHS: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];

/// The oldest, and the one whose recordings the course has: every instance is compiled for them, for the others one a source.
const WHOLE: [u32; 2] = [75, 90];

fn library() -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut files = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        for file in entries(&folder).into_iter().filter(|path| path.is_file()) {
            let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            files.push((name, std::fs::read_to_string(&file).unwrap()));
        }
    }
    Library::from_files(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A device with room for every experiment, so that each is planned in all of its instances.
fn h200() -> DeviceFacts {
    DeviceFacts {
        name: "NVIDIA H200".into(),
        cc: Some(90.0),
        sm_count: Some(132.0),
        sm_clock_mhz: Some(1980.0),
        mem_clock_mhz: Some(3201.0),
        bus_bits: Some(6016.0),
        peak_gb_per_s: Some(4814.3),
        l2_bytes: Some(62_914_560.0),
        total_bytes: Some(150_754_820_096.0),
        free_bytes: Some(140e9),
        shared_per_sm_bytes: Some(233_472.0),
        shared_per_block_bytes: Some(232_448.0),
        threads_per_sm: Some(2048.0),
        has_kernel_timeout: Some(0.0),
        ..DeviceFacts::default()
    }
}

/// Name, source text, definitions and entries of everything that the CUDA experiments launch, and the sources of routines.
type Instances = BTreeMap<(String, String, Vec<String>), BTreeSet<String>>;

fn instances(library: &Library) -> Instances {
    let mut out = Instances::new();
    for (id, experiment) in library.experiments.iter().filter(|(_, found)| found.backend == Backend::Cuda) {
        let kernel = library.get(id).unwrap().1;
        if let Some(host) = &kernel.cuda_host {
            // A routine launches whatever its source holds, without definitions.
            if let Some(name) = &host.source {
                let source = library.sources(&kernel.slug).unwrap()[name].clone();
                out.entry((name.clone(), source, Vec::new())).or_default();
            }
            continue;
        }
        let cuda = kernel.cuda.as_ref().unwrap_or_else(|| panic!("{id}: no [cuda] part"));
        let budget = plan::default_budget(&h200());
        let planned = plan::plan(experiment, kernel, &h200(), Mode::Full, budget, &Map::new());
        let planned = planned.unwrap_or_else(|why| panic!("{id}: {why}"));
        for point in &planned.points {
            for launch in Launch::all(cuda, &point.vars).unwrap() {
                let defines = launch.define.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let source = library.sources(&kernel.slug).unwrap()[&cuda.source].clone();
                let entries = out.entry((cuda.source.clone(), source, defines)).or_default();
                entries.insert(launch.entry);
            }
        }
    }
    exercises(library, &mut out);
    out
}

/// What an exercise begins with, and its solution.
fn exercises(library: &Library, out: &mut Instances) {
    for (slug, exercise) in &library.exercises {
        let kernel = &library.kernels[slug];
        let vars = PointVars::of(kernel, &exercise.params, &h200()).vars;
        for launch in Launch::all(kernel.cuda.as_ref().unwrap(), &vars).unwrap() {
            let defines: Vec<String> = launch.define.iter().map(|(name, value)| format!("{name}={value}")).collect();
            for name in [&exercise.start, &exercise.solution] {
                let source = library.sources(slug).unwrap()[name].clone();
                let entries = out.entry((format!("{slug}/{name}"), source, defines.clone())).or_default();
                entries.insert(launch.entry.clone());
            }
        }
    }
}

fn contains(image: &[u8], name: &str) -> bool {
    image.windows(name.len()).any(|window| window == name.as_bytes())
}

#[test]
fn every_kernel_compiles_for_every_architecture() {
    let library = library();
    assert!(library.problems.is_empty(), "{:#?}", library.problems);
    let instances = instances(&library);
    assert!(instances.len() >= 10, "only {} instances were planned", instances.len());
    let mut sources = BTreeSet::new();
    let firsts: Instances = instances
        .iter()
        .filter(|((name, source, _), _)| sources.insert((name, source)))
        .map(|(key, entries)| (key.clone(), entries.clone()))
        .collect();
    let of = |arch: &u32| if WHOLE.contains(arch) { &instances } else { &firsts };
    let n_all: usize = ARCHS.iter().map(|arch| of(arch).len() + 1).sum();
    if !has_nvrtc("every_kernel_compiles_for_every_architecture", n_all) {
        return;
    }
    let tools: Instances = [(("tools.cu".to_owned(), tools::SOURCE.to_owned(), Vec::new()), tools_entries())].into();
    let jobs: Vec<_> =
        ARCHS.iter().flat_map(|arch| tools.iter().chain(of(arch)).map(move |job| (*arch, job))).collect();
    assert_eq!(jobs.len(), n_all);
    // NVRTC takes several programs at a time: as many as there are cores, each the next that nobody has begun.
    let next = AtomicUsize::new(0);
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_cores {
            scope.spawn(|| {
                while let Some((arch, ((name, source, defines), entries))) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    compile_exactly(name, source, *arch, defines, entries.iter().map(String::as_str));
                }
            });
        }
    });
    let (n, n_archs) = (instances.len(), ARCHS.len());
    let _ = writeln!(std::io::stderr(), "{n_all} compilations: {n} instances, {n_archs} architectures");
}

fn tools_entries() -> BTreeSet<String> {
    ["vramlab_fill", "vramlab_spin"].map(str::to_owned).into()
}

fn compile_exactly<'a>(
    name: &str,
    source: &str,
    arch: u32,
    defines: &[String],
    entries: impl IntoIterator<Item = &'a str>,
) {
    let image = compile::compile(name, source, arch, defines).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(image.arch, format!("sm_{arch}"), "{name} {defines:?} was not compiled to machine code");
    assert!(image.bytes.starts_with(b"\x7fELF"), "{name} {defines:?}");
    for entry in entries {
        assert!(contains(&image.bytes, entry), "{name} {defines:?} has no {entry}");
    }
}

/// A kernel that asks for the instructions of one architecture gets them there, and its code is more than an empty body.
#[test]
fn a_kernel_may_ask_for_the_instructions_of_one_architecture() {
    let library = library();
    let asked = || {
        library.kernels.iter().filter_map(|(slug, kernel)| Some((slug, kernel, kernel.cuda.as_ref()?.arch.as_deref()?)))
    };
    assert!(asked().any(|(slug, ..)| slug == "gemm_hopper"));
    if !has_nvrtc("a_kernel_may_ask_for_the_instructions_of_one_architecture", 2 * asked().count()) {
        return;
    }
    for (slug, kernel, arch) in asked() {
        let cuda = kernel.cuda.as_ref().unwrap();
        let vars = PointVars::of(kernel, &Map::new(), &h200()).vars;
        let launch = Launch::of(cuda, &vars).unwrap();
        let defines: Vec<String> = launch.define.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let source = &library.sources(slug).unwrap()[&cuda.source];
        let own = compile::compile_own(&cuda.source, source, 90, Some(arch), &defines).unwrap();
        assert_eq!(own.arch, arch, "{slug}");
        let plain = compile::compile_own(&cuda.source, source, 80, Some(arch), &defines).unwrap();
        assert_eq!(plain.arch, "sm_80", "{slug}");
        assert!(own.bytes.len() > plain.bytes.len() + 2000, "{slug}: {} and {}", own.bytes.len(), plain.bytes.len());
    }
}

/// R4: the log carries the line of the shown text, and the options that were used.
#[test]
fn a_mistake_is_told_with_its_line() {
    if !has_nvrtc("a_mistake_is_told_with_its_line", 1) {
        return;
    }
    let source = "extern \"C\" __global__ void k(int* out) {\n    out[0] = nothing;\n}\n";
    let error = compile::compile("learner.cu", source, 90, &["N=4".to_owned()]).unwrap_err();
    let RunError::Compile { arch, options, log } = error else { panic!("{error}") };
    assert_eq!(arch, "sm_90");
    assert!(log.contains("learner.cu(2)"), "{log}");
    assert!(options.contains(&"--define-macro=N=4".to_owned()), "{options:?}");
}

/// R3: an architecture that this NVRTC does not know yet becomes PTX for the newest one below it.
#[test]
fn a_future_architecture_falls_back_to_ptx() {
    if !has_nvrtc("a_future_architecture_falls_back_to_ptx", 1) {
        return;
    }
    let image = compile::compile("tools.cu", tools::SOURCE, 990, &[]).unwrap();
    assert!(image.arch.starts_with("compute_"), "{}", image.arch);
    assert!(contains(&image.bytes, ".visible .entry vramlab_spin"), "not PTX");
}

/// What the playground shows of a source: registers, shared memory, spills and PTX of every exercise, without a device.
#[test]
fn every_exercise_tells_what_it_takes() {
    if !has_nvrtc("every_exercise_tells_what_it_takes", 26) {
        return;
    }
    let library = library();
    for (slug, exercise) in &library.exercises {
        let (kernel, sources) = (&library.kernels[slug], library.sources(slug).unwrap());
        let vars = PointVars::of(kernel, &exercise.params, &h200()).vars;
        let launches = Launch::all(kernel.cuda.as_ref().unwrap(), &vars).unwrap();
        for name in [&exercise.start, &exercise.solution] {
            let build = inspect::build(name, &sources[name], 90, None, &launches).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!((build.arch.as_str(), build.entries.len()), ("sm_90", launches.len()), "{slug}/{name}");
            assert!(build.ptx.contains(".visible .entry"), "{slug}/{name}: {}", build.ptx);
            for taken in &build.entries {
                assert!((1..=255).contains(&taken.registers), "{slug}/{name}: {taken:?}");
                assert!(taken.blocks_per_sm > 0 && taken.occupancy <= 1.0, "{slug}/{name}: {taken:?}");
                assert_eq!(taken.spilled, Some((0, 0)), "{slug}/{name}: {taken:?}");
            }
        }
    }
}

/// Spills and shared memory are read from the compiler's own words, and too much of the latter is told with both numbers.
#[test]
fn spills_and_too_much_shared_memory_are_told() {
    if !has_nvrtc("spills_and_too_much_shared_memory_are_told", 2) {
        return;
    }
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1, 1],
        block: [1024, 1],
        shared_bytes: 0,
        define: Vec::new(),
        args: Vec::new(),
    };
    let spills = "extern \"C\" __global__ void __launch_bounds__(1024) k(float* io, int n) {\n    float v[96];\n    \
                  #pragma unroll\n    for (int i = 0; i < 96; ++i) v[i] = io[i * 1024 + threadIdx.x];\n    \
                  for (int turn = 0; turn < n; ++turn) {\n        #pragma unroll\n        \
                  for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i + 1) % 96] + 1.0f;\n    }\n    \
                  #pragma unroll\n    for (int i = 0; i < 96; ++i) io[i * 1024 + threadIdx.x] = v[i];\n}\n";
    let build = inspect::build("k.cu", spills, 90, None, std::slice::from_ref(&launch)).unwrap();
    let taken = &build.entries[0];
    // 65,536 registers over 1,024 threads: 64 a thread, and 96 values do not fit.
    assert!(taken.registers <= 64 && taken.local_bytes > 0, "{taken:?}");
    assert!(taken.spilled.is_some_and(|(stores, loads)| stores > 0 && loads > 0), "{taken:?}");
    let large = "extern \"C\" __global__ void k(int* out) {\n    __shared__ int t[20000];\n    t[threadIdx.x] = out[threadIdx.x];\n    \
                 __syncthreads();\n    out[threadIdx.x] = t[threadIdx.x ^ 1];\n}\n";
    let error = inspect::build("k.cu", large, 90, None, &[launch]).unwrap_err();
    let RunError::Compile { log, .. } = error else { panic!("{error}") };
    assert!(log.contains("80000") && log.contains("49152"), "{log}");
}
