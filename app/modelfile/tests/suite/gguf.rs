//! GGUF headers: metadata under the names of configurations, tensors counted.

use crate::files::{self, Value, gguf};
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::{Dtype, Field, Head, Source, read};
use vramlab_units::Lang;

const TENSORS: [(&str, &[u64], u32); 3] = [
    ("token_embd.weight", &[256, 10], 14),
    ("blk.0.attn_q.weight", &[256, 256], 12),
    ("output_norm.weight", &[256], 0),
];

#[test]
fn metadata_fill_the_description_and_tensors_are_counted() {
    for version in [2, 3] {
        let model = read(Head::whole(&gguf(version, &files::LLAMA, &TENSORS)), &[]).unwrap();
        assert_eq!(model.source, Source::Gguf);
        let arch = &model.arch;
        let values = [Field::Layers, Field::Hidden, Field::Heads, Field::KvHeads, Field::HeadDim, Field::Vocab];
        assert_eq!(values.map(|field| arch.get(field).unwrap()), [2, 64, 4, 2, 16, 10]);
        assert_eq!(arch.fact(Field::Vocab).unwrap().origin.words().get(Lang::En), "read from tokenizer.ggml.tokens");
        assert_eq!(Cache::of(arch).unwrap().bytes_per_token(Dtype::F16), 2 * 2 * 16 * 2 * 2);
        let tensors = model.tensors.unwrap();
        assert_eq!(tensors.n_params, Some(2560 + 65_536 + 256));
        // q6_k: 210 bytes for 256 values; q4_k: 144.
        assert_eq!(tensors.n_bytes, 10 * 210 + 256 * 144 + 1024);
        assert_eq!(arch.get(Field::Params), Some(68_352));
        assert_eq!(arch.dtype.as_ref().unwrap().0.name, "q4_k");
    }
}

#[test]
fn experts_and_latent_attention_are_recognised() {
    let keys = [
        ("general.architecture", Value::Text("deepseek2")),
        ("deepseek2.block_count", Value::U32(61)),
        ("deepseek2.embedding_length", Value::U32(7168)),
        ("deepseek2.attention.head_count", Value::U32(128)),
        ("deepseek2.attention.head_count_kv", Value::U32(1)),
        ("deepseek2.attention.kv_lora_rank", Value::U32(512)),
        ("deepseek2.attention.q_lora_rank", Value::U32(1536)),
        ("deepseek2.attention.key_length", Value::U32(576)),
        ("deepseek2.attention.key_length_mla", Value::U32(192)),
        ("deepseek2.attention.value_length_mla", Value::U32(128)),
        ("deepseek2.rope.dimension_count", Value::U32(64)),
    ];
    let arch = read(Head::whole(&gguf(3, &keys, &TENSORS)), &[]).unwrap().arch;
    assert_eq!(Cache::of(&arch).unwrap().bytes_per_token(Dtype::F16), 61 * 576 * 2);
    assert_eq!((arch.get(Field::NopeDim), arch.get(Field::VHeadDim)), (Some(128), Some(128)));
    let mut keys = files::LLAMA.into_iter().collect::<Vec<_>>();
    keys.push(("llama.expert_count", Value::U32(8)));
    keys.push(("llama.expert_used_count", Value::U32(2)));
    let arch = read(Head::whole(&gguf(3, &keys, &TENSORS)), &[]).unwrap().arch;
    assert_eq!(arch.model_type, "mixtral");
    assert_eq!(arch.get(Field::ActiveExperts), Some(2));
}

#[test]
fn an_architecture_that_is_not_known_keeps_what_is() {
    let keys = [
        ("general.architecture", Value::Text("granitehybrid")),
        ("granitehybrid.block_count", Value::U32(40)),
        ("granitehybrid.attention.head_count", Value::U32(12)),
    ];
    let arch = read(Head::whole(&gguf(3, &keys, &TENSORS)), &[]).unwrap().arch;
    assert_eq!((arch.get(Field::Layers), arch.get(Field::Params)), (Some(40), Some(68_352)));
    assert!(Cache::of(&arch).is_err(), "no formula is put in the place of an unknown layer");
}
