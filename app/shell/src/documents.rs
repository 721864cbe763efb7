//! The four documents that are kept for the reader: progress, notebook, settings, kernels of the playground. All follow the rules of
//! `vramlab_lesson::progress`: old or new on disk at every moment, damaged files set aside, two windows merged.

use crate::notebook::Notebook;
use crate::playground::drafts::Drafts;
use crate::settings::Settings;
use vramlab_lesson::progress::{self, Files, Loaded, SaveError};
use vramlab_units::Localized;

pub const SETTINGS: &str = "settings.json";
pub const NOTEBOOK: &str = "notebook.json";
pub const PLAYGROUND: &str = "playground.json";

/// A document beside the progress that has changed and is not stored yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doc {
    Settings,
    Notebook,
    Playground,
}

/// What was found at the start.
pub struct Documents {
    pub progress: Loaded,
    pub notebook: Notebook,
    pub settings: Settings,
    pub drafts: Drafts,
    pub messages: Vec<Localized>,
}

pub fn load(files: &mut dyn Files) -> Documents {
    let progress = progress::load(files);
    let mut messages = progress.messages.clone();
    let mut kept = |name: &str, is_good: &dyn Fn(&[u8]) -> Result<(), String>| {
        let kept = progress::load_kept(files, name, is_good);
        // A folder that cannot be written is said once, by the progress.
        messages.extend(kept.messages.into_iter().filter(|_| kept.can_save));
        kept.bytes.and_then(|bytes| String::from_utf8(bytes).ok())
    };
    let notebook = kept(NOTEBOOK, &is_notebook).and_then(|text| Notebook::from_json(&text).ok()).unwrap_or_default();
    let settings = kept(SETTINGS, &is_settings).and_then(|text| Settings::from_json(&text).ok()).unwrap_or_default();
    let drafts = kept(PLAYGROUND, &is_drafts).and_then(|text| Drafts::from_json(&text).ok()).unwrap_or_default();
    Documents { progress, notebook, settings, drafts, messages }
}

/// Saves the notebook, merged with the runs that another window has kept meanwhile, and returns what is stored now.
pub fn save_notebook(files: &mut dyn Files, mine: &Notebook) -> Result<Notebook, SaveError> {
    let merge = |theirs: Option<&[u8]>| {
        let theirs = theirs.and_then(|bytes| Notebook::from_json(std::str::from_utf8(bytes).ok()?).ok());
        Notebook::merge(theirs.unwrap_or_default(), mine.clone()).to_json().into_bytes()
    };
    let (bytes, _) = progress::save_kept(files, NOTEBOOK, &is_notebook, &merge)?;
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| Notebook::from_json(text).ok()).unwrap_or_else(|| mine.clone()))
}

/// Saves the reader's kernels, merged with what another window has written meanwhile, and returns what is stored now.
pub fn save_drafts(files: &mut dyn Files, mine: &Drafts) -> Result<Drafts, SaveError> {
    let merge = |theirs: Option<&[u8]>| {
        let theirs = theirs.and_then(|bytes| Drafts::from_json(std::str::from_utf8(bytes).ok()?).ok());
        Drafts::merge(theirs.unwrap_or_default(), mine).to_json().into_bytes()
    };
    let (bytes, _) = progress::save_kept(files, PLAYGROUND, &is_drafts, &merge)?;
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| Drafts::from_json(text).ok()).unwrap_or_else(|| mine.clone()))
}

/// Saves the settings; the latest window wins.
pub fn save_settings(files: &mut dyn Files, mine: &Settings) -> Result<(), SaveError> {
    let merge = |_: Option<&[u8]>| mine.to_json().into_bytes();
    progress::save_kept(files, SETTINGS, &is_settings, &merge).map(drop)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| error.to_string())
}

fn is_notebook(bytes: &[u8]) -> Result<(), String> {
    Notebook::from_json(text(bytes)?).map(drop)
}

fn is_drafts(bytes: &[u8]) -> Result<(), String> {
    Drafts::from_json(text(bytes)?).map(drop)
}

fn is_settings(bytes: &[u8]) -> Result<(), String> {
    Settings::from_json(text(bytes)?).map(drop)
}
