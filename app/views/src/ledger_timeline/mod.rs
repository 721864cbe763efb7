//! The ledger over one training step: every byte by its owner, from the first operation of forward to the last free.
//!
//! `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the picture, `live.rs` what is there at the
//! chosen moment, `words.rs` the sentences. The numbers are `vramlab_ledger`'s, which the model `training_step` asks too.

mod layout;
mod live;
mod ops;
mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{ComboBox, PointerButton, RichText, Role, Sense, Ui, WidgetInfo};
use layout::{GIB, Geometry};
use paint::Scene;
use question::{PRESETS, Question};
use vramlab_kit::{Button, Mark, Slider, Tokens, Type, Verdict, legend};
use vramlab_ledger::{Event, Holder, Item, Net, Run, Start, Timeline, live_at};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const MODEL: Text = Text::new("模型", "Model");
const OWN: Text = Text::new("自定", "custom");
const MORE: Text = Text::new("更多", "More");
const AT_PEAK: Text = Text::new("回到峰值", "To the peak");
const N_LIVE: usize = 200;
/// A whole step is played in about this long.
const PLAY_SECS: f64 = 12.0;
const MOST_EVENTS: i64 = 1 << 24;

/// See the module's docs.
pub struct LedgerTimeline {
    question: Question,
    run: Run,
    timeline: Timeline,
    /// Why the last change was not taken.
    problem: Option<FieldError>,
    play: Steps,
    /// What is live at an event, largest first.
    live: (usize, Vec<Item>),
    shows_more: bool,
}

/// One tape and its timeline.
fn answered(question: &Question) -> Result<(Run, Timeline), FieldError> {
    let run = question.record()?;
    let timeline = Timeline::new(&run, Start::default(), question.int("step") as usize);
    Ok((run, timeline))
}

impl LedgerTimeline {
    fn new(question: Question, event: Option<usize>) -> Result<Self, FieldError> {
        let (run, timeline) = answered(&question)?;
        let n = timeline.allocated.len();
        let at = event.unwrap_or(timeline.peak.at).min(n.saturating_sub(1));
        let play = Steps::new(at + 1, n, n as f64 / PLAY_SECS);
        let mut this =
            Self { question, run, timeline, problem: None, play, live: (usize::MAX, Vec::new()), shows_more: false };
        this.find_live();
        Ok(this)
    }

    fn cursor(&self) -> usize {
        self.play.now().saturating_sub(1)
    }

    /// Another question; one that has no answer is told and not taken.
    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        let shows_more = self.shows_more;
        match Self::new(next, None) {
            Ok(this) => *self = Self { shows_more, ..this },
            Err(error) => self.problem = Some(error),
        }
    }

    fn find_live(&mut self) {
        let cursor = self.cursor();
        if self.live.0 != cursor {
            let tape_idx = self.timeline.events.get(cursor).copied().unwrap_or(0);
            let mut items = live_at(&self.run, tape_idx);
            items.truncate(N_LIVE);
            self.live = (cursor, items);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            if let Some(preset) = flow.item(|ui| preset_ui(ui, tokens, lang, &self.question)) {
                next = Question::of(preset);
            }
            let button = Button::quiet(MORE.get(lang)).selected(self.shows_more);
            if flow.item(|ui| button.show(ui, tokens)).clicked() {
                self.shows_more = !self.shows_more;
            }
        });
        controls::row(ui, tokens, |flow| main_ui(flow, tokens, lang, &mut next));
        if self.shows_more {
            controls::row(ui, tokens, |flow| more_ui(flow, tokens, lang, &mut next));
        }
        self.set(next);
        if let Some(problem) = &self.problem {
            figure::problem_ui(ui, tokens, &problem.to_string());
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let card_bytes = self.question.num("card_gib") * GIB;
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.timeline, card_bytes);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        let hovered = response.hover_pos().and_then(|pos| geometry.event_at(pos));
        if let (true, Some(at)) = (response.clicked_by(PointerButton::Primary), hovered) {
            self.play.seek(at + 1);
        }
        let cursor = self.cursor();
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            timeline: &self.timeline,
            card_bytes,
            cursor,
            hovered,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        legend_ui(ui, tokens, lang, &self.timeline);
        let at = hovered.unwrap_or(cursor);
        let said = format!("{} · {}", words::moment(&self.timeline, at, lang), words::owners(&self.timeline, at, lang));
        figure::readout_ui(ui, tokens, &said);
    }

    fn numbers_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let figures = self.timeline.figures;
        let fits = figures.reserved as f64 <= self.question.num("card_gib") * GIB;
        let exact = |bytes: u64| format!("{bytes} B");
        let number = |label: Text, bytes: u64| KeyNumber::new(label, words::size(bytes)).exact(exact(bytes));
        let numbers = [
            number(Text::new("前向之后", "after forward"), figures.after_forward),
            number(Text::new("前向峰值", "peak of forward"), figures.peak_forward),
            number(Text::new("反向之后", "after backward"), figures.after_backward),
            number(Text::new("整步峰值", "peak of the step"), figures.peak_step),
            number(Text::new("分配器占着", "reserved"), figures.reserved).judged(if fits {
                Verdict::Good
            } else {
                Verdict::Bad
            }),
            KeyNumber::new(Text::new("参数", "parameters"), with_unit(self.run.n_params as f64 / 1e6, "M"))
                .exact(self.run.n_params.to_string()),
        ];
        controls::key_numbers(ui, tokens, lang, &numbers);
    }
}

fn preset_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question) -> Option<&'static question::Preset> {
    let current = PRESETS.iter().find(|preset| question.is_of(preset));
    let title = current.map_or(OWN, |preset| preset.label).get(lang);
    ui.label(RichText::new(MODEL.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    let text = RichText::new(title).font(tokens.font(Type::Note));
    let mut chosen = None;
    let combo = ComboBox::from_id_salt("model").selected_text(text).width(tokens.px(190.0)).truncate();
    let response = combo.show_ui(ui, |ui| {
        for preset in PRESETS {
            let is_current = current.is_some_and(|current| current.id == preset.id);
            if ui.selectable_label(is_current, preset.label.get(lang)).clicked() {
                chosen = Some(preset);
            }
        }
    });
    let name = format!("{}: {title}", MODEL.get(lang));
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    chosen
}

/// A slider over a whole-number field.
fn slide(
    flow: &mut controls::Flow<'_>,
    tokens: &Tokens,
    question: &mut Question,
    (key, label): (&str, &str),
    (low, high, step): (f64, f64, f64),
) {
    let mut value = question.int(key) as f64;
    let range = low.min(value)..=high.max(value);
    let slider = Slider::new(label, &mut value, range).step(step).width(88.0);
    // Sizes span decades.
    let slider = if high / low.max(1.0) > 64.0 && low > 0.0 { slider.log() } else { slider };
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        *question = question.with(key, value.round() as u64);
    }
}

fn pick(
    flow: &mut controls::Flow<'_>,
    tokens: &Tokens,
    question: &mut Question,
    (key, label): (&'static str, &str),
    options: &[&'static str],
) {
    let current = question.text(key).to_owned();
    let mut chosen = options.iter().copied().find(|option| **option == current).unwrap_or_default();
    let options: Vec<(&'static str, String)> = options.iter().map(|option| (*option, (*option).to_owned())).collect();
    if controls::choice(flow, tokens, label, &mut chosen, &options) {
        *question = question.with(key, chosen);
    }
}

fn tick(flow: &mut controls::Flow<'_>, tokens: &Tokens, question: &mut Question, (key, label): (&'static str, &str)) {
    let mut is_on = question.flag(key);
    if controls::toggle(flow, tokens, label, &mut is_on).changed() {
        *question = question.with(key, is_on);
    }
}

/// What most readers turn first.
fn main_ui(flow: &mut controls::Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let say = |zh, en| Text::new(zh, en).get(lang);
    let net = question.net();
    slide(flow, tokens, question, ("batch", say("批", "Batch")), (1.0, 256.0, 1.0));
    if net != Net::Resnet50 {
        slide(flow, tokens, question, ("seq_len", say("长度", "Length")), (128.0, 32_768.0, 128.0));
        slide(flow, tokens, question, ("layers", say("层", "Blocks")), (1.0, 96.0, 1.0));
        slide(flow, tokens, question, ("heads", say("头", "Heads")), (1.0, 96.0, 1.0));
        slide(flow, tokens, question, ("vocab", say("词表", "Vocabulary")), (256.0, 262_144.0, 256.0));
    }
    pick(flow, tokens, question, ("precision", say("精度", "Precision")), &["amp", "bf16", "fp32"]);
    if net != Net::Resnet50 {
        pick(flow, tokens, question, ("attention", say("注意力", "Attention")), &["auto", "flash", "math"]);
        let mut is_on = question.int("checkpoint_every") > 0;
        if controls::toggle(flow, tokens, say("每块重算", "Recompute blocks"), &mut is_on).changed() {
            *question = question.with("checkpoint_every", u64::from(is_on));
        }
    }
    pick(flow, tokens, question, ("optimizer", say("优化器", "Optimizer")), &["adamw", "sgd", "sgdm", "adamw8bit"]);
}

/// The rest of the fields, as far as the net has them.
fn more_ui(flow: &mut controls::Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let say = |zh, en| Text::new(zh, en).get(lang);
    let net = question.net();
    let is_llama = matches!(net, Net::Llama | Net::Moe);
    let mut card = question.num("card_gib");
    let slider = Slider::new(say("卡", "Card"), &mut card, 4.0..=288.0).log().step(1.0).unit("GiB").width(88.0);
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        *question = question.with("card_gib", card);
    }
    if net == Net::Resnet50 {
        tick(flow, tokens, question, ("channels_last", "channels_last"));
        return;
    }
    slide(flow, tokens, question, ("head_dim", say("头宽", "Head width")), (8.0, 256.0, 8.0));
    slide(flow, tokens, question, ("checkpoint_every", say("几块一起重算", "Recomputed together")), (0.0, 16.0, 1.0));
    slide(flow, tokens, question, ("accumulation", say("累积", "Accumulation")), (1.0, 16.0, 1.0));
    if is_llama {
        slide(flow, tokens, question, ("heads_per_kv", say("共用键值的头", "Heads a KV head")), (1.0, 16.0, 1.0));
        slide(flow, tokens, question, ("ffn", say("前馈宽", "Feed-forward")), (256.0, 32_768.0, 64.0));
        pick(flow, tokens, question, ("norm", "RMSNorm"), &["fused", "plain"]);
    }
    if net == Net::Moe {
        slide(flow, tokens, question, ("experts", say("专家", "Experts")), (1.0, 64.0, 1.0));
        slide(flow, tokens, question, ("top_k", "top-k"), (1.0, 8.0, 1.0));
    }
    if net == Net::Llama {
        slide(flow, tokens, question, ("lora_rank", say("LoRA 秩", "LoRA rank")), (0.0, 256.0, 8.0));
        tick(flow, tokens, question, ("nf4", say("冻结权重 NF4", "Frozen weights NF4")));
    }
    if net == Net::Gpt {
        tick(flow, tokens, question, ("dropout", "dropout"));
    }
    tick(flow, tokens, question, ("tied", say("共用词嵌入", "Tied head")));
    tick(flow, tokens, question, ("keeps_grads", say("zero_grad 不释放", "zero_grad keeps gradients")));
    tick(flow, tokens, question, ("master_weights", say("fp32 主副本", "Float32 masters")));
    pick(flow, tokens, question, ("update", say("AdamW 走法", "AdamW walks")), &["foreach", "loop", "fused"]);
}

/// The holders that are ever seen.
fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, timeline: &Timeline) {
    let is_seen = |holder: Holder| {
        let band = timeline.bands.iter().find(|band| band.holder == holder);
        band.is_some_and(|band| band.bytes.iter().any(|bytes| *bytes > timeline.peak.bytes / 150))
    };
    let entries: Vec<(Mark, &str)> = Holder::all()
        .filter(|holder| is_seen(*holder))
        .map(|holder| (Mark::Square(paint::color(tokens, holder)), words::short(holder, lang)))
        .collect();
    legend(ui, tokens, &entries);
}

impl View for LedgerTimeline {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        self.play.tick(cx);
        self.figure_ui(ui, cx);
        controls::row(ui, tokens, |flow| {
            flow.item(|ui| self.play.ui(ui, cx));
            if controls::button(flow, tokens, AT_PEAK.get(lang)) {
                self.play.seek(self.timeline.peak.at + 1);
            }
        });
        self.find_live();
        ui.add_space(tokens.space.xs);
        self.numbers_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        live::ui(ui, tokens, lang, &self.timeline, self.cursor(), &self.live.1);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.timeline, self.question.num("card_gib"), lang)
    }

    fn params(&self) -> Map {
        let mut map = self.question.params();
        map.insert("event".into(), self.cursor().into());
        map
    }

    fn data(&self) -> DataTable {
        let mut header: Vec<String> =
            ["event", "phase", "op", "block", "request (B)", "free (B)", "allocated (B)", "reserved (B)"]
                .map(str::to_owned)
                .to_vec();
        header.extend(Holder::all().map(|holder| format!("{} (B)", holder.id())));
        let timeline = &self.timeline;
        let mut rows = Vec::with_capacity(timeline.events.len());
        for (at, tape_idx) in timeline.events.iter().enumerate() {
            let phase = timeline.phases.iter().find(|phase| (phase.from..phase.until).contains(&at));
            let (item, asked, freed) = match self.run.tape.events.get(*tape_idx) {
                Some(Event::Request(id)) => (Some(self.run.tape.items[*id as usize]), true, false),
                Some(Event::Free(id)) => (Some(self.run.tape.items[*id as usize]), false, true),
                _ => (None, false, false),
            };
            let bytes = |is_it: bool| item.filter(|_| is_it).map_or_else(String::new, |item| item.bytes.to_string());
            let mut row = vec![
                at.to_string(),
                phase.map_or_else(String::new, |phase| phase.part.title().en.to_owned()),
                item.map_or_else(String::new, |item| item.op.to_owned()),
                item.and_then(|item| item.layer).map_or_else(String::new, |layer| (layer + 1).to_string()),
                bytes(asked),
                bytes(freed),
                timeline.allocated[at].to_string(),
                timeline.reserved[at].to_string(),
            ];
            row.extend(timeline.at(at).iter().map(|(_, bytes)| bytes.to_string()));
            rows.push(row);
        }
        DataTable { header, rows }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for LedgerTimeline {
    const ID: &'static str = "ledger_timeline";
    const TITLE: Text = Text::new("一个训练步的账本（memory ledger）", "The ledger over a training step");

    fn fields() -> Vec<FieldSpec> {
        let mut fields = Question::fields();
        let event = Text::new("光标在第几个事件；缺省在峰值", "The event of the cursor; at the peak by default");
        fields.push(FieldSpec::int("event", "1", 0, MOST_EVENTS, event).optional());
        fields
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let event = args.has("event").then(|| args.uint("event") as usize);
        Self::new(Question::from_args(args), event)
    }
}
