//! Kernels of fusion, played on the processor in every way that their experiments know, and held against their references. What this
//! proves is arithmetic and indices, not time: launches, shapes and arguments are the manifest's own.
#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

use std::path::Path;
use vramlab_gpu::play;
use vramlab_gpu::read::Library;
use vramlab_trace::OracleOutcome;
use vramlab_units::{Map, Value};

/// Kernel, outputs that are checked, and parameters.
type Case = (&'static str, u64, &'static [(&'static str, u64)]);

const CASES: &[Case] = &[
    ("elementwise_chain", 4096, &[("n_elems", 4096), ("k", 1), ("per_launch", 16)]),
    ("elementwise_chain", 4096, &[("n_elems", 4096), ("k", 5), ("per_launch", 2)]),
    ("elementwise_chain", 4096, &[("n_elems", 4096), ("k", 16), ("per_launch", 1)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 512), ("way", 0)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 8192), ("way", 1)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 8192), ("way", 2)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 128), ("way", 3)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 16_384), ("way", 3)]),
    ("softmax_rows", 131_072, &[("n_elems", 131_072), ("columns", 2048), ("way", 4)]),
    ("layer_norm_rows", 131_072, &[("n_elems", 131_072), ("columns", 1024), ("way", 0)]),
    ("layer_norm_rows", 131_072, &[("n_elems", 131_072), ("columns", 16_384), ("way", 1)]),
    ("layer_norm_rows", 131_072, &[("n_elems", 131_072), ("columns", 256), ("way", 2)]),
    ("layer_norm_rows", 131_072, &[("n_elems", 131_072), ("columns", 8192), ("way", 2)]),
    ("prefix_scan", 65_536, &[("n_elems", 65_536), ("way", 0)]),
    ("prefix_scan", 65_536, &[("n_elems", 65_536), ("way", 1)]),
    ("prefix_scan", 65_536, &[("n_elems", 65_536), ("way", 2)]),
    ("grid_total", 1, &[("n_elems", 65_536), ("way", 0)]),
    ("grid_total", 1, &[("n_elems", 65_536), ("way", 1)]),
    ("grid_total", 1, &[("n_elems", 65_536), ("way", 2)]),
    ("grid_total", 1, &[("n_elems", 65_536), ("way", 3)]),
    ("bias_gelu", 16_384, &[("n_elems", 16_384), ("way", 0)]),
    ("bias_gelu", 16_384, &[("n_elems", 16_384), ("way", 1)]),
    ("bias_gelu", 16_384, &[("n_elems", 16_384), ("way", 2)]),
];

fn library() -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut files = Vec::new();
    for slug in CASES.iter().map(|(slug, ..)| *slug) {
        for file in std::fs::read_dir(root.join(slug)).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            files.push((format!("{slug}/{name}"), std::fs::read_to_string(&file).unwrap()));
        }
    }
    files.sort();
    files.dedup();
    Library::from_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

fn play(library: &Library, slug: &str, params: &Map, change: &dyn Fn(&str) -> String) -> OracleOutcome {
    let kernel = &library.kernels[slug];
    let source = change(&library.sources(slug).unwrap()[&kernel.cuda.as_ref().unwrap().source]);
    let played = play::play(kernel, &source, params, 4 * play::BUDGET);
    played.unwrap_or_else(|error| panic!("{slug} {params:?}: {error}")).oracle
}

fn params(set: &[(&str, u64)]) -> Map {
    set.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect()
}

#[test]
fn every_way_gives_what_its_reference_says() {
    let library = library();
    for (slug, n, set) in CASES {
        match play(&library, slug, &params(set), &str::to_owned) {
            OracleOutcome::Passed { n_checked, .. } => assert_eq!(n_checked, *n, "{slug} {set:?}"),
            failed @ OracleOutcome::Failed { .. } => panic!("{slug} {set:?}: {failed:?}"),
        }
    }
}

/// Kernel, parameters, a line of it, and what stands there by mistake.
type Slip = (&'static str, &'static [(&'static str, u64)], &'static str, &'static str);

/// One slip each, and the reference notices: an online sum that does not shrink, means that are weighed wrongly, a tile that forgets what
/// came before it, a block that adds up before all parts are there, a bias that is another number.
#[test]
fn a_slip_is_noticed() {
    let library = library();
    let slips: &[Slip] = &[
        (
            "softmax_rows",
            &[("n_elems", 131_072), ("columns", 16_384), ("way", 2)],
            "own.y *= expf(own.x - most)",
            "own.y *= 1.001f",
        ),
        ("layer_norm_rows", &[("n_elems", 131_072), ("columns", 1024), ("way", 2)], "each * off * off", "off * off"),
        ("prefix_scan", &[("n_elems", 65_536), ("way", 2)], "carried = sum;", "carried = 0;"),
        (
            "grid_total",
            &[("n_elems", 65_536), ("way", 2)],
            "atomicAdd(count, 1) == gridDim.x - 1",
            "atomicAdd(count, 1) == gridDim.x - 2",
        ),
        ("bias_gelu", &[("n_elems", 16_384), ("way", 2)], "b[COLUMN]));\n    out", "w[COLUMN]));\n    out"),
    ];
    for (slug, set, right, wrong) in slips {
        let change = |source: &str| {
            assert!(source.contains(right), "{slug}: {right}");
            source.replace(right, wrong)
        };
        let outcome = play(&library, slug, &params(set), &change);
        assert!(matches!(outcome, OracleOutcome::Failed { .. }), "{slug}: {right} as {wrong}");
    }
}
