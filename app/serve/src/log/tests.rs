//! Logs as they were published, version by version, and logs that nobody should have pasted.

use super::*;

const GIB: f64 = 1_073_741_824.0;

/// vllm-project/vllm#10517 (0.6.4), two runs of one card.
const V0_6_4: &str = "Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.06GiB \
memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90
GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x";

/// #10511 (0.6.5).
const V0_6_5: &str = "INFO 12-13 19:54:18 worker.py:243] Memory profiling results:
INFO 12-13 19:54:18 worker.py:243] duration\t0.75 seconds
INFO 12-13 19:54:18 worker.py:243] total_gpu_memory\t79.22GiB
INFO 12-13 19:54:18 worker.py:243] gpu_memory_utilization\t0.90
INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use\t71.29GiB
INFO 12-13 19:54:18 worker.py:243] model weights take\t14.96GiB
INFO 12-13 19:54:18 worker.py:243] non_torch_memory\t1.79GiB
INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory\t1.26GiB
INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory\t53.29GiB";

/// #12126 (0.6.6).
const V0_6_6: &str = "INFO 01-16 09:40:00 worker.py:238] the current vLLM instance can use total_gpu_memory (79.22GiB) x \
gpu_memory_utilization (0.90) = 71.29GiB
INFO 01-16 09:40:00 worker.py:238] model weights take 19.86GiB; non_torch_memory takes 0.16GiB; PyTorch activation peak \
memory takes 36.63GiB; the rest of the memory reserved for KV Cache is 14.65GiB.
INFO 01-16 09:40:00 executor_base.py:95] # CUDA blocks: 6001, # CPU blocks: 1638";

/// #13596 (0.7.3, V1), the line before and after the change.
const V1_BLOCKS: &str = "INFO 02-20 00:01:02 kv_cache_utils.py:522] # GPU blocks: 127626
INFO 02-20 00:01:02 kv_cache_utils.py:525] Maximum concurrency for 2048 tokens per request: 997.08x
INFO 02-19 23:56:55 kv_cache_utils.py:524] GPU KV cache size: 2,042,016 tokens
INFO 02-19 23:56:55 kv_cache_utils.py:527] Maximum concurrency for 2,048 tokens per request: 997.08x";

/// V1 of 2025: weights apart.
const V1_2025: &str = "(EngineCore_DP0 pid=3021) INFO 09-23 18:12:34 [kv_cache_utils.py:864] GPU KV cache size: 451,744 tokens
(EngineCore_DP0 pid=3021) INFO 09-23 18:12:34 [kv_cache_utils.py:868] Maximum concurrency for 4,096 tokens per request: 110.29x
(EngineCore_DP0 pid=3021) INFO 09-23 18:12:34 [gpu_worker.py:298] Available KV cache memory: 55.15 GiB
(EngineCore_DP0 pid=3021) INFO 09-23 18:12:39 [gpu_model_runner.py:3118] Graph capturing finished in 5 secs, took 0.67 GiB
(EngineCore_DP0 pid=3021) INFO 09-23 18:12:39 [gpu_worker.py:391] Free memory on device (78.66/79.19 GiB) on startup. Desired GPU \
memory utilization is (0.9, 71.27 GiB). Actual usage is 14.08 GiB for weight, 1.97 GiB for peak activation, 0.07 GiB for \
non-torch memory, and 0.67 GiB for CUDAGraph memory.";

/// V1 of 2026: weights and what is outside in one sum, tokens and concurrency in one line.
const V1_2026: &str = "(EngineCore pid=326) INFO 10-06 17:00:11 [model_runner.py:407] Model loading took 15.0 GiB memory and 5.420225 seconds
(EngineCore pid=326) INFO 10-06 17:00:33 [gpu_worker.py:692] Available KV cache memory: 56.21 GiB
(EngineCore pid=326) INFO 10-06 17:00:33 [kv_cache_utils.py:2464] GPU KV cache size: 460,496 tokens, Maximum concurrency for \
131,072 tokens per request: 3.51x
(EngineCore pid=326) INFO 10-06 17:00:41 [gpu_worker.py:955] Free memory on device (78.84/79.25 GiB) on startup. Desired GPU memory \
utilization is (0.92, 72.91 GiB). Actual usage is 15.26 GiB for consumed memory (weights + non-torch), 1.44 GiB for peak \
activation, and 0.23 GiB for CUDAGraph memory.";

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
    let zero = read("GPU KV cache size: 0 tokens\nMaximum concurrency for 0 tokens per request: 0.00x\nAvailable KV cache memory: 0 GiB").unwrap();
    assert!(explain(&zero).iter().all(|check| !check.agrees()) && zero.bytes_per_token().is_none());
    let many = read(&format!("GPU KV cache size: 8 tokens\n{}", "what is this\n".repeat(5_000))).unwrap();
    assert_eq!((many.unknown.len(), many.n_unknown_more), (2_000, 3_000));
    assert_eq!(many.unknown[0], (2, "what is this".to_owned()));
    assert!(read(&"a".repeat(MAX_LOG + 1)).unwrap_err().to_string().contains("16"));
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
