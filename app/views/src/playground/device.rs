//! What a GPU says of the text on the desk: what the compiler made of it, and what its counters told. Who asks the device is the
//! shell; the desk says what is wished for and keeps what came.

use vramlab_gpu::RunError;
use vramlab_gpu::build::{self, Build, Said, Severity};
use vramlab_gpu::protocol::{FromChild, Inspect};
use vramlab_trace::{OracleOutcome, Point};
use vramlab_units::Localized;

/// Whether a GPU can be asked here.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum There {
    /// Nobody has looked yet: a wish finds out.
    #[default]
    Unknown,
    Ready(String),
    /// Where kernels can be compiled all the same, they are.
    Absent {
        why: Localized,
        can_compile: bool,
    },
}

/// What the reader asks of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Ask(Inspect),
    Cancel,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Busy {
    #[default]
    No,
    /// The back end is opening; the job follows.
    Opening(Inspect),
    Running(u64),
}

/// How counters were read: `cupti`, or `none` with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    pub id: String,
    pub why: String,
}

#[derive(Default)]
pub struct Device {
    pub there: There,
    pub wish: Option<Wish>,
    pub busy: Busy,
    pub build: Option<Build>,
    pub point: Option<Point>,
    pub rung: Option<Rung>,
    pub error: Option<RunError>,
    pub shows_ptx: bool,
    /// The text that all of this is about.
    pub about: String,
}

impl Device {
    /// A job about `source` is on its way: what was known of another text is no longer shown.
    pub fn begin(&mut self, source: &str, busy: Busy) {
        (self.build, self.point, self.rung, self.error) = (None, None, None, None);
        source.clone_into(&mut self.about);
        self.busy = busy;
    }

    pub fn job_id(&self) -> Option<u64> {
        match self.busy {
            Busy::Running(id) => Some(id),
            Busy::No | Busy::Opening(_) => None,
        }
    }

    /// A message of the runner about the job.
    pub fn hear(&mut self, message: FromChild) {
        match message {
            FromChild::Built { build, .. } => self.build = Some(*build),
            FromChild::Rung { rung, why, .. } => self.rung = Some(Rung { id: rung, why }),
            FromChild::Point { point, .. } => self.point = Some(*point),
            FromChild::Done { .. } => self.busy = Busy::No,
            FromChild::Failed { error, .. } => self.fail(error),
            _ => {}
        }
    }

    /// The job ended in an error. What the compiler had said before stays.
    pub fn fail(&mut self, error: RunError) {
        self.busy = Busy::No;
        self.error = (error != RunError::Cancelled).then_some(error);
    }

    pub fn knows_anything(&self) -> bool {
        self.build.is_some() || self.error.is_some() || self.point.is_some()
    }

    /// The compiler's log, of a build or of a failure.
    pub fn log(&self) -> &str {
        match (&self.error, &self.build) {
            (Some(RunError::Compile { log, .. }), _) => log,
            (_, Some(build)) => &build.log,
            _ => "",
        }
    }

    /// The compiler's messages, errors before warnings.
    pub fn said(&self) -> Vec<Said> {
        let mut said = build::messages(self.log());
        said.retain(|said| said.severity != Severity::Note);
        said.sort_by_key(|said| std::cmp::Reverse(said.severity as u8));
        said
    }

    /// Whether the device's results are what the oracle says; nothing if it did not run.
    pub fn oracle(&self) -> Option<&OracleOutcome> {
        self.point.as_ref()?.oracle.as_ref()
    }
}
