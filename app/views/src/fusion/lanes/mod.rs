//! Processor and GPU while small kernels are launched: on a stream, with a wait after each, as a graph.
//!
//! `question.rs` is what the reader sets and the model's lanes, `paint.rs` geometry and picture, `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{LEAST_US, MODES, MOST, MOST_US, Question};
use vramlab_kit::{Area, Mark, Slider, Tokens, Verdict, legend};
use vramlab_model::kernels::launch_timeline::Mode;
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const MODE: Text = Text::new("做法", "Way");
const SYNC: Text = Text::new("每次都同步", "wait after each");
const KERNELS: Text = Text::new("个数", "Kernels");
const KERNEL: Text = Text::new("一个 kernel", "A kernel");
const LAUNCH: Text = Text::new("一次启动", "A launch");
const GAP: Text = Text::new("空档", "Gap");
const GRAPH: Text = Text::new("启动图", "The graph's launch");
const WAIT: Text = Text::new("一次同步", "A wait");
/// Points of a drag that double a kernel's time.
const DOUBLING: f32 = 90.0;

/// See the module's docs.
pub struct LaunchLanes {
    question: Question,
    /// The kernel's time when a drag began.
    dragged: Option<f64>,
}

impl LaunchLanes {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let options = [false, true].map(|is_graph| {
                let mode = if is_graph { Mode::Graph } else { Mode::Stream };
                (is_graph, words::mode(mode).get(lang).to_owned())
            });
            controls::choice(flow, tokens, MODE.get(lang), &mut question.is_graph, &options);
            if !question.is_graph {
                controls::toggle(flow, tokens, SYNC.get(lang), &mut question.is_synced);
            }
        });
        controls::row(ui, tokens, |flow| {
            controls::slider(flow, tokens, KERNELS.get(lang), &mut question.kernels, 1..=MOST, |n| n.to_string());
            let (is_graph, is_synced) = (question.is_graph, question.is_synced);
            let times = &mut question.times;
            let mut time = |label: Text, value: &mut f64, start: f64, (least, most): (f64, f64)| {
                let slider = Slider::new(label.get(lang), value, least.min(*value)..=most.max(*value)).step(0.1);
                let slider = slider.default_value(start).width(80.0).shown(words::us);
                flow.item(|ui| if least > 0.0 { slider.log() } else { slider }.show(ui, tokens));
            };
            time(KERNEL, &mut times.kernel, 1.0, (LEAST_US, MOST_US));
            if is_graph {
                time(GRAPH, &mut times.graph, 5.0, (0.0, 30.0));
                time(GAP, &mut times.graph_gap, 0.6, (0.0, 5.0));
            } else {
                time(LAUNCH, &mut times.launch, 2.5, (0.0, 20.0));
                if is_synced {
                    time(WAIT, &mut times.wait, 5.0, (0.0, 30.0));
                } else {
                    time(GAP, &mut times.gap, 1.0, (0.0, 5.0));
                }
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let ends = MODES.map(|mode| self.question.lanes(mode).end());
        let span = ends.into_iter().fold(0.0, f64::max);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, span);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.drag(&response, &geometry, tokens);
        self.keys(ui, &response);
        let over = response.hover_pos();
        let time = over.and_then(|at| geometry.time_at(at));
        let lanes = self.question.lanes(self.question.mode());
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            lanes: &lanes,
            ends,
            over: time,
            over_mode: over.and_then(|at| geometry.mode_at(at)),
        }
        .paint();
        let said = time.map_or_else(|| words::HINT.get(lang).to_owned(), |at| words::moment(&lanes, at, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(words::HINT.get(lang)));
        let mut marks = vec![
            (Mark::Square(tokens.tint(paint::host(tokens), 0.82)), words::LAUNCHES.get(lang)),
            (Mark::Square(tokens.tint(paint::kernel(tokens), 0.82)), words::RUNS.get(lang)),
        ];
        if self.question.mode() == Mode::Synced {
            marks.push((Mark::Area(Area::Free), words::WAITS.get(lang)));
        }
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, &said);
    }

    fn drag(&mut self, response: &Response, geometry: &Geometry, tokens: &Tokens) {
        let at = response.interact_pointer_pos();
        if response.drag_started_by(PointerButton::Primary) {
            response.request_focus();
            self.dragged = at.and_then(|at| geometry.time_at(at)).map(|_| self.question.times.kernel);
        }
        if let Some((before, delta)) = self.dragged.zip(response.total_drag_delta()) {
            let us = before.max(LEAST_US) * 2_f64.powf(f64::from(delta.x / tokens.px(DOUBLING)));
            self.question.times.kernel = ((us * 10.0).round() / 10.0).clamp(LEAST_US, MOST_US);
        }
        if response.drag_stopped() {
            self.dragged = None;
        }
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
            if let Some(mode) = at.and_then(|at| geometry.mode_at(at)) {
                self.question.set_mode(mode);
            }
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let question = &mut self.question;
        let us = question.times.kernel;
        let step = (us * 0.1).max(0.1);
        if pressed(Key::ArrowRight) {
            question.times.kernel = ((us + step) * 10.0).round().min(10.0 * MOST_US) / 10.0;
        } else if pressed(Key::ArrowLeft) {
            question.times.kernel = ((us - step) * 10.0).round().max(10.0 * LEAST_US) / 10.0;
        } else if pressed(Key::ArrowUp) {
            question.kernels = (question.kernels + 1).min(MOST);
        } else if pressed(Key::ArrowDown) {
            question.kernels = (question.kernels - 1).max(1);
        } else if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            let at = MODES.iter().position(|mode| *mode == question.mode()).unwrap_or(0);
            question.set_mode(MODES[(at + 1) % MODES.len()]);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let lanes = self.question.lanes(self.question.mode());
        let end = lanes.end();
        let each = end / self.question.kernels as f64;
        let graph = self.question.lanes(Mode::Stream).end() / self.question.lanes(Mode::Graph).end().max(1e-9);
        vec![
            KeyNumber::new(Text::new("结束于", "ends after"), words::us(end)).exact(format!("{end} µs")),
            KeyNumber::new(Text::new("平均一个", "a kernel, on average"), words::us(each)).exact(format!("{each} µs")),
            KeyNumber::new(Text::new("GPU 在忙", "GPU busy"), format!("{} %", number(100.0 * lanes.busy())))
                .judged(if lanes.busy() < 0.5 { Verdict::Caution } else { Verdict::Neutral }),
            KeyNumber::new(Text::new("流 ÷ 图", "stream ÷ graph"), number(graph)).exact(graph.to_string()),
        ]
    }
}

impl View for LaunchLanes {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.question.lanes(self.question.mode()), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["kernel", "launched (µs)", "starts (µs)", "ends (µs)"].map(str::to_owned).to_vec();
        let lanes = self.question.lanes(self.question.mode());
        let row = |(idx, (from, to)): (usize, &(f64, f64))| {
            let sent = lanes.launches.get(idx).or(lanes.launches.first()).map_or(0.0, |(_, sent)| *sent);
            vec![(idx + 1).to_string(), sent.to_string(), from.to_string(), to.to_string()]
        };
        DataTable { header, rows: lanes.kernels.iter().enumerate().map(row).collect() }
    }
}

impl Visualizer for LaunchLanes {
    const ID: &'static str = "launch_lanes";
    const TITLE: Text = Text::new("一串小 kernel：CPU 和 GPU 两条时间线", "Small kernels: the lanes of CPU and GPU");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, dragged: None })
    }
}
