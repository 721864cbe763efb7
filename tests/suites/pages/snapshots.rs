//! Several snapshots on the page at once, rules of the reader, filters that narrow every figure, and pasted tables.

use super::{Desk, settings};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use vramlab_shell::platform::Event;
use vramlab_shell::settings::ThemeChoice;
use vramlab_tests::root;
use vramlab_units::Lang;

fn file(path: &str) -> Event {
    let bytes = std::fs::read(root().join("tests/data").join(path)).unwrap();
    Event::File { name: path.rsplit('/').next().unwrap().to_owned(), bytes }
}

fn recording(name: &str) -> Event {
    file(&format!("snapshots/{name}.pickle.gz"))
}

fn desk() -> Desk {
    Desk::with("/", &settings(Lang::En, ThemeChoice::Light), [1440.0, 8_000.0])
}

fn together(names: &[&str]) -> Desk {
    let mut desk = desk();
    desk.send(Event::Several(names.len()));
    for name in names {
        desk.send(recording(name));
    }
    desk.harness.run_ok();
    desk
}

/// Two runs of one loop under two settings: the same requests, and the README's peaks.
#[test]
fn two_that_come_together_are_compared() {
    let mut desk = together(&["kv_cat", "kv_cat_expandable"]);
    let found = desk.said()["snapshot"].clone();
    assert_eq!(found["name"], "kv_cat.pickle.gz", "{found}");
    assert_eq!(found["beside"], serde_json::json!(["kv_cat_expandable.pickle.gz"]));
    let compared = &found["together"];
    assert_eq!((&compared["first"], &compared["second"]), (&1_314_193_408_u64.into(), &1_239_220_224_u64.into()));
    assert_eq!(compared["gained"], 1_239_220_224_i64 - 1_314_193_408);
    assert!(desk.has("as many requests in the recording, but 66\u{2009}MiB against 0\u{2009}B stood from before it."));
    assert!(desk.has("expandable_segments: False → True"));
    desk.click("Swap");
    assert_eq!(desk.said()["snapshot"]["together"]["first"], 1_239_220_224_u64);
    desk.click("At: each one's end");
    assert_eq!(desk.said()["snapshot"]["together"]["first"], 1_101_529_088_u64);
    // The other one is looked at.
    desk.click("kv_cat_expandable.pickle.gz · peak 1.15\u{2009}GiB");
    assert_eq!(desk.said()["snapshot"]["n_events"], 14_498);
    desk.click("Close");
    let found = desk.said()["snapshot"].clone();
    assert_eq!((&found["name"], &found["together"]), (&"kv_cat.pickle.gz".into(), &serde_json::Value::Null));
    desk.assert_finite("two snapshots");
}

/// Ranks: the fullest against the mean, and a press on a lane shows it.
#[test]
fn ranks_stand_side_by_side_with_their_imbalance() {
    let mut desk = together(&["kv_cat", "kv_cat_expandable", "kv_cat_round4"]);
    let found = desk.said()["snapshot"]["together"].clone();
    let peaks = [1_314_193_408_u64, 1_239_220_224, 1_510_408_192];
    assert_eq!(found["peaks"], serde_json::json!(peaks));
    let mean = peaks.iter().sum::<u64>() as f64 / 3.0;
    assert!((found["imbalance"].as_f64().unwrap() - (1_510_408_192.0 / mean - 1.0)).abs() < 1e-9, "{found}");
    assert!(desk.has("kv_cat_round4.pickle.gz is 11.5\u{2009}% above the mean"), "{found}");
    assert!(desk.has("the allocator's settings differ ("));
    desk.harness.get_by_label_contains("kv_cat_round4.pickle.gz: peak").click();
    desk.harness.run_ok();
    assert_eq!(desk.said()["snapshot"]["n_events"], 14_539);
    desk.click("Together: Compare two");
    assert!(desk.said()["snapshot"]["together"]["gained"].is_i64());
}

/// Other programs have no mean: refused, with what differs.
#[test]
fn unrelated_snapshots_are_not_put_side_by_side() {
    let mut desk = together(&["mlp_adam", "resnet50_b32", "kv_cat_round4"]);
    let found = desk.said()["snapshot"]["together"].clone();
    let why = found["refused"].as_str().unwrap_or_else(|| panic!("{found}"));
    assert!(why.contains("common") && why.contains("train.py"), "{why}");
    assert!(desk.has("mlp_adam.pickle.gz and resnet50_b32.pickle.gz are not ranks of one job"));
    assert!(!desk.has("above the mean"));
    desk.click("Together: Compare two");
    assert!(desk.said()["snapshot"]["together"]["gained"].is_i64());
}

/// A damaged file among several is told; the others stand.
#[test]
fn a_damaged_one_among_several_is_told() {
    let mut desk = desk();
    desk.send(Event::Several(2));
    desk.send(recording("mlp_adam"));
    let Event::File { bytes, .. } = file("files/mlp_adam.pickle") else { unreachable!() };
    desk.send(Event::File { name: "rank1.pickle".to_owned(), bytes: bytes[..5000].to_vec() });
    desk.harness.run_ok();
    assert_eq!(desk.said()["snapshot"]["n_events"], 413);
    assert!(desk.has("the file ends at byte 5000"), "{}", desk.notes());
}

/// Examples are named by an address, also two of them.
#[test]
fn an_address_opens_two_examples() {
    let desk = Desk::open("/snapshot?file=mlp_adam,kv_cat&show=ranks");
    let said = desk.said();
    assert!(said["snapshot"]["together"]["refused"].is_string(), "{}", said["snapshot"]);
    assert_eq!(said["route"], "/snapshot?file=mlp_adam,kv_cat&show=ranks");
}

/// What is typed narrows the timeline, the icicle and the log: of the MLP's blocks, those of the optimizer.
#[test]
fn a_filter_narrows_every_figure() {
    let mut desk = desk();
    desk.send(recording("mlp_adam"));
    desk.harness.run_ok();
    desk.harness.get_by_label("function or file in the stack").focus();
    desk.harness.run_ok();
    desk.type_text("adam.py");
    let parameters = 4 * (4096 * 4096 + 4096) * 4_u64;
    let narrowed = desk.said()["snapshot"]["narrowed_at_cursor"].as_u64().unwrap();
    // Two moments for each parameter, a step counter for each tensor, and the temporaries of the step at its peak.
    assert!(narrowed >= 2 * parameters && narrowed < 1_414_856_704, "{narrowed}");
    assert!(desk.has("of the rest the figure keeps the thin line"));
    desk.harness.get_by_label("at least, e.g. 1 MiB").focus();
    desk.harness.run_ok();
    desk.type_text("5 parsec");
    assert!(desk.has("\"5 parsec\" is no size"));
    desk.click("Clear the filters");
    assert!(desk.said()["snapshot"]["narrowed_at_cursor"].is_null());
    assert!(desk.has("413 events of 413"));
}

/// Rules are judged as they are typed: slips have their place, what is right changes the roles.
#[test]
fn the_readers_rules_say_what_a_block_is() {
    let mut desk = desk();
    desk.send(recording("kv_cat"));
    desk.harness.run_ok();
    assert!(desk.has("KV cache 1.16\u{2009}GiB"));
    desk.click("Your own rules…");
    desk.harness.get_by_label("Rules for roles").focus();
    desk.harness.run_ok();
    desk.type_text("train.py:79 = activations of mine");
    assert!(desk.has("line 1, column 15: \"activations of mine\" is no role"), "{:?}", desk.notes());
    let mut desk = self::desk();
    desk.send(recording("kv_cat"));
    desk.harness.run_ok();
    desk.click("Your own rules…");
    desk.harness.get_by_label("Rules for roles").focus();
    desk.harness.run_ok();
    desk.type_text("/train\\.py:\\d+ kv/ = activation");
    assert!(desk.has("activations 1.16\u{2009}GiB"), "{:?}", desk.notes());
}

fn message(name: &str) -> String {
    let text = std::fs::read_to_string(root().join(format!("tests/data/snapshots/{name}.json"))).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    facts["message"].as_str().unwrap().to_owned()
}

/// An error that is opened as a text or pasted is read where it comes: cause, what to do, and every number of it.
#[test]
fn an_error_is_read_in_place() {
    let text = message("fragmentation");
    let mut dropped = desk();
    dropped.send(Event::File { name: "oom.txt".to_owned(), bytes: text.clone().into_bytes() });
    dropped.harness.run_ok();
    let mut pasted = Desk::with("/snapshot", &settings(Lang::En, ThemeChoice::Light), [1440.0, 8_000.0]);
    pasted.harness.event(egui::Event::Paste(format!("Traceback …\ntorch.OutOfMemoryError: {text}\n")));
    pasted.harness.run_ok();
    for mut desk in [dropped, pasted] {
        assert_eq!(desk.said()["route"], "/snapshot", "{}", desk.notes());
        for (name, size) in [
            ("this request", 64_u64 << 20),
            ("allowed to this process", 640 << 20),
            ("allocated by PyTorch", 180 << 20),
            ("reserved and free", 420 << 20),
        ] {
            assert!(desk.has(&format!("{name}: {size}\u{2009}B")), "{name}");
        }
        for name in ["the whole card: ", "free on the device: ", "held by this process: "] {
            assert!(desk.has(name), "{name}");
        }
        let said = desk.said()["snapshot"]["summary"].as_str().unwrap().to_owned();
        assert!(said.contains("fragment"), "the recording was made to fragment: {said}");
        assert!(said.contains("set_per_process_memory_fraction"), "{said}");
        desk.click("Chapter 18: this error, word by word");
        assert_eq!(desk.said()["route"], "/ch/18_debugging/step/message");
    }
}

/// What is pasted while something is typed stays where it was typed.
#[test]
fn a_paste_into_a_field_is_not_taken() {
    let mut desk = desk();
    desk.send(recording("mlp_adam"));
    desk.harness.run_ok();
    desk.harness.get_by_label("function or file in the stack").focus();
    desk.harness.run_ok();
    desk.harness.event(egui::Event::Paste("adam.py".to_owned()));
    desk.harness.run_ok();
    assert!(desk.said()["snapshot"]["summary"].is_null());
    assert!(desk.said()["snapshot"]["narrowed_at_cursor"].is_u64());
}

/// The limit that the error names makes a guess certain: typed, or taken from the error that is pasted beside it.
#[test]
fn the_limit_is_a_field_and_comes_from_the_error() {
    let open = || {
        let mut desk = Desk::open("/snapshot?file=oom");
        desk.harness.run_ok();
        assert!(desk.has("the limit is not in the file"), "{}", desk.said()["snapshot"]);
        desk
    };
    let mut typed = open();
    typed.harness.get_by_label("Limit of this process").focus();
    typed.harness.run_ok();
    typed.type_text("3 parsec");
    assert!(typed.has("\"3 parsec\" is no size"));
    typed.click("Remove");
    typed.harness.get_by_label("Limit of this process").focus();
    typed.harness.run_ok();
    typed.type_text("3 GiB");
    let mut pasted = open();
    pasted.harness.event(egui::Event::Paste(message("oom")));
    for desk in [&mut typed, &mut pasted] {
        desk.harness.run_ok();
        assert!(!desk.has("the limit is not in the file"));
        assert!(desk.has("(under 3\u{2009}GiB)"), "{}", desk.said()["snapshot"]);
        assert_eq!(desk.said()["route"], "/snapshot?file=oom&limit=3221225472");
    }
    let linked = Desk::open("/snapshot?file=oom&limit=3221225472");
    assert!(linked.has("(under 3\u{2009}GiB)"));
}

/// PyTorch's own table as a file, and its counters as JSON: each has its place on the page.
#[test]
fn a_memory_summary_is_explained_row_by_row() {
    for path in ["files/memory_summary.txt", "snapshots/mlp_adam.json"] {
        let mut desk = desk();
        desk.send(file(path));
        desk.harness.run_ok();
        let said = desk.said();
        assert_eq!(said["route"], "/snapshot", "{path}: {}", desk.notes());
        // 1,453,326,336 B reserved, 877,854,720 B allocated: the README.
        let words = said["snapshot"]["summary"].as_str().unwrap_or_else(|| panic!("{path}: {said}")).to_owned();
        assert!(words.contains("1.35\u{2009}GiB reserved, 837\u{2009}MiB in use"), "{path}: {words}");
        assert!(desk.has("_record_memory_history"), "the way to a snapshot is still there");
    }
}

/// A file that is large for where it is opened: its events are counted, a part is chosen, and the page says so.
#[test]
fn a_large_file_is_asked_about_first() {
    let mut desk = desk();
    desk.inside.borrow_mut().asks_above = Some(100_000);
    // 90 KB of gzip: it unpacks to more than 1.2 MB.
    desk.send(recording("kv_cat"));
    desk.harness.run_ok();
    let found = desk.said()["snapshot"].clone();
    assert_eq!((&found["state"], &found["n_events"]), (&"asking".into(), &14_941.into()), "{found}");
    assert!(desk.has("kv_cat.pickle.gz has 1.21\u{2009}MiB and 14941 events"), "{}", desk.notes());
    let slider = desk.harness.get_by_label_contains("From event");
    slider.focus();
    desk.harness.run_ok();
    for _ in 0..3 {
        desk.press(Key::ArrowRight);
    }
    desk.click("Read this part");
    desk.harness.run_ok();
    let found = desk.said()["snapshot"].clone();
    assert_eq!(found["state"], "open", "{found}");
    let n = found["n_events"].as_u64().unwrap();
    assert!(n < 14_941 && n > 0, "{found}");
    assert!(desk.has("of 14941 were read"));
    // Small files are read as ever.
    desk.send(recording("mlp_adam"));
    desk.harness.run_ok();
    assert_eq!(desk.said()["snapshot"]["n_events"], 413);
}
