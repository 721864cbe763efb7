//! The banks of shared memory as a wheel: a walk down a column steps over it by the pitch, and comes home early or late.
//!
//! The bank grid (`bank_grid`) shows one access pass by pass; the wheel shows why a pitch works, for every pitch at once.
//! `paint.rs` is geometry and picture, `words.rs` the sentences.

mod paint;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use vramlab_kit::{Mark, Tokens, Verdict, legend};
use vramlab_model::kernels::bank_wheel::{Walk, Wheel, wheel};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

pub const MOST_PITCH: u64 = 66;
const PITCH: Text = Text::new("行距", "Pitch");
const WALK: Text = Text::new("一个 warp 取", "A warp takes");

/// See the module's docs.
pub struct BankWheel {
    pitch: u64,
    walk: Walk,
    answer: Wheel,
    degrees: Vec<u32>,
}

impl BankWheel {
    fn new(pitch: u64, walk: Walk) -> Self {
        let degrees = (1..=MOST_PITCH).map(|pitch| wheel(walk, pitch).degree).collect();
        Self { pitch, walk, answer: wheel(walk, pitch), degrees }
    }

    fn set(&mut self, pitch: u64, walk: Walk) {
        if (pitch, walk) != (self.pitch, self.walk) {
            *self = Self::new(pitch.clamp(1, MOST_PITCH), walk);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let (mut pitch, mut walk) = (self.pitch, self.walk);
        controls::row(ui, tokens, |flow| {
            let shown = |pitch: u64| match lang {
                Lang::Zh => format!("{pitch} 个字"),
                Lang::En => format!("{pitch} words"),
            };
            controls::slider(flow, tokens, PITCH.get(lang), &mut pitch, 1..=MOST_PITCH, shown);
            let walks = Walk::ALL.map(|walk| (walk, words::walk(walk).get(lang).to_owned()));
            controls::choice(flow, tokens, WALK.get(lang), &mut walk, &walks);
        });
        self.set(pitch, walk);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.drag(&response, &geometry);
        self.keys(ui, &response);
        let bank = response.hover_pos().and_then(|at| geometry.bank_at(at));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            pitch: self.pitch,
            wheel: &self.answer,
            degrees: &self.degrees,
            bank,
        }
        .paint();
        let said = bank.map(|bank| words::bank(&self.answer, bank, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let marks = [
            (Mark::Square(tokens.tint(tokens.ink, 0.45)), words::STEP.get(lang)),
            (Mark::Square(tokens.tint(tokens.caution, 0.8)), words::WAIT.get(lang)),
        ];
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    fn drag(&mut self, response: &Response, geometry: &Geometry) {
        let Some(at) = response.interact_pointer_pos() else { return };
        if response.clicked_by(PointerButton::Primary) || response.drag_started_by(PointerButton::Primary) {
            response.request_focus();
        }
        let from = response.ctx.input(|input| input.pointer.press_origin()).unwrap_or(at);
        let is_used = response.dragged_by(PointerButton::Primary) || response.clicked_by(PointerButton::Primary);
        if is_used && geometry.bars.expand(12.0).contains(from) {
            self.set(geometry.pitch_at(at), self.walk);
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let at = Walk::ALL.iter().position(|walk| *walk == self.walk).unwrap_or(0);
        let n = Walk::ALL.len();
        if pressed(Key::ArrowRight) {
            self.set((self.pitch + 1).min(MOST_PITCH), self.walk);
        } else if pressed(Key::ArrowLeft) {
            self.set(self.pitch.saturating_sub(1).max(1), self.walk);
        } else if pressed(Key::ArrowDown) {
            self.set(self.pitch, Walk::ALL[(at + 1) % n]);
        } else if pressed(Key::ArrowUp) {
            self.set(self.pitch, Walk::ALL[(at + n - 1) % n]);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let answer = &self.answer;
        let verdict = if answer.degree > 1 { Verdict::Caution } else { Verdict::Good };
        let align = format!("{} B", answer.row_align_bytes);
        vec![
            KeyNumber::new(Text::new("冲突路数", "conflict degree"), answer.degree.to_string()).judged(verdict),
            KeyNumber::new(Text::new("用到的 bank", "banks used"), format!("{} / 32", answer.banks_used)),
            KeyNumber::new(Text::new("行首对齐到", "rows aligned to"), align),
        ]
    }
}

impl View for BankWheel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.walk, self.pitch, &self.answer, lang)
    }

    fn params(&self) -> Map {
        let values: [(&str, vramlab_units::Value); 2] =
            [("pitch_words", self.pitch.into()), ("walk", self.walk.name().into())];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn data(&self) -> DataTable {
        let header = ["pitch (words)", "degree"].map(str::to_owned).to_vec();
        let row = |(idx, degree): (usize, &u32)| vec![(idx + 1).to_string(), degree.to_string()];
        DataTable { header, rows: self.degrees.iter().enumerate().map(row).collect() }
    }
}

impl Visualizer for BankWheel {
    const ID: &'static str = "bank_wheel";
    const TITLE: Text = Text::new("bank 转盘", "The wheel of banks");

    fn fields() -> Vec<FieldSpec> {
        let walks = Walk::ALL.map(|walk| walk.name().into()).to_vec();
        let doc = Text::new("lane 怎么走", "How the lanes walk");
        let pitch = Text::new("小块一行占几个字", "Words of a row of the tile, padding included");
        vec![
            FieldSpec::int("pitch_words", "word", 1, MOST_PITCH as i64, pitch).default_value(32),
            FieldSpec::new("walk", "", FieldKind::Choice { options: walks }, doc).default_value("column32"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(args.uint("pitch_words"), Walk::from_name(args.text("walk")).unwrap_or(Walk::Column)))
    }
}
