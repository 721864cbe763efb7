//! What exists, for the lesson checker: the program's own registries behind `vramlab_lesson::Registry`.

use crate::library::Library;
use vramlab_lesson::{Registry, Shape};
use vramlab_units::{FieldError, Map};

impl Registry for Library {
    fn visualizers(&self) -> Vec<&str> {
        vramlab_views::VISUALIZERS.iter().map(|entry| entry.id).collect()
    }

    fn models(&self) -> Vec<&str> {
        vramlab_model::MODELS.iter().map(|entry| entry.id).collect()
    }

    fn experiments(&self) -> Vec<&str> {
        self.kernels().experiments.keys().map(String::as_str).collect()
    }

    fn check_visualizer(&self, id: &str, params: &Map) -> Result<(), FieldError> {
        match vramlab_views::view::find(id) {
            Some(entry) => entry.open(params).map(|_| ()),
            None => Ok(()),
        }
    }

    fn check_experiment(&self, id: &str, set: &Map) -> Result<(), FieldError> {
        match self.experiment(id) {
            Some((experiment, kernel)) => vramlab_gpu::plan::check_settings(experiment, kernel, set),
            None => Ok(()),
        }
    }

    fn has_effect(&self, id: &str) -> bool {
        self.experiment(id).is_some_and(|(experiment, _)| experiment.effect.at_least > 1.0)
    }

    fn shape_of(&self, id: &str) -> Option<Shape> {
        let (experiment, _) = self.experiment(id)?;
        Some(Shape {
            series: experiment.series.iter().map(|series| series.id.clone()).collect(),
            n_places: experiment.sweep.values.len(),
            is_log: experiment.measure.scale.starts_with("log"),
        })
    }

    fn eval(&self, model: &str, set: &Map) -> Result<Map, FieldError> {
        vramlab_model::eval(model, set)
    }

    fn answer_unit(&self, model: &str, field: &str) -> Option<String> {
        let entry = vramlab_model::find(model)?;
        (entry.answer)().into_iter().find(|spec| spec.key == field).map(|spec| spec.unit.into_owned())
    }

    fn question_unit(&self, model: &str, field: &str) -> Option<String> {
        let entry = vramlab_model::find(model)?;
        (entry.question)().into_iter().find(|spec| spec.key == field).map(|spec| spec.unit.into_owned())
    }

    fn has_glyph(&self, c: char) -> bool {
        vramlab_kit::fonts::has_glyph(c)
    }

    fn has_file(&self, chapter: &str, path: &str) -> bool {
        vramlab_content::get(&format!("lessons/{chapter}/{path}")).is_some()
    }

    fn chapters(&self) -> Vec<&str> {
        self.chapter_ids()
    }

    fn kernels(&self) -> Vec<&str> {
        Self::kernels(self)
            .kernels
            .iter()
            .filter(|(_, kernel)| kernel.runs_on_cuda())
            .map(|(slug, _)| slug.as_str())
            .collect()
    }
}
