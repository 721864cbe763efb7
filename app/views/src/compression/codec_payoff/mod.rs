//! Ratio against the speed of a decoder: above a link's line packing pays, below it only slows down.
//!
//! `paint.rs` is the picture, `words.rs` the sentences. All numbers are model `codec_payoff`'s.

mod paint;
mod words;

use super::{Answer, asking};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, Response, Sense, Ui};
use paint::{Geometry, Scene};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const RATIO: Text = Text::new("压缩比", "Ratio");
const DECODER: Text = Text::new("解码器", "Decoder");
pub const RATIOS: (f64, f64) = (1.0, 4.0);
pub const DECODERS: (f64, f64) = (0.1, 100_000.0);
/// Links in GB/s, one way: a network of 100 Gbit/s, PCIe 5 × 16 as an H200 measures it, its NVLink, its HBM.
pub const LINKS: [(Text, f64); 4] = [
    (Text::new("网络 100 Gb/s", "network 100 Gb/s"), 12.5),
    (Text::new("PCIe 5", "PCIe 5"), 55.0),
    (Text::new("NVLink", "NVLink"), 450.0),
    (Text::new("HBM", "HBM"), 4800.0),
];

/// See the module's docs.
pub struct CodecPayoff {
    ratio: f64,
    decoder: f64,
    found: [Answer; 4],
    /// The least decoder of each link along the axis of ratios.
    lines: [Vec<[f64; 2]>; 4],
}

fn ask(link: f64, ratio: f64, decoder: f64) -> Answer {
    let question =
        asking([("link_gb_per_s", link.into()), ("ratio", ratio.into()), ("decoder_gb_per_s", decoder.into())]);
    Answer::of("codec_payoff", question).unwrap_or_default()
}

impl CodecPayoff {
    fn new(ratio: f64, decoder: f64) -> Self {
        let line = |link: f64| {
            let places = (1..=60).map(|at| RATIOS.0 + (RATIOS.1 - RATIOS.0) * (f64::from(at) / 60.0).powi(2));
            places
                .filter_map(|ratio| ask(link, ratio, 1.0).maybe("least_decoder_gb_per_s").map(|y| [ratio, y]))
                .collect()
        };
        let found = LINKS.map(|(_, link)| ask(link, ratio, decoder));
        Self { ratio, decoder, found, lines: LINKS.map(|(_, link)| line(link)) }
    }

    /// Moves the decoder that is looked at.
    fn set(&mut self, ratio: f64, decoder: f64) {
        let ratio = (ratio.clamp(RATIOS.0, RATIOS.1) * 100.0).round() / 100.0;
        let decoder = decoder.clamp(DECODERS.0, DECODERS.1);
        let digits = 10_f64.powf(2.0 - decoder.log10().floor());
        let decoder = (decoder * digits).round() / digits;
        if (ratio, decoder) != (self.ratio, self.decoder) {
            (self.ratio, self.decoder) = (ratio, decoder);
            self.found = LINKS.map(|(_, link)| ask(link, ratio, decoder));
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let (mut ratio, mut decoder) = (self.ratio, self.decoder);
        controls::row(ui, tokens, |flow| {
            let slider = Slider::new(RATIO.get(lang), &mut ratio, RATIOS.0..=RATIOS.1).step(0.01).default_value(1.43);
            flow.item(|ui| slider.shown(|value| format!("{value:.2}")).show(ui, tokens));
            let slider = Slider::new(DECODER.get(lang), &mut decoder, DECODERS.0..=DECODERS.1).log();
            flow.item(|ui| slider.unit("GB/s").default_value(1.0).show(ui, tokens));
        });
        self.set(ratio, decoder);
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        if let Some(at) = response.interact_pointer_pos().filter(|at| geometry.plot.expand(12.0).contains(*at)) {
            let (ratio, decoder) = geometry.value(at);
            self.set(ratio, decoder);
        }
        self.keys(ui, &response);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let place = (self.ratio, self.decoder);
        Scene { painter, tokens, lang, geometry: &geometry, lines: &self.lines, found: &self.found, place }.paint();
        figure::focus_ring(ui, tokens, &response);
        let said = words::verdicts(&self.found, lang);
        figure::speak(&response, &self.finding(lang), Some(said.as_str()).filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, words::HOW.get(lang));
    }

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
        for (key, ratio, decoder) in [
            (Key::ArrowRight, 0.05, 1.0),
            (Key::ArrowLeft, -0.05, 1.0),
            (Key::ArrowUp, 0.0, 1.25),
            (Key::ArrowDown, 0.0, 0.8),
        ] {
            if pressed(key) {
                self.set(self.ratio + ratio, self.decoder * decoder);
            }
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let pcie = &self.found[1];
        let gain = pcie.num("serial_gain");
        let verdict = if gain > 1.0 { Verdict::Good } else { Verdict::Bad };
        let least = |at: usize| match self.found[at].maybe("least_decoder_gb_per_s") {
            Some(value) => with_unit(value, "GB/s"),
            None => "–".to_owned(),
        };
        vec![
            KeyNumber::new(Text::new("PCIe，先传后解", "PCIe, one after the other"), with_unit(gain, "×"))
                .judged(verdict),
            KeyNumber::new(
                Text::new("PCIe，边传边解", "PCIe, at the same time"),
                with_unit(pcie.num("overlapped_gain"), "×"),
            ),
            KeyNumber::new(Text::new("PCIe 上至少要", "PCIe needs at least"), least(1)),
            KeyNumber::new(Text::new("HBM 上至少要", "HBM needs at least"), least(3)),
        ]
    }
}

impl View for CodecPayoff {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.ratio, self.decoder, &self.found, lang)
    }

    fn params(&self) -> Map {
        asking([("ratio", self.ratio.into()), ("decoder_gb_per_s", self.decoder.into())])
    }

    fn data(&self) -> DataTable {
        let header =
            ["link", "link (GB/s)", "least decoder (GB/s)", "gain, one after the other", "gain, at the same time"];
        let row = |((name, link), found): (&(Text, f64), &Answer)| {
            let numbers =
                ["least_decoder_gb_per_s", "serial_gain", "overlapped_gain"].map(|key| found.num(key).to_string());
            [name.get(Lang::En).to_owned(), link.to_string()].into_iter().chain(numbers).collect()
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: LINKS.iter().zip(&self.found).map(row).collect() }
    }
}

impl Visualizer for CodecPayoff {
    const ID: &'static str = "codec_payoff";
    const TITLE: Text = Text::new("在哪条链路上划算", "On which link it pays");

    fn fields() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num(
                "ratio",
                "1",
                RATIOS.0,
                RATIOS.1,
                Text::new("压缩比，原大小 ÷ 压缩后", "Ratio, plain over packed"),
            )
            .default_value(1.43),
            FieldSpec::num(
                "decoder_gb_per_s",
                "GB/s",
                DECODERS.0,
                DECODERS.1,
                Text::new("解码器吐出原数据的速度", "Plain bytes that the decoder gives"),
            )
            .default_value(1),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(args.num("ratio"), args.num("decoder_gb_per_s")))
    }
}
