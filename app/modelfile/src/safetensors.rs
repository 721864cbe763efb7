//! The header of a safetensors file, and the index of a sharded one. Eight bytes of length, JSON, then the data, which is
//! never read. Source: the format's description in the safetensors repository (README, "Format").

use crate::arch::{Architecture, Origin};
use crate::dtype::Dtype;
use crate::field::Field;
use crate::json::{self, Limits, Node};
use crate::problem::{Place, Problem};
use crate::tensors::Tensors;
use crate::{Head, Model, Source};

/// Largest header, as the format defines it.
pub const MAX_HEADER: u64 = 100_000_000;
/// Dimensions of a tensor at most.
const MAX_DIMS: usize = 32;

pub fn read(head: Head<'_>, given: &[(String, String)]) -> Result<Model, Problem> {
    let len = head.bytes.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let len = len.ok_or_else(|| Problem::new("文件头不完整", "the header is cut off"))?;
    let room = head.n_bytes.saturating_sub(8);
    if len > MAX_HEADER || len > room {
        return Err(Problem::new(
            format!("safetensors 的文件头自称有 {len} 字节；上限是 {MAX_HEADER}，文件里还剩 {room}"),
            format!(
                "the safetensors header says it has {len} bytes; the limit is {MAX_HEADER}, and the file has {room} left"
            ),
        ));
    }
    let end = usize::try_from(len + 8).map_err(|_| Problem::needs(len + 8))?;
    let text = head.bytes.get(8..end).ok_or_else(|| Problem::needs(len + 8))?;
    let root = json::parse(text, Limits::header()).map_err(|error| error.problem(text))?;
    let n_data = room - len;
    let tensors = sum(&root, text, n_data)?;
    let mut arch = described(given, "safetensors")?;
    if let Some(n) = tensors.n_params {
        arch.set(Field::Params, u64::try_from(n).unwrap_or(u64::MAX), Origin::Tensors)?;
    }
    arch.dtype = tensors.main_dtype().map(|dtype| (dtype, Origin::Tensors));
    if let Some(format) = root.get("__metadata__").and_then(|meta| meta.get("format")).and_then(Node::text) {
        let format: String = format.chars().filter(char::is_ascii_graphic).take(20).collect();
        arch.note(format!("由 {format} 写出"), format!("written by {format}"));
    }
    Ok(Model { source: Source::Safetensors, arch, tensors: Some(tensors) })
}

/// A file of weights says nothing about heads and layers: only the reader's settings and the tensors.
fn described(given: &[(String, String)], kind: &str) -> Result<Architecture, Problem> {
    let mut lookup = crate::config::Lookup::default();
    lookup.given(given);
    lookup.header("weights", kind, json::Node { at: 0, value: json::Value::Bool(true) });
    let model_type = lookup.text("model_type").unwrap_or_default();
    if given.is_empty() {
        let mut arch = Architecture::default();
        arch.lacks(
            "config",
            "权重文件不含头数和层的种类；KV 缓存要用同目录的 config.json 来算",
            "a file of weights does not say heads and kinds of layers; the cache needs the config.json beside it",
        );
        return Ok(arch);
    }
    crate::config::from_lookup(&lookup, &model_type)
}

struct Span {
    from: u64,
    to: u64,
    at: usize,
}

fn sum(root: &Node, text: &[u8], n_data: u64) -> Result<Tensors, Problem> {
    let pairs = root.map().ok_or_else(|| Problem::new("文件头应是 JSON 对象", "the header must be a JSON object"))?;
    let mut tensors = Tensors::default();
    let mut spans = Vec::with_capacity(pairs.len());
    let mut is_packed = false;
    for (name, node) in pairs.iter().filter(|(name, _)| name != "__metadata__") {
        let at = |problem: Problem| problem.at(Place::of(text, node.at)).field(short(name));
        let span = offsets(node).ok_or_else(|| at(cut(name)))?;
        if span.from > span.to || span.to > n_data {
            return Err(at(beyond(name, &span, n_data)));
        }
        let values = shape(node).ok_or_else(|| at(odd_shape(name)))?;
        let stored = u128::from(span.to - span.from);
        let dtype_name = node.get("dtype").and_then(Node::text).unwrap_or("?");
        match Dtype::from_name(dtype_name).filter(|_| dtype_name.is_ascii()) {
            Some(dtype) if dtype.bytes_of(values) != stored => {
                return Err(at(unequal(name, dtype.bytes_of(values), stored)));
            }
            Some(_) => tensors.add(dtype_name, values, stored),
            None => {
                tensors.n_unknown += 1;
                tensors.add(&short(dtype_name), 0, stored);
            }
        }
        is_packed |= is_packed_name(name, dtype_name);
        spans.push(span);
    }
    if tensors.n_tensors == 0 {
        return Err(Problem::new("文件头里没有张量", "the header lists no tensor"));
    }
    overlap(&mut spans, text)?;
    tensors.finish(is_packed);
    Ok(tensors)
}

/// Weights that hide several parameters in one stored value.
fn is_packed_name(name: &str, dtype: &str) -> bool {
    [".qweight", ".qzeros", ".g_idx", ".absmax", ".quant_state", "weight_packed"].iter().any(|word| name.contains(word))
        || dtype == "U8" && name.ends_with(".weight")
}

fn offsets(node: &Node) -> Option<Span> {
    let pair = node.get("data_offsets")?.list()?;
    let [from, to] = pair else { return None };
    Some(Span { from: from.uint()?, to: to.uint()?, at: node.at })
}

/// Values of the shape, without overflow.
fn shape(node: &Node) -> Option<u128> {
    let dims = node.get("shape")?.list().filter(|dims| dims.len() <= MAX_DIMS)?;
    dims.iter().try_fold(1_u128, |product, dim| product.checked_mul(dim.uint()?.into()))
}

fn overlap(spans: &mut [Span], text: &[u8]) -> Result<(), Problem> {
    spans.sort_by_key(|span| (span.from, span.to));
    match spans.windows(2).find(|pair| pair[1].from < pair[0].to) {
        None => Ok(()),
        Some(pair) => Err(Problem::new(
            format!("两个张量的位置重叠：{} 到 {} 与 {} 到 {}", pair[0].from, pair[0].to, pair[1].from, pair[1].to),
            format!("two tensors overlap: {} to {} and {} to {}", pair[0].from, pair[0].to, pair[1].from, pair[1].to),
        )
        .at(Place::of(text, pair[1].at))),
    }
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

fn cut(name: &str) -> Problem {
    let name = short(name);
    Problem::new(
        format!("张量 {name} 没有合法的 data_offsets：应为两个整数"),
        format!("the tensor {name} has no legal data_offsets: two integers"),
    )
}

fn beyond(name: &str, span: &Span, n_data: u64) -> Problem {
    let (name, from, to) = (short(name), span.from, span.to);
    Problem::new(
        format!("张量 {name} 在 {from} 到 {to}，数据只有 {n_data} 字节"),
        format!("the tensor {name} lies at {from} to {to}, and there are {n_data} bytes of data"),
    )
}

fn odd_shape(name: &str) -> Problem {
    let name = short(name);
    Problem::new(
        format!("张量 {name} 的 shape 不合法：应为至多 {MAX_DIMS} 个整数"),
        format!("the shape of the tensor {name} is not legal: at most {MAX_DIMS} integers"),
    )
}

fn unequal(name: &str, needed: u128, stored: u128) -> Problem {
    let name = short(name);
    Problem::new(
        format!("张量 {name} 按 shape 和 dtype 应有 {needed} 字节，实有 {stored}"),
        format!("by shape and dtype the tensor {name} has {needed} bytes, and {stored} are stored"),
    )
}

/// `model.safetensors.index.json`: the size of all shards together.
pub fn index(root: &Node, given: &[(String, String)]) -> Result<Option<Model>, Problem> {
    let Some(map) = root.get("weight_map").and_then(Node::map) else { return Ok(None) };
    let size = root.get("metadata").and_then(|metadata| metadata.get("total_size"));
    let mut arch = described(given, "index")?;
    let mut tensors = Tensors { n_tensors: map.len() as u64, ..Tensors::default() };
    match size.and_then(Node::uint) {
        Some(bytes) => tensors.n_bytes = bytes.into(),
        None => arch.lacks("total_size", "索引没有写总大小", "the index does not say the total size"),
    }
    Ok(Some(Model { source: Source::SafetensorsIndex, arch, tensors: Some(tensors) }))
}
