//! What the playground holds: the exercise with its files once they have come, the text as it is typed, and what came of it.

use std::collections::BTreeMap;
use vramlab_gpu::exercise::{Exercise, Try};
use vramlab_gpu::manifest::Kernel;
use vramlab_gpu::play::PlayError;
use vramlab_gpu::read::Library;

/// Operations, lane by lane, before a kernel is given up: well under a second.
pub const BUDGET: u64 = 60_000_000;
/// Most of what is typed that is kept.
pub const MOST_TEXT: usize = 65_536;

/// The files of an exercise, as they come.
#[derive(Default)]
pub struct Files {
    have: BTreeMap<String, String>,
}

pub struct Desk {
    pub exercise: Exercise,
    pub kernel: Kernel,
    pub start: String,
    pub solution: String,
    /// As it is typed.
    pub source: String,
    pub outcome: Option<Result<Try, PlayError>>,
    /// The text that `outcome` is about.
    judged: String,
    pub n_hints: usize,
    /// The reader's own text, while the solution is shown in its place.
    kept: Option<String>,
}

impl Files {
    /// The path of the file that is still missing.
    pub fn wanted(&self, slug: &str) -> Option<String> {
        let fixed = ["kernel.toml", "exercise.toml", "start.cu", "solution.cu"];
        let name = fixed.into_iter().find(|name| !self.have.contains_key(*name))?;
        Some(format!("kernels/{slug}/{name}"))
    }

    pub fn add(&mut self, slug: &str, text: String) {
        if let Some(path) = self.wanted(slug)
            && let Some(name) = path.rsplit('/').next()
        {
            self.have.insert(name.to_owned(), text);
        }
    }

    /// The desk, once all files are here. The error names what is wrong with them.
    pub fn desk(&self, slug: &str) -> Result<Desk, String> {
        let paths: Vec<(String, &String)> =
            self.have.iter().map(|(name, text)| (format!("{slug}/{name}"), text)).collect();
        let mut library = Library::from_files(paths.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        if let Some(problem) = library.problems.iter().find(|problem| !problem.is_warning) {
            return Err(problem.to_string());
        }
        let missing = || format!("kernels/{slug} holds no exercise");
        let exercise = library.exercises.remove(slug).ok_or_else(missing)?;
        let kernel = library.kernels.remove(slug).ok_or_else(missing)?;
        let text = |name: &str| self.have.get(name).cloned().ok_or_else(|| format!("kernels/{slug}/{name} is missing"));
        let (start, solution) = (text(&exercise.start)?, text(&exercise.solution)?);
        let source = start.clone();
        Ok(Desk {
            exercise,
            kernel,
            start,
            solution,
            source,
            outcome: None,
            judged: String::new(),
            n_hints: 0,
            kept: None,
        })
    }
}

impl Desk {
    pub fn check(&mut self) {
        self.outcome = Some(self.exercise.attempt(&self.kernel, &self.source, BUDGET));
        self.judged.clone_from(&self.source);
    }

    /// True if the text has been changed since it was judged.
    pub fn is_stale(&self) -> bool {
        self.outcome.is_some() && self.judged != self.source
    }

    pub fn is_changed(&self) -> bool {
        self.source != self.start
    }

    pub fn reset(&mut self) {
        self.source.clone_from(&self.start);
        (self.outcome, self.kept) = (None, None);
    }

    pub fn shows_solution(&self) -> bool {
        self.kept.is_some()
    }

    /// Puts the solution in place of the reader's text, or the text back.
    pub fn toggle_solution(&mut self) {
        match self.kept.take() {
            Some(own) => self.source = own,
            None => self.kept = Some(std::mem::replace(&mut self.source, self.solution.clone())),
        }
        self.outcome = None;
    }

    /// The line that a fault is about, and lines that waste something, with how bad it is.
    pub fn marks(&self) -> BTreeMap<u32, Mark> {
        let mut out = BTreeMap::new();
        if self.is_stale() {
            return out;
        }
        match &self.outcome {
            Some(Err(PlayError::Source(fault))) => {
                out.insert(fault.at.line, Mark::Fault);
            }
            Some(Ok(tried)) => {
                for report in &tried.played.reports {
                    for (key, site) in &report.sites {
                        let mark = if site.moved > site.least { Mark::Waste } else { Mark::Clean };
                        let held = out.entry(key.at.line).or_insert(mark);
                        *held = (*held).max(mark);
                    }
                    let raced = report.races.iter().flat_map(|race| [race.first.line, race.second.line]);
                    for line in raced.chain(report.unwritten.iter().map(|at| at.line)) {
                        out.insert(line, Mark::Fault);
                    }
                }
            }
            _ => {}
        }
        out
    }
}

/// What is to be said of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It accesses memory and wastes nothing.
    Clean,
    Waste,
    Fault,
}
