//! Tests, the release build with its bare run, the content check, and the closing table.

use crate::machine::nvrtc_dir;
use crate::stage::{Outcome, Report, cargo, command, output, root, run, run_counting};
use std::path::PathBuf;
use std::time::Instant;

/// Printed first: which tests hold the numbers to an outside source.
pub const TRUTH_TESTS: &str = "\
Truth tests, each against a source outside this repository:
  vramlab-model    test vectors of coalescing and bank conflicts, public rows 29, 31, 32, 42, 48
  vramlab-gpu      every kernel compiles for sm_75 to sm_120; CPU back end against its references
  vramlab-tests    recorded H200 runs against today's models: counters equal, medians within the stated error
  vramlab-lesson   every answer of every chapter is computed by a model";

pub fn tests(report: &mut Report) {
    report.stage("tests", || {
        let mut test = cargo();
        test.args(["test", "--workspace", "--exclude", "vramlab-web", "--no-fail-fast"]);
        if let Some(dir) = nvrtc_dir() {
            test.env("VRAMLAB_NVRTC_DIR", dir);
        }
        run_counting(&mut test)
    });
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
    report.stage("content", || run(command(&binary().to_string_lossy()).arg("check")));
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
