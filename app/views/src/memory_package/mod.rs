//! The memory package: stacks or chips, their pins, and the pipe that they make together.
//!
//! `cards.rs` reads the hardware file, `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the
//! picture, `words.rs` the sentences.

pub mod cards;
pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use cards::CARDS;
use egui::{CursorIcon, EventFilter, Key, Response, Sense, Ui, vec2};
use layout::Geometry;
use paint::Scene;
use question::{Kind, Question};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_model::peak_bandwidth;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CARD: Text = Text::new("显卡", "Card");
const OWN: Text = Text::new("自定", "custom");
const KIND: Text = Text::new("显存", "Memory");
const STACKS: Text = Text::new("HBM 堆叠", "HBM stacks");
const CHIPS: Text = Text::new("GDDR 芯片", "GDDR chips");
const BUS: Text = Text::new("位宽 bus", "Bus width");
const PIN: Text = Text::new("每根速率 pin rate", "Pin rate");

/// See the module's docs.
pub struct MemoryPackage {
    question: Question,
    cursor: usize,
}

impl MemoryPackage {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            self.card_ui(flow, tokens, lang);
            let kinds = [(Kind::Hbm, STACKS.get(lang).to_owned()), (Kind::Gddr, CHIPS.get(lang).to_owned())];
            let mut kind = self.question.kind;
            controls::choice(flow, tokens, KIND.get(lang), &mut kind, &kinds);
            self.question.set_kind(kind);
            self.sliders_ui(flow, tokens, lang);
        });
    }

    fn card_ui(&mut self, flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang) {
        let mut options: Vec<(Option<usize>, String)> =
            CARDS.iter().enumerate().map(|(idx, card)| (Some(idx), card.name.replace("RTX ", ""))).collect();
        let mut card = self.question.card;
        if card.is_none() {
            options.push((None, OWN.get(lang).to_owned()));
        }
        controls::choice(flow, tokens, CARD.get(lang), &mut card, &options);
        if card != self.question.card {
            self.question.card = card;
            if let Some(question) = card.and_then(Question::of_card) {
                self.question = question;
            }
        }
    }

    fn sliders_ui(&mut self, flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang) {
        let kind = self.question.kind;
        let step = (kind.part_bits() / 8).max(32) as f64;
        let mut bits = self.question.bus_bits as f64;
        let bus = Slider::new(BUS.get(lang), &mut bits, step..=kind.most_bits() as f64).step(step);
        let bus = bus.default_value(kind.usual().0 as f64).unit("bit");
        if flow.item(|ui| bus.show(ui, tokens)).changed() {
            self.question.bus_bits = bits.round() as u64;
            self.question.card = None;
        }
        let (slow, fast) = kind.pin_range();
        let mut rate = self.question.gbit_per_pin;
        let pin = Slider::new(PIN.get(lang), &mut rate, slow..=fast).step(0.1).default_value(kind.usual().1);
        if flow.item(|ui| pin.shown(words::pin).show(ui, tokens)).changed() {
            self.question.gbit_per_pin = rate;
            self.question.card = None;
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let bits = self.question.parts();
        let rates: Vec<f64> = bits.iter().map(|bits| self.question.part_rate(*bits).0).collect();
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.question.kind, &rates);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.steer(ui, &response, bits.len());
        let is_pulled = self.drag_pipe(ui, tokens, &response, &geometry);
        let hovered = response.hover_pos().and_then(|pos| geometry.hit(pos));
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            bits: &bits,
            picked,
            is_pulled,
        };
        scene.paint();
        let said = picked.map(|idx| words::part(&self.question, &bits, idx, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, &said.unwrap_or_else(|| words::scale(&self.question, &bits, lang)));
    }

    /// The pipe can be pulled thicker or thinner: the pins then run faster or slower. The slider does the same by keyboard.
    /// Gives whether the pointer has the pipe.
    fn drag_pipe(&mut self, ui: &Ui, tokens: &Tokens, figure: &Response, geometry: &Geometry) -> bool {
        let grip = geometry.pipe.expand2(vec2(0.0, tokens.px(8.0)));
        let pipe = ui.interact(grip, figure.id.with("pipe"), Sense::HOVER | Sense::DRAG);
        let is_held = pipe.hovered() || pipe.dragged();
        if is_held {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
        }
        let (true, Some(pos)) = (pipe.dragged(), pipe.interact_pointer_pos()) else { return is_held };
        let outward = (pos.y - geometry.pipe.center().y).signum() * pipe.drag_delta().y;
        if outward != 0.0 {
            let thick = geometry.pipe.height() + 2.0 * outward;
            self.question.set_peak(f64::from(thick.max(0.0) / geometry.per_gb_per_s));
        }
        is_held
    }

    /// Arrows, Home and End move among the stacks or chips.
    fn steer(&mut self, ui: &Ui, response: &Response, n_parts: usize) {
        if response.clicked_by(egui::PointerButton::Primary) {
            response.request_focus();
        }
        let last = n_parts.saturating_sub(1);
        self.cursor = self.cursor.min(last);
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowRight) || pressed(Key::ArrowDown) {
            self.cursor = (self.cursor + 1).min(last);
        } else if pressed(Key::ArrowLeft) || pressed(Key::ArrowUp) {
            self.cursor = self.cursor.saturating_sub(1);
        } else if pressed(Key::Home) {
            self.cursor = 0;
        } else if pressed(Key::End) {
            self.cursor = last;
        }
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let peak = self.question.peak();
        let exact = format!(
            "{} bit × {} ÷ 8 = {:.3} GB/s",
            self.question.bus_bits,
            words::pin(self.question.gbit_per_pin),
            peak.0
        );
        let computed =
            KeyNumber::new(Text::new("算出的峰值", "peak, computed"), with_unit(peak.0, "GB/s")).exact(exact);
        let mut numbers = vec![computed];
        if let Some(published) = self.question.card().and_then(|card| card.published.as_ref()) {
            let ratio = peak_bandwidth::of_published(peak, published.gb_per_s);
            let doubt = match (published.is_doubtful, lang) {
                (false, _) => "",
                (true, Lang::Zh) => "；各处说法不一",
                (true, Lang::En) => "; sources differ",
            };
            let source = format!("{} ({}){doubt}", published.source, published.date);
            let label = Text::new("厂商公布", "published");
            numbers.push(KeyNumber::new(label, with_unit(published.gb_per_s, "GB/s")).exact(source));
            let verdict = if (ratio.0 - 1.0).abs() < 0.01 { Verdict::Good } else { Verdict::Caution };
            let label = Text::new("算出 ÷ 公布", "computed ÷ published");
            numbers.push(KeyNumber::new(label, words::percent(ratio.0)).judged(verdict));
        }
        numbers
    }
}

impl View for MemoryPackage {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.question.parts(), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    /// Every card of the file, and the state shown.
    fn data(&self) -> DataTable {
        let header = ["card", "memory", "bus (bit)", "pin (Gb/s)", "computed (GB/s)", "published (GB/s)"];
        let row = |name: &str, memory: &str, question: &Question, published: Option<f64>| {
            vec![
                name.to_owned(),
                memory.to_owned(),
                question.bus_bits.to_string(),
                question.gbit_per_pin.to_string(),
                question.peak().0.to_string(),
                published.map(|value| value.to_string()).unwrap_or_default(),
            ]
        };
        let mut rows = vec![row("shown", self.question.kind.id(), &self.question, None)];
        for (idx, card) in CARDS.iter().enumerate() {
            if let Some(question) = Question::of_card(idx) {
                let published = card.published.as_ref().map(|published| published.gb_per_s);
                rows.push(row(&card.name, &card.memory, &question, published));
            }
        }
        DataTable { header: header.map(str::to_owned).to_vec(), rows }
    }
}

impl Visualizer for MemoryPackage {
    const ID: &'static str = "memory_package";
    const TITLE: Text = Text::new("显存封装（memory package）", "Memory package");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, cursor: 0 })
    }
}
