//! What actions and events do. The single place that changes more than a widget's own state.

use crate::action::Action;
use crate::app::{App, Note};
use crate::documents::Doc;
use crate::experiments::Activity;
use crate::platform::{BackendState, Event, Rest};
use crate::route::{Page, Route};
use crate::settings::ThemeChoice;
use crate::text;
use crate::undo::State;
use vramlab_gpu::RunError;
use vramlab_gpu::plan::Mode;
use vramlab_gpu::protocol::{FromChild, Job};
use vramlab_lesson::progress::ChapterProgress;
use vramlab_trace::{Backend, Run};
use vramlab_units::{Lang, Map};

impl App {
    /// Performs one action.
    pub fn apply(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Go(route) => self.go(route, true),
            Action::Address { chapter, step, before, params } => {
                let state =
                    |params: &Map| State { chapter: chapter.clone(), step: step.clone(), params: params.clone() };
                self.changes.note(state(&before), state(&params), self.now_secs);
                self.route = Route { params, lang: self.route.lang, ..Route::step(&chapter, &step) };
                let text = self.route.text();
                self.platform.set_route(&text, false);
                self.settings.last_route = Some(text);
            }
            Action::SnapshotAddress(params) => self.address_snapshot(params),
            Action::OpenExample(path) => self.snapshot.wants_example(&path),
            Action::Undo => {
                let state = self.changes.undo();
                self.show_state(state);
            }
            Action::Redo => {
                let state = self.changes.redo();
                self.show_state(state);
            }
            Action::StepBy(by) => self.step_by(by),
            Action::Back => {
                if let Some(route) = self.history.pop() {
                    self.go(route, false);
                }
            }
            Action::SetLang(lang) => {
                self.settings.lang = Some(lang);
                self.mark(Doc::Settings);
            }
            Action::ToggleLang => self.apply(ctx, Action::SetLang(self.lang().other())),
            Action::SetTheme(theme) => {
                self.settings.theme = theme;
                self.mark(Doc::Settings);
            }
            Action::CycleTheme => {
                let next = if self.tokens().is_dark() { ThemeChoice::Light } else { ThemeChoice::Dark };
                self.apply(ctx, Action::SetTheme(next));
            }
            Action::SetTextScale(scale) => {
                self.settings.text_scale = scale;
                self.mark(Doc::Settings);
            }
            Action::SetReducedMotion(choice) => {
                self.settings.reduced_motion = choice;
                self.mark(Doc::Settings);
            }
            Action::ToggleWheelZoom => {
                self.settings.wheel_zooms_plots = !self.settings.wheel_zooms_plots;
                self.mark(Doc::Settings);
            }
            Action::TogglePresenter => self.is_presenting = !self.is_presenting,
            Action::ToggleNotebook => {
                self.settings.is_notebook_open = !self.settings.is_notebook_open;
                self.mark(Doc::Settings);
            }
            Action::ToggleRail => self.is_rail_open = !self.is_rail_open,
            Action::ShowPalette => self.palette = Some(Default::default()),
            Action::ShowShortcuts => self.shows_shortcuts = true,
            Action::ClosePopups => {
                self.palette = None;
                self.shows_shortcuts = false;
                self.share = None;
            }
            Action::ShowShare => self.share = Some(Default::default()),
            Action::CopyLink => {
                ctx.copy_text(self.link_here());
                let lang = self.lang();
                self.note(text::COPIED.get(lang), false);
            }
            Action::OpenFile => self.platform.pick_file(),
            Action::OpenRecent(idx) => self.open_recent(idx),
            Action::ForgetRecent => self.forget_recent(),
            Action::GroupRail(route) => {
                self.settings.rail_route = route;
                self.mark(Doc::Settings);
            }
            Action::Run { step: _, experiment, backend, is_full } => {
                self.run(&experiment, backend, if is_full { Mode::Full } else { Mode::Quick });
            }
            Action::Cancel { experiment } => {
                let state = self.experiments.get(&experiment);
                match state.activity.job_id() {
                    Some(job_id) => self.platform.cancel(job_id),
                    None => state.activity = Activity::Idle,
                }
            }
            Action::ShowRecording { experiment, idx } => {
                let state = self.experiments.get(&experiment);
                state.recorded_idx = idx;
                state.shows_live = false;
            }
            Action::Replay { experiment } => {
                let step_secs = if self.has_motion() { 0.08 } else { 0.0 };
                let now = ctx.input(|input| input.time);
                self.experiments.get(&experiment).start_replay(now, step_secs);
            }
            Action::Predict { chapter, step, given } => self.change_progress(|p| p.predict(&chapter, &step, given)),
            Action::Answer { chapter, step, given, is_right } => {
                self.change_progress(|p| p.answer(&chapter, &step, given, is_right));
            }
            Action::Reveal { chapter, step } => self.change_progress(|p| p.reveal(&chapter, &step)),
            Action::Review { chapter, question, grade } => {
                let today = self.today();
                self.change_progress(|p| p.answer_review(&chapter, &question, grade, today));
                if let Some(session) = &mut self.study.session {
                    session.hear(&chapter, &question, grade);
                }
            }
            Action::Judge { chapter, audit, verdict } => self.change_progress(|p| p.judge(&chapter, &audit, verdict)),
            Action::StepDone { chapter, step } => {
                if !self.progress.is_done(&chapter, &step) {
                    self.change_progress(|p| {
                        p.set_done(&chapter, &step);
                        p.visit(&chapter, &step);
                    });
                }
            }
            Action::ResetChapter(chapter) => self.reset_chapter(&chapter),
            Action::UndoReset => {
                if let Some((chapter, copy)) = self.reset_copy.take() {
                    self.change_progress(|p| p.restore(&chapter, copy));
                }
            }
            Action::SetHypothesis { run_idx, text } => {
                self.notebook.set_hypothesis(run_idx, text);
                self.notebook_saver.changed(self.now_secs);
            }
            Action::ExportNotebook(format) => {
                let (name, text) = self.notebook_text(format);
                self.platform.save_file(name, text.into_bytes());
            }
            Action::ExportProgress => {
                let bytes = self.progress.to_bytes();
                self.platform.save_file("vramlab-progress.json", bytes);
            }
            Action::CopyText(text) => ctx.copy_text(text),
            Action::CopyImage(rect) => {
                copy_image(ctx, rect);
                let lang = self.lang();
                self.note(text::PICTURE_COPIED.get(lang), false);
            }
            Action::SaveText { name, text } => self.platform.save_file(&name, text.into_bytes()),
            Action::OpenUrl(url) => self.open_url(&url),
            Action::RetryRunner(backend) => self.platform.open(backend),
            Action::DismissNote(idx) => {
                if idx < self.notes.len() {
                    self.notes.remove(idx);
                }
            }
            Action::CopyDiagnostics => ctx.copy_text(self.diagnostics()),
        }
    }

    /// A figure shows earlier parameters again, and the page goes there.
    fn show_state(&mut self, state: Option<State>) {
        let Some(state) = state else { return };
        self.steps.open_with(&state.chapter, &state.step, &state.params);
        self.go(Route { params: state.params, ..Route::step(&state.chapter, &state.step) }, false);
    }

    /// The address of what is on screen, with its language.
    pub(crate) fn link_here(&self) -> String {
        let route = Route { lang: Some(self.lang()), ..self.route.clone() };
        let link = self.platform.link(&route.text());
        match self.settings.web_address.as_str() {
            base if link.starts_with('#') && !base.is_empty() => format!("{base}{link}"),
            _ => link,
        }
    }

    /// Links in lessons: inside the course they are routes; elsewhere only web addresses open.
    fn open_url(&mut self, url: &str) {
        if let Some(path) = url.strip_prefix('#') {
            let (route, _) = Route::parse(path);
            self.go(route, true);
        } else if ["step:", "chapter:", "kernel:"].iter().any(|kind| url.starts_with(kind)) {
            self.follow_lesson_link(url);
        } else if url.starts_with("https://") || url.starts_with("http://") {
            self.platform.open_url(url);
        } else {
            self.note(format!("{url}: only https links open"), false);
        }
    }

    /// `step:ID`, `chapter:ID`, `chapter:ID/STEP`, `kernel:NAME`, as lessons write them.
    fn follow_lesson_link(&mut self, link: &str) {
        let here = self.chapter_id().unwrap_or_default().to_owned();
        let route = match link.split_once(':') {
            Some(("step", step)) => Route::step(&here, step),
            Some(("kernel", name)) => Route::page(Page::Playground { kernel: Some(name.to_owned()) }),
            Some((_, target)) => match target.split_once('/') {
                Some((chapter, step)) => Route::step(chapter, step),
                None => Route::chapter(target),
            },
            None => return,
        };
        self.go(route, true);
    }

    fn step_by(&mut self, by: i32) {
        let Page::Chapter { chapter, step } = &self.route.page else { return };
        let Some(open) = self.library.chapter(chapter) else { return };
        let at = step.as_ref().and_then(|step| open.steps.iter().position(|candidate| candidate.id == *step));
        let last = open.steps.len().saturating_sub(1);
        let next = match (at, by) {
            (None, _) => 0,
            (Some(at), by) => at.saturating_add_signed(by as isize).min(last),
        };
        if let Some(step) = open.steps.get(next) {
            self.go(Route::step(&chapter.clone(), &step.id.clone()), false);
        }
    }

    fn reset_chapter(&mut self, chapter: &str) {
        let mut copy = ChapterProgress::default();
        self.change_progress(|p| copy = p.reset(chapter));
        self.reset_copy = Some((chapter.to_owned(), copy));
        self.steps.forget(chapter);
        let lang = self.lang();
        let text = vramlab_units::Text::new("本章已清空，可以重新开始", "this chapter starts over").get(lang);
        self.notes.push(Note { text: text.to_owned(), is_bad: false, offer: Some((text::UNDO, Action::UndoReset)) });
    }

    /// The reader wants an experiment to run. The back end is opened first if need be.
    fn run(&mut self, experiment: &str, backend: Backend, mode: Mode) {
        if self.experiments.get(experiment).activity.is_busy() {
            return;
        }
        match self.platform.backend(backend) {
            BackendState::Ready(_) => self.start(experiment, backend, mode),
            BackendState::Unavailable { why, fix } => {
                self.experiments.get(experiment).fail(RunError::Unavailable { what: why, fix });
            }
            BackendState::Unknown | BackendState::Opening => {
                self.experiments.get(experiment).activity = Activity::Opening { backend, mode };
                self.platform.open(backend);
            }
        }
    }

    /// Plans an experiment for the open device and hands it to the runner.
    fn start(&mut self, id: &str, backend: Backend, mode: Mode) {
        let BackendState::Ready(facts) = self.platform.backend(backend) else { return };
        let planned = self.library.job(id, &facts, mode);
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let today = self.platform.today();
        let content_hash = self.library.content_hash(id);
        let state = self.experiments.get(id);
        let job: Job = match planned {
            Ok(job) => job,
            Err(error) => return state.fail(error),
        };
        state.live = Some(Run {
            experiment: id.to_owned(),
            backend,
            date: today,
            device: *facts,
            content_hash,
            program,
            mode: if mode == Mode::Full { "full" } else { "quick" }.to_owned(),
            settings: Map::new(),
            counter_rung: "none".to_owned(),
            points: Vec::new(),
        });
        let total = job.plan.points.len() as u32;
        let plan = job.plan.clone();
        match self.platform.start(backend, job) {
            Ok(job_id) => {
                state.activity = Activity::Running { job_id, plan, done: 0, total, telemetry: Default::default() };
            }
            Err(error) => state.fail(error),
        }
    }

    /// Something happened outside the frame.
    pub(crate) fn hear(&mut self, event: Event) {
        match event {
            Event::Backend(backend) => self.hear_backend(backend),
            Event::Job(message) => self.hear_job(message),
            Event::JobFailed { job_id, error } => {
                if self.playground.fail(job_id, &error) {
                    return;
                }
                if let Some((_, state)) = self.experiments.of_job(job_id) {
                    state.fail(error);
                }
            }
            Event::File { name, bytes } => {
                let n_bytes = bytes.len() as u64;
                self.receive(&name, None, bytes, n_bytes);
            }
            Event::Arrived { name, path, bytes, n_bytes } => self.receive(&name, path, bytes, n_bytes),
            Event::Several(n) => self.snapshot.shelf.expects(n),
            Event::Lessons { root, files } => self.open_folder(&root, files),
            Event::Route(text) => {
                if text != self.route.text() {
                    self.follow(&text);
                }
            }
            Event::Note(text) => self.note(text, true),
            Event::Rest if self.platform.rest() != Rest::Here => {}
            Event::Rest => {
                self.library.read_kernels();
                let route = self.route.clone();
                self.follow_desks(&route);
            }
        }
    }

    fn hear_backend(&mut self, backend: Backend) {
        match self.platform.backend(backend) {
            BackendState::Ready(_) => {
                for (id, mode) in self.experiments.waiting_for(backend) {
                    self.experiments.get(&id).activity = Activity::Idle;
                    self.start(&id, backend, mode);
                }
            }
            BackendState::Unavailable { why, fix } => {
                for (id, _) in self.experiments.waiting_for(backend) {
                    let error = RunError::Unavailable { what: why.clone(), fix: fix.clone() };
                    self.experiments.get(&id).fail(error);
                }
            }
            BackendState::Unknown | BackendState::Opening => {}
        }
    }

    fn hear_job(&mut self, message: FromChild) {
        let Some(job_id) = message.job_id() else { return };
        if self.playground.hears(job_id) {
            return self.playground.hear(message);
        }
        let Some((id, state)) = self.experiments.of_job(job_id) else { return };
        let id = id.clone();
        if state.hear(message)
            && let Some(run) = state.live.clone()
        {
            let lang = self.lang();
            let entry = self.library.notebook_entry(&id, run, lang);
            self.notebook.push(entry);
            self.mark(Doc::Notebook);
        }
    }

    /// A lesson folder was opened or has changed. The reader keeps the place.
    fn open_folder(&mut self, root: &str, files: Vec<(String, Vec<u8>)>) {
        match self.library.open_folder(root, files) {
            Ok(opened) => {
                for text in opened.notes {
                    self.note(text, true);
                }
                if let Some(chapter) = self.chapter_id().map(str::to_owned) {
                    self.steps.reload(&chapter);
                }
                if self.folder.as_deref() != Some(root) {
                    self.folder = Some(root.to_owned());
                    self.remember_folder(root, opened.go.as_ref());
                    if let Some(route) = opened.go {
                        self.go(route, true);
                    }
                }
            }
            Err(why) => self.note(why, true),
        }
    }

    /// Facts for a bug report: versions and states, no paths of the reader's.
    fn diagnostics(&self) -> String {
        let backends: Vec<String> = [Backend::Cuda, Backend::Cpu]
            .into_iter()
            .map(|backend| match self.platform.backend(backend) {
                BackendState::Ready(facts) => format!("{}: {} ({})", backend.id(), facts.name, facts.driver),
                BackendState::Unavailable { why, .. } => format!("{}: {}", backend.id(), why.get(Lang::En)),
                state => format!("{}: {state:?}", backend.id()),
            })
            .collect();
        format!(
            "VRAM Lab {}\nroute {}\nlang {} theme {:?} scale {}\n{}\n",
            env!("CARGO_PKG_VERSION"),
            self.route.text(),
            self.lang().code(),
            self.settings.theme,
            self.settings.text_scale,
            backends.join("\n")
        )
    }
}

/// Copies a part of the screen as a picture, as soon as the next frame is drawn. What is off screen is left out.
fn copy_image(ctx: &egui::Context, rect: egui::Rect) {
    let again = ctx.clone();
    ctx.request_screenshot(move |image| {
        let scale = again.pixels_per_point();
        let all = egui::Rect::from_min_size(egui::Pos2::ZERO, image.source_size);
        let screen = if all.is_positive() { all } else { again.content_rect() };
        let part = rect.intersect(screen.shrink(1.0 / scale));
        if part.is_positive() {
            again.copy_image(image.region(&part, Some(scale)));
        }
    });
}
