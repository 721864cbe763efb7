//! The project's file: read whole, written whole or not at all. A file that cannot be read is left as it is.

use crate::cli::Exit;
use crate::cli::fault::Fault;
use std::path::Path;
use vramlab_train::project::{self, MAX_BYTES, Project};

pub fn open(path: &Path) -> Result<Project, Fault> {
    let shown = path.display();
    let large = std::fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_BYTES as u64);
    if large {
        return Err(Fault::usage(format!("{shown}: larger than any project ({MAX_BYTES} bytes)")));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        Fault::usage(format!("{shown}: {error}")).help("`vramlab project new FILE` starts a project")
    })?;
    project::read(&bytes).map_err(|error| {
        Fault::usage(format!("{shown}: {error}")).help("the file was left as it is; nothing was written")
    })
}

/// A new file; an existing one is never written over.
pub fn create(path: &Path, project: &Project) -> Result<(), Fault> {
    if path.exists() {
        let help = "choose another name, or go on with `vramlab project baseline`";
        return Err(Fault::usage(format!("{} is there already", path.display())).help(help));
    }
    save(path, project)
}

pub fn save(path: &Path, project: &Project) -> Result<(), Fault> {
    let text = project::write(project).map_err(|why| Fault::new(Exit::Findings, why))?;
    put(path, text.as_bytes())
}

pub fn put(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    crate::cli::record::write(path, bytes)
        .map_err(|error| Fault::usage(format!("{} cannot be written: {error}", path.display())))
}
