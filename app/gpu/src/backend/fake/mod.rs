//! Plays what goes wrong elsewhere: every failure of a driver, a kernel or a child process, without any of them. Its
//! results are never shown as measurements. The suites and `dev faults` walk [`SCRIPTS`].
//!
//! Here are the scripts that fail inside a job, behind the [`Backend`] seam; `raw.rs` plays those that break the
//! protocol itself.

mod raw;

pub use raw::play;

use super::{Backend, PointCx, Rung};
use crate::build::{Build, Taken};
use crate::error::RunError;
use crate::plan::PointPlan;
use crate::protocol::Job;
use crate::sys;
use std::thread;
use std::time::Duration;
use vramlab_trace::{DeviceFacts, Invalid, OracleOutcome, Point, Telemetry};
use vramlab_units::Text;

/// One failure, or none. `case` names the entry of the fault list that it covers.
#[derive(Debug)]
pub struct Script {
    pub id: &'static str,
    pub case: &'static str,
    pub title: Text,
    is_raw: bool,
}

const fn job(id: &'static str, case: &'static str, zh: &'static str, en: &'static str) -> Script {
    Script { id, case, title: Text::new(zh, en), is_raw: false }
}

const fn raw(id: &'static str, case: &'static str, zh: &'static str, en: &'static str) -> Script {
    Script { id, case, title: Text::new(zh, en), is_raw: true }
}

pub const SCRIPTS: &[Script] = &[
    job("ok", "", "一切正常", "everything works"),
    job("slow", "", "每个点要半秒，可以取消", "half a second a point, can be cancelled"),
    job("no_driver", "R1", "没有 NVIDIA 驱动", "no NVIDIA driver"),
    job("old_driver", "R2", "驱动太旧", "the driver is too old"),
    job("no_nvrtc", "R3", "找不到 NVRTC", "NVRTC is missing"),
    job("compile_error", "R4", "内核源码有错，编译不过", "the kernel does not compile"),
    job("compile_hangs", "R6", "编译永远不结束", "the compiler never ends"),
    job("shared_memory", "R7", "共享内存要得太多", "too much shared memory is asked for"),
    job("illegal_address", "R5", "内核访问了非法地址", "the kernel reads an illegal address"),
    job("misaligned_address", "R5", "内核的访问没有对齐", "the kernel's access is misaligned"),
    job("device_assert", "R5", "内核里的断言失败", "an assertion inside the kernel fails"),
    job("hang", "R6", "内核永远不结束", "the kernel never ends"),
    job("out_of_memory", "R7", "显存不够", "not enough device memory"),
    job("segfault", "R8", "运行进程访问了坏地址", "the runner reads a bad address"),
    job("exit_139", "R8", "运行进程以 139 退出", "the runner exits with 139"),
    job("panic", "R8", "运行进程 panic", "the runner panics"),
    job("frozen", "R8", "运行进程停住，管道不关", "the runner stands still with its pipes open"),
    job("prints", "R8", "库往标准输出打印", "a library prints to standard output"),
    job("exclusive", "R11", "GPU 被另一个程序独占", "another program has the GPU to itself"),
    job("shared_gpu", "R11", "另一个程序也在用这块 GPU", "another program uses the GPU too"),
    job("gpu_lost", "R12", "GPU 掉线", "the GPU falls off the bus"),
    job("wrong_result", "R14", "结果算错了", "the result is wrong"),
    job("nan_result", "R14", "结果是 NaN", "the result is not a number"),
    raw("garbage", "R8", "往协议里说胡话", "speaks garbage into the protocol"),
    raw("cut_line", "R8", "话说到一半就退出", "leaves in the middle of a message"),
    raw("flood", "R8", "一行 1 GB", "a line of 1 GB"),
    raw("wrong_job", "R8", "回答一个没人问过的任务", "answers a job that nobody asked for"),
    raw("late_answer", "R8", "取消以后还在回答", "goes on answering after a cancel"),
    raw("silent", "R8", "启动后一句话也不说", "never says a word"),
    raw("closes_pipes", "R8", "关掉管道却不退出", "closes its pipes and stays"),
    raw("crash_at_start", "R9", "一启动就崩溃", "crashes at start"),
    raw("old_version", "R16", "说的是旧版协议", "speaks an older protocol"),
];

impl Script {
    pub fn find(id: &str) -> Option<&'static Self> {
        SCRIPTS.iter().find(|script| script.id == id)
    }

    /// True if it breaks the protocol itself, so that no back end can play it.
    pub fn is_raw(&self) -> bool {
        self.is_raw
    }
}

/// Opens the scripted back end; the scripts about a missing or taken device fail here.
pub fn open(script: &'static Script) -> Result<Box<dyn Backend>, RunError> {
    match script.id {
        "no_driver" => Err(RunError::unavailable(
            ("没有找到 NVIDIA 驱动", "no NVIDIA driver was found"),
            ("重放录制，或安装驱动", "replay a recorded trace, or install the driver"),
        )),
        "old_driver" => Err(RunError::unavailable(
            ("驱动支持到 CUDA 11.4，需要 12.0", "the driver speaks CUDA 11.4, 12.0 is needed"),
            ("把驱动更新到 525 或更新的版本", "update the driver to 525 or later"),
        )),
        "no_nvrtc" => Err(RunError::unavailable(
            ("没有找到 libnvrtc", "libnvrtc was not found"),
            ("安装 CUDA toolkit 里的 NVRTC 包", "install the CUDA toolkit's NVRTC package"),
        )),
        "exclusive" => Err(device(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "another program has the GPU to itself", false)),
        _ => Ok(Box::new(Fake { script })),
    }
}

struct Fake {
    script: &'static Script,
}

impl Backend for Fake {
    fn facts(&mut self) -> Result<DeviceFacts, RunError> {
        Ok(DeviceFacts {
            name: format!("scripted device ({})", self.script.id),
            driver: "none".to_owned(),
            total_bytes: Some(8.0 * f64::from(1 << 30)),
            free_bytes: Some(6.0 * f64::from(1 << 30)),
            ..DeviceFacts::default()
        })
    }

    /// A source that is plainly made up: its text is the PTX.
    fn build(&mut self, job: &Job, cx: &mut PointCx) -> Result<Option<Build>, RunError> {
        match self.script.id {
            "compile_error" => return Err(does_not_compile(job)),
            "compile_hangs" => loop {
                thread::park();
            },
            "slow" => nap(Duration::from_millis(500), cx)?,
            "shared_memory" => return Err(device(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", TOO_MUCH, false)),
            _ => {}
        }
        let taken = Taken { entry: job.kernel.slug.clone(), registers: 32, threads: 256, ..Taken::default() };
        let ptx = job.sources.values().cloned().collect();
        Ok(Some(Build { arch: "sm_90".to_owned(), log: String::new(), entries: vec![taken.with_occupancy(90)], ptx }))
    }

    fn begin(&mut self, job: &Job, _cx: &mut PointCx) -> Result<Rung, RunError> {
        match self.script.id {
            "compile_error" => Err(does_not_compile(job)),
            _ => Ok(Rung::none("a scripted device has no counters")),
        }
    }

    fn run_point(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError> {
        play_in_job(self.script.id, job, cx)?;
        Ok(scripted_point(self.script.id, point))
    }
}

const TOO_MUCH: &str = "a block asks for more shared memory than the device has";

fn does_not_compile(job: &Job) -> RunError {
    RunError::Compile {
        arch: "sm_90".to_owned(),
        options: vec!["--gpu-architecture=sm_90".to_owned()],
        log: format!("{}.cu(3): error: expected a \";\"", job.kernel.slug),
    }
}

/// Misbehaves, returns the script's error, or returns in peace.
#[expect(clippy::print_stdout, reason = "the script is about a library that prints")]
fn play_in_job(id: &str, job: &Job, cx: &mut PointCx) -> Result<(), RunError> {
    let fatal = |code, name: &str, meaning: &str| {
        Err(RunError::Device {
            code,
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            kernel: job.kernel.slug.clone(),
            is_fatal: true,
        })
    };
    match id {
        "slow" => return nap(Duration::from_millis(500), cx),
        "hang" => loop {
            thread::park();
        },
        "frozen" => sys::freeze(),
        "segfault" => sys::crash(),
        "exit_139" => sys::exit_now(139),
        "panic" => panic!("a scripted panic"),
        "prints" => println!("{}", "a chatty library ".repeat(4096)),
        "shared_gpu" => {
            cx.set_telemetry(Telemetry { other_processes: Some(1), ..Telemetry::default() });
        }
        "out_of_memory" => {
            return Err(RunError::OutOfMemory { asked_bytes: 6 << 30, free_bytes: 1 << 30, total_bytes: 8 << 30 });
        }
        "illegal_address" => return fatal(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal address was accessed"),
        "misaligned_address" => return fatal(716, "CUDA_ERROR_MISALIGNED_ADDRESS", "an access was not aligned"),
        "device_assert" => return fatal(710, "CUDA_ERROR_ASSERT", "an assertion in the kernel failed"),
        "gpu_lost" => return fatal(999, "CUDA_ERROR_UNKNOWN", "the GPU is lost"),
        _ => {}
    }
    Ok(())
}

/// Waits in short steps, so that a cancel is noticed.
fn nap(time: Duration, cx: &PointCx) -> Result<(), RunError> {
    let until = cx.elapsed() + time;
    while cx.elapsed() < until {
        cx.check()?;
        thread::sleep(Duration::from_millis(5));
    }
    cx.check()
}

/// A point whose times are plainly made up: a microsecond for every unit of x.
fn scripted_point(id: &str, point: &PointPlan) -> Point {
    let wrong = |found: f64| OracleOutcome::Failed { first_wrong_idx: 17, expected: 1.0, found, n_wrong: 3 };
    let oracle = match id {
        "wrong_result" => wrong(2.0),
        "nan_result" => wrong(f64::NAN),
        _ => OracleOutcome::Passed { n_checked: 64, worst_error: 0.0 },
    };
    let invalid = matches!(oracle, OracleOutcome::Failed { .. }).then_some(Invalid::WrongResult);
    Point {
        series: point.series.clone(),
        params: point.params.clone(),
        samples_ns: vec![1000.0 * point.x; point.n_samples as usize],
        readings: Default::default(),
        counters: Default::default(),
        telemetry: Telemetry::default(),
        oracle: Some(oracle),
        invalid,
    }
}

fn device(code: i32, name: &str, meaning: &str, is_fatal: bool) -> RunError {
    RunError::Device { code, name: name.to_owned(), meaning: meaning.to_owned(), kernel: "none".to_owned(), is_fatal }
}
