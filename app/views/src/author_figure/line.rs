//! Lines over a slider: curves, ceilings, and a marker where the slider stands.

use super::Items;
use super::look::{Brush, axis_title, spread, tick, y_axis};
use crate::experiment_chart::spread_labels;
use crate::ink;
use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use vramlab_kit::{Axis, Plane, Type};
use vramlab_lesson::figure::Style;
use vramlab_lesson::figure::picture::{Curve, LinePicture};
use vramlab_units::show::readable;

/// From this width on the curves are named at their ends.
const WIDE: f32 = 520.0;

pub fn size(brush: &Brush<'_>, _: &LinePicture, width: f32) -> Vec2 {
    vec2(width, (width * 0.5).clamp(brush.px(250.0), brush.px(320.0)))
}

/// Where things are: the plane of the curves, and the names.
struct Layout {
    plane: Option<Plane>,
    plot: Rect,
    is_named_at_ends: bool,
}

/// A line with the curves of the figure's start behind it, once other sliders than that of x have been moved: so that a
/// change is seen although the axis fits.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub line: &'a LinePicture,
    pub start: Option<&'a LinePicture>,
}

fn axes(seen: Seen<'_>) -> Option<(Axis, Axis)> {
    let line = seen.line;
    let curves = line.curves.iter().chain(seen.start.into_iter().flat_map(|start| &start.curves));
    let drawn = curves.flat_map(|curve| curve.points.iter().filter_map(|(_, y)| *y).chain(curve.now));
    let x = Axis::new(spread(line.x_scale, &line.x_unit), line.x_min, line.x_max)?;
    Some((x, y_axis(&line.y, &line.y_unit, drawn)?))
}

fn layout(brush: &Brush<'_>, rect: Rect, seen: Seen<'_>) -> Layout {
    let line = seen.line;
    let axes = axes(seen);
    let ticks = axes.map(|(_, y)| y.ticks(8)).unwrap_or_default();
    let widest = ticks.iter().map(|value| brush.width(&tick(*value, &line.y_unit), Type::Small)).fold(0.0, f32::max);
    let names = line.curves.iter().map(|curve| brush.width(brush.say(&curve.label), Type::Small));
    let names = names.fold(0.0, f32::max).min(rect.width() * 0.26) + brush.px(10.0);
    let is_named_at_ends = rect.width() >= brush.px(WIDE);
    let right = if is_named_at_ends { names } else { brush.px(12.0) };
    let n_rows = if is_named_at_ends { 0 } else { legend_rows(brush, rect.width(), line).len() };
    let top = brush.px(24.0) + n_rows as f32 * brush.px(18.0) + if n_rows > 0 { brush.px(14.0) } else { 0.0 };
    let plot =
        Rect::from_min_max(rect.min + vec2(widest + brush.px(12.0), top), rect.max - vec2(right, brush.px(42.0)));
    Layout { plane: axes.map(|(x, y)| Plane { x, y, rect: plot }), plot, is_named_at_ends }
}

/// On a narrow page the names stand above the plot, in as many rows as they need.
fn legend_rows(brush: &Brush<'_>, width: f32, line: &LinePicture) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    let mut left = 0.0;
    for (idx, curve) in line.curves.iter().enumerate() {
        let need = brush.width(brush.say(&curve.label), Type::Small) + brush.px(40.0);
        match rows.last_mut().filter(|_| left >= need) {
            Some(row) => row.push(idx),
            None => {
                rows.push(vec![idx]);
                left = width;
            }
        }
        left -= need;
    }
    rows
}

/// The value of the swept slider at `pos`.
pub fn x_from_pos(brush: &Brush<'_>, rect: Rect, seen: Seen<'_>, pos: Pos2) -> Option<f64> {
    let plane = layout(brush, rect, seen).plane?;
    let share = (pos.x - plane.rect.left()) / plane.rect.width().max(1.0);
    Some(plane.x.value_from_share(f64::from(share.clamp(0.0, 1.0))))
}

pub fn paint(brush: &Brush<'_>, rect: Rect, seen: Seen<'_>, hover: Option<Pos2>) -> Items {
    let line = seen.line;
    let at = layout(brush, rect, seen);
    let mut items = Items::default();
    let Some(plane) = at.plane else {
        brush.nothing(rect);
        return items;
    };
    let (painter, tokens) = (&brush.painter, brush.tokens);
    plane.paint_grid(painter, tokens, &|x| tick(x, &line.x_unit), &|y| tick(y, &line.y_unit));
    painter.hline(at.plot.x_range(), at.plot.bottom(), Stroke::new(1.0, tokens.line));
    let y_title = axis_title(brush.lang, brush.say(&line.y.label), &line.y_unit);
    brush.text(pos2(rect.left(), rect.top()), Align2::LEFT_TOP, &y_title, Type::Small, tokens.muted);
    let x_title = axis_title(brush.lang, brush.say(&line.x_label), &line.x_unit);
    brush.text(pos2(at.plot.right(), rect.bottom()), Align2::RIGHT_BOTTOM, &x_title, Type::Small, tokens.muted);
    let inside = painter.with_clip_rect(at.plot.expand(brush.px(3.0)));
    if let Some(start) = seen.start {
        for (idx, curve) in start.curves.iter().enumerate().filter(|(_, curve)| curve.style == Style::Solid) {
            curve_on(brush, &inside, &plane, curve, tokens.tint(color(brush, start, idx), 0.35));
        }
    }
    for (idx, curve) in line.curves.iter().enumerate() {
        curve_on(brush, &inside, &plane, curve, color(brush, line, idx));
    }
    let named_to = if at.is_named_at_ends { rect.left() + brush.width(&y_title, Type::Small) } else { rect.left() };
    marker(brush, &plane, line, named_to);
    names(brush, &at, &plane, rect, line);
    hovered(brush, &plane, line, hover, &mut items);
    items
}

fn color(brush: &Brush<'_>, line: &LinePicture, idx: usize) -> Color32 {
    let is_plain = |curve: &&Curve| curve.style == Style::Solid && curve.role.is_none();
    let n = line.curves.iter().filter(is_plain).count();
    let curve = &line.curves[idx];
    match (curve.style, curve.role) {
        (Style::Ceiling, None) => brush.tokens.muted,
        (Style::Dashed, None) => brush.tokens.ink,
        (_, role) => brush.color(role, line.curves[..idx].iter().filter(is_plain).count(), n),
    }
}

fn curve_on(brush: &Brush<'_>, painter: &egui::Painter, plane: &Plane, curve: &Curve, color: Color32) {
    let reach = plane.rect.height() * 2.0;
    let place = |(x, y): &(f64, Option<f64>)| {
        let pos = plane.pos(*x, (*y)?)?;
        // Far outside is as good as just outside, and keeps the tessellator's numbers small.
        Some(pos2(pos.x, pos.y.clamp(plane.rect.top() - reach, plane.rect.bottom() + reach)))
    };
    let places: Vec<Option<Pos2>> = curve.points.iter().map(place).collect();
    for piece in places.split(Option::is_none).filter(|piece| piece.len() > 1) {
        let path: Vec<Pos2> = piece.iter().flatten().copied().collect();
        match curve.style {
            Style::Solid => {
                painter.add(Shape::line(path, brush.tokens.stroke(2.2, color)));
            }
            Style::Dashed => ink::dashes(painter, &path, brush.tokens.stroke(1.6, color), brush.px(6.0), brush.px(4.0)),
            Style::Ceiling => {
                painter.add(Shape::line(path, brush.tokens.stroke(1.4, color)));
            }
        }
    }
}

/// Where the slider stands: a line in the colour of what can be moved, and a dot on each curve.
/// `named_to`: how far the same line is taken by the name of the y axis.
fn marker(brush: &Brush<'_>, plane: &Plane, line: &LinePicture, named_to: f32) {
    let (painter, tokens) = (&brush.painter, brush.tokens);
    let Some(foot) = plane.pos(line.at, plane.y.min).filter(|foot| plane.rect.expand(1.0).x_range().contains(foot.x))
    else {
        return;
    };
    let ends = [pos2(foot.x, plane.rect.top()), pos2(foot.x, plane.rect.bottom())];
    ink::dashes(painter, &ends, tokens.stroke(1.2, tokens.accent), brush.px(3.0), brush.px(3.0));
    let text = readable(line.at, &line.x_unit);
    let half = brush.width(&text, Type::MonoSmall) / 2.0;
    let from = (plane.rect.left() + half).max(named_to + brush.px(6.0) + half).min(plane.rect.right() - half);
    let x = foot.x.clamp(from, (plane.rect.right() - half).max(from));
    let above = pos2(x, plane.rect.top() - brush.px(2.0));
    brush.text(above, Align2::CENTER_BOTTOM, &text, Type::MonoSmall, tokens.accent);
    for (idx, curve) in line.curves.iter().enumerate() {
        let Some(pos) = curve.now.and_then(|y| plane.pos(line.at, y)) else { continue };
        if plane.rect.expand(2.0).contains(pos) {
            painter.circle(pos, brush.px(4.5), color(brush, line, idx), tokens.stroke(1.5, tokens.surface));
        }
    }
}

fn names(brush: &Brush<'_>, at: &Layout, plane: &Plane, rect: Rect, line: &LinePicture) {
    let tokens = brush.tokens;
    if at.is_named_at_ends {
        let end = |curve: &Curve| {
            let last = curve.points.iter().rev().find_map(|(x, y)| plane.pos(*x, (*y)?));
            last.map_or(at.plot.bottom(), |pos| pos.y.clamp(at.plot.top(), at.plot.bottom()))
        };
        let wishes: Vec<f32> = line.curves.iter().map(end).collect();
        let placed = spread_labels(&wishes, brush.px(15.0), at.plot.top(), at.plot.bottom());
        for (idx, curve) in line.curves.iter().enumerate() {
            let left = at.plot.right() + brush.px(6.0);
            let galley = brush.cut(brush.say(&curve.label), Type::Small, color(brush, line, idx), rect.right() - left);
            brush.painter.galley(pos2(left, placed[idx] - galley.size().y / 2.0), galley, tokens.ink);
        }
        return;
    }
    for (row_idx, row) in legend_rows(brush, rect.width(), line).into_iter().enumerate() {
        let y = rect.top() + brush.px(27.0) + row_idx as f32 * brush.px(18.0) - brush.px(4.0);
        let mut x = rect.left();
        for idx in row {
            let ends = [pos2(x, y), pos2(x + brush.px(20.0), y)];
            let stroke = tokens.stroke(2.2, color(brush, line, idx));
            match line.curves[idx].style {
                Style::Dashed => ink::dashes(&brush.painter, &ends, stroke, brush.px(5.0), brush.px(3.0)),
                _ => {
                    brush.painter.line_segment(ends, stroke);
                }
            }
            let label = brush.say(&line.curves[idx].label);
            let word = brush.text(pos2(x + brush.px(25.0), y), Align2::LEFT_CENTER, label, Type::Small, tokens.muted);
            x = word.right() + brush.px(14.0);
        }
    }
}

/// The values under the pointer, else none: the figure's caption speaks for the marker.
fn hovered(brush: &Brush<'_>, plane: &Plane, line: &LinePicture, hover: Option<Pos2>, items: &mut Items) {
    let Some(pos) = hover.filter(|pos| plane.rect.contains(*pos)) else { return };
    let distance = |x: f64| plane.pos(x, plane.y.min).map_or(f32::INFINITY, |at| (at.x - pos.x).abs());
    let Some(first) = line.curves.first() else { return };
    let nearest =
        (0..first.points.len()).min_by(|a, b| distance(first.points[*a].0).total_cmp(&distance(first.points[*b].0)));
    let Some(nearest) = nearest else { return };
    let x = first.points[nearest].0;
    let mut words = vec![super::look::named(brush.lang, brush.say(&line.x_label), x, &line.x_unit)];
    for (idx, curve) in line.curves.iter().enumerate() {
        let Some((_, Some(y))) = curve.points.get(nearest) else { continue };
        words.push(super::look::named(brush.lang, brush.say(&curve.label), *y, &line.y_unit));
        if let Some(at) = plane.pos(x, *y).filter(|at| plane.rect.expand(2.0).contains(*at)) {
            brush.painter.circle_stroke(at, brush.px(4.5), brush.tokens.stroke(1.5, color(brush, line, idx)));
        }
    }
    let join = if brush.lang == vramlab_units::Lang::Zh { "，" } else { ", " };
    items.hovered = Some(words.join(join));
}
