//! A painted figure as SVG: the very shapes that are on screen, with their colours written out.
//!
//! Any figure can be saved: run its `ui`, hand over the shapes of its rectangle. Text stays text; its width is fixed, so
//! that a viewer with other fonts keeps the picture together. Of meshes only plain coloured rectangles are kept, which is what figures paint as meshes.

use egui::epaint::{ClippedShape, ColorMode, CubicBezierShape, Mesh, PathStroke, RectShape, TextShape};
use egui::{Color32, CornerRadius, FontFamily, Pos2, Rect, Shape, Stroke, StrokeKind};
use std::fmt::Write as _;

/// The shapes of `painter`'s layer that lie in `rect`, as a document of that size. Call it in the frame in which the
/// figure was painted.
pub fn from_painter(painter: &egui::Painter, rect: Rect, background: Color32, title: &str) -> String {
    let mut shapes = Vec::new();
    painter.for_each_shape(|clipped| {
        if clipped.clip_rect.intersects(rect) && rect.expand(8.0).contains_rect(clipped.shape.visual_bounding_rect()) {
            shapes.push(clipped.clone());
        }
    });
    from_shapes(&shapes, rect, background, title)
}

/// A document of `rect`'s size. `title` is the figure's finding: what a screen reader hears of the picture.
pub fn from_shapes(shapes: &[ClippedShape], rect: Rect, background: Color32, title: &str) -> String {
    let mut out = Writer { text: String::new(), n_clips: 0 };
    let (w, h) = (num(rect.width()), num(rect.height()));
    let view = format!("{} {} {w} {h}", num(rect.left()), num(rect.top()));
    out.put(&format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="{view}" role="img">"#
    ));
    out.put(&format!("<title>{}</title>", escape(title)));
    let ground = Shape::rect_filled(rect, CornerRadius::ZERO, background);
    out.shape(&ground);
    for clipped in shapes {
        let bounds = clipped.shape.visual_bounding_rect();
        let needs_clip = bounds.is_finite() && !clipped.clip_rect.contains_rect(bounds);
        if needs_clip {
            out.open_clip(clipped.clip_rect.intersect(rect.expand(8.0)));
        }
        out.shape(&clipped.shape);
        if needs_clip {
            out.put("</g>");
        }
    }
    out.put("</svg>");
    out.text
}

struct Writer {
    text: String,
    n_clips: usize,
}

impl Writer {
    fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open_clip(&mut self, rect: Rect) {
        self.n_clips += 1;
        let id = self.n_clips;
        let corner = format!(r#"x="{}" y="{}""#, num(rect.left()), num(rect.top()));
        let size = format!(r#"width="{}" height="{}""#, num(rect.width().max(0.0)), num(rect.height().max(0.0)));
        self.put(&format!(r#"<clipPath id="c{id}"><rect {corner} {size}/></clipPath><g clip-path="url(#c{id})">"#));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Circle(circle) => {
                self.ellipse(circle.center, circle.radius, circle.radius, circle.fill, circle.stroke)
            }
            Shape::Ellipse(oval) => self.ellipse(oval.center, oval.radius.x, oval.radius.y, oval.fill, oval.stroke),
            Shape::LineSegment { points, stroke } => self.path(points, false, Color32::TRANSPARENT, *stroke),
            Shape::Path(path) => self.path(&path.points, path.closed, path.fill, plain(&path.stroke)),
            Shape::Rect(rect) => self.rect(rect),
            Shape::Text(text) => self.galley(text),
            Shape::CubicBezier(curve) => self.cubic(curve),
            Shape::QuadraticBezier(curve) => {
                let points = curve.flatten(Some(0.1));
                self.path(&points, curve.closed, curve.fill, plain(&curve.stroke));
            }
            Shape::Mesh(mesh) => self.mesh(mesh),
            Shape::Noop | Shape::Band(_) | Shape::Callback(_) => {}
        }
    }

    fn ellipse(&mut self, center: Pos2, rx: f32, ry: f32, fill: Color32, stroke: Stroke) {
        let place = format!(r#"cx="{}" cy="{}" rx="{}" ry="{}""#, num(center.x), num(center.y), num(rx), num(ry));
        self.put(&format!("<ellipse {place}{}{}/>", fill_attr(fill), stroke_attr(stroke)));
    }

    fn path(&mut self, points: &[Pos2], closed: bool, fill: Color32, stroke: Stroke) {
        let mut d = String::new();
        for (idx, point) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if idx == 0 { "M" } else { "L" }, num(point.x), num(point.y));
        }
        if closed {
            d.push('Z');
        }
        self.put(&format!(r#"<path d="{d}"{}{}/>"#, fill_attr(fill), stroke_attr(stroke)));
    }

    fn cubic(&mut self, curve: &CubicBezierShape) {
        let [a, b, c, d] = curve.points.map(|point| format!("{} {}", num(point.x), num(point.y)));
        let close = if curve.closed { "Z" } else { "" };
        let paint = format!("{}{}", fill_attr(curve.fill), stroke_attr(plain(&curve.stroke)));
        self.put(&format!(r#"<path d="M{a}C{b} {c} {d}{close}"{paint}/>"#));
    }

    fn rect(&mut self, shape: &RectShape) {
        let inset = match shape.stroke_kind {
            StrokeKind::Inside => shape.stroke.width / 2.0,
            StrokeKind::Middle => 0.0,
            StrokeKind::Outside => -shape.stroke.width / 2.0,
        };
        let rect = if shape.stroke.is_empty() { shape.rect } else { shape.rect.shrink(inset) };
        if !rect.is_positive() {
            return;
        }
        let corner = (shape.corner_radius.average() - inset.max(0.0)).max(0.0);
        let place = format!(r#"x="{}" y="{}""#, num(rect.left()), num(rect.top()));
        let size = format!(r#"width="{}" height="{}" rx="{}""#, num(rect.width()), num(rect.height()), num(corner));
        self.put(&format!("<rect {place} {size}{}{}/>", fill_attr(shape.fill), stroke_attr(shape.stroke)));
    }

    /// Coloured rectangles, four vertices each, as `Mesh::add_colored_rect` makes them.
    fn mesh(&mut self, mesh: &Mesh) {
        for quad in mesh.vertices.chunks_exact(4) {
            let is_plain =
                quad.iter().all(|vertex| vertex.color == quad[0].color && vertex.uv == egui::epaint::WHITE_UV);
            let rect = Rect::from_min_max(quad[0].pos, quad[3].pos);
            if is_plain && rect.is_positive() {
                let place = format!(r#"x="{}" y="{}""#, num(rect.left()), num(rect.top()));
                let size = format!(r#"width="{}" height="{}""#, num(rect.width()), num(rect.height()));
                self.put(&format!("<rect {place} {size}{}/>", fill_attr(quad[0].color)));
            }
        }
    }

    /// One `<text>` for each run of one font in each row.
    fn galley(&mut self, shape: &TextShape) {
        let galley = &shape.galley;
        let mut byte = 0;
        for placed in &galley.rows {
            let mut run = Run::default();
            for (idx, glyph) in placed.row.glyphs.iter().enumerate() {
                let section_idx = galley.job.sections.iter().position(|section| {
                    let range = &section.byte_range;
                    range.start.0 <= byte && byte < range.end.0
                });
                if idx == 0 || section_idx != run.section_idx {
                    self.run(shape, &run);
                    let left = shape.pos.x + placed.pos.x + glyph.pos.x;
                    let base = shape.pos.y + placed.pos.y + glyph.pos.y;
                    run = Run { section_idx, left, base, ..Run::default() };
                }
                run.text.push(glyph.chr);
                run.width += glyph.advance_width;
                byte += glyph.chr.len_utf8();
            }
            byte += usize::from(placed.ends_with_newline);
            self.run(shape, &run);
        }
    }

    fn run(&mut self, shape: &TextShape, run: &Run) {
        if run.text.trim().is_empty() {
            return;
        }
        let Some(section) = run.section_idx.and_then(|idx| shape.galley.job.sections.get(idx)) else { return };
        let own = section.format.color;
        let color =
            shape.override_text_color.unwrap_or(if own == Color32::PLACEHOLDER { shape.fallback_color } else { own });
        let font = &section.format.font_id;
        let (family, weight) = match &font.family {
            FontFamily::Monospace => ("ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', monospace", "400"),
            FontFamily::Name(_) => ("'Noto Sans SC', 'Noto Sans CJK SC', system-ui, sans-serif", "600"),
            FontFamily::Proportional => ("'Noto Sans SC', 'Noto Sans CJK SC', system-ui, sans-serif", "400"),
        };
        let mut place = format!(r#"x="{}" y="{}" textLength="{}""#, num(run.left), num(run.base), num(run.width));
        if shape.angle != 0.0 {
            let (degrees, at) = (num(shape.angle.to_degrees()), shape.pos);
            let _ = write!(place, r#" transform="rotate({degrees} {} {})""#, num(at.x), num(at.y));
        }
        let look = format!(r#"font-family="{family}" font-size="{}" font-weight="{weight}""#, num(font.size));
        let words = escape(&run.text);
        self.put(&format!(
            r#"<text xml:space="preserve" {place} lengthAdjust="spacingAndGlyphs" {look}{}>{words}</text>"#,
            fill_attr(color)
        ));
    }
}

#[derive(Default)]
struct Run {
    section_idx: Option<usize>,
    text: String,
    left: f32,
    base: f32,
    width: f32,
}

fn plain(stroke: &PathStroke) -> Stroke {
    match &stroke.color {
        ColorMode::Solid(color) => Stroke::new(stroke.width, *color),
        ColorMode::UV(_) => Stroke::NONE,
    }
}

fn fill_attr(color: Color32) -> String {
    if color.a() == 0 { r#" fill="none""#.to_owned() } else { paint_attr("fill", color) }
}

fn stroke_attr(stroke: Stroke) -> String {
    if stroke.is_empty() {
        return String::new();
    }
    format!(r#"{} stroke-width="{}""#, paint_attr("stroke", stroke.color), num(stroke.width))
}

fn paint_attr(name: &str, color: Color32) -> String {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    let opacity = if a == 255 { String::new() } else { format!(r#" {name}-opacity="{}""#, num(f32::from(a) / 255.0)) };
    format!(r##" {name}="#{r:02x}{g:02x}{b:02x}"{opacity}"##)
}

/// At most two decimals; figures are drawn in points.
fn num(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn colours_and_clips_are_written_out() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 50.0));
        let color = Color32::from_rgb(0x13, 0x61, 0xA5);
        let circle = Shape::circle_filled(pos2(95.0, 10.0), 10.0, color);
        let shapes = [ClippedShape {
            clip_rect: rect,
            shape: circle,
            transform_after_tessellation: egui::emath::TSTransform::IDENTITY,
        }];
        let svg = from_shapes(&shapes, rect, Color32::WHITE, "a < b");
        assert!(svg.contains(r##"fill="#1361a5""##), "{svg}");
        assert!(svg.contains("clip-path=\"url(#c1)\""), "{svg}");
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
    }
}
