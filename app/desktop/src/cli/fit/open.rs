//! Opens a model file: the head of a large one, a folder by its config.json, and names for what is none.

use super::fault;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use vramlab_modelfile::{Head, Model, Problem, read};

/// The beginning that is enough for nearly every file; more is read where a header asks for it.
const FIRST: u64 = 32 << 20;
/// A header larger than this is none.
const MOST: u64 = 1 << 30;

/// The model, and the file's name.
pub fn open(path: &Path, given: &[(String, String)], say: &Say) -> Result<(Model, String), Fault> {
    let inside = path.join("config.json");
    let path = if path.is_dir() { inside.as_path() } else { path };
    let name = path.display().to_string();
    let failed = |error: std::io::Error| Fault::usage(format!("{error}: {name}"));
    let mut file = File::open(path).map_err(failed)?;
    let n_bytes = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    let mut want = FIRST;
    loop {
        (&mut file).take(want - bytes.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        match read(Head { bytes: &bytes, n_bytes: n_bytes.max(bytes.len() as u64) }, given) {
            Ok(model) => return Ok((model, name)),
            Err(Problem { need: Some(need), .. }) if need > want && need <= MOST => want = (want * 2).max(need),
            Err(problem) => {
                let at = if problem.place.is_some() { format!("{name}: ") } else { String::new() };
                let fault = fault(&problem, say);
                return Err(Fault { what: format!("{at}{}", fault.what), ..fault });
            }
        }
    }
}
