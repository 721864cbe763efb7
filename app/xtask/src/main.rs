//! What contributors and CI run. `cargo xtask test` is the one test command; `cargo xtask web` builds the web page.
//!
//! Read `stage.rs` first: a stage passes, fails, or is skipped with its reason. Nothing here is shipped.

mod disk;
mod house;
mod machine;
mod stage;
mod suites;
mod web;

use stage::{Outcome, Report};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--strict] [--quick]  everything that CI runs; --strict turns skips into failures; --quick leaves out the
                             release build, the bare run, the web page and the browser
  web [--debug]              builds the web page into dist/web
  fuzz [SECS]                every reader against damaged files, SECS (60) for each, with a new seed
  house                      format, spelling, licences, lints
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let has = |flag: &str| words.contains(&flag);
    match words.first().copied() {
        Some("test") => {
            let is_strict = has("--strict");
            let mut report = Report::new(is_strict);
            if is_strict {
                stage::build_once();
            }
            println!("{}", suites::TRUTH_TESTS);
            let mut has_room = false;
            report.stage("room on the disk", || {
                let outcome = disk::check(has("--quick"));
                has_room = matches!(outcome, Outcome::Passed { .. });
                outcome
            });
            if !has_room {
                return report.finish();
            }
            machine::prepare(&mut report);
            house::all(&mut report);
            suites::tests(&mut report);
            if !has("--quick") {
                if is_strict {
                    report.stage("room for the builds that follow", disk::drop_test_programs);
                }
                let page = web::begin();
                suites::release(&mut report);
                suites::content(&mut report);
                web::build_and_walk(&mut report, page);
                suites::table(&mut report);
            }
            report.finish()
        }
        Some("house") => {
            let mut report = Report::new(has("--strict"));
            machine::prepare(&mut report);
            house::all(&mut report);
            report.finish()
        }
        Some("fuzz") => {
            let mut report = Report::new(true);
            let secs = words.get(1).and_then(|secs| secs.parse().ok()).unwrap_or(60);
            report.stage("fuzz", || suites::fuzz(secs));
            report.finish()
        }
        Some("web") => {
            let mut report = Report::new(true);
            report.stage("web build", || web::build(has("--debug")));
            report.finish()
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
