//! The thread stepper: a grid, one of its blocks, one of its warps, and a small kernel that the 32 lanes walk in step.
//!
//! `question.rs` is what the reader sets and the listing, `layout.rs` the geometry, `paint.rs` the picture, `words.rs`
//! the sentences. Which lane executes what is the model's (`divergence/kernel.rs`).

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use layout::{Geometry, Hit};
use paint::Scene;
use question::{BLOCK_THREADS, MAX_ELEMS, Question, source_of};
use vramlab_kit::{Area, Command, Mark, Tokens, Verdict, legend};
use vramlab_model::divergence::kernel::{Condition, Line, Walk};
use vramlab_model::thread_index::LANES;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const BRANCH: Text = Text::new("分支条件", "Branch on");
const ELEMS: Text = Text::new("元素 n", "Elements n");
const BLOCK: Text = Text::new("每块线程", "Threads a block");
const STEPS_PER_SEC: f64 = 1.2;

/// See the module's docs.
pub struct ThreadStepper {
    question: Question,
    walk: Walk,
    play: Steps,
}

impl ThreadStepper {
    fn new(question: Question, step: Option<usize>) -> Self {
        let walk = question.walk();
        let step = step.unwrap_or_else(|| telling_step(&walk));
        let play = Steps::new(step, walk.slots.len(), STEPS_PER_SEC);
        Self { question, walk, play }
    }

    /// Looks at another launch, warp or branch; a finished walk stays finished.
    fn set(&mut self, mut question: Question) {
        if question == self.question {
            return;
        }
        question.settle();
        let is_other_branch = question.condition != self.question.condition;
        self.question = question;
        self.walk = question.walk();
        self.play.set_total(self.walk.slots.len());
        if is_other_branch {
            self.play.seek(telling_step(&self.walk));
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut question = self.question;
        controls::row(ui, tokens, |flow| {
            let options: Vec<(Condition, String)> =
                Condition::ALL.iter().map(|condition| (*condition, source_of(*condition).to_owned())).collect();
            controls::choice(flow, tokens, BRANCH.get(lang), &mut question.condition, &options);
            let n_elems = &mut question.launch.n_elems;
            controls::slider(flow, tokens, ELEMS.get(lang), n_elems, 1..=MAX_ELEMS, |v| v.to_string());
            let threads = &mut question.launch.block_threads;
            let range = BLOCK_THREADS.0..=BLOCK_THREADS.1;
            controls::slider(flow, tokens, BLOCK.get(lang), threads, range, |v| v.to_string());
        });
        self.set(question);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let launch = self.question.launch;
        let counts = (launch.n_blocks() as usize, launch.warps_per_block() as usize);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, counts.0, counts.1);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let picked = response.hover_pos().and_then(|pos| geometry.hit(pos));
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
            self.choose(picked);
        }
        self.keys(ui, &response, cx.has_motion);
        let names = words::names(&self.question, lang);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            walk: &self.walk,
            n_done: self.play.now(),
            picked,
            names: &names,
        }
        .paint();
        let now = words::slot(&self.question, &self.walk, self.play.now(), lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(now.as_str()));
        let said = picked.map_or(now, |hit| words::hit(&self.question, &self.walk, hit, lang));
        legend_ui(ui, tokens, lang);
        figure::readout_ui(ui, tokens, &said);
    }

    /// A click on a block or a warp looks inside it.
    fn choose(&mut self, picked: Option<Hit>) {
        let mut question = self.question;
        match picked {
            Some(Hit::Block(block)) => question.block_idx = block as u64,
            Some(Hit::Warp(warp)) => question.warp = warp as u64,
            Some(Hit::Lane(_)) | None => {}
        }
        self.set(question);
    }

    /// Left and right step, up and down change the warp, Home and End go to the ends, Space plays.
    fn keys(&mut self, ui: &Ui, response: &Response, has_motion: bool) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let is_pressed = |key| ui.input(|input| input.key_pressed(key));
        for (key, command) in [
            (Key::ArrowRight, Command::StepForward),
            (Key::ArrowLeft, Command::StepBack),
            (Key::Home, Command::First),
            (Key::End, Command::Last),
        ] {
            if is_pressed(key) {
                self.play.apply(command, has_motion);
            }
        }
        for (key, by) in [(Key::ArrowDown, 1), (Key::ArrowUp, -1)] {
            if is_pressed(key) {
                let mut question = self.question;
                question.move_warp(by);
                self.set(question);
            }
        }
        if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            self.play.apply(Command::Toggle, has_motion);
        }
    }

    fn key_numbers(&self, tokens: &Tokens, lang: Lang) -> Vec<KeyNumber> {
        let (walk, launch, now) = (&self.walk, self.question.launch, self.play.now());
        let total = walk.slots.len();
        let all_lanes = total as u64 * LANES;
        let verdict = if words::use_of(walk) < 1.0 { Verdict::Caution } else { Verdict::Good };
        let (of, share) = (words::of(lang), with_unit(words::use_of(walk), "%"));
        let used = format!("{}{of}{all_lanes}", walk.lane_slots_used(usize::MAX));
        let n_past = launch.idle_threads();
        let mut past_n = KeyNumber::new(Text::new("多出来的线程", "threads past n"), n_past.to_string());
        past_n.swatch = (n_past > 0).then(|| paint::waiting(tokens));
        vec![
            KeyNumber::new(Text::new("现在的发射槽（周期）", "issue slot (cycle) now"), format!("{now}{of}{total}")),
            KeyNumber::new(Text::new("干活的 lane，全部槽合计", "lanes at work, all slots"), share)
                .fraction(used)
                .judged(verdict),
            KeyNumber::new(Text::new("启动的线程", "threads launched"), launch.n_threads().to_string()),
            past_n,
        ]
    }
}

/// What the cells of the listing mean.
fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let entries = [
        (Mark::Square(paint::at_work(tokens)), Text::new("在干活", "at work")),
        (Mark::Square(paint::waiting(tokens)), Text::new("停着，也占槽", "standing still, slot paid for")),
        (Mark::Area(Area::Free), Text::new("还没轮到", "still to come")),
    ];
    legend(ui, tokens, &entries.map(|(mark, text)| (mark, text.get(lang))));
}

/// A slot that shows the point: the else of a divided warp, the end of a united one.
fn telling_step(walk: &Walk) -> usize {
    let is_else = |slot: &vramlab_model::divergence::kernel::Slot| slot.line == Line::ElseFirst;
    let other_side = walk.slots.iter().position(is_else).filter(|_| walk.is_divergent());
    other_side.map_or(walk.slots.len(), |idx| idx + 1)
}

impl View for ThreadStepper {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.play.tick(cx);
        self.figure_ui(ui, cx);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(tokens, lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.walk, lang)
    }

    fn params(&self) -> Map {
        let mut map = self.question.params();
        map.insert("step".into(), self.play.now().into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["slot", "statement", "lanes at work", "mask (bit i is lane i)"].map(str::to_owned).to_vec();
        let row = |(idx, slot): (usize, &vramlab_model::divergence::kernel::Slot)| {
            let statement = words::statement(&self.question, slot.line);
            vec![(idx + 1).to_string(), statement, slot.mask.count_ones().to_string(), format!("0x{:08x}", slot.mask)]
        };
        DataTable { header, rows: self.walk.slots.iter().enumerate().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for ThreadStepper {
    const ID: &'static str = "thread_stepper";
    const TITLE: Text = Text::new("线程步进器（thread stepper）", "Thread stepper");

    fn fields() -> Vec<FieldSpec> {
        let mut fields = Question::fields();
        let doc = Text::new("走到第几个发射槽", "Issue slots that are over");
        fields.push(FieldSpec::int("step", "1", 1, Line::ALL.len() as i64, doc).optional());
        fields
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let step = args.has("step").then(|| args.uint("step") as usize);
        Ok(Self::new(Question::from_args(args)?, step))
    }
}
