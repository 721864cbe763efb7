//! The conveyor of Little's law: loads under way fill a belt that is as long as the latency and as tall as the peak.
//!
//! `question.rs` is what the reader sets and the model's answer, `layout.rs` the geometry, `paint.rs` the picture,
//! `words.rs` the sentences. Playing shows the belt fill from empty.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::{Geometry, steps_to_first};
use paint::Scene;
use question::{Answer, LEAST_LATENCY_NS, MOST_LATENCY_NS, Question};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const THREADS: Text = Text::new("线程 / SM", "Threads / SM");
const WIDTH: Text = Text::new("每次读取", "Bytes per load");
const LOADS: Text = Text::new("每线程在途", "Loads per thread");
const LATENCY: Text = Text::new("延迟 latency", "Latency");
const PEAK: Text = Text::new("峰值 peak", "Peak");
const THREAD_STOPS: [f64; 8] = [64.0, 128.0, 256.0, 512.0, 768.0, 1024.0, 1536.0, 2048.0];
const LOAD_STOPS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
const WIDTHS: [u64; 3] = [4, 8, 16];
const STEPS_PER_SEC: f64 = 12.0;
/// Steps that are played once the belt is as full as it gets.
const STEADY_STEPS: usize = 24;

/// See the module's docs.
pub struct LittlesLawConveyor {
    question: Question,
    play: Steps,
}

impl LittlesLawConveyor {
    fn total(&self) -> usize {
        steps_to_first(self.question.latency_ns) + STEADY_STEPS
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        let mut threads = question.threads_per_sm as f64;
        let mut loads = question.loads_per_thread as f64;
        controls::row(ui, tokens, |flow| {
            let slider = Slider::new(THREADS.get(lang), &mut threads, 64.0..=2048.0).stops(&THREAD_STOPS);
            if flow.item(|ui| slider.default_value(2048.0).show(ui, tokens)).changed() {
                question.threads_per_sm = threads as u64;
            }
            let mut widths: Vec<(u64, String)> = WIDTHS.map(|width| (width, format!("{width} B"))).to_vec();
            if !WIDTHS.contains(&question.bytes_per_load) {
                widths.insert(0, (question.bytes_per_load, format!("{} B", question.bytes_per_load)));
            }
            controls::choice(flow, tokens, WIDTH.get(lang), &mut question.bytes_per_load, &widths);
            let slider = Slider::new(LOADS.get(lang), &mut loads, 1.0..=16.0).stops(&LOAD_STOPS).width(80.0);
            if flow.item(|ui| slider.default_value(1.0).show(ui, tokens)).changed() {
                question.loads_per_thread = loads as u64;
            }
            let range = LEAST_LATENCY_NS..=MOST_LATENCY_NS;
            let slider = Slider::new(LATENCY.get(lang), &mut question.latency_ns, range).step(25.0).unit("ns");
            flow.item(|ui| slider.default_value(600.0).show(ui, tokens));
            let slider = Slider::new(PEAK.get(lang), &mut question.peak_gb_per_s, 200.0..=8000.0).step(100.0);
            flow.item(|ui| slider.unit("GB/s").default_value(4800.0).show(ui, tokens));
        });
        let total = self.total();
        self.play.set_total(total);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>, answer: &Answer) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question, answer);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        let now = self.play.now();
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer,
            now,
            has_arrived: now >= steps_to_first(self.question.latency_ns),
        };
        scene.paint();
        let said = words::step(&self.question, now, lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        figure::readout_ui(ui, tokens, &said);
    }
}

fn key_numbers(answer: &Answer) -> Vec<KeyNumber> {
    let exact = |value: f64| format!("{value:.0} B");
    let verdict = if answer.is_full { Verdict::Good } else { Verdict::Caution };
    vec![
        KeyNumber::new(Text::new("在途", "in flight"), words::bytes(answer.bytes_in_flight))
            .exact(exact(answer.bytes_in_flight)),
        KeyNumber::new(Text::new("填满要", "needed"), words::bytes(answer.bytes_needed))
            .exact(exact(answer.bytes_needed)),
        KeyNumber::new(Text::new("每个线程要", "needed per thread"), with_unit(answer.bytes_needed_per_thread, "B")),
        KeyNumber::new(Text::new("带宽", "bandwidth"), with_unit(answer.gb_per_s, "GB/s")),
        KeyNumber::new(Text::new("占峰值", "of the peak"), with_unit(answer.share, "%")).judged(verdict),
    ]
}

impl View for LittlesLawConveyor {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        match self.question.answer() {
            Ok(answer) => {
                self.play.tick(cx);
                self.figure_ui(ui, cx, &answer);
                self.play.ui(ui, cx);
                ui.add_space(tokens.space.xs);
                controls::key_numbers(ui, tokens, lang, &key_numbers(&answer));
            }
            Err(problem) => figure::problem_ui(ui, tokens, &problem.to_string()),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match self.question.answer() {
            Ok(answer) => words::finding(&self.question, &answer, lang),
            Err(problem) => problem.to_string(),
        }
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    /// The ramp: the state shown, and what other numbers of threads would reach.
    fn data(&self) -> DataTable {
        let header = ["threads per SM", "bytes in flight (B)", "bandwidth (GB/s)", "share of the peak"];
        let mut threads: Vec<u64> = THREAD_STOPS.iter().map(|stop| *stop as u64).collect();
        threads.push(self.question.threads_per_sm);
        threads.sort_unstable();
        threads.dedup();
        let row = |threads_per_sm: u64| {
            let answer = Question { threads_per_sm, ..self.question.clone() }.answer().ok()?;
            let cells = [answer.bytes_in_flight, answer.gb_per_s, answer.share].map(|value| value.to_string());
            Some(std::iter::once(threads_per_sm.to_string()).chain(cells).collect())
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: threads.into_iter().filter_map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for LittlesLawConveyor {
    const ID: &'static str = "littles_law_conveyor";
    const TITLE: Text = Text::new("在途字节传送带（Little's law）", "Little's law conveyor");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let mut this = Self { question: Question::from_args(args)?, play: Steps::new(0, 1, STEPS_PER_SEC) };
        let total = this.total();
        this.play = Steps::new(total, total, STEPS_PER_SEC);
        Ok(this)
    }
}
