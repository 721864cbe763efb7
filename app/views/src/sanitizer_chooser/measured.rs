//! `assets/sanitizers.toml`: what the tools said about our own faulty kernels.

use serde::Deserialize;
use vramlab_model::sanitizer_matrix::{Fault, Tool};
use vramlab_units::Localized;

const SOURCE: &str = include_str!("../../../../assets/sanitizers.toml");

/// One run of a faulty program under a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub fault: Fault,
    pub tool: Tool,
    /// What the tool's summary counts.
    pub n_errors: u64,
    /// The program never ended, and the tool had printed nothing.
    pub hangs: bool,
    /// The tool's own words about the first of them; empty where it had none.
    pub line: String,
}

/// All of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub device: String,
    pub version: String,
    pub date: String,
    pub runs: Vec<Run>,
    /// What the program did without a tool.
    pub plain: Vec<(Fault, Localized)>,
}

impl Measured {
    pub fn get(&self, fault: Fault, tool: Tool) -> Option<&Run> {
        self.runs.iter().find(|run| run.fault == fault && run.tool == tool)
    }

    pub fn plain(&self, fault: Fault) -> Option<&Localized> {
        self.plain.iter().find(|(known, _)| *known == fault).map(|(_, words)| words)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    device: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    run: Vec<FileRun>,
    #[serde(default)]
    plain: Vec<FilePlain>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRun {
    fault: String,
    tool: String,
    errors: u64,
    #[serde(default)]
    hangs: bool,
    #[serde(default)]
    line: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePlain {
    fault: String,
    zh: String,
    en: String,
}

/// The file that comes with the program; empty if it cannot be read, which a test would show.
pub fn read() -> Measured {
    parse(SOURCE).unwrap_or_default()
}

fn parse(text: &str) -> Result<Measured, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.schema != 1 {
        return Err(format!("schema = {} is not read here; it must be 1", file.schema));
    }
    let fault = |id: &str| {
        let found = Fault::ALL.into_iter().find(|fault| fault.id() == id);
        found.ok_or_else(|| format!("fault = {id} is not known"))
    };
    let tool = |id: &str| {
        let found = Tool::ALL.into_iter().find(|tool| tool.id() == id);
        found.ok_or_else(|| format!("tool = {id} is not known"))
    };
    let mut out = Measured { device: file.device, version: file.version, date: file.date, ..Measured::default() };
    for run in file.run {
        let (fault, tool) = (fault(&run.fault)?, tool(&run.tool)?);
        out.runs.push(Run { fault, tool, n_errors: run.errors, hangs: run.hangs, line: run.line });
    }
    for plain in file.plain {
        out.plain.push((fault(&plain.fault)?, Localized::both(plain.zh, plain.en)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::sanitizer_matrix::{Says, says};

    #[test]
    fn the_file_is_read() {
        parse(SOURCE).unwrap();
        assert!(parse("schema = 1\n[[run]]\nfault = \"typo\"\ntool = \"memcheck\"\nerrors = 1").is_err());
        assert!(parse("schema = 2").is_err());
    }

    /// The measured runs are the answer key's test: where they differ, the chapter says why and this list names it.
    #[test]
    fn what_was_measured_is_what_was_predicted() {
        let differing: Vec<(&str, &str)> = read()
            .runs
            .iter()
            .filter(|run| (run.n_errors > 0) != (says(run.fault, run.tool) != Says::Nothing))
            .map(|run| (run.fault.id(), run.tool.id()))
            .collect();
        assert_eq!(differing, KNOWN, "measured against the model");
    }

    /// Threads that have ended count as arrived at a barrier, so the first form of it is no error to synccheck; the second
    /// never ends, and the tool never speaks.
    const KNOWN: &[(&str, &str)] = &[("divergent_barrier", "synccheck"), ("two_barriers", "synccheck")];

    fn data(name: &str) -> String {
        std::fs::read_to_string(format!("../../tests/data/sanitizer/{name}.txt")).expect("an output lies there")
    }

    /// Every cell is that of the recorded matrix, and the words are the tools' own.
    #[test]
    fn the_file_says_what_the_tools_said() {
        let (matrix, file) = (data("matrix"), read());
        assert_eq!(file.runs.len(), Fault::ALL.len() * Tool::ALL.len());
        for run in &file.runs {
            let head = format!("{} {} ", run.fault.id(), run.tool.id());
            let line = matrix.lines().find_map(|line| line.strip_prefix(&head)).unwrap();
            let summary = line.split("; ").find(|part| !part.starts_with("LEAK")).unwrap();
            let found: Option<u64> = summary.split_whitespace().find_map(|word| word.parse().ok());
            assert_eq!((found.unwrap_or(0), found.is_none()), (run.n_errors, run.hangs), "{head}");
            if !run.line.is_empty() {
                let text = data(&head.trim_end().replace(' ', "."));
                let is_said = |part: &str| text.contains(part.trim_start_matches("by "));
                assert!(run.line.split(" … ").all(is_said), "{head}: {}", run.line);
            }
        }
        for fault in Fault::ALL {
            assert!(file.plain(fault).is_some(), "{}", fault.id());
        }
    }
}
