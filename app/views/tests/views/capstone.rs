//! The figures of the capstone as a reader uses them. Expected values are the brief's, or those of the recorded run.

use crate::stage::{Stage, fed};
use egui::{Key, Vec2, vec2};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, ViewAction, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    fed(view::find(id).unwrap().open(params.as_object().unwrap()).unwrap())
}

fn stage() -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0)
}

/// Presses at `label`, moved by `by`, and gives back what the view asks of the program.
fn press_at(stage: &mut Stage, view: &mut dyn View, label: &str, by: Vec2) -> Vec<ViewAction> {
    let place = stage.show(view).place_of(label).unwrap_or_else(|| panic!("{label} is not painted")) + by;
    let mut actions = Vec::new();
    stage.click(place, &mut |ui, cx| {
        view.ui(ui, cx);
        actions.append(cx.actions);
    });
    actions
}

/// The recorded run: 29.3 ms with nothing mended, 2.15 ms with everything.
#[test]
fn the_waterfall_is_the_recorded_run() {
    let mut view = open("step_waterfall", serde_json::json!({}));
    assert!(view.finding(Lang::En).contains("29.3\u{2009}ms"), "{}", view.finding(Lang::En));
    assert_eq!(view.recorded(Lang::En).unwrap()[0], "NVIDIA H200");
    let rows = view.data().rows;
    assert!(rows.len() == 32 && rows.iter().all(|row| row.iter().all(|cell| !cell.is_empty())));
    let texts = stage().show(&mut *view).texts();
    assert!(texts.iter().any(|text| text == "copies from pageable memory"), "{texts:?}");
}

#[test]
fn pressing_a_grey_row_makes_its_fix() {
    let mut view = open("step_waterfall", serde_json::json!({"order": "pinned"}));
    press_at(&mut stage(), &mut *view, "1,024 tiny launches", vec2(10.0, 0.0));
    assert_eq!(view.params()["order"], "pinned fused");
    assert!(view.finding(Lang::En).contains("after 2 of 5 fixes"), "{}", view.finding(Lang::En));
}

/// Brief 10, vector 8: fusion and overlap are 3 GiB too large at the second step.
#[test]
fn a_plan_that_does_not_fit_says_where() {
    let mut view = open("pareto_scatter", serde_json::json!({"plan": "fuse+overlap"}));
    let texts = stage().show(&mut *view).texts();
    let wanted = "fuse + overlap: infeasible at step 2, by 3\u{2009}GiB.";
    assert!(texts.iter().any(|text| text == wanted), "{texts:?}");
    assert_eq!(view.data().rows.len(), 64);
}

#[test]
fn the_set_is_walked_by_arrow_keys() {
    let mut view = open("pareto_scatter", serde_json::json!({}));
    let mut stage = stage();
    press_at(&mut stage, &mut *view, "peak, GiB", vec2(60.0, 60.0));
    stage.press(&mut *view, Key::ArrowRight);
    let first = view.params()["plan"].clone();
    stage.press(&mut *view, Key::ArrowRight);
    assert_ne!(first, view.params()["plan"]);
    let best = |plan: &Value| view.data().rows.iter().any(|row| row[0] == *plan && row[4] == "true");
    assert!(best(&first) && best(&view.params()["plan"]));
}

#[test]
fn every_end_of_the_tree_opens_its_chapter() {
    let mut view = open("fix_tree", serde_json::json!({}));
    let actions = press_at(&mut stage(), &mut *view, "wasted bytes", vec2(4.0, 0.0));
    let wanted = ViewAction::OpenStep { chapter: "02_access_patterns".into(), step: "sectors".into() };
    assert_eq!(actions, [wanted]);
}

#[test]
fn a_review_is_set_by_cells_and_handed_out() {
    let mut view = open("design_review", serde_json::json!({"levels": "22222222-2"}));
    assert!(view.finding(Lang::En).contains("quality gate"));
    let mut stage = stage();
    let actions = press_at(&mut stage, &mut *view, "Export as Markdown", Vec2::ZERO);
    let Some(ViewAction::SaveText { name, text }) = actions.first() else { panic!("{actions:?}") };
    assert!(name == "design-review.md" && text.contains("| quality gate | none |"), "{text}");
    press_at(&mut stage, &mut *view, "! quality gate", vec2(10.0, 0.0));
    stage.press(&mut *view, Key::ArrowRight);
    assert_eq!(view.params()["levels"], "2222222202");
}

/// The widest words have the narrowest page: every order of the waterfall, the review and the tree, enlarged too.
#[test]
fn narrow_pages_hold_every_state() {
    let states = [
        ("step_waterfall", serde_json::json!({"order": ""})),
        ("step_waterfall", serde_json::json!({"order": "half pinned padded fused contiguous"})),
        ("pareto_scatter", serde_json::json!({"plan": "fuse+precision+overlap+checkpoint", "card_gib": 59.0})),
        ("fix_tree", serde_json::json!({"copy_share": 0.0})),
        ("design_review", serde_json::json!({"levels": "----------"})),
    ];
    for (scale, width) in [(1.0, 296.0), (Tokens::PRESENTER_SCALE, 420.0), (Tokens::PRESENTER_SCALE, 1200.0)] {
        for lang in Lang::ALL {
            let mut stage = Stage::new(Tokens::new(Theme::Dark, scale), lang, width);
            for (id, params) in &states {
                let mut view = open(id, params.clone());
                stage.show(&mut *view).assert_sane(id, params.as_object().unwrap());
            }
        }
    }
}
