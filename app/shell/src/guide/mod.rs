//! The ways through the course on screen: routes, tasks, the evidence table, and the handbook that leads from a symptom to
//! a chapter. The data is `vramlab_lesson::course`; `evidence.rs` says what the reader has shown so far; the pages paint.

pub mod evidence;
pub mod evidence_page;
pub mod help_page;
pub mod parts;
pub mod route_page;
pub mod task_page;

use crate::library::Library;
use crate::route::Page;
use vramlab_lesson::Problem;
use vramlab_lesson::course::{Course, Handbook, Known};

const ROUTES: &str = "lessons/routes.toml";
const HANDBOOK: &str = "lessons/handbook.toml";

/// Routes, tasks and handbook as the program brings them.
#[derive(Debug, Default)]
pub struct Guide {
    pub course: Course,
    pub handbook: Handbook,
}

impl Guide {
    pub fn built_in(library: &Library) -> Self {
        Self::read(library).0
    }

    /// With everything that is wrong with the two files.
    pub fn read(library: &Library) -> (Self, Vec<Problem>) {
        let known = known(library);
        let text = |path| vramlab_content::text(path).unwrap_or_default();
        let course = Course::read(ROUTES, text(ROUTES), &known);
        let tasks: Vec<&str> = course.content.tasks.iter().map(|task| task.id.as_str()).collect();
        let handbook = Handbook::read(HANDBOOK, text(HANDBOOK), &known, &tasks);
        let problems = course.problems.into_iter().chain(handbook.problems).collect();
        (Self { course: course.content, handbook: handbook.content }, problems)
    }
}

/// Everything that is wrong with files of the course: path and text, by the name of each.
pub fn check(files: &[(String, String)], library: &Library) -> Vec<Problem> {
    let known = known(library);
    let built_in = Guide::built_in(library);
    let routes = files.iter().filter(|(path, _)| path.ends_with("routes.toml"));
    let read: Vec<_> = routes.map(|(path, text)| Course::read(path, text, &known)).collect();
    // The handbook's tasks are those of the routes beside it, or of the program.
    let course = read.last().map_or(&built_in.course, |read| &read.content);
    let tasks: Vec<&str> = course.tasks.iter().map(|task| task.id.as_str()).collect();
    let handbooks = files.iter().filter(|(path, _)| path.ends_with("handbook.toml"));
    let of_handbooks = handbooks.flat_map(|(path, text)| Handbook::read(path, text, &known, &tasks).problems);
    let of_handbooks: Vec<Problem> = of_handbooks.collect();
    read.into_iter().flat_map(|read| read.problems).chain(of_handbooks).collect()
}

/// What links may point at: the built-in course, written or planned.
fn known(library: &Library) -> Known {
    let steps = library.chapters().map(|chapter| {
        let ids = chapter.steps.iter().map(|step| step.id.clone()).collect();
        (chapter.id.clone(), ids)
    });
    Known {
        planned: library.search("").into_iter().map(|row| row.id).collect(),
        steps: steps.collect(),
        experiments: library.kernels().experiments.keys().cloned().collect(),
    }
}

impl Guide {
    /// The nearest place that exists, and what of the address could not be followed.
    pub fn corrected(&self, page: &Page) -> Option<(Page, String)> {
        let near = |id: &str, known: &mut dyn Iterator<Item = &str>| {
            vramlab_units::field::did_you_mean(id, known).map(str::to_owned)
        };
        match page {
            Page::Route { id } if self.course.route(id).is_none() => {
                let found = near(id, &mut self.course.routes.iter().map(|route| route.id.as_str()));
                Some((Page::Route { id: found.unwrap_or_else(|| "full".to_owned()) }, id.clone()))
            }
            Page::Task { id } if self.course.task(id).is_none() => {
                let found = near(id, &mut self.course.tasks.iter().map(|task| task.id.as_str()));
                Some((found.map_or(Page::Route { id: "full".to_owned() }, |id| Page::Task { id }), id.clone()))
            }
            Page::Evidence { route: Some(id) } if self.course.route(id).is_none() => {
                Some((Page::Evidence { route: None }, id.clone()))
            }
            Page::Help { symptom: Some(id), answers } => self.corrected_help(id, answers),
            _ => None,
        }
    }

    fn corrected_help(&self, symptom: &str, answers: &[String]) -> Option<(Page, String)> {
        match self.handbook.walk(symptom, answers) {
            None => Some((Page::Help { symptom: None, answers: Vec::new() }, symptom.to_owned())),
            Some(walk) => walk.unknown.clone().map(|unknown| {
                let answers = walk.taken.iter().map(|(_, answer)| answer.id.clone()).collect();
                (Page::Help { symptom: Some(symptom.to_owned()), answers }, unknown)
            }),
        }
    }
}
