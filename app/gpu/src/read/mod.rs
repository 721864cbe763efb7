//! The text of `kernels/` as types. Every formula is parsed and every name in it checked, so that what a [`Library`]
//! hands out runs, and everything that is wrong is found at once with its line and column.
//!
//! `tree.rs` reads TOML with places, `names.rs` knows which names a formula may use, `kernel.rs` and `experiment.rs` are
//! the two formats. Nothing here reads a file: paths and texts come from the content index or from a pack.

mod exercise;
mod experiment;
mod kernel;
mod lens;
mod names;
mod problem;
mod tree;

pub use experiment::MAX_SECS;
pub use problem::ManifestProblem;

use crate::exercise::Exercise;
use crate::manifest::{Experiment, Kernel};
use crate::{hash, oracle};
use std::collections::BTreeMap;
use tree::Doc;

/// Reads `kernel.toml` of folder `slug`. The kernel is given only if it has no error.
pub fn read_kernel(file: &str, slug: &str, text: &str) -> (Option<Kernel>, Vec<ManifestProblem>) {
    let doc = Doc::new(file, text);
    let kernel = kernel::read(&doc, slug);
    let kernel = kernel.filter(|_| !doc.has_errors());
    (kernel, doc.into_problems())
}

/// Reads one experiment over its kernel. The experiment is given only if it has no error.
pub fn read_experiment(
    file: &str,
    id: &str,
    text: &str,
    kernel: &Kernel,
) -> (Option<Experiment>, Vec<ManifestProblem>) {
    let doc = Doc::new(file, text);
    let experiment = experiment::read(&doc, id, kernel);
    let experiment = experiment.filter(|_| !doc.has_errors());
    (experiment, doc.into_problems())
}

/// Every kernel and experiment of a `kernels/` folder, or of a pack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// By folder name.
    pub kernels: BTreeMap<String, Kernel>,
    /// By `SLUG/NAME`.
    pub experiments: BTreeMap<String, Experiment>,
    /// By folder name.
    pub exercises: BTreeMap<String, Exercise>,
    /// Source files by folder name and file name.
    sources: BTreeMap<String, BTreeMap<String, String>>,
    /// Everything that was wrong, in the order of the files.
    pub problems: Vec<ManifestProblem>,
}

impl Library {
    /// Builds the library from paths inside `kernels/` and their texts: `SLUG/kernel.toml`, `SLUG/NAME.experiment.toml`
    /// (id `SLUG/NAME`), `SLUG/experiment.toml` (id `SLUG/main`), sources. A leading `kernels/` is dropped; other files
    /// and folders further down are ignored.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut folders: BTreeMap<&str, BTreeMap<&str, (&str, &str)>> = BTreeMap::new();
        for (path, text) in files {
            let short = path.strip_prefix("kernels/").unwrap_or(path);
            if let Some((slug, name)) = short.split_once('/').filter(|(_, name)| !name.contains('/')) {
                folders.entry(slug).or_default().insert(name, (path, text));
            }
        }
        let mut this = Self::default();
        for (slug, files) in folders {
            this.read_folder(slug, &files);
        }
        this
    }

    fn read_folder(&mut self, slug: &str, files: &BTreeMap<&str, (&str, &str)>) {
        let Some((path, text)) = files.get("kernel.toml") else { return };
        let (kernel, problems) = read_kernel(path, slug, text);
        self.problems.extend(problems);
        let Some(kernel) = kernel else { return };
        if let Some(cuda) = &kernel.cuda {
            self.check_source(path, text, &cuda.source, files);
        }
        for (name, (path, text)) in files {
            let Some(id) = experiment_id(slug, name) else { continue };
            let (experiment, problems) = read_experiment(path, &id, text, &kernel);
            self.problems.extend(problems);
            self.experiments.extend(experiment.map(|experiment| (id, experiment)));
        }
        if let Some((path, text)) = files.get("exercise.toml") {
            let doc = Doc::new(path, text);
            let names: Vec<&str> = files.keys().copied().collect();
            let exercise = exercise::read(&doc, slug, &kernel, &names).filter(|_| !doc.has_errors());
            self.problems.extend(doc.into_problems());
            self.exercises.extend(exercise.map(|exercise| (slug.to_owned(), exercise)));
        }
        let is_source = |name: &&&str| !name.ends_with(".toml");
        let sources = files.keys().filter(is_source).map(|name| ((*name).to_owned(), files[name].1.to_owned()));
        self.sources.insert(slug.to_owned(), sources.collect());
        self.kernels.insert(slug.to_owned(), kernel);
    }

    fn check_source(&mut self, path: &str, text: &str, source: &str, files: &BTreeMap<&str, (&str, &str)>) {
        if !files.contains_key(source) {
            let doc = Doc::new(path, text);
            let at = text.find(source).unwrap_or_default();
            doc.problem(
                "missing-file",
                at..at + source.len(),
                format!("there is no file \"{source}\" beside it"),
                None,
            );
            self.problems.extend(doc.into_problems());
        }
    }

    /// An experiment with its kernel.
    pub fn get(&self, id: &str) -> Option<(&Experiment, &Kernel)> {
        let experiment = self.experiments.get(id)?;
        Some((experiment, self.kernels.get(id.split_once('/')?.0)?))
    }

    /// Source files of a kernel by name.
    pub fn sources(&self, slug: &str) -> Option<&BTreeMap<String, String>> {
        self.sources.get(slug)
    }

    /// The hash of everything that shapes an experiment's numbers.
    pub fn content_hash(&self, id: &str) -> Option<String> {
        let (experiment, kernel) = self.get(id)?;
        Some(hash::content_hash(experiment, kernel, self.sources(&kernel.slug)?))
    }

    /// True if a run was made by today's kernel and experiment, false if they have changed since, nothing if the
    /// experiment is not here.
    pub fn is_current(&self, run: &vramlab_trace::Run) -> Option<bool> {
        self.content_hash(&run.experiment).map(|hash| hash == run.content_hash)
    }

    /// Buffers of a kernel that must be read back for its check.
    pub fn read_back(&self, slug: &str) -> Vec<&str> {
        self.kernels.get(slug).map(oracle::read_back).unwrap_or_default()
    }
}

/// `SLUG/NAME` of an experiment's file name.
pub fn experiment_id(slug: &str, file_name: &str) -> Option<String> {
    let name = match file_name {
        "experiment.toml" => "main",
        other => other.strip_suffix(".experiment.toml").filter(|name| !name.is_empty())?,
    };
    Some(format!("{slug}/{name}"))
}

#[cfg(test)]
mod tests;
