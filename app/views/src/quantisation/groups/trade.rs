//! Painting the trade: bits a weight to the right, error upwards, a point for each group size.

use super::paint::Scene;
use super::question::Point;
use super::words;
use crate::ink;
use egui::{Align2, Pos2, pos2};
use vramlab_kit::axis::{Axis, Spread};
use vramlab_kit::{Role, Type};
use vramlab_units::show::with_unit;

impl Scene<'_> {
    pub(super) fn trade(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let rect = geometry.trade;
        let points = &answer.points;
        let whole = |axis: Option<Axis>| axis.unwrap_or(Axis { spread: Spread::Linear, min: 0.0, max: 1.0 });
        let y = whole(Axis::around(Spread::Linear, points.iter().flat_map(|point| [point.rms, point.clean, 0.0])));
        let bits = || points.iter().map(|point| point.bits);
        let (least, most) = (bits().fold(f64::INFINITY, f64::min), bits().fold(0.0, f64::max));
        let place = |bits: f64, rms: f64| -> Pos2 {
            let x = 0.06 + 0.86 * (bits - least) / (most - least).max(1e-9);
            let up = y.share_from_value(rms).unwrap_or_default();
            pos2(rect.left() + rect.width() * x as f32, rect.bottom() - rect.height() * up as f32)
        };
        for tick in y.ticks(4) {
            let at = place(least, tick).y;
            painter.hline(rect.x_range(), at, tokens.stroke(1.0, tokens.grid));
            let left = pos2(rect.left() - tokens.px(5.0), at);
            let font = tokens.font(Type::MonoSmall);
            ink::text(painter, left, Align2::RIGHT_CENTER, with_unit(tick, "1"), font, tokens.muted);
        }
        let small = || tokens.font(Type::Small);
        let above = pos2(geometry.rect.left(), rect.top() - tokens.px(10.0));
        ink::text(painter, above, Align2::LEFT_BOTTOM, words::ERROR.get(*lang), small(), tokens.muted);
        let below = pos2(rect.right(), geometry.rect.bottom());
        let bits = if geometry.is_narrow { words::BITS_SHORT } else { words::BITS };
        ink::text(painter, below, Align2::RIGHT_BOTTOM, bits.get(*lang), small(), tokens.muted);
        let line = |of: &dyn Fn(&Point) -> f64| -> Vec<Pos2> {
            points.iter().map(|point| place(point.bits, of(point))).collect()
        };
        ink::dashes(painter, &line(&|point| point.clean), tokens.stroke(1.4, tokens.ink), 5.0, 4.0);
        painter.line(line(&|point| point.rms), tokens.stroke(2.0, tokens.role(Role::Parameters)));
        for point in points {
            let is_chosen = point.group == self.question.group;
            let at = place(point.bits, point.rms);
            let color = if is_chosen { tokens.accent } else { tokens.role(Role::Parameters) };
            painter.circle_filled(at, tokens.px(if is_chosen { 6.0 } else { 4.0 }), color);
            let foot = pos2(at.x, rect.bottom() + tokens.px(4.0));
            let ink_color = if is_chosen { tokens.accent } else { tokens.muted };
            let font = tokens.font(Type::MonoSmall);
            let text = with_unit(point.bits, "1");
            ink::text(painter, foot, Align2::CENTER_TOP, text, font, ink_color);
            let name = words::group(point.group, *lang);
            let over = at - egui::vec2(0.0, tokens.px(8.0));
            ink::text_on(painter, over, Align2::CENTER_BOTTOM, name, small(), ink_color, tokens.surface);
        }
    }
}
