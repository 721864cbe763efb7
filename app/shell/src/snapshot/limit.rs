//! What the process was allowed to hold, which no snapshot says: the reader types it, and the refusals are judged by it, the
//! replays run under it.

use super::answer::Answers;
use crate::snapshot::desk::Opened;
use crate::widgets;
use egui::{RichText, TextEdit, Ui, WidgetInfo};
use std::sync::Arc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::message::amount;
use vramlab_units::{Bytes, Lang, Text, show};

const NAME: Text = Text::new("本进程最多能占", "This process may hold");
const FIELD: Text = Text::new("本进程的上限", "Limit of this process");
const HINT: Text = Text::new("如 3 GiB", "e.g. 3 GiB");
const WHY: Text = Text::new(
    "快照里没有这个数：报错里写作 “allowed”，或者是整张卡的大小。填了以后，OOM 的原因按它判断，换设置的重放也在它之下进行。",
    "No snapshot says it: the error has it as \"allowed\", or it is the size of the card. Once it is given, OOMs are judged by it, and other settings are replayed under it.",
);
const BAD: Text = Text::new(
    "“{}”不是大小：写 3 GiB、640 MiB 这样带单位的数",
    "\"{}\" is no size: write a number with its unit, such as 3 GiB or 640 MiB",
);
const NONE: Text = Text::new("去掉", "Remove");

/// The field, and what of it counts.
#[derive(Clone, Debug, Default)]
pub struct Limit {
    text: String,
    /// The text that was judged last.
    judged: String,
    applied: Option<u64>,
    is_wrong: bool,
}

impl Limit {
    /// Bytes that count.
    pub fn bytes(&self) -> Option<u64> {
        self.applied
    }

    /// From elsewhere: the address, or the text of an error.
    pub fn set(&mut self, bytes: u64) {
        self.text = match bytes {
            bytes if bytes % (1 << 20) == 0 => show::bytes_binary(Bytes(bytes)).replace('\u{2009}', " "),
            bytes => format!("{bytes} B"),
        };
        // A rounded text would be another limit.
        if amount(&self.text) != Some(bytes) {
            self.text = format!("{bytes} B");
        }
    }
}

/// The field, its explanation, and what is wrong with it.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(NAME.get(lang)).font(tokens.font(Type::Note)).color(tokens.ink));
        let edit = TextEdit::singleline(&mut opened.limit.text)
            .hint_text(HINT.get(lang))
            .font(tokens.font(Type::Note))
            .desired_width(tokens.px(110.0));
        let response = ui.add(edit);
        response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, FIELD.get(lang)));
        if !opened.limit.text.is_empty() && widgets::link(ui, tokens, NONE.get(lang)).clicked() {
            opened.limit.text.clear();
        }
    });
    match opened.limit.is_wrong {
        true => {
            let words = BAD.get(lang).replace("{}", opened.limit.judged.trim());
            ui.label(RichText::new(words).font(tokens.font(Type::Small)).color(tokens.bad));
        }
        false => {
            let words = RichText::new(WHY.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
            ui.add(egui::Label::new(words).wrap());
        }
    }
    ui.add_space(tokens.space.xxs);
}

/// Applies the text if it has changed and is right; a wrong one leaves what counted before.
pub fn judge(opened: &mut Opened) {
    let limit = &mut opened.limit;
    if limit.judged == limit.text {
        return;
    }
    limit.judged.clone_from(&limit.text);
    let wanted = match limit.text.trim() {
        "" => Some(None),
        text => amount(text).filter(|bytes| *bytes > 0).map(Some),
    };
    limit.is_wrong = wanted.is_none();
    let Some(wanted) = wanted.filter(|wanted| *wanted != limit.applied) else { return };
    limit.applied = wanted;
    let snapshot = Arc::clone(&opened.scene.snapshot);
    let mut analysis = opened.scene.analysis.as_ref().clone();
    analysis.set_limit(&snapshot, wanted);
    let analysis = Arc::new(analysis);
    opened.answers = Answers::of(&snapshot, &analysis);
    opened.scene = opened.scene.with_analysis(analysis);
}
