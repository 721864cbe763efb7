//! Painting the timeline. It sees the scene, the window and the tokens, and decides nothing.

use super::columns::Column;
use super::lanes::Kind;
use super::look::{Look, Memory};
use super::timeline::Scene;
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, Shape, pos2};
use vramlab_kit::axis::{Axis, Plane, Spread};
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, show};

pub const LANE: f32 = 18.0;

/// Everything that painting reads.
pub struct Frame<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub scene: &'a Scene,
    pub look: &'a Look,
    pub columns: &'a [Column],
    /// Of each lane.
    pub shares: &'a [Vec<f32>],
    pub plot: Rect,
}

/// The unit of a range of bytes.
pub fn unit_of(most: u64) -> (f64, &'static str) {
    match most {
        0..1_048_576 => (1024.0, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576.0, "MiB"),
        _ => (1_073_741_824.0, "GiB"),
    }
}

/// Seconds, or what suits a shorter window.
fn time_unit(span_us: u64) -> (f64, &'static str) {
    match span_us {
        0..2_000 => (1.0, "µs"),
        2_000..2_000_000 => (1e3, "ms"),
        _ => (1e6, "s"),
    }
}

impl Frame<'_> {
    /// The plane of window and memory; nothing if the run holds nothing.
    pub fn plane(&self) -> Option<(Plane, f64, &'static str)> {
        let most = self.scene.most(self.look.memory).max(1);
        let (bytes, name) = unit_of(most);
        let (us, _) = time_unit(self.look.span());
        let x = Axis::new(Spread::Linear, self.look.from as f64 / us, self.look.until as f64 / us)?;
        let y = Axis::around(Spread::Binary, [0.0, most as f64 / bytes])?;
        Some((Plane { x, y, rect: self.plot }, bytes, name))
    }

    pub fn paint(&self) {
        let Some((plane, bytes, name)) = self.plane() else { return };
        let (_, unit) = time_unit(self.look.span());
        let y_text = |value: f64| show::with_unit(value, name);
        let x_text = |value: f64| show::with_unit(value, unit);
        // A window deep inside a long run needs more room for its numbers.
        let widest = [plane.x.min, plane.x.max]
            .map(|value| ink::text_width(self.painter, &x_text(value), self.tokens.font(Type::Small)));
        let room = widest[0].max(widest[1]) + self.tokens.px(16.0);
        let bare = |_: f64| String::new();
        plane.paint_grid(self.painter, self.tokens, &bare, &y_text);
        let below = Rect::from_min_max(self.plot.min, pos2(self.plot.right(), self.lanes_bottom()));
        let n = (self.plot.width() / room) as usize;
        Plane { rect: below, ..plane }.paint_columns(self.painter, self.tokens, &x_text, n.max(2));
        self.bands(&plane, bytes);
        if self.look.memory == Memory::Gpu {
            self.lines(&plane, bytes);
        }
        self.lanes();
        self.peak(&plane, bytes);
        self.cursor();
    }

    fn lanes_bottom(&self) -> f32 {
        let n = self.scene.lanes.len() as f32;
        let gap = if n > 0.0 { self.tokens.px(10.0) } else { 0.0 };
        self.plot.bottom() + gap + n * self.tokens.px(LANE)
    }

    fn x(&self, column: usize) -> f32 {
        self.plot.left() + self.plot.width() * column as f32 / self.columns.len().max(1) as f32
    }

    /// Memory by process, stacked; runs of equal columns are one rectangle.
    fn bands(&self, plane: &Plane, unit: f64) {
        let y = |bytes: u64| plane.pos(plane.x.min, bytes as f64 / unit).map_or(self.plot.bottom(), |at| at.y);
        let n_bands = self.scene.bands(self.look.memory).len();
        let mut start = 0;
        while start < self.columns.len() {
            let row = self.columns[start].row;
            let end =
                (start..self.columns.len()).find(|idx| self.columns[*idx].row != row).unwrap_or(self.columns.len());
            if let Some(row) = row {
                let mut below = 0_u64;
                for band in 0..n_bands {
                    let bytes = self.scene.value(self.look.memory, band, row).unwrap_or_default();
                    if bytes > 0 {
                        let low = pos2(self.x(start), y(below.saturating_add(bytes)));
                        let rect = Rect::from_min_max(low, pos2(self.x(end), y(below)));
                        self.painter.rect_filled(rect, 0.0, self.tokens.tint(self.tokens.category(band), 0.82));
                    }
                    below = below.saturating_add(bytes);
                }
            }
            start = end;
        }
    }

    /// The whole card dashed, and what the program itself allocated.
    fn lines(&self, plane: &Plane, unit: f64) {
        let y = |bytes: u64| plane.pos(plane.x.min, bytes as f64 / unit).map(|at| at.y);
        let used = &self.scene.profile.samples.used;
        let mut points: Vec<Pos2> = Vec::new();
        for (idx, column) in self.columns.iter().enumerate() {
            if let Some(at) = column.row.and_then(|row| used[row]).and_then(y) {
                step(&mut points, self.x(idx), at);
            }
        }
        let stroke = self.tokens.stroke(1.2, self.tokens.muted);
        ink::dashes(self.painter, &points, stroke, self.tokens.px(5.0), self.tokens.px(4.0));
        if self.scene.live.is_empty() {
            return;
        }
        let mut points: Vec<Pos2> = Vec::new();
        let n = self.columns.len();
        for idx in 0..n {
            let t = self.look.from as f64 + self.look.span() as f64 * (idx + 1) as f64 / n.max(1) as f64;
            if let Some(at) = y(self.scene.live.at((t * 1e3) as u64)) {
                step(&mut points, self.x(idx), at);
            }
        }
        self.painter.add(Shape::line(points, self.tokens.stroke(1.8, self.tokens.ink)));
    }

    fn lanes(&self) {
        let (tokens, painter) = (self.tokens, self.painter);
        let mut top = self.plot.bottom() + tokens.px(10.0);
        for (lane, shares) in self.scene.lanes.iter().zip(self.shares) {
            let height = tokens.px(LANE);
            let rect = Rect::from_min_max(pos2(self.plot.left(), top), pos2(self.plot.right(), top + height - 3.0));
            painter.rect_filled(rect, 2.0, tokens.sunken);
            let label = pos2(rect.left() - tokens.px(8.0), rect.center().y);
            let font = tokens.font(Type::Small);
            ink::text(painter, label, Align2::RIGHT_CENTER, lane.name().get(self.lang), font, tokens.muted);
            match lane.kind {
                Kind::Util => self.bars(rect, &self.util(), lane.color(tokens)),
                _ => self.bars(rect, shares, lane.color(tokens)),
            }
            top += height;
        }
    }

    fn util(&self) -> Vec<f32> {
        let all = &self.scene.util;
        self.columns.iter().map(|column| column.row.and_then(|row| all[row]).map_or(0.0, |util| util / 100.0)).collect()
    }

    /// Bars as high as the share; the least that is there is seen.
    fn bars(&self, rect: Rect, shares: &[f32], color: Color32) {
        let mut start = 0;
        while start < shares.len() {
            let share = shares[start];
            // The least that is there is not taken for nothing.
            let differs = |other: f32| (other - share).abs() > 0.01 || (other > 0.0) != (share > 0.0);
            let end = (start..shares.len()).find(|idx| differs(shares[*idx])).unwrap_or(shares.len());
            if share > 0.0 {
                let height = (rect.height() * share).max(2.0);
                let low = pos2(self.x(start), rect.bottom() - height);
                let right = self.x(end).max(self.x(start) + 1.0);
                self.painter.rect_filled(Rect::from_min_max(low, pos2(right, rect.bottom())), 0.0, color);
            }
            start = end;
        }
    }

    fn x_of(&self, t_us: u64) -> Option<f32> {
        let is_inside = (self.look.from..=self.look.until).contains(&t_us);
        let share = t_us.saturating_sub(self.look.from) as f32 / self.look.span() as f32;
        is_inside.then(|| self.plot.left() + self.plot.width() * share)
    }

    /// A mark where most memory was held, with its size.
    fn peak(&self, plane: &Plane, unit: f64) {
        let Some(peak) = self.scene.peak(self.look.memory) else { return };
        let (Some(x), Some(at)) = (self.x_of(peak.t_us), plane.pos(plane.x.min, peak.bytes as f64 / unit)) else {
            return;
        };
        let tokens = self.tokens;
        let center = pos2(x, at.y);
        self.painter.circle(center, tokens.px(4.0), tokens.surface, tokens.stroke(2.0, tokens.ink));
        let text = words::PEAK.get(self.lang).replace("{size}", &words::size(peak.bytes));
        let font = tokens.font(Type::NoteStrong);
        let is_right = x + ink::text_width(self.painter, &text, font.clone()) + tokens.px(16.0) > self.plot.right();
        let (anchor, dx) = if is_right { (Align2::RIGHT_BOTTOM, -8.0) } else { (Align2::LEFT_BOTTOM, 8.0) };
        ink::text(self.painter, center + egui::vec2(tokens.px(dx), -tokens.px(3.0)), anchor, text, font, tokens.ink);
    }

    fn cursor(&self) {
        if let Some(x) = self.x_of(self.look.cursor) {
            let line = [pos2(x, self.plot.top()), pos2(x, self.lanes_bottom())];
            self.painter.line_segment(line, self.tokens.stroke(1.5, self.tokens.accent));
        }
    }
}

/// A step to the right, then up or down.
fn step(points: &mut Vec<Pos2>, x: f32, y: f32) {
    if let Some(last) = points.last().copied()
        && (last.y - y).abs() > 0.01
    {
        points.push(pos2(x, last.y));
    }
    points.push(pos2(x, y));
}
