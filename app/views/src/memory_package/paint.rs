//! Painting the memory package. It sees the answer, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Part};
use super::question::{Kind, Question};
use super::words;
use crate::ink;
use egui::epaint::CubicBezierShape;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{dashed_rect, hatch};
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, show};

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    /// Pins of each part, in the order of the geometry's parts.
    pub bits: &'a [u64],
    /// The part under the pointer or the keyboard's cursor.
    pub picked: Option<usize>,
    /// The pointer is on the pipe.
    pub is_pulled: bool,
}

/// Device memory on the ramp of the hierarchy.
const LEVEL: f32 = 0.5;
/// The bandwidth that the little bar beside the processor stands for.
const SCALE_GB_PER_S: f64 = 1000.0;

impl Scene<'_> {
    pub fn paint(&self) {
        self.ground();
        for (idx, part) in self.geometry.parts.iter().enumerate() {
            self.ribbon(idx, part);
        }
        self.published();
        for (idx, part) in self.geometry.parts.iter().enumerate() {
            self.part(idx, part);
        }
        self.die();
        self.names();
        self.scale();
        ink::grip(self.painter, self.tokens, self.geometry.grip(), self.is_pulled);
    }

    fn level(&self) -> Color32 {
        self.tokens.hierarchy(LEVEL)
    }

    fn ground(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let edge = Stroke::new(1.0, tokens.line);
        painter.rect(geometry.ground, tokens.card_corner(), tokens.sunken, edge, StrokeKind::Inside);
        if let Some(package) = geometry.package {
            painter.rect(package, tokens.control_corner(), tokens.surface, edge, StrokeKind::Inside);
        }
        let label = match self.question.kind {
            Kind::Hbm => words::PACKAGE,
            Kind::Gddr => words::BOARD,
        };
        // On the outline that it names.
        let label = format!(" {} ", label.get(self.lang));
        let (at, font) = (geometry.ground.center_bottom(), tokens.font(Type::Small));
        ink::text_on(painter, at, Align2::CENTER_CENTER, label, font, tokens.muted, tokens.surface);
    }

    /// From a part to its place in the pipe, and on to the processor: one band, as thick as what the part gives.
    fn ribbon(&self, idx: usize, part: &Part) {
        let Self { painter, tokens, geometry, .. } = self;
        let gap = if part.thick > 4.0 { 1.0 } else { 0.0 };
        let is_picked = self.picked == Some(idx);
        let color = if is_picked { tokens.accent } else { tokens.tint(self.level(), 0.6) };
        let stroke = Stroke::new((part.thick - gap).max(0.6), color);
        let middle = f32::midpoint(part.from.x, part.to.x);
        let points = [part.from, pos2(middle, part.from.y), pos2(middle, part.to.y), part.to];
        painter.add(Shape::CubicBezier(CubicBezierShape::from_points_stroke(
            points,
            false,
            Color32::TRANSPARENT,
            stroke,
        )));
        painter.line_segment([part.to - vec2(0.5, 0.0), pos2(geometry.pipe.right(), part.to.y)], stroke);
    }

    /// The pipe of what the vendor prints, and that number.
    fn outline(&self) -> Option<(Rect, f64)> {
        let gb_per_s = self.question.card()?.published.as_ref()?.gb_per_s;
        let (pipe, thick) = (self.geometry.pipe, gb_per_s as f32 * self.geometry.per_gb_per_s);
        let outline = Rect::from_center_size(pipe.center(), vec2(pipe.width(), thick)).expand2(vec2(0.0, 1.0));
        Some((outline, gb_per_s))
    }

    /// What the vendor prints, as a dashed outline of the same pipe, with its value under it.
    fn published(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let Some((outline, gb_per_s)) = self.outline() else { return };
        dashed_rect(painter, outline, 0.0, tokens.stroke(1.2, tokens.ink), tokens.px(5.0));
        let font = tokens.font(Type::Small);
        let [name, value] = words::published_label(gb_per_s, self.lang);
        let whole = format!("{name} {value}");
        let is_room = ink::text_width(painter, &whole, font.clone()) <= outline.width();
        let lines = if is_room { vec![whole] } else { vec![name, value] };
        let mut at = pos2(outline.center().x, outline.bottom().max(geometry.pipe.bottom()) + tokens.px(8.0));
        for line in lines {
            at.y = ink::text(painter, at, Align2::CENTER_TOP, line, font.clone(), tokens.muted).bottom();
        }
    }

    fn part(&self, idx: usize, part: &Part) {
        let Self { painter, tokens, .. } = self;
        let (level, rect) = (self.level(), part.rect);
        let corner = CornerRadius::same((rect.height() * 0.15).clamp(1.0, 4.0) as u8);
        let full = self.question.kind.part_bits();
        let bits = self.bits.get(idx).copied().unwrap_or(full);
        painter.rect_filled(rect, corner, tokens.surface);
        let used = rect.with_min_x(rect.right() - rect.width() * bits as f32 / full as f32);
        painter.rect_filled(used, corner, tokens.tint(level, 0.25));
        if bits < full {
            let rest = rect.with_max_x(used.left());
            hatch(painter, rest, tokens.px(4.0), Stroke::new(1.0, tokens.tint(tokens.muted, 0.5)), false);
        }
        if self.question.kind == Kind::Hbm {
            self.layers(rect);
        }
        let edge = if self.picked == Some(idx) { tokens.stroke(2.0, tokens.accent) } else { tokens.stroke(1.2, level) };
        painter.rect_stroke(rect, corner, edge, StrokeKind::Inside);
        self.pins(idx, bits, used, rect);
    }

    /// The number of pins, with the unit in the first box that has room for it.
    fn pins(&self, idx: usize, bits: u64, used: Rect, rect: Rect) {
        let Self { painter, tokens, .. } = self;
        let font = tokens.font(Type::MonoSmall);
        let width = |text: &str| ink::text_width(painter, text, font.clone());
        if rect.height() < font.size * 1.15 || rect.width() < width("1024") {
            return;
        }
        let (number, whole) = (bits.to_string(), words::pins(bits, self.lang));
        let (is_first, edge) = (idx == 0, tokens.px(3.0));
        let room = rect.width() - edge;
        let at = |text: &str| {
            pos2(used.center().x.min(rect.right() - edge - width(text) / 2.0).max(rect.center().x), rect.center().y)
        };
        let unit = whole.split_once(' ').map_or("", |(_, unit)| unit);
        if is_first && width(&whole) <= room {
            ink::text(painter, rect.center(), Align2::CENTER_CENTER, whole, font, tokens.ink);
        } else if is_first && rect.height() > font.size * 2.5 && width(unit) <= room {
            let center = rect.center();
            ink::text(painter, center + vec2(0.0, 1.0), Align2::CENTER_BOTTOM, number, font.clone(), tokens.ink);
            ink::text(painter, center - vec2(0.0, 1.0), Align2::CENTER_TOP, unit, font, tokens.ink);
        } else {
            ink::text(painter, at(&number), Align2::CENTER_CENTER, number, font, tokens.ink);
        }
    }

    /// A stack is dies on top of each other.
    fn layers(&self, rect: Rect) {
        let stroke = Stroke::new(1.0, self.tokens.tint(self.level(), 0.4));
        for layer in 1..4 {
            let y = self.painter.round_to_pixel_center(rect.top() + rect.height() * layer as f32 / 4.0);
            self.painter.hline(rect.x_range().shrink(1.0), y, stroke);
        }
    }

    fn die(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let die = geometry.die;
        let corner = tokens.control_corner();
        painter.rect(die, corner, tokens.surface, tokens.stroke(1.5, tokens.muted), StrokeKind::Inside);
        if let Some(card) = self.question.card() {
            self.sms(die.shrink(tokens.px(8.0)), card.sm_count as usize);
        }
        let font = tokens.font(Type::NoteStrong);
        ink::text_on(painter, die.center(), Align2::CENTER_CENTER, " GPU ", font, tokens.ink, tokens.surface);
    }

    /// One square for each SM.
    fn sms(&self, area: Rect, n: usize) {
        let n_cols = ((n as f32 * area.width() / area.height()).sqrt().round() as usize).max(1);
        let n_rows = n.div_ceil(n_cols);
        let cell = vec2(area.width() / n_cols as f32, area.height() / n_rows as f32);
        let side = (cell.x.min(cell.y) - 1.0).max(1.0);
        let color = self.tokens.tint(self.tokens.hierarchy(0.0), if self.tokens.is_dark() { 0.8 } else { 0.35 });
        for idx in 0..n {
            let (col, row) = ((idx % n_cols) as f32, (idx / n_cols) as f32);
            let center = area.min + vec2((col + 0.5) * cell.x, (row + 0.5) * cell.y);
            self.painter.rect_filled(Rect::from_center_size(center, vec2(side, side)), 0.0, color);
        }
    }

    /// What stands left and right, above the drawing; the number above the pipe.
    fn names(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let font = tokens.font(Type::Small);
        let (left, right) = (geometry.rect.left_top(), geometry.rect.right_top());
        let memory = words::memory(question, self.bits, *lang);
        ink::text(painter, left, Align2::LEFT_TOP, memory, font.clone(), tokens.muted);
        let card = words::card(question, *lang);
        ink::text(painter, right, Align2::RIGHT_TOP, card, font, tokens.muted);
        let peak = show::with_unit(question.peak().0, "GB/s");
        let (pipe, font) = (geometry.pipe, tokens.font(Type::NoteStrong));
        let top = self.outline().map_or(pipe.top(), |(outline, _)| outline.top().min(pipe.top()));
        let y = top - tokens.px(4.0);
        let limit = geometry.package.map_or(pipe.right(), |package| package.left()) - tokens.space.xxs;
        let half = ink::text_width(painter, &peak, font.clone()) / 2.0;
        let x = pipe.center().x.min(limit - half);
        ink::text(painter, pos2(x, y), Align2::CENTER_BOTTOM, peak, font, tokens.ink);
    }

    /// How thick 1000 GB/s are.
    fn scale(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let thick = SCALE_GB_PER_S as f32 * geometry.per_gb_per_s;
        let bottom = geometry.ground.bottom() - tokens.space.xs;
        let font = tokens.font(Type::Small);
        let text = show::with_unit(SCALE_GB_PER_S, "GB/s");
        let at = pos2(geometry.ground.right() - tokens.space.s, bottom);
        let text = ink::text(painter, at, Align2::RIGHT_BOTTOM, text, font, tokens.muted);
        let x = text.left() - tokens.space.xs;
        let bar = Rect::from_min_max(pos2(x - tokens.px(6.0), bottom - thick), pos2(x, bottom));
        painter.rect_filled(bar, 0.0, tokens.tint(self.level(), 0.6));
    }
}
