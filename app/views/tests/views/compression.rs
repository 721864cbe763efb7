//! The figures of chapter 25 as a reader uses them. Expected values are the brief's test vectors.

use crate::stage::{Stage, fed};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2, vec2};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    fed(view::find(id).unwrap().open(params.as_object().unwrap()).unwrap())
}

fn stage() -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0)
}

/// Presses at `from`, pulls by `by`, lets go.
fn pull(stage: &mut Stage, view: &mut dyn View, from: Pos2, by: Vec2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    for events in [
        vec![Event::PointerMoved(from)],
        vec![button(from, true)],
        vec![Event::PointerMoved(from + by * 0.5)],
        vec![Event::PointerMoved(from + by)],
        vec![button(from + by, false)],
    ] {
        stage.frame(events, &mut |ui, cx| view.ui(ui, cx));
    }
}

#[test]
fn lanes_show_the_bound_of_the_brief() {
    let mut view = open("bit_lanes", serde_json::json!({}));
    let texts = stage().show(&mut *view).texts();
    let has = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
    assert!(has("ceiling by fields 1.52") && has("0.996") && has("exponent 2.5"), "{texts:?}");
    // Walking by keys reads one lane after the other.
    let mut stage = stage();
    let place = stage.show(&mut *view).place_of("E0").unwrap() - vec2(0.0, 30.0);
    stage.click(place, &mut |ui, cx| view.ui(ui, cx));
    stage.press(&mut *view, Key::Home);
    let texts = stage.show(&mut *view).texts();
    assert!(texts.iter().any(|text| text.starts_with("S: ")), "{texts:?}");
}

/// E2M1 under a scale of 1: 0.5 … 6; with 64 σ all the others are gone.
#[test]
fn an_outlier_is_pulled_and_the_others_vanish() {
    let mut view = open("number_line", serde_json::json!({"format": "e2m1", "outlier": 4.0}));
    let mut stage = stage();
    let octave = 300.0 / 14.0;
    let tick = stage.show(&mut *view).place_of("32").unwrap();
    // The handle stands three octaves below the tick, in the last column; pulled up by four it is at the end of its range.
    let handle = tick + vec2(785.0, 3.0 * octave);
    pull(&mut stage, &mut *view, handle, vec2(0.0, -4.0 * octave));
    let outlier = view.params()["outlier"].as_f64().unwrap();
    assert!((40.0..=64.0).contains(&outlier), "{outlier}");
    let all = open("number_line", serde_json::json!({"format": "e2m1", "outlier": 64.0}));
    assert!(all.finding(Lang::En).contains("31 became 0"), "{}", all.finding(Lang::En));
    // Down again by keys, until there is none.
    for _ in 0..24 {
        stage.press(&mut *view, Key::ArrowDown);
    }
    assert_eq!(view.params()["outlier"], 0.0);
}

/// Brief 25, the fourth vector: sent index 0, 1, 0, 2, 1, 0; sent and owed are 6 gradients.
#[test]
fn the_debt_is_the_brief_s() {
    let mut view = open("residual_debt", serde_json::json!({"step": 6}));
    let rows = view.data().rows;
    let last: Vec<[f64; 2]> =
        rows[5 * 4..6 * 4].iter().map(|row| [row[3].parse().unwrap(), row[4].parse().unwrap()]).collect();
    for (got, wanted) in last.iter().zip([[3.0, 0.0], [-2.0, -0.4], [1.2, 0.6], [0.0, -1.2]]) {
        assert!((got[0] - wanted[0]).abs() < 1e-9 && (got[1] - wanted[1]).abs() < 1e-9, "{last:?}");
    }
    let mut stage = stage();
    let texts = stage.show(&mut *view).texts();
    assert!(texts.iter().any(|text| text == "0 sent"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("sent 3 + owed 0 = 3 = 6 × 0.5")), "{texts:?}");
    // A bar of the gradient can be pulled.
    let place = stage.show(&mut *view).place_of("0.5").unwrap();
    pull(&mut stage, &mut *view, place + vec2(0.0, 20.0), vec2(0.0, 12.0));
    assert_ne!(view.params()["gradient"], "0.5 -0.4 0.3 -0.2");
}

/// Brief 25: at r = 1.43, 182.9 GB/s for PCIe and 15.96 TB/s for HBM.
#[test]
fn links_ask_for_the_decoders_of_the_brief() {
    let mut view = open("codec_payoff", serde_json::json!({}));
    let texts = stage().show(&mut *view).texts();
    let has = |wanted: &str| texts.iter().any(|text| text.starts_with(wanted));
    assert!(has("183") && has("15963"), "{texts:?}");
    assert!(view.finding(Lang::En).contains("pays on none"), "{}", view.finding(Lang::En));
    let fast = open("codec_payoff", serde_json::json!({"decoder_gb_per_s": 500.0}));
    assert!(fast.finding(Lang::En).contains("pays on network 100 Gb/s, PCIe 5;"), "{}", fast.finding(Lang::En));
    // The dot follows the pointer.
    let mut stage = stage();
    let place = stage.show(&mut *view).place_of("100\u{2009}000").unwrap();
    pull(&mut stage, &mut *view, place + vec2(200.0, 200.0), vec2(100.0, -80.0));
    assert!(view.params()["ratio"].as_f64().unwrap() > 1.5, "{:?}", view.params());
}
