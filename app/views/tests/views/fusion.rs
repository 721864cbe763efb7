//! The figures of chapter 04 used as a reader does. Expected values are those of brief 04, never what the figure prints.

use crate::stage::Stage;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

fn place(stage: &mut Stage, view: &mut dyn View, label: &str) -> Pos2 {
    stage.show(view).place_of(label).unwrap_or_else(|| panic!("{label} is not there"))
}

fn press(stage: &mut Stage, view: &mut dyn View, label: &str) {
    let at = place(stage, view, label);
    stage.click(at, &mut |ui, cx| view.ui(ui, cx));
}

fn drag(stage: &mut Stage, view: &mut dyn View, from: Pos2, to: Pos2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    for events in [
        vec![Event::PointerMoved(from)],
        vec![button(from, true)],
        vec![Event::PointerMoved(from.lerp(to, 0.5))],
        vec![Event::PointerMoved(to)],
        vec![button(to, false)],
    ] {
        stage.frame(events, &mut |ui, cx| view.ui(ui, cx));
    }
}

/// Drags a frame around two operators.
fn lasso(stage: &mut Stage, view: &mut dyn View, first: &str, last: &str) {
    let (from, to) = (place(stage, view, first), place(stage, view, last));
    drag(stage, view, from - vec2(40.0, 20.0), to + vec2(60.0, 44.0));
}

const FIGURES: [&str; 3] = ["fusion_lasso", "launch_lanes", "merge_tree"];

#[test]
fn every_state_fits_its_page() {
    let states = [
        ("fusion_lasso", r#"{"preset": "softmax", "groups": "max+sub+exp+sum+div"}"#),
        ("fusion_lasso", r#"{"preset": "attention", "groups": "qk+scale max+exp+sum pv+div"}"#),
        ("fusion_lasso", r#"{"preset": "circle", "row_bytes": 0}"#),
        ("fusion_lasso", r#"{"preset": "layer_norm", "is_grid_barrier": true, "row_bytes": 1048576}"#),
        (
            "fusion_lasso",
            r#"{"operators": "an_operator_with_a_long_name map x > y; b map x > z; c map x > w; d map y z w > t", "sizes": "x=1 y=0 z=1e12 w=5 t=7"}"#,
        ),
        ("launch_lanes", r#"{"kernels": 64, "kernel_us": 0, "launch_us": 0, "gap_us": 0, "mode": "graph"}"#),
        ("launch_lanes", r#"{"kernels": 1, "kernel_us": 1000, "is_synced": true, "wait_us": 1000}"#),
        ("launch_lanes", r#"{"kernels": 20, "kernel_us": 2.9}"#),
        ("merge_tree", r#"{"scores": "1", "step": 16}"#),
        (
            "merge_tree",
            r#"{"scores": "-1e6 1e6 0.123456 3 4 5 6 7 8 9 10 11 12 13 14 15", "step": 16, "shape": "chain"}"#,
        ),
        ("merge_tree", r#"{"kind": "variance", "scores": "1 2 3 4 5 6 7", "step": 3}"#),
    ];
    for (tokens, lang, width) in [
        (Tokens::new(Theme::Light, 1.0), Lang::Zh, 844.0),
        (Tokens::new(Theme::Light, 1.0), Lang::En, 296.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::En, 420.0),
    ] {
        let mut stage = Stage::new(tokens, lang, width);
        for (id, params) in states {
            let params: Value = serde_json::from_str(params).unwrap();
            let mut view = open(id, params.clone());
            stage.show(&mut *view).assert_sane(id, params.as_object().unwrap());
            assert!(!stage.show(&mut *view).wants_repaint, "{id} {params} repaints at rest");
        }
    }
}

#[test]
fn every_control_has_a_name_and_every_figure_says_what_it_finds() {
    for lang in Lang::ALL {
        for id in FIGURES {
            let mut view = open(id, serde_json::json!({}));
            let nodes = stage(lang).accessible(&mut *view);
            assert!(nodes.iter().all(|(_, name)| !name.is_empty()), "{id}: {nodes:?}");
            let figures: Vec<_> = nodes.iter().filter(|(role, _)| role == "Figure").collect();
            assert_eq!(figures.len(), 1, "{id}: {figures:?}");
            assert_eq!(figures[0].1, view.finding(lang), "{id}");
        }
    }
}

/// Vector 3: 18.004 MB apart, 10.004 in two kernels, 6.004 in one; and what was fused can be taken back.
#[test]
fn a_lasso_fuses_and_undo_takes_it_back() {
    let mut view = open("fusion_lasso", serde_json::json!({}));
    let mut stage = stage(Lang::En);
    let moved = |view: &dyn View| -> f64 { view.data().rows.iter().map(|row| row[4].parse::<f64>().unwrap()).sum() };
    assert_eq!(moved(&*view), 18_004_000.0);
    lasso(&mut stage, &mut *view, "mul", "add");
    assert_eq!(view.params()["groups"], "mul+add");
    lasso(&mut stage, &mut *view, "gelu", "sum");
    assert_eq!((view.params()["groups"].as_str(), moved(&*view)), (Some("mul+add gelu+sum"), 10_004_000.0));
    lasso(&mut stage, &mut *view, "mul", "sum");
    assert_eq!((view.params()["groups"].as_str(), moved(&*view)), (Some("mul+add+gelu+sum"), 6_004_000.0));
    press(&mut stage, &mut *view, "Undo");
    assert_eq!(moved(&*view), 10_004_000.0);
    press(&mut stage, &mut *view, "All apart");
    assert_eq!((view.params()["groups"].as_str(), moved(&*view)), (Some(""), 18_004_000.0));
}

/// Vector 8: what breaks a rule is not taken, and the rule is said in the reader's language.
#[test]
fn an_illegal_lasso_says_the_rule() {
    let mut view = open("fusion_lasso", serde_json::json!({"preset": "circle"}));
    let mut stage = stage(Lang::En);
    for name in ["scale", "mix"] {
        press(&mut stage, &mut *view, name);
    }
    press(&mut stage, &mut *view, "Fuse what is picked");
    assert_eq!(view.params()["groups"], "");
    assert!(view.finding(Lang::En).contains("makes group depend on itself through"), "{}", view.finding(Lang::En));
    assert!(view.finding(Lang::Zh).contains("成了环"), "{}", view.finding(Lang::Zh));
    let mut view = open("fusion_lasso", serde_json::json!({"preset": "softmax", "row_bytes": 262_144}));
    lasso(&mut stage, &mut *view, "max", "div");
    assert!(view.finding(Lang::En).contains("262144 B > 232448 B"), "{}", view.finding(Lang::En));
    let given = serde_json::json!({"preset": "attention", "groups": "qk+max"});
    assert!(view::find("fusion_lasso").unwrap().open(given.as_object().unwrap()).is_err());
}

/// The keyboard alone: walk, pick, fuse, split.
#[test]
fn keys_fuse_and_split() {
    let mut view = open("fusion_lasso", serde_json::json!({}));
    let mut stage = stage(Lang::En);
    press(&mut stage, &mut *view, "mul");
    for key in [Key::ArrowRight, Key::Space, Key::Enter] {
        stage.press(&mut *view, key);
    }
    assert_eq!(view.params()["groups"], "mul+add");
    stage.press(&mut *view, Key::Backspace);
    assert_eq!(view.params()["groups"], "");
}

/// Vector 7: 50.5 µs on a stream, 26.4 as a graph; a drag to the right makes kernels longer.
#[test]
fn lanes_are_dragged_and_ways_switched() {
    let mut view = open("launch_lanes", serde_json::json!({"kernels": 20, "kernel_us": 0.5}));
    let mut stage = stage(Lang::En);
    assert!(view.finding(Lang::En).contains("50.5 µs"), "{}", view.finding(Lang::En));
    // The bars stand below one another, the graph's two below that of the waits.
    let bar = place(&mut stage, &mut *view, "stream, synced") + vec2(10.0, 80.0);
    stage.click(bar, &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(view.params()["mode"], "graph");
    assert!(view.finding(Lang::En).contains("26.4 µs"), "{}", view.finding(Lang::En));
    let gpu = place(&mut stage, &mut *view, "GPU");
    drag(&mut stage, &mut *view, gpu + vec2(120.0, 4.0), gpu + vec2(390.0, 4.0));
    let us = view.params()["kernel_us"].as_f64().unwrap();
    assert!((3.0..5.0).contains(&us), "three doublings of 0.5: {us}");
    stage.press(&mut *view, Key::Space);
    assert_eq!(view.params()["mode"], "stream");
}

/// Vectors 5 and 6, a level up: 1 2 3 4 has d = 1.5530 and M₂ = 5 (variance 1.25), as a tree and as a chain.
#[test]
fn a_row_is_merged_either_way() {
    for (shape, steps) in [("tree", "2 steps"), ("chain", "3 steps")] {
        let view = open("merge_tree", serde_json::json!({"scores": "1 2 3 4", "shape": shape, "step": 16}));
        let said = view.finding(Lang::En);
        assert!(said.contains("m = 4, d = 1.553") && said.contains(steps), "{said}");
        let given = serde_json::json!({"scores": "1 2 3 4", "shape": shape, "kind": "variance", "step": 16});
        let said = open("merge_tree", given).finding(Lang::En);
        assert!(said.contains("mean 2.5, variance 1.25"), "{said}");
    }
    let mut view = open("merge_tree", serde_json::json!({"scores": "1 2 3 4"}));
    let mut stage = stage(Lang::En);
    press(&mut stage, &mut *view, "m 2");
    stage.press(&mut *view, Key::End);
    assert_eq!(view.params()["step"], 2);
    let wrong = serde_json::json!({"scores": "1 2 x"});
    assert!(view::find("merge_tree").unwrap().open(wrong.as_object().unwrap()).is_err());
}
