//! The roofline with the dot that climbs, and the bars of bytes at each level.

use super::layout::Hit;
use super::paint::Scene;
use super::words;
use crate::ink;
use egui::{Align2, Pos2, Rect, pos2, vec2};
use vramlab_kit::Type;
use vramlab_units::show::number;

/// Bytes at the two ends of the bars, which are logarithmic.
const BARS: (f64, f64) = (1e5, 1e13);

impl Scene<'_> {
    /// Where the dot stands.
    pub fn dot(&self) -> Option<Pos2> {
        self.geometry.plane.pos(self.answer.intensity, self.answer.tflops)
    }

    pub(super) fn roofline(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let (plane, roof) = (&geometry.plane, &answer.roof);
        plane.paint_grid(painter, tokens, &number, &number);
        let small = tokens.font(Type::Small);
        let above = pos2(plane.rect.left() - tokens.px(40.0), plane.rect.top() - tokens.px(8.0));
        ink::text(painter, above, Align2::LEFT_BOTTOM, words::y_axis(*lang), small.clone(), tokens.muted);
        let below = pos2(plane.rect.right(), plane.rect.bottom() + tokens.px(22.0));
        ink::text(painter, below, Align2::RIGHT_TOP, "FLOP/B", small.clone(), tokens.muted);
        if let Some(l2) = answer.l2_gb_per_s {
            let line = geometry.roof(l2, roof.peak_tflops);
            if let [low, ridge, _] = line.as_slice() {
                ink::dashes(painter, &[*low, *ridge], tokens.stroke(1.0, tokens.muted), 4.0, 3.0);
                let at = *low + (*ridge - *low) * 0.5 - vec2(tokens.px(6.0), tokens.px(2.0));
                ink::text(painter, at, Align2::RIGHT_BOTTOM, "L2", small.clone(), tokens.muted);
            }
        }
        painter.line(geometry.roof(roof.gb_per_s, roof.peak_tflops), tokens.stroke(2.2, tokens.ink));
        self.shared_ceiling();
        self.trail();
    }

    /// What shared memory can feed, where it is below the peak.
    fn shared_ceiling(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let Some(feeds) = answer.roof.shared_tflops.filter(|feeds| *feeds < answer.roof.peak_tflops) else { return };
        let from = feeds * 1e3 / answer.roof.gb_per_s;
        let plane = &geometry.plane;
        let (Some(left), Some(right)) = (plane.pos(from, feeds), plane.pos(plane.x.max, feeds)) else { return };
        ink::dashes(painter, &[left, right], tokens.stroke(1.8, tokens.caution), 6.0, 3.0);
        let text = words::shared_ceiling(feeds, *lang);
        let at = right + vec2(-tokens.px(2.0), tokens.px(3.0));
        ink::text_on(painter, at, Align2::RIGHT_TOP, text, tokens.font(Type::Small), tokens.ink, tokens.surface);
    }

    fn trail(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        for (_, intensity, tflops) in self.trail {
            if let Some(at) = geometry.plane.pos(*intensity, *tflops) {
                painter.circle(at, tokens.px(3.5), tokens.surface, tokens.stroke(1.2, tokens.muted));
            }
        }
        let Some(at) = self.dot() else { return };
        let radius = if self.picked == Some(Hit::Dot) { 8.0 } else { 6.5 };
        painter.circle(at, tokens.px(radius), tokens.accent, tokens.stroke(1.5, tokens.surface));
        let text = format!("{} × {}", self.question.tile[0], self.question.tile[1]);
        let is_left = at.x < geometry.plane.rect.center().x;
        let (anchor, side) = if is_left { (Align2::LEFT_TOP, 1.0) } else { (Align2::CENTER_TOP, 0.0) };
        let place = at + vec2(side * tokens.px(8.0), tokens.px(if is_left { 4.0 } else { 10.0 }));
        ink::text_on(painter, place, anchor, text, tokens.font(Type::NoteStrong), tokens.ink, tokens.surface);
    }

    pub(super) fn levels(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        for (idx, level) in words::levels(self.question, self.answer, self.lang).iter().enumerate() {
            let Some(rect) = geometry.levels.get(idx) else { return };
            let share = (level.bytes / BARS.0).ln() / (BARS.1 / BARS.0).ln();
            let rail = rect.with_min_y(rect.top() + tokens.px(20.0)).with_max_y(rect.top() + tokens.px(32.0));
            let bar =
                Rect::from_min_size(rail.min, vec2(rail.width() * (share as f32).clamp(0.01, 1.0), rail.height()));
            painter.rect_filled(rail, tokens.px(3.0), tokens.tint(tokens.muted, 0.1));
            painter.rect_filled(bar, tokens.px(3.0), tokens.hierarchy(level.far));
            let font = tokens.font(Type::Small);
            ink::text(painter, rect.left_top(), Align2::LEFT_TOP, &level.name, font, tokens.muted);
            let mono = tokens.font(Type::MonoSmall);
            ink::text(painter, rect.right_top(), Align2::RIGHT_TOP, &level.shown, mono, tokens.ink);
        }
    }
}
