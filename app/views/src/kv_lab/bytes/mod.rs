//! What a request leaves in the cache under six ways of attention, and how others get it wrong.
//!
//! `question.rs` is what the reader sets, `answer.rs` asks the models `kv_cache` and `kv_mistakes`, `layout.rs` the
//! geometry, `paint.rs` the picture, `words.rs` the sentences.

mod answer;
mod layout;
mod paint;
mod question;
pub(super) mod words;

use crate::config_field::{ConfigFacts, ConfigField};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use answer::Answer;
use egui::{PointerButton, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{Mistake, PRESETS, Question};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const MODEL: Text = Text::new("模型", "Model");
const FORMAT: Text = Text::new("一个值", "A value");
const MISTAKE: Text = Text::new("别人常算错", "How others get this wrong");
const TOKENS: Text = Text::new("token", "Tokens");
const KV_HEADS: Text = Text::new("KV 头", "KV heads");

/// See the module's docs.
pub struct KvBytes {
    question: Question,
    answer: Answer,
    /// The row that the keyboard is on.
    row: usize,
    config: ConfigField,
}

impl KvBytes {
    fn new(question: Question) -> Result<Self, FieldError> {
        Ok(Self { answer: Answer::new(&question)?, question, row: 0, config: ConfigField::default() })
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question;
        controls::row(ui, tokens, |flow| {
            let models: Vec<(&str, String)> =
                PRESETS.iter().map(|preset| (preset.id, preset.label.to_owned())).collect();
            // None of them, once the numbers are the reader's.
            let before = if next.is_preset() { next.preset.id } else { "" };
            let mut id = before;
            controls::choice(flow, tokens, MODEL.get(lang), &mut id, &models);
            if let Some(preset) = PRESETS.iter().find(|preset| preset.id == id && id != before) {
                let Question { value_bytes, mistake, tokens, context, .. } = next;
                next = Question { value_bytes, mistake, tokens, context, ..Question::of(preset) };
            }
            let formats =
                [(4.0, "4 B"), (2.0, "2 B"), (1.0, "1 B"), (0.5, "½ B")].map(|(b, text)| (b, text.to_owned()));
            controls::choice(flow, tokens, FORMAT.get(lang), &mut next.value_bytes, &formats);
            let mut count = next.tokens as f64;
            let most = next.context as f64;
            let slider = Slider::new(TOKENS.get(lang), &mut count, 1.0..=most.max(2.0)).log().step(1.0).width(90.0);
            if flow.item(|ui| slider.shown(|n| format!("{n:.0}")).show(ui, tokens)).changed() {
                next.tokens = (count.round() as u64).clamp(1, next.context);
            }
            let heads = next.shape.q_heads;
            let options: Vec<u64> =
                (0..=10).map(|k| 1 << k).filter(|n| heads.is_multiple_of(*n)).chain([heads]).collect();
            let mut at = options.iter().position(|n| *n >= next.shape.kv_heads).unwrap_or(0) as f64;
            let before = at;
            let slider =
                Slider::new(KV_HEADS.get(lang), &mut at, 0.0..=(options.len() - 1) as f64).step(1.0).width(60.0);
            let shown = next.shape.kv_heads;
            if flow.item(|ui| slider.shown(move |_| shown.to_string()).show(ui, tokens)).changed() && at != before {
                next.shape.kv_heads = options[(at.round() as usize).min(options.len() - 1)];
            }
        });
        controls::row(ui, tokens, |flow| {
            let mistakes = Mistake::ALL.map(|mistake| (mistake, mistake.label().get(lang).to_owned()));
            controls::choice(flow, tokens, MISTAKE.get(lang), &mut next.mistake, &mistakes);
            flow.item(|ui| self.config.button_ui(ui, tokens, lang));
        });
        self.set(next);
        if let Some(facts) = self.config.area_ui(ui, tokens, lang) {
            self.own(&facts);
        }
    }

    /// Another question; one without an answer is not taken.
    fn set(&mut self, next: Question) {
        if next != self.question
            && let Ok(answer) = Answer::new(&next)
        {
            (self.question, self.answer) = (next, answer);
        }
    }

    /// The numbers of a configuration in the place of the preset's.
    fn own(&mut self, facts: &ConfigFacts) {
        self.set(self.question.with(facts));
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n = self.answer.kept.len();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, n);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.row, n);
        let over = response.hover_pos().and_then(|at| geometry.row_at(at)).filter(|row| *row < n);
        if let (true, Some(row)) = (response.clicked_by(PointerButton::Primary), over) {
            self.row = row;
        }
        let over = over.or(response.has_focus().then_some(self.row));
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
        figure::speak(&response, &self.finding(lang), None);
        let said = over.and_then(|row| self.answer.kept.get(row)).map(|kept| words::kept(kept, &self.question, lang));
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    /// The four factors, the one that is switched on judged.
    fn key_numbers(&self) -> Vec<KeyNumber> {
        let factors = self.answer.factors;
        [
            (Mistake::QueryHeads, Text::new("query 头当 KV 头", "query for KV heads"), factors.q_heads),
            (Mistake::FullContext, Text::new("按满上下文", "full context"), factors.context),
            (Mistake::Gb, Text::new("GiB ÷ GB", "GiB ÷ GB"), factors.gb),
            (Mistake::ActiveParams, Text::new("总参数 ÷ 激活", "total ÷ active"), factors.params),
        ]
        .into_iter()
        .map(|(mistake, label, factor)| {
            let one = KeyNumber::new(label, format!("×{}", number(factor))).exact(format!("{factor:.6}"));
            if self.question.mistake == mistake { one.judged(Verdict::Bad) } else { one }
        })
        .collect()
    }
}

impl View for KvBytes {
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
        let header = ["attention", "per token (B)", "request (B)", "request, with the mistake (B)"];
        let row = |kept: &answer::Kept| {
            let name = kept.way.name().get(Lang::En).to_owned();
            vec![name, kept.per_token.to_string(), kept.request.to_string(), kept.wrong.to_string()]
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: self.answer.kept.iter().map(row).collect() }
    }

    fn offer(&mut self, text: &str) -> Option<Result<(), vramlab_units::Localized>> {
        Some(self.config.offer(text).map(|facts| self.own(&facts)))
    }
}

impl Visualizer for KvBytes {
    const ID: &'static str = "kv_bytes";
    const TITLE: Text = Text::new("每个 token 留下多少字节", "Bytes that a token leaves");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Self::new(Question::from_args(args)?)
    }
}
