//! Predictions of a number and the step that reveals it: whether the guess can be held against what that step shows.

use super::Checker;
use super::asks::units_meet;
use crate::chapter::{Form, Predict, StepBody};
use crate::figure::{Drawing, Figure, SheetRows};

impl Checker<'_> {
    pub(super) fn reveals(&mut self) {
        let chapter = self.chapter;
        for (idx, step) in chapter.steps.iter().enumerate() {
            let StepBody::Predict(predict) = &step.body else { continue };
            let by = chapter.steps.iter().find(|step| Some(&step.id) == predict.revealed_by.as_ref());
            let path = format!("step[{idx}]");
            match by.map(|step| (&step.body, step.id.as_str())) {
                Some((StepBody::Figure(figure), by)) => self.by_figure(predict, (figure, by), &path),
                Some((StepBody::Experiment(_) | StepBody::Broken { .. }, _)) => {}
                Some((_, by)) => self.place(predict, by, &path),
                None if predict.revealed_by.is_none() && predict.at_x.is_some() => {
                    let help = "name the step in `revealed_by`, or delete `at`".to_owned();
                    self.warn("unused-field", &format!("{path}.at"), "no step draws this guess".to_owned(), Some(help));
                }
                None => {}
            }
        }
    }

    fn by_figure(&mut self, predict: &Predict, (figure, by): (&Figure, &str), path: &str) {
        self.place(predict, by, path);
        let Form::Number { unit, .. } = &predict.question.form else { return };
        let shown = shown_units(figure);
        if !shown.iter().any(|shown| units_meet(unit, shown) || (unit == "1" && shown == "%")) {
            let what =
                format!("the guess is in {unit}; the figure \"{by}\" that reveals it shows {}", shown.join(", "));
            let help = "ask in a unit that the figure shows, or give the figure a value in this one".to_owned();
            self.warn("wrong-unit", &format!("{path}.unit"), what, Some(help));
        }
    }

    /// Only the chart of an experiment draws a guess on its x axis.
    fn place(&mut self, predict: &Predict, by: &str, path: &str) {
        if predict.at_x.is_some() {
            let what = format!("\"{by}\" does not draw a guess: only the chart of an experiment has a place for `at`");
            let help = "delete `at`, or reveal the guess by an experiment".to_owned();
            self.warn("unused-field", &format!("{path}.at"), what, Some(help));
        }
    }
}

/// The units of everything that a figure shows, once each: what is drawn, the key numbers, the values of captions.
fn shown_units(figure: &Figure) -> Vec<String> {
    let mut out: Vec<String> = match &figure.drawing {
        Drawing::Line(lines) => lines.series.iter().map(|series| series.value.unit.clone()).collect(),
        Drawing::Bar(bars) => bars.bars.iter().flat_map(|bar| &bar.parts).map(|part| part.value.unit.clone()).collect(),
        Drawing::Bytes(grid) => grid.parts.iter().map(|part| part.value.unit.clone()).collect(),
        Drawing::Gantt(gantt) => vec![gantt.unit.clone()],
        Drawing::Graph(graph) => {
            let values = graph.nodes.iter().map(|node| &node.value).chain(graph.edges.iter().map(|edge| &edge.value));
            values.flatten().map(|value| value.unit.clone()).collect()
        }
        Drawing::Table(sheet) => {
            let swept = match &sheet.rows {
                SheetRows::Sweep { slider, .. } => figure.sliders.get(*slider).map(|slider| slider.unit.clone()),
                SheetRows::Written(_) => None,
            };
            sheet.columns.iter().map(|column| column.unit.clone()).chain(swept).collect()
        }
    };
    let named = super::figures::named_in_words(figure);
    out.extend(figure.values.iter().filter(|value| named.contains(&value.name)).map(|value| value.unit.clone()));
    out.extend(figure.sliders.iter().map(|slider| slider.unit.clone()));
    let mut seen = std::collections::BTreeSet::new();
    out.retain(|unit| seen.insert(unit.clone()));
    out
}
