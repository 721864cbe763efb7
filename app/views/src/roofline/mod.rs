//! The roofline: where a kernel stands under the ceilings of compute and memory, and what would move it.
//!
//! `question.rs` is what the reader sets, `ceilings.rs` the cards, `answer.rs` asks the models, `layout.rs` is the
//! geometry, `paint.rs` and `roofs.rs` the picture, `words.rs` the sentences, `moves.rs` the table of what to change.

mod answer;
pub(crate) mod ceilings;
mod layout;
mod moves;
mod paint;
mod question;
mod roofs;
mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use answer::Answered;
use ceilings::CEILINGS;
use egui::{EventFilter, Key, Response, Sense, Ui};
use layout::{Geometry, Hit};
use paint::Scene;
use question::{COMPUTE_X, HBM_X, KERNELS, MAX_BATCH, MAX_EXTRA, Precision, Question, REACH, Roof, TILES, Tier};
use roofs::OtherRoof;
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_model::op_intensity::Op;
use vramlab_model::roofline::Bound;
use vramlab_units::show::{THIN, number, with_unit};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const KERNEL: Text = Text::new("内核", "Kernel");
const PRECISION: Text = Text::new("精度", "Precision");
const ROOF: Text = Text::new("屋顶", "Roof");
const CARD: Text = Text::new("显卡", "Card");
const BATCH: Text = Text::new("批 batch", "Batch");
const TILE: Text = Text::new("小块 tile", "Tile");
const STEPS: Text = Text::new("后续步骤", "Steps after it");
const FUSED: Text = Text::new("融合", "Fused");
const LEVELS: Text = Text::new("L1、L2 也画出来", "Show L1 and L2");
const REACHED: Text = Text::new("实测速率", "Measured rate");

/// One key press moves a ceiling by this factor.
const KEY_STEP: f64 = 1.1;
/// A dragged ceiling comes to rest on its own value when it is this near.
const SNAP: f64 = 0.03;

/// See the module's docs.
pub struct Roofline {
    question: Question,
    /// What the keyboard is on.
    cursor: Hit,
}

impl Roofline {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let kernels: Vec<(Op, String)> =
                KERNELS.iter().map(|op| (*op, question::kernel_label(*op).get(lang).to_owned())).collect();
            controls::choice(flow, tokens, KERNEL.get(lang), &mut question.op, &kernels);
            precision_ui(flow, tokens, lang, question);
            if question.has_all_controls {
                roof_ui(flow, tokens, lang, question);
                card_ui(flow, tokens, lang, question);
                controls::toggle(flow, tokens, LEVELS.get(lang), &mut question.has_levels);
            }
            kernel_ui(flow, tokens, lang, question);
            let shown = |percent: u64| format!("{percent}{THIN}%");
            let range = REACH.0..=REACH.1;
            controls::slider(flow, tokens, REACHED.get(lang), &mut question.reach_pct, range, shown);
        });
        question.settle();
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, answered: &Answered) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let Some(geometry) = Geometry::new(ui.cursor().min, width, tokens.scale) else { return };
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let dragged = self.drag(ui, &geometry, answered, &response);
        let hovered = dragged.or_else(|| response.hover_pos().and_then(|pos| geometry.hit(answered, pos)));
        self.steer(ui, &response, answered);
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        let peak_label = self.peak_label(answered);
        let hbm = answered.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes_per_s / 1e9);
        let others: Vec<OtherRoof> = self
            .others()
            .into_iter()
            .map(|other| other.apart_from(&geometry, answered.peak_tflops, hbm))
            .filter(OtherRoof::is_seen)
            .collect();
        let kernel = question::kernel_label(self.question.op).get(lang);
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            answer: answered,
            peak_label: &peak_label,
            is_measured: self.question.roof == Roof::Measured,
            others: &others,
            has_measured: self.question.reach_pct != 100,
            kernel,
            card: self.question.device().map_or("", |device| device.name.as_str()),
            is_product: self.question.op.is_product(),
            batch: self.question.batch,
            picked,
        };
        scene.paint();
        let words = picked.map(|hit| words::readout(&self.question, answered, hit, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), words.as_deref().filter(|_| response.has_focus()));
        let rest = words.unwrap_or_else(|| words::scale_note(&self.question, !others.is_empty(), lang));
        figure::readout_ui(ui, tokens, &rest);
    }

    fn peak_label(&self, answered: &Answered) -> String {
        let unit = self.question.precision.unit(self.question.op).label();
        format!("{unit} {}", words::work(answered.peak_tflops))
    }

    /// The roofs that do not count: the other kind, and this one as it was before it was dragged.
    fn others(&self) -> Vec<OtherRoof> {
        let is_shown = |roof: &Roof| *roof != self.question.roof || self.question.is_scaled();
        let plain = |roof: Roof| {
            let (peak_tflops, gb_per_s) = answer::plain_roof(&self.question, roof)?;
            Some(OtherRoof::new(peak_tflops, gb_per_s, roof == Roof::Measured))
        };
        Roof::ALL.into_iter().filter(is_shown).filter_map(plain).collect()
    }

    /// The two grips. They alone take the pointer, so that a finger elsewhere scrolls the page.
    fn drag(&mut self, ui: &Ui, geometry: &Geometry, answered: &Answered, figure: &Response) -> Option<Hit> {
        let hbm = answered.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes_per_s / 1e9);
        let grips =
            [(Hit::HbmRoof, geometry.hbm_grip(hbm)?), (Hit::ComputeRoof, geometry.compute_grip(answered.peak_tflops)?)];
        let mut picked = None;
        for (idx, (hit, at)) in grips.into_iter().enumerate() {
            let response = ui.interact(geometry.grip_area(at), figure.id.with(idx), Sense::drag());
            if response.hovered() || response.dragged() {
                picked = Some(hit);
                ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeVertical);
            }
            if response.drag_started() {
                figure.request_focus();
                self.cursor = hit;
            }
            if let (true, Some(pos)) = (response.dragged(), response.interact_pointer_pos()) {
                let factor = match hit {
                    Hit::HbmRoof => geometry.gb_per_s_from_y(pos.y) * self.question.hbm_x / hbm,
                    _ => geometry.tflops_from_y(pos.y) * self.question.compute_x / answered.peak_tflops,
                };
                self.set_factor(hit, factor);
            }
        }
        picked
    }

    fn set_factor(&mut self, hit: Hit, factor: f64) {
        let settled = if (factor - 1.0).abs() < SNAP { 1.0 } else { (factor * 100.0).round() / 100.0 };
        match hit {
            Hit::ComputeRoof => self.question.compute_x = settled.clamp(COMPUTE_X.0, COMPUTE_X.1),
            Hit::HbmRoof => self.question.hbm_x = settled.clamp(HBM_X.0, HBM_X.1),
            Hit::Dot(_) | Hit::Trail(_) => {}
        }
    }

    /// Left and right walk over roofs and dots; up and down move the roof that is picked.
    fn steer(&mut self, ui: &Ui, response: &Response, answered: &Answered) {
        if response.clicked() {
            response.request_focus();
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let mut stops = vec![Hit::HbmRoof, Hit::ComputeRoof];
        stops.extend(answered.dots.iter().map(|dot| Hit::Dot(dot.tier)));
        let presses = |key| ui.input(|input| input.num_presses(key)) as isize;
        let at = stops.iter().position(|stop| *stop == self.cursor).unwrap_or_default();
        let moved = at.saturating_add_signed(presses(Key::ArrowRight) - presses(Key::ArrowLeft));
        self.cursor = stops.get(moved.min(stops.len() - 1)).copied().unwrap_or(Hit::HbmRoof);
        let up = presses(Key::ArrowUp) - presses(Key::ArrowDown);
        let now = if self.cursor == Hit::ComputeRoof { self.question.compute_x } else { self.question.hbm_x };
        if up != 0 {
            self.set_factor(self.cursor, now * KEY_STEP.powi(up as i32));
        }
        if presses(Key::Home) > 0 {
            self.set_factor(self.cursor, 1.0);
        }
    }
}

fn precision_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let has =
        |precision: &Precision| Question { precision: *precision, ..question.clone() }.unit_ceiling(question.roof);
    let all = Precision::ALL.into_iter().filter(|precision| has(precision).is_some());
    let all = all.filter(|precision| question.op.is_product() || *precision != Precision::Tf32);
    let options: Vec<(Precision, String)> = all.map(|precision| (precision, precision.label().to_owned())).collect();
    controls::choice(flow, tokens, PRECISION.get(lang), &mut question.precision, &options);
}

fn roof_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let has_measured = question.device().is_some_and(|device| device.measured.is_some());
    let all = Roof::ALL.into_iter().filter(|roof| *roof == Roof::Published || has_measured);
    let options: Vec<(Roof, String)> = all.map(|roof| (roof, words::roof_name(roof).get(lang).to_owned())).collect();
    controls::choice(flow, tokens, ROOF.get(lang), &mut question.roof, &options);
}

fn card_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let mut chosen = question.device.as_str();
    let options: Vec<(&str, String)> =
        CEILINGS.devices.iter().map(|device| (device.id.as_str(), device.name.clone())).collect();
    if controls::choice(flow, tokens, CARD.get(lang), &mut chosen, &options) {
        question.device = chosen.to_owned();
        if question.device().is_some_and(|device| device.measured.is_none()) {
            question.roof = Roof::Published;
        }
    }
}

/// What this kernel alone can be asked.
fn kernel_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    if question.op == Op::Gemm {
        let mut batch = question.batch as f64;
        let slider = Slider::new(BATCH.get(lang), &mut batch, 1.0..=MAX_BATCH as f64).log().step(1.0).width(180.0);
        flow.item(|ui| slider.shown(|batch| format!("{batch:.0}")).default_value(1.0).show(ui, tokens));
        question.batch = batch.round().max(1.0) as u64;
    }
    if matches!(question.op, Op::Gemm | Op::Stencil5) && question.has_levels {
        let tiles: Vec<(u64, String)> = TILES.iter().map(|tile| (*tile, tile.to_string())).collect();
        controls::choice(flow, tokens, TILE.get(lang), &mut question.tile, &tiles);
    }
    if question.op != Op::Dot {
        let range = 0..=MAX_EXTRA;
        controls::slider(flow, tokens, STEPS.get(lang), &mut question.extra_steps, range, |steps| steps.to_string());
    }
    if question.op != Op::Dot && question.extra_steps > 0 {
        controls::toggle(flow, tokens, FUSED.get(lang), &mut question.is_fused);
    }
}

fn key_numbers(question: &Question, answered: &Answered, lang: Lang) -> Vec<KeyNumber> {
    let hbm = answered.dot(Tier::Hbm).copied();
    let intensity = hbm.map_or(0.0, |dot| dot.intensity);
    let exact = |value: f64, unit: &str| format!("{value} {unit}");
    let mut numbers = vec![
        KeyNumber::new(Text::new("强度 FLOP/B", "intensity, FLOP/B"), number(intensity))
            .exact(exact(intensity, "FLOP/B")),
        KeyNumber::new(Text::new("脊点 FLOP/B", "ridge, FLOP/B"), number(answered.ridge))
            .exact(exact(answered.ridge, "FLOP/B")),
        KeyNumber::new(Text::new("最多", "at most"), words::work(answered.attainable_tflops))
            .exact(exact(answered.attainable_tflops, "TFLOP/s")),
        KeyNumber::new(Text::new("卡在", "bound by"), words::bound_name(answered.bound).get(lang)),
        KeyNumber::new(Text::new("最短时间", "shortest time"), words::time(answered.floor_secs))
            .exact(exact(answered.floor_secs * 1e6, "µs")),
    ];
    if question.reach_pct != 100 {
        let verdict = if answered.is_above() { Verdict::Bad } else { Verdict::Neutral };
        let label = Text::new("利用率", "utilisation");
        numbers.push(KeyNumber::new(label, with_unit(answered.utilisation, "%")).judged(verdict));
    }
    numbers
}

impl View for Roofline {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let tokens = cx.tokens;
        self.controls_ui(ui, tokens, cx.lang);
        ui.add_space(tokens.space.xs);
        match answer::ask(&self.question) {
            Ok(answered) => {
                self.figure_ui(ui, tokens, cx.lang, &answered);
                ui.add_space(tokens.space.xs);
                controls::key_numbers(ui, tokens, cx.lang, &key_numbers(&self.question, &answered, cx.lang));
                ui.add_space(tokens.space.xs);
                if let Some(after) = moves::ui(ui, tokens, cx.lang, &self.question) {
                    self.question = after;
                }
            }
            Err(problem) => figure::problem_ui(ui, tokens, &problem),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match answer::ask(&self.question) {
            Ok(answered) => words::finding(&self.question, &answered, lang),
            Err(problem) => problem,
        }
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = [
            "level",
            "bytes (B)",
            "intensity (FLOP/B)",
            "ceiling (GB/s)",
            "roof (TFLOP/s)",
            "compute ceiling (TFLOP/s)",
            "attainable (TFLOP/s)",
            "measured (TFLOP/s)",
            "shortest time (us)",
            "bound",
        ];
        let header = header.map(str::to_owned).to_vec();
        let Ok(answered) = answer::ask(&self.question) else { return DataTable { header, rows: Vec::new() } };
        let row = |dot: &answer::Dot| {
            let numbers = [
                dot.level.bytes,
                dot.intensity,
                dot.level.bytes_per_s / 1e9,
                dot.roof_tflops,
                answered.peak_tflops,
                answered.attainable_tflops,
                answered.measured_tflops,
                answered.floor_secs * 1e6,
            ];
            let mut cells = vec![dot.tier.label().to_owned()];
            cells.extend(numbers.map(|value| value.to_string()));
            cells.push(Bound::id(answered.bound).to_owned());
            cells
        };
        DataTable { header, rows: answered.dots.iter().map(row).collect() }
    }
}

impl Visualizer for Roofline {
    const ID: &'static str = "roofline";
    const TITLE: Text = Text::new("屋顶线（roofline）", "Roofline");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, cursor: Hit::HbmRoof })
    }
}
