//! A kernel is compiled where there is no GPU: the back end of the processor does it, as it is always there. `VRAMLAB_NVRTC_DIR`
//! names the folder of a libnvrtc, as in `nvrtc.rs`.
#![cfg(feature = "cuda")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

mod loader;

use loader::has_nvrtc;
use vramlab_gpu::RunError;
use vramlab_gpu::backend::{PointCx, open};
use vramlab_gpu::bench::Bench;
use vramlab_gpu::build::Build;
use vramlab_gpu::play::machine;
use vramlab_gpu::protocol::Inspect;
use vramlab_gpu::read::Library;
use vramlab_trace::Backend;
use vramlab_units::Map;

fn compiled(slug: &str, change: impl Fn(String) -> String) -> Result<Build, RunError> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let names = [format!("{slug}/kernel.toml"), format!("{slug}/{slug}.cu")];
    let files = names.map(|name| (name.clone(), std::fs::read_to_string(format!("{root}/{name}")).unwrap()));
    let library = Library::from_files(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let source = change(library.sources(slug).unwrap()[&format!("{slug}.cu")].clone());
    let (facts, params) = (machine(), Map::new());
    let bench = Bench { kernel: &library.kernels[slug], source: &source, params: &params, facts: &facts };
    let job = bench.job(Vec::new(), Inspect::Only).unwrap();
    assert_eq!(job.plan.peak_bytes, 0, "nothing is allocated");
    open(Backend::Cpu, None)?.build(&job, &mut PointCx::alone()).map(|build| build.unwrap())
}

#[test]
fn a_kernel_compiles_without_a_gpu() {
    if !has_nvrtc("a_kernel_compiles_without_a_gpu", 3) {
        return;
    }
    let build = compiled("transpose", |source| source).unwrap();
    let taken = &build.entries[0];
    assert_eq!((build.arch.as_str(), taken.entry.as_str(), taken.threads), ("sm_90", "transpose_0", 256));
    assert!(taken.registers > 0 && taken.occupancy > 0.0 && taken.spilled.is_some(), "{taken:?}");
    assert_eq!(taken.driver_blocks, None, "no driver was asked");
    assert!(build.ptx.contains(".visible .entry"));
    let wrong = compiled("transpose", |source| source.replace("__syncthreads();", "__syncthreads()")).unwrap_err();
    let RunError::Compile { log, .. } = &wrong else { panic!("{wrong}") };
    assert!(vramlab_gpu::build::messages(log).iter().any(|said| said.line.is_some()), "{log}");
    // A kernel that uses the instructions of one architecture beyond its family's.
    assert_eq!(compiled("gemm_hopper", |source| source).unwrap().arch, "sm_90a");
}
