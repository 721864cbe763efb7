//! The figures of serving used as a reader does. Expected values are those of briefs 16 and 21, never what the figure
//! prints.

use crate::stage::Stage;
use egui::{Key, Shape};
use std::time::{Duration, Instant};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn refused(id: &str, params: Value) -> String {
    view::find(id).unwrap().open(params.as_object().unwrap()).err().unwrap().to_string()
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

/// Rectangles in the meshes of a picture, and shapes of any kind.
fn counts(shapes: &[egui::epaint::ClippedShape]) -> (usize, usize) {
    fn walk(shape: &Shape, out: &mut (usize, usize)) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| walk(shape, out)),
            Shape::Mesh(mesh) => *out = (out.0 + mesh.vertices.len() / 4, out.1 + 1),
            _ => out.1 += 1,
        }
    }
    let mut out = (0, 0);
    shapes.iter().for_each(|clipped| walk(&clipped.shape, &mut out));
    out
}

/// Ten thousand blocks are ten thousand squares, in one mesh, and a frame at rest stays within the budget. The figure of an
/// unoptimised build is some ten times that of the program.
#[test]
fn ten_thousand_blocks_are_drawn_within_a_frame() {
    let mut view = open("kv_lab", serde_json::json!({"preset": "large", "request": 100}));
    let mut stage = stage(Lang::En);
    let painted = stage.show(&mut *view);
    let (squares, shapes) = counts(&painted.shapes);
    assert!(squares >= 10_000, "{squares} squares");
    assert!(shapes < 1_500, "{shapes} shapes");
    let frame = |stage: &mut Stage, view: &mut dyn View| {
        let start = Instant::now();
        stage.frame(Vec::new(), &mut |ui, cx| view.ui(ui, cx));
        start.elapsed()
    };
    let best = (0..9).map(|_| frame(&mut stage, &mut *view)).min().unwrap();
    let budget = Duration::from_micros(16_667);
    let most = if cfg!(debug_assertions) { 10 * budget } else { budget };
    assert!(best < most, "{best:?}");
}

#[test]
fn steps_are_taken_and_taken_back_by_keys() {
    let mut view = open("kv_lab", serde_json::json!({"preset": "tight", "step": 2}));
    let mut stage = stage(Lang::En);
    let title = stage.show(&mut *view).place_of("Block tables").unwrap();
    stage.click(title, &mut |ui, cx| view.ui(ui, cx));
    stage.press(&mut *view, Key::ArrowRight);
    assert_eq!(view.params()["step"], 3);
    stage.press(&mut *view, Key::End);
    assert_eq!(view.params()["step"], 11, "the brief's run takes 11 steps");
    stage.press(&mut *view, Key::Home);
    assert_eq!(view.params()["step"], 1);
    stage.press(&mut *view, Key::ArrowDown);
    stage.press(&mut *view, Key::ArrowDown);
    assert_eq!(view.params()["request"], 2);
}

/// Nothing leaves the page in any preset, narrow or large.
#[test]
fn every_preset_fits_its_page() {
    let lab = ["stream", "tight", "chunks", "fork", "beam", "prefix", "tenants", "large"].map(|id| ("kv_lab", id));
    let timeline = ["mixed", "four", "tight", "poisson"].map(|id| ("serve_timeline", id));
    for (tokens, lang, width) in [
        (Tokens::new(Theme::Light, 1.0), Lang::En, 296.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::Zh, 420.0),
        (Tokens::new(Theme::Light, Tokens::PRESENTER_SCALE), Lang::En, 420.0),
    ] {
        let mut stage = Stage::new(tokens, lang, width);
        for (view, preset) in lab.iter().chain(&timeline) {
            let params = serde_json::json!({"preset": preset});
            stage.show(&mut *open(view, params.clone())).assert_sane(view, params.as_object().unwrap());
        }
        let largest =
            serde_json::json!({"pool_blocks": 65536, "token_budget": 65536, "block_tokens": 256, "max_seqs": 1024});
        for view in ["kv_lab", "serve_timeline"] {
            stage.show(&mut *open(view, largest.clone())).assert_sane(view, largest.as_object().unwrap());
        }
        for params in [
            serde_json::json!({"tokens": 8192, "is_causal": true}),
            serde_json::json!({"tokens": 4, "tile_rows": 512, "tile_cols": 512}),
            serde_json::json!({"tokens": 16, "tile_rows": 4, "tile_cols": 4, "is_causal": true, "step": 10}),
        ] {
            stage
                .show(&mut *open("flash_sweep", params.clone()))
                .assert_sane("flash_sweep", params.as_object().unwrap());
        }
        for params in [
            serde_json::json!({"model": "llama31_405b", "card_gb": "24", "requests": 4096, "tokens": 1 << 22}),
            serde_json::json!({"model": "own", "own": "L4096 H1024 D1024 N200000000000000", "n_cards": 64, "shows": "request"}),
        ] {
            stage.show(&mut *open("kv_picker", params.clone())).assert_sane("kv_picker", params.as_object().unwrap());
        }
        let params = serde_json::json!({"layers": 1024, "q_heads": 1024, "kv_heads": 1024, "tokens": 1 << 24, "total_params_b": 1e5});
        stage.show(&mut *open("kv_bytes", params.clone())).assert_sane("kv_bytes", params.as_object().unwrap());
        for mistake in ["none", "query_heads", "full_context", "gb", "active_params"] {
            let params = serde_json::json!({"mistake": mistake, "model": "mixtral"});
            stage.show(&mut *open("kv_bytes", params.clone())).assert_sane("kv_bytes", params.as_object().unwrap());
        }
    }
}

#[test]
fn why_is_said_in_words() {
    let texts = stage(Lang::Zh).show(&mut *open("kv_lab", serde_json::json!({"preset": "prefix", "step": 3}))).texts();
    let said = |part: &str| texts.iter().any(|text| text.contains(part));
    assert!(said("b 的前 8 个 token 认出来了"), "{texts:?}");
    let finding = open("kv_lab", serde_json::json!({"preset": "fork", "step": 4})).finding(Lang::En);
    assert!(finding.contains("Copy-on-write: b writes into block 3"), "{finding}");
}

#[test]
fn a_stream_of_ones_own_is_played_or_told_what_is_wrong() {
    let own = serde_json::json!({"requests": "0 4 6\n0 4 6\n0 4 6", "max_seqs": 3, "block_tokens": 4, "pool_blocks": 5, "step": 999});
    assert_eq!(open("kv_lab", own).params()["step"], 11);
    let wrong = refused("kv_lab", serde_json::json!({"requests": "0 4 6\n0 4 y"}));
    assert!(wrong.contains("requests") && wrong.contains("line 2: output = y"), "{wrong}");
    let wrong = refused("serve_timeline", serde_json::json!({"requests": "time,prompt\n0,1"}));
    assert!(wrong.contains("needs one column"), "{wrong}");
    let wrong = refused("kv_lab", serde_json::json!({"preset": "fork", "requests": "a:6 c=b"}));
    assert!(wrong.contains("there is no such sequence"), "{wrong}");
}

/// Brief 21: static 8 steps and 75 % of the seats, continuous 7 steps.
#[test]
fn both_ways_of_batching_end_where_the_brief_has_them() {
    let view = open("serve_timeline", serde_json::json!({"preset": "four"}));
    let finding = view.finding(Lang::En).replace('\u{2009}', " ");
    assert!(finding.contains("ends in step 7 and fills 85.7 %"), "{finding}");
    assert!(finding.contains("static batching in step 8 and 75 %"), "{finding}");
    let done: Vec<String> = view.data().rows.iter().map(|row| row[5].clone()).collect();
    assert_eq!(done, ["2", "5", "4", "7"]);
}

/// Brief 16: Llama 3 8B keeps 131,072 B a token, four times that with its query heads.
#[test]
fn bytes_and_their_mistakes() {
    let view = open("kv_bytes", serde_json::json!({"mistake": "query_heads"}));
    let gqa = view.data().rows[1].clone();
    assert_eq!(gqa[1], "131072");
    assert_eq!(gqa[3].parse::<f64>().unwrap() / gqa[2].parse::<f64>().unwrap(), 4.0);
    assert!(view.finding(Lang::En).contains("GQA 4 times as large"), "{}", view.finding(Lang::En));
    let wrong = refused("kv_bytes", serde_json::json!({"tokens": 5000, "context": 4096}));
    assert!(wrong.contains("tokens: 5000 tokens do not fit a context of 4096"), "{wrong}");
}

/// A configuration that is dropped on the page becomes a row of its own, the numbers of its file; what cannot be read says so.
#[test]
fn a_dropped_configuration_is_a_row_of_its_own() {
    let path = format!("{}/../../tests/data/configs/qwen3-32b.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut picker = open("kv_picker", serde_json::json!({}));
    assert_eq!(picker.offer(&text), Some(Ok(())));
    assert_eq!(picker.params()["own"], "L64 H8 D128 N32762123264");
    let first = picker.data().rows[0].clone();
    assert_eq!((first[0].as_str(), first[2].as_str()), ("your config.json", "262144"));
    let again = open("kv_picker", Value::Object(picker.params()));
    assert_eq!((again.params(), again.data()), (picker.params(), picker.data()));
    let wrong = picker.offer("<html>").unwrap().unwrap_err();
    assert!(wrong.get(Lang::En).contains("web page") && wrong.get(Lang::Zh).contains("网页"), "{wrong:?}");

    let mut bytes = open("kv_bytes", serde_json::json!({}));
    assert_eq!(bytes.offer(&text), Some(Ok(())));
    let params = bytes.params();
    assert_eq!((&params["layers"], &params["q_heads"], &params["kv_heads"]), (&64.into(), &64.into(), &8.into()));
    assert_eq!(bytes.data().rows[1][1], "262144", "GQA a token, brief 16");
    assert_eq!(view::find("sector_map").unwrap().open(&vramlab_units::Map::new()).unwrap().offer(&text), None);
}

/// Brief 16, vectors 4 and 5: the first row by hand, the bytes of the whole sweep.
#[test]
fn the_sweep_ends_at_the_numbers_of_the_brief() {
    let hand = serde_json::json!({"tokens": 8, "tile_rows": 4, "tile_cols": 2, "head_dim": 1, "step": 2});
    let texts = stage(Lang::En).show(&mut *open("flash_sweep", hand)).texts();
    for number in ["1.5530", "54.2410", "34.9265"] {
        assert!(texts.iter().any(|text| text.contains(number)), "{number} in {texts:?}");
    }
    let long = open("flash_sweep", serde_json::json!({"tokens": 4096, "step": 4096}));
    let bytes: Vec<String> = long.data().rows.iter().map(|row| row[1].clone()).collect();
    assert_eq!(bytes, ["138412032", "69222400", "4210688"]);
    assert_eq!(long.params()["step"], 1024, "32 × 32 tiles");
    let causal = open("flash_sweep", serde_json::json!({"tokens": 4096, "is_causal": true, "step": 4096}));
    assert_eq!(causal.params()["step"], 528);
    let wrong = refused("flash_sweep", serde_json::json!({"tile_rows": 16}));
    assert!(wrong.contains("tile_rows") && wrong.contains("128 tiles a side"), "{wrong}");
}

/// One press from the numbers that one does by hand to those of a real head, and back.
#[test]
fn a_sweep_changes_its_size_at_a_press() {
    let mut view = open(
        "flash_sweep",
        serde_json::json!({"tokens": 8, "tile_rows": 4, "tile_cols": 2, "head_dim": 1, "is_causal": true}),
    );
    let mut stage = stage(Lang::En);
    for (label, size) in [("real, d = 128", [2048, 64, 128, 128]), ("by hand, d = 1", [8, 4, 2, 1])] {
        let place = stage.show(&mut *view).place_of(label).unwrap();
        stage.click(place, &mut |ui, cx| view.ui(ui, cx));
        let params = view.params();
        let now = ["tokens", "tile_rows", "tile_cols", "head_dim"].map(|key| params[key].as_u64().unwrap());
        assert_eq!((now, &params["is_causal"]), (size, &false.into()), "{label}");
    }
}

#[test]
fn a_sweep_is_stepped_by_keys_and_by_the_pointer() {
    let mut view = open("flash_sweep", serde_json::json!({"step": 3}));
    let mut stage = stage(Lang::En);
    let title = stage.show(&mut *view).place_of("Scores Q·K · 2048 × 2048").unwrap();
    stage.click(title, &mut |ui, cx| view.ui(ui, cx));
    stage.press(&mut *view, Key::ArrowRight);
    assert_eq!(view.params()["step"], 4);
    stage.press(&mut *view, Key::End);
    assert_eq!(view.params()["step"], 256);
    stage.press(&mut *view, Key::ArrowDown);
    assert_eq!(view.params()["row"], 1);
    stage.press(&mut *view, Key::Home);
    assert_eq!(view.params()["step"], 1);
}
