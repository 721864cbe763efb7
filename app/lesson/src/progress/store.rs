//! The saving algorithm, over a trait of file operations so that each of them can be made to fail.
//!
//! At every moment the disk holds the old document or the new one: a new one is written beside, synced, and renamed
//! into place; before that, the good one it replaces becomes the backup, in the same manner. What cannot be read is
//! moved aside under a dated name, never overwritten and never deleted.

use super::{Progress, ReadError, merge};
use std::io;
use vramlab_units::Localized;

/// The document.
pub const MAIN: &str = "progress.json";
/// The last good document before the newest.
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

/// What was found at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub progress: Progress,
    /// What the reader should know: a file was damaged, where it is kept, what was loaded instead.
    pub messages: Vec<Localized>,
    /// False if the folder cannot be written: the session goes on in memory.
    pub can_save: bool,
}

/// Loads the document at the start. Never fails: at worst the reader begins anew and is told why.
pub fn load(files: &mut dyn Files) -> Loaded {
    let mut loaded = Loaded { can_save: true, ..Loaded::default() };
    let is_locked = match files.lock() {
        Ok(()) => true,
        Err(error) => {
            loaded.can_save = false;
            loaded.messages.push(Localized::both(
                format!("数据文件夹不能写（{error}）：本次学习只留在内存里，请记得导出。"),
                format!("The data folder cannot be written ({error}): this session stays in memory; export it."),
            ));
            false
        }
    };
    if is_locked {
        sweep(files);
    }
    let main = read(files, MAIN);
    if let Found::Bad(error) = &main {
        set_aside(files, MAIN, error, is_locked, &mut loaded.messages);
    }
    loaded.progress = match main {
        Found::Good(progress) => *progress,
        Found::Bad(_) => from_backup(files, is_locked, &mut loaded.messages, false),
        Found::Unreadable(error) => {
            loaded.messages.push(unreadable(MAIN, &error));
            from_backup(files, is_locked, &mut loaded.messages, false)
        }
        Found::Nothing => from_backup(files, is_locked, &mut loaded.messages, true),
    };
    if is_locked {
        files.unlock();
    }
    loaded.progress = loaded.progress.in_step();
    loaded
}

fn from_backup(files: &mut dyn Files, is_locked: bool, messages: &mut Vec<Localized>, is_quiet: bool) -> Progress {
    match read(files, BACKUP) {
        Found::Good(progress) => {
            messages
                .push(Localized::both("已载入上一份完好的进度。", "The last good copy of your progress is loaded."));
            *progress
        }
        Found::Bad(error) => {
            set_aside(files, BACKUP, &error, is_locked, messages);
            Progress::default()
        }
        Found::Unreadable(error) => {
            messages.push(unreadable(BACKUP, &error));
            Progress::default()
        }
        Found::Nothing => {
            if !is_quiet {
                messages.push(Localized::both("没有备份，进度从头开始。", "There is no backup; progress begins anew."));
            }
            Progress::default()
        }
    }
}

enum Found {
    Good(Box<Progress>),
    Bad(String),
    /// The disk refused, perhaps only for now: such a file is left alone.
    Unreadable(String),
    Nothing,
}

fn unreadable(name: &str, error: &str) -> Localized {
    Localized::both(
        format!("{name} 现在读不了（{error}），原样留着。"),
        format!("{name} cannot be read at the moment ({error}); it is left as it is."),
    )
}

fn read(files: &mut dyn Files, name: &str) -> Found {
    match files.read(name) {
        Ok(None) => Found::Nothing,
        Ok(Some(bytes)) => match Progress::from_bytes(&bytes) {
            Ok(progress) => Found::Good(Box::new(progress)),
            Err(error) => Found::Bad(error.to_string()),
        },
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

/// Moves an unreadable file to `progress.damaged-2026-11-30.json`, or `…-30-2` if that is taken.
fn set_aside(files: &mut dyn Files, name: &str, error: &str, is_locked: bool, messages: &mut Vec<Localized>) {
    let taken = files.list();
    let date = files.date();
    let stem = name.trim_end_matches(".json");
    let names = (1..1_000).map(|n| match n {
        1 => format!("{stem}.damaged-{date}.json"),
        n => format!("{stem}.damaged-{date}-{n}.json"),
    });
    let free = taken.ok().and_then(|taken| names.into_iter().find(|name| !taken.contains(name)));
    let moved = free.filter(|aside| is_locked && files.rename(name, aside).is_ok());
    messages.push(match moved {
        Some(aside) => Localized::both(
            format!("{name} 读不出来（{error}），已另存为 {aside}。"),
            format!("{name} cannot be read ({error}); it is kept as {aside}."),
        ),
        None => Localized::both(
            format!("{name} 读不出来（{error}），原样留在数据文件夹里。"),
            format!("{name} cannot be read ({error}); it stays where it is."),
        ),
    });
}

/// Removes what an interrupted save left behind.
fn sweep(files: &mut dyn Files) {
    for name in files.list().unwrap_or_default() {
        if name.ends_with(TEMP) && name.starts_with("progress") {
            // A leftover that stays does no harm; the next start tries again.
            let _ = files.remove(&name);
        }
    }
}

/// Saves `mine`, merged with what another window has saved meanwhile. Returns the merged document, which replaces the
/// caller's, and what the reader should know.
pub fn save(files: &mut dyn Files, mine: &Progress) -> Result<(Progress, Vec<Localized>), SaveError> {
    files.lock().map_err(failed("locking", MAIN))?;
    let mut messages = Vec::new();
    let saved = save_locked(files, mine, &mut messages);
    files.unlock();
    saved.map(|progress| (progress.in_step(), messages))
}

fn save_locked(files: &mut dyn Files, mine: &Progress, messages: &mut Vec<Localized>) -> Result<Progress, SaveError> {
    let current = files.read(MAIN).map_err(failed("reading", MAIN))?;
    let mut merged = mine.clone();
    let mut good = None;
    if let Some(bytes) = current {
        match Progress::from_bytes(&bytes) {
            Ok(theirs) => {
                merged.move_behind(theirs.counter);
                merged = merge(theirs, merged);
                good = Some(bytes);
            }
            Err(error) => keep_bad(files, &error, messages)?,
        }
    }
    let new = merged.to_bytes();
    if good.as_ref() == Some(&new) {
        return Ok(merged);
    }
    if let Some(old) = good {
        replace(files, BACKUP, &old)?;
    }
    replace(files, MAIN, &new)?;
    files.sync_folder().map_err(failed("syncing the folder of", MAIN))?;
    Ok(merged)
}

/// P1: a file that went bad while we ran is moved aside before it is replaced, or not replaced at all.
fn keep_bad(files: &mut dyn Files, error: &ReadError, messages: &mut Vec<Localized>) -> Result<(), SaveError> {
    let n_before = messages.len();
    set_aside(files, MAIN, &error.to_string(), true, messages);
    let is_gone = files.read(MAIN).map_err(failed("reading", MAIN))?.is_none();
    if is_gone {
        return Ok(());
    }
    messages.truncate(n_before);
    Err(SaveError { doing: "moving aside", file: MAIN.to_owned(), why: error.to_string() })
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
