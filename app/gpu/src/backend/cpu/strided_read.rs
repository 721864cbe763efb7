//! Reads one word every `stride` words. A launch walks one span of a buffer much larger than the last cache; the next
//! launch walks the next span, so that no line is still cached from the time before. The reference reads every word.

use super::bench::{self, Taken};
use super::wide::strided_sum;
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_units::Text;

pub const STRIDED_READ: Routine = Routine {
    id: "strided_read",
    about: Text::new(
        "按步长读一段远大于末级缓存的内存，求和",
        "reads at a stride through far more memory than the caches hold, and sums",
    ),
    inputs: &[
        Input { name: "stride", min: 1, max: 1 << 20, about: "words from one access to the next" },
        Input { name: "loads", min: 1, max: 1 << 20, about: "accesses summed in one output word" },
        Input { name: "n_sums", min: 1, max: 1 << 32, about: "output words; together they walk the whole buffer" },
        Input { name: "sums_per_launch", min: 1, max: 1 << 32, about: "output words of one launch" },
    ],
    buffers: &["input", "out"],
    readings: &["word_ns"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (stride, loads, n_sums) = (stage.get("stride"), stage.get("loads"), stage.get("n_sums"));
    let per_launch = stage.get("sums_per_launch").min(n_sums);
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let sum_words = stride * loads;
    let n_sums = n_sums.min(input.len() / sum_words).min(out.len());
    let n_launches = (n_sums / per_launch).max(1);
    let span_words = per_launch * sum_words;
    let walk = |launch: usize, out: &mut [u32]| {
        let first = launch % n_launches * per_launch;
        for sum in first..first + per_launch {
            out[sum] = strided_sum(&input[sum * sum_words..(sum + 1) * sum_words], stride);
        }
    };
    // Half a turn ahead, so that neither walks where the other has just been.
    let reference = |launch: usize| {
        let first = (launch + n_launches / 2) % n_launches * span_words;
        black_box(strided_sum(&input[first..first + span_words], 1));
    };
    let (samples_ns, reference_ns) = bench::in_turn(n_samples, cx, |launch| walk(launch, out), reference)?;
    for launch in 0..n_launches {
        cx.check()?;
        walk(launch, out);
    }
    let word_ns = reference_ns.into_iter().map(|ns| ns / span_words as f64).collect();
    Ok(Taken { samples_ns, readings: BTreeMap::from([("word_ns".to_owned(), word_ns)]) })
}
