//! The row of 32 lane dots that several figures share: where a lane stands, which lane a point means, how a thread of
//! colour leads from a dot to what the lane touches. Pure geometry; colours are the figures'.

use egui::{Pos2, Rangef, Rect, Shape, Stroke, epaint::CubicBezierShape, pos2};

/// Lanes of a warp.
pub const LANES: usize = vramlab_model::access::WARP_LANES;

/// The dots of a warp: equal steps across `x`, centred on `y`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneRow {
    pub x: Rangef,
    pub y: f32,
    pub radius: f32,
}

impl LaneRow {
    /// Dots across `x`, at most `max_radius` large and never touching each other.
    pub fn new(x: Rangef, y: f32, max_radius: f32) -> Self {
        let pitch = x.span() / LANES as f32;
        Self { x, y, radius: max_radius.min(pitch * 0.36).max(1.5) }
    }

    pub fn pitch(&self) -> f32 {
        self.x.span() / LANES as f32
    }

    /// The middle of a lane's dot.
    pub fn center(&self, lane: usize) -> Pos2 {
        pos2(self.x.min + self.pitch() * (lane as f32 + 0.5), self.y)
    }

    /// The lane whose column holds `x`.
    pub fn lane_from_x(&self, x: f32) -> Option<usize> {
        let lane = (x - self.x.min) / self.pitch();
        (lane >= 0.0 && lane < LANES as f32).then_some(lane as usize)
    }

    /// The band in which a pointer means a lane: as tall as `height`.
    pub fn band(&self, height: f32) -> Rect {
        Rect::from_x_y_ranges(self.x, Rangef::new(self.y - height / 2.0, self.y + height / 2.0))
    }
}

/// A curve that leaves `from` and enters `to` vertically.
pub fn drop_curve(from: Pos2, to: Pos2, stroke: Stroke) -> Shape {
    let lean = (to.y - from.y) * 0.55;
    let points = [from, pos2(from.x, from.y + lean), pos2(to.x, to.y - lean), to];
    Shape::CubicBezier(CubicBezierShape::from_points_stroke(points, false, egui::Color32::TRANSPARENT, stroke))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_found_at_its_own_dot() {
        for width in [320.0, 844.0, 1400.0] {
            let row = LaneRow::new(Rangef::new(10.0, 10.0 + width), 20.0, 7.0);
            for lane in 0..LANES {
                let center = row.center(lane);
                assert_eq!(row.lane_from_x(center.x), Some(lane));
                assert!(row.band(28.0).contains(center));
            }
            assert!(row.radius * 2.0 < row.pitch(), "dots touch at {width}");
            assert_eq!(row.lane_from_x(9.9), None);
            assert_eq!(row.lane_from_x(10.1 + width), None);
        }
    }
}
