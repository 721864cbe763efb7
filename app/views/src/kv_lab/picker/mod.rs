//! Published models by the bytes that a token leaves, and one of them on a card: how long may its requests get?
//!
//! `models.rs` holds the numbers, `question.rs` is what the reader sets, `answer.rs` asks the models `kv_cache` and
//! `weights`, `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences. A `config.json` of the reader's
//! becomes a row of its own (`crate::config_field`).

mod answer;
mod layout;
mod models;
mod paint;
mod question;
mod words;

use crate::config_field::{ConfigFacts, ConfigField};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use answer::Answer;
use egui::{PointerButton, Response, Sense, Ui};
use layout::Geometry;
use models::Shape;
use paint::Scene;
use question::{CARDS_GB, MOST_TOKENS, OWN, Question, Shows};
use vramlab_kit::{Area, Mark, Role, Slider, Tokens, Verdict, legend};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const SHOWS: Text = Text::new("横条", "Bars");
const VALUE: Text = Text::new("缓存的一个值", "A value of the cache");
const WEIGHT: Text = Text::new("权重的一个值", "A value of the weights");
const CARD: Text = Text::new("卡", "Card");
const CARDS: Text = Text::new("张量并行", "Tensor parallel");
const REQUESTS: Text = Text::new("请求", "Requests");
const TOKENS: Text = Text::new("每个的 token", "Tokens of each");

/// See the module's docs.
pub struct KvPicker {
    question: Question,
    answer: Answer,
    config: ConfigField,
}

impl KvPicker {
    fn new(question: Question) -> Result<Self, FieldError> {
        Ok(Self { answer: Answer::new(&question)?, question, config: ConfigField::default() })
    }

    /// Another question; one without an answer is not taken.
    fn set(&mut self, next: Question) {
        if next != self.question
            && let Ok(answer) = Answer::new(&next)
        {
            (self.question, self.answer) = (next, answer);
        }
    }

    /// A configuration becomes the first row, and the one that is followed.
    fn own(&mut self, facts: &ConfigFacts) {
        if let Some(shape) = Shape::of(facts) {
            self.set(Question { own: Some(shape), model: OWN.to_owned(), ..self.question.clone() });
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let shows = [
                (Shows::Token, Text::new("一个 token", "a token")),
                (Shows::Request, Text::new("一个请求", "a request")),
            ];
            let shows = shows.map(|(one, text)| (one, text.get(lang).to_owned()));
            controls::choice(flow, tokens, SHOWS.get(lang), &mut next.shows, &shows);
            let formats = [(2.0, "2 B"), (1.0, "1 B"), (0.5, "½ B")].map(|(b, text)| (b, text.to_owned()));
            controls::choice(flow, tokens, VALUE.get(lang), &mut next.value_bytes, &formats);
            controls::choice(flow, tokens, WEIGHT.get(lang), &mut next.weight_bytes, &formats);
            flow.item(|ui| self.config.button_ui(ui, tokens, lang));
        });
        controls::row(ui, tokens, |flow| {
            let cards = CARDS_GB.map(|gb| (gb.parse().unwrap_or(0.0), format!("{gb} GB")));
            controls::choice(flow, tokens, CARD.get(lang), &mut next.card_gb, &cards);
            let mut powers = |label: Text, value: &mut u64, most: u64, width: f32| {
                let mut number = *value as f64;
                let slider = Slider::new(label.get(lang), &mut number, 1.0..=most as f64).log().step(1.0).width(width);
                if flow.item(|ui| slider.shown(|n| format!("{n:.0}")).show(ui, tokens)).changed() {
                    *value = (number.round() as u64).clamp(1, most);
                }
            };
            powers(CARDS, &mut next.n_cards, 64, 70.0);
            powers(REQUESTS, &mut next.requests, 4096, 80.0);
            powers(TOKENS, &mut next.tokens, MOST_TOKENS, 120.0);
        });
        self.set(next);
        if let Some(facts) = self.config.area_ui(ui, tokens, lang) {
            self.own(&facts);
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n = self.answer.rows.len();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, n);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        let mut at = self.answer.at;
        figure::list_keys(ui, &response, &mut at, n);
        let over = response.hover_pos().and_then(|at| geometry.row_at(at));
        if let (true, Some(row)) = (response.clicked_by(PointerButton::Primary), over) {
            at = row;
        }
        if at != self.answer.at {
            self.set(Question { model: self.answer.rows[at].id.to_owned(), ..self.question.clone() });
        }
        self.drag(&response, &geometry);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer: &self.answer,
            over,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        let said = over.or(response.has_focus().then_some(self.answer.at));
        let said = said.map(|row| words::row(&self.answer, &self.question, row, lang));
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        let entries = [
            (Mark::Square(tokens.role(Role::Parameters)), words::WEIGHTS.get(lang)),
            (Mark::Square(tokens.role(Role::KvCache)), words::CACHE.get(lang)),
            (Mark::Area(Area::CachedFree), Text::new("只留窗口的层", "layers that keep a window").get(lang)),
        ];
        legend(ui, tokens, &entries);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
        figure::readout_ui(ui, tokens, words::NOT_COUNTED.get(lang));
    }

    /// The end of the cache on the card is pulled: so many tokens as bring it there.
    fn drag(&mut self, response: &Response, geometry: &Geometry) {
        let Some(at) = response.interact_pointer_pos().filter(|at| geometry.card.expand(6.0).contains(*at)) else {
            return;
        };
        let fit = self.answer.fit;
        let most = fit.room.max(fit.used());
        let wanted =
            f64::from((at.x - geometry.card.left()) / geometry.card.width()) * most - fit.weights.unwrap_or(0.0);
        let tokens = self.question.tokens as f64 * wanted / fit.cache.max(1.0);
        let tokens = (tokens.max(1.0) as u64).clamp(1, MOST_TOKENS);
        self.set(Question { tokens, ..self.question.clone() });
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let (row, fit) = (self.answer.row(), self.answer.fit);
        let verdict = if fit.fits() { Verdict::Good } else { Verdict::Bad };
        let exact = |bytes: f64| format!("{bytes:.0} B");
        let mut out = vec![
            KeyNumber::new(Text::new("每 token", "a token"), super::bytes::words::bytes(row.per_token))
                .exact(exact(row.per_token)),
            KeyNumber::new(Text::new("一张卡上的 KV", "KV on a card"), words::size(fit.cache)).exact(exact(fit.cache)),
        ];
        if let Some(weights) = fit.weights {
            out.push(
                KeyNumber::new(Text::new("一张卡上的权重", "weights on a card"), words::size(weights))
                    .exact(exact(weights)),
            );
            out.push(
                KeyNumber::new(Text::new("最长的 token", "longest, tokens"), words::count(fit.most_tokens))
                    .judged(verdict),
            );
        }
        out
    }
}

impl View for KvPicker {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.answer, &self.question, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["model", "2·layers·KV heads·size", "per token (B)", "request (B)"];
        let row = |row: &answer::Row| {
            let name = row.name.get(Lang::En).to_owned();
            vec![name, row.shape.words(), row.per_token.to_string(), row.request.to_string()]
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: self.answer.rows.iter().map(row).collect() }
    }

    fn offer(&mut self, text: &str) -> Option<Result<(), vramlab_units::Localized>> {
        Some(self.config.offer(text).map(|facts| self.own(&facts)))
    }
}

impl Visualizer for KvPicker {
    const ID: &'static str = "kv_picker";
    const TITLE: Text = Text::new("每个 token 留下多少，能放多长", "Bytes a token, and how long it may get");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Self::new(Question::from_args(args)?)
    }
}
