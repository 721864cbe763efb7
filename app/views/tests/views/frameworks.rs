//! The figures of the chapter on frameworks as a reader uses them. Expected values are the brief's, or of the recordings.

use crate::stage::Stage;
use egui::{Key, vec2};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap()
}

fn stage() -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0)
}

/// Brief 24: 1 MiB gets 2,096,384 bytes; four regions in the end.
#[test]
fn the_bins_show_the_allocators_numbers() {
    let mut view = open("bfc_bins", serde_json::json!({"preset": "growth"}));
    let texts = stage().show(&mut *view).texts();
    for wanted in ["b asks for 1\u{2009}MiB", "12", "2\u{2009}096\u{2009}384\u{2009}B", "256\u{2009}MiB+"] {
        assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
    }
    let table = view.data();
    let last = table.rows.last().unwrap();
    assert_eq!((last[3].as_str(), last[6].as_str(), last[7].as_str()), ("33554432", "56623104", "4"));
}

#[test]
fn the_bins_are_stepped_by_keys_alone() {
    let mut view = open("bfc_bins", serde_json::json!({"preset": "holes", "event": 1}));
    let mut stage = stage();
    let label = stage.show(&mut *view).place_of("The pool afterwards, one strip a region").unwrap();
    stage.click(label + vec2(0.0, 20.0), &mut |ui, cx| view.ui(ui, cx));
    for _ in 0..6 {
        stage.press(&mut *view, Key::ArrowRight);
    }
    assert_eq!(view.params()["event"], 7);
    stage.show(&mut *view);
    assert!(view.finding(Lang::En).contains("both neighbours are free"), "{}", view.finding(Lang::En));
    assert!(view.finding(Lang::Zh).contains("两边的邻居都空闲"));
    stage.press(&mut *view, Key::Home);
    assert_eq!(view.params()["event"], 1);
}

/// What cannot be played is refused by the name of its field.
#[test]
fn the_bins_refuse_by_name() {
    for (given, field) in [
        (serde_json::json!({"trace": "a:1M -b"}), "trace"),
        (serde_json::json!({"trace": " "}), "trace"),
        (serde_json::json!({"preset": "waste", "event": 2}), "event"),
    ] {
        let error = view::find("bfc_bins").unwrap().open(given.as_object().unwrap()).err().unwrap();
        assert_eq!(error.field(), field, "{given}: {error}");
    }
    let zero = open("bfc_bins", serde_json::json!({"trace": "a:0"}));
    assert!(zero.finding(Lang::En).contains("size must be positive"));
}

fn recorded(file: &str, capacity_mib: u64) -> Box<dyn View> {
    let mut view = open("trace_policies", serde_json::json!({"file": file, "capacity_mib": capacity_mib}));
    let wanted = view.wants().expect("it asks for its recording");
    let path = format!("{}/../../{wanted}", env!("CARGO_MANIFEST_DIR"));
    view.take(Ok(&std::fs::read(path).unwrap()));
    assert_eq!(view.wants(), None);
    view
}

/// The recording's README: 41.2 GB reserved by default for 1.3 GB; here to 0.2 %, and in GiB.
#[test]
fn a_growing_cache_in_front_of_eight_allocators() {
    let mut view = recorded("kv_cat", 143_771);
    let finding = view.finding(Lang::En);
    assert!(finding.contains("need 1.22\u{2009}GiB at their peak"), "{finding}");
    assert!(finding.contains("PyTorch, default takes most, 38.3\u{2009}GiB"), "{finding}");
    let texts = stage().show(&mut *view).texts();
    assert!(texts.iter().any(|text| text == "105\u{2009}GiB"), "JAX's share is not among {texts:?}");
    assert_eq!(view.data().rows.len(), 8);
}

/// Recorded under a cap of 640 MiB, where a request for 64 MiB was refused: expandable segments serve it.
#[test]
fn a_small_card_shows_who_fails() {
    let view = recorded("fragmentation", 640);
    let row = |id: &str| view.data().rows.into_iter().find(|row| row[0] == id).unwrap();
    assert_eq!((row("native")[5].as_str(), row("expandable")[5].as_str()), ("1", "0"));
    assert!(view.finding(Lang::En).contains("On a card of 640\u{2009}MiB"), "{}", view.finding(Lang::En));
}

#[test]
fn a_recording_that_cannot_be_read_says_why() {
    let mut view = open("trace_policies", serde_json::json!({}));
    view.take(Err("the network is down".to_owned()));
    assert_eq!((view.finding(Lang::En).as_str(), view.wants()), ("the network is down", None));
    let mut view = open("trace_policies", serde_json::json!({}));
    view.take(Ok(b"not a pickle"));
    assert!(!view.finding(Lang::En).is_empty() && view.wants().is_none());
    stage().show(&mut *view).assert_sane("trace_policies", &view.params());
}
