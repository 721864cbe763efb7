//! The largest tensors of an image generator: attention scores of the denoiser, feature maps of the decoder, and what
//! slicing and tiling leave of them.
//!
//! Question: images in one pass, heads, size of the image, bytes of a number, heads computed at once, channels of the
//! decoder's widest map at full size, tile and overlap. Answer: tokens, scores whole and in slices, maps whole and in
//! tiles, the tiles that cover the image and the tiles that a loop over their starts makes.
//! Assumption: attention is written out, so its scores exist; a latent pixel is 8 × 8 of the image; one copy of each
//! tensor is counted, and no others.
//! Source: batch · heads · tokens² for scores (Attention Is All You Need, section 3.2.1); latent factor 8 and the U-Net's
//! tokens (Rombach et al. 2022, section 4.1, and the model card of Stable Diffusion 1.5); tiles as in diffusers,
//! `models/autoencoders/autoencoder_kl.py`, `tiled_decode`.
//! Errors: an overlap as large as its tile; sides that are no multiple of 8; scores beyond 2⁶³ bytes; fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// Pixels of the image, in each direction, to one of the latent image.
pub const LATENT: u64 = 8;

/// Bytes of the scores of all heads, written out.
pub fn scores(images: u64, heads: u64, tokens: u64, value_bytes: u64) -> u128 {
    // Legal questions stay below 2⁶⁷; what a caller makes of larger ones ends at the largest number, not at a wrong one.
    [heads, tokens, tokens, value_bytes].into_iter().fold(images.into(), |all, n| u128::saturating_mul(all, n.into()))
}

/// Bytes as an answer, or the reason why there is none.
fn told(bytes: u128) -> Result<Value, FieldError> {
    i64::try_from(bytes).map(Value::from).map_err(|_| {
        let reason = format!("the scores take {:.3e} B, more than the 2^63 that an answer can hold", bytes as f64);
        FieldError::conflict("images", reason)
    })
}

/// Bytes of one feature map.
pub fn map(width: u64, height: u64, channels: u64, value_bytes: u64) -> u64 {
    width * height * channels * value_bytes
}

/// Tiles along one side that cover it; `overlap` is below `tile`.
pub fn tiles(side: u64, tile: u64, overlap: u64) -> u64 {
    if side <= tile { 1 } else { (side - tile).div_ceil((tile - overlap).max(1)) + 1 }
}

/// Tiles that a loop makes which starts one at every step, as long as the start lies inside.
pub fn tiles_started(side: u64, tile: u64, overlap: u64) -> u64 {
    if side <= tile { 1 } else { side.div_ceil((tile - overlap).max(1)) }
}

pub struct DiffusionPeak;

impl Model for DiffusionPeak {
    const ID: &'static str = "diffusion_peak";
    const TITLE: Text = Text::new("出一张图，最大的张量", "The largest tensors of an image generator");
    const ASSUMES: Text = Text::new(
        "注意力逐步写出来，分数要存；8 × 8 个像素合成一个潜像素；每种张量只算一份，别的不算。",
        "Attention is written out, so its scores exist; 8 × 8 pixels make one of the latent image; one copy of each tensor \
         is counted and no others.",
    );
    const SOURCE: &'static str = "Attention Is All You Need (2017), section 3.2.1; Rombach et al. (2022), section 4.1; \
        huggingface/diffusers, models/autoencoders/autoencoder_kl.py, tiled_decode";
    const EXAMPLE: &'static str = r#"{"images": 2, "heads": 8, "width_px": 512, "height_px": 512}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        let at_once = Text::new(
            "一次算几个头，所有图一起数；不给就全部",
            "Heads computed at once over all images; all if left out",
        );
        let bytes = Text::new("一个数几个字节", "Bytes of a number");
        vec![
            int(
                "images",
                "1",
                1,
                4096,
                "一次送进去几张；有引导时是张数的两倍",
                "Images in one pass; twice the pictures, with guidance",
            ),
            int("heads", "1", 1, 256, "注意力头数", "Heads"),
            int("width_px", "px", 8, 16_384, "图的宽", "Width of the image"),
            int("height_px", "px", 8, 16_384, "图的高", "Height of the image"),
            fields::choice("value_bytes", "B", &["1", "2", "4"], bytes).default_value("2"),
            FieldSpec::int("heads_at_once", "1", 1, 1 << 20, at_once).optional(),
            int("vae_images", "1", 1, 4096, "解码器一次几张", "Images that the decoder takes at once").default_value(1),
            int(
                "channels",
                "1",
                1,
                65_536,
                "解码器在全尺寸上最宽的通道数",
                "Channels of the decoder's widest map at full size",
            )
            .default_value(256),
            int(
                "tile_px",
                "px",
                8,
                16_384,
                "一块瓦片的边长；不给就整张解码",
                "Side of a tile; the whole image if left out",
            )
            .optional(),
            int("overlap_px", "px", 0, 16_384, "相邻瓦片重叠多少", "Overlap of two tiles").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, i64::MAX, Text::new(zh, en));
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, i64::MAX, Text::new(zh, en));
        vec![
            count("tokens", "一张图的 token", "Tokens of an image"),
            bytes("score_bytes", "全部头的分数", "Scores of all heads"),
            bytes("slice_bytes", "一次算的那几个头的分数", "Scores of the heads computed at once"),
            bytes("map_bytes", "整张解码的特征图", "A feature map of the whole image"),
            bytes("tile_map_bytes", "一块瓦片的特征图", "A feature map of one tile"),
            count("tiles", "盖住整张图要几块", "Tiles that cover the image"),
            count("tiles_started", "逐步起块的循环实际算几块", "Tiles that a loop over their starts makes"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (width, height) = (args.uint("width_px"), args.uint("height_px"));
        for (key, side) in [("width_px", width), ("height_px", height)] {
            if !side.is_multiple_of(LATENT) {
                return Err(FieldError::conflict(key, format!("{side} is no multiple of {LATENT}")));
            }
        }
        let tile = if args.has("tile_px") { args.uint("tile_px") } else { width.max(height) };
        let overlap = args.uint("overlap_px");
        if overlap >= tile {
            let reason =
                format!("an overlap of {overlap} leaves no step for tiles of {tile}; it must be below the tile");
            return Err(FieldError::conflict("overlap_px", reason));
        }
        let (images, heads) = (args.uint("images"), args.uint("heads"));
        let all = images * heads;
        let at_once = if args.has("heads_at_once") { args.uint("heads_at_once").min(all) } else { all };
        let value = fields::chosen(args, "value_bytes");
        let tokens = (width / LATENT) * (height / LATENT);
        let (channels, decoded) = (args.uint("channels"), args.uint("vae_images"));
        let both = |count: fn(u64, u64, u64) -> u64| count(width, tile, overlap) * count(height, tile, overlap);
        Ok(fields::answer([
            ("tokens", tokens.into()),
            ("score_bytes", told(scores(images, heads, tokens, value))?),
            ("slice_bytes", told(scores(1, at_once, tokens, value))?),
            ("map_bytes", (decoded * map(width, height, channels, value)).into()),
            ("tile_map_bytes", (decoded * map(width.min(tile), height.min(tile), channels, value)).into()),
            ("tiles", both(tiles).into()),
            ("tiles_started", both(tiles_started).into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(more: &Value) -> Map {
        let mut given = question(&json!({"images": 2, "heads": 8, "width_px": 512, "height_px": 512}));
        given.extend(question(more));
        crate::eval("diffusion_peak", &given).unwrap_or_else(|error| panic!("{error}"))
    }

    /// By hand: 2 · 8 · 4096² · 2 B = 512 MiB, sixteen times that at twice the side, a sixteenth for one head.
    #[test]
    fn scores_grow_with_the_fourth_power_of_the_side() {
        let small = ask(&json!({"heads_at_once": 1}));
        assert_eq!((&small["tokens"], &small["score_bytes"]), (&json!(4096), &json!(536_870_912)));
        assert_eq!(small["slice_bytes"], 33_554_432);
        let large = ask(&json!({"width_px": 1024, "height_px": 1024}));
        assert_eq!((&large["tokens"], &large["score_bytes"]), (&json!(16_384), &json!(8_589_934_592_u64)));
        assert_eq!(large["slice_bytes"], large["score_bytes"]);
    }

    #[test]
    fn maps_grow_with_the_area() {
        assert_eq!(ask(&json!({}))["map_bytes"], 134_217_728);
        let tiled = ask(&json!({"width_px": 2048, "height_px": 2048, "tile_px": 512, "overlap_px": 128}));
        assert_eq!((&tiled["map_bytes"], &tiled["tile_map_bytes"]), (&json!(2_147_483_648_u64), &json!(134_217_728)));
    }

    /// Covering 2048 takes starts 0, 384 … 1536; a loop over starts goes on to 1920.
    #[test]
    fn tiles_that_cover_and_tiles_that_are_started() {
        let squares = [512, 1024, 2048].map(|side| tiles(side, 512, 128).pow(2));
        assert_eq!(squares, [1, 9, 25]);
        assert_eq!([512, 1024, 2048].map(|side| tiles_started(side, 512, 128).pow(2)), [1, 9, 36]);
    }

    /// 4096 · 256 · (2048²)² · 2 B = 3.689e19 B are more than 2⁶³; a 1024th of the images is 3.603e16 B.
    #[test]
    fn the_largest_question_is_refused_and_not_wrapped() {
        let large = json!({"images": 4096, "heads": 256, "width_px": 16_384, "height_px": 16_384});
        let error = crate::eval("diffusion_peak", &question(&large)).unwrap_err();
        let reason = "images: the scores take 3.689e19 B, more than the 2^63 that an answer can hold";
        assert_eq!(error.to_string(), reason);
        let fewer = ask(&json!({"images": 4, "heads": 256, "width_px": 16_384, "height_px": 16_384}));
        assert_eq!(fewer["score_bytes"], 36_028_797_018_963_968_i64);
    }

    #[test]
    fn an_overlap_as_large_as_its_tile_is_refused() {
        let given =
            json!({"images": 1, "heads": 8, "width_px": 512, "height_px": 512, "tile_px": 128, "overlap_px": 128});
        let error = crate::eval("diffusion_peak", &question(&given)).unwrap_err();
        assert!(
            error.to_string().starts_with("overlap_px: an overlap of 128 leaves no step for tiles of 128"),
            "{error}"
        );
        let odd = json!({"images": 1, "heads": 8, "width_px": 500, "height_px": 512});
        assert_eq!(crate::eval("diffusion_peak", &question(&odd)).unwrap_err().field(), "width_px");
    }
}
