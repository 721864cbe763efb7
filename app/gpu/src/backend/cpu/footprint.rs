//! Reads one footprint again and again and sums it. A launch reads a fixed number of bytes: many passes over a small
//! footprint, or one span of a large one, from where the next launch goes on.

use super::bench::{self, Taken};
use super::wide::strided_sum;
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_units::Text;

pub const FOOTPRINT: Routine = Routine {
    id: "footprint",
    about: Text::new("反复读同一片内存并求和", "reads one stretch of memory again and again, and sums"),
    inputs: &[
        Input { name: "span_words", min: 1, max: 1 << 30, about: "words of a span, summed in one output word" },
        Input { name: "n_spans", min: 1, max: 1 << 30, about: "spans of the footprint" },
        Input { name: "passes", min: 1, max: 1 << 30, about: "times that a launch reads its span" },
    ],
    buffers: &["input", "out"],
    readings: &[],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (span, n_spans, passes) = (stage.get("span_words"), stage.get("n_spans"), stage.get("passes"));
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let n_spans = n_spans.min(input.len() / span).min(out.len()).max(1);
    let walk = |launch: usize, out: &mut [u32]| {
        let place = launch % n_spans;
        for _ in 0..passes {
            // The compiler must not see that every pass gives the same sum.
            out[place] = black_box(strided_sum(black_box(&input[place * span..(place + 1) * span]), 1));
        }
    };
    let samples_ns = bench::alone(n_samples, cx, |launch| walk(launch, out))?;
    for launch in 0..n_spans {
        cx.check()?;
        walk(launch, out);
    }
    Ok(Taken { samples_ns, readings: BTreeMap::new() })
}
