//! Three cases against a card: a training step of ResNet-50, a server of language models, Stable Diffusion.
//!
//! `question.rs` and `diffusion.rs` ask the models, `measured.rs` holds recorded peaks beside them, `layout.rs` is the geometry, `paint.rs`
//! the picture, `words.rs` the sentences.

pub mod diffusion;
pub mod layout;
pub mod measured;
pub mod paint;
pub mod question;
pub mod tiles;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{Attention, Bar, Case, LLMS, Question};
use vramlab_kit::{Slider, Tokens, Verdict, legend};
use vramlab_units::show::{grouped, with_unit};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CASE: Text = Text::new("案例", "Case");
const CARD: Text = Text::new("卡", "Card");
/// Memory sizes that cards are sold with, GB; the last is what CUDA reports of an H200, which is sold with 141.
const CARDS: [f64; 9] = [8.0, 12.0, 16.0, 24.0, 40.0, 48.0, 80.0, 96.0, 150.1];
const BATCHES: [f64; 9] = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];

/// See the module's docs.
pub struct CaseCapacity {
    question: Question,
    bars: Vec<Bar>,
    problem: Option<FieldError>,
}

impl CaseCapacity {
    fn new(question: Question) -> Self {
        match question.bars() {
            Ok(bars) => Self { question, bars, problem: None },
            Err(problem) => Self { question, bars: Vec::new(), problem: Some(problem) },
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let cases = Case::ALL.map(|case| (case, words::case(case).get(lang).to_owned()));
            controls::choice(flow, tokens, CASE.get(lang), &mut next.case, &cases);
        });
        controls::row(ui, tokens, |flow| {
            let card = next.card_gb;
            let slider =
                Slider::new(CARD.get(lang), &mut next.card_gb, 4.0..=card.max(150.1)).stops(&CARDS).width(88.0);
            flow.item(|ui| slider.shown(|number| with_unit(number, "GB")).show(ui, tokens));
            match next.case {
                Case::Training => training_ui(flow, tokens, lang, &mut next),
                Case::Serving => serving_ui(flow, tokens, lang, &mut next),
                Case::Diffusion => diffusion_ui(flow, tokens, lang, &mut next),
            }
        });
        if next != self.question {
            *self = Self::new(next);
        }
    }

    fn figure_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        if let Some(problem) = &self.problem {
            figure::problem_ui(ui, tokens, &problem.to_string());
            return;
        }
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let card = self.question.card();
        let most = self.bars.iter().map(Bar::used).fold(card, f64::max);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.bars.len(), most);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if response.clicked() {
            response.request_focus();
        }
        let over = response.hover_pos().and_then(|at| geometry.hit(at));
        let hovered = over.and_then(|(bar, bytes)| Some((bar, self.part_at(bar, bytes)?)));
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, bars: &self.bars, card, hovered }.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let marks: Vec<_> =
            paint::legend(&self.bars, tokens).into_iter().map(|(mark, name)| (mark, name.get(lang))).collect();
        legend(ui, tokens, &marks);
        let said = hovered.and_then(|(bar, part)| {
            let part = self.bars.get(bar)?.parts.get(part)?;
            Some(format!("{} · {} · {}", part.name.get(lang), words::size(part.bytes), grouped(part.bytes) + " B"))
        });
        figure::readout_ui(
            ui,
            tokens,
            &said.unwrap_or_else(|| words::counted(self.question.case).get(lang).to_owned()),
        );
    }

    fn part_at(&self, bar: usize, bytes: f64) -> Option<usize> {
        let mut end = 0.0;
        self.bars.get(bar)?.parts.iter().position(|part| {
            end += part.bytes;
            bytes < end
        })
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let card = self.question.card();
        let fits = |used: f64| if used <= card { Verdict::Good } else { Verdict::Bad };
        let exact = |bytes: f64| format!("{} B", grouped(bytes));
        let mut out = Vec::new();
        for bar in &self.bars {
            let number = KeyNumber::new(bar.name, words::size(bar.used())).exact(exact(bar.used()));
            out.push(number.judged(fits(bar.used())));
        }
        match (self.question.case, self.question.served().pool) {
            (Case::Serving, Ok(pool)) => {
                out.truncate(0);
                let count = |n: f64| grouped(n);
                out.push(
                    KeyNumber::new(Text::new("KV 池", "KV pool"), words::size(pool.bytes as f64))
                        .exact(exact(pool.bytes as f64)),
                );
                out.push(KeyNumber::new(Text::new("整页", "whole pages"), count(pool.blocks as f64)));
                out.push(KeyNumber::new(Text::new("token", "tokens"), count(pool.tokens as f64)));
                let requests = KeyNumber::new(Text::new("请求", "requests"), count(pool.concurrency.floor()));
                out.push(requests.exact(with_unit(pool.concurrency, "×")));
            }
            (Case::Serving, Err(_)) => {
                out.push(KeyNumber::new(Text::new("请求", "requests"), "0").judged(Verdict::Bad));
            }
            _ => {}
        }
        if let (Case::Training, Some(measured)) = (self.question.case, self.bars.first().and_then(|bar| bar.measured)) {
            out.push(KeyNumber::new(Text::new("实测", "measured"), words::size(measured)).exact(exact(measured)));
        }
        out
    }
}

/// A slider over a few sizes.
fn stops(flow: &mut Flow<'_>, tokens: &Tokens, name: &str, value: &mut u64, stops: &[f64], unit: &str) {
    let mut number = *value as f64;
    let (low, high) = (stops.first().copied().unwrap_or(1.0), stops.last().copied().unwrap_or(1.0));
    let range = low.min(number)..=high.max(number);
    let slider = Slider::new(name, &mut number, range).stops(stops).width(88.0);
    let slider = slider.shown(|number| with_unit(number, unit));
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        *value = number.round().max(1.0) as u64;
    }
}

fn training_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, next: &mut Question) {
    let name = Text::new("批大小", "Batch").get(lang);
    stops(flow, tokens, name, &mut next.batch, &BATCHES, "");
    let precision = Text::new("精度", "Precision").get(lang);
    let options = [(false, "fp32".to_owned()), (true, "amp + NHWC".to_owned())];
    controls::choice(flow, tokens, precision, &mut next.is_amp, &options);
}

fn serving_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, next: &mut Question) {
    let models: Vec<(usize, String)> = LLMS.iter().enumerate().map(|(idx, llm)| (idx, llm.name.to_owned())).collect();
    controls::choice(flow, tokens, Text::new("模型", "Model").get(lang), &mut next.llm, &models);
    let bits = [16, 8, 4].map(|bits| (bits, bits.to_string()));
    controls::choice(flow, tokens, Text::new("权重位数", "Bits a weight").get(lang), &mut next.weight_bits, &bits);
    let name = Text::new("份额", "Share").get(lang);
    let slider = Slider::new(name, &mut next.util, 0.3..=1.0).step(0.01).default_value(0.92).width(88.0);
    flow.item(|ui| slider.shown(|share| format!("{share:.2}")).show(ui, tokens));
    let lengths = [1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0];
    let name = Text::new("最长", "Longest").get(lang);
    stops(flow, tokens, name, &mut next.max_len, &lengths, "token");
}

fn diffusion_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, next: &mut Question) {
    let sides = [512.0, 768.0, 1024.0, 1536.0, 2048.0];
    stops(flow, tokens, Text::new("边长", "Side").get(lang), &mut next.size_px, &sides, "px");
    let pictures = [1.0, 2.0, 4.0, 8.0];
    stops(flow, tokens, Text::new("一次几张", "Pictures").get(lang), &mut next.pictures, &pictures, "");
    let ways = Attention::ALL.map(|way| (way, words::attention(way).get(lang).to_owned()));
    controls::choice(flow, tokens, Text::new("注意力", "Attention").get(lang), &mut next.attention, &ways);
    controls::toggle(flow, tokens, Text::new("分块解码", "Decode in tiles").get(lang), &mut next.is_tiled);
}

impl View for CaseCapacity {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        if self.question.case == Case::Diffusion {
            ui.add_space(tokens.space.s);
            tiles::ui(ui, tokens, lang, self.question.size_px, self.question.is_tiled);
        }
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.problem {
            Some(problem) => problem.to_string(),
            None => words::finding(&self.question, &self.bars, lang),
        }
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["bar", "part", "bytes"].map(str::to_owned).to_vec();
        let row =
            |bar: &Bar, name: Text, bytes: f64| vec![bar.name.en.to_owned(), name.en.to_owned(), format!("{bytes:.0}")];
        let parts = self.bars.iter().flat_map(|bar| bar.parts.iter().map(move |part| row(bar, part.name, part.bytes)));
        let measured = self.bars.iter().filter_map(|bar| Some(row(bar, Text::new("实测", "measured"), bar.measured?)));
        DataTable { header, rows: parts.chain(measured).collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        let has_measured = self.bars.iter().any(|bar| bar.measured.is_some());
        has_measured.then(|| ["H200", "PyTorch 2.11", "2026-11-30"].map(str::to_owned))
    }
}

impl Visualizer for CaseCapacity {
    const ID: &'static str = "case_capacity";
    const TITLE: Text = Text::new("三个案例与一张卡", "Three cases and a card");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(pairs: &[(&str, vramlab_units::Value)]) -> CaseCapacity {
        let map = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        CaseCapacity::open(&Args::check(&CaseCapacity::fields(), &map).unwrap()).unwrap()
    }

    /// Within the band of the ledger: 10 % of what the allocator held for fp32, 5 % otherwise.
    #[test]
    fn the_bar_of_a_training_step_is_as_long_as_measured() {
        for row in measured::RESNET {
            let view = open(&[("batch", row.batch.into()), ("amp", row.is_amp.into())]);
            let error = (view.bars[0].used() / row.reserved as f64 - 1.0).abs();
            assert!(error < if row.is_amp { 0.05 } else { 0.10 }, "{row:?}: {error}");
        }
    }

    /// Within 1 % or 16 MiB of what PyTorch allocated.
    #[test]
    fn the_bars_of_a_picture_are_as_long_as_measured() {
        let check = |bar: &Bar, bytes: u64| {
            let away = (bar.used() - bytes as f64).abs();
            assert!(away <= (bytes as f64 * 0.01).max(16.0 * 1_048_576.0), "{} {bytes}: {away}", bar.name.en);
        };
        let case = ("case", vramlab_units::Value::from("diffusion"));
        for (side, attention, bytes) in measured::UNET {
            let view = open(&[case.clone(), ("size_px", side.into()), ("attention", attention.id().into())]);
            check(&view.bars[0], bytes);
        }
        for (side, is_tiled, bytes) in measured::VAE {
            check(&open(&[case.clone(), ("size_px", side.into()), ("tiled", is_tiled.into())]).bars[1], bytes);
        }
    }

    /// 16.06 GB of weights, 2 and 1 GB beside them: 0.92 of 141 GB hold 103 requests, of the 150.1 GB that CUDA reports of
    /// an H200 110, and 108 at a share of 0.9.
    #[test]
    fn a_server_of_one_card() {
        for (card, util, requests) in [(141.0, 0.92, 103.0), (150.1, 0.92, 110.0), (150.1, 0.9, 108.0)] {
            let view = open(&[("case", "serving".into()), ("card_gb", card.into()), ("util", util.into())]);
            assert_eq!(view.question.served().pool.unwrap().concurrency.floor(), requests);
        }
        let small = open(&[("case", "serving".into()), ("card_gb", 24.into()), ("model", "llama2_13b".into())]);
        assert!(small.question.served().pool.is_err());
    }
}
