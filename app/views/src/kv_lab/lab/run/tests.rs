//! The laboratory's states against the vectors of briefs 16 and 21 and against the machines' own totals.

use super::super::frame::{Fresh, Phase, Tone};
use super::super::presets::{self, PRESETS};
use super::*;
use vramlab_units::Lang;

fn run(id: &str) -> (Question, Run) {
    let question = Question::of(presets::find(id).unwrap());
    let run = Run::new(&question).unwrap_or_else(|wrong| panic!("{id}: {wrong}"));
    (question, run)
}

fn said(frame: &Frame) -> String {
    frame.whys.iter().map(|why| why.text.get(Lang::En)).collect::<Vec<_>>().join("\n")
}

/// Brief 21: three requests of 4 + 6 tokens, five blocks of 4: 11 steps, two preemptions, done in steps 6, 7 and 11.
#[test]
fn the_newest_gives_way() {
    let (_, run) = run("tight");
    assert_eq!(run.n_steps(), 11);
    assert_eq!(run.history.iter().filter(|moment| moment.is_preempted).count(), 2);
    let first = (1..).find(|step| run.history[step - 1].is_preempted).unwrap();
    let frame = run.frame(first);
    let victim = frame.tables.iter().find(|table| table.phase == Phase::Preempted).unwrap();
    assert_eq!((victim.name.as_str(), victim.tokens, victim.blocks.len()), ("R3", 0, 0));
    assert!(said(&frame).contains("R3 needs a block, none is free, and it is itself the last"), "{}", said(&frame));
    assert!(said(&frame).contains("R3 waits: nobody is admitted in a step with a preemption"), "{}", said(&frame));
    assert!(said(&run.frame(6)).contains("R1 done"), "{}", said(&run.frame(6)));
    assert!(said(&run.frame(7)).contains("R2 done"));
    assert!(said(&run.frame(11)).contains("R3 done"));
}

/// Brief 21: 32 tokens of a prompt of 100 in each step.
#[test]
fn a_prompt_comes_in_pieces() {
    let (_, run) = run("chunks");
    let tokens: Vec<u32> = (1..=4).map(|step| run.frame(step).tables[0].tokens).collect();
    assert_eq!(tokens, [32, 64, 96, 100]);
    assert!(
        said(&run.frame(1)).contains("R2 waits: the step's budget of 32 tokens is spent"),
        "{}",
        said(&run.frame(1))
    );
    assert_eq!(run.n_steps(), 7);
}

/// Brief 21's example of vLLM, block by block.
#[test]
fn prefixes_are_found_and_evicted() {
    let (_, run) = run("prefix");
    let second = run.frame(3);
    assert_eq!(second.tables[1].blocks, [0, 1, 5, 6]);
    assert_eq!((second.blocks[0].holders, second.blocks[0].fresh), (2, Fresh::Shared));
    assert!(said(&second).contains("The first 8 tokens of b are known"), "{}", said(&second));
    let ended = run.frame(5);
    assert_eq!(ended.queue, [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]);
    assert_eq!((ended.counters.used, ended.counters.free), (0, 10));
    let third = run.frame(6);
    assert_eq!(third.tables[0].blocks, [0, 1, 2, 7, 8, 9, 4, 3]);
    assert!(said(&third).contains("Evicted from the head of the queue: block 3;"), "{}", said(&third));
    assert_eq!((third.blocks[0].fresh, third.blocks[3].fresh), (Fresh::Shared, Fresh::Taken));
}

/// Brief 16: a fork shares all, a write copies the last block only; Σ (blocks · size − tokens) of what is held.
#[test]
fn a_fork_is_copied_when_it_writes() {
    let (_, run) = run("fork");
    let forked = run.frame(3);
    assert_eq!((forked.counters.used, forked.counters.shared, forked.counters.empty_slots), (4, 4, 2));
    let written = run.frame(4);
    assert!(written.blocks.iter().any(|block| block.fresh == Fresh::Copied));
    assert_eq!((written.counters.used, written.counters.shared), (5, 4));
    assert!(said(&written).contains("Copy-on-write: b writes into block 3"), "{}", said(&written));
    let beam = run_at("beam", 7);
    assert!(beam.whys.iter().any(|why| why.tone == Tone::Bad), "{}", said(&beam));
}

fn run_at(id: &str, step: usize) -> Frame {
    run(id).1.frame(step)
}

/// Salts keep tenants apart: 50 tokens, blocks of 8, at most 48 of them found.
#[test]
fn tenants_do_not_meet() {
    assert!(said(&run_at("tenants", 2)).contains("The first 48 tokens of b are known"));
    assert!(said(&run_at("tenants", 3)).contains("Nobody has the first block of c"));
}

/// A request that never fits is refused when it comes, the others are played.
#[test]
fn what_never_fits_is_refused() {
    let (question, run) = run("stream");
    let serve = run.serve().unwrap();
    assert_eq!(serve.n_refused(), 1);
    let told = (1..=run.n_steps()).filter(|step| said(&run.frame(*step)).contains("R5 is refused: 339 tokens need 43"));
    assert_eq!(told.count(), 1);
    let none = Question { pool_blocks: 1, ..question };
    let empty = Run::new(&none).unwrap();
    assert_eq!(empty.n_steps(), 0);
    assert_eq!(empty.frame(0).whys.len(), 10);
}

/// In every step of every preset the counts add up, the queue holds the free blocks, and the way back is the way there.
#[test]
fn every_step_adds_up() {
    for preset in &PRESETS {
        let (question, run) = run(preset.id);
        assert!(preset.opens_at <= run.n_steps() && run.n_steps() > 3, "{}: {}", preset.id, run.n_steps());
        let every = (run.n_steps() / 12).max(1);
        for step in (0..=run.n_steps()).step_by(every) {
            let frame = run.frame(step);
            let counters = frame.counters;
            assert_eq!(counters.used + counters.free, question.pool_blocks, "{} {step}", preset.id);
            assert_eq!(frame.queue.len() as u32, counters.free, "{} {step}", preset.id);
            assert!(frame.queue.iter().all(|block| frame.blocks[*block as usize].holders == 0));
            let held: u32 = frame.tables.iter().map(|table| table.blocks.len() as u32).sum();
            let holders: u32 = frame.blocks.iter().map(|block| block.holders).sum();
            assert_eq!(held, holders, "{} {step}", preset.id);
            if counters.shared == 0 {
                let tokens: u64 = frame
                    .tables
                    .iter()
                    .filter(|one| one.phase == Phase::Running)
                    .map(|one| u64::from(one.tokens))
                    .sum();
                let waste = vramlab_serve::tables::waste(counters.used.into(), tokens, question.block_tokens.into());
                assert_eq!(counters.empty_slots, waste, "{} {step}", preset.id);
            }
        }
    }
}

#[test]
fn the_next_free_block_is_the_one_that_is_taken() {
    let (_, run) = run("stream");
    let mut n_seen = 0;
    for step in 1..run.n_steps() {
        let (now, next) = (run.frame(step), run.frame(step + 1));
        let calm = !run.history[step].is_preempted && run.history[step - 1].used >= now.counters.used;
        let taken: Vec<u32> = (0..24).filter(|block| next.blocks[*block as usize].fresh == Fresh::Taken).collect();
        let is_settled = next.blocks.iter().all(|block| block.fresh != Fresh::Given);
        if calm && is_settled && taken.len() == 1 {
            assert_eq!(now.queue[0], taken[0], "step {step}");
            n_seen += 1;
        }
    }
    assert!(n_seen > 2, "{n_seen}");
}

#[test]
fn a_slip_in_a_stream_is_named() {
    let question = Question { text: "0 4 6\n0 x 6".to_owned(), ..Question::of(&PRESETS[0]) };
    let wrong = Run::new(&question).err().unwrap();
    assert_eq!(wrong.field, "requests");
    assert!(wrong.get(Lang::Zh).starts_with("第 2 行"), "{}", wrong.get(Lang::Zh));
    let long = Question { text: "0 600000 6".to_owned(), ..question };
    assert!(Run::new(&long).err().unwrap().get(Lang::En).contains("500000 tokens"));
}
