//! Everything else that the file says: settings, phases, fields that this program does not know, contradictions.

use crate::guide::parts;
use crate::widgets;
use egui::{Label, RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_snapshot::Snapshot;
use vramlab_snapshot::analysis::Analysis;
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("这份文件还说了什么", "What else the file says");
const SETTINGS: Text = Text::new("分配器设置", "Allocator settings");
const BEFORE: Text = Text::new(
    "录制开始前就有 {n} 块，共 {size}：它们没有记下是谁申请的。",
    "{n} blocks, {size} in all, stand from before the recording: who asked for them was not recorded.",
);
const PHASES: Text = Text::new("标注", "Annotations");
const MORE: Text = Text::new("… 还有 {} 个", "… {} more");
const UNKNOWN: Text = Text::new("不认识的字段（原样保留）", "Fields unknown here, kept as they are");
const WARNINGS: Text = Text::new("自相矛盾的地方", "Contradictions");
const MISMATCH: Text = Text::new("重放与录制不一致", "Where the replay and the recording differ");
const NO_WARNING: Text = Text::new("没有自相矛盾的地方", "it contradicts itself nowhere");
const UNEXPLAINED: Text = Text::new(
    "有 {n} 次释放找不到对应的块：录制是从中途开始的，或者前面被覆盖了。",
    "{n} frees are of blocks that the file does not know: the recording began later, or its beginning was overwritten.",
);
const MOST: usize = 40;

/// The card at the end of the page.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, snapshot: &Snapshot, analysis: &Analysis, before: (usize, u64)) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, TITLE.get(lang));
        before_ui(ui, tokens, lang, before);
        let settings: Vec<String> = snapshot.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        list_ui(ui, tokens, lang, SETTINGS, &settings);
        let phase =
            |phase: &vramlab_snapshot::steps::Phase| format!("{} → {}  {}", phase.from, phase.until, phase.name);
        let phases = analysis.steps.phases.iter();
        list_of(ui, tokens, lang, PHASES, &phases.clone().take(MOST).map(phase).collect::<Vec<_>>(), phases.len());
        let unknown: Vec<String> = snapshot.unknown.iter().map(|(name, n)| format!("{name} × {n}")).collect();
        list_ui(ui, tokens, lang, UNKNOWN, &unknown);
        let warnings: Vec<String> = snapshot.warnings.iter().map(|text| text.get(lang).to_owned()).collect();
        list_ui(ui, tokens, lang, WARNINGS, &warnings);
        let mismatch =
            |found: &vramlab_snapshot::replay::Mismatch| format!("{}: {}", found.event, found.what.get(lang));
        let mismatches: Vec<String> = analysis.replay.mismatches.iter().map(mismatch).collect();
        list_ui(ui, tokens, lang, MISMATCH, &mismatches);
        if analysis.n_unknown_frees > 0 {
            let words = UNEXPLAINED.get(lang).replace("{n}", &analysis.n_unknown_frees.to_string());
            parts::note(ui, tokens, &words, tokens.ink);
        } else if snapshot.warnings.is_empty() && mismatches.is_empty() {
            widgets::verdict(ui, tokens, Verdict::Good, NO_WARNING.get(lang));
        }
    });
}

fn before_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, (n, sum): (usize, u64)) {
    if n > 0 {
        let size = vramlab_units::show::bytes_binary(vramlab_units::Bytes(sum));
        let words = BEFORE.get(lang).replace("{n}", &n.to_string()).replace("{size}", &size);
        parts::note(ui, tokens, &words, tokens.ink);
        ui.add_space(tokens.space.xs);
    }
}

/// A group of lines; nothing for none.
fn list_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, title: Text, lines: &[String]) {
    list_of(ui, tokens, lang, title, lines, lines.len());
}

/// The first lines of `n`.
fn list_of(ui: &mut Ui, tokens: &Tokens, lang: Lang, title: Text, lines: &[String], n: usize) {
    if lines.is_empty() {
        return;
    }
    ui.label(RichText::new(title.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = tokens.px(1.0);
        for line in lines.iter().take(MOST) {
            ui.add(Label::new(RichText::new(line).font(tokens.font(Type::MonoSmall)).color(tokens.muted)).wrap());
        }
        if n > MOST {
            parts::label(ui, tokens, &MORE.get(lang).replace("{}", &(n - MOST).to_string()));
        }
    });
    ui.add_space(tokens.space.s);
}
