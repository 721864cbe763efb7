//! Geometry and picture of the lanes. Decides nothing.

use super::question::{MODES, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::kernels::launch_timeline::{Lanes, Mode};
use vramlab_units::Lang;
use vramlab_units::show::number;

const LANE: f32 = 34.0;
const GAP: f32 = 30.0;
const NAME: f32 = 44.0;
const HEAD: f32 = 20.0;
const AXIS: f32 = 26.0;
const BAR: f32 = 40.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub cpu: Rect,
    pub gpu: Rect,
    pub bars: [Rect; 3],
    /// The time at the right edge.
    pub span: f64,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, span: f64) -> Self {
        let px = |points: f32| points * scale;
        let left = origin.x + px(NAME);
        let wide = width - px(NAME) - px(8.0);
        let cpu = Rect::from_min_size(pos2(left, origin.y + px(HEAD)), vec2(wide, px(LANE)));
        let gpu = Rect::from_min_size(pos2(left, cpu.bottom() + px(GAP)), vec2(wide, px(LANE)));
        let first = gpu.bottom() + px(AXIS + 34.0);
        let bar = |idx: usize| Rect::from_min_size(pos2(left, first + idx as f32 * px(BAR)), vec2(wide, px(BAR)));
        let bars = [bar(0), bar(1), bar(2)];
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, bars[2].bottom()));
        Self { rect, cpu, gpu, bars, span: span.max(1e-9) }
    }

    pub fn x(&self, time: f64) -> f32 {
        self.cpu.left() + self.cpu.width() * (time / self.span) as f32
    }

    pub fn time_at(&self, at: Pos2) -> Option<f64> {
        let area = self.cpu.union(self.gpu);
        area.contains(at).then(|| f64::from((at.x - self.cpu.left()) / self.cpu.width()) * self.span)
    }

    pub fn mode_at(&self, at: Pos2) -> Option<Mode> {
        let idx = self.bars.iter().position(|bar| bar.with_min_x(self.rect.left()).contains(at))?;
        Some(MODES[idx])
    }
}

/// Steps of an axis: 1, 2 or 5 times a power of ten, at most `most` of them.
fn tick(span: f64, most: f64) -> f64 {
    let least = span / most;
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= least).unwrap_or(power * 10.0)
}

pub fn host(tokens: &Tokens) -> Color32 {
    tokens.category(4)
}

pub fn kernel(tokens: &Tokens) -> Color32 {
    tokens.category(0)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub lanes: &'a Lanes,
    pub ends: [f64; 3],
    pub over: Option<f64>,
    pub over_mode: Option<Mode>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axis();
        let Self { painter, tokens, geometry, lanes, .. } = self;
        for (lane, name) in [(geometry.cpu, words::CPU), (geometry.gpu, words::GPU)] {
            painter.rect_filled(lane, CornerRadius::same(3), tokens.sunken);
            let at = pos2(geometry.rect.left(), lane.center().y);
            let font = tokens.font(Type::NoteStrong);
            ink::text(painter, at, Align2::LEFT_CENTER, name.get(self.lang), font, tokens.ink);
        }
        self.links();
        for (from, to) in &lanes.waits {
            let rect = self.span(geometry.cpu, *from, *to).shrink2(vec2(0.0, tokens.px(9.0)));
            painter.rect(rect, 0, tokens.surface, tokens.stroke(1.0, tokens.muted), StrokeKind::Inside);
        }
        for (lane, spans, color) in
            [(geometry.cpu, &lanes.launches, host(tokens)), (geometry.gpu, &lanes.kernels, kernel(tokens))]
        {
            let rects: Vec<Rect> = spans.iter().map(|(from, to)| self.span(lane, *from, *to)).collect();
            self.blocks(&rects, color);
        }
        self.bars();
        if let Some(time) = self.over {
            let x = geometry.x(time);
            let reach = geometry.cpu.top() - tokens.px(6.0)..=geometry.gpu.bottom() + tokens.px(6.0);
            painter.vline(x, reach, tokens.stroke(1.2, tokens.accent));
        }
    }

    fn span(&self, lane: Rect, from: f64, to: f64) -> Rect {
        let (left, right) = (self.geometry.x(from), self.geometry.x(to));
        Rect::from_min_max(pos2(left, lane.top() + 2.0), pos2(right.max(left + 1.0), lane.bottom() - 2.0))
    }

    /// Blocks, parted by a hair, all with their numbers if the last one's fits.
    fn blocks(&self, rects: &[Rect], color: Color32) {
        let Self { painter, tokens, .. } = self;
        let font = tokens.font(Type::MonoSmall);
        let widest = ink::text_width(painter, &rects.len().to_string(), font.clone()) + 4.0;
        let has_numbers = rects.iter().all(|rect| rect.width() >= widest);
        for (idx, rect) in rects.iter().enumerate() {
            let inner = if rect.width() > 4.0 { rect.shrink2(vec2(0.6, 0.0)) } else { *rect };
            painter.rect_filled(inner, CornerRadius::same(2), tokens.tint(color, 0.82));
            if has_numbers {
                let number = (idx + 1).to_string();
                ink::text(painter, inner.center(), Align2::CENTER_CENTER, number, font.clone(), tokens.surface);
            }
        }
    }

    /// From the end of a launch to the start of its kernel: how long it lay in the queue.
    fn links(&self) {
        let Self { painter, tokens, geometry, lanes, .. } = self;
        let stroke = tokens.stroke(1.0, tokens.muted);
        for (idx, (from, _)) in lanes.kernels.iter().enumerate() {
            let launched = lanes.launches.get(idx).or(lanes.launches.first());
            let Some((_, sent)) = launched else { continue };
            let points = [pos2(geometry.x(*sent), geometry.cpu.bottom()), pos2(geometry.x(*from), geometry.gpu.top())];
            painter.add(Shape::line(points.to_vec(), stroke));
        }
    }

    fn axis(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let most = f64::from(geometry.cpu.width() / tokens.px(76.0)).max(2.0);
        let step = tick(geometry.span, most);
        let font = tokens.font(Type::Small);
        let mut at = 0;
        while f64::from(at) * step <= geometry.span * 1.0001 {
            let time = f64::from(at) * step;
            let x = geometry.x(time);
            painter.vline(x, geometry.cpu.top()..=geometry.gpu.bottom(), tokens.stroke(1.0, tokens.grid));
            let text = if at == 0 { "0 µs".to_owned() } else { number(time) };
            // A number at either end keeps to the figure.
            let half = ink::text_width(painter, &text, font.clone()) / 2.0;
            let x = x.min(geometry.rect.right() - half);
            let low = pos2(x, geometry.gpu.bottom() + tokens.px(5.0));
            let anchor = if at == 0 { Align2::LEFT_TOP } else { Align2::CENTER_TOP };
            ink::text(painter, low, anchor, text, font.clone(), tokens.muted);
            at += 1;
        }
    }

    fn bars(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let font = tokens.font(Type::NoteStrong);
        let at = pos2(geometry.rect.left(), geometry.bars[0].top() - tokens.px(6.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, words::ALL.get(*lang), font, tokens.ink);
        for (idx, mode) in MODES.into_iter().enumerate() {
            let (rect, end) = (geometry.bars[idx], self.ends[idx]);
            let is_chosen = mode == self.question.mode();
            let top = rect.top() + tokens.px(19.0);
            let bar = Rect::from_min_max(
                pos2(rect.left(), top),
                pos2(geometry.x(end).max(rect.left() + 1.0), top + tokens.px(13.0)),
            );
            let color = if is_chosen { kernel(tokens) } else { tokens.tint(kernel(tokens), 0.4) };
            painter.rect_filled(bar, CornerRadius::same(2), color);
            if self.over_mode == Some(mode) {
                painter.rect_stroke(bar, 2, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
            }
            let shade = if is_chosen { tokens.ink } else { tokens.muted };
            let role = if is_chosen { Type::NoteStrong } else { Type::Note };
            let y = rect.top() + tokens.px(9.0);
            let at = pos2(rect.left(), y);
            let name =
                ink::text(painter, at, Align2::LEFT_CENTER, words::mode(mode).get(*lang), tokens.font(role), shade);
            let at = pos2(name.right() + tokens.px(10.0), y);
            ink::text(painter, at, Align2::LEFT_CENTER, words::us(end), tokens.font(Type::MonoSmall), shade);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(tick(79.5, 8.0), 10.0);
        assert_eq!(tick(26.4, 4.0), 10.0);
        assert_eq!(tick(0.5, 8.0), 0.1);
    }

    #[test]
    fn a_time_is_found_where_it_is_drawn() {
        let geometry = Geometry::new(pos2(3.0, 7.0), 300.0, 1.0, 80.0);
        let at = pos2(geometry.x(20.0), geometry.gpu.center().y);
        assert!((geometry.time_at(at).unwrap() - 20.0).abs() < 1e-3);
        assert_eq!(geometry.mode_at(geometry.bars[2].center()), Some(Mode::Graph));
        assert!(geometry.bars.iter().all(|bar| geometry.rect.contains_rect(*bar)));
    }
}
