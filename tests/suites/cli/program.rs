//! The program that cargo has just built, in an environment that says nothing about this machine.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vramlab");

/// A command without display, locale, colour or a GPU. Nothing of the reader's own data is touched.
pub fn command(data: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "LC_ALL", "LC_MESSAGES", "NO_COLOR"] {
        command.env_remove(name);
    }
    command.env("LANG", "C.UTF-8").env("VRAMLAB_DATA", data).env("CUDA_VISIBLE_DEVICES", "");
    command
}

pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program prints UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }
}

/// Runs the program to its end.
pub fn vramlab(args: &[&str]) -> Answer {
    let data = tempfile::tempdir().expect("a temporary folder");
    command(data.path()).args(args).output().expect("the program starts").into()
}

/// A path of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
