//! The project's file: read whole, written whole or not at all. A file that cannot be read is left as it is.

use crate::cli::Exit;
use crate::cli::fault::{Fault, of_system};
use crate::cli::say::Say;
use std::path::Path;
use vramlab_train::project::{self, MAX_BYTES, Project, ReadError};
use vramlab_units::{Lang, Text};

pub fn open(path: &Path, say: &Say) -> Result<Project, Fault> {
    let shown = path.display();
    let colon = if say.lang == Lang::Zh { "：" } else { ": " };
    let large = std::fs::metadata(path).map_or(0, |meta| meta.len());
    if large > MAX_BYTES as u64 {
        let error = ReadError::TooLong { bytes: usize::try_from(large).unwrap_or(usize::MAX) };
        return Err(Fault::usage(format!("{shown}{colon}{}", error.told().get(say.lang))));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        Fault::usage(format!("{shown}{colon}{}", of_system(&error, say.lang))).help(say.text(STARTS))
    })?;
    project::read(&bytes)
        .map_err(|error| Fault::usage(format!("{shown}{colon}{}", error.told().get(say.lang))).help(say.text(LEFT)))
}

const STARTS: Text =
    Text::new("`vramlab project new FILE` 新建一个项目", "`vramlab project new FILE` starts a project");
const LEFT: Text = Text::new("文件没有动，什么也没写", "the file was left as it is; nothing was written");

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
