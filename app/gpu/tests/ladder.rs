//! The ladder of the matrix product, played on the processor: steps without inline assembly are right, and what it asks of L2 is
//! what the formula of tiles says, sector by sector.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

use vramlab_gpu::exercise::Metric;
use vramlab_gpu::play::{BUDGET, play};
use vramlab_gpu::read::Library;
use vramlab_trace::OracleOutcome;
use vramlab_units::Map;

const N: u64 = 128;

fn library() -> Library {
    let file =
        |name: &str| std::fs::read_to_string(format!("{}/../../kernels/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let names = ["gemm_f32/kernel.toml", "gemm_f32/gemm_f32.cu"];
    let files = names.map(|name| (name, file(name)));
    Library::from_files(files.iter().map(|(name, text)| (*name, text.as_str())))
}

#[test]
fn steps_ask_l2_for_the_bytes_of_its_tile() {
    let library = library();
    let kernel = &library.kernels["gemm_f32"];
    let source = &library.sources("gemm_f32").unwrap()["gemm_f32.cu"];
    let written = 4 * N * N;
    // Brief 03: s · (M·K·⌈N/BN⌉ + K·N·⌈M/BM⌉ + M·N). Of the naive step the address model knows no L1: a warp asks for one sector
    // of A and four of B for every k.
    let tile = |side: u64| 2 * 4 * N * N * (N / side) + written;
    let naive = N * N * N / 32 * 5 * 32 + written;
    for (rung, expected) in [(0_u64, naive), (3, tile(32)), (5, tile(128))] {
        let params = Map::from_iter([("n".to_owned(), N.into()), ("rung".to_owned(), rung.into())]);
        let played = play(kernel, source, &params, BUDGET).unwrap_or_else(|why| panic!("step {rung}: {why}"));
        assert!(matches!(played.oracle, OracleOutcome::Passed { .. }), "step {rung}: {:?}", played.oracle);
        assert_eq!(Metric::L2Bytes.of(&played.reports), expected as f64, "step {rung}");
        assert_eq!(Metric::Races.of(&played.reports), 0.0, "step {rung}");
    }
}
