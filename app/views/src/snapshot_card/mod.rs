//! A recorded snapshot inside a lesson: memory over time, the moment at the cursor in numbers, who holds most there, and one
//! more figure of the reader's choice. The figures are those of the snapshot page (`crate::snapshot`).
//!
//! The file is an asset of the program; it is asked for through `View::wants`, so that the web page fetches it only where a
//! chapter shows it. `question.rs` is what the reader sets, `opened.rs` the snapshot once it has been read, `holders.rs` the
//! bars of who holds most.

mod holders;
mod opened;
mod question;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::snapshot::band_chip;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{RichText, Ui};
use opened::Opened;
use question::{Focus, Question};
use vramlab_kit::widgets::{Mark, legend};
use vramlab_kit::{Area, Tokens, Type};
use vramlab_units::show::{bytes_binary, with_unit};
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, Lang, Map, Text};

const LOADING: Text = Text::new("正在取快照…", "Fetching the snapshot …");
const FAILED: Text = Text::new("快照读不出来：{}", "The snapshot cannot be read: {}");
const BELOW: Text = Text::new("下面看", "Below");
const COLOUR: Text = Text::new("颜色", "Colour");
const TO_PEAK: Text = Text::new("到峰值", "To the peak");
const TO_OOM: Text = Text::new("到 OOM", "To the OOM");
const TO_END: Text = Text::new("到结尾", "To the end");
const RESERVED: Text = Text::new("保留", "reserved");
const HINT: Text = Text::new(
    "单击时间线放光标，拖动放大，双击复原；下面的数字都是光标那一刻的。",
    "Click the timeline for the cursor, drag to zoom, double click for all. The numbers below are of the cursor's moment.",
);
const HOLE: Text = Text::new("在用块之间的空洞", "hole beside blocks in use");
const FREE: Text = Text::new("整段空闲（缓存）", "wholly free, cached");
const RECORDED: [&str; 3] = ["H200", "PyTorch 2.11", "2026-11-30"];

/// The way of the file.
enum State {
    Waiting,
    Failed(String),
    Open(Box<Opened>),
}

/// See the module's docs.
pub struct SnapshotCard {
    question: Question,
    state: State,
}

impl SnapshotCard {
    fn opened_ui(question: &mut Question, opened: &mut Opened, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let colours = question::COLOURS.map(|(colour, text)| (colour, text.get(lang).to_owned()));
            if controls::choice(flow, tokens, COLOUR.get(lang), &mut question.colour, &colours) {
                opened.recolour(question.colour);
            }
            let focuses = Focus::ALL.map(|focus| (focus, focus.label().get(lang).to_owned()));
            controls::choice(flow, tokens, BELOW.get(lang), &mut question.focus, &focuses);
            for (label, at) in [(TO_PEAK, Some(opened.peak)), (TO_OOM, opened.oom()), (TO_END, Some(opened.n_events()))]
            {
                if let Some(at) = at.filter(|at| *at != opened.look.cursor)
                    && controls::button(flow, tokens, label.get(lang))
                {
                    opened.point_at(at);
                }
            }
        });
        ui.add_space(tokens.space.s);
        opened.timeline.ui(ui, tokens, lang, &opened.scene, &mut opened.look);
        ui.add_space(tokens.space.xs);
        bands_ui(ui, tokens, lang, opened);
        ui.label(RichText::new(HINT.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
        ui.add_space(tokens.space.xs);
        opened.refresh();
        controls::key_numbers(ui, tokens, lang, &key_numbers(opened));
        ui.add_space(tokens.space.s);
        holders::ui(ui, tokens, lang, opened);
        Self::focus_ui(question.focus, opened, ui, tokens, lang);
        question.cursor = Some(opened.look.cursor).filter(|cursor| *cursor != opened.start);
    }

    fn focus_ui(focus: Focus, opened: &mut Opened, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let Opened { scene, look, map, log, icicle, histogram, .. } = opened;
        if focus == Focus::Timeline {
            return;
        }
        ui.add_space(tokens.space.s);
        match focus {
            Focus::Map => {
                let marks =
                    [(Mark::Area(Area::Fragmented), HOLE.get(lang)), (Mark::Area(Area::CachedFree), FREE.get(lang))];
                legend(ui, tokens, &marks);
                ui.add_space(tokens.space.xs);
                map.ui(ui, tokens, lang, scene, look);
            }
            Focus::Stacks => icicle.ui(ui, tokens, lang, scene, look),
            Focus::Log => {
                log.ui(ui, tokens, lang, scene, look);
            }
            Focus::Sizes => {
                histogram.ui(ui, tokens, lang, scene, look);
            }
            Focus::Timeline => {}
        }
    }
}

/// What each colour is, with what it holds at the cursor.
fn bands_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened) {
    let scene = &opened.scene;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.m;
        for (idx, band) in scene.bands.all.iter().enumerate() {
            let size = bytes_binary(Bytes(band.value(opened.look.cursor)));
            let words = format!("{}  {size}", holders::short(band.label.get(lang)));
            band_chip(ui, tokens, scene.color(tokens, idx), &words, false);
        }
        if opened.look.shows_reserved {
            let reserved = scene.analysis.timeline.reserved.value(opened.look.cursor);
            let words = format!("{}  {}", RESERVED.get(lang), bytes_binary(Bytes(reserved)));
            band_chip(ui, tokens, tokens.ink, &words, true);
        }
    });
}

fn key_numbers(opened: &Opened) -> Vec<KeyNumber> {
    let metrics = &opened.metrics;
    let number =
        |label, bytes: u64| KeyNumber::new(label, bytes_binary(Bytes(bytes))).exact(format!("{bytes}\u{2009}B"));
    vec![
        number(Text::new("已分配", "allocated"), metrics.allocated),
        number(Text::new("保留", "reserved"), metrics.reserved),
        number(Text::new("空洞共", "holes in all"), metrics.inactive),
        number(Text::new("最大空洞", "largest hole"), metrics.largest_hole),
        KeyNumber::new(Text::new("碎片率", "fragmentation"), with_unit(metrics.fragmentation, "%")),
    ]
}

impl View for SnapshotCard {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        match &mut self.state {
            State::Open(opened) => Self::opened_ui(&mut self.question, opened, ui, tokens, lang),
            State::Waiting => holders::words_ui(ui, tokens, LOADING.get(lang)),
            State::Failed(why) => {
                figure::problem_ui(ui, tokens, &FAILED.get(lang).replace("{}", why));
                holders::words_ui(ui, tokens, &FAILED.get(lang).replace("{}", why));
            }
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.state {
            State::Open(opened) => opened.finding(lang),
            State::Waiting => LOADING.get(lang).to_owned(),
            State::Failed(why) => FAILED.get(lang).replace("{}", why),
        }
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["place", "bytes", "blocks"].map(str::to_owned).to_vec();
        let rows = match &self.state {
            State::Open(opened) => opened.rows(),
            _ => vec![vec![self.question.file.to_owned(), String::new(), String::new()]],
        };
        DataTable { header, rows }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        Some(RECORDED.map(str::to_owned))
    }

    fn wants(&self) -> Option<String> {
        matches!(self.state, State::Waiting).then(|| self.question.path())
    }

    fn take(&mut self, asset: Result<&[u8], String>) {
        let opened = asset.and_then(|bytes| Opened::read(bytes, &self.question));
        self.state = match opened {
            Ok(opened) => State::Open(Box::new(opened)),
            Err(why) => State::Failed(why),
        };
    }
}

impl Visualizer for SnapshotCard {
    const ID: &'static str = "snapshot";
    const TITLE: Text = Text::new("显存快照", "Memory snapshot");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, state: State::Waiting })
    }
}
