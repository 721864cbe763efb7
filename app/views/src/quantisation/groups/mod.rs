//! A row of weights as integers in groups: pull one weight out, and see whose step it stretches.
//!
//! `question.rs` is what the reader sets and what the models `quant_values` and `quant_size` say,
//! `layout.rs` the geometry, `paint.rs` and `trade.rs` the picture, `words.rs` the sentences.

mod layout;
mod paint;
mod question;
mod trade;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{Answer, BITS, GROUPS, MOST, N, Question};
use vramlab_kit::{Tokens, Verdict};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const BITS_NAME: Text = Text::new("位数", "Bits");
const GROUP: Text = Text::new("组长", "Group");
const AGAIN: Text = Text::new("放回去", "Put it back");

/// See the module's docs.
pub struct QuantGroups {
    question: Question,
    answer: Answer,
    /// The weight that the keyboard is on.
    at: usize,
    /// The weight that is being pulled.
    pulled: Option<usize>,
}

impl QuantGroups {
    fn new(question: Question) -> Result<Self, FieldError> {
        let at = question.outlier_at;
        Ok(Self { answer: Answer::new(&question)?, question, at, pulled: None })
    }

    fn set(&mut self, next: Question) {
        if next != self.question
            && let Ok(answer) = Answer::new(&next)
        {
            (self.question, self.answer) = (next, answer);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let bits = BITS.map(|bits| (bits, bits.to_string()));
            controls::choice(flow, tokens, BITS_NAME.get(lang), &mut next.bits, &bits);
            let groups = GROUPS.map(|group| (group, words::group(group, lang)));
            controls::choice(flow, tokens, GROUP.get(lang), &mut next.group, &groups);
            if controls::button(flow, tokens, AGAIN.get(lang)) {
                next.outlier = None;
            }
        });
        self.set(next);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.pull(&response, &geometry);
        self.keys(ui, &response);
        let over = response.hover_pos().and_then(|at| geometry.weight_at(at));
        let looked = self.pulled.or(over).unwrap_or(self.at);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer: &self.answer,
            looked,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        let said = words::weight(&self.question, &self.answer, looked, lang);
        figure::speak(&response, &self.finding(lang), Some(said.as_str()).filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    fn pull(&mut self, response: &Response, geometry: &Geometry) {
        let at = response.interact_pointer_pos();
        let weight = at.and_then(|at| geometry.weight_at(at));
        if let (true, Some(weight)) = (response.clicked_by(PointerButton::Primary), weight) {
            self.at = weight;
            response.request_focus();
        }
        if response.drag_started() {
            // What stands out is easier to take hold of than its neighbours.
            let near = |weight: usize| self.question.outlier.is_some() && weight.abs_diff(self.question.outlier_at) < 4;
            self.pulled = weight.map(|weight| if near(weight) { self.question.outlier_at } else { weight });
        }
        if let (Some(weight), Some(at), true) = (self.pulled, at, response.dragged()) {
            self.at = weight;
            let value = geometry.value_at(at).clamp(-MOST, MOST);
            self.set(self.question.with(weight, value));
        }
        if response.drag_stopped() {
            self.pulled = None;
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowRight) {
            self.at = (self.at + 1).min(N - 1);
        } else if pressed(Key::ArrowLeft) {
            self.at = self.at.saturating_sub(1);
        }
        let now = self.answer.values[self.at];
        if pressed(Key::ArrowUp) {
            self.set(self.question.with(self.at, (now + 1.0).min(MOST)));
        } else if pressed(Key::ArrowDown) {
            self.set(self.question.with(self.at, (now - 1.0).max(-MOST)));
        } else if pressed(Key::Num0) {
            self.set(Question { outlier: None, ..self.question.clone() });
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let answer = &self.answer;
        let point = answer.point(self.question.group);
        let blown = answer.blow_up(self.question.group);
        let group = self.question.outlier_at / self.question.group as usize;
        vec![
            KeyNumber::new(Text::new("每个权重", "a weight"), with_unit(point.bits, "bit"))
                .exact(format!("{} bit", point.bits)),
            KeyNumber::new(Text::new("均方根误差", "RMS error"), with_unit(point.rms, "1"))
                .exact(format!("{:.6} σ", point.rms)),
            KeyNumber::new(Text::new("不拉时的几倍", "against untouched"), format!("×{}", number(blown)))
                .judged(if blown > 1.5 { Verdict::Bad } else { Verdict::Neutral }),
            KeyNumber::new(Text::new("这一组的步长", "step of its group"), with_unit(answer.scale(group), "1")),
        ]
    }
}

impl View for QuantGroups {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.answer, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["group", "bits a weight", "rms error", "rms error, untouched"].map(str::to_owned).to_vec();
        let rows = self.answer.points.iter().map(|point| {
            vec![point.group.to_string(), point.bits.to_string(), point.rms.to_string(), point.clean.to_string()]
        });
        DataTable { header, rows: rows.collect() }
    }
}

impl Visualizer for QuantGroups {
    const ID: &'static str = "quant_groups";
    const TITLE: Text = Text::new("组长、误差与离群值", "Groups, errors and an outlier");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Self::new(Question::from_args(args)?)
    }
}
