//! Bytes of the weights: matrix by matrix where the model can be counted, as the file stores them, or by their number.

use vramlab_modelfile::parts::{self, Part};
use vramlab_modelfile::{Dtype, Field, Format, Model, Problem};
use vramlab_units::Localized;

use crate::items::Certainty;

/// The weights in one format.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    pub bytes: u128,
    pub certainty: Certainty,
    pub how: Localized,
}

/// The format that norms and embeddings keep when linear layers are quantised.
pub fn plain(model: &Model) -> Format {
    match model.arch.dtype {
        Some((dtype, _)) if dtype.values == 1 && dtype.bytes == 2 => Format::Plain(dtype),
        _ => Format::Plain(Dtype::BF16),
    }
}

/// The format that holds where nobody names one, and whether that is an assumption.
pub fn stored(model: &Model) -> (Format, bool) {
    model.arch.stored_as().map_or((Format::Plain(Dtype::BF16), true), |format| (format, false))
}

/// The parts, with the count that the reader or the file gives where they cannot be listed.
pub fn list(model: &Model) -> Result<Vec<Part>, Problem> {
    parts::parts(&model.arch)
}

pub fn n_params(model: &Model) -> Result<u128, Problem> {
    if let Some(n) = model.arch.get(Field::Params) {
        return Ok(n.into());
    }
    list(model).map(|list| parts::n_params(&list))
}

/// The weights in `format`, or as they are stored.
pub fn of(model: &Model, format: Option<Format>) -> Result<Weights, Problem> {
    if let (None, Some(tensors)) = (format, &model.tensors)
        && tensors.n_bytes > 0
    {
        let n = tensors.n_tensors;
        let how = Localized::both(format!("文件里 {n} 个张量的字节数"), format!("the bytes of the file's {n} tensors"));
        return Ok(Weights { bytes: tensors.n_bytes, certainty: Certainty::Exact, how });
    }
    let (own, is_assumed) = stored(model);
    let chosen = format.unwrap_or(own);
    let certainty = if is_assumed && format.is_none() { Certainty::Assumed } else { Certainty::Exact };
    let name = chosen.id();
    let assumed = if certainty == Certainty::Assumed {
        ("（文件没写格式，按 bf16）", " (the file names no format; bf16 is assumed)")
    } else {
        ("", "")
    };
    match list(model) {
        Ok(list) => {
            let n = billions(parts::n_params(&list));
            let how = Localized::both(
                format!("{n} 个参数逐个矩阵数出，{name}{}", assumed.0),
                format!("{n} parameters counted matrix by matrix, {name}{}", assumed.1),
            );
            Ok(Weights { bytes: parts::bytes(&list, chosen, plain(model)), certainty, how })
        }
        Err(problem) => {
            let n = model.arch.get(Field::Params).ok_or(problem)?;
            let how = Localized::both(
                format!("{} 个参数 × {:.3} 位（{name}）；没有逐矩阵的清单", billions(n.into()), chosen.bits()),
                format!(
                    "{} parameters × {:.3} bits ({name}); there is no list of matrices",
                    billions(n.into()),
                    chosen.bits()
                ),
            );
            let bytes = (n as f64 * chosen.bits() / 8.0).ceil() as u128;
            Ok(Weights { bytes, certainty: Certainty::Formula, how })
        }
    }
}

/// `8.03 B`, `124 M`: numbers of parameters for reading.
pub fn billions(n: u128) -> String {
    let n = n as f64;
    if n >= 1e9 { format!("{:.2} B", n / 1e9) } else { format!("{:.0} M", n / 1e6) }
}

/// Multiply-adds count two: what one token costs forward.
pub fn flop_per_token(model: &Model) -> Option<f64> {
    let list = list(model).ok()?;
    Some(2.0 * parts::n_active(&list, &model.arch) as f64)
}
