//! Two panels with the same scale of time: rows of requests, seats below them, blocks below those.

use egui::{Pos2, Rect, pos2, vec2};

const HEAD: f32 = 26.0;
const LABEL: f32 = 34.0;
const ROW: f32 = 15.0;
const MOST_ROWS: f32 = 240.0;
const STRIP: f32 = 30.0;
const STRIP_HEAD: f32 = 25.0;
const AXIS: f32 = 18.0;
const GAP: f32 = 26.0;
const NARROW: f32 = 640.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    pub whole: Rect,
    pub rows: Rect,
    pub row: f32,
    pub seats: Rect,
    pub blocks: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// Continuous, static.
    pub panels: [Panel; 2],
}

impl Panel {
    fn new(at: Pos2, width: f32, scale: f32, n_requests: usize) -> Self {
        let px = |points: f32| points * scale;
        let n = n_requests.max(1) as f32;
        let row = px(ROW).min(px(MOST_ROWS) / n);
        let part =
            |y: f32, height: f32| Rect::from_min_size(pos2(at.x + px(LABEL), y), vec2(width - px(LABEL + 2.0), height));
        let rows = part(at.y + px(HEAD), row * n);
        let seats = part(rows.bottom() + px(STRIP_HEAD), px(STRIP));
        let blocks = part(seats.bottom() + px(STRIP_HEAD), px(STRIP));
        let whole = Rect::from_min_max(at, pos2(at.x + width, blocks.bottom() + px(AXIS)));
        Self { whole, rows, row, seats, blocks }
    }

    pub fn x(&self, time: f64, end: f64) -> f32 {
        self.rows.left() + self.rows.width() * (time / end.max(1.0)).clamp(0.0, 1.0) as f32
    }

    fn time_at(&self, at: Pos2, end: f64) -> Option<f64> {
        let area = Rect::from_min_max(self.rows.min, self.blocks.max);
        area.contains(at).then(|| f64::from((at.x - self.rows.left()) / self.rows.width()) * end)
    }
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_requests: usize) -> Self {
        let is_narrow = width < NARROW * scale;
        let gap = GAP * scale;
        let each = if is_narrow { width } else { (width - gap) / 2.0 };
        let first = Panel::new(origin, each, scale, n_requests);
        let at = if is_narrow {
            pos2(origin.x, first.whole.bottom() + gap / 2.0)
        } else {
            pos2(origin.x + each + gap, origin.y)
        };
        let second = Panel::new(at, each, scale, n_requests);
        Self { rect: first.whole.union(second.whole), panels: [first, second] }
    }

    /// The step, from one, under a point of either panel.
    pub fn step_at(&self, at: Pos2, end: f64) -> Option<usize> {
        let time = self.panels.iter().find_map(|panel| panel.time_at(at, end))?;
        Some((time.ceil().max(1.0) as usize).min(end as usize))
    }

    /// The request whose row is under a point.
    pub fn request_at(&self, at: Pos2, n_requests: usize) -> Option<usize> {
        let panel = self.panels.iter().find(|panel| panel.rows.contains(at))?;
        Some((((at.y - panel.rows.top()) / panel.row) as usize).min(n_requests.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is_drawn() {
        for width in [296.0, 844.0, 1200.0] {
            for n in [1, 10, 240] {
                let geometry = Geometry::new(pos2(2.0, 3.0), width, 1.0, n);
                for panel in geometry.panels {
                    let at = pos2(panel.x(7.0, 40.0) - 0.5, panel.rows.bottom() - panel.row / 2.0);
                    assert_eq!(
                        (geometry.step_at(at, 40.0), geometry.request_at(at, n)),
                        (Some(7), Some(n - 1)),
                        "{width}"
                    );
                    assert!(geometry.rect.expand(0.1).contains_rect(panel.whole));
                }
                assert!(!geometry.panels[0].whole.intersects(geometry.panels[1].whole));
            }
        }
    }
}
