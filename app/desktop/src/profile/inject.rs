//! The library of ours that the driver loads into the program, and the files that it leaves.

use std::path::{Path, PathBuf};
use std::process::Command;
use vramlab_profile::activity::{self, Without};
use vramlab_profile::record::Activity;
use vramlab_profile::wire;
use vramlab_units::{Localized, Text};

/// The driver's own variable.
const CUDA: &str = "CUDA_INJECTION64_PATH";
/// What one process may write: over a million and a half records.
const MAX_BYTES: u64 = 64 << 20;

/// The folder that the program's processes write to; it is gone when this is dropped.
pub struct Injected {
    library: PathBuf,
    folder: tempfile::TempDir,
}

impl Injected {
    /// Finds the library, or says why nothing is injected.
    pub fn prepare() -> Result<Self, Localized> {
        if !cfg!(unix) {
            return Err(Text::new("这个系统上不注入 CUPTI。", "CUPTI is not injected on this system.").into());
        }
        if std::env::var_os(CUDA).is_some() {
            return Err(Text::new(
                "CUDA_INJECTION64_PATH 已经被别的工具占用：没有 CUPTI 的记录。",
                "CUDA_INJECTION64_PATH is taken by another tool: there are no records of CUPTI.",
            )
            .into());
        }
        let library = find().ok_or_else(|| {
            Localized::both(
                format!("程序旁边没有 {}：没有 CUPTI 的记录。", vramlab_inject::FILE),
                format!("{} does not lie beside the program: there are no records of CUPTI.", vramlab_inject::FILE),
            )
        })?;
        let folder = tempfile::tempdir().map_err(|error| {
            Localized::both(
                format!("没有临时文件夹（{error}）：没有 CUPTI 的记录。"),
                format!("There is no temporary folder ({error}), and so no records of CUPTI."),
            )
        })?;
        Ok(Self { library, folder })
    }

    /// Has the library loaded into the program and whatever that starts.
    pub fn arm(&self, command: &mut Command) {
        command.env(CUDA, &self.library);
        command.env(wire::DIR, self.folder.path());
        command.env(wire::MAX_BYTES, MAX_BYTES.to_string());
    }

    /// What every process left, and what went wrong.
    pub fn collect(&self, zero_ns: u64) -> (Vec<Activity>, Vec<Localized>) {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        for path in files(self.folder.path()) {
            let read = std::fs::read(&path).map_err(|_| Without::NotOurs);
            match read.and_then(|bytes| activity::read(&bytes, zero_ns)) {
                Ok(activity) => out.push(activity),
                Err(why) => {
                    let note = told(why);
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
        }
        if out.is_empty() && notes.is_empty() {
            notes.push(
                Text::new(
                    "没有进程加载过注入的库：程序没有用 CUDA，或者没有经过它的驱动。",
                    "No process loaded the injected library: the program did not use CUDA, or not through its driver.",
                )
                .into(),
            );
        }
        (out, notes)
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Beside the program, where cargo leaves it, or in a folder of libraries next door.
fn find() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let places = [folder.to_owned(), folder.join("deps"), folder.join("../lib/vramlab"), folder.join("../lib")];
    places.iter().map(|place| place.join(vramlab_inject::FILE)).find(|path| path.is_file())
}

fn told(why: Without) -> Localized {
    match why {
        Without::NoCupti => Text::new(
            "程序找不到 libcupti：没有 CUPTI 的记录。VRAMLAB_CUPTI 可以指出它在哪里。",
            "The program finds no libcupti, so there are no records of CUPTI. VRAMLAB_CUPTI may name the place.",
        )
        .into(),
        Without::UnknownVersion(version) => Localized::both(
            format!("CUPTI 版本 {version} 的记录格式这里不认识（认识 CUDA 12.4 到 13）。"),
            format!("The records of CUPTI version {version} are not known here (those of CUDA 12.4 to 13 are)."),
        ),
        Without::Refused(code) => Localized::both(
            format!("CUPTI 拒绝记录，错误码 {code}；也许另一个分析工具正在用它。"),
            format!("CUPTI refuses to record, error {code}; another profiler may be using it."),
        ),
        Without::NotOurs => {
            Text::new("有一个进程的 CUPTI 记录读不出来。", "The CUPTI records of a process cannot be read.").into()
        }
    }
}
