//! Predictions that are drawn: the step that reveals them shows an experiment, and that experiment has the series.

use super::Checker;
use crate::chapter::{Sketch, StepBody};

/// A curve through fewer places is a number or a choice.
const LEAST_PLACES: usize = 3;

impl Checker<'_> {
    pub(super) fn sketches(&mut self) {
        let chapter = self.chapter;
        for (idx, step) in chapter.steps.iter().enumerate() {
            let StepBody::Predict(predict) = &step.body else { continue };
            let crate::Form::Sketch(sketch) = &predict.question.form else { continue };
            let path = format!("step[{idx}]");
            let by = chapter.steps.iter().find(|step| Some(&step.id) == predict.revealed_by.as_ref());
            match by.map(|step| &step.body) {
                Some(StepBody::Experiment(card)) => {
                    let runs: Vec<&str> = card.all().map(|run| run.run.as_str()).collect();
                    self.sketch(sketch, &runs, &path);
                }
                // A broken step has its own finding, a missing one too.
                Some(StepBody::Broken { .. }) | None => {}
                Some(_) => {
                    let what = "a curve is revealed by an experiment, which gives it its axes".to_owned();
                    let help = "name a step of kind \"experiment\"".to_owned();
                    self.error("wrong-form", &format!("{path}.revealed_by"), what, Some(help));
                }
            }
        }
    }

    fn sketch(&mut self, sketch: &Sketch, runs: &[&str], path: &str) {
        let run = match &sketch.run {
            Some(run) if !runs.contains(&run.as_str()) => {
                return self.unknown("unknown-experiment", &format!("{path}.run"), "run of that card", run, runs);
            }
            Some(run) => run.as_str(),
            None => runs.first().copied().unwrap_or_default(),
        };
        // An experiment that does not exist is found where it is shown.
        let Some(shape) = self.registry.shape_of(run) else { return };
        if let Some(series) = &sketch.series
            && !shape.series.contains(series)
        {
            let known: Vec<&str> = shape.series.iter().map(String::as_str).collect();
            self.unknown("unknown-series", &format!("{path}.series"), "series", series, &known);
        }
        if shape.is_log && sketch.min <= 0.0 {
            let what = format!("min = {} has no place on the logarithmic axis of {run}", sketch.min);
            self.error("out-of-range", &format!("{path}.min"), what, Some("it must be more than 0".to_owned()));
        }
        if shape.n_places < LEAST_PLACES {
            let what = format!("{run} has {} places: too few for a curve", shape.n_places);
            let help = "ask for a number or a choice".to_owned();
            self.error("wrong-form", &format!("{path}.form"), what, Some(help));
        }
    }
}
