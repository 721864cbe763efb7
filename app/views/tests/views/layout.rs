//! The figures of chapter 13 used as a reader does. Expected values are those of brief 13, never what the figure prints.

use crate::stage::Stage;
use egui::Pos2;
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

#[test]
fn every_state_fits_its_page() {
    let states = [
        ("field_ribbon", r#"{"fields": "x:4 y:4 z:4 v:12 m:4 q:4", "read": "x y z v m q", "is_worst": true}"#),
        ("field_ribbon", r#"{"fields": "a:1 b:16 c:2 d:8 e:1", "read": "b e", "base_bytes": 28}"#),
        ("field_ribbon", r#"{"fields": "a:2 b:2 c:2 d:2", "read": "a", "layout": "aosoa", "width": "16"}"#),
        ("field_ribbon", r#"{"fields": "a:1", "read": "", "layout": "soa"}"#),
        ("tensor_order", r#"{"n": 2, "c": 8, "h": 6, "w": 8, "order": "whcn", "at_c": 7, "at_w": 7}"#),
        ("tensor_order", r#"{"n": 1, "c": 1, "h": 1, "w": 1, "channel_multiple": "8"}"#),
        ("tensor_order", r#"{"c": 3, "channel_multiple": "8", "order": "nhwc"}"#),
        ("bank_wheel", r#"{"pitch_words": 33}"#),
        ("bank_wheel", r#"{"pitch_words": 17, "walk": "two_columns16"}"#),
        ("bank_wheel", r#"{"pitch_words": 66, "walk": "column16"}"#),
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

/// Vector 4: x, y, z of 12 bytes, 12 sectors where they stay and 36 where they do not; as SoA 12 either way.
#[test]
fn a_struct_is_built_by_hand() {
    let mut view = open("field_ribbon", serde_json::json!({"fields": "x:4 y:4", "read": "x y"}));
    let mut stage = stage(Lang::En);
    press(&mut stage, &mut *view, "Add a field");
    assert_eq!(view.params()["fields"], "x:4 y:4 z:4");
    let mut view = open("field_ribbon", serde_json::json!({"read": "x y z"}));
    assert!(view.finding(Lang::En).contains("12 sectors, 384 B"), "{}", view.finding(Lang::En));
    press(&mut stage, &mut *view, "sectors do not stay (each field fetches anew)");
    assert!(view.finding(Lang::En).contains("36 sectors, 1152 B"), "{}", view.finding(Lang::En));
    press(&mut stage, &mut *view, "SoA");
    assert!(view.finding(Lang::En).contains("12 sectors, 384 B"), "{}", view.finding(Lang::En));
}

/// What C makes of 1, 8, 2 bytes, and of 8, 2, 1: 24 and 16; a struct that is too large is refused with its size.
#[test]
fn the_order_of_fields_costs_padding() {
    for (fields, size) in [("c:1 d:8 s:2", "24 B an element"), ("d:8 s:2 c:1", "16 B an element")] {
        let view = open("field_ribbon", serde_json::json!({"fields": fields, "read": ""}));
        assert!(view.finding(Lang::En).contains(size), "{}", view.finding(Lang::En));
    }
    for (params, field) in [
        (serde_json::json!({"fields": "a:16 b:16 c:16 d:16 e:4", "read": "a"}), "fields"),
        (serde_json::json!({"fields": "a:4:3", "read": "a"}), "fields"),
        (serde_json::json!({"fields": "a:4", "read": "b"}), "read"),
    ] {
        let error = view::find("field_ribbon").unwrap().open(params.as_object().unwrap()).err().unwrap();
        assert_eq!(error.field(), field, "{params}");
    }
}

/// Vector 2 at a size the figure shows, and the walk along memory: NHWC goes from channel to channel.
#[test]
fn an_order_changes_strides_and_not_the_shape() {
    let params = serde_json::json!({"n": 2, "c": 3, "h": 5, "w": 7, "at_n": 1, "at_c": 2, "at_h": 3, "at_w": 4});
    let mut view = open("tensor_order", params);
    let rows = |view: &dyn View| view.data().rows;
    assert_eq!(rows(&*view)[200], ["200", "1", "2", "3", "4"]);
    press(&mut stage(Lang::En), &mut *view, "NHWC");
    assert_eq!(rows(&*view)[182], ["182", "1", "2", "3", "4"]);
    assert!(view.finding(Lang::En).contains("the shape stays (2, 3, 5, 7), strides (105, 1, 21, 3)"));
    assert!(view.finding(Lang::En).contains("channels_last, not contiguous"));
    let one = open("tensor_order", serde_json::json!({"c": 1, "order": "nhwc"}));
    assert!(one.finding(Lang::En).contains("contiguous and channels_last at once"));
    let outside = serde_json::json!({"c": 3, "at_c": 3});
    assert!(view::find("tensor_order").unwrap().open(outside.as_object().unwrap()).is_err());
}

/// Vector 5: every pitch of the brief, from the table behind the bars.
#[test]
fn the_wheel_has_the_degrees_of_the_brief() {
    let view = open("bank_wheel", serde_json::json!({}));
    let rows = view.data().rows;
    for (pitch, degree) in
        [(1, 1), (2, 2), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1), (34, 2), (36, 4), (64, 32), (65, 1)]
    {
        assert_eq!(rows[pitch - 1], [pitch.to_string(), degree.to_string()]);
    }
    let pair = open("bank_wheel", serde_json::json!({"pitch_words": 17, "walk": "two_columns16"}));
    assert!(pair.finding(Lang::En).contains("2-way"), "{}", pair.finding(Lang::En));
}
