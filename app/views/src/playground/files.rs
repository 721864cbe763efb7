//! The files of a kernel or an exercise, as they come, and the desk that they make.

use super::desk::Desk;
use std::collections::BTreeMap;
use vramlab_gpu::read::Library;

/// The files of one folder of `kernels/`.
#[derive(Default)]
pub struct Files {
    is_exercise: bool,
    have: BTreeMap<String, String>,
}

impl Files {
    /// Of the folder `slug`: exercises have their own three files more.
    pub fn of(slug: &str) -> Self {
        Self { is_exercise: super::EXERCISES.contains(&slug), have: BTreeMap::new() }
    }

    /// The path of the file that is still missing.
    pub fn wanted(&self, slug: &str) -> Option<String> {
        let fixed: &[&str] = if self.is_exercise {
            &["kernel.toml", "exercise.toml", "start.cu", "solution.cu"]
        } else {
            &["kernel.toml"]
        };
        let is_missing = |name: &&str| !self.have.contains_key(*name);
        let name = fixed.iter().copied().find(is_missing).map(str::to_owned).or_else(|| self.source(slug))?;
        Some(format!("kernels/{slug}/{name}"))
    }

    /// The source that the manifest names, if it is not here.
    fn source(&self, slug: &str) -> Option<String> {
        if self.is_exercise {
            return None;
        }
        let manifest = self.have.get("kernel.toml")?;
        let path = format!("{slug}/kernel.toml");
        let library = Library::from_files([(path.as_str(), manifest.as_str())]);
        let kernel = library.kernels.get(slug)?;
        let cuda = kernel.cuda.as_ref().map(|cuda| cuda.source.clone());
        let source = cuda.or_else(|| kernel.cuda_host.as_ref()?.source.clone())?;
        (!self.have.contains_key(&source)).then_some(source)
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
        let kernel = library.kernels.remove(slug).ok_or_else(|| format!("kernels/{slug} holds no kernel"))?;
        let text = |name: &str| self.have.get(name).cloned().ok_or_else(|| format!("kernels/{slug}/{name} is missing"));
        match library.exercises.remove(slug) {
            Some(exercise) => {
                let (start, solution) = (text(&exercise.start)?, text(&exercise.solution)?);
                Ok(Desk::exercise(exercise, kernel, start, solution))
            }
            None if self.is_exercise => Err(format!("kernels/{slug} holds no exercise")),
            None => {
                let source = match (&kernel.cuda, &kernel.cuda_host) {
                    (Some(cuda), _) => Some(&cuda.source),
                    (None, Some(host)) => host.source.as_ref(),
                    (None, None) => return Err(format!("kernels/{slug} has no CUDA source")),
                };
                let start = source.map(|name| text(name)).transpose()?;
                Ok(Desk::kernel(kernel, start.unwrap_or_default()))
            }
        }
    }
}
