//! Rows of intervals; time runs to the right.

use super::Items;
use super::look::{Brush, Fill, ink_on, named, tick};
use egui::{Align2, Rect, Stroke, Vec2, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread, Type};
use vramlab_lesson::figure::picture::{GanttPicture, Interval};
use vramlab_units::Lang;
use vramlab_units::show::{number, with_unit};

const ROW: f32 = 34.0;

pub fn size(brush: &Brush<'_>, gantt: &GanttPicture, width: f32) -> Vec2 {
    vec2(width.max(brush.px(320.0)), gantt.rows.len() as f32 * brush.px(ROW) + brush.px(46.0))
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
        let n_kinds = spans.iter().map(|span| span.kind_idx + 1).max().unwrap_or(1);
        for span in spans {
            let (Some(from), Some(to)) = (plane.pos(span.start, 0.0), plane.pos(span.start + span.length, 0.0)) else {
                continue;
            };
            let bar = Rect::from_min_max(
                pos2(from.x, row.top() + brush.px(5.0)),
                pos2(to.x.max(from.x + 1.0), row.bottom() - brush.px(5.0)),
            );
            bar_on(brush, bar, span, n_kinds);
            items.push(bar, words(brush, gantt, brush.say(label), span));
        }
    }
    items
}

fn bar_on(brush: &Brush<'_>, bar: Rect, span: &Interval, n_kinds: usize) {
    let fill = brush.fill(span.role, span.kind_idx, n_kinds);
    let gap = if bar.width() > 4.0 { 0.5 } else { 0.0 };
    brush.block(bar.shrink2(vec2(gap, 0.0)), fill, 3.0);
    let label = brush.say(&span.label);
    let room = bar.width() - brush.px(10.0);
    if label.is_empty() || brush.width(label, Type::Small) > room {
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
    let (from, to) = (number(span.start), with_unit(span.start + span.length, &gantt.unit));
    match brush.lang {
        Lang::Zh => format!("{length}，从 {from} 到 {to}"),
        Lang::En => format!("{length}, from {from} to {to}"),
    }
}
