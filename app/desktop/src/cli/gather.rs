//! What `check` looks at: the program's own content, or files and folders that the reader names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use vramlab_lesson::{Limits, Pack};

/// Most files that are read below one path, and how deep.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 8;

/// Content by kind. Paths are as the reader would write them.
#[derive(Default)]
pub struct Content {
    /// Packs with what stands before their paths.
    pub packs: Vec<(String, Pack)>,
    /// Files of kernel folders: path and text.
    pub kernels: Vec<(String, String)>,
    pub traces: Vec<(String, Vec<u8>)>,
    /// `routes.toml` and `handbook.toml`: path and text.
    pub course: Vec<(String, String)>,
    /// What could not be read at all: path, reason.
    pub unread: Vec<(String, String)>,
}

impl Content {
    /// Everything that comes with the program.
    pub fn built_in() -> Self {
        let mut this = Self::default();
        let bytes = |path: &str| vramlab_content::get(path).and_then(vramlab_content::Content::here);
        let of =
            |prefix: &'static str| vramlab_content::list(prefix).filter_map(move |path| Some((path, bytes(path)?)));
        // The outline of the course is not a chapter.
        let lessons = of("lessons/").filter_map(|(path, bytes)| {
            let rest = path.strip_prefix("lessons/").filter(|rest| rest.contains('/'))?;
            Some((rest.to_owned(), bytes.to_vec()))
        });
        this.pack("lessons/", "lessons", lessons.collect());
        this.kernels = vramlab_content::list("kernels/")
            .filter_map(|path| Some((path.to_owned(), vramlab_content::text(path)?.to_owned())))
            .collect();
        let course = ["lessons/handbook.toml", "lessons/routes.toml"];
        let texts =
            course.iter().filter_map(|path| Some(((*path).to_owned(), vramlab_content::text(path)?.to_owned())));
        this.course = texts.collect();
        this.traces = of("assets/traces/")
            .filter(|(path, _)| path.ends_with(".vltrace"))
            .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
            .collect();
        this
    }

    /// Files and folders: chapters, packs, kernels, traces.
    pub fn of_paths(paths: &[PathBuf]) -> Self {
        let mut this = Self::default();
        for path in paths {
            if path.is_dir() { this.folder(path) } else { this.file(path) }
        }
        this
    }

    pub fn is_empty(&self) -> bool {
        let has_none = self.packs.is_empty() && self.kernels.is_empty() && self.traces.is_empty();
        has_none && self.unread.is_empty() && self.course.is_empty()
    }

    fn pack(&mut self, before: &str, name: &str, files: Vec<(String, Vec<u8>)>) {
        match Pack::from_files(name, files, Limits::default()) {
            Ok(pack) => self.packs.push((before.to_owned(), pack)),
            Err(error) => self.unread.push((before.trim_end_matches('/').to_owned(), error.to_string())),
        }
    }

    fn file(&mut self, path: &Path) {
        let shown = path.display().to_string();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_manifest(&name) {
            return self.kernel_folder(&parent(path));
        }
        if name == "chapter.toml" {
            return self.folder(&parent(path));
        }
        if vramlab_lesson::course::FILES.contains(&name.as_str()) {
            return self.course_file(path, &shown);
        }
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(why) => return self.unread.push((shown, why)),
        };
        if bytes.starts_with(b"PK\x03\x04") || name.ends_with(".zip") {
            match Pack::from_zip(&name, &bytes, Limits::default()) {
                Ok(pack) => self.packs.push((format!("{shown}/"), pack)),
                Err(error) => self.unread.push((shown, error.to_string())),
            }
        } else if name.ends_with(".toml") {
            let before = shown.strip_suffix(&name).unwrap_or_default().to_owned();
            let stem = name.trim_end_matches(".toml").to_owned();
            self.pack(&before, &stem, vec![(name, bytes)]);
        } else {
            // Whatever else it is, the reader of traces says what it looks like.
            self.traces.push((shown, bytes));
        }
    }

    fn folder(&mut self, root: &Path) {
        let mut files = Vec::new();
        if let Err(why) = walk(root, "", 0, &mut files) {
            return self.unread.push((root.display().to_string(), why));
        }
        let folder_of = |file: &str| file.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        let is_kernel = |file: &&String| file.rsplit('/').next().is_some_and(|name| name == "kernel.toml");
        let kernels: BTreeSet<String> = files.iter().filter(is_kernel).map(|file| folder_of(file)).collect();
        kernels.iter().for_each(|folder| self.kernel_folder(&root.join(folder)));
        files.retain(|file| !kernels.contains(&folder_of(file)));
        let (traces, files): (Vec<String>, Vec<String>) =
            files.into_iter().partition(|file| file.ends_with(".vltrace"));
        for file in &traces {
            match read(&root.join(file)) {
                Ok(bytes) => self.traces.push((joined(root, file), bytes)),
                Err(why) => self.unread.push((joined(root, file), why)),
            }
        }
        // A folder of kernels or traces alone is no lesson pack; anything else is, if only to hear what it lacks.
        let has_toml =
            files.iter().any(|file| file.ends_with("chapter.toml") || (file.ends_with(".toml") && !file.contains('/')));
        if has_toml || (traces.is_empty() && kernels.is_empty()) {
            self.pack_of(root, &files);
        }
    }

    fn pack_of(&mut self, root: &Path, files: &[String]) {
        let mut read_files = Vec::new();
        let is_course = |file: &&String| vramlab_lesson::course::FILES.contains(&file.as_str());
        for file in files.iter().filter(is_course) {
            self.course_file(&root.join(file), &joined(root, file));
        }
        for file in files.iter().filter(|file| !is_course(file)) {
            match read(&root.join(file)) {
                Ok(bytes) => read_files.push((file.clone(), bytes)),
                Err(why) => self.unread.push((joined(root, file), why)),
            }
        }
        // `.` has no name of its own, and the folder's name is the chapter's id.
        let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.pack(&joined(root, ""), &name, read_files);
    }

    /// Routes and handbook; the curriculum is a list that they are held against.
    fn course_file(&mut self, path: &Path, shown: &str) {
        match read(path).and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string())) {
            Ok(_) if shown.ends_with("curriculum.toml") => {}
            Ok(text) => self.course.push((shown.to_owned(), text)),
            Err(why) => self.unread.push((shown.to_owned(), why)),
        }
    }

    /// The files of one kernel, as `…/SLUG/NAME`.
    fn kernel_folder(&mut self, folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        paths.sort();
        for path in paths {
            let shown = path.display().to_string().replace('\\', "/");
            match std::fs::read_to_string(&path) {
                Ok(text) => self.kernels.push((shown, text)),
                Err(error) => self.unread.push((shown, error.to_string())),
            }
        }
    }
}

fn is_manifest(name: &str) -> bool {
    name == "kernel.toml" || name == "experiment.toml" || name.ends_with(".experiment.toml")
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn joined(root: &Path, file: &str) -> String {
    let root = root.display().to_string().replace('\\', "/");
    format!("{}/{file}", root.trim_end_matches('/'))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if meta.len() > vramlab_trace::file::MAX_FILE_BYTES as u64 {
        return Err(format!(
            "{} MiB; at most {} MiB are read",
            meta.len() >> 20,
            vramlab_trace::file::MAX_FILE_BYTES >> 20
        ));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

/// Paths below `root`, with `/`. Links are left out: a pack holds plain files only.
fn walk(root: &Path, before: &str, depth: usize, out: &mut Vec<String>) -> Result<(), String> {
    let mut entries: Vec<_> =
        std::fs::read_dir(root.join(before)).map_err(|error| error.to_string())?.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if before.is_empty() { name.clone() } else { format!("{before}/{name}") };
        let kind = entry.file_type().map_err(|error| error.to_string())?;
        if name.starts_with('.') || name == "target" || kind.is_symlink() {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(root, &path, depth + 1, out)?;
        } else if kind.is_file() {
            out.push(path);
        }
        if out.len() > MAX_FILES {
            return Err(format!("more than {MAX_FILES} files; name the folder of the lessons themselves"));
        }
    }
    Ok(())
}
