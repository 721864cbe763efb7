//! Follows a random cycle, one word a cache line: each load must end before the next address is known. The cycle is laid
//! before the clock starts, launches walk on from where the last one stopped.

use super::bench::{self, Taken};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use crate::oracle::cycle;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_units::Text;

pub const CHASE: Routine = Routine {
    id: "chase",
    about: Text::new("沿随机环一步一步走，每条缓存行一步", "follows a random cycle, one hop a cache line"),
    inputs: &[
        Input { name: "n_lines", min: 1, max: 1 << 28, about: "lines of the cycle" },
        Input { name: "line_words", min: 1, max: 64, about: "words from one line to the next" },
        Input { name: "hops", min: 1, max: 1 << 24, about: "hops of one launch" },
    ],
    buffers: &["chain", "out"],
    readings: &[],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (n_lines, line_words, hops) = (stage.get("n_lines"), stage.get("line_words"), stage.get("hops"));
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let too_small = || RunError::Content { what: format!("the chain holds no {n_lines} lines of {line_words} words") };
    let n = u32::try_from(n_lines).map_err(|_| too_small())?;
    let bits = cycle::bits_of(n);
    let word_of = |position: u32| cycle::place(position % n, n, bits) as usize * line_words;
    let chain = stage.memory.output("chain")?;
    if chain.len() < n_lines * line_words || u32::try_from(chain.len()).is_err() {
        return Err(too_small());
    }
    for position in 0..n {
        if position % (1 << 20) == 0 {
            cx.check()?;
        }
        chain[word_of(position)] = word_of(position + 1) as u32;
    }
    let chain = &*chain;
    let mut at = word_of(0) as u32;
    let samples_ns = bench::alone(n_samples, cx, |_| at = black_box(follow(chain, at, hops)))?;
    let end = follow(chain, word_of(0) as u32, hops) / line_words as u32;
    if let Some(word) = stage.memory.output("out")?.first_mut() {
        *word = end;
    }
    Ok(Taken { samples_ns, readings: BTreeMap::new() })
}

fn follow(chain: &[u32], from: u32, hops: usize) -> u32 {
    (0..hops).fold(from, |at, _| chain[at as usize])
}
