//! The numbers that a short format has under a block's scale, the 32 values of a block, and what each becomes.
//!
//! `paint.rs` is the picture, `words.rs` the sentences. All numbers are model `number_line`'s. The last value is the outlier;
//! the learner pulls it up and down.

mod paint;
mod words;

use super::{Answer, asking};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, Response, Sense, Ui};
use paint::{Geometry, Scene};
use vramlab_kit::{Mark, Slider, Tokens, Verdict, legend};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const FORMAT: Text = Text::new("元素", "Element");
const SHIFT: Text = Text::new("缩放偏离规则", "Scale off the rule");
const OUTLIER: Text = Text::new("离群值", "Outlier");
const AGAIN: Text = Text::new("再抽一次", "Draw again");
const FORMATS: [(&str, &str); 5] =
    [("e4m3", "E4M3"), ("e5m2", "E5M2"), ("e3m2", "E3M2"), ("e2m3", "E2M3"), ("e2m1", "E2M1")];
const MOST_SHIFT: i64 = 6;
pub const MOST_OUTLIER: f64 = 64.0;
/// Below this there is none.
const LEAST_OUTLIER: f64 = 1.0;
pub const N: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Question {
    format: usize,
    shift: i64,
    outlier: f64,
    seed: u64,
}

/// What the model says of a question, with its lists read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    answer: Answer,
    pub grid: Vec<f64>,
    pub values: Vec<f64>,
    pub stored: Vec<f64>,
}

impl Question {
    fn ask(self) -> Found {
        let question = asking([
            ("format", FORMATS[self.format].0.into()),
            ("shift", self.shift.into()),
            ("outlier", self.outlier.into()),
            ("seed", self.seed.into()),
        ]);
        let answer = Answer::of("number_line", question).unwrap_or_default();
        let [grid, values, stored] = ["grid", "values", "stored"].map(|key| answer.list(key));
        Found { answer, grid, values, stored }
    }
}

/// See the module's docs.
pub struct NumberLine {
    question: Question,
    cursor: usize,
    found: Found,
}

impl NumberLine {
    fn set(&mut self, question: Question) {
        if question != self.question {
            self.question = question;
            self.found = question.ask();
        }
    }

    fn set_outlier(&mut self, outlier: f64) {
        let outlier = if outlier < LEAST_OUTLIER { 0.0 } else { outlier.min(MOST_OUTLIER) };
        let step = if outlier < 10.0 { 10.0 } else { 1.0 };
        self.set(Question { outlier: (outlier * step).round() / step, ..self.question });
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut question = self.question;
        let mut outlier = question.outlier;
        controls::row(ui, tokens, |flow| {
            let options: Vec<(usize, String)> =
                FORMATS.iter().enumerate().map(|(idx, (_, name))| (idx, (*name).to_owned())).collect();
            controls::choice(flow, tokens, FORMAT.get(lang), &mut question.format, &options);
            let mut shift = question.shift as f64;
            let most = MOST_SHIFT as f64;
            let slider = Slider::new(SHIFT.get(lang), &mut shift, -most..=most).step(1.0).default_value(0.0);
            if flow.item(|ui| slider.shown(words::shift).width(110.0).show(ui, tokens)).changed() {
                question.shift = shift.round() as i64;
            }
            let slider = Slider::new(OUTLIER.get(lang), &mut outlier, 0.0..=MOST_OUTLIER).step(0.5).default_value(0.0);
            flow.item(|ui| slider.shown(|value| words::outlier(value, lang)).width(110.0).show(ui, tokens));
            if controls::button(flow, tokens, AGAIN.get(lang)) {
                question.seed = question.seed % (1 << 20) + 1;
            }
        });
        let is_pulled = outlier != self.question.outlier;
        self.set(question);
        if is_pulled {
            self.set_outlier(outlier);
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        if let Some(column) = figure::moved_over(ui, &response).and_then(|at| geometry.column_at(at)) {
            self.cursor = column;
        }
        // The last column is pulled, and its neighbourhood, which a finger needs.
        let pulled = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked());
        if let Some(at) = pulled.filter(|at| geometry.column_at(*at).is_some_and(|column| column + 4 > N)) {
            self.cursor = N - 1;
            self.set_outlier(geometry.magnitude(at.y));
        }
        self.keys(ui, &response);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let has_outlier = self.question.outlier > 0.0;
        Scene { painter, tokens, lang, geometry: &geometry, found: &self.found, cursor: self.cursor, has_outlier }
            .paint();
        let said = words::value(&self.found, self.cursor, lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        legend(
            ui,
            tokens,
            &[
                (Mark::Predicted, Text::new("块里的值", "a value of the block").get(lang)),
                (Mark::Square(paint::stored(tokens)), Text::new("存下的", "what is stored").get(lang)),
                (Mark::Square(tokens.bad), Text::new("变成 0，或被截", "became 0, or was cut").get(lang)),
            ],
        );
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HOW.get(lang));
    }

    /// Left and right walk along the values, up and down move the outlier.
    fn keys(&mut self, ui: &Ui, response: &Response) {
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowRight) {
            self.cursor = (self.cursor + 1).min(N - 1);
        } else if pressed(Key::ArrowLeft) {
            self.cursor = self.cursor.saturating_sub(1);
        } else if pressed(Key::Home) {
            self.cursor = 0;
        } else if pressed(Key::End) {
            self.cursor = N - 1;
        } else if pressed(Key::ArrowUp) {
            self.set_outlier(if self.question.outlier > 0.0 { self.question.outlier * 1.25 } else { 4.0 });
        } else if pressed(Key::ArrowDown) {
            self.set_outlier(self.question.outlier * 0.8);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let answer = &self.found.answer;
        let judged = |n: usize| if n > 0 { Verdict::Bad } else { Verdict::Neutral };
        let (zero, cut) = (answer.count("n_zero"), answer.count("n_cut"));
        let of = |n: usize| format!("{n} / {N}");
        vec![
            KeyNumber::new(Text::new("块的缩放", "scale of the block"), words::power(answer.num("scale_exponent"))),
            KeyNumber::new(
                Text::new("均方根误差（离群值除外）", "rms error, outlier aside"),
                with_unit(answer.num("rms_error"), "σ"),
            )
            .exact(answer.num("rms_error").to_string()),
            KeyNumber::new(Text::new("变成 0 的", "became 0"), of(zero)).judged(judged(zero)),
            KeyNumber::new(Text::new("被截的", "cut"), of(cut)).judged(judged(cut)),
            KeyNumber::new(Text::new("还分得开的", "still told apart"), of(answer.count("n_distinct"))),
            KeyNumber::new(Text::new("每个值", "a value takes"), with_unit(answer.num("bits_per_value"), "bit")),
        ]
    }
}

impl View for NumberLine {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(FORMATS[self.question.format].1, self.question.outlier, &self.found.answer, lang)
    }

    fn params(&self) -> Map {
        asking([
            ("format", FORMATS[self.question.format].0.into()),
            ("shift", self.question.shift.into()),
            ("outlier", self.question.outlier.into()),
            ("seed", self.question.seed.into()),
        ])
    }

    fn data(&self) -> DataTable {
        let header = ["value (σ)", "stored (σ)"].map(str::to_owned).to_vec();
        let pairs = self.found.values.iter().zip(&self.found.stored);
        DataTable { header, rows: pairs.map(|(x, y)| vec![x.to_string(), y.to_string()]).collect() }
    }
}

impl Visualizer for NumberLine {
    const ID: &'static str = "number_line";
    const TITLE: Text = Text::new("短格式的数轴", "The numbers of a short format");

    fn fields() -> Vec<FieldSpec> {
        let formats = FieldKind::Choice { options: FORMATS.map(|(id, _)| id).into_iter().map(Into::into).collect() };
        let shift = Text::new("缩放比规则大 2 的几次方", "Powers of two by which the scale is off");
        let outlier = Text::new("离群值，以 σ 计；0 表示没有", "The outlier in σ; 0 is none");
        vec![
            FieldSpec::new("format", "", formats, Text::new("元素的格式", "The element's format"))
                .default_value("e4m3"),
            FieldSpec::int("shift", "1", -MOST_SHIFT, MOST_SHIFT, shift).default_value(0),
            FieldSpec::num("outlier", "1", 0.0, MOST_OUTLIER, outlier).default_value(0),
            FieldSpec::int("seed", "1", 1, 1 << 20, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let format = FORMATS.iter().position(|(id, _)| *id == args.text("format")).unwrap_or(0);
        let question =
            Question { format, shift: args.int("shift"), outlier: args.num("outlier"), seed: args.uint("seed") };
        Ok(Self { question, cursor: N - 1, found: question.ask() })
    }
}
