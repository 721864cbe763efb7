//! Where you were: the exact step, or for a newcomer the chapter to begin with. The one primary button of the page.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::route::Route;
use crate::widgets;
use egui::{Frame, Margin, RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::Chapter;
use vramlab_units::{Lang, Text};

const WERE_HERE: Text = Text::new("接着上次", "Where you were");
const BEGIN_HERE: Text = Text::new("第一次来？从这里开始", "New here? Begin with this");
const CONTINUE: Text = Text::new("继续", "Continue");
const BEGIN: Text = Text::new("开始", "Begin");
const FROM_START: Text = Text::new("回到章首", "From its beginning");
const STEP_OF: Text = Text::new("第 {n} 步，共 {all} 步", "step {n} of {all}");
const MINUTES: Text = Text::new("约 {n} 分钟", "about {n} minutes");
const NEXT: Text = Text::new("这一章学完了，下一章", "That chapter is done; this is next");

/// What the card offers.
struct Offer {
    over: &'static str,
    chapter: std::rc::Rc<Chapter>,
    /// The step to go on with, by its index.
    step: Option<usize>,
    button: &'static str,
}

pub fn ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let Some(offer) = offer(app, lang) else { return };
    let frame = Frame::new()
        .fill(tokens.accent_soft)
        .stroke(tokens.stroke(1.0, tokens.tint(tokens.accent, 0.45)))
        .corner_radius(tokens.card_corner())
        .inner_margin(Margin::symmetric(tokens.space.l as i8, tokens.space.m as i8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let is_wide = ui.available_width() >= tokens.px(520.0);
        if is_wide {
            ui.horizontal(|ui| {
                let right = tokens.px(if offer.step.is_some_and(|at| at > 0) { 270.0 } else { 150.0 });
                let width = ui.available_width() - right;
                ui.vertical(|ui| {
                    ui.set_width(width);
                    words_ui(ui, tokens, &offer, lang);
                });
                let layout = egui::Layout::right_to_left(egui::Align::Center);
                ui.with_layout(layout, |ui| buttons_ui(ui, tokens, &offer, lang, actions));
            });
        } else {
            words_ui(ui, tokens, &offer, lang);
            ui.add_space(tokens.space.xs);
            ui.horizontal_wrapped(|ui| buttons_ui(ui, tokens, &offer, lang, actions));
        }
        if offer.step.is_some() {
            bar_ui(app, ui, tokens, &offer, lang, actions);
        }
    });
}

fn offer(app: &App, lang: Lang) -> Option<Offer> {
    let were = app.progress.resume().and_then(|(chapter, step)| {
        let chapter = app.library.chapter(chapter)?;
        let at = chapter.steps.iter().position(|candidate| candidate.id == step)?;
        Some((chapter, at))
    });
    let ids = app.guide.course.route("full").map(|route| app.guide.course.chapters_of(route)).unwrap_or_default();
    let first = |over: Text| {
        let id = crate::guide::route_page::next_chapter(app, &ids)?.0;
        let chapter = app.library.chapter(&id)?;
        Some(Offer { over: over.get(lang), chapter, step: None, button: BEGIN.get(lang) })
    };
    match were {
        Some((chapter, _)) if app.n_done(&chapter.id) >= chapter.steps.len() => first(NEXT).or(Some(Offer {
            over: WERE_HERE.get(lang),
            chapter,
            step: Some(0),
            button: CONTINUE.get(lang),
        })),
        Some((chapter, at)) => {
            Some(Offer { over: WERE_HERE.get(lang), chapter, step: Some(at), button: CONTINUE.get(lang) })
        }
        None => first(BEGIN_HERE),
    }
}

fn words_ui(ui: &mut Ui, tokens: &Tokens, offer: &Offer, lang: Lang) {
    ui.spacing_mut().item_spacing.y = tokens.space.xxs;
    let chapter = &offer.chapter;
    ui.label(RichText::new(offer.over).font(tokens.font(Type::Small)).color(tokens.accent));
    let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
    let title = RichText::new(format!("{number}{}", chapter.title.get(lang))).font(tokens.font(Type::Number));
    ui.add(egui::Label::new(title.font(tokens.font(Type::Card)).color(tokens.ink)).wrap());
    let below = match offer.step {
        Some(at) => {
            let place = STEP_OF.get(lang).replace("{n}", &(at + 1).to_string());
            let place = place.replace("{all}", &chapter.steps.len().to_string());
            format!("{} · {place}", chapter.steps.get(at).map_or("", |step| step.title.get(lang)))
        }
        None => {
            let minutes = MINUTES.get(lang).replace("{n}", &chapter.minutes.to_string());
            let parts = [chapter.subtitle.get(lang), if chapter.minutes > 0 { &minutes } else { "" }];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
        }
    };
    parts::note(ui, tokens, &below, tokens.muted);
}

fn buttons_ui(ui: &mut Ui, tokens: &Tokens, offer: &Offer, lang: Lang, actions: &mut Vec<Action>) {
    let id = &offer.chapter.id;
    if widgets::primary(ui, tokens, offer.button).clicked() {
        let step = offer.step.and_then(|at| offer.chapter.steps.get(at));
        actions.push(Action::Go(step.map_or_else(|| Route::chapter(id), |step| Route::step(id, &step.id))));
    }
    if offer.step.is_some_and(|at| at > 0) && widgets::link(ui, tokens, FROM_START.get(lang)).clicked() {
        actions.push(Action::Go(Route::chapter(id)));
    }
}

/// The steps of the chapter: done, current, to come.
fn bar_ui(app: &App, ui: &mut Ui, tokens: &Tokens, offer: &Offer, lang: Lang, actions: &mut Vec<Action>) {
    let chapter = &offer.chapter;
    let steps: Vec<(f32, String)> = chapter
        .steps
        .iter()
        .map(|step| {
            let share = if app.progress.is_done(&chapter.id, &step.id) { 1.0 } else { 0.0 };
            (share, step.title.get(lang).to_owned())
        })
        .collect();
    if let Some(idx) = widgets::step_bar(ui, tokens, &steps, offer.step.unwrap_or(usize::MAX)) {
        actions.push(Action::Go(Route::step(&chapter.id, &chapter.steps[idx].id)));
    }
}
