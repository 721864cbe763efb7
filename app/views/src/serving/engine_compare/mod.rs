//! Engines by how they take memory: what each leaves for keys and values on the same card, and where that is written.
//!
//! `engines.rs` reads `assets/engines.toml`, `question.rs` asks `vramlab_serve::capacity`, `paint.rs` is geometry and
//! picture, `words.rs` the sentences.

mod engines;
mod paint;
mod question;
mod words;

use crate::case_capacity::question::LLMS;
use crate::controls;
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Grid, Label, PointerButton, RichText, Sense, Ui};
use engines::ENGINES;
use paint::{Geometry, Scene};
use question::{Part, Question, Taken};
use vramlab_kit::{Slider, Tokens, Type, legend};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CARD: Text = Text::new("卡", "Card");
const MODEL: Text = Text::new("模型", "Model");
const LENGTH: Text = Text::new("每个请求", "A request");
const CARDS: [f64; 8] = [16.0, 24.0, 40.0, 48.0, 80.0, 96.0, 141.0, 192.0];
const LENGTHS: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0];

/// See the module's docs.
pub struct EngineCompare {
    question: Question,
    taken: Vec<Taken>,
}

impl EngineCompare {
    fn new(question: Question) -> Self {
        let taken = ENGINES.iter().map(|engine| question.taken(engine)).collect();
        Self { question, taken }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let models: Vec<(usize, String)> =
                LLMS.iter().enumerate().map(|(idx, llm)| (idx, llm.name.to_owned())).collect();
            controls::choice(flow, tokens, MODEL.get(lang), &mut next.llm, &models);
        });
        controls::row(ui, tokens, |flow| {
            let (least, most) = (next.card_gb.min(16.0), next.card_gb.max(192.0));
            let slider = Slider::new(CARD.get(lang), &mut next.card_gb, least..=most).stops(&CARDS).width(80.0);
            flow.item(|ui| slider.shown(|gb| with_unit(gb, "GB")).show(ui, tokens));
            let mut length = next.max_len as f64;
            let (least, most) = (length.min(1024.0), length.max(131_072.0));
            let slider = Slider::new(LENGTH.get(lang), &mut length, least..=most).stops(&LENGTHS).width(80.0);
            if flow.item(|ui| slider.shown(|n| format!("{n:.0}")).show(ui, tokens)).changed() {
                next.max_len = length.round().max(16.0) as u64;
            }
            for (part, value, most, start) in [
                (Part::Activations, &mut next.activation_gb, 20.0, 2.0),
                (Part::NonTorch, &mut next.non_torch_gb, 8.0, 1.0),
            ] {
                let most = value.max(most);
                let slider = Slider::new(words::part(part).get(lang), value, 0.0..=most).step(0.5).width(70.0);
                flow.item(|ui| slider.default_value(start).shown(|gb| with_unit(gb, "GB")).show(ui, tokens));
            }
        });
        if next != self.question {
            *self = Self::new(next);
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.question.engine, ENGINES.len());
        let over = response.hover_pos().and_then(|at| geometry.row_at(at));
        if let (true, Some(row)) = (response.clicked_by(PointerButton::Primary), over) {
            self.question.engine = row;
        }
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            taken: &self.taken,
            card_bytes: self.question.card_bytes(),
            picked: self.question.engine,
            hovered: over,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let parts = [Part::NonTorch, Part::Weights, Part::Activations, Part::Pool, Part::Growing, Part::Left];
        legend(ui, tokens, &parts.map(|part| (paint::mark(tokens, part), words::part(part).get(lang))));
        let said = over.map(|row| words::row(&ENGINES[row], &self.taken[row], lang));
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    /// The row that is picked: how it takes, what it does when full, prefixes.
    fn says_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let engine = &ENGINES[self.question.engine];
        let text = |text: &str, role, color| RichText::new(text).font(tokens.font(role)).color(color);
        ui.add(Label::new(text(&engine.name, Type::Card, tokens.ink)));
        let width = ui.available_width();
        Grid::new("says").num_columns(2).spacing([tokens.space.m, tokens.space.xs]).show(ui, |ui| {
            let first = tokens.px(92.0);
            for (name, says) in words::TAKES.iter().zip(&engine.says) {
                ui.scope(|ui| {
                    ui.set_max_width(first);
                    ui.add(Label::new(text(name.get(lang), Type::Note, tokens.muted)).wrap());
                });
                ui.scope(|ui| {
                    ui.set_max_width((width - first - tokens.space.xl).max(tokens.px(120.0)));
                    ui.add(Label::new(text(says.get(lang), Type::Note, tokens.ink)).wrap());
                });
                ui.end_row();
            }
        });
    }
}

impl View for EngineCompare {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.s);
        self.says_ui(ui, tokens, lang);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["engine", "share", "pool (B)", "tokens", "requests", "source", "retrieved"];
        let row = |(engine, taken): (&engines::Engine, &Taken)| {
            vec![
                engine.name.clone(),
                engine.share.to_string(),
                taken.pool_bytes.to_string(),
                taken.tokens.to_string(),
                taken.requests.to_string(),
                engine.url.clone(),
                engine.date.clone(),
            ]
        };
        DataTable {
            header: header.map(str::to_owned).to_vec(),
            rows: ENGINES.iter().zip(&self.taken).map(row).collect(),
        }
    }

    fn cited(&self, _lang: Lang) -> Option<(String, String)> {
        let engine = &ENGINES[self.question.engine];
        Some((engine.source.clone(), engine.date.clone()))
    }
}

impl Visualizer for EngineCompare {
    const ID: &'static str = "engine_compare";
    const TITLE: Text = Text::new("四个引擎怎么拿显存", "How four engines take memory");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)))
    }
}
