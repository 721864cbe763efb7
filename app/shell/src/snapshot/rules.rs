//! The reader's own rules for roles: a small text, judged as it is typed, applied when it is right.

use crate::guide::parts;
use crate::snapshot::desk::Opened;
use crate::widgets;
use egui::{RichText, TextEdit, Ui, WidgetInfo};
use std::sync::Arc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::rules::{RuleError, parse};
use vramlab_units::{Lang, Text};
use vramlab_views::snapshot::Scene;

const OPEN: Text = Text::new("自己的规则…", "Your own rules…");
const CLOSE: Text = Text::new("收起规则", "Hide the rules");
const TITLE: Text = Text::new("角色规则", "Rules for roles");
const HOW: Text = Text::new(
    "每行一条：栈帧里的文字 = 角色，两个斜杠之间写正则表达式；先写的先算，没有规则管的照旧推测。角色：parameter、gradient、optimizer、activation、kv_cache、workspace、unknown。",
    "One a line: text in a frame of the stack = role, a regular expression between slashes; the first that fits wins, and what no rule covers is guessed as before. Roles: parameter, gradient, optimizer, activation, kv_cache, workspace, unknown.",
);
const HINT: &str = "train.py:79 = kv_cache\n/layers?\\.\\w+ forward/ = activation";
const APPLIED: Text =
    Text::new("{n} 条规则，改了 {blocks} 块的角色", "{n} rules, which change the role of {blocks} blocks");

/// The text and what became of it.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub text: String,
    is_shown: bool,
    /// The text that was judged last.
    judged: String,
    errors: Vec<RuleError>,
    /// Rules, and blocks whose role they change.
    applied: Option<(usize, usize)>,
}

/// The link beside the colours.
pub fn link(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let is_shown = &mut opened.rules.is_shown;
    let words = if *is_shown { CLOSE } else { OPEN };
    if widgets::link(ui, tokens, words.get(lang)).clicked() {
        *is_shown = !*is_shown;
    }
}

/// The text, if it is wanted.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    if !opened.rules.is_shown {
        return;
    }
    parts::note(ui, tokens, HOW.get(lang), tokens.muted);
    let edit = TextEdit::multiline(&mut opened.rules.text)
        .hint_text(HINT)
        .font(tokens.font(Type::Mono))
        .desired_rows(3)
        .desired_width(ui.available_width());
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, TITLE.get(lang)));
    judge(opened);
    for error in opened.rules.errors.iter().take(6) {
        let words = RichText::new(error.text(lang)).font(tokens.font(Type::Note)).color(tokens.bad);
        ui.add(egui::Label::new(words).wrap());
    }
    if let Some((n, blocks)) = opened.rules.applied {
        let words = APPLIED.get(lang).replace("{n}", &n.to_string()).replace("{blocks}", &blocks.to_string());
        ui.label(RichText::new(words).font(tokens.font(Type::Small)).color(tokens.muted));
    }
    ui.add_space(tokens.space.xs);
}

/// Applies the text if it has changed and is right; a wrong one leaves the roles as they are.
pub fn judge(opened: &mut Opened) {
    let rules = &mut opened.rules;
    if rules.judged == rules.text {
        return;
    }
    rules.judged.clone_from(&rules.text);
    match parse(&rules.text) {
        Err(errors) => rules.errors = errors,
        Ok(parsed) => {
            rules.errors.clear();
            let snapshot = Arc::clone(&opened.scene.snapshot);
            let mut analysis = opened.scene.analysis.as_ref().clone();
            analysis.apply_rules(&snapshot, &[]);
            let guessed = std::mem::take(&mut analysis.roles);
            analysis.apply_rules(&snapshot, &parsed);
            let n_changed = guessed.iter().zip(&analysis.roles).filter(|(a, b)| a != b).count();
            rules.applied = (!parsed.is_empty()).then_some((parsed.len(), n_changed));
            let analysis = Arc::new(analysis);
            opened.answers.judge_roles(&snapshot, &analysis);
            opened.scene = Scene::new(snapshot, analysis, opened.scene.colour);
        }
    }
}
