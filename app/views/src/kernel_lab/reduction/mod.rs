//! The lanes of a warp add up: by shuffles down, by a butterfly, by one instruction; the tree in shared memory beside it.
//!
//! `question.rs` is what the reader sets and the model's lanes, `paint.rs` geometry and picture, `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{Question, STEPS, THREADS};
use vramlab_kit::{Area, Mark, Tokens, legend};
use vramlab_model::kernels::warp_reduce::{Form, LANES, Round};
use vramlab_units::show::grouped;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const FORM: Text = Text::new("做法", "Form");
const THREADS_LABEL: Text = Text::new("一个 block 的线程", "Threads of a block");
const SPEED: f64 = 0.9;

/// See the module's docs.
pub struct WarpReduction {
    question: Question,
    rounds: Vec<Round>,
    tree: Vec<Round>,
    play: Steps,
    lane: usize,
}

impl WarpReduction {
    fn set_form(&mut self, form: Form) {
        if form != self.question.form {
            self.question.form = form;
            self.rounds = Question::rounds(form);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut form = self.question.form;
        controls::row(ui, tokens, |flow| {
            let forms = Form::ALL.map(|form| (form, words::form(form).get(lang).to_owned()));
            controls::choice(flow, tokens, FORM.get(lang), &mut form, &forms);
            let threads = THREADS.map(|n| (n, n.to_string()));
            controls::choice(flow, tokens, THREADS_LABEL.get(lang), &mut self.question.threads, &threads);
        });
        self.set_form(form);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.question);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        self.lane_keys(ui, &response);
        let over = response.hover_pos();
        if response.clicked_by(PointerButton::Primary) {
            if let Some(form) = over.and_then(|at| geometry.form_at(at)) {
                self.set_form(form);
            } else if let Some((_, step, lane)) = over.and_then(|at| geometry.hit(at)) {
                self.lane = lane;
                self.play.seek(step.max(1));
            }
        }
        let geometry = Geometry::new(rect.min, width, tokens.scale, self.question);
        let step = self.play.now();
        let hovered = over.and_then(|at| geometry.hit(at)).filter(|(_, at, _)| *at <= step);
        let at_keys = (false, step.min(geometry.main.rows()), self.lane);
        let picked = hovered.or_else(|| response.has_focus().then_some(at_keys));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: self.question,
            rounds: &self.rounds,
            tree: &self.tree,
            step,
            picked,
            over: over.and_then(|at| geometry.form_at(at)),
        }
        .paint();
        let said = picked.map(|(is_tree, step, lane)| {
            let (rounds, form) =
                if is_tree { (&self.tree, Form::SharedTree) } else { (&self.rounds, self.question.form) };
            words::cell(rounds, step, lane, form, lang)
        });
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        let hue = paint::color(tokens, self.question.form);
        let marks = [
            (Mark::Square(tokens.tint(hue, paint::needed_share(tokens))), words::NEEDED.get(lang)),
            (Mark::Square(tokens.tint(hue, 0.95)), words::NOW.get(lang)),
            (Mark::Area(Area::Wasted), words::DEAD.get(lang)),
            (Mark::Square(tokens.caution), words::BARRIER.get(lang)),
            (Mark::Area(Area::Free), words::LATER.get(lang)),
        ];
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    fn lane_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowDown) {
            self.lane = (self.lane + 1).min(LANES - 1);
        } else if pressed(Key::ArrowUp) {
            self.lane = self.lane.saturating_sub(1);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let cost = self.question.cost(self.question.form);
        let bytes = format!("{} B", grouped(cost.shared_bytes as f64));
        vec![
            KeyNumber::new(Text::new("先后几步", "steps in a row"), cost.steps.to_string()),
            KeyNumber::new(Text::new("barrier", "barriers"), cost.barriers.to_string()),
            KeyNumber::new(Text::new("共享内存读写", "shared memory traffic"), bytes),
            KeyNumber::new(Text::new("占共享内存", "words it takes"), cost.shared_words.to_string()),
        ]
    }
}

impl View for WarpReduction {
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
        words::finding(self.question, self.play.now(), lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.play.now())
    }

    fn data(&self) -> DataTable {
        let header: Vec<String> = ["step", "distance"]
            .map(str::to_owned)
            .into_iter()
            .chain((0..LANES).map(|n| format!("lane {n}")))
            .collect();
        let row = |(idx, round): (usize, &Round)| {
            let head = [(idx + 1).to_string(), round.distance.to_string()];
            head.into_iter().chain(round.values.iter().map(u64::to_string)).collect()
        };
        DataTable { header, rows: self.rounds.iter().enumerate().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for WarpReduction {
    const ID: &'static str = "warp_reduction";
    const TITLE: Text = Text::new("一个 warp 怎么求和", "How a warp adds up");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args);
        let play = Steps::new(args.uint("step") as usize, STEPS, SPEED);
        let (rounds, tree) = (Question::rounds(question.form), Question::rounds(Form::SharedTree));
        Ok(Self { question, rounds, tree, play, lane: 0 })
    }
}
