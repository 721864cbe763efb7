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
        let busy = self.tokens.tint(self.tokens.ink, 0.45);
        let util = with_unit(self.gpu_util, "%");
        self.meter(self.geometry.util, self.gpu_util, busy, "GPU-Util", &util);
        let achieved = with_unit(self.achieved_share, "%");
        let name = words::OF_PEAK.get(self.lang);
        self.meter(self.geometry.achieved, self.achieved_share, self.tokens.role(DATA), name, &achieved);
    }

    fn timeline(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let (track, plot) = (geometry.track, geometry.plot);
        painter.rect_filled(track, CornerRadius::same(3), tokens.sunken);
        painter.rect_filled(plot, CornerRadius::same(3), tokens.sunken);
        let busy = tokens.tint(tokens.ink, 0.45);
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
        let label = |at, text: String| {
            ink::text(painter, at, Align2::LEFT_BOTTOM, text, font.clone(), tokens.muted);
        };
        label(track.left_top() - up, words::KERNELS.get(*lang).to_owned());
        let bytes = [words::BYTES, words::BYTES_SHORT].map(|text| text.get(*lang).to_owned());
        label(plot.left_top() - up, self.fitting(bytes, plot.width()));
        self.axis();
    }

    /// The window, under the plot.
    fn axis(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let plot = geometry.plot;
        let y = painter.round_to_pixel_center(plot.bottom() + tokens.px(4.0));
        painter.hline(plot.x_range(), y, Stroke::new(1.0, tokens.line));
        let at = pos2(plot.left(), y + tokens.px(3.0));
        let texts = [words::window(question, *lang), words::window_short(question)];
        let text = self.fitting(texts, plot.width());
        ink::text(painter, at, Align2::LEFT_TOP, text, tokens.font(Type::Small), tokens.muted);
    }

    /// The first of the two texts if there is room for it.
    fn fitting(&self, [long, short]: [String; 2], room: f32) -> String {
        let font = self.tokens.font(Type::Small);
        if ink::text_width(self.painter, &long, font) <= room { long } else { short }
    }

    fn meter(&self, rect: Rect, share: f64, color: Color32, name: &str, value: &str) {
        let Self { painter, tokens, .. } = self;
        let corner = CornerRadius::same(4);
        painter.rect_filled(rect, corner, tokens.sunken);
        painter.rect_filled(filled(rect, share), corner, color);
        painter.rect_stroke(rect, corner, tokens.stroke(1.0, tokens.muted), StrokeKind::Outside);
        let below = rect.center_bottom() + vec2(0.0, tokens.px(4.0));
        let value = ink::text(painter, below, Align2::CENTER_TOP, value, tokens.font(Type::NoteStrong), tokens.ink);
        let at = pos2(rect.center().x, value.bottom());
        ink::text(painter, at, Align2::CENTER_TOP, name, tokens.font(Type::Small), tokens.muted);
    }
}
