//! NVIDIA's parts: driver, device, compiler, counters, MIG, who else is there.

use super::super::drive::wake_by;
use super::{Line, State, Version};
use nvml_wrapper::Nvml;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use vramlab_gpu::RunError;
use vramlab_gpu::backend::cuda::{compile, cupti};
use vramlab_gpu::client::{Client, ClientEvent, Limits, Spawn, Target};
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::{Bytes, Lang, Localized, Text, show};

/// How long the runner's child may take to open the device; a cold driver needs longer.
const PATIENCE: Duration = Duration::from_millis(650);

/// The oldest driver API and branch that the program's calls exist in.
const DRIVER_API: (i32, i32) = (12, 0);
const DRIVER_BRANCH: u32 = 525;

/// The device being opened in the runner's child.
pub struct Probe {
    client: Option<(Client, u64)>,
    woken: Receiver<()>,
    started: Instant,
}

/// What the child said about the device.
enum Answer {
    Ready(Box<DeviceFacts>),
    Refused(RunError),
    /// Not within the time.
    Waiting,
}

impl Probe {
    pub fn start() -> Self {
        let (wake, woken) = channel();
        let client = Spawn::own().ok().map(|spawn| {
            let client = Client::new(spawn, Limits::default(), wake_by(wake));
            let wish = client.open(Target::new(Backend::Cuda));
            (client, wish)
        });
        Self { client, woken, started: Instant::now() }
    }

    fn answer(mut self) -> Answer {
        let Some((client, wish)) = &mut self.client else { return Answer::Waiting };
        loop {
            for event in client.poll().into_iter().filter(|event| event.id() == Some(*wish)) {
                match event {
                    ClientEvent::Opened { facts, .. } => return Answer::Ready(facts),
                    ClientEvent::Failed { error, .. } => return Answer::Refused(error),
                    _ => {}
                }
            }
            let Some(left) = PATIENCE.checked_sub(self.started.elapsed()) else { return Answer::Waiting };
            let _ = self.woken.recv_timeout(left.min(Duration::from_millis(50)));
        }
    }
}

/// What NVML tells; it never opens a context.
#[derive(Default)]
struct Sensed {
    driver: Option<String>,
    api: Option<(i32, i32)>,
    device: Option<String>,
    cc: Option<(i32, i32)>,
    total_bytes: Option<u64>,
    is_mig: Option<bool>,
    n_processes: Option<usize>,
}

fn sense() -> Sensed {
    let Ok(nvml) = Nvml::init() else { return Sensed::default() };
    let mut out = Sensed {
        driver: nvml.sys_driver_version().ok(),
        api: nvml.sys_cuda_driver_version().ok().map(|version| (version / 1000, version % 1000 / 10)),
        ..Sensed::default()
    };
    if let Ok(device) = nvml.device_by_index(0) {
        out.device = device.name().ok();
        out.cc = device.cuda_compute_capability().ok().map(|cc| (cc.major, cc.minor));
        out.total_bytes = device.memory_info().ok().map(|memory| memory.total);
        out.is_mig = device.mig_mode().ok().map(|mode| mode.current != 0);
        out.n_processes = device.running_compute_processes().ok().map(|processes| processes.len());
    }
    out
}

pub fn lines(probe: Probe) -> (Vec<Line>, Vec<Version>) {
    let sensed = sense();
    let nvrtc = compile::version();
    let has_cupti = cupti::is_installed();
    let answer = probe.answer();
    let device = device(&answer, &sensed);
    let has_gpu = device.state != State::Missing;
    let mut lines = vec![device, compiler(&nvrtc), counters(has_cupti, &sensed)];
    if !has_gpu {
        lines[1..].iter_mut().filter(|line| line.fix.is_some()).for_each(only_with_a_gpu);
    }
    lines.extend(neighbours(&sensed));
    let cc = match &answer {
        Answer::Ready(facts) => facts.cc.map(|cc| (cc as i32 / 10, cc as i32 % 10)),
        _ => sensed.cc,
    };
    let versions = versions(&sensed, nvrtc.as_ref().ok().copied(), has_cupti, cc);
    (lines, versions)
}

/// Advice that is of no use while there is no GPU.
fn only_with_a_gpu(line: &mut Line) {
    *line = line.clone().fix(
        "先要有 GPU 和驱动，装它才有用；没有时，实验改为重放录制",
        "of use only with a GPU and its driver; without, experiments replay their recordings",
    );
}

const GPU: Text = Text::new("GPU", "GPU");

fn device(answer: &Answer, sensed: &Sensed) -> Line {
    match answer {
        Answer::Ready(facts) => {
            let memory = facts.total_bytes.map(|bytes| show::bytes_binary(Bytes(bytes as u64))).unwrap_or_default();
            let free = facts.free_bytes.map(|bytes| show::bytes_binary(Bytes(bytes as u64))).unwrap_or_default();
            let cc = facts.cc.map(|cc| format!("sm_{cc}")).unwrap_or_default();
            Line::new(
                "gpu",
                GPU,
                State::Works,
                format!("{}，{cc}，显存 {memory}，空闲 {free}，驱动 {}", facts.name, facts.driver),
                format!("{}, {cc}, {memory} memory, {free} free, driver {}", facts.name, facts.driver),
            )
        }
        Answer::Refused(RunError::Unavailable { what, fix }) => missing("gpu", GPU, what, fix),
        Answer::Refused(error) => Line::new("gpu", GPU, State::Missing, error.to_string(), error.to_string())
            .fix("录制照样能放；修好后再运行 doctor", "recordings still play; run doctor again once it is mended"),
        Answer::Waiting => {
            let name = sensed.device.clone().unwrap_or_else(|| "?".to_owned());
            let memory = sensed.total_bytes.map(|bytes| show::bytes_binary(Bytes(bytes))).unwrap_or_default();
            Line::new(
                "gpu",
                GPU,
                State::Limited,
                format!("{name} {memory}，驱动还在启动，{} 毫秒内没有打开", PATIENCE.as_millis()),
                format!("{name} {memory}; the driver did not open it within {} ms", PATIENCE.as_millis()),
            )
            .fix(
                "冷启动的驱动要几秒：vramlab run stream_copy/main 会等它",
                "a cold driver takes seconds; vramlab run stream_copy/main waits for it",
            )
        }
    }
}

/// A part that is not here, in the runner's words.
fn missing(id: &'static str, title: Text, what: &Localized, fix: &Localized) -> Line {
    let (zh, en) = (Lang::Zh, Lang::En);
    Line::new(id, title, State::Missing, what.get(zh), what.get(en)).fix(fix.get(zh), fix.get(en))
}

fn compiler(nvrtc: &Result<(i32, i32), RunError>) -> Line {
    let title = Text::new("编译器", "compiler");
    match nvrtc {
        Ok((major, minor)) => {
            let text = format!("NVRTC {major}.{minor}");
            Line::new("nvrtc", title, State::Works, text.clone(), text)
        }
        Err(RunError::Unavailable { what, fix }) => missing("nvrtc", title, what, fix),
        Err(error) => Line::new("nvrtc", title, State::Missing, error.to_string(), error.to_string()),
    }
}

/// The ladder of `measuring`: CUPTI in process, else Nsight Compute, else the model.
fn counters(has_cupti: bool, sensed: &Sensed) -> Line {
    let title = Text::new("计数器", "counters");
    let has_ncu = on_path("ncu");
    let is_restricted = std::fs::read_to_string("/proc/driver/nvidia/params")
        .is_ok_and(|text| text.lines().any(|line| line.replace(' ', "") == "RmProfilingAdminOnly:1"));
    let line = match (has_cupti, has_ncu) {
        (true, _) => Line::new(
            "counters",
            title,
            if sensed.device.is_some() { State::Works } else { State::Limited },
            "CUPTI 在，可以在进程内读硬件计数器",
            "CUPTI is here: hardware counters are read in process",
        ),
        (false, true) => Line::new(
            "counters",
            title,
            State::Limited,
            "没有 CUPTI，有 Nsight Compute（ncu）",
            "no CUPTI; Nsight Compute (ncu) is installed",
        )
        .fix("pip install nvidia-cuda-cupti", "pip install nvidia-cuda-cupti"),
        (false, false) => Line::new(
            "counters",
            title,
            State::Missing,
            "没有 CUPTI，也没有 Nsight Compute：计数由模型算，录制里有实测值",
            "neither CUPTI nor Nsight Compute: counts come from the model, recordings carry measured ones",
        )
        .fix(
            "pip install nvidia-cuda-cupti，或安装 CUDA toolkit",
            "pip install nvidia-cuda-cupti, or install the CUDA toolkit",
        ),
    };
    if has_cupti && is_restricted {
        return Line { state: State::Limited, ..line }.fix(
            "驱动只让管理员读计数器（RmProfilingAdminOnly: 1）；管理员可设 NVreg_RestrictProfilingToAdminUsers=0",
            "the driver lets only administrators count (RmProfilingAdminOnly: 1); an administrator may set \
             NVreg_RestrictProfilingToAdminUsers=0",
        );
    }
    line
}

fn neighbours(sensed: &Sensed) -> Vec<Line> {
    let mut out = Vec::new();
    match sensed.is_mig {
        Some(true) => out.push(
            Line::new(
                "mig",
                Text::new("MIG", "MIG"),
                State::Limited,
                "这块卡切成了 MIG 分片，实验只看得到自己那片",
                "the card is split by MIG; experiments see their own slice only",
            )
            .fix(
                "带宽与缓存按分片算，和整卡的录制不能直接比",
                "bandwidth and caches are the slice's, and not comparable with recordings of a whole card",
            ),
        ),
        Some(false) => out.push(Line::new("mig", Text::new("MIG", "MIG"), State::Works, "没有切分", "not split")),
        None => {}
    }
    if let Some(n) = sensed.n_processes {
        let title = Text::new("其他进程", "neighbours");
        out.push(match n {
            0 => Line::new("neighbours", title, State::Works, "没有别的计算进程", "no other compute process"),
            n => Line::new(
                "neighbours",
                title,
                State::Limited,
                format!("还有 {n} 个计算进程在用这块卡"),
                format!("{n} other compute processes use this card"),
            )
            .fix("计时会互相干扰；nvidia-smi 列出它们", "timings disturb each other; nvidia-smi lists them"),
        });
    }
    out
}

fn on_path(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(name).is_file()))
}

/// The oldest NVRTC that compiles for an architecture (CUDA release notes), and from when on it no longer does.
fn nvrtc_for(cc: (i32, i32)) -> ((i32, i32), Option<(i32, i32)>) {
    match cc {
        (12, _) | (10, 0..=1) => ((12, 8), None),
        (10, _) => ((12, 9), None),
        (9, _) | (8, 9) => ((11, 8), None),
        (8, _) => ((11, 1), None),
        (7, 5) => ((10, 0), None),
        _ => ((9, 0), Some((13, 0))),
    }
}

fn versions(sensed: &Sensed, nvrtc: Option<(i32, i32)>, has_cupti: bool, cc: Option<(i32, i32)>) -> Vec<Version> {
    let text = |version: Option<(i32, i32)>| version.map(|(major, minor)| format!("{major}.{minor}"));
    let absent = || Localized::both("没有；录制仍可重放", "absent; recordings still play");
    let driver_allows = match sensed.api {
        None => absent(),
        Some(api) if api < DRIVER_API => Localized::both("太旧，要更新", "too old, update it"),
        Some((major, minor)) => Localized::both(
            format!("最高到 CUDA {major}.{minor} 的内核"),
            format!("kernels up to CUDA {major}.{minor}"),
        ),
    };
    let both = |text: String| Localized::both(text.clone(), text);
    vec![
        Version {
            part: Text::new("驱动", "driver"),
            found: sensed.driver.clone(),
            needed: both(format!("≥ {DRIVER_BRANCH}")),
            allows: driver_allows.clone(),
        },
        Version {
            part: Text::new("CUDA 驱动 API", "CUDA driver API"),
            found: text(sensed.api),
            needed: both(format!("≥ {}.{}", DRIVER_API.0, DRIVER_API.1)),
            allows: driver_allows,
        },
        Version {
            part: Text::new("CUDA 运行时", "CUDA runtime"),
            found: None,
            needed: Localized::both("不需要", "none"),
            allows: Localized::both("程序直接用驱动 API", "the driver API is used directly"),
        },
        nvrtc_row(nvrtc, cc),
        Version {
            part: Text::new("CUPTI", "CUPTI"),
            found: has_cupti.then(|| "✓".to_owned()),
            needed: Localized::both("可选", "optional"),
            allows: if has_cupti {
                Localized::both("硬件计数器", "hardware counters")
            } else {
                Localized::both("不在，计数由模型算", "absent; counts come from the model")
            },
        },
        Version {
            part: Text::new("合起来", "together"),
            found: None,
            needed: Localized::both("", ""),
            allows: together(sensed.api, nvrtc, cc),
        },
    ]
}

fn nvrtc_row(nvrtc: Option<(i32, i32)>, cc: Option<(i32, i32)>) -> Version {
    let needed = match cc.map(|cc| (cc, nvrtc_for(cc))) {
        Some(((major, minor), (oldest, _))) => {
            format!("≥ {}.{} (sm_{major}{minor})", oldest.0, oldest.1)
        }
        None => "≥ 12.0".to_owned(),
    };
    let allows = match nvrtc {
        None => Localized::both("不在，编译不了内核", "absent; kernels cannot be compiled"),
        Some(_) => Localized::both("在本机编译内核", "kernels are compiled here"),
    };
    Version {
        part: Text::new("NVRTC", "NVRTC"),
        found: nvrtc.map(|(major, minor)| format!("{major}.{minor}")),
        needed: Localized::both(needed.clone(), needed),
        allows,
    }
}

/// What the parts come to together.
fn together(api: Option<(i32, i32)>, nvrtc: Option<(i32, i32)>, cc: Option<(i32, i32)>) -> Localized {
    let (Some(api), Some(nvrtc)) = (api, nvrtc) else {
        return Localized::both(
            "CPU 实验现场跑，GPU 实验放录制",
            "CPU experiments live, GPU experiments from recordings",
        );
    };
    if api < DRIVER_API {
        return Localized::both("驱动太旧，GPU 实验放录制", "the driver is too old: GPU experiments from recordings");
    }
    if let Some((major, minor)) = cc {
        let (oldest, ended) = nvrtc_for((major, minor));
        if nvrtc < oldest || ended.is_some_and(|ended| nvrtc >= ended) {
            return Localized::both(
                format!("这个 NVRTC 不给 sm_{major}{minor} 编机器码，改编 PTX 交给驱动"),
                format!("this NVRTC has no machine code for sm_{major}{minor}; PTX goes to the driver instead"),
            );
        }
    }
    if nvrtc.0 > api.0 {
        return Localized::both(
            format!("NVRTC {}.x 比驱动新一代，装 NVRTC {}.x 或更新驱动", nvrtc.0, api.0),
            format!(
                "NVRTC {}.x is a generation newer than the driver: install NVRTC {}.x or update the driver",
                nvrtc.0, api.0
            ),
        );
    }
    Localized::both("GPU 实验现场跑", "GPU experiments live")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R2, R3: what the versions come to, as the driver's compatibility rules have it.
    #[test]
    fn versions_together() {
        let en = |api, nvrtc, cc| together(api, nvrtc, cc).en.unwrap_or_default();
        let hopper = Some((9, 0));
        assert_eq!(en(Some((13, 0)), Some((13, 0)), hopper), "GPU experiments live");
        assert_eq!(en(Some((12, 4)), Some((12, 8)), hopper), "GPU experiments live");
        assert!(en(Some((12, 4)), Some((13, 0)), hopper).contains("a generation newer than the driver"));
        assert!(en(Some((11, 4)), Some((12, 8)), hopper).contains("driver is too old"));
        assert!(en(Some((12, 8)), Some((12, 4)), Some((12, 0))).contains("no machine code for sm_120"));
        assert!(en(Some((13, 0)), Some((13, 0)), Some((7, 0))).contains("no machine code for sm_70"));
        assert!(en(None, None, None).contains("from recordings"));
    }

    #[test]
    fn a_missing_driver_says_what_to_do() {
        let error = RunError::unavailable(("没有驱动", "no NVIDIA driver"), ("装驱动", "install the NVIDIA driver"));
        let line = device(&Answer::Refused(error), &Sensed::default());
        assert_eq!(line.state, State::Missing);
        assert!(line.fix.is_some_and(|fix| fix.get(vramlab_units::Lang::En).contains("install")));
    }
}
