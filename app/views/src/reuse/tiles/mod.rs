//! Tiles that walk over A, B and C: the heat of the last touch, the tank of shared memory, bytes at each level, and the dot that
//! climbs the roofline as the tile grows.
//!
//! `question.rs` is what the reader sets and what the models say, `layout.rs` the geometry, `paint.rs` and `roof.rs` the picture,
//! `words.rs` the sentences.

mod layout;
mod paint;
mod question;
mod roof;
mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Pos2, Response, Sense, Ui};
use layout::{Geometry, Hit};
use paint::Scene;
use question::{Answer, DEPTHS, MOST_STAGES, Question, SIZES, THREADS, TILES};
use vramlab_kit::{Area, Mark, Slider, Tokens, Verdict, legend};
use vramlab_model::kernels::gemm_walk::{Matrix, ORDERS};
use vramlab_units::show::{grouped, number};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const SIZE: Text = Text::new("边长 N", "Edge N");
const ORDER: Text = Text::new("循环次序", "Loop order");
const STAGES: Text = Text::new("几级缓冲", "Stages");
const DTYPE: Text = Text::new("数的格式", "Numbers");
/// Seconds that a whole walk takes.
const WALK_SECS: f64 = 24.0;
const LEAST_SPEED: f64 = 1.5;

/// See the module's docs.
pub struct GemmTiles {
    question: Question,
    answer: Answer,
    trail: Vec<(u64, f64, f64)>,
    play: Steps,
}

impl GemmTiles {
    fn new(question: Question, step: Option<usize>) -> Self {
        let answer = question.answer();
        let total = answer.walk.steps() as usize;
        let play = Steps::new(step.unwrap_or(1), total, (total as f64 / WALK_SECS).max(LEAST_SPEED));
        let trail = TILES.into_iter().filter(|tile| *tile <= question.size).map(|tile| {
            let other = Question { tile: [tile, tile, question.tile[2]], ..question.clone() }.answer();
            (tile, other.intensity, other.tflops)
        });
        Self { trail: trail.collect(), question, answer, play }
    }

    fn set(&mut self, next: Question) {
        if next != self.question {
            let is_same = next.walk() == self.question.walk();
            // Another walk keeps about the same share of its way behind it.
            let share = self.play.now() as f64 / self.answer.walk.steps() as f64;
            let step = if is_same { self.play.now() } else { (share * next.walk().steps() as f64).round() as usize };
            *self = Self::new(next, Some(step.max(1)));
        }
    }

    /// The product of tiles under way, from 0.
    fn step(&self) -> u64 {
        self.play.now().saturating_sub(1) as u64
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            stops(flow, tokens, SIZE.get(lang), &mut next.size, &SIZES);
            let dtypes = [(4, "fp32".to_owned()), (2, "bf16".to_owned())];
            controls::choice(flow, tokens, DTYPE.get(lang), &mut next.value, &dtypes);
            let orders = ORDERS.map(|order| (order, order.to_owned()));
            controls::choice(flow, tokens, ORDER.get(lang), &mut next.order, &orders);
        });
        controls::row(ui, tokens, |flow| {
            stops(flow, tokens, "BM", &mut next.tile[0], &TILES);
            stops(flow, tokens, "BN", &mut next.tile[1], &TILES);
            stops(flow, tokens, "BK", &mut next.tile[2], &DEPTHS);
            controls::slider(flow, tokens, STAGES.get(lang), &mut next.stages, 1..=MOST_STAGES, |n| n.to_string());
            if next.is_by_threads() {
                stops(flow, tokens, "TM", &mut next.thread[0], &THREADS);
                stops(flow, tokens, "TN", &mut next.thread[1], &THREADS);
            }
        });
        self.set(next);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n_levels = words::levels(&self.question, &self.answer, lang).len();
        let Some(geometry) = Geometry::new(ui.cursor().min, width, tokens.scale, n_levels) else { return };
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        self.size_keys(ui, &response);
        let dot = geometry.plane.pos(self.answer.intensity, self.answer.tflops);
        let is_dragged = self.drags(ui, &geometry, dot, &response);
        let over = response.hover_pos().and_then(|at| geometry.hit(|matrix| self.question.grid(matrix), dot, at));
        if response.clicked_by(PointerButton::Primary)
            && let Some(Hit::Tile(matrix, row, column)) = over
        {
            self.go_to(matrix, row, column);
        }
        let picked = if is_dragged { Some(Hit::Dot) } else { over };
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer: &self.answer,
            step: self.step(),
            trail: &self.trail,
            picked,
        }
        .paint();
        let step = words::step(&self.answer, self.step(), lang);
        let said =
            picked.map_or_else(|| step.clone(), |hit| words::hit(&self.question, &self.answer, hit, self.step(), lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(step.as_str()));
        let color = paint::color(tokens, Matrix::A);
        let marks = [
            (Mark::Square(color), words::NOW.get(lang)),
            (Mark::Square(tokens.tint(color, 0.4)), words::RECENT.get(lang)),
            (Mark::Area(Area::Free), words::FRESH.get(lang)),
        ];
        legend(ui, tokens, &marks);
        if let Some(problem) = words::problem(&self.answer, lang) {
            figure::problem_ui(ui, tokens, &problem);
        }
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    /// The first step that touches a tile.
    fn go_to(&mut self, matrix: Matrix, row: u64, column: u64) {
        let step = self.answer.walk.first_touch(matrix, row, column);
        self.play.seek(step as usize + 1);
    }

    /// C is scrubbed by dragging, the dot drags the tile's edge. These alone take the pointer; elsewhere a finger scrolls.
    fn drags(&mut self, ui: &Ui, geometry: &Geometry, dot: Option<Pos2>, figure: &Response) -> bool {
        let over_c = ui.interact(geometry.c, figure.id.with("c"), Sense::drag());
        if let (true, Some(at)) = (over_c.dragged(), over_c.interact_pointer_pos())
            && let Some((row, column)) = geometry.tile_at(Matrix::C, self.question.grid(Matrix::C), at)
        {
            self.go_to(Matrix::C, row, column);
        }
        let Some(dot) = dot else { return false };
        let area = egui::Rect::from_center_size(dot, egui::Vec2::splat(44.0 * geometry.scale));
        let grip = ui.interact(area.intersect(geometry.plane.rect), figure.id.with("dot"), Sense::drag());
        if grip.hovered() || grip.dragged() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
        }
        if let (true, Some(at)) = (grip.dragged(), grip.interact_pointer_pos()) {
            self.set(self.question.with_intensity(geometry.intensity_at(at)));
        }
        grip.hovered() || grip.dragged()
    }

    fn size_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (up, down) = ui.input(|input| (input.key_pressed(Key::ArrowUp), input.key_pressed(Key::ArrowDown)));
        if up || down {
            self.set(self.question.grown(up));
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let answer = &self.answer;
        let plain = |label, value: f64| KeyNumber::new(label, number(value)).exact(value.to_string());
        let verdict = |is_bad: bool| if is_bad { Verdict::Bad } else { Verdict::Neutral };
        let mut numbers = vec![
            plain(Text::new("每字节 FLOP", "FLOP a byte"), answer.intensity),
            plain(Text::new("最多 TFLOP/s", "at most, TFLOP/s"), answer.tflops),
            KeyNumber::new(Text::new("共享内存 B", "shared memory, B"), grouped(answer.shared_bytes as f64))
                .judged(verdict(answer.overflows())),
        ];
        if self.question.is_by_threads() {
            numbers.push(plain(Text::new("每个字换几次乘加", "multiply-adds a word"), answer.fma_per_word));
            numbers.push(KeyNumber::new(Text::new("寄存器至少", "registers, at least"), answer.registers.to_string()));
            let threads =
                KeyNumber::new(Text::new("一个 block 的线程", "threads of a block"), answer.threads.to_string());
            numbers.push(threads.judged(verdict(answer.has_too_many_threads())));
        }
        numbers
    }
}

/// A slider over a few values.
fn stops(flow: &mut Flow<'_>, tokens: &Tokens, label: &str, value: &mut u64, options: &[u64]) {
    let places: Vec<f64> = options.iter().map(|option| *option as f64).collect();
    let (mut at, low, high) = (*value as f64, places[0], places[places.len() - 1]);
    let slider = Slider::new(label, &mut at, low..=high).stops(&places).width(90.0).default_value(low);
    flow.item(|ui| slider.shown(|value| format!("{value:.0}")).show(ui, tokens));
    *value = at.round().max(1.0) as u64;
}

impl View for GemmTiles {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        self.play.tick(cx);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.answer, lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.play.now())
    }

    fn data(&self) -> DataTable {
        let header = ["tile (edge)", "intensity (FLOP/B)", "at most (TFLOP/s)"].map(str::to_owned).to_vec();
        let row = |(tile, intensity, tflops): &(u64, f64, f64)| {
            vec![tile.to_string(), intensity.to_string(), tflops.to_string()]
        };
        DataTable { header, rows: self.trail.iter().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for GemmTiles {
    const ID: &'static str = "gemm_tiles";
    const TITLE: Text = Text::new("走动的块", "Tiles on the move");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let step = args.has("step").then(|| args.uint("step") as usize);
        Ok(Self::new(Question::from_args(args), step))
    }
}
