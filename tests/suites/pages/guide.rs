//! Routes, tasks, handbook, evidence table and start page: what a reader finds there, and what is worked out from what
//! the reader did.

use super::{CHAPTER, Desk, settings};
use egui_kittest::kittest::Queryable as _;
use vramlab_lesson::answer::Given;
use vramlab_lesson::course::Needs;
use vramlab_lesson::progress::Progress;
use vramlab_shell::guide::Guide;
use vramlab_shell::guide::evidence::{self, State};
use vramlab_shell::notebook::{Entry, Notebook, Row};
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::{App, Library, Still};
use vramlab_trace::{Backend, DeviceFacts, Run};
use vramlab_units::Lang;

#[test]
fn the_files_of_the_course_have_no_problem() {
    let (guide, problems) = Guide::read(&Library::built_in());
    let shown: String = problems.iter().map(vramlab_lesson::render).collect();
    assert_eq!(shown, "");
    assert_eq!(guide.course.tasks.len(), 7);
}

/// A row whose chapter is written names what fills it.
#[test]
fn rows_of_written_chapters_are_bound() {
    let library = Library::built_in();
    let guide = Guide::built_in(&library);
    for task in &guide.course.tasks {
        for row in task.evidence.iter().filter(|row| library.chapter(&row.chapter).is_some()) {
            assert!(!(row.runs.is_empty() && row.checks.is_empty()), "{}/{} is bound to nothing", task.id, row.id);
        }
    }
}

/// Every glyph of the two files is in the fonts, and their texts are complete in both languages.
#[test]
fn routes_and_handbook_can_be_drawn() {
    for path in ["lessons/routes.toml", "lessons/handbook.toml"] {
        let text = vramlab_content::text(path).unwrap();
        let missing: Vec<char> =
            text.chars().filter(|c| !c.is_control() && !vramlab_kit::fonts::has_glyph(*c)).collect();
        assert!(missing.is_empty(), "{path}: no glyph for {missing:?}");
        assert_eq!(text.matches("zh = ").count(), text.matches("en = ").count(), "{path}");
    }
}

const PAGES: [&str; 11] = [
    "/route/training",
    "/route/kernel",
    "/task/task-2",
    "/evidence/training",
    "/evidence",
    "/help",
    "/help/slow_kernel",
    "/help/training_oom/first-step/holes",
    "/files",
    "/playground",
    "/playground/exercise_transpose",
];

#[test]
fn every_page_draws_in_every_look() {
    for page in PAGES {
        super::looks::draws(page, 1_500.0);
    }
}

/// B8: one column on a phone, nothing beside it; and everything a key reaches has a name.
#[test]
fn every_page_fits_a_phone_and_has_names() {
    for page in PAGES.into_iter().chain(["/"]) {
        for (width, scale) in [(320.0, 1.0), (390.0, 1.0), (720.0, 2.0)] {
            for lang in Lang::ALL {
                let settings = Settings { text_scale: scale, ..settings(lang, ThemeChoice::Light) };
                let desk = Desk::with(page, &settings, [width, 9_000.0]);
                for (name, rect) in desk.controls() {
                    let place = format!("{page} {} at {width} × {scale}: \"{name}\" {rect:?}", lang.code());
                    assert!(rect.left() >= -1.0 && rect.right() <= width + 1.0, "beside the page: {place}");
                    assert!(!name.trim().is_empty(), "without a name: {place}");
                }
            }
        }
    }
}

#[test]
fn help_asks_one_question_at_a_time_and_ends_with_what_to_measure() {
    let mut desk = Desk::open("/help");
    desk.click("Out of memory in training. the training script stops with CUDA out of memory");
    assert_eq!(desk.said()["route"], "/help/training_oom");
    desk.top_of("When does the error come?");
    desk.click("in the forward or backward of the first step");
    desk.click("yes, more is left than was asked for");
    assert_eq!(desk.said()["route"], "/help/training_oom/first-step/holes");
    desk.top_of("Fragmentation: enough is free, but no piece is large enough");
    for text in ["Measure this to be sure", "memory_reserved()", "Allocation and reclamation"] {
        assert!(desk.has(text), "{text}");
    }
    desk.click("One step back");
    assert_eq!(desk.said()["route"], "/help/training_oom/first-step");
}

/// A kernel that wastes sectors leads to experiments that run now.
#[test]
fn help_leads_to_experiments_that_are_here() {
    let mut desk = Desk::open("/help/slow_kernel/dense/busy-bus/sectors");
    desk.top_of("Accesses are not coalesced");
    let (experiment, _) = desk.harness.state().library().experiment("strided_read/stride").unwrap();
    let title = experiment.title.get(Lang::En).to_owned();
    desk.click(&title);
    assert!(
        desk.said()["route"].as_str().unwrap().starts_with(&format!("/ch/{CHAPTER}/step/")),
        "{}",
        desk.said()["route"]
    );
}

/// B10 for the guide: old addresses lead to the nearest place with a note.
#[test]
fn old_addresses_of_the_guide_lead_to_the_nearest_place() {
    for (link, lands) in [
        ("/route/kernels", "/route/kernel"),
        ("/route/xxxxxxxx", "/route/full"),
        ("/task/task-9", "/task/task-0"),
        ("/help/nothing/at/all", "/help"),
        ("/help/training_oom/first-step/gone", "/help/training_oom/first-step"),
        ("/evidence/nowhere", "/evidence"),
    ] {
        let desk = Desk::open(link);
        let route = desk.said()["route"].as_str().unwrap().to_owned();
        let is_task = lands.starts_with("/task/") && route.starts_with("/task/");
        assert!(route == lands || is_task, "{link} leads to {route}");
        assert_ne!(desk.notes(), "[]", "{link} needs a note");
    }
}

/// What the notebook and the progress say, and the state it makes.
#[test]
fn evidence_is_worked_out_from_runs_and_answers() {
    let cuda = "strided_read/stride";
    let state = |notebook: Notebook, progress: Progress| {
        let app = app_with(notebook, progress);
        evidence::of_experiment(&app, cuda)
    };
    let none = Progress::default;
    assert_eq!(state(Notebook::default(), none()), State::Open);
    assert_eq!(state(with_run(cuda, Backend::Cpu, None), none()), State::Cpu, "a processor's run stays CPU evidence");
    assert_eq!(state(with_run(cuda, Backend::Cuda, None), none()), State::Live);
    assert_eq!(
        state(with_run(cuda, Backend::Cuda, Some("TooFast".into())), none()),
        State::Open,
        "invalid is no evidence"
    );
    let library = Library::built_in();
    let (chapter, step) = library.step_of(cuda).unwrap();
    let mut seen = Progress::default();
    seen.set_done(&chapter, &step);
    assert_eq!(state(Notebook::default(), seen), State::Replayed);
}

#[test]
fn a_written_chapter_s_rows_are_its_experiments_and_checks() {
    let library = Library::built_in();
    let chapter = library.chapter(CHAPTER).unwrap();
    let check = chapter.steps.iter().find(|step| matches!(step.body, vramlab_lesson::StepBody::Check(_))).unwrap();
    let mut progress = Progress::default();
    progress.answer(CHAPTER, &check.id, Given::Options { chosen: vec![0] }, true);
    let app = app_with(with_run("cpu_stride/main", Backend::Cpu, None), progress);
    let cpu = evidence::of_chapter(&app, &chapter, Needs::Cpu);
    let gpu = evidence::of_chapter(&app, &chapter, Needs::Gpu);
    assert!(gpu.len() >= 3 && evidence::n_done(&gpu) == 0, "{gpu:?}");
    assert_eq!(evidence::n_done(&cpu), 2, "{cpu:?}");
}

fn app_with(notebook: Notebook, progress: Progress) -> App {
    let still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    {
        let mut inside = still.inside.borrow_mut();
        inside.files.insert("notebook.json".to_owned(), notebook.to_json().into_bytes());
        inside.files.insert(vramlab_lesson::progress::MAIN.to_owned(), progress.to_bytes());
    }
    App::new(Box::new(still))
}

fn with_run(experiment: &str, backend: Backend, invalid: Option<String>) -> Notebook {
    let run = Run {
        experiment: experiment.to_owned(),
        backend,
        date: "2026-11-30".to_owned(),
        device: DeviceFacts::default(),
        content_hash: String::new(),
        program: String::new(),
        mode: "quick".to_owned(),
        settings: vramlab_units::Map::new(),
        counter_rung: "none".to_owned(),
        points: Vec::new(),
    };
    let row = Row {
        series: "s".to_owned(),
        x: Some(1.0),
        predicted: Some(1.0),
        measured: Some(1.0),
        unit: "GB/s".to_owned(),
        invalid,
    };
    let mut notebook = Notebook::default();
    notebook.push(Entry { n: 0, hypothesis: String::new(), edit: 0, run, verdict: String::new(), rows: vec![row] });
    notebook
}

/// The start page goes on at the very step where the reader was.
#[test]
fn the_start_page_resumes_the_exact_step() {
    // A window of a usual height: in a taller one the steps below are read as well.
    let route = format!("/ch/{CHAPTER}/step/stride");
    let mut desk = Desk::with(&route, &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    desk.press_with(egui::Modifiers::ALT, egui::Key::Home);
    assert_eq!(desk.said()["route"], "/");
    assert!(desk.has("Where you were"));
    desk.click("Continue");
    assert_eq!(desk.said()["route"], format!("/ch/{CHAPTER}/step/stride"));
}

#[test]
fn a_newcomer_is_sent_to_the_first_chapter() {
    let mut desk = Desk::open("/");
    assert!(desk.has("New here? Begin with this"));
    desk.click("Begin");
    let first = desk.harness.state().library().chapter_ids()[0].to_owned();
    assert_eq!(desk.said()["route"], format!("/ch/{first}"));
}

#[test]
fn the_start_page_lists_every_chapter_and_route() {
    let settings = Settings { is_notebook_open: false, ..settings(Lang::En, ThemeChoice::Light) };
    let desk = Desk::with("/", &settings, [900.0, 4_000.0]);
    let rows = desk.harness.state().library().search("");
    assert!(rows.len() >= 31);
    for row in rows {
        let title = row.title.get(Lang::En);
        assert!(desk.has(title), "{title} is not on the start page");
    }
    for route in ["Full course", "Kernels", "Training memory", "Inference memory", "Operations"] {
        assert!(desk.harness.query_all_by_label_contains(route).next().is_some(), "{route}");
    }
}

/// The entrance for whoever wants one thing unfolds in place.
#[test]
fn on_demand_unfolds_to_links() {
    let mut desk = Desk::open("/");
    assert!(!desk.has("What LoRA and QLoRA save"));
    desk.click("On demand. One thing you want to understand. None of these is a prerequisite for anything else.");
    assert!(desk.has("What LoRA and QLoRA save") && desk.has("Timing that can be trusted"));
    assert_eq!(desk.said()["route"], "/");
}

#[test]
fn the_rail_follows_a_route_when_asked_to() {
    let chosen = Settings { rail_route: Some("training".to_owned()), ..settings(Lang::En, ThemeChoice::Light) };
    let desk = Desk::with("/settings", &chosen, [1440.0, 1_600.0]);
    assert!(desk.has("Task 0 · The life of objects") && desk.has("Task 6 · Many cards"));
    assert!(!desk.has("Analyse"), "layers are not shown beside a route");
}
