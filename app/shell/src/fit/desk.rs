//! Which model is open, what is asked of it, and the answer, which is worked out beside the window: a training step of a
//! large model is a long tape.

use crate::app::App;
use crate::fit::ask::Controls;
use crate::platform::Platform;
use crate::route::{Page, Route};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use vramlab_fit::{Answer, Ask};
use vramlab_modelfile::{Head, Model, Problem, read};
use vramlab_units::{Lang, Map, Value};

/// Bundled models: id and configuration. Small enough to lie in the program, so that a link opens at once.
pub const MODELS: [(&str, &str); 5] = [
    ("llama-3.1-8b", include_str!("../../../../assets/fit/llama-3.1-8b.json")),
    ("llama-3.1-70b", include_str!("../../../../assets/fit/llama-3.1-70b.json")),
    ("qwen3-30b-a3b", include_str!("../../../../assets/fit/qwen3-30b-a3b.json")),
    ("gemma-3-12b", include_str!("../../../../assets/fit/gemma-3-12b.json")),
    ("deepseek-v3", include_str!("../../../../assets/fit/deepseek-v3.json")),
];

/// A model that is open.
pub struct Open {
    pub name: String,
    pub model: Arc<Model>,
}

/// An answer with the question it belongs to.
pub type Answered = (Ask, Result<Answer, Problem>);

#[derive(Default)]
pub struct Desk {
    pub open: Option<Open>,
    pub failed: Option<(String, Problem)>,
    pub controls: Controls,
    pub answered: Option<Answered>,
    waits_for: Option<Receiver<Answered>>,
    /// Counts models, so that an answer about an earlier one is not taken for this one's.
    n_opened: usize,
    answered_model: usize,
}

impl Desk {
    /// A model's file, whole or its beginning.
    pub fn take(&mut self, name: &str, bytes: &[u8], n_bytes: u64) {
        self.answered = None;
        self.waits_for = None;
        self.n_opened += 1;
        match read(Head { bytes, n_bytes }, &[]) {
            Ok(model) => {
                self.failed = None;
                self.open = Some(Open { name: name.to_owned(), model: Arc::new(model) });
            }
            Err(problem) => {
                self.open = None;
                self.failed = Some((name.to_owned(), said(problem, name)));
            }
        }
    }

    /// A bundled model, unless it is open already.
    pub fn example(&mut self, id: &str) {
        if self.open.as_ref().is_some_and(|open| open.name == id) {
            return;
        }
        if let Some((id, text)) = MODELS.iter().find(|(known, _)| *known == id) {
            self.take(id, text.as_bytes(), text.len() as u64);
        }
    }

    pub fn follow(&mut self, params: &Map) {
        if let Some(id) = params.get("model").and_then(Value::as_str) {
            self.example(id);
        }
        self.controls.follow(params);
    }

    /// The address of what is looked at. A file of the reader's own is not in it.
    pub fn params(&self) -> Map {
        let mut out = Map::new();
        if let Some(open) = &self.open
            && MODELS.iter().any(|(id, _)| *id == open.name)
        {
            out.insert("model".to_owned(), open.name.as_str().into());
        }
        out.extend(self.controls.params());
        out
    }

    /// Starts working out what is asked, and takes what was worked out. True while something is under way.
    pub fn advance(&mut self, platform: &mut dyn Platform) -> bool {
        if let Some(from) = &self.waits_for {
            match from.try_recv() {
                Ok(answered) => {
                    self.answered = Some(answered);
                    self.waits_for = None;
                }
                Err(_) => return true,
            }
        }
        let (Some(open), Some(ask)) = (&self.open, self.controls.ask()) else { return false };
        let is_current = self.answered_model == self.n_opened
            && self.answered.as_ref().is_some_and(|(answered, _)| *answered == ask);
        if is_current {
            return false;
        }
        let (tell, from) = channel();
        let model = Arc::clone(&open.model);
        self.waits_for = Some(from);
        self.answered_model = self.n_opened;
        platform.aside(Box::new(move || {
            let answer = vramlab_fit::answer(&model, &ask);
            // Nobody waits any more if another model was opened meanwhile.
            let _gone = tell.send((ask, answer)).is_err();
        }));
        true
    }

    /// What the tests and the screen reader are told.
    pub fn said(&self, lang: Lang) -> Option<String> {
        let (_, answer) = self.answered.as_ref()?;
        Some(match answer {
            Ok(answer) => super::page::verdict(answer, lang).1,
            Err(problem) => problem.message(lang),
        })
    }
}

/// A header that goes on beyond the beginning at hand is told with the way out.
fn said(problem: Problem, name: &str) -> Problem {
    if problem.need.is_none() {
        return problem;
    }
    Problem::new(
        format!("文件头超出了读到的开头部分；在终端里用 vramlab fit {name}"),
        format!("its header goes on beyond the beginning that was read; use `vramlab fit {name}` in a terminal"),
    )
}

impl App {
    /// The address follows what is looked at; the page stays, and so does the history.
    pub(crate) fn address_fit(&mut self, params: Map) {
        self.route = Route { params, lang: self.route.lang, ..Route::page(Page::Fit) };
        let text = self.route.text();
        self.platform.set_route(&text, false);
        self.settings.last_route = Some(text);
    }

    /// A model's file from the reader.
    pub(crate) fn open_model(&mut self, name: &str, bytes: &[u8], n_bytes: u64) -> bool {
        self.fit.take(name, bytes, n_bytes);
        let params = self.fit.params();
        self.go(Route { params, ..Route::page(Page::Fit) }, true);
        self.fit.failed.is_none()
    }
}
