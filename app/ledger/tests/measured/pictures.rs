//! A UNet step and the decoding of its picture beside PyTorch 2.11 on an H200 (`kernels/peers/diffusion_peaks.py`).

use crate::events::{Step, push_free, records};
use serde_json::Value;
use std::collections::HashMap;
use vramlab_ledger::{Attend, Event, Figures, Mark, PictureConfig, PicturePart, Place, Start, Tile, figures, shoot};

const MIB: f64 = 1_048_576.0;

fn config_of(record: &Value) -> PictureConfig {
    let int = |key: &str| record[key].as_u64().unwrap_or(0);
    PictureConfig {
        part: if record["part"] == "unet" { PicturePart::Unet } else { PicturePart::Decoder },
        edge: int("edge"),
        batch: int("b"),
        is_half: record["dtype"] != "fp32",
        attention: match record["attn"].as_str().unwrap_or_default() {
            "sdpa" => Attend::Kernel,
            "rows" => Attend::Rows(int("size")),
            "queries" => Attend::Queries(int("size")),
            _ => Attend::Whole,
        },
        tile: record["tile"].as_u64().map(|edge| Tile { edge, overlap: int("overlap") }),
        is_singly: record["single"] == true,
    }
}

fn inferences() -> Vec<Value> {
    records("diffusion/events").into_iter().filter(|one| one["train"] != true).collect()
}

fn name(one: &Value) -> String {
    let keys = ["part", "edge", "b", "dtype", "attn", "size", "tile", "single"];
    let words = keys.iter().filter(|key| !one[**key].is_null()).map(|key| format!("{key}={}", one[*key]));
    words.collect::<Vec<_>>().join(" ").replace('"', "")
}

/// Every peak within 1 % or 16 MiB, what is left within 1.5 % or 16 MiB, `reserved` within 5 % or 128 MiB.
#[test]
fn every_picture_holds() {
    let start = Start { n_small: 2, n_large: 2, place: Place::Fresh };
    let (mut bad, mut n_exact) = (Vec::new(), 0);
    let all = inferences();
    assert!(all.len() >= 37, "{}", all.len());
    for one in &all {
        let shot = shoot(&config_of(one)).expect("a picture");
        assert_eq!(shot.n_params, one["params"].as_u64().expect("params"));
        let (after_model, steps) = figures(&shot.tape, start, |_, _, _| {});
        let Figures { after_step, peak_step, reserved, .. } = steps[0];
        for (key, ours, share, mib) in [
            ("after_model", after_model, 0.015, 16.0),
            ("peak", peak_step, 0.01, 16.0),
            ("after", after_step, 0.015, 16.0),
            ("reserved", reserved, 0.05, 128.0),
        ] {
            let measured = one[key].as_u64().expect("a figure");
            n_exact += u32::from(ours == measured);
            if (ours as f64 - measured as f64).abs() > (share * measured as f64).max(mib * MIB) {
                bad.push(format!("{}: {key} {ours} against {measured}", name(one)));
            }
        }
    }
    assert!(bad.is_empty(), "{n_exact} exact, {} of {}\n{}", bad.len(), 4 * all.len(), bad.join("\n"));
}

/// Requests and frees between the marks, without what is given back at once.
fn theirs(one: &Value) -> Vec<Step> {
    let events = one["events"].as_array().expect("events");
    let number = |value: &Value| value.as_u64().expect("a number");
    let (mut out, mut live) = (Vec::new(), HashMap::new());
    for (at, event) in events.iter().enumerate() {
        match event[0].as_str().expect("a letter") {
            "a" if events[at + 1][0] == "f" && events[at + 1][2] == event[2] => {}
            "a" => {
                let bytes = number(&event[1]).next_multiple_of(512);
                live.insert(number(&event[2]), bytes);
                out.push(Step::Ask(bytes));
            }
            "f" => {
                if let Some(bytes) = live.remove(&number(&event[2])) {
                    push_free(&mut out, bytes);
                }
            }
            _ => {}
        }
    }
    out
}

fn ours(config: &PictureConfig) -> Vec<Step> {
    let shot = shoot(config).expect("a picture");
    let events = &shot.tape.events;
    let from = events.iter().position(|event| *event == Event::Mark(Mark::StepStart)).expect("a start");
    let until = events.iter().position(|event| *event == Event::Mark(Mark::StepEnd)).expect("an end");
    let bytes = |id: &u32| shot.tape.items[*id as usize].bytes.next_multiple_of(512);
    let mut out = Vec::new();
    for at in from..until {
        match &events[at] {
            Event::Request(id) if events[at + 1] == Event::Free(*id) => {}
            Event::Free(id) if events[at - 1] == Event::Request(*id) => {}
            Event::Request(id) => out.push(Step::Ask(bytes(id))),
            Event::Free(id) => push_free(&mut out, bytes(id)),
            Event::Mark(_) => {}
        }
    }
    out
}

#[test]
fn every_event_of_a_picture_is_foreseen() {
    let mut bad = Vec::new();
    let all = inferences();
    for one in &all {
        let (mine, theirs) = (ours(&config_of(one)), theirs(one));
        let n = theirs.len().min(mine.len());
        let at = (0..n).find(|at| theirs[*at] != mine[*at]).or((theirs.len() != mine.len()).then_some(n));
        if let Some(at) = at {
            let around = |list: &[Step]| format!("{:?}", &list[at.saturating_sub(6)..(at + 6).min(list.len())]);
            bad.push(format!(
                "{}: event {at} of {}\n {}\n {}",
                name(one),
                theirs.len(),
                around(&theirs),
                around(&mine)
            ));
        }
    }
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), all.len(), bad.join("\n"));
}
