//! What the compiler made of a kernel's source: its log line by line, and what one launch of it takes of an SM.

use crate::launch::Launch;
use crate::manifest::Kernel;
use serde::{Deserialize, Serialize};
use vramlab_model::kernels::{architecture, occupancy};

/// A source that compiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// `sm_90`, or `compute_90` where the compiler does not know the device.
    pub arch: String,
    /// Warnings, as the compiler printed them.
    pub log: String,
    /// One a kernel that is launched, in order.
    pub entries: Vec<Taken>,
    pub ptx: String,
}

/// What a kernel takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    pub entry: String,
    pub registers: u32,
    /// Shared memory of a block that the source declares.
    pub static_bytes: u32,
    /// Shared memory of a block that the launch adds.
    pub dynamic_bytes: u32,
    /// Memory of a thread for what found no register, spills and arrays alike.
    pub local_bytes: u32,
    /// Bytes written and read again because registers ran out; nothing if the compiler did not say.
    pub spilled: Option<(u32, u32)>,
    pub threads: u32,
    pub blocks_per_sm: u32,
    pub warps_per_sm: u32,
    /// Warps on an SM over the most that it holds.
    pub occupancy: f64,
    /// What keeps further blocks out, by the model: `registers`, `shared+warps`.
    pub limiter: String,
    /// Blocks by the driver's own count, where there is a driver.
    pub driver_blocks: Option<u32>,
}

impl Taken {
    /// Fills in what follows from the rest by the model `occupancy`, for compute capability `cc` × 10.
    #[must_use]
    pub fn with_occupancy(mut self, cc: u32) -> Self {
        let Some(sm) = architecture::find(&format!("{}.{}", cc / 10, cc % 10)) else { return self };
        let launch = occupancy::Launch {
            threads: u64::from(self.threads.max(1)),
            registers: u64::from(self.registers),
            static_bytes: u64::from(self.static_bytes),
            dynamic_bytes: u64::from(self.dynamic_bytes),
            is_opt_in: true,
        };
        let limits = launch.limits(sm);
        let blocks = limits.resident();
        self.blocks_per_sm = blocks as u32;
        self.warps_per_sm = (blocks * launch.warps()) as u32;
        self.occupancy = f64::from(self.warps_per_sm) / sm.warps as f64;
        self.limiter = limits.limiter();
        self
    }

    /// One entry of a launch, from what `ptxas -v` printed about it. None if it printed nothing.
    pub fn from_log(log: &str, launch: &Launch) -> Option<Self> {
        let about = log.split("Compiling entry function '").skip(1);
        let part = about.into_iter().find(|part| part.split('\'').next() == Some(launch.entry.as_str()))?;
        let before = |words: &str| {
            let end = part.find(words)?;
            part[..end].trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        };
        Some(Self {
            entry: launch.entry.clone(),
            registers: before(" registers")?,
            static_bytes: before(" bytes smem").unwrap_or(0),
            dynamic_bytes: launch.shared_bytes,
            local_bytes: before(" bytes stack frame").unwrap_or(0),
            spilled: before(" bytes spill stores").zip(before(" bytes spill loads")),
            threads: launch.block[0] * launch.block[1],
            ..Self::default()
        })
    }
}

/// The log without what `ptxas -v` says to us.
pub fn for_readers(log: &str) -> String {
    let is_ours = |line: &&str| line.starts_with("ptxas info") || line.contains(" bytes stack frame, ");
    let kept: Vec<&str> = log.lines().filter(|line| !is_ours(line)).collect();
    kept.join("\n").trim().to_owned()
}

/// Most shared memory of a block that a source may declare, in bytes; more must come with the launch.
const MOST_STATIC: u32 = 48 << 10;

/// The log of a source that does not compile. About too much shared memory `ptxas` says nothing but the number.
pub fn of_failure(log: &str) -> String {
    let mut out = for_readers(log);
    let used = log.lines().filter_map(|line| {
        let bytes = line.split_once(" bytes smem")?.0.rsplit(' ').next()?;
        bytes.parse::<u32>().ok()
    });
    if let Some(bytes) = used.max().filter(|bytes| *bytes > MOST_STATIC) {
        let more = format!(
            "error: a block declares {bytes} bytes of shared memory and may declare {MOST_STATIC}; more must be dynamic: \
             extern __shared__, its size given by the launch"
        );
        out = [out, more].join("\n").trim().to_owned();
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// One message of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub line: Option<u32>,
    pub severity: Severity,
    pub text: String,
}

/// The messages of a log, in order: `name.cu(12): error: …`, and lines of `ptxas` without a place. Lines that carry on a
/// message, such as the quoted source, are left to the log itself.
pub fn messages(log: &str) -> Vec<Said> {
    log.lines().filter_map(message).collect()
}

fn message(line: &str) -> Option<Said> {
    let severities = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let (at, severity, word) = severities.into_iter().find_map(|(severity, word)| {
        let at = line.find(&format!("{word}: ")).or_else(|| line.find(&format!("{word} #")))?;
        // A severity follows a place or begins the line; a message may quote the word.
        (at == 0 || line[..at].ends_with("): ")).then_some((at, severity, word))
    })?;
    let place = line[..at].rsplit_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let number = place.and_then(|(number, _)| number.split(',').next()?.trim().parse().ok());
    let text = line[at + word.len()..].trim_start_matches([':', ' ']).trim_end().to_owned();
    Some(Said { line: number, severity, text })
}

/// The launches of a kernel with `params`, by its manifest; the error is a sentence.
pub fn launches(kernel: &Kernel, vars: &crate::vars::Vars) -> Result<Vec<Launch>, String> {
    let cuda = kernel.cuda.as_ref().ok_or_else(|| format!("{} has no CUDA source", kernel.slug))?;
    Launch::all(cuda, vars)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by NVRTC 12.9 for a kernel that spills.
    const LOG: &str = "\
copy.cu(3): warning #177-D: variable \"x\" was declared but never referenced
      int x;
          ^

Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"

ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'copy_words' for 'sm_90'
ptxas info    : Function properties for copy_words
ptxas         .     16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 4.084 ms
";

    fn launch() -> Launch {
        Launch {
            entry: "copy_words".to_owned(),
            grid: [1, 1],
            block: [256, 1],
            shared_bytes: 0,
            define: Vec::new(),
            args: Vec::new(),
        }
    }

    #[test]
    fn what_ptxas_says_is_what_a_launch_takes() {
        let taken = Taken::from_log(LOG, &launch()).unwrap().with_occupancy(90);
        assert_eq!((taken.registers, taken.static_bytes, taken.local_bytes), (40, 4096, 16));
        assert_eq!(taken.spilled, Some((12, 8)));
        // 40 registers × 32 threads round up to 1,280; 16,384 of a partition hold 12 warps: 48 warps, 6 blocks of 8.
        assert_eq!((taken.blocks_per_sm, taken.warps_per_sm, taken.occupancy), (6, 48, 0.75));
        assert_eq!(taken.limiter, "registers");
        assert!(Taken::from_log("", &launch()).is_none());
    }

    #[test]
    fn readers_see_warnings_and_not_our_questions() {
        let shown = for_readers(LOG);
        assert!(shown.starts_with("copy.cu(3): warning") && !shown.contains("ptxas") && !shown.contains("spill"));
    }

    /// NVRTC 12.9 fails with this log for `__shared__ unsigned t[20000]`, and no word of an error.
    #[test]
    fn too_much_shared_memory_is_said() {
        let log = "ptxas info    : Used 12 registers, used 1 barriers, 80000 bytes smem\n";
        let said = messages(&of_failure(log));
        assert_eq!((said.len(), said[0].severity), (1, Severity::Error));
        assert!(said[0].text.contains("80000") && said[0].text.contains("49152"));
        assert_eq!(of_failure("a.cu(1): error: no\n"), "a.cu(1): error: no");
    }

    #[test]
    fn messages_name_their_lines() {
        let log = "copy.cu(7): error: expected a \";\"\n      }\n      ^\n\ncopy.cu(9): error: identifier \"n\" is undefined\n\
                   1 error detected in the compilation of \"copy.cu\".\n\
                   error: something without a place\n";
        let said = messages(log);
        let lines: Vec<_> = said.iter().map(|said| (said.line, said.severity)).collect();
        let error = Severity::Error;
        assert_eq!(lines, [(Some(7), error), (Some(9), error), (None, error)]);
        assert_eq!(said[0].text, "expected a \";\"");
        let warned = messages(LOG);
        assert_eq!((warned[0].line, warned[0].severity), (Some(3), Severity::Warning));
    }
}
