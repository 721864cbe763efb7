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
