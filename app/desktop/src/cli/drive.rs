//! Experiments without a window: opens back ends in the runner's child, plans, runs, assembles the record; or reads a
//! recorded one. Progress goes to the terminal, an interrupt cancels.

use super::fault::Fault;
use super::say::Say;
use super::{Exit, interrupt};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use vramlab_gpu::RunError;
use vramlab_gpu::client::{Client, ClientEvent, Limits, Spawn, Target, Wake};
use vramlab_gpu::manifest::{Experiment, Kernel};
use vramlab_gpu::plan::{self, Mode, default_budget};
use vramlab_gpu::protocol::{FromChild, Job};
use vramlab_shell::Library;
use vramlab_shell::experiments::Recorded;
use vramlab_trace::{Backend, DeviceFacts, Point, Run};
use vramlab_units::{Map, Text};

const NO_COUNTERS: Text = Text::new("没有硬件计数器：{}", "no hardware counters: {}");

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub experiment: String,
    pub mode: Mode,
    pub budget_bytes: Option<u64>,
    pub settings: Map,
}

impl Ask {
    pub fn quick(experiment: &str) -> Self {
        Self { experiment: experiment.to_owned(), ..Self::default() }
    }
}

/// The runner behind a terminal. The child starts with the first run and ends with this value.
pub struct Driver<'a> {
    pub library: &'a Library,
    say: &'a Say,
    script: Option<String>,
    open: Option<Open>,
    /// What each back end said when it was opened.
    facts: BTreeMap<Backend, Result<DeviceFacts, RunError>>,
}

struct Open {
    client: Client,
    woken: Receiver<()>,
}

impl<'a> Driver<'a> {
    pub fn new(library: &'a Library, say: &'a Say) -> Self {
        Self { library, say, script: None, open: None, facts: BTreeMap::new() }
    }

    /// Plays a scripted fault instead of measuring, for suites.
    #[must_use]
    pub fn playing(mut self, script: Option<String>) -> Self {
        self.script = script;
        self
    }

    fn client(&mut self) -> Result<&mut Open, RunError> {
        if self.open.is_none() {
            let spawn = Spawn::own().map_err(|error| {
                RunError::unavailable(
                    (format!("运行器启动不了：{error}"), format!("the runner cannot start: {error}")),
                    ("重新启动程序", "start the program again"),
                )
            })?;
            let spawn = match &self.script {
                Some(script) => spawn.playing(script),
                None => spawn,
            };
            let (wake, woken) = channel();
            let client = Client::new(spawn, Limits::default(), wake_by(wake));
            self.open = Some(Open { client, woken });
        }
        self.open.as_mut().ok_or(RunError::Cancelled)
    }

    /// Opens a back end and asks for its facts. A failure is remembered, so that a tour asks once.
    pub fn facts(&mut self, target: Target) -> Result<DeviceFacts, RunError> {
        if let Some(known) = self.facts.get(&target.backend).filter(|known| known.is_err()) {
            return known.clone();
        }
        let open = self.client()?;
        let wish = open.client.open(target);
        let mut facts = Err(RunError::Cancelled);
        let done = open.wait(wish, &mut |event| {
            if let ClientEvent::Opened { facts: found, .. } = event {
                facts = Ok((**found).clone());
            }
        });
        let facts = done.and(facts);
        self.facts.insert(target.backend, facts.clone());
        facts
    }

    /// Runs on `backend`, from opening it to the finished record.
    pub fn live(&mut self, ask: &Ask, backend: Backend) -> Result<Run, Fault> {
        interrupt::listen();
        let lang = self.say.lang;
        let target = Target { backend, budget_bytes: ask.budget_bytes };
        let (experiment, kernel) = self.known(&ask.experiment)?;
        plan::check_settings(experiment, kernel, &ask.settings)?;
        let fault = |error: &RunError| Fault::of_run(error, lang);
        let facts = self.facts(target).map_err(|error| fault(&error))?;
        tracing::info!(backend = backend.id(), device = facts.name, driver = facts.driver, "open");
        let budget = ask.budget_bytes.unwrap_or_else(|| default_budget(&facts));
        plan::plan(experiment, kernel, &facts, ask.mode, budget, &ask.settings)
            .map_err(|error| Fault::of_plan(&error, lang))?;
        let job = self.library.job_with(&ask.experiment, &facts, ask.mode, budget, &ask.settings);
        let job = job.map_err(|error| fault(&error))?;
        let (n_points, plan) = (job.plan.points.len() as u64, &job.plan);
        tracing::info!(n_points, peak_bytes = plan.peak_bytes, budget, deadline_secs = plan.deadline_secs, "planned");
        let bar = self.bar(&ask.experiment, n_points);
        let mut run = self.empty_run(ask, backend, facts);
        let mut no_counters = None;
        let open = self.client().map_err(|error| fault(&error))?;
        let id = open.client.start(target, job);
        let done = open.wait(id, &mut |event| match event {
            ClientEvent::Job(FromChild::Point { point, .. }) => run.points.push((**point).clone()),
            ClientEvent::Job(FromChild::Rung { rung, why, .. }) => {
                tracing::info!(rung, why, "counters");
                run.counter_rung.clone_from(rung);
                no_counters = (rung == "none").then(|| why.clone());
            }
            ClientEvent::Job(FromChild::Progress { done, .. }) => bar.set_position(u64::from(*done)),
            _ => {}
        });
        bar.finish_and_clear();
        done.map_err(|error| fault(&error))?;
        if let Some(why) = no_counters.filter(|_| !experiment.counters.is_empty()) {
            self.say.note(&self.say.text(NO_COUNTERS).replace("{}", &why));
        }
        Ok(run)
    }

    pub fn lang(&self) -> vramlab_units::Lang {
        self.say.lang
    }

    /// Runs a job as it is; its points.
    pub fn points(&mut self, backend: Backend, job: Job) -> Result<Vec<Point>, Fault> {
        interrupt::listen();
        let lang = self.say.lang;
        let open = self.client().map_err(|error| Fault::of_run(&error, lang))?;
        let id = open.client.start(Target { backend, budget_bytes: None }, job);
        let mut points = Vec::new();
        let done = open.wait(id, &mut |event| {
            if let ClientEvent::Job(FromChild::Point { point, .. }) = event {
                points.push((**point).clone());
            }
        });
        done.map(|()| points).map_err(|error| Fault::of_run(&error, lang))
    }

    /// An experiment of the program with its kernel.
    pub fn known(&self, id: &str) -> Result<(&'a Experiment, &'a Kernel), Fault> {
        let library = self.library;
        let ids = || library.kernels().experiments.keys().map(String::as_str);
        library.experiment(id).ok_or_else(|| Fault::unknown("experiment", id, ids().collect::<Vec<_>>()))
    }

    fn empty_run(&self, ask: &Ask, backend: Backend, device: DeviceFacts) -> Run {
        Run {
            experiment: ask.experiment.clone(),
            backend: if self.script.is_some() { Backend::Fake } else { backend },
            date: crate::date::today(),
            device,
            content_hash: self.library.content_hash(&ask.experiment),
            program: format!("vramlab {}", env!("CARGO_PKG_VERSION")),
            mode: ask.mode.id().to_owned(),
            settings: ask.settings.clone(),
            counter_rung: String::new(),
            points: Vec::new(),
        }
    }

    /// Points done, on standard error and only on a terminal.
    fn bar(&self, experiment: &str, total: u64) -> ProgressBar {
        if self.say.is_quiet {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(experiment.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// The program's own recordings of an experiment. Damaged ones that still open are among them.
    pub fn recordings(&self, experiment: &str) -> Vec<Result<Recorded, Fault>> {
        let of_path = |path: String| {
            let bytes = vramlab_content::get(&path).and_then(vramlab_content::Content::here).unwrap_or_default();
            self.library.recorded(&path, bytes).map_err(|why| Fault::new(Exit::Findings, format!("{path}: {why}")))
        };
        self.library.trace_paths(experiment).into_iter().map(of_path).collect()
    }

    /// The recording that stands in for a device that is not here.
    pub fn recording(&self, experiment: &str) -> Option<Result<Recorded, Fault>> {
        self.recordings(experiment).into_iter().next()
    }

    /// A recording from a file of the reader.
    pub fn recording_of_file(&self, path: &Path) -> Result<Recorded, Fault> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Fault::usage(format!("{shown}: {error}")))?;
        self.library.recorded(&shown, &bytes).map_err(|why| Fault::new(Exit::Findings, format!("{shown}: {why}")))
    }
}

/// Tells `tell` that the runner has something to say.
pub fn wake_by(tell: Sender<()>) -> Wake {
    Arc::new(move || {
        // Nobody waits any more: then nobody needs waking.
        let _ = tell.send(());
    })
}

impl Open {
    /// Waits for the end of a wish; an interrupt cancels it.
    fn wait(&mut self, id: u64, on_event: &mut dyn FnMut(&ClientEvent)) -> Result<(), RunError> {
        let mut is_cancelled = false;
        loop {
            if interrupt::is_raised() && !is_cancelled {
                self.client.cancel(id);
                is_cancelled = true;
            }
            for event in self.client.poll().into_iter().filter(|event| event.id() == Some(id)) {
                on_event(&event);
                match event {
                    ClientEvent::Failed { error, .. } => return Err(error),
                    event if event.is_last() => return Ok(()),
                    _ => {}
                }
            }
            // Woken by the runner; the pause only bounds how late an interrupt is seen.
            let _ = self.woken.recv_timeout(Duration::from_millis(100));
        }
    }
}
