//! A platform without a machine: nothing is stored, nothing runs, time stands still. For pictures, for the command line
//! and for tests, which can put events in and look at what was asked for.

use crate::platform::{BackendState, Doc, Event, Fetch, Gauges, Platform, Stored};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_gpu::RunError;
use vramlab_gpu::protocol::Job;
use vramlab_trace::Backend;
use vramlab_lesson::progress::{Loaded, Progress, SaveError};
use vramlab_units::{Lang, Localized};

/// What a test may put in and look at while the application holds the platform.
#[derive(Default)]
pub struct Inside {
    pub docs: BTreeMap<&'static str, String>,
    pub progress: Progress,
    pub events: Vec<Event>,
    pub backends: BTreeMap<Backend, BackendState>,
    pub jobs: Vec<Job>,
    pub cancelled: Vec<u64>,
    pub saved_files: Vec<(String, Vec<u8>)>,
    pub opened_urls: Vec<String>,
    pub routes: Vec<String>,
    pub n_picks: usize,
    /// Every store fails with these words.
    pub store_error: Option<String>,
    pub gauges: Gauges,
}

#[derive(Default)]
pub struct Still {
    pub inside: Rc<RefCell<Inside>>,
    pub lang: Option<Lang>,
    pub route: Option<String>,
    /// Pictures are taken without motion.
    pub has_motion: bool,
}

impl Platform for Still {
    fn unix_secs(&self) -> u64 {
        0
    }

    fn today(&self) -> String {
        "2026-11-30".to_owned()
    }

    fn load_progress(&mut self) -> Loaded {
        Loaded { progress: self.inside.borrow().progress.clone(), messages: Vec::new(), can_save: true }
    }

    fn save_progress(&mut self, progress: &Progress) -> Result<(Progress, Vec<Localized>), SaveError> {
        let mut inside = self.inside.borrow_mut();
        if let Some(why) = inside.store_error.clone() {
            return Err(SaveError { doing: "writing", file: "progress.json".to_owned(), why });
        }
        inside.progress = progress.clone();
        Ok((progress.clone(), Vec::new()))
    }

    fn load(&mut self, doc: Doc) -> Stored {
        Stored { text: self.inside.borrow().docs.get(doc.name()).cloned(), notes: Vec::new() }
    }

    fn store(&mut self, doc: Doc, text: &str) -> Result<(), String> {
        let mut inside = self.inside.borrow_mut();
        if let Some(error) = &inside.store_error {
            return Err(error.clone());
        }
        inside.docs.insert(doc.name(), text.to_owned());
        Ok(())
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

    fn save_file(&mut self, name: &str, bytes: Vec<u8>) {
        self.inside.borrow_mut().saved_files.push((name.to_owned(), bytes));
    }

    fn backend(&self, backend: Backend) -> BackendState {
        self.inside.borrow().backends.get(&backend).cloned().unwrap_or(BackendState::Unknown)
    }

    fn open(&mut self, backend: Backend) {
        self.inside.borrow_mut().backends.insert(backend, BackendState::Opening);
    }

    fn start(&mut self, _backend: Backend, job: Job) -> Result<u64, RunError> {
        let mut inside = self.inside.borrow_mut();
        inside.jobs.push(job);
        Ok(inside.jobs.len() as u64)
    }

    fn cancel(&mut self, job_id: u64) {
        self.inside.borrow_mut().cancelled.push(job_id);
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
