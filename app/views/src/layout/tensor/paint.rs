//! Geometry and picture of a tensor: axes, planes, memory. Decides nothing.

use super::question::Question;
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Area, Tokens, Type, paint};
use vramlab_model::kernels::tensor_strides::AXES;
use vramlab_units::Lang;

const LABEL: f32 = 20.0;
const AXIS: f32 = 46.0;
/// Elements along memory that are joined from the chosen one.
pub const WALK: u64 = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub axes: [Rect; 4],
    pub planes: Rect,
    pub memory: Rect,
    cell: f32,
    per_row: u64,
    shape: [u64; 4],
    columns: u64,
    memory_cell: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question) -> Self {
        let px = |points: f32| points * scale;
        let shape = question.stored();
        let [n, c, h, w] = shape;
        let gap = px(14.0);
        let wide = ((width - gap * (c as f32 - 1.0)) / (c * w) as f32).clamp(px(13.0), px(20.0));
        // Rounding must not cost a plane that fits to the point.
        let per_row = (((width + gap + 0.5) / (w as f32 * wide + gap)) as u64).clamp(1, c);
        let axis_width = ((width - px(24.0)) / 4.0).min(px(132.0));
        let axes = std::array::from_fn(|at| {
            let left = origin.x + at as f32 * (axis_width + px(8.0));
            Rect::from_min_size(pos2(left, origin.y + px(LABEL)), vec2(axis_width, px(AXIS)))
        });
        let top = axes[0].bottom() + px(14.0 + LABEL);
        let plane_height = h as f32 * wide + gap;
        let height = plane_height * (c.div_ceil(per_row) * n) as f32;
        let planes = Rect::from_min_size(pos2(origin.x, top), vec2(width, height));
        let columns = if width >= px(560.0) { 40 } else { 20 };
        let memory_cell = width / columns as f32;
        let rows = question.n_stored().div_ceil(columns);
        let memory_height = rows as f32 * memory_cell.min(px(20.0));
        let memory = Rect::from_min_size(pos2(origin.x, planes.bottom() + px(8.0 + LABEL)), vec2(width, memory_height));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, memory.bottom() + px(4.0)));
        Self { rect, axes, planes, memory, cell: wide, per_row, shape, columns, memory_cell }
    }

    pub fn plane_cell(&self, at: [u64; 4]) -> Rect {
        let [_, c, h, w] = self.shape;
        let gap = 14.0 * self.scale();
        let rows = c.div_ceil(self.per_row);
        let row = at[0] * rows + at[1] / self.per_row;
        let left = self.planes.left() + (at[1] % self.per_row) as f32 * (w as f32 * self.cell + gap);
        let top = self.planes.top() + row as f32 * (h as f32 * self.cell + gap);
        let corner = pos2(left + at[3] as f32 * self.cell, top + at[2] as f32 * self.cell);
        Rect::from_min_size(corner, vec2(self.cell, self.cell)).shrink(0.75)
    }

    fn scale(&self) -> f32 {
        self.axes[0].height() / AXIS
    }

    pub fn memory_cell(&self, offset: u64) -> Rect {
        let height = self.memory_cell.min(20.0 * self.scale());
        let corner = pos2(
            self.memory.left() + (offset % self.columns) as f32 * self.memory_cell,
            self.memory.top() + (offset / self.columns) as f32 * height,
        );
        Rect::from_min_size(corner, vec2(self.memory_cell, height)).shrink(0.75)
    }

    /// The offset of the cell under the pointer, above or below.
    pub fn offset_at(&self, question: &Question, at: Pos2) -> Option<u64> {
        let over = |offset: &u64| {
            self.memory_cell(*offset).expand(0.75).contains(at)
                || self.plane_cell(question.index(*offset)).expand(0.75).contains(at)
        };
        (0..question.n_stored()).find(over)
    }

    pub fn axis_at(&self, at: Pos2) -> Option<usize> {
        self.axes.iter().position(|axis| axis.contains(at))
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    /// Where the walk begins.
    pub offset: u64,
    pub axis: Option<usize>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axes();
        for offset in 0..self.question.n_stored() {
            self.cell(offset);
        }
        self.walk();
        self.label(self.geometry.planes, words::PLANES.get(self.lang));
        self.label(self.geometry.memory, words::MEMORY.get(self.lang));
    }

    fn label(&self, over: Rect, text: &str) {
        let at = over.left_top() - vec2(0.0, self.tokens.px(5.0));
        ink::text(self.painter, at, Align2::LEFT_BOTTOM, text, self.tokens.font(Type::Small), self.tokens.muted);
    }

    fn axes(&self) {
        let Self { painter, tokens, geometry, question, .. } = self;
        self.label(geometry.axes[0], words::ORDER.get(self.lang));
        let strides = question.strides();
        for (place, axis) in question.order.iter().enumerate() {
            let rect = geometry.axes[place];
            let is_unit = place == 3;
            let fill = if is_unit { tokens.accent_soft } else { tokens.surface };
            let edge = if self.axis == Some(place) || is_unit { tokens.accent } else { tokens.line };
            painter.rect(rect, tokens.control_corner(), fill, tokens.stroke(1.2, edge), StrokeKind::Inside);
            let name = format!("{} = {}", AXES[*axis].to_uppercase(), question.stored()[*axis]);
            let top = rect.center_top() + vec2(0.0, tokens.px(5.0));
            ink::text(painter, top, Align2::CENTER_TOP, name, tokens.font(Type::NoteStrong), tokens.ink);
            let stride = format!("× {}", strides[*axis]);
            let low = rect.center_bottom() - vec2(0.0, tokens.px(5.0));
            ink::text(painter, low, Align2::CENTER_BOTTOM, stride, tokens.font(Type::MonoSmall), tokens.muted);
        }
    }

    fn color(&self, at: [u64; 4]) -> Color32 {
        // Channels by colour, images by strength.
        let share = if at[0] == 0 { 0.75 } else { 0.42 };
        self.tokens.tint(self.tokens.category(at[1] as usize), share)
    }

    fn cell(&self, offset: u64) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let at = question.index(offset);
        for rect in [geometry.plane_cell(at), geometry.memory_cell(offset)] {
            if question.is_padding(at) {
                paint::area(painter, tokens, rect, Area::CachedFree);
            } else {
                painter.rect_filled(rect, 1.0, self.color(at));
            }
        }
    }

    /// The chosen element and those that follow it in memory, joined in both pictures.
    fn walk(&self) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let last = (self.offset + WALK).min(question.n_stored());
        let above: Vec<Pos2> =
            (self.offset..last).map(|offset| geometry.plane_cell(question.index(offset)).center()).collect();
        for pair in above.windows(2) {
            painter.line_segment([pair[0], pair[1]], tokens.stroke(2.0, tokens.ink));
        }
        for (step, offset) in (self.offset..last).enumerate() {
            let radius = tokens.px(if step == 0 { 4.0 } else { 2.5 });
            painter.circle_filled(above[step], radius, tokens.ink);
            let rect = geometry.memory_cell(offset);
            painter.rect_stroke(rect, 1.0, tokens.stroke(1.5, tokens.ink), StrokeKind::Inside);
        }
        for rect in [geometry.plane_cell(question.index(self.offset)), geometry.memory_cell(self.offset)] {
            painter.rect_stroke(rect.expand(1.5), 2.0, tokens.stroke(2.4, tokens.accent), StrokeKind::Outside);
        }
    }
}
