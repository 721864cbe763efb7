//! Tests, the release build with its bare run, the content check, and the closing table.

use crate::machine::nvrtc_dir;
use crate::stage::{Outcome, Report, cargo, command, output, root, run, run_counting, test_counts};
use std::path::PathBuf;
use std::time::Instant;

/// Printed first: which tests hold the numbers to an outside source.
pub const TRUTH_TESTS: &str = "\
Truth tests, each against a source outside this repository:
  vramlab-model    test vectors of coalescing and bank conflicts, public rows 29, 31, 32, 42, 48
  vramlab-gpu      the CPU back end against its references; every kernel compiles for sm_75 to sm_120 through NVRTC
  vramlab-tests    content::recorded_runs_…: recorded H200 runs against today's models, counters equal, medians within
                   the stated error; content::numbers_…: every answer of every chapter is computed by a model
The last lines are the table: predicted, measured, error.";

pub fn tests(report: &mut Report) {
    // Examples are held by the lints, and no documentation has code that runs.
    let targets = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
    report.stage("tests", || run_counting(cargo().args(targets)));
    report.stage("kernels through NVRTC", kernels);
}

/// Each reader for so many seconds; the tests themselves take a few. The seed is the time, and is printed.
pub fn fuzz(secs: u32) -> Outcome {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = since.map_or(1, |since| since.as_secs());
    let mut test = cargo();
    test.args(["test", "--release", "-p", "vramlab-tests", "fuzz::", "--", "--nocapture"]);
    test.env("VRAMLAB_FUZZ_SECS", secs.to_string()).env("VRAMLAB_FUZZ_SEED", seed.to_string());
    println!("seed {seed}");
    run_counting(&mut test)
}

/// Every kernel for every named architecture. The suite itself says how many compilations it had to leave out.
fn kernels() -> Outcome {
    let mut test = cargo();
    test.args(["test", "--workspace", "--test", "nvrtc", "--test", "without_gpu", "--", "--nocapture"]);
    if let Some(dir) = nvrtc_dir() {
        let before = std::env::var_os("LD_LIBRARY_PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
        let all = std::iter::once(dir).chain(before.into_iter().flatten());
        match std::env::join_paths(all) {
            Ok(path) => test.env("LD_LIBRARY_PATH", path),
            Err(error) => return Outcome::fail(error.to_string()),
        };
    }
    let out = match test.output() {
        Ok(out) => out,
        Err(error) => return Outcome::fail(format!("cargo could not start: {error}")),
    };
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    for line in said.lines().filter(|line| line.contains("compilations") || line.contains("panicked")) {
        println!("{line}");
    }
    let n_skipped: u32 = said.lines().filter_map(skipped_compilations).sum();
    let counts = said.lines().filter_map(test_counts).fold((0, 0), |sum, found| (sum.0 + found.0, sum.1 + found.1));
    if !out.status.success() {
        println!("{said}");
        return Outcome::Failed { why: "a kernel does not compile".to_owned(), counts };
    }
    match n_skipped {
        0 => Outcome::Passed { counts },
        n_checks => {
            Outcome::Skipped { why: "NVRTC (nvidia-cuda-nvrtc-cu12 from PyPI) is not here".to_owned(), n_checks }
        }
    }
}

/// `skipped 147 compilations: …` as 147.
fn skipped_compilations(line: &str) -> Option<u32> {
    let (number, _) = line.split_once("skipped ")?.1.split_once(" compilation")?;
    number.parse().ok()
}

pub fn binary() -> PathBuf {
    root().join("target/release").join(if cfg!(windows) { "vramlab.exe" } else { "vramlab" })
}

pub fn release(report: &mut Report) {
    report.stage("release build", || run(cargo().args(["build", "--release"])));
    report.stage("bare run without a display", || {
        let start = Instant::now();
        let mut bare = command(&binary().to_string_lossy());
        bare.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        match output(&mut bare) {
            Ok(text) => {
                println!("{text}");
                let secs = start.elapsed().as_secs_f64();
                if secs > 15.0 { Outcome::fail(format!("took {secs:.1} s, 15 are allowed")) } else { Outcome::ok() }
            }
            Err(why) => Outcome::fail(why),
        }
    });
}

pub fn content(report: &mut Report) {
    report.stage("content, checked by the program", || run(command(&binary().to_string_lossy()).arg("check")));
}

/// The last lines: predicted, measured and error of each recorded and each live CPU experiment.
pub fn table(report: &mut Report) {
    let mut text = String::new();
    report.stage("table", || match output(command(&binary().to_string_lossy()).args(["__table"])) {
        Ok(table) => {
            text = table;
            Outcome::ok()
        }
        Err(why) => Outcome::fail(why),
    });
    report.last_words = text;
}

#[cfg(test)]
mod tests {
    #[test]
    fn compilations_that_were_left_out_are_counted() {
        assert_eq!(super::skipped_compilations("skipped 147 compilations: no NVRTC"), Some(147));
        assert_eq!(super::skipped_compilations("skipped 1 compilation: no NVRTC"), Some(1));
        assert_eq!(super::skipped_compilations("147 compilations, 20 instances"), None);
    }
}
