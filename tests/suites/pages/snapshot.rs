//! The snapshot page: real recordings come in by the door of dropped files, and the page says what their README says.

use super::{Desk, settings};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use std::time::Instant;
use vramlab_shell::platform::Event;
use vramlab_shell::settings::ThemeChoice;
use vramlab_tests::root;
use vramlab_units::Lang;

#[path = "../../../app/snapshot/tests/common/mod.rs"]
mod generated;
#[expect(dead_code, reason = "what else it tells is for the tests beside it")]
#[path = "../../../app/snapshot/tests/maker/mod.rs"]
mod maker;
#[path = "../../../app/snapshot/tests/common/pickled.rs"]
mod pickled;

fn recording(name: &str) -> Vec<u8> {
    std::fs::read(root().join(format!("tests/data/snapshots/{name}.pickle.gz"))).unwrap()
}

fn dropped(name: &str) -> Desk {
    let mut desk = Desk::with("/", &settings(Lang::En, ThemeChoice::Light), [1440.0, 6_000.0]);
    desk.send(Event::File { name: format!("{name}.pickle.gz"), bytes: recording(name) });
    desk.harness.run_ok();
    desk
}

/// The recordings' own README: events, peaks, and what is allocated and reserved at the end, bytes.
const README: [(&str, u64, u64, u64, u64); 5] = [
    ("mlp_adam", 413, 1_414_856_704, 1_453_326_336, 877_854_720),
    ("resnet50_b32", 4_639, 3_077_896_704, 3_684_696_064, 295_540_736),
    ("kv_cat", 14_941, 1_314_193_408, 41_213_231_104, 1_176_502_272),
    ("kv_cat_expandable", 14_498, 1_239_220_224, 1_793_064_960, 1_101_529_088),
    ("kv_cat_round4", 14_539, 1_510_408_192, 8_522_825_728, 1_342_177_280),
];

#[test]
fn five_recordings_say_what_their_readme_says() {
    for (name, n_events, peak, reserved, at_end) in README {
        let mut desk = dropped(name);
        let said = desk.said();
        assert_eq!(said["route"], "/snapshot", "{name}: {}", desk.notes());
        let found = &said["snapshot"];
        assert_eq!(found["state"], "open", "{name}: {found}");
        assert_eq!(found["n_events"], n_events, "{name}");
        assert_eq!((&found["peak_allocated"], &found["peak_reserved"]), (&peak.into(), &reserved.into()), "{name}");
        assert_eq!(found["in_use_at_cursor"], peak, "{name} opens at its peak");
        focus(&mut desk);
        desk.press(Key::End);
        let found = desk.said()["snapshot"].clone();
        assert_eq!((&found["in_use_at_cursor"], &found["reserved_at_cursor"]), (&at_end.into(), &reserved.into()));
        desk.assert_finite(name);
    }
}

/// Puts the keyboard on the timeline.
fn focus(desk: &mut Desk) {
    desk.harness.get_by_label_contains("Memory over time. ").focus();
    desk.harness.run_ok();
}

/// The loop that grows by concatenation: another setting holds a fraction, as the recording made with it says.
#[test]
fn the_answer_stands_on_top() {
    let desk = dropped("kv_cat");
    for text in ["peak allocated: 1314193408\u{2009}B", "peak reserved: 41213231104\u{2009}B", "events: 14,941"] {
        assert!(desk.has(text), "{text}");
    }
    let what_if = desk.said()["snapshot"]["what_if"].clone();
    let reserved = |settings: &str| what_if[settings].as_u64().unwrap_or_else(|| panic!("{settings}: {what_if}"));
    assert!(what_if[""].is_null(), "it was recorded with the defaults: {what_if}");
    assert!(reserved("expandable_segments:True") < 2_000_000_000, "{what_if}");
    assert!(reserved("roundup_power2_divisions:4") < 9_000_000_000, "{what_if}");
    assert!(desk.has("4 blocks, 66\u{2009}MiB in all, stand from before the recording"));
}

#[test]
fn the_keyboard_moves_the_cursor_and_zooms() {
    let mut desk = dropped("mlp_adam");
    let cursor = |desk: &Desk| desk.said()["snapshot"]["cursor"].as_u64().unwrap();
    let peak = cursor(&desk);
    focus(&mut desk);
    desk.press(Key::ArrowRight);
    assert_eq!(cursor(&desk), peak + 1);
    assert_eq!(desk.said()["route"], format!("/snapshot?file=mlp_adam&cursor={}", peak + 1));
    desk.press_with(Modifiers::SHIFT, Key::ArrowLeft);
    assert_eq!(cursor(&desk), peak + 1 - 413 / 20);
    desk.press(Key::Plus);
    let window = desk.said()["snapshot"]["window"].clone();
    assert_eq!(window[1].as_u64().unwrap() - window[0].as_u64().unwrap(), 207);
    desk.press(Key::Num0);
    assert_eq!(desk.said()["snapshot"]["window"], serde_json::json!([0, 413]));
    desk.click("To the peak");
    assert_eq!(cursor(&desk), peak);
}

/// 148 of the 413 events are requests; 36 of those ask for 64 MiB and more.
#[test]
fn the_log_is_narrowed_by_kind_size_and_stack() {
    let mut desk = dropped("mlp_adam");
    assert!(desk.has("413 events of 413"));
    desk.click("Events: requests");
    assert!(desk.has("148 events of 413"));
    desk.click("Events: all");
    desk.harness.get_by_label("function or file in the stack").focus();
    desk.harness.run_ok();
    desk.type_text("no_such_function");
    assert!(desk.has("no event passes the filters"));
}

#[test]
fn an_address_opens_the_example_where_it_says() {
    let desk = Desk::open("/snapshot?file=mlp_adam&colour=site&cursor=42&window=10,90");
    let said = desk.said();
    assert_eq!((&said["snapshot"]["cursor"], &said["snapshot"]["window"]), (&42.into(), &serde_json::json!([10, 90])));
    let mut far = Desk::open("/snapshot?file=mlp_adam&cursor=999999&window=-5,1e30&colour=none");
    assert_eq!(far.said()["snapshot"]["cursor"], 413);
    far.click("Close");
    assert_eq!(far.said()["snapshot"]["state"], "empty");
    assert_eq!(far.said()["route"], "/snapshot");
}

#[test]
fn without_a_file_the_page_teaches_how_to_record_one() {
    let mut desk = Desk::open("/snapshot");
    for text in ["_record_memory_history", "_dump_snapshot", "uploaded nowhere"] {
        assert!(desk.has(text), "{text}");
    }
    desk.click("training: four linear layers, Adam, three steps");
    assert_eq!(desk.said()["snapshot"]["n_events"], 413);
}

/// What is damaged says why and where; what was open before is gone only then.
#[test]
fn a_damaged_snapshot_says_what_is_wrong() {
    let whole = std::fs::read(root().join("tests/data/files/mlp_adam.pickle")).unwrap();
    let gz = recording("mlp_adam");
    for (name, bytes) in [("cut.pickle", &whole[..whole.len() / 2]), ("cut.pickle.gz", &gz[..gz.len() - 9])] {
        let mut desk = Desk::open("/");
        desk.send(Event::File { name: name.to_owned(), bytes: bytes.to_vec() });
        desk.harness.run_ok();
        let found = desk.said()["snapshot"].clone();
        assert_eq!(found["state"], "failed", "{name}: {found}");
        assert!(desk.has(found["why"].as_str().unwrap()), "{found}");
        assert!(desk.has("_record_memory_history"));
    }
}

/// What a frame may take of the processor, ms.
const GOAL_MS: f64 = 8.0;

/// A million events (in a release build): the whole page at rest, with the cursor moving, and with the window changing. Once
/// with a block at a time, once with thousands held in hundreds of segments. It prints processor time, tessellation
/// included; in a release build the goal is held, with room for a machine that does other things.
#[test]
fn a_frame_over_very_many_events() {
    let n_events = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    frames_over("one block at a time", generated::many_events(n_events));
    let plan = maker::Plan {
        seed: 7,
        settings: String::new(),
        n_requests: n_events / 3,
        n_live: 4_000,
        n_streams: 1,
        n_graphs: 0,
        empties: 0,
        capacity: 1 << 40,
        has_stacks: false,
        has_pools: false,
    };
    frames_over("thousands of blocks at once", pickled::pickled(&maker::Maker::make(&plan).snapshot));
}

#[expect(clippy::print_stdout, reason = "the times are what this measures")]
fn frames_over(what: &str, bytes: Vec<u8>) {
    let mut desk = Desk::with("/", &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    let start = Instant::now();
    desk.send(Event::File { name: "many.pickle".to_owned(), bytes });
    desk.harness.run_ok();
    let opened = start.elapsed();
    let found = desk.said()["snapshot"].clone();
    assert_eq!(found["state"], "open", "{found}");
    println!("{what}, {} events: open after {:.2} s", found["n_events"], opened.as_secs_f64());
    frames(&mut desk, "at rest", None);
    focus(&mut desk);
    frames(&mut desk, "the cursor moves", Some(Key::ArrowLeft));
    desk.press(Key::Plus);
    frames(&mut desk, "the window moves", Some(Key::A));
}

/// Time that this thread had a core, where the system tells it; else the time that passed.
fn processor_ms(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ns.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |ns| ns / 1e6)
}

/// Sixty frames, with a key pressed in each.
#[expect(clippy::print_stdout, reason = "the times are what this measures")]
fn frames(desk: &mut Desk, what: &str, key: Option<Key>) {
    const FRAMES: u32 = 60;
    let start = Instant::now();
    let before = processor_ms(start);
    for _ in 0..FRAMES {
        key.iter().for_each(|key| desk.harness.key_press(*key));
        desk.harness.step();
        let shapes = desk.harness.output().shapes.clone();
        assert!(!desk.harness.ctx.tessellate(shapes, 1.0).is_empty());
    }
    let ms = (processor_ms(start) - before) / f64::from(FRAMES);
    println!("  {what}: a frame takes {ms:.2} ms of the processor (goal {GOAL_MS} ms)");
    let most = if cfg!(debug_assertions) { 400.0 } else { 2.0 * GOAL_MS };
    assert!(ms < most, "{what}: a frame takes {ms:.1} ms");
}

/// Phases are steps of their own: Page Down goes to the end of the next, a press on one enlarges it; every block is
/// counted; the strip below pans.
#[test]
fn phases_are_walked_and_enlarged() {
    let mut desk = dropped("mlp_adam");
    // 148 requests, none from before: the README.
    assert!(desk.has("148 blocks are used in this window"), "{}", desk.said()["snapshot"]["drawn"]);
    focus(&mut desk);
    desk.press(Key::Home);
    let mut ends = Vec::new();
    for _ in 0..3 {
        desk.press(Key::PageDown);
        ends.push(desk.said()["snapshot"]["cursor"].as_u64().unwrap());
    }
    assert!(ends.is_sorted() && ends[0] > 0 && ends[2] > ends[0], "{ends:?}");
    desk.press(Key::PageUp);
    assert_eq!(desk.said()["snapshot"]["cursor"], ends[1]);
    // The optimizer works at the peak, and its phase stands above the plot.
    desk.click("To the peak");
    let rect = desk.harness.get_by_label_contains("Memory over time. ").rect();
    let peak = desk.said()["snapshot"]["cursor"].as_u64().unwrap();
    let plot = (rect.left() + 64.0, rect.right() - 4.0);
    let at = egui::pos2(plot.0 + (plot.1 - plot.0) * peak as f32 / 413.0, rect.top() + 8.0);
    desk.harness.hover_at(at);
    desk.harness.run_ok();
    desk.harness.drag_at(at);
    desk.harness.drop_at(at);
    desk.harness.run_ok();
    let window = desk.said()["snapshot"]["window"].clone();
    let (from, until) = (window[0].as_u64().unwrap(), window[1].as_u64().unwrap());
    assert!(until - from < 413 && from < peak && peak <= until, "{window}");
    desk.harness.get_by_label("The whole recording; drag the window to pan").focus();
    desk.harness.run_ok();
    desk.press(Key::ArrowLeft);
    let panned = desk.said()["snapshot"]["window"].clone();
    assert!(panned[0].as_u64().unwrap() < from, "{window} {panned}");
    assert_eq!(panned[1].as_u64().unwrap() - panned[0].as_u64().unwrap(), until - from);
}

/// The wheel belongs to the page until the figure has the focus; then it zooms around the pointer.
#[test]
fn the_wheel_zooms_once_the_figure_has_the_focus() {
    let mut desk = dropped("mlp_adam");
    let rect = desk.harness.get_by_label_contains("Memory over time. ").rect();
    let wheel = |desk: &mut Desk| {
        desk.harness.hover_at(rect.center());
        desk.harness.run_ok();
        desk.harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, 120.0),
            source: egui::MouseWheelSource::Wheel,
            phase: egui::TouchPhase::Move,
            modifiers: egui::Modifiers::NONE,
        });
        desk.harness.run_steps(30);
        let window = desk.said()["snapshot"]["window"].clone();
        window[1].as_u64().unwrap() - window[0].as_u64().unwrap()
    };
    assert_eq!(wheel(&mut desk), 413, "without the focus the page scrolls");
    focus(&mut desk);
    assert!(wheel(&mut desk) < 413, "with it the figure zooms");
}

/// Dragging over a part shows it, a double click all; resting on the area tells whose block it is and where it came from.
#[test]
fn the_pointer_zooms_and_tells() {
    let mut desk = dropped("mlp_adam");
    let rect = desk.harness.get_by_label_contains("Memory over time. ").rect();
    let at = |share: f32| egui::pos2(rect.left() + rect.width() * share, rect.bottom() - rect.height() * 0.2);
    desk.harness.hover_at(at(0.5));
    desk.harness.run_steps(60);
    for text in ["optimizer state: ", "torch/optim/adam.py", "events "] {
        assert!(desk.has(text), "{text}");
    }
    desk.harness.drag_at(at(0.4));
    desk.harness.run_ok();
    desk.harness.hover_at(at(0.7));
    desk.harness.run_ok();
    desk.harness.drop_at(at(0.7));
    desk.harness.run_ok();
    let window = desk.said()["snapshot"]["window"].clone();
    let (from, until) = (window[0].as_u64().unwrap(), window[1].as_u64().unwrap());
    assert!((110..160).contains(&from) && (260..300).contains(&until), "{window}");
    desk.click("Show all");
    assert_eq!(desk.said()["snapshot"]["window"], serde_json::json!([0, 413]));
}
