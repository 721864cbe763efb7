//! What a prediction asks for is held back until the reader has committed to it: the rule for every card that
//! `revealed_by` names, and what stands in a figure's place meanwhile.

use crate::action::Action;
use crate::app::App;
use crate::route::Route;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_kit::tokens::Type;
use vramlab_lesson::{Chapter, Step, StepBody};
use vramlab_units::Text;

const FIRST: Text =
    Text::new("这张图会揭晓前面的预测，先猜再看。", "This figure answers a prediction above. Guess first, then look.");
const PREDICT: Text = Text::new("去预测", "To the prediction");
const SHOW: Text = Text::new("直接看图", "Show it anyway");

/// The predictions that `step` reveals.
pub fn asked<'c>(chapter: &'c Chapter, step: &'c Step) -> impl Iterator<Item = &'c Step> {
    chapter.steps.iter().filter(|candidate| match &candidate.body {
        StepBody::Predict(predict) => predict.revealed_by.as_deref() == Some(step.id.as_str()),
        _ => false,
    })
}

/// The first prediction that `step` reveals and that the reader has not committed to.
pub fn open_question<'c>(app: &App, chapter: &'c Chapter, step: &'c Step) -> Option<&'c Step> {
    asked(chapter, step).find(|predict| app.answer(&chapter.id, &predict.id).is_none())
}

/// The prediction for which a figure is held back. Once the figure has been read, or the reader has asked for it, it stays.
pub fn holds_figure<'c>(app: &mut App, chapter: &'c Chapter, step: &'c Step) -> Option<&'c Step> {
    let is_free = app.reveals_all
        || app.progress.is_done(&chapter.id, &step.id)
        || app.steps.get(&chapter.id, &step.id).is_unveiled;
    if is_free { None } else { open_question(app, chapter, step) }
}

/// What stands in the place of the figure.
pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, predict: &Step, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    egui::Frame::new().fill(tokens.sunken).corner_radius(tokens.control_radius).inner_margin(tokens.space.l).show(
        ui,
        |ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new(FIRST.get(lang)).font(tokens.font(Type::Body)).color(tokens.ink));
            ui.add_space(tokens.space.s);
            ui.horizontal_wrapped(|ui| {
                if widgets::primary(ui, &tokens, PREDICT.get(lang)).clicked() {
                    actions.push(Action::Go(Route::step(&chapter.id, &predict.id)));
                }
                if widgets::secondary(ui, &tokens, SHOW.get(lang)).clicked() {
                    app.steps.get(&chapter.id, &step.id).is_unveiled = true;
                }
            });
        },
    );
}
