//! How strong the evidence of a run is: the ladder of the last chapter, and what the next rung asks for.
//!
//! E0 a formula alone. E1 a check on the processor or a simulator: it shows the principle, not a GPU's numbers. E2
//! measured on one GPU, with a matched baseline in the same run. E3 repeated, with an interval for every median, and with
//! a check that does not come from the clock: the hardware counters agree.

use super::{Counters, Judged, Verdict};
use vramlab_model::samples::LEAST_SAMPLES;
use vramlab_trace::{Backend, Run};
use vramlab_units::{Localized, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    E0,
    E1,
    E2,
    E3,
}

impl Level {
    pub fn id(self) -> &'static str {
        match self {
            Self::E0 => "E0",
            Self::E1 => "E1",
            Self::E2 => "E2",
            Self::E3 => "E3",
        }
    }

    pub fn means(self) -> Text {
        match self {
            Self::E0 => Text::new("只有公式", "a formula alone"),
            Self::E1 => Text::new("处理器或模拟器上的检验", "checked on a processor or simulator"),
            Self::E2 => Text::new("在一块 GPU 上测得，有对照", "measured on one GPU with a matched baseline"),
            Self::E3 => Text::new("重复过，有区间，另有独立检验", "repeated, with intervals and an independent check"),
        }
    }
}

/// A level, and what is missing for the next one (empty at the top).
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub level: Level,
    pub lacks: Localized,
}

const NO_POINT: Text = Text::new("还没有一个可信的测点", "no valid point has been measured");
const NO_GPU: Text = Text::new("还没有在 GPU 上测过", "it has not been measured on a GPU");
const NO_BASELINE: Text = Text::new("同一次运行里缺少对照点", "a matched baseline is missing in the run");
const NO_REPEAT: Text = Text::new("还没有重复过同样的运行", "the same run has not been repeated");
const FEW_SAMPLES: Text =
    Text::new("有的点不到 6 个样本，没有区间", "some points have fewer than 6 samples and no interval");
const NO_CHECK: Text = Text::new("没有与模型一致的硬件计数器", "no hardware counters agree with the model");

/// The level of a run. `n_repeats`: other runs that are comparable with it.
pub fn level(run: &Run, judged: &Judged, n_repeats: usize) -> Evidence {
    let at = |level: Level, lacks: Text| Evidence { level, lacks: lacks.into() };
    if !judged.points.iter().any(|point| point.value.is_some()) {
        return at(Level::E0, NO_POINT);
    }
    if !matches!(run.backend, Backend::Cuda | Backend::Wgpu) {
        return at(Level::E1, NO_GPU);
    }
    if !matches!(judged.verdict, Verdict::Shown { .. } | Verdict::Hidden { .. }) {
        return at(Level::E1, NO_BASELINE);
    }
    let has_intervals = run.points.iter().all(|point| point.samples_ns.len() >= LEAST_SAMPLES);
    let is_checked = matches!(judged.counters, Counters::Agree { .. });
    let wants = [(n_repeats == 0, NO_REPEAT), (!has_intervals, FEW_SAMPLES), (!is_checked, NO_CHECK)];
    let lacks: Vec<Text> = wants.into_iter().filter(|(is_lacking, _)| *is_lacking).map(|(_, text)| text).collect();
    if lacks.is_empty() {
        return Evidence { level: Level::E3, lacks: Localized::default() };
    }
    let zh: Vec<&str> = lacks.iter().map(|text| text.zh).collect();
    let en: Vec<&str> = lacks.iter().map(|text| text.en).collect();
    Evidence { level: Level::E2, lacks: Localized::both(zh.join("；"), en.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::*;
    use crate::testing::{experiment, kernel, run};

    fn level_of(run: &Run, n_repeats: usize) -> (Level, String) {
        let found = level(run, &judge(run, &experiment(), &kernel()), n_repeats);
        (found.level, found.lacks.en.unwrap_or_default())
    }

    #[test]
    fn each_rung_says_what_the_next_one_asks_for() {
        let mut run = run(|_| 1.25);
        let (found, lacks) = level_of(&run, 0);
        assert_eq!(found, Level::E2);
        assert_eq!(lacks, format!("{}; {}; {}", NO_REPEAT.en, FEW_SAMPLES.en, NO_CHECK.en));
        // Six samples, a repetition, and counters that agree: 32 sectors a request at stride 8, as the model says.
        for (point, sectors) in run.points.iter_mut().zip([4.0, 8.0, 16.0, 32.0, 32.0]) {
            point.samples_ns.extend(point.samples_ns.clone());
            let n_requests = f64::from(1 << 25) / point.params["stride"].as_f64().unwrap();
            let metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum".to_owned();
            point.counters.insert(metric, sectors * n_requests);
        }
        assert_eq!(level_of(&run, 1), (Level::E3, String::new()));
        assert_eq!(level_of(&run, 0), (Level::E2, NO_REPEAT.en.to_owned()));
        run.points.truncate(1);
        assert_eq!(level_of(&run, 1).0, Level::E1, "without the other end there is no baseline");
        run.points.clear();
        assert_eq!(level_of(&run, 1).0, Level::E0);
    }

    #[test]
    fn a_run_on_the_processor_stays_evidence_of_the_processor() {
        let mut run = run(|_| 1.25);
        run.backend = Backend::Cpu;
        assert_eq!(level_of(&run, 9), (Level::E1, NO_GPU.en.to_owned()));
    }
}
