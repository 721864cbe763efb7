//! Sixteen bit lanes of a bfloat16 tensor, how much information each holds, the ceiling that follows, and codecs beside
//! it.
//!
//! `paint.rs` is the picture, `words.rs` the sentences. All numbers are model `bit_lanes`'; LZ4 is really run there.

mod paint;
mod words;

use super::{Answer, asking};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, Response, Sense, Ui};
use paint::{Geometry, Scene};
use vramlab_kit::{Area, Mark, Tokens, Verdict, legend};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const TENSOR: Text = Text::new("张量", "Tensor");
/// Names of lanes: sign, exponent from its top bit, mantissa from its top bit.
pub const LANES: [&str; 16] =
    ["S", "E7", "E6", "E5", "E4", "E3", "E2", "E1", "E0", "M6", "M5", "M4", "M3", "M2", "M1", "M0"];
const TENSORS: [(&str, Text); 5] = [
    ("bf16_normal", Text::new("正态权重", "normal weights")),
    ("bf16_relu", Text::new("ReLU 激活", "ReLU activations")),
    ("bf16_int8", Text::new("int8 写回 bf16", "int8 widened")),
    ("bf16_sparse", Text::new("只剩 1 %", "1 % left")),
    ("bf16_uniform", Text::new("随机位", "random bits")),
];

/// See the module's docs.
pub struct BitLanes {
    tensor: usize,
    n: String,
    lane: usize,
    answer: Answer,
}

impl BitLanes {
    fn ask(tensor: usize, n: &str) -> Result<Answer, FieldError> {
        Answer::of("bit_lanes", asking([("tensor", TENSORS[tensor].0.into()), ("n", n.into())]))
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let before = self.tensor;
        controls::row(ui, tokens, |flow| {
            let options: Vec<(usize, String)> =
                TENSORS.iter().enumerate().map(|(idx, (_, name))| (idx, name.get(lang).to_owned())).collect();
            controls::choice(flow, tokens, TENSOR.get(lang), &mut self.tensor, &options);
        });
        if before != self.tensor
            && let Ok(answer) = Self::ask(self.tensor, &self.n)
        {
            self.answer = answer;
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if let Some(lane) = figure::moved_over(ui, &response).and_then(|at| geometry.lane_at(at)) {
            self.lane = lane;
        }
        self.keys(ui, &response);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, answer: &self.answer, lane: self.lane }.paint();
        let said = words::lane(&self.answer, self.lane, lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        let marks = [
            (Mark::Square(paint::color(tokens, 0)), Text::new("符号", "sign")),
            (Mark::Square(paint::color(tokens, 1)), Text::new("指数", "exponent")),
            (Mark::Square(paint::color(tokens, 2)), Text::new("尾数", "mantissa")),
            (Mark::Area(Area::CachedFree), Text::new("可以省掉的", "can be left out")),
        ];
        legend(ui, tokens, &marks.map(|(mark, text)| (mark, text.get(lang))));
        figure::readout_ui(ui, tokens, &said);
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if response.clicked() {
            response.request_focus();
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let last = LANES.len() - 1;
        if pressed(Key::ArrowRight) {
            self.lane = (self.lane + 1).min(last);
        } else if pressed(Key::ArrowLeft) {
            self.lane = self.lane.saturating_sub(1);
        } else if pressed(Key::Home) {
            self.lane = 0;
        } else if pressed(Key::End) {
            self.lane = last;
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let answer = &self.answer;
        let times = |key: &str| with_unit(answer.num(key), "×");
        let exact = |key: &str| answer.num(key).to_string();
        let lz4 = answer.num("lz4_ratio");
        let verdict = if lz4 < 1.0 { Verdict::Bad } else { Verdict::Neutral };
        vec![
            KeyNumber::new(Text::new("16 位里的信息", "needed of 16 bits"), with_unit(answer.num("field_bits"), "bit"))
                .exact(exact("field_bits")),
            KeyNumber::new(Text::new("指数的熵", "exponent"), with_unit(answer.num("exponent_bits"), "bit"))
                .exact(exact("exponent_bits")),
            KeyNumber::new(Text::new("上限", "ceiling"), times("field_ratio")).exact(exact("field_ratio")),
            KeyNumber::new(Text::new("LZ4，原样", "LZ4 as it lies"), format!("{lz4:.3}\u{2009}×"))
                .exact(exact("lz4_ratio"))
                .judged(verdict),
            KeyNumber::new(Text::new("LZ4，拆开", "LZ4 after the split"), times("split_lz4_ratio"))
                .exact(exact("split_lz4_ratio")),
        ]
    }
}

impl View for BitLanes {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(TENSORS[self.tensor].1.get(lang), &self.answer, lang)
    }

    fn params(&self) -> Map {
        asking([("tensor", TENSORS[self.tensor].0.into()), ("n", self.n.clone().into())])
    }

    fn data(&self) -> DataTable {
        let header = ["part", "entropy (bit)"].map(str::to_owned).to_vec();
        let lanes = LANES.iter().zip(self.answer.list("lane_bits"));
        let mut rows: Vec<Vec<String>> = lanes.map(|(name, bits)| vec![(*name).to_owned(), bits.to_string()]).collect();
        for key in ["sign_bits", "exponent_bits", "mantissa_bits", "high_bits", "low_bits"] {
            rows.push(vec![key.to_owned(), number(self.answer.num(key))]);
        }
        DataTable { header, rows }
    }
}

impl Visualizer for BitLanes {
    const ID: &'static str = "bit_lanes";
    const TITLE: Text = Text::new("十六位里的信息", "Information in sixteen bits");

    fn fields() -> Vec<FieldSpec> {
        let tensors = FieldKind::Choice { options: TENSORS.map(|(id, _)| id).into_iter().map(Into::into).collect() };
        let counts = FieldKind::Choice { options: ["4096", "16384", "65536"].map(Into::into).to_vec() };
        vec![
            FieldSpec::new("tensor", "", tensors, Text::new("张量", "The tensor")).default_value("bf16_normal"),
            FieldSpec::new("n", "1", counts, Text::new("多少个值", "Values")).default_value("65536"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let tensor = TENSORS.iter().position(|(id, _)| *id == args.text("tensor")).unwrap_or(0);
        let n = args.text("n").to_owned();
        let answer = Self::ask(tensor, &n)?;
        Ok(Self { tensor, n, lane: 8, answer })
    }
}
