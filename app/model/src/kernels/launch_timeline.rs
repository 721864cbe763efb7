//! When N equal kernels run that one processor thread puts on a stream one after another, and when they run as a graph.
//!
//! Question: kernels, time of one, time that the processor needs to launch one, gap between two, cost of a graph and its gap.
//! Answer: the end of the last. On a stream: start = max(i · t_cpu, end of the one before + gap), i from 1, no gap before the first.
//! With a wait after each: t_cpu + wait + t_k every time. As a graph: t_g + N · t_k + (N − 1) · gap_g.
//! Assumption: every kernel takes the same; nothing else is on the GPU. Source: arithmetic over a queue. Errors: no kernel.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// When each of `n` kernels starts on a stream, in the unit of the times given.
pub fn starts(n: u64, kernel: f64, launch: f64, gap: f64) -> Vec<f64> {
    let mut end: Option<f64> = None;
    (1..=n)
        .map(|at| {
            let start = (at as f64 * launch).max(end.map_or(0.0, |end| end + gap));
            end = Some(start + kernel);
            start
        })
        .collect()
}

/// How the kernels are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Stream,
    /// A stream whose every kernel the processor waits for.
    Synced,
    Graph,
}

/// The times of a chain of equal kernels, all in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub kernel: f64,
    pub launch: f64,
    pub gap: f64,
    pub graph: f64,
    pub graph_gap: f64,
    pub wait: f64,
}

/// What happens, when: from and to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// The processor launches: one span a kernel, or one for the graph.
    pub launches: Vec<(f64, f64)>,
    /// The processor waits, the cost of the wait with it.
    pub waits: Vec<(f64, f64)>,
    pub kernels: Vec<(f64, f64)>,
}

impl Lanes {
    /// When all is done.
    pub fn end(&self) -> f64 {
        self.kernels.iter().chain(&self.waits).map(|(_, to)| *to).fold(0.0, f64::max)
    }

    /// Share of that time in which the GPU works.
    pub fn busy(&self) -> f64 {
        let busy: f64 = self.kernels.iter().map(|(from, to)| to - from).sum();
        if self.end() > 0.0 { (busy / self.end()).min(1.0) } else { 0.0 }
    }
}

/// The lanes of processor and GPU for `n` kernels.
pub fn lanes(mode: Mode, n: u64, times: Times) -> Lanes {
    let Times { kernel, launch, gap, graph, graph_gap, wait } = times;
    let mut lanes = Lanes::default();
    match mode {
        Mode::Stream => {
            lanes.launches = (0..n).map(|at| (at as f64 * launch, (at + 1) as f64 * launch)).collect();
            lanes.kernels = starts(n, kernel, launch, gap).into_iter().map(|from| (from, from + kernel)).collect();
        }
        Mode::Synced => {
            for at in 0..n {
                let from = at as f64 * (launch + kernel + wait);
                let begins = from + launch;
                lanes.launches.push((from, begins));
                lanes.kernels.push((begins, begins + kernel));
                lanes.waits.push((begins, begins + kernel + wait));
            }
        }
        Mode::Graph => {
            lanes.launches.push((0.0, graph));
            let begins = |at: u64| graph + at as f64 * (kernel + graph_gap);
            lanes.kernels = (0..n).map(|at| (begins(at), begins(at) + kernel)).collect();
        }
    }
    lanes
}

pub struct LaunchTimeline;

impl Model for LaunchTimeline {
    const ID: &'static str = "launch_timeline";
    const TITLE: Text = Text::new("一串小 kernel 的时间线", "A timeline of small kernels");
    const ASSUMES: Text =
        Text::new("各 kernel 一样长；GPU 上没有别的事。", "Kernels of one length; nothing else is on the GPU.");
    const SOURCE: &'static str = "arithmetic over a queue";
    const EXAMPLE: &'static str =
        r#"{"kernels": 20, "kernel_us": 2.9, "launch_us": 2.5, "gap_us": 1, "graph_us": 5, "graph_gap_us": 0.6}"#;

    fn question() -> Vec<FieldSpec> {
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1e6, Text::new(zh, en));
        vec![
            FieldSpec::int("kernels", "1", 1, 100_000, Text::new("kernel 个数 N", "Kernels, N")),
            us("kernel_us", "一个 kernel 的时间", "Time of a kernel"),
            us("launch_us", "处理器启动一个要多久", "Time in which the processor launches one").default_value(2.5),
            us("gap_us", "流上两个 kernel 之间的空档", "Gap between two kernels of a stream").default_value(1),
            us("graph_us", "启动一张图要多久", "Time to launch a graph").default_value(5),
            us("graph_gap_us", "图里两个 kernel 之间的空档", "Gap between two kernels of a graph").default_value(0.6),
            us("wait_us", "每次同步多花的时间", "What a wait after a kernel costs").default_value(5),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1e13, Text::new(zh, en));
        vec![
            us("stream_us", "流：最后一个结束", "Stream: the end of the last"),
            us("synced_us", "流，每次都等：最后一个结束", "Stream with a wait after each: the end of the last"),
            us("graph_total_us", "图：最后一个结束", "Graph: the end of the last"),
            FieldSpec::num(
                "busy_share",
                "1",
                0.0,
                1.0,
                Text::new("流上 GPU 在忙的份额", "Share of the time in which the stream keeps the GPU busy"),
            ),
            FieldSpec::num(
                "graph_speedup",
                "1",
                0.0,
                1e9,
                Text::new("图比流快几倍", "Times that the graph is faster than the stream"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n, kernel, launch) = (args.uint("kernels"), args.num("kernel_us"), args.num("launch_us"));
        let stream = starts(n, kernel, launch, args.num("gap_us")).last().map_or(0.0, |start| start + kernel);
        let graph = args.num("graph_us") + n as f64 * kernel + (n - 1) as f64 * args.num("graph_gap_us");
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Ok(answer([
            ("stream_us", number(stream)),
            ("synced_us", number(n as f64 * (launch + kernel + args.num("wait_us")))),
            ("graph_total_us", number(graph)),
            ("busy_share", number(share(n as f64 * kernel, stream).min(1.0))),
            ("graph_speedup", number(share(stream, graph))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn ends(n: u64, kernel: f64, stream: f64, graph: f64) {
        let given = json!({"kernels": n, "kernel_us": kernel, "launch_us": 2.5, "gap_us": 1, "graph_us": 5, "graph_gap_us": 0.6});
        let found = eval("launch_timeline", &question(&given)).unwrap();
        for (key, expected) in [("stream_us", stream), ("graph_total_us", graph)] {
            assert!((found[key].as_f64().unwrap() - expected).abs() < 1e-9, "{key} of {n}: {}", found[key]);
        }
    }

    /// The lanes end where the sums say, and nothing in a lane overlaps.
    #[test]
    fn lanes_end_where_the_sums_do() {
        for (n, kernel) in [(20, 2.9), (20, 0.5), (1, 2.9)] {
            let times = Times { kernel, launch: 2.5, gap: 1.0, graph: 5.0, graph_gap: 0.6, wait: 4.2 };
            let given = json!({"kernels": n, "kernel_us": kernel, "launch_us": 2.5, "gap_us": 1, "graph_us": 5, "graph_gap_us": 0.6, "wait_us": 4.2});
            let sums = eval("launch_timeline", &question(&given)).unwrap();
            for (mode, key) in
                [(Mode::Stream, "stream_us"), (Mode::Synced, "synced_us"), (Mode::Graph, "graph_total_us")]
            {
                let found = lanes(mode, n, times);
                assert!((found.end() - sums[key].as_f64().unwrap()).abs() < 1e-9, "{key} of {n}: {}", found.end());
                for lane in [&found.launches, &found.waits, &found.kernels] {
                    assert!(lane.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-9), "{key} of {n}: {lane:?}");
                }
            }
        }
    }

    /// Brief 04, vector 7.
    #[test]
    fn worked_cases() {
        ends(20, 2.9, 79.5, 74.4);
        ends(20, 0.5, 50.5, 26.4);
        ends(1, 2.9, 5.4, 7.9);
        assert_eq!(
            eval("launch_timeline", &question(&json!({"kernels": 0, "kernel_us": 1}))).unwrap_err().field(),
            "kernels"
        );
    }
}
