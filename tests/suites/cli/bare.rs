//! The bare run and the tour: the program's main job without a display.

use crate::program::{command, vramlab};
use std::fs;

/// What this machine has, the puzzle, a live run, pictures, and how to go on; exit 0.
#[test]
fn without_a_display_the_main_job_is_done() {
    let data = tempfile::tempdir().unwrap();
    let answer: crate::program::Answer = command(data.path()).arg("--json").output().unwrap().into();
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let json = answer.json();
    // 32 lanes, 4 bytes each, every second float: 8 sectors, 256 bytes for 128 (vector 1 of the chapter's brief).
    let puzzle = &json["puzzle"]["answer"];
    assert_eq!((puzzle["sectors"].as_u64(), puzzle["bytes_moved"].as_u64()), (Some(8), Some(256)));
    assert_eq!((puzzle["bytes_used"].as_u64(), puzzle["efficiency"].as_f64()), (Some(128), Some(0.5)));
    let live = &json["live"];
    assert_eq!((live["evidence"].as_str(), live["backend"].as_str()), (Some("live"), Some("cpu")), "{live:#}");
    assert!(live["points"].as_array().is_some_and(|points| points.len() >= 5), "{live:#}");
    // The bundled snapshot: its peak is the README's figure, and nothing is found in it.
    let snapshot = &json["snapshot"];
    assert_eq!(snapshot["peak"]["allocated_bytes"], 1_414_856_704_u64);
    assert_eq!(snapshot["findings"].as_array().map(Vec::len), Some(0), "{snapshot:#}");
    // A training step beside its recording: the peak within 1 %, the reservation within 5 %.
    let fit = &json["fit"];
    assert_eq!(fit["answer"]["fits"], "yes");
    for (key, bound) in [("peak", 0.01), ("reserved", 0.05)] {
        assert!(fit[key]["error"].as_f64().is_some_and(|error| error.abs() < bound), "{key}: {:#}", fit[key]);
    }
    let pictures = json["pictures"].as_array().unwrap();
    assert_eq!(pictures.len(), 3);
    for picture in pictures {
        let path = picture["path"].as_str().unwrap_or_else(|| panic!("{picture:#}"));
        assert!(path.starts_with(data.path().to_str().unwrap()), "{path}");
        assert!(fs::read(path).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"), "{path}");
    }
}

#[test]
fn the_tour_walks_every_step_in_both_languages() {
    let steps = vramlab(&["--json", "list", "chapters"]).json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["id"] == "02_access_patterns")
        .and_then(|item| item["steps"].as_u64())
        .unwrap();
    for lang in ["zh", "en"] {
        let answer = vramlab(&["tour", "02", "--lang", lang]);
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        for at in 1..=steps {
            assert!(answer.out.contains(&format!("── {at}/{steps} · ")), "step {at} of {steps} in {lang}");
        }
        // The first question's answer, from the model.
        assert!(answer.out.contains("256 B"), "{lang}");
    }
}

#[test]
fn the_table_has_every_processor_experiment_with_its_error() {
    let rows = vramlab(&["__table", "--json"]).json();
    let experiments = vramlab(&["--json", "list", "experiments"]).json();
    for item in experiments["items"].as_array().unwrap().iter().filter(|item| item["backend"] == "cpu") {
        let is_own = |row: &&serde_json::Value| row["experiment"] == item["id"] && row["evidence"] == "live";
        let own: Vec<_> = rows["rows"].as_array().unwrap().iter().filter(is_own).collect();
        assert_eq!(own.len(), 3, "{}", item["id"]);
        assert!(own.iter().all(|row| row["predicted"].is_number() && row["measured"].is_number()), "{own:#?}");
    }
}

/// Chapter 12 ends by naming chapters 03, 04 and 14; the outline has them as planned.
#[test]
fn a_tour_says_which_chapters_are_still_to_be_written() {
    let items = vramlab(&["--json", "list", "chapters"]).json()["items"].as_array().unwrap().clone();
    let is_planned = |n: &str| {
        items.iter().any(|item| item["id"].as_str().is_some_and(|id| id.starts_with(n)) && item["steps"].is_null())
    };
    let planned: Vec<&str> = ["03", "04", "14"].into_iter().filter(|n| is_planned(n)).collect();
    let tour = vramlab(&["tour", "12", "--lang", "en"]);
    let line = tour.out.lines().find(|line| line.contains("not written yet: chapters"));
    assert_eq!(line.is_some(), !planned.is_empty(), "{}", tour.out);
    assert!(planned.iter().all(|n| line.is_some_and(|line| line.contains(n))), "{line:?}");
    assert!(tour.out.contains("vramlab eval roofline '{"), "a figure names the command of its model");
}
