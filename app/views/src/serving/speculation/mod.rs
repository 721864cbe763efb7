//! Speculative decoding: how long a draft should be, how good and how cheap it must be, and where a check stops being free.
//!
//! `question.rs` is what the reader sets and the answer of `vramlab_serve::speculate`, `paint.rs` geometry and picture,
//! `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{MOST, Point, Question};
use vramlab_kit::{Mark, Slider, Tokens, Verdict, legend};
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const BATCH: Text = Text::new("批", "Batch");
const KNEE: Text = Text::new("拐点（token）", "Bend (tokens)");

/// See the module's docs.
pub struct Speculation {
    question: Question,
    curve: Vec<Point>,
    map: Vec<f64>,
}

impl Speculation {
    fn new(question: Question) -> Self {
        Self { curve: question.curve(), map: question.map(), question }
    }

    fn set(&mut self, next: Question) {
        if next != self.question {
            *self = Self::new(next);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question;
        controls::row(ui, tokens, |flow| {
            for (label, value, most, start) in
                [(words::ALPHA, &mut next.alpha, 1.0, 0.8), (words::COST, &mut next.cost, question::MOST_COST, 0.05)]
            {
                let slider =
                    Slider::new(label.get(lang), value, 0.0..=most).step(0.01).default_value(start).width(80.0);
                flow.item(|ui| slider.shown(|value| format!("{value:.2}")).show(ui, tokens));
            }
            let mut gamma = f64::from(next.gamma);
            let slider = Slider::new(words::LENGTH.get(lang), &mut gamma, 0.0..=f64::from(MOST)).step(1.0).width(80.0);
            if flow.item(|ui| slider.default_value(4.0).shown(|value| format!("{value:.0}")).show(ui, tokens)).changed()
            {
                next.gamma = gamma.round() as u32;
            }
            let mut batch = f64::from(next.batch);
            let most = f64::from(next.batch.max(512));
            let slider =
                Slider::new(BATCH.get(lang), &mut batch, 1.0..=most).log().step(1.0).default_value(1.0).width(80.0);
            if flow.item(|ui| slider.shown(|value| format!("{value:.0}")).show(ui, tokens)).changed() {
                next.batch = batch.round().max(1.0) as u32;
            }
            let (least, most) = (next.knee.min(8.0), next.knee.max(1024.0));
            let slider = Slider::new(KNEE.get(lang), &mut next.knee, least..=most).log().step(1.0);
            flow.item(|ui| {
                slider.default_value(206.0).width(80.0).shown(|value| format!("{value:.0}")).show(ui, tokens)
            });
        });
        self.set(next);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.curve);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.drag(ui, &response, &geometry);
        self.keys(ui, &response);
        let over = response.hover_pos().filter(|at| geometry.curve.rect.contains(*at)).map(|at| geometry.gamma_at(at));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            curve: &self.curve,
            map: &self.map,
            hovered: over,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let marks = [
            (Mark::Predicted, words::FREE.get(lang)),
            (Mark::Square(paint::shade(tokens, 1.0)), words::PLAIN.get(lang)),
            (Mark::Square(paint::shade(tokens, 2.0)), "2×"),
            (Mark::Square(paint::shade(tokens, 3.5)), "3.5×"),
            (Mark::Square(paint::shade(tokens, 5.0)), "≥ 5×"),
        ];
        legend(ui, tokens, &marks);
        let said = over.map(|gamma| words::point(&self.question, gamma, lang));
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    /// The picture that was pressed follows the pointer.
    fn drag(&mut self, ui: &Ui, response: &Response, geometry: &Geometry) {
        let pressed = ui.input(|input| input.pointer.press_origin()).filter(|_| response.is_pointer_button_down_on());
        let clicked = response.interact_pointer_pos().filter(|_| response.clicked_by(PointerButton::Primary));
        let (Some(from), Some(at)) = (pressed.or(clicked), response.interact_pointer_pos()) else { return };
        response.request_focus();
        let mut next = self.question;
        if geometry.curve.rect.expand(8.0).contains(from) {
            next.gamma = geometry.gamma_at(at);
        } else if geometry.map.rect.expand(8.0).contains(from) {
            (next.alpha, next.cost) = geometry.setting_at(at);
        }
        self.set(next);
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let mut next = self.question;
        if pressed(Key::ArrowRight) {
            next.gamma = (next.gamma + 1).min(MOST);
        } else if pressed(Key::ArrowLeft) {
            next.gamma = next.gamma.saturating_sub(1);
        } else if pressed(Key::ArrowUp) {
            next.alpha = ((next.alpha * 100.0).round() + 1.0).min(100.0) / 100.0;
        } else if pressed(Key::ArrowDown) {
            next.alpha = ((next.alpha * 100.0).round() - 1.0).max(0.0) / 100.0;
        } else if pressed(Key::Home) {
            next.gamma = 0;
        } else if pressed(Key::End) {
            next.gamma = MOST;
        }
        self.set(next);
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Question { gamma, cost, .. } = self.question;
        let draft = self.question.draft();
        let point = self.curve[gamma as usize];
        let verdict = |speedup: f64| if speedup >= 1.0 { Verdict::Good } else { Verdict::Bad };
        let limit = draft.acceptance_limit(gamma).map_or_else(|| "–".to_owned(), number);
        vec![
            KeyNumber::new(Text::new("快几倍 S", "speed-up S"), words::times(point.speedup))
                .exact(format!("{:.6}", point.speedup))
                .judged(verdict(point.speedup)),
            KeyNumber::new(Text::new("一轮得 token E", "tokens a round E"), number(point.tokens))
                .exact(format!("{:.6}", point.tokens)),
            KeyNumber::new(Text::new("检查 ÷ 一步", "check ÷ step"), number(point.check))
                .exact(format!("{:.6}", point.check)),
            KeyNumber::new(Text::new("α 到多少才赚", "α that breaks even"), limit),
            KeyNumber::new(Text::new("计算量", "sums"), words::times(draft.arithmetic(gamma, cost))),
        ]
    }
}

impl View for Speculation {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["draft (token)", "tokens a round (token)", "check (step)", "speed-up", "speed-up, checks free"];
        let row = |(gamma, point): (usize, &Point)| {
            let values = [gamma as f64, point.tokens, point.check, point.speedup, point.free];
            values.map(|value| value.to_string()).to_vec()
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: self.curve.iter().enumerate().map(row).collect() }
    }
}

impl Visualizer for Speculation {
    const ID: &'static str = "speculation";
    const TITLE: Text = Text::new("投机解码划不划算", "Whether speculative decoding pays");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)))
    }
}
