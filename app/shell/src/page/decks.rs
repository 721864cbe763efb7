//! The two decks at the end of a chapter: audits, published claims to be judged and tested; reviews, questions whose
//! parameters are drawn anew. They are counted apart.

use crate::action::Action;
use crate::answers;
use crate::app::App;
use crate::page::check::{self, Keeps};
use crate::page::prose::markdown_ui;
use crate::route::Route;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type, Verdict as Tone};
use vramlab_lesson::{Audit, Chapter, Verdict};
use vramlab_units::{Lang, Text};

const AUDITS: Text = Text::new("审一审这些说法", "Judge these claims");
const AUDITS_TERM: Text = Text::new("说法核查", "audits");
const REVIEWS: Text = Text::new("复习", "Review");
const DUE: Text = Text::new("今天到期", "Due today");
const BACK: Text = Text::new("下次再问：{when}", "Comes back {when}");
const AGAIN: Text = Text::new("再做一次", "Once more");
const REDRAW: Text = Text::new("换一组参数", "Draw new parameters");
const TEST_IT: Text = Text::new("去验证 →", "Test it →");
const PREVIOUS: Text = Text::new("上一条", "Previous");
const NEXT: Text = Text::new("下一条", "Next");
const RIGHT: Text = Text::new("判断正确", "Well judged");
const WRONG: Text = Text::new("判断不同", "Judged otherwise");
const SAID_BY: Text = Text::new("出处类型", "Said by");

/// A verdict in words.
pub fn verdict_text(verdict: Verdict) -> Text {
    match verdict {
        Verdict::True => Text::new("成立", "True"),
        Verdict::Assumptions => Text::new("有条件成立", "True under assumptions"),
        Verdict::Unsupported => Text::new("没有依据", "Unsupported"),
        Verdict::False => Text::new("不成立", "False"),
    }
}

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    if !chapter.audits.is_empty() {
        audits_ui(app, ui, &tokens, chapter, actions);
        ui.add_space(tokens.space.l);
    }
    if !chapter.reviews.is_empty() {
        reviews_ui(app, ui, &tokens, chapter, actions);
        ui.add_space(tokens.space.l);
    }
}

fn audits_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        let judged =
            chapter.audits.iter().filter(|audit| app.progress.judgement(&chapter.id, &audit.id).is_some()).count();
        let count = format!("{judged}/{}", chapter.audits.len());
        widgets::card_header(ui, tokens, AUDITS.get(lang), AUDITS_TERM.get(lang), |ui| {
            ui.label(RichText::new(count).font(tokens.font(Type::Mono)).color(tokens.muted));
        });
        let idx = deck_idx(app, ui, tokens, chapter, "audits", chapter.audits.len());
        if let Some(audit) = chapter.audits.get(idx) {
            audit_ui(app, ui, tokens, chapter, audit, actions);
        }
    });
}

/// Which card of a deck lies on top; previous and next at its foot.
fn deck_idx(app: &mut App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, deck: &str, n_cards: usize) -> usize {
    let lang = app.lang();
    let state = app.steps.get(&chapter.id, deck);
    let mut idx = (state.draw_n as usize).min(n_cards.saturating_sub(1));
    ui.horizontal(|ui| {
        if ui.add_enabled(idx > 0, egui::Button::new(PREVIOUS.get(lang))).clicked() {
            idx -= 1;
        }
        ui.label(RichText::new(format!("{} / {n_cards}", idx + 1)).font(tokens.font(Type::Mono)).color(tokens.muted));
        if ui.add_enabled(idx + 1 < n_cards, egui::Button::new(NEXT.get(lang))).clicked() {
            idx += 1;
        }
    });
    state.draw_n = idx as u64;
    ui.add_space(tokens.space.xs);
    idx
}

fn audit_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, audit: &Audit, actions: &mut Vec<Action>) {
    let lang = app.lang();
    markdown_ui(app, ui, &chapter.id, &audit.claim, actions);
    let source = format!("{} · {}", SAID_BY.get(lang), audit.source.get(lang));
    ui.label(RichText::new(source).font(tokens.font(Type::Small)).color(tokens.muted));
    ui.add_space(tokens.space.xs);
    let given = app.progress.judgement(&chapter.id, &audit.id);
    ui.horizontal_wrapped(|ui| {
        for verdict in Verdict::ALL {
            let is_chosen = given == Some(verdict);
            if widgets::pill(ui, tokens, is_chosen, verdict_text(verdict).get(lang)).clicked() {
                actions.push(Action::Judge { chapter: chapter.id.clone(), audit: audit.id.clone(), verdict });
            }
        }
    });
    if let Some(given) = given {
        let is_right = given == audit.verdict;
        let (tone, word) = if is_right { (Tone::Good, RIGHT) } else { (Tone::Caution, WRONG) };
        let text = format!("{} · {}", word.get(lang), verdict_text(audit.verdict).get(lang));
        widgets::verdict(ui, tokens, tone, &text);
        markdown_ui(app, ui, &chapter.id, &audit.why, actions);
        if let Some(step) = &audit.test
            && widgets::link(ui, tokens, TEST_IT.get(lang)).clicked()
        {
            actions.push(Action::Go(Route::step(&chapter.id, step)));
        }
    }
}

fn reviews_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, actions: &mut Vec<Action>) {
    let lang: Lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        let seen = |question: &vramlab_lesson::Question| {
            let reviews = app.progress.chapters.get(&chapter.id).map(|entry| &entry.reviews);
            reviews.and_then(|reviews| reviews.get(&question.id)).map_or(0, |review| review.n_seen)
        };
        let n_seen = chapter.reviews.iter().filter(|question| seen(question) > 0).count();
        let count = format!("{n_seen}/{}", chapter.reviews.len());
        widgets::card_header(ui, tokens, REVIEWS.get(lang), "", |ui| {
            ui.label(RichText::new(count).font(tokens.font(Type::Mono)).color(tokens.muted));
        });
        let idx = deck_idx(app, ui, tokens, chapter, "reviews", chapter.reviews.len());
        let Some(question) = chapter.reviews.get(idx) else { return };
        let n = app.steps.get(&chapter.id, &question.id).draw_n;
        let draw = answers::draw(question, n);
        check::body_ui(app, ui, chapter, &question.id, question, &draw, Keeps::Review, actions);
        if let Some(schedule) = app.progress.schedule(&chapter.id, &question.id) {
            let text = match schedule.is_due(app.today()) {
                true => DUE.get(lang).to_owned(),
                false => BACK.get(lang).replace("{when}", &crate::study::when(schedule.due_day, app.today(), lang)),
            };
            ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
        }
        let is_answered = app.steps.get(&chapter.id, &question.id).is_answered;
        let label = if draw.is_empty() { AGAIN } else { REDRAW };
        if (is_answered || !draw.is_empty()) && widgets::link(ui, tokens, label.get(lang)).clicked() {
            let state = app.steps.get(&chapter.id, &question.id);
            *state = crate::page::StepState { draw_n: n + 1, ..Default::default() };
        }
    });
}
