//! The desktop's side of [`Platform`]: files, dialogs, the runner's child process, NVML, the system's wishes.

use crate::store::Folder;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use vramlab_gpu::RunError;
use vramlab_gpu::client::{Client, ClientEvent, Limits, Spawn, Target};
use vramlab_gpu::protocol::Job;
use vramlab_lesson::progress::Files;
use vramlab_shell::platform::{BackendState, Event, Fetch, Gauges, Platform};
use vramlab_trace::Backend;
use vramlab_units::{Lang, Localized};

/// Asks egui for a frame, once there is a window.
pub type Waker = Arc<Mutex<Option<egui::Context>>>;

pub struct Native {
    folder: Folder,
    client: Option<Client>,
    why_no_client: String,
    backends: BTreeMap<Backend, BackendState>,
    /// Openings that are under way, by wish.
    opening: BTreeMap<u64, Backend>,
    events: Receiver<Event>,
    tell: Sender<Event>,
    waker: Waker,
    gauges: crate::gauges::Meter,
    first_route: Option<String>,
    watch: Option<crate::watch::Watch>,
    started: Instant,
}

impl Native {
    pub fn new(folder: Folder, waker: Waker, first_route: Option<String>, lessons: Option<&Path>) -> Self {
        let (tell, events) = channel();
        let wake = {
            let waker = Arc::clone(&waker);
            Arc::new(move || wake(&waker))
        };
        let (client, why_no_client) = match Spawn::own() {
            Ok(spawn) => (Some(Client::new(spawn, Limits::default(), wake)), String::new()),
            Err(error) => (None, error.to_string()),
        };
        let mut this = Self {
            folder,
            client,
            why_no_client,
            backends: BTreeMap::new(),
            opening: BTreeMap::new(),
            events,
            tell,
            waker,
            gauges: crate::gauges::Meter::default(),
            first_route,
            watch: None,
            started: Instant::now(),
        };
        if let Some(dir) = lessons {
            this.open_path(dir);
        }
        this
    }

    fn hear(&mut self, event: ClientEvent, out: &mut Vec<Event>) {
        match event {
            ClientEvent::Opened { wish, backend, facts } => {
                self.opening.remove(&wish);
                self.backends.insert(backend, BackendState::Ready(facts));
                out.push(Event::Backend(backend));
            }
            ClientEvent::Failed { id, error } => match self.opening.remove(&id) {
                Some(backend) => {
                    self.backends.insert(backend, unavailable(&error));
                    out.push(Event::Backend(backend));
                }
                None => out.push(Event::JobFailed { job_id: id, error }),
            },
            ClientEvent::Job(message) => out.push(Event::Job(message)),
            ClientEvent::State(_) | ClientEvent::Started { .. } => {}
        }
    }

    /// Opens a file, or a folder of lessons that is then watched.
    pub fn open_path(&mut self, path: &Path) {
        if let Some(config) = model_config(path) {
            self.on_thread(move |tell| send_path(tell, &config));
        } else if let Some(paths) = snapshots(path) {
            self.on_thread(move |tell| send_paths(tell, &paths));
        } else if path.is_dir() {
            let (tell, waker) = (self.tell.clone(), Arc::clone(&self.waker));
            self.watch = crate::watch::Watch::start(path, move |event| {
                let _ = tell.send(event);
                wake(&waker);
            });
        } else {
            let path = path.to_owned();
            self.on_thread(move |tell| send_path(tell, &path));
        }
    }

    /// Runs `work` on a thread and wakes the window when it has sent something.
    fn on_thread(&self, work: impl FnOnce(&Sender<Event>) + Send + 'static) {
        let (tell, waker) = (self.tell.clone(), Arc::clone(&self.waker));
        std::thread::spawn(move || {
            work(&tell);
            wake(&waker);
        });
    }
}

fn wake(waker: &Waker) {
    if let Ok(guard) = waker.lock()
        && let Some(ctx) = guard.as_ref()
    {
        ctx.request_repaint();
    }
}

fn no_client(why: &str) -> RunError {
    RunError::unavailable(
        (format!("运行器启动不了：{why}"), format!("the runner cannot start: {why}")),
        ("重新启动程序", "start the program again"),
    )
}

fn unavailable(error: &RunError) -> BackendState {
    match error {
        RunError::Unavailable { what, fix } => BackendState::Unavailable { why: what.clone(), fix: fix.clone() },
        other => {
            let (zh, en) = (other.say(Lang::Zh), other.say(Lang::En));
            BackendState::Unavailable {
                why: Localized::both(zh.what, en.what),
                fix: Localized::both(zh.advice, en.advice),
            }
        }
    }
}

impl Platform for Native {
    fn unix_secs(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    fn today(&self) -> String {
        crate::date::today()
    }

    fn millis(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    fn files(&mut self) -> &mut dyn Files {
        &mut self.folder
    }

    fn fetch(&mut self, path: &str) -> Fetch {
        match vramlab_content::get(path).and_then(vramlab_content::Content::here) {
            Some(bytes) => Fetch::Here(Cow::Borrowed(bytes)),
            None => Fetch::Failed(format!("{path} is not part of this program")),
        }
    }

    fn open_url(&mut self, url: &str) {
        if let Ok(guard) = self.waker.lock()
            && let Some(ctx) = guard.as_ref()
        {
            ctx.open_url(egui::OpenUrl::new_tab(url));
        }
    }

    fn pick_file(&mut self) {
        self.on_thread(|tell| {
            let Some(paths) = rfd::FileDialog::new().pick_files() else { return };
            send_paths(tell, &paths);
        });
    }

    fn open_dropped(&mut self, file: egui::DroppedFileHandle) {
        self.open_path(file.path());
    }

    fn peek(&mut self, path: &Path) -> Option<(Vec<u8>, u64)> {
        let n_bytes = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
        // Listings of archives stand at their end, so a small one is looked into whole.
        let most = if n_bytes <= PEEK_WHOLE { n_bytes } else { PEEK };
        read_head(path, most).ok().map(|bytes| (bytes, n_bytes))
    }

    fn reopen(&mut self, path: &str) -> bool {
        let path = Path::new(path);
        let is_there = path.exists();
        if is_there {
            self.open_path(path);
        }
        is_there
    }

    fn has_file(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn save_file(&mut self, name: &str, bytes: Vec<u8>) {
        let name = name.to_owned();
        self.on_thread(move |tell| {
            let Some(path) = rfd::FileDialog::new().set_file_name(&name).save_file() else { return };
            if let Err(error) = std::fs::write(&path, bytes) {
                let _ = tell.send(Event::Note(format!("{error}: {}", path.display())));
            }
        });
    }

    fn backend(&self, backend: Backend) -> BackendState {
        self.backends.get(&backend).cloned().unwrap_or(BackendState::Unknown)
    }

    fn open(&mut self, backend: Backend) {
        let Some(client) = &self.client else {
            let state = unavailable(&no_client(&self.why_no_client));
            self.backends.insert(backend, state);
            let _ = self.tell.send(Event::Backend(backend));
            return;
        };
        if self.opening.values().any(|known| *known == backend) {
            return;
        }
        client.reset();
        let wish = client.open(Target::new(backend));
        self.opening.insert(wish, backend);
        self.backends.insert(backend, BackendState::Opening);
    }

    fn start(&mut self, backend: Backend, job: Job) -> Result<u64, RunError> {
        match &self.client {
            Some(client) => Ok(client.start(Target::new(backend), job)),
            None => Err(no_client(&self.why_no_client)),
        }
    }

    fn cancel(&mut self, job_id: u64) {
        if let Some(client) = &self.client {
            client.cancel(job_id);
        }
    }

    fn aside(&mut self, work: Box<dyn FnOnce() + Send>) {
        self.on_thread(|_| work());
    }

    fn has_threads(&self) -> bool {
        true
    }

    fn poll(&mut self) -> Vec<Event> {
        let mut out: Vec<Event> = self.events.try_iter().collect();
        let heard = self.client.as_mut().map(Client::poll).unwrap_or_default();
        for event in heard {
            self.hear(event, &mut out);
        }
        out
    }

    fn gauges(&mut self) -> Gauges {
        self.gauges.read(self.started.elapsed())
    }

    fn initial_route(&self) -> Option<String> {
        self.first_route.clone()
    }

    fn set_route(&mut self, _route: &str, _is_new: bool) {}

    fn link(&self, route: &str) -> String {
        // On the desktop a link is what `vramlab --at` and the web page's address understand.
        format!("#{route}")
    }

    fn prefers_reduced_motion(&self) -> bool {
        false
    }

    fn preferred_lang(&self) -> Option<Lang> {
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| {
            std::env::var(name).ok().filter(|value| !value.is_empty() && value != "C" && value != "POSIX")
        })?;
        Some(if name.starts_with("zh") { Lang::Zh } else { Lang::En })
    }
}

/// Largest file that is read into memory when it is opened.
const MAX_FILE_BYTES: u64 = 512 << 20;
/// Snapshots of long recordings are large, and are read in one pass.
const MAX_SNAPSHOT_BYTES: u64 = 4 << 30;
/// What is looked at while a file hangs over the window.
const PEEK: u64 = 64 << 10;
const PEEK_WHOLE: u64 = 1 << 20;

/// The beginning of a file, at most `most` bytes.
pub fn read_head(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file as it is handed on: whole if it is opened here, its beginning if it only has to be recognised.
pub fn read_for_opening(path: &Path) -> std::io::Result<(Vec<u8>, u64)> {
    let n_bytes = std::fs::metadata(path)?.len();
    let head = read_head(path, vramlab_sniff::HEAD_BYTES as u64)?;
    if head.len() as u64 >= n_bytes {
        return Ok((head, n_bytes));
    }
    let kind = vramlab_shell::intake::recognise(vramlab_sniff::Head { bytes: &head, n_bytes }).kind;
    if vramlab_shell::intake::use_of(kind) != vramlab_shell::intake::Use::Open {
        return Ok((head, n_bytes));
    }
    let most = if kind == vramlab_sniff::Kind::Snapshot { MAX_SNAPSHOT_BYTES } else { MAX_FILE_BYTES };
    if n_bytes > most {
        let what = format!("{} MiB; at most {} MiB are opened", n_bytes >> 20, most >> 20);
        return Err(std::io::Error::other(what));
    }
    Ok((std::fs::read(path)?, n_bytes))
}

fn send_path(tell: &Sender<Event>, path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let event = match read_for_opening(path) {
        Ok((bytes, n_bytes)) => {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            Event::Arrived { name, path: Some(whole.display().to_string()), bytes, n_bytes }
        }
        Err(error) => Event::Note(format!("{name}: {error}")),
    };
    let _ = tell.send(event);
}

/// Files that were chosen together.
fn send_paths(tell: &Sender<Event>, paths: &[PathBuf]) {
    if paths.len() > 1 {
        let _ = tell.send(Event::Several(paths.len()));
    }
    paths.iter().for_each(|path| send_path(tell, path));
}

/// A folder of snapshots and of no chapters: those in it, by name, as ranks of a job are written.
fn snapshots(dir: &Path) -> Option<Vec<PathBuf>> {
    let inside = std::fs::read_dir(dir).ok()?;
    let mut all: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
    if all.iter().any(|path| path.ends_with("chapter.toml") || path.join("chapter.toml").exists()) {
        return None;
    }
    all.retain(|path| path.is_file() && path.to_string_lossy().contains(".pickle"));
    all.sort();
    all.truncate(vramlab_shell::snapshot::MOST_BESIDE);
    (!all.is_empty()).then_some(all)
}

/// A folder of a model, with no chapters: its config is what there is to look at.
fn model_config(dir: &Path) -> Option<PathBuf> {
    let config = dir.join("config.json");
    let has_chapter = || {
        let inside = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        dir.join("chapter.toml").exists() || inside.into_iter().any(|path| path.join("chapter.toml").exists())
    };
    (config.is_file() && !has_chapter()).then_some(config)
}
