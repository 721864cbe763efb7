//! Format, lints, spelling, licences.

use crate::machine::python_tool;
use crate::stage::{Outcome, Report, cargo, command, output, run};

/// Licences that may be linked in. Weak copyleft of single files (MPL) is fine for a program under MIT OR Apache-2.0.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "CC0-1.0",
    "BSL-1.0",
    "Unicode-3.0",
    "MPL-2.0",
    "MIT-0",
    "OFL-1.1",
    "LicenseRef-UFL-1.0",
    "Ubuntu-font-1.0",
    "CDLA-Permissive-2.0",
];

/// Crates that carry the text of a licence and no expression, with what the text is.
const BY_TEXT: &[(&str, &str)] = &[("rs-fsrs", "MIT")];

/// The quick ones first.
pub fn all(report: &mut Report) {
    report.stage("format", || run(cargo().args(["fmt", "--all", "--check"])));
    report.stage("spelling", || match python_tool("typos") {
        Some(typos) => run(command(&typos.to_string_lossy()).arg("--format=brief")),
        None => Outcome::skip("typos (from PyPI) is not installed"),
    });
    report.stage("licences", licences);
    report.stage("lints", || {
        run(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
}

/// Every dependency's licence expression must be satisfiable from [`ALLOWED`].
fn licences() -> Outcome {
    let listed = output(cargo().args([
        "tree",
        "--workspace",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{l}\t{p}",
        "--no-dedupe",
    ]));
    let listed = match listed {
        Ok(listed) => listed,
        Err(why) => return Outcome::fail(why),
    };
    // An empty line stands between the trees of two members.
    let crates = listed.lines().filter(|line| !line.trim().is_empty());
    let is_good = |line: &&str| {
        line.split_once('\t').is_some_and(|(licence, name)| {
            let by_text = BY_TEXT.iter().find(|(known, _)| name.split(' ').next() == Some(*known));
            is_allowed(by_text.map_or(licence, |(_, text)| text))
        })
    };
    let mut bad: Vec<&str> = crates.filter(|line| !is_good(line)).collect();
    bad.sort_unstable();
    bad.dedup();
    if bad.is_empty() { Outcome::ok() } else { Outcome::fail(format!("not allowed:\n  {}", bad.join("\n  "))) }
}

/// `A OR B` needs one side, `A AND B` both; `/` is the old spelling of OR.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    expression.split(" AND ").all(|all| all.split(" OR ").any(|one| ALLOWED.contains(&one.trim())))
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn expressions_are_read() {
        assert!(is_allowed("MIT OR GPL-3.0"));
        assert!(is_allowed("MIT/Apache-2.0"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_allowed("GPL-3.0"));
        assert!(!is_allowed("MIT AND GPL-3.0"));
        assert!(!is_allowed(""));
    }
}
