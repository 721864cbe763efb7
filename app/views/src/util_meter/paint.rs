//! Painting the utilisation meter. It sees the answer, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, filled};
use super::question::Question;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::with_unit;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub gpu_util: f64,
    pub achieved_share: f64,
}

/// The bytes that kernels move: one object, one colour.
const DATA: Role = Role::Parameters;

impl Scene<'_> {
    pub fn paint(&self) {
        self.timeline();
        let util = with_unit(self.gpu_util, "%");
        self.meter(self.geometry.util, self.gpu_util, self.busy(), "GPU-Util", &util);
        let achieved = with_unit(self.achieved_share, "%");
        let [long, broken] = words::of_peak(self.lang);
        let font = self.tokens.font(Type::Small);
        let is_room = ink::text_width(self.painter, long, font) <= self.geometry.slot - self.tokens.px(4.0);
        let name = if is_room { long } else { broken };
        self.meter(self.geometry.achieved, self.achieved_share, self.tokens.role(DATA), name, &achieved);
    }

    /// The colour of time in which a kernel runs.
    fn busy(&self) -> Color32 {
        self.tokens.tint(self.tokens.ink, 0.55)
    }

    fn timeline(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let (track, plot) = (geometry.track, geometry.plot);
        painter.rect_filled(track, CornerRadius::same(3), tokens.sunken);
        painter.rect_filled(plot, CornerRadius::same(3), tokens.sunken);
        let busy = self.busy();
        let share = (question.rate_gb_per_s / question.peak_gb_per_s) as f32;
        for (start, end) in question.intervals() {
            let (left, right) = (geometry.x_from_ms(start), geometry.x_from_ms(end));
            let gap = ((right - left) * 0.1).min(0.5);
            painter.rect_filled(
                Rect::from_min_max(pos2(left, track.top()), pos2(right - gap, track.bottom())),
                1.0,
                busy,
            );
            let top = plot.bottom() - plot.height() * share;
            painter.rect_filled(
                Rect::from_min_max(pos2(left, top), pos2(right - gap, plot.bottom())),
                0.0,
                tokens.role(DATA),
            );
        }
        let peak = [plot.left_top(), plot.right_top()];
        ink::dashes(painter, &peak, tokens.stroke(1.2, tokens.ink), tokens.px(5.0), tokens.px(4.0));
        let font = tokens.font(Type::Small);
        let up = vec2(0.0, tokens.px(3.0));
        let kernels = words::KERNELS.get(*lang);
        ink::text(painter, track.left_top() - up, Align2::LEFT_BOTTOM, kernels, font.clone(), tokens.muted);
        let peak = words::peak(question, *lang);
        let peak = ink::text(painter, plot.right_top() - up, Align2::RIGHT_BOTTOM, peak, font.clone(), tokens.ink);
        let bytes = [words::BYTES, words::BYTES_SHORT].map(|text| text.get(*lang));
        let bytes = self.fitting(bytes, peak.left() - plot.left() - tokens.space.s);
        ink::text(painter, plot.left_top() - up, Align2::LEFT_BOTTOM, bytes, font, tokens.muted);
        self.axis();
    }

    /// The window, under the plot: from 0 to its end.
    fn axis(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let plot = geometry.plot;
        let y = painter.round_to_pixel_center(plot.bottom() + tokens.px(4.0));
        painter.hline(plot.x_range(), y, Stroke::new(1.0, tokens.line));
        let font = tokens.font(Type::Small);
        let low = y + tokens.px(3.0);
        for x in [plot.left() + 0.5, plot.right() - 0.5] {
            painter.vline(x, y - tokens.px(3.0)..=y + tokens.px(3.0), Stroke::new(1.0, tokens.muted));
        }
        ink::text(painter, pos2(plot.left(), low), Align2::LEFT_TOP, "0", font.clone(), tokens.muted);
        let end = words::window_end(question);
        let end = ink::text(painter, pos2(plot.right(), low), Align2::RIGHT_TOP, end, font.clone(), tokens.muted);
        let name = self.fitting([words::WINDOW.get(*lang), ""], plot.width() - 2.0 * (end.width() + tokens.space.xs));
        ink::text(painter, pos2(plot.center().x, low), Align2::CENTER_TOP, name, font, tokens.muted);
    }

    /// The first of the texts that has room, or none.
    fn fitting<'t>(&self, [long, short]: [&'t str; 2], room: f32) -> &'t str {
        let font = self.tokens.font(Type::Small);
        let fits = |text: &&str| ink::text_width(self.painter, text, font.clone()) <= room;
        [long, short].into_iter().find(fits).unwrap_or_default()
    }

    fn meter(&self, rect: Rect, share: f64, color: Color32, name: &str, value: &str) {
        let Self { painter, tokens, .. } = self;
        let corner = CornerRadius::same(4);
        painter.rect_filled(rect, corner, tokens.sunken);
        painter.rect_filled(filled(rect, share), corner, color);
        painter.rect_stroke(rect, corner, tokens.stroke(1.0, tokens.muted), StrokeKind::Outside);
        let below = rect.center_bottom() + vec2(0.0, tokens.px(4.0));
        let value = ink::text(painter, below, Align2::CENTER_TOP, value, tokens.font(Type::NoteStrong), tokens.ink);
        let mut at = pos2(rect.center().x, value.bottom());
        for line in name.lines() {
            at.y = ink::text(painter, at, Align2::CENTER_TOP, line, tokens.font(Type::Small), tokens.muted).bottom();
        }
    }
}
