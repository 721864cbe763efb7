//! Continuous and static batching with the same requests: who does what in each step, how full seats and blocks are, and
//! what the requests see of it.
//!
//! `question.rs` is what the reader sets, `run.rs` both runs of `vramlab_serve::schedule`, `layout.rs` the geometry,
//! `paint.rs` the picture, `words.rs` the sentences.

mod layout;
mod paint;
mod question;
mod run;
mod words;

use crate::controls;
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Grid, Key, Label, PointerButton, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo};
use layout::Geometry;
use paint::Scene;
use question::{MOST_TEXT, PRESETS, Question};
use run::{Act, Run, Side};
use vramlab_kit::{Button, Mark, Slider, Tokens, Type, legend};
use vramlab_serve::Problem;
use vramlab_serve::latency::Spread;
use vramlab_units::show::{grouped, number, with_unit};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Localized, Map, Text};

const PRESET: Text = Text::new("请求流", "Stream");
const EDIT: Text = Text::new("改请求", "Edit the requests");
const TEXT: Text = Text::new("请求", "Requests");
const FORMS: Text = Text::new(
    "一行一个请求：到达的步、提示 token、输出 token，再写优先级或 shared=64 也行；CSV、JSON 行也认。整个文件可以拖进来。",
    "A request a line: the step of its arrival, tokens of prompt, tokens of output, then a priority or shared=64 if wanted. CSV and lines of JSON are read too, and a whole file can be dropped here.",
);
const SEATS: Text = Text::new("座位", "Seats");
const BUDGET: Text = Text::new("每步 token", "Tokens a step");
const POOL: Text = Text::new("池（块）", "Pool (blocks)");
const PREFIX: Text = Text::new("前缀缓存", "Prefix cache");
const PRIORITY: Text = Text::new("按优先级", "By priority");
const VICTIM: Text = Text::new("被抢占的缓存", "A victim's cache");
const RATE: Text = Text::new("每步来几个", "Requests a step");
const BURSTS: Text = Text::new("扎堆（1 是 Poisson）", "Burstiness (1 is Poisson)");
const LENGTHS: [Text; 2] = [Text::new("提示平均", "Mean prompt"), Text::new("输出平均", "Mean output")];
const AGAIN: Text = Text::new("再抽一次", "Draw again");
/// Blocks on the host once victims are swapped.
const HOST: u32 = 4096;

/// See the module's docs.
pub struct ServeTimeline {
    question: Question,
    run: Run,
    /// The step under the cursor; 0 for none.
    step: usize,
    draft: String,
    wrong: Option<Problem>,
    is_editing: bool,
}

impl ServeTimeline {
    fn new(question: Question, step: usize) -> Result<Self, Problem> {
        let run = Run::new(&question)?;
        let step = step.min(run.end() as usize);
        Ok(Self { draft: question.text.clone(), question, run, step, wrong: None, is_editing: false })
    }

    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        match Run::new(&next) {
            Ok(run) => {
                self.step = self.step.min(run.end() as usize);
                (self.question, self.run, self.wrong) = (next, run, None);
            }
            Err(wrong) => self.wrong = Some(wrong),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let has_file = self.question.file.is_some();
            let own =
                if has_file { Text::new("你的文件", "your file") } else { Text::new("自己写的", "your own") };
            let is_own = has_file || self.question.is_own();
            let mut id = if is_own { "" } else { self.question.preset.id };
            let mut options: Vec<(&str, String)> =
                PRESETS.iter().map(|preset| (preset.id, preset.label.get(lang).to_owned())).collect();
            if is_own {
                options.push(("", own.get(lang).to_owned()));
            }
            let before = id;
            controls::choice(flow, tokens, PRESET.get(lang), &mut id, &options);
            if let Some(preset) = PRESETS.iter().find(|preset| preset.id == id && id != before) {
                next = Question::of(preset);
                self.draft.clone_from(&next.text);
            }
            let button = Button::quiet(EDIT.get(lang)).selected(self.is_editing);
            if flow.item(|ui| button.show(ui, tokens)).clicked() {
                self.is_editing = !self.is_editing;
            }
        });
        controls::row(ui, tokens, |flow| {
            for (label, value, most) in [
                (SEATS, &mut next.max_seqs, 64),
                (BUDGET, &mut next.token_budget, 4096),
                (POOL, &mut next.pool_blocks, 4096),
            ] {
                let mut number = f64::from(*value);
                let slider = Slider::new(label.get(lang), &mut number, 1.0..=f64::from(most.max(*value))).log();
                let slider = slider.step(1.0).width(80.0).shown(|n| format!("{n:.0}"));
                if flow.item(|ui| slider.show(ui, tokens)).changed() {
                    *value = number.round().max(1.0) as u32;
                }
            }
        });
        policies_ui(ui, tokens, lang, &mut next);
        if next.preset.is_drawn() && !next.is_own() && next.file.is_none() {
            drawn_ui(ui, tokens, lang, &mut next);
            self.draft.clone_from(&next.text);
        }
        self.set(next);
        if self.is_editing {
            self.editor_ui(ui, tokens, lang);
        }
        if let Some(wrong) = &self.wrong {
            figure::problem_ui(ui, tokens, &wrong.get(lang));
        }
    }

    fn editor_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let edit = TextEdit::multiline(&mut self.draft)
            .font(tokens.font(Type::Mono))
            .desired_rows(4)
            .desired_width(f32::INFINITY)
            .char_limit(MOST_TEXT);
        let response = egui::ScrollArea::vertical()
            .min_scrolled_height(tokens.px(190.0))
            .max_height(tokens.px(190.0))
            .show(ui, |ui| ui.add(edit))
            .inner;
        response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, TEXT.get(lang)));
        if response.changed() {
            if self.draft == self.question.text {
                self.wrong = None;
            }
            self.set(Question { text: self.draft.clone(), file: None, ..self.question.clone() });
        }
        let forms = RichText::new(FORMS.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
        ui.add(Label::new(forms).wrap());
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n = self.run.n_rows();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, n);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.keys(ui, &response);
        let end = self.run.end();
        let over = response.hover_pos();
        let hovered = over.and_then(|at| geometry.step_at(at, end));
        if let (true, Some(step)) = (response.clicked_by(PointerButton::Primary), hovered) {
            self.step = step;
        }
        let step = hovered.or((self.step > 0).then_some(self.step));
        let request = over.filter(|_| n > 0).and_then(|at| geometry.request_at(at, n));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            run: &self.run,
            max_seqs: self.question.max_seqs,
            pool_blocks: self.question.pool_blocks,
            step,
            request,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let acts = [Act::Prefill, Act::Decode, Act::Idle, Act::Waiting, Act::Preempted];
        legend(ui, tokens, &acts.map(|act| (Mark::Square(paint::color(tokens, act)), words::act(act).get(lang))));
        let said = step.map(|step| words::step(&self.run, step, request, lang));
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let last = self.run.end() as usize;
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowRight) {
            self.step = (self.step + 1).min(last);
        } else if pressed(Key::ArrowLeft) {
            self.step = self.step.saturating_sub(1).max(1);
        } else if pressed(Key::Home) {
            self.step = 1;
        } else if pressed(Key::End) {
            self.step = last;
        }
    }

    /// What the requests see, and how full the seats are: continuous, static.
    fn numbers(&self) -> Vec<(Text, [String; 2])> {
        let both = |of: &dyn Fn(&Side) -> String| [of(&self.run.flowing), of(&self.run.still)];
        let ttft = |of: fn(&Spread) -> f64| both(&|side| number(of(&side.latency.ttft)));
        // A static batch returns everything when it ends: there is no time between its tokens.
        let tpot = |of: fn(&Spread) -> f64| [number(of(&self.run.flowing.latency.tpot)), "–".to_owned()];
        // Three digits of next to nothing would be wider than a phone.
        let shown =
            |share: f64| if share > 0.0 && share < 5e-4 { "< 0.1\u{2009}%".to_owned() } else { with_unit(share, "%") };
        let share = |of: fn(&Side) -> f64| both(&|side| shown(of(side)));
        vec![
            (Text::new("TTFT p50", "TTFT p50"), ttft(|spread| spread.p50)),
            (Text::new("TTFT p90", "TTFT p90"), ttft(|spread| spread.p90)),
            (Text::new("TTFT p99", "TTFT p99"), ttft(|spread| spread.p99)),
            (Text::new("TPOT p50", "TPOT p50"), tpot(|spread| spread.p50)),
            (Text::new("TPOT p90", "TPOT p90"), tpot(|spread| spread.p90)),
            (Text::new("TPOT p99", "TPOT p99"), tpot(|spread| spread.p99)),
            (Text::new("每步产出 token", "tokens a step"), both(&|side| number(side.latency.tokens_per_time))),
            (Text::new("座位利用率", "seats in use"), share(|side| side.outcome.totals.slot_use)),
            (Text::new("块的占用率", "blocks in use"), share(|side| side.outcome.totals.block_use)),
            (Text::new("其中有 token 的", "of these filled"), share(|side| side.outcome.totals.fill)),
            (Text::new("抢占", "preemptions"), both(&|side| side.outcome.totals.preemptions.to_string())),
            (
                Text::new("重算的 token", "computed again"),
                both(&|side| grouped(side.outcome.totals.discarded_tokens as f64)),
            ),
            (
                Text::new("前缀命中 token", "found, not computed"),
                both(&|side| grouped(side.outcome.totals.hit_tokens as f64)),
            ),
        ]
    }

    /// Latencies and occupancy, side by side where there is room.
    fn table_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let numbers = self.numbers();
        let (latencies, others) = numbers.split_at(6.min(numbers.len()));
        if ui.available_width() < tokens.px(640.0) {
            part_ui(ui, tokens, lang, "percentiles", &numbers);
            return;
        }
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = tokens.space.xxl;
            part_ui(ui, tokens, lang, "percentiles", latencies);
            part_ui(ui, tokens, lang, "occupancy", others);
        });
    }
}

/// Some rows of the table: continuous, static.
fn part_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, id: &str, rows: &[(Text, [String; 2])]) {
    let note = |text: &str, color| RichText::new(text).font(tokens.font(Type::Note)).color(color);
    let what = if id == "occupancy" { Text::new("占用", "in use") } else { Text::new("延迟以步计", "in steps") };
    let heads = [what, Text::new("连续", "continuous"), Text::new("静态", "static")];
    let most = (ui.available_width() * 0.44).clamp(tokens.px(96.0), tokens.px(150.0));
    ui.vertical(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        Grid::new(id).spacing([tokens.space.l, tokens.space.xxs]).min_row_height(0.0).show(ui, |ui| {
            for head in heads {
                ui.add(Label::new(note(head.get(lang), tokens.muted)));
            }
            ui.end_row();
            for (name, values) in rows {
                ui.scope(|ui| {
                    ui.set_max_width(most);
                    ui.add(Label::new(note(name.get(lang), tokens.muted)).wrap());
                });
                for value in values {
                    ui.add(Label::new(RichText::new(value).font(tokens.font(Type::MonoSmall)).color(tokens.ink)));
                }
                ui.end_row();
            }
        });
    });
}

/// What is done with prefixes, with victims, with priorities.
fn policies_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, next: &mut Question) {
    controls::row(ui, tokens, |flow| {
        controls::toggle(flow, tokens, PREFIX.get(lang), &mut next.prefix);
        controls::toggle(flow, tokens, PRIORITY.get(lang), &mut next.is_priority);
        let mut is_swap = next.host_blocks > 0;
        let ways = [
            (false, Text::new("重算", "compute again").get(lang).to_owned()),
            (true, Text::new("换到主机", "swap to the host").get(lang).to_owned()),
        ];
        if controls::choice(flow, tokens, VICTIM.get(lang), &mut is_swap, &ways) {
            next.host_blocks = if is_swap { HOST } else { 0 };
        }
    });
}

/// The distribution of a drawn stream.
fn drawn_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, next: &mut Question) {
    let mut drawn = next.drawn;
    controls::row(ui, tokens, |flow| {
        for (label, value, least, most) in [
            (RATE, &mut drawn.rate, 0.05, 8.0),
            (BURSTS, &mut drawn.burstiness, 0.1, 10.0),
            (LENGTHS[0], &mut drawn.prompt, 8.0, 800.0),
            (LENGTHS[1], &mut drawn.output, 2.0, 150.0),
        ] {
            let (least, most) = (value.min(least), value.max(most));
            let slider = Slider::new(label.get(lang), value, least..=most).log().width(66.0);
            flow.item(|ui| slider.shown(number).show(ui, tokens));
        }
        if controls::button(flow, tokens, AGAIN.get(lang)) {
            drawn.seed = drawn.seed % (1 << 20) + 1;
        }
    });
    if drawn != next.drawn {
        next.redraw(drawn);
    }
}

impl View for ServeTimeline {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.s);
        self.table_ui(ui, tokens, lang);
        let note = RichText::new(words::AT_ONCE.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
        ui.add(Label::new(note).wrap());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.run, lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.step)
    }

    fn offer(&mut self, text: &str) -> Option<Result<(), Localized>> {
        let read = run::of_file(text)?;
        let told = |wrong: Problem| Localized::both(wrong.get(Lang::Zh), wrong.get(Lang::En));
        Some(read.map_err(told).and_then(|file| {
            let next = Question { file: Some(file.into()), ..self.question.clone() };
            self.run = Run::new(&next).map_err(told)?;
            self.step = self.step.min(self.run.end() as usize);
            (self.question, self.wrong) = (next, None);
            Ok(())
        }))
    }

    fn data(&self) -> DataTable {
        let header = [
            "request",
            "arrival (step)",
            "prompt (token)",
            "output (token)",
            "continuous first (step)",
            "continuous done (step)",
            "static first (step)",
            "static done (step)",
        ];
        let (a, b) = (&self.run.flowing.outcome, &self.run.still.outcome);
        let rows = self.run.requests.iter().enumerate().map(|(idx, one)| {
            let numbers = [
                idx as f64 + 1.0,
                one.arrival,
                one.prompt.into(),
                one.output.into(),
                a.first[idx],
                a.done[idx],
                b.first[idx],
                b.done[idx],
            ];
            numbers.map(|number| number.to_string()).to_vec()
        });
        DataTable { header: header.map(str::to_owned).to_vec(), rows: rows.collect() }
    }
}

impl Visualizer for ServeTimeline {
    const ID: &'static str = "serve_timeline";
    const TITLE: Text = Text::new("连续批处理与静态批处理", "Continuous and static batching");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let opened = Self::new(Question::from_args(args), args.uint("step") as usize);
        opened.map_err(|wrong| FieldError::conflict(wrong.field, wrong.to_string()))
    }
}
