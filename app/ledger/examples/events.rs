//! Recorded allocator events beside the tape's, up to the first difference:
//! `cargo run -p vramlab-ledger --example events RECORDS.json [INDEX]`.

#[path = "../tests/common/mod.rs"]
mod common;

use serde_json::Value;
use std::collections::HashMap;
use std::io::Write as _;
use vramlab_ledger::{Event, Mark, record};

#[derive(Clone, PartialEq, Debug)]
enum Step {
    Ask(u64),
    Free(Vec<u64>),
    Mark(String),
}

fn push_free(out: &mut Vec<Step>, bytes: u64) {
    if let Some(Step::Free(list)) = out.last_mut() {
        list.push(bytes);
        list.sort_unstable();
    } else {
        out.push(Step::Free(vec![bytes]));
    }
}

fn measured(events: &[Value]) -> Vec<Step> {
    let mut out = Vec::new();
    // With accumulation a phase is marked once for each micro-batch; the last counts.
    let is_last = |at: usize| {
        let word = |event: &Value| (event[0] == "m").then(|| event[1].clone());
        events[at + 1..].iter().all(|later| word(later) != word(&events[at]))
    };
    let mut live: HashMap<u64, u64> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        let word = event[0].as_str().unwrap_or_default();
        match word {
            "a" => {
                live.insert(event[2].as_u64().unwrap_or(0), event[1].as_u64().unwrap_or(0));
                out.push(Step::Ask(event[1].as_u64().unwrap_or(0)));
            }
            "f" => {
                if let Some(bytes) = live.remove(&event[2].as_u64().unwrap_or(0)) {
                    push_free(&mut out, bytes);
                }
            }
            "m" if event[1] == "end" || !is_last(at) => {}
            "m" => out.push(Step::Mark(event[1].as_str().unwrap_or_default().to_owned())),
            _ => {}
        }
    }
    out
}

fn ours(plan: &vramlab_ledger::Plan) -> Vec<(Step, &'static str)> {
    let run = record(plan).unwrap_or_else(|error| panic!("{error}"));
    let mut out: Vec<Step> = Vec::new();
    let mut ops = Vec::new();
    let mut step = 0;
    for event in &run.tape.events {
        match event {
            Event::Request(id) => out.push(Step::Ask(run.tape.items[*id as usize].bytes)),
            Event::Free(id) => push_free(&mut out, run.tape.items[*id as usize].bytes),
            Event::Mark(mark) => {
                let name = match mark {
                    Mark::AfterModel => "model".to_owned(),
                    Mark::StepStart if step == 0 => "inputs".to_owned(),
                    Mark::StepStart => continue,
                    Mark::AfterForward => format!("forward{step}"),
                    Mark::AfterBackward => format!("backward{step}"),
                    Mark::AfterStep => format!("step{step}"),
                    Mark::StepEnd => {
                        step += 1;
                        format!("zero{}", step - 1)
                    }
                };
                out.push(Step::Mark(name));
            }
        }
        let op = match event {
            Event::Request(id) | Event::Free(id) => run.tape.items[*id as usize].op,
            Event::Mark(_) => "",
        };
        ops.resize(out.len(), op);
    }
    out.into_iter().zip(ops).collect()
}

/// Without what is requested and freed at once.
fn without_transients(steps: Vec<(Step, &'static str)>) -> Vec<(Step, &'static str)> {
    let mut out: Vec<(Step, &'static str)> = Vec::new();
    for (mut step, op) in steps {
        if let (Step::Free(list), Some((Step::Ask(bytes), _))) = (&mut step, out.last())
            && let Some(at) = list.iter().position(|freed| freed == bytes)
        {
            list.remove(at);
            out.pop();
        }
        if step != Step::Free(Vec::new()) {
            out.push((step, op));
        }
    }
    out
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file of records");
    let only: Option<usize> = args.next().and_then(|word| word.parse().ok());
    let around: usize = args.next().and_then(|word| word.parse().ok()).unwrap_or(12);
    let text = std::fs::read_to_string(path).expect("readable");
    let records: Value = serde_json::from_str(&text).expect("JSON");
    let mut out = std::io::stdout();
    for (idx, one) in records.as_array().expect("a list").iter().enumerate() {
        if only.is_some_and(|only| only != idx) {
            continue;
        }
        let theirs = measured(one["events"].as_array().expect("events"));
        let plan = common::plan_of(one, true);
        let mine = ours(&plan);
        let (theirs, mine) = if plan.net == vramlab_ledger::Net::Resnet50 {
            // Which kernel cuDNN takes decides its workspaces; they are told apart.
            let theirs = theirs.into_iter().map(|step| (step, "")).collect();
            (without_transients(theirs).into_iter().map(|(step, _)| step).collect(), without_transients(mine))
        } else {
            (theirs, mine)
        };
        let differs = theirs.iter().zip(&mine).position(|(theirs, (mine, _))| theirs != mine);
        let at = differs.unwrap_or(theirs.len().min(mine.len()));
        let _ = writeln!(out, "{idx}: {} of {} (ours {}) {:?}", at, theirs.len(), mine.len(), plan.net);
        if only.is_some() && at + 1 < theirs.len() {
            for row in at.saturating_sub(around)..at + around {
                let _ = writeln!(out, "{row:5} {:<40} | {}", format!("{:?}", theirs.get(row)).chars().take(150).collect::<String>(), mine.get(row).map(|it| format!("{it:?}")).unwrap_or_default().chars().take(150).collect::<String>());
            }
        }
    }
}
