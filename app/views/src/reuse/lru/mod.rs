//! An LRU cache as a stack: each access with its distance, what is held and what fell out, and the misses of every size of cache.
//!
//! `question.rs` is what the reader sets and the model's distances, `layout.rs` the geometry, `paint.rs` the picture, `words.rs`
//! the sentences.

mod layout;
mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo};
use layout::{Geometry, Hit};
use paint::Scene;
use question::{Answer, EDGES, MOST_LINES, MOST_TEXT, Question, Source};
use vramlab_kit::{Area, Mark, Tokens, Type, legend};
use vramlab_model::kernels::stack_distance;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Localized, Map, Text};

const SOURCE: Text = Text::new("访问", "Accesses");
const SEQUENCE: Text = Text::new("依次用到的行", "Lines in order");
const EDGE: Text = Text::new("矩阵边长", "Edge of the matrices");
const TILE: Text = Text::new("块的边长", "Edge of a tile");
const COMPARE: Text = Text::new("别的块也画", "Other tiles too");
const LINES: Text = Text::new("缓存几行", "Lines of the cache");
/// Seconds that a whole walk takes.
const WALK_SECS: f64 = 40.0;
const LEAST_SPEED: f64 = 1.2;

/// See the module's docs.
pub struct LruStack {
    question: Question,
    answer: Answer,
    play: Steps,
    draft: String,
    wrong: Option<Localized>,
}

impl LruStack {
    fn new(question: Question, step: Option<usize>) -> Self {
        let answer = question.answer();
        let total = answer.lines.len();
        let play = Steps::new(step.unwrap_or(total), total, (total as f64 / WALK_SECS).max(LEAST_SPEED));
        Self { draft: question.sequence.clone(), question, answer, play, wrong: None }
    }

    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        if (Question { lines: self.question.lines, ..next.clone() }) == self.question {
            self.question = next;
            return;
        }
        let is_at_end = self.play.now() == self.answer.lines.len();
        let (draft, now) = (std::mem::take(&mut self.draft), self.play.now());
        *self = Self { draft, ..Self::new(next, (!is_at_end).then_some(now)) };
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let pick = |source, zh, en| (source, Text::new(zh, en).get(lang).to_owned());
            let sources = [pick(Source::Typed, "自己写", "typed"), pick(Source::Product, "矩阵乘", "a matrix product")];
            if controls::choice(flow, tokens, SOURCE.get(lang), &mut next.source, &sources) {
                next.lines = if next.source == Source::Product { 24 } else { 2 };
            }
            if next.source == Source::Product {
                let edges = EDGES.map(|edge| (edge, edge.to_string()));
                controls::choice(flow, tokens, EDGE.get(lang), &mut next.edge, &edges);
                let tiles: Vec<(u64, String)> =
                    next.options().into_iter().map(|tile| (tile, tile.to_string())).collect();
                if !next.options().contains(&next.tile) {
                    next.tile = next.edge;
                }
                controls::choice(flow, tokens, TILE.get(lang), &mut next.tile, &tiles);
                controls::toggle(flow, tokens, COMPARE.get(lang), &mut next.compares);
            } else {
                flow.item(|ui| self.sequence_ui(ui, tokens, lang, &mut next));
            }
            let most = if next.source == Source::Product { MOST_LINES } else { 16 }.max(next.lines);
            controls::slider(flow, tokens, LINES.get(lang), &mut next.lines, 1..=most, |n| n.to_string());
        });
        if let Some(wrong) = &self.wrong {
            figure::problem_ui(ui, tokens, wrong.get(lang));
        }
        let wrong = self.wrong.take();
        self.set(next);
        self.wrong = wrong;
    }

    fn sequence_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, next: &mut Question) {
        ui.label(RichText::new(SEQUENCE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        let edit = TextEdit::singleline(&mut self.draft)
            .font(tokens.font(Type::Mono))
            .desired_width(tokens.px(220.0).min(ui.available_width()))
            .char_limit(MOST_TEXT);
        let response = ui.add(edit);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, SEQUENCE.get(lang)));
        if response.changed() {
            let typed = Question { sequence: self.draft.trim().to_owned(), ..next.clone() };
            self.wrong = typed.problem();
            if self.wrong.is_none() {
                *next = typed;
            }
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let (n, now) = (self.answer.lines.len(), self.play.now());
        let most = if self.question.source == Source::Product { MOST_LINES } else { self.answer.distinct() as u64 + 1 };
        let ends = (most.max(self.question.lines), n);
        let deep = self.answer.distinct();
        let at = ui.cursor().min;
        let Some(geometry) = Geometry::new(at, width, tokens.scale, n, now, deep, ends) else { return };
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        self.lines_keys(ui, &response);
        let over = response.hover_pos().and_then(|at| geometry.hit(at));
        if response.clicked_by(PointerButton::Primary) {
            match over {
                Some(Hit::Access(idx)) => self.play.seek(idx + 1),
                Some(Hit::Curve(lines)) => self.set(Question { lines: lines.min(MOST_LINES), ..self.question.clone() }),
                _ => {}
            }
        }
        let over = self.drags(ui, &geometry, &response).or(over);
        let stack = stack_distance::stack(&self.answer.lines[..self.play.now()]);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer: &self.answer,
            stack: &stack,
            now: self.play.now(),
            picked: over,
        }
        .paint();
        let last = self.play.now().saturating_sub(1);
        let step = words::access(&self.question, &self.answer, last, lang);
        let said = over.map_or_else(|| step.clone(), |hit| words::hit(&self.question, &self.answer, &stack, hit, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(step.as_str()));
        let hit = format!("✓ {}", words::HIT.get(lang));
        let miss = format!("✗ {}", words::MISS.get(lang));
        let held = tokens.tint(tokens.category(0), 0.5);
        let marks = [(Mark::Square(held), words::HELD.get(lang)), (Mark::Area(Area::Free), words::GONE.get(lang))];
        let marks: Vec<(Mark, &str)> = marks
            .into_iter()
            .chain([(Mark::Square(tokens.good), hit.as_str()), (Mark::Square(tokens.bad), miss.as_str())])
            .collect();
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    /// The curve takes the pointer sideways: the size of the cache follows.
    fn drags(&mut self, ui: &Ui, geometry: &Geometry, figure: &Response) -> Option<Hit> {
        let curve = ui.interact(geometry.plane.rect, figure.id.with("curve"), Sense::drag());
        if curve.hovered() || curve.dragged() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
        }
        let at = curve.interact_pointer_pos().filter(|_| curve.dragged())?;
        let lines = geometry.lines_at(at).min(MOST_LINES);
        self.set(Question { lines, ..self.question.clone() });
        Some(Hit::Curve(lines))
    }

    fn lines_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (up, down) = ui.input(|input| (input.key_pressed(Key::ArrowUp), input.key_pressed(Key::ArrowDown)));
        let lines = match (up, down) {
            (true, _) => (self.question.lines + 1).min(MOST_LINES),
            (_, true) => self.question.lines.saturating_sub(1).max(1),
            _ => return,
        };
        self.set(Question { lines, ..self.question.clone() });
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let (n, misses) = (self.answer.lines.len(), self.answer.misses(self.question.lines));
        let plain = |label, value: usize| KeyNumber::new(label, value.to_string());
        vec![
            plain(Text::new("访问", "accesses"), n),
            plain(Text::new("没命中", "misses"), misses),
            KeyNumber::new(Text::new("命中", "hits"), with_unit((n - misses) as f64 / n as f64, "%"))
                .fraction(format!("{} / {n}", n - misses)),
            plain(Text::new("不同的行", "distinct lines"), self.answer.distinct()),
        ]
    }
}

impl View for LruStack {
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
        let header = ["access", "line", "distance", "hit"].map(str::to_owned).to_vec();
        let row = |(idx, line): (usize, &u32)| {
            let far = self.answer.distances[idx];
            let is_hit = far.is_some_and(|far| (far as u64) < self.question.lines);
            vec![
                (idx + 1).to_string(),
                self.answer.name(*line).to_owned(),
                far.map_or_else(|| "-".to_owned(), |far| far.to_string()),
                u8::from(is_hit).to_string(),
            ]
        };
        DataTable { header, rows: self.answer.lines.iter().enumerate().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for LruStack {
    const ID: &'static str = "lru_stack";
    const TITLE: Text = Text::new("LRU 栈", "The stack of an LRU cache");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let step = args.has("step").then(|| args.uint("step") as usize);
        Ok(Self::new(Question::from_args(args)?, step))
    }
}
