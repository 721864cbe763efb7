//! The course's own kernels, played: the same results as on a processor, the same sectors and wavefronts as counters saw on an H200.

use vramlab_simt::{Act, Arg, Buffer, Launch, Report, Space, read, run};

fn source(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/");
    std::fs::read_to_string(format!("{root}{path}")).expect(path)
}

fn words(name: &str, values: impl Iterator<Item = u32>) -> Buffer {
    Buffer { name: name.to_owned(), bytes: values.flat_map(u32::to_le_bytes).collect() }
}

fn floats(name: &str, values: impl Iterator<Item = f32>) -> Buffer {
    words(name, values.map(f32::to_bits))
}

fn words_of(buffer: &Buffer) -> Vec<u32> {
    buffer.bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

fn floats_of(buffer: &Buffer) -> Vec<f32> {
    words_of(buffer).into_iter().map(f32::from_bits).collect()
}

fn play(path: &str, define: &[(&str, &str)], launch: &Launch<'_>, buffers: &mut [Buffer]) -> Report {
    let define: Vec<_> = define.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let program = read(&source(path), &define).unwrap_or_else(|fault| panic!("{path}:{fault}"));
    run(&program, launch, buffers).unwrap_or_else(|fault| panic!("{path}:{fault}"))
}

const BUDGET: u64 = 2_000_000_000;

/// kernels/transpose: write sectors 32, 4, 4, 4 a request; wavefronts of a load 32, 1, 1 where there is a tile (its kernel.toml,
/// held against counters).
#[test]
fn four_transposes() {
    let n = 64_u32;
    for (method, write, wavefronts) in [(0, 32, None), (1, 4, Some(32)), (2, 4, Some(1)), (3, 4, Some(1))] {
        let mut buffers =
            [words("input", (0..n * n).map(|at| at.wrapping_mul(2_654_435_761))), words("out", (0..n * n).map(|_| 7))];
        let entry = format!("transpose_{method}");
        let args = [Arg::Buffer(0), Arg::Buffer(1), Arg::Bits(u64::from(n))];
        let launch =
            Launch { entry: &entry, grid: [2, 2, 1], block: [32, 8, 1], shared_bytes: 0, args: &args, budget: BUDGET };
        let report = play("transpose/transpose.cu", &[], &launch, &mut buffers);
        let (input, out) = (words_of(&buffers[0]), words_of(&buffers[1]));
        for (row, col) in (0..n).flat_map(|row| (0..n).map(move |col| (row, col))) {
            assert_eq!(out[(col * n + row) as usize], input[(row * n + col) as usize], "{entry} at {row}, {col}");
        }
        let requests = u64::from(n * n / 32);
        let (loads, stores) = (report.sum(Space::Global, Act::Load), report.sum(Space::Global, Act::Store));
        assert_eq!((loads.requests, loads.moved, stores.requests), (requests, 4 * requests, requests), "{entry}");
        assert_eq!(stores.moved, write * requests, "{entry}");
        let shared = report.sum(Space::Shared, Act::Load);
        assert_eq!(shared.moved, wavefronts.map_or(0, |each| each * requests), "{entry}");
        assert_eq!((report.dram_read_bytes, report.dram_write_bytes), (u64::from(4 * n * n), u64::from(4 * n * n)));
        assert_eq!((report.races.len(), report.unwritten.len(), report.divergent), (0, 0, 0), "{entry}: {report:?}");
    }
}

/// kernels/batch_gemm_f32: lambdas, vectors, two stages of shared memory.
#[test]
fn a_product_in_slices() {
    let (rows, inner) = (128_usize, 32_usize);
    for (tile, grid, block) in [(64_usize, 1, 256), (8, 4, 256)] {
        let value = |at: usize| ((at * 37 + 11) % 17) as f32 - 8.0;
        let mut buffers = [
            floats("w", (0..rows * inner).map(value)),
            floats("x", (0..tile * inner).map(|at| value(at + 5))),
            floats("out", (0..rows * tile).map(|_| f32::NAN)),
        ];
        let args = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2), Arg::Bits(rows as u64), Arg::Bits(1)];
        let entry = "batch_gemm_f32";
        // The small form takes 256 values of k at a time.
        let inner = if tile == 8 { 256 } else { inner };
        if tile == 8 {
            buffers[0] = floats("w", (0..rows * inner).map(value));
            buffers[1] = floats("x", (0..tile * inner).map(|at| value(at + 5)));
        }
        let launch =
            Launch { entry, grid: [grid, 1, 1], block: [block, 1, 1], shared_bytes: 0, args: &args, budget: BUDGET };
        let define = [("TILE", tile.to_string()), ("N_INNER", inner.to_string())];
        let define: Vec<(&str, &str)> = define.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let report = play("batch_gemm_f32/batch_gemm_f32.cu", &define, &launch, &mut buffers);
        let out = floats_of(&buffers[2]);
        for (j, i) in (0..tile).flat_map(|j| (0..rows).map(move |i| (j, i))) {
            let exact: f32 = (0..inner).map(|k| value(i * inner + k) * value(j * inner + k + 5)).sum();
            assert_eq!(out[j * rows + i], exact, "tile {tile}, {j}, {i}");
        }
        assert!(report.races.is_empty(), "{:?}", report.races);
        assert!(report.flop >= (2 * tile * rows * inner) as u64);
    }
}

/// kernels/buffer_pool: a sum over a block through shuffles and shared memory.
#[test]
fn a_layer_norm() {
    let row = 1024;
    let mut buffers =
        [floats("in", (0..row).map(|at| (at % 257) as f32 / 257.0)), floats("out", (0..row).map(|_| 0.0))];
    let args = [Arg::Buffer(0), Arg::Buffer(1)];
    let launch = Launch {
        entry: "layer_norm",
        grid: [1, 1, 1],
        block: [1024, 1, 1],
        shared_bytes: 0,
        args: &args,
        budget: BUDGET,
    };
    let report = play("buffer_pool/buffer_pool.cu", &[], &launch, &mut buffers);
    let values: Vec<f64> = floats_of(&buffers[0]).into_iter().map(f64::from).collect();
    let mean = values.iter().sum::<f64>() / f64::from(row);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(row);
    for (at, found) in floats_of(&buffers[1]).into_iter().enumerate() {
        let exact = (values[at] - mean) / (variance + 1e-5).sqrt();
        assert!((f64::from(found) - exact).abs() < 2e-5, "{at}: {found} and not {exact}");
    }
    assert!(report.races.is_empty(), "{:?}", report.races);
}

/// kernels/strided_read: sectors of a request are those of the model at every stride; brief 23: (4, 1, 4) is 5 sectors.
#[test]
fn strides_and_offsets() {
    for (stride, offset, sectors) in [(1_u64, 0, 4), (1, 1, 5), (2, 0, 8), (8, 0, 32), (32, 0, 32)] {
        let mut buffers = [words("input", 0..(64 * 8 * 32 * 4)), words("out", (0..8).map(|_| 0))];
        let args = [Arg::Buffer(0), Arg::Buffer(1), Arg::Bits(stride), Arg::Bits(offset)];
        let launch = Launch {
            entry: "strided_read",
            grid: [2, 1, 1],
            block: [64, 1, 1],
            shared_bytes: 0,
            args: &args,
            budget: BUDGET,
        };
        let report = play("strided_read/strided_read.cu", &[("LOADS", "2")], &launch, &mut buffers);
        let loads = report.sum(Space::Global, Act::Load);
        assert_eq!((loads.requests, loads.moved), (8, 8 * sectors), "stride {stride}, offset {offset}");
        for (warp, sum) in words_of(&buffers[1]).into_iter().enumerate().take(4) {
            let exact: u64 = (0..64).map(|at| offset + (warp as u64 * 64 + at) * stride).sum();
            assert_eq!(u64::from(sum), exact, "warp {warp}");
        }
    }
}
