//! Predicting by drawing: an empty plot on which the reader puts a value at each place of the sweep before anything is
//! revealed. What comes out are [`ReaderMark`]s, which the chart of the run then shows beside the truth.

use super::data::{Axis, ChartData, ReaderMark};
use super::layout::{Frame, Window};
use super::paint::Brush;
use super::{Margins, plot_height};
use crate::ink;
use egui::{Align2, EventFilter, Key, Pos2, Response, Sense, Stroke, Ui, WidgetInfo, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, Localized, Text, show};

const HINT: Text = Text::new("在图上拖动，画出你的预测", "Drag across the plot to draw your prediction");

/// What may be drawn: the places of the sweep and the range of values, which must not give the answer away.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    pub x: Axis,
    pub y: Axis,
    /// The places at which a value is asked for, in ascending order.
    pub xs: Vec<f64>,
    pub y_low: f64,
    pub y_high: f64,
    /// The question in words: what a screen reader hears.
    pub ask: Localized,
}

impl Sketch {
    /// Shows the plot and lets the reader draw. The response says `changed()` when a mark was set.
    pub fn ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang, marks: &mut Vec<ReaderMark>) -> Response {
        let data = self.data(marks);
        let window = self.window();
        let width = ui.available_width().max(tokens.px(200.0));
        let margins = Margins::new(ui, tokens, lang, &data, &window, width);
        let size = vec2(width, margins.top + plot_height(tokens, width) + margins.bottom);
        let (rect, mut response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let frame = Frame { plot: margins.plot(rect), window: &window, x: &self.x.scale, y: &self.y.scale };
        let before = marks.clone();
        self.draw(ui, &response, &frame, marks);
        self.keys(ui, &response, marks);
        if *marks != before {
            response.mark_changed();
        }
        let brush = Brush { painter: &ui.painter_at(rect.expand(2.0)), tokens, lang };
        self.paint(&brush, &frame, &self.data(marks), &margins, rect);
        if response.has_focus() {
            brush.outline(rect);
        }
        self.paint_cursor(ui, &brush, &frame, &response, marks);
        let spoken = self.spoken(marks, cursor(ui, &response), lang);
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Figure, true, &spoken));
        response
    }

    /// The curve as it was drawn, to be looked at.
    pub fn show(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang, marks: &[ReaderMark]) -> Response {
        let data = self.data(marks);
        let window = self.window();
        let width = ui.available_width().max(tokens.px(200.0));
        let margins = Margins::new(ui, tokens, lang, &data, &window, width);
        let size = vec2(width, margins.top + plot_height(tokens, width) * 0.8 + margins.bottom);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let frame = Frame { plot: margins.plot(rect), window: &window, x: &self.x.scale, y: &self.y.scale };
        let brush = Brush { painter: &ui.painter_at(rect.expand(2.0)), tokens, lang };
        self.paint(&brush, &frame, &data, &margins, rect);
        let all: Vec<String> = marks
            .iter()
            .map(|mark| format!("{}: {}", self.x.exact(mark.x), show::measured(mark.y, &self.y.unit)))
            .collect();
        let spoken = format!("{} {}", self.ask.get(lang), all.join("; "));
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Figure, true, &spoken));
        response
    }

    fn data(&self, marks: &[ReaderMark]) -> ChartData {
        ChartData {
            x: self.x.clone(),
            y: self.y.clone(),
            reader: marks.to_vec(),
            finding: self.ask.clone(),
            ..ChartData::default()
        }
    }

    /// Which place the pointer or the keyboard is at, and what stands there.
    fn paint_cursor(&self, ui: &Ui, brush: &Brush<'_>, frame: &Frame<'_>, response: &Response, marks: &[ReaderMark]) {
        let Brush { painter, tokens, .. } = brush;
        let pointed = response.hover_pos().and_then(|pos| self.nearest(frame, pos));
        let Some(idx) = pointed.or_else(|| response.has_focus().then(|| cursor(ui, response))) else { return };
        let Some((x, place)) = self.xs.get(idx).and_then(|x| Some((*x, frame.x_from_value(*x)?))) else { return };
        painter.vline(painter.round_to_pixel_center(place), frame.plot.y_range(), tokens.stroke(1.0, tokens.accent));
        let mark = marks.iter().find(|mark| mark.x == x);
        let pos = mark.and_then(|mark| frame.point(mark.x, mark.y));
        if let Some(pos) = pos {
            brush.ring(pos);
        }
        let value = mark.map_or_else(|| "–".to_owned(), |mark| show::measured(mark.y, &self.y.unit));
        let lines = [(value, ink::Shade::Ink), (self.x.exact(x), ink::Shade::Muted)];
        let anchor = pos.unwrap_or(Pos2::new(place, frame.plot.center().y));
        ink::info_box(painter, tokens, frame.plot, anchor, &lines);
    }

    fn window(&self) -> Window {
        Window {
            x: self.x.scale.fit(self.xs.iter().copied(), 0.035),
            y: self.y.scale.fit([self.y_low, self.y_high], 0.04),
        }
    }

    fn paint(&self, brush: &Brush<'_>, frame: &Frame<'_>, data: &ChartData, margins: &Margins, rect: egui::Rect) {
        let Brush { painter, tokens, lang } = brush;
        for x in self.xs.iter().filter_map(|x| frame.x_from_value(*x)) {
            let x = painter.round_to_pixel_center(x);
            painter.vline(x, frame.plot.y_range(), Stroke::new(1.0, tokens.grid));
        }
        brush.axes(frame, data);
        margins.legend_ui(brush, rect, data, frame);
        brush.reader(frame, data);
        if data.reader.is_empty() {
            let font = tokens.font(Type::Note);
            ink::text_on(
                painter,
                frame.plot.center(),
                Align2::CENTER_CENTER,
                HINT.get(*lang),
                font,
                tokens.muted,
                tokens.surface,
            );
        }
    }

    /// The pointer sets every place that it passes since the last frame.
    fn draw(&self, ui: &Ui, response: &Response, frame: &Frame<'_>, marks: &mut Vec<ReaderMark>) {
        let Some(to) =
            response.interact_pointer_pos().filter(|_| response.is_pointer_button_down_on() || response.clicked())
        else {
            return;
        };
        response.request_focus();
        let from = match (response.drag_started(), response.dragged()) {
            (true, _) => ui.input(|input| input.pointer.press_origin()).unwrap_or(to),
            (_, true) => to - ui.input(|input| input.pointer.delta()),
            _ => to,
        };
        let nearest = self.nearest(frame, to);
        for (idx, x) in self.xs.iter().enumerate() {
            let Some(place) = frame.x_from_value(*x) else { continue };
            let is_passed = (from.x.min(to.x)..=from.x.max(to.x)).contains(&place);
            if is_passed || Some(idx) == nearest {
                let y = y_at(from, to, place).clamp(frame.plot.top(), frame.plot.bottom());
                let share = frame.shares(Pos2::new(place, y)).1;
                let axis = frame.window.y.start() + (frame.window.y.end() - frame.window.y.start()) * share;
                set(marks, *x, self.y.scale.from_axis(axis).clamp(self.y_low, self.y_high));
            }
        }
    }

    fn nearest(&self, frame: &Frame<'_>, pos: Pos2) -> Option<usize> {
        let distance = |x: f64| frame.x_from_value(x).map_or(f32::INFINITY, |place| (place - pos.x).abs());
        (0..self.xs.len()).min_by(|a, b| distance(self.xs[*a]).total_cmp(&distance(self.xs[*b])))
    }

    /// Left, right, Home and End choose the place; up and down raise and lower its value by a twentieth of the range,
    /// with Page keys by a quarter; Delete takes it away.
    fn keys(&self, ui: &Ui, response: &Response, marks: &mut Vec<ReaderMark>) {
        if !response.has_focus() || self.xs.is_empty() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let presses = |key| ui.input(|input| input.num_presses(key)) as i64;
        let last = self.xs.len() as i64 - 1;
        let ends = last * (presses(Key::End) - presses(Key::Home)).signum();
        let sideways = presses(Key::ArrowRight) - presses(Key::ArrowLeft) + ends;
        let paged = presses(Key::PageUp) - presses(Key::PageDown);
        let upwards = presses(Key::ArrowUp) - presses(Key::ArrowDown) + 5 * paged;
        let at = (cursor(ui, response) as i64 + sideways).clamp(0, last) as usize;
        ui.data_mut(|data| data.insert_temp(response.id, at));
        if presses(Key::Delete) + presses(Key::Backspace) > 0 {
            marks.retain(|mark| mark.x != self.xs[at]);
        }
        let scale = &self.y.scale;
        if let (true, Some(low), Some(high)) = (upwards != 0, scale.to_axis(self.y_low), scale.to_axis(self.y_high)) {
            let known = marks.iter().find(|mark| mark.x == self.xs[at]).and_then(|mark| scale.to_axis(mark.y));
            let place = known.unwrap_or(f64::midpoint(low, high)) + (high - low) / 20.0 * upwards as f64;
            set(marks, self.xs[at], scale.from_axis(place.clamp(low, high)));
        }
    }

    fn spoken(&self, marks: &[ReaderMark], at: usize, lang: Lang) -> String {
        let mut text = self.ask.get(lang).to_owned();
        if let Some(x) = self.xs.get(at) {
            let y = marks
                .iter()
                .find(|mark| mark.x == *x)
                .map_or("–".to_owned(), |mark| show::measured(mark.y, &self.y.unit));
            text.push_str(&format!(" {} {}: {y}", self.x.label.get(lang), self.x.exact(*x)));
        }
        text
    }
}

/// The place that the keyboard is at.
fn cursor(ui: &Ui, response: &Response) -> usize {
    ui.data(|data| data.get_temp(response.id)).unwrap_or_default()
}

fn set(marks: &mut Vec<ReaderMark>, x: f64, y: f64) {
    match marks.iter_mut().find(|mark| mark.x == x) {
        Some(mark) => mark.y = y,
        None => {
            marks.push(ReaderMark { x, y, curve: 0 });
            marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
    }
}

/// The height of the stroke from `from` to `to` at `x`.
fn y_at(from: Pos2, to: Pos2, x: f32) -> f32 {
    let share = (x - from.x) / (to.x - from.x);
    if share.is_finite() { from.y + (to.y - from.y) * share.clamp(0.0, 1.0) } else { to.y }
}
