//! The saving algorithm, over a trait of file operations so that each of them can be made to fail.
//!
//! At every moment the disk holds the old document or the new one: a new one is written beside, synced, and renamed
//! into place; before that, the good one it replaces becomes the backup, in the same manner. What cannot be read is
//! moved aside under a dated name, never overwritten and never deleted.

use super::{Progress, merge};
use std::io;
use vramlab_units::Localized;

/// The document.
pub const MAIN: &str = "progress.json";
/// The last good document before the newest; other documents are backed up likewise.
pub const BACKUP: &str = "progress.backup.json";
/// How unfinished files end; they are swept at the next start.
const TEMP: &str = ".unfinished";

/// One folder. The desktop implements it over the data folder, the web over its storage; tests over memory.
pub trait Files {
    /// The content of a file; `None` if it is not there.
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>>;
    /// Creates or overwrites a file. Only called on names that end in `.unfinished`.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Returns once the content is on the disk.
    fn sync(&mut self, name: &str) -> io::Result<()>;
    /// Replaces `to` in one step.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;
    /// Returns once renames are on the disk.
    fn sync_folder(&mut self) -> io::Result<()>;
    fn list(&mut self) -> io::Result<Vec<String>>;
    fn remove(&mut self, name: &str) -> io::Result<()>;
    /// Waits for the other windows and keeps them out until [`Self::unlock`].
    fn lock(&mut self) -> io::Result<()>;
    fn unlock(&mut self);
    /// Today, as in `2026-11-30`; only for the name of a file set aside.
    fn date(&self) -> String;
}

/// An operation that failed while saving. The old document is intact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{doing} {file} failed: {why}")]
pub struct SaveError {
    pub doing: &'static str,
    pub file: String,
    pub why: String,
}

fn failed(doing: &'static str, file: &str) -> impl FnOnce(io::Error) -> SaveError {
    move |error| SaveError { doing, file: file.to_owned(), why: error.to_string() }
}

/// Why bytes are not the document they should be; shown to the reader.
pub type IsGood<'a> = &'a dyn Fn(&[u8]) -> Result<(), String>;
/// Makes the bytes to be saved from those of the disk, if they are good: another window may have saved meanwhile.
pub type Merge<'a> = &'a dyn Fn(Option<&[u8]>) -> Vec<u8>;

/// What was found at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub progress: Progress,
    /// What the reader should know: a file was damaged, where it is kept, what was loaded instead.
    pub messages: Vec<Localized>,
    /// False if the folder cannot be written: the session goes on in memory.
    pub can_save: bool,
}

/// As [`Loaded`], for any document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// `None` if there is nothing yet, or nothing that could be read.
    pub bytes: Option<Vec<u8>>,
    pub messages: Vec<Localized>,
    pub can_save: bool,
}

fn is_progress(bytes: &[u8]) -> Result<(), String> {
    Progress::from_bytes(bytes).map(drop).map_err(|error| error.to_string())
}

/// Loads the progress at the start. Never fails: at worst the reader begins anew and is told why.
pub fn load(files: &mut dyn Files) -> Loaded {
    let kept = load_kept(files, MAIN, &is_progress);
    let progress = kept.bytes.and_then(|bytes| Progress::from_bytes(&bytes).ok()).unwrap_or_default();
    Loaded { progress: progress.in_step(), messages: kept.messages, can_save: kept.can_save }
}

/// Saves `mine`, merged with what another window has saved meanwhile. Returns the merged document, which replaces the
/// caller's, and what the reader should know.
pub fn save(files: &mut dyn Files, mine: &Progress) -> Result<(Progress, Vec<Localized>), SaveError> {
    let merged = |theirs: Option<&[u8]>| {
        let mut merged = mine.clone();
        if let Some(theirs) = theirs.and_then(|bytes| Progress::from_bytes(bytes).ok()) {
            merged.move_behind(theirs.counter);
            merged = merge(theirs, merged);
        }
        merged.to_bytes()
    };
    let (bytes, messages) = save_kept(files, MAIN, &is_progress, &merged)?;
    let saved = Progress::from_bytes(&bytes).unwrap_or_else(|_| mine.clone());
    Ok((saved.in_step(), messages))
}

/// Loads a document by the same rules as the progress. `name` ends in `.json`.
pub fn load_kept(files: &mut dyn Files, name: &str, is_good: IsGood<'_>) -> Kept {
    let mut kept = Kept { can_save: true, ..Kept::default() };
    if let Err(error) = files.lock() {
        kept.can_save = false;
        kept.messages.push(Localized::both(
            format!("数据文件夹不能写（{error}）：本次学习只留在内存里，请记得导出。"),
            format!("The data folder cannot be written ({error}): your answers stay in memory; export them."),
        ));
    }
    if kept.can_save {
        sweep(files, name);
    }
    kept.bytes = newest(files, name, is_good, kept.can_save, &mut kept.messages);
    if kept.can_save {
        files.unlock();
    }
    kept
}

fn newest(
    files: &mut dyn Files,
    name: &str,
    is_good: IsGood<'_>,
    can_move: bool,
    messages: &mut Vec<Localized>,
) -> Option<Vec<u8>> {
    let backup = backup_of(name);
    let mut has_failed = false;
    for name in [name, &backup] {
        match read(files, name, is_good) {
            Found::Good(bytes) => {
                if name == backup {
                    messages.push(Localized::both("已载入上一份完好的副本。", "The last good copy is loaded."));
                }
                return Some(bytes);
            }
            Found::Nothing => {}
            Found::Bad(error) => {
                has_failed = true;
                messages.push(set_aside(files, name, &error, can_move));
            }
            Found::Unreadable(error) => {
                has_failed = true;
                messages.push(Localized::both(
                    format!("{name} 现在读不了（{error}），原样留着。"),
                    format!("{name} cannot be read at the moment ({error}); it is left as it is."),
                ));
            }
        }
    }
    if has_failed {
        messages
            .push(Localized::both("没有完好的副本，这部分从头开始。", "There is no good copy; this part begins anew."));
    }
    None
}

enum Found {
    Good(Vec<u8>),
    Bad(String),
    /// The disk refused, perhaps only for now: such a file is left alone.
    Unreadable(String),
    Nothing,
}

fn read(files: &mut dyn Files, name: &str, is_good: IsGood<'_>) -> Found {
    match files.read(name) {
        Ok(None) => Found::Nothing,
        Ok(Some(bytes)) => match is_good(&bytes) {
            Ok(()) => Found::Good(bytes),
            Err(why) => Found::Bad(why),
        },
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

fn stem_of(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

fn backup_of(name: &str) -> String {
    format!("{}.backup.json", stem_of(name))
}

/// Moves an unreadable file to `progress.damaged-2026-11-30.json`, or `…-30-2` if that is taken, and says so.
fn set_aside(files: &mut dyn Files, name: &str, error: &str, can_move: bool) -> Localized {
    let taken = files.list();
    let (date, stem) = (files.date(), stem_of(name));
    let mut names = (1..1_000).map(|n| match n {
        1 => format!("{stem}.damaged-{date}.json"),
        n => format!("{stem}.damaged-{date}-{n}.json"),
    });
    let free = taken.ok().and_then(|taken| names.find(|name| !taken.contains(name)));
    match free.filter(|aside| can_move && files.rename(name, aside).is_ok()) {
        Some(aside) => Localized::both(
            format!("{name} 读不出来（{error}），已另存为 {aside}。"),
            format!("{name} cannot be read ({error}); it is kept as {aside}."),
        ),
        None => Localized::both(
            format!("{name} 读不出来（{error}），原样留在数据文件夹里。"),
            format!("{name} cannot be read ({error}); it stays where it is."),
        ),
    }
}

/// Removes what an interrupted save left behind.
fn sweep(files: &mut dyn Files, name: &str) {
    let stem = stem_of(name);
    for leftover in files.list().unwrap_or_default() {
        if leftover.ends_with(TEMP) && leftover.starts_with(stem) {
            // A leftover that stays does no harm; the next start tries again.
            let _ = files.remove(&leftover);
        }
    }
}

/// Saves a document by the same rules as the progress. Returns the bytes that are on the disk now.
pub fn save_kept(
    files: &mut dyn Files,
    name: &str,
    is_good: IsGood<'_>,
    merge: Merge<'_>,
) -> Result<(Vec<u8>, Vec<Localized>), SaveError> {
    files.lock().map_err(failed("locking", name))?;
    let mut messages = Vec::new();
    let saved = save_locked(files, name, is_good, merge, &mut messages);
    files.unlock();
    saved.map(|bytes| (bytes, messages))
}

fn save_locked(
    files: &mut dyn Files,
    name: &str,
    is_good: IsGood<'_>,
    merge: Merge<'_>,
    messages: &mut Vec<Localized>,
) -> Result<Vec<u8>, SaveError> {
    let mut good = None;
    if let Some(bytes) = files.read(name).map_err(failed("reading", name))? {
        match is_good(&bytes) {
            Ok(()) => good = Some(bytes),
            Err(why) => keep_bad(files, name, why, messages)?,
        }
    }
    let new = merge(good.as_deref());
    if good.as_ref() == Some(&new) {
        return Ok(new);
    }
    if let Some(old) = good {
        replace(files, &backup_of(name), &old)?;
    }
    replace(files, name, &new)?;
    files.sync_folder().map_err(failed("syncing the folder of", name))?;
    Ok(new)
}

/// P1: a file that went bad while we ran is moved aside before it is replaced, or not replaced at all.
fn keep_bad(files: &mut dyn Files, name: &str, why: String, messages: &mut Vec<Localized>) -> Result<(), SaveError> {
    let message = set_aside(files, name, &why, true);
    if files.read(name).map_err(failed("reading", name))?.is_some() {
        return Err(SaveError { doing: "moving aside", file: name.to_owned(), why });
    }
    messages.push(message);
    Ok(())
}

fn replace(files: &mut dyn Files, name: &str, bytes: &[u8]) -> Result<(), SaveError> {
    let temp = format!("{name}{TEMP}");
    files.write(&temp, bytes).map_err(failed("writing", name))?;
    files.sync(&temp).map_err(failed("syncing", name))?;
    files.rename(&temp, name).map_err(failed("renaming", name))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
