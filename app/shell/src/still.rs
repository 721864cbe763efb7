//! A platform without a machine: nothing is stored, nothing runs, time stands still. For pictures, for the command line
//! and for tests, which can put events in and look at what was asked for.

use crate::platform::{BackendState, Event, Fetch, Gauges, Platform};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use vramlab_gpu::RunError;
use vramlab_gpu::protocol::Job;
use vramlab_lesson::progress::Files;
use vramlab_trace::Backend;
use vramlab_units::Lang;

/// What a test may put in and look at while the application holds the platform.
#[derive(Default)]
pub struct Inside {
    /// The data folder.
    pub files: BTreeMap<String, Vec<u8>>,
    pub events: Vec<Event>,
    pub backends: BTreeMap<Backend, BackendState>,
    pub jobs: Vec<Job>,
    /// The back end of each job.
    pub started_on: Vec<Backend>,
    pub cancelled: Vec<u64>,
    pub saved_files: Vec<(String, Vec<u8>)>,
    pub opened_urls: Vec<String>,
    pub routes: Vec<String>,
    pub n_picks: usize,
    /// A snapshot larger than this is asked about before it is read.
    pub asks_above: Option<u64>,
    /// Files on a disk, by path: what hangs over the window can be looked into, what was opened can be opened again.
    pub disk: BTreeMap<String, Vec<u8>>,
    /// The date, if it is not the usual one.
    pub today: Option<String>,
    /// Every write fails with these words.
    pub store_error: Option<String>,
    pub gauges: Gauges,
    /// How often the clock was looked at: a quarter of a millisecond each time.
    pub n_looks: u32,
}

pub struct Still {
    pub inside: Rc<RefCell<Inside>>,
    pub lang: Option<Lang>,
    pub route: Option<String>,
    /// Pictures are taken without motion.
    pub has_motion: bool,
    files: Folder,
}

impl Default for Still {
    fn default() -> Self {
        let inside = Rc::new(RefCell::new(Inside::default()));
        Self { files: Folder(Rc::clone(&inside)), inside, lang: None, route: None, has_motion: false }
    }
}

impl Still {
    /// A platform whose reader has chosen these settings.
    pub fn with_settings(settings: &crate::settings::Settings) -> Self {
        let this = Self::default();
        this.inside.borrow_mut().files.insert(crate::documents::SETTINGS.to_owned(), settings.to_json().into_bytes());
        this
    }
}

/// The data folder in memory.
struct Folder(Rc<RefCell<Inside>>);

impl Folder {
    fn check(&self) -> io::Result<()> {
        self.0.borrow().store_error.clone().map_or(Ok(()), |why| Err(io::Error::other(why)))
    }
}

impl Files for Folder {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().files.get(name).cloned())
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.check()?;
        self.0.borrow_mut().files.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn sync(&mut self, _name: &str) -> io::Result<()> {
        self.check()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.check()?;
        let mut inside = self.0.borrow_mut();
        match inside.files.remove(from) {
            Some(bytes) => drop(inside.files.insert(to.to_owned(), bytes)),
            None => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.check()
    }

    fn list(&mut self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().files.keys().cloned().collect())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().files.remove(name);
        Ok(())
    }

    fn lock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn unlock(&mut self) {}

    fn date(&self) -> String {
        "2026-11-30".to_owned()
    }
}

impl Platform for Still {
    fn unix_secs(&self) -> u64 {
        0
    }

    fn today(&self) -> String {
        self.inside.borrow().today.clone().unwrap_or_else(|| "2026-11-30".to_owned())
    }

    fn millis(&self) -> f64 {
        let mut inside = self.inside.borrow_mut();
        inside.n_looks += 1;
        0.25 * f64::from(inside.n_looks)
    }

    fn files(&mut self) -> &mut dyn Files {
        &mut self.files
    }

    fn fetch(&mut self, path: &str) -> Fetch {
        match vramlab_content::get(path).and_then(vramlab_content::Content::here) {
            Some(bytes) => Fetch::Here(Cow::Borrowed(bytes)),
            None => Fetch::Failed(format!("{path} is not part of this program")),
        }
    }

    fn open_url(&mut self, url: &str) {
        self.inside.borrow_mut().opened_urls.push(url.to_owned());
    }

    fn pick_file(&mut self) {
        self.inside.borrow_mut().n_picks += 1;
    }

    fn open_dropped(&mut self, file: egui::DroppedFileHandle) {
        let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let event = match file.bytes() {
            Ok(bytes) => Event::File { name, bytes },
            Err(why) => Event::Note(format!("{name}: {why}")),
        };
        self.inside.borrow_mut().events.push(event);
    }

    fn peek(&mut self, path: &std::path::Path) -> Option<(Vec<u8>, u64)> {
        let bytes = self.inside.borrow().disk.get(&path.display().to_string()).cloned()?;
        let n_bytes = bytes.len() as u64;
        Some((bytes, n_bytes))
    }

    fn reopen(&mut self, path: &str) -> bool {
        let mut inside = self.inside.borrow_mut();
        let Some(bytes) = inside.disk.get(path).cloned() else { return false };
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let n_bytes = bytes.len() as u64;
        inside.events.push(Event::Arrived { name, path: Some(path.to_owned()), bytes, n_bytes });
        true
    }

    fn has_file(&self, path: &str) -> bool {
        self.inside.borrow().disk.contains_key(path)
    }

    fn save_file(&mut self, name: &str, bytes: Vec<u8>) {
        self.inside.borrow_mut().saved_files.push((name.to_owned(), bytes));
    }

    fn backend(&self, backend: Backend) -> BackendState {
        self.inside.borrow().backends.get(&backend).cloned().unwrap_or(BackendState::Unknown)
    }

    fn open(&mut self, backend: Backend) {
        self.inside.borrow_mut().backends.insert(backend, BackendState::Opening);
    }

    fn start(&mut self, backend: Backend, job: Job) -> Result<u64, RunError> {
        let mut inside = self.inside.borrow_mut();
        inside.started_on.push(backend);
        inside.jobs.push(job);
        Ok(inside.jobs.len() as u64)
    }

    fn cancel(&mut self, job_id: u64) {
        self.inside.borrow_mut().cancelled.push(job_id);
    }

    fn asks_above(&self) -> u64 {
        self.inside.borrow().asks_above.unwrap_or(2 << 30)
    }

    fn poll(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.inside.borrow_mut().events)
    }

    fn gauges(&mut self) -> Gauges {
        self.inside.borrow().gauges.clone()
    }

    fn initial_route(&self) -> Option<String> {
        self.route.clone()
    }

    fn set_route(&mut self, route: &str, _is_new: bool) {
        self.inside.borrow_mut().routes.push(route.to_owned());
    }

    fn link(&self, route: &str) -> String {
        format!("#{route}")
    }

    fn prefers_reduced_motion(&self) -> bool {
        !self.has_motion
    }

    fn preferred_lang(&self) -> Option<Lang> {
        self.lang
    }
}
