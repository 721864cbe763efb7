//! Watches a lesson folder and sends all its files after every change. A burst of writes, as editors make when they
//! save, is one change; a file that vanished while it was read is read again with the next one.

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use vramlab_shell::platform::Event;

/// Keeps the watcher alive.
pub struct Watch {
    _changes: Option<Changes>,
}

/// Most files, and most bytes of a file, that a lesson folder may have.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 8 << 20;
/// How long files must be at rest, and how long one waits for that at most: a change shows within a second.
const REST: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_millis(700);

impl Watch {
    /// Sends the folder's files at once and after every change. `None` if the folder cannot be read at all.
    pub fn start(dir: &Path, send: impl Fn(Event) + Send + 'static) -> Option<Self> {
        let root = dir.to_owned();
        let read = move || match files(&root) {
            Ok(files) => Event::Lessons { root: root.display().to_string(), files },
            Err(error) => Event::Note(format!("{error}: {}", root.display())),
        };
        send(read());
        let (changes, told) = Changes::watch(&[dir.to_owned()]).ok().unzip();
        if let Some(told) = told {
            let follow = move || {
                while at_rest(&told) {
                    send(read());
                }
            };
            let _ = std::thread::Builder::new().name("lessons".to_owned()).spawn(follow);
        }
        Some(Self { _changes: changes })
    }
}

/// Tells of every file below some paths that is written, made, renamed or removed, as long as it lives. Reading a file is
/// no change: whoever is told reads it, and would be told of that again.
pub struct Changes {
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// Files are watched by way of their folder: an editor replaces a file by another of its name.
    pub fn watch(paths: &[PathBuf]) -> notify::Result<(Self, Receiver<()>)> {
        let (send, told) = channel();
        let changed = move |event: notify::Result<notify::Event>| {
            let is_change = |event: &notify::Event| {
                !matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(|path| is_noise(path))
            };
            if event.is_ok_and(|event| is_change(&event)) {
                let _ = send.send(());
            }
        };
        let mut watcher = notify::recommended_watcher(changed)?;
        for path in paths {
            if path.is_dir() {
                watcher.watch(path, RecursiveMode::Recursive)?;
            } else {
                watcher.watch(folder_of(path), RecursiveMode::NonRecursive)?;
            }
        }
        Ok((Self { _watcher: watcher }, told))
    }
}

/// Waits for a change and for the end of its burst. False when nothing watches any more.
pub fn at_rest(told: &Receiver<()>) -> bool {
    if told.recv().is_err() {
        return false;
    }
    let first = Instant::now();
    while first.elapsed() < PATIENCE && told.recv_timeout(REST).is_ok() {}
    true
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Files that editors keep beside the one that is edited.
fn is_noise(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name.ends_with('~') || name.ends_with(".swp") || name.ends_with(".tmp")
}

/// Every file below `dir` by its path with `/`; links that leave the folder are not followed.
pub fn files(dir: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut out = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(dir.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && entry.metadata()?.len() <= MAX_BYTES && out.len() < MAX_FILES {
                let bytes = std::fs::read(dir.join(&path))?;
                out.push((path.to_string_lossy().replace('\\', "/"), bytes));
            }
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_editors_are_no_change() {
        let noise = |name: &str| is_noise(Path::new(name));
        assert!(noise("a/.chapter.toml.swp") && noise("a/chapter.toml~") && noise("a/.#x") && noise("x.tmp"));
        assert!(!noise("40_mine/chapter.toml") && !noise("figures/a.png"));
        assert_eq!(folder_of(Path::new("chapter.toml")), Path::new("."));
    }
}
