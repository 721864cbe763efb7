//! Sums the first fields of records, laid out as an array of structs or as one array a field. A launch walks one
//! stretch of records in a buffer much larger than the last cache, the next launch the next. The reference reads
//! every word.

use super::bench::{self, Taken};
use super::wide::{row_sum, strided_sum};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_units::Text;

pub const AOS_SOA: Routine = Routine {
    id: "aos_soa",
    about: Text::new("读结构体的前几个字段求和：AoS 或 SoA", "sums the first fields of records, as AoS or as SoA"),
    inputs: &[
        Input { name: "layout", min: 0, max: 1, about: "0 AoS, 1 SoA" },
        Input { name: "n_fields", min: 1, max: 64, about: "words of a record" },
        Input { name: "n_read", min: 1, max: 64, about: "fields read, from the first" },
        Input { name: "loads", min: 1, max: 1 << 20, about: "records summed in one output word" },
        Input { name: "n_sums", min: 1, max: 1 << 32, about: "output words; together they walk all records" },
        Input { name: "sums_per_launch", min: 1, max: 1 << 32, about: "output words of one launch" },
    ],
    buffers: &["input", "out"],
    readings: &["word_ns"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (n_fields, loads, n_sums) = (stage.get("n_fields"), stage.get("loads"), stage.get("n_sums"));
    let (is_soa, n_read) = (stage.get("layout") == 1, stage.get("n_read").min(n_fields));
    let per_launch = stage.get("sums_per_launch").min(n_sums);
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let n_sums = n_sums.min(input.len() / (n_fields * loads)).min(out.len());
    let (n_records, n_launches) = (n_sums * loads, (n_sums / per_launch).max(1));
    let walk = |launch: usize, out: &mut [u32]| {
        let first = launch % n_launches * per_launch;
        for (sum, word) in (first..).zip(&mut out[first..first + per_launch]) {
            let records = sum * loads..(sum + 1) * loads;
            *word = if is_soa {
                let column = |field: usize| &input[field * n_records..][records.clone()];
                (0..n_read).fold(0, |total: u32, field| total.wrapping_add(strided_sum(column(field), 1)))
            } else {
                row_sum(&input[records.start * n_fields..records.end * n_fields], n_fields, n_read)
            };
        }
    };
    let span_words = per_launch * loads * n_fields;
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
