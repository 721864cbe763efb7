//! One kept run as a report shows it: hypothesis, floor, configuration, samples, verdict, level of evidence. Everything
//! is computed anew from the run's samples; what only the notebook knows (the words of a run whose experiment is gone)
//! is taken from there.

use crate::library::Library;
use crate::notebook::{Entry, Notebook};
use crate::page::chart::invalid_words;
use crate::page::verdict_words::verdict_words;
use vramlab_gpu::verdict::{self, Evidence, comparable, floor_ns};
use vramlab_kit::tokens::Verdict as Tone;
use vramlab_trace::Run;
use vramlab_units::{Lang, Localized, Map, Value};

/// A run on paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub n: u64,
    pub title: String,
    pub hypothesis: String,
    /// The verdict in words, in the reader's language.
    pub verdict: String,
    pub tone: Tone,
    /// Nothing if the experiment is not part of this program.
    pub evidence: Option<Evidence>,
    pub unit: String,
    pub lines: Vec<Line>,
    /// What stayed the same over the run: sizes, shapes, types.
    pub workload: Vec<(String, String)>,
}

/// One measured point.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub series: String,
    pub x: Option<f64>,
    pub predicted: Option<f64>,
    pub measured: Option<f64>,
    /// The ends of the 95 % interval of the median.
    pub interval: Option<[f64; 2]>,
    pub n_samples: usize,
    pub median_ns: Option<f64>,
    pub mad_ns: Option<f64>,
    /// The least time that the model allows.
    pub floor_ns: Option<f64>,
    pub invalid: Option<Localized>,
}

impl Line {
    /// (measured − predicted) / predicted.
    pub fn error(&self) -> Option<f64> {
        let predicted = self.predicted.filter(|predicted| *predicted != 0.0)?;
        Some((self.measured? - predicted) / predicted)
    }

    /// How close the point came to its floor: 1 is as fast as the memory allows.
    pub fn share_of_floor(&self) -> Option<f64> {
        Some(self.floor_ns? / self.median_ns.filter(|ns| *ns > 0.0)?)
    }
}

impl Sheet {
    pub fn of(entry: &Entry, notebook: &Notebook, library: &Library, lang: Lang) -> Self {
        let run = &entry.run;
        let title = library.experiment_title(&run.experiment, lang).to_owned();
        let mut this = Self {
            n: entry.n,
            title,
            hypothesis: entry.hypothesis.clone(),
            verdict: entry.verdict.clone(),
            tone: Tone::Neutral,
            evidence: None,
            unit: entry.rows.first().map(|row| row.unit.clone()).unwrap_or_default(),
            lines: Vec::new(),
            workload: workload(run),
        };
        match library.experiment(&run.experiment) {
            Some(found) => this.judge(run, found, notebook, lang),
            None => this.lines = kept_lines(entry),
        }
        this
    }

    fn judge(
        &mut self,
        run: &Run,
        (experiment, kernel): (&vramlab_gpu::manifest::Experiment, &vramlab_gpu::manifest::Kernel),
        notebook: &Notebook,
        lang: Lang,
    ) {
        let judged = verdict::judge(run, experiment, kernel);
        let repeats = notebook.entries.iter().filter(|other| other.n != self.n && comparable(run, &other.run).is_ok());
        self.evidence = Some(verdict::level(run, &judged, repeats.count()));
        (self.tone, self.verdict) = verdict_words(&judged, experiment, lang);
        self.unit.clone_from(&experiment.measure.unit);
        let intervals = verdict::intervals(run, experiment, kernel);
        let line = |((point, raw), interval): ((&verdict::JudgedPoint, &vramlab_trace::Point), _)| Line {
            series: point.series.clone(),
            x: point.x,
            predicted: point.predicted,
            measured: point.value,
            interval: Option::map(interval, |found: vramlab_model::samples::Interval| [found.low, found.high]),
            n_samples: raw.samples_ns.len(),
            median_ns: raw.median_ns(),
            mad_ns: raw.mad_ns(),
            floor_ns: floor_ns(point, kernel),
            invalid: point.invalid.as_ref().map(|why| invalid_words(why, &experiment.measure.unit)),
        };
        self.lines = judged.points.iter().zip(&run.points).zip(intervals).map(line).collect();
    }
}

/// The numbers that were kept with a run whose experiment this program does not have.
fn kept_lines(entry: &Entry) -> Vec<Line> {
    let line = |(row, raw): (&crate::notebook::Row, &vramlab_trace::Point)| Line {
        series: row.series.clone(),
        x: row.x,
        predicted: row.predicted,
        measured: row.measured,
        interval: None,
        n_samples: raw.samples_ns.len(),
        median_ns: raw.median_ns(),
        mad_ns: raw.mad_ns(),
        floor_ns: None,
        invalid: row.invalid.as_ref().map(|why| Localized::both(why.clone(), why.clone())),
    };
    entry.rows.iter().zip(&entry.run.points).map(line).collect()
}

/// Settings, and parameters that are the same at every point of the run.
fn workload(run: &Run) -> Vec<(String, String)> {
    let mut fixed: Map = run.points.first().map(|point| point.params.clone()).unwrap_or_default();
    for point in &run.points {
        fixed.retain(|key, value| point.params.get(key) == Some(value));
    }
    fixed.extend(run.settings.clone());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fixed.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}
