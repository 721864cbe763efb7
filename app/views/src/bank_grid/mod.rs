//! The bank grid: 32 lanes drop into 32 banks of shared memory, pass by pass.
//!
//! `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure::{self, LaneKeys};
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui};
use layout::{Geometry, Pointed};
use paint::Scene;
use question::{MAX_PAD, MAX_STRIDE, Pattern, Question, WIDTHS};
use vramlab_kit::{Tokens, Verdict};
use vramlab_model::bank_conflicts::{self, BANKS, Conflicts};
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const PATTERN: Text = Text::new("访问 pattern", "Pattern");
const STRIDE: Text = Text::new("步长 stride", "Stride");
const WIDTH: Text = Text::new("宽度 width", "Width");
const PAD: Text = Text::new("垫字 padding", "Padding");
const SWIZZLE: Text = Text::new("XOR swizzle", "XOR swizzle");
const ALL_ON: Text = Text::new("全部参与", "All lanes on");

/// Speed of the player.
const PASSES_PER_SEC: f64 = 2.0;

/// See the module's docs.
pub struct BankGrid {
    question: Question,
    steps: Steps,
    cursor: LaneKeys,
}

impl BankGrid {
    fn answer(&self) -> Result<Conflicts, String> {
        let addrs = self.question.lane_addrs().map_err(|error| error.to_string())?;
        bank_conflicts::run(&addrs, self.question.width()).map_err(|error| error.to_string())
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, answer: &Conflicts) {
        let origin = ui.cursor().min;
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(origin, width, tokens.scale, answer, None);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let hovered = response.hover_pos().and_then(|pos| geometry.hit(pos));
        if let (true, Some(Pointed::Lane(lane))) = (response.clicked_by(PointerButton::Primary), hovered) {
            self.question.toggle(lane);
            self.cursor.lane = lane;
        }
        if let Some(lane) = self.cursor.steer(ui, &response) {
            self.question.toggle(lane);
        }
        let picked = hovered.or_else(|| response.has_focus().then_some(Pointed::Lane(self.cursor.lane)));
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            geometry: &geometry,
            answer,
            n_served: self.steps.now(),
            picked,
            has_lanes: true,
        };
        scene.paint();
        let words = picked.map(|pointed| words::readout(&geometry, answer, pointed, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), words.as_deref().filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, &words.unwrap_or_else(|| scale_note(lang)));
    }
}

/// What the picture's measures are, when nothing is pointed at.
pub fn scale_note(lang: Lang) -> String {
    match lang {
        Lang::Zh => "一列一个 bank，一行一趟（wavefront）；格里是 lane 号，×n 表示 n 个 lane 共用一个字。空格是这一趟没用上的 bank。",
        Lang::En => {
            "A column is a bank, a row is one pass (a wavefront). A box holds its lane; ×n means that n lanes share the word. \
             Empty boxes are banks that the pass leaves idle."
        }
    }
    .to_owned()
}

/// Width, padding and swizzle, shared with the access map.
pub fn layout_ui(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    lang: Lang,
    pad_words: &mut u64,
    swizzle: &mut bool,
    every: u64,
) {
    let mut pad = *pad_words / every;
    let shown = |pad: u64| (pad * every).to_string();
    controls::slider(flow, tokens, PAD.get(lang), &mut pad, 0..=MAX_PAD / every, shown);
    *pad_words = pad * every;
    controls::toggle(flow, tokens, SWIZZLE.get(lang), swizzle);
}

fn pattern_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let patterns: Vec<(Pattern, String)> =
        Pattern::ALL.iter().map(|pattern| (*pattern, pattern.label().get(lang).to_owned())).collect();
    controls::choice(flow, tokens, PATTERN.get(lang), &mut question.pattern, &patterns);
    if question.pattern == Pattern::Strided {
        let widths: Vec<(u64, String)> = WIDTHS.iter().map(|size| (*size, format!("{size} B"))).collect();
        let mut width = question.width_bytes;
        if controls::choice(flow, tokens, WIDTH.get(lang), &mut width, &widths) {
            question.set_width(width);
        }
        let every = question.width_words();
        let mut stride = question.stride_words / every;
        let shown = |stride: u64| words_text(stride * every, lang);
        controls::slider(flow, tokens, STRIDE.get(lang), &mut stride, 0..=MAX_STRIDE / every, shown);
        question.stride_words = stride * every;
    }
    let every = question.width_words();
    layout_ui(flow, tokens, lang, &mut question.pad_words, &mut question.has_swizzle, every);
    if question.active_mask != u32::MAX && controls::button(flow, tokens, ALL_ON.get(lang)) {
        question.active_mask = u32::MAX;
    }
}

fn words_text(words: u64, lang: Lang) -> String {
    match (lang, words) {
        (Lang::Zh, words) => format!("{words} 字"),
        (Lang::En, 1) => "1 word".to_owned(),
        (Lang::En, words) => format!("{words} words"),
    }
}

/// The key numbers, shared with the access map.
pub fn key_numbers(answer: &Conflicts) -> Vec<KeyNumber> {
    let verdict = match (answer.wavefronts(), answer.extra_passes()) {
        (0, _) => Verdict::Neutral,
        (_, 0) => Verdict::Good,
        _ => Verdict::Caution,
    };
    let degree = Text::new("冲突路数 degree", "conflict degree");
    vec![
        KeyNumber::new(degree, number(answer.degree())).judged(verdict),
        KeyNumber::new(Text::new("wavefront（趟）", "wavefronts"), answer.wavefronts().to_string()),
        KeyNumber::new(Text::new("用到的 bank", "banks used"), format!("{} / {BANKS}", answer.banks_used)),
    ]
}

impl View for BankGrid {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        controls::row(ui, tokens, |flow| pattern_ui(flow, tokens, lang, &mut self.question));
        ui.add_space(tokens.space.xs);
        match self.answer() {
            Ok(answer) => {
                self.steps.set_total(answer.wavefronts() as usize);
                self.steps.tick(cx);
                self.figure_ui(ui, tokens, lang, &answer);
                self.steps.ui(ui, cx);
                ui.add_space(tokens.space.xs);
                controls::key_numbers(ui, tokens, lang, &key_numbers(&answer));
            }
            Err(problem) => figure::problem_ui(ui, tokens, &problem),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match self.answer() {
            Ok(answer) => words::finding(&self.question, &answer, lang),
            Err(problem) => problem,
        }
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["lane", "word", "bank", "phase", "pass"].map(str::to_owned).to_vec();
        let Ok(answer) = self.answer() else { return DataTable { header, rows: Vec::new() } };
        let rows = answer.phases.iter().enumerate().flat_map(|(phase_idx, phase)| {
            phase.hits.iter().map(move |hit| {
                [hit.lane as u64, hit.word, u64::from(hit.bank), phase_idx as u64, u64::from(hit.pass)]
                    .map(|value| value.to_string())
                    .to_vec()
            })
        });
        DataTable { header, rows: rows.collect() }
    }

    fn is_playing(&self) -> bool {
        self.steps.is_playing()
    }
}

impl Visualizer for BankGrid {
    const ID: &'static str = "bank_grid";
    const TITLE: Text = Text::new("Bank 网格（bank grid）", "Bank grid");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let mut this = Self {
            question: Question::from_args(args)?,
            steps: Steps::new(0, 0, PASSES_PER_SEC),
            cursor: LaneKeys::default(),
        };
        let total = this.answer().map_or(0, |answer| answer.wavefronts() as usize);
        this.steps = Steps::new(total, total, PASSES_PER_SEC);
        Ok(this)
    }
}
