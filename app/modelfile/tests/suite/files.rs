//! Writes small safetensors and GGUF files.

use vramlab_modelfile::Dtype;

pub type Tensor<'a> = (&'a str, &'a str, &'a [u64], (u64, u64));

pub fn safetensors(tensors: &[Tensor<'_>], n_data: usize) -> Vec<u8> {
    let of = |(name, dtype, shape, (from, to)): &Tensor<'_>| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{from},{to}]}}"#)
    };
    let header = format!("{{{}}}", tensors.iter().map(of).collect::<Vec<_>>().join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; n_data]].concat()
}

pub enum Value {
    U32(u32),
    Text(&'static str),
    Texts(u64),
}

/// Metadata of a Llama with two layers.
pub const LLAMA: [(&str, Value); 8] = [
    ("general.architecture", Value::Text("llama")),
    ("llama.block_count", Value::U32(2)),
    ("llama.embedding_length", Value::U32(64)),
    ("llama.feed_forward_length", Value::U32(256)),
    ("llama.attention.head_count", Value::U32(4)),
    ("llama.attention.head_count_kv", Value::U32(2)),
    ("llama.context_length", Value::U32(512)),
    ("tokenizer.ggml.tokens", Value::Texts(10)),
];

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Tensors one after the other, each at a multiple of 32.
pub fn gguf(version: u32, keys: &[(&str, Value)], tensors: &[(&str, &[u64], u32)]) -> Vec<u8> {
    let mut at = 0;
    let mut placed = Vec::new();
    for (name, dims, code) in tensors {
        placed.push((*name, *dims, *code, at));
        let dtype = Dtype::from_gguf(*code).expect("a known type");
        let rows: u64 = dims[1..].iter().product();
        at += (dtype.bytes_of(dims[0].into()) as u64 * rows).next_multiple_of(32);
    }
    gguf_tensors(version, keys, &placed, at as usize)
}

pub fn gguf_tensors(
    version: u32,
    keys: &[(&str, Value)],
    tensors: &[(&str, &[u64], u32, u64)],
    n_data: usize,
) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(version.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((keys.len() as u64).to_le_bytes());
    for (key, value) in keys {
        text(&mut out, key);
        match value {
            Value::U32(value) => {
                out.extend(4_u32.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
            Value::Text(value) => {
                out.extend(8_u32.to_le_bytes());
                text(&mut out, value);
            }
            Value::Texts(n) => {
                out.extend(9_u32.to_le_bytes());
                out.extend(8_u32.to_le_bytes());
                out.extend(n.to_le_bytes());
                (0..*n).for_each(|idx| text(&mut out, &format!("word{idx}")));
            }
        }
    }
    for (name, dims, code, offset) in tensors {
        text(&mut out, name);
        out.extend((dims.len() as u32).to_le_bytes());
        dims.iter().for_each(|dim| out.extend(dim.to_le_bytes()));
        out.extend(code.to_le_bytes());
        out.extend(offset.to_le_bytes());
    }
    out.resize(out.len().next_multiple_of(32) + n_data, 0);
    out
}
