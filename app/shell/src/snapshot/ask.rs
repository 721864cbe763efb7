//! A file too large to be read whole without a word: how many events it has, and which of them are wanted.

use crate::guide::parts;
use crate::widgets;
use egui::Ui;
use vramlab_kit::tokens::Tokens;
use vramlab_kit::widgets::{Slider, segmented};
use vramlab_snapshot::{Counts, Range};
use vramlab_units::{Bytes, Lang, Text, show};

const TITLE: Text = Text::new("文件很大，先选一段", "A large file: choose a part first");
const WHAT: Text = Text::new(
    "{name} 有 {size}，{n} 个事件。一次全读，要占文件几倍的内存；先看一段就够回答大多数问题，显存不足总在最后。",
    "{name} has {size} and {n} events. Reading all of it takes several times the file in memory; a part answers most questions, and running out of memory is at the end.",
);
const DEVICE: Text = Text::new("设备", "Device");
const FROM: Text = Text::new("从事件", "From event");
const UNTIL: Text = Text::new("到事件", "Until event");
const LAST: Text = Text::new("最后 {n} 个", "The last {n}");
const FIRST: Text = Text::new("前 {n} 个", "The first {n}");
const ALL: Text = Text::new("全部", "All");
const CHOSEN: Text = Text::new("这一段有 {n} 个事件，占 {share}", "This part has {n} events, {share} of all");
const READ: Text = Text::new("读这一段", "Read this part");
const CANCEL: Text = Text::new("不读了", "Do not read it");

/// Events that are read at once without a thought.
const EASY: usize = 500_000;

/// A file that waits for the answer.
pub struct Asking {
    pub name: String,
    pub bytes: Vec<u8>,
    counts: Counts,
    device: usize,
    from: usize,
    until: usize,
}

/// What the reader decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Read,
    Cancel,
}

impl Asking {
    pub fn new(name: String, bytes: Vec<u8>, counts: Counts) -> Self {
        let n_events = |device: &usize| counts.devices[*device].n_events;
        let device = (0..counts.devices.len()).rev().max_by_key(n_events).unwrap_or(0);
        let mut this = Self { name, bytes, counts, device, from: 0, until: 0 };
        this.last();
        this
    }

    /// Events of the chosen device.
    pub fn n_events(&self) -> usize {
        self.counts.devices.get(self.device).map_or(0, |device| device.n_events)
    }

    fn last(&mut self) {
        (self.from, self.until) = (self.n_events().saturating_sub(EASY), self.n_events());
    }

    /// As data.
    pub fn spoken(&self) -> serde_json::Value {
        serde_json::json!({
            "state": "asking", "name": self.name, "n_events": self.counts.n_events(), "range": [self.from, self.until],
        })
    }

    pub fn range(&self) -> Range {
        Range { device: Some(self.device), from: self.from, until: self.until }
    }

    /// The card; the answer once it is given.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) -> Option<Answer> {
        let mut answer = None;
        widgets::card(ui, tokens, |ui| {
            parts::heading(ui, tokens, TITLE.get(lang));
            let size = show::bytes_binary(Bytes(self.counts.n_bytes as u64));
            let words = WHAT.get(lang).replace("{name}", &self.name).replace("{size}", &size);
            parts::body(ui, tokens, &words.replace("{n}", &self.counts.n_events().to_string()), tokens.ink);
            ui.add_space(tokens.space.s);
            self.device_ui(ui, tokens, lang);
            self.range_ui(ui, tokens, lang);
            ui.add_space(tokens.space.s);
            ui.horizontal_wrapped(|ui| {
                if widgets::primary(ui, tokens, READ.get(lang)).clicked() {
                    answer = Some(Answer::Read);
                }
                if widgets::link(ui, tokens, CANCEL.get(lang)).clicked() {
                    answer = Some(Answer::Cancel);
                }
            });
        });
        answer
    }

    fn device_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let told = |device: &usize| self.counts.devices[*device].n_events > 0;
        let devices: Vec<usize> = (0..self.counts.devices.len()).filter(told).collect();
        if devices.len() < 2 {
            return;
        }
        let names: Vec<(usize, String)> = devices.iter().map(|device| (*device, format!("cuda:{device}"))).collect();
        let options: Vec<(usize, &str)> = names.iter().map(|(device, name)| (*device, name.as_str())).collect();
        if segmented(ui, tokens, DEVICE.get(lang), &mut self.device, &options) {
            self.last();
        }
        ui.add_space(tokens.space.xs);
    }

    fn range_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let n = self.n_events();
        let easy = EASY.min(n);
        ui.horizontal_wrapped(|ui| {
            let chosen = (self.from, self.until);
            let few = |text: Text| text.get(lang).replace("{n}", &easy.to_string());
            let parts = [(few(LAST), (n - easy, n)), (few(FIRST), (0, easy)), (ALL.get(lang).to_owned(), (0, n))];
            // Of few events the parts would all be the whole.
            let skipped = if easy < n { 0 } else { 2 };
            for (words, range) in parts.into_iter().skip(skipped) {
                if widgets::pill(ui, tokens, chosen == range, &words).clicked() {
                    (self.from, self.until) = range;
                }
            }
        });
        let (mut from, mut until) = (self.from as f64, self.until as f64);
        let shown = |value: f64| format!("{value:.0}");
        ui.horizontal_wrapped(|ui| {
            Slider::new(FROM.get(lang), &mut from, 0.0..=n as f64).step(1.0).shown(shown).width(220.0).show(ui, tokens);
            Slider::new(UNTIL.get(lang), &mut until, 0.0..=n as f64)
                .step(1.0)
                .shown(shown)
                .width(220.0)
                .show(ui, tokens);
        });
        (self.from, self.until) = (from as usize, (until as usize).max(from as usize + 1).min(n));
        self.from = self.from.min(self.until.saturating_sub(1));
        let share = (self.until - self.from) as f64 / n.max(1) as f64;
        let words = CHOSEN.get(lang).replace("{n}", &(self.until - self.from).to_string());
        let share = show::with_unit((share * 1000.0).round() / 1000.0, "%");
        parts::note(ui, tokens, &words.replace("{share}", &share), tokens.muted);
    }
}
