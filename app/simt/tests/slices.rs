//! A launch is played in slices: whoever has no threads gets the frame back, however long one block takes.

use std::sync::Arc;
use vramlab_simt::fault::Kind;
use vramlab_simt::{Arg, Buffer, Launch, Playing, read, run};

const ARGS: [Arg; 2] = [Arg::Buffer(0), Arg::Bits(64)];

fn launch(budget: u64) -> Launch<'static> {
    Launch { entry: "k", grid: [3, 1, 1], block: [64, 1, 1], shared_bytes: 0, args: &ARGS, budget }
}

fn buffers() -> Vec<Buffer> {
    vec![Buffer { name: "a".to_owned(), bytes: (0..64).flat_map(|at| (at as f32).to_le_bytes()).collect() }]
}

fn source(body: &str) -> String {
    format!(
        "__device__ float slow(float x, unsigned n) {{ for (unsigned i = 0; i < n; ++i) x = x * 0.5f + i; return x; }}\n\
         __device__ bool stuck(unsigned n) {{ while (n < 100) {{ }} return true; }}\n\
         extern \"C\" __global__ void k(float* a, unsigned n) {{\n{body}\n}}\n"
    )
}

/// Slices until the launch ends, and how it ends.
fn slices(body: &str, budget: u64) -> (u64, Result<Vec<Buffer>, Kind>) {
    let program = Arc::new(read(&source(body), &[]).expect("it is C"));
    let mut playing = Playing::begin(program, &launch(budget), buffers()).expect("it can be launched");
    for n in 1.. {
        match playing.go_on() {
            Ok(None) => {}
            Ok(Some((_, buffers))) => return (n, Ok(buffers)),
            Err(fault) => return (n, Err(fault.kind)),
        }
    }
    unreachable!("the budget ends")
}

/// The loop may stand in the kernel, in a function that an expression calls, or in the condition of a branch.
#[test]
fn an_endless_loop_in_one_block_rests_again_and_again() {
    for body in [
        "while (true) { }",
        "a[0] = a[1] + (stuck(n) ? 1.0f : 2.0f);",
        "if (n > 3 && stuck(n)) a[0] = 1.0f;",
        "for (;;) a[threadIdx.x] += slow(1.0f, 3);",
    ] {
        let (n, end) = slices(body, 2_000_000);
        assert_eq!(end, Err(Kind::Budget), "{body}");
        assert!((80..=101).contains(&n), "{body}: {n} slices of 2,000,000 operations");
    }
}

#[test]
fn what_is_cut_into_slices_comes_to_the_same() {
    let body = "
        __shared__ float t[64];
        unsigned i = threadIdx.x;
        auto twice = [&](float x) { return x + slow(x, i % 7); };
        t[i] = slow(a[i], 40 + i) + twice(a[63 - i]);
        __syncthreads();
        float sum = i % 3 == 0 ? slow(t[63 - i], 5) : t[(i * 5) % 64] - 1.0f;
        unsigned at[2] = {i, 63 - i};
        at[(unsigned)slow(0.0f, 1)] += 0;
        for (int turn = 0; turn < 20 && slow(sum, 2) > -1e30f; ++turn) { sum = sum * 0.25f + turn, sum += slow(1.0f, 1); }
        a[i] = sum + (float)at[1];";
    let (n, sliced) = slices(body, u64::MAX);
    assert!(n > 3, "{n}");
    let mut whole = buffers();
    let report = run(&read(&source(body), &[]).expect("it is C"), &launch(u64::MAX), &mut whole).expect("it plays");
    assert_eq!(sliced.expect("it plays"), whole);
    assert!(report.steps > 60_000 && report.races.is_empty() && report.barriers == 3, "{report:?}");
}
