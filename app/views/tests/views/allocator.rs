//! The allocator strips used as a reader does. Expected values are those of brief 11, never what the figure prints.

use crate::stage::Stage;
use egui::Key;
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(params: Value) -> Box<dyn View> {
    view::find("allocator_strips").unwrap().open(params.as_object().unwrap()).unwrap()
}

fn refused(params: Value) -> String {
    let opened = view::find("allocator_strips").unwrap().open(params.as_object().unwrap());
    opened.err().unwrap().to_string()
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

#[track_caller]
fn shows(params: Value, expected: &[&str]) {
    let texts = stage(Lang::En).show(&mut *open(params)).texts();
    for shown in expected {
        let shown = shown.replace(" MiB", "\u{2009}MiB").replace(" %", "\u{2009}%");
        assert!(texts.contains(&shown), "{shown} is not among {texts:?}");
    }
}

/// Vector 5: 27 MiB freed, 24 do not fit under one rule and do under the other.
#[test]
fn the_miss_is_seen_at_a_glance() {
    let all = "33 MiB were free in the cache, in 4 holes, the largest 20 MiB";
    shows(serde_json::json!({}), &["OOM", "24 MiB wanted", "card: 20 MiB left", all, "g · 24 MiB"]);
    let finding = open(serde_json::json!({})).finding(Lang::Zh);
    for said in ["g 要 24", "空闲共 33", "分在 4 处", "显存不足（OOM）", "切自 27"] {
        assert!(finding.contains(said), "{said}: {finding}");
    }
    let every_other = open(serde_json::json!({"preset": "alternating"})).finding(Lang::En);
    assert_eq!(every_other.matches("out of memory").count(), 2, "{every_other}");
}

/// Vectors 6 to 8: settings are the engines' settings.
#[test]
fn settings_reach_the_engines() {
    let reserved = |params: Value| {
        let table = open(params).data();
        let column = table.header.iter().position(|name| name == "reserved (B)").unwrap();
        table.rows.last().unwrap()[column].parse::<u64>().unwrap()
    };
    let gc = |threshold: f64| serde_json::json!({"preset": "gc", "gc_threshold": threshold});
    assert_eq!((reserved(gc(0.4)), reserved(gc(0.5))), (41_943_040, 94_371_840));
    let split = |mib: u64, trace: &str| serde_json::json!({"preset": "max_split", "max_split_mib": mib, "trace": trace, "capacity_mib": 1000});
    assert_eq!(reserved(split(32, "a:64M -a b:40M")), 109_051_904);
    assert_eq!(reserved(split(32, "a:64M -a b:46M")), 67_108_864);
    assert_eq!(reserved(split(0, "a:64M -a b:8M")), 67_108_864);
    assert_eq!(reserved(split(32, "a:64M -a b:8M")), 88_080_384);
    let pool = |mib: u64| {
        serde_json::json!({"engines": "stream_pool", "trace": "a:100M -a sync", "capacity_mib": 1000,
            "release_threshold_mib": mib})
    };
    assert_eq!((reserved(pool(0)), reserved(pool(128))), (0, 134_217_728));
    assert_eq!(reserved(serde_json::json!({"preset": "flush"})), 62_914_560);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    assert!(refused(serde_json::json!({"trace": "a:9M -a -a"})).contains("word 3 (-a): double free"));
    assert!(refused(serde_json::json!({"engines": "native,native"})).starts_with("engines ="));
    assert!(refused(serde_json::json!({"engines": ""})).contains("native, expandable, bfc"));
    assert!(refused(serde_json::json!({"max_split_mib": 20})).starts_with("max_split_mib:"));
    assert!(refused(serde_json::json!({"explain": 3})).starts_with("explain ="));
}

/// Tab reaches the figure; Home and the arrows step, and the sentence follows.
#[test]
fn events_are_stepped_through_by_keyboard_alone() {
    let reached = (1..40).find_map(|n_tabs| {
        let (mut view, mut stage) = (open(serde_json::json!({})), stage(Lang::En));
        stage.show(&mut *view);
        for _ in 0..n_tabs {
            stage.press(&mut *view, Key::Tab);
        }
        stage.press(&mut *view, Key::Home);
        (view.params()["event"] == 1).then_some((view, stage))
    });
    let (mut view, mut stage) = reached.expect("some tab stop steps through the events");
    assert!(view.finding(Lang::En).starts_with("Event 1 of 10, a:9M."), "{}", view.finding(Lang::En));
    for _ in 0..6 {
        stage.press(&mut *view, Key::ArrowRight);
    }
    assert_eq!(view.params()["event"], 7);
    assert!(view.finding(Lang::En).contains("stay with the allocator"), "{}", view.finding(Lang::En));
    stage.press(&mut *view, Key::End);
    assert_eq!(view.params()["event"], 10);
}

/// A click on a word goes to its event.
#[test]
fn a_word_of_the_tape_is_a_place() {
    let mut view = open(serde_json::json!({}));
    let mut stage = stage(Lang::En);
    let place = stage.show(&mut *view).place_of("-b").unwrap();
    stage.click(place, &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(view.params()["event"], 8);
}

/// The list of candidates names the reasons: vector 10, a hole before the smaller tail.
#[test]
fn why_it_was_this_block() {
    let params = serde_json::json!({"preset": "grow_tail", "engines": "expandable"});
    shows(params, &["taken: the smallest that holds it"]);
    let texts = stage(Lang::En).show(&mut *open(serde_json::json!({"preset": "grow_tail", "engines": "expandable"})));
    let texts = texts.texts();
    assert!(texts.iter().any(|text| text.starts_with("can grow to")), "{texts:?}");
}
