//! Nodes and edges. Columns and rows are the file's, or follow from the edges; here they become places on screen.

use super::Items;
use super::look::{Brush, Fill};
use crate::ink;
use egui::{Align2, Pos2, Rect, Shape, Vec2, pos2, vec2};
use vramlab_kit::Type;
use vramlab_lesson::figure::picture::{GraphPicture, NodePicture};

const LEAST_GAP: f32 = 64.0;
const ROW: f32 = 88.0;
const HEIGHT: f32 = 46.0;
/// How far an edge that goes back below its row hangs down.
const TURN: f32 = 40.0;

/// Where nodes are, relative to the figure.
struct Layout {
    node: Vec2,
    pitch: f32,
    size: Vec2,
    /// The first node's corner.
    corner: Vec2,
}

fn layout(brush: &Brush<'_>, graph: &GraphPicture, width: f32) -> Layout {
    let lines = graph.nodes.iter().flat_map(|node| {
        let label = brush.width(brush.say(&node.label), Type::NoteStrong);
        let value = node.value.as_ref().map_or(0.0, |value| brush.width(value, Type::MonoSmall));
        [label, value]
    });
    let node_width = (lines.fold(0.0, f32::max) + brush.px(22.0)).clamp(brush.px(76.0), brush.px(190.0));
    let columns = graph.nodes.iter().map(|node| node.at.0).fold(0.0, f64::max) as f32;
    let rows = graph.nodes.iter().map(|node| node.at.1).fold(0.0, f64::max) as f32;
    let pad = brush.px(8.0);
    let free = width - 2.0 * pad - node_width;
    let least = node_width + brush.px(LEAST_GAP);
    let pitch = if columns > 0.0 { (free / columns).clamp(least, least * 2.2) } else { least };
    let needed = columns * pitch + node_width + 2.0 * pad;
    let turns = graph.edges.iter().any(|(from, to, ..)| turns_below(graph, *from, *to));
    let below = if turns { brush.px(TURN) } else { 0.0 };
    let height = rows * brush.px(ROW) + brush.px(HEIGHT) + 2.0 * pad + below;
    let corner = vec2(pad + ((width - needed) / 2.0).max(0.0), pad);
    Layout { node: vec2(node_width, brush.px(HEIGHT)), pitch, size: vec2(needed.max(width), height), corner }
}

/// An edge that goes back over other columns of its row would run through their nodes.
fn turns_below(graph: &GraphPicture, from: usize, to: usize) -> bool {
    match (graph.nodes.get(from), graph.nodes.get(to)) {
        (Some(a), Some(b)) => a.at.1 == b.at.1 && a.at.0 - b.at.0 > 1.0,
        _ => false,
    }
}

pub fn size(brush: &Brush<'_>, graph: &GraphPicture, width: f32) -> Vec2 {
    layout(brush, graph, width).size
}

pub fn paint(brush: &Brush<'_>, rect: Rect, graph: &GraphPicture) -> Items {
    let mut items = Items::default();
    let layout = layout(brush, graph, rect.width());
    let place = |node: &NodePicture| {
        let corner = vec2(node.at.0 as f32 * layout.pitch, node.at.1 as f32 * brush.px(ROW));
        Rect::from_min_size(rect.min + layout.corner + corner, layout.node)
    };
    let places: Vec<Rect> = graph.nodes.iter().map(place).collect();
    for (from, to, label, value) in &graph.edges {
        let (Some(a), Some(b)) = (places.get(*from), places.get(*to)) else { continue };
        let label = brush.say(label);
        let text = [label, value.as_deref().unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
        edge_on(brush, (*a, *b), turns_below(graph, *from, *to), &text.collect::<Vec<_>>().join(" "));
    }
    let n = graph.nodes.len();
    for (idx, node) in graph.nodes.iter().enumerate() {
        node_on(brush, places[idx], node, (idx, n));
        items.push(places[idx], words(brush, graph, idx));
    }
    items
}

fn node_on(brush: &Brush<'_>, area: Rect, node: &NodePicture, (idx, n): (usize, usize)) {
    let tokens = brush.tokens;
    let radius = f32::from(tokens.control_radius);
    let fill = match node.role {
        Some(role) => brush.fill(Some(role), idx, n),
        None => Fill::Color(tokens.muted),
    };
    match fill {
        Fill::Color(color) => {
            brush.painter.rect_filled(area, radius, tokens.tint(color, 0.16));
            brush.hairline_rect(area, radius, color);
        }
        Fill::Area(_) => {
            brush.painter.rect_filled(area, radius, tokens.surface);
            brush.block(area, fill, radius);
        }
    }
    let inner = area.width() - brush.px(12.0);
    let label = brush.cut(brush.say(&node.label), Type::NoteStrong, tokens.ink, inner);
    let value = node.value.as_ref().map(|value| brush.cut(value, Type::MonoSmall, tokens.muted, inner));
    let height = label.size().y + value.as_ref().map_or(0.0, |value| value.size().y);
    let top = area.center().y - height / 2.0;
    let below = top + label.size().y;
    brush.painter.galley(pos2(area.center().x - label.size().x / 2.0, top), label, tokens.ink);
    if let Some(value) = value {
        brush.painter.galley(pos2(area.center().x - value.size().x / 2.0, below), value, tokens.muted);
    }
}

/// From side to side between columns, up or down within one, and below the row where nodes are in the way.
fn edge_on(brush: &Brush<'_>, (a, b): (Rect, Rect), is_below: bool, label: &str) {
    let tokens = brush.tokens;
    let hang = vec2(0.0, brush.px(TURN) * 1.25);
    let (from, to, lean, back) = if is_below {
        (a.center_bottom(), b.center_bottom(), hang, hang)
    } else if b.left() >= a.right() {
        let lean = vec2((b.left() - a.right()) * 0.45, 0.0);
        (a.right_center(), b.left_center(), lean, -lean)
    } else if a.left() >= b.right() {
        let lean = vec2((b.right() - a.left()) * 0.45, 0.0);
        (a.left_center(), b.right_center(), lean, -lean)
    } else if b.top() >= a.bottom() {
        let lean = vec2(0.0, (b.top() - a.bottom()) * 0.45);
        (a.center_bottom(), b.center_top(), lean, -lean)
    } else {
        let lean = vec2(0.0, (b.bottom() - a.top()) * 0.45);
        (a.center_top(), b.center_bottom(), lean, -lean)
    };
    let controls = [from, from + lean, to + back, to];
    let path: Vec<Pos2> = (0..=24).map(|step| bezier(&controls, step as f32 / 24.0)).collect();
    let stroke = tokens.stroke(1.4, tokens.muted);
    brush.painter.add(Shape::line(path.clone(), stroke));
    arrow(brush, path[22], to);
    if !label.is_empty() {
        let middle = path[12];
        let font = brush.font(Type::Small);
        ink::text_on(&brush.painter, middle, Align2::CENTER_CENTER, label, font, tokens.muted, tokens.surface);
    }
}

fn bezier([a, b, c, d]: &[Pos2; 4], t: f32) -> Pos2 {
    let s = 1.0 - t;
    let mix = |w: f32, at: &Pos2| at.to_vec2() * w;
    (mix(s * s * s, a) + mix(3.0 * s * s * t, b) + mix(3.0 * s * t * t, c) + mix(t * t * t, d)).to_pos2()
}

fn arrow(brush: &Brush<'_>, before: Pos2, tip: Pos2) {
    let along = (tip - before).normalized();
    let (back, side) = (along * brush.px(8.0), along.rot90() * brush.px(4.0));
    let corners = vec![tip, tip - back + side, tip - back - side];
    brush.painter.add(Shape::convex_polygon(corners, brush.tokens.muted, egui::Stroke::NONE));
}

fn words(brush: &Brush<'_>, graph: &GraphPicture, idx: usize) -> String {
    let node = &graph.nodes[idx];
    let mut out = brush.say(&node.label).to_owned();
    if let Some(value) = &node.value {
        out.push_str(if brush.lang == vramlab_units::Lang::Zh { "：" } else { ": " });
        out.push_str(value);
    }
    let followers = graph.edges.iter().filter(|(from, ..)| *from == idx);
    let names: Vec<&str> = followers.map(|(_, to, ..)| brush.say(&graph.nodes[*to].label)).collect();
    if !names.is_empty() {
        let join = if brush.lang == vramlab_units::Lang::Zh { "、" } else { ", " };
        out.push_str(" → ");
        out.push_str(&names.join(join));
    }
    out
}
