//! Painting the roofline. It sees the answer, the geometry, the roofs and the tokens, and decides nothing.

use super::answer::Answered;
use super::layout::{Geometry, Hit};
use super::question::Tier;
use super::roofs::OtherRoof;
use super::words;
use crate::ink;
use egui::epaint::TextShape;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub answer: &'a Answered,
    /// The compute ceiling's name and value.
    pub peak_label: &'a str,
    /// The counting roof is measured: drawn solid; published ones are dashed.
    pub is_measured: bool,
    pub others: &'a [OtherRoof],
    /// The measured rate differs from the attainable one.
    pub has_measured: bool,
    pub kernel: &'a str,
    pub card: &'a str,
    /// A product is named with its batch.
    pub is_product: bool,
    pub batch: u64,
    pub picked: Option<Hit>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axes();
        self.ground();
        for other in self.others {
            self.other(*other);
        }
        self.roofs();
        self.ridge();
        self.sides();
        self.trail();
        self.headroom();
        self.dots();
        self.no_flops();
        self.grips();
    }

    /// The colour of a level: near is dark, far is light.
    fn tier_color(&self, tier: Tier) -> Color32 {
        self.tokens.hierarchy(match tier {
            Tier::L1 => 1.0 / 6.0,
            Tier::L2 => 2.0 / 6.0,
            Tier::Hbm => 3.0 / 6.0,
        })
    }

    /// Three slopes with their rates need room; the readout has the rates as well.
    fn is_narrow(&self) -> bool {
        self.geometry.plane.rect.width() < self.tokens.px(400.0) && self.answer.dots.len() > 1
    }

    pub(super) fn hbm_gb_per_s(&self) -> f64 {
        self.answer.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes_per_s / 1e9)
    }

    fn axes(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        geometry.plane.paint_grid(painter, tokens, &number, &number);
        let font = tokens.font(Type::Small);
        let top = pos2(geometry.rect.left(), geometry.rect.top());
        let name = words::y_axis(self.card, *lang);
        ink::text(painter, top, Align2::LEFT_TOP, name, font.clone(), tokens.muted);
        let corner = geometry.rect.right_bottom();
        let [long, short] = words::x_axis(*lang);
        let is_room = ink::text_width(painter, long, font.clone()) <= geometry.rect.width();
        let name = if is_room { long } else { short };
        ink::text(painter, corner, Align2::RIGHT_BOTTOM, name, font, tokens.muted);
    }

    /// A breath of colour under the counting roof: what is possible.
    fn ground(&self) {
        let roof = self.geometry.roof(self.answer.peak_tflops, self.hbm_gb_per_s());
        let fill = self.tokens.tint(self.tokens.ink, 0.045);
        self.painter.add(Shape::convex_polygon(self.geometry.under(&roof), fill, Stroke::NONE));
    }

    pub(super) fn line(&self, points: &[Pos2], width: f32, color: Color32, is_measured: bool) {
        let stroke = self.tokens.stroke(width, color);
        if is_measured {
            self.painter.add(Shape::line(points.to_vec(), stroke));
        } else {
            ink::dashes(self.painter, points, stroke, self.tokens.px(7.0), self.tokens.px(4.0));
        }
    }

    fn roofs(&self) {
        let peak = self.answer.peak_tflops;
        for dot in self.answer.dots.iter().rev() {
            let gb_per_s = dot.level.bytes_per_s / 1e9;
            let slope = self.geometry.slope(peak, gb_per_s);
            let (width, color) = if dot.tier == Tier::Hbm {
                (2.4, self.tier_color(Tier::Hbm))
            } else {
                (1.6, self.tier_color(dot.tier))
            };
            let is_solid = self.is_measured || dot.tier == Tier::L2;
            self.line(&slope, width, color, is_solid);
            if self.answer.dots.len() == 1 {
                continue; // named by `sides`
            }
            let rate = if self.is_narrow() { String::new() } else { format!(" {}", words::rate(gb_per_s)) };
            let label = format!("{}{rate}", dot.tier.label());
            self.along(&slope, &label, dot.tier);
        }
        if self.answer.dots.is_empty() {
            return;
        }
        let roof = self.geometry.roof(peak, self.hbm_gb_per_s());
        if let [.., ridge, end] = roof.as_slice()
            && roof.len() == 3
        {
            self.line(&[*ridge, *end], 2.4, self.tokens.ink, self.is_measured);
        }
    }

    /// A label above a slope, turned with it, where no dot is in its way.
    fn along(&self, slope: &[Pos2], label: &str, tier: Tier) {
        let [from, to] = slope else { return };
        let color = if tier == Tier::Hbm { self.tokens.ink } else { self.tokens.muted };
        // Slopes that lie close have their names one after another.
        let least = match tier {
            _ if !self.is_narrow() => 0.0,
            Tier::L1 => 0.0,
            Tier::L2 => self.tokens.px(24.0),
            Tier::Hbm => self.tokens.px(52.0),
        };
        let galley = self.painter.layout_no_wrap(label.to_owned(), self.tokens.font(Type::Small), color);
        let reach = self.tokens.px(12.0);
        let Some(start) = Geometry::room_along(slope, least, galley.size().x, &self.obstacles(), reach) else { return };
        let unit = (*to - *from).normalized();
        let lift = vec2(unit.y, -unit.x) * (galley.size().y + self.tokens.px(1.0));
        let place = *from + unit * start + lift;
        self.painter.add(TextShape::new(place, galley, color).with_angle(unit.angle()));
    }

    /// What a label must not cover: dots, the trail, the grip.
    pub(super) fn obstacles(&self) -> Vec<Pos2> {
        let Self { geometry, answer, .. } = self;
        let dots = answer
            .dots
            .iter()
            .flat_map(|dot| [geometry.dot(dot, answer.attainable_tflops), geometry.dot(dot, answer.measured_tflops)]);
        let trail = answer.trail.iter().map(|(_, intensity, tflops)| geometry.plane.pos(*intensity, *tflops));
        dots.chain(trail).flatten().chain(geometry.hbm_grip(self.hbm_gb_per_s())).collect()
    }

    /// The ridge, down to its intensity.
    fn ridge(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let Some(at) = geometry.plane.pos(answer.ridge, answer.peak_tflops) else { return };
        let plot = geometry.plane.rect;
        if at.x > plot.right() {
            return;
        }
        let foot = pos2(at.x, plot.bottom());
        ink::dashes(painter, &[at, foot], Stroke::new(1.0, tokens.muted), tokens.px(2.0), tokens.px(4.0));
        let right = foot + vec2(tokens.px(6.0), -tokens.px(4.0));
        let ridge = words::ridge(answer.ridge, *lang);
        ink::text(painter, right, Align2::LEFT_BOTTOM, ridge, tokens.font(Type::Small), tokens.muted);
    }

    /// The way of a product from batch 1 to 1024.
    fn trail(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let places: Vec<(u64, Pos2)> = answer
            .trail
            .iter()
            .filter_map(|(batch, intensity, tflops)| Some((*batch, geometry.plane.pos(*intensity, *tflops)?)))
            .collect();
        let ring = tokens.stroke(1.2, tokens.muted);
        let here = answer.dot(Tier::Hbm).and_then(|dot| geometry.dot(dot, answer.measured_tflops));
        let is_near = |at: Pos2| here.is_some_and(|here| (here - at).abs().max_elem() < tokens.px(30.0));
        for (batch, at) in &places {
            painter.circle(*at, tokens.px(3.0), tokens.surface, ring);
            if [1, 16, 256].contains(batch) && !is_near(*at) {
                let place = *at + vec2(0.0, tokens.px(6.0));
                let font = tokens.font(Type::MonoSmall);
                ink::text(painter, place, Align2::LEFT_TOP, format!("m={batch}"), font, tokens.muted);
            }
        }
        if let Some(Hit::Trail(idx)) = self.picked
            && let Some((_, at)) = places.get(idx)
        {
            painter.circle_stroke(*at, tokens.px(6.0), tokens.stroke(2.0, tokens.accent));
        }
    }

    /// From each dot up to its own roof: what this level would still allow.
    fn headroom(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        for dot in &answer.dots {
            let (Some(low), Some(high)) =
                (geometry.dot(dot, answer.measured_tflops), geometry.plane.pos(dot.intensity, dot.roof_tflops))
            else {
                continue;
            };
            if low.y - high.y < tokens.px(3.0) {
                continue;
            }
            let half = tokens.px(6.0);
            let band = Rect::from_min_max(pos2(low.x - half, high.y), pos2(low.x + half, low.y));
            painter.rect_filled(band, CornerRadius::ZERO, tokens.tint(self.tier_color(dot.tier), 0.28));
            if band.height() > tokens.px(34.0) {
                let label = format!("×{}", number(dot.roof_tflops / answer.measured_tflops));
                let place = pos2(band.right() + tokens.px(4.0), band.center().y);
                ink::text(painter, place, Align2::LEFT_CENTER, label, tokens.font(Type::MonoSmall), tokens.muted);
            }
        }
    }

    fn dots(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let place = |tflops: f64| -> Vec<(Tier, Pos2)> {
            answer.dots.iter().filter_map(|dot| Some((dot.tier, geometry.dot(dot, tflops)?))).collect()
        };
        let (best, real) = (place(answer.attainable_tflops), place(answer.measured_tflops));
        let link = |dots: &[(Tier, Pos2)], stroke| {
            for pair in dots.windows(2) {
                painter.line_segment([pair[0].1, pair[1].1], stroke);
            }
        };
        link(&best, tokens.stroke(1.2, tokens.muted));
        for (_, at) in &best {
            painter.circle(*at, tokens.px(6.0), tokens.surface, tokens.stroke(2.0, tokens.ink));
        }
        if self.has_measured {
            link(&real, tokens.stroke(1.2, tokens.ink));
            for (tier, at) in &real {
                painter.circle(*at, tokens.px(6.0), self.tier_color(*tier), tokens.stroke(1.0, tokens.surface));
                if answer.is_above() {
                    ink::strike(painter, *at, tokens.px(8.0), tokens.stroke(2.0, tokens.bad));
                }
            }
        }
        self.names(&real);
        for (tier, at) in if self.has_measured { &real } else { &best } {
            if self.picked == Some(Hit::Dot(*tier)) {
                painter.circle_stroke(*at, tokens.px(9.5), tokens.stroke(2.0, tokens.accent));
            }
        }
    }

    /// The dots' levels, or the kernel's name where there is one dot. Levels on one place share their names.
    fn names(&self, dots: &[(Tier, Pos2)]) {
        let Self { painter, tokens, .. } = self;
        let mut named: Vec<(Pos2, String)> = Vec::new();
        for (tier, at) in dots {
            let name = if dots.len() == 1 { self.name() } else { tier.label().to_owned() };
            match named.iter_mut().find(|(other, _)| (other.x - at.x).abs() < tokens.px(16.0)) {
                Some((_, names)) => *names = format!("{names} = {name}"),
                None => named.push((*at, name)),
            }
        }
        for (at, name) in named {
            let bounds = self.geometry.plane.rect;
            let width = ink::text_width(painter, &name, tokens.font(Type::NoteStrong));
            let left = if dots.len() == 1 { at.x + tokens.px(4.0) } else { at.x - width / 2.0 };
            let left = left.clamp(bounds.left(), (bounds.right() - width).max(bounds.left()));
            let top = (at.y + tokens.px(12.0)).min(bounds.bottom() - tokens.px(18.0));
            ink::text(painter, pos2(left, top), Align2::LEFT_TOP, name, tokens.font(Type::NoteStrong), tokens.ink);
        }
    }

    fn name(&self) -> String {
        if !self.is_product { self.kernel.to_owned() } else { format!("{} m={}", self.kernel, self.batch) }
    }

    /// A kernel without FLOPs lies left of every logarithmic axis: an arrow says so.
    fn no_flops(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        if answer.flops > 0.0 {
            return;
        }
        let plot = geometry.plane.rect;
        let tip = pos2(plot.left() + tokens.px(4.0), plot.bottom() - tokens.px(44.0));
        let wing = vec2(tokens.px(9.0), tokens.px(6.0));
        let arrow = vec![tip, tip + wing, tip + vec2(wing.x, -wing.y)];
        painter.add(Shape::convex_polygon(arrow, tokens.ink, Stroke::NONE));
        let limit = plot.width() - tokens.px(24.0);
        let words = words::no_flops(self.kernel, self.hbm_gb_per_s(), *lang);
        let galley = painter.layout(words, tokens.font(Type::NoteStrong), tokens.ink, limit);
        let place = tip + vec2(tokens.px(16.0), -galley.size().y / 2.0);
        painter.galley(place, galley, tokens.ink);
    }

    fn grips(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let grips = [
            (Hit::ComputeRoof, geometry.compute_grip(answer.peak_tflops)),
            (Hit::HbmRoof, geometry.hbm_grip(self.hbm_gb_per_s())),
        ];
        for (hit, at) in grips {
            let Some(at) = at else { continue };
            ink::grip(painter, tokens, at, self.picked == Some(hit));
        }
    }
}
