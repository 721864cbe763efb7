//! Where the LRU figure puts things: the accesses in a strip, the stack as chips, the curve of misses. Pure functions.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread};

const CELL: f32 = 34.0;
const STRIP: f32 = 58.0;
const MAP: f32 = 16.0;
const CHIP: f32 = 40.0;
const CHIP_ROW: f32 = 26.0;
const MOST_ROWS: usize = 9;
/// Beside the curve the stack is at least as tall.
const LEAST_ROWS: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hit {
    /// An access by its place.
    Access(usize),
    /// A place of the stack, from the top.
    Chip(usize),
    /// A size of the cache.
    Curve(u64),
}

#[derive(Clone, Debug)]
pub struct Geometry {
    pub rect: Rect,
    /// Accesses shown in the strip, by place, and their cells.
    pub first: usize,
    pub cells: Vec<Rect>,
    /// All accesses in one bar; none if the strip shows them all.
    pub map: Option<Rect>,
    pub chips: Vec<Rect>,
    pub stack: Rect,
    pub plane: Plane,
    n: usize,
}

impl Geometry {
    /// For `n` accesses with `now` of them over, a stack of `deep` chips, and a curve up to `lines` and `misses`.
    pub fn new(
        origin: Pos2,
        width: f32,
        scale: f32,
        n: usize,
        now: usize,
        deep: usize,
        ends: (u64, usize),
    ) -> Option<Self> {
        let px = |points: f32| points * scale;
        let fit = ((width / px(CELL)) as usize).max(1);
        let shown = n.min(fit);
        let first = now.saturating_sub(1).saturating_sub(shown / 2).min(n - shown);
        let cell =
            |nth: usize| Rect::from_min_size(origin + vec2(nth as f32 * px(CELL), 0.0), vec2(px(CELL), px(STRIP)));
        let mut top = origin.y + px(STRIP + 6.0);
        let map = (shown < n).then(|| Rect::from_min_size(pos2(origin.x, top), vec2(width, px(MAP))));
        top += if map.is_some() { px(MAP + 18.0) } else { px(14.0) };
        let is_wide = width >= px(640.0);
        let (gap, name) = (px(28.0), px(20.0));
        let stack_width = if is_wide { width * 0.42 } else { width };
        let columns = ((stack_width / px(CHIP)) as usize).max(1);
        let least = if is_wide { LEAST_ROWS } else { 2 };
        let rows = deep.div_ceil(columns).clamp(least, MOST_ROWS);
        let chip = |nth: usize| {
            let (row, column) = (nth / columns, nth % columns);
            let at = pos2(origin.x + column as f32 * px(CHIP), top + name + row as f32 * px(CHIP_ROW));
            Rect::from_min_size(at, vec2(px(CHIP - 4.0), px(CHIP_ROW - 4.0)))
        };
        let stack = Rect::from_min_size(pos2(origin.x, top), vec2(stack_width, name + rows as f32 * px(CHIP_ROW)));
        let (left, head) =
            if is_wide { (origin.x + stack_width + gap, top) } else { (origin.x, stack.bottom() + px(18.0)) };
        let tall = if is_wide { stack.height() - name - px(34.0) } else { px(180.0) };
        let plot =
            Rect::from_min_size(pos2(left + px(44.0), head + name), vec2(origin.x + width - left - px(54.0), tall));
        let plane = Plane {
            x: Axis::new(Spread::Linear, 0.0, ends.0.max(2) as f64)?,
            y: Axis::around(Spread::Linear, [0.0, ends.1.max(1) as f64])?,
            rect: plot,
        };
        let bottom = stack.bottom().max(plot.bottom() + px(38.0));
        Some(Self {
            rect: Rect::from_min_max(origin, pos2(origin.x + width, bottom)),
            first,
            cells: (0..shown).map(cell).collect(),
            map,
            chips: (0..deep.min(rows * columns)).map(chip).collect(),
            stack,
            plane,
            n,
        })
    }

    pub fn access_at(&self, at: Pos2) -> Option<usize> {
        if let Some(nth) = self.cells.iter().position(|cell| cell.contains(at)) {
            return Some(self.first + nth);
        }
        let map = self.map.filter(|map| map.expand2(vec2(0.0, 4.0)).contains(at))?;
        Some((((at.x - map.left()) / map.width() * self.n as f32) as usize).min(self.n - 1))
    }

    pub fn lines_at(&self, at: Pos2) -> u64 {
        let share = f64::from((at.x - self.plane.rect.left()) / self.plane.rect.width()).clamp(0.0, 1.0);
        (self.plane.x.value_from_share(share).round() as u64).max(1)
    }

    pub fn hit(&self, at: Pos2) -> Option<Hit> {
        if let Some(access) = self.access_at(at) {
            return Some(Hit::Access(access));
        }
        if let Some(nth) = self.chips.iter().position(|chip| chip.contains(at)) {
            return Some(Hit::Chip(nth));
        }
        self.plane.rect.contains(at).then(|| Hit::Curve(self.lines_at(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_inside_and_apart() {
        for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (420.0, 1.6), (1200.0, 1.6)] {
            for (n, now, deep) in [(6, 3, 3), (1536, 700, 192), (96, 96, 96)] {
                let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, n, now, deep, (96, n)).unwrap();
                let parts = geometry.cells.iter().chain(&geometry.map).chain(&geometry.chips);
                let parts: Vec<Rect> = parts.copied().chain([geometry.plane.rect]).collect();
                for (idx, part) in parts.iter().enumerate() {
                    assert!(geometry.rect.expand(0.5).contains_rect(*part), "{width} {n}: part {idx} {part:?}");
                    let rest = parts.iter().skip(idx + 1);
                    assert!(rest.into_iter().all(|other| !other.shrink(0.5).intersects(*part)), "{width} {n}: {idx}");
                }
                assert!((geometry.first..geometry.first + geometry.cells.len()).contains(&(now - 1)));
            }
        }
    }
}
