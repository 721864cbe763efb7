//! Every lesson, kernel and trace that the program brings, held to its own rules and to the models of today.

use crate::stated::{HIDDEN, STATED_ERROR, UNRECORDED, USUAL_ERROR};
use std::collections::{BTreeMap, BTreeSet};
use vramlab_gpu::read::MAX_SECS;
use vramlab_gpu::verdict::{self, Counters, Verdict};
use vramlab_lesson::answer::{self, Values};
use vramlab_lesson::{Answer, Chapter, Form, Question, Registry as _, StepBody, SymbolSource, render};
use vramlab_shell::Library;
use vramlab_tests::{files, read};
use vramlab_trace::{Backend, OracleOutcome, Run, file};
use vramlab_units::{Lang, Localized};

/// The sum of what all recordings of one device may take, in seconds: one sitting.
const RECORD_SECS: f64 = 900.0;

fn chapter_files() -> Vec<(String, String)> {
    let paths = vramlab_content::list("lessons/").filter(|path| path.ends_with("/chapter.toml"));
    paths.map(|path| (path.to_owned(), vramlab_content::text(path).unwrap().to_owned())).collect()
}

fn id_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap()
}

/// Every question of a chapter, wherever it stands.
fn questions(chapter: &Chapter) -> impl Iterator<Item = &Question> {
    let in_steps = chapter.steps.iter().filter_map(|step| match &step.body {
        StepBody::Predict(predict) => Some(&predict.question),
        StepBody::Check(question) => Some(question),
        _ => None,
    });
    in_steps.chain(&chapter.reviews)
}

#[test]
fn every_chapter_checks_without_a_finding() {
    let library = Library::built_in();
    let chapters = chapter_files();
    assert!(chapters.iter().any(|(path, _)| id_of(path) == "02_access_patterns"));
    for (path, text) in &chapters {
        let parsed = vramlab_lesson::parse(id_of(path), path, text.as_bytes());
        let found = vramlab_lesson::check(&parsed, &library);
        assert!(found.is_empty(), "{}", found.iter().map(render).collect::<String>());
        let chapter = parsed.chapter.unwrap();
        assert!(chapter.steps.iter().all(|step| !matches!(step.body, StepBody::Broken { .. })), "{path}");
        assert_eq!(chapter.lang, None, "{path} carries both languages");
    }
}

#[test]
fn ten_planted_faults_get_ten_findings_from_the_real_registry() {
    let library = Library::built_in();
    let text = read("app/lesson/examples/ten_faults.toml");
    let parsed = vramlab_lesson::parse("ten_faults", "ten_faults.toml", text.as_bytes());
    let found = vramlab_lesson::check(&parsed, &library);
    let shown: String = found.iter().map(render).collect();
    // The planted ids belong to a small registry of the lesson crate; here they may be unknown for one more reason,
    // but every planted line is found, with its place and a caret.
    let marked: Vec<&str> = text
        .lines()
        .filter_map(|line| line.rsplit_once("# ")?.1.split_once(' ')?.0.parse::<u32>().ok().map(|_| line))
        .collect();
    assert_eq!(marked.len(), 10);
    assert!(found.len() >= 10, "{shown}");
    assert!(found.iter().all(|problem| problem.place.line > 0 && problem.place.column > 0), "{shown}");
    assert!(shown.matches('━').count() >= 10, "{shown}");
}

#[test]
fn numbers_are_asked_of_models_and_every_draw_has_an_answer() {
    let library = Library::built_in();
    let eval = |id: &str, set: &vramlab_units::Map| library.eval(id, set);
    let mut n_models = 0;
    for chapter in library.chapters() {
        for question in questions(chapter) {
            let Form::Number { answer, min, max, .. } = &question.form else { continue };
            if let Answer::Typed { source, .. } = answer {
                assert!(!source.trim().is_empty(), "{}: {} types a number without a source", chapter.id, question.id);
            } else {
                n_models += 1;
            }
            for n in 0..answer::n_draws(question).min(4_096) {
                let draw = answer::draw(question, n);
                let value = answer::value_of(answer, &draw, &eval);
                let value = value.unwrap_or_else(|error| panic!("{}: {} {draw:?}: {error}", chapter.id, question.id));
                assert!((*min..=*max).contains(&value), "{}: {value} lies off the ruler {min} to {max}", question.id);
            }
        }
    }
    assert!(n_models >= 10, "only {n_models} answers are computed");
}

#[test]
fn equations_evaluate_at_both_ends_of_every_slider() {
    let library = Library::built_in();
    let eval = |id: &str, set: &vramlab_units::Map| library.eval(id, set);
    let mut n = 0;
    for (chapter, step) in library.chapters().flat_map(|chapter| chapter.steps.iter().map(move |step| (chapter, step)))
    {
        let StepBody::Equation(equation) = &step.body else { continue };
        for symbol in &equation.symbols {
            let SymbolSource::Slider { min, max, start, .. } = &symbol.source else { continue };
            for at in [*min, *max, *start] {
                let sliders = Values::from([(symbol.name.clone(), at)]);
                let result = answer::evaluate(equation, &sliders, &eval);
                let result = result.unwrap_or_else(|error| panic!("{}/{}: {error}", chapter.id, step.id)).result;
                assert!(result.is_finite(), "{}/{}: {} = {at} gives {result}", chapter.id, step.id, symbol.name);
                n += 1;
            }
        }
    }
    assert!(n > 0);
}

#[test]
fn a_chapter_has_the_parts_that_every_chapter_has() {
    for chapter in Library::built_in().chapters() {
        let id = &chapter.id;
        let has = |wanted: fn(&StepBody) -> bool| chapter.steps.iter().any(|step| wanted(&step.body));
        assert!((8..=14).contains(&chapter.steps.len()), "{id}: {} steps", chapter.steps.len());
        assert!(has(|body| matches!(body, StepBody::Predict(_))), "{id} asks for no prediction");
        assert!(has(|body| matches!(body, StepBody::Visualizer(_))), "{id} shows no figure");
        assert!(has(|body| matches!(body, StepBody::Experiment(_))), "{id} measures nothing");
        assert!(has(|body| matches!(body, StepBody::Check(_))), "{id} checks nothing");
        assert!(!chapter.audits.is_empty() && !chapter.reviews.is_empty(), "{id} has no decks");
        let verdicts: BTreeSet<_> = chapter.audits.iter().map(|audit| audit.verdict).collect();
        assert!(verdicts.len() >= 3, "{id}: audits of {verdicts:?} only");
        assert!((25..=60).contains(&chapter.minutes), "{id}: {} minutes", chapter.minutes);
    }
}

#[test]
fn the_outline_lists_every_chapter_once() {
    let library = Library::built_in();
    let rows = library.search("");
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    assert!(ids.len() >= 30, "{} chapters are in the outline", ids.len());
    for id in library.chapter_ids() {
        assert!(unique.contains(id), "{id} is not in lessons/curriculum.toml");
    }
    assert!(rows.iter().filter(|row| row.is_written).count() == library.chapter_ids().len());
}

#[test]
fn kernels_have_no_problem_and_fit_one_sitting() {
    let library = Library::built_in();
    let problems: Vec<String> = library.kernels().problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let experiments = &library.kernels().experiments;
    for (id, experiment) in experiments {
        assert!(experiment.time_secs <= MAX_SECS, "{id}: {} s", experiment.time_secs);
        assert!(experiment.effect.at_least > 1.0, "{id} expects no effect");
        assert!(!experiment.effect.causes.is_empty(), "{id} names nothing that could hide its effect");
        for text in [&experiment.title, &experiment.effect.sentence, &experiment.measure.title] {
            assert!(text.zh.is_some() && text.en.is_some(), "{id}: {text:?} lacks a language");
        }
    }
    let total: f64 = experiments.values().map(|experiment| experiment.time_secs).sum();
    println!("all experiments, recorded: {total:.0} s");
    assert!(total <= RECORD_SECS, "recording everything takes {total} s");
}

#[test]
fn every_experiment_has_a_chapter_or_a_purpose() {
    // Experiments that belong to no step yet: references that tests and later chapters compare with.
    let bench = [
        "attention_f32/main",
        "batch_gemm_f32/main",
        "stream_copy/main",
        "stream_triad/main",
        "stream_read/main",
        "shared_banks/layout",
    ];
    let library = Library::built_in();
    for id in library.kernels().experiments.keys() {
        assert!(library.step_of(id).is_some() || bench.contains(&id.as_str()), "no chapter shows {id}");
    }
}

/// Runs of `assets/traces` with their paths.
fn traces() -> Vec<(&'static str, Run)> {
    let paths = vramlab_content::list("assets/traces/").filter(|path| path.ends_with(".vltrace"));
    paths
        .map(|path| {
            let bytes = vramlab_content::get(path).and_then(vramlab_content::Content::here).unwrap();
            let read = file::read(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(read.problems.is_empty(), "{path}: {:?}", read.problems);
            (path, read.run)
        })
        .collect()
}

#[test]
fn every_experiment_on_a_gpu_is_recorded() {
    let recorded: BTreeSet<String> = traces().into_iter().map(|(_, run)| run.experiment).collect();
    let library = Library::built_in();
    let missing: Vec<&String> = library
        .kernels()
        .experiments
        .iter()
        .filter(|(id, experiment)| experiment.backend == Backend::Cuda && !recorded.contains(*id))
        .filter(|(id, _)| UNRECORDED.iter().all(|(known, _)| known != id))
        .map(|(id, _)| id)
        .collect();
    assert!(missing.is_empty(), "not recorded: {missing:?}");
    for (id, why) in UNRECORDED {
        assert!(!recorded.contains(*id), "{id} is recorded: take it off the list ({why})");
        assert!(library.experiment(id).is_some(), "{id} is no experiment: take it off the list");
    }
}

#[test]
fn recorded_traces_are_whole_checked_and_made_by_today_s_kernels() {
    let library = Library::built_in();
    for (path, run) in traces() {
        assert_eq!(library.kernels().is_current(&run), Some(true), "{path} is older than its kernel: record it again");
        assert_eq!(run.mode, "full", "{path}");
        assert!(run.backend != Backend::Fake && !run.device.name.is_empty() && !run.date.is_empty(), "{path}");
        let (experiment, _) = library.experiment(&run.experiment).unwrap();
        let n_points = experiment.series.len() * experiment.sweep.values.len();
        assert_eq!(run.points.len(), n_points, "{path}");
        for point in &run.points {
            assert!(matches!(point.oracle, Some(OracleOutcome::Passed { .. })), "{path}: {} unchecked", point.series);
            // A point that takes long on a processor ends with the samples it has, five at least.
            let least = if run.backend == Backend::Cpu { 5 } else { 20 };
            let n_samples = experiment.samples[1] as usize;
            assert!(point.samples_ns.len() >= n_samples.min(least), "{path}: {} samples", point.samples_ns.len());
        }
    }
}

fn stated_error(experiment: &str, series: &str) -> f64 {
    let row = STATED_ERROR.iter().find(|(id, of, ..)| *id == experiment && *of == series);
    row.map_or(USUAL_ERROR, |row| row.2)
}

#[test]
fn recorded_runs_agree_with_the_models_of_today() {
    let library = Library::built_in();
    let mut wrong = Vec::new();
    for (path, run) in traces() {
        let id = run.experiment.as_str();
        let (experiment, kernel) = library.experiment(id).unwrap();
        let judged = verdict::judge(&run, experiment, kernel);
        if let Counters::Differ { n_wrong, n_checked } = judged.counters {
            wrong.push(format!("{path}: {n_wrong} of {n_checked} counters differ from the model"));
        }
        if run.backend == Backend::Cuda && !experiment.counters.is_empty() && judged.counters == Counters::NotRead {
            wrong.push(format!("{path}: no counter was read ({})", run.counter_rung));
        }
        let is_hidden = HIDDEN.iter().any(|(hidden, _)| *hidden == id);
        let word = judged.verdict.id();
        if word != if is_hidden { "hidden" } else { "shown" } {
            wrong.push(format!("{path}: the effect is {word}"));
        }
        if let Verdict::Hidden { cause: None, .. } = judged.verdict {
            wrong.push(format!("{path}: the effect is hidden and no cause applies"));
        }
        let mut worst = (String::new(), 0.0_f64);
        for point in &judged.points {
            let place = format!("{}@{}", point.series, point.x.unwrap_or_default());
            if let Some(invalid) = &point.invalid {
                wrong.push(format!("{path}: {place} is invalid: {invalid:?}"));
            }
            let error = point.rel_error.unwrap_or_default();
            if !is_hidden && error.abs() > stated_error(id, &point.series) {
                wrong.push(format!("{path}: {place} lies {:+.1} % from its prediction", error * 100.0));
            }
            if error.abs() > worst.1.abs() {
                worst = (place, error);
            }
        }
        println!("{id:<24} {word}, worst {:+.1} % at {}", worst.1 * 100.0, worst.0);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lists above name what exists, and state no more than is needed: a bound that half would do is out of date.
#[test]
fn stated_errors_are_needed() {
    let library = Library::built_in();
    let runs = traces();
    for (id, series, bound, why) in STATED_ERROR {
        assert!(!why.is_empty());
        let (experiment, kernel) =
            library.experiment(id).unwrap_or_else(|| panic!("{id} is stated and does not exist"));
        let mine = runs.iter().filter(|(_, run)| run.experiment == *id);
        let judged = mine.flat_map(|(_, run)| verdict::judge(run, experiment, kernel).points);
        let errors = judged.filter(|point| point.series == *series).filter_map(|point| point.rel_error);
        let worst = errors.fold(0.0, |worst: f64, error| worst.max(error.abs()));
        assert!(worst > bound / 2.0, "{id} {series}: {worst:.2} is measured, {bound} is stated");
    }
    assert!(HIDDEN.iter().all(|(id, why)| library.experiment(id).is_some() && !why.is_empty()));
}

/// The sample of the first version.
pub fn sample() -> (&'static str, Run) {
    let path = "tests/data/traces/v1-sample.vltrace";
    let bytes = std::fs::read(vramlab_tests::root().join(path)).unwrap();
    (path, file::read(&bytes).unwrap().run)
}

#[test]
fn the_old_sample_opens() {
    for path in files("tests/data/traces", ".vltrace") {
        let bytes = std::fs::read(vramlab_tests::root().join(&path)).unwrap();
        let read = file::read(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(read.problems.is_empty() && !read.run.points.is_empty(), "{path}");
        let wanted: u16 = path.rsplit('/').next().unwrap()[1..].split('-').next().unwrap().parse().unwrap();
        assert_eq!(read.version, wanted, "{path}");
    }
    assert!(!files("tests/data/traces", ".vltrace").is_empty());
}

/// Every character that a reader may see and no font of ours can draw, with where it stands.
fn undrawn(text: &str, place: &str, out: &mut BTreeMap<char, String>) {
    for c in text.chars().filter(|c| !vramlab_kit::fonts::has_glyph(*c)) {
        out.entry(c).or_insert_with(|| place.to_owned());
    }
}

/// L11: built-in texts, the interface's among them, have a glyph for every character.
#[test]
fn l11_no_tofu_in_lessons_kernels_and_interface() {
    let mut found = BTreeMap::new();
    for tree in ["lessons/", "kernels/"] {
        for path in vramlab_content::list(tree).filter(|path| path.ends_with(".toml")) {
            undrawn(vramlab_content::text(path).unwrap(), path, &mut found);
        }
    }
    let crates = ["app/units/src", "app/model/src", "app/trace/src", "app/lesson/src", "app/gpu/src", "app/views/src"];
    for path in crates
        .iter()
        .chain(&["app/kit/src", "app/shell/src", "app/desktop/src", "web/src"])
        .flat_map(|dir| files(dir, ".rs"))
    {
        let is_test = path.contains("test") || path.contains("/gallery");
        let text = read(&path);
        if !is_test {
            undrawn(&strings(vramlab_tests::without_tests(&text)), &path, &mut found);
        }
    }
    assert!(found.is_empty(), "no font draws {found:?}");
}

/// The contents of string literals only: comments never reach the screen.
fn strings(text: &str) -> String {
    let code = |line: &str| {
        let mut out = String::new();
        let parts: Vec<&str> = line.split('"').collect();
        for part in parts.iter().skip(1).step_by(2) {
            out.push_str(part);
        }
        out
    };
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(code).collect::<Vec<_>>().join("\n")
}

#[test]
fn both_languages_are_there_and_written_for_themselves() {
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let half_width = [",", "!", "?", ";"];
    for chapter in Library::built_in().chapters() {
        let check = |text: &Localized, what: &str| {
            let (zh, en) = (text.exact(Lang::Zh).unwrap_or_default(), text.exact(Lang::En).unwrap_or_default());
            assert!(zh.is_empty() == en.is_empty(), "{}: {what} lacks a language", chapter.id);
            assert!(!is_chinese(en), "{}: {what} has Chinese in its English: {en}", chapter.id);
            // A half-width mark right after a Chinese character is a slip of the keyboard.
            let mut n_open = 0_i32; // in `min(长度, 64)` the comma belongs to the formula
            for (before, after) in zh.chars().zip(zh.chars().skip(1)) {
                n_open += i32::from(before == '(') - i32::from(before == ')');
                let is_mark = half_width.contains(&after.to_string().as_str());
                let is_slip = is_mark && n_open == 0 && is_chinese(&before.to_string());
                assert!(!is_slip, "{}: {what}: \"{before}{after}\" in {zh}", chapter.id);
            }
        };
        for (text, what) in [(&chapter.title, "title"), (&chapter.subtitle, "subtitle"), (&chapter.outcome, "outcome")]
        {
            check(text, what);
        }
        for step in &chapter.steps {
            check(&step.title, &step.id);
            if let StepBody::Prose { text } = &step.body {
                check(text, &step.id);
            }
        }
        for question in questions(chapter) {
            check(&question.ask, &question.id);
            check(&question.explain, &question.id);
        }
        for audit in &chapter.audits {
            check(&audit.claim, &audit.id);
            check(&audit.why, &audit.id);
        }
    }
}
