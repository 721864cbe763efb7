//! What compute-sanitizer printed, as findings: which fault, where in the source, who hit it, how often.
//!
//! `words.rs` says what a finding means and what to do. Whatever a line is that this does not know stays in
//! [`Report::unknown`], so that nothing is dropped in silence.

mod words;

pub use words::explain;

/// A place in the source, as far as the program was built with line numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// `one_too_far(float *)`.
    pub kernel: String,
    /// `fault_zoo.cu:13`.
    pub line: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An access outside of every allocation. `beyond`: how far, and of what: `1 bytes after the nearest allocation …`.
    OutOfBounds {
        beyond: Option<String>,
    },
    Misaligned,
    Uninitialised,
    /// Two accesses to one word of shared memory that nothing orders; the second place.
    Race {
        other: Site,
    },
    /// A barrier that not all of those who must come can reach; the tool's own reason.
    Barrier {
        reason: String,
    },
    Leak,
    /// A call that the driver refused. `is_echo`: only because the context was lost before.
    Call {
        name: String,
        error: String,
        is_echo: bool,
    },
}

/// Findings of one kind at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    /// How often it was printed, or how many hazards a race had.
    pub n: u64,
    /// `__global__ write`, `__shared__ read`; empty where it is no access.
    pub access: String,
    pub bytes: u64,
    pub site: Site,
    /// The first thread and its block, as printed.
    pub thread: Option<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// The lines with SUMMARY in them.
    pub summary: Vec<String>,
    /// What the summary counts as errors.
    pub n_errors: Option<u64>,
    /// Errors that the tool counted and did not print.
    pub n_hidden: u64,
    /// What the program itself printed.
    pub program: Vec<String>,
    /// Lines of the tool that are not understood.
    pub unknown: Vec<String>,
}

impl Report {
    /// True if this is the tool's output at all.
    pub fn is_sanitizer(text: &str) -> bool {
        text.lines().any(|line| line.starts_with(MARK) && line.contains("COMPUTE-SANITIZER"))
    }

    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.n_errors == Some(0)
    }
}

const MARK: &str = "=========";

/// Reads what the tool printed. Any text gives a report; one that is not the tool's gives an empty one.
pub fn parse(text: &str) -> Report {
    let mut report = Report::default();
    let mut open: Option<Finding> = None;
    for line in text.lines() {
        let Some(rest) = line.strip_prefix(MARK) else {
            if !line.trim().is_empty() {
                report.program.push(line.trim_end().to_owned());
            }
            continue;
        };
        let rest = rest.trim();
        if rest.is_empty() || rest == "COMPUTE-SANITIZER" || is_backtrace(rest) {
            continue;
        }
        if rest.contains("SUMMARY") {
            sum_up(&mut report, rest);
        } else if let Some(finding) = begin(rest) {
            close(&mut report, open.replace(finding));
        } else if !open.as_mut().is_some_and(|finding| detail(finding, rest)) {
            report.unknown.push(rest.to_owned());
        }
    }
    close(&mut report, open);
    report
}

fn is_backtrace(line: &str) -> bool {
    line.starts_with("Saved host backtrace") || line.starts_with("Host Frame")
}

fn sum_up(report: &mut Report, line: &str) {
    if let Some(hidden) = line.split_once(" errors were not printed").and_then(|(head, _)| last_number(head)) {
        report.n_hidden += hidden;
    } else if let Some(n) = line.strip_prefix("ERROR SUMMARY:").and_then(first_number) {
        report.n_errors = Some(n);
    } else if let Some(n) = line.strip_prefix("RACECHECK SUMMARY:").and_then(first_number) {
        report.n_errors = Some(n);
    }
    report.summary.push(line.to_owned());
}

/// The first line of a finding.
fn begin(line: &str) -> Option<Finding> {
    let finding = |kind, access: &str, bytes| Finding {
        kind,
        n: 1,
        access: access.to_owned(),
        bytes,
        site: Site::default(),
        thread: None,
    };
    if let Some(rest) = line.strip_prefix("Invalid ") {
        let (access, size) = rest.split_once(" of size ")?;
        return Some(finding(Kind::OutOfBounds { beyond: None }, access, first_number(size)?));
    }
    if let Some(rest) = line.strip_prefix("Uninitialized ") {
        let (access, size) = rest.split_once(" of size ")?;
        return Some(finding(Kind::Uninitialised, access, first_number(size)?));
    }
    if let Some(rest) = line.strip_prefix("Leaked ") {
        return Some(finding(Kind::Leak, "", first_number(rest)?));
    }
    if let Some(rest) = line.strip_prefix("Barrier error detected. ") {
        return Some(finding(Kind::Barrier { reason: rest.trim_end_matches('.').to_owned() }, "", 0));
    }
    if let Some((_, rest)) = line.split_once("Race reported between ") {
        let (access, place) = rest.split_once(" at ")?;
        let mut found = finding(Kind::Race { other: Site::default() }, access, 0);
        found.site = site(place);
        return Some(found);
    }
    let rest = line.strip_prefix("Program hit ")?;
    let (error, rest) = rest.split_once(" due to ")?;
    let (_, call) = rest.split_once("API call to ")?;
    let is_echo = LOST.iter().any(|code| error.contains(code));
    let name = call.trim_end_matches('.').to_owned();
    Some(finding(Kind::Call { name, error: error.to_owned(), is_echo }, "", 0))
}

/// Codes after which every call fails, because the context is gone.
const LOST: [&str; 3] = ["(error 719)", "(error 700)", "(error 716)"];

/// A further line of a finding; false if it is none.
fn detail(finding: &mut Finding, line: &str) -> bool {
    // The frame of a function's caller: what the reader wrote, where the fault lies in a header of CUDA.
    if let Some(place) = line.strip_prefix("at ").or_else(|| line.strip_prefix("Device Frame:")) {
        finding.site = site(place.trim());
    } else if let Some(rest) = line.strip_prefix("by thread ") {
        finding.thread = rest.split_once(" in block ").map(|(a, b)| (a.to_owned(), b.to_owned()));
    } else if line.starts_with("Access to ") || line.starts_with("Address ") || line.starts_with("Access at ") {
        if line.contains("misaligned") {
            finding.kind = Kind::Misaligned;
        }
    } else if let Some(rest) = line.strip_prefix("and is ") {
        if let Kind::OutOfBounds { beyond } = &mut finding.kind {
            *beyond = Some(rest.to_owned());
        }
    } else if let (Some(rest), Kind::Race { other }) = (line.strip_prefix("and "), &mut finding.kind) {
        let Some((_, place)) = rest.split_once(" at ") else { return false };
        *other = site(place);
        finding.n = rest.rsplit_once('[').and_then(|(_, n)| first_number(n)).unwrap_or(1);
    } else {
        return false;
    }
    true
}

/// `sum_into(const float *, float *)+0x70 in fault_zoo.cu:33`, with or without its ends.
fn site(text: &str) -> Site {
    let (head, tail) = text.rsplit_once(" in ").map_or((text, None), |(head, tail)| (head, Some(tail)));
    let kernel = head.rsplit_once("+0x").map_or(head, |(kernel, _)| kernel).trim().to_owned();
    let line = tail.map(|tail| tail.split_whitespace().next().unwrap_or_default().to_owned());
    Site { kernel, line: line.filter(|line| !line.is_empty()) }
}

/// Counts a finding that was met before, keeps a new one.
fn close(report: &mut Report, finding: Option<Finding>) {
    let Some(finding) = finding else { return };
    let is_same = |known: &&mut Finding| {
        let same_kind = std::mem::discriminant(&known.kind) == std::mem::discriminant(&finding.kind);
        same_kind && known.site == finding.site && !finding.site.kernel.is_empty()
    };
    match report.findings.iter_mut().find(is_same) {
        Some(known) => known.n += finding.n,
        None => report.findings.push(finding),
    }
}

/// The first number of a text, `4,194,304` included.
fn first_number(text: &str) -> Option<u64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits: String = text[start..].chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
    digits.replace(',', "").parse().ok()
}

fn last_number(text: &str) -> Option<u64> {
    first_number(text.split_whitespace().last()?)
}

#[cfg(test)]
mod tests;
