//! The utilisation meter beside the bandwidth meter, driven by one timeline of kernels.
//!
//! `question.rs` is what the reader sets and the model's answer, `layout.rs` the geometry, `paint.rs` the picture,
//! `words.rs` the sentences.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{PRESETS, Question};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const SCENE: Text = Text::new("情形", "Case");
const OWN: Text = Text::new("自定", "custom");
const KERNEL: Text = Text::new("每个内核", "Each kernel");
const GAP: Text = Text::new("内核间隔", "Gap between");
const RATE: Text = Text::new("运行时带宽", "Rate while running");

/// See the module's docs.
pub struct UtilMeter {
    question: Question,
}

/// The question answered, in the three numbers that are shown.
struct Answered {
    gpu_util: f64,
    achieved_gb_per_s: f64,
    achieved_share: f64,
}

impl UtilMeter {
    fn answer(&self) -> Answered {
        let found = self.question.answer();
        Answered {
            gpu_util: found.gpu_util(),
            achieved_gb_per_s: found.achieved_gb_per_s(),
            achieved_share: found.share_of(self.question.peak_gb_per_s),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let mut options: Vec<(Option<usize>, String)> = PRESETS
                .iter()
                .enumerate()
                .map(|(idx, preset)| (Some(idx), preset.label.get(lang).to_owned()))
                .collect();
            let mut chosen = PRESETS.iter().position(|preset| question.is_preset(preset));
            if chosen.is_none() {
                options.push((None, OWN.get(lang).to_owned()));
            }
            if controls::choice(flow, tokens, SCENE.get(lang), &mut chosen, &options)
                && let Some(preset) = chosen.and_then(|idx| PRESETS.get(idx))
            {
                question.set(preset);
            }
            let ms = |value: f64| with_unit(value, "ms");
            let mut kernel = question.kernel_ms as f64;
            let slider = Slider::new(KERNEL.get(lang), &mut kernel, 1.0..=1000.0).log().step(1.0).shown(ms);
            if flow.item(|ui| slider.default_value(1000.0).show(ui, tokens)).changed() {
                question.kernel_ms = kernel.round() as u64;
            }
            let mut gap = question.gap_ms as f64;
            let slider = Slider::new(GAP.get(lang), &mut gap, 0.0..=200.0).step(1.0).shown(ms);
            if flow.item(|ui| slider.default_value(0.0).show(ui, tokens)).changed() {
                question.gap_ms = gap.round() as u64;
            }
            let slider = Slider::new(RATE.get(lang), &mut question.rate_gb_per_s, 0.0..=question.peak_gb_per_s);
            flow.item(|ui| slider.step(20.0).unit("GB/s").default_value(400.0).show(ui, tokens));
        });
    }

    fn figure_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang, answered: &Answered) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.question.window_ms);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
        }
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            gpu_util: answered.gpu_util,
            achieved_share: answered.achieved_share,
        };
        scene.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        figure::readout_ui(ui, tokens, &words::scale(lang));
    }
}

impl View for UtilMeter {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        let answered = self.answer();
        self.figure_ui(ui, tokens, lang, &answered);
        ui.add_space(tokens.space.xs);
        // A low share is no fault as such: a kernel may compute.
        let verdict = if answered.achieved_share > 0.8 { Verdict::Good } else { Verdict::Neutral };
        let numbers = [
            KeyNumber::new(Text::new("GPU-Util", "GPU-Util"), with_unit(answered.gpu_util, "%")),
            KeyNumber::new(Text::new("平均带宽", "bandwidth, average"), with_unit(answered.achieved_gb_per_s, "GB/s")),
            KeyNumber::new(Text::new("占峰值带宽", "of peak bandwidth"), with_unit(answered.achieved_share, "%"))
                .judged(verdict),
        ];
        controls::key_numbers(ui, tokens, lang, &numbers);
    }

    fn finding(&self, lang: Lang) -> String {
        let answered = self.answer();
        words::finding(answered.gpu_util, answered.achieved_gb_per_s, answered.achieved_share, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["start (ms)", "end (ms)", "rate (GB/s)"].map(str::to_owned).to_vec();
        let row = |(start, end): (u64, u64)| {
            vec![start.to_string(), end.to_string(), self.question.rate_gb_per_s.to_string()]
        };
        DataTable { header, rows: self.question.intervals().into_iter().map(row).collect() }
    }
}

impl Visualizer for UtilMeter {
    const ID: &'static str = "util_meter";
    const TITLE: Text = Text::new("两个表：利用率与带宽（utilisation）", "Two meters: utilisation and bandwidth");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)? })
    }
}
