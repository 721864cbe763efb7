//! The reader's documents in the data folder. The progress follows `vramlab_lesson::progress`; the two small documents
//! are written beside, synced and renamed. A damaged one is set aside under a dated name.

use etcetera::BaseStrategy as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use vramlab_lesson::progress::{self, Files, Loaded, Progress, SaveError};
use vramlab_shell::platform::{Doc, Stored};
use vramlab_units::Localized;

pub struct Store {
    folder: Folder,
}

/// The data folder of this user, unless a flag or the environment names another.
pub fn data_dir(asked: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = asked {
        return Some(dir.to_owned());
    }
    etcetera::choose_base_strategy().ok().map(|base| base.data_dir().join("vramlab"))
}

impl Store {
    pub fn open(asked: Option<&Path>) -> Self {
        // A machine without a home folder: nothing can be written, and the first save says so.
        let dir = data_dir(asked).unwrap_or_default();
        Self { folder: Folder { dir, lock: None } }
    }

    pub fn load_progress(&mut self) -> Loaded {
        progress::load(&mut self.folder)
    }

    pub fn save_progress(&mut self, mine: &Progress) -> Result<(Progress, Vec<Localized>), SaveError> {
        progress::save(&mut self.folder, mine)
    }

    pub fn load(&mut self, doc: Doc) -> Stored {
        let name = doc.name();
        let mut stored = Stored::default();
        match self.folder.read(name) {
            Ok(None) => {}
            Ok(Some(bytes)) => match String::from_utf8(bytes).ok().filter(|text| is_json(text)) {
                Some(text) => stored.text = Some(text),
                None => {
                    let aside = format!("{name}.damaged-{}", self.folder.date());
                    let moved = self.folder.rename(name, &aside).is_ok();
                    let place = if moved { aside } else { name.to_owned() };
                    stored.notes.push(format!("{name} 读不出来，已另存为 {place} · {name} cannot be read; it is kept as {place}"));
                }
            },
            Err(error) => stored.notes.push(format!("{name}: {error}")),
        }
        stored
    }

    pub fn save(&mut self, doc: Doc, text: &str) -> Result<(), String> {
        let name = doc.name();
        let temp = format!("{name}.unfinished");
        let write = |folder: &mut Folder| -> io::Result<()> {
            folder.write(&temp, text.as_bytes())?;
            folder.sync(&temp)?;
            folder.rename(&temp, name)?;
            folder.sync_folder()
        };
        write(&mut self.folder).map_err(|error| format!("{name}: {error}"))
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// One folder on disk.
struct Folder {
    dir: PathBuf,
    lock: Option<File>,
}

impl Folder {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn ensure(&self) -> io::Result<()> {
        if self.dir.as_os_str().is_empty() {
            return Err(io::Error::other("there is no home folder"));
        }
        fs::create_dir_all(&self.dir)
    }
}

impl Files for Folder {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.ensure()?;
        File::create(self.path(name))?.write_all(bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        File::options().write(true).open(self.path(name))?.sync_all()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        if cfg!(unix) { File::open(&self.dir)?.sync_all() } else { Ok(()) }
    }

    fn list(&mut self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.dir)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn lock(&mut self) -> io::Result<()> {
        self.ensure()?;
        let file = File::options().create(true).truncate(false).write(true).open(self.path("lock"))?;
        file.lock()?;
        self.lock = Some(file);
        Ok(())
    }

    fn unlock(&mut self) {
        // Closing the file gives the lock back.
        self.lock = None;
    }

    fn date(&self) -> String {
        crate::date::today()
    }
}
