//! Draws every visualizer and a chart to PNG and SVG files, to be looked at: `cargo run -p vramlab-views --example pictures -- DIR`.
//! A second argument keeps only names that contain it.

#[path = "../tests/views/samples.rs"]
mod samples;

use std::path::Path;
use vramlab_kit::{Headless, Theme, Tokens, fonts};
use vramlab_units::{Lang, Map, Value};
use vramlab_views::experiment_chart::{ReaderMark, Sketch};
use vramlab_views::{ExperimentChart, View as _, ViewCx, view};

/// States worth looking at: visualizer, name, parameters.
const STATES: &[(&str, &str, &str)] = &[
    ("bit_lanes", "normal", "{}"),
    ("bit_lanes", "sparse", r#"{"tensor": "bf16_sparse"}"#),
    ("bit_lanes", "int8", r#"{"tensor": "bf16_int8"}"#),
    ("number_line", "e4m3", "{}"),
    ("number_line", "e2m1", r#"{"format": "e2m1", "outlier": 4.0}"#),
    ("number_line", "far", r#"{"format": "e2m1", "outlier": 64.0}"#),
    ("residual_debt", "one", "{}"),
    ("residual_debt", "six", r#"{"step": 6}"#),
    ("codec_payoff", "core", "{}"),
    ("codec_payoff", "gpu", r#"{"decoder_gb_per_s": 500.0}"#),
    ("fusion_lasso", "apart", "{}"),
    ("fusion_lasso", "halves", r#"{"groups": "mul+add gelu+sum"}"#),
    ("fusion_lasso", "softmax", r#"{"preset": "softmax", "groups": "max+sub+exp+sum+div"}"#),
    ("fusion_lasso", "circle", r#"{"preset": "circle", "groups": "scale+mask"}"#),
    ("fusion_lasso", "attention", r#"{"preset": "attention", "groups": "qk+scale max+exp+sum pv+div"}"#),
    ("fusion_lasso", "norm", r#"{"preset": "layer_norm"}"#),
    ("launch_lanes", "stream", "{}"),
    ("launch_lanes", "synced", r#"{"kernels": 6, "is_synced": true}"#),
    ("launch_lanes", "graph", r#"{"kernels": 20, "kernel_us": 2.9, "mode": "graph"}"#),
    ("merge_tree", "tree", r#"{"step": 2}"#),
    ("merge_tree", "chain", r#"{"shape": "chain", "step": 7}"#),
    ("merge_tree", "variance", r#"{"kind": "variance", "step": 3}"#),
    ("sector_map", "stride2", r#"{"stride_elems": 2}"#),
    ("sector_map", "stride8dram", r#"{"stride_elems": 8, "show_dram": true}"#),
    ("sector_map", "stride32", r#"{"stride_elems": 32}"#),
    ("sector_map", "random", r#"{"layout": "random"}"#),
    ("sector_map", "aos3", r#"{"layout": "aos", "struct_elems": 3, "active_mask": 4294901760}"#),
    ("sector_map", "offset1", r#"{"offset_elems": 1}"#),
    ("bank_grid", "stride2", r#"{"stride_words": 2}"#),
    ("bank_grid", "stride32", r#"{"stride_words": 32}"#),
    ("bank_grid", "wide", r#"{"width_bytes": "16", "stride_words": 8}"#),
    ("bank_grid", "tile16", r#"{"pattern": "tile16_column", "pad_words": 1}"#),
    ("access_map", "stride2", r#"{"stride_elems": 2}"#),
    ("access_map", "stride16", r#"{"stride_elems": 16}"#),
    ("transpose_player", "naive", r#"{"method": "naive", "step": 12}"#),
    ("transpose_player", "tile", r#"{"method": "tile", "step": 80}"#),
    ("transpose_player", "pad", r#"{"method": "tile_pad", "step": 90}"#),
    ("transpose_player", "swizzle", r#"{"method": "tile_swizzle"}"#),
    ("memory_package", "h200", "{}"),
    ("memory_package", "rtx4090", r#"{"card": "rtx4090"}"#),
    ("memory_package", "b200", r#"{"card": "b200"}"#),
    ("littles_law_conveyor", "ramp", r#"{"threads_per_sm": 1024}"#),
    ("littles_law_conveyor", "waiting", r#"{"bytes_per_load": "8", "loads_per_thread": 2}"#),
    ("bottleneck_panel", "gemm", "{}"),
    ("bottleneck_panel", "small", r#"{"preset": "small_kernels"}"#),
    ("littles_law_conveyor", "filling", r#"{"bytes_per_load": "16", "loads_per_thread": 4}"#),
    ("ledger_timeline", "gpt2", "{}"),
    (
        "ledger_timeline",
        "llama8b",
        r#"{"net": "llama", "layers": 32, "heads": 32, "head_dim": 128, "heads_per_kv": 4, "ffn": 14336, "vocab": 128256, "seq_len": 4096, "batch": 1, "precision": "bf16"}"#,
    ),
    ("ledger_timeline", "recomputed", r#"{"vocab": 4096, "batch": 16, "checkpoint_every": 1, "attention": "math"}"#),
    ("ledger_timeline", "resnet50", r#"{"net": "resnet50", "batch": 64, "channels_last": true}"#),
    ("util_meter", "slow", "{}"),
    ("util_meter", "bursts", r#"{"kernel_ms": 20, "gap_ms": 80, "rate_gb_per_s": 4280}"#),
    ("roofline", "saxpy", r#"{"all_controls": false}"#),
    ("roofline", "below", r#"{"op": "softmax", "precision": "bf16", "reach_pct": 30}"#),
    ("roofline", "above", r#"{"op": "stencil5", "reach_pct": 130}"#),
    ("roofline", "copy", r#"{"op": "copy", "reach_pct": 90}"#),
    (
        "roofline",
        "levels",
        r#"{"op": "gemm", "precision": "bf16", "batch": 1024, "tile": "32", "levels": true, "roof": "measured"}"#,
    ),
    (
        "roofline",
        "levels70",
        r#"{"op": "gemm", "precision": "fp32", "batch": 512, "tile": "128", "levels": true, "reach_pct": 70}"#,
    ),
    ("roofline", "batch", r#"{"op": "gemm", "precision": "bf16", "batch": 8}"#),
    ("roofline", "dragged", r#"{"op": "gemm", "precision": "fp8", "batch": 300, "hbm_x": 2, "compute_x": 0.5}"#),
    ("thread_stepper", "even", "{}"),
    ("thread_stepper", "united", r#"{"branch": "warp"}"#),
    ("thread_stepper", "last", r#"{"block": 7, "warp": 3, "branch": "data"}"#),
    ("thread_stepper", "ragged", r#"{"n_elems": 2000, "block_threads": 40, "branch": "one", "warp": 1}"#),
    ("memory_hierarchy", "latency", "{}"),
    ("memory_hierarchy", "linear", r#"{"scale": "linear", "level": "l1"}"#),
    ("memory_hierarchy", "bandwidth", r#"{"quantity": "bandwidth", "level": "registers"}"#),
    ("allocator_strips", "holes", "{}"),
    ("allocator_strips", "before", r#"{"event": 9}"#),
    ("allocator_strips", "alternating", r#"{"preset": "alternating"}"#),
    ("allocator_strips", "growing", r#"{"preset": "growing_batch"}"#),
    ("allocator_strips", "six", r#"{"preset": "bins", "engines": "native,expandable,bfc,jax,stream_pool,plain"}"#),
    ("allocator_strips", "pending", r#"{"preset": "record_stream", "event": 4}"#),
    ("allocator_strips", "remap", r#"{"preset": "remap", "event": 4}"#),
    ("allocator_strips", "training", r#"{"preset": "training", "event": 40}"#),
    ("allocator_strips", "unsplit", r#"{"preset": "unsplit"}"#),
    ("kv_lab", "stream", "{}"),
    ("kv_lab", "tight", r#"{"preset": "tight"}"#),
    ("kv_lab", "fork", r#"{"preset": "fork", "request": 2}"#),
    ("kv_lab", "beam", r#"{"preset": "beam"}"#),
    ("kv_lab", "prefix", r#"{"preset": "prefix"}"#),
    ("kv_lab", "large", r#"{"preset": "large", "request": 40}"#),
    ("kv_lab", "groups", r#"{"preset": "large", "pool_blocks": 65536}"#),
    ("serve_timeline", "mixed", r#"{"step": 9}"#),
    ("serve_timeline", "tight", r#"{"preset": "tight"}"#),
    ("serve_timeline", "poisson", r#"{"preset": "poisson"}"#),
    ("serve_timeline", "shared", r#"{"preset": "shared"}"#),
    ("serve_timeline", "priority", r#"{"preset": "priority"}"#),
    ("speculation", "alone", "{}"),
    ("speculation", "busy", r#"{"batch": 64}"#),
    ("engine_log", "v1", r#"{"line": 4}"#),
    ("engine_log", "vision", r#"{"example": "vllm_0_6", "line": 2}"#),
    ("engine_log", "refusal", r#"{"example": "refusal"}"#),
    ("engine_compare", "h100", "{}"),
    ("engine_compare", "large", r#"{"activation_gb": 10, "engine": "sglang"}"#),
    ("engine_compare", "small", r#"{"card_gb": 24, "model": "llama2_13b", "engine": "transformers"}"#),
    ("serving_case", "start", "{}"),
    ("serving_case", "asked", r#"{"asked": "smi,summary,lengths,config"}"#),
    ("serving_case", "fixed", r#"{"asked": "smi,config", "fix": "four_cards", "guesses": "8,30,?,,150"}"#),
    ("kv_bytes", "llama", "{}"),
    ("kv_bytes", "query", r#"{"mistake": "query_heads"}"#),
    ("kv_bytes", "context", r#"{"mistake": "full_context"}"#),
    ("kv_bytes", "gb", r#"{"mistake": "gb"}"#),
    ("kv_bytes", "active", r#"{"model": "mixtral", "mistake": "active_params"}"#),
    ("kv_picker", "llama", "{}"),
    (
        "kv_picker",
        "over",
        r#"{"model": "llama2_13b", "card_gb": "48", "requests": 32, "tokens": 2048, "shows": "request"}"#,
    ),
    ("kv_picker", "own", r#"{"model": "own", "own": "L32 H8 D128 N8030261248", "n_cards": 16}"#),
    ("flash_sweep", "hand", r#"{"tokens": 8, "tile_rows": 4, "tile_cols": 2, "head_dim": 1, "step": 2}"#),
    (
        "flash_sweep",
        "causal",
        r#"{"tokens": 8, "tile_rows": 4, "tile_cols": 2, "head_dim": 1, "step": 3, "is_causal": true}"#,
    ),
    ("flash_sweep", "real", r#"{"step": 40}"#),
    ("flash_sweep", "end", r#"{"tokens": 8192, "is_causal": true, "step": 4000, "tile_rows": 512, "tile_cols": 256}"#),
    ("memory_hierarchy", "size", r#"{"quantity": "size", "level": "disk"}"#),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = args.first().map_or("pictures", String::as_str);
    let only = args.get(1).map_or("", String::as_str);
    std::fs::create_dir_all(dir).expect("the folder can be made");
    for (theme, lang, width, scale) in [
        (Theme::Light, Lang::Zh, 880.0, 1.0),
        (Theme::Dark, Lang::En, 880.0, 1.0),
        (Theme::Light, Lang::En, 360.0, 1.0),
        (Theme::Dark, Lang::Zh, 1280.0, Tokens::PRESENTER_SCALE),
        (Theme::Light, Lang::En, 420.0, Tokens::PRESENTER_SCALE),
    ] {
        let tokens = Tokens::new(theme, scale);
        for (id, name, params) in STATES {
            let file = format!("{id}-{name}-{width}-{}-{}", theme.code(), lang.code());
            if let Some(entry) = view::find(id).filter(|_| file.contains(only)) {
                let given: Map =
                    serde_json::from_str::<Value>(params).expect("JSON").as_object().expect("object").clone();
                let mut view = entry.open(&given).expect("a legal state");
                draw(Path::new(dir), &file, &tokens, width, |ui| {
                    view.ui(
                        ui,
                        &mut ViewCx {
                            tokens: &tokens,
                            lang,
                            has_motion: false,
                            time_secs: 0.0,
                            actions: &mut Vec::new(),
                        },
                    );
                    ui.label(view.finding(lang));
                });
            }
        }
        for step in samples::six_figures().steps {
            let vramlab_lesson::StepBody::Figure(figure) = step.body else { continue };
            let file = format!("author-{}-{width}-{}-{}", step.id, theme.code(), lang.code());
            if file.contains(only) {
                // One slider away from the start, so that the pale lines of the start are seen too.
                let moved = Map::from_iter([("p".to_owned(), 0.6.into())]);
                let moved = if step.id == "amdahl" { moved } else { Map::new() };
                let mut view = vramlab_views::AuthorFigure::open(figure, &moved).expect("a legal state");
                draw(Path::new(dir), &file, &tokens, width, |ui| {
                    let mut actions = Vec::new();
                    let mut cx =
                        ViewCx { tokens: &tokens, lang, has_motion: false, time_secs: 0.0, actions: &mut actions };
                    view.ui(ui, &mut cx);
                    ui.label(view.finding(lang));
                });
            }
        }
        let (data, mut marks) = (samples::sweep(), Vec::new());
        let xs = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let sketch = Sketch { x: data.x, y: data.y, xs, y_low: 10.0, y_high: 10_000.0, ask: data.finding };
        draw(Path::new(dir), &format!("sketch-{width}-{}", theme.code()), &tokens, width, |ui| {
            sketch.ui(ui, &tokens, lang, &mut marks);
            marks = vec![
                ReaderMark { x: 1.0, y: 5000.0, curve: 0 },
                ReaderMark { x: 2.0, y: 4000.0, curve: 0 },
                ReaderMark { x: 4.0, y: 900.0, curve: 0 },
            ];
        });
        for (name, data) in samples::all() {
            let file = format!("chart-{name}-{width}-{}-{}", theme.code(), lang.code());
            if file.contains(only) {
                let mut chart = ExperimentChart::default();
                draw(Path::new(dir), &file, &tokens, width, |ui| {
                    chart.ui(ui, &tokens, lang, &data);
                });
            }
        }
    }
}

/// One card of `width` as a picture, twice as large as on screen.
fn draw(dir: &Path, name: &str, tokens: &Tokens, width: f32, mut add: impl FnMut(&mut egui::Ui)) {
    let mut height = 100.0;
    let mut text = String::new();
    for is_last in [false, true] {
        let mut page =
            Headless::new(fonts::embedded(), tokens, egui::vec2(width, if is_last { height } else { 2000.0 }), 1.5);
        let picture = page.picture(|ui| {
            let frame = egui::Frame::new().fill(tokens.surface).inner_margin(tokens.space.m);
            let used = frame.show(ui, |ui| {
                ui.set_width(width - 2.0 * tokens.space.m);
                add(ui);
            });
            height = used.response.rect.bottom().ceil();
            text = vramlab_views::svg::from_painter(ui.painter(), used.response.rect, tokens.surface, name);
        });
        if is_last {
            picture.save(dir.join(format!("{name}.png"))).expect("the file can be written");
            std::fs::write(dir.join(format!("{name}.svg")), &text).expect("the file can be written");
        }
    }
}
