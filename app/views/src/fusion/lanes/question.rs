//! What the reader sets: kernels, times, the way they are handed over; and the model's lanes.

use vramlab_model::kernels::launch_timeline::{self, Lanes, Mode, Times};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Kernels that are drawn.
pub const MOST: u64 = 64;
pub const LEAST_US: f64 = 0.1;
pub const MOST_US: f64 = 100.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub kernels: u64,
    pub times: Times,
    pub is_graph: bool,
    pub is_synced: bool,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let us =
            |key, start: f64, zh, en| FieldSpec::num(key, "µs", 0.0, 1000.0, Text::new(zh, en)).default_value(start);
        let modes = ["stream", "graph"].map(Into::into).to_vec();
        let mode = Text::new("一个个放上流，还是一张图", "One by one on a stream, or as one graph");
        let synced = Text::new("每个之后都同步", "A wait after each kernel");
        vec![
            FieldSpec::int("kernels", "1", 1, MOST as i64, Text::new("kernel 个数", "Kernels")).default_value(12),
            us("kernel_us", 1.0, "一个 kernel 的时间", "Time of a kernel"),
            us("launch_us", 2.5, "处理器启动一个要多久", "Time in which the processor launches one"),
            us("gap_us", 1.0, "流上两个 kernel 之间的空档", "Gap between two kernels of a stream"),
            us("graph_us", 5.0, "启动一张图要多久", "Time to launch a graph"),
            us("graph_gap_us", 0.6, "图里两个 kernel 之间的空档", "Gap between two kernels of a graph"),
            us("wait_us", 5.0, "每次同步多花的时间", "What a wait after a kernel costs"),
            FieldSpec::new("mode", "", FieldKind::Choice { options: modes }, mode).default_value("stream"),
            FieldSpec::new("is_synced", "", FieldKind::Bool, synced).default_value(false),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let times = Times {
            kernel: args.num("kernel_us"),
            launch: args.num("launch_us"),
            gap: args.num("gap_us"),
            graph: args.num("graph_us"),
            graph_gap: args.num("graph_gap_us"),
            wait: args.num("wait_us"),
        };
        if times.kernel + times.launch + times.graph <= 0.0 {
            return Err(FieldError::conflict("kernel_us", "all times are 0: there is nothing to draw"));
        }
        let (is_graph, is_synced) = (args.text("mode") == "graph", args.flag("is_synced"));
        Ok(Self { kernels: args.uint("kernels"), times, is_graph, is_synced })
    }

    pub fn params(&self) -> Map {
        let Times { kernel, launch, gap, graph, graph_gap, wait } = self.times;
        let values: [(&str, Value); 9] = [
            ("kernels", self.kernels.into()),
            ("kernel_us", kernel.into()),
            ("launch_us", launch.into()),
            ("gap_us", gap.into()),
            ("graph_us", graph.into()),
            ("graph_gap_us", graph_gap.into()),
            ("wait_us", wait.into()),
            ("mode", if self.is_graph { "graph" } else { "stream" }.into()),
            ("is_synced", self.is_synced.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn mode(&self) -> Mode {
        match (self.is_graph, self.is_synced) {
            (true, _) => Mode::Graph,
            (false, true) => Mode::Synced,
            (false, false) => Mode::Stream,
        }
    }

    pub fn set_mode(&mut self, mode: Mode) {
        self.is_graph = mode == Mode::Graph;
        self.is_synced = mode == Mode::Synced;
    }

    pub fn lanes(&self, mode: Mode) -> Lanes {
        launch_timeline::lanes(mode, self.kernels, self.times)
    }
}

/// The ways, the slowest first.
pub const MODES: [Mode; 3] = [Mode::Synced, Mode::Stream, Mode::Graph];
