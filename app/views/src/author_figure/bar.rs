//! Bars, plain or stacked, standing on 0.

use super::Items;
use super::look::{Brush, axis_title, named, tick, y_axis};
use egui::{Align2, Rect, Stroke, Vec2, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread, Type};
use vramlab_lesson::figure::picture::{BarPicture, PartValue};
use vramlab_units::show::readable;

/// A bar with its name takes at least this; five fit a phone.
const LEAST: f32 = 48.0;

pub fn size(brush: &Brush<'_>, bars: &BarPicture, width: f32) -> Vec2 {
    let need = bars.bars.len() as f32 * brush.px(LEAST) + brush.px(64.0);
    vec2(width.max(need), brush.px(260.0) + legend_height(brush, bars, width.max(need)))
}

/// The parts of stacked bars, by name, once each.
fn legend<'b>(brush: &Brush<'_>, bars: &'b BarPicture) -> Vec<(&'b PartValue, usize)> {
    let mut out: Vec<(&PartValue, usize)> = Vec::new();
    if bars.bars.iter().all(|(_, parts)| parts.len() < 2) {
        return out;
    }
    for (_, parts) in &bars.bars {
        for (idx, part) in parts.iter().enumerate() {
            if !out.iter().any(|(known, _)| brush.say(&known.label) == brush.say(&part.label)) {
                out.push((part, idx));
            }
        }
    }
    out
}

fn legend_height(brush: &Brush<'_>, bars: &BarPicture, width: f32) -> f32 {
    let (mut x, mut n_rows) = (0.0, 0);
    for (part, _) in legend(brush, bars) {
        let need = brush.width(brush.say(&part.label), Type::Small) + brush.px(34.0);
        if n_rows == 0 || x + need > width {
            n_rows += 1;
            x = 0.0;
        }
        x += need;
    }
    if n_rows > 0 { n_rows as f32 * brush.px(20.0) + brush.px(18.0) } else { 0.0 }
}

fn n_parts(bars: &BarPicture) -> usize {
    bars.bars.iter().map(|(_, parts)| parts.len()).max().unwrap_or(1)
}

pub fn paint(brush: &Brush<'_>, rect: Rect, bars: &BarPicture) -> Items {
    let mut items = Items::default();
    let total = |parts: &[PartValue]| parts.iter().map(|part| part.value).sum::<f64>();
    let totals = bars.bars.iter().map(|(_, parts)| total(parts));
    let limit = bars.limit.as_ref().map(|(_, value)| *value);
    let (Some(y), Some(x)) = (
        y_axis(&bars.y, &bars.unit, totals.chain(limit).chain([0.0])),
        Axis::new(Spread::Linear, 0.0, bars.bars.len() as f64),
    ) else {
        return items;
    };
    let (painter, tokens) = (&brush.painter, brush.tokens);
    let ticks = y.ticks(8);
    let widest = ticks.iter().map(|value| brush.width(&tick(*value, &bars.unit), Type::Small)).fold(0.0, f32::max);
    let top = rect.top() + brush.px(24.0) + legend_height(brush, bars, rect.width());
    let plot = Rect::from_min_max(
        pos2(rect.left() + widest + brush.px(12.0), top),
        rect.max - vec2(brush.px(6.0), brush.px(40.0)),
    );
    let plane = Plane { x, y, rect: plot };
    plane.paint_grid(painter, tokens, &|_| String::new(), &|value| tick(value, &bars.unit));
    let y_title = axis_title(brush.lang, brush.say(&bars.y.label), &bars.unit);
    brush.text(rect.min, Align2::LEFT_TOP, &y_title, Type::Small, tokens.muted);
    legend_on(brush, rect, bars);
    let clip = painter.with_clip_rect(plot.expand(1.0));
    let pitch = plot.width() / bars.bars.len().max(1) as f32;
    let bar_width = (pitch * 0.62).min(brush.px(76.0));
    for (idx, (label, parts)) in bars.bars.iter().enumerate() {
        let middle = plot.left() + pitch * (idx as f32 + 0.5);
        let inside = Brush { painter: clip.clone(), ..*brush };
        let tip = stack(&inside, &plane, bars, (brush.say(label), parts), (middle, bar_width), &mut items);
        let text = readable(total(parts), &bars.unit);
        let above = pos2(middle, tip.max(plot.top() + brush.px(2.0)) - brush.px(2.0));
        let text = brush.cut(&text, Type::MonoSmall, tokens.ink, pitch);
        painter.galley(above - vec2(text.size().x / 2.0, text.size().y), text, tokens.ink);
        let name = brush.centred(brush.say(label), Type::Small, tokens.muted, pitch - brush.px(2.0));
        painter.galley(pos2(middle, plot.bottom() + brush.px(6.0)), name, tokens.muted);
    }
    if let Some(zero) = plane.pos(0.0, 0.0).filter(|at| plot.expand(1.0).y_range().contains(at.y)) {
        painter.hline(plot.x_range(), zero.y, Stroke::new(1.0, tokens.line));
    }
    limit_on(brush, &plane, rect, bars);
    items
}

/// The line that no bar should pass; its name stands above the plot, where no bar and no value is.
fn limit_on(brush: &Brush<'_>, plane: &Plane, rect: Rect, bars: &BarPicture) {
    let Some((label, value)) = &bars.limit else { return };
    let Some(at) = plane.pos(0.0, *value).filter(|at| plane.rect.expand(1.0).y_range().contains(at.y)) else { return };
    let tokens = brush.tokens;
    let stroke = tokens.stroke(1.6, tokens.ink);
    brush.painter.hline(plane.rect.x_range(), at.y, stroke);
    let words = named(brush.lang, brush.say(label), *value, &bars.unit);
    // The y axis's title has the other half of the row.
    let name = brush.cut(&words, Type::Small, tokens.ink, rect.width() / 2.0);
    let place = rect.right_top() - vec2(name.size().x, 0.0);
    let swatch = place.x - brush.px(22.0)..=place.x - brush.px(6.0);
    brush.painter.hline(swatch, place.y + name.size().y / 2.0, stroke);
    brush.painter.galley(place, name, tokens.ink);
}

/// Paints one bar and says where its top is.
fn stack(
    brush: &Brush<'_>,
    plane: &Plane,
    bars: &BarPicture,
    (name, parts): (&str, &[PartValue]),
    (middle, width): (f32, f32),
    items: &mut Items,
) -> f32 {
    let y_from = |value: f64| plane.pos(0.0, value).map_or(plane.rect.bottom(), |at| at.y).clamp(-1e5, 1e5);
    let is_stack = n_parts(bars) > 1;
    let (mut sum, mut tip) = (0.0, y_from(0.0));
    for (idx, part) in parts.iter().enumerate() {
        let (from, to) = (y_from(sum), y_from(sum + part.value));
        sum += part.value;
        tip = tip.min(to);
        let area = Rect::from_two_pos(pos2(middle - width / 2.0, from), pos2(middle + width / 2.0, to));
        let fill = if is_stack { brush.fill(part.role, idx, n_parts(bars)) } else { brush.fill(part.role, 0, 1) };
        let gap = if is_stack && area.height() > 4.0 { 0.5 } else { 0.0 };
        brush.block(area.shrink2(vec2(0.0, gap)), fill, if is_stack { 1.5 } else { 3.0 });
        let part_name = brush.say(&part.label);
        let words = if is_stack && !part_name.is_empty() { format!("{name} · {part_name}") } else { name.to_owned() };
        let area = area.intersect(plane.rect);
        items.push(area, named(brush.lang, &words, part.value, &bars.unit));
    }
    tip
}

fn legend_on(brush: &Brush<'_>, rect: Rect, bars: &BarPicture) {
    let (mut x, mut y) = (rect.left(), rect.top() + brush.px(30.0));
    for (part, idx) in legend(brush, bars) {
        let label = brush.say(&part.label);
        let need = brush.width(label, Type::Small) + brush.px(34.0);
        if x > rect.left() && x + need > rect.right() {
            (x, y) = (rect.left(), y + brush.px(20.0));
        }
        let square = Rect::from_center_size(pos2(x + brush.px(6.0), y), Vec2::splat(brush.px(12.0)));
        brush.block(square, brush.fill(part.role, idx, n_parts(bars)), 2.0);
        brush.text(pos2(x + brush.px(18.0), y), Align2::LEFT_CENTER, label, Type::Small, brush.tokens.muted);
        x += need;
    }
}
