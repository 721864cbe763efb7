//! The header of a GGUF file, versions 2 and 3: metadata, then one info a tensor. Source: `docs/gguf.md` of ggml.
//!
//! `reader.rs` walks the bytes; `keys.rs` says which metadata correspond to which key of a configuration. Counts are held
//! against the bytes left before anything is stored, and arrays are walked, not kept: a vocabulary of 200,000 words costs
//! its length and nothing more.

mod keys;
mod reader;

use crate::arch::Origin;
use crate::config::{self, Lookup};
use crate::dtype::Dtype;
use crate::field::Field;
use crate::problem::Problem;
use crate::tensors::Tensors;
use crate::{Head, Model, Source};
use reader::{Found, Reader};

/// A key takes at least its length, one letter, a type and a byte; a tensor its name, dimensions, type and offset.
const LEAST_KEY: u64 = 13;
const LEAST_TENSOR: u64 = 24;
const MAX_DIMS: u32 = 8;

pub fn read(head: Head<'_>, given: &[(String, String)]) -> Result<Model, Problem> {
    let mut reader = Reader::new(head, 4);
    let version = reader.u32()?;
    if version != 2 && version != 3 {
        let is_swapped = version.swap_bytes() <= 3;
        let (zh, en) = if is_swapped { ("（字节序相反）", " (in the other byte order)") } else { ("", "") };
        return Err(Problem::new(
            format!("GGUF 版本 {version}{zh} 不在可读之列；可读 2 和 3"),
            format!("GGUF version {version}{en} is not read; versions 2 and 3 are"),
        ));
    }
    let (n_tensors, n_keys) = (reader.u64()?, reader.u64()?);
    for (n, least, zh, en) in [(n_tensors, LEAST_TENSOR, "张量", "tensors"), (n_keys, LEAST_KEY, "键", "keys")] {
        if n > head.n_bytes / least {
            return Err(Problem::new(
                format!("文件头自称有 {n} 个{zh}，文件只有 {} 字节，装不下", head.n_bytes),
                format!("the header claims {n} {en}; the file has {} bytes and no room for them", head.n_bytes),
            ));
        }
    }
    let metadata = (0..n_keys).map(|_| reader.pair()).collect::<Result<Vec<_>, _>>()?;
    let tensors = infos(&mut reader, n_tensors, alignment(&metadata)?, head.n_bytes)?;
    described(&metadata, tensors, given)
}

fn alignment(metadata: &[(String, Found)]) -> Result<u64, Problem> {
    let given = metadata.iter().find(|(key, _)| key == "general.alignment").map(|(_, found)| found);
    match given {
        None => Ok(32),
        Some(Found::Number(n)) if *n > 0.0 && *n <= 65_536.0 && (*n as u64).is_power_of_two() => Ok(*n as u64),
        Some(found) => Err(Problem::new(
            format!("general.alignment = {} 不合法；应为 2 的幂", found.shown()),
            format!("general.alignment = {} is not allowed; it must be a power of two", found.shown()),
        )
        .field("general.alignment")),
    }
}

struct Info {
    name: String,
    offset: u64,
    bytes: Option<u128>,
}

/// The tensors: their sizes, that none reaches into the next, and that the last ends in the file.
fn infos(reader: &mut Reader<'_>, n: u64, alignment: u64, n_bytes: u64) -> Result<Tensors, Problem> {
    let mut tensors = Tensors::default();
    let mut infos = Vec::new();
    for _ in 0..n {
        infos.push(info(reader, &mut tensors)?);
    }
    let data = (reader.at() as u64).next_multiple_of(alignment);
    infos.sort_by_key(|info| info.offset);
    let room = u128::from(n_bytes.saturating_sub(data));
    for (idx, info) in infos.iter().enumerate() {
        let end = u128::from(info.offset) + info.bytes.unwrap_or(0);
        let next = infos.get(idx + 1).map_or(room, |next| next.offset.into());
        if end > room {
            return Err(place(
                info,
                format!("的数据到 {end} 为止，文件里只有 {room} 字节数据"),
                format!("ends at {end}; the file has {room} bytes of data"),
            ));
        }
        if end > next {
            let (zh, en) = (
                format!("的数据到 {end} 为止，下一个张量却从 {next} 开始"),
                format!("ends at {end}, and the next one begins at {next}"),
            );
            return Err(place(info, zh, en));
        }
    }
    if tensors.n_tensors == 0 {
        return Err(Problem::new("文件头里没有张量", "the header lists no tensor"));
    }
    tensors.finish(false);
    Ok(tensors)
}

fn place(info: &Info, zh: String, en: String) -> Problem {
    Problem::new(format!("张量 {}{zh}", info.name), format!("the tensor {} {en}", info.name)).field(&info.name)
}

fn info(reader: &mut Reader<'_>, tensors: &mut Tensors) -> Result<Info, Problem> {
    let name = reader.string()?;
    let n_dims = reader.u32()?;
    if n_dims > MAX_DIMS {
        let problem = Problem::new(
            format!("张量 {name} 自称有 {n_dims} 维；上限是 {MAX_DIMS}"),
            format!("the tensor {name} claims {n_dims} dimensions; the limit is {MAX_DIMS}"),
        );
        return Err(problem.field(&name));
    }
    let dims = (0..n_dims).map(|_| reader.u64()).collect::<Result<Vec<_>, _>>()?;
    let (code, offset) = (reader.u32()?, reader.u64()?);
    let values = dims.iter().try_fold(1_u128, |product, dim| product.checked_mul((*dim).into()));
    let Some(values) = values else {
        let problem = Problem::new(
            format!("张量 {name} 的形状 {dims:?} 太大"),
            format!("the shape {dims:?} of the tensor {name} is too large"),
        );
        return Err(problem.field(&name));
    };
    let row = u128::from(dims.first().copied().unwrap_or(1));
    let bytes = Dtype::from_gguf(code).map(|dtype| {
        let bytes = dtype.bytes_of(row).saturating_mul(values.checked_div(row).unwrap_or(0));
        tensors.add(dtype.name, values, bytes);
        bytes
    });
    if bytes.is_none() {
        tensors.n_unknown += 1;
        tensors.add(&format!("type {code}"), values, 0);
    }
    Ok(Info { name, offset, bytes })
}

fn described(metadata: &[(String, Found)], tensors: Tensors, given: &[(String, String)]) -> Result<Model, Problem> {
    let text = |name: &str| {
        metadata.iter().find(|(key, _)| key == name).and_then(|(_, found)| match found {
            Found::Text(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let name = text("general.architecture").unwrap_or_default();
    let mut lookup = Lookup::default();
    lookup.given(given);
    let model_type = keys::fill(&mut lookup, name, metadata);
    let model_type = lookup.text("model_type").unwrap_or(model_type);
    let mut arch = config::from_lookup(&lookup, &model_type)?;
    if tensors.n_unknown > 0 {
        arch.lacks(
            "tensors",
            format!("{} 个张量的格式不认识，大小没有算进来", tensors.n_unknown),
            format!("the format of {} tensors is not known; their size is not counted", tensors.n_unknown),
        );
    }
    if let Some(n) = tensors.n_params {
        arch.set(Field::Params, u64::try_from(n).unwrap_or(u64::MAX), Origin::Tensors)?;
    }
    arch.unknown.retain(|unknown| unknown.what != "dtype");
    arch.dtype = tensors.main_dtype().map(|dtype| (dtype, Origin::Tensors));
    Ok(Model { source: Source::Gguf, arch, tensors: Some(tensors) })
}
