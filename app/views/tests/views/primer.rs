//! The figures of the primer as a reader uses them. Expected values are worked by hand or measured.

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

fn param(view: &dyn View, key: &str) -> u64 {
    view.params()[key].as_u64().unwrap()
}

/// Five statements for all lanes and two on each side: 9 slots of 32, of which 5 × 32 + 4 × 16 = 224 do work, 77.8 %.
#[test]
fn the_stepper_counts_slots_and_lanes() {
    let mut view = open("thread_stepper", serde_json::json!({"step": 9}));
    let texts = stage().show(&mut *view).texts();
    let wanted = [
        "9 of 9",
        "224 of 288 = 77.8\u{2009}%",
        "1024",
        "24",
        "threads past n",
        "24 past n",
        "block 2: 128 threads = 4 warps",
    ];
    for wanted in wanted {
        assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
    }
    let united = open("thread_stepper", serde_json::json!({"branch": "warp"}));
    assert!(united.finding(Lang::En).contains("7 slots, none for the other side, 100\u{2009}% of the lanes"));
    assert!(united.finding(Lang::Zh).contains("全走 else：7 个槽"));
}

#[test]
fn the_stepper_is_steered_by_keys_alone() {
    let mut view = open("thread_stepper", serde_json::json!({"block": 2, "warp": 3, "step": 4}));
    let mut stage = stage();
    let label = stage.show(&mut *view).place_of("if (i < n)").unwrap();
    stage.click(label, &mut |ui, cx| view.ui(ui, cx));
    stage.press(&mut *view, Key::ArrowRight);
    assert_eq!(param(&*view, "step"), 5);
    stage.press(&mut *view, Key::ArrowDown); // the warp after the last of block 2
    assert_eq!((param(&*view, "block"), param(&*view, "warp")), (3, 0));
    stage.press(&mut *view, Key::Home);
    assert_eq!(param(&*view, "step"), 1);
}

#[test]
fn a_click_looks_into_a_block_and_into_a_warp() {
    let mut view = open("thread_stepper", serde_json::json!({}));
    let mut stage = stage();
    let label = stage.show(&mut *view).place_of("grid: 8 blocks").unwrap();
    let strip = 844.0 - 16.0 - 8.0 - 74.0; // right end of the pictures: margins, slot and lane numbers
    let last_block = egui::pos2(strip - 20.0, label.y);
    stage.click(last_block, &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(param(&*view, "block"), 7);
    let label = stage.show(&mut *view).place_of("block 7: 128 threads = 4 warps").unwrap();
    stage.click(egui::pos2(strip - 20.0, label.y) + vec2(0.0, 1.0), &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(param(&*view, "warp"), 3);
    assert!(view.finding(Lang::En).ends_with("Another 24 lanes have no element and idle along."));
}

/// A place that the launch does not have is refused by name, not moved in silence.
#[test]
fn the_stepper_refuses_blocks_that_do_not_exist() {
    let given = serde_json::json!({"n_elems": 100, "block_threads": 128, "block": 1});
    let error = view::find("thread_stepper").unwrap().open(given.as_object().unwrap()).err().unwrap();
    assert_eq!(error.field(), "block");
    assert!(error.to_string().contains("an integer from 0 to 0"), "{error}");
}

/// Measured on an H200: L2 answers after 276 to 281 cycles of 1980 MHz.
#[test]
fn the_hierarchy_is_walked_by_arrows() {
    let mut view = open("memory_hierarchy", serde_json::json!({"level": "l1"}));
    let mut stage = stage();
    let label = stage.show(&mut *view).place_of("one in each SM").unwrap();
    stage.click(label, &mut |ui, cx| view.ui(ui, cx));
    stage.press(&mut *view, Key::ArrowDown);
    assert_eq!(view.params()["level"], "l2");
    let finding = view.finding(Lang::En);
    assert!(finding.contains("279 cycles") && finding.contains("141\u{2009}ns"), "{finding}");
    stage.press(&mut *view, Key::End);
    assert!(view.finding(Lang::En).contains("roughly 16\u{2009}µs"), "an estimate says so");
}

#[test]
fn every_number_of_the_hierarchy_comes_with_its_source() {
    let table = open("memory_hierarchy", serde_json::json!({})).data();
    assert_eq!(table.rows.len(), 6);
    for row in &table.rows {
        let sources = row.last().unwrap();
        let n_facts = row[1..5].iter().filter(|cell| !cell.is_empty()).count() - usize::from(!row[3].is_empty());
        assert!(sources.matches("; ").count() + 1 >= n_facts, "{row:?}");
        assert!(sources.contains("202"), "a source without a date: {row:?}");
    }
}
