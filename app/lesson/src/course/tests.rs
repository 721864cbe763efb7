//! The committed files read without a problem; planted slips are found at their place.

use super::handbook::At;
use super::*;
use crate::problem::render;
use vramlab_units::Lang;

const ROUTES: &str = include_str!("../../../../lessons/routes.toml");
const HANDBOOK: &str = include_str!("../../../../lessons/handbook.toml");
const CURRICULUM: &str = include_str!("../../../../lessons/curriculum.toml");

/// The chapters of the curriculum; every experiment and step that the files name is taken to exist.
fn known() -> Known {
    let (table, _) = tree::whole(CURRICULUM);
    let planned: Vec<String> = listed(&table, "chapter", "").iter().map(|(table, _)| id(table)).collect();
    let quoted = [ROUTES, HANDBOOK].concat();
    let named = quoted.split('"').filter(|word| word.contains('/') && !word.starts_with('/') && !word.contains(' '));
    let experiments: Vec<String> = named.map(str::to_owned).collect();
    let mut steps: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (chapter, step) in experiments.iter().filter_map(|address| address.split_once('/')) {
        steps.entry(chapter.to_owned()).or_default().push(step.to_owned());
    }
    Known { planned, steps, experiments }
}

fn routes(text: &str) -> ReadCourse<Course> {
    Course::read("routes.toml", text, &known())
}

fn handbook(text: &str) -> ReadCourse<Handbook> {
    let course = routes(ROUTES).content;
    let tasks: Vec<&str> = course.tasks.iter().map(|task| task.id.as_str()).collect();
    Handbook::read("handbook.toml", text, &known(), &tasks)
}

fn shown<T>(read: &ReadCourse<T>) -> String {
    read.problems.iter().map(render).collect()
}

/// What a slip costs: the only problem, with the text it points at.
#[track_caller]
fn slip(good: &str, from: &str, to: &str, is_handbook: bool) -> (String, String) {
    assert!(good.contains(from), "{from}");
    let text = good.replacen(from, to, 1);
    let problems = if is_handbook { handbook(&text).problems } else { routes(&text).problems };
    let first = problems.first().unwrap_or_else(|| panic!("{to} is not found"));
    assert!(first.place.line > 0 && first.place.column > 0, "{first:?}");
    let chars = first.place.text.chars().skip(first.place.column - 1).take(first.place.width);
    (first.what.clone() + first.help.as_deref().unwrap_or_default(), chars.collect())
}

#[test]
fn the_committed_files_have_no_problem() {
    let (routes, handbook) = (routes(ROUTES), handbook(HANDBOOK));
    assert_eq!(shown(&routes) + &shown(&handbook), "");
    assert_eq!(routes.content.tasks.len(), 7);
    let ids: Vec<&str> = routes.content.routes.iter().map(|route| route.id.as_str()).collect();
    assert_eq!(ids, ["full", "kernel", "training", "inference", "operations"]);
    assert_eq!(routes.content.entrances.len(), 3);
}

/// The routes as the outline of the course has them.
#[test]
fn routes_lead_through_the_chapters_of_the_outline() {
    let course = routes(ROUTES).content;
    let numbers = |id: &str| -> Vec<u32> {
        let route = course.route(id).unwrap();
        course.chapters_of(route).iter().map(|id| id[..2].parse().unwrap()).collect()
    };
    assert_eq!(numbers("full"), (0..=30).collect::<Vec<_>>());
    assert_eq!(numbers("kernel"), [0, 1, 12, 2, 3, 13, 23, 4, 6, 17, 19, 7]);
    assert_eq!(numbers("training"), [1, 5, 14, 28, 11, 24, 8, 18, 10, 15, 20, 9]);
    assert_eq!(numbers("inference"), [1, 5, 14, 28, 16, 21, 17, 25, 15, 20, 9]);
    assert_eq!(numbers("operations"), [1, 22, 26, 27, 28, 29]);
    let with_task_1: Vec<&str> = course.routes_with("task-1").map(|route| route.id.as_str()).collect();
    assert_eq!(with_task_1, ["training", "inference"]);
}

#[test]
fn every_task_says_what_each_side_can_confirm_in_both_languages() {
    for task in routes(ROUTES).content.tasks {
        for needs in [Needs::Cpu, Needs::Gpu] {
            assert!(task.evidence.iter().any(|row| row.needs == needs), "{} lacks {needs:?}", task.id);
        }
        let texts = [&task.title, &task.asks, &task.mechanism, &task.strategy, &task.exit];
        let claims = task.evidence.iter().map(|row| &row.claim);
        for text in texts.into_iter().chain(claims) {
            assert!(text.zh.is_some() && text.en.is_some(), "{}: {text:?}", task.id);
        }
        let homes: Vec<&String> = task.chapters.iter().map(|(id, _)| id).collect();
        assert!(task.evidence.iter().all(|row| homes.contains(&&row.chapter)), "{}: a row of elsewhere", task.id);
    }
}

#[test]
fn slips_are_found_where_they_stand() {
    let (what, at) = slip(ROUTES, "\"03_reuse\"", "\"03_re-use\"", false);
    assert!(what.contains("did you mean \"03_reuse\"?"), "{what}");
    assert_eq!(at, "\"03_re-use\"");
    let (what, at) = slip(ROUTES, "tasks = [\"task-0\"", "tasks = [\"task-9\"", false);
    assert!(what.contains("no task is called \"task-9\"") && at == "\"task-9\"", "{what} {at}");
    let (what, _) = slip(ROUTES, "needs = \"gpu\"", "needs = \"tpu\"", false);
    assert!(what.contains("cpu, gpu"), "{what}");
    let (what, at) = slip(ROUTES, "mechanism = {", "mechanisme = {", false);
    assert!(what.contains("did you mean \"mechanism\"?") || what.contains("needs the field"), "{what} {at}");
    let (what, _) = slip(ROUTES, "schema = 1", "schema = 9", false);
    assert!(what.contains('9'), "{what}");
    let (what, at) = slip(HANDBOOK, "to = \"weights-too-large\"", "to = \"weights-too-larg\"", true);
    assert!(what.contains("did you mean \"weights-too-large\"?") && at == "\"weights-too-larg\"", "{what} {at}");
    let (what, _) = slip(HANDBOOK, "id = \"oom-holes\"", "id = \"oom-when\"", true);
    assert!(what.contains("taken") || what.contains("no question"), "{what}");
    let (what, _) = slip(HANDBOOK, "zh = \"训练时显存不够\"", "zh = \"训练时显存不够", true);
    assert!(!what.is_empty());
}

#[test]
fn questions_in_a_circle_are_refused_and_end() {
    let text = HANDBOOK.replacen("to = \"weights-too-large\"", "to = \"oom-when\"", 1);
    assert!(shown(&handbook(&text)).contains("circle"), "{}", shown(&handbook(&text)));
}

#[test]
fn a_walk_follows_answers_and_stops_at_the_unknown() {
    let book = handbook(HANDBOOK).content;
    let answers = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let walk = book.walk("training_oom", &answers(&["first-step", "holes"])).unwrap();
    assert!(matches!(walk.at, At::Advice(advice) if advice.id == "fragmentation"), "{:?}", walk.at);
    assert_eq!(walk.taken.len(), 2);
    let walk = book.walk("training_oom", &answers(&["first-step", "nonsense", "runs"])).unwrap();
    assert_eq!(walk.unknown.as_deref(), Some("nonsense"));
    assert!(matches!(walk.at, At::Ask(ask) if ask.id == "oom-holes"));
    assert!(book.walk("nothing", &[]).is_none());
}

/// Whoever needs help answers at most four questions, and the end always says what to measure.
#[test]
fn help_is_near() {
    let book = handbook(HANDBOOK).content;
    for symptom in &book.symptoms {
        let depth = book.depth(&symptom.first).unwrap();
        assert!((1..=5).contains(&depth), "{} takes {depth} questions", symptom.id);
    }
    for ask in &book.asks {
        assert!((2..=5).contains(&ask.options.len()), "{} has {} answers", ask.id, ask.options.len());
    }
    for advice in &book.advice {
        assert!(!advice.chapters.is_empty(), "{} leads to no chapter", advice.id);
        for text in [&advice.title, &advice.text, &advice.measure] {
            assert!(text.zh.is_some() && text.en.is_some(), "{}", advice.id);
        }
        assert!(advice.text.get(Lang::Zh).chars().count() <= 180, "{} is long", advice.id);
    }
}
