//! Parameters and bytes of published models, to the last digit. The configurations lie in `tests/data/configs`: numbers
//! alone, as the models' own `config.json` state them.

use vramlab_modelfile::kv::{self, Cache};
use vramlab_modelfile::parts::{self, Role};
use vramlab_modelfile::{Architecture, Dtype, Field, Format, Head, read};

#[track_caller]
fn open(name: &str) -> Architecture {
    let path = format!("{}/../../tests/data/configs/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    read(Head::whole(&text), &[]).unwrap_or_else(|problem| panic!("{name}: {problem}")).arch
}

/// Published totals: `safetensors.total` of the model's page, `total_size` of its index divided by the bytes of its
/// format, or the count in Keras Hub's presets; for DeepSeek V2 the sum over the tensors of the published checkpoint.
const PUBLISHED: &[(&str, u128, &str)] = &[
    ("llama-2-7b", 6_738_415_616, "page of meta-llama/Llama-2-7b-hf"),
    ("llama-2-13b", 13_015_864_320, "page of meta-llama/Llama-2-13b-hf"),
    ("llama-3-8b", 8_030_261_248, "total_size 16,060,522,496 of the index ÷ 2"),
    ("llama-3.1-8b", 8_030_261_248, "total_size 16,060,522,496 of the index ÷ 2"),
    ("llama-3.1-70b", 70_553_706_496, "page of meta-llama/Llama-3.1-70B"),
    ("llama-3.1-405b", 405_853_388_800, "page of meta-llama/Llama-3.1-405B"),
    ("llama-3.2-1b", 1_235_814_400, "page of meta-llama/Llama-3.2-1B"),
    ("mistral-7b-v0.1", 7_241_732_096, "page of mistralai/Mistral-7B-v0.1"),
    ("mixtral-8x7b", 46_702_792_704, "page of mistralai/Mixtral-8x7B-v0.1; Keras Hub preset"),
    ("mixtral-8x22b-instruct", 140_630_071_296, "page of mistralai/Mixtral-8x22B-Instruct-v0.1"),
    ("qwen2.5-0.5b", 494_032_768, "page of Qwen/Qwen2.5-0.5B"),
    ("qwen2.5-7b", 7_615_616_512, "page of Qwen/Qwen2.5-7B"),
    ("qwen3-0.6b", 596_049_920, "Keras Hub preset qwen3_0.6b_en"),
    ("qwen3-8b", 8_190_735_360, "page of Qwen/Qwen3-8B"),
    ("qwen3-30b-a3b", 30_532_122_624, "general.parameter_count of its GGUF"),
    ("qwen3-235b-a22b", 235_093_634_560, "total_size 470,187,269,120 of the index ÷ 2"),
    ("qwen1.5-moe-a2.7b", 14_315_784_192, "Keras Hub preset qwen_moe"),
    ("gemma-2b", 2_506_172_416, "Keras Hub preset gemma_2b_en"),
    ("gemma-7b", 8_537_680_896, "Keras Hub preset gemma_7b_en"),
    ("gemma-2-2b", 2_614_341_888, "page of google/gemma-2-2b"),
    ("gemma-2-9b", 9_241_705_984, "Keras Hub preset gemma2_9b_en"),
    ("gemma-2-27b", 27_227_128_320, "page of google/gemma-2-27b"),
    ("gemma-3-1b", 999_885_952, "Keras Hub preset gemma3_1b"),
    ("gemma-3-4b", 4_300_079_472, "Keras Hub preset gemma3_4b, with its image tower"),
    ("gemma-3-12b", 12_187_325_040, "page of google/gemma-3-12b-it"),
    ("gemma-3-27b", 27_432_406_640, "Keras Hub preset gemma3_27b, with its image tower"),
    ("deepseek-v2-lite", 15_706_484_224, "tensors of deepseek-ai/DeepSeek-V2-Lite"),
    ("deepseek-v2", 235_741_434_880, "tensors of deepseek-ai/DeepSeek-V2"),
    ("deepseek-v3", 671_026_419_200, "main model of deepseek-ai/DeepSeek-V3, 671 B in its README"),
    ("gpt2", 124_439_808, "page of openai-community/gpt2"),
    ("gpt2-xl", 1_557_611_200, "Keras Hub preset gpt2_extra_large_en"),
    ("gpt-neox-20b", 20_554_567_680, "table on the page of EleutherAI/gpt-neox-20b"),
    ("pythia-410m", 405_334_016, "table on the page of EleutherAI/pythia-410m"),
    ("phi-3-mini-4k", 3_821_079_552, "Keras Hub preset phi3_mini_4k_instruct_en"),
];

#[test]
fn parameters_of_published_models_are_exact() {
    for (name, expected, source) in PUBLISHED {
        let arch = open(name);
        let list = parts::parts(&arch).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert_eq!(parts::n_params(&list), *expected, "{name}: {source}");
        assert!(arch.unknown.iter().all(|unknown| unknown.what == "dtype"), "{name}: {:?}", arch.unknown);
    }
}

/// Source: Mixtral's paper (12.9 B of 46.7 B), the name of Qwen3-30B-A3B (3.3 B on its page), DeepSeek V3's README (37 B; counts
/// that give 37,552,282,624 leave the bias of its 58 routers out).
#[test]
fn a_token_passes_through_a_part_of_the_experts() {
    for (name, active) in
        [("mixtral-8x7b", 12_879_925_248), ("qwen3-30b-a3b", 3_353_032_704), ("deepseek-v3", 37_552_282_624 + 58 * 256)]
    {
        let arch = open(name);
        assert_eq!(parts::n_active(&parts::parts(&arch).unwrap(), &arch), active, "{name}");
    }
}

/// The checkpoint of DeepSeek V3: 684,489,845,504 parameters with the layer that predicts a further token (685 B in the
/// README); its files have 688,586,727,753 bytes together, headers included.
#[test]
fn a_checkpoint_in_blocks_of_fp8_has_the_size_of_its_files() {
    let arch = open("deepseek-v3");
    let list = parts::parts(&arch).unwrap();
    let all: u128 = list.iter().map(parts::Part::params).sum();
    assert_eq!(all, 684_489_845_504);
    let format = arch.stored_as().unwrap();
    assert_eq!(format, Format::Fp8 { block: 128 });
    let bytes: u128 = list.iter().map(|part| part.bytes(format, Format::Plain(Dtype::BF16))).sum();
    let files = 688_586_727_753_f64;
    assert!((bytes as f64 - files).abs() / files < 1e-4, "{bytes}");
}

/// Sixteen-bit weights: `total_size` of the index; public row 24 has 14.957 GiB, which leaves the norms out.
#[test]
fn weights_in_16_bits_are_the_total_size_of_the_index() {
    let arch = open("llama-3-8b");
    let list = parts::parts(&arch).unwrap();
    let bytes = parts::bytes(&list, arch.stored_as().unwrap(), Format::Plain(Dtype::BF16));
    assert_eq!(bytes, 16_060_522_496);
    let norms: u128 = list.iter().filter(|part| part.role == Role::Norms).map(parts::Part::params).sum();
    assert_eq!(format!("{:.3}", (bytes - 2 * norms) as f64 / 1_073_741_824.0), "14.957");
}

/// Public rows 1 and 16: bytes of a token at 16 bits.
#[test]
fn bytes_of_a_token_are_the_published_ones() {
    for (name, expected) in [
        ("llama-2-7b", 524_288),
        ("llama-2-13b", 819_200),
        ("llama-3-8b", 131_072),
        ("llama-3.1-70b", 327_680),
        ("llama-3.1-405b", 516_096),
        ("opt-13b", 800 * 1024),
        ("deepseek-v3", 61 * (512 + 64) * 2),
        ("deepseek-v2", 60 * (512 + 64) * 2),
    ] {
        let cache = Cache::of(&open(name)).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert_eq!(cache.bytes_per_token(Dtype::F16), expected, "{name}");
    }
    let opt = Cache::of(&open("opt-13b")).unwrap();
    assert_eq!(format!("{:.1}", opt.bytes(2048, Dtype::F16) as f64 / 1e9), "1.7");
    assert_eq!(
        format!("{:.1}", opt.bytes(2048, Dtype::F16) as f64 / 1_073_741_824.0),
        "1.6",
        "printed as GB, meant GiB"
    );
}

/// Public row 2: the cache at 2048 tokens, f16, as llama.cpp prints it.
#[test]
fn caches_of_2048_tokens_are_those_in_llama_cpp_s_logs() {
    let of = |layers: u64, kv: u64| {
        let given = [("layers", layers), ("kv_heads", kv), ("heads", kv * 8), ("head_dim", 128)];
        let given: Vec<_> = given.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect();
        let given = [given, vec![("layer_types".to_owned(), "full_attention".to_owned())]].concat();
        let arch = read(Head::whole(b"{\"model_type\": \"some_model\"}"), &given).unwrap().arch;
        Cache::of(&arch).unwrap().bytes(2048, Dtype::F16) >> 20
    };
    assert_eq!(Cache::of(&open("command-r-35b")).unwrap().bytes(2048, Dtype::F16) >> 20, 2560);
    assert_eq!(Cache::of(&open("mixtral-8x7b")).unwrap().bytes(2048, Dtype::F16) >> 20, 256);
    assert_eq!(Cache::of(&open("llama-3-8b")).unwrap().bytes(2048, Dtype::F16) >> 20, 256);
    assert_eq!(Cache::of(&open("llama-3.1-70b")).unwrap().bytes(2048, Dtype::F16) >> 20, 640);
    assert_eq!(of(64, 8), 512, "Qwen1.5-32B");
    assert_eq!(of(60, 8), 480, "Yi-1.5-34B");
}

/// Public row 3: GiB in the table of the Llama 3.1 post; "1 k" is 1024 tokens there, the others are decimal.
#[test]
fn the_table_of_the_llama_3_1_post_is_met_to_its_digits() {
    for (name, expected) in
        [("llama-3.1-8b", ["0.125", "1.95", "15.62"]), ("llama-3.1-70b", ["0.313", "4.88", "39.06"])]
    {
        let cache = Cache::of(&open(name)).unwrap();
        let gib = |tokens: u64| cache.bytes(tokens, Dtype::F16) as f64 / 1_073_741_824.0;
        // 15.625 and 0.3125 lie on the edge: the post rounds the first down and the second up.
        let near = |value: f64, printed: &str| {
            let digits = printed.split('.').nth(1).map_or(0, str::len) as i32;
            (value - printed.parse::<f64>().unwrap()).abs() <= 0.5001 * 10_f64.powi(-digits)
        };
        for (tokens, printed) in [1024, 16_000, 128_000].into_iter().zip(expected) {
            assert!(near(gib(tokens), printed), "{name} at {tokens}: {} and not {printed}", gib(tokens));
        }
    }
}

/// Public rows 4, 6 and 8: vLLM's blocks of 16 tokens.
#[test]
fn paged_blocks_are_counted_as_vllm_s_logs_count_them() {
    const GIB: f64 = 1_073_741_824.0;
    let llama = Cache::of(&open("llama-3.1-8b")).unwrap().bytes_per_token(Dtype::BF16);
    assert_eq!(llama * 16, 2 << 20, "a block has 2 MiB");
    let gpu = kv::blocks((3.81 * GIB) as u128, llama, 16);
    assert!(gpu.abs_diff(1952) <= 3, "{gpu}");
    assert_eq!(kv::blocks(4 << 30, llama, 16), 2048);
    assert_eq!(format!("{:.2}", (1952 * 16) as f64 / 20_000.0), "1.56");
    // Row 6: forty layers with 8 KV heads of 128; the pool is what utilisation leaves over.
    let vision = 2 * 40 * 8 * 128 * 2_u128;
    assert_eq!(vision * 16, 5 << 19, "2.5 MiB");
    let pool = 79.22_f64 * 0.90 - 19.86 - 0.16 - 36.63;
    assert!((pool - 14.65).abs() < 0.0105, "{pool}");
    assert!(kv::blocks((14.65 * GIB) as u128, vision, 16).abs_diff(6001) <= 3);
    assert_eq!(kv::blocks(4 << 30, vision, 16), 1638);
    assert_eq!(127_626 * 16, 2_042_016);
    assert_eq!(format!("{:.2}", 2_042_016_f64 / 2048.0), "997.08");
}

/// Public row 12: sixteen of 64 layers keep keys and values, the others a state.
#[test]
fn hybrid_layers_keep_a_cache_in_one_of_four() {
    let text =
        br#"{"model_type": "qwen3_next", "num_hidden_layers": 64, "num_attention_heads": 24, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_size": 5120, "full_attention_interval": 4}"#;
    let arch = read(Head::whole(text), &[]).unwrap().arch;
    let cache = Cache::of(&arch).unwrap();
    assert_eq!((cache.n_recurrent, cache.bytes_per_token(Dtype::F8_E4M3)), (48, 32 * 1024));
    assert_eq!(format!("{:.2}", cache.bytes(302_921, Dtype::F8_E4M3) as f64 / 1_073_741_824.0), "9.24");
    assert!(
        arch.unknown.iter().any(|unknown| unknown.what == "recurrent_state"),
        "the state is not counted, and said so"
    );
}

/// Public row 13: one latent vector in q8_0.
#[test]
fn a_latent_cache_in_q8_0_has_the_published_size() {
    let cache = Cache::of(&open("deepseek-v3")).unwrap();
    let bytes = cache.bytes(32_768, Dtype::from_name("q8_0").unwrap());
    assert_eq!(format!("{:.2}", bytes as f64 / 1_048_576.0), "1166.62");
    assert_eq!(cache.share(8), (1, 1), "no card of a group is spared");
}

/// Gemma 3: five of six layers see 512 to 1024 tokens. Gemma 2: every second one.
#[test]
fn windows_end_the_growth_of_a_cache() {
    let cache = Cache::of(&open("gemma-3-4b")).unwrap();
    let layer = 2 * 4 * 256 * 2_u128;
    assert_eq!(cache.bytes(1024, Dtype::BF16), 34 * layer * 1024);
    assert_eq!(cache.bytes(32_768, Dtype::BF16), 5 * layer * 32_768 + 29 * layer * 1024);
    assert_eq!(cache.growth(Dtype::BF16), 5 * layer);
    let cache = Cache::of(&open("gemma-2-9b")).unwrap();
    assert_eq!(cache.growth(Dtype::BF16), 21 * 2 * 8 * 256 * 2);
    // Qwen names a window and does not use it.
    let cache = Cache::of(&open("qwen2.5-7b")).unwrap();
    assert_eq!(cache.growth(Dtype::BF16), 28 * 2 * 4 * 128 * 2);
}

#[test]
fn cards_share_heads_and_not_less_than_one() {
    let cache = Cache::of(&open("llama-3.1-70b")).unwrap();
    assert_eq!((cache.share(4), cache.share(8), cache.share(16)), ((2, 8), (1, 8), (1, 8)));
}

/// QLoRA, table 6 and section 3: 4.127 bits for the linear layers; embedding and head stay in 16.
#[test]
fn four_bits_reach_the_linear_layers_only() {
    let arch = open("llama-2-7b");
    let list = parts::parts(&arch).unwrap();
    let linear: u128 = list.iter().filter(|part| part.is_linear).map(parts::Part::params).sum();
    assert_eq!(linear, 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008));
    let rest = parts::n_params(&list) - linear;
    let nf4 = parts::bytes(&list, Format::Nf4 { double: true }, Format::Plain(Dtype::BF16));
    let expected = linear as f64 * (4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0)) / 8.0 + rest as f64 * 2.0;
    assert!((nf4 as f64 - expected).abs() < 1e-6 * expected, "{nf4}");
    assert!(list.iter().any(|part| part.role == Role::Head && !part.is_linear));
}

/// The file of Llama-2-7B-AWQ at 4 bits and groups of 128: 3.89 GB on its page.
#[test]
fn an_awq_checkpoint_has_the_size_of_its_file() {
    let list = parts::parts(&open("llama-2-7b")).unwrap();
    let bytes = parts::bytes(&list, Format::from_id("awq4_g128").unwrap(), Format::Plain(Dtype::F16));
    assert_eq!(format!("{:.2}", bytes as f64 / 1e9), "3.89");
}

#[test]
fn each_number_says_where_it_comes_from() {
    let arch = open("gemma-3-4b");
    let origin = |field| arch.fact(field).unwrap().origin.words().get(vramlab_units::Lang::En).to_owned();
    assert_eq!(origin(Field::Layers), "read from text_config.num_hidden_layers, line 11");
    assert_eq!(origin(Field::Heads), "not in the file; the default of gemma3_text");
    let arch = open("gpt2");
    let origin = |field| arch.fact(field).unwrap().origin.words().get(vramlab_units::Lang::En).to_owned();
    assert_eq!(origin(Field::Intermediate), "derived: 4 × hidden size, n_inner being empty");
    assert_eq!(origin(Field::KvHeads), "derived: no KV heads are given, so each attention head has its own");
}
