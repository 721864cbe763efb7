//! The KV laboratory: block tables beside the physical pool, a stream of requests to step, play and rewind, and why each
//! step admitted, held back, preempted, shared, copied or evicted.
//!
//! `question.rs` is what the reader sets, `presets.rs` the streams that come along, `run.rs` the machines of
//! `vramlab-serve` behind it (`serve.rs` scheduler, `fork.rs` tables, `prefix.rs` hashed prefixes, `script.rs` their words),
//! `frame.rs` one state; `layout.rs` the geometry, `paint.rs` and `cells.rs` the picture, `words.rs` the sentences.

mod cells;
mod fork;
mod frame;
mod layout;
mod paint;
mod prefix;
mod presets;
mod question;
pub(super) mod run;
mod script;
mod serve;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{
    ComboBox, EventFilter, Key, Label, PointerButton, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo,
};
use frame::{Frame, Phase, Table, Tone};
use layout::{Geometry, Wanted};
use paint::Scene;
use presets::{Machine, PRESETS};
use question::{MOST_BLOCKS, MOST_TEXT, Question};
use run::Run;
use script::Form;
use vramlab_kit::{Area, Button, Mark, Slider, Tokens, Type, Verdict, legend};
use vramlab_serve::Problem;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const PRESET: Text = Text::new("请求流", "Stream");
const OWN: Text = Text::new("自己写的", "your own");
const EDIT: Text = Text::new("改请求", "Edit the requests");
const TEXT: Text = Text::new("请求", "Requests");
const SEATS: Text = Text::new("座位", "Seats");
const BUDGET: Text = Text::new("每步 token", "Tokens a step");
const BLOCK: Text = Text::new("一块", "Block");
const POOL: Text = Text::new("池", "Pool");
/// Reasons that are listed; of more, the number is said.
const MOST_WHYS: usize = 7;

/// See the module's docs.
pub struct KvLab {
    question: Question,
    run: Run,
    frame: (usize, Frame),
    play: Steps,
    /// The number of the request that is followed, from one; 0 for none.
    picked: usize,
    draft: String,
    wrong: Option<Problem>,
    is_editing: bool,
}

fn forms(machine: Machine) -> Text {
    match machine {
        Machine::Serve => Text::new(
            "一行一个请求：到达的步、提示 token、输出 token，用空格或逗号隔开；# 后面是注释。第一行也可以写列名。",
            "A request a line: the step of its arrival, tokens of prompt, tokens of output, apart by blanks or commas; # begins a comment. A first line may name the columns.",
        ),
        Machine::Script(Form::Counts) => Text::new(
            "一个词一步：a:6 开始 a，写 6 个 token · b=a 从 a 分叉 · a+3 再写 3 个 · -a 结束",
            "A word a step: a:6 starts a with 6 tokens · b=a forks from a · a+3 writes 3 more · -a ends",
        ),
        Machine::Script(Form::Ranges) => Text::new(
            "一个词一步：a:0-14 来一个提示，token 是 0 到 14（可用逗号接几段） · a@7:0-14 带盐 7 · a+15-17 接着写 · -a 结束",
            "A word a step: a:0-14 is a prompt of the tokens 0 to 14 (commas join ranges) · a@7:0-14 with the salt 7 · a+15-17 goes on · -a ends",
        ),
    }
}

impl KvLab {
    fn new(question: Question, step: Option<usize>, picked: usize) -> Result<Self, Problem> {
        let run = Run::new(&question)?;
        let opens_at = if question.is_own() { 1 } else { question.preset.opens_at };
        let play = Steps::new(step.unwrap_or(opens_at), run.n_steps(), speed(run.n_steps()));
        let frame = (play.now(), run.frame(play.now()));
        Ok(Self { draft: question.text.clone(), question, run, frame, play, picked, wrong: None, is_editing: false })
    }

    /// Another question; one without an answer is told and not taken.
    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        let is_same_stream = next.text == self.question.text;
        let step = is_same_stream.then(|| self.play.now());
        match Self::new(next, step, if is_same_stream { self.picked } else { 0 }) {
            Ok(mut fresh) => {
                fresh.is_editing = self.is_editing;
                if fresh.question.text == self.draft || self.is_editing && fresh.question.is_own() {
                    fresh.draft = std::mem::take(&mut self.draft);
                }
                *self = fresh;
            }
            Err(wrong) => self.wrong = Some(wrong),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            if let Some(preset) = flow.item(|ui| preset_ui(ui, tokens, lang, &self.question)) {
                next = Question::of(preset);
                self.draft.clone_from(&next.text);
            }
            let button = Button::quiet(EDIT.get(lang)).selected(self.is_editing);
            if flow.item(|ui| button.show(ui, tokens)).clicked() {
                self.is_editing = !self.is_editing;
            }
        });
        controls::row(ui, tokens, |flow| {
            let mut slider = |label: Text, value: &mut u32, most: u32, unit: &str| {
                let mut number = f64::from(*value);
                let slider = Slider::new(label.get(lang), &mut number, 1.0..=f64::from(most.max(*value))).log();
                let slider = slider.step(1.0).width(70.0).shown(|n| format!("{n:.0}{unit}"));
                if flow.item(|ui| slider.show(ui, tokens)).changed() {
                    *value = number.round().max(1.0) as u32;
                }
            };
            if self.run.is_serve() {
                slider(SEATS, &mut next.max_seqs, 256, "");
                slider(BUDGET, &mut next.token_budget, 8192, "");
            }
            slider(BLOCK, &mut next.block_tokens, 128, " token");
            let blocks = match lang {
                Lang::Zh => " 块",
                Lang::En => " blocks",
            };
            slider(POOL, &mut next.pool_blocks, MOST_BLOCKS.min(16_384), blocks);
        });
        self.set(next);
        if self.is_editing {
            self.editor_ui(ui, tokens, lang);
        } else if let Some(wrong) = &self.wrong {
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
            let text = self.draft.clone();
            let draft = text.clone();
            self.set(Question { text, ..self.question.clone() });
            self.draft = draft;
            if self.draft == self.question.text {
                self.wrong = None;
            }
        }
        if let Some(wrong) = &self.wrong {
            let text = RichText::new(wrong.get(lang)).font(tokens.font(Type::Note)).color(tokens.bad);
            ui.add(Label::new(text).wrap());
        }
        let forms = RichText::new(forms(self.question.preset.machine).get(lang));
        ui.add(Label::new(forms.font(tokens.font(Type::Small)).color(tokens.muted)).wrap());
    }

    /// The tables as they are listed: those who run, then those who wait.
    fn listed(&self) -> Vec<&Table> {
        let mut tables: Vec<&Table> = self.frame.1.tables.iter().collect();
        let place = |table: &&Table| match table.phase {
            Phase::Running => 0,
            Phase::Preempted => 1,
            Phase::Waiting => 2,
        };
        tables.sort_by_key(place);
        // Who is followed stays in sight.
        if let Some(at) =
            self.picked_id().and_then(|id| tables.iter().position(|table| table.id == id)).filter(|at| *at >= 10)
        {
            let one = tables.remove(at);
            tables.insert(0, one);
        }
        tables
    }

    fn picked_id(&self) -> Option<u32> {
        self.picked.checked_sub(1).map(|id| id as u32)
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let wanted = Wanted { n_blocks: self.question.pool_blocks, n_tables: self.run.most_tables };
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, wanted);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.play.keys(ui, &response, cx.has_motion);
        self.walk_keys(ui, &response);
        let n_steps = self.run.n_steps();
        if let Some(step) = response.interact_pointer_pos().and_then(|at| geometry.step_at(at, n_steps)) {
            self.play.seek(step);
        }
        if self.play.now() != self.frame.0 {
            self.frame = (self.play.now(), self.run.frame(self.play.now()));
        }
        let over = response.hover_pos();
        let block = over.and_then(|at| geometry.grid.block_at(at));
        let row = over.and_then(|at| geometry.row_at(at));
        let listed = self.listed();
        let under = row.and_then(|row| listed.get(row)).map(|table| table.id);
        let whose = block.and_then(|block| self.frame.1.blocks[block as usize].owner).or(under);
        let said = match (block, whose.and_then(|id| self.frame.1.table(id))) {
            (Some(block), _) => words::block(&self.frame.1, block, geometry.grid.per_cell, lang),
            (None, Some(table)) => words::table(table, lang),
            (None, None) => self
                .picked_id()
                .and_then(|id| self.frame.1.table(id))
                .map_or_else(|| words::HINT.get(lang).to_owned(), |table| words::table(table, lang)),
        };
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            frame: &self.frame.1,
            history: &self.run.history,
            step: self.frame.0,
            picked: whose.or_else(|| self.picked_id()),
            shown: &listed,
            has_seats: self.run.is_serve(),
        }
        .paint();
        if response.clicked_by(PointerButton::Primary) && over.is_some_and(|at| geometry.line.top() > at.y) {
            self.picked = whose.map_or(0, |id| id as usize + 1);
        }
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let knows = self.question.preset.machine == Machine::Script(Form::Ranges);
        legend_ui(ui, tokens, lang, &geometry, knows);
        figure::readout_ui(ui, tokens, &said);
    }

    /// Up and down: another request among those that are here.
    fn walk_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (up, down) = ui.input(|input| (input.key_pressed(Key::ArrowUp), input.key_pressed(Key::ArrowDown)));
        let ids: Vec<usize> = self.listed().iter().map(|table| table.id as usize + 1).collect();
        let at = ids.iter().position(|id| *id == self.picked);
        let next = match at {
            None => 0,
            Some(at) if down => (at + 1).min(ids.len() - 1),
            Some(at) => at.saturating_sub(1),
        };
        if up || down {
            self.picked = ids.get(next).copied().unwrap_or(0);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let (counters, frame) = (self.frame.1.counters, &self.frame.1);
        let mut numbers = vec![
            KeyNumber::new(Text::new("在用", "in use"), counters.used.to_string()),
            KeyNumber::new(Text::new("空闲", "free"), counters.free.to_string()),
            KeyNumber::new(Text::new("共用", "shared"), counters.shared.to_string()),
            KeyNumber::new(Text::new("空着的位置", "empty slots"), words::waste(frame))
                .exact(format!("{} ÷ {}", counters.empty_slots, counters.slots)),
            KeyNumber::new(Text::new("在跑", "run"), counters.running.to_string()),
        ];
        if self.run.is_serve() {
            numbers
                .push(KeyNumber::new(Text::new("在等", "wait"), (counters.waiting + counters.preempted).to_string()));
            let so_far = self.run.history.iter().take(self.frame.0).filter(|moment| moment.is_preempted).count();
            let number = KeyNumber::new(Text::new("有抢占的步", "steps with preemption"), so_far.to_string());
            numbers.push(if so_far > 0 { number.judged(Verdict::Caution) } else { number });
        }
        numbers
    }

    /// Why, a line each.
    fn why_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let whys = &self.frame.1.whys;
        let font = tokens.font(Type::Note);
        for why in whys.iter().take(MOST_WHYS) {
            let (sign, color) = match why.tone {
                Tone::Plain => ("·", tokens.muted),
                Tone::Good => ("+", tokens.good),
                Tone::Caution => ("!", tokens.caution),
                Tone::Bad => ("×", tokens.bad),
            };
            let mut job = egui::text::LayoutJob::default();
            let format = |color| egui::TextFormat::simple(font.clone(), color);
            job.append(&format!("{sign} "), 0.0, egui::TextFormat::simple(tokens.font(Type::NoteStrong), color));
            job.append(why.text.get(lang), 0.0, format(tokens.ink));
            ui.add(Label::new(job).wrap());
        }
        if whys.len() > MOST_WHYS {
            let n = whys.len() - MOST_WHYS;
            let more = words::pick(lang, format!("另有 {n} 条"), format!("and {n} more"));
            ui.label(RichText::new(more).font(tokens.font(Type::Small)).color(tokens.muted));
        }
    }
}

fn speed(n_steps: usize) -> f64 {
    if n_steps > 120 { 16.0 } else { 2.0 }
}

fn preset_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question) -> Option<&'static presets::Preset> {
    let title = if question.is_own() { OWN.get(lang) } else { question.preset.label.get(lang) };
    ui.label(RichText::new(PRESET.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    let text = RichText::new(title).font(tokens.font(Type::Note));
    let mut chosen = None;
    let wide = tokens.px(280.0).min(ui.available_width() - tokens.px(12.0));
    let response = ComboBox::from_id_salt("stream").selected_text(text).width(wide).truncate().show_ui(ui, |ui| {
        for preset in &PRESETS {
            let is_current = !question.is_own() && preset == question.preset;
            if ui.selectable_label(is_current, preset.label.get(lang)).clicked() {
                chosen = Some(preset);
            }
        }
    });
    let name = format!("{}: {title}", PRESET.get(lang));
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    chosen
}

fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, geometry: &Geometry, knows_prefixes: bool) {
    let full = paint::color(tokens, 0);
    let is_small = geometry.grid.cell < tokens.px(13.0);
    let empty = Mark::Square(tokens.tint(full, if is_small { 0.35 } else { cells::UNFILLED }));
    let mut entries = vec![(Mark::Square(tokens.tint(full, if is_small { 1.0 } else { 0.5 })), words::HELD.get(lang))];
    entries.push((empty, words::EMPTY.get(lang)));
    if knows_prefixes {
        entries.push((Mark::Area(Area::CachedFree), words::CACHED.get(lang)));
    }
    entries.push((Mark::Area(Area::Free), words::FREE.get(lang)));
    legend(ui, tokens, &entries);
    let marks = if is_small { words::SMALL_MARKS } else { words::MARKS };
    let marks = RichText::new(marks.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
    ui.add(Label::new(marks).wrap());
}

impl View for KvLab {
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
        ui.add_space(tokens.space.xs);
        self.why_ui(ui, tokens, lang);
    }

    fn finding(&self, lang: Lang) -> String {
        let (step, frame) = &self.frame;
        words::finding(frame, *step, self.run.n_steps(), self.run.word(*step), lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.frame.0, self.picked)
    }

    fn data(&self) -> DataTable {
        let header = ["step", "used (blocks)", "running", "waiting", "preemption"].map(str::to_owned).to_vec();
        let row = |(idx, moment): (usize, &frame::Moment)| {
            let numbers = [idx as u32 + 1, moment.used, moment.running, moment.waiting, moment.is_preempted.into()];
            numbers.map(|number| number.to_string()).to_vec()
        };
        DataTable { header, rows: self.run.history.iter().enumerate().map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for KvLab {
    const ID: &'static str = "kv_lab";
    const TITLE: Text = Text::new("KV 实验室", "The KV laboratory");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args)?;
        let step = args.has("step").then(|| args.uint("step") as usize);
        Self::new(question, step, args.uint("request") as usize)
            .map_err(|wrong| FieldError::conflict(wrong.field, wrong.to_string()))
    }
}
