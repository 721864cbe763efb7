//! What comes from outside: packs, traces, other files, links. Good ones open, bad ones are refused with the reason.

use super::{CHAPTER, Desk};
use vramlab_shell::platform::Event;
use vramlab_tests::root;

fn drop_file(desk: &mut Desk, name: &str, bytes: &[u8]) {
    desk.send(Event::File { name: name.to_owned(), bytes: bytes.to_vec() });
}

#[test]
fn a_good_chapter_opens_and_is_in_the_curriculum() {
    let mut desk = Desk::open("/");
    let text = vramlab_lesson::scaffold("40_my_chapter", None).unwrap();
    drop_file(&mut desk, "40_my_chapter.toml", text.as_bytes());
    assert_eq!(desk.said()["route"], "/ch/40_my_chapter", "{}", desk.notes());
    assert!(desk.has("my chapter"));
    desk.assert_finite("a dropped chapter");
}

#[test]
fn a_chapter_with_a_broken_step_opens_and_shows_the_finding() {
    let mut desk = Desk::open("/");
    let text =
        vramlab_lesson::scaffold("40_my_chapter", None).unwrap().replace("kind = \"predict\"", "kind = \"predikt\"");
    drop_file(&mut desk, "40_my_chapter.toml", text.as_bytes());
    assert_eq!(desk.said()["route"], "/ch/40_my_chapter");
    assert!(desk.has("This step could not be read; the rest works"));
    assert!(desk.has("did you mean \"predict\"?"));
}

#[test]
fn a_bad_pack_is_refused_with_its_reason_and_nothing_else_changes() {
    let mut desk = Desk::open(&format!("/ch/{CHAPTER}"));
    let n_before = desk.harness.state().library().chapter_ids().len();
    drop_file(&mut desk, "pack.zip", b"PK\x03\x04 not really");
    assert!(desk.notes().contains("pack.zip"), "{}", desk.notes());
    drop_file(&mut desk, "chapter.toml", b"schema = 9\n");
    assert!(desk.notes().contains("needs version 9"), "{}", desk.notes());
    assert_eq!(desk.harness.state().library().chapter_ids().len(), n_before);
    assert_eq!(desk.said()["route"], format!("/ch/{CHAPTER}"));
}

/// T3, B4: a file that is nothing of ours is called what it is.
#[test]
fn t3_other_files_are_named_and_refused() {
    let mut desk = Desk::open("/");
    for (name, bytes) in
        [("cat.png", &b"\x89PNG\r\n\x1a\n"[..]), ("empty", b""), ("login.html", b"<!doctype html><html>")]
    {
        drop_file(&mut desk, name, bytes);
        assert!(desk.notes().contains(name), "{name}: {}", desk.notes());
    }
    assert_eq!(desk.said()["route"], "/");
}

/// T1: a recording cut short opens with what is whole, and says where it ends.
#[test]
fn t1_a_cut_trace_says_so_on_the_page() {
    let mut desk = Desk::open("/");
    let bytes = std::fs::read(root().join("tests/data/traces/v1-sample.vltrace")).unwrap();
    let whole = vramlab_trace::file::read(&bytes).unwrap();
    drop_file(&mut desk, "cut.vltrace", &bytes[..bytes.len() - 1]);
    let is_known = desk.harness.state().library().experiment(&whole.run.experiment).is_some();
    let wanted = if is_known { "ends early" } else { whole.run.experiment.as_str() };
    assert!(desk.notes().contains(wanted), "{}", desk.notes());
}

/// L1, L9, L10: a folder that is being edited keeps the last good version, and the reader's place.
#[test]
fn l1_a_watched_folder_keeps_the_last_good_chapter() {
    let mut desk = Desk::open("/");
    let good = vramlab_lesson::scaffold("40_mine", None).unwrap();
    let files = |text: &str| Event::Lessons {
        root: "/lessons".to_owned(),
        files: vec![("40_mine/chapter.toml".to_owned(), text.as_bytes().to_vec())],
    };
    desk.send(files(&good));
    assert_eq!(desk.said()["route"], "/ch/40_mine", "{}", desk.notes());
    let title = desk.said()["title"].clone();
    // Half a file, as an editor leaves it for a moment.
    desk.send(files("schema = 1\ntitle = {"));
    assert_eq!(desk.said()["route"], "/ch/40_mine");
    assert_eq!(desk.said()["title"], title, "the last good version stays");
    desk.send(files(&good.replace("谜题\"", "新谜题\"").replace("The puzzle\"", "A new puzzle\"")));
    assert!(desk.has("A new puzzle"));
}

/// L12: what a link asks for outside the range is refused with the range, and the default is shown.
#[test]
fn l12_parameters_of_a_link_out_of_range_are_refused_with_the_range() {
    let step = format!("/ch/{CHAPTER}/step/sectors");
    let id = format!("{CHAPTER}/sectors");
    let figure = |desk: &Desk| desk.said()["figures"][&id].clone();
    // A link with parameters shows the figure; without any it waits for the prediction that it answers.
    let plain = figure(&Desk::open(&format!("{step}?offset_elems=0")));
    let set = figure(&Desk::open(&format!("{step}?stride_elems=8")));
    assert_eq!(set["params"]["stride_elems"], 8, "{set}");
    for bad in ["stride_elems=0", "stride_elems=1e30", "stride_elems=NaN", "stride_elems=-1", "no_such=1"] {
        let desk = Desk::open(&format!("{step}?{bad}"));
        let shown = figure(&desk);
        assert_eq!(shown["params"], plain["params"], "{bad}: the default is shown");
        let why = shown["refused"].as_str().unwrap_or_else(|| panic!("{bad} is not refused: {shown}"));
        assert!(why.contains(bad.split('=').next().unwrap()), "{bad}: {why}");
        assert!(desk.has(why), "{bad}: the page says so");
    }
}

/// B10: an old bookmark leads to the nearest place, with a note, and the address is put right.
#[test]
fn b10_old_bookmarks_lead_to_the_nearest_place() {
    for (link, lands) in [
        ("/ch/02_access_pattern", format!("/ch/{CHAPTER}")),
        (&*format!("/ch/{CHAPTER}/step/gone"), format!("/ch/{CHAPTER}")),
        ("/nowhere/at/all", "/".to_owned()),
    ] {
        let desk = Desk::open(link);
        assert_eq!(desk.said()["route"], lands, "{link}");
        assert_ne!(desk.notes(), "[]", "{link} needs a note");
        assert_eq!(desk.inside.borrow().routes.last(), Some(&lands), "{link}: the address is corrected");
    }
}
