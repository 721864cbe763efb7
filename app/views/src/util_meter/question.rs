//! The question of the utilisation meter: kernels of one length, a gap after each, and how fast they move bytes.

use vramlab_model::utilisation::{self, Found, Kernel};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub kernel_ms: u64,
    pub gap_ms: u64,
    /// Bandwidth while a kernel runs.
    pub rate_gb_per_s: f64,
    pub peak_gb_per_s: f64,
    pub window_ms: u64,
}

/// States worth comparing: a name, kernel, gap, and share of the rate slider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    pub label: Text,
    pub kernel_ms: u64,
    pub gap_ms: u64,
    pub rate_gb_per_s: f64,
}

/// One thread with one 4-byte load under way, at the latency that a chain of loads measures on an H200.
const ONE_THREAD_GB_PER_S: f64 = 4.0 / 335.0;

/// The copy rate is an H200's measured median; the others are made up to be compared with it.
pub const PRESETS: [Preset; 4] = [
    Preset { label: Text::new("大拷贝", "large copy"), kernel_ms: 1000, gap_ms: 0, rate_gb_per_s: 4280.0 },
    Preset {
        label: Text::new("一直跑但很慢", "busy but slow"), kernel_ms: 1000, gap_ms: 0, rate_gb_per_s: 400.0
    },
    Preset {
        label: Text::new("一个线程", "one thread"),
        kernel_ms: 1000,
        gap_ms: 0,
        rate_gb_per_s: ONE_THREAD_GB_PER_S,
    },
    Preset { label: Text::new("短促的拷贝", "short bursts"), kernel_ms: 20, gap_ms: 80, rate_gb_per_s: 4280.0 },
];

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let ms = |key, min, zh, en| FieldSpec::int(key, "ms", min, 1000, Text::new(zh, en));
        let rate = Text::new("内核运行时的显存带宽", "Memory bandwidth while a kernel runs");
        let peak = Text::new("显存峰值带宽", "Peak bandwidth of the memory");
        vec![
            ms("kernel_ms", 1, "一个内核跑多久", "How long a kernel runs").default_value(1000),
            ms("gap_ms", 0, "两个内核之间空多久", "Gap between two kernels").default_value(0),
            FieldSpec::num("rate_gb_per_s", "GB/s", 0.0, 1.0e4, rate).default_value(400),
            FieldSpec::num("peak_gb_per_s", "GB/s", 100.0, 1.0e4, peak).default_value(4800),
            ms("window_ms", 167, "采样窗口", "Sample window").default_value(1000),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let this = Self {
            kernel_ms: args.uint("kernel_ms"),
            gap_ms: args.uint("gap_ms"),
            rate_gb_per_s: args.num("rate_gb_per_s"),
            peak_gb_per_s: args.num("peak_gb_per_s"),
            window_ms: args.uint("window_ms"),
        };
        if this.rate_gb_per_s > this.peak_gb_per_s {
            let reason = format!("{} is more than peak_gb_per_s = {}", this.rate_gb_per_s, this.peak_gb_per_s);
            let key = if this.rate_gb_per_s > 400.0 { "rate_gb_per_s" } else { "peak_gb_per_s" };
            return Err(FieldError::conflict(key, reason));
        }
        Ok(this)
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("kernel_ms".into(), self.kernel_ms.into());
        map.insert("gap_ms".into(), self.gap_ms.into());
        map.insert("rate_gb_per_s".into(), self.rate_gb_per_s.into());
        map.insert("peak_gb_per_s".into(), self.peak_gb_per_s.into());
        map.insert("window_ms".into(), self.window_ms.into());
        map
    }

    /// The kernels that begin in the window, in milliseconds: first to last.
    pub fn intervals(&self) -> Vec<(u64, u64)> {
        let period = self.kernel_ms + self.gap_ms;
        let starts = (0..self.window_ms).step_by(period.max(1) as usize);
        starts.map(|start| (start, start + self.kernel_ms)).collect()
    }

    /// Asks the model.
    pub fn answer(&self) -> Found {
        let kernel = |(start, end): (u64, u64)| Kernel {
            start_us: start as f64 * 1.0e3,
            end_us: end as f64 * 1.0e3,
            bytes: self.rate_gb_per_s * (end - start) as f64 * 1.0e6, // 1 GB/s moves 10⁶ bytes in a millisecond
        };
        let kernels: Vec<Kernel> = self.intervals().into_iter().map(kernel).collect();
        utilisation::run(&kernels, 0.0, self.window_ms as f64 * 1.0e3)
    }

    pub fn is_preset(&self, preset: &Preset) -> bool {
        (self.kernel_ms, self.gap_ms) == (preset.kernel_ms, preset.gap_ms)
            && (self.rate_gb_per_s / preset.rate_gb_per_s - 1.0).abs() < 0.01
    }

    pub fn set(&mut self, preset: &Preset) {
        (self.kernel_ms, self.gap_ms) = (preset.kernel_ms, preset.gap_ms);
        self.rate_gb_per_s = preset.rate_gb_per_s.min(self.peak_gb_per_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(preset: usize) -> Found {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        question.set(&PRESETS[preset]);
        assert!(question.is_preset(&PRESETS[preset]));
        question.answer()
    }

    /// A card that is busy all the time may move less than one that is busy a fifth of it.
    #[test]
    fn utilisation_and_bandwidth_disagree() {
        let (slow, bursts, one) = (ask(1), ask(3), ask(2));
        assert!((slow.gpu_util() - 1.0).abs() < 1e-12 && (slow.achieved_gb_per_s() - 400.0).abs() < 1e-9);
        assert!((bursts.gpu_util() - 0.2).abs() < 1e-12 && (bursts.achieved_gb_per_s() - 856.0).abs() < 1e-9);
        assert!((one.gpu_util() - 1.0).abs() < 1e-12 && (one.achieved_gb_per_s() - 0.011_940).abs() < 1e-6);
    }
}
