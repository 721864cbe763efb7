//! Memory in use over time, stacked. Drag to zoom, double click for everything, click for the cursor; with the keyboard the
//! arrows move the cursor, plus and minus zoom, Home and End go to the ends.
//!
//! On `kit::axis` and a mesh of ours, not on egui_plot: its polygons must be convex and its filled areas are lines over
//! values that it transforms and tessellates anew each frame, while here a pixel picks its moment out of a million
//! (`columns.rs`) and nothing else is laid out; and what hangs on the figure (the block under the pointer, hatching of what
//! is reserved, phases above) needs the place of every band anyway.

use super::columns::{Column, columns};
use super::look::Look;
use super::scene::Scene;
use super::words::{moment, stack_lines};
use egui::{Color32, EventFilter, Key, Mesh, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::axis::{Axis, Plane, Spread};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Bytes, Lang, Text, show};

const NAME: Text = Text::new("显存随时间的变化", "Memory over time");
const SIZE: Text = Text::new("{size}（申请 {asked}）", "{size} ({asked} asked for)");
const STREAM: Text = Text::new("流 {}", "stream {}");
const LIVED: Text = Text::new("第 {a} → {b} 个事件", "events {a} → {b}");
const BEFORE: Text = Text::new("录制前就在", "from before the recording");
const KEPT: Text = Text::new("最后还在", "still there at the end");
const BAND: Text = Text::new("{name}：{size}", "{name}: {size}");

const HEIGHT: f32 = 264.0;
const LEFT: f32 = 64.0;
const BOTTOM: f32 = 26.0;
const PHASES: f32 = 20.0;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Timeline {
    columns: Vec<Column>,
    columns_of: Option<(usize, usize, usize, usize)>,
    /// What each band holds, column by column.
    values: Vec<u64>,
    drag_from: Option<f32>,
    hovered: Option<Hovered>,
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
        let size = vec2(ui.available_width(), tokens.px(HEIGHT));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let plot = Rect::from_min_max(
            rect.min + vec2(tokens.px(LEFT), tokens.px(PHASES)),
            rect.max - vec2(tokens.px(4.0), tokens.px(BOTTOM)),
        );
        let plane = self.plane(scene, look, plot);
        let words = format!("{}. {}", NAME.get(lang), at_words(scene, look.cursor, lang));
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Slider, true, &words));
        self.pick_columns(scene, look, plot);
        let before = look.clone();
        self.interact(ui, &response, plot, scene, look);
        self.hovered = self.under_pointer(&response, plot, &plane, scene, look);
        self.paint(ui, tokens, scene, look, &plane);
        vramlab_kit::paint::focus_ring(ui, tokens, &response, rect, tokens.px(8.0));
        if let Some(hovered) = self.hovered
            && self.drag_from.is_none()
        {
            response.on_hover_ui_at_pointer(|ui| tooltip(ui, tokens, lang, scene, hovered));
        }
        before != *look
    }

    /// Values to points. The upper end holds all that is in sight, and what is reserved if that is wanted.
    fn plane(&self, scene: &Scene, look: &Look, plot: Rect) -> Plane {
        let timeline = &scene.analysis.timeline;
        let top = |series: &vramlab_snapshot::timeline::Series| {
            series.range(look.from, look.until + 1).map_or(0, |(_, most)| most)
        };
        let mut most = top(&timeline.allocated);
        if look.shows_reserved {
            most = most.max(top(&timeline.reserved));
        }
        let unit = unit_of(most);
        let whole = Axis { spread: Spread::Linear, min: 0.0, max: 1.0 };
        let y = Axis::around(Spread::Linear, [0.0, (most.max(1) as f64) / unit.0]).unwrap_or(whole);
        let x = Axis::new(Spread::Linear, look.from as f64, look.until.max(look.from + 1) as f64).unwrap_or(whole);
        Plane { x, y, rect: plot }
    }

    fn pick_columns(&mut self, scene: &Scene, look: &Look, plot: Rect) {
        let n_pixels = plot.width().max(1.0) as usize;
        let key = (look.from, look.until, n_pixels, std::sync::Arc::as_ptr(&scene.bands) as usize);
        if self.columns_of != Some(key) {
            self.columns_of = Some(key);
            self.columns = columns(scene.analysis.timeline.allocated.values(), look.from, look.until, n_pixels);
            let bands = &scene.bands.all;
            let of = |column: &Column| bands.iter().map(|band| band.value(column.moment)).collect::<Vec<_>>();
            self.values = self.columns.iter().flat_map(of).collect();
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
            if let Some(x) = x {
                let share = ((x - plot.left()) / plot.width().max(1.0)).clamp(0.0, 1.0);
                let shown = self.columns.iter().find(|column| share < column.right).map(|column| column.moment);
                look.point_at(shown.unwrap_or(look.until), n);
                look.life = self.hovered.and_then(|hovered| hovered.life);
            }
        }
        if response.has_focus() {
            self.keys(ui, response, n, look);
        }
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
                Key::Plus | Key::Equals => look.zoom(2.0, look.cursor as f64, n),
                Key::Minus => look.zoom(0.5, look.cursor as f64, n),
                Key::Home => look.point_at(0, n),
                Key::End => look.point_at(n, n),
                Key::Num0 => look.show(0.0, n as f64, n),
                _ => {}
            }
        }
    }

    fn under_pointer(
        &self,
        response: &Response,
        plot: Rect,
        plane: &Plane,
        scene: &Scene,
        look: &Look,
    ) -> Option<Hovered> {
        let at = response.hover_pos().filter(|at| plot.contains(*at))?;
        let share = (at.x - plot.left()) / plot.width();
        let moment = self.columns.iter().find(|column| share < column.right)?.moment;
        let timeline = &scene.analysis.timeline;
        let unit = unit_of(top_of(timeline, look));
        let bytes = (plane.y.value_from_share(f64::from((plot.bottom() - at.y) / plot.height())) * unit.0).max(0.0);
        let mut below = 0_u64;
        for (band, found) in scene.bands.all.iter().enumerate() {
            let value = found.value(moment);
            if bytes < (below + value) as f64 {
                return Some(Hovered { moment, band, life: block_at(scene, moment, band, bytes as u64 - below) });
            }
            below += value;
        }
        None
    }

    fn paint(&self, ui: &Ui, tokens: &Tokens, scene: &Scene, look: &Look, plane: &Plane) {
        let painter = ui.painter_at(ui.min_rect().union(plane.rect.expand(tokens.px(LEFT))));
        let plot = plane.rect;
        let unit = unit_of(top_of(&scene.analysis.timeline, look));
        let y_text = |value: f64| format!("{}{}{}", show::number(value), show::THIN, unit.1);
        let x_text = |value: f64| show::number(value.round());
        plane.paint_grid(&painter, tokens, &x_text, &y_text);
        painter.add(Shape::mesh(self.area(tokens, scene, plane, unit.0)));
        if look.shows_reserved {
            self.paint_reserved(&painter, tokens, scene, plane, unit.0);
        }
        paint_phases(&painter, tokens, scene, look, plot);
        if let Some(x) = plane.pos(look.cursor as f64, 0.0).map(|at| at.x).filter(|x| plot.x_range().contains(*x)) {
            painter.vline(x, plot.y_range(), tokens.stroke(1.5, tokens.accent));
            let head = [pos2(x - 5.0, plot.top() - 6.0), pos2(x + 5.0, plot.top() - 6.0), pos2(x, plot.top())];
            painter.add(Shape::convex_polygon(head.to_vec(), tokens.accent, Stroke::NONE));
        }
        if let Some(hovered) = self.hovered {
            paint_life(&painter, tokens, scene, look, plane, hovered);
        }
        if let (Some(from), Some(to)) = (self.drag_from, ui.input(|input| input.pointer.latest_pos())) {
            let to = to.x.clamp(plot.left(), plot.right());
            let chosen = Rect::from_x_y_ranges(from.min(to)..=from.max(to), plot.y_range());
            painter.rect_filled(chosen, 0.0, tokens.accent.gamma_multiply(0.16));
        }
    }

    /// One quad a band and column.
    fn area(&self, tokens: &Tokens, scene: &Scene, plane: &Plane, unit: f64) -> Mesh {
        let mut mesh = Mesh::default();
        let plot = plane.rect;
        let y = |bytes: u64| {
            let share = plane.y.share_from_value(bytes as f64 / unit).unwrap_or(0.0);
            plot.bottom() - plot.height() * share as f32
        };
        let colors: Vec<Color32> = (0..scene.bands.all.len()).map(|band| scene.color(tokens, band)).collect();
        for (column, values) in self.columns.iter().zip(self.values.chunks(colors.len().max(1))) {
            let (left, right) = (plot.left() + plot.width() * column.left, plot.left() + plot.width() * column.right);
            let mut below = 0;
            for (value, color) in values.iter().zip(&colors) {
                if *value > 0 {
                    let quad = Rect::from_min_max(pos2(left, y(below + value)), pos2(right, y(below)));
                    mesh.add_colored_rect(quad, *color);
                    below += value;
                }
            }
        }
        mesh
    }

    fn paint_reserved(&self, painter: &egui::Painter, tokens: &Tokens, scene: &Scene, plane: &Plane, unit: f64) {
        let reserved = &scene.analysis.timeline.reserved;
        let plot = plane.rect;
        let place = |share: f32, moment: usize| -> Option<Pos2> {
            let y = plane.y.share_from_value(reserved.value(moment) as f64 / unit)?;
            Some(pos2(plot.left() + plot.width() * share, plot.bottom() - plot.height() * y as f32))
        };
        let line: Vec<Pos2> = self
            .columns
            .iter()
            .flat_map(|column| [place(column.left, column.moment), place(column.right, column.moment)])
            .flatten()
            .collect();
        painter.add(Shape::line(line, tokens.stroke(1.5, tokens.ink)));
    }
}

fn top_of(timeline: &vramlab_snapshot::timeline::Timeline, look: &Look) -> u64 {
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
fn unit_of(bytes: u64) -> (f64, &'static str) {
    match bytes {
        b if b >= 1 << 30 => ((1_u64 << 30) as f64, "GiB"),
        b if b >= 1 << 20 => ((1_u64 << 20) as f64, "MiB"),
        b if b >= 1 << 10 => (1024.0, "KiB"),
        _ => (1.0, "B"),
    }
}

/// Which block of a band lies `bytes` above its lower edge: the oldest lies lowest.
fn block_at(scene: &Scene, moment: usize, band: usize, bytes: u64) -> Option<u32> {
    let mut below = 0;
    let lives = scene.analysis.lives.iter().zip(scene.bands.of_life.iter()).enumerate();
    for (idx, (life, of)) in lives {
        if usize::from(*of) == band && life.is_allocated(moment) {
            below += life.size;
            if bytes < below {
                return Some(idx as u32);
            }
        }
    }
    None
}

/// How long the block under the pointer lived.
fn paint_life(painter: &egui::Painter, tokens: &Tokens, scene: &Scene, look: &Look, plane: &Plane, hovered: Hovered) {
    let Some(life) = hovered.life.and_then(|idx| scene.life(idx)) else { return };
    let start = life.from.map_or(0, |from| from as usize + 1).max(look.from);
    let end = life.freed.map_or(scene.n_events(), |freed| freed as usize + 1).min(look.until);
    let x = |moment: usize| plane.pos(moment as f64, 0.0).map(|at| at.x);
    let (Some(left), Some(right)) = (x(start), x(end)) else { return };
    let y = plane.rect.bottom() + tokens.px(3.0);
    painter.hline(left..=right.max(left + 2.0), y, tokens.stroke(4.0, tokens.accent));
}

fn paint_phases(painter: &egui::Painter, tokens: &Tokens, scene: &Scene, look: &Look, plot: Rect) {
    let bottom = plot.top() - tokens.px(8.0);
    let x = |moment: usize| {
        let share = (moment as f64 - look.from as f64) / look.span() as f64;
        plot.left() + plot.width() * share.clamp(0.0, 1.0) as f32
    };
    let mut free_from = plot.left();
    for phase in &scene.analysis.steps.phases {
        if phase.until < look.from || phase.from > look.until {
            continue;
        }
        let (left, right) = (x(phase.from), x(phase.until));
        painter.hline(left..=right.max(left + 1.0), bottom, tokens.stroke(3.0, tokens.muted));
        let text = painter.layout_no_wrap(phase.name.clone(), tokens.font(Type::Small), tokens.muted);
        if left >= free_from && left + text.size().x <= plot.right() {
            free_from = left + text.size().x + tokens.px(12.0);
            painter.galley(pos2(left, bottom - tokens.px(2.0) - text.size().y), text, tokens.muted);
        }
    }
}

fn at_words(scene: &Scene, at: usize, lang: Lang) -> String {
    let allocated = scene.analysis.timeline.allocated.value(at);
    format!("{}: {}", moment(scene, at, lang), show::bytes_binary(Bytes(allocated)))
}

fn tooltip(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, hovered: Hovered) {
    let line = |ui: &mut Ui, text: &str, role: Type, color: Color32| {
        ui.label(egui::RichText::new(text).font(tokens.font(role)).color(color));
    };
    ui.set_max_width(tokens.px(420.0));
    if let Some(band) = scene.bands.all.get(hovered.band) {
        let size = show::bytes_binary(Bytes(band.value(hovered.moment)));
        let words = BAND.get(lang).replace("{name}", band.label.get(lang)).replace("{size}", &size);
        line(ui, &words, Type::NoteStrong, tokens.ink);
    }
    if let Some(idx) = hovered.life {
        for text in life_lines(scene, idx, lang) {
            line(ui, &text, Type::Note, tokens.ink);
        }
        if let Some(life) = scene.life(idx) {
            for text in stack_lines(scene, life.stack, 8, lang) {
                line(ui, &text, Type::MonoSmall, tokens.muted);
            }
        }
    }
    line(ui, &at_words(scene, hovered.moment, lang), Type::Small, tokens.muted);
}

/// Size, lifetime and stream of a block.
pub fn life_lines(scene: &Scene, idx: u32, lang: Lang) -> Vec<String> {
    let Some(life) = scene.life(idx) else { return Vec::new() };
    let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let size = match life.size == life.requested {
        true => bytes(life.size),
        false => SIZE.get(lang).replace("{size}", &bytes(life.size)).replace("{asked}", &bytes(life.requested)),
    };
    let edge = |event: Option<u32>, absent: Text| match event {
        Some(event) => (event + 1).to_string(),
        None => absent.get(lang).to_owned(),
    };
    let lived = match (life.from, life.freed) {
        (Some(_), Some(_)) => {
            LIVED.get(lang).replace("{a}", &edge(life.from, BEFORE)).replace("{b}", &edge(life.freed, KEPT))
        }
        (from, gone) => format!("{} → {}", edge(from, BEFORE), edge(gone, KEPT)),
    };
    let stream = scene.snapshot.streams.get(life.stream as usize).copied().unwrap_or_default();
    vec![
        format!("{size} · 0x{:x}", life.address),
        format!("{lived} · {}", STREAM.get(lang).replace("{}", &stream.to_string())),
    ]
}
