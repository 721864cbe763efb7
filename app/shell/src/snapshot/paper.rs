//! PyTorch's own texts, pasted or opened: the table of `memory_summary()` or the JSON of `memory_stats()`, row by row, and
//! the text of an out-of-memory error.

use super::refusal;
use crate::action::Action;
use crate::guide::parts;
use crate::widgets;
use egui::{RichText, TextEdit, Ui, WidgetInfo};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_snapshot::message::{self, Message};
use vramlab_snapshot::summary::{Summary, is_text, read_stats, read_text};
use vramlab_units::{Lang, Text};
use vramlab_views::snapshot::SummaryTable;

const TITLE: Text = Text::new("贴一段 PyTorch 的文字", "Paste what PyTorch printed");
const TABLE: Text = Text::new("memory_summary() 逐行看懂", "memory_summary(), row by row");
const REFUSED: Text = Text::new("这条 OOM 报错说了什么", "What this out-of-memory error says");
const HOW: Text = Text::new(
    "没有快照也行：把 CUDA out of memory 的报错、torch.cuda.memory_summary() 打印的表，或 memory_stats() 的 JSON 贴到这里（在页面任何地方按 Ctrl+V 都行）。",
    "Without a snapshot: paste a CUDA out-of-memory error, the table that torch.cuda.memory_summary() prints, or the JSON of memory_stats() (Ctrl+V anywhere on this page will do).",
);
const OTHER: Text = Text::new("换一份", "Another");
const BAD: Text = Text::new(
    "认不出 · 要的是整条 OOM 报错（从 Tried to allocate 起）、memory_summary() 的整张表（从表头的横线起），或 json.dumps(torch.cuda.memory_stats())",
    "not recognised · wanted is the whole out-of-memory error, from \"Tried to allocate\" on, the whole table of memory_summary(), from its first line on, or json.dumps(torch.cuda.memory_stats())",
);
const ROUNDED: Text = Text::new(
    "打印的表只留三四位数；要准确的字节，用 memory_stats()。",
    "The printed table is rounded; memory_stats() has the exact bytes.",
);
const UNKNOWN: Text = Text::new("不认识的行：{}", "Rows unknown here: {}");

/// What was pasted, and what it says.
#[derive(Default)]
pub struct Paper {
    text: String,
    read_of: String,
    summary: Option<Summary>,
    message: Option<Message>,
    /// What the error says the process was allowed; taken once.
    allowed: Option<u64>,
    table: SummaryTable,
}

impl Paper {
    /// A file that holds a table.
    pub fn take(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.read();
    }

    pub fn is_read(&self) -> bool {
        self.summary.is_some() || self.message.is_some()
    }

    /// Whether it is the text of an error.
    pub fn is_message(&self) -> bool {
        self.message.is_some()
    }

    /// What a new error says that the process was allowed.
    pub fn take_allowed(&mut self) -> Option<u64> {
        self.allowed.take()
    }

    /// What the text says as a whole, in words.
    pub fn said(&self, lang: Lang) -> Option<String> {
        if let Some(message) = &self.message {
            let told = message.told();
            return Some(told.iter().map(|(_, words)| words.get(lang)).collect::<Vec<_>>().join("\n"));
        }
        self.summary.as_ref().map(|summary| self.table.words(summary, lang))
    }

    fn read(&mut self) {
        if self.read_of == self.text {
            return;
        }
        self.read_of.clone_from(&self.text);
        self.summary = table_of(&self.text);
        self.message = message::read(&self.text).filter(|_| self.summary.is_none());
        self.allowed = self.message.and_then(|message| message.allowed).map(|allowed| allowed.bytes);
    }

    /// The card.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
        self.read();
        let title = match (&self.message, &self.summary) {
            (Some(_), _) => REFUSED,
            (None, Some(_)) => TABLE,
            _ => TITLE,
        };
        widgets::card(ui, tokens, |ui| {
            parts::heading(ui, tokens, title.get(lang));
            if let Some(message) = &self.message {
                if refusal::ui(ui, tokens, lang, message, actions) {
                    self.text.clear();
                }
                return;
            }
            let Some(summary) = &self.summary else {
                self.paste_ui(ui, tokens, lang);
                return;
            };
            let small = |ui: &mut Ui, text: &str| {
                ui.add(egui::Label::new(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted)).wrap());
            };
            parts::body(ui, tokens, &self.table.words(summary, lang), tokens.ink);
            ui.add_space(tokens.space.s);
            self.table.ui(ui, tokens, lang, summary);
            if !summary.is_exact {
                small(ui, ROUNDED.get(lang));
            }
            if !summary.unknown.is_empty() {
                small(ui, &UNKNOWN.get(lang).replace("{}", &summary.unknown.join(", ")));
            }
            if widgets::link(ui, tokens, OTHER.get(lang)).clicked() {
                self.text.clear();
            }
        });
    }

    fn paste_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        parts::note(ui, tokens, HOW.get(lang), tokens.ink);
        ui.add_space(tokens.space.xs);
        let edit = TextEdit::multiline(&mut self.text)
            .hint_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …\n|  PyTorch CUDA memory summary, device ID 0  |")
            .font(tokens.font(Type::MonoSmall))
            .desired_rows(4)
            .desired_width(ui.available_width());
        let response = egui::ScrollArea::vertical()
            .id_salt("paste")
            .max_height(tokens.px(160.0))
            .show(ui, |ui| ui.add(edit))
            .inner;
        response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, TITLE.get(lang)));
        if !self.text.trim().is_empty() {
            ui.add_space(tokens.space.xs);
            widgets::verdict(ui, tokens, Verdict::Caution, BAD.get(lang));
        }
    }
}

/// The table in a text, if it is one.
pub fn table_of(text: &str) -> Option<Summary> {
    // JSON first: it may hold the table as one of its texts.
    if text.trim_start().starts_with('{') {
        return read_stats(text).ok().filter(|summary| !summary.rows.is_empty());
    }
    is_text(text).then(|| read_text(text)).filter(|summary| !summary.rows.is_empty())
}
