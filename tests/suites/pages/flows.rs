//! What a reader does: predict and reveal, answer, run, fail and run again, replay, find, reset, come back.

use super::{CHAPTER, Desk, settings};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use std::rc::Rc;
use vramlab_gpu::RunError;
use vramlab_gpu::error::How;
use vramlab_gpu::protocol::{FromChild, Job};
use vramlab_lesson::{Form, StepBody};
use vramlab_shell::platform::{BackendState, Event};
use vramlab_shell::settings::ThemeChoice;
use vramlab_shell::{Library, Still};
use vramlab_trace::{Backend, OracleOutcome, Point, Telemetry};
use vramlab_units::{Lang, Localized};

fn route(step: &str) -> String {
    format!("/ch/{CHAPTER}/step/{step}")
}

/// Title of the first step whose body fits.
fn title(wanted: impl Fn(&StepBody) -> bool) -> (String, String) {
    let chapter = Library::built_in().chapter(CHAPTER).unwrap();
    let step = chapter.steps.iter().find(|step| wanted(&step.body)).unwrap();
    (step.id.clone(), step.title.get(Lang::En).to_owned())
}

/// A number typed into the field of the card under `title`, and submitted.
fn answer(desk: &mut Desk, title: &str, number: &str) {
    let top = desk.top_of(title);
    let fields = desk.harness.get_all_by_role(egui::accesskit::Role::TextInput);
    let field = fields.filter(|node| node.rect().top() >= top).min_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    field.expect("a field for the number").focus();
    desk.harness.run_ok();
    desk.type_text(number);
    desk.press(Key::Enter);
}

#[test]
fn a_prediction_is_kept_and_revealed_with_its_gap() {
    let (_, title) = title(
        |body| matches!(body, StepBody::Predict(predict) if matches!(predict.question.form, Form::Number { .. })),
    );
    let mut desk = Desk::open(&route("puzzle"));
    assert!(!desk.has("too low by"), "nothing is revealed before the reader has predicted");
    answer(&mut desk, &title, "128");
    assert!(desk.has("Your prediction") && desk.has("128\u{2009}B"));
    desk.click_below(&title, "Reveal");
    assert!(desk.has("model 256\u{2009}B, you 128\u{2009}B: too low by a factor of 2"));
}

#[test]
fn a_prediction_out_of_the_ruler_is_refused_with_its_range() {
    let mut desk = Desk::open(&route("puzzle"));
    let (_, title) = title(|body| matches!(body, StepBody::Predict(_)));
    answer(&mut desk, &title, "many");
    assert!(desk.has("is not a number; enter one from 32\u{2009}B to"));
    desk.harness.run_ok();
    assert!(!desk.has("Your prediction"));
}

#[test]
fn a_check_says_why_an_option_is_wrong_and_takes_another_try() {
    let chapter = Library::built_in().chapter(CHAPTER).unwrap();
    let found = chapter.steps.iter().find_map(|step| match &step.body {
        StepBody::Check(question) => match &question.form {
            Form::Multi { options } | Form::Choice { options } => Some((step, options)),
            _ => None,
        },
        _ => None,
    });
    let (step, options) = found.expect("a check with options");
    let title = step.title.get(Lang::En);
    let wrong = options.iter().find(|option| !option.is_right).unwrap();
    let mut desk = Desk::open(&route(&step.id));
    desk.click_below(title, wrong.text.get(Lang::En));
    desk.click_below(title, "Check");
    assert!(desk.has("Not yet") && desk.has(wrong.why.get(Lang::En)));
    desk.click_below(title, "Try again");
    assert!(!desk.has("Not yet"));
    for right in options.iter().filter(|option| option.is_right) {
        desk.click_below(title, right.text.get(Lang::En));
    }
    desk.click_below(title, "Check");
    assert!(desk.has("Right") && !desk.has("Not yet"));
    for right in options.iter().filter(|option| option.is_right) {
        assert!(desk.has(right.why.get(Lang::En)), "{}", right.why.get(Lang::En));
    }
}

/// Points as a child would send them: the prediction of the plan, turned into a time by the experiment's own measure.
fn points(job: &Job) -> Vec<Point> {
    let library = Library::built_in();
    let (experiment, kernel) = library.experiment(&job.plan.experiment).unwrap();
    let device = cpu();
    job.plan
        .points
        .iter()
        .map(|planned| {
            let mut point = Point {
                series: planned.series.clone(),
                params: planned.params.clone(),
                samples_ns: vec![1e6; 9],
                readings: Default::default(),
                counters: Default::default(),
                telemetry: Telemetry::default(),
                oracle: Some(OracleOutcome::Passed { n_checked: 1, worst_error: 0.0 }),
                invalid: None,
            };
            // What the kernel writes itself, where the measure names it.
            for name in experiment.measure.value.split("reading.").skip(1) {
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                point.readings.insert(name[..end].to_owned(), vec![0.25; 9]);
            }
            // Rates fall and times rise with the launch time: bisect for the time that measures as predicted.
            let wanted = planned.predicted.unwrap();
            let value = |point: &Point, ns: f64| {
                let mut point = point.clone();
                point.samples_ns = vec![ns; 9];
                let run = vramlab_trace::Run {
                    experiment: job.plan.experiment.clone(),
                    backend: experiment.backend,
                    date: String::new(),
                    device: device.clone(),
                    content_hash: String::new(),
                    program: String::new(),
                    mode: "quick".to_owned(),
                    settings: Default::default(),
                    counter_rung: String::new(),
                    points: vec![point],
                };
                vramlab_gpu::verdict::judge(&run, experiment, kernel).points[0].value
            };
            let (mut low, mut high) = (1e4_f64, 1e12_f64);
            let rises = value(&point, 1e6).zip(value(&point, 2e6)).is_none_or(|(a, b)| b > a);
            for _ in 0..80 {
                let middle = (low * high).sqrt();
                let is_above = value(&point, middle).is_none_or(|value| value > wanted);
                if is_above == rises { high = middle } else { low = middle }
            }
            point.samples_ns = vec![high; 9];
            point
        })
        .collect()
}

fn cpu() -> vramlab_trace::DeviceFacts {
    let desk = Desk::open("/").with_cpu();
    let inside = desk.inside.borrow();
    match &inside.backends[&Backend::Cpu] {
        BackendState::Ready(facts) => (**facts).clone(),
        _ => unreachable!("a processor was put in"),
    }
}

/// Starts the chapter's first experiment on the processor and returns its job.
fn start(desk: &mut Desk) -> (String, Job) {
    let library = Library::built_in();
    let chapter = library.chapter(CHAPTER).unwrap();
    let step = chapter.steps.iter().find(|step| match &step.body {
        StepBody::Experiment(body) => library.experiment(&body.run).is_some_and(|(e, _)| e.backend == Backend::Cpu),
        _ => false,
    });
    let title = step.expect("an experiment on the processor").title.get(Lang::En).to_owned();
    let n_before = desk.inside.borrow().jobs.len();
    desk.click_below(&title, "Run on this machine");
    let inside = desk.inside.borrow();
    assert_eq!(inside.jobs.len(), n_before + 1, "the click starts one job");
    let job = inside.jobs.last().unwrap().clone();
    (title, job)
}

/// Every point of a job and its end, as the child sends them.
fn finish(desk: &mut Desk, job_id: u64, mut all: Vec<Point>) {
    let last = all.pop();
    let send = |desk: &Desk, point: Point| {
        let event = Event::Job(FromChild::Point { job_id, point: Box::new(point) });
        desk.inside.borrow_mut().events.push(event);
    };
    all.into_iter().for_each(|point| send(desk, point));
    desk.harness.run_ok();
    assert!(desk.harness.state().notebook().entries.is_empty(), "an incomplete run is not kept");
    last.into_iter().for_each(|point| send(desk, point));
    desk.send(Event::Job(FromChild::Done { job_id }));
}

#[test]
fn a_live_run_shows_its_points_and_its_verdict_and_is_kept() {
    let mut desk = Desk::open(&route("cpu_stride")).with_cpu();
    let (_, job) = start(&mut desk);
    let all = points(&job);
    let n_points = all.len();
    finish(&mut desk, 1, all);
    let shown = &desk.said()["experiments"][&job.plan.experiment]["shown"];
    assert_eq!((&shown["points"], &shown["is_recorded"]), (&n_points.into(), &false.into()));
    assert!(desk.has("Test CPU"), "the evidence names the device");
    let entry = desk.harness.state().notebook().entries.first().expect("the run is kept").clone();
    assert!(entry.verdict.contains("Effect shown"), "{}", entry.verdict);
    let said = entry.verdict.split(" · ").last().unwrap();
    assert!(desk.has(said), "the page shows the verdict: {said}");
    desk.assert_finite("after a run");
    let stored = desk.inside.borrow().files.get("notebook.json").cloned().expect("the notebook is on disk");
    assert!(String::from_utf8_lossy(&stored).contains(&job.plan.experiment));
}

/// Whether the page tells what happened.
fn says(desk: &Desk, error: &RunError) -> bool {
    desk.has(error.to_string().lines().next().unwrap()) || desk.has(&error.say(Lang::En).what)
}

#[test]
fn a_failed_run_says_why_and_the_next_one_works() {
    let mut desk = Desk::open(&route("cpu_stride")).with_cpu();
    let (_, _) = start(&mut desk);
    let error = RunError::Died { how: How::Signal(9), last_words: None };
    desk.send(Event::JobFailed { job_id: 1, error: error.clone() });
    assert!(says(&desk, &error), "{error}");
    assert!(desk.harness.state().notebook().entries.is_empty(), "a failed run is no measurement");
    let (_, job) = start(&mut desk);
    finish(&mut desk, 2, points(&job));
    assert!(!says(&desk, &error), "the error is gone");
    let entries = &desk.harness.state().notebook().entries;
    assert!(entries.len() == 1 && entries[0].verdict.contains("Effect shown"));
}

#[test]
fn every_error_of_the_runner_has_a_card() {
    let errors = [
        RunError::unavailable(("没有驱动", "no driver"), ("装一个", "install one")),
        RunError::Compile { arch: "sm_90".to_owned(), options: Vec::new(), log: "line 3: error".to_owned() },
        RunError::OutOfMemory { asked_bytes: 3, free_bytes: 2, total_bytes: 4 },
        RunError::Deadline { secs: 5.0 },
        RunError::Protocol { what: "\"garbage\"".to_owned() },
        RunError::CrashLoop { times: 3, secs: 120.0 },
    ];
    let mut desk = Desk::open(&route("cpu_stride")).with_cpu();
    for (idx, error) in errors.into_iter().enumerate() {
        start(&mut desk);
        desk.send(Event::JobFailed { job_id: idx as u64 + 1, error: error.clone() });
        assert!(says(&desk, &error), "{error}");
    }
}

/// R1: a machine without a GPU has a reason on the card, and the page stays.
#[test]
fn r1_a_missing_back_end_is_a_reason_and_not_a_hidden_button() {
    let mut desk = Desk::open(&route("stride"));
    let why = BackendState::Unavailable {
        why: Localized::both("没有 NVIDIA 驱动", "no NVIDIA driver"),
        fix: Localized::both("放录制", "replay"),
    };
    desk.inside.borrow_mut().backends.insert(Backend::Cuda, why);
    desk.send(Event::Backend(Backend::Cuda));
    let (_, title) = title(|body| matches!(body, StepBody::Experiment(body) if body.run.starts_with("strided_read")));
    assert!(desk.has(&title) && desk.has("Run on this machine"), "the button stays");
    assert!(desk.inside.borrow().jobs.is_empty());
}

#[test]
fn a_recording_replays_to_the_same_verdict() {
    let Some(path) = vramlab_content::list("assets/traces/").find(|path| path.contains("strided_read.stride")) else {
        panic!("strided_read/stride is not recorded yet");
    };
    let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.route = Some(route("stride"));
    still.has_motion = true;
    let mut desk = Desk::on(still, [1440.0, 40_000.0]);
    let shown = |desk: &Desk| desk.said()["experiments"]["strided_read/stride"]["shown"].clone();
    let chapter = Library::built_in().chapter(CHAPTER).unwrap();
    let title = chapter.steps.iter().find(|step| step.id == "stride").unwrap().title.get(Lang::En).to_owned();
    desk.click_below(&title, "Replay");
    let first = shown(&desk);
    assert!(first["points"].as_u64() < first["all_points"].as_u64(), "{path} plays from its start: {first}");
    desk.harness.run_steps(100);
    let last = shown(&desk);
    assert_eq!(last["points"], last["all_points"]);
    assert!(last["is_recorded"] == true && desk.has("Effect shown"), "{last}");
}

#[test]
fn the_palette_finds_a_command_and_a_step_in_either_language() {
    let mut desk = Desk::with("/", &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    desk.press_with(Modifiers::COMMAND, Key::K);
    desk.type_text("settings");
    desk.press(Key::Enter);
    assert_eq!(desk.said()["route"], "/settings");
    desk.press_with(Modifiers::COMMAND, Key::K);
    desk.type_text("扇区图");
    desk.press(Key::Enter);
    assert_eq!(desk.said()["route"], route("sectors"));
    desk.press_with(Modifiers::COMMAND, Key::K);
    desk.press(Key::Escape);
    assert!(!desk.has("Command palette"));
}

#[test]
fn keys_work_without_a_pointer() {
    let mut desk = Desk::with(&format!("/ch/{CHAPTER}"), &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    desk.press(Key::L);
    assert_eq!(desk.said()["lang"], "zh");
    desk.press(Key::L);
    desk.press(Key::T);
    assert_eq!(desk.said()["is_dark"], true);
    desk.press(Key::PageDown);
    assert_eq!(desk.said()["route"], route("puzzle"));
    desk.press(Key::PageDown);
    assert_eq!(desk.said()["route"], route("sectors"));
    desk.press(Key::PageUp);
    assert_eq!(desk.said()["route"], route("puzzle"));
    desk.press(Key::P);
    desk.assert_finite("presenting");
}

#[test]
fn tab_walks_through_a_page_and_comes_back() {
    let mut desk = Desk::with("/settings", &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    let mut seen = Vec::new();
    for _ in 0..80 {
        desk.press(Key::Tab);
        let focused = desk.harness.ctx.memory(|memory| memory.focused());
        let Some(focused) = focused else { continue };
        if seen.first() == Some(&focused) {
            break;
        }
        seen.push(focused);
    }
    let unique: std::collections::BTreeSet<u64> = seen.iter().map(|id| id.value()).collect();
    assert!(unique.len() >= 10, "Tab reached {} things", unique.len());
    assert_eq!(unique.len(), seen.len(), "Tab came to one thing twice before the end");
}

#[test]
fn a_chapter_starts_over_and_back_again() {
    let mut desk = Desk::open(&route("puzzle"));
    let (_, title) = title(|body| matches!(body, StepBody::Predict(_)));
    answer(&mut desk, &title, "128");
    assert!(desk.has("Your prediction"));
    desk.press_with(Modifiers::COMMAND, Key::K);
    desk.type_text("start this chapter over");
    desk.press(Key::Enter);
    assert!(!desk.has("Your prediction"));
    desk.click("撤销".replace("撤销", "Undo").as_str());
    assert!(desk.has("Your prediction"));
}

/// P8 and C18: what the reader did is on disk when the next window opens, wherever the first one ended.
#[test]
fn p8_answers_settings_and_place_are_there_in_the_next_window() {
    let mut desk = Desk::with(&route("puzzle"), &settings(Lang::En, ThemeChoice::Light), [1440.0, 40_000.0]);
    let (_, title) = title(|body| matches!(body, StepBody::Predict(_)));
    answer(&mut desk, &title, "128");
    desk.press(Key::T);
    // Two seconds pass: the answer is due.
    desk.harness.run_steps(12);
    let files = desk.inside.borrow().files.clone();
    drop(desk);
    let still = Still::default();
    still.inside.borrow_mut().files = files;
    let next = Desk::on(still, [1440.0, 40_000.0]);
    assert_eq!(next.said()["route"], route("puzzle"));
    assert_eq!(next.said()["is_dark"], true);
    assert!(next.has("Your prediction") && next.has("128\u{2009}B"));
}

/// P2, P3: a disk that takes nothing costs a banner with a way out, and not the session.
#[test]
fn p2_a_disk_that_takes_nothing_is_said_with_a_way_out() {
    let mut desk = Desk::open(&route("puzzle"));
    desk.inside.borrow_mut().store_error = Some("No space left on device".to_owned());
    let (_, title) = title(|body| matches!(body, StepBody::Predict(_)));
    answer(&mut desk, &title, "128");
    desk.harness.run_steps(16);
    assert!(desk.has("Your prediction"), "the session goes on in memory");
    assert!(desk.notes().contains("No space left"), "{}", desk.notes());
    desk.click("Export now");
    let inside = Rc::clone(&desk.inside);
    assert!(inside.borrow().saved_files.iter().any(|(name, _)| name == "vramlab-progress.json"));
}

/// B7: a tab that slept for an hour shows one more point a frame, not all of them at once.
#[test]
fn b7_a_long_sleep_makes_no_storm() {
    use vramlab_shell::experiments::{ExperimentState, Recorded};
    let (_, run) = crate::content::sample();
    let n = run.points.len();
    let recorded = Recorded { path: "x".to_owned(), run, damage: Vec::new(), is_stale: false };
    let mut state = ExperimentState { recorded: vec![recorded], ..ExperimentState::default() };
    state.start_replay(0.0, 0.08);
    assert!(state.advance_replay(3600.0, 0.08));
    assert_eq!(state.shown().unwrap().1, 1);
    let mut now = 3600.0;
    for _ in 0..n {
        now += 0.1;
        state.advance_replay(now, 0.08);
    }
    assert_eq!(state.shown().unwrap().1, n);
}
