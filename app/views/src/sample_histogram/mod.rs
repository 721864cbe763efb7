//! Samples of a baseline and of a candidate, piled up over the time they took, with the interval of each median.
//!
//! `question.rs` is what the reader sets and the model's answer, `layout.rs` the geometry, `paint.rs` the picture,
//! `words.rs` the sentences. The rules are `vramlab_model::samples` and `bench_stats`.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::Geometry;
use paint::{Scene, percent};
use question::{Line, Origin, Question, verdict};
use vramlab_kit::{Slider, Tokens, Verdict, legend};
use vramlab_model::samples::Change;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const N: Text = Text::new("样本", "Samples");
const SLOWER: Text = Text::new("候选真的慢", "Candidate slower by");
const SPREAD: Text = Text::new("单次的起伏", "Spread of a sample");
const ODD: Text = Text::new("耽搁的样本", "Delayed samples");
const AGAIN: Text = Text::new("再抽一次", "Draw again");
const STOPS: [f64; 14] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0];

/// See the module's docs.
pub struct SampleHistogram {
    question: Question,
    lines: Vec<Line>,
}

impl SampleHistogram {
    fn new(question: Question) -> Self {
        let lines = question.lines();
        Self { question, lines }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let before = self.question.clone();
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let most = question.most() as f64;
            let mut n = (question.n as f64).min(most);
            let slider = Slider::new(N.get(lang), &mut n, 1.0..=most).default_value(20.0_f64.min(most));
            let slider = if most > 20.0 { slider.stops(&STOPS) } else { slider.step(1.0) };
            if flow.item(|ui| slider.shown(|n| format!("{n:.0}")).show(ui, tokens)).changed() {
                question.n = n.round().max(1.0) as u64;
            }
            if question.origin != Origin::Drawn {
                return;
            }
            for (name, value, most, step, start) in [
                (SLOWER, &mut question.slower, 0.1, 0.005, 0.03),
                (SPREAD, &mut question.spread, 0.1, 0.005, 0.02),
                (ODD, &mut question.odd, 0.3, 0.01, 0.05),
            ] {
                let slider = Slider::new(name.get(lang), value, 0.0..=most).step(step).default_value(start).width(80.0);
                flow.item(|ui| slider.shown(percent).show(ui, tokens));
            }
            if controls::button(flow, tokens, AGAIN.get(lang)) {
                question.seed = question.seed % (1 << 20) + 1;
            }
        });
        if before != self.question {
            self.lines = self.question.lines();
        }
    }

    fn figure_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let truths = self.question.truths();
        let all = self.lines.iter().flat_map(|line| &line.stats.sorted).copied().chain(truths.into_iter().flatten());
        let ends = all.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.lines.len(), ends);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if response.clicked() {
            response.request_focus();
        }
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, lines: &self.lines, truths }.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        legend(ui, tokens, &paint::legend(tokens, lang, truths.is_some()));
        figure::readout_ui(ui, tokens, words::MARKS.get(lang));
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let mut out = Vec::new();
        if let Some(found) = verdict(&self.lines) {
            let judged = match found {
                Change::Improved => Verdict::Good,
                Change::Regressed => Verdict::Bad,
                Change::NoDifference => Verdict::Neutral,
                Change::Insufficient => Verdict::Caution,
            };
            out.push(KeyNumber::new(Text::new("判定", "verdict"), words::change(found).get(lang)).judged(judged));
        }
        let names = [
            [Text::new("基线的中位数", "median, baseline"), Text::new("候选的中位数", "median, candidate")],
            [Text::new("中位数", "median"), Text::new("", "")],
        ];
        let names = names[usize::from(self.lines.len() < 2)];
        for (line, name) in self.lines.iter().zip(names) {
            let stats = &line.stats;
            let exact = format!("{} ms", stats.median);
            out.push(KeyNumber::new(name, with_unit(stats.median, "ms")).exact(exact));
        }
        let Some(first) = self.lines.first() else { return out };
        if self.lines.len() < 2 {
            out.push(KeyNumber::new(Text::new("平均数", "mean"), with_unit(first.stats.mean, "ms")));
            out.push(KeyNumber::new(Text::new("绝对中位差", "MAD"), with_unit(first.stats.mad, "ms")));
        }
        if let Some(half) = first.stats.half_width() {
            out.push(KeyNumber::new(Text::new("区间半宽", "half-width"), format!("±{}", with_unit(half, "%"))));
        }
        out
    }
}

impl View for SampleHistogram {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.lines, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["side", "sample (ms)", "flagged"].map(str::to_owned).to_vec();
        let row = |side: usize, line: &Line, sample: &f64| {
            let name = words::name(side, self.lines.len()).get(Lang::En);
            vec![name.to_owned(), sample.to_string(), line.stats.is_far(*sample).to_string()]
        };
        let lines = self.lines.iter().enumerate();
        let rows =
            lines.flat_map(|(side, line)| line.samples.iter().map(move |sample| row(side, line, sample))).collect();
        DataTable { header, rows }
    }
}

impl Visualizer for SampleHistogram {
    const ID: &'static str = "sample_histogram";
    const TITLE: Text = Text::new("样本与区间", "Samples and intervals");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)?))
    }
}
