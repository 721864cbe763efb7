//! One value a thread becomes one value a block: by shuffles, by the integer reduction of a warp, by a tree in shared memory.
//!
//! Question: the form and the threads of a block. Answer: additions one after another, shuffles, barriers, requests and bytes of
//! shared memory, words of it that are needed. The lanes' values after every step are a function, [`rounds`].
//! Assumption: threads a power of two, at least a warp. By shuffles every warp leaves one word in shared memory, one barrier, and
//! the first warp adds the words the same way. The tree is the usual one: `part[t] += part[t + half]` under `t < half`, a barrier
//! after each step, the last word read by one thread. A request is one warp's instruction.
//! Source: CUDA Programming Guide, warp shuffle functions and warp reduce functions; M. Harris, "Optimizing Parallel Reduction in
//! CUDA", for the tree. Errors: threads that are no power of two from 32 to 1024.

use super::architecture::WARP_LANES;
use crate::fields::{answer, choice};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub const LANES: usize = WARP_LANES as usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `__shfl_down_sync` by 16, 8, 4, 2, 1: lane 0 has the sum.
    ShuffleDown,
    /// `__shfl_xor_sync` by 16, 8, 4, 2, 1: every lane has it.
    Butterfly,
    /// `__reduce_add_sync`: one instruction for 32-bit integers, from capability 8.0 on.
    Redux,
    /// Half of the words added to the other half, in shared memory.
    SharedTree,
}

/// The lanes after one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// How far apart the two are that are added.
    pub distance: usize,
    pub values: Vec<u64>,
    /// The lane whose value came to each, if it was added.
    pub from: Vec<Option<usize>>,
    /// Lanes whose value is still needed for the sum.
    pub is_needed: Vec<bool>,
}

/// What a block's reduction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    pub steps: u64,
    pub shuffles: u64,
    pub barriers: u64,
    pub shared_requests: u64,
    pub shared_bytes: u64,
    pub shared_words: u64,
}

impl Form {
    pub const ALL: [Self; 4] = [Self::ShuffleDown, Self::Butterfly, Self::Redux, Self::SharedTree];

    pub fn name(self) -> &'static str {
        match self {
            Self::ShuffleDown => "shuffle_down",
            Self::Butterfly => "butterfly",
            Self::Redux => "redux",
            Self::SharedTree => "shared_tree",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// The 32 values after each step. The integer reduction is a single one.
pub fn rounds(start: &[u64; LANES], form: Form) -> Vec<Round> {
    let mut values = start.to_vec();
    if form == Form::Redux {
        let sum = values.iter().sum();
        let round =
            Round { distance: 0, values: vec![sum; LANES], from: vec![None; LANES], is_needed: vec![true; LANES] };
        return vec![round];
    }
    let mut all = Vec::new();
    for distance in [16, 8, 4, 2, 1] {
        let from = |lane: usize| match form {
            Form::Butterfly => Some(lane ^ distance),
            Form::SharedTree => (lane < distance).then_some(lane + distance),
            // A source beyond the warp gives the lane its own value back.
            _ => Some(if lane + distance < LANES { lane + distance } else { lane }),
        };
        let from: Vec<Option<usize>> = (0..LANES).map(from).collect();
        values = (0..LANES).map(|lane| values[lane] + from[lane].map_or(0, |other| values[other])).collect();
        let is_needed = (0..LANES).map(|lane| form == Form::Butterfly || lane < distance).collect();
        all.push(Round { distance, values: values.clone(), from, is_needed });
    }
    all
}

/// What a block of `threads` takes, a power of two from 32 on.
pub fn cost(form: Form, threads: u64) -> Cost {
    let warps = threads / WARP_LANES;
    let second = u64::from(warps.trailing_zeros());
    let is_alone = warps == 1;
    if form == Form::SharedTree {
        let levels = u64::from(threads.trailing_zeros());
        let halves = (0..levels).map(|level| threads >> (level + 1));
        let requests: u64 = halves.map(|half| 3 * half.div_ceil(WARP_LANES)).sum();
        return Cost {
            steps: levels,
            shuffles: 0,
            barriers: levels + 1,
            shared_requests: warps + requests + 1,
            shared_bytes: 4 * threads + 12 * (threads - 1) + 4,
            shared_words: threads,
        };
    }
    let (each, across) = if form == Form::Redux { (1, u64::from(!is_alone)) } else { (5, second) };
    Cost {
        steps: each + across,
        shuffles: warps * each + across,
        barriers: u64::from(!is_alone),
        shared_requests: if is_alone { 0 } else { warps + 1 },
        shared_bytes: if is_alone { 0 } else { 8 * warps },
        shared_words: if is_alone { 0 } else { warps },
    }
}

pub struct WarpReduce;

impl Model for WarpReduce {
    const ID: &'static str = "warp_reduce";
    const TITLE: Text =
        Text::new("block 内归约：shuffle、redux 与共享内存的树", "A block's reduction: shuffles, redux, a tree");
    const ASSUMES: Text = Text::new(
        "线程数是 2 的幂；warp 之间用共享内存传一个字，第一个 warp 收尾。redux 只管 32 位整数。",
        "Threads a power of two; warps pass one word each through shared memory and the first warp finishes. Redux is for 32-bit integers.",
    );
    const SOURCE: &'static str = "CUDA Programming Guide, warp shuffle and warp reduce functions; M. Harris, Optimizing Parallel Reduction in CUDA";
    const EXAMPLE: &'static str = r#"{"form": "butterfly", "threads_per_block": 256}"#;

    fn question() -> Vec<FieldSpec> {
        let threads = Text::new("一个 block 的线程数", "Threads of a block");
        vec![
            choice(
                "form",
                "",
                &["shuffle_down", "butterfly", "redux", "shared_tree"],
                Text::new(
                    "做法：往下 shuffle、蝶形、整数归约指令、共享内存的树",
                    "By shuffles down, a butterfly, the integer instruction, or a tree",
                ),
            ),
            choice("threads_per_block", "1", &["32", "64", "128", "256", "512", "1024"], threads).default_value("256"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 1 << 20, Text::new(zh, en));
        vec![
            count("steps", "1", "先后几步", "Steps one after another"),
            count(
                "shuffles",
                "1",
                "shuffle 或 redux 指令，按 warp 计",
                "Shuffles or reduce instructions, counted by warps",
            ),
            count("barriers", "1", "barrier", "Barriers"),
            count("shared_requests", "1", "共享内存的请求，按 warp 计", "Requests to shared memory, by warps"),
            count("shared_bytes", "B", "共享内存读写的字节", "Bytes read and written in shared memory"),
            count("shared_words", "1", "占用的共享内存字", "Words of shared memory that it takes"),
            count(
                "sum_of_lanes",
                "1",
                "lane 的值为 0 到 31 时 lane 0 得到的和",
                "What lane 0 has if the lanes hold 0 to 31",
            ),
            count("lanes_with_sum", "1", "有几个 lane 得到全和", "Lanes that have the whole sum"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let form = Form::from_name(args.text("form")).unwrap_or(Form::Butterfly);
        let found = cost(form, crate::fields::chosen(args, "threads_per_block"));
        let start = std::array::from_fn(|lane| lane as u64);
        let last = rounds(&start, form).pop().map(|round| round.values).unwrap_or_default();
        let sum = last.first().copied().unwrap_or_default();
        Ok(answer([
            ("steps", found.steps.into()),
            ("shuffles", found.shuffles.into()),
            ("barriers", found.barriers.into()),
            ("shared_requests", found.shared_requests.into()),
            ("shared_bytes", found.shared_bytes.into()),
            ("shared_words", found.shared_words.into()),
            ("sum_of_lanes", sum.into()),
            ("lanes_with_sum", last.iter().filter(|value| **value == sum).count().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid_waves;
    use super::*;

    fn lanes() -> [u64; LANES] {
        std::array::from_fn(|lane| lane as u64)
    }

    /// Brief 23: after a butterfly over lanes 0 to 31 every lane holds 496; after shuffles down lane 0 does.
    #[test]
    fn every_lane_or_the_first_has_the_sum() {
        let last = |form| rounds(&lanes(), form).pop().unwrap().values;
        assert_eq!(last(Form::Butterfly), [496; LANES]);
        assert_eq!(last(Form::Redux), [496; LANES]);
        for form in [Form::ShuffleDown, Form::SharedTree] {
            assert_eq!(last(form)[0], 496, "{form:?}");
            assert!(last(form)[1..].iter().any(|value| *value != 496), "{form:?}");
        }
        // By hand: lane 31 keeps getting its own value back, 31 · 2^5.
        assert_eq!(last(Form::ShuffleDown)[31], 992);
    }

    /// What is called needed alone makes the sum: anything may stand in the other lanes.
    #[test]
    fn lanes_that_are_not_needed_do_not_matter() {
        for form in [Form::ShuffleDown, Form::SharedTree] {
            let all = rounds(&lanes(), form);
            for (round, next) in all.iter().zip(&all[1..]) {
                for lane in (0..LANES).filter(|lane| next.is_needed[*lane]) {
                    assert!(round.is_needed[next.from[lane].unwrap()], "{form:?} {}", next.distance);
                }
            }
        }
    }

    /// Brief 23: depths 5, 6, 8, 10 for 32, 64, 256, 1024 threads.
    #[test]
    fn depths() {
        for (threads, steps) in [(32, 5), (64, 6), (256, 8), (1024, 10)] {
            for form in [Form::ShuffleDown, Form::Butterfly, Form::SharedTree] {
                assert_eq!(cost(form, threads).steps, steps, "{form:?} {threads}");
            }
            assert_eq!(cost(Form::Butterfly, threads).steps, grid_waves::reduction_steps(threads));
            assert_eq!(cost(Form::Redux, threads).steps, if threads == 32 { 1 } else { 2 });
        }
    }

    /// The exercise `exercise_warp_sum` as the player counts it: 8 steps and 9 barriers in shared memory; the solution's
    /// 8 stores and a load, one barrier.
    #[test]
    fn costs_by_hand() {
        let tree = cost(Form::SharedTree, 256);
        assert_eq!((tree.barriers, tree.shared_requests, tree.shared_words), (9, 8 + 36 + 1, 256));
        assert_eq!(tree.shared_bytes, 1024 + 255 * 12 + 4);
        let shuffles = cost(Form::ShuffleDown, 256);
        assert_eq!((shuffles.barriers, shuffles.shared_requests, shuffles.shared_bytes), (1, 9, 64));
        assert_eq!(shuffles.shuffles, 8 * 5 + 3);
        assert_eq!(
            cost(Form::Redux, 1024),
            Cost { steps: 2, shuffles: 33, barriers: 1, shared_requests: 33, shared_bytes: 256, shared_words: 32 }
        );
    }
}
