//! The picture of the cliff finder: warps on the SM against one number of the launch, stair by stair. Decides nothing.

use super::paint::{Scene, warp};
use super::words;
use crate::ink;
use egui::{Align2, CornerRadius, Pos2, Rect, pos2, vec2};
use vramlab_kit::Type;
use vramlab_model::kernels::occupancy_cliff::{Axis, Stretch};

impl Scene<'_> {
    /// `over` is the stair under the pointer.
    pub fn cliff(&self, over: Option<Stretch>) {
        self.frame();
        self.stairs(over);
        self.fall();
        self.here();
    }

    fn frame(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let chart = geometry.chart;
        let font = tokens.font(Type::MonoSmall);
        for quarter in 0..=4_u64 {
            let y = geometry.y(question, question.sm.warps * quarter / 4);
            painter.hline(chart.x_range(), y, tokens.stroke(1.0, tokens.grid));
            let at = pos2(chart.left() - tokens.px(6.0), y);
            ink::text(painter, at, Align2::RIGHT_CENTER, format!("{}", 25 * quarter), font.clone(), tokens.muted);
        }
        let (least, most) = question.axis.ends(question.sm);
        let step = match question.axis {
            Axis::Registers => 64,
            Axis::Threads => 256,
            Axis::Shared => {
                if most > 140_000 {
                    65_536
                } else {
                    32_768
                }
            }
        };
        for value in (0..=most).step_by(step).filter(|value| *value >= least || *value == 0) {
            let at = pos2(geometry.x(question, value), chart.bottom() + tokens.px(4.0));
            let text = if question.axis == Axis::Shared { (value / 1024).to_string() } else { value.to_string() };
            ink::text(painter, at, Align2::CENTER_TOP, text, font.clone(), tokens.muted);
        }
        let small = tokens.font(Type::Small);
        let title = words::axis_title(question.axis).get(*lang);
        let title = if question.axis == Axis::Shared { format!("{title} (KiB)") } else { title.to_owned() };
        let at = pos2(chart.center().x, chart.bottom() + tokens.px(19.0));
        ink::text(painter, at, Align2::CENTER_TOP, title, small.clone(), tokens.muted);
        let at = pos2(chart.left() - tokens.px(32.0), chart.top() - tokens.px(22.0));
        let y_title = format!("{} (%)", words::OCCUPANCY.get(*lang));
        ink::text(painter, at, Align2::LEFT_BOTTOM, y_title, small, tokens.muted);
    }

    fn stairs(&self, over: Option<Stretch>) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let color = warp(tokens);
        let mut line: Vec<Pos2> = Vec::new();
        for part in &answer.stretches {
            let (left, right) = (geometry.x(question, part.from), geometry.x(question, part.to + 1));
            let y = geometry.y(question, part.warps);
            let share = if over == Some(*part) { 0.4 } else { 0.16 };
            let rect = Rect::from_min_max(pos2(left, y), pos2(right, geometry.chart.bottom()));
            painter.rect_filled(rect, CornerRadius::ZERO, tokens.tint(color, share));
            line.extend([pos2(left, y), pos2(right, y)]);
        }
        painter.line(line, tokens.stroke(1.8, color));
        let font = tokens.font(Type::MonoSmall);
        for part in &answer.stretches {
            let (left, right) = (geometry.x(question, part.from), geometry.x(question, part.to + 1));
            let text = part.blocks.to_string();
            let at = pos2((left + right) / 2.0, geometry.y(question, part.warps) - tokens.px(3.0));
            if right - left > ink::text_width(painter, &text, font.clone()) + tokens.px(4.0) {
                ink::text(painter, at, Align2::CENTER_BOTTOM, text, font.clone(), tokens.ink);
            }
        }
    }

    /// Where occupancy falls next.
    fn fall(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let Some(part) = answer.place.and_then(|place| place.fall) else { return };
        let x = geometry.x(question, part.from);
        let chart = geometry.chart;
        let points = [pos2(x, chart.top()), pos2(x, chart.bottom())];
        ink::dashes(painter, &points, tokens.stroke(1.5, tokens.caution), 5.0, 4.0);
    }

    fn here(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let x = geometry.x(question, question.value());
        let chart = geometry.chart;
        painter.vline(x, chart.y_range(), tokens.stroke(1.2, tokens.accent));
        let y = geometry.y(question, answer.warps);
        painter.circle(pos2(x, y), tokens.px(5.0), tokens.accent, tokens.stroke(1.5, tokens.surface));
        let knob = Rect::from_center_size(pos2(x, chart.bottom()), vec2(tokens.px(10.0), tokens.px(10.0)));
        painter.rect_filled(knob, CornerRadius::same(3), tokens.accent);
        let text = words::value(question.axis, question.value());
        let wide = ink::text_width(painter, &text, tokens.font(Type::MonoSmall));
        let x = x.clamp(chart.left() + wide / 2.0, chart.right() - wide / 2.0);
        let at = pos2(x, chart.top() - tokens.px(3.0));
        ink::text_on(
            painter,
            at,
            Align2::CENTER_BOTTOM,
            text,
            tokens.font(Type::MonoSmall),
            tokens.accent,
            tokens.surface,
        );
    }
}
