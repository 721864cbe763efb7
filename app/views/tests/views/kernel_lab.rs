//! The figures of chapter 23 used as a reader does. Expected values are those of brief 23, never what the figure prints.

use crate::stage::Stage;
use egui::{Key, Pos2, vec2};
use serde_json::json;
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

const FIGURES: [&str; 2] = ["sm_occupancy", "warp_reduction"];

fn open(id: &str, params: &Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

fn place(stage: &mut Stage, view: &mut dyn View, label: &str) -> Pos2 {
    stage.show(view).place_of(label).unwrap_or_else(|| panic!("{label} is not there"))
}

fn press(stage: &mut Stage, view: &mut dyn View, at: Pos2) {
    stage.click(at, &mut |ui, cx| view.ui(ui, cx));
}

#[test]
fn every_state_fits_its_page() {
    let states = [
        ("sm_occupancy", json!({"threads_per_block": 1, "registers_per_thread": 0})),
        ("sm_occupancy", json!({"threads_per_block": 1024, "registers_per_thread": 65, "axis": "threads"})),
        (
            "sm_occupancy",
            json!({"compute_capability": "7.5", "axis": "shared", "shared_bytes": 65536, "grid_blocks": 100_000}),
        ),
        ("sm_occupancy", json!({"compute_capability": "12.0", "static_bytes": 49152, "is_opt_in": false, "sms": 1})),
        ("sm_occupancy", json!({"compute_capability": "5.2", "threads_per_block": 128, "registers_per_thread": 85})),
        ("warp_reduction", json!({"form": "redux", "threads_per_block": "1024", "step": 5})),
        ("warp_reduction", json!({"form": "shared_tree", "threads_per_block": "32", "step": 1})),
        ("warp_reduction", json!({"form": "butterfly", "step": 5})),
    ];
    for (tokens, lang, width) in [
        (Tokens::new(Theme::Light, 1.0), Lang::Zh, 844.0),
        (Tokens::new(Theme::Light, 1.0), Lang::En, 296.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::En, 420.0),
    ] {
        let mut stage = Stage::new(tokens, lang, width);
        for (id, params) in &states {
            let mut view = open(id, params);
            stage.show(&mut *view).assert_sane(id, params.as_object().unwrap());
            assert!(!stage.show(&mut *view).wants_repaint, "{id} {params} repaints at rest");
        }
    }
}

#[test]
fn every_control_has_a_name_and_every_figure_says_what_it_finds() {
    for lang in Lang::ALL {
        for id in FIGURES {
            let mut view = open(id, &json!({}));
            let nodes = stage(lang).accessible(&mut *view);
            assert!(nodes.iter().all(|(_, name)| !name.is_empty()), "{id}: {nodes:?}");
            let figures: Vec<_> = nodes.iter().filter(|(role, _)| role == "Figure").collect();
            assert_eq!(figures.len(), 1, "{id}: {figures:?}");
            assert_eq!(figures[0].1, view.finding(lang), "{id}");
        }
    }
}

#[track_caller]
fn says(id: &str, params: Value, words: &[&str]) {
    let said = open(id, &params).finding(Lang::En);
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
}

/// The brief's vectors, in words.
#[test]
fn the_sm_says_the_briefs_numbers() {
    says(
        "sm_occupancy",
        json!({"registers_per_thread": 64}),
        &["4 blocks, 32 of 64", "limited by registers", "1 register more, at 65: 4 → 3 blocks"],
    );
    says("sm_occupancy", json!({"registers_per_thread": 65}), &["3 blocks, 24 of 64", "37.5"]);
    says("sm_occupancy", json!({}), &["8 blocks, 64 of 64", "warp slots and registers"]);
    let given = json!({"threads_per_block": 1024, "registers_per_thread": 65});
    says("sm_occupancy", given, &["cannot be launched on 9.0", "registers forbid it"]);
    let given = json!({"compute_capability": "8.9", "threads_per_block": 64});
    says("sm_occupancy", given, &["24 blocks, 48 of 48", "warp slots and block slots"]);
    let given = json!({"compute_capability": "8.0", "shared_bytes": 81920});
    says("sm_occupancy", given, &["2 blocks, 16 of 64", "limited by shared memory"]);
    let given = json!({"threads_per_block": 128, "registers_per_thread": 128, "shared_bytes": 49152});
    says("sm_occupancy", given, &["4 blocks, 16 of 64", "registers and shared memory"]);
    says("sm_occupancy", json!({"threads_per_block": 33}), &["32 blocks, 64 of 64"]);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |given: Value| {
        let opened = view::find("sm_occupancy").unwrap().open(given.as_object().unwrap());
        opened.err().unwrap_or_else(|| panic!("{given} opens")).to_string()
    };
    assert!(refused(json!({"threads_per_block": 1056})).contains("1024"));
    assert!(refused(json!({"compute_capability": "7.9"})).contains("7.5"));
    assert!(refused(json!({"registers_per_thread": 256})).contains("255"));
    let said = refused(json!({"compute_capability": "8.9", "shared_bytes": 200_000}));
    assert!(said.contains("200000") && said.contains("8.9"), "{said}");
}

/// The keyboard alone: to the next cliff, one more, back; Space changes the axis.
#[test]
fn cliffs_are_walked_by_keys() {
    let mut view = open("sm_occupancy", &json!({"registers_per_thread": 50}));
    let mut stage = stage(Lang::En);
    let at = place(&mut stage, &mut *view, "Blocks that each resource alone allows");
    press(&mut stage, &mut *view, at);
    let registers = |view: &dyn View| view.params()["registers_per_thread"].as_u64();
    stage.press(&mut *view, Key::ArrowDown);
    assert_eq!(registers(&*view), Some(65));
    stage.press(&mut *view, Key::ArrowUp);
    assert_eq!(registers(&*view), Some(64));
    stage.press(&mut *view, Key::ArrowLeft);
    assert_eq!(registers(&*view), Some(63));
    stage.press(&mut *view, Key::Space);
    assert_eq!(view.params()["axis"], "threads");
    stage.press(&mut *view, Key::ArrowRight);
    assert_eq!(view.params()["threads_per_block"], 288);
}

/// A press on the cliff finder, above the tick of 192, is 192 registers.
#[test]
fn a_stair_can_be_pressed() {
    let mut view = open("sm_occupancy", &json!({}));
    let mut stage = stage(Lang::En);
    let tick = place(&mut stage, &mut *view, "192");
    press(&mut stage, &mut *view, tick - vec2(0.0, 60.0));
    let found = view.params()["registers_per_thread"].as_u64().unwrap();
    assert!(found.abs_diff(192) <= 2, "{found}");
}

/// Brief: every lane holds 496 after a butterfly; 8 steps for 256 threads; a tree waits at 9 barriers, shuffles at one.
#[test]
fn lanes_add_up() {
    says("warp_reduction", json!({"form": "butterfly", "step": 5}), &["Every lane holds 496", "8 steps", "1 barrier,"]);
    says("warp_reduction", json!({"form": "shuffle_down", "step": 5}), &["Lane 0 holds 496"]);
    says("warp_reduction", json!({"form": "shared_tree"}), &["8 steps, 9 barriers"]);
    let mut view = open("warp_reduction", &json!({}));
    let mut stage = stage(Lang::En);
    let at = place(&mut stage, &mut *view, "Shuffle down: from register to register");
    press(&mut stage, &mut *view, at);
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowDown] {
        stage.press(&mut *view, key);
    }
    assert_eq!(view.params()["step"], 3);
    let rows = view.data().rows;
    assert_eq!((rows.len(), rows[4][2].as_str()), (5, "496"));
}
