//! What is on screen as data: route, language, notes, figures with their findings, experiments, progress. For whoever reads
//! the page aloud, and for tests that cannot see pixels. Nothing here that is not on screen.

use crate::app::App;
use crate::route::Page;
use serde_json::{Map, Value, json};

impl App {
    pub fn spoken(&self) -> Value {
        let lang = self.lang();
        let chapter = self.chapter_id().and_then(|id| self.library.chapter(id));
        let progress =
            chapter.as_ref().map(|chapter| json!({ "done": self.n_done(&chapter.id), "steps": chapter.steps.len() }));
        let problems = chapter.as_ref().map(|chapter| self.library.problems(&chapter.id)).unwrap_or_default();
        json!({
            "route": self.route.text(),
            "lang": lang.code(),
            "is_dark": self.tokens().is_dark(),
            "has_motion": self.has_motion(),
            "title": chapter.as_ref().map(|chapter| chapter.title.get(lang)),
            "problems": problems.iter().map(vramlab_lesson::render).collect::<Vec<_>>(),
            "progress": progress,
            "notes": self.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(),
            "figures": self.spoken_figures(),
            "experiments": self.spoken_experiments(),
            "snapshot": self.snapshot.spoken(lang),
            "playground": matches!(self.route.page, Page::Playground { kernel: Some(_) }).then(|| self.playground.spoken(lang)),
        })
    }

    /// The open figures by `chapter/step`.
    fn spoken_figures(&self) -> Map<String, Value> {
        let lang = self.lang();
        let figures = self.steps.iter().filter_map(|(id, state)| {
            let said = match state.view.as_ref()? {
                Ok(view) => json!({
                    "params": view.params(),
                    "finding": view.finding(lang),
                    "refused": state.refused,
                }),
                Err(why) => json!({ "error": why }),
            };
            Some((id.to_owned(), said))
        });
        figures.collect()
    }

    fn spoken_experiments(&self) -> Map<String, Value> {
        let said = self.experiments.states.iter().map(|(id, state)| {
            let run = state.shown().map(|(run, n_points)| {
                json!({
                    "device": run.device.name,
                    "date": run.date,
                    "points": n_points,
                    "all_points": run.points.len(),
                    "is_recorded": state.shown_recording().is_some(),
                    "is_stale": state.shown_recording().is_some_and(|recorded| recorded.is_stale),
                })
            });
            (
                id.clone(),
                json!({ "shown": run, "is_replaying": state.replay.is_some(), "is_busy": state.activity.is_busy() }),
            )
        });
        said.collect()
    }
}
