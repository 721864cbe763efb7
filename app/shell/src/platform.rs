//! What differs between the desktop and the browser, as one trait. `cfg(target_arch)` lives in its two
//! implementations and nowhere else. A missing capability is a value with its reason, never a panic.

use std::borrow::Cow;
use vramlab_gpu::RunError;
use vramlab_gpu::protocol::{FromChild, Job};
use vramlab_lesson::progress::Files;
use vramlab_trace::{Backend, DeviceFacts, Telemetry};
use vramlab_units::Localized;

/// An asset that may still be on its way.
#[derive(Clone, Debug)]
pub enum Fetch {
    Here(Cow<'static, [u8]>),
    Waiting,
    Failed(String),
}

/// Whether the part of the program that the first page does without is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    Here,
    Waiting,
    /// It did not come, for this reason; it is asked for again.
    Failed(String),
}

/// Whether a back end can run here.
#[derive(Clone, Debug, PartialEq)]
pub enum BackendState {
    /// Nobody has asked yet; `open` finds out.
    Unknown,
    Opening,
    Ready(Box<DeviceFacts>),
    Unavailable {
        why: Localized,
        fix: Localized,
    },
}

/// What reaches the program from outside a frame.
#[derive(Clone, Debug)]
pub enum Event {
    /// The state of a back end changed.
    Backend(Backend),
    /// The runner speaks about a job.
    Job(FromChild),
    /// The runner of this job is gone.
    JobFailed { job_id: u64, error: RunError },
    /// A file the reader chose or dropped, with its bytes.
    File { name: String, bytes: Vec<u8> },
    /// A file from where the platform can find it again: its bytes, or the beginning of a large one.
    Arrived { name: String, path: Option<String>, bytes: Vec<u8>, n_bytes: u64 },
    /// So many files come together, e.g. the ranks of a job.
    Several(usize),
    /// A lesson folder on disk changed: all its files.
    Lessons { root: String, files: Vec<(String, Vec<u8>)> },
    /// The address bar changed.
    Route(String),
    /// Something the reader should know.
    Note(String),
    /// The rest of the program is here: see [`Rest`].
    Rest,
}

/// Live gauges, each absent with its reason when the machine does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauges {
    pub device: String,
    pub used_bytes: Option<f64>,
    pub total_bytes: Option<f64>,
    pub telemetry: Telemetry,
    pub power_limit_w: Option<f64>,
    pub max_sm_clock_mhz: Option<f64>,
    /// Why fields are absent, or why there are no gauges at all.
    pub why_absent: Localized,
}

pub trait Platform {
    /// Seconds since 1970, for dates only; order is kept by counters.
    fn unix_secs(&self) -> u64;
    /// `2026-11-30`, local.
    fn today(&self) -> String;

    /// Milliseconds since some moment, for sharing out a frame.
    fn millis(&self) -> f64;

    /// The folder in which the reader's documents are kept. How they are saved safely is `vramlab_lesson::progress`.
    fn files(&mut self) -> &mut dyn Files;

    /// An asset of the program by its path (`assets/traces/…`). Called every frame while waiting; must be cheap.
    fn fetch(&mut self, path: &str) -> Fetch;
    /// Whether anything is still on its way: pages may yet grow.
    fn is_fetching(&self) -> bool {
        false
    }

    /// Whether the whole program is here. On the web the chapters after the first ones, the pages of files and all that only
    /// they need come later; until then nothing may lead there, and a chapter's text counts as being on its way.
    fn rest(&self) -> Rest {
        Rest::Here
    }

    fn open_url(&mut self, url: &str);
    /// Asks for a file; it arrives as [`Event::File`].
    fn pick_file(&mut self);
    /// Opens what was dropped on the window; its content arrives as [`Event::File`] or [`Event::Lessons`].
    fn open_dropped(&mut self, file: egui::DroppedFileHandle);
    /// The beginning of a file that hangs over the window, and its size, where the platform can look into it.
    fn peek(&mut self, _path: &std::path::Path) -> Option<(Vec<u8>, u64)> {
        None
    }
    /// Opens a file of the past; false if it is no longer there, or if the platform keeps no paths.
    fn reopen(&mut self, _path: &str) -> bool {
        false
    }
    /// Whether a file of the past is still there.
    fn has_file(&self, _path: &str) -> bool {
        false
    }
    /// Offers bytes for saving under a proposed name.
    fn save_file(&mut self, name: &str, bytes: Vec<u8>);

    fn backend(&self, backend: Backend) -> BackendState;
    /// Starts finding out; the answer arrives as [`Event::Backend`].
    fn open(&mut self, backend: Backend);
    /// Starts a job on an open back end; answers with the job's id, by which its events are told apart.
    fn start(&mut self, backend: Backend, job: Job) -> Result<u64, RunError>;
    fn cancel(&mut self, job_id: u64);
    /// Does `work` that takes long: on a thread where there is one, else at once. A frame follows when it is done.
    fn aside(&mut self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
    /// Whether [`Self::aside`] leaves the frame alone. Without threads, long work is done in pieces, one a frame.
    fn has_threads(&self) -> bool {
        false
    }
    /// From this size on, bytes, a snapshot is asked about before it is read: reading takes several times as much memory.
    fn asks_above(&self) -> u64 {
        2 << 30
    }
    /// Everything that happened since the last call.
    fn poll(&mut self) -> Vec<Event>;

    fn gauges(&mut self) -> Gauges;

    /// The route in the address bar or on the command line at the start.
    fn initial_route(&self) -> Option<String>;
    /// Puts the route where the reader can copy or bookmark it. `is_new` makes a history entry.
    fn set_route(&mut self, route: &str, is_new: bool);
    /// The address that leads to `route` from elsewhere, if there is one.
    fn link(&self, route: &str) -> String;

    /// What the system says about motion, language and theme, if it says.
    fn prefers_reduced_motion(&self) -> bool;
    fn preferred_lang(&self) -> Option<vramlab_units::Lang>;
}
