//! What to change: each lever with what it saves and what that costs, to be pulled by a press; the cheapest plan that fits.

use crate::guide::parts;
use crate::widgets;
use egui::Ui;
use vramlab_fit::{Answer, Ask, Fits, Plan, Tried};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_units::{Bytes, Lang, Localized, Text, show};

const FIRST: Text = Text::new("先改什么", "What to change first");
const ROOM: Text = Text::new("还能腾出多少", "What would free more");
const ORDER: Text = Text::new("省得多的在前。按一下就改。", "Largest saving on top. A press changes it.");
const THEN: Text = Text::new("就装得下", "then it fits");
const SHORT: Text = Text::new("还不够", "not enough alone");
const PLAN: Text = Text::new("最省事的方案", "The cheapest plan that fits");
const NO_PLAN: Text = Text::new("没有现成的方案", "No plan fits as it stands");
const PLAN_SUM: Text = Text::new(
    "合计 {total}；{time}；要复核质量的改动：{checks} 处",
    "{total} in all; {time}; quality checks due: {checks}",
);
const TAKE: Text = Text::new("照此改", "Take it");
const SWITCH: Text = Text::new("改成这样训练", "Train this way");
const INSTEAD: Text = Text::new("换一种训练", "Another kind of training");
/// Levers that are shown.
const MOST: usize = 8;

/// The cards of levers and plan; the question that a press leads to.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, answer: &Answer) -> Option<Ask> {
    let mut pulled = None;
    if answer.fits == Fits::No {
        widgets::card(ui, tokens, |ui| {
            parts::heading(ui, tokens, if answer.plan.is_some() { PLAN } else { NO_PLAN }.get(lang));
            pulled = plans(ui, tokens, lang, answer);
        });
        ui.add_space(tokens.space.m);
    }
    if answer.levers.is_empty() {
        return pulled;
    }
    widgets::card(ui, tokens, |ui| {
        let title = if answer.fits == Fits::No { FIRST } else { ROOM };
        parts::heading(ui, tokens, title.get(lang));
        parts::note(ui, tokens, ORDER.get(lang), tokens.muted);
        for tried in answer.levers.iter().take(MOST) {
            ui.add_space(tokens.space.s);
            if lever_ui(ui, tokens, lang, tried, answer.fits == Fits::No) {
                pulled = Some(tried.ask.clone());
            }
        }
    });
    pulled
}

/// The plan; where there is none, or only a slow one, why, and what else would do.
fn plans(ui: &mut Ui, tokens: &Tokens, lang: Lang, answer: &Answer) -> Option<Ask> {
    let mut pulled = answer.plan.as_ref().and_then(|plan| plan_ui(ui, tokens, lang, plan, TAKE.get(lang)));
    let say = |ui: &mut Ui, text: Option<Localized>| {
        if let Some(text) = text {
            ui.add_space(tokens.space.xs);
            parts::note(ui, tokens, text.get(lang), tokens.ink);
        }
    };
    say(ui, answer.plan_words());
    if let Some(other) = &answer.instead {
        ui.add_space(tokens.space.s);
        parts::label(ui, tokens, INSTEAD.get(lang));
        pulled = plan_ui(ui, tokens, lang, other, SWITCH.get(lang)).or(pulled);
    }
    say(ui, answer.cards_words());
    pulled
}

fn lever_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, tried: &Tried, is_needed: bool) -> bool {
    let mut is_pressed = false;
    let title = tried.lever.title.get(lang);
    ui.horizontal_wrapped(|ui| {
        let saves = format!("−{}", show::bytes_binary(Bytes(tried.saves)));
        ui.label(egui::RichText::new(saves).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
        is_pressed = widgets::secondary(ui, tokens, title).clicked();
        if is_needed {
            let (word, tone) = if tried.fits == Fits::Yes { (THEN, Verdict::Good) } else { (SHORT, Verdict::Neutral) };
            let color = if tone == Verdict::Good { tokens.verdict(tone) } else { tokens.muted };
            ui.label(egui::RichText::new(word.get(lang)).font(tokens.font(Type::Note)).color(color));
        }
    });
    parts::note(ui, tokens, tried.cost.get(lang), tokens.muted);
    is_pressed
}

fn plan_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, plan: &Plan, press: &str) -> Option<Ask> {
    for step in &plan.steps {
        let times = if step.times > 1 { format!(" ×{}", step.times) } else { String::new() };
        parts::note(ui, tokens, &format!("{}{times}", step.lever.title.get(lang)), tokens.ink);
        parts::note(ui, tokens, step.cost.get(lang), tokens.muted);
        ui.add_space(tokens.space.xs);
    }
    let words = PLAN_SUM
        .get(lang)
        .replace("{total}", &show::bytes_binary(Bytes(plan.total)))
        .replace("{time}", plan.time_words().get(lang))
        .replace("{checks}", &plan.n_checks.to_string());
    parts::note(ui, tokens, &words, tokens.ink);
    ui.add_space(tokens.space.xs);
    widgets::primary(ui, tokens, press).clicked().then(|| plan.ask.clone())
}
