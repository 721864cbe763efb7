//! Everything that can go wrong with a run, one variant each. `to_string` is the short English form, for logs and
//! exports; [`RunError::say`] (`say.rs`) is what the reader sees: what happened, what was kept, what to do.

mod how;
mod say;

pub use how::How;
pub use say::Said;

use serde::{Deserialize, Serialize};
use vramlab_units::{Lang, Localized};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "error")]
pub enum RunError {
    /// No device, no driver, no compiler: what is missing, what was found, what to do.
    #[error("{}; {}", .what.get(Lang::En), .fix.get(Lang::En))]
    Unavailable { what: Localized, fix: Localized },
    #[error("the kernel does not compile for {arch}:\n{log}")]
    Compile { arch: String, options: Vec<String>, log: String },
    /// A CUDA error. `is_fatal` means the context is lost and the child must be replaced.
    #[error("{name} ({code}) in {kernel}: {meaning}")]
    Device { code: i32, name: String, meaning: String, kernel: String, is_fatal: bool },
    #[error("{asked_bytes} bytes were asked for, {free_bytes} of {total_bytes} are free")]
    OutOfMemory { asked_bytes: u64, free_bytes: u64, total_bytes: u64 },
    #[error("the plan needs {asked_bytes} bytes, the budget allows {budget_bytes}")]
    OverBudget { asked_bytes: u64, budget_bytes: u64 },
    #[error("the deadline of {secs} s passed; the runner was ended")]
    Deadline { secs: f64 },
    #[error("the runner ended: {how}{}", .last_words.as_ref().map(|words| format!("\n{words}")).unwrap_or_default())]
    Died { how: How, last_words: Option<String> },
    #[error("the runner said something that is not the protocol: {what}")]
    Protocol { what: String },
    #[error("the runner speaks protocol {theirs}, this window {ours}: restart the program")]
    Version { ours: u32, theirs: u32 },
    #[error("the runner failed {times} times in {secs} s; it stays off until you start it again")]
    CrashLoop { times: u32, secs: f64 },
    #[error("cancelled")]
    Cancelled,
    /// A mistake in a manifest or a plan that the checker should have found.
    #[error("{what}")]
    Content { what: String },
}

impl RunError {
    /// Something is not here: what it is, and what to do, each in Chinese and in English.
    pub fn unavailable(
        what: (impl Into<String>, impl Into<String>),
        fix: (impl Into<String>, impl Into<String>),
    ) -> Self {
        Self::Unavailable { what: Localized::both(what.0, what.1), fix: Localized::both(fix.0, fix.1) }
    }

    /// True if the process that met it cannot go on: the device's context is lost, or the code itself failed.
    pub fn ends_the_runner(&self) -> bool {
        matches!(self, Self::Device { is_fatal: true, .. } | Self::Died { .. })
    }
}
