//! One triangle into the frame: which pixels it owns, and what colour each gets.
//!
//! Corners are snapped to 1/256 of a pixel and edges are integer functions, so that neighbours neither overlap nor leave
//! a gap, and every machine owns the same pixels. A pixel belongs to the triangle that holds its centre; a centre on an
//! edge belongs to the triangle whose left or upper edge it is.

use super::texture::{Rgba, Texture};
use super::{Frame, PixelRect};

const SUB: i64 = 256;

/// A corner in physical pixels.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    pub x: f32,
    pub y: f32,
    pub u: f32,
    pub v: f32,
    pub color: Rgba,
}

/// `a·x + b·y + c ≥ 0` on the inner side, at the centre of pixel `(x, y)`.
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    fn new(from: [i64; 2], to: [i64; 2]) -> Self {
        let (a, b) = (from[1] - to[1], to[0] - from[0]);
        let is_left_or_top = a > 0 || (a == 0 && b > 0);
        let half = SUB / 2;
        let c = a * (half - from[0]) + b * (half - from[1]) - i64::from(!is_left_or_top);
        Self { a: a * SUB, b: b * SUB, c }
    }

    /// Narrows `first..=last` to the pixels of row `y` on the inner side.
    fn narrow(&self, y: i64, first: &mut i64, last: &mut i64) {
        let rest = self.b * y + self.c;
        match self.a.signum() {
            1 => *first = (*first).max(-(rest.div_euclid(self.a))),
            -1 => *last = (*last).min(rest.div_euclid(-self.a)),
            _ if rest < 0 => *last = *first - 1,
            _ => {}
        }
    }
}

/// A quantity that changes linearly over the triangle.
#[derive(Clone, Copy)]
struct Slope {
    at_origin: f32,
    dx: f32,
    dy: f32,
}

impl Slope {
    fn at(self, x: f32, y: f32) -> f32 {
        self.at_origin + self.dx * x + self.dy * y
    }
}

pub(super) fn fill(frame: &mut Frame, clip: PixelRect, mut corners: [Corner; 3], texture: &Texture) {
    let snapped = |corner: &Corner| [snap(corner.x), snap(corner.y)];
    let [p0, p1, p2] = [snapped(&corners[0]), snapped(&corners[1]), snapped(&corners[2])];
    let doubled_area = (p1[0] - p0[0]) * (p2[1] - p0[1]) - (p1[1] - p0[1]) * (p2[0] - p0[0]);
    if doubled_area == 0 {
        return;
    }
    if doubled_area < 0 {
        corners.swap(1, 2); // egui is not consistent about winding
    }
    let [p0, p1, p2] = [snapped(&corners[0]), snapped(&corners[1]), snapped(&corners[2])];
    let edges = [Edge::new(p0, p1), Edge::new(p1, p2), Edge::new(p2, p0)];
    let extent = |axis: usize| {
        let (a, b, c) = (p0[axis], p1[axis], p2[axis]);
        (a.min(b).min(c).div_euclid(SUB), a.max(b).max(c).div_euclid(SUB))
    };
    let ((left, right), (top, bottom)) = (extent(0), extent(1));
    let paint = Paint::new(&corners, texture);
    for y in top.max(clip.top)..=bottom.min(clip.bottom - 1) {
        let (mut first, mut last) = (left.max(clip.left), right.min(clip.right - 1));
        edges.iter().for_each(|edge| edge.narrow(y, &mut first, &mut last));
        if first <= last {
            paint.span(frame.row_mut(y as usize, first as usize, last as usize + 1), first, y);
        }
    }
}

fn snap(coordinate: f32) -> i64 {
    (f64::from(coordinate) * SUB as f64).round() as i64
}

/// How the pixels of a triangle are coloured. Slopes are counted from the first corner, which keeps numbers small.
struct Paint<'a> {
    origin: [f32; 2],
    kind: Kind<'a>,
}

enum Kind<'a> {
    Flat(Rgba),
    Shaded { color: [Slope; 4], tint: Rgba },
    Textured { color: [Slope; 4], u: Slope, v: Slope, texture: &'a Texture },
}

impl<'a> Paint<'a> {
    fn new(corners: &[Corner; 3], texture: &'a Texture) -> Self {
        let [a, b, c] = corners;
        let is_flat = a.color == b.color && b.color == c.color;
        let is_one_texel = a.u == b.u && b.u == c.u && a.v == b.v && b.v == c.v;
        let color = || {
            let shades: [fn(&Corner) -> f32; 4] = [|c| c.color[0], |c| c.color[1], |c| c.color[2], |c| c.color[3]];
            shades.map(|of| slope(corners, of))
        };
        let kind = if !is_one_texel {
            Kind::Textured { color: color(), u: slope(corners, |c| c.u), v: slope(corners, |c| c.v), texture }
        } else if is_flat {
            Kind::Flat(times(a.color, texture.sample(a.u, a.v)))
        } else {
            Kind::Shaded { color: color(), tint: texture.sample(a.u, a.v) }
        };
        Self { origin: [a.x, a.y], kind }
    }

    /// Colours the pixels of `row`, the first of which is `(first, y)`.
    fn span(&self, row: &mut [[u8; 4]], first: i64, y: i64) {
        let y = y as f32 + 0.5 - self.origin[1];
        let columns = (first..).map(|x| x as f32 + 0.5 - self.origin[0]);
        match &self.kind {
            Kind::Flat(color) => flat(row, *color),
            Kind::Shaded { color, tint } => {
                for (pixel, x) in row.iter_mut().zip(columns) {
                    blend(pixel, times(color.map(|slope| slope.at(x, y)), *tint));
                }
            }
            Kind::Textured { color, u, v, texture } => {
                for (pixel, x) in row.iter_mut().zip(columns) {
                    let texel = texture.sample(u.at(x, y), v.at(x, y));
                    if texel != [0.0; 4] {
                        blend(pixel, times(color.map(|slope| slope.at(x, y)), texel));
                    }
                }
            }
        }
    }
}

fn slope(corners: &[Corner; 3], of: fn(&Corner) -> f32) -> Slope {
    let [a, b, c] = corners;
    let wide = |value: f32| f64::from(value);
    let (bx, by) = (wide(b.x) - wide(a.x), wide(b.y) - wide(a.y));
    let (cx, cy) = (wide(c.x) - wide(a.x), wide(c.y) - wide(a.y));
    let (b_rise, c_rise) = (wide(of(b)) - wide(of(a)), wide(of(c)) - wide(of(a)));
    let area = bx * cy - by * cx;
    if area == 0.0 {
        return Slope { at_origin: of(a), dx: 0.0, dy: 0.0 };
    }
    let (dx, dy) = ((b_rise * cy - c_rise * by) / area, (c_rise * bx - b_rise * cx) / area);
    Slope { at_origin: of(a), dx: dx as f32, dy: dy as f32 }
}

fn times(color: Rgba, texel: Rgba) -> Rgba {
    std::array::from_fn(|idx| color[idx] * texel[idx] / 255.0)
}

fn flat(row: &mut [[u8; 4]], color: Rgba) {
    if color[3] >= 255.0 {
        row.fill(color.map(to_u8));
    } else if color.iter().any(|channel| *channel > 0.0) {
        row.iter_mut().for_each(|pixel| blend(pixel, color));
    }
}

/// Premultiplied "over", in gamma space as egui's own renderers do it.
fn blend(pixel: &mut [u8; 4], color: Rgba) {
    let rest = 1.0 - color[3].clamp(0.0, 255.0) / 255.0;
    for (below, above) in pixel.iter_mut().zip(color) {
        *below = to_u8(f32::from(*below) * rest + above);
    }
}

fn to_u8(channel: f32) -> u8 {
    (channel + 0.5) as u8 // `as` saturates
}
