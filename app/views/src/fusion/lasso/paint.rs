//! Painting the graph: pipes as wide as their bytes, a blob around what is one kernel, the lasso. Decides nothing.

use super::layout::{Geometry, Pipe};
use super::question::Question;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

/// Points that the widest pipe takes.
const WIDEST: f32 = 15.0;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    /// Operators that are picked, and whether they may be one kernel.
    pub picked: &'a [usize],
    pub is_refused: bool,
    pub lasso: Option<Rect>,
    pub cursor: Option<usize>,
    pub over: Option<usize>,
    pub over_tensor: Option<usize>,
}

pub fn hbm(tokens: &Tokens) -> Color32 {
    tokens.hierarchy(0.6)
}

pub fn chip(tokens: &Tokens) -> Color32 {
    tokens.ink
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.groups();
        let most = self.geometry.tensors.iter().map(|name| self.question.bytes_of(name)).fold(1.0, f64::max);
        for is_inside in [false, true] {
            for pipe in self.geometry.pipes.iter().filter(|pipe| self.stays(pipe) == is_inside) {
                self.pipe(pipe, most);
            }
        }
        for op in 0..self.question.ops.len() {
            self.op(op);
        }
        self.words(most);
        if let Some(lasso) = self.lasso {
            let color = if self.is_refused { self.tokens.bad } else { self.tokens.accent };
            let corner = CornerRadius::same(6);
            self.painter.rect_filled(lasso, corner, color.gamma_multiply(0.08));
            let corners =
                [lasso.left_top(), lasso.right_top(), lasso.right_bottom(), lasso.left_bottom(), lasso.left_top()];
            ink::dashes(self.painter, &corners, self.tokens.stroke(1.5, color), 6.0, 4.0);
        }
    }

    /// Whether the tensor is made and read by one kernel.
    fn stays(&self, pipe: &Pipe) -> bool {
        let of = &self.question.of;
        pipe.from.zip(pipe.to).is_some_and(|(from, to)| of[from] == of[to])
    }

    /// What is one kernel lies on one patch.
    fn groups(&self) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let mut shown = 0;
        for (at, group) in question.of.iter().enumerate() {
            if question.of[..at].contains(group) || question.members(*group).count() < 2 {
                continue;
            }
            let color = tokens.tint(tokens.category(shown + 1), 0.24);
            shown += 1;
            let wide = tokens.stroke(26.0, color);
            for pipe in &geometry.pipes {
                if self.stays(pipe) && pipe.from.is_some_and(|from| question.of[from] == *group) {
                    painter.add(Shape::line(pipe.points.clone(), wide));
                }
            }
            for op in question.members(*group) {
                let rect = geometry.ops[op].expand(tokens.px(8.0));
                painter.rect_filled(rect, CornerRadius::same(tokens.card_radius), color);
            }
        }
    }

    fn pipe(&self, pipe: &Pipe, most: f64) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let is_over = self.over_tensor == Some(pipe.tensor);
        if self.stays(pipe) {
            let color = if is_over { tokens.accent } else { chip(tokens) };
            painter.add(Shape::line(pipe.points.clone(), tokens.stroke(2.0, color)));
            return;
        }
        let wide = self.wide(&geometry.tensors[pipe.tensor], most);
        let color = if is_over { tokens.accent } else { tokens.tint(hbm(tokens), 0.75) };
        painter.add(Shape::line(pipe.points.clone(), egui::Stroke::new(wide, color)));
        if question.ops.is_empty() {
            return;
        }
        // A pipe that is wider than its arrow would be has none.
        let n = pipe.points.len();
        let (tip, before) = (pipe.points[n - 1], pipe.points[n - 3]);
        if pipe.to.is_some() && wide < tokens.px(5.0) {
            let along = (tip - before).normalized();
            let (back, side) = (along * tokens.px(7.0), along.rot90() * tokens.px(3.5));
            let corners = vec![tip, tip - back + side, tip - back - side];
            painter.add(Shape::convex_polygon(corners, color, egui::Stroke::NONE));
        }
    }

    fn wide(&self, tensor: &str, most: f64) -> f32 {
        let share = (self.question.bytes_of(tensor) / most) as f32;
        (self.tokens.px(WIDEST) * share).max(self.tokens.px(1.5))
    }

    fn op(&self, at: usize) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let (rect, op) = (geometry.ops[at], &question.ops[at]);
        let is_picked = self.picked.contains(&at);
        let (fill, edge) = match (is_picked, self.is_refused) {
            (true, true) => (tokens.tint(tokens.bad, 0.14), tokens.stroke(2.0, tokens.bad)),
            (true, false) => (tokens.accent_soft, tokens.stroke(2.0, tokens.accent)),
            _ if self.over == Some(at) => (tokens.surface, tokens.stroke(1.5, tokens.accent)),
            _ => (tokens.surface, tokens.stroke(1.0, tokens.muted)),
        };
        painter.rect(rect, tokens.control_corner(), fill, edge, StrokeKind::Inside);
        let x = rect.center().x;
        let name = cut(painter, &op.name, rect.width() - tokens.px(8.0), tokens);
        let (y, gap) = (rect.center().y, tokens.px(8.5));
        ink::text(painter, pos2(x, y - gap), Align2::CENTER_CENTER, name, tokens.font(Type::NoteStrong), tokens.ink);
        let kind = words::kind(op.kind, *lang);
        ink::text(painter, pos2(x, y + gap), Align2::CENTER_CENTER, kind, tokens.font(Type::Small), tokens.muted);
        if self.cursor == Some(at) {
            let ring = rect.expand(tokens.px(3.0));
            painter.rect_stroke(ring, tokens.control_corner(), tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
        }
    }

    /// Names and bytes: of what comes in and goes out at its end, of what is between beside its pipe.
    fn words(&self, most: f64) {
        let Self { tokens, geometry, .. } = self;
        for (tensor, at) in &geometry.ends {
            let name = &geometry.tensors[*tensor];
            let size = words::bytes(self.question.bytes_of(name));
            let (gap, y) = (tokens.px(7.5), at.y);
            if geometry.is_down {
                self.word(*at, &format!("{name} {size}"), tokens.ink);
            } else {
                self.word(pos2(at.x, y - gap), name, tokens.ink);
                self.word(pos2(at.x, y + gap), &size, tokens.muted);
            }
        }
        let mut done: Vec<usize> = Vec::new();
        for pipe in geometry.pipes.iter().filter(|pipe| pipe.from.is_some() && pipe.to.is_some()) {
            if done.contains(&pipe.tensor) {
                continue;
            }
            done.push(pipe.tensor);
            let name = &geometry.tensors[pipe.tensor];
            let is_silent = self.question.crossing(name).times() == 0;
            let wide = if is_silent { 2.0 } else { self.wide(name, most) };
            let text =
                if is_silent { name.clone() } else { format!("{name} {}", words::bytes(self.question.bytes_of(name))) };
            let shade = if is_silent { tokens.muted } else { tokens.ink };
            let font = tokens.font(Type::Small);
            if geometry.is_down {
                let at = pipe.label + vec2(wide / 2.0 + tokens.px(6.0), 0.0);
                ink::text_on(self.painter, at, Align2::LEFT_CENTER, text, font, shade, tokens.surface);
            } else {
                // Above the boxes, so that it may be wider than the gap between them.
                let y = geometry.ops[pipe.from.unwrap_or(0)].top() - tokens.px(3.0);
                let at = pos2(pipe.label.x, y);
                ink::text_on(self.painter, at, Align2::CENTER_BOTTOM, text, font, shade, tokens.surface);
            }
        }
    }

    fn word(&self, at: Pos2, text: &str, color: Color32) {
        let font = self.tokens.font(Type::Small);
        ink::text_on(self.painter, at, Align2::CENTER_CENTER, text, font, color, self.tokens.surface);
    }
}

/// A name that fits.
fn cut(painter: &Painter, name: &str, room: f32, tokens: &Tokens) -> String {
    let fits = |text: &str| ink::text_width(painter, text, tokens.font(Type::NoteStrong)) <= room;
    if fits(name) {
        return name.to_owned();
    }
    let mut text: String = name.chars().take(20).collect();
    while text.chars().count() > 1 && !fits(&format!("{text}…")) {
        text.pop();
    }
    format!("{text}…")
}
