//! A stage of the test command: it passes, fails, or is skipped with its reason, and its minutes are printed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

/// What a stage came to. `counts` are tests that passed and failed inside it.
pub enum Outcome {
    Passed { counts: (u32, u32) },
    Failed { why: String, counts: (u32, u32) },
    Skipped { why: String, n_checks: u32 },
}

impl Outcome {
    pub fn ok() -> Self {
        Self::Passed { counts: (1, 0) }
    }

    pub fn fail(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into(), counts: (0, 1) }
    }

    pub fn skip(why: impl Into<String>) -> Self {
        Self::Skipped { why: why.into(), n_checks: 1 }
    }
}

pub struct Report {
    is_strict: bool,
    n_passed: u32,
    n_failed: u32,
    lines: Vec<String>,
    skips: Vec<String>,
    n_skipped: u32,
    start: Instant,
    /// Printed after everything else but the closing line.
    pub last_words: String,
}

/// Set before anything is started by a run that builds everything once, and not again.
static IS_SINGLE: OnceLock<()> = OnceLock::new();

/// Keeps nothing that only a second build could use: on a clean clone that costs gigabytes.
pub fn build_once() {
    let _ = IS_SINGLE.set(());
}

impl Report {
    pub fn new(is_strict: bool) -> Self {
        Self {
            is_strict,
            n_passed: 0,
            n_failed: 0,
            lines: Vec::new(),
            skips: Vec::new(),
            n_skipped: 0,
            start: Instant::now(),
            last_words: String::new(),
        }
    }

    pub fn stage(&mut self, name: &str, run: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let _ = std::io::stdout().flush();
        let (start, before) = (Instant::now(), cpu_minutes());
        let outcome = run();
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        let cpu = before.zip(cpu_minutes()).map(|(before, after)| after - before);
        let word = match outcome {
            Outcome::Passed { counts } => {
                self.n_passed += counts.0;
                "passed".to_owned()
            }
            Outcome::Failed { why, counts } => {
                self.n_passed += counts.0;
                self.n_failed += counts.1.max(1);
                format!("FAILED: {why}")
            }
            Outcome::Skipped { why, n_checks } => {
                self.skips.push(format!("{name}: {why}"));
                self.n_skipped += n_checks;
                if self.is_strict {
                    self.n_failed += n_checks;
                    format!("FAILED (skipped, and --strict allows no skips): {why}")
                } else {
                    format!("skipped: {why}")
                }
            }
        };
        let free = crate::disk::free_gb().map(|gb| format!(", {gb:.1} GB free")).unwrap_or_default();
        let cpu = cpu.map(|cpu| format!("{cpu:>5.1} of CPU")).unwrap_or_default();
        println!("== {name}: {word} ({minutes:.1} min{free})");
        self.lines.push(format!("{minutes:>6.1} min {cpu}  {name}: {word}"));
    }

    pub fn finish(self) -> ExitCode {
        println!("\nStages:");
        for line in &self.lines {
            println!("  {line}");
        }
        println!("  {:>6.1} min  in all", self.start.elapsed().as_secs_f64() / 60.0);
        if !self.skips.is_empty() {
            println!("\nCould not run here ({}):", self.n_skipped);
            for skip in &self.skips {
                println!("  {skip}");
            }
        }
        if !self.last_words.is_empty() {
            println!("\n{}", self.last_words);
        }
        let skipped = if self.is_strict { 0 } else { self.n_skipped };
        println!("{} passed, {} failed, {skipped} skipped", self.n_passed, self.n_failed);
        if self.n_failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
    }
}

/// What all that was started and has ended took of the processors, minutes; none where the system does not tell.
fn cpu_minutes() -> Option<f64> {
    children_minutes(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Of Linux' `stat`, whose 16th and 17th field are the ended children's clock ticks, of which a second has 100.
fn children_minutes(stat: &str) -> Option<f64> {
    let after_name = stat.rsplit_once(") ")?.1; // the third field and what follows
    let ticks: Vec<f64> = after_name.split(' ').skip(13).take(2).map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 2).then(|| ticks.iter().sum::<f64>() / 6000.0)
}

/// The repository's root: two folders above this crate.
pub fn root() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path.pop();
    path
}

pub fn cargo() -> Command {
    command("cargo")
}

/// A command that runs in the repository's root without this crate's own cargo variables.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(name);
    }
    if IS_SINGLE.get().is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Runs a command, its output passed through.
pub fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::ok(),
        Ok(status) => Outcome::fail(format!("{} ended with {status}", shown(command))),
        Err(error) => Outcome::fail(format!("{} could not start: {error}", shown(command))),
    }
}

/// Runs `cargo test` and the like: output passed through, `test result:` lines added up.
pub fn run_counting(command: &mut Command) -> Outcome {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Outcome::fail(format!("{} could not start: {error}", shown(command))),
    };
    let mut counts = (0, 0);
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some(found) = test_counts(&line) {
                counts.0 += found.0;
                counts.1 += found.1;
            }
            if !line.ends_with("... ok") && !line.is_empty() {
                println!("{line}");
            }
        }
    }
    match child.wait() {
        Ok(status) if status.success() && counts.0 > 0 => Outcome::Passed { counts },
        Ok(status) if status.success() => Outcome::fail("no test ran"),
        Ok(status) => Outcome::Failed { why: format!("{} ended with {status}", shown(command)), counts },
        Err(error) => Outcome::fail(error.to_string()),
    }
}

/// `test result: ok. 5 passed; 0 failed; …` as (5, 0).
pub fn test_counts(line: &str) -> Option<(u32, u32)> {
    let rest = line.trim().strip_prefix("test result:")?;
    let number_before = |word: &str| -> Option<u32> {
        let at = rest.find(word)?;
        rest[..at].split_whitespace().next_back()?.parse().ok()
    };
    Some((number_before(" passed")?, number_before(" failed")?))
}

/// Whether a program is on the path.
pub fn has_program(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(name).is_file()))
}

/// Standard output of a command that succeeded.
pub fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|error| format!("{} could not start: {error}", shown(command)))?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    } else {
        Err(format!("{} ended with {}\n{}", shown(command), out.status, String::from_utf8_lossy(&out.stderr)))
    }
}

fn shown(command: &Command) -> String {
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    format!("`{} {}`", command.get_program().to_string_lossy(), args.join(" "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_time_of_children_is_read_behind_a_name_with_spaces() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 9 9 0 0 5 6 5940 60 20 0 1 0 99";
        assert_eq!(super::children_minutes(stat), Some(1.0));
        assert_eq!(super::children_minutes("nothing"), None);
    }

    #[test]
    fn results_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(super::test_counts(line), Some((12, 3)));
        assert_eq!(super::test_counts("running 3 tests"), None);
    }
}
