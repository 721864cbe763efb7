//! The bins of BFC: 21 of them as a ruler, the free chunks in each, the search of a request from its bin upwards, whether
//! the chunk is cut, what a free joins, and the regions of the pool below.
//!
//! `question.rs` is what the reader sets, `moment.rs` one event as the allocator plays it, `layout.rs` the geometry,
//! `paint.rs` the picture, `words.rs` the sentences.

pub mod layout;
pub mod moment;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::{Geometry, MOST_STRIPS};
use moment::{Ahead, Deed, Moment};
use paint::Scene;
use question::{MOST_MIB, Preset, Question};
use vramlab_alloc::bfc::bin_of;
use vramlab_alloc::replay::Player;
use vramlab_alloc::trace::Event;
use vramlab_kit::{Area, Mark, Slider, Tokens, Verdict, legend};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const PRESET: Text = Text::new("轨迹", "Trace");
const OWN: Text = Text::new("自定", "own");
const POLICY: Text = Text::new("池", "Pool");
const GROWS: Text = Text::new("按需翻倍", "grows, doubling");
const FIXED: Text = Text::new("一次拿满", "all at once");
const LIMIT: Text = Text::new("上限", "Limit");
const LAST: Text = Text::new("最后一次申请", "Last request");
const STEPS_PER_SEC: f64 = 0.7;
const MIB: f64 = 1_048_576.0;

fn preset_name(preset: Preset, lang: Lang) -> &'static str {
    let text = match preset {
        Preset::Growth => Text::new("区域翻倍", "regions double"),
        Preset::Holes => Text::new("两个空洞", "two holes"),
        Preset::Waste => Text::new("150 里要 100", "100 of 150"),
        Preset::Split => Text::new("1024 里要 700", "700 of 1024"),
    };
    text.get(lang)
}

/// See the module's docs.
pub struct BfcBins {
    question: Question,
    moment: Moment,
    play: Steps,
    ahead: Ahead,
}

impl BfcBins {
    fn new(question: Question, event: usize) -> Self {
        let play = Steps::new(event, question.n_events(), STEPS_PER_SEC);
        let moment = moment::at(&question, play.now());
        let ahead = moment::ahead(&question);
        Self { question, moment, play, ahead }
    }

    fn set(&mut self, question: Question, event: usize) {
        if question != self.question {
            *self = Self::new(question, event);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let (mut question, mut event) = (self.question.clone(), self.play.now());
        controls::row(ui, tokens, |flow| {
            let mut preset = question.preset;
            let mut options: Vec<(Option<Preset>, String)> =
                Preset::ALL.iter().map(|preset| (Some(*preset), preset_name(*preset, lang).to_owned())).collect();
            if preset.is_none() {
                options.push((None, OWN.get(lang).to_owned()));
            }
            controls::choice(flow, tokens, PRESET.get(lang), &mut preset, &options);
            if let Some(preset) = preset.filter(|preset| Some(*preset) != question.preset) {
                (question, event) = Question::of_preset(preset);
            }
            let mut grows = question.grows;
            let policies = [(true, GROWS.get(lang).to_owned()), (false, FIXED.get(lang).to_owned())];
            controls::choice(flow, tokens, POLICY.get(lang), &mut grows, &policies);
            if grows != question.grows {
                (question.grows, question.preset) = (grows, None);
            }
            sliders_ui(flow, tokens, lang, &mut question);
        });
        self.set(question, event);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n_regions = self.ahead.regions.len();
        let n_strips =
            n_regions.min(MOST_STRIPS) + usize::from(n_regions > MOST_STRIPS) + usize::from(self.ahead.has_refusal);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, n_strips);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        self.follow();
        let pointer = response.hover_pos().filter(|at| geometry.columns.expand2(egui::vec2(0.0, 20.0)).contains(*at));
        let picked = pointer.and_then(|at| geometry.bin_from_x(at.x));
        let names = self.names();
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            moment: &self.moment,
            ahead: &self.ahead,
            names: &names,
            picked,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        legend_ui(ui, tokens, lang);
        let said = picked.map(|bin| words::bin(&self.moment, bin, lang));
        figure::readout_ui(ui, tokens, &said.unwrap_or_else(|| words::SEARCHED_NOTE.get(lang).to_owned()));
    }

    /// The moment of the step that the playback stands at.
    fn follow(&mut self) {
        self.moment = moment::at(&self.question, self.play.now());
    }

    /// Names of the requests that hold a block now, by its address.
    fn names(&self) -> Vec<(u64, String)> {
        let kind = self.question.kind();
        let mut player = Player::new(&self.question.trace, &kind, self.question.capacity_bytes());
        let mut names = Vec::new();
        for _ in 0..self.play.now() {
            let Some(step) = player.step() else { break };
            if let (Event::Malloc { id, .. }, Some(block)) = (step.event, step.block) {
                names.retain(|(address, _)| *address != block.address);
                names.push((block.address, self.question.trace.name(id).to_owned()));
            }
        }
        names
    }

    /// Bytes of blocks beyond what was asked for.
    fn idle_bytes(&self) -> u64 {
        self.moment.after.rounding_loss_bytes()
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let after = &self.moment.after;
        let mut numbers = Vec::new();
        if let (Some(bin), Deed::Served { block, .. }) = (self.moment.bin, &self.moment.deed) {
            numbers.push(KeyNumber::new(Text::new("从几号箱找起", "search starts at bin"), bin.to_string()));
            numbers.push(
                KeyNumber::new(Text::new("拿到的块", "block"), words::size(block.size))
                    .exact(format!("{} B", block.size)),
            );
        } else if let Deed::Refused { refusal, .. } = &self.moment.deed {
            let label = Text::new("最大空闲块", "largest free chunk");
            let largest = KeyNumber::new(label, words::size(after.largest_free_bytes)).judged(Verdict::Bad);
            numbers.push(largest.exact(refusal.message.clone()));
        }
        let idle = self.idle_bytes();
        let verdict = if idle > 0 { Verdict::Caution } else { Verdict::Good };
        numbers.push(
            KeyNumber::new(Text::new("全部块里白占的", "idle inside blocks"), words::size(idle))
                .exact(format!("{idle} B"))
                .judged(verdict),
        );
        let pool = Text::new("池（reserved）", "pool (reserved)");
        let (bytes, n) = (after.reserved_bytes, after.n_segments);
        let exact = words::pick(lang, format!("{bytes} B，{n} 个区域"), format!("{bytes} B in {n} regions"));
        numbers.push(KeyNumber::new(pool, words::size(bytes)).exact(exact));
        numbers
    }
}

fn sliders_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let mut limit = question.limit_mib as f64;
    let slider = Slider::new(LIMIT.get(lang), &mut limit, 1.0..=MOST_MIB as f64).log().step(1.0);
    let slider = slider.default_value(1024.0).shown(|mib| words::size((mib.round() * MIB) as u64));
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        (question.limit_mib, question.preset) = (limit.round().max(1.0) as u64, None);
    }
    let Some(asked) = question.last_request() else { return };
    let most = (MOST_MIB as f64 * MIB).max(asked as f64);
    let mut last = (asked as f64).max(256.0);
    let slider = Slider::new(LAST.get(lang), &mut last, 256.0..=most).log().default_value(MIB);
    // What the trace has is said exactly; what the reader sets is round.
    let is_as_written = |bytes: f64| bytes.round() as u64 == asked;
    let slider = slider.shown(move |bytes| words::size(if is_as_written(bytes) { asked } else { rounded(bytes) }));
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        question.set_last_request(rounded(last));
    }
}

/// Sizes that a reader sets are whole MiB, below that whole KiB, below that bytes.
fn rounded(bytes: f64) -> u64 {
    let step = match bytes {
        b if b >= MIB => MIB,
        b if b >= 1024.0 => 1024.0,
        _ => 1.0,
    };
    ((bytes / step).round() * step).max(1.0) as u64
}

/// What the marks of the picture mean.
fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let entries = [
        (Mark::Square(paint::used(tokens)), Text::new("要了的", "asked for")),
        (Mark::Square(paint::idle(tokens)), Text::new("块里白占的", "idle inside a block")),
        (Mark::Area(Area::CachedFree), Text::new("空闲块", "free chunk")),
        (Mark::Area(Area::Fragmented), Text::new("在用的块旁边的空洞", "hole beside blocks in use")),
        (Mark::Area(Area::Free), Text::new("后面才要来的区域", "region still to come")),
    ];
    legend(ui, tokens, &entries.map(|(mark, text)| (mark, text.get(lang))));
}

impl View for BfcBins {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.play.tick(cx);
        self.figure_ui(ui, cx);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.moment, lang)
    }

    fn params(&self) -> Map {
        let mut map = self.question.params();
        map.insert("event".into(), self.play.now().into());
        map
    }

    /// Every event of the trace.
    fn data(&self) -> DataTable {
        let header = [
            "event",
            "asked (B)",
            "bin",
            "block (B)",
            "in use (B)",
            "asked in use (B)",
            "pool (B)",
            "regions",
            "largest free (B)",
            "refusal",
        ];
        let kind = self.question.kind();
        let mut player = Player::new(&self.question.trace, &kind, self.question.capacity_bytes());
        let mut rows = Vec::new();
        while let Some(step) = player.step() {
            let (name, asked) = match step.event {
                Event::Malloc { id, bytes, .. } => (self.question.trace.name(id).to_owned(), Some(bytes)),
                Event::Free { id, .. } => (format!("-{}", self.question.trace.name(id)), None),
                _ => (String::new(), None),
            };
            let text = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
            rows.push(vec![
                name,
                text(asked),
                text(asked.map(|bytes| u64::from(bin_of(bytes)))),
                text(step.block.map(|block| block.size)),
                step.after.allocated_bytes.to_string(),
                step.after.requested_bytes.to_string(),
                step.after.reserved_bytes.to_string(),
                step.after.n_segments.to_string(),
                step.after.largest_free_bytes.to_string(),
                step.refusal.map(|refusal| refusal.message).unwrap_or_default(),
            ]);
        }
        DataTable { header: header.map(str::to_owned).to_vec(), rows }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for BfcBins {
    const ID: &'static str = "bfc_bins";
    const TITLE: Text = Text::new("BFC 的箱（bins）", "The bins of BFC");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let (question, event) = Question::from_args(args)?;
        Ok(Self::new(question, event))
    }
}
