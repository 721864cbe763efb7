//! Memory of a Stable-Diffusion-sized UNet step, of decoding its picture, or of training the UNet.
//!
//! Question: the part, latents along an edge, how attention goes through its scores, tiles of the decoder. Answer: what
//! `memory_allocated` says at most while the part runs, what `memory_reserved` says after it, and what is there at the peak.
//! The machine is `vramlab_ledger`: operation by operation, then PyTorch's allocator; every event as recorded in 40 configurations.
//! Assumption: the sizes of Stable Diffusion 1.5, PyTorch 2.11 and cuDNN 9.19 in eager mode on an H200, the part alone on the
//! card, the cache empty before the call. Training: float32 weights under autocast to bfloat16, PyTorch's attention kernels,
//! mean of squares, AdamW, the second step.
//! Tiles: each starts a step after the one before, the last where it just reaches the edge, as in the recording; the loop of
//! diffusers starts one at every step inside the picture and cuts it at the edge, so `n_tiles_started` can be larger.
//! Source: measured; `kernels/peers/diffusion_peaks.py` and its records in `tests/data/diffusion`.
//! Errors: an edge the UNet cannot halve three times, tiles no larger than their overlap, flash kernels in fp32.

use crate::diffusion_peak::tiles_started;
use crate::fields::{self, choice, number};
use crate::registry::Model;
use vramlab_ledger::{Attend, PictureConfig, PicturePart, Shot, Start, Tile, Timeline, live_on, shoot, train_picture};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const MIB: f64 = 1_048_576.0;

pub struct DiffusionStep;

impl Model for DiffusionStep {
    const ID: &'static str = "diffusion_step";
    const TITLE: Text = Text::new("扩散模型一步的显存", "The memory of a diffusion step");
    const ASSUMES: Text = Text::new(
        "Stable Diffusion 1.5 的尺寸，PyTorch 2.11 eager，H200，卡上只有这一部分。unet、vae 不求梯度，跑之前缓存是空的；train 是 amp 加 AdamW 的第二步，注意力用融合内核。",
        "The sizes of Stable Diffusion 1.5, PyTorch 2.11 in eager mode on an H200, this part alone on the card. unet and vae: no \
         gradients, the cache empty before. train: the second step under amp with AdamW and the fused attention kernels.",
    );
    const SOURCE: &'static str =
        "measured: kernels/peers/diffusion_peaks.py, torch 2.11.0+cu130 on an H200, records in tests/data/diffusion";
    const EXAMPLE: &'static str = r#"{"part": "unet", "latent_edge": 64, "batch": 2, "attention": "eager"}"#;

    fn question() -> Vec<FieldSpec> {
        question()
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, 1 << 60, Text::new(zh, en));
        vec![
            bytes("weight_bytes", "权重，按分配到的块", "Weights, as the blocks they got"),
            bytes("peak_bytes", "峰值，含权重和输入", "The peak, weights and inputs included"),
            bytes("activation_peak", "峰值里不是权重的", "What of it is no weight"),
            bytes("scores_at_peak", "峰值时的注意力分数", "Attention scores at the peak"),
            bytes("workspace_at_peak", "峰值时 cuDNN 的工作区", "cuDNN's workspace at the peak"),
            bytes(
                "largest_at_peak",
                "峰值时最大的一个张量（不算权重）",
                "The largest tensor at the peak that is no weight",
            ),
            bytes(
                "reserved",
                "之后 PyTorch 向卡要的，含 68 MiB 工作区",
                "Taken from the card after it, 68 MiB of workspaces included",
            ),
            FieldSpec::num("peak_mib", "MiB", 0.0, 1.0e12, Text::new("峰值", "The peak")),
            FieldSpec::new(
                "peak_op",
                "",
                vramlab_units::FieldKind::Text { max_len: 64 },
                Text::new("造成峰值的操作", "The operation that makes the peak"),
            ),
            FieldSpec::int("n_params", "1", 0, 1 << 40, Text::new("参数个数", "Parameters")),
            FieldSpec::int(
                "n_tiles",
                "1",
                1,
                1 << 24,
                Text::new(
                    "解码分成几块：盖住整张图，录制时就这样分",
                    "Tiles of the decoder: those that cover the picture, as in the recording",
                ),
            ),
            FieldSpec::int(
                "n_tiles_started",
                "1",
                1,
                1 << 24,
                Text::new(
                    "diffusers 的循环起几块：末尾的会整块落在前一块里",
                    "Tiles that the loop of diffusers starts; the last may lie wholly inside the one before",
                ),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let told = |error: vramlab_ledger::PlanError| FieldError::conflict(error.field, error.reason);
        if args.text("part") != "train" {
            let config = config(args)?;
            let shot = shoot(&config).map_err(told)?; // refuses an overlap that is no smaller than the tile
            let started = config.tile.map_or(1, |tile| tiles_started(config.edge, tile.edge, tile.overlap).pow(2));
            return Ok(answered(&shot, 0, started));
        }
        if args.uint("slice_rows") + args.uint("query_rows") + args.uint("tile") > 0 || args.flag("one_by_one") {
            return Err(FieldError::conflict(
                "part",
                "training takes the fused attention kernels, no slices and no tiles",
            ));
        }
        Ok(answered(&train_picture(args.uint("batch"), args.uint("latent_edge")).map_err(told)?, 1, 1))
    }
}

fn question() -> Vec<FieldSpec> {
    let size = |key, max, zh, en| FieldSpec::int(key, "1", 0, max, Text::new(zh, en));
    vec![
        choice(
            "part",
            "",
            &["unet", "vae", "train"],
            Text::new(
                "unet：去噪一步；vae：解码成图；train：训练 UNet 一步",
                "unet: one step of denoising; vae: decoding the picture; train: a step of training the UNet",
            ),
        ),
        FieldSpec::int(
            "latent_edge",
            "1",
            1,
            1024,
            Text::new("潜变量的边长：像素的八分之一", "Latents along an edge: an eighth of the pixels"),
        )
        .default_value(64),
        FieldSpec::int(
            "batch",
            "1",
            1,
            4096,
            Text::new(
                "UNet 看到的行数（带引导时一张图两行），或解码的图数",
                "Rows of the UNet (two an image with guidance), or images to decode",
            ),
        )
        .default_value(2),
        choice(
            "dtype",
            "",
            &["fp16", "bf16", "fp32"],
            Text::new("权重和激活的格式", "Format of weights and activations"),
        )
        .default_value("fp16"),
        choice(
            "attention",
            "",
            &["eager", "sdpa"],
            Text::new("eager：分数写进显存；sdpa：融合内核", "eager: scores in memory; sdpa: the fused kernels"),
        )
        .default_value("eager"),
        size("slice_rows", 1 << 24, "每次算几行 batch × 头；0：一次全算", "Rows of batch × heads at a time; 0: all")
            .default_value(0),
        size("query_rows", 1 << 24, "每次算几个 query；0：一次全算", "Queries at a time; 0: all").default_value(0),
        size("tile", 1024, "解码块的边长（潜变量）；0：不分块", "Edge of a decoder's tile in latents; 0: no tiles")
            .default_value(0),
        size("overlap", 1023, "相邻两块重叠多少（潜变量）", "Overlap of two tiles in latents").default_value(16),
        FieldSpec::new(
            "one_by_one",
            "",
            vramlab_units::FieldKind::Bool,
            Text::new("解码时一张一张来", "The decoder takes one image after the other"),
        )
        .default_value(false),
    ]
}

fn config(args: &Args) -> Result<PictureConfig, FieldError> {
    let (rows, queries) = (args.uint("slice_rows"), args.uint("query_rows"));
    if rows > 0 && queries > 0 {
        return Err(FieldError::conflict("query_rows", "slice by rows or by queries, not by both".to_owned()));
    }
    let is_kernel = args.text("attention") == "sdpa";
    if is_kernel && rows + queries > 0 {
        return Err(FieldError::conflict(
            "attention",
            "the fused kernels keep no scores: there is nothing to slice".to_owned(),
        ));
    }
    Ok(PictureConfig {
        part: if args.text("part") == "unet" { PicturePart::Unet } else { PicturePart::Decoder },
        edge: args.uint("latent_edge"),
        batch: args.uint("batch"),
        is_half: args.text("dtype") != "fp32",
        attention: match (rows, queries) {
            _ if is_kernel => Attend::Kernel,
            (0, 0) => Attend::Whole,
            (0, _) => Attend::Queries(queries),
            _ => Attend::Rows(rows),
        },
        tile: (args.uint("tile") > 0).then(|| Tile { edge: args.uint("tile"), overlap: args.uint("overlap") }),
        is_singly: args.flag("one_by_one"),
    })
}

fn answered(shot: &Shot, step: usize, n_started: u64) -> Map {
    let timeline = Timeline::of(&shot.tape, Start::default(), step);
    let (peak, weights) = (timeline.peak.bytes, timeline.after_model);
    let live = live_on(&shot.tape, timeline.events.get(timeline.peak.at).copied().unwrap_or(0));
    let of = |ops: &[&str]| -> u64 { live.iter().filter(|item| ops.contains(&item.op)).map(|item| item.bytes).sum() };
    let largest = live.iter().filter(|item| item.op != "parameter").map(|item| item.bytes).max();
    fields::answer([
        ("weight_bytes", weights.into()),
        ("peak_bytes", peak.into()),
        ("activation_peak", peak.saturating_sub(weights).into()),
        ("scores_at_peak", of(&["scores", "softmax"]).into()),
        ("workspace_at_peak", of(&["workspace"]).into()),
        ("largest_at_peak", largest.unwrap_or(0).into()),
        ("reserved", timeline.figures.reserved.into()),
        ("peak_mib", number(peak as f64 / MIB)),
        ("peak_op", timeline.peak.item.op.into()),
        ("n_params", shot.n_params.into()),
        ("n_tiles", shot.n_tiles.into()),
        ("n_tiles_started", n_started.into()),
    ])
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn ask(given: &Value) -> vramlab_units::Map {
        eval("diffusion_step", &question(given)).unwrap_or_else(|error| panic!("{given}: {error}"))
    }

    /// Measured on an H200 (`tests/data/diffusion/peaks.json`), within 1 %; the scores are 2 × 2·8·4096² × 2 bytes.
    #[test]
    fn the_recorded_unet() {
        let whole = ask(&json!({"part": "unet", "latent_edge": 64, "batch": 2, "attention": "eager"}));
        assert_eq!(whole["n_params"], 859_520_964);
        assert_eq!(whole["scores_at_peak"], 2 * 2 * 8 * 4096_u64.pow(2) * 2);
        for (more, measured) in [
            (json!({}), 2_877_758_464_f64),
            (json!({"slice_rows": 8}), 2_346_130_432.0),
            (json!({"slice_rows": 1}), 1_876_368_384.0),
            (json!({"query_rows": 1024}), 2_077_694_976.0),
            (json!({"attention": "sdpa"}), 1_866_685_440.0),
            (json!({"latent_edge": 128}), 19_188_063_232.0),
        ] {
            let mut given = json!({"part": "unet", "latent_edge": 64, "batch": 2});
            for (key, value) in more.as_object().unwrap() {
                given[key] = value.clone();
            }
            let peak = ask(&given)["peak_bytes"].as_f64().unwrap();
            assert!((peak / measured - 1.0).abs() < 0.01, "{given}: {peak} against {measured}");
        }
    }

    #[test]
    fn the_recorded_decoder() {
        for (given, measured, n_tiles, n_started) in [
            (json!({"latent_edge": 64}), 675_212_288_f64, 1, 1),
            (json!({"latent_edge": 128}), 2_386_586_624.0, 1, 1),
            (json!({"latent_edge": 128, "tile": 64}), 681_635_328.0, 9, 9),
            (json!({"latent_edge": 256, "tile": 64}), 700_902_912.0, 25, 36),
            (json!({"batch": 4, "one_by_one": true}), 680_553_472.0, 1, 1),
        ] {
            let mut asked = json!({"part": "vae", "batch": 1});
            for (key, value) in given.as_object().unwrap() {
                asked[key] = value.clone();
            }
            let answer = ask(&asked);
            let peak = answer["peak_bytes"].as_f64().unwrap();
            assert!((peak / measured - 1.0).abs() < 0.01, "{asked}: {peak} against {measured}");
            assert_eq!((&answer["n_tiles"], &answer["n_tiles_started"]), (&json!(n_tiles), &json!(n_started)));
        }
    }

    /// Measured peaks of the second step; AdamW's temporaries make them.
    #[test]
    fn the_recorded_training() {
        for (batch, edge, measured) in
            [(1, 32, 17_293_507_072_f64), (4, 64, 17_320_979_968.0), (16, 32, 17_304_780_288.0)]
        {
            let answer = ask(&json!({"part": "train", "batch": batch, "latent_edge": edge}));
            let peak = answer["peak_bytes"].as_f64().unwrap();
            assert!((peak / measured - 1.0).abs() < 0.001, "{batch}, {edge}: {peak} against {measured}");
            assert_eq!(answer["peak_op"], "foreach_sqrt");
        }
    }

    #[test]
    fn questions_that_cannot_be() {
        for (given, field) in [
            (json!({"part": "unet", "latent_edge": 60}), "latent_edge"),
            (json!({"part": "unet", "tile": 32}), "tile"),
            (json!({"part": "train", "tile": 32}), "part"),
            (json!({"part": "vae", "tile": 8, "overlap": 8}), "overlap"),
            (json!({"part": "vae", "tile": 8, "overlap": 900}), "overlap"),
            (json!({"part": "unet", "slice_rows": 1, "query_rows": 1}), "query_rows"),
            (json!({"part": "unet", "attention": "sdpa", "dtype": "fp32"}), "attention"),
            (json!({"part": "unet", "attention": "sdpa", "slice_rows": 1}), "attention"),
        ] {
            let error = eval("diffusion_step", &question(&given)).unwrap_err().to_string();
            assert!(error.contains(field), "{given}: {error}");
        }
    }
}
