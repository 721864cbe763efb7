//! The playground: what is typed is never lost, whatever becomes of it; what runs says so; figures and the page share one desk.

use super::{Desk, settings};
use egui::{Event as Input, Key, Modifiers};
use egui_kittest::kittest::NodeT as _;
use std::rc::Rc;
use vramlab_gpu::RunError;
use vramlab_gpu::build::{Build, Taken};
use vramlab_gpu::error::How;
use vramlab_gpu::protocol::{FromChild, Inspect};
use vramlab_shell::Still;
use vramlab_shell::action::Action;
use vramlab_shell::platform::{BackendState, Event};
use vramlab_shell::settings::ThemeChoice;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point};
use vramlab_units::{Lang, Localized};

const SCREEN: [f32; 2] = [1440.0, 2400.0];
const COALESCE: &str = "/playground/exercise_coalesce";

fn open(route: &str) -> Desk {
    Desk::with(route, &settings(Lang::En, ThemeChoice::Light), SCREEN)
}

/// The program on a data folder that another run of it has left.
fn reopened(desk: &Desk, route: &str) -> Desk {
    let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.inside.borrow_mut().files.clone_from(&desk.inside.borrow().files);
    still.route = Some(route.to_owned());
    Desk::on(still, SCREEN)
}

fn with_gpu(desk: &Desk) {
    let facts = DeviceFacts {
        name: "Test GPU".to_owned(),
        cc: Some(90.0),
        free_bytes: Some(8e9),
        total_bytes: Some(16e9),
        ..DeviceFacts::default()
    };
    desk.inside.borrow_mut().backends.insert(Backend::Cuda, BackendState::Ready(Box::new(facts)));
}

fn text(desk: &Desk) -> String {
    desk.said()["playground"]["text"].as_str().expect("a kernel is open").to_owned()
}

fn finding(desk: &Desk) -> String {
    desk.said()["playground"]["finding"].as_str().expect("a kernel is open").to_owned()
}

/// Puts the keyboard into the editor, at the beginning of the text.
fn enter(desk: &mut Desk) {
    let slug = desk.said()["playground"]["kernel"].as_str().expect("a kernel is open").to_owned();
    desk.harness.state().playground().desk(&slug).expect("its desk").borrow_mut().jump = Some(1);
    desk.harness.run_steps(3);
    desk.press(Key::Home);
}

fn type_at_start(desk: &mut Desk, words: &str) {
    enter(desk);
    for letter in words.chars() {
        desk.harness.event(Input::Text(letter.to_string()));
        desk.harness.step();
    }
}

fn check(desk: &mut Desk) {
    desk.click("Check");
    for _ in 0..400 {
        if !finding(desk).starts_with("Checking") {
            return;
        }
        desk.harness.step();
    }
    panic!("the check does not end");
}

fn kept(desk: &Desk) -> String {
    let inside = desk.inside.borrow();
    String::from_utf8_lossy(inside.files.get("playground.json").map(Vec::as_slice).unwrap_or_default()).into_owned()
}

#[test]
fn the_page_lists_every_exercise_and_opens_any_kernel() {
    let mut desk = open("/playground");
    assert!(desk.has("0 of 13 solved"));
    let title = desk.harness.state().library().kernels().exercises["exercise_coalesce"].title.get(Lang::En).to_owned();
    desk.click(&title);
    assert_eq!(desk.said()["route"], COALESCE);
    assert!(text(&desk).contains("__global__"));
    let desk = open("/playground/strided_read");
    assert!(text(&desk).contains("strided_read"), "a kernel that is no exercise");
    let mut desk = open("/playground/capstone");
    assert!(finding(&desk).starts_with("Read only") && !desk.has("Run on the GPU"));
    let before = text(&desk);
    type_at_start(&mut desk, "// mine");
    assert_eq!(text(&desk), before, "a kernel of the host is not changed");
    let desk = open("/playground/no_such_kernel");
    assert!(desk.has("no kernel is called no_such_kernel"));
}

#[test]
fn what_is_typed_is_on_disk_within_two_seconds_and_back_after_a_restart() {
    let mut desk = open(COALESCE);
    type_at_start(&mut desk, "// mine");
    assert!(!kept(&desk).contains("// mine"), "not with every letter");
    // A frame of the harness is a quarter of a second.
    desk.harness.run_steps(8);
    assert!(kept(&desk).contains("// mine"));
    let desk = reopened(&desk, COALESCE);
    assert!(text(&desk).starts_with("// mine"));
    let desk = reopened(&desk, "/playground");
    assert!(desk.has("tried"));
}

#[test]
fn a_window_that_closes_at_once_loses_nothing() {
    let mut desk = open(COALESCE);
    type_at_start(&mut desk, "// now");
    desk.harness.state_mut().save_progress(true);
    assert!(text(&reopened(&desk, COALESCE)).starts_with("// now"));
}

#[test]
fn switching_exercises_and_coming_back_keeps_the_text() {
    let mut desk = open(COALESCE);
    type_at_start(&mut desk, "// first");
    desk.click("Next");
    assert!(!text(&desk).contains("// first"));
    type_at_start(&mut desk, "// second");
    desk.click("Previous");
    assert!(text(&desk).starts_with("// first"));
    desk.harness.state_mut().save_progress(true);
    assert!(kept(&desk).contains("// first") && kept(&desk).contains("// second"));
}

#[test]
fn a_reset_brings_the_original_back_and_can_be_taken_back() {
    let mut desk = open(COALESCE);
    let original = text(&desk);
    type_at_start(&mut desk, "// mine");
    desk.harness.run_ok();
    desk.click("Reset");
    assert_eq!(text(&desk), original);
    desk.harness.state_mut().save_progress(true);
    let mut desk = reopened(&desk, COALESCE);
    assert_eq!(text(&desk), original, "the reset is kept");
    desk.click("Take the last text back");
    assert!(text(&desk).starts_with("// mine"), "even after a restart");
}

#[test]
fn the_solution_covers_the_text_and_gives_it_back() {
    let mut desk = open(COALESCE);
    type_at_start(&mut desk, "// mine");
    desk.harness.run_ok();
    desk.click("Show the solution");
    assert!(!text(&desk).contains("// mine"));
    check(&mut desk);
    assert!(finding(&desk).contains("every goal is met"), "{}", finding(&desk));
    desk.harness.state_mut().save_progress(true);
    assert!(kept(&desk).contains("// mine") && kept(&desk).contains("\"is_solved\": false"), "{}", kept(&desk));
    desk.click("Back to mine");
    assert!(text(&desk).starts_with("// mine"));
    // Who writes on in the solution keeps both.
    desk.click("Show the solution");
    type_at_start(&mut desk, "// more");
    desk.harness.run_ok();
    assert!(text(&desk).contains("// more"));
    desk.click("Take the last text back");
    assert!(text(&desk).starts_with("// mine"));
}

#[test]
fn ten_megabytes_are_refused_and_the_text_stays() {
    let mut desk = open(COALESCE);
    let before = text(&desk);
    enter(&mut desk);
    desk.harness.event(Input::Paste("x".repeat(10 << 20)));
    desk.harness.run_ok();
    assert_eq!(text(&desk), before);
    assert!(desk.has("the editor takes"));
    desk.harness.event(Input::Paste("// short ".to_owned()));
    desk.harness.run_ok();
    assert!(text(&desk).starts_with("// short "), "{}", text(&desk));
    assert!(!desk.has("the editor takes"), "the refusal goes with the next word");
}

#[test]
fn syntax_errors_endless_loops_and_bad_addresses_are_told_with_their_line() {
    let head = "extern \"C\" __global__ void copy_words(const unsigned* a, unsigned* out, unsigned n) {\n";
    for (body, says) in [
        ("    out[0] = ;\n", "Line 2"),
        ("    while (true) { }\n", "endless"),
        ("    out[n + 1000000] = 1;\n", "Line 2"),
        ("    __shared__ unsigned t[100000];\n    out[0] = t[0];\n", "400000"),
    ] {
        let mut desk = open(COALESCE);
        enter(&mut desk);
        desk.press_with(Modifiers::COMMAND, Key::A);
        desk.harness.event(Input::Paste(format!("{head}{body}}}\n")));
        desk.harness.run_ok();
        check(&mut desk);
        assert!(finding(&desk).contains(says), "{body}: {}", finding(&desk));
        assert!(text(&desk).contains(body), "the text is as it was typed");
    }
}

#[test]
fn without_a_gpu_the_goals_are_judged_and_the_reason_stands_there() {
    let mut desk = open(COALESCE);
    let why = Localized::both("没有驱动", "no NVIDIA driver was found");
    let state = BackendState::Unavailable { why: why.clone(), fix: why };
    desk.inside.borrow_mut().backends.insert(Backend::Cuda, state);
    desk.harness.run_ok();
    assert!(desk.has("There is no GPU here (no NVIDIA driver was found)"));
    check(&mut desk);
    assert!(finding(&desk).contains("goals are not met"), "{}", finding(&desk));
    assert!(desk.inside.borrow().jobs.is_empty());
}

/// The compiler needs no GPU: the back end of the processor hands the text to it.
#[test]
fn without_a_gpu_the_text_is_compiled_and_nothing_runs() {
    let mut desk = open(COALESCE);
    let why = Localized::both("没有驱动", "no NVIDIA driver was found");
    let state = BackendState::Unavailable { why: why.clone(), fix: why };
    desk.inside.borrow_mut().backends.insert(Backend::Cuda, state);
    desk.harness.run_ok();
    desk.click("Compile");
    let job = desk.inside.borrow().jobs[0].clone();
    assert_eq!((job.inspect, job.plan.peak_bytes), (Some(Inspect::Only), 0));
    assert_eq!(desk.inside.borrow().started_on, [Backend::Cpu]);
    assert!(desk.has("Compiling"));
    let taken = Taken { entry: "copy_words".into(), registers: 77, threads: 256, ..Taken::default() };
    let build = Build { arch: "sm_90".into(), entries: vec![taken.with_occupancy(90)], ..Build::default() };
    desk.send(Event::Job(FromChild::Built { job_id: 1, build: Box::new(build) }));
    desk.send(Event::Job(FromChild::Done { job_id: 1 }));
    assert!(desk.has("77") && desk.has("By the compiler, for sm_90; it did not run"));
    desk.harness.run_ok();
    assert!(desk.has("to run it, and for counters and times, it takes a GPU"));
    // On the web there is no compiler either.
    let why = Localized::both("浏览器里没有", "not in a browser");
    let state = BackendState::Unavailable { why: why.clone(), fix: why };
    desk.inside.borrow_mut().backends.insert(Backend::Cpu, state);
    desk.harness.run_ok();
    assert!(desk.has("registers, counters and times need a GPU"));
}

/// A frame of a page without threads takes its share and no more, also inside one block of an endless loop.
#[test]
fn an_endless_loop_leaves_the_frame_alone() {
    let mut desk = open(COALESCE);
    enter(&mut desk);
    desk.press_with(Modifiers::COMMAND, Key::A);
    let body = "while (true) { }";
    let head = "extern \"C\" __global__ void copy_words(const unsigned* a, unsigned* out, unsigned n)";
    desk.harness.event(Input::Paste(format!("// a loop\n{head} {{ {body} }}\n")));
    desk.harness.run_ok();
    desk.click("Check");
    let looks = desk.inside.borrow().n_looks;
    desk.harness.step();
    let looked = desk.inside.borrow().n_looks - looks;
    assert!((16..=66).contains(&looked), "{looked} slices in a frame or two");
    assert!(finding(&desk).starts_with("Checking"), "{}", finding(&desk));
    type_at_start(&mut desk, "// alive ");
    assert!(text(&desk).starts_with("// alive "), "the editor goes on");
}

/// `kernel:NAME` in the text of a lesson.
#[test]
fn a_lesson_leads_to_a_kernel() {
    let mut desk = open("/ch/03_reuse/step/stencil");
    let ctx = desk.harness.ctx.clone();
    desk.harness.state_mut().apply(&ctx, Action::OpenUrl("kernel:stencil_2d".to_owned()));
    desk.harness.run_steps(4);
    assert_eq!(desk.said()["route"], "/playground/stencil_2d");
    assert!(text(&desk).contains("__global__"));
}

#[test]
fn on_a_gpu_the_typed_text_is_compiled_run_and_counted() {
    let mut desk = open(COALESCE);
    with_gpu(&desk);
    type_at_start(&mut desk, "// mine");
    check(&mut desk);
    desk.click("Run on the GPU");
    let job = desk.inside.borrow().jobs.last().expect("a job").clone();
    assert_eq!(job.inspect, Some(Inspect::AndRun));
    assert!(job.sources.values().all(|source| source.starts_with("// mine")), "what is typed is what runs");
    assert!(job.counters.iter().any(|name| name.contains("l1tex__t_sectors")), "{:?}", job.counters);
    assert!(job.plan.deadline_secs <= 30.0 && job.plan.peak_bytes > 0);
    let taken = Taken { entry: "copy_words".into(), registers: 77, threads: 256, ..Taken::default() };
    let build = Build {
        arch: "sm_90".into(),
        entries: vec![taken.with_occupancy(90)],
        ptx: ".visible .entry".into(),
        ..Build::default()
    };
    let message = FromChild::Built { job_id: 1, build: Box::new(build) };
    desk.send(Event::Job(message));
    assert!(desk.has("77"), "the registers");
    let counters =
        job.counters.iter().map(|name| (name.clone(), if name.contains("sectors") { 4096.0 } else { 1024.0 }));
    let point = Point {
        series: "edited".into(),
        params: Default::default(),
        samples_ns: vec![5_000.0; 3],
        readings: Default::default(),
        counters: counters.collect(),
        telemetry: Default::default(),
        oracle: Some(OracleOutcome::Passed { n_checked: 64, worst_error: 0.0 }),
        invalid: None,
    };
    desk.send(Event::Job(FromChild::Point { job_id: 1, point: Box::new(point) }));
    desk.send(Event::Job(FromChild::Done { job_id: 1 }));
    assert!(desk.has("5 µs a launch") && desk.has("by the counters"));
    assert!(!desk.has("Stop"), "the job is over");
}

#[test]
fn an_error_of_the_compiler_a_dead_child_and_a_deadline_leave_the_text() {
    let log = "exercise.cu(3): error: expected a \";\"".to_owned();
    let options = vec!["--gpu-architecture=sm_90".to_owned()];
    let died = RunError::Died { how: How::Signal(9), last_words: None };
    let compile = RunError::Compile { arch: "sm_90".into(), options, log };
    for (error, says) in [
        (compile, "expected a"),
        (died, "runner"),
        (RunError::Deadline { secs: 20.0 }, "20 s"),
        (RunError::Cancelled, ""),
    ] {
        let mut desk = open(COALESCE);
        with_gpu(&desk);
        type_at_start(&mut desk, "// mine");
        desk.harness.run_ok();
        desk.click("Compile");
        assert_eq!(desk.inside.borrow().jobs[0].inspect, Some(Inspect::Only));
        desk.send(Event::JobFailed { job_id: 1, error });
        assert!(text(&desk).starts_with("// mine") && desk.has(says), "{says}");
        assert!(!desk.has("Stop"), "the next try can begin");
        if says == "expected a" {
            desk.click("line 3");
            desk.type_text("#");
            assert_eq!(text(&desk).lines().nth(2), Some("#"), "the faulty line is selected");
        }
    }
}

#[test]
fn a_job_can_be_stopped_and_one_that_waits_for_the_gpu_too() {
    let mut desk = open(COALESCE);
    with_gpu(&desk);
    desk.harness.run_ok();
    desk.click("Run on the GPU");
    desk.click("Stop");
    assert_eq!(desk.inside.borrow().cancelled, [1]);
    let mut desk = open(COALESCE);
    desk.click("Compile");
    assert!(desk.has("Opening the GPU"));
    desk.click("Stop");
    with_gpu(&desk);
    desk.harness.run_ok();
    assert!(desk.inside.borrow().jobs.is_empty());
}

#[test]
fn tab_indents_enter_keeps_the_indentation_and_escape_leaves() {
    let mut desk = open(COALESCE);
    enter(&mut desk);
    desk.press(Key::Tab);
    assert!(text(&desk).starts_with("    "));
    desk.type_text("{");
    desk.press(Key::Enter);
    desk.type_text("}");
    assert!(text(&desk).starts_with("    {\n    }"), "{}", text(&desk));
    desk.press(Key::Escape);
    let focused = desk.harness.root().children_recursive().find(|node| node.is_focused());
    let name = focused.and_then(|node| node.accesskit_node().label());
    assert_eq!(name.as_deref(), Some("Check"), "Tab goes on from behind the editor");
}

#[test]
fn find_selects_one_place_after_the_other() {
    let mut desk = open(COALESCE);
    enter(&mut desk);
    desk.press_with(Modifiers::COMMAND, Key::F);
    desk.harness.run_ok();
    for letter in "copy_words".chars() {
        desk.harness.event(Input::Text(letter.to_string()));
        desk.harness.step();
    }
    assert!(desk.has("1/"), "how many there are");
    desk.press(Key::Enter);
    desk.press(Key::Escape);
    assert!(!desk.has("Previous place"));
}

#[test]
fn a_chapter_and_the_page_share_the_desk() {
    let library = vramlab_shell::Library::built_in();
    let steps = library.chapters().flat_map(|chapter| chapter.steps.iter().map(move |step| (chapter.id.clone(), step)));
    let found = steps.into_iter().find_map(|(chapter, step)| match &step.body {
        vramlab_lesson::StepBody::Visualizer(body) if body.show == "playground" => {
            Some((format!("/ch/{chapter}/step/{}", step.id), body.params["exercise"].as_str()?.to_owned()))
        }
        _ => None,
    });
    let Some((route, slug)) = found else { return };
    let mut desk = open(&format!("/playground/{slug}"));
    type_at_start(&mut desk, "// shared");
    desk.harness.run_ok();
    desk.send(Event::Route(route));
    desk.harness.run_steps(4);
    let app = desk.harness.state();
    let drafts = app.playground().desk(&slug).map(Rc::clone).expect("the desk");
    assert!(drafts.borrow().source.starts_with("// shared"));
    assert!(Rc::strong_count(&drafts) > 2, "the figure stands at it too");
}
