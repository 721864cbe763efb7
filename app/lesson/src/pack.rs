//! A pack: chapters with their files, as a folder listing or a .zip gives them. Bytes in, pack out; the caller reads
//! folders. Everything from outside is bounded and every name is checked before a byte is unpacked.
//!
//! A chapter is a folder with `chapter.toml`, whose name is its id, or a single `ID.toml` at the top.

use crate::chapter::Registry;
use crate::check::check_in_pack;
use crate::link;
use crate::parse::{Parsed, parse};
use crate::problem::{Place, Problem, Severity, sort};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use vramlab_units::{FieldError, Map};

/// What a pack may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub files: usize,
    pub file_bytes: u64,
    pub total_bytes: u64,
    /// Unpacked over packed bytes of one file.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 4_096, file_bytes: 16 << 20, total_bytes: 64 << 20, ratio: 1_000 }
    }
}

/// A pack that is refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    #[error("{name} is not a .zip file; it looks like {looks}")]
    NotZip { name: String, looks: &'static str },
    #[error("{name} is damaged: {why}")]
    Damaged { name: String, why: String },
    #[error("{name} has {found} files; a pack may have {limit}")]
    TooManyFiles { name: String, found: usize, limit: usize },
    #[error("\"{file}\" has more than {limit} bytes; a file of a pack may not")]
    FileTooLarge { file: String, limit: u64 },
    #[error("{name} unpacks to more than {limit} bytes; a pack may not")]
    TooLarge { name: String, limit: u64 },
    #[error("\"{file}\" unpacks to more than {limit} times its size; that is a bomb, not a lesson")]
    Ratio { file: String, limit: u64 },
    #[error("\"{file}\" is refused: {why}")]
    BadName { file: String, why: String },
    #[error("\"{file}\" is a symbolic link; a pack holds plain files only")]
    Symlink { file: String },
    #[error("\"{file}\" is encrypted")]
    Encrypted { file: String },
    #[error("\"{file}\" is in the pack twice")]
    Twice { file: String },
}

/// One chapter of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedChapter {
    pub id: String,
    /// Path of its TOML inside the pack.
    pub file: String,
    pub parsed: Parsed,
}

/// Chapters and their files. Chapters are in the order of their ids; where two have one id, the first is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pack {
    /// The name of the folder or archive.
    pub name: String,
    pub chapters: Vec<PackedChapter>,
    /// What is wrong with the pack itself; the chapters carry their own.
    pub problems: Vec<Problem>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Pack {
    /// From a folder listing: paths relative to the folder, with `/`. Symbolic links are the caller's to leave out.
    pub fn from_files(name: &str, files: Vec<(String, Vec<u8>)>, limits: Limits) -> Result<Self, PackError> {
        if files.len() > limits.files {
            let (name, found) = (name.to_owned(), files.len());
            return Err(PackError::TooManyFiles { name, found, limit: limits.files });
        }
        let mut total_bytes = 0_u64;
        let mut all = BTreeMap::new();
        for (file, bytes) in files.into_iter().filter(|(file, _)| !is_clutter(file)) {
            check_name(&file)?;
            let n_bytes = bytes.len() as u64;
            if n_bytes > limits.file_bytes {
                return Err(PackError::FileTooLarge { file, limit: limits.file_bytes });
            }
            total_bytes = total_bytes.saturating_add(n_bytes);
            if total_bytes > limits.total_bytes {
                return Err(PackError::TooLarge { name: name.to_owned(), limit: limits.total_bytes });
            }
            if all.insert(file.clone(), bytes).is_some() {
                return Err(PackError::Twice { file });
            }
        }
        Ok(Self::open(name, all))
    }

    /// From the bytes of a .zip. `name` is its file name; a single zipped chapter without a folder gets its stem as id.
    pub fn from_zip(name: &str, bytes: &[u8], limits: Limits) -> Result<Self, PackError> {
        if !bytes.starts_with(b"PK") {
            return Err(PackError::NotZip { name: name.to_owned(), looks: looks_like(bytes) });
        }
        let damaged = |why: &dyn std::fmt::Display| PackError::Damaged { name: name.to_owned(), why: why.to_string() };
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        if archive.len() > limits.files {
            let (name, found) = (name.to_owned(), archive.len());
            return Err(PackError::TooManyFiles { name, found, limit: limits.files });
        }
        let mut files = Vec::new();
        let mut total_bytes = 0_u64;
        for idx in 0..archive.len() {
            let entry = archive.by_index_raw(idx).map_err(|error| damaged(&error))?;
            let file =
                std::str::from_utf8(entry.name_raw()).map_err(|_| damaged(&"a file name is not UTF-8"))?.to_owned();
            if entry.is_dir() || is_clutter(&file) {
                continue;
            }
            check_name(&file)?;
            check_entry(&entry, &file, limits)?;
            drop(entry);
            let left = limits.total_bytes - total_bytes;
            let entry = archive.by_index(idx).map_err(|error| damaged(&error))?;
            let content = unpack(entry, &file, left.min(limits.file_bytes)).map_err(|why| damaged(&why))?;
            let n_bytes = content.len() as u64;
            if n_bytes > limits.file_bytes {
                return Err(PackError::FileTooLarge { file, limit: limits.file_bytes });
            }
            if n_bytes > left {
                return Err(PackError::TooLarge { name: name.to_owned(), limit: limits.total_bytes });
            }
            total_bytes += n_bytes;
            files.push((file, content));
        }
        let stem = name.rsplit('/').next().unwrap_or(name);
        Self::from_files(stem.strip_suffix(".zip").unwrap_or(stem), files, limits)
    }

    fn open(name: &str, files: BTreeMap<String, Vec<u8>>) -> Self {
        let mut pack = Self { name: name.to_owned(), files, ..Self::default() };
        let mut taken: BTreeMap<String, String> = BTreeMap::new();
        for (file, bytes) in &pack.files {
            let Some(id) = chapter_id(name, file) else { continue };
            if let Some(first) = taken.get(&id) {
                let what = format!("two chapters are called \"{id}\": {first} and {file}");
                let help = "progress hangs on ids; rename one of them".to_owned();
                pack.problems.push(of_file(Severity::Error, "duplicate-id", file, what, Some(help)));
                continue;
            }
            taken.insert(id.clone(), file.clone());
            pack.chapters.push(PackedChapter { parsed: parse(&id, file, bytes), id, file: file.clone() });
        }
        pack.chapters.sort_by(|a, b| a.id.cmp(&b.id));
        pack.note_gaps();
        pack
    }

    /// L9: no chapters, or a folder beside the chapters that has none.
    fn note_gaps(&mut self) {
        let depth = |path: &str| path.matches('/').count();
        let folders: BTreeSet<&str> =
            self.chapters.iter().filter_map(|chapter| chapter.file.strip_suffix("/chapter.toml")).collect();
        let depths: BTreeSet<usize> = folders.iter().map(|folder| depth(folder)).collect();
        let mut empty: BTreeSet<&str> = BTreeSet::new();
        for file in self.files.keys() {
            for (at, _) in file.match_indices('/') {
                let folder = &file[..at];
                let is_inside = folders.iter().any(|known| folder.starts_with(&format!("{known}/")));
                if depths.contains(&depth(folder)) && !folders.contains(folder) && !is_inside {
                    empty.insert(folder);
                }
            }
        }
        let help = || Some("a chapter is a folder with a file chapter.toml".to_owned());
        let mut found: Vec<Problem> = Vec::new();
        for folder in empty {
            let what = format!("the folder {folder} has no chapter.toml");
            found.push(of_file(Severity::Warning, "no-chapter", folder, what, help()));
        }
        if self.chapters.is_empty() {
            let what = format!("there are no chapters in {}", self.name);
            found.push(of_file(Severity::Error, "no-chapters", &self.name, what, help()));
        }
        self.problems.extend(found);
    }

    pub fn chapter(&self, id: &str) -> Option<&PackedChapter> {
        self.chapters.iter().find(|chapter| chapter.id == id)
    }

    /// A file of a chapter's folder; `None` if it is not there or the path leaves the folder.
    pub fn file(&self, chapter: &str, path: &str) -> Option<&[u8]> {
        let path = link::inside(path).ok()?;
        let toml = &self.chapter(chapter)?.file;
        let folder = toml.rfind('/').map_or("", |at| &toml[..=at]);
        self.files.get(&format!("{folder}{path}")).map(Vec::as_slice)
    }
}

/// Every problem of a pack and of its chapters, by file and line.
pub fn check_pack(pack: &Pack, registry: &dyn Registry) -> Vec<Problem> {
    let registry = WithPack { registry, pack };
    let steps_of = |id: &str| {
        let chapter = pack.chapter(id)?.parsed.chapter.as_ref()?;
        Some(chapter.steps.iter().map(|step| step.id.clone()).collect())
    };
    let mut problems = pack.problems.clone();
    for chapter in &pack.chapters {
        problems.extend(check_in_pack(&chapter.parsed, &registry, &steps_of));
    }
    sort(&mut problems);
    problems
}

/// A registry that also knows the files and chapters of a pack.
struct WithPack<'a> {
    registry: &'a dyn Registry,
    pack: &'a Pack,
}

impl Registry for WithPack<'_> {
    fn visualizers(&self) -> Vec<&str> {
        self.registry.visualizers()
    }

    fn models(&self) -> Vec<&str> {
        self.registry.models()
    }

    fn experiments(&self) -> Vec<&str> {
        self.registry.experiments()
    }

    fn check_visualizer(&self, id: &str, params: &Map) -> Result<(), FieldError> {
        self.registry.check_visualizer(id, params)
    }

    fn check_experiment(&self, id: &str, set: &Map) -> Result<(), FieldError> {
        self.registry.check_experiment(id, set)
    }

    fn has_effect(&self, id: &str) -> bool {
        self.registry.has_effect(id)
    }

    fn shape_of(&self, id: &str) -> Option<crate::Shape> {
        self.registry.shape_of(id)
    }

    fn eval(&self, model: &str, set: &Map) -> Result<Map, FieldError> {
        self.registry.eval(model, set)
    }

    fn answer_unit(&self, model: &str, field: &str) -> Option<String> {
        self.registry.answer_unit(model, field)
    }

    fn has_glyph(&self, c: char) -> bool {
        self.registry.has_glyph(c)
    }

    fn has_file(&self, chapter: &str, path: &str) -> bool {
        self.pack.file(chapter, path).is_some()
    }

    fn chapters(&self) -> Vec<&str> {
        let mut all = self.registry.chapters();
        all.extend(self.pack.chapters.iter().map(|chapter| chapter.id.as_str()));
        all
    }

    fn kernels(&self) -> Vec<&str> {
        self.registry.kernels()
    }
}

/// The id of the chapter that `file` holds, if it holds one.
fn chapter_id(pack: &str, file: &str) -> Option<String> {
    if file == "chapter.toml" {
        return Some(pack.to_owned());
    }
    if let Some(folder) = file.strip_suffix("/chapter.toml") {
        return Some(folder.rsplit('/').next().unwrap_or(folder).to_owned());
    }
    let is_chapter = !crate::course::FILES.contains(&file);
    file.strip_suffix(".toml").filter(|stem| is_chapter && !stem.contains('/')).map(str::to_owned)
}

fn of_file(severity: Severity, rule: &'static str, file: &str, what: String, help: Option<String>) -> Problem {
    Problem { severity, rule, what, place: Place { file: file.to_owned(), ..Place::default() }, help }
}

/// What operating systems leave in folders and archives.
fn is_clutter(file: &str) -> bool {
    file.split('/')
        .any(|part| part.starts_with('.') && part != "." && part != ".." || part == "__MACOSX" || part == "Thumbs.db")
}

fn check_name(file: &str) -> Result<(), PackError> {
    match link::inside(file) {
        Ok(_) => Ok(()),
        Err(refused) => Err(PackError::BadName { file: crate::read::shorten(file), why: refused.why }),
    }
}

fn check_entry<R: std::io::Read>(
    entry: &zip::read::ZipFile<'_, R>,
    file: &str,
    limits: Limits,
) -> Result<(), PackError> {
    let file = file.to_owned();
    if entry.is_symlink() {
        return Err(PackError::Symlink { file });
    }
    if entry.encrypted() {
        return Err(PackError::Encrypted { file });
    }
    if entry.size() > limits.file_bytes {
        return Err(PackError::FileTooLarge { file, limit: limits.file_bytes });
    }
    if entry.size() / entry.compressed_size().max(1) > limits.ratio {
        return Err(PackError::Ratio { file, limit: limits.ratio });
    }
    Ok(())
}

/// At most `cap` bytes and one more, whatever the header promises.
fn unpack(entry: impl std::io::Read, file: &str, cap: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    entry.take(cap.saturating_add(1)).read_to_end(&mut content).map_err(|error| format!("\"{file}\": {error}"))?;
    Ok(content)
}

fn looks_like(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_ascii_lowercase();
    match bytes {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => "a .gz archive",
        [b'7', b'z', ..] => "a .7z archive",
        [b'R', b'a', b'r', b'!', ..] => "a .rar archive",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a .zst archive",
        [0x89, b'P', b'N', b'G', ..] => "a picture",
        _ if text.contains("<html") || text.contains("<!doctype") => "a web page saved under that name",
        _ if text.contains("schema") && text.contains('=') => "a chapter; open it as .toml",
        _ => "something else",
    }
}
