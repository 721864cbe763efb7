//! Broken and odd files: the right error at the right place, or the right number. Every prefix and every flipped byte of the
//! binary headers ends in an answer.

use crate::files::{self, gguf, gguf_tensors, safetensors};
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::parts::{n_params, parts};
use vramlab_modelfile::{Architecture, Attention, Dtype, Field, Head, Model, Problem, read};
use vramlab_units::Lang;

fn open(bytes: &[u8]) -> Result<Model, Problem> {
    read(Head::whole(bytes), &[])
}

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[track_caller]
fn arch(text: &str) -> Architecture {
    open(text.as_bytes()).unwrap_or_else(|problem| panic!("{problem}")).arch
}

/// The message in both languages, and that the Chinese one is Chinese.
#[track_caller]
fn refused(text: &str, words: &[&str]) -> Problem {
    let problem = open(text.as_bytes()).expect_err(text);
    let message = problem.message(Lang::En);
    for word in words {
        assert!(message.contains(word), "{message:?} lacks {word:?}");
    }
    assert!(problem.message(Lang::Zh).chars().any(|c| c as u32 > 0x2e80), "{}", problem.message(Lang::Zh));
    problem
}

/// A Llama of 32 layers with one key changed, added (`+`) or taken away (`-`).
fn llama(change: &str) -> String {
    let mut lines: Vec<String> = [
        "\"model_type\": \"llama\"",
        "\"hidden_size\": 4096",
        "\"intermediate_size\": 14336",
        "\"num_hidden_layers\": 32",
        "\"num_attention_heads\": 32",
        "\"num_key_value_heads\": 8",
        "\"vocab_size\": 128256",
        "\"torch_dtype\": \"bfloat16\"",
    ]
    .map(str::to_owned)
    .to_vec();
    let (key, value) = change.split_once(':').unwrap_or((change, ""));
    let value = value.trim();
    lines.retain(|line| !line.starts_with(&format!("\"{}\"", key.trim_start_matches('-'))));
    if !key.starts_with('-') {
        lines.push(format!("\"{key}\": {value}"));
    }
    format!("{{\n{}\n}}", lines.join(",\n"))
}

#[test]
fn h1_nested_parts_nulls_old_names_and_missing_kv_heads_are_resolved_in_sight() {
    // Nested, with a null where the code has a rule.
    let nested = format!(
        "{{\"model_type\": \"some_vision_model\", \"torch_dtype\": \"float16\", \"text_config\": {}}}",
        llama("num_key_value_heads: null").replace("\"torch_dtype\": \"bfloat16\"", "\"torch_dtype\": null")
    );
    let found = arch(&nested);
    assert_eq!(found.model_type, "llama");
    assert_eq!(found.dtype.as_ref().map(|(dtype, _)| *dtype), Some(Dtype::F16), "taken from the outer part");
    assert!(found.notes.iter().any(|note| note.get(Lang::En).contains("text_config")));
    let kv = found.fact(Field::KvHeads).unwrap();
    assert_eq!((kv.value, kv.origin.id()), (32, "derived"));
    assert!(kv.origin.words().get(Lang::En).contains("each attention head has its own"));
    // Missing altogether.
    let kv = arch(&llama("-num_key_value_heads"));
    assert_eq!(kv.fact(Field::KvHeads).unwrap().origin.id(), "derived");
    // Old names.
    let old = arch(
        r#"{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257}"#,
    );
    assert_eq!(n_params(&parts(&old).unwrap()), 124_439_808);
    let words = old.fact(Field::Positions).unwrap().origin.words();
    assert_eq!(words.get(Lang::En), "read from n_ctx, line 1");
}

#[test]
fn h2_unknown_types_mixed_layers_and_latent_attention_without_ranks_ask_for_numbers() {
    // Unknown type: known fields are there, no count, no cache by a dense formula.
    let unknown = arch(&llama("model_type: \"lama\""));
    assert_eq!(unknown.get(Field::Layers), Some(32));
    assert!(parts(&unknown).unwrap_err().to_string().contains("--set n_params="));
    assert!(Cache::of(&unknown).unwrap_err().to_string().contains("--set layer_types=full_attention"));
    assert!(unknown.unknown[0].why.get(Lang::En).contains("the nearest is \"llama\""));
    // The reader's word is enough for the cache.
    let text = llama("model_type: \"lama\"");
    let given = read(Head::whole(text.as_bytes()), &set(&[("layer_types", "full_attention")])).unwrap().arch;
    assert_eq!(Cache::of(&given).unwrap().bytes_per_token(Dtype::BF16), 131_072);
    // Mixed layers.
    let mixed = arch(
        r#"{"model_type": "mllama_text_model", "num_hidden_layers": 40, "cross_attention_layers": [3, 8], "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}"#,
    );
    assert!(mixed.unknown.iter().any(|unknown| unknown.why.get(Lang::En).contains("cross_attention_layers")));
    assert!(Cache::of(&mixed).is_err() && parts(&mixed).is_err());
    // A list of heads, layer by layer.
    let listed = arch(&llama("num_key_value_heads: [8, 8, 4]"));
    assert!(Cache::of(&listed).unwrap_err().to_string().contains("kv_heads"), "{:?}", listed.facts);
    assert!(parts(&listed).is_err());
    // Latent attention without its rank, of a known and of an unknown type.
    for model_type in ["deepseek_v3", "deepseek_v9"] {
        let text = format!(
            r#"{{"model_type": "{model_type}", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128, "qk_rope_head_dim": 64, "vocab_size": 129280, "layer_types": {}}}"#,
            serde_layers(61)
        );
        let latent = arch(&text);
        let message = Cache::of(&latent).unwrap_err().to_string();
        assert!(message.contains("--set kv_rank="), "{model_type}: {message}");
    }
}

fn serde_layers(n: usize) -> String {
    format!("[{}]", vec!["\"full_attention\""; n].join(", "))
}

#[test]
fn h3_numbers_out_of_range_are_refused_at_their_field() {
    let layers =
        refused(&llama("num_hidden_layers: 1000000000000"), &["num_hidden_layers = 1000000000000", "1 to 4096"]);
    assert_eq!(layers.place.map(|place| (place.line, place.column)), Some((9, 22)));
    assert_eq!(layers.field.as_deref(), Some("num_hidden_layers"));
    refused(&llama("num_attention_heads: 0"), &["num_attention_heads = 0", "1 to 65536", "line 9"]);
    refused(&llama("hidden_size: -4096"), &["hidden_size = -4096"]);
    refused(&llama("hidden_size: NaN"), &["hidden_size = NaN", "integer"]);
    refused(&llama("vocab_size: Infinity"), &["vocab_size = Infinity"]);
    refused(&llama("vocab_size: 1e400"), &["vocab_size = 1e400"]);
    refused(&llama("head_dim: 128.5"), &["head_dim = 128.5"]);
    refused(&llama("num_attention_heads: 30"), &["4096 is not divisible by num_attention_heads = 30", "no fraction"]);
    refused(
        &llama("num_key_value_heads: 7"),
        &["num_key_value_heads = 7", "32 attention heads do not make 7 equal groups"],
    );
    refused(&llama("intermediate_size: \"wide\""), &["intermediate_size = \"wide\""]);
    refused(&llama("tie_word_embeddings: 3"), &["tie_word_embeddings = 3"]);
    refused(&llama("num_hidden_layers: 18446744073709551616"), &["18446744073709551616"]);
    // The largest legal model of all is counted without overflow.
    let text = llama("num_hidden_layers: 4096");
    let most =
        set(&[("hidden", "1048576"), ("vocab", "67108864"), ("intermediate", "16777216"), ("head_dim", "32768")]);
    let found = read(Head::whole(text.as_bytes()), &most).unwrap().arch;
    let count = n_params(&parts(&found).unwrap());
    assert!(count > 1 << 57 && count < u128::MAX / 2);
    assert!(Cache::of(&found).unwrap().bytes(1 << 30, Dtype::F32) > u128::from(u64::MAX) / 256);
}

#[test]
fn h4_what_is_saved_in_the_place_of_a_config_is_called_what_it_is() {
    let text = llama("head_dim: 128");
    for end in [1, text.len() / 2, text.len() - 1] {
        assert!(open(&text.as_bytes()[..end]).unwrap_err().to_string().contains("cut off"), "{end}");
    }
    refused("<!DOCTYPE html><html><body>Sign in</body></html>", &["a web page", "login"]);
    refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n", &["Git LFS pointer", "git lfs pull"]);
    refused("PK\u{3}\u{4}archive/data.pkl", &["a PyTorch checkpoint"]);
    refused("hello", &["no model file", "hello"]);
    refused("[1, 2]", &["no model file"]);
    refused("{\"a\": 1}", &["does not look like the config.json"]);
    refused("{}", &["no keys"]);
    refused("", &["empty"]);
    // Two gigabytes: told by its size, not read.
    let large = Head { bytes: text.as_bytes(), n_bytes: 2 << 30 };
    assert!(read(large, &[]).unwrap_err().to_string().contains("the file has 2147 MB"));
}

#[test]
fn h5_headers_that_lie_are_refused_and_unknown_formats_counted_by_what_is_known() {
    let good = safetensors(&[("a", "BF16", &[2, 3], (0, 12)), ("b", "F32", &[4], (12, 28))], 28);
    let tensors = open(&good).unwrap().tensors.unwrap();
    assert_eq!((tensors.n_params, tensors.n_bytes), (Some(10), 28));
    let lie = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        open(&bytes).unwrap_err().to_string()
    };
    assert!(lie(&|bytes| bytes[..8].fill(255)).contains("says it has 18446744073709551615 bytes"));
    assert!(lie(&|bytes| bytes[0] = 255).contains("the file has"));
    let says = |tensors: &[files::Tensor<'_>]| open(&safetensors(tensors, 28)).map_err(|why| why.to_string());
    assert!(
        says(&[("a", "BF16", &[6], (0, 12)), ("b", "BF16", &[6], (8, 20))])
            .unwrap_err()
            .contains("overlap: 0 to 12 and 8 to 20")
    );
    assert!(says(&[("a", "BF16", &[6], (12, 0))]).unwrap_err().contains("12 to 0"));
    assert!(says(&[("a", "BF16", &[50], (0, 100))]).unwrap_err().contains("0 to 100, and there are 28 bytes"));
    assert!(says(&[("a", "BF16", &[7], (0, 12))]).unwrap_err().contains("has 14 bytes, and 12 are stored"));
    assert!(says(&[("a", "BF16", &[1 << 40, 1 << 40, 1 << 40, 1 << 40], (0, 12))]).unwrap_err().contains("shape"));
    let odd = says(&[("a", "F5_X", &[6], (0, 12)), ("b", "F32", &[4], (12, 28))]).unwrap().tensors.unwrap();
    assert_eq!((odd.n_unknown, odd.n_params, odd.n_bytes), (1, None, 28), "sizes are shown, the count is not");

    let good = gguf(3, &files::LLAMA, &[("token_embd.weight", &[64, 4], 8), ("output_norm.weight", &[64], 0)]);
    assert!(open(&good).is_ok(), "{:?}", open(&good).err().map(|why| why.to_string()));
    let at = |bytes: &[u8], at: usize, value: u64| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        open(&bytes).unwrap_err().to_string()
    };
    assert!(at(&good, 8, u64::MAX).contains("claims 18446744073709551615 tensors"));
    assert!(at(&good, 16, 1 << 60).contains("keys"));
    assert!(at(&good, 24, u64::MAX - 1).contains("the limit is 65536"));
    let mut old = good.clone();
    old[4] = 1;
    assert!(open(&old).unwrap_err().to_string().contains("version 1"));
    old[4..8].copy_from_slice(&3_u32.to_be_bytes());
    assert!(open(&old).unwrap_err().to_string().contains("other byte order"));
    let overlapping = gguf_tensors(3, &files::LLAMA, &[("a", &[64], 0, 0), ("b", &[64], 0, 128)], 384);
    assert!(open(&overlapping).unwrap_err().to_string().contains("ends at 256, and the next one begins at 128"));
    let beyond = gguf_tensors(3, &files::LLAMA, &[("a", &[1 << 40], 0, 0)], 64);
    assert!(open(&beyond).unwrap_err().to_string().contains("the file has 64 bytes of data"));
    let vast = gguf_tensors(3, &files::LLAMA, &[("a", &[u64::MAX, u64::MAX, u64::MAX], 0, 0)], 64);
    assert!(open(&vast).unwrap_err().to_string().contains("too large"));
    let unknown = gguf_tensors(3, &files::LLAMA, &[("a", &[64], 999, 0), ("b", &[64], 0, 64)], 320);
    let unknown = open(&unknown).unwrap();
    assert_eq!(unknown.tensors.unwrap().n_unknown, 1);
    assert!(unknown.arch.unknown.iter().any(|unknown| unknown.what == "tensors"));
}

/// Odd but legal, or broken in another way: twenty of them, each with the number or the words that it must get.
#[test]
fn twenty_odd_configurations() {
    let cache = |text: &str| Cache::of(&arch(text)).unwrap();
    // 1 a mark in front, and Windows line ends. 2 a whole number with a fraction point.
    let marked = [b"\xef\xbb\xbf".to_vec(), llama("head_dim: 128").replace('\n', "\r\n").into_bytes()].concat();
    assert_eq!(open(&marked).unwrap().arch.get(Field::HeadDim), Some(128));
    assert_eq!(arch(&llama("hidden_size: 4096.0")).get(Field::Hidden), Some(4096));
    // 3 a key twice. 4 a comma too many. 5 single quotes.
    refused(
        &format!("{{\"vocab_size\": 1, {}", llama("head_dim: 128").trim_start_matches('{')),
        &["vocab_size\" stands twice"],
    );
    refused(&llama("head_dim: 128,"), &["a key in quotes"]);
    refused(&llama("head_dim: 128").replace('"', "'"), &["a key in quotes", "line 2"]);
    // 6 nested without end. 7 text that is not UTF-8. 8 a comment.
    refused(&llama(&format!("x: {}1{}", "[".repeat(90), "]".repeat(90))), &["deeper than 64"]);
    assert!(open(b"{\"model_type\": \"\xff\xfe\"}").unwrap_err().to_string().contains("UTF-8"));
    refused(&llama("head_dim: 128 // per head"), &["a comma or }"]);
    // 9 a window of null, 10 one of zero, 11 one that is used.
    let window = |value: &str| {
        cache(&llama(&format!("sliding_window: {value}")).replace("llama", "mistral")).growth(Dtype::BF16)
    };
    assert_eq!((window("null"), window("0"), window("4096")), (131_072, 131_072, 0));
    // 12 layers listed, 13 too few of them, 14 a kind that nobody knows.
    let kinds = |words: &str, n: usize| llama(&format!("layer_types: [{}]", vec![words; n].join(", ")));
    let half = kinds("\"sliding_attention\", \"full_attention\"", 16).replace("\n}", ",\n\"sliding_window\": 128\n}");
    let half = arch(&half);
    assert_eq!(half.layers.iter().filter(|layer| layer.attention == Attention::Full).count(), 16);
    refused(&kinds("\"full_attention\"", 31), &["lists 31 layers, and the model has 32"]);
    let odd = arch(&kinds("\"quantum_attention\"", 32));
    assert!(
        odd.unknown[0].why.get(Lang::En).contains("quantum_attention")
            && Cache::of(&odd).is_err()
            && parts(&odd).is_err()
    );
    // 15 a window that is listed and has no size.
    let blind = arch(&kinds("\"sliding_attention\"", 32));
    assert!(blind.unknown.iter().any(|unknown| unknown.what == "window") && Cache::of(&blind).is_err());
    // 16 quantised in a layout that is known, 17 in one that is not, 18 with impossible bits.
    let quantised = |inner: &str| llama(&format!("quantization_config: {inner}"));
    let awq = arch(&quantised(r#"{"quant_method": "awq", "bits": 4, "group_size": 64}"#));
    assert_eq!(awq.format.unwrap().id(), "awq4_g64");
    let packed = arch(&quantised(r#"{"quant_method": "compressed-tensors"}"#));
    assert!(packed.stored_as().is_none() && packed.unknown.iter().any(|unknown| unknown.what == "quantization_config"));
    refused(&quantised(r#"{"quant_method": "gptq", "bits": 5}"#), &["quantization_config.bits = 5"]);
    // 19 a format of weights that nobody knows. 20 experts that are none, and experts without a width.
    let odd = arch(&llama("torch_dtype: \"float12\""));
    assert!(odd.dtype.is_none() && odd.unknown.iter().any(|unknown| unknown.why.get(Lang::En).contains("float12")));
    let dense = llama("num_experts: 0").replace("llama", "qwen3_moe");
    assert!(parts(&arch(&dense)).is_ok(), "zero experts are none");
    let narrow = llama("num_experts: 8").replace("llama", "qwen3_moe");
    assert!(parts(&arch(&narrow)).unwrap_err().to_string().contains("expert_intermediate"));
}

#[test]
fn settings_of_the_reader_win_and_slips_are_named() {
    let text = llama("head_dim: 128");
    let with = |pairs: &[(&str, &str)]| read(Head::whole(text.as_bytes()), &set(pairs));
    let given = with(&[("num_hidden_layers", "16"), ("kv_heads", "4")]).unwrap().arch;
    assert_eq!((given.get(Field::Layers), given.get(Field::KvHeads)), (Some(16), Some(4)));
    assert_eq!(given.fact(Field::KvHeads).unwrap().origin.id(), "given");
    assert!(
        with(&[("num_hiden_layers", "16")]).unwrap_err().to_string().contains("did you mean \"num_hidden_layers\"")
    );
    assert!(with(&[("layers", "0")]).unwrap_err().to_string().contains("layers = 0"));
}

#[test]
fn every_prefix_and_every_flipped_byte_of_a_header_ends_in_an_answer() {
    let stored = safetensors(&[("a", "BF16", &[2, 3], (0, 12)), ("b", "F32", &[4], (12, 28))], 28);
    let packed = gguf(3, &files::LLAMA, &[("token_embd.weight", &[64, 4], 8), ("output_norm.weight", &[64], 0)]);
    assert!(stored.len() < 2048 && packed.len() < 2048);
    for whole in [&stored, &packed] {
        for end in 0..whole.len() {
            assert!(open(&whole[..end]).is_err(), "a prefix of {end} bytes was taken for the whole");
            let asked = read(Head { bytes: &whole[..end], n_bytes: whole.len() as u64 }, &[]);
            if let Err(Problem { need: Some(need), .. }) = asked {
                assert!(need > end as u64 && need <= whole.len() as u64, "{end}: asks for {need}");
            }
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                drop(open(&bytes));
            }
        }
    }
}
