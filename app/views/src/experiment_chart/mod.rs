//! The chart of an experiment: predicted against measured, one figure for live, recent and recorded runs alike.
//!
//! Read `data.rs` (what it shows) first. `scale.rs` and `layout.rs` are pure geometry; `paint.rs` draws. The chart keeps
//! only what is in sight and which point is picked; the shell's experiment card owns the data.

mod data;
mod layout;
mod paint;
mod readout;
mod scale;
mod sketch;

pub use data::{
    Axis, Band, Ceiling, ChartData, Measured, PERMILLE, Predicted, ReaderGap, ReaderMark, Series, SeriesColor,
};
pub(crate) use layout::spread_labels;
pub use scale::{Scale, Tick};
pub use sketch::Sketch;

use crate::ink;
use egui::{Event, EventFilter, Key, Rect, Response, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use layout::{Frame, Picked, Window};
use paint::Brush;
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

/// The state of one chart on screen.
#[derive(Clone, Debug, Default)]
pub struct ExperimentChart {
    /// What is in sight; everything until the reader zooms.
    window: Option<Window>,
    /// The point under the keyboard's cursor.
    cursor: Option<Picked>,
}

impl ExperimentChart {
    /// Paints the chart across the available width and lets the reader look closer. The plain wheel belongs to the page
    /// until the chart has the focus; Ctrl + wheel zooms under the pointer; a double click shows everything again.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, data: &ChartData) -> Response {
        let width = ui.available_width().max(tokens.px(200.0));
        let plot_height = plot_height(tokens, width);
        let fitted = Window::fit(data);
        let margins = Margins::new(ui, tokens, lang, data, &fitted, width);
        let size = vec2(width, margins.top + plot_height + margins.bottom);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let plot = margins.plot(rect);
        let response = self.steer(ui, response, plot, data);
        let window = self.window.as_ref().unwrap_or(&fitted);
        let frame = Frame { plot, window, x: &data.x.scale, y: &data.y.scale };
        let hovered = response.hover_pos().and_then(|pos| layout::nearest(data, &frame, pos, tokens.px(22.0)));
        let picked = hovered.or(self.cursor.filter(|_| response.has_focus()));
        if ui.is_rect_visible(rect) {
            let brush = Brush { painter: &ui.painter_at(rect.expand(2.0)), tokens, lang };
            self.paint(&brush, &frame, rect, data, picked, response.has_focus());
            margins.legend_ui(&brush, rect, data, &frame);
        }
        let spoken = readout::spoken(data, picked, lang);
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Figure, true, &spoken));
        response
    }

    /// Shows everything again.
    pub fn reset_view(&mut self) {
        self.window = None;
    }

    pub fn is_zoomed(&self) -> bool {
        self.window.is_some()
    }

    fn paint(
        &self,
        brush: &Brush<'_>,
        frame: &Frame<'_>,
        rect: Rect,
        data: &ChartData,
        picked: Option<Picked>,
        focus: bool,
    ) {
        let inside =
            Brush { painter: &brush.painter.with_clip_rect(frame.plot.expand(brush.tokens.px(9.0))), ..*brush };
        inside.bands(frame, data);
        brush.axes(frame, data);
        inside.ceilings(frame, data);
        inside.series(frame, data);
        if let Some((picked, pos)) = picked.and_then(|picked| Some((picked, layout::place_of(data, frame, picked)?))) {
            inside.ring(pos);
            let lines = readout::lines(brush.lang, data, picked);
            ink::info_box(brush.painter, brush.tokens, frame.plot, pos, &lines);
        }
        if focus {
            brush.outline(rect);
        }
    }

    /// Keyboard and pointer.
    fn steer(&mut self, ui: &Ui, response: Response, plot: Rect, data: &ChartData) -> Response {
        let response = if response.has_focus() { response.interact(Sense::click_and_drag()) } else { response };
        if response.clicked() {
            response.request_focus();
        }
        if response.double_clicked() {
            self.reset_view();
        }
        if let Some(pos) = response.hover_pos() {
            let zoom = ui.input(egui::InputState::zoom_delta);
            if zoom != 1.0 {
                self.change(data, |window, frame| window.zoom(f64::from(zoom), frame.shares(pos)), plot);
            }
        }
        if response.has_focus() {
            self.keys(ui, &response, data);
            let scroll = if response.hovered() { take_scroll(ui) } else { Vec2::ZERO };
            let moved = scroll + response.drag_delta();
            if moved != Vec2::ZERO {
                let (right, up) = (f64::from(-moved.x / plot.width()), f64::from(moved.y / plot.height()));
                self.change(data, |window, _| window.pan(right, up), plot);
            }
        }
        response
    }

    fn change(&mut self, data: &ChartData, change: impl FnOnce(&mut Window, &Frame<'_>), plot: Rect) {
        let mut window = self.window.clone().unwrap_or_else(|| Window::fit(data));
        let before = window.clone();
        change(&mut window, &Frame { plot, window: &before, x: &data.x.scale, y: &data.y.scale });
        self.window = Some(window);
    }

    /// Arrows walk the points, Home shows everything, W A S D (by place on the keyboard) zoom and pan.
    fn keys(&mut self, ui: &Ui, response: &Response, data: &ChartData) {
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed: Vec<Key> = ui.input(|input| {
            let key = |event: &Event| match event {
                Event::Key { key, physical_key, pressed: true, modifiers, .. } if !modifiers.any() => {
                    Some(physical_key.unwrap_or(*key))
                }
                _ => None,
            };
            input.events.iter().filter_map(key).collect()
        });
        for key in pressed {
            match key {
                Key::ArrowRight | Key::ArrowDown => self.cursor = next(data, self.cursor, 1),
                Key::ArrowLeft | Key::ArrowUp => self.cursor = next(data, self.cursor, -1),
                Key::Home | Key::Num0 => self.reset_view(),
                Key::W => self.change(data, |window, _| window.zoom(1.25, (0.5, 0.5)), Rect::ZERO),
                Key::S => self.change(data, |window, _| window.zoom(0.8, (0.5, 0.5)), Rect::ZERO),
                Key::A => self.change(data, |window, _| window.pan(-0.1, 0.0), Rect::ZERO),
                Key::D => self.change(data, |window, _| window.pan(0.1, 0.0), Rect::ZERO),
                _ => {}
            }
        }
    }
}

/// The point `step` places on, in reading order; the first one if none is picked yet.
fn next(data: &ChartData, cursor: Option<Picked>, step: i64) -> Option<Picked> {
    let all = layout::pickable(data);
    let at = cursor.and_then(|cursor| all.iter().position(|picked| *picked == cursor));
    let idx = match at {
        Some(at) => (at as i64 + step).rem_euclid(all.len() as i64) as usize,
        None => 0,
    };
    all.get(idx).copied()
}

/// Takes the wheel away from the page for this frame.
fn take_scroll(ui: &Ui) -> Vec2 {
    ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta))
}

fn plot_height(tokens: &Tokens, width: f32) -> f32 {
    (width * 0.27).clamp(tokens.px(170.0), tokens.px(260.0))
}

/// The room around the plot.
struct Margins {
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
    /// Series names stand at the ends of their lines; else they are in the legend.
    has_direct_labels: bool,
}

impl Margins {
    fn new(ui: &Ui, tokens: &Tokens, lang: Lang, data: &ChartData, window: &Window, width: f32) -> Self {
        let mono = tokens.font(Type::MonoSmall);
        let ticks = data.y.ticks(&window.y, 8);
        let widest =
            ticks.iter().map(|tick| ink::text_width(ui.painter(), &tick.label, mono.clone())).fold(0.0, f32::max);
        let small = tokens.font(Type::Small);
        let name = |series: &Series| ink::text_width(ui.painter(), series.label.get(lang), small.clone());
        let names = data.series.iter().map(name).fold(0.0, f32::max);
        let has_direct_labels = data.series.len() > 1 && names < width * 0.22 && !layout::is_bars(data);
        let rows = readout::legend(data, lang, !has_direct_labels);
        let is_one_row = legend_width(ui.painter(), tokens, &rows) < width * 0.6;
        let left = widest + tokens.px(14.0);
        let right = if has_direct_labels { names + tokens.space.s } else { tokens.px(12.0) };
        Self {
            left,
            right,
            top: if is_one_row {
                tokens.px(30.0)
            } else {
                tokens.px(30.0) + legend_rows(ui.painter(), tokens, &rows, width)
            },
            bottom: paint::names_height(ui.painter(), tokens, data, width - left - right) + tokens.px(20.0),
            has_direct_labels,
        }
    }

    fn plot(&self, rect: Rect) -> Rect {
        let min = pos2(rect.left() + self.left, rect.top() + self.top);
        Rect::from_min_max(min, pos2(rect.right() - self.right, rect.bottom() - self.bottom))
    }

    /// The title of the y axis, the legend, and the names at the ends of the lines.
    fn legend_ui(&self, brush: &Brush<'_>, rect: Rect, data: &ChartData, frame: &Frame<'_>) {
        let tokens = brush.tokens;
        let small = tokens.font(Type::Small);
        ink::text(
            brush.painter,
            rect.left_top(),
            egui::Align2::LEFT_TOP,
            data.y.title(brush.lang),
            small,
            tokens.muted,
        );
        let items = readout::legend(data, brush.lang, !self.has_direct_labels);
        let width = legend_width(brush.painter, tokens, &items);
        let one_row = self.top <= tokens.px(30.5);
        let start = if one_row {
            pos2(rect.right() - width, rect.top())
        } else {
            pos2(rect.left(), rect.top() + tokens.px(20.0))
        };
        readout::legend_paint(brush, data, &items, start, rect.right());
        if self.has_direct_labels {
            brush.direct_labels(frame, data);
        }
    }
}

fn legend_width(painter: &egui::Painter, tokens: &Tokens, items: &[readout::LegendItem]) -> f32 {
    items.iter().map(|item| readout::item_width(painter, tokens, item)).sum()
}

fn legend_rows(painter: &egui::Painter, tokens: &Tokens, items: &[readout::LegendItem], width: f32) -> f32 {
    let mut rows = 1.0;
    let mut x = 0.0;
    for item in items {
        let needed = readout::item_width(painter, tokens, item);
        if x > 0.0 && x + needed > width {
            rows += 1.0;
            x = 0.0;
        }
        x += needed;
    }
    rows * tokens.px(19.0)
}
