//! Painting the ledger over a step. It sees the timeline, the geometry and the tokens, and decides nothing.

use super::layout::Geometry;
use super::words;
use crate::ink;
use egui::{Align2, Color32, Mesh, Painter, Pos2, Rect, Shape, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_ledger::{Holder, Owner, Timeline};
use vramlab_units::show::number;
use vramlab_units::{Lang, show};

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub timeline: &'a Timeline,
    pub card_bytes: f64,
    pub cursor: usize,
    pub hovered: Option<usize>,
}

/// A smaller change of the dashed line is not drawn, in points.
const LEAST_RISE: f32 = 1.0;

/// The colour of a holder: the role's, paler for what is a copy or on its way.
pub fn color(tokens: &Tokens, holder: Holder) -> Color32 {
    let role = |role| tokens.role(role);
    match holder {
        Holder::Owner(Owner::Parameter) => role(Role::Parameters),
        Holder::Owner(Owner::WeightCast) => tokens.tint(role(Role::Parameters), 0.45),
        Holder::Owner(Owner::Optimizer) => role(Role::Optimizer),
        Holder::Owner(Owner::Gradient) => role(Role::Gradients),
        Holder::Owner(Owner::ActivationGradient) => tokens.tint(role(Role::Gradients), 0.45),
        Holder::Owner(Owner::Activation) => role(Role::Activations),
        Holder::Owner(Owner::Logits) => tokens.tint(role(Role::Activations), 0.45),
        Holder::Owner(Owner::Temporary) => role(Role::Workspace),
        Holder::Owner(Owner::Input) => tokens.tint(tokens.muted, 0.6),
        Holder::Rest => tokens.tint(tokens.muted, 0.35),
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        let unit = self.geometry.unit.1;
        let y_text = |value: f64| format!("{}{}{unit}", number(value), show::THIN);
        self.geometry.plane.paint_grid(self.painter, self.tokens, &|_| String::new(), &y_text);
        let stacks = self.stacks();
        self.areas(&stacks);
        self.edges(&stacks);
        self.reserved();
        self.card();
        self.phases();
        self.cursor();
        self.names(&stacks);
        self.peak();
    }

    /// For each column the heights between bands, from the axis upwards.
    fn stacks(&self) -> Vec<Vec<f32>> {
        let bands = &self.timeline.bands;
        let stack = |at: &usize| {
            let mut sum = 0;
            let mut edges = vec![self.geometry.y_from_bytes(0.0)];
            edges.extend(bands.iter().map(|band| {
                sum += band.bytes[*at];
                self.geometry.y_from_bytes(sum as f64)
            }));
            edges
        };
        self.geometry.columns.iter().map(stack).collect()
    }

    fn areas(&self, stacks: &[Vec<f32>]) {
        let mut mesh = Mesh::default();
        let colors: Vec<Color32> = self.timeline.bands.iter().map(|band| color(self.tokens, band.holder)).collect();
        for (idx, edges) in stacks.iter().enumerate() {
            let (left, right) = self.geometry.column(idx);
            for (pair, color) in edges.windows(2).zip(&colors).filter(|(pair, _)| pair[1] < pair[0]) {
                mesh.add_colored_rect(Rect::from_min_max(pos2(left, pair[1]), pos2(right, pair[0])), *color);
            }
        }
        self.painter.add(Shape::mesh(mesh));
    }

    /// A thin line of the card's ground between neighbouring bands.
    fn edges(&self, stacks: &[Vec<f32>]) {
        let stroke = egui::Stroke::new(1.0, self.tokens.surface);
        for upto in 1..self.timeline.bands.len() {
            let line: Vec<Pos2> = (stacks.iter().enumerate())
                .flat_map(|(idx, edges)| {
                    let (left, right) = self.geometry.column(idx);
                    [pos2(left, edges[upto]), pos2(right, edges[upto])]
                })
                .collect();
            self.painter.add(Shape::line(line, stroke));
        }
    }

    /// What the allocator has taken from the card: a model's line is dashed.
    fn reserved(&self) {
        // Corners only, and those that can be seen: dashes along hundreds of short pieces would not be even.
        let mut line: Vec<Pos2> = Vec::new();
        for (idx, at) in self.geometry.columns.iter().enumerate() {
            let x = self.geometry.column(idx).0;
            let y = self.geometry.y_from_bytes(self.timeline.reserved[*at] as f64);
            match line.last().copied() {
                Some(last) if (last.y - y).abs() < LEAST_RISE => {}
                Some(last) => line.extend([pos2(x, last.y), pos2(x, y)]),
                None => line.push(pos2(x, y)),
            }
        }
        line.extend(line.last().map(|last| pos2(self.geometry.plot().right(), last.y)));
        let tokens = self.tokens;
        ink::dashes(self.painter, &line, tokens.stroke(1.3, tokens.ink), tokens.px(5.0), tokens.px(4.0));
    }

    fn card(&self) {
        if !self.geometry.shows_card {
            return;
        }
        let (tokens, plot) = (self.tokens, self.geometry.plot());
        let y = self.geometry.y_from_bytes(self.card_bytes);
        self.painter.hline(plot.x_range(), y, tokens.stroke(2.0, tokens.bad));
        let text = words::card(self.card_bytes, self.lang);
        let at = pos2(plot.left() + tokens.px(6.0), y - tokens.px(2.0));
        ink::text_on(self.painter, at, Align2::LEFT_BOTTOM, text, tokens.font(Type::Small), tokens.bad, tokens.surface);
    }

    /// Brackets above the plot, a hairline between phases.
    fn phases(&self) {
        let (tokens, plot) = (self.tokens, self.geometry.plot());
        let y = plot.top() - tokens.px(20.0);
        let font = tokens.font(Type::Note);
        let mut free_from = plot.left();
        for (idx, phase) in self.timeline.phases.iter().enumerate() {
            let (left, right) = (self.geometry.x_before(phase.from), self.geometry.x_before(phase.until));
            if idx > 0 {
                self.painter.vline(left, y..=plot.bottom(), tokens.hairline());
            }
            let inner = (left + 2.0)..=(right - 2.0).max(left + 3.0);
            self.painter.hline(inner, y, tokens.stroke(2.0, tokens.tint(tokens.ink, 0.5)));
            let name = phase.part.title().get(self.lang);
            let width = ink::text_width(self.painter, name, font.clone());
            let at = ((left + right) / 2.0 - width / 2.0).max(left).max(free_from);
            if at + width <= plot.right() + tokens.px(8.0) {
                let corner = pos2(at, y - tokens.px(4.0));
                ink::text(self.painter, corner, Align2::LEFT_BOTTOM, name, font.clone(), tokens.ink);
                free_from = at + width + tokens.px(8.0);
            }
        }
        let font = tokens.font(Type::Small);
        let below = plot.bottom() + tokens.px(8.0);
        let text = words::axis(self.timeline.allocated.len(), self.lang);
        ink::text(self.painter, pos2(plot.right(), below), Align2::RIGHT_TOP, text, font, tokens.muted);
    }

    /// A band's name where it is thickest, if it has the room.
    fn names(&self, stacks: &[Vec<f32>]) {
        let tokens = self.tokens;
        let font = tokens.font(Type::Small);
        for (band_idx, band) in self.timeline.bands.iter().enumerate() {
            let name = words::short(band.holder, self.lang);
            let width = ink::text_width(self.painter, name, font.clone());
            let Some((at, middle)) = self.room(stacks, band_idx, width + tokens.px(10.0)) else { continue };
            let fill = color(tokens, band.holder);
            ink::text(self.painter, pos2(at, middle), Align2::CENTER_CENTER, name, font.clone(), on(tokens, fill));
        }
    }

    /// Where a text of `width` lies within a band over its whole length and crosses no line: the place with the most room, of
    /// equals the nearest to the middle.
    fn room(&self, stacks: &[Vec<f32>], band: usize, width: f32) -> Option<(f32, f32)> {
        let columns = &self.geometry.columns;
        let step = self.geometry.plot().width() / columns.len().max(1) as f32;
        let n = (width / step).ceil().max(1.0) as usize;
        if n > columns.len() {
            return None;
        }
        let edges: Vec<(f32, f32)> = stacks.iter().map(|edges| (edges[band + 1], edges[band])).collect();
        let stride = (n / 4).max(1);
        let borders = self.timeline.phases.iter().map(|phase| self.geometry.x_before(phase.from));
        let lines: Vec<f32> = borders.chain([self.geometry.x_from_event(self.cursor)]).collect();
        let crosses = |from: usize| {
            let (left, right) = (self.geometry.column(from).0, self.geometry.column(from + n - 1).1);
            lines.iter().any(|x| *x > left + 1.0 && *x < right - 1.0)
        };
        let middle = (columns.len() - n) / 2;
        let best = (0..=columns.len() - n)
            .step_by(stride)
            .filter(|from| !crosses(*from))
            .map(|from| {
                let part = &edges[from..from + n];
                let top = part.iter().map(|edge| edge.0).fold(f32::MIN, f32::max);
                let bottom = part.iter().map(|edge| edge.1).fold(f32::MAX, f32::min);
                (bottom - top, from, (top + bottom) / 2.0)
            })
            .max_by(|a, b| {
                let whole = |height: f32| height.round() as i64;
                whole(a.0).cmp(&whole(b.0)).then(b.1.abs_diff(middle).cmp(&a.1.abs_diff(middle)))
            })?;
        let is_room = best.0 >= self.tokens.px(16.0);
        is_room.then(|| (self.geometry.column(best.1).0 + width / 2.0, best.2))
    }

    fn cursor(&self) {
        let (tokens, plot) = (self.tokens, self.geometry.plot());
        for (at, stroke) in
            [(self.hovered, tokens.stroke(1.0, tokens.muted)), (Some(self.cursor), tokens.stroke(1.5, tokens.accent))]
        {
            let Some(at) = at else { continue };
            let x = self.geometry.x_from_event(at);
            self.painter.vline(x, plot.top() - tokens.px(8.0)..=plot.bottom() + tokens.px(4.0), stroke);
        }
    }

    fn peak(&self) {
        let (tokens, plot) = (self.tokens, self.geometry.plot());
        let peak = &self.timeline.peak;
        let at = self.geometry.pos(peak.at, peak.bytes);
        self.painter.circle(at, tokens.px(4.5), tokens.surface, tokens.stroke(2.0, tokens.ink));
        let text = words::peak(peak, self.lang);
        let font = tokens.font(Type::NoteStrong);
        let width = ink::text_width(self.painter, &text, font.clone());
        let gap = vec2(tokens.px(9.0), 0.0);
        let is_right = at.x + gap.x + width <= plot.right();
        let is_left = at.x - gap.x - width >= plot.left();
        let (corner, anchor) = match (is_right, is_left) {
            (true, _) => (at + gap, Align2::LEFT_CENTER),
            (false, true) => (at - gap, Align2::RIGHT_CENTER),
            _ => (pos2(plot.right(), at.y + tokens.px(16.0)), Align2::RIGHT_CENTER),
        };
        ink::text_on(self.painter, corner, anchor, text, font, tokens.ink, tokens.surface);
    }
}

/// Ink or ground, whichever is read better on a fill.
fn on(tokens: &Tokens, fill: Color32) -> Color32 {
    let light = |color: Color32| {
        let [r, g, b, _] = color.to_array().map(f32::from);
        0.299 * r + 0.587 * g + 0.114 * b
    };
    let far = |color: Color32| (light(color) - light(fill)).abs();
    if far(tokens.ink) >= far(tokens.surface) { tokens.ink } else { tokens.surface }
}
