//! The bottleneck panel: four times, the longest binds, and by what margin.
//!
//! `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{Preset, Question};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_model::bottleneck::{Found, Resource, ridge_flop_per_byte};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const WORK: Text = Text::new("哪件活", "Work");

/// See the module's docs.
pub struct BottleneckPanel {
    question: Question,
    cursor: usize,
}

impl BottleneckPanel {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let presets: Vec<(Preset, String)> =
                Preset::ALL.iter().map(|preset| (*preset, preset.label().get(lang).to_owned())).collect();
            let mut preset = self.question.preset;
            if controls::choice(flow, tokens, WORK.get(lang), &mut preset, &presets) {
                self.question.set_preset(preset);
            }
            let work = &mut self.question.work;
            let name = |resource: Resource| words::name(resource).get(lang);
            let mut is_changed = false;
            is_changed |= decades(flow, tokens, name(Resource::Memory), &mut work.bytes, (3.0, 12.0), words::bytes);
            is_changed |= decades(flow, tokens, name(Resource::Compute), &mut work.flop, (3.0, 16.0), words::flop);
            is_changed |= decades(flow, tokens, name(Resource::Launches), &mut work.launches, (0.0, 6.0), number);
            is_changed |= decades(flow, tokens, name(Resource::Link), &mut work.link_bytes, (3.0, 12.0), words::bytes);
            if is_changed {
                self.question.preset = Preset::Custom;
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, found: &Found) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &found.times_us);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.cursor, Resource::ALL.len());
        let hovered = response.hover_pos().and_then(|pos| geometry.hit(pos));
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, found, picked }.paint();
        let said = picked.map(|idx| words::row(&self.question, Resource::ALL[idx], found.times_us[idx], lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        let rest = said.unwrap_or_else(|| self.question.preset.about().get(lang).to_owned());
        figure::readout_ui(ui, tokens, &rest);
    }

    fn key_numbers(&self, found: &Found, lang: Lang) -> Vec<KeyNumber> {
        let join = if lang == Lang::Zh { "、" } else { ", " };
        let names: Vec<&str> = found.bound.iter().map(|resource| words::name(*resource).get(lang)).collect();
        let margin = found.margin.map_or("–".to_owned(), |margin| format!("{}×", number(margin)));
        let ridge = ridge_flop_per_byte(&self.question.machine);
        let about = "TFLOP/s ÷ GB/s";
        vec![
            KeyNumber::new(Text::new("瓶颈", "bound by"), names.join(join)).judged(Verdict::Caution),
            KeyNumber::new(Text::new("领先", "margin"), margin),
            KeyNumber::new(Text::new("至少", "at least"), words::time(found.floor_us())),
            KeyNumber::new(Text::new("全不重叠", "no overlap"), words::time(found.serial_us())),
            KeyNumber::new(Text::new("运算与字节打平", "arithmetic = bytes at"), with_unit(ridge, "FLOP/B"))
                .exact(about.to_owned()),
        ]
    }
}

/// A slider over powers of ten that begins at 0. True when it moved.
fn decades(
    flow: &mut Flow<'_>,
    tokens: &Tokens,
    label: &str,
    value: &mut f64,
    (low, high): (f64, f64),
    shown: impl Fn(f64) -> String,
) -> bool {
    // One step below the lowest power stands for nothing at all.
    const STEP: f64 = 0.25;
    let from_power = |power: f64| if power < low { 0.0 } else { 10f64.powf(power).round() };
    let given = *value;
    let mut power = if given > 0.0 { given.log10().clamp(low, high) } else { low - STEP };
    let before = power;
    let slider = Slider::new(label, &mut power, low - STEP..=high).step(STEP).width(90.0);
    let slider = slider.shown(|power| shown(if power == before { given } else { from_power(power) }));
    let is_changed = flow.item(|ui| slider.show(ui, tokens)).changed();
    if is_changed {
        *value = from_power(power);
    }
    is_changed
}

impl View for BottleneckPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        match self.question.answer() {
            Some(found) => {
                self.figure_ui(ui, tokens, lang, &found);
                ui.add_space(tokens.space.xs);
                controls::key_numbers(ui, tokens, lang, &self.key_numbers(&found, lang));
            }
            None => figure::problem_ui(ui, tokens, &words::finding(None, lang)),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.question.answer().as_ref(), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["resource", "time (µs)"].map(str::to_owned).to_vec();
        let found = self.question.answer();
        let row = |resource: &Resource| {
            let time = found.as_ref().map_or(0.0, |found| found.times_us[*resource as usize]);
            vec![resource.id().to_owned(), time.to_string()]
        };
        DataTable { header, rows: Resource::ALL.iter().map(row).collect() }
    }
}

impl Visualizer for BottleneckPanel {
    const ID: &'static str = "bottleneck_panel";
    const TITLE: Text = Text::new("四柱瓶颈图（bottleneck panel）", "Bottleneck panel");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, cursor: 0 })
    }
}
