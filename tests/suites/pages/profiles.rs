//! The page of a recorded run: dropped, looked at, reconciled with a snapshot of the same run.

use super::Desk;
use vramlab_shell::platform::Event;
use vramlab_tests::root;

fn arrive(desk: &mut Desk, name: &str, bytes: &[u8]) {
    let n_bytes = bytes.len() as u64;
    desk.send(Event::Arrived { name: name.to_owned(), path: None, bytes: bytes.to_vec(), n_bytes });
    desk.harness.run_steps(6);
}

fn bytes(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).unwrap()
}

/// Under any name, packed: the run opens, and its snapshot, opened after it, is reconciled with it.
#[test]
fn a_dropped_run_opens_and_its_snapshot_is_reconciled() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "run", &bytes("assets/profiles/gpt_training.json.gz"));
    assert_eq!((desk.said()["route"].as_str(), desk.notes().as_str()), (Some("/profile"), "[]"));
    assert!(
        desk.has("GPU peak: 3.82\u{2009}GiB") && desk.has("Memory over time"),
        "the report and the figure are there"
    );
    assert!(!desk.has("CUDA context"), "nothing is reconciled without a snapshot");
    arrive(&mut desk, "of_it.pickle.gz", &bytes("assets/profiles/gpt_training.pickle.gz"));
    assert_eq!(desk.said()["route"], "/snapshot");
    desk.press_with(egui::Modifiers::ALT, egui::Key::ArrowLeft);
    desk.harness.run_steps(6);
    assert_eq!(desk.said()["route"], "/profile");
    assert!(desk.has("CUDA context 530\u{2009}MiB") && desk.has("CUPTI saw 56"), "the parts are told");
}

/// A snapshot of another run is no fault of the reader's: the page says which figures contradict each other.
#[test]
fn a_snapshot_of_another_run_is_told() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "other.pickle.gz", &bytes("assets/snapshots/oom.pickle.gz"));
    arrive(&mut desk, "run.json.gz", &bytes("assets/profiles/gpt_training.json.gz"));
    assert!(desk.has("it is of another run"), "the contradiction is named");
}

#[test]
fn the_example_has_an_address_and_brings_its_snapshot() {
    let mut desk = Desk::open("/profile");
    desk.click("Look at one: a small GPT that trains");
    desk.harness.run_steps(10);
    assert_eq!(desk.said()["route"], "/profile?file=gpt_training");
    assert!(desk.has("libraries' own 128\u{2009}MiB"), "the bar of the reconciliation is there");
}

#[test]
fn a_damaged_run_says_what_is_wrong() {
    let mut desk = Desk::open("/");
    let text = br#"{"vramlab_profile": 1, "samples": {"t_us": [1, 2], "used": [1]}}"#;
    arrive(&mut desk, "run.json", text);
    assert!(desk.has("samples.used has 1 values where there are 2"));
    arrive(&mut desk, "new.json", br#"{"vramlab_profile": 9}"#);
    assert!(desk.has("this profile has version 9"));
}
