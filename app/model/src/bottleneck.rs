//! Which of four resources bounds a piece of work: memory bytes, arithmetic, launches, or the host link.
//!
//! Question: how much of each the work takes, and how fast the machine does each. Answer: four times, the longest, and
//! by what margin.
//! Assumption: every resource runs at the rate given, and the four overlap perfectly, so the longest is a lower bound
//! for the work; their sum is what it takes when nothing overlaps. Cache hits and waiting are not in it.
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: An Insightful Visual Performance Model", CACM 52(4), 2009,
//! with launches and the link added as two more ceilings.
//! Errors: fields out of range; work that takes nothing at all.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// What may bind, in the order in which ties are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Memory,
    Compute,
    Launches,
    Link,
}

impl Resource {
    pub const ALL: [Self; 4] = [Self::Memory, Self::Compute, Self::Launches, Self::Link];

    /// Id in answers.
    pub fn id(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Launches => "launches",
            Self::Link => "link",
        }
    }
}

/// What a piece of work takes of each resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    pub bytes: f64,
    pub flop: f64,
    pub launches: f64,
    pub link_bytes: f64,
}

/// How fast the machine is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    pub peak_gb_per_s: f64,
    pub peak_tflop_per_s: f64,
    pub launch_us: f64,
    pub link_gb_per_s: f64,
}

/// Times in microseconds, by [`Resource::ALL`].
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub times_us: [f64; 4],
    /// The longest; more than one if they tie.
    pub bound: Vec<Resource>,
    /// The longest over the second longest; 1 for a tie, nothing if the others take no time.
    pub margin: Option<f64>,
}

/// Times that differ by less than this share are a tie.
const TIE: f64 = 1.0e-9;

/// Nothing if the work takes no time at all.
pub fn run(work: &Work, machine: &Machine) -> Option<Found> {
    let times_us = [
        work.bytes / (machine.peak_gb_per_s * 1.0e3), // 1 GB/s moves 1000 bytes in a microsecond
        work.flop / (machine.peak_tflop_per_s * 1.0e6),
        work.launches * machine.launch_us,
        work.link_bytes / (machine.link_gb_per_s * 1.0e3),
    ];
    let longest = times_us.iter().copied().fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let ties = |time: f64| time >= longest * (1.0 - TIE);
    let bound: Vec<Resource> =
        Resource::ALL.into_iter().filter(|resource| ties(times_us[*resource as usize])).collect();
    let second = times_us.iter().copied().filter(|time| !ties(*time)).fold(0.0, f64::max);
    let margin = match bound.len() {
        1 if second > 0.0 => Some(longest / second),
        1 => None,
        _ => Some(1.0),
    };
    Some(Found { times_us, bound, margin })
}

impl Found {
    /// The least time: everything overlaps.
    pub fn floor_us(&self) -> f64 {
        self.times_us.iter().copied().fold(0.0, f64::max)
    }

    /// The time when nothing overlaps.
    pub fn serial_us(&self) -> f64 {
        self.times_us.iter().sum()
    }

    /// `memory`, or `memory+compute` for a tie.
    pub fn bound_id(&self) -> String {
        self.bound.iter().map(|resource| resource.id()).collect::<Vec<_>>().join("+")
    }
}

/// FLOP that the machine does in the time in which it moves one byte.
pub fn ridge_flop_per_byte(machine: &Machine) -> f64 {
    machine.peak_tflop_per_s * 1.0e3 / machine.peak_gb_per_s
}

/// Every way in which the four can tie, as an answer writes it.
pub(crate) const BOUNDS: [&str; 15] = [
    "memory",
    "compute",
    "launches",
    "link",
    "memory+compute",
    "memory+launches",
    "memory+link",
    "compute+launches",
    "compute+link",
    "launches+link",
    "memory+compute+launches",
    "memory+compute+link",
    "memory+launches+link",
    "compute+launches+link",
    "memory+compute+launches+link",
];

pub struct Bottleneck;

impl Model for Bottleneck {
    const ID: &'static str = "bottleneck";
    const TITLE: Text = Text::new("四种瓶颈", "Four bottlenecks");
    const ASSUMES: Text = Text::new(
        "每种资源都按给定的速率工作，四者完全重叠，所以最长的一项是下界；全不重叠时是四项之和。缓存命中和等待不在内。",
        "Each resource runs at the rate given and the four overlap perfectly: the longest is a lower bound. Without any \
         overlap it is their sum. Cache hits and waiting are left out.",
    );
    const SOURCE: &'static str =
        "S. Williams, A. Waterman, D. Patterson, \"Roofline\", Communications of the ACM 52(4), 2009";
    const EXAMPLE: &'static str = r#"{"bytes": 100663296, "flop": 137438953472, "launches": 1, "peak_gb_per_s": 4800, "peak_tflop_per_s": 989.5, "launch_us": 4, "link_gb_per_s": 53}"#;

    fn question() -> Vec<FieldSpec> {
        let work = |key, unit, most, zh, en| FieldSpec::num(key, unit, 0.0, most, Text::new(zh, en)).default_value(0);
        let rate = |key, unit, least, most, zh, en| FieldSpec::num(key, unit, least, most, Text::new(zh, en));
        vec![
            work("bytes", "B", 1.0e18, "进出显存的字节", "Bytes that cross device memory"),
            work("flop", "FLOP", 1.0e24, "浮点运算次数；一次 FMA 算 2", "Floating-point operations; an FMA counts 2"),
            work("launches", "1", 1.0e12, "内核启动次数", "Kernel launches"),
            work("link_bytes", "B", 1.0e18, "经过主机链路的字节", "Bytes that cross the host link"),
            fields::peak(),
            rate("peak_tflop_per_s", "TFLOP/s", 1.0e-3, 1.0e6, "运算峰值", "Peak arithmetic rate"),
            rate("launch_us", "µs", 1.0e-3, 1.0e6, "一次启动的时间", "Time of one launch"),
            rate("link_gb_per_s", "GB/s", 1.0e-3, 1.0e6, "主机链路一个方向的速率", "Rate of the host link, one way"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1.0e24, Text::new(zh, en));
        vec![
            us("memory_us", "搬显存字节的时间", "Time for the bytes of device memory"),
            us("compute_us", "运算的时间", "Time for the arithmetic"),
            us("launches_us", "启动的时间", "Time for the launches"),
            us("link_us", "经过主机链路的时间", "Time on the host link"),
            us("floor_us", "完全重叠：最长的一项", "Everything overlaps: the longest of the four"),
            us("serial_us", "全不重叠：四项之和", "Nothing overlaps: their sum"),
            fields::choice(
                "bound",
                "",
                &BOUNDS,
                Text::new("瓶颈；并列时用 + 连接", "What binds; joined by + when they tie"),
            ),
            FieldSpec::num(
                "margin",
                "1",
                1.0,
                1.0e40,
                Text::new("最长一项是第二名的几倍；只有一项时为空", "The longest over the second; null if it is alone"),
            )
            .optional(),
            FieldSpec::num(
                "ridge_flop_per_byte",
                "FLOP/B",
                0.0,
                1.0e12,
                Text::new("搬一个字节的时间里能做几次运算", "Operations that fit into the time of one byte"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let work = Work {
            bytes: args.num("bytes"),
            flop: args.num("flop"),
            launches: args.num("launches"),
            link_bytes: args.num("link_bytes"),
        };
        let machine = Machine {
            peak_gb_per_s: args.num("peak_gb_per_s"),
            peak_tflop_per_s: args.num("peak_tflop_per_s"),
            launch_us: args.num("launch_us"),
            link_gb_per_s: args.num("link_gb_per_s"),
        };
        let Some(found) = run(&work, &machine) else {
            let reason = "bytes, flop, launches and link_bytes are all 0: nothing takes time; give at least one";
            return Err(FieldError::conflict("bytes", reason));
        };
        let [memory, compute, launches, link] = found.times_us;
        Ok(fields::answer([
            ("memory_us", fields::number(memory)),
            ("compute_us", fields::number(compute)),
            ("launches_us", fields::number(launches)),
            ("link_us", fields::number(link)),
            ("floor_us", fields::number(found.floor_us())),
            ("serial_us", fields::number(found.serial_us())),
            ("bound", found.bound_id().into()),
            ("margin", found.margin.map_or(Value::Null, fields::number)),
            ("ridge_flop_per_byte", fields::number(ridge_flop_per_byte(&machine))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};
    use vramlab_units::Map;

    fn ask(work: Value) -> Map {
        let machine = json!({"peak_gb_per_s": 4800, "peak_tflop_per_s": 989.5, "launch_us": 4, "link_gb_per_s": 50});
        let mut given = question(&machine);
        given.extend(question(&work));
        eval("bottleneck", &given).unwrap()
    }

    #[track_caller]
    fn near(answer: &Map, key: &str, expected: f64, within: f64) {
        let found = answer[key].as_f64().unwrap();
        assert!((found - expected).abs() <= within, "{key}: {found}, not {expected}");
    }

    /// Brief 01, vector 6: a 4096³ product in BF16 takes 138.897 µs of arithmetic and 20.972 µs of memory.
    #[test]
    fn a_large_product_is_bound_by_arithmetic() {
        let answer = ask(json!({"bytes": 100_663_296, "flop": 2.0 * 4096f64.powi(3)}));
        near(&answer, "compute_us", 138.897, 0.0005);
        near(&answer, "memory_us", 20.972, 0.0005);
        assert_eq!(answer["bound"], "compute");
        near(&answer, "margin", 138.897 / 20.972, 0.001);
        near(&answer, "floor_us", 138.897, 0.0005);
        near(&answer, "serial_us", 138.897 + 20.972, 0.001);
    }

    /// Brief 01: ridges of the H200 in BF16 and of the A100-40 in BF16 (312 TFLOP/s over 1555.2 GB/s).
    #[test]
    fn the_ridge_is_arithmetic_over_bandwidth() {
        near(&ask(json!({"bytes": 1})), "ridge_flop_per_byte", 206.1, 0.05);
        let a100 = json!({"bytes": 1, "peak_gb_per_s": 1555.2, "peak_tflop_per_s": 312});
        near(&ask(a100), "ridge_flop_per_byte", 200.6, 0.05);
    }

    #[test]
    fn launches_and_the_link_can_bind_too() {
        assert_eq!(ask(json!({"bytes": 1.0e6, "launches": 100}))["bound"], "launches");
        let copied = ask(json!({"bytes": 1.0e9, "link_bytes": 1.0e9}));
        assert_eq!(copied["bound"], "link");
        near(&copied, "margin", 4800.0 / 50.0, 1e-9); // the same bytes, so the margin is the ratio of rates
    }

    #[test]
    fn a_tie_names_both_and_a_lone_time_has_no_margin() {
        let tie = ask(json!({"bytes": 4.8e9, "link_bytes": 5.0e7})); // 1000 µs each
        assert_eq!((&tie["bound"], &tie["margin"]), (&json!("memory+link"), &json!(1)));
        let alone = ask(json!({"launches": 1}));
        assert_eq!((&alone["bound"], &alone["margin"]), (&json!("launches"), &Value::Null));
    }

    /// Brief 01, vector 7, and work that is no work.
    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let field = |given: Value| eval("bottleneck", &question(&given)).unwrap_err().field().to_owned();
        let machine = |peak: f64| json!({"bytes": 1, "peak_gb_per_s": peak, "peak_tflop_per_s": 1, "launch_us": 1, "link_gb_per_s": 1});
        assert_eq!(field(machine(0.0)), "peak_gb_per_s");
        let mut idle = machine(1.0);
        idle["bytes"] = json!(0);
        assert_eq!(field(idle), "bytes");
    }
}
