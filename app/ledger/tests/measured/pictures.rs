//! A UNet step and the decoding of its picture beside PyTorch 2.11 on an H200 (`kernels/peers/diffusion_peaks.py`).

use crate::events::{Step, push_free, records};
use serde_json::Value;
use std::collections::HashMap;
use vramlab_ledger::{
    Attend, Event, Figures, Mark, PictureConfig, PicturePart, Place, Shot, Start, Tile, figures, shoot, train_picture,
};

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

/// Requests and frees in order, without what is given back at once: cuDNN's workspaces depend on which of its kernels it takes, and
/// so does what is alive only around them.
fn steps(events: impl Iterator<Item = (u64, Option<u64>)>) -> Vec<Step> {
    let mut out: Vec<(u64, u64, bool)> = Vec::new();
    let mut live = HashMap::new();
    for (id, request) in events {
        match request {
            Some(bytes) => {
                let bytes = bytes.next_multiple_of(512);
                live.insert(id, bytes);
                out.push((id, bytes, true));
            }
            None if out.last().is_some_and(|last| last.0 == id && last.2) => {
                live.remove(&id);
                out.pop();
            }
            None => out.extend(live.remove(&id).map(|bytes| (id, bytes, false))),
        }
    }
    let mut told = Vec::new();
    for (_, bytes, is_request) in out {
        if is_request { told.push(Step::Ask(bytes)) } else { push_free(&mut told, bytes) }
    }
    told
}

fn theirs(one: &Value) -> Vec<Step> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let events = one["events"].as_array().expect("events").iter();
    steps(events.filter_map(|event| match event[0].as_str()? {
        "a" => Some((number(&event[2]), Some(number(&event[1])))),
        "f" => Some((number(&event[2]), None)),
        _ => None,
    }))
}

fn ours(shot: &Shot) -> Vec<Step> {
    let events = &shot.tape.events;
    let from = events.iter().position(|event| *event == Event::Mark(Mark::StepStart)).expect("a start");
    let until = events.iter().rposition(|event| *event == Event::Mark(Mark::StepEnd)).expect("an end");
    steps(events[from..until].iter().filter_map(|event| match event {
        Event::Request(id) => Some((u64::from(*id), Some(shot.tape.items[*id as usize].bytes))),
        Event::Free(id) => Some((u64::from(*id), None)),
        Event::Mark(_) => None,
    }))
}

#[track_caller]
fn check_events(all: &[Value], shoot: impl Fn(&Value) -> Shot) {
    let mut bad = Vec::new();
    for one in all {
        let (mine, theirs) = (ours(&shoot(one)), theirs(one));
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

#[test]
fn every_event_of_a_picture_is_foreseen() {
    check_events(&inferences(), |one| shoot(&config_of(one)).expect("a picture"));
}

fn trainings() -> Vec<Value> {
    records("diffusion/events").into_iter().filter(|one| one["train"] == true).collect()
}

fn trained(one: &Value) -> Shot {
    train_picture(one["b"].as_u64().expect("b"), one["edge"].as_u64().expect("edge")).expect("a step")
}

#[test]
fn every_event_of_a_unet_step_is_foreseen() {
    check_events(&trainings(), trained);
}

/// The bands of a training step.
#[test]
fn every_unet_step_holds() {
    let all = trainings();
    assert_eq!(all.len(), 3);
    let mut bad = Vec::new();
    for one in &all {
        let shot = trained(one);
        let (_, steps) = figures(&shot.tape, Start::default(), |_, _, _| {});
        for (step, ours) in steps.iter().enumerate() {
            for (key, ours, share, mib) in [
                ("after_forward", ours.after_forward, 0.01, 16.0),
                ("peak_forward", ours.peak_forward, 0.01, 16.0),
                ("after_backward", ours.after_backward, 0.015, 16.0),
                ("peak_backward", ours.peak_backward, 0.01, 16.0),
                ("after_step", ours.after_step, 0.015, 16.0),
                ("peak_step", ours.peak_step, 0.01, 16.0),
                ("reserved", ours.reserved, 0.05, 128.0),
            ] {
                let measured = one["steps"][step][key].as_u64().expect("a figure");
                if (ours as f64 - measured as f64).abs() > (share * measured as f64).max(mib * MIB) {
                    bad.push(format!("{}: step {step} {key} {ours} against {measured}", name(one)));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
