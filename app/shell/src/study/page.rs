//! `/review`: every question that is due, one after the other, over all chapters.

use super::{Session, Turn, chapter_name, due, due_card, when};
use crate::action::Action;
use crate::answers;
use crate::app::App;
use crate::page::check::{self, Keeps};
use crate::route::Route;
use crate::widgets;
use egui::{Align, Layout, ProgressBar, RichText, ScrollArea, Ui};
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_lesson::Chapter;
use vramlab_lesson::due::DueItem;
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("复习", "Review");
const ABOUT: Text = Text::new(
    "题目里的数每次都重新抽。答对了隔得更久再问，答错了明天再来。",
    "The numbers in a question are drawn anew each time. What you know comes back later, what you missed tomorrow.",
);
const OF: Text = Text::new("第 {n} 题，共 {all} 题", "question {n} of {all}");
const AGAIN: Text = Text::new("刚才没答对的，再来一次", "Once more, since it was missed");
const BACK: Text = Text::new("下次再问：{when}", "Comes back {when}");
const NEXT: Text = Text::new("下一题", "Next question");
const FINISH: Text = Text::new("看结果", "See how it went");
const SKIP: Text = Text::new("先跳过", "Skip for now");
const TO_CHAPTER: Text = Text::new("回到这一章 →", "To the chapter →");
const DONE: Text = Text::new("今天的复习做完了", "Done for today");
const SCORE: Text = Text::new("{all} 题里有 {n} 题一次答对", "{n} of {all} right at the first try");
const LOOK_AGAIN: Text = Text::new("没答对的：", "Worth another look:");
const MORE: Text = Text::new("还有 {n} 题，接着做", "{n} more, go on");
const NO_REVIEWS: Text = Text::new(
    "还没有要复习的题。一章读过一半，它的复习题就会出现在这里。",
    "There is nothing to review yet. Once half of a chapter is read, its questions come here.",
);
const HOME: Text = Text::new("回到首页", "To the start page");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    if app.study.session.is_none() && due(app).n_all() > 0 {
        start(app);
    }
    ScrollArea::vertical().id_salt("review").auto_shrink([false, false]).show(ui, |ui| {
        crate::page::column(ui, &tokens, |ui| {
            ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.label(RichText::new(ABOUT.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            ui.add_space(tokens.space.l);
            match app.study.session.as_ref().map(|session| session.current().cloned()) {
                Some(Some(turn)) => turn_ui(app, ui, &tokens, &turn, actions),
                Some(None) => summary_ui(app, ui, &tokens, lang, actions),
                None => empty_ui(app, ui, &tokens, lang, actions),
            }
        });
    });
}

/// Everything that is due, each question with the draw after its last.
fn start(app: &mut App) {
    let due = due(app);
    let seen = |item: &DueItem| {
        let chapter = app.progress.chapters.get(&item.chapter);
        chapter.and_then(|chapter| chapter.reviews.get(&item.question)).map_or(0, |review| review.n_seen)
    };
    let session = Session::start(&due.items, seen);
    app.study.session = Some(session);
}

fn turn_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, turn: &Turn, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let found = app.library.chapter(&turn.chapter).and_then(|chapter| {
        let question = chapter.reviews.iter().find(|question| question.id == turn.question)?.clone();
        Some((chapter, question))
    });
    let Some((chapter, question)) = found else {
        // Its chapter was closed or rewritten meanwhile.
        if let Some(session) = &mut app.study.session {
            session.next();
        }
        ui.ctx().request_repaint();
        return;
    };
    header_ui(app, ui, tokens, turn, lang);
    widgets::card(ui, tokens, |ui| {
        let name = chapter_name(app, &turn.chapter, lang);
        widgets::card_header(ui, tokens, &name, "", |ui| {
            if widgets::link(ui, tokens, TO_CHAPTER.get(lang)).clicked() {
                actions.push(Action::Go(Route::chapter(&turn.chapter)));
            }
        });
        let draw = answers::draw(&question, turn.draw_n);
        check::body_ui(app, ui, &chapter, &key(turn), &question, &draw, Keeps::Review, actions);
        foot_ui(app, ui, tokens, &chapter, turn, lang);
    });
}

/// The state of a question's widgets: one for each asking.
fn key(turn: &Turn) -> String {
    format!("review:{}:{}:{}", turn.question, turn.draw_n, turn.is_again)
}

fn header_ui(app: &App, ui: &mut Ui, tokens: &Tokens, turn: &Turn, lang: Lang) {
    let Some(session) = &app.study.session else { return };
    let (n_done, n_all) = session.progress();
    let n = (n_done + usize::from(!session.is_answered())).min(n_all);
    let text = match turn.is_again {
        true => AGAIN.get(lang).to_owned(),
        false => OF.get(lang).replace("{n}", &n.to_string()).replace("{all}", &n_all.to_string()),
    };
    ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
    let share = n_done as f32 / n_all.max(1) as f32;
    ui.add(ProgressBar::new(share).desired_height(tokens.px(6.0)).fill(tokens.accent));
    ui.add_space(tokens.space.s);
}

/// When it comes back, and the way on. The keyboard stands on "next" once there is one.
fn foot_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, chapter: &Rc<Chapter>, turn: &Turn, lang: Lang) {
    let schedule = app.progress.schedule(&chapter.id, &turn.question);
    let today = app.today();
    let Some(session) = &mut app.study.session else { return };
    if !session.is_answered() {
        ui.add_space(tokens.space.xs);
        if widgets::link(ui, tokens, SKIP.get(lang)).clicked() {
            session.next();
        }
        return;
    }
    if let Some(schedule) = schedule {
        let text = BACK.get(lang).replace("{when}", &when(schedule.due_day, today, lang));
        ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
    }
    ui.add_space(tokens.space.xs);
    let is_last = session.progress().0 >= session.progress().1 && session.n_left() <= 1;
    let response = widgets::primary(ui, tokens, if is_last { FINISH } else { NEXT }.get(lang));
    if ui.memory(|memory| memory.focused()).is_none() {
        response.request_focus();
    }
    if response.clicked() {
        session.next();
        response.surrender_focus();
    }
}

fn summary_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    let due = due(app);
    let Some(session) = &app.study.session else { return };
    let outcomes = session.outcomes().to_vec();
    let n_right = outcomes.iter().filter(|outcome| outcome.is_right).count();
    let mut missed: Vec<&str> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_right) {
        if !missed.contains(&outcome.chapter.as_str()) {
            missed.push(&outcome.chapter);
        }
    }
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, DONE.get(lang), "", |_| {});
        if !outcomes.is_empty() {
            let (all, n) = (outcomes.len().to_string(), n_right.to_string());
            let tone = if missed.is_empty() { Verdict::Good } else { Verdict::Neutral };
            widgets::verdict(ui, tokens, tone, &SCORE.get(lang).replace("{all}", &all).replace("{n}", &n));
        }
        if !missed.is_empty() {
            ui.label(RichText::new(LOOK_AGAIN.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        }
        for chapter in &missed {
            if widgets::link(ui, tokens, &chapter_name(app, chapter, lang)).clicked() {
                actions.push(Action::Go(Route::chapter(chapter)));
            }
        }
        rest_ui(app, ui, tokens, lang, &due, actions);
    });
}

fn rest_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, due: &super::Due, actions: &mut Vec<Action>) {
    if due.n_all() == 0 {
        let words = due_card::words(app, due, lang);
        ui.label(RichText::new(words).font(tokens.font(Type::Note)).color(tokens.muted));
    }
    ui.add_space(tokens.space.xs);
    ui.horizontal_wrapped(|ui| {
        if due.n_all() > 0 {
            let label = MORE.get(lang).replace("{n}", &due.n_all().to_string());
            if widgets::primary(ui, tokens, &label).clicked() {
                start(app);
            }
        }
        if widgets::secondary(ui, tokens, HOME.get(lang)).clicked() {
            actions.push(Action::Go(Route::default()));
        }
    });
}

fn empty_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    let due = due(app);
    widgets::card(ui, tokens, |ui| {
        let words = match due.next {
            Some(_) => due_card::words(app, &due, lang),
            None => NO_REVIEWS.get(lang).to_owned(),
        };
        ui.label(RichText::new(words).font(tokens.font(Type::Body)).color(tokens.ink));
        ui.add_space(tokens.space.xs);
        ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
            if widgets::secondary(ui, tokens, HOME.get(lang)).clicked() {
                actions.push(Action::Go(Route::default()));
            }
        });
    });
}
