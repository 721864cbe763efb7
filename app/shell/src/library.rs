//! What there is to learn and to run: chapters built in and from packs, kernels and experiments, recorded traces.

use crate::experiments::Recorded;
use crate::notebook::{Entry, Row as NotebookRow};
use crate::route::Route;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_content::Content;
use vramlab_gpu::RunError;
use vramlab_gpu::manifest::{Experiment, Kernel};
use vramlab_gpu::plan::{self, Mode, PlanError};
use vramlab_gpu::protocol::Job;
use vramlab_gpu::read::Library as Kernels;
use vramlab_gpu::verdict;
use vramlab_lesson::{Chapter, Limits, Pack, Parsed, Problem, check_pack};
use vramlab_trace::{DeviceFacts, Run};
use vramlab_units::{Lang, Localized, Map, Text};

/// A line of the curriculum.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: String,
    pub number: String,
    pub title: Localized,
    pub layer: String,
    pub n_steps: usize,
    /// Planned chapters are listed, muted.
    pub is_written: bool,
}

/// A chapter with what the parser and the checker said about it.
struct Shelved {
    chapter: Rc<Chapter>,
    problems: Vec<Problem>,
    is_built_in: bool,
}

pub struct Library {
    chapters: BTreeMap<String, Shelved>,
    /// Paths of the texts of the program's chapters that are yet to be fetched, by id.
    awaited: BTreeMap<String, &'static str>,
    outline: Vec<Row>,
    kernels: Rc<Kernels>,
    /// Trace files of the program by experiment id.
    traces: BTreeMap<String, Vec<String>>,
}

/// What came of a file the reader brought.
#[derive(Debug, Default)]
pub struct Opened {
    pub notes: Vec<String>,
    pub traces: Vec<(String, Recorded)>,
    pub go: Option<Route>,
}

impl Library {
    /// Everything that comes with the program.
    pub fn built_in() -> Self {
        let (chapters, awaited) = (BTreeMap::new(), BTreeMap::new());
        let mut this = Self { chapters, awaited, outline: outline(), kernels: kernels(), traces: trace_index() };
        for path in vramlab_content::list("lessons/") {
            let id = path.strip_prefix("lessons/").and_then(|rest| rest.strip_suffix("/chapter.toml"));
            match id.and_then(|id| Some((id, vramlab_content::get(path)?))) {
                Some((id, Content::Here(bytes))) => this.shelve(vramlab_lesson::parse(id, path, bytes), id, true),
                Some((id, Content::Fetch)) => drop(this.awaited.insert(id.to_owned(), path)),
                None => {}
            }
        }
        this
    }

    /// Reads the kernels again, when more of them are here.
    pub fn read_kernels(&mut self) {
        self.kernels = kernels();
    }

    /// The path of a chapter's text that is yet to be fetched.
    pub fn awaited(&self, id: &str) -> Option<&'static str> {
        self.awaited.get(id).copied()
    }

    /// Every chapter whose text is yet to be fetched, with its path.
    pub fn all_awaited(&self) -> Vec<(String, &'static str)> {
        self.awaited.iter().map(|(id, path)| (id.clone(), *path)).collect()
    }

    /// The text of a chapter of the program has come.
    pub fn take_text(&mut self, id: &str, bytes: &[u8]) {
        if let Some(path) = self.awaited.remove(id) {
            self.shelve(vramlab_lesson::parse(id, path, bytes), id, true);
        }
    }

    /// Puts a chapter on the shelf. One that cannot be shown, or that is empty or breaks off, as when an editor has
    /// written half a file, leaves the last good version, its problems beside it.
    fn shelve(&mut self, parsed: Parsed, id: &str, is_built_in: bool) {
        let problems = if is_built_in { Vec::new() } else { parsed.problems };
        let is_known = self.chapters.contains_key(id);
        let breaks_off = problems.iter().any(|problem| problem.rule == "syntax");
        match parsed.chapter.filter(|chapter| !is_known || !(breaks_off || chapter.steps.is_empty())) {
            Some(chapter) => {
                self.chapters.insert(id.to_owned(), Shelved { chapter: Rc::new(chapter), problems, is_built_in });
            }
            None => {
                if let Some(shelved) = self.chapters.get_mut(id) {
                    shelved.problems = problems;
                }
            }
        }
    }

    pub fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.chapters.values().map(|shelved| shelved.chapter.as_ref())
    }

    pub fn chapter_ids(&self) -> Vec<&str> {
        self.chapters.keys().map(String::as_str).collect()
    }

    pub fn chapter(&self, id: &str) -> Option<Rc<Chapter>> {
        self.chapters.get(id).map(|shelved| Rc::clone(&shelved.chapter))
    }

    pub fn problems(&self, id: &str) -> Vec<Problem> {
        self.chapters.get(id).map(|shelved| shelved.problems.clone()).unwrap_or_default()
    }

    pub fn has_step(&self, chapter: &str, step: &str) -> bool {
        self.chapters.get(chapter).is_some_and(|shelved| shelved.chapter.steps.iter().any(|s| s.id == step))
    }

    /// `id` itself, else the written chapter whose id is most like it, else the first.
    pub fn nearest_chapter(&self, id: &str) -> Option<String> {
        if self.chapters.contains_key(id) || self.awaited.contains_key(id) {
            return Some(id.to_owned());
        }
        let known = self.chapters.keys().chain(self.awaited.keys());
        let like = vramlab_units::field::did_you_mean(id, known.map(String::as_str));
        like.map(str::to_owned).or_else(|| self.chapters.keys().next().cloned())
    }

    /// The curriculum, narrowed to what matches `query` in either language; packs come last.
    pub fn search(&self, query: &str) -> Vec<Row> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let packs =
            self.chapters.values().filter(|shelved| !shelved.is_built_in).map(|shelved| row_of(&shelved.chapter));
        let known = self.outline.iter().map(|row| match self.chapters.get(&row.id) {
            Some(shelved) if shelved.is_built_in => Row { layer: row.layer.clone(), ..row_of(&shelved.chapter) },
            _ => self.planned(row),
        });
        known
            .chain(packs.map(|row| Row { layer: "pack".to_owned(), ..row }))
            .filter(|row| matches(row, &words))
            .collect()
    }

    /// The line of one chapter, written or planned.
    pub fn row(&self, id: &str) -> Option<Row> {
        match self.chapters.get(id) {
            Some(shelved) => Some(row_of(&shelved.chapter)),
            None => self.outline.iter().find(|row| row.id == id).map(|row| self.planned(row)),
        }
    }

    /// The line of a chapter that is not on the shelf: planned, or written and yet to be fetched.
    fn planned(&self, row: &Row) -> Row {
        Row { is_written: self.awaited.contains_key(&row.id), ..row.clone() }
    }

    pub fn kernels(&self) -> &Rc<Kernels> {
        &self.kernels
    }

    pub fn experiment(&self, id: &str) -> Option<(&Experiment, &Kernel)> {
        self.kernels.get(id)
    }

    pub fn experiment_title<'a>(&'a self, id: &'a str, lang: Lang) -> &'a str {
        self.experiment(id).map_or(id, |(experiment, _)| experiment.title.get(lang))
    }

    /// What a lens of an experiment shows, in words; nothing for its measure.
    pub fn lens_title(&self, experiment: &str, lens: &str, lang: Lang) -> Option<String> {
        let (experiment, _) = self.experiment(experiment)?;
        experiment.lens(lens).map(|lens| lens.shows.title.get(lang).to_owned())
    }

    /// The first step of the course that shows an experiment.
    pub fn first_experiment(&self) -> Option<Route> {
        self.chapters().find_map(|chapter| {
            let is_experiment =
                |step: &&vramlab_lesson::Step| matches!(step.body, vramlab_lesson::StepBody::Experiment(_));
            Some(Route::step(&chapter.id, &chapter.steps.iter().find(is_experiment)?.id))
        })
    }

    pub fn content_hash(&self, id: &str) -> String {
        self.kernels.content_hash(id).unwrap_or_default()
    }

    /// Trace files that the program brings for an experiment.
    pub fn trace_paths(&self, experiment: &str) -> Vec<String> {
        self.traces.get(experiment).cloned().unwrap_or_default()
    }

    /// A recorded run out of a trace file's bytes.
    pub fn recorded(&self, path: &str, bytes: &[u8]) -> Result<Recorded, String> {
        let read = vramlab_trace::file::read(bytes).map_err(|error| error.to_string())?;
        let is_stale = read.run.content_hash != self.content_hash(&read.run.experiment);
        let damage = read.problems.iter().map(ToString::to_string).collect();
        Ok(Recorded { path: path.to_owned(), run: read.run, damage, is_stale })
    }

    /// A job for the device at hand.
    pub fn job(&self, id: &str, facts: &DeviceFacts, mode: Mode) -> Result<Job, RunError> {
        self.job_with(id, facts, mode, plan::default_budget(facts), &Map::new())
    }

    pub fn job_with(
        &self,
        id: &str,
        facts: &DeviceFacts,
        mode: Mode,
        budget_bytes: u64,
        settings: &Map,
    ) -> Result<Job, RunError> {
        let Some((experiment, kernel)) = self.experiment(id) else {
            return Err(RunError::Content { what: format!("no experiment is called \"{id}\"") });
        };
        let plan =
            plan::plan(experiment, kernel, facts, mode, budget_bytes, settings).map_err(|error| match error {
                PlanError::Unfit { why } => {
                    RunError::Content { what: why.get(Lang::Zh).to_owned() + " / " + why.get(Lang::En) }
                }
                other => RunError::Content { what: other.to_string() },
            })?;
        Ok(Job {
            id: 0,
            kernel: kernel.clone(),
            sources: self.kernels.sources(&kernel.slug).cloned().unwrap_or_default(),
            plan,
            counters: experiment.counters.iter().map(|counter| counter.metric.clone()).collect(),
            seed: SEED,
            inspect: None,
        })
    }

    /// A finished run as it is kept: its verdict in words, its numbers beside the predictions.
    pub fn notebook_entry(&self, id: &str, run: Run, lang: Lang) -> Entry {
        let (words, rows) = match self.experiment(id) {
            Some((experiment, kernel)) => {
                let judged = verdict::judge(&run, experiment, kernel);
                let rows = judged
                    .points
                    .iter()
                    .map(|point| NotebookRow {
                        series: point.series.clone(),
                        x: point.x,
                        predicted: point.predicted,
                        measured: point.value,
                        unit: experiment.measure.unit.clone(),
                        invalid: point.invalid.as_ref().map(|invalid| format!("{invalid:?}")),
                    })
                    .collect();
                (crate::page::verdict_words::verdict_words(&judged, experiment, lang).1, rows)
            }
            None => (String::new(), Vec::new()),
        };
        Entry { n: 0, hypothesis: String::new(), edit: 0, run, verdict: words, rows }
    }

    /// A file from the reader, recognised by its content.
    pub fn open_bytes(&mut self, name: &str, bytes: &[u8], lang: Lang) -> Result<Opened, String> {
        let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if vramlab_trace::file::is_trace(bytes) {
            let recorded = self.recorded(file_name, bytes)?;
            let experiment = recorded.run.experiment.clone();
            if self.experiment(&experiment).is_none() {
                return Err(NO_EXPERIMENT.get(lang).replace("{}", &experiment));
            }
            let go = self.step_of(&experiment).map(|(chapter, step)| {
                let mut route = Route::step(&chapter, &step);
                route.params.insert(crate::page::runs::RUN.to_owned(), experiment.as_str().into());
                route
            });
            return Ok(Opened { notes: recorded.damage.clone(), traces: vec![(experiment, recorded)], go });
        }
        if bytes.starts_with(b"PK\x03\x04") {
            let pack = Pack::from_zip(file_name, bytes, Limits::default()).map_err(|error| error.to_string())?;
            return self.open_pack(&pack);
        }
        if file_name.ends_with(".toml") || std::str::from_utf8(bytes).is_ok_and(|text| text.contains("schema =")) {
            let files = vec![(file_name.to_owned(), bytes.to_vec())];
            let pack = Pack::from_files(file_name, files, Limits::default()).map_err(|error| error.to_string())?;
            return self.open_pack(&pack);
        }
        Err(UNKNOWN_FILE.get(lang).to_owned())
    }

    /// Chapters of a pack join the curriculum; one that cannot be read leaves the others alone. A pack without a
    /// readable chapter is refused with all its problems.
    pub fn open_pack(&mut self, pack: &Pack) -> Result<Opened, String> {
        let mut problems = check_pack(pack, self);
        let mut opened = Opened::default();
        for chapter in &pack.chapters {
            let (own, rest) = problems.into_iter().partition(|problem| problem.place.file == chapter.file);
            problems = rest;
            let parsed = Parsed { problems: own, ..chapter.parsed.clone() };
            if parsed.chapter.is_some() {
                opened.go.get_or_insert_with(|| Route::chapter(&chapter.id));
            } else {
                opened.notes.extend(parsed.problems.iter().map(vramlab_lesson::render));
            }
            self.shelve(parsed, &chapter.id, false);
        }
        opened.notes.extend(problems.iter().map(vramlab_lesson::render));
        if opened.go.is_none() { Err(opened.notes.join("\n")) } else { Ok(opened) }
    }

    /// A lesson folder on disk, again after every change. Answers with notes and the first chapter.
    pub fn open_folder(&mut self, root: &str, files: Vec<(String, Vec<u8>)>) -> Result<Opened, String> {
        let name = root.rsplit(['/', '\\']).next().unwrap_or(root);
        let pack = Pack::from_files(name, files, Limits::default()).map_err(|error| error.to_string())?;
        self.open_pack(&pack)
    }

    /// The first step that shows an experiment.
    pub fn step_of(&self, experiment: &str) -> Option<(String, String)> {
        self.chapters().find_map(|chapter| {
            let step = chapter.steps.iter().find(|step| match &step.body {
                vramlab_lesson::StepBody::Experiment(body) => body.all().any(|run| run.run == experiment),
                _ => false,
            })?;
            Some((chapter.id.clone(), step.id.clone()))
        })
    }
}

/// Inputs are random but the same in every run, so that a wrong result can be found again.
const SEED: u64 = 0x5EED_0001;

const NO_EXPERIMENT: Text = Text::new(
    "这份录制属于实验“{}”，这个版本里没有它",
    "this trace is of experiment \"{}\", which this version does not have",
);
const UNKNOWN_FILE: Text = Text::new(
    "认不出这个文件。能打开的有：录制（.vltrace）、课程包（.zip 或文件夹）、单章（.toml）",
    "this file is not recognised; traces (.vltrace), lesson packs (.zip or a folder) and single chapters (.toml) open",
);

fn row_of(chapter: &Chapter) -> Row {
    Row {
        id: chapter.id.clone(),
        number: chapter.number.map(|n| format!("{n:02}")).unwrap_or_default(),
        title: chapter.title.clone(),
        layer: chapter.layer.clone(),
        n_steps: chapter.steps.len(),
        is_written: true,
    }
}

fn matches(row: &Row, words: &[String]) -> bool {
    let text = format!(
        "{} {} {}",
        row.id,
        row.title.zh.as_deref().unwrap_or_default(),
        row.title.en.as_deref().unwrap_or_default()
    )
    .to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// The kernels that the program has.
fn kernels() -> Rc<Kernels> {
    let texts = |path| Some((path, vramlab_content::text(path)?));
    Rc::new(Kernels::from_files(vramlab_content::list("kernels/").filter_map(texts)))
}

/// The outline of the whole course out of `lessons/curriculum.toml`.
fn outline() -> Vec<Row> {
    #[derive(serde::Deserialize)]
    struct Outline {
        chapter: Vec<Planned>,
    }
    #[derive(serde::Deserialize)]
    struct Planned {
        id: String,
        title: Localized,
        layer: String,
    }
    let text = vramlab_content::text("lessons/curriculum.toml").unwrap_or_default();
    let outline: Outline = toml::from_str(text).unwrap_or(Outline { chapter: Vec::new() });
    let number = |id: &str| id.split('_').next().unwrap_or_default().to_owned();
    outline
        .chapter
        .into_iter()
        .map(|planned| Row {
            number: number(&planned.id),
            id: planned.id,
            title: planned.title,
            layer: planned.layer,
            n_steps: 0,
            is_written: false,
        })
        .collect()
}

/// `assets/traces/DEVICE/SLUG.NAME.vltrace` by experiment id.
fn trace_index() -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in vramlab_content::list("assets/traces/") {
        let Some(stem) = path.rsplit('/').next().and_then(|name| name.strip_suffix(".vltrace")) else { continue };
        if let Some((slug, name)) = stem.split_once('.') {
            out.entry(format!("{slug}/{name}")).or_default().push(path.to_owned());
        }
    }
    out
}
