//! Recorded allocator events beside the tape's: the same requests in the same order, and between two requests the same
//! sizes freed.

use crate::configs::plan_of;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read as _;
use vramlab_ledger::{Event, Mark, Net, Plan, record};

#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Ask(u64),
    /// Sizes in order: which of a burst goes first does not matter.
    Free(Vec<u64>),
    Mark(String),
}

pub fn push_free(out: &mut Vec<Step>, bytes: u64) {
    if let Some(Step::Free(list)) = out.last_mut() {
        list.push(bytes);
        list.sort_unstable();
    } else {
        out.push(Step::Free(vec![bytes]));
    }
}

/// `has_transients`: with what is requested and freed at once. cuDNN's workspaces depend on which of its kernels it takes.
fn measured(events: &[Value], has_transients: bool) -> Vec<Step> {
    // With accumulation a phase is marked once for each micro-batch; the last counts.
    let word = |event: &Value| (event[0] == "m").then(|| event[1].clone());
    let is_last = |at: usize| events[at + 1..].iter().all(|later| word(later) != word(&events[at]));
    let mut out = Vec::new();
    let mut live: HashMap<u64, u64> = HashMap::new();
    let number = |value: &Value| value.as_u64().expect("a number");
    for (at, event) in events.iter().enumerate() {
        match event[0].as_str().expect("a letter") {
            "a" if !has_transients && events[at + 1][0] == "f" && events[at + 1][2] == event[2] => {}
            "a" => {
                // As the allocator rounds it: how large a scan's scratch is exactly does not matter.
                let bytes = number(&event[1]).next_multiple_of(512);
                live.insert(number(&event[2]), bytes);
                out.push(Step::Ask(bytes));
            }
            "f" => {
                if let Some(bytes) = live.remove(&number(&event[2])) {
                    push_free(&mut out, bytes);
                }
            }
            "m" if event[1] == "zero1" => {
                out.push(Step::Mark("zero1".to_owned()));
                return out;
            }
            "m" if is_last(at) => out.push(Step::Mark(event[1].as_str().expect("a name").to_owned())),
            _ => {}
        }
    }
    out
}

fn ours(plan: &Plan, has_transients: bool) -> Vec<Step> {
    let run = record(plan).unwrap_or_else(|error| panic!("{error}"));
    let bytes = |id: &u32| run.tape.items[*id as usize].bytes.next_multiple_of(512);
    let mut out: Vec<Step> = Vec::new();
    let mut step = 0;
    let events = &run.tape.events;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Request(id) if !has_transients && events.get(at + 1) == Some(&Event::Free(*id)) => {}
            Event::Free(id) if !has_transients && at > 0 && events[at - 1] == Event::Request(*id) => {}
            Event::Request(id) => out.push(Step::Ask(bytes(id))),
            Event::Free(id) => push_free(&mut out, bytes(id)),
            Event::Mark(Mark::StepStart) if step > 0 => {}
            Event::Mark(mark) => out.push(Step::Mark(match mark {
                Mark::AfterModel | Mark::EmptyCache => "model".to_owned(),
                Mark::StepStart => "inputs".to_owned(),
                Mark::AfterForward => format!("forward{step}"),
                Mark::AfterBackward => format!("backward{step}"),
                Mark::AfterStep => format!("step{step}"),
                Mark::StepEnd => {
                    step += 1;
                    format!("zero{}", step - 1)
                }
            })),
        }
        if step == 2 {
            break;
        }
    }
    out
}

pub fn records(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/data/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip");
    let records: Value = serde_json::from_str(&text).expect("JSON");
    records.as_array().expect("a list").clone()
}

#[track_caller]
fn check(name: &str, n: usize) {
    let records = records(name);
    assert!(records.len() >= n, "{} records", records.len());
    let mut bad = Vec::new();
    for one in &records {
        let plan = plan_of(one, true);
        let has_transients = plan.net != Net::Resnet50;
        let theirs = measured(one["events"].as_array().expect("events"), has_transients);
        let mine = ours(&plan, has_transients);
        let n = theirs.len().min(mine.len());
        let at = (0..n).find(|at| theirs[*at] != mine[*at]).or((theirs.len() != mine.len()).then_some(n));
        if let Some(at) = at {
            let around = |list: &[Step]| format!("{:?}", &list[at.saturating_sub(6)..(at + 6).min(list.len())]);
            let mut config = one.clone();
            config["events"] = Value::Null;
            bad.push(format!(
                "{config}\n  event {at} of {}:\n  {}\n  {}",
                theirs.len(),
                around(&theirs),
                around(&mine)
            ));
        }
    }
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), records.len(), bad.join("\n"));
}

#[test]
fn every_recorded_event_is_foreseen() {
    check("train_peaks/events", 32);
}

/// Other blocks, 8-bit states and 4-bit weights.
#[test]
fn every_event_beside_the_beaten_track_is_foreseen() {
    check("train_peaks/odd_events", 26);
}
