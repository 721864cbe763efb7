//! Watches a lesson folder and sends all its files after every change. A burst of writes, as editors make when they
//! save, is one change; a file that vanished while it was read is read again with the next one.

use notify_debouncer_mini::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vramlab_shell::platform::Event;

/// Keeps the watcher alive.
pub struct Watch {
    _debouncer: Option<Debouncer<RecommendedWatcher>>,
}

/// Most files, and most bytes of a file, that a lesson folder may have.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 8 << 20;

impl Watch {
    /// Sends the folder's files at once and after every change. `None` if the folder cannot be read at all.
    pub fn start(dir: &Path, send: impl Fn(Event) + Send + 'static) -> Option<Self> {
        let root = dir.to_owned();
        let read = move || match files(&root) {
            Ok(files) => Event::Lessons { root: root.display().to_string(), files },
            Err(error) => Event::Note(format!("{error}: {}", root.display())),
        };
        send(read());
        let changed = move |result: DebounceEventResult| {
            if result.is_ok() {
                send(read());
            }
        };
        let mut debouncer = new_debouncer(Duration::from_millis(200), changed).ok();
        if let Some(debouncer) = &mut debouncer {
            let _ = debouncer.watcher().watch(dir, RecursiveMode::Recursive);
        }
        Some(Self { _debouncer: debouncer })
    }
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
