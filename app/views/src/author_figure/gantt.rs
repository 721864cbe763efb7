//! Rows of intervals; time runs to the right.

use super::Items;
use super::look::{Brush, Fill, ink_on, named, tick};
use egui::{Align2, Rect, Stroke, Vec2, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread, Type};
use vramlab_lesson::figure::picture::{GanttPicture, Interval};
use vramlab_units::Lang;
use vramlab_units::show::{number, readable};

const ROW: f32 = 34.0;

pub fn size(brush: &Brush<'_>, gantt: &GanttPicture, width: f32) -> Vec2 {
    let width = width.max(brush.px(320.0));
    let legend = legend_height(brush, &legend(brush, gantt, width), width);
    vec2(width, legend + gantt.rows.len() as f32 * brush.px(ROW) + brush.px(46.0))
}

/// The kinds of interval that have a name, once each, with their fill. One kind alone needs no legend while its bars
/// have room for its name; several always have one, so that the picture does not jump while a slider moves.
fn legend<'g>(brush: &Brush<'_>, gantt: &'g GanttPicture, width: f32) -> Vec<(&'g str, Fill)> {
    let mut out: Vec<(&str, Fill)> = Vec::new();
    let mut is_cut = false;
    let plot = plane(brush, Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 200.0)), gantt);
    for (_, spans) in &gantt.rows {
        for span in spans {
            let label = span.label.get(brush.lang);
            if label.is_empty() {
                continue;
            }
            let fill = fill_of(brush, spans, span);
            if !out.contains(&(label, fill)) {
                out.push((label, fill));
            }
            let ends =
                plot.as_ref().and_then(|plane| Some((at(plane, span.start)?, at(plane, span.start + span.length)?)));
            is_cut |= ends.is_some_and(|(from, to)| !has_room(brush, label, to - from));
        }
    }
    if out.len() > 1 || is_cut { out } else { Vec::new() }
}

fn at(plane: &Plane, time: f64) -> Option<f32> {
    plane.pos(time, 0.0).map(|pos| pos.x)
}

fn fill_of(brush: &Brush<'_>, spans: &[Interval], span: &Interval) -> Fill {
    brush.fill(span.role, span.kind_idx, spans.iter().map(|span| span.kind_idx + 1).max().unwrap_or(1))
}

fn has_room(brush: &Brush<'_>, label: &str, width: f32) -> bool {
    brush.width(label, Type::Small) <= width - brush.px(10.0)
}

/// Where each entry stands, and how many rows there are.
fn places(brush: &Brush<'_>, entries: &[(&str, Fill)], width: f32) -> (Vec<Vec2>, usize) {
    let (mut x, mut row, mut out) = (0.0, 0, Vec::new());
    for (label, _) in entries {
        let need = brush.width(label, Type::Small) + brush.px(34.0);
        if x > 0.0 && x + need > width {
            (x, row) = (0.0, row + 1);
        }
        out.push(vec2(x, row as f32 * brush.px(20.0)));
        x += need;
    }
    (out, if entries.is_empty() { 0 } else { row + 1 })
}

fn legend_height(brush: &Brush<'_>, entries: &[(&str, Fill)], width: f32) -> f32 {
    match places(brush, entries, width).1 {
        0 => 0.0,
        n => n as f32 * brush.px(20.0) + brush.px(8.0),
    }
}

fn legend_on(brush: &Brush<'_>, rect: Rect, entries: &[(&str, Fill)]) {
    for (place, (label, fill)) in places(brush, entries, rect.width()).0.into_iter().zip(entries) {
        let middle = rect.min + place + vec2(brush.px(6.0), brush.px(9.0));
        brush.block(Rect::from_center_size(middle, Vec2::splat(brush.px(12.0))), *fill, 2.0);
        let at = middle + vec2(brush.px(12.0), 0.0);
        brush.text(at, Align2::LEFT_CENTER, label, Type::Small, brush.tokens.muted);
    }
}

fn plane(brush: &Brush<'_>, rect: Rect, gantt: &GanttPicture) -> Option<Plane> {
    let labels = gantt.rows.iter().map(|(label, _)| brush.width(brush.say(label), Type::Note));
    let labels = labels.fold(0.0, f32::max).min(rect.width() * 0.32);
    let starts = gantt.rows.iter().flat_map(|(_, spans)| spans).map(|span| span.start);
    let first = starts.fold(0.0, f64::min);
    let end = if gantt.end > first { gantt.end } else { first + 1.0 };
    let plot = Rect::from_min_max(
        rect.min + vec2(labels + brush.px(14.0), brush.px(2.0)),
        rect.max - vec2(brush.px(14.0), brush.px(44.0)),
    );
    Some(Plane { x: Axis::new(Spread::Linear, first, end)?, y: Axis::new(Spread::Linear, 0.0, 1.0)?, rect: plot })
}

pub fn paint(brush: &Brush<'_>, rect: Rect, gantt: &GanttPicture) -> Items {
    let mut items = Items::default();
    let entries = legend(brush, gantt, rect.width());
    legend_on(brush, rect, &entries);
    let rect = rect.with_min_y(rect.top() + legend_height(brush, &entries, rect.width()));
    let Some(plane) = plane(brush, rect, gantt) else { return items };
    let (painter, tokens, plot) = (&brush.painter, brush.tokens, plane.rect);
    let n_ticks = (plot.width() / brush.px(64.0)) as usize;
    for value in plane.x.ticks(n_ticks) {
        if let Some(at) = plane.pos(value, 0.0) {
            painter.vline(at.x, plot.y_range(), Stroke::new(1.0, tokens.grid));
        }
    }
    plane.paint_columns(painter, tokens, &|value| tick(value, &gantt.unit), n_ticks);
    painter.hline(plot.x_range(), plot.bottom(), Stroke::new(1.0, tokens.line));
    let unit =
        if brush.lang == Lang::Zh { format!("时间（{}）", gantt.unit) } else { format!("time ({})", gantt.unit) };
    brush.text(pos2(plot.right(), rect.bottom()), Align2::RIGHT_BOTTOM, &unit, Type::Small, tokens.muted);
    for (row_idx, (label, spans)) in gantt.rows.iter().enumerate() {
        let top = plot.top() + row_idx as f32 * brush.px(ROW);
        let row = Rect::from_min_size(pos2(plot.left(), top), vec2(plot.width(), brush.px(ROW)));
        let name = brush.cut(brush.say(label), Type::Note, tokens.ink, plot.left() - rect.left() - brush.px(10.0));
        painter.galley(pos2(rect.left(), row.center().y - name.size().y / 2.0), name, tokens.ink);
        for span in spans {
            let (Some(from), Some(to)) = (at(&plane, span.start), at(&plane, span.start + span.length)) else {
                continue;
            };
            let bar = Rect::from_min_max(
                pos2(from, row.top() + brush.px(5.0)),
                pos2(to.max(from + 1.0), row.bottom() - brush.px(5.0)),
            );
            bar_on(brush, bar, (span, fill_of(brush, spans, span)), to - from);
            items.push(bar, words(brush, gantt, brush.say(label), span));
        }
    }
    items
}

/// `width` is the true one; a stroke that is thinner than a point is paler instead, so that many of them do not look
/// like more than they are.
fn bar_on(brush: &Brush<'_>, bar: Rect, (span, fill): (&Interval, Fill), width: f32) {
    let gap = if bar.width() > 4.0 { 0.5 } else { 0.0 };
    let painted = match fill {
        Fill::Color(color) if width < 1.0 => Fill::Color(brush.tokens.tint(color, width.clamp(0.2, 1.0))),
        fill => fill,
    };
    brush.block(bar.shrink2(vec2(gap, 0.0)), painted, bar.width().min(6.0) / 2.0);
    let label = brush.say(&span.label);
    if label.is_empty() || !has_room(brush, label, bar.width()) {
        return;
    }
    let ink = match fill {
        Fill::Color(color) => ink_on(brush.tokens, color),
        Fill::Area(_) => brush.tokens.ink,
    };
    brush.text(bar.center(), Align2::CENTER_CENTER, label, Type::Small, ink);
}

fn words(brush: &Brush<'_>, gantt: &GanttPicture, row: &str, span: &Interval) -> String {
    let label = brush.say(&span.label);
    let name = if label.is_empty() { row.to_owned() } else { format!("{row} · {label}") };
    let length = named(brush.lang, &name, span.length, &gantt.unit);
    let (from, to) = (number(span.start), readable(span.start + span.length, &gantt.unit));
    match brush.lang {
        Lang::Zh => format!("{length}，从 {from} 到 {to}"),
        Lang::En => format!("{length}, from {from} to {to}"),
    }
}
