//! The question of the bottleneck panel: what the work takes of each resource, and how fast the machine is.

use vramlab_model::bottleneck::{self, Found, Machine, Work};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// Work to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// A matrix product 4096³ in BF16: three matrices once each.
    Gemm,
    /// 2²⁸ floats: two arrays in, one out, one addition each.
    Add,
    /// The same addition on 2¹² floats, one thousand times.
    SmallKernels,
    /// One GiB comes from the host and is read once.
    Upload,
    /// The reader's own numbers.
    Custom,
}

impl Preset {
    pub const ALL: [Self; 5] = [Self::Gemm, Self::Add, Self::SmallKernels, Self::Upload, Self::Custom];

    pub fn id(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Add => "add",
            Self::SmallKernels => "small_kernels",
            Self::Upload => "upload",
            Self::Custom => "custom",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.id() == id)
    }

    pub fn label(self) -> Text {
        match self {
            Self::Gemm => Text::new("矩阵乘", "matrix product"),
            Self::Add => Text::new("逐元素加", "large add"),
            Self::SmallKernels => Text::new("一千个小内核", "1000 small kernels"),
            Self::Upload => Text::new("从主机搬来", "upload"),
            Self::Custom => Text::new("自定", "custom"),
        }
    }

    /// What it is in numbers, for the line under the figure.
    pub fn about(self) -> Text {
        match self {
            Self::Gemm => Text::new(
                "BF16 的 4096 × 4096 × 4096 矩阵乘：三个矩阵各过一次显存，2 × 4096³ 次运算，一次启动。",
                "A 4096 × 4096 × 4096 product in BF16: three matrices cross memory once, 2 × 4096³ operations, one launch.",
            ),
            Self::Add => Text::new(
                "2²⁸ 个 float 的加法：两个数组读、一个写，每个元素一次加法。",
                "Adding 2²⁸ floats: two arrays are read, one is written, one addition each.",
            ),
            Self::SmallKernels => Text::new(
                "同样的加法，每次只有 4096 个 float，启动 1000 次。",
                "The same addition on 4096 floats at a time, launched 1000 times.",
            ),
            Self::Upload => Text::new(
                "1 GiB 从主机内存搬来，写进显存，再读一遍求和。",
                "1 GiB comes from host memory, is written to device memory and read once for a sum.",
            ),
            Self::Custom => Text::new("自己拖动四个滑块。", "Your own numbers, by the four sliders."),
        }
    }

    fn work(self) -> Option<Work> {
        let work = |bytes, flop, launches, link_bytes| Some(Work { bytes, flop, launches, link_bytes });
        match self {
            Self::Gemm => work(100_663_296.0, 137_438_953_472.0, 1.0, 0.0),
            Self::Add => work(3_221_225_472.0, 268_435_456.0, 1.0, 0.0),
            Self::SmallKernels => work(49_152_000.0, 4_096_000.0, 1000.0, 0.0),
            Self::Upload => work(2_147_483_648.0, 268_435_456.0, 1.0, 1_073_741_824.0),
            Self::Custom => None,
        }
    }
}

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: Preset,
    pub work: Work,
    pub machine: Machine,
}

const BYTES_MAX: f64 = 1.0e12;
const FLOP_MAX: f64 = 1.0e16;
const LAUNCHES_MAX: f64 = 1.0e6;

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let presets = Preset::ALL.iter().map(|preset| preset.id().into()).collect();
        let work = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en)).optional();
        let rate = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        vec![
            FieldSpec::new(
                "preset",
                "",
                FieldKind::Choice { options: presets },
                Text::new("从哪件活开始", "Work to start from"),
            )
            .default_value("gemm"),
            work("bytes", "B", BYTES_MAX, "进出显存的字节", "Bytes that cross device memory"),
            work("flop", "FLOP", FLOP_MAX, "浮点运算次数", "Floating-point operations"),
            work("launches", "1", LAUNCHES_MAX, "内核启动次数", "Kernel launches"),
            work("link_bytes", "B", BYTES_MAX, "经过主机链路的字节", "Bytes that cross the host link"),
            rate("peak_gb_per_s", "GB/s", 1.0, 1.0e5, "显存带宽", "Memory bandwidth").default_value(4800),
            rate("peak_tflop_per_s", "TFLOP/s", 0.01, 1.0e5, "运算峰值", "Peak arithmetic rate").default_value(989.5),
            rate("launch_us", "µs", 0.01, 1.0e4, "一次启动的时间", "Time of one launch").default_value(4),
            rate("link_gb_per_s", "GB/s", 0.1, 1.0e4, "主机链路一个方向的速率", "Rate of the host link, one way")
                .default_value(53),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = Preset::from_id(args.text("preset"));
        let preset = preset.ok_or_else(|| FieldError::conflict("preset", "is not among its options"))?;
        let mut work = preset.work().or_else(|| Preset::Gemm.work()).unwrap_or(EMPTY);
        let mut preset = preset;
        for (key, value) in [
            ("bytes", &mut work.bytes),
            ("flop", &mut work.flop),
            ("launches", &mut work.launches),
            ("link_bytes", &mut work.link_bytes),
        ] {
            if args.has(key) && (args.num(key) - *value).abs() > 0.0 {
                (*value, preset) = (args.num(key), Preset::Custom);
            }
        }
        let machine = Machine {
            peak_gb_per_s: args.num("peak_gb_per_s"),
            peak_tflop_per_s: args.num("peak_tflop_per_s"),
            launch_us: args.num("launch_us"),
            link_gb_per_s: args.num("link_gb_per_s"),
        };
        Ok(Self { preset, work, machine })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("preset".into(), self.preset.id().into());
        map.insert("bytes".into(), self.work.bytes.into());
        map.insert("flop".into(), self.work.flop.into());
        map.insert("launches".into(), self.work.launches.into());
        map.insert("link_bytes".into(), self.work.link_bytes.into());
        map.insert("peak_gb_per_s".into(), self.machine.peak_gb_per_s.into());
        map.insert("peak_tflop_per_s".into(), self.machine.peak_tflop_per_s.into());
        map.insert("launch_us".into(), self.machine.launch_us.into());
        map.insert("link_gb_per_s".into(), self.machine.link_gb_per_s.into());
        map
    }

    pub fn set_preset(&mut self, preset: Preset) {
        self.preset = preset;
        if let Some(work) = preset.work() {
            self.work = work;
        }
    }

    /// Nothing if nothing takes time.
    pub fn answer(&self) -> Option<Found> {
        bottleneck::run(&self.work, &self.machine)
    }
}

const EMPTY: Work = Work { bytes: 0.0, flop: 0.0, launches: 0.0, link_bytes: 0.0 };

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::bottleneck::Resource;

    /// Brief 01, vector 6 for the product; the others are bound by what they are named after.
    #[test]
    fn presets_show_one_bottleneck_each() {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        assert!((question.answer().unwrap().times_us[1] - 138.897).abs() < 0.001);
        for (preset, bound) in [
            (Preset::Gemm, Resource::Compute),
            (Preset::Add, Resource::Memory),
            (Preset::SmallKernels, Resource::Launches),
            (Preset::Upload, Resource::Link),
        ] {
            question.set_preset(preset);
            assert_eq!(question.answer().unwrap().bound, [bound], "{preset:?}");
            let args = Args::check(&Question::fields(), &question.params()).unwrap();
            assert_eq!(Question::from_args(&args).unwrap(), question);
        }
    }
}
