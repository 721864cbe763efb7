//! Where a recording is written: beside its place first, then moved there whole.

use super::super::fault::{Fault, of_system};
use anyhow::Context as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use vramlab_profile::Profile;
use vramlab_units::{Lang, Text};

const NAME: &str = "vramlab-profile";
/// Numbers that are tried for a name that is not given.
const MOST: usize = 10_000;

/// What a recording's name ends with.
const ENDS: [&str; 2] = [".json", ".json.gz"];
const ENDING: Text = Text::new(
    "--out {}：录制文件的名字以 .json 或 .json.gz 结尾",
    "--out {}: the name of a recording ends with .json or .json.gz",
);
const FOLDER: Text = Text::new("--out {} 是文件夹，要给文件名", "{} is a folder; --out names a file");

/// A file that can be written.
pub struct Place {
    /// Chosen by the reader, and replaced then.
    path: Option<PathBuf>,
    file: tempfile::NamedTempFile,
}

impl Place {
    /// Opens a file beside the place. Without a given one it is the folder at hand, or, if that cannot be written, the
    /// folder for temporary files.
    pub fn choose(given: Option<&Path>, lang: Lang) -> Result<Self, Fault> {
        if let Some(path) = given {
            let fault = |text: Text| Fault::usage(text.get(lang).replace("{}", &path.display().to_string()));
            if path.is_dir() {
                return Err(fault(FOLDER));
            }
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if !ENDS.iter().any(|end| name.ends_with(end)) {
                return Err(fault(ENDING));
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let file = tempfile::NamedTempFile::new_in(folder)
                .map_err(|error| Fault::usage(format!("--out {}: {}", path.display(), of_system(&error, lang))))?;
            return Ok(Self { path: Some(path.to_owned()), file });
        }
        let file =
            tempfile::NamedTempFile::new_in(".").or_else(|_| tempfile::NamedTempFile::new()).map_err(|error| {
                let what = Text::new("录制写不到任何地方：", "the recording cannot be written anywhere: ").get(lang);
                Fault::usage(format!("{what}{}", of_system(&error, lang)))
            })?;
        Ok(Self { path: None, file })
    }

    /// Writes the recording and returns its path.
    pub fn write(mut self, profile: &Profile) -> anyhow::Result<PathBuf> {
        let text = profile.to_json();
        let is_packed = self.path.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "gz"));
        if is_packed {
            let mut packer = flate2::write::GzEncoder::new(&mut self.file, flate2::Compression::best());
            packer.write_all(text.as_bytes()).context("the recording could not be written")?;
            packer.finish().context("the recording could not be written")?;
        } else {
            self.file.write_all(text.as_bytes()).context("the recording could not be written")?;
        }
        readable_by_others(self.file.path());
        if let Some(path) = self.path {
            self.file.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
            return Ok(path);
        }
        let folder = self.file.path().parent().map(Path::to_owned).unwrap_or_default();
        let folder = if Path::new(".").canonicalize().is_ok_and(|here| here == folder) || folder == Path::new(".") {
            PathBuf::new()
        } else {
            folder
        };
        let mut file = self.file;
        for n in 1..MOST {
            let name = if n == 1 { format!("{NAME}.json") } else { format!("{NAME}-{n}.json") };
            let path = folder.join(name);
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(back) => file = back.file,
            }
        }
        anyhow::bail!("there are already {MOST} recordings in {}", folder.display())
    }
}

/// Temporary files are the owner's alone; a recording is a file like others.
fn readable_by_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // It stays private if the system does not allow it.
        let _private = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).is_err();
    }
    #[cfg(not(unix))]
    let _ = path;
}
