//! Logs as they were published, version by version, and logs that nobody should have pasted.

use super::*;

const GIB: f64 = 1_073_741_824.0;

/// vllm-project/vllm#10517 (0.6.4), two runs of one card.
const V0_6_4: &str = include_str!("../../../../tests/data/serving/vllm_0_6_4.log");

/// #10511 (0.6.5).
const V0_6_5: &str = include_str!("../../../../tests/data/serving/vllm_0_6_5.log");

/// #12126 (0.6.6).
const V0_6_6: &str = include_str!("../../../../tests/data/serving/vllm_0_6_6.log");

/// #13596 (0.7.3, V1), the line before and after the change.
const V1_BLOCKS: &str = include_str!("../../../../tests/data/serving/vllm_v1_blocks.log");

/// V1 of 2025: weights apart.
const V1_2025: &str = include_str!("../../../../tests/data/serving/vllm_v1_2025.log");

/// V1 of 2026: weights and what is outside in one sum, tokens and concurrency in one line.
const V1_2026: &str = include_str!("../../../../tests/data/serving/vllm_v1_2026.log");

#[track_caller]
fn has(log: &Log, key: Key, expected: f64) {
    let got = log.value(key).unwrap_or_else(|| panic!("{} is missing", key.name()));
    assert!((got - expected).abs() <= expected.abs() * 1e-9, "{} = {got} and not {expected}", key.name());
}

/// Every sum that can be made agrees with what was printed, and none of these is missing.
#[track_caller]
fn agree(log: &Log, keys: &[Key]) {
    let checks = explain(log);
    assert_eq!(checks.iter().map(|check| check.of).collect::<Vec<_>>(), keys, "{checks:#?}");
    for check in &checks {
        assert!(
            check.agrees(),
            "{} = {}: {} and not {}",
            check.of.name(),
            check.formula,
            check.computed,
            check.printed
        );
    }
}

#[test]
fn vllm_0_6_4() {
    let log = read(V0_6_4).unwrap();
    has(&log, Key::Total, 23.58 * GIB);
    has(&log, Key::Utilisation, 0.9);
    has(&log, Key::TorchPeak, 17.06 * GIB);
    has(&log, Key::NonTorch, 0.35 * GIB);
    has(&log, Key::Pool, 3.81 * GIB);
    has(&log, Key::GpuBlocks, 1952.0);
    has(&log, Key::CpuBlocks, 2048.0);
    has(&log, Key::MaxLen, 20_000.0);
    has(&log, Key::Concurrency, 1.56);
    has(&log, Key::Weights, 14.9888 * GIB);
    assert!(log.get(Key::Weights).unwrap().says_gb, "GB is printed, GiB is meant");
    agree(&log, &[Key::Pool, Key::Concurrency]);
    assert!((log.bytes_per_token().unwrap() / 131_072.0 - 1.0).abs() < 0.002);
}

#[test]
fn vllm_0_6_5_and_6() {
    let log = read(V0_6_5).unwrap();
    has(&log, Key::Usable, 71.29 * GIB);
    has(&log, Key::NonTorch, 1.79 * GIB);
    has(&log, Key::Pool, 53.29 * GIB);
    agree(&log, &[Key::Usable, Key::Pool]);
    assert_eq!(log.unknown.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
    let log = read(V0_6_6).unwrap();
    has(&log, Key::Usable, 71.29 * GIB);
    has(&log, Key::ActivationPeak, 36.63 * GIB);
    has(&log, Key::Pool, 14.65 * GIB);
    has(&log, Key::GpuBlocks, 6001.0);
    has(&log, Key::CpuBlocks, 1638.0);
    agree(&log, &[Key::Usable, Key::Pool]);
    assert!((log.bytes_per_token().unwrap() / 163_840.0 - 1.0).abs() < 0.001);
}

#[test]
fn vllm_v1() {
    let log = read(V1_BLOCKS).unwrap();
    has(&log, Key::Tokens, 2_042_016.0);
    has(&log, Key::Concurrency, 997.08);
    agree(&log, &[Key::Tokens, Key::Concurrency]);
    let log = read(V1_2025).unwrap();
    has(&log, Key::Total, 79.19 * GIB);
    has(&log, Key::Weights, 14.08 * GIB);
    has(&log, Key::NonTorch, 0.07 * GIB);
    has(&log, Key::Graphs, 0.67 * GIB);
    has(&log, Key::Utilisation, 0.9);
    agree(&log, &[Key::Pool, Key::Concurrency]);
    let log = read(V1_2026).unwrap();
    has(&log, Key::Consumed, 15.26 * GIB);
    has(&log, Key::Pool, 56.21 * GIB);
    has(&log, Key::MaxLen, 131_072.0);
    has(&log, Key::Concurrency, 3.51);
    agree(&log, &[Key::Pool, Key::Concurrency]);
    assert_eq!(log.engine(), Some(Engine::Vllm));
}

/// #34076 and #2418: why it did not start.
#[test]
fn refusals() {
    let log = read(
        "ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is needed, which \
         is larger than the available KV cache memory (3.18 GiB). Based on the available memory, the estimated maximum model \
         length is 34736. Try increasing `gpu_memory_utilization` or decreasing `max_model_len`",
    )
    .unwrap();
    has(&log, Key::MaxLen, 262_144.0);
    has(&log, Key::Needed, 24.0 * GIB);
    has(&log, Key::Pool, 3.18 * GIB);
    has(&log, Key::EstimatedLen, 34_736.0);
    agree(&log, &[Key::EstimatedLen]);
    assert_eq!(log.bytes_per_token(), Some(98_304.0), "48 layers, 4 heads, 128: Qwen3-30B-A3B");
    let old = read(
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache \
         (3664). Try increasing `gpu_memory_utilization`",
    )
    .unwrap();
    has(&old, Key::MaxLen, 4096.0);
    has(&old, Key::MostTokens, 3664.0);
}

/// vllm-project/vllm#21348 and NVIDIA/TensorRT-LLM#1400, triton-inference-server/tutorials#150.
#[test]
fn other_engines() {
    let log = read("KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB").unwrap();
    assert_eq!(log.engine(), Some(Engine::Sglang));
    has(&log, Key::Tokens, 367_404.0);
    has(&log, Key::KeyBytes, 8.23 * GIB);
    // Qwen3-235B on four cards: 94 layers · 1 head · 128 · 2 · 2 bytes.
    assert!((log.bytes_per_token().unwrap() / 48_128.0 - 1.0).abs() < 0.002);
    agree(&log, &[Key::ValueBytes]);
    // One pool for latent vectors, and the line after loading (2025 and 2026).
    let log = read(
        "[2026-08-17 16:52:10] Load weight end. elapsed=100.59 s, type=BailingMoeV3ForCausalLM, avail mem=97.27 GB, mem usage=15.47 GB.
KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, KV size: 0.07 GB",
    )
    .unwrap();
    has(&log, Key::Weights, 15.47 * GIB);
    has(&log, Key::Pool, 0.07 * GIB);
    assert!(log.get(Key::ValueBytes).is_none() && log.bytes_per_token().is_some());
    let log = read(
        "[TensorRT-LLM][INFO] Number of tokens per block: 32.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 78.30 GiB for max tokens in paged KV cache (3731744).
[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 65 [window size=2051], tokens per block=32, primary blocks=116617, secondary blocks=0",
    )
    .unwrap();
    assert_eq!(log.engine(), Some(Engine::TensorrtLlm));
    has(&log, Key::Pool, 78.30 * GIB);
    has(&log, Key::GpuBlocks, 116_617.0);
    agree(&log, &[Key::Tokens]);
    let log = read(
        "[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache. \n[TensorRT-LLM][INFO] Using 132608 tokens in paged KV cache.",
    )
    .unwrap();
    assert_eq!(log.bytes_per_token(), Some(524_288.0), "Llama 2 7B");
}

/// Of several cards the smallest pool counts, and the largest weights.
#[test]
fn several_cards() {
    let log = read(
        "(VllmWorkerProcess pid=354) Memory profiling results: total_gpu_memory=139.72GiB non_torch_memory=5.68GiB kv_cache_size=110.52GiB
(VllmWorkerProcess pid=356) Memory profiling results: total_gpu_memory=139.72GiB non_torch_memory=5.21GiB kv_cache_size=110.99GiB",
    )
    .unwrap();
    has(&log, Key::Pool, 110.52 * GIB);
    has(&log, Key::NonTorch, 5.68 * GIB);
    assert_eq!(log.found.len(), 6);
}

#[test]
fn a_number_that_does_not_agree_is_said_so() {
    let log = read(&V0_6_6.replace("14.65GiB", "24.65GiB")).unwrap();
    let wrong: Vec<Key> = explain(&log).into_iter().filter(|check| !check.agrees()).map(|check| check.of).collect();
    assert_eq!(wrong, [Key::Pool]);
}

/// Anything may be pasted.
#[test]
fn hostile_logs() {
    for text in [
        "",
        "\n\n",
        "hello",
        "# GPU blocks: many",
        "GPU KV cache size: tokens",
        "total_gpu_memory (",
        "PNG\u{0}\u{1b}[31m",
    ] {
        assert!(read(text).unwrap_err().to_string().contains("GPU KV cache size"), "{text:?}");
    }
    // Colours, a wide line, a digit run, digits of other scripts, a unit of another kind, an endless escape.
    let coloured = read("\u{1b}[32mINFO\u{1b}[0m \u{1b}[1mGPU KV cache size:\u{1b}[0m 1,024 tokens").unwrap();
    has(&coloured, Key::Tokens, 1024.0);
    let wide = format!("{} GPU KV cache size: 8 tokens", "x".repeat(200_000));
    assert!(read(&wide).is_err(), "beyond what is searched of a line");
    assert!(read(&format!("GPU KV cache size: {} tokens", "9".repeat(4000))).is_err());
    assert!(read("GPU KV cache size: ９９ tokens").is_err());
    assert!(read("model weights take 12 apples").is_err());
    assert!(read(&format!("\u{1b}[{}", "0;".repeat(10_000))).is_err());
    let odd = read("GPU KV cache size: 1.2.3 tokens\nGPU KV cache size: 7, tokens").unwrap();
    has(&odd, Key::Tokens, 7.0);
    // Groups are of three; a request of no tokens is none; a count of 23 digits is told apart from an unknown wording.
    assert!(read("GPU KV cache size: 1,2,3,,4 tokens").is_err());
    has(&read("GPU KV cache size: 1,2,3,,4 tokens\n# GPU blocks: 1_234_567").unwrap(), Key::GpuBlocks, 1_234_567.0);
    assert!(read("GPU KV cache size: 1234,567 tokens").is_err());
    assert!(read("Maximum concurrency for 0 tokens per request: infx").is_err());
    let endless = read(&format!("hello\n# GPU blocks: {}", "9".repeat(23))).unwrap_err().to_string();
    assert!(endless.starts_with("line 2: ") && endless.contains("18 digits"), "{endless}");
    let zero = read("GPU KV cache size: 0 tokens\nMaximum concurrency for 0 tokens per request: 0.00x\nAvailable KV cache memory: 0 GiB").unwrap();
    assert!(explain(&zero).iter().all(|check| !check.agrees()) && zero.bytes_per_token().is_none());
    let many = read(&format!("GPU KV cache size: 8 tokens\n{}", "what is this\n".repeat(5_000))).unwrap();
    assert_eq!((many.unknown.len(), many.n_unknown_more), (2_000, 3_000));
    assert_eq!(many.unknown[0], (2, "what is this".to_owned()));
    assert!(read(&"a".repeat(MAX_LOG + 1)).unwrap_err().to_string().contains("16"));
}

/// Of a log of megabytes the lines that matter are kept; a short one stays whole.
#[test]
fn a_long_log_is_cut_to_its_numbers() {
    let long = format!("{}{V1_2026}{}", "noise 1 2 3\n".repeat(50_000), "Avg prompt throughput: 1\n".repeat(50_000));
    let short = excerpt(&long, 4096);
    assert_eq!(read(&short).unwrap().found.len(), read(V1_2026).unwrap().found.len());
    assert!(short.len() < 4096 && !short.contains("noise"));
    assert_eq!(excerpt("noise\nGPU KV cache size: 8 tokens", 4096), "noise\nGPU KV cache size: 8 tokens\n");
}

/// Cut anywhere, and with any byte changed, a log is read or refused.
#[test]
fn damaged_logs() {
    let whole = [V0_6_4, V0_6_6, V1_2026].join("\n");
    let mut random = crate::Random::new(5);
    for _ in 0..3_000 {
        let mut bytes = whole.as_bytes().to_vec();
        bytes.truncate(1 + random.word() as usize % bytes.len());
        for _ in 0..random.word() % 8 {
            let at = random.word() as usize % bytes.len();
            bytes[at] = random.word() as u8;
        }
        if let Ok(log) = read(&String::from_utf8_lossy(&bytes)) {
            assert!(log.found.iter().all(|found| found.value.is_finite()));
            explain(&log);
        }
    }
}
