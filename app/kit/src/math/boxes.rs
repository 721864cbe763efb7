//! Boxes with a baseline: how pieces of a formula are put beside and above each other. No syntax here.

use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use std::sync::Arc;

/// Something to paint, placed relative to the left end of the baseline.
#[derive(Clone)]
enum Item {
    Text { at: Vec2, galley: Arc<Galley>, color: Color32 },
    Rule { rect: Rect, color: Color32 },
    Line { points: Vec<Vec2>, stroke: Stroke },
}

/// A piece of a formula. Heights are above and below the baseline.
#[derive(Clone, Default)]
pub(super) struct MathBox {
    pub width: f32,
    pub ascent: f32,
    pub descent: f32,
    items: Vec<Item>,
}

impl MathBox {
    pub fn text(galley: Arc<Galley>, baseline: f32, color: Color32) -> Self {
        let size = galley.size();
        let at = vec2(0.0, -baseline);
        Self {
            width: size.x,
            ascent: baseline,
            descent: (size.y - baseline).max(0.0),
            items: vec![Item::Text { at, galley, color }],
        }
    }

    pub fn space(width: f32) -> Self {
        Self { width, ..Self::default() }
    }

    pub fn height(&self) -> f32 {
        self.ascent + self.descent
    }

    /// Pieces side by side on one baseline.
    pub fn row(parts: Vec<Self>) -> Self {
        let mut row = Self::default();
        for part in parts {
            let at = vec2(row.width, 0.0);
            row.width += part.width;
            row.add(part, at);
        }
        row
    }

    /// Lines under each other, aligned at the left; the baseline is the first line's.
    pub fn lines(lines: Vec<Self>, gap: f32) -> Self {
        let mut page = Self::default();
        let mut lines = lines.into_iter();
        if let Some(first) = lines.next() {
            page.add(first, Vec2::ZERO);
        }
        for line in lines {
            let y = page.descent + gap + line.ascent;
            page.add(line, vec2(0.0, y));
        }
        page
    }

    /// `over` above a bar above `under`. `axis` is how far the bar lies above the baseline.
    pub fn fraction(over: Self, under: Self, axis: f32, gap: f32, rule: Stroke) -> Self {
        let width = over.width.max(under.width) + 4.0 * gap;
        let centred = |part: &Self| (width - part.width) / 2.0;
        let bar = Rect::from_min_max(pos2(gap, -axis - rule.width / 2.0), pos2(width - gap, -axis + rule.width / 2.0));
        let mut whole = Self { width, ..Self::default() };
        whole.items.push(Item::Rule { rect: bar, color: rule.color });
        let (over_x, under_x) = (centred(&over), centred(&under));
        let (over_y, under_y) = (-axis - gap - over.descent, -axis + gap + under.ascent);
        whole.add(over, vec2(over_x, over_y));
        whole.add(under, vec2(under_x, under_y));
        whole
    }

    /// `small` raised (positive) or lowered behind `base`.
    pub fn script(base: Self, small: Self, raise: f32) -> Self {
        let (mut whole, x) = (Self::default(), base.width);
        whole.add(base, Vec2::ZERO);
        whole.add(small, vec2(x + 1.0, -raise));
        whole
    }

    /// Between two fences drawn as strokes, as high as the content.
    pub fn fenced(self, kind: Fence, stroke: Stroke) -> Self {
        let (top, bottom, arm) = (-self.ascent, self.descent, 4.0_f32.max(self.height() * 0.12));
        let (pad, right) = (arm + 4.0, self.width + 2.0 * (arm + 4.0));
        let mut whole = Self { width: right, ascent: self.ascent, descent: self.descent, items: Vec::new() };
        for (outer, inner) in [(3.0, arm + 2.0), (right - 3.0, right - arm - 2.0)] {
            whole.items.push(Item::Line { points: kind.points(outer, inner, top, bottom), stroke });
        }
        whole.add(self, vec2(pad, 0.0));
        whole
    }

    /// Under a root sign.
    pub fn root(self, stroke: Stroke) -> Self {
        let (top, bottom, lead) = (-self.ascent - 3.0, self.descent, self.height() * 0.32 + 4.0);
        let mut whole = Self { width: lead + self.width + 3.0, ascent: -top + 1.0, descent: bottom, items: Vec::new() };
        let middle = (top + bottom) / 2.0;
        let points = vec![
            vec2(1.0, middle + 2.0),
            vec2(lead * 0.3, middle),
            vec2(lead * 0.6, bottom - 1.0),
            vec2(lead, top),
            vec2(lead + self.width + 2.0, top),
        ];
        whole.items.push(Item::Line { points, stroke });
        whole.add(self, vec2(lead + 1.0, 0.0));
        whole
    }

    /// Cases under each other behind a brace.
    pub fn cases(lines: Vec<Self>, axis: f32, gap: f32, stroke: Stroke) -> Self {
        let stack = Self::lines(lines, gap);
        let shift = (stack.descent - stack.ascent) / 2.0 + axis; // centred on the axis
        let (top, bottom) = (-stack.ascent - shift, stack.descent - shift);
        let (middle, lead) = ((top + bottom) / 2.0, 12.0);
        let mut whole = Self { width: lead, ..Self::default() };
        let points = vec![
            vec2(lead - 3.0, top),
            vec2(lead - 6.0, top + 3.0),
            vec2(lead - 6.0, middle - 3.0),
            vec2(lead - 9.0, middle),
            vec2(lead - 6.0, middle + 3.0),
            vec2(lead - 6.0, bottom - 3.0),
            vec2(lead - 3.0, bottom),
        ];
        whole.items.push(Item::Line { points, stroke });
        whole.add(stack, vec2(lead, -shift));
        whole
    }

    pub fn paint(&self, painter: &Painter, baseline: Pos2) {
        for item in &self.items {
            match item {
                Item::Text { at, galley, color } => {
                    painter.galley(baseline + *at, galley.clone(), *color);
                }
                Item::Rule { rect, color } => {
                    painter.rect_filled(rect.translate(baseline.to_vec2()), 0.0, *color);
                }
                Item::Line { points, stroke } => {
                    painter.add(Shape::line(points.iter().map(|at| baseline + *at).collect(), *stroke));
                }
            }
        }
    }

    /// Takes in `part` with its baseline at `at`, and grows to hold it.
    fn add(&mut self, part: Self, at: Vec2) {
        self.width = self.width.max(at.x + part.width);
        self.ascent = self.ascent.max(part.ascent - at.y);
        self.descent = self.descent.max(part.descent + at.y);
        self.items.extend(part.items.into_iter().map(|item| item.moved(at)));
    }
}

impl Item {
    fn moved(self, by: Vec2) -> Self {
        match self {
            Self::Text { at, galley, color } => Self::Text { at: at + by, galley, color },
            Self::Rule { rect, color } => Self::Rule { rect: rect.translate(by), color },
            Self::Line { points, stroke } => {
                Self::Line { points: points.into_iter().map(|at| at + by).collect(), stroke }
            }
        }
    }
}

/// What stands left and right of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    Paren,
    Ceil,
    Floor,
    Bar,
    Bracket,
}

impl Fence {
    /// From top to bottom; `outer` is the side away from the content.
    fn points(self, outer: f32, inner: f32, top: f32, bottom: f32) -> Vec<Vec2> {
        match self {
            Self::Paren => {
                let curve = |share: f32| {
                    let side = (share * 2.0 - 1.0).powi(2); // 1 at the ends, 0 in the middle
                    vec2(outer + (inner - outer) * side * 0.8, top + (bottom - top) * share)
                };
                (0..=10).map(|step| curve(step as f32 / 10.0)).collect()
            }
            Self::Ceil => vec![vec2(inner, top), vec2(outer, top), vec2(outer, bottom)],
            Self::Floor => vec![vec2(outer, top), vec2(outer, bottom), vec2(inner, bottom)],
            Self::Bar => vec![vec2(outer, top), vec2(outer, bottom)],
            Self::Bracket => vec![vec2(inner, top), vec2(outer, top), vec2(outer, bottom), vec2(inner, bottom)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(width: f32, ascent: f32, descent: f32) -> MathBox {
        MathBox { width, ascent, descent, items: Vec::new() }
    }

    #[test]
    fn a_row_is_as_high_as_its_highest_part() {
        let row = MathBox::row(vec![block(10.0, 8.0, 2.0), block(5.0, 3.0, 6.0)]);
        assert_eq!((row.width, row.ascent, row.descent), (15.0, 8.0, 6.0));
    }

    #[test]
    fn a_fraction_stands_on_the_axis() {
        let rule = Stroke::new(1.0, Color32::BLACK);
        let whole = MathBox::fraction(block(30.0, 8.0, 2.0), block(10.0, 8.0, 2.0), 5.0, 2.0, rule);
        // Above the bar: gap 2, descent 2, ascent 8; below: gap 2, ascent 8, descent 2; the bar is 5 above the baseline.
        assert_eq!((whole.width, whole.ascent, whole.descent), (38.0, 17.0, 7.0));
    }

    #[test]
    fn a_raised_script_raises_the_box() {
        let whole = MathBox::script(block(10.0, 8.0, 2.0), block(4.0, 5.0, 1.0), 6.0);
        assert_eq!((whole.width, whole.ascent, whole.descent), (15.0, 11.0, 2.0));
    }
}
