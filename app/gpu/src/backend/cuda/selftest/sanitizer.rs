//! Every kernel once under NVIDIA's checkers of memory accesses and races, in a process of our own executable.

use super::{Setup, Table};
use std::process::Command;

const GROUP: &str = "checker";
/// A tool, and what its last line says when it found nothing.
const TOOLS: &[(&str, &str)] =
    &[("memcheck", "ERROR SUMMARY: 0 errors"), ("racecheck", "RACECHECK SUMMARY: 0 hazards")];

pub fn check(setup: &Setup, table: &mut Table) {
    (setup.say)("memory accesses and races …");
    for (tool, clean) in TOOLS {
        let what = format!("compute-sanitizer {tool}");
        match run(setup, tool) {
            Ok(lines) => {
                let summary = lines.iter().rfind(|line| line.contains("SUMMARY")).cloned().unwrap_or_default();
                let launches = lines.iter().rfind(|line| !line.starts_with('=')).cloned().unwrap_or_default();
                let summary = summary.trim_start_matches(['=', ' ']);
                let is_met = summary.contains(clean) && launches.contains("all right");
                table.push(GROUP, what, "nothing found", format!("{summary}; {launches}"), is_met);
            }
            Err(why) => table.push(GROUP, what, "nothing found", why, false),
        }
    }
}

fn run(setup: &Setup, tool: &str) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("compute-sanitizer");
    command.args(["--tool", tool]).arg(program).args(&setup.own).arg("small");
    let output = command.output().map_err(|error| format!("compute-sanitizer does not start: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
