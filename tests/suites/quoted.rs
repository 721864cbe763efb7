//! Numbers that lessons quote from recordings are those of the recordings: each is rounded as the text writes it.

use vramlab_gpu::verdict;
use vramlab_shell::Library;

/// Chapter, experiment, series, place on the sweep, what turns the measure's unit into the text's, the number as
/// written in both languages.
type Quote = (&'static str, &'static str, &'static str, f64, f64, &'static str);

const MIB: f64 = 1_048_576.0;

const QUOTES: &[Quote] = &[
    ("01_bottleneck", "in_flight/main", "w4u1", 2048.0, 1.0, "2572"),
    ("01_bottleneck", "in_flight/main", "w16u1", 512.0, 1.0, "2434"),
    ("01_bottleneck", "in_flight/main", "w16u4", 512.0, 1.0, "4308"),
    ("01_bottleneck", "pointer_chase/main", "chase", 4096.0, 1.0, "16"),
    ("01_bottleneck", "pointer_chase/main", "chase", 16.0 * MIB, 1.0, "142"),
    ("01_bottleneck", "pointer_chase/main", "chase", 512.0 * MIB, 1.0, "335"),
    ("01_bottleneck", "cpu_chase/main", "chase", 64.0 * MIB, 1.0, "116"),
    ("01_bottleneck", "cpu_chase/main", "chase", 128.0 * MIB, 1.0, "134"),
    ("05_peak", "checkpoint_chain/peak", "freed", 1.0, 1.0, "65"),
    ("05_peak", "checkpoint_chain/peak", "freed", 8.0, 1.0, "16"),
    ("05_peak", "checkpoint_chain/peak", "freed", 3.0, 1.0, "24"),
    ("05_peak", "checkpoint_chain/peak", "held", 3.0, 1.0, "25"),
    ("05_peak", "checkpoint_chain/time", "arithmetic", 8.0, 1.0, "1.30"),
    ("05_peak", "checkpoint_chain/time", "arithmetic", 64.0, 1.0, "1.34"),
    ("05_peak", "checkpoint_chain/time", "bytes", 8.0, 1.0, "1.42"),
    ("05_peak", "checkpoint_chain/time", "bytes", 16.0, 1.0, "1.46"),
    ("05_peak", "keep_recompute_offload/main", "keep", 1.0, 1.0, "0.41"),
    ("05_peak", "keep_recompute_offload/main", "keep", 512.0, 1.0, "3.38"),
    ("05_peak", "keep_recompute_offload/main", "keep", 4096.0, 1.0, "25.4"),
    ("05_peak", "keep_recompute_offload/main", "recompute", 1.0, 1.0, "0.46"),
    ("05_peak", "keep_recompute_offload/main", "recompute", 512.0, 1.0, "3.80"),
    ("05_peak", "keep_recompute_offload/main", "recompute", 4096.0, 1.0, "28.5"),
    ("05_peak", "keep_recompute_offload/main", "beside", 1.0, 1.0, "3.67"),
    ("05_peak", "keep_recompute_offload/main", "beside", 512.0, 1.0, "3.67"),
    ("05_peak", "keep_recompute_offload/main", "beside", 4096.0, 1.0, "25.4"),
    ("05_peak", "keep_recompute_offload/main", "offload", 1.0, 1.0, "4.06"),
    ("05_peak", "keep_recompute_offload/main", "offload", 512.0, 1.0, "7.02"),
    ("05_peak", "keep_recompute_offload/main", "offload", 4096.0, 1.0, "29.0"),
    ("05_peak", "keep_recompute_offload/main", "pageable", 1.0, 1.0, "23.0"),
    ("05_peak", "keep_recompute_offload/main", "pageable", 512.0, 1.0, "19.7"),
    ("05_peak", "keep_recompute_offload/main", "pageable", 4096.0, 1.0, "42.6"),
    ("05_peak", "casts/error", "e4m3", 4.0, 1.0, "25.0"),
    ("05_peak", "casts/error", "bf16", 8.0, 1.0, "25.0"),
    ("05_peak", "casts/error", "fp16", 11.0, 1.0, "25.0"),
    ("05_peak", "casts/error", "bf16", 9.0, 1.0, "37.5"),
    ("05_peak", "casts/scale", "fp16", 0.0, 1.0, "18.7"),
    ("05_peak", "casts/scale", "fp16", 24.0, 1.0, "28.1"),
    ("05_peak", "casts/scale", "e4m3", 12.0, 1.0, "41.2"),
    ("05_peak", "casts/time", "hardware", 0.0, 1.0, "1.97"),
    ("05_peak", "casts/time", "hardware", 1.0, 1.0, "1.37"),
    ("05_peak", "casts/time", "software", 2.0, 1.0, "1.37"),
    ("05_peak", "casts/time", "hardware", 3.0, 1.0, "1.13"),
    ("05_peak", "cpu_small_training/peak", "block", 0.0, 1.0, "3.78"),
    ("05_peak", "cpu_small_training/peak", "block", 1.0, 1.0, "1.88"),
    ("05_peak", "cpu_small_training/peak", "wide", 0.0, 1.0, "2.22"),
    ("05_peak", "cpu_small_training/peak", "wide", 1.0, 1.0, "2.16"),
    ("05_peak", "cpu_small_training/peak", "wide", 3.0, 1.0, "2.24"),
    ("05_peak", "cpu_small_training/time", "block", 1.0, 1.0, "1.30"),
    ("05_peak", "cpu_small_training/time", "block", 3.0, 1.0, "0.75"),
    ("08_cases", "decode_gemv/size", "gemv", 16384.0, 1.0, "3.67"),
    ("08_cases", "decode_gemv/size", "gemv", 512.0, 1.0, "0.123"),
    ("08_cases", "decode_gemv/batch", "cores", 1.0, 1.0, "237"),
    ("08_cases", "decode_gemv/batch", "cores", 8.0, 1.0, "292"),
    ("08_cases", "decode_gemv/batch", "cores", 16.0, 1.0, "538"),
    ("08_cases", "decode_gemv/batch", "cores", 64.0, 1.0, "2076"),
    ("08_cases", "affine_peak/main", "allocated", 8.0, 1.0, "44.4"),
    ("08_cases", "affine_peak/main", "allocated", 512.0, 1.0, "611"),
    ("08_cases", "small_training/peak", "block", 0.0, 1.0, "467"),
    ("08_cases", "small_training/peak", "block", 1.0, 1.0, "149"),
    ("08_cases", "small_training/peak", "wide", 0.0, 1.0, "139.4"),
    ("08_cases", "small_training/peak", "wide", 1.0, 1.0, "135.2"),
    ("08_cases", "small_training/peak", "wide", 3.0, 1.0, "140.5"),
    ("08_cases", "small_training/time", "block", 1.0, 1.0, "1.19"),
    ("08_cases", "small_training/time", "block", 2.0, 1.0, "1.20"),
    ("08_cases", "small_training/time", "block", 3.0, 1.0, "1.49"),
    ("08_cases", "small_training/time", "block", 4.0, 1.0, "1.36"),
    ("08_cases", "small_training/same_gradient", "block", 1.0, 1.0, "24"),
    ("08_cases", "small_training/same_gradient", "block", 7.0, 1.0, "0.415"),
    ("08_cases", "methodology/habits", "small", 0.0, 1.0, "12.2"),
    ("08_cases", "methodology/habits", "small", 1.0, 1.0, "62.7"),
    ("08_cases", "methodology/habits", "small", 2.0, 1.0, "6.8"),
    ("08_cases", "methodology/habits", "small", 3.0, 1.0, "47.7"),
    ("08_cases", "methodology/habits", "small", 4.0, 1.0, "18.3"),
    ("08_cases", "methodology/habits", "small", 5.0, 1.0, "3.1"),
    ("08_cases", "methodology/habits", "large", 0.0, 1.0, "237"),
    ("08_cases", "methodology/habits", "large", 1.0, 1.0, "313"),
    ("08_cases", "methodology/habits", "large", 3.0, 1.0, "270"),
    ("08_cases", "methodology/habits", "large", 4.0, 1.0, "245"),
    ("08_cases", "methodology/habits", "large", 5.0, 1.0, "3.8"),
    ("08_cases", "methodology/ranges", "none", 256.0, 1.0, "3.4"),
    ("08_cases", "methodology/ranges", "ranges", 1.0, 1.0, "10982"),
    ("08_cases", "methodology/ranges", "ranges", 256.0, 1.0, "48"),
    ("08_cases", "cpu_methodology/main", "sum", 0.0, 1.0, "107"),
    ("08_cases", "cpu_methodology/main", "sum", 1.0, 1.0, "274"),
    ("08_cases", "cpu_methodology/main", "sum", 2.0, 1.0, "14.1"),
    ("08_cases", "cpu_methodology/main", "sum", 4.0, 1.0, "0.008"),
    ("10_capstone", "capstone/all", "step", 0.0, 1.0, "29.3"),
    ("10_capstone", "capstone/all", "step", 8.0, 1.0, "15.8"),
    ("10_capstone", "capstone/all", "step", 31.0, 1.0, "2.1"),
    ("10_capstone", "capstone/orders", "copies_first", 4.0, 1.0, "2.136"),
    ("10_capstone", "capstone/orders", "copies_first", 5.0, 1.0, "2.138"),
    ("10_capstone", "capstone/orders", "precision_first", 0.0, 1.0, "27.9"),
    ("10_capstone", "capstone/orders", "precision_first", 1.0, 1.0, "24.3"),
    ("10_capstone", "capstone/orders", "precision_first", 2.0, 1.0, "13.8"),
    ("10_capstone", "capstone/orders", "precision_first", 3.0, 1.0, "13.0"),
    ("10_capstone", "capacity_boundary/main", "bf16", 1.0, 1.0, "391"),
    ("10_capstone", "capacity_boundary/main", "bf16", 2.0, 1.0, "718"),
    ("10_capstone", "capacity_boundary/main", "bf16", 4.0, 1.0, "1077"),
    ("10_capstone", "regression_gate/main", "in_turn", 3.0, 1.0, "1.033"),
    ("10_capstone", "cpu_regression_gate/main", "in_turn", 2.0, 1.0, "0.996"),
    ("11_allocation", "alloc_cost/main", "async_zero", MIB, 1.0, "136"),
    ("11_allocation", "alloc_cost/main", "async_zero", 1024.0 * MIB, 1.0, "3078"),
    ("11_allocation", "alloc_cost/main", "async_zero", 4.0 * 1024.0 * MIB, 1.0, "12989"),
    ("11_allocation", "alloc_cost/main", "malloc", MIB, 1.0, "93"),
    ("11_allocation", "alloc_cost/main", "malloc", 1024.0 * MIB, 1.0, "839"),
    ("11_allocation", "alloc_cost/main", "malloc", 4.0 * 1024.0 * MIB, 1.0, "2829"),
    ("11_allocation", "alloc_cost/main", "async_keep", MIB, 1.0, "3.2"),
    ("11_allocation", "alloc_cost/main", "async_keep", 1024.0 * MIB, 1.0, "3.4"),
    ("11_allocation", "alloc_cost/main", "async_keep", 4.0 * 1024.0 * MIB, 1.0, "3.9"),
    ("11_allocation", "alloc_cost/main", "async_free", MIB, 1.0, "0.72"),
    ("11_allocation", "alloc_cost/main", "own", MIB, 1.0, "0.22"),
    ("11_allocation", "alloc_cost/main", "own", 1024.0 * MIB, 1.0, "0.13"),
    ("11_allocation", "alloc_cost/beside_kernel", "malloc", 1000.0, 1.0, "1073"),
    ("11_allocation", "alloc_cost/beside_kernel", "malloc", 5000.0, 1.0, "5096"),
    ("11_allocation", "alloc_cost/beside_kernel", "async_free", 5000.0, 1.0, "2.1"),
    ("11_allocation", "alloc_cost/beside_kernel", "own", 5000.0, 1.0, "0.54"),
    ("11_allocation", "buffer_pool/layernorm_gelu", "separate", 16.0, 1.0, "2112"),
    ("11_allocation", "buffer_pool/layernorm_gelu", "pooled", 16.0, 1.0, "128"),
    ("12_roofline", "intensity_ramp/main", "fma", 1.0, 1.0, "1.07"),
    ("12_roofline", "intensity_ramp/main", "fma", 56.0, 1.0, "52.6"),
    ("12_roofline", "intensity_ramp/main", "fma", 128.0, 1.0, "60.8"),
    ("12_roofline", "intensity_ramp/main", "fma", 1024.0, 1.0, "65.7"),
    ("12_roofline", "footprint/main", "read", MIB, 1e-3, "14.4"),
    ("12_roofline", "footprint/main", "read", 32.0 * MIB, 1e-3, "9.4"),
    ("12_roofline", "batch_gemm/main", "bf16", 1.0, 1.0, "4.1"),
    ("12_roofline", "batch_gemm/main", "bf16", 32.0, 1.0, "127"),
    ("12_roofline", "batch_gemm/time", "rotated", 1.0, 1.0, "8.2"),
    ("12_roofline", "batch_gemm/time", "rotated", 32.0, 1.0, "8.5"),
    ("12_roofline", "batch_gemm/time", "resident", 1.0, 1.0, "3.7"),
    ("18_debugging", "oom_boundary/main", "largest", 0.0, 1.0, "142626"),
    ("18_debugging", "oom_real/main", "fill", 32.0, 1.0, "31"),
    ("24_frameworks", "alloc_policies/main", "growing", 0.0, 1.0, "84"),
    ("24_frameworks", "alloc_policies/main", "growing", 1.0, 1.0, "588"),
    ("24_frameworks", "alloc_policies/main", "growing", 2.0, 1.0, "100"),
    ("24_frameworks", "alloc_policies/main", "growing", 3.0, 1.0, "128"),
    ("24_frameworks", "alloc_policies/main", "growing", 5.0, 1.0, "96"),
    ("24_frameworks", "alloc_policies/main", "training", 3.0, 1.0, "512"),
    ("24_frameworks", "alloc_policies/main", "training", 5.0, 1.0, "320"),
    ("24_frameworks", "alloc_policies/time", "training", 0.0, 1.0, "50"),
    ("24_frameworks", "alloc_policies/time", "training", 1.0, 1.0, "14.5"),
    ("24_frameworks", "alloc_policies/time", "training", 2.0, 1.0, "76"),
    ("24_frameworks", "alloc_policies/time", "training", 3.0, 1.0, "7.2"),
    ("24_frameworks", "alloc_policies/time", "training", 5.0, 1.0, "8.1"),
    ("24_frameworks", "alloc_policies/time", "training", 6.0, 1.0, "10.8"),
    ("25_compression", "cpu_codecs/ratio", "lz4", 0.0, 1.0, "0.996"),
    ("25_compression", "cpu_codecs/ratio", "zstd", 0.0, 1.0, "1.282"),
    ("25_compression", "cpu_codecs/ratio", "lz4_split", 0.0, 1.0, "1.18"),
    ("25_compression", "cpu_codecs/ratio", "zstd_split", 0.0, 1.0, "1.41"),
    ("25_compression", "cpu_codecs/ratio", "zstd_split", 1.0, 1.0, "1.17"),
    ("25_compression", "cpu_codecs/ratio", "zstd", 2.0, 1.0, "1.12"),
    ("25_compression", "cpu_codecs/ratio", "zstd", 3.0, 1.0, "1.22"),
    ("25_compression", "cpu_codecs/net", "zstd_split", 9.0, 1.0, "52"),
    ("25_compression", "cpu_codecs/net", "lz4_split", 9.0, 1.0, "27"),
    ("25_compression", "cpu_formats/main", "normal", 0.0, 1.0, "0.84"),
    ("25_compression", "cpu_formats/main", "outlier", 0.0, 1.0, "22.6"),
    ("25_compression", "cpu_formats/main", "outlier", 1.0, 1.0, "2.0"),
    ("25_compression", "cpu_formats/main", "normal", 2.0, 1.0, "11.3"),
    ("25_compression", "cpu_formats/main", "normal", 3.0, 1.0, "2.64"),
    ("25_compression", "cpu_formats/main", "outlier", 3.0, 1.0, "2.67"),
    ("25_compression", "cpu_formats/main", "normal", 4.0, 1.0, "5.3"),
    ("25_compression", "cpu_formats/main", "normal", 6.0, 1.0, "11.4"),
    ("25_compression", "cpu_formats/main", "normal", 7.0, 1.0, "9.1"),
    ("25_compression", "cpu_formats/main", "outlier", 7.0, 1.0, "10.9"),
    ("25_compression", "cpu_topk/main", "dropped", 2000.0, 1.0, "14"),
    ("25_compression", "cpu_topk/main", "feedback", 2000.0, 1.0, "0.008"),
    ("25_compression", "exponent_histogram/main", "measured", 0.0, 1.0, "2.545"),
    ("25_compression", "exponent_histogram/main", "measured", 1.0, 1.0, "2.016"),
    ("25_compression", "exponent_histogram/main", "measured", 2.0, 1.0, "2.273"),
    ("25_compression", "exponent_histogram/main", "measured", 3.0, 1.0, "2.451"),
    ("25_compression", "quant_gemv/size", "bf16", 65536.0, 1.0, "502"),
    ("25_compression", "quant_gemv/size", "e4m3", 65536.0, 1.0, "257"),
    ("25_compression", "quant_gemv/size", "int8", 65536.0, 1.0, "264"),
    ("25_compression", "quant_gemv/size", "int4", 65536.0, 1.0, "161"),
    ("25_compression", "quant_gemv/size", "mxfp4", 65536.0, 1.0, "185"),
    ("25_compression", "topk_threshold/main", "histogram", 0.001, 1.0, "75"),
    ("25_compression", "topk_threshold/main", "all", 0.0001, 1.0, "197"),
    ("25_compression", "topk_threshold/main", "all", 0.1, 1.0, "231"),
    ("21_serving", "batched_decode/columns", "bf16", 1.0, 1.0, "8.22"),
    ("21_serving", "batched_decode/columns", "bf16", 64.0, 1.0, "8.91"),
    ("21_serving", "batched_decode/columns", "bf16", 96.0, 1.0, "11.5"),
    ("21_serving", "batched_decode/columns", "bf16", 128.0, 1.0, "11.7"),
    ("21_serving", "batched_decode/columns", "bf16", 512.0, 1.0, "42.4"),
    ("21_serving", "batched_decode/verify", "bf16", 1.0, 1.0, "122"),
    ("21_serving", "batched_decode/verify", "bf16", 17.0, 1.0, "2023"),
];

fn measured(library: &Library, experiment: &str, series: &str, x: f64) -> f64 {
    let path = library.trace_paths(experiment).into_iter().next().unwrap_or_else(|| panic!("{experiment}"));
    let bytes = vramlab_content::get(&path).and_then(vramlab_content::Content::here).unwrap();
    let run = library.recorded(&path, bytes).unwrap().run;
    let (known, kernel) = library.experiment(experiment).unwrap();
    let judged = verdict::judge(&run, known, kernel);
    let point = judged.points.iter().find(|point| point.series == series && point.x == Some(x));
    point.and_then(|point| point.value).unwrap_or_else(|| panic!("{experiment} {series}@{x}"))
}

/// How often `number` stands in `text` on its own.
fn n_times(text: &str, number: &str) -> usize {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let alone = |at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at + number.len()..].chars().next());
        !is_part(before) && !is_part(after)
    };
    text.match_indices(number).filter(|(at, _)| alone(*at)).count()
}

#[test]
fn quoted_numbers_are_the_recordings() {
    let library = Library::built_in();
    for (chapter, experiment, series, x, factor, quote) in QUOTES {
        let decimals = quote.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let value = measured(&library, experiment, series, *x) * factor;
        assert_eq!(format!("{value:.decimals$}"), *quote, "{chapter}: {experiment} {series}@{x}");
        let text = vramlab_content::text(&format!("lessons/{chapter}/chapter.toml")).unwrap();
        assert!(n_times(text, quote) >= 2, "{chapter} writes {quote} in both languages");
    }
}
