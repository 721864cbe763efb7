//! The figures of chapter 01 used as a reader does. Expected values are those of brief 01 and of the hardware file's
//! sources, never what the figure happens to print.

use crate::stage::Stage;
use egui::Key;
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap()
}

fn stage() -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0)
}

#[track_caller]
fn shows(id: &str, params: Value, expected: &[&str]) {
    let mut view = open(id, params);
    let texts = stage().show(&mut *view).texts();
    for shown in expected {
        let shown = shown.replace(' ', "\u{2009}");
        assert!(texts.contains(&shown), "{id}: {shown} is not among {texts:?}");
    }
}

/// Brief 01: 6016 bit × 3201 MHz, 384 bit × 21 Gb/s, 7680 bit × 3996 MHz; published 4800, 1008, 8000.
#[test]
fn the_package_shows_computed_beside_published() {
    let texts = stage().show(&mut *open("memory_package", serde_json::json!({}))).texts();
    for mark in ["1024 pins", "896", "published 4800\u{2009}GB/s"] {
        assert!(texts.iter().any(|text| text == mark), "{mark} is not among {texts:?}");
    }
    shows("memory_package", serde_json::json!({}), &["4814 GB/s", "4800 GB/s", "100.3 %"]);
    shows("memory_package", serde_json::json!({"card": "rtx4090"}), &["1008 GB/s", "100.0 %"]);
    shows("memory_package", serde_json::json!({"card": "b200"}), &["7672 GB/s", "8000 GB/s", "95.9 %"]);
}

/// Brief 01, vectors 4 and 6, and the ridge of an H200 in BF16.
#[test]
fn conveyor_and_panel_show_the_briefs_numbers() {
    shows("littles_law_conveyor", serde_json::json!({}), &["1802 GB/s", "2.88 MB", "10.7 B"]);
    shows("littles_law_conveyor", serde_json::json!({"bytes_per_load": "16"}), &["4800 GB/s", "100 %"]);
    shows("bottleneck_panel", serde_json::json!({}), &["139 µs", "21 µs", "206 FLOP/B", "arithmetic"]);
}

/// 400 of 4800 GB/s at 100 % busy; bursts of a fifth of the time move more.
#[test]
fn the_two_meters_disagree() {
    shows("util_meter", serde_json::json!({}), &["100 %", "400 GB/s", "8.33 %", "1000 ms"]);
    let texts = stage().show(&mut *open("util_meter", serde_json::json!({}))).texts();
    for mark in ["0", "sample window", "peak 4800\u{2009}GB/s", "of peak bandwidth"] {
        assert!(texts.iter().any(|text| text == mark), "{mark} is not among {texts:?}");
    }
    let bursts = serde_json::json!({"kernel_ms": 20, "gap_ms": 80, "rate_gb_per_s": 4280});
    shows("util_meter", bursts, &["20 %", "856 GB/s"]);
}

/// The finding says what the two numbers imply: 8 % of the bandwidth is no proof of waiting.
#[test]
fn the_meters_claim_no_more_than_they_know() {
    let finding = open("util_meter", serde_json::json!({})).finding(Lang::En);
    assert!(
        finding.ends_with("8.33\u{2009}% of peak bandwidth: a kernel all the time, and most of the bandwidth idle.")
    );
    let finding = open("util_meter", serde_json::json!({"rate_gb_per_s": 3000})).finding(Lang::Zh);
    assert!(finding.ends_with("内核一直在跑，带宽还没用满。"), "{finding}");
}

/// 6016 of 6144 pins: both languages give the driver as the source; a bus of one's own has none.
#[test]
fn missing_pins_are_explained_alike_in_both_languages() {
    let h200 = open("memory_package", serde_json::json!({}));
    assert!(h200.finding(Lang::Zh).contains("接满是 6144 根，驱动报告的少一些。"));
    assert!(h200.finding(Lang::En).contains("With every pin wired it would be 6144; the driver reports fewer."));
    let own = open("memory_package", serde_json::json!({"bus_bits": 6080}));
    assert!(own.finding(Lang::Zh).contains("这里设的少一些") && own.finding(Lang::En).contains("fewer are set here"));
}

/// Tab reaches the figure; arrows move among the stacks, and the screen reader hears which one.
#[test]
fn stacks_are_read_by_keyboard_alone() {
    let is_found = (1..40).any(|n_tabs| {
        let (mut view, mut stage) = (open("memory_package", serde_json::json!({})), stage());
        stage.show(&mut *view);
        for _ in 0..n_tabs {
            stage.press(&mut *view, Key::Tab);
        }
        stage.press(&mut *view, Key::End);
        let last = stage.show(&mut *view).texts();
        stage.press(&mut *view, Key::Home);
        let first = stage.show(&mut *view).texts();
        let is_read = |texts: &[String], begins: &str| texts.iter().any(|text| text.starts_with(begins));
        is_read(&last, "stack 5 · 896 bit") && is_read(&first, "stack 0 · 1024 bit")
    });
    assert!(is_found, "no tab stop reads the stacks");
}

/// Pulling the upper edge of the pipe up makes it thicker, which takes faster pins; the card is then nobody's.
#[test]
fn the_pipe_can_be_pulled() {
    let (mut view, mut stage) = (open("memory_package", serde_json::json!({})), stage());
    let label = stage.show(&mut *view).place_of("4814\u{2009}GB/s").unwrap();
    let grip = label + egui::vec2(0.0, 24.0); // inside the pipe, above its middle
    let button = |pos, pressed| egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: egui::Modifiers::NONE,
    };
    let pulled = grip - egui::vec2(0.0, 12.0);
    for events in [
        vec![egui::Event::PointerMoved(grip)],
        vec![button(grip, true)],
        vec![egui::Event::PointerMoved(grip - egui::vec2(0.0, 8.0))],
        vec![egui::Event::PointerMoved(pulled)],
        vec![button(pulled, false)],
    ] {
        stage.frame(events, &mut |ui, cx| view.ui(ui, cx));
    }
    let params = view.params();
    assert_eq!((params["card"].as_str(), params["bus_bits"].as_u64()), (Some("custom"), Some(6016)));
    assert!(params["gbit_per_pin"].as_f64().unwrap() > 6.5, "{params:?}");
}

/// The belt fills with the injected clock; with reduced motion it goes one step.
#[test]
fn the_conveyor_respects_reduced_motion() {
    for has_motion in [true, false] {
        let mut view = open("littles_law_conveyor", serde_json::json!({}));
        let mut stage = stage();
        stage.has_motion = has_motion;
        let belt = stage.show(&mut *view).place_of("full at 2.88\u{2009}MB").unwrap();
        stage.click(belt + egui::vec2(0.0, 60.0), &mut |ui, cx| view.ui(ui, cx));
        for key in [Key::Home, Key::Space] {
            stage.press(&mut *view, key);
        }
        assert_eq!(view.is_playing(), has_motion);
        let texts = stage.show(&mut *view).texts();
        assert!(texts.iter().any(|text| text.starts_with("After ")), "the first bytes are under way: {texts:?}");
        stage.time_secs += 1000.0;
        let painted = stage.show(&mut *view);
        assert!(!view.is_playing() && !painted.wants_repaint);
        assert_eq!(painted.texts().iter().any(|text| text.starts_with("A square")), has_motion);
    }
}
