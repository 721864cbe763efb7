//! Memory in use over time, stacked. Drag to zoom, double click for everything, click for the cursor; the wheel zooms once
//! the figure has the focus, with Shift it pans; with the keyboard the arrows move the cursor, plus and minus zoom, Home and
//! End go to the ends.
//!
//! On `kit::axis` and a mesh of ours, not on egui_plot: its polygons must be convex and its filled areas are lines over
//! values that it transforms and tessellates anew each frame, while here a pixel picks its moment out of a million
//! (`columns.rs`), the mesh is kept until the window changes, and nothing else is laid out. `detail.rs` puts single blocks
//! into the bands, `marks.rs` phases and refusals above them, `overview.rs` the whole recording below.

use super::area::Area;
use super::columns::{Column, columns};
use super::detail::Detail;
use super::look::Look;
use super::marks::{self, Frame, Region};
use super::overview::Overview;
use super::scene::Scene;
use super::tell;
use egui::{EventFilter, Key, Mesh, Pos2, Rect, Response, Sense, Shape, Ui, Vec2, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use vramlab_kit::axis::{Axis, Plane, Spread};
use vramlab_kit::tokens::Tokens;
use vramlab_snapshot::steps::How;
use vramlab_units::{Lang, Text, show};

pub use super::tell::life_lines;

const NAME: Text = Text::new("显存随时间的变化", "Memory over time");
const DRAWN: Text = Text::new(
    "窗口里用过 {all} 块：{n} 块逐个画出，其余太小或太短，合在各自的颜色里。",
    "{all} blocks are used in this window: {n} are drawn singly, the others are too small or too brief and lie in their colour.",
);
const DRAWN_ALL: Text =
    Text::new("窗口里用过 {all} 块，逐个画出。", "{all} blocks are used in this window, each drawn singly.");

const HEIGHT: f32 = 264.0;
const LEFT: f32 = 64.0;
const BOTTOM: f32 = 26.0;
/// Half of the last label of the axis.
pub(super) const RIGHT: f32 = 20.0;
/// Blocks at least this high are drawn singly.
const LEAST_HEIGHT: f32 = 2.5;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Timeline {
    columns: Vec<Column>,
    columns_of: Option<(usize, usize, usize, usize)>,
    /// What each band holds, column by column.
    values: Vec<u64>,
    detail: Detail,
    mesh: Arc<Mesh>,
    mesh_of: Option<(usize, usize, usize, [i32; 5], u64, bool)>,
    regions: Vec<Region>,
    regions_of: Option<usize>,
    drag_from: Option<f32>,
    hovered: Option<Hovered>,
    overview: Overview,
}

/// What lies under the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hovered {
    moment: usize,
    band: usize,
    life: Option<u32>,
}

impl Timeline {
    /// The figure over the whole width. True when the look changed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        self.find_regions(scene);
        let top = tokens.px(marks::ROW) * marks::n_rows(&self.regions) as f32 + tokens.px(10.0);
        let size = vec2(ui.available_width(), tokens.px(HEIGHT) + top);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        // A finger scrolls the page until the figure was touched.
        let is_held_back = ui.input(egui::InputState::any_touches) && !response.has_focus();
        let response = if is_held_back { response } else { response.interact(Sense::click_and_drag()) };
        let plot = Rect::from_min_max(
            rect.min + vec2(tokens.px(LEFT), top),
            rect.max - vec2(tokens.px(RIGHT), tokens.px(BOTTOM)),
        );
        let words = format!("{}. {}", NAME.get(lang), tell::at_words(scene, look.cursor, lang));
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Slider, true, &words));
        let before = look.clone();
        self.interact(ui, &response, plot, scene, look);
        let most = top_of(scene, look);
        let plane = plane(most, look, plot);
        self.pick_columns(scene, look, plot, most);
        self.hovered = self.under_pointer(&response, plot, &plane, scene, most);
        self.paint(ui, tokens, lang, scene, look, &plane, most);
        vramlab_kit::paint::focus_ring(ui, tokens, &response, rect, tokens.px(8.0));
        self.tell(&response, tokens, lang, scene, look, plot);
        if look.span() < scene.n_events().max(1) {
            self.overview.ui(ui, tokens, lang, scene, look, tokens.px(LEFT));
        }
        before != *look
    }

    /// How many blocks are drawn singly and how many together.
    pub fn drawn(&self, lang: Lang) -> String {
        let text = if self.detail.n_blocks == self.detail.n_all { DRAWN_ALL } else { DRAWN };
        let (all, n) = (self.detail.n_all.to_string(), self.detail.n_blocks.to_string());
        text.get(lang).replace("{all}", &all).replace("{n}", &n)
    }

    fn tell(&self, response: &Response, tokens: &Tokens, lang: Lang, scene: &Scene, look: &Look, plot: Rect) {
        let Some(at) = response.hover_pos().filter(|_| self.drag_from.is_none()) else { return };
        if let Some(hovered) = self.hovered {
            response.clone().on_hover_ui_at_pointer(|ui| {
                tell::tooltip(ui, tokens, lang, scene, hovered.moment, (Some(hovered.band), hovered.life));
            });
        } else if at.y < plot.top() && plot.x_range().contains(at.x) {
            let share = f64::from((at.x - plot.left()) / plot.width());
            let moment = (look.from as f64 + share * look.span() as f64) as usize;
            if let Some(region) = marks::region_at(&self.regions, moment + 1) {
                let words = format!("{} · {} → {}", region.name, region.from, region.until);
                response.clone().on_hover_text_at_pointer(words);
            }
        }
    }

    fn find_regions(&mut self, scene: &Scene) {
        let key = Arc::as_ptr(&scene.analysis) as usize;
        if self.regions_of != Some(key) {
            self.regions_of = Some(key);
            self.regions = marks::regions(scene);
        }
    }

    fn pick_columns(&mut self, scene: &Scene, look: &Look, plot: Rect, most: u64) {
        let n_pixels = plot.width().max(1.0) as usize;
        let key = (look.from, look.until, n_pixels, Arc::as_ptr(&scene.bands) as usize);
        if self.columns_of != Some(key) {
            self.columns_of = Some(key);
            self.columns = columns(scene.totals(), look.from, look.until, n_pixels);
            let bands = &scene.bands.all;
            let of = |column: &Column| bands.iter().map(|band| band.value(column.moment)).collect::<Vec<_>>();
            self.values = self.columns.iter().flat_map(of).collect();
            let least = (most as f64 * f64::from(LEAST_HEIGHT / plot.height().max(1.0))).ceil() as u64;
            self.detail = Detail::of(scene, &self.columns, &self.values, least);
            self.mesh_of = None;
        }
    }

    fn interact(&mut self, ui: &Ui, response: &Response, plot: Rect, scene: &Scene, look: &mut Look) {
        let n = scene.n_events();
        let moment_at = |x: f32, look: &Look| {
            let share = f64::from(((x - plot.left()) / plot.width().max(1.0)).clamp(0.0, 1.0));
            look.from as f64 + share * look.span() as f64
        };
        if response.drag_started() {
            self.drag_from = ui.input(|input| input.pointer.press_origin()).map(|at| at.x);
            response.request_focus();
        }
        let x = response.interact_pointer_pos().map(|at| at.x);
        if response.drag_stopped()
            && let (Some(from), Some(x)) =
                (self.drag_from.take(), x.or(ui.input(|input| input.pointer.latest_pos()).map(|at| at.x)))
            && (from - x).abs() >= 4.0
        {
            look.show(moment_at(from, look), moment_at(x, look), n);
        }
        if response.double_clicked() {
            look.show(0.0, n as f64, n);
        } else if response.clicked() {
            response.request_focus();
            self.press(response, plot, n, look);
        }
        if let Some(at) = response.hover_pos() {
            wheel(ui, response, moment_at(at.x, look), plot, n, look);
        }
        if response.has_focus() {
            self.keys(ui, response, n, look);
        }
    }

    /// A press above the plot shows the phase there; inside it puts the cursor and chooses the block.
    fn press(&self, response: &Response, plot: Rect, n: usize, look: &mut Look) {
        let Some(at) = response.interact_pointer_pos() else { return };
        let share = ((at.x - plot.left()) / plot.width().max(1.0)).clamp(0.0, 1.0);
        if at.y < plot.top() - 6.0 {
            let moment = (look.from as f64 + f64::from(share) * look.span() as f64) as usize;
            if let Some(region) = marks::region_at(&self.regions, moment + 1) {
                let margin = (region.until - region.from) as f64 * 0.05;
                look.show(region.from as f64 - margin, region.until as f64 + margin, n);
            }
            return;
        }
        let shown = self.columns.iter().find(|column| share < column.right).map(|column| column.moment);
        look.point_at(shown.unwrap_or(look.until), n);
        look.life = self.hovered.and_then(|hovered| hovered.life);
    }

    fn keys(&self, ui: &Ui, response: &Response, n: usize, look: &mut Look) {
        let filter = EventFilter { horizontal_arrows: true, ..Default::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (pressed, is_far) = ui.input(|input| {
            (Key::ALL.iter().copied().filter(|key| input.key_pressed(*key)).collect::<Vec<_>>(), input.modifiers.shift)
        });
        let stride = if is_far { (look.span() / 20).max(1) } else { 1 };
        for key in pressed {
            match key {
                Key::ArrowRight => look.point_at(look.cursor + stride, n),
                Key::ArrowLeft => look.point_at(look.cursor.saturating_sub(stride), n),
                Key::Plus | Key::Equals | Key::W => look.zoom(2.0, look.cursor as f64, n),
                Key::Minus | Key::S => look.zoom(0.5, look.cursor as f64, n),
                Key::A => look.pan(-0.1, n),
                Key::D => look.pan(0.1, n),
                Key::PageDown => self.to_region(true, n, look),
                Key::PageUp => self.to_region(false, n, look),
                Key::Home => look.point_at(0, n),
                Key::End => look.point_at(n, n),
                Key::Num0 => look.show(0.0, n as f64, n),
                _ => {}
            }
        }
    }

    /// The cursor to the end of the next phase, or of the one before.
    fn to_region(&self, is_next: bool, n: usize, look: &mut Look) {
        let ends = self.regions.iter().map(|region| region.until);
        let found = match is_next {
            true => ends.filter(|end| *end > look.cursor).min(),
            false => ends.filter(|end| *end < look.cursor).max(),
        };
        if let Some(at) = found {
            look.point_at(at, n);
        }
    }

    fn under_pointer(
        &self,
        response: &Response,
        plot: Rect,
        plane: &Plane,
        scene: &Scene,
        most: u64,
    ) -> Option<Hovered> {
        let at = response.hover_pos().filter(|at| plot.contains(*at))?;
        let share = (at.x - plot.left()) / plot.width();
        let column = self.columns.iter().position(|column| share < column.right)?;
        let moment = self.columns[column].moment;
        let unit = unit_of(most);
        let bytes = (plane.y.value_from_share(f64::from((plot.bottom() - at.y) / plot.height())) * unit.0).max(0.0);
        let mut below = 0_u64;
        for (band, found) in scene.bands.all.iter().enumerate() {
            let value = found.value(moment);
            if bytes < (below + value) as f64 {
                let life = self.detail.at(column, bytes as u64).or_else(|| {
                    let from = self.detail.top_of(column, band).unwrap_or(below);
                    small_at(scene, moment, band, (bytes as u64).saturating_sub(from), self.detail.least)
                });
                return Some(Hovered { moment, band, life });
            }
            below += value;
        }
        None
    }

    #[expect(clippy::too_many_arguments, reason = "what a figure is painted with and on")]
    fn paint(&mut self, ui: &Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &Look, plane: &Plane, most: u64) {
        let painter = ui.painter_at(ui.min_rect().union(plane.rect.expand(tokens.px(LEFT))));
        let plot = plane.rect;
        let unit = unit_of(most);
        let y_text = |value: f64| format!("{}{}{}", show::number(value), show::THIN, unit.1);
        let x_text = |value: f64| show::number(value.round());
        plane.paint_grid(&painter, tokens, &x_text, &y_text);
        self.refresh_mesh(tokens, scene, plane, unit.0);
        painter.add(Shape::mesh(Arc::clone(&self.mesh)));
        if scene.is_narrowed() {
            let all = &scene.analysis.timeline.allocated;
            self.paint_line(&painter, plane, unit.0, all, tokens.stroke(1.0, tokens.muted));
        }
        if look.shows_reserved {
            let reserved = &scene.analysis.timeline.reserved;
            self.paint_line(&painter, plane, unit.0, reserved, tokens.stroke(1.5, tokens.ink));
        }
        let frame = Frame { painter: &painter, tokens, lang, look, plot };
        frame.regions(&self.regions, matches!(scene.analysis.steps.how, How::Period { .. }));
        frame.events(scene);
        frame.cursor();
        for life in [look.life, self.hovered.and_then(|hovered| hovered.life)].into_iter().flatten() {
            self.paint_life(&painter, tokens, scene, look, plane, (unit.0, life));
        }
        if let (Some(from), Some(to)) = (self.drag_from, ui.input(|input| input.pointer.latest_pos())) {
            let to = to.x.clamp(plot.left(), plot.right());
            let chosen = Rect::from_x_y_ranges(from.min(to)..=from.max(to), plot.y_range());
            painter.rect_filled(chosen, 0.0, tokens.accent.gamma_multiply(0.16));
        }
    }

    /// The area is made anew only when what it shows, its place or its colours changed.
    fn refresh_mesh(&mut self, tokens: &Tokens, scene: &Scene, plane: &Plane, unit: f64) {
        let plot = plane.rect;
        let place = [plot.left(), plot.top(), plot.right(), plot.bottom(), plane.y.max as f32 * 64.0];
        let key = (
            self.columns.len(),
            self.values.len(),
            Arc::as_ptr(&scene.bands) as usize,
            place.map(|at| (at * 4.0).round() as i32),
            unit.to_bits(),
            tokens.is_dark(),
        );
        if self.mesh_of != Some(key) {
            self.mesh_of = Some(key);
            self.mesh =
                Arc::new(Area { tokens, scene, plane, unit, columns: &self.columns }.mesh(&self.values, &self.detail));
        }
    }

    fn paint_line(
        &self,
        painter: &egui::Painter,
        plane: &Plane,
        unit: f64,
        series: &vramlab_snapshot::timeline::Series,
        stroke: egui::Stroke,
    ) {
        let plot = plane.rect;
        let place = |share: f32, moment: usize| -> Option<Pos2> {
            let y = plane.y.share_from_value(series.value(moment) as f64 / unit)?;
            Some(pos2(plot.left() + plot.width() * share, plot.bottom() - plot.height() * y as f32))
        };
        let line: Vec<Pos2> = self
            .columns
            .iter()
            .flat_map(|column| [place(column.left, column.moment), place(column.right, column.moment)])
            .flatten()
            .collect();
        painter.add(Shape::line(line, stroke));
    }

    /// The block that is meant, wherever it lies, and how long it lived.
    fn paint_life(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        scene: &Scene,
        look: &Look,
        plane: &Plane,
        (unit, idx): (f64, u32),
    ) {
        let Some(life) = scene.life(idx) else { return };
        let area = Area { tokens, scene, plane, unit, columns: &self.columns };
        for cell in self.detail.cells.iter().filter(|cell| cell.life == idx) {
            let rect = area.rect(cell);
            painter.rect_filled(rect, 0.0, tokens.accent.gamma_multiply(0.30));
            painter.hline(rect.x_range(), rect.top(), tokens.stroke(1.5, tokens.accent));
            painter.hline(rect.x_range(), rect.bottom(), tokens.stroke(1.5, tokens.accent));
        }
        let start = life.from.map_or(0, |from| from as usize + 1).max(look.from);
        let end = life.freed.map_or(scene.n_events(), |freed| freed as usize + 1).min(look.until);
        let x = |moment: usize| plane.pos(moment as f64, 0.0).map(|at| at.x);
        let (Some(left), Some(right)) = (x(start), x(end)) else { return };
        let y = plane.rect.bottom() + tokens.px(3.0);
        painter.hline(left..=right.max(left + 2.0), y, tokens.stroke(4.0, tokens.accent));
    }
}

/// The wheel zooms a figure that has the focus, and with Shift, or sideways, pans it. Pinching, or the wheel with Ctrl,
/// zooms it in any case.
fn wheel(ui: &Ui, response: &Response, moment: f64, plot: Rect, n: usize, look: &mut Look) {
    let zoom = ui.input(egui::InputState::zoom_delta);
    if (zoom - 1.0).abs() > 1e-4 {
        look.zoom(f64::from(zoom), moment, n);
    }
    if !response.has_focus() {
        return;
    }
    let scroll = ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta));
    if scroll == Vec2::ZERO {
        return;
    }
    let is_sideways = scroll.x.abs() > scroll.y.abs() || ui.input(|input| input.modifiers.shift);
    if is_sideways {
        let by = if scroll.x == 0.0 { scroll.y } else { scroll.x };
        look.pan(f64::from(-by / plot.width().max(1.0)), n);
    } else {
        look.zoom(f64::from((scroll.y / 200.0).exp()), moment, n);
    }
}

/// Values to points. The upper end holds all that is in sight, and what is reserved if that is wanted.
fn plane(most: u64, look: &Look, plot: Rect) -> Plane {
    let unit = unit_of(most);
    let whole = Axis { spread: Spread::Linear, min: 0.0, max: 1.0 };
    let y = Axis::around(Spread::Linear, [0.0, (most.max(1) as f64) / unit.0]).unwrap_or(whole);
    let x = Axis::new(Spread::Linear, look.from as f64, look.until.max(look.from + 1) as f64).unwrap_or(whole);
    Plane { x, y, rect: plot }
}

fn top_of(scene: &Scene, look: &Look) -> u64 {
    let timeline = &scene.analysis.timeline;
    let most = |series: &vramlab_snapshot::timeline::Series| {
        series.range(look.from, look.until + 1).map_or(0, |(_, most)| most)
    };
    if look.shows_reserved {
        most(&timeline.allocated).max(most(&timeline.reserved))
    } else {
        most(&timeline.allocated)
    }
}

/// The binary unit in which an axis up to `bytes` is labelled.
pub(super) fn unit_of(bytes: u64) -> (f64, &'static str) {
    match bytes {
        b if b >= 1 << 30 => ((1_u64 << 30) as f64, "GiB"),
        b if b >= 1 << 20 => ((1_u64 << 20) as f64, "MiB"),
        b if b >= 1 << 10 => (1024.0, "KiB"),
        _ => (1.0, "B"),
    }
}

/// Which of the blocks that are not drawn singly lies `bytes` above the others of its band: the oldest lies lowest.
fn small_at(scene: &Scene, moment: usize, band: usize, bytes: u64, least: u64) -> Option<u32> {
    let mut below = 0;
    let analysis = &scene.analysis;
    for idx in analysis.alive.at(&analysis.lives, moment) {
        let life = &analysis.lives[idx as usize];
        let of = scene.bands.of_life.get(idx as usize).copied().map(usize::from);
        if of == Some(band) && life.size < least && life.is_allocated(moment) {
            below += life.size;
            if bytes < below {
                return Some(idx);
            }
        }
    }
    None
}
