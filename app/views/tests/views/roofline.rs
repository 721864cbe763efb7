//! The roofline as a reader uses it: numbers in the picture, sentences, grips by pointer and by keys, the table's buttons.

use crate::stage::Stage;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use serde_json::json;
use vramlab_kit::{Theme, Tokens};
use vramlab_model::eval;
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(params: Value) -> Box<dyn View> {
    view::find("roofline").unwrap().open(params.as_object().unwrap()).unwrap()
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

/// Brief 12, vectors 1 and 4: saxpy at 0.8 TFLOP/s; a decoding layer takes 6.99 µs and is bound by HBM.
#[test]
fn the_picture_holds_the_briefs_numbers() {
    let cases = [
        (json!({}), ["0.167", "13.9", "0.8\u{2009}TFLOP/s", "HBM"]),
        (json!({"op": "gemm", "precision": "bf16"}), ["1", "206", "6.99\u{2009}µs", "HBM"]),
        (json!({"op": "gemm", "precision": "bf16", "batch": 256}), ["228", "206", "989\u{2009}TFLOP/s", "compute"]),
    ];
    for (params, wanted) in cases {
        let texts = stage(Lang::En).show(&mut *open(params.clone())).texts();
        for shown in wanted {
            assert!(texts.iter().any(|text| text == shown), "{params}: {shown} is not among {texts:?}");
        }
    }
}

/// Which ceiling is met first stands on its line, the card beside the unit; of two roofs a line's width apart one is drawn.
#[test]
fn lines_say_what_runs_out_first() {
    let texts = stage(Lang::En).show(&mut *open(json!({}))).texts();
    for wanted in [
        "memory runs out first",
        "compute runs out first",
        "HBM 4.8\u{2009}TB/s",
        "TFLOP/s · H200 · both axes logarithmic",
    ] {
        assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
    }
    assert!(
        !texts.iter().any(|text| text.contains(", measured")),
        "the measured roof lies on the published one: {texts:?}"
    );
    let apart = stage(Lang::En).show(&mut *open(json!({"op": "gemm", "precision": "bf16"}))).texts();
    assert!(apart.iter().any(|text| text.starts_with("BF16 989\u{2009}TFLOP/s, measured ")), "{apart:?}");
}

/// The numbers of the table are those of `eval`, for a kernel with three levels.
#[test]
fn the_data_are_the_models_answers() {
    let data = open(json!({"op": "gemm", "precision": "fp32", "batch": 512, "tile": "64", "levels": true})).data();
    let op = json!({"op": "gemm", "m": 512, "n": 4096, "k": 4096, "elem_bytes": 4, "tile": 64, "inner_tile": 32});
    let traffic = eval("op_intensity", op.as_object().unwrap()).unwrap();
    for (row, key) in [(0, "bytes"), (1, "l2_bytes"), (2, "l1_bytes")] {
        assert_eq!(data.rows[row][1].parse::<f64>().unwrap(), traffic[key].as_f64().unwrap(), "{key}");
    }
    let question = json!({"flops": traffic["flops"], "hbm_bytes": traffic["bytes"], "peak_tflops": 66.9,
        "hbm_gb_per_s": 4800, "l2_bytes": traffic["l2_bytes"], "l2_gb_per_s": 9500, "l1_bytes": traffic["l1_bytes"],
        "l1_gb_per_s": 33450});
    let answer = eval("roofline", question.as_object().unwrap()).unwrap();
    let attainable: f64 = data.rows[0][6].parse().unwrap();
    assert!((attainable / answer["attainable_tflops"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(data.rows[0][9], answer["bound"].as_str().unwrap());
}

#[test]
fn the_finding_is_a_sentence_in_both_languages() {
    let saxpy = open(json!({}));
    assert_eq!(
        saxpy.finding(Lang::Zh),
        "saxpy（FP32）每字节只做 0.167 次运算，不到脊点 13.9：显存先到顶，最多 0.8\u{2009}TFLOP/s，是计算上限的 1.2\u{2009}%。"
    );
    assert_eq!(
        saxpy.finding(Lang::En),
        "Saxpy (FP32) does 0.167 FLOP for each byte, short of the ridge at 13.9: memory runs out first, at \
         0.8\u{2009}TFLOP/s, 1.2\u{2009}% of the compute ceiling."
    );
    let beyond = open(json!({"op": "gemm", "precision": "bf16", "batch": 512})).finding(Lang::En);
    assert!(beyond.contains("beyond the ridge at 206: compute runs out first"), "{beyond}");
    let held = open(json!({"op": "gemm", "precision": "bf16", "batch": 1024, "levels": true, "tile": "16"}));
    assert!(held.finding(Lang::En).contains("is held by L2"), "{}", held.finding(Lang::En));
}

/// 110 % is explained, struck through and not cut to 100; 30 % is said to touch no roof.
#[test]
fn above_and_far_below_are_told_apart() {
    let mut above = open(json!({"reach_pct": 110}));
    let finding = above.finding(Lang::En);
    assert!(finding.contains("110\u{2009}% of the roof") && finding.contains("one number is wrong"), "{finding}");
    assert!(stage(Lang::En).show(&mut *above).texts().contains(&"110\u{2009}%".to_owned()));
    let below = open(json!({"reach_pct": 30})).finding(Lang::En);
    assert!(below.contains("touches no roof"), "{below}");
}

/// Where the grip of the memory roof sits, near the left end of the slope: found by the readout that it gives.
fn grip(stage: &mut Stage, view: &mut dyn View, word: &str) -> Pos2 {
    let places = (240..600).step_by(8).flat_map(|y| (48..96).step_by(12).map(move |x| pos2(x as f32, y as f32)));
    for pos in places {
        stage.frame(vec![Event::PointerMoved(pos)], &mut |ui, cx| view.ui(ui, cx));
        let painted = stage.frame(Vec::new(), &mut |ui, cx| view.ui(ui, cx));
        if painted.texts().iter().any(|text| text.contains(word)) {
            return pos;
        }
    }
    panic!("no place says \"{word}\"");
}

#[test]
fn the_memory_roof_is_dragged_by_its_grip() {
    let (mut view, mut stage) = (open(json!({})), stage(Lang::En));
    stage.show(&mut *view);
    let from = grip(&mut stage, &mut *view, "memory ceiling");
    let to = from - egui::vec2(0.0, 30.0);
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    for events in [vec![button(from, true)], vec![Event::PointerMoved(to)], vec![], vec![button(to, false)]] {
        stage.frame(events, &mut |ui, cx| view.ui(ui, cx));
    }
    let factor = view.params()["hbm_x"].as_f64().unwrap();
    assert!(factor > 1.5, "the ceiling went to × {factor}");
    assert!(view.finding(Lang::En).starts_with("With the memory ceiling × "), "{}", view.finding(Lang::En));
}

/// Tab reaches the figure; right picks the compute roof; up raises it, Home puts it back.
#[test]
fn ceilings_move_by_keyboard_alone() {
    let raised = (1..60).find_map(|n_tabs| {
        let (mut view, mut stage) = (open(json!({})), stage(Lang::En));
        stage.show(&mut *view);
        for _ in 0..n_tabs {
            stage.press(&mut *view, Key::Tab);
        }
        for key in [Key::ArrowRight, Key::ArrowUp, Key::ArrowUp] {
            stage.press(&mut *view, key);
        }
        (view.params()["compute_x"] != 1.0).then_some((view, stage))
    });
    let (mut view, mut stage) = raised.expect("Tab reaches the figure");
    assert_eq!(view.params()["compute_x"], 1.21);
    assert_eq!(view.params()["hbm_x"], 1.0);
    stage.press(&mut *view, Key::Home);
    assert_eq!(view.params()["compute_x"], 1.0);
}

/// The table's buttons make the change that they name.
#[test]
fn a_row_of_the_table_makes_its_change() {
    let (mut view, mut stage) = (open(json!({})), stage(Lang::En));
    let button = stage.show(&mut *view).place_of("FP32 → BF16").expect("the row is there");
    stage.click(button, &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(view.params()["precision"], "bf16");
}

/// A card without a measurement is refused with the reason, and so is a unit that it lacks.
#[test]
fn what_is_not_known_is_refused_by_name() {
    let entry = view::find("roofline").unwrap();
    let refused = |params: Value| entry.open(params.as_object().unwrap()).err().map(|error| error.field().to_owned());
    assert_eq!(refused(json!({"device": "a100_80", "roof": "measured"})).as_deref(), Some("roof"));
    assert_eq!(refused(json!({"device": "a100_80", "op": "gemm", "precision": "fp8"})).as_deref(), Some("precision"));
    assert_eq!(refused(json!({"hbm_x": 0})).as_deref(), Some("hbm_x"));
}

/// Another kernel or card takes a precision along that it has: TF32 is for products, an A100 has no FP8.
#[test]
fn a_precision_that_does_not_go_with_the_choice_gives_way() {
    for (params, press, precision) in [
        (json!({"op": "gemm", "precision": "tf32"}), "saxpy", "fp32"),
        (json!({"op": "gemm", "precision": "fp8"}), "A100 80 GB", "bf16"),
    ] {
        let (mut view, mut stage) = (open(params), stage(Lang::En));
        let place = stage.show(&mut *view).place_of(press).expect("the option is there");
        stage.click(place, &mut |ui, cx| view.ui(ui, cx));
        assert_eq!(view.params()["precision"], precision, "{press}");
        assert!(!view.data().rows.is_empty(), "{press}: nothing to show");
    }
}
