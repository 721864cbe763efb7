//! Stable Diffusion as two bars: a denoising step, and decoding.

use super::measured;
use super::question::{ACTIVATIONS, Attention, Bar, Look, Question, ask, part};
use vramlab_kit::Role;
use vramlab_model::eval;
use vramlab_units::{FieldError, Map, Text, Value};

/// Latent pixels of a tile and of an overlap: 512 and 128 of the picture.
const TILE: (u64, u64) = (64, 16);

fn number(found: &Map, key: &str) -> f64 {
    found.get(key).and_then(Value::as_f64).unwrap_or_default()
}

fn weights(found: &Map) -> super::question::Part {
    part(Text::new("权重", "weights"), number(found, "weight_bytes"), Look::Of(Role::Parameters))
}

/// The denoiser; with guidance each picture takes two rows.
pub fn denoise(question: &Question) -> Result<Bar, FieldError> {
    let (kind, rows) = match question.attention {
        Attention::Whole => ("eager", 0),
        Attention::Sliced => ("eager", 1),
        Attention::Fused => ("sdpa", 0),
    };
    let images = 2 * question.pictures;
    let found = eval(
        "diffusion_step",
        &ask(&[
            ("part", "unet".into()),
            ("latent_edge", (question.size_px / 8).into()),
            ("batch", images.into()),
            ("attention", kind.into()),
            ("slice_rows", rows.into()),
        ]),
    )?;
    let (scores, peak) = (scores(question)?, number(&found, "activation_peak"));
    let mut parts = vec![weights(&found)];
    if scores > 0.0 {
        parts.push(part(Text::new("一份分数", "scores, once"), scores.min(peak), Look::Of(Role::Workspace)));
    }
    let rest = if scores > 0.0 { Text::new("其余激活", "other activations") } else { ACTIVATIONS };
    parts.push(part(rest, (peak - scores).max(0.0), Look::Of(Role::Activations)));
    let measured = measured::unet(question.size_px, images, question.attention);
    Ok(Bar { name: Text::new("去噪一步", "a denoising step"), parts, measured })
}

/// The decoder, one picture at a time.
pub fn decode(question: &Question) -> Result<Bar, FieldError> {
    let (tile, overlap) = if question.is_tiled { TILE } else { (0, 0) };
    let found = eval(
        "diffusion_step",
        &ask(&[
            ("part", "vae".into()),
            ("latent_edge", (question.size_px / 8).into()),
            ("batch", 1.into()),
            ("tile", tile.into()),
            ("overlap", overlap.into()),
        ]),
    )?;
    let is_cut = number(&found, "n_tiles") > 1.0;
    let name =
        if is_cut { Text::new("解码，一块一块", "decode, tile by tile") } else { Text::new("解码", "decode") };
    let activations = part(ACTIVATIONS, number(&found, "activation_peak"), Look::Of(Role::Activations));
    let measured = measured::vae(question.size_px, question.is_tiled);
    Ok(Bar { name, parts: vec![weights(&found), activations], measured })
}

/// The scores of the widest attention that exist at once, one copy.
fn scores(question: &Question) -> Result<f64, FieldError> {
    let at_once = match question.attention {
        Attention::Whole => 16 * question.pictures,
        Attention::Sliced => 1,
        Attention::Fused => return Ok(0.0),
    };
    let found = eval(
        "diffusion_peak",
        &ask(&[
            ("images", (2 * question.pictures).into()),
            ("heads", 8.into()),
            ("width_px", question.size_px.into()),
            ("height_px", question.size_px.into()),
            ("heads_at_once", at_once.into()),
        ]),
    )?;
    Ok(number(&found, "slice_bytes"))
}
