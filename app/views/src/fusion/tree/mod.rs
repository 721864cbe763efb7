//! A row taken apart and merged again, step by step: the softmax's maximum and sum, or mean and variance.
//!
//! `question.rs` is what the reader sets and the model's stretches, `paint.rs` geometry and picture, `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo};
use paint::{Geometry, Scene};
use question::{Kept, MOST_TEXT, Question};
use vramlab_kit::{Area, Mark, Tokens, Type, legend};
use vramlab_model::kernels::merge_tree::{Node, Shape};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const SCORES: Text = Text::new("一行的数", "The row");
const KEPT: Text = Text::new("合什么", "Merge");
const SHAPE: Text = Text::new("怎么合", "Shape");
const SPEED: f64 = 0.9;

/// See the module's docs.
pub struct MergeTree {
    question: Question,
    nodes: Vec<Node>,
    play: Steps,
    /// The box whose merge is spelled out; none for the last of the step.
    picked: Option<usize>,
    draft: String,
    wrong: Option<String>,
}

impl MergeTree {
    fn new(question: Question, step: Option<usize>) -> Self {
        let nodes = question.nodes();
        let total = nodes.last().map_or(0, |node| node.step);
        let play = Steps::new(step.unwrap_or(1), total, SPEED);
        Self { draft: question.scores.clone(), question, nodes, play, picked: None, wrong: None }
    }

    fn set(&mut self, next: Question) {
        if next != self.question {
            let is_same = next.values == self.question.values && next.shape == self.question.shape;
            let draft = std::mem::take(&mut self.draft);
            *self = Self { draft, ..Self::new(next, is_same.then(|| self.play.now())) };
        }
    }

    fn step(&self) -> usize {
        self.play.now()
    }

    /// The box that is spelled out.
    fn shown(&self) -> usize {
        let last = || self.nodes.iter().rposition(|node| node.step <= self.step()).unwrap_or(0);
        self.picked.filter(|idx| *idx < self.nodes.len() && self.nodes[*idx].step <= self.step()).unwrap_or_else(last)
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let pick = |kept, zh, en| (kept, Text::new(zh, en).get(lang).to_owned());
            let kinds = [pick(Kept::Softmax, "softmax", "softmax"), pick(Kept::Variance, "方差", "variance")];
            controls::choice(flow, tokens, KEPT.get(lang), &mut next.kept, &kinds);
            let pick = |shape, zh, en| (shape, Text::new(zh, en).get(lang).to_owned());
            let shapes = [pick(Shape::Tree, "两两合", "in pairs"), pick(Shape::Chain, "从左到右", "left to right")];
            controls::choice(flow, tokens, SHAPE.get(lang), &mut next.shape, &shapes);
            flow.item(|ui| {
                ui.label(RichText::new(SCORES.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
                let edit = TextEdit::multiline(&mut self.draft)
                    .font(tokens.font(Type::Mono))
                    .desired_width(tokens.px(190.0).min(ui.available_width()))
                    .desired_rows(1)
                    .char_limit(MOST_TEXT);
                let response = ui.add(edit);
                response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, SCORES.get(lang)));
                if response.changed() {
                    match Question::read(&self.draft, next.kept, next.shape) {
                        Ok(question) => {
                            next = question;
                            self.wrong = None;
                        }
                        Err(why) => self.wrong = Some(why),
                    }
                }
            });
        });
        if let Some(wrong) = &self.wrong {
            figure::problem_ui(ui, tokens, wrong);
        }
        let wrong = self.wrong.take();
        self.set(next);
        self.wrong = wrong;
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question, &self.nodes);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let before = self.step();
        self.play.keys(ui, &response, cx.has_motion);
        if self.step() != before {
            self.picked = None;
        }
        self.walk_keys(ui, &response);
        if response.clicked_by(PointerButton::Primary) {
            let at = response.interact_pointer_pos().and_then(|at| geometry.node_at(at));
            if let Some(at) = at {
                self.play.seek(self.nodes[at].step.max(self.step()));
            }
            self.picked = at;
        }
        let over = response.hover_pos().and_then(|at| geometry.node_at(at));
        let over = over.filter(|idx| self.nodes[*idx].step <= self.step());
        let shown = over.unwrap_or_else(|| self.shown());
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            geometry: &geometry,
            question: &self.question,
            nodes: &self.nodes,
            step: self.step(),
            picked: shown,
        }
        .paint();
        let said = words::merge(&self.nodes, shown, self.question.kept, lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        let color = paint::color(tokens);
        let marks = [
            (Mark::Square(tokens.tint(color, 0.18)), words::DONE.get(lang)),
            (Mark::Square(tokens.tint(color, 0.42)), words::NOW.get(lang)),
            (Mark::Area(Area::Free), words::LATER.get(lang)),
        ];
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    /// Up and down: another box among those that are merged.
    fn walk_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (up, down) = ui.input(|input| (input.key_pressed(Key::ArrowUp), input.key_pressed(Key::ArrowDown)));
        let done = self.nodes.iter().filter(|node| node.step <= self.play.now()).count();
        let at = self.shown();
        if up {
            self.picked = Some(at.saturating_sub(1));
        } else if down {
            self.picked = Some((at + 1).min(done.saturating_sub(1)));
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let whole = &self.nodes[self.nodes.len() - 1];
        let merges = self.nodes.len() - self.question.values.len();
        let number = |label, value: f64| KeyNumber::new(label, words::short(value)).exact(value.to_string());
        let mut numbers = if self.step() < whole.step {
            Vec::new()
        } else {
            match self.question.kept {
                Kept::Softmax => vec![
                    number(Text::new("最大 m", "largest, m"), whole.max),
                    number(Text::new("指数之和 d", "sum of exponentials, d"), whole.sum),
                ],
                Kept::Variance => vec![
                    number(Text::new("均值 μ", "mean, μ"), whole.moments.mean),
                    number(Text::new("方差 M₂ ÷ n", "variance, M₂ ÷ n"), whole.moments.m2 / whole.moments.n),
                ],
            }
        };
        numbers.push(KeyNumber::new(Text::new("合并几次", "merges"), merges.to_string()));
        numbers.push(KeyNumber::new(Text::new("先后几步", "steps in a row"), whole.step.to_string()));
        numbers
    }
}

impl View for MergeTree {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        let before = self.step();
        self.play.tick(cx);
        if self.step() != before {
            self.picked = None;
        }
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.nodes, self.step(), lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.step())
    }

    fn data(&self) -> DataTable {
        let header = ["first", "values", "step", "m", "d", "mean", "M2"].map(str::to_owned).to_vec();
        let row = |node: &Node| {
            let counts = [node.first, node.n, node.step].map(|n| n.to_string());
            let values = [node.max, node.sum, node.moments.mean, node.moments.m2].map(|value| value.to_string());
            counts.into_iter().chain(values).collect()
        };
        DataTable { header, rows: self.nodes.iter().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for MergeTree {
    const ID: &'static str = "merge_tree";
    const TITLE: Text = Text::new("一行拆开再合", "A row taken apart and merged");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let step = args.has("step").then(|| args.uint("step") as usize);
        Ok(Self::new(Question::from_args(args)?, step))
    }
}
