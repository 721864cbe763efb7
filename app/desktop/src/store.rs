//! The data folder on disk, as `vramlab_lesson::progress` wants it.

use etcetera::BaseStrategy as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use vramlab_lesson::progress::Files;

/// The data folder of this user, unless a flag or the environment names another.
pub fn data_dir(asked: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = asked {
        return Some(dir.to_owned());
    }
    etcetera::choose_base_strategy().ok().map(|base| base.data_dir().join("vramlab"))
}

/// One folder on disk.
pub struct Folder {
    dir: PathBuf,
    lock: Option<File>,
}

impl Folder {
    /// A machine without a home folder gets one that cannot be written; the first save says so.
    pub fn open(asked: Option<&Path>) -> Self {
        Self { dir: data_dir(asked).unwrap_or_default(), lock: None }
    }

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
