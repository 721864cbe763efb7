//! Every plan of up to eight changes as a point of (time, peak): what fits, what nothing beats, and the way to one of them.
//!
//! `question.rs` is the workload, the card and the plan, `paint.rs` the picture, `words.rs` the sentences. All numbers are
//! `model::plan_pareto`'s.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{Found, LEAST_CARD, MOST_CARD, Preset, Question};
use vramlab_kit::{Area, Mark, Slider, Tokens, legend};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const WORKLOAD: Text = Text::new("工作量", "Workload");
const CARD: Text = Text::new("卡", "The card");
const KEYS: Text = Text::new(
    "按一个点看它的路；左右键沿着不输给谁的那几个走。",
    "Press a dot to see the way to it; arrow keys walk along those that nothing beats.",
);

/// See the module's docs.
pub struct ParetoScatter {
    question: Question,
    found: Found,
}

impl ParetoScatter {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let before = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let options: Vec<(Preset, String)> =
                Preset::ALL.iter().map(|preset| (*preset, preset.label().get(lang).to_owned())).collect();
            controls::choice(flow, tokens, WORKLOAD.get(lang), &mut self.question.preset, &options);
            let slider = Slider::new(CARD.get(lang), &mut self.question.card_gib, LEAST_CARD..=MOST_CARD);
            flow.item(|ui| slider.step(1.0).unit("GiB").default_value(64.0).show(ui, tokens));
            for at in 0..self.question.n_toggles() {
                let mut is_on = self.question.bits >> at & 1 == 1;
                let name = words::toggle(&self.question.toggles[at].id).get(lang);
                if controls::toggle(flow, tokens, name, &mut is_on).changed() {
                    self.question.bits ^= 1 << at;
                }
            }
        });
        if self.question != before {
            self.found = self.question.answer();
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.found, self.question.card_gib);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let hovered = response.hover_pos().and_then(|at| geometry.hit(at, &self.found, tokens.px(14.0)));
        if response.clicked() {
            response.request_focus();
            self.question.bits = hovered.unwrap_or(self.question.bits);
        }
        self.steer(ui, &response);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let way = self.question.way();
        let (question, found) = (&self.question, &self.found);
        Scene { painter, tokens, lang, geometry: &geometry, question, found, way: &way, hovered }.paint();
        figure::focus_ring(ui, tokens, &response);
        let said = words::looked_at(&self.question, &self.found, self.question.bits, lang);
        figure::speak(&response, &self.finding(lang), Some(said.as_str()).filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, &said);
        let marks = [
            (Mark::Square(paint::front_colour(tokens)), Text::new("不输给谁", "nothing beats it")),
            (Mark::Area(Area::Fragmented), Text::new("放不下", "does not fit")),
        ];
        legend(ui, tokens, &marks.map(|(mark, text)| (mark, text.get(lang))));
        figure::readout_ui(ui, tokens, KEYS.get(lang));
    }

    /// Along the set by the arrow keys.
    fn steer(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() || self.found.set.is_empty() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let now = self.found.set.iter().position(|plan| plan.bits == self.question.bits);
        let last = self.found.set.len() - 1;
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let next = if pressed(Key::ArrowRight) {
            now.map_or(0, |now| (now + 1).min(last))
        } else if pressed(Key::ArrowLeft) {
            now.map_or(last, |now| now.saturating_sub(1))
        } else {
            return;
        };
        self.question.bits = self.found.set[next].bits;
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let n_fit = self.found.plans.iter().filter(|plan| plan.refused.is_none()).count();
        let way = self.question.way();
        let last = way.last().copied().unwrap_or(self.question.base());
        let (first_ms, last_ms) = (self.question.base().timing().step_ms, last.timing().step_ms);
        vec![
            KeyNumber::new(Text::new("这个方案", "this plan"), words::ms(last_ms)),
            KeyNumber::new(Text::new("比基线快", "against the baseline"), with_unit(first_ms / last_ms, "×")),
            KeyNumber::new(Text::new("它的峰值", "its peak"), words::gib(last.peak)),
            KeyNumber::new(Text::new("放得下的", "plans that fit"), n_fit.to_string())
                .exact(format!("{n_fit} / {}", self.found.plans.len())),
            KeyNumber::new(Text::new("不输给谁的", "that nothing beats"), self.found.set.len().to_string()),
        ]
    }
}

impl View for ParetoScatter {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.found, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["plan", "time (ms)", "peak (B)", "fits", "nothing beats it"].map(str::to_owned).to_vec();
        let row = |plan: &vramlab_model::plan_pareto::Plan| {
            let fits = plan.refused.map_or_else(|| "yes".to_owned(), |it| format!("not at step {}", it.step));
            let is_best = self.found.set.iter().any(|other| other.bits == plan.bits);
            vec![
                plan.name(&self.question.toggles),
                plan.time_ms.to_string(),
                plan.peak.to_string(),
                fits,
                is_best.to_string(),
            ]
        };
        DataTable { header, rows: self.found.plans.iter().map(row).collect() }
    }
}

impl Visualizer for ParetoScatter {
    const ID: &'static str = "pareto_scatter";
    const TITLE: Text = Text::new("所有方案：时间与峰值", "All plans: time and peak");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args)?;
        let found = question.answer();
        Ok(Self { question, found })
    }
}
