//! The allocator strips: one trace played through several allocators, their address spaces side by side.
//!
//! `question.rs` is what the reader sets, `presets.rs` the cases of the chapter, `run.rs` the replays of `vramlab-alloc`,
//! `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences; `why.rs` lists what spoke against each
//! hole, `table.rs` the counters, `editor.rs` the trace as text, `options.rs` the settings.

mod editor;
mod layout;
mod options;
mod paint;
mod presets;
pub(crate) mod question;
pub(crate) mod run;
mod table;
mod why;
pub(crate) mod words;

use crate::controls;
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{ComboBox, RichText, Role, Sense, Ui, WidgetInfo};
use layout::{Geometry, Hit};
use paint::Scene;
use question::{Engine, Question};
use run::{Answered, Problem};
use std::collections::BTreeSet;
use vramlab_kit::{Area, Button, Mark, Slider, Tokens, Type, legend};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const PRESET: Text = Text::new("轨迹", "Trace");
const CAPACITY: Text = Text::new("卡的显存", "Card");
const EDIT: Text = Text::new("改轨迹", "Edit the trace");
const SETTINGS: Text = Text::new("设置", "Settings");
const OWN: Text = Text::new("自己的轨迹", "your own trace");
const EXPLAIN: Text = Text::new("解释", "Explain");
const IN_USE: Text = Text::new("在用", "in use");
const SLACK: Text = Text::new("多给的（取整、不切的零头）", "given beyond the request");
const HOLE: Text = Text::new("空洞：同段还有人在用", "hole beside blocks in use");
const CACHED: Text = Text::new("整段空闲，缓存着", "wholly free, cached");
const OUTSIDE: Text = Text::new("没拿的显存", "not taken from the card");
const STEPS_PER_SEC: f64 = 1.5;

/// See the module's docs.
pub struct AllocatorStrips {
    question: Question,
    answered: Answered,
    /// The trace as it is being typed.
    draft: String,
    problem: Option<Problem>,
    play: Steps,
    /// Which of the engines the list of candidates is about.
    explain: usize,
    is_editing: bool,
    has_settings: bool,
}

impl AllocatorStrips {
    /// Another question; one without an answer is told and not taken.
    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        let is_other_trace = next.trace != self.question.trace;
        match Answered::new(&next, self.play.now()) {
            Ok(answered) => {
                if next.preset != self.question.preset {
                    self.draft.clone_from(&next.trace);
                }
                let opens_at = if next.trace == next.preset.trace() { next.preset.opens_at } else { 0 };
                (self.question, self.answered, self.problem) = (next, answered, None);
                self.explain = self.explain.min(self.question.engines.len().saturating_sub(1));
                if is_other_trace {
                    let n = self.answered.n_events();
                    self.play = Steps::new(if opens_at > 0 { opens_at } else { n }, n, STEPS_PER_SEC);
                }
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            if let Some(preset) = flow.item(|ui| preset_ui(ui, tokens, lang, &self.question)) {
                next = Question::of(preset);
            }
            let mut capacity = next.capacity_mib as f64;
            let range = capacity.min(8.0)..=capacity.max(2048.0);
            let slider = Slider::new(CAPACITY.get(lang), &mut capacity, range).log().step(1.0).width(90.0);
            let slider = slider.shown(|mib| words::size(mib.round() as u64 * vramlab_alloc::MIB));
            if flow.item(|ui| slider.show(ui, tokens)).changed() {
                next.capacity_mib = capacity.round().max(1.0) as u64;
            }
            for (label, is_open) in [(EDIT, &mut self.is_editing), (SETTINGS, &mut self.has_settings)] {
                let button = Button::quiet(label.get(lang)).selected(*is_open);
                if flow.item(|ui| button.show(ui, tokens)).clicked() {
                    *is_open = !*is_open;
                }
            }
        });
        controls::row(ui, tokens, |flow| engines_ui(flow, tokens, lang, &mut next));
        if self.has_settings {
            options::ui(ui, tokens, lang, &mut next);
        }
        self.set(next);
        if self.is_editing {
            let problem = self.problem.as_ref();
            if editor::ui(ui, tokens, lang, &mut self.draft, problem) {
                let draft = self.draft.clone();
                self.set(Question { trace: draft.clone(), ..self.question.clone() });
                if draft == self.question.trace {
                    self.problem = None;
                }
            }
        } else if let Some(problem) = &self.problem {
            figure::problem_ui(ui, tokens, &editor::said(problem, &self.draft, lang));
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let letter = crate::ink::text_width(ui.painter(), "0", tokens.font(Type::Mono));
        let word_width = |word: &str| letter * word.chars().count() as f32;
        let done = self.play.now();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.answered, done, &word_width);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        let picked = response.hover_pos().and_then(|pos| geometry.hit(pos, &self.answered));
        if let (true, Some(Hit::Word(idx))) = (response.clicked_by(egui::PointerButton::Primary), picked) {
            self.play.seek(idx + 1);
        }
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            answered: &self.answered,
            done,
            picked,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let said = picked.map(|hit| words::readout(&self.answered, hit, lang));
        legend_ui(ui, tokens, lang, &self.answered);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    /// Counters, and beside them, or below where it is narrow, why it was this block.
    fn numbers_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, room: f32) {
        let is_request = self.answered.runs.iter().any(|run| run.frame.explanation.is_some());
        if !is_request || self.answered.runs.len() > 2 || room < tokens.px(640.0) {
            self.why_ui(ui, tokens, lang, room);
            table::ui(ui, tokens, lang, &self.answered.runs, room);
            return;
        }
        let half = (room - tokens.space.xl) / 2.0;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = tokens.space.xl;
            ui.vertical(|ui| {
                ui.set_width(half);
                table::ui(ui, tokens, lang, &self.answered.runs, half);
            });
            ui.vertical(|ui| {
                ui.set_width(half - tokens.space.xs);
                self.why_ui(ui, tokens, lang, half - tokens.space.xs);
            });
        });
    }

    fn why_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, room: f32) {
        let is_request = self.answered.runs.iter().any(|run| run.frame.explanation.is_some());
        if self.answered.runs.len() > 1 && is_request {
            ui.add_space(tokens.space.s);
            let options: Vec<(usize, String)> = (self.answered.runs.iter().enumerate())
                .map(|(idx, run)| (idx, run.engine.short().get(lang).to_owned()))
                .collect();
            controls::row(ui, tokens, |flow| {
                controls::choice(flow, tokens, EXPLAIN.get(lang), &mut self.explain, &options);
            });
        }
        if let Some(run) = self.answered.runs.get(self.explain) {
            why::ui(ui, tokens, lang, run, room);
        }
    }
}

fn preset_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question) -> Option<&'static presets::Preset> {
    let is_own = question.trace != question.preset.trace();
    let title = if is_own { OWN.get(lang) } else { question.preset.label.get(lang) };
    ui.label(RichText::new(PRESET.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    let text = RichText::new(title).font(tokens.font(Type::Note));
    let mut chosen = None;
    let response =
        ComboBox::from_id_salt("preset").selected_text(text).width(tokens.px(190.0)).truncate().show_ui(ui, |ui| {
            for preset in presets::PRESETS {
                let is_current = !is_own && preset == question.preset;
                if ui.selectable_label(is_current, preset.label.get(lang)).clicked() {
                    chosen = Some(preset);
                }
            }
        });
    let name = format!("{}: {title}", PRESET.get(lang));
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    chosen
}

/// One box for each allocator; the last one cannot be taken away.
fn engines_ui(flow: &mut controls::Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    for engine in Engine::ALL {
        let mut is_on = question.engines.contains(&engine);
        if !controls::toggle(flow, tokens, engine.short().get(lang), &mut is_on).changed() {
            continue;
        }
        if is_on {
            question.engines.push(engine);
            question.engines.sort_unstable();
        } else if question.engines.len() > 1 {
            question.engines.retain(|other| *other != engine);
        }
    }
}

/// What the marks mean; those of other streams and of blocks that wait, only where they are seen.
fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, answered: &Answered) {
    let color = paint::stream_color(tokens, 0);
    let cells = || answered.runs.iter().flat_map(|run| &run.frame.strips).flat_map(|strip| &strip.cells);
    let streams: BTreeSet<u32> = cells().filter_map(|cell| cell.holder).map(|(_, stream)| stream).collect();
    let others: Vec<(u32, String)> = (streams.into_iter().filter(|stream| *stream > 0))
        .map(|stream| {
            (stream, Text::new("在用，流 {}", "in use, stream {}").get(lang).replace("{}", &stream.to_string()))
        })
        .collect();
    let mut entries = vec![(Mark::Square(color), IN_USE.get(lang))];
    entries.extend(others.iter().map(|(n, text)| (Mark::Square(paint::stream_color(tokens, *n)), text.as_str())));
    entries.extend([
        (Mark::Square(tokens.tint(color, 0.35)), SLACK.get(lang)),
        (Mark::Area(Area::Fragmented), HOLE.get(lang)),
        (Mark::Area(Area::CachedFree), CACHED.get(lang)),
        (Mark::Area(Area::Free), OUTSIDE.get(lang)),
    ]);
    legend(ui, tokens, &entries);
}

impl View for AllocatorStrips {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let room = ui.available_width();
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        self.play.tick(cx);
        self.play.ui(ui, cx);
        self.answered.seek(self.play.now());
        ui.add_space(tokens.space.xs);
        self.figure_ui(ui, cx);
        self.answered.seek(self.play.now());
        self.numbers_ui(ui, tokens, lang, room);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.answered, self.play.now(), lang)
    }

    fn params(&self) -> Map {
        let mut map = self.question.params();
        map.insert("event".into(), self.play.now().into());
        map.insert("explain".into(), self.explain.into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["allocator", "event", "word", "block (B)", "address (B)", "allocated (B)", "reserved (B)"]
            .into_iter()
            .chain(["requested (B)", "active (B)", "inactive_split (B)", "largest free (B)", "free (B)", "refusal"])
            .map(str::to_owned)
            .collect();
        let mut rows = Vec::new();
        for run in &self.answered.runs {
            for (idx, step) in run.steps.iter().enumerate() {
                let mut row = vec![run.engine.id().to_owned(), (idx + 1).to_string(), self.answered.words[idx].clone()];
                let block = step.block.map(|block| [block.size.to_string(), block.address.to_string()]);
                row.extend(block.unwrap_or_default());
                let now = &step.after;
                let counters = [now.allocated_bytes, now.reserved_bytes, now.requested_bytes, now.active_bytes];
                let holes = [now.inactive_split_bytes, now.largest_free_bytes, now.total_free_bytes];
                row.extend(counters.iter().chain(&holes).map(u64::to_string));
                if !run.engine.is_pytorch() {
                    row[9].clear(); // inactive_split is PyTorch's counter
                }
                row.push(step.refusal.as_ref().map(|refusal| refusal.message.clone()).unwrap_or_default());
                rows.push(row);
            }
        }
        DataTable { header, rows }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for AllocatorStrips {
    const ID: &'static str = "allocator_strips";
    const TITLE: Text = Text::new("分配器的地址条（allocator strips）", "Allocator strips");

    fn fields() -> Vec<FieldSpec> {
        let mut fields = Question::fields();
        let event = Text::new("播放到第几个事件", "Events that are over");
        fields.push(FieldSpec::int("event", "1", 0, question::MOST_EVENTS as i64, event).optional());
        let explain = Text::new("“为什么”讲第几个分配器，从 0 数", "Which allocator the \"why\" list is about, from 0");
        fields.push(FieldSpec::int("explain", "1", 0, 5, explain).default_value(0));
        fields
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args)?;
        let explain = args.uint("explain") as usize;
        if explain >= question.engines.len() {
            return Err(FieldError::illegal("explain", &explain.into(), "below the number of engines"));
        }
        let is_preset = question.trace == question.preset.trace();
        let opens_at = if is_preset && question.preset.opens_at > 0 { question.preset.opens_at } else { usize::MAX };
        let now = if args.has("event") { args.uint("event") as usize } else { opens_at };
        let answered = Answered::new(&question, now).map_err(Problem::into_field_error)?;
        let n = answered.n_events();
        let play = Steps::new(now.min(n), n, STEPS_PER_SEC);
        let draft = question.trace.clone();
        let mut this =
            Self { question, answered, draft, problem: None, play, explain, is_editing: false, has_settings: false };
        this.answered.seek(this.play.now());
        Ok(this)
    }
}
