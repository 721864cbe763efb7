//! Where the roofline puts things: the log-log plane, the roofs as lines, the dots, what a pointer is on. Pure functions.
//!
//! The plane never moves while the reader turns a knob: it holds every state of the figure, so that a dot that went right
//! went right.

use super::answer::{Answered, Dot, tflops_at};
use super::question::Tier;
use egui::{Pos2, Rect, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread};

/// FLOP per byte: from dot products in FP64 with steps of their own to products in FP8.
const X: (f64, f64) = (1.0 / 32.0, 4096.0);
/// TFLOP/s.
const Y: (f64, f64) = (0.01, 5000.0);
/// Where along the axis the grips of the two roofs sit.
const COMPUTE_GRIP: f64 = 0.97;
const HBM_GRIP: f64 = 0.022;

/// What can be picked, by pointer or by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    ComputeRoof,
    HbmRoof,
    Dot(Tier),
    /// A batch of the trail, by its place in it.
    Trail(usize),
}

/// The figure in points.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub rect: Rect,
    pub plane: Plane,
    pub scale: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Option<Self> {
        let is_narrow = width < 480.0 * scale;
        let height = if is_narrow { 320.0 } else { 392.0 } * scale;
        let rect = Rect::from_min_size(origin, vec2(width, height));
        let (left, right) = (if is_narrow { 40.0 } else { 48.0 } * scale, 10.0 * scale);
        let (above, below) = (22.0 * scale, 44.0 * scale);
        let plot = Rect::from_min_max(
            pos2(rect.left() + left, rect.top() + above),
            pos2(rect.right() - right, rect.bottom() - below),
        );
        let (x, y) = (Axis::new(Spread::Log10, X.0, X.1)?, Axis::new(Spread::Log10, Y.0, Y.1)?);
        Some(Self { rect, plane: Plane { x, y, rect: plot }, scale })
    }

    /// The corner points of a roof: up the slope of `gb_per_s`, then along `peak_tflops`.
    pub fn roof(&self, peak_tflops: f64, gb_per_s: f64) -> Vec<Pos2> {
        let low = X.0.max(Y.0 * 1000.0 / gb_per_s);
        let ridge = peak_tflops * 1000.0 / gb_per_s;
        let mut corners = vec![(low, tflops_at(low, gb_per_s))];
        if ridge > low && ridge < X.1 {
            corners.push((ridge, peak_tflops));
        }
        corners.push((X.1, peak_tflops.min(tflops_at(X.1, gb_per_s))));
        corners.into_iter().filter_map(|(x, y)| self.plane.pos(x, y)).collect()
    }

    /// The slope of one level alone, up to the compute ceiling.
    pub fn slope(&self, peak_tflops: f64, gb_per_s: f64) -> Vec<Pos2> {
        self.roof(peak_tflops, gb_per_s).into_iter().take(2).collect()
    }

    /// The part of the plane under a roof, as a convex polygon.
    pub fn under(&self, roof: &[Pos2]) -> Vec<Pos2> {
        let (bottom, right) = (self.plane.rect.bottom(), self.plane.rect.right());
        let left = roof.first().map_or(self.plane.rect.left(), |corner| corner.x);
        let mut corners = vec![pos2(left, bottom)];
        corners.extend_from_slice(roof);
        corners.push(pos2(right, bottom));
        corners
    }

    /// Where a dot stands; `None` for a kernel without FLOPs, which no logarithmic axis can hold.
    pub fn dot(&self, dot: &Dot, tflops: f64) -> Option<Pos2> {
        let at = self.plane.pos(dot.intensity, tflops)?;
        self.plane.rect.expand(1.0).contains(at).then_some(at)
    }

    pub fn compute_grip(&self, peak_tflops: f64) -> Option<Pos2> {
        self.plane.pos(self.plane.x.value_from_share(COMPUTE_GRIP), peak_tflops)
    }

    pub fn hbm_grip(&self, gb_per_s: f64) -> Option<Pos2> {
        let intensity = self.plane.x.value_from_share(HBM_GRIP);
        self.plane.pos(intensity, tflops_at(intensity, gb_per_s))
    }

    /// The area in which a grip can be taken.
    pub fn grip_area(&self, grip: Pos2) -> Rect {
        Rect::from_center_size(grip, vec2(44.0, 32.0) * self.scale)
    }

    /// Where a label of `length` finds room along a slope, as a distance from its start, `least` or more: clear of every
    /// dot near it.
    pub fn room_along(slope: &[Pos2], least: f32, length: f32, obstacles: &[Pos2], reach: f32) -> Option<f32> {
        let [from, to] = slope else { return None };
        let whole = (*to - *from).length();
        let unit = (*to - *from).normalized();
        let blocked: Vec<f32> = obstacles
            .iter()
            .map(|at| *at - *from)
            .filter(|away| (away.x * unit.y - away.y * unit.x).abs() < reach)
            .map(|away| away.dot(unit))
            .collect();
        let is_free = |start: f32| blocked.iter().all(|at| *at + reach < start || *at - reach > start + length);
        let n_places = (whole - length).max(0.0) as usize / 4;
        (1..=n_places).map(|idx| idx as f32 * 4.0).find(|start| *start >= least && is_free(*start))
    }

    /// TFLOP/s at the height of a pointer.
    pub fn tflops_from_y(&self, y: f32) -> f64 {
        let share = (self.plane.rect.bottom() - y) / self.plane.rect.height();
        self.plane.y.value_from_share(f64::from(share.clamp(0.0, 1.0)))
    }

    /// GB/s of the slope that passes through a pointer's height at the grip.
    pub fn gb_per_s_from_y(&self, y: f32) -> f64 {
        self.tflops_from_y(y) * 1000.0 / self.plane.x.value_from_share(HBM_GRIP)
    }

    /// What a pointer at `pos` means.
    pub fn hit(&self, answered: &Answered, pos: Pos2) -> Option<Hit> {
        let near = |at: Option<Pos2>| at.map_or(f32::INFINITY, |at| at.distance(pos));
        let dots = answered.dots.iter().map(|dot| {
            let (best, real) = (self.dot(dot, answered.attainable_tflops), self.dot(dot, answered.measured_tflops));
            (near(best).min(near(real)), Hit::Dot(dot.tier))
        });
        let trail = answered.trail.iter().enumerate().map(|(idx, (_, intensity, tflops))| {
            (near(self.plane.pos(*intensity, *tflops)) + 2.0, Hit::Trail(idx)) // the dot itself wins over its trail
        });
        let reach = 14.0 * self.scale;
        dots.chain(trail).filter(|(far, _)| *far <= reach).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, hit)| hit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(width: f32) -> Geometry {
        Geometry::new(pos2(8.0, 8.0), width, 1.0).unwrap()
    }

    #[test]
    fn a_roof_turns_at_its_ridge() {
        let geometry = geometry(844.0);
        let roof = geometry.roof(66.9, 4800.0);
        assert_eq!(roof.len(), 3);
        let ridge = geometry.plane.pos(13.9375, 66.9).unwrap();
        assert!((roof[1] - ridge).length() < 0.01);
        assert!((roof[1].y - roof[2].y).abs() < 0.01 && roof[0].y > roof[1].y);
    }

    #[test]
    fn every_roof_stays_inside_the_plane() {
        for width in [296.0, 844.0] {
            let geometry = geometry(width);
            for (peak, rate) in [(4947.0, 400.0), (1.94, 24_000.0), (66.9, 33_450.0), (312.0, 2039.0)] {
                for at in geometry.roof(peak, rate) {
                    assert!(geometry.plane.rect.expand(0.5).contains(at), "{peak} {rate} {at:?} at {width}");
                }
            }
        }
    }

    #[test]
    fn labels_keep_clear_of_dots() {
        let slope = [pos2(0.0, 100.0), pos2(100.0, 0.0)];
        let on_it = pos2(20.0, 80.0);
        let start = Geometry::room_along(&slope, 0.0, 40.0, &[on_it], 10.0).unwrap();
        assert!(start > 20.0 * 2.0_f32.sqrt() + 10.0, "{start}");
        assert_eq!(
            Geometry::room_along(&slope, 0.0, 40.0, &[pos2(50.0, 100.0)], 10.0),
            Some(4.0),
            "a dot far off is no hindrance"
        );
        assert_eq!(Geometry::room_along(&slope, 0.0, 400.0, &[], 10.0), None);
    }

    #[test]
    fn grips_and_heights_are_inverse() {
        let geometry = geometry(844.0);
        let grip = geometry.hbm_grip(4800.0).unwrap();
        assert!((geometry.gb_per_s_from_y(grip.y) / 4800.0 - 1.0).abs() < 1e-4);
        let grip = geometry.compute_grip(66.9).unwrap();
        assert!((geometry.tflops_from_y(grip.y) / 66.9 - 1.0).abs() < 1e-4);
    }
}
