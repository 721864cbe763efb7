//! Several runs on one experiment card: which one is looked at, and the choice between them.

use crate::action::Action;
use crate::app::App;
use crate::page::lens;
use crate::widgets;
use egui::Ui;
use vramlab_kit::tokens::Tokens;
use vramlab_lesson::{Chapter, ExperimentStep, Step};

/// The parameter of an address that names a run of a card with several.
pub const RUN: &str = "run";

/// Which run of the card is looked at: the one of a link, else the reader's choice.
pub fn chosen(app: &mut App, chapter: &Chapter, step: &Step, all: &ExperimentStep) -> usize {
    let state = app.steps.get(&chapter.id, &step.id);
    let Some(wanted) = state.wanted.take() else { return state.run_idx };
    let run = wanted.get(RUN).and_then(|run| run.as_str()).unwrap_or_default();
    let run_idx = all.all().position(|known| known.run == run).unwrap_or(0);
    state.run_idx = run_idx;
    app.take_lens(&all.at(run_idx).run, &wanted);
    run_idx
}

/// The choice between the runs of a card that has several.
pub fn ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    (chapter, step): (&Chapter, &Step),
    all: &ExperimentStep,
    actions: &mut Vec<Action>,
) {
    if all.also.is_empty() {
        return;
    }
    let (lang, library) = (app.lang(), &app.library);
    let name = |run: &ExperimentStep| match (run.name.is_empty(), library.kernels().get(&run.run)) {
        (true, Some((experiment, _))) => experiment.title.get(lang).to_owned(),
        (true, None) => run.run.clone(),
        (false, _) => run.name.get(lang).to_owned(),
    };
    let names: Vec<String> = all.all().map(name).collect();
    let lenses: Vec<String> = all.all().map(|run| app.lens_of(&run.run)).collect();
    let run_idx = &mut app.steps.get(&chapter.id, &step.id).run_idx;
    ui.horizontal_wrapped(|ui| {
        for (idx, name) in names.iter().enumerate() {
            if widgets::pill(ui, tokens, idx == *run_idx, name).clicked() {
                let params = |idx: usize| lens::address(all, idx, &lenses[idx]);
                let (before, params) = (params(std::mem::replace(run_idx, idx)), params(idx));
                let (chapter, step) = (chapter.id.clone(), step.id.clone());
                actions.push(Action::Address { chapter, step, before, params });
            }
        }
    });
    ui.add_space(tokens.space.xs);
}
