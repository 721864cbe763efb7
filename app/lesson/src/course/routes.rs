//! Entrances, routes and tasks: `lessons/routes.toml`.

use super::{Known, Linker, ReadCourse, fields, id, join, listed, read};
use crate::read::{text, texts};
use crate::tree::Table;
use vramlab_units::Localized;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    pub entrances: Vec<Entrance>,
    pub routes: Vec<Route>,
    pub tasks: Vec<Task>,
}

/// One of the ways into the course: a place to open, or links for whoever needs one thing only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entrance {
    pub id: String,
    pub title: Localized,
    pub text: Localized,
    /// A place as the address bar writes it; empty if the entrance is its links.
    pub opens: String,
    pub links: Vec<Link>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    pub title: Localized,
    pub text: Localized,
    pub chapter: String,
}

/// A way through the chapters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    pub id: String,
    pub title: Localized,
    /// Whom it is for.
    pub text: Localized,
    pub stops: Chapters,
}

/// What a route leads through.
#[derive(Clone, Debug, PartialEq)]
pub enum Chapters {
    Plain(Vec<String>),
    /// Ids of tasks, whose chapters it takes in order.
    Tasks(Vec<String>),
}

impl Default for Chapters {
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

/// A piece of work that ends with something to show: mechanism, strategy, exit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    pub id: String,
    pub title: Localized,
    pub asks: Localized,
    pub mechanism: Localized,
    pub strategy: Localized,
    pub exit: Localized,
    /// Chapters in order, each with the part of it that counts here.
    pub chapters: Vec<(String, Localized)>,
    pub evidence: Vec<Evidence>,
}

/// Who can confirm a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    /// Lifetimes, shapes, dtypes, the ledger, the logic of a schedule, the error of a format.
    #[default]
    Cpu,
    /// Real peaks, reserved bytes, bandwidth, limits, times.
    Gpu,
}

/// A row of the evidence table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub id: String,
    pub needs: Needs,
    pub claim: Localized,
    pub chapter: String,
    /// Experiments any of whose runs confirms it.
    pub runs: Vec<String>,
    /// `CHAPTER/STEP`, all of which must be answered rightly.
    pub checks: Vec<String>,
}

impl Course {
    pub fn read(file: &str, source: &str, known: &Known) -> ReadCourse<Self> {
        read(file, source, fields::ROUTES, course, known)
    }

    pub fn route(&self, id: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.id == id)
    }

    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The tasks of a route; none for a plain one.
    pub fn tasks_of<'a>(&'a self, route: &'a Route) -> Vec<&'a Task> {
        match &route.stops {
            Chapters::Tasks(tasks) => tasks.iter().filter_map(|id| self.task(id)).collect(),
            Chapters::Plain(_) => Vec::new(),
        }
    }

    /// The chapters of a route in order, each once.
    pub fn chapters_of<'a>(&'a self, route: &'a Route) -> Vec<&'a str> {
        let all: Vec<&str> = match &route.stops {
            Chapters::Plain(chapters) => return chapters.iter().map(String::as_str).collect(),
            Chapters::Tasks(tasks) => {
                let tasks = tasks.iter().filter_map(|id| self.task(id));
                tasks.flat_map(|task| task.chapters.iter().map(|(id, _)| id.as_str())).collect()
            }
        };
        let mut once = Vec::new();
        for id in all {
            if !once.contains(&id) {
                once.push(id);
            }
        }
        once
    }

    /// The routes a task stands in.
    pub fn routes_with<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Route> {
        self.routes
            .iter()
            .filter(move |route| matches!(&route.stops, Chapters::Tasks(ids) if ids.iter().any(|id| id == task)))
    }
}

fn course(linker: &mut Linker<'_, '_>, table: &Table) -> Course {
    let tasks = listed(table, "task", "").into_iter().map(|(table, path)| task(linker, table, &path)).collect();
    let mut course = Course { tasks, ..Course::default() };
    for (table, path) in listed(table, "route", "") {
        let route = route(linker, table, &path, &course);
        course.routes.push(route);
    }
    for (table, path) in listed(table, "entrance", "") {
        let entrance = entrance(linker, table, &path);
        course.entrances.push(entrance);
    }
    for list in ["task", "route", "entrance"] {
        let ids: Vec<(String, String)> =
            listed(table, list, "").iter().map(|(table, path)| (id(table), join(path, "id"))).collect();
        linker.unique(&ids);
    }
    course
}

fn entrance(linker: &mut Linker<'_, '_>, table: &Table, path: &str) -> Entrance {
    let links = listed(table, "link", path).into_iter().map(|(table, path)| {
        let chapter = text(table, "chapter").unwrap_or_default();
        linker.chapter(&chapter, &join(&path, "chapter"));
        Link { title: linker.reader.localized(table, "title"), text: linker.reader.localized(table, "text"), chapter }
    });
    let links: Vec<Link> = links.collect();
    let opens = text(table, "opens").unwrap_or_default();
    if opens.is_empty() == links.is_empty() {
        let span = linker.span(&join(path, "id"));
        let what = "an entrance opens one place or has links".to_owned();
        linker.reader.note("entrance", &span, what, Some("write opens = \"/…\", or [[entrance.link]]".to_owned()));
    }
    let reader = &linker.reader;
    Entrance {
        id: id(table),
        title: reader.localized(table, "title"),
        text: reader.localized(table, "text"),
        opens,
        links,
    }
}

fn route(linker: &mut Linker<'_, '_>, table: &Table, path: &str, course: &Course) -> Route {
    let (chapters, _) = linker.links(table, path);
    let tasks = texts(table, "tasks");
    for (idx, task) in tasks.iter().enumerate() {
        if course.task(task).is_none() {
            let known: Vec<&str> = course.tasks.iter().map(|task| task.id.as_str()).collect();
            linker.nothing("no task", task, &format!("{path}.tasks[{idx}]"), &known);
        }
    }
    if chapters.is_empty() == tasks.is_empty() {
        let span = linker.span(&join(path, "id"));
        linker.reader.note("route", &span, "a route has chapters or tasks".to_owned(), None);
    }
    let stops = if tasks.is_empty() { Chapters::Plain(chapters) } else { Chapters::Tasks(tasks) };
    let reader = &linker.reader;
    Route { id: id(table), title: reader.localized(table, "title"), text: reader.localized(table, "text"), stops }
}

fn task(linker: &mut Linker<'_, '_>, table: &Table, path: &str) -> Task {
    let mut chapters = Vec::new();
    for (table, path) in listed(table, "chapter", path) {
        let id = id(table);
        linker.chapter(&id, &join(&path, "id"));
        chapters.push((id, linker.reader.localized(table, "part")));
    }
    let evidence: Vec<Evidence> =
        listed(table, "evidence", path).into_iter().map(|(table, path)| evidence(linker, table, &path)).collect();
    let ids: Vec<(String, String)> =
        listed(table, "evidence", path).iter().map(|(table, path)| (id(table), join(path, "id"))).collect();
    linker.unique(&ids);
    let reader = &linker.reader;
    Task {
        id: id(table),
        title: reader.localized(table, "title"),
        asks: reader.localized(table, "asks"),
        mechanism: reader.localized(table, "mechanism"),
        strategy: reader.localized(table, "strategy"),
        exit: reader.localized(table, "exit"),
        chapters,
        evidence,
    }
}

fn evidence(linker: &mut Linker<'_, '_>, table: &Table, path: &str) -> Evidence {
    let chapter = text(table, "chapter").unwrap_or_default();
    linker.chapter(&chapter, &join(path, "chapter"));
    let (_, runs) = linker.links(table, path);
    let checks = texts(table, "checks");
    for (idx, check) in checks.iter().enumerate() {
        linker.step(check, &format!("{path}.checks[{idx}]"));
    }
    let needs = if text(table, "needs").is_some_and(|needs| needs == "gpu") { Needs::Gpu } else { Needs::Cpu };
    Evidence { id: id(table), needs, claim: linker.reader.localized(table, "claim"), chapter, runs, checks }
}
