//! Two pictures: speed-up over draft length, and the best of it over acceptance and cost. They decide nothing.

use super::question::{CELLS, MOST, MOST_COST, Point, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Mesh, Painter, Pos2, Rect, Shape, pos2, vec2};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Axis, Palette, Plane, Spread, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

const HEIGHT: f32 = 250.0;
const HEAD: f32 = 26.0;
const LEFT: f32 = 44.0;
const BELOW: f32 = 40.0;
const GAP: f32 = 30.0;
const NARROW: f32 = 640.0;

#[derive(Clone, Debug)]
pub struct Geometry {
    pub rect: Rect,
    pub curve: Plane,
    pub map: Plane,
}

fn axis(min: f64, max: f64) -> Axis {
    Axis::new(Spread::Linear, min, max).unwrap_or(Axis { spread: Spread::Linear, min: 0.0, max: 1.0 })
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, curve: &[Point]) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let each = if is_narrow { width } else { (width - px(GAP)) * 0.58 };
        let plot = |at: Pos2, width: f32| {
            let top = at + vec2(px(LEFT), px(HEAD));
            Rect::from_min_size(top, vec2(width - px(LEFT + 10.0), px(HEIGHT)))
        };
        let whole = px(HEAD + HEIGHT + BELOW);
        let second =
            if is_narrow { pos2(origin.x, origin.y + whole) } else { pos2(origin.x + each + px(GAP), origin.y) };
        let second_width = if is_narrow { width } else { width - each - px(GAP) };
        let values = curve.iter().flat_map(|point| [point.speedup, point.free]).chain([0.0, 1.4]);
        let y = Axis::around(Spread::Linear, values).unwrap_or(axis(0.0, 1.0));
        let height = if is_narrow { whole * 2.0 } else { whole };
        Self {
            rect: Rect::from_min_size(origin, vec2(width, height)),
            curve: Plane { x: axis(-0.5, f64::from(MOST) + 0.5), y, rect: plot(origin, each) },
            map: Plane { x: axis(0.0, 1.0), y: axis(0.0, MOST_COST), rect: plot(second, second_width) },
        }
    }

    pub fn gamma_at(&self, at: Pos2) -> u32 {
        let share = f64::from((at.x - self.curve.rect.left()) / self.curve.rect.width());
        self.curve.x.value_from_share(share).round().clamp(0.0, f64::from(MOST)) as u32
    }

    /// Acceptance and cost, to a hundredth.
    pub fn setting_at(&self, at: Pos2) -> (f64, f64) {
        let rect = self.map.rect;
        let share = |value: f32, most: f64| (f64::from(value.clamp(0.0, 1.0)) * most * 100.0).round() / 100.0;
        (share((at.x - rect.left()) / rect.width(), 1.0), share((rect.bottom() - at.y) / rect.height(), MOST_COST))
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub curve: &'a [Point],
    pub map: &'a [f64],
    pub hovered: Option<u32>,
}

/// Faster than plain decoding by up to this factor has its own shade.
const TOP: f64 = 5.0;

pub fn shade(tokens: &Tokens, speedup: f64) -> Color32 {
    let share = ((speedup - 1.0) / (TOP - 1.0)).clamp(0.0, 1.0) as f32;
    if speedup <= 1.0 + 1e-9 {
        tokens.tint(tokens.muted, 0.14)
    } else {
        tokens.magnitude(Palette::Viridis, 0.15 + share * 0.85)
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.head(&self.geometry.curve, words::SPEEDUP.get(self.lang), words::LENGTH.get(self.lang));
        self.dear();
        self.geometry.curve.paint_grid(self.painter, self.tokens, &whole, &number);
        self.lines();
        self.head(&self.geometry.map, words::COST.get(self.lang), words::ALPHA.get(self.lang));
        self.geometry.map.paint_grid(self.painter, self.tokens, &number, &number);
        self.cells();
        self.point();
    }

    /// The name of the upright axis above it, of the other below it, at the right.
    fn head(&self, plane: &Plane, above: &str, below: &str) {
        let Self { painter, tokens, .. } = self;
        let font = tokens.font(Type::Small);
        let at = plane.rect.left_top() - vec2(tokens.px(LEFT - 4.0), tokens.px(6.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, above, font.clone(), tokens.muted);
        let at = pos2(plane.rect.right(), plane.rect.bottom() + tokens.px(38.0));
        ink::text(painter, at, Align2::RIGHT_BOTTOM, below, font, tokens.muted);
    }

    /// Where a check takes longer than a step.
    fn dear(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let Some(first) = question.first_dear() else { return };
        let plane = &geometry.curve;
        let Some(from) = plane.pos(f64::from(first) - 0.5, plane.y.min) else { return };
        let part = plane.rect.with_min_x(from.x);
        area(painter, tokens, part, Area::CachedFree);
        let font = tokens.font(Type::Small);
        let text = words::DEAR.get(*lang);
        let at = pos2(plane.rect.right() - tokens.px(4.0), plane.rect.top() + tokens.px(4.0));
        ink::text_on(painter, at, Align2::RIGHT_TOP, text, font, tokens.caution, tokens.surface);
    }

    fn lines(&self) {
        let Self { painter, tokens, geometry, curve, question, hovered, lang, .. } = self;
        let plane = &geometry.curve;
        let place = |gamma: usize, value: f64| plane.pos(gamma as f64, value);
        if let (Some(from), Some(to)) = (plane.pos(plane.x.min, 1.0), plane.pos(plane.x.max, 1.0)) {
            painter.line_segment([from, to], tokens.stroke(1.5, tokens.bad));
            let (at, font) = (from + vec2(tokens.px(14.0), tokens.px(4.0)), tokens.font(Type::Small));
            ink::text_on(painter, at, Align2::LEFT_TOP, words::PLAIN.get(*lang), font, tokens.bad, tokens.surface);
        }
        let of = |value: fn(&Point) -> f64| -> Vec<Pos2> {
            curve.iter().enumerate().filter_map(|(gamma, point)| place(gamma, value(point))).collect()
        };
        let free = of(|point| point.free);
        ink::dashes(painter, &free, tokens.stroke(1.5, tokens.muted), tokens.px(5.0), tokens.px(4.0));
        let line = of(|point| point.speedup);
        painter.line(line.clone(), tokens.stroke(1.8, tokens.ink));
        let best = question.best() as usize;
        for (gamma, at) in line.iter().enumerate() {
            let is_picked = gamma as u32 == question.gamma;
            let radius = tokens.px(if is_picked { 6.5 } else { 3.5 });
            painter.circle(
                *at,
                radius,
                if is_picked { tokens.accent } else { tokens.surface },
                tokens.stroke(1.6, tokens.ink),
            );
            if *hovered == Some(gamma as u32) {
                painter.circle_stroke(*at, tokens.px(9.0), tokens.stroke(1.2, tokens.accent));
            }
        }
        let Some(at) = line.get(best) else { return };
        painter.circle_stroke(*at, tokens.px(9.5), tokens.stroke(1.6, tokens.good));
        let text = match lang {
            Lang::Zh => format!("最好 γ = {best} · {}", words::times(curve[best].speedup)),
            Lang::En => format!("best γ = {best} · {}", words::times(curve[best].speedup)),
        };
        let font = tokens.font(Type::NoteStrong);
        let width = ink::text_width(painter, &text, font.clone());
        let x = at.x.clamp(plane.rect.left() + width / 2.0, plane.rect.right() - width / 2.0);
        // Above the highest point, where the line does not go; below it at the upper edge.
        let is_high = at.y - tokens.px(34.0) < plane.rect.top();
        let (dy, anchor) = if is_high { (14.0, Align2::CENTER_TOP) } else { (-13.0, Align2::CENTER_BOTTOM) };
        let at = pos2(x, at.y + tokens.px(dy));
        ink::text_on(painter, at, anchor, text, font, tokens.good, tokens.surface);
    }

    fn cells(&self) {
        let Self { painter, tokens, geometry, map, .. } = self;
        let rect = geometry.map.rect;
        let (columns, rows) = CELLS;
        let size = vec2(rect.width() / columns as f32, rect.height() / rows as f32);
        let mut mesh = Mesh::default();
        for (idx, speedup) in map.iter().enumerate() {
            let (column, row) = (idx % columns, idx / columns);
            let at = pos2(rect.left() + size.x * column as f32, rect.bottom() - size.y * (row as f32 + 1.0));
            // A little larger than the cell, so that no seam shows.
            mesh.add_colored_rect(Rect::from_min_size(at, size + vec2(0.5, 0.5)), shade(tokens, *speedup));
        }
        painter.add(Shape::mesh(mesh));
    }

    fn point(&self) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let Some(at) = geometry.map.pos(question.alpha, question.cost.min(MOST_COST)) else { return };
        painter.circle(at, tokens.px(8.0), tokens.surface, tokens.stroke(2.0, tokens.accent));
        painter.circle_filled(at, tokens.px(3.5), tokens.accent);
        let text = words::times(question.draft().speedup(question.best()));
        let is_right = at.x < geometry.map.rect.center().x;
        let (dx, anchor) = if is_right { (13.0, Align2::LEFT_CENTER) } else { (-13.0, Align2::RIGHT_CENTER) };
        let font = tokens.font(Type::NoteStrong);
        ink::text_on(painter, at + vec2(tokens.px(dx), 0.0), anchor, text, font, tokens.ink, tokens.surface);
    }
}

fn whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { format!("{value:.0}") } else { String::new() }
}
