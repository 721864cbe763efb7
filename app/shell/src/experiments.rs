//! The state of every experiment card: recorded run, live run, what is happening, and why it cannot.
//!
//! Nothing here paints or measures. `step` functions are driven by [`crate::platform::Event`]s and answer what to do
//! next, so that the whole life of a run is tested without a window or a runner.

use std::collections::BTreeMap;
use vramlab_gpu::RunError;
use vramlab_gpu::plan::{Mode, Plan};
use vramlab_gpu::protocol::FromChild;
use vramlab_trace::{Backend, Run, Telemetry};

/// What the card shows.
#[derive(Clone, Debug, Default)]
pub struct ExperimentState {
    /// Recorded runs by trace path, one a device.
    pub recorded: Vec<Recorded>,
    /// Which of `recorded` is shown.
    pub recorded_idx: usize,
    /// The latest run on this machine, complete or not.
    pub live: Option<Run>,
    pub activity: Activity,
    /// True while the live run is the one shown.
    pub shows_live: bool,
    /// How far a replay has come: points shown so far, and the egui time at which the next one appears.
    pub replay: Option<Replay>,
    /// True once the truth has been shown: predictions are then closed.
    pub is_revealed: bool,
}

#[derive(Clone, Debug)]
pub struct Recorded {
    pub path: String,
    pub run: Run,
    /// What the reader found wrong with the file, in words.
    pub damage: Vec<String>,
    /// The kernel or the experiment has changed since it was recorded.
    pub is_stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    pub n_shown: usize,
    pub next_at_secs: f64,
}

/// What is happening to a card.
#[derive(Clone, Debug, Default)]
pub enum Activity {
    #[default]
    Idle,
    /// The back end is starting; the job follows as soon as it is there.
    Opening {
        backend: Backend,
        mode: Mode,
    },
    Running {
        job_id: u64,
        plan: Plan,
        done: u32,
        total: u32,
        telemetry: Telemetry,
    },
    Failed {
        error: RunError,
    },
}

impl Activity {
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Opening { .. } | Self::Running { .. })
    }

    pub fn job_id(&self) -> Option<u64> {
        match self {
            Self::Running { job_id, .. } => Some(*job_id),
            _ => None,
        }
    }
}

impl ExperimentState {
    /// The run the card shows now, with the number of its points that are visible.
    pub fn shown(&self) -> Option<(&Run, usize)> {
        if self.shows_live
            && let Some(run) = &self.live
        {
            return Some((run, run.points.len()));
        }
        let recorded = self.recorded.get(self.recorded_idx)?;
        let n_all = recorded.run.points.len();
        Some((&recorded.run, self.replay.map_or(n_all, |replay| replay.n_shown.min(n_all))))
    }

    pub fn shown_recording(&self) -> Option<&Recorded> {
        if self.shows_live && self.live.is_some() { None } else { self.recorded.get(self.recorded_idx) }
    }

    /// A message of the runner about this card's job. True when the run has just become complete.
    pub fn hear(&mut self, message: FromChild) -> bool {
        match message {
            FromChild::Progress { done, total, telemetry, .. } => {
                if let Activity::Running { done: d, total: t, telemetry: m, .. } = &mut self.activity {
                    (*d, *t, *m) = (done, total, telemetry);
                }
            }
            FromChild::Point { point, .. } => {
                if let Some(run) = &mut self.live {
                    run.points.push(*point);
                }
                self.shows_live = true;
            }
            FromChild::Rung { rung, .. } => {
                if let Some(run) = &mut self.live {
                    run.counter_rung = rung;
                }
            }
            FromChild::Done { .. } => {
                self.activity = Activity::Idle;
                self.is_revealed = true;
                return true;
            }
            FromChild::Failed { error, .. } => self.fail(error),
            FromChild::Hello { .. }
            | FromChild::Opened { .. }
            | FromChild::Built { .. }
            | FromChild::Heartbeat { .. } => {}
        }
        false
    }

    /// The run ended without its last point; whatever was measured stays visible.
    pub fn fail(&mut self, error: RunError) {
        if self.live.as_ref().is_some_and(|run| run.points.is_empty()) {
            self.live = None;
            self.shows_live = false;
        }
        self.activity = match error {
            RunError::Cancelled => Activity::Idle,
            error => Activity::Failed { error },
        };
    }

    /// Shows the recording from its first point on; `step_secs` lies between two points, 0 shows all at once.
    pub fn start_replay(&mut self, now_secs: f64, step_secs: f64) {
        self.shows_live = false;
        self.is_revealed = true;
        self.replay = (step_secs > 0.0).then_some(Replay { n_shown: 0, next_at_secs: now_secs + step_secs });
    }

    /// Moves a replay on. Returns true while it still plays.
    pub fn advance_replay(&mut self, now_secs: f64, step_secs: f64) -> bool {
        let n_all = self.recorded.get(self.recorded_idx).map_or(0, |recorded| recorded.run.points.len());
        let Some(replay) = &mut self.replay else { return false };
        if now_secs >= replay.next_at_secs {
            // One point at most a frame: after an hour in a hidden tab nothing races to catch up.
            replay.n_shown += 1;
            replay.next_at_secs = now_secs + step_secs;
        }
        if replay.n_shown >= n_all {
            self.replay = None;
            return false;
        }
        true
    }
}

/// Every card's state, by experiment id.
#[derive(Debug, Default)]
pub struct Experiments {
    pub states: BTreeMap<String, ExperimentState>,
}

impl Experiments {
    pub fn get(&mut self, id: &str) -> &mut ExperimentState {
        self.states.entry(id.to_owned()).or_default()
    }

    /// The experiment that runs `job_id`.
    pub fn of_job(&mut self, job_id: u64) -> Option<(&String, &mut ExperimentState)> {
        self.states.iter_mut().find(|(_, state)| state.activity.job_id() == Some(job_id))
    }

    /// Experiments that wait for `backend`, in order of their ids.
    pub fn waiting_for(&self, backend: Backend) -> Vec<(String, Mode)> {
        self.states
            .iter()
            .filter_map(|(id, state)| match state.activity {
                Activity::Opening { backend: wanted, mode } if wanted == backend => Some((id.clone(), mode)),
                _ => None,
            })
            .collect()
    }

    pub fn is_any_busy(&self) -> bool {
        self.states.values().any(|state| state.activity.is_busy())
    }
}
