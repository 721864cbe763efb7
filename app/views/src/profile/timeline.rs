//! The figure, and what the reader does with it: drag to zoom, double click for all, click for the cursor; the wheel zooms
//! once the figure has the focus; arrows move the cursor, W and S zoom, A and D pan, 0 shows everything.

use super::columns::{Column, columns};
use super::lanes::{self, Lane};
use super::look::{Look, Memory};
use super::paint::{Frame, LANE};
use super::words;
use crate::figure;
use egui::{EventFilter, Key, Rect, Response, Sense, Ui, Vec2, vec2};
use std::sync::Arc;
use vramlab_kit::{Tokens, Type};
use vramlab_profile::live::Live;
use vramlab_profile::name;
use vramlab_profile::report::Peak;
use vramlab_profile::{Profile, Report};
use vramlab_units::Lang;

const HEIGHT: f32 = 240.0;
const LEFT: f32 = 84.0;
/// Half of the last label of the axis.
const RIGHT: f32 = 30.0;
const BOTTOM: f32 = 26.0;
const TOP: f32 = 18.0;
/// Processes with a band of their own; the rest share one.
const MOST_BANDS: usize = 7;

/// A band of the stack: some processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Indices of processes.
    of: Vec<usize>,
    title: Option<String>,
}

impl Band {
    pub fn name(&self, lang: Lang) -> String {
        self.title.clone().unwrap_or_else(|| words::OTHERS.get(lang).to_owned())
    }
}

/// A run with what is worked out of it once.
pub struct Scene {
    pub profile: Arc<Profile>,
    pub report: Report,
    pub lanes: Vec<Lane>,
    pub live: Live,
    /// Utilisation, held until the sensor's next value.
    pub util: Vec<Option<f32>>,
    gpu: Vec<Band>,
    host: Vec<Band>,
}

impl Scene {
    pub fn new(profile: Arc<Profile>) -> Self {
        let report = Report::of(&profile);
        let live = report.traced.as_ref().map(|traced| traced.live.clone()).unwrap_or_default();
        let mut last = None;
        let mut held = |value: Option<u32>| {
            last = value.map(|value| value as f32).or(last);
            last
        };
        let util = profile.samples.util.iter().map(|value| held(*value)).collect();
        let most = |values: &[Option<u64>]| values.iter().flatten().copied().max().unwrap_or_default();
        let gpu = bands(&profile, |idx| most(&profile.processes[idx].gpu));
        let host = bands(&profile, |idx| most(&profile.processes[idx].rss));
        Self { lanes: lanes::of(&profile), report, live, util, gpu, host, profile }
    }

    /// Whether NVML attributed memory to any process.
    pub fn has_gpu(&self) -> bool {
        !self.gpu.is_empty() || self.report.device.is_some()
    }

    pub fn bands(&self, memory: Memory) -> &[Band] {
        match memory {
            Memory::Gpu => &self.gpu,
            Memory::Host => &self.host,
        }
    }

    /// Bytes of a band in a sample.
    pub fn value(&self, memory: Memory, band: usize, row: usize) -> Option<u64> {
        let values = self.bands(memory).get(band)?.of.iter().filter_map(|idx| {
            let process = &self.profile.processes[*idx];
            match memory {
                Memory::Gpu => process.gpu_at(row),
                Memory::Host => process.rss_at(row),
            }
        });
        values.fold(None, |sum: Option<u64>, bytes| Some(sum.unwrap_or_default().saturating_add(bytes)))
    }

    fn total(&self, memory: Memory, row: usize) -> u64 {
        let bands = 0..self.bands(memory).len();
        bands.filter_map(|band| self.value(memory, band, row)).fold(0, u64::saturating_add)
    }

    /// The top of the plot.
    pub fn most(&self, memory: Memory) -> u64 {
        match memory {
            Memory::Host => self.report.host.as_ref().map_or(0, |peak| peak.bytes),
            Memory::Gpu => {
                let tree = self.report.tree.as_ref().map_or(0, |peak| peak.bytes);
                self.report.device.as_ref().map_or(0, |peak| peak.bytes).max(tree).max(self.live.peak_bytes)
            }
        }
    }

    pub fn peak(&self, memory: Memory) -> Option<&Peak> {
        match memory {
            Memory::Host => self.report.host.as_ref(),
            Memory::Gpu => self.report.tree.as_ref().or(self.report.device.as_ref()),
        }
    }

    /// The sample that holds at a time.
    pub fn row_at(&self, t_us: u64) -> Option<usize> {
        self.profile.samples.t_us.partition_point(|t| *t <= t_us).checked_sub(1)
    }

    /// The kernel that runs at a time, by its name.
    pub fn kernel_at(&self, t_us: u64) -> Option<String> {
        let t = t_us.saturating_mul(1000);
        self.profile.activities.iter().find_map(|activity| {
            let rows = &activity.kernels;
            let spans = vramlab_profile::lanes::Spans { start_ns: &rows.start_ns, ns: &rows.ns };
            let row = spans.at(t, spans.longest())?;
            Some(name::short(activity.names.get(*rows.name.get(row)? as usize)?, 60))
        })
    }

    pub fn first_look(&self) -> Look {
        let memory = if self.has_gpu() { Memory::Gpu } else { Memory::Host };
        Look::whole(self.profile.wall_us, self.peak(memory).map_or(0, |peak| peak.t_us), memory)
    }
}

/// Bands by the most that a process held.
fn bands(profile: &Profile, most: impl Fn(usize) -> u64) -> Vec<Band> {
    let mut all: Vec<usize> = (0..profile.processes.len()).filter(|idx| most(*idx) > 0).collect();
    all.sort_by_key(|idx| std::cmp::Reverse(most(*idx)));
    let name = |idx: usize| format!("{} {}", profile.processes[idx].name, profile.processes[idx].pid);
    let rest = if all.len() > MOST_BANDS { all.split_off(MOST_BANDS - 1) } else { Vec::new() };
    let mut out: Vec<Band> = all.into_iter().map(|idx| Band { of: vec![idx], title: Some(name(idx)) }).collect();
    if !rest.is_empty() {
        out.push(Band { of: rest, title: None });
    }
    out
}

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Timeline {
    columns: Vec<Column>,
    columns_of: Option<(u64, u64, usize, Memory)>,
    /// How busy each lane is, column by column: a long run has millions of kernels.
    shares: Vec<Vec<f32>>,
    drag_from: Option<f32>,
}

impl Timeline {
    /// The figure over the whole width. True when the look changed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        let lanes =
            scene.lanes.len() as f32 * tokens.px(LANE) + if scene.lanes.is_empty() { 0.0 } else { tokens.px(10.0) };
        let size = vec2(ui.available_width(), tokens.px(HEIGHT + TOP + BOTTOM) + lanes);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        // A finger scrolls the page until the figure was touched.
        let is_held_back = ui.input(egui::InputState::any_touches) && !response.has_focus();
        let response = if is_held_back { response } else { response.interact(Sense::click_and_drag()) };
        let plot = Rect::from_min_max(
            rect.min + vec2(tokens.px(LEFT), tokens.px(TOP)),
            rect.max - vec2(tokens.px(RIGHT), tokens.px(BOTTOM) + lanes),
        );
        let before = *look;
        self.interact(ui, &response, plot, scene, look);
        self.pick_columns(scene, look, plot);
        let painter = ui.painter_at(rect.expand(tokens.px(4.0)));
        let (columns, shares) = (&self.columns, &self.shares);
        Frame { painter: &painter, tokens, lang, scene, look, columns, shares, plot }.paint();
        if let (Some(from), Some(to)) = (self.drag_from, ui.input(|input| input.pointer.latest_pos())) {
            let to = to.x.clamp(plot.left(), plot.right());
            let chosen = Rect::from_x_y_ranges(from.min(to)..=from.max(to), plot.y_range());
            painter.rect_filled(chosen, 0.0, tokens.accent.gamma_multiply(0.16));
        }
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &words::at(scene, look.cursor, look.memory, lang), None);
        self.tell(&response, tokens, lang, scene, look, plot);
        before != *look
    }

    fn tell(&self, response: &Response, tokens: &Tokens, lang: Lang, scene: &Scene, look: &Look, plot: Rect) {
        let Some(at) = response.hover_pos().filter(|_| self.drag_from.is_none()) else { return };
        if !plot.x_range().contains(at.x) {
            return;
        }
        let lines = words::lines(scene, time_at(at.x, plot, look).round() as u64, look.memory, lang);
        response.clone().on_hover_ui_at_pointer(|ui| {
            for (idx, line) in lines.iter().enumerate() {
                let font = tokens.font(if idx == 0 { Type::NoteStrong } else { Type::Note });
                ui.label(egui::RichText::new(line).font(font).color(tokens.ink));
            }
        });
    }

    fn pick_columns(&mut self, scene: &Scene, look: &Look, plot: Rect) {
        let n = plot.width().max(1.0) as usize;
        let key = (look.from, look.until, n, look.memory);
        if self.columns_of != Some(key) {
            self.columns_of = Some(key);
            let total = |row: usize| scene.total(look.memory, row);
            self.columns = columns(&scene.profile.samples.t_us, (look.from, look.until), n, &total);
            self.shares = scene.lanes.iter().map(|lane| lane.busy((look.from, look.until), n)).collect();
        }
    }

    fn interact(&mut self, ui: &Ui, response: &Response, plot: Rect, scene: &Scene, look: &mut Look) {
        let wall = scene.profile.wall_us;
        if response.drag_started() {
            self.drag_from = ui.input(|input| input.pointer.press_origin()).map(|at| at.x);
            response.request_focus();
        }
        if response.drag_stopped()
            && let (Some(from), Some(to)) = (self.drag_from.take(), ui.input(|input| input.pointer.latest_pos()))
            && (from - to.x).abs() >= 4.0
        {
            let (from, to) = (time_at(from, plot, look), time_at(to.x, plot, look));
            look.show(from, to, wall);
        }
        if response.double_clicked() {
            look.show(0.0, wall as f64, wall);
        } else if response.clicked() {
            response.request_focus();
            if let Some(at) = response.interact_pointer_pos() {
                look.point_at(time_at(at.x, plot, look).round() as u64, wall);
            }
        }
        wheel(ui, response, plot, look, wall);
        if response.has_focus() {
            keys(ui, response, look, wall, scene.peak(look.memory).map(|peak| peak.t_us));
        }
    }
}

fn time_at(x: f32, plot: Rect, look: &Look) -> f64 {
    let share = f64::from(((x - plot.left()) / plot.width().max(1.0)).clamp(0.0, 1.0));
    look.from as f64 + share * look.span() as f64
}

/// Ctrl and the wheel zoom about the pointer; once the figure has the focus the wheel does too, with Shift it pans.
fn wheel(ui: &Ui, response: &Response, plot: Rect, look: &mut Look, wall: u64) {
    let Some(at) = response.hover_pos() else { return };
    let fixed = time_at(at.x, plot, look);
    let zoom = ui.input(egui::InputState::zoom_delta);
    if (zoom - 1.0).abs() > 1e-4 {
        look.zoom(f64::from(zoom), fixed, wall);
    }
    if !response.has_focus() {
        return;
    }
    let scroll = ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta));
    if scroll == Vec2::ZERO {
        return;
    }
    if scroll.x.abs() > scroll.y.abs() || ui.input(|input| input.modifiers.shift) {
        let by = if scroll.x == 0.0 { scroll.y } else { scroll.x };
        look.pan(f64::from(-by / plot.width().max(1.0)), wall);
    } else {
        look.zoom(f64::from((scroll.y / 200.0).exp()), fixed, wall);
    }
}

fn keys(ui: &Ui, response: &Response, look: &mut Look, wall: u64, peak: Option<u64>) {
    let filter = EventFilter { horizontal_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed: Vec<Key> =
        ui.input(|input| Key::ALL.iter().copied().filter(|key| input.key_pressed(*key)).collect::<Vec<_>>());
    let stride = (look.span() / 100).max(1);
    for key in pressed {
        match key {
            Key::ArrowRight => look.point_at(look.cursor.saturating_add(stride), wall),
            Key::ArrowLeft => look.point_at(look.cursor.saturating_sub(stride), wall),
            Key::Plus | Key::Equals | Key::W => look.zoom(2.0, look.cursor as f64, wall),
            Key::Minus | Key::S => look.zoom(0.5, look.cursor as f64, wall),
            Key::A => look.pan(-0.1, wall),
            Key::D => look.pan(0.1, wall),
            Key::Home => look.point_at(0, wall),
            Key::End => look.point_at(wall, wall),
            Key::P => look.point_at(peak.unwrap_or(look.cursor), wall),
            Key::Num0 => look.show(0.0, wall as f64, wall),
            _ => {}
        }
    }
}
