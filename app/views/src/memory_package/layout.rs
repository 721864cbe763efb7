//! Where the memory package puts things: parts on the left, the pipe, the processor on the right.
//!
//! Thickness is bandwidth, on one scale for every card; a ribbon leaves each part and all of them make the pipe.

use super::question::{Kind, MOST_GB_PER_S};
use egui::{Pos2, Rangef, Rect, pos2, vec2};

/// One stack or chip with its ribbon.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub rect: Rect,
    /// Thickness of the ribbon.
    pub thick: f32,
    /// Where the ribbon begins, at the part's edge.
    pub from: Pos2,
    /// Where it joins the pipe.
    pub to: Pos2,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// The board or, with stacks, the package that holds everything.
    pub ground: Rect,
    /// The package around the processor alone, where the memory is on the board.
    pub package: Option<Rect>,
    pub parts: Vec<Part>,
    /// The pipe from the join to the processor.
    pub pipe: Rect,
    pub die: Rect,
    /// Points that one GB/s is thick.
    pub per_gb_per_s: f32,
}

/// Room in the figure for the words above the pipe and the scale below.
const HEIGHT: f32 = 309.0;
const TOP: f32 = 22.0;
/// Half of the name that stands on the lower edge.
const BELOW: f32 = 9.0;

impl Geometry {
    /// `rates`: what each part gives, in GB/s.
    pub fn new(origin: Pos2, width: f32, scale: f32, kind: Kind, rates: &[f64]) -> Self {
        let rect = Rect::from_min_size(origin, vec2(width, HEIGHT * scale));
        let ground = rect.with_min_y(rect.top() + TOP * scale).with_max_y(rect.bottom() - BELOW * scale);
        let inner = ground.shrink(14.0 * scale);
        let per_gb_per_s = inner.height() * 0.82 / MOST_GB_PER_S as f32;
        let die_width = (width * 0.19).clamp(64.0 * scale, 150.0 * scale);
        let die_height = (die_width * 1.15).min(inner.height());
        let die = Rect::from_center_size(
            pos2(inner.right() - die_width / 2.0 - margin(kind, scale), inner.center().y),
            vec2(die_width, die_height.max(inner.height() * 0.62)),
        );
        let total: f64 = rates.iter().sum();
        let thick = total as f32 * per_gb_per_s;
        let join_x = inner.left() + (die.left() - inner.left()) * 0.56;
        let pipe = Rect::from_x_y_ranges(
            Rangef::new(join_x, die.left()),
            Rangef::new(inner.center().y - thick / 2.0, inner.center().y + thick / 2.0),
        );
        let parts = place(inner, scale, kind, rates, &pipe, per_gb_per_s);
        let package = (kind == Kind::Gddr).then(|| die.expand(margin(kind, scale) * 0.7));
        Self { rect, ground, package, parts, pipe, die, per_gb_per_s }
    }

    /// Where the pipe is taken to be pulled: the middle of its lower edge.
    pub fn grip(&self) -> Pos2 {
        self.pipe.center_bottom()
    }

    /// The part under `pos`: its box or its ribbon's beginning.
    pub fn hit(&self, pos: Pos2) -> Option<usize> {
        self.parts.iter().position(|part| part.rect.expand(2.0).contains(pos))
    }
}

/// Room around the processor for its own package.
fn margin(kind: Kind, scale: f32) -> f32 {
    match kind {
        Kind::Hbm => 0.0,
        Kind::Gddr => 12.0 * scale,
    }
}

fn place(inner: Rect, scale: f32, kind: Kind, rates: &[f64], pipe: &Rect, per_gb_per_s: f32) -> Vec<Part> {
    let n = rates.len().max(1) as f32;
    let slot = inner.height() / n;
    let (most, share) = match kind {
        Kind::Hbm => (42.0 * scale, 0.82),
        Kind::Gddr => (20.0 * scale, 0.8),
    };
    let height = (slot * share).min(most);
    let width = match kind {
        Kind::Hbm => (inner.width() * 0.12).clamp(38.0 * scale, 70.0 * scale),
        Kind::Gddr => (inner.width() * 0.06).clamp(18.0 * scale, 30.0 * scale),
    };
    // A few parts stand together around the middle, many fill the height.
    let pitch = slot.min(height * 1.45);
    let first = inner.center().y - pitch * (n - 1.0) / 2.0;
    let mut join = pipe.top();
    let part = |(idx, rate): (usize, &f64)| {
        let rect =
            Rect::from_center_size(pos2(inner.left() + width / 2.0, first + idx as f32 * pitch), vec2(width, height));
        let thick = *rate as f32 * per_gb_per_s;
        let to = pos2(pipe.left(), join + thick / 2.0);
        join += thick;
        Part { rect, thick, from: pos2(rect.right(), rect.center().y), to }
    };
    rates.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kind: Kind, rates: &[f64]) -> Geometry {
        Geometry::new(pos2(3.0, 4.0), 844.0, 1.0, kind, rates)
    }

    #[test]
    fn thickness_is_bandwidth_on_one_scale() {
        let (h200, rtx4090) = (figure(Kind::Hbm, &[802.4; 6]), figure(Kind::Gddr, &[84.0; 12]));
        let ratio = h200.pipe.height() / rtx4090.pipe.height();
        assert!((ratio - 4814.4 / 1008.0).abs() < 1e-3, "{ratio}");
        let ribbons: f32 = h200.parts.iter().map(|part| part.thick).sum();
        assert!((ribbons - h200.pipe.height()).abs() < 1e-3, "the ribbons make the pipe");
    }

    #[test]
    fn everything_stays_inside_and_apart() {
        for width in [296.0, 844.0] {
            for (kind, n) in [(Kind::Hbm, 1), (Kind::Hbm, 8), (Kind::Gddr, 1), (Kind::Gddr, 16)] {
                let figure = Geometry::new(pos2(3.0, 4.0), width, 1.0, kind, &vec![10.0; n]);
                for pair in figure.parts.windows(2) {
                    assert!(pair[0].rect.bottom() < pair[1].rect.top(), "{kind:?} {n} at {width}");
                }
                for part in &figure.parts {
                    assert!(figure.ground.contains_rect(part.rect) && part.rect.right() < figure.pipe.left());
                }
                assert!(figure.ground.contains_rect(figure.die) && figure.pipe.right() <= figure.die.left() + 0.1);
                let most = Geometry::new(pos2(0.0, 0.0), width, 1.0, Kind::Hbm, &[MOST_GB_PER_S]);
                assert!(most.ground.contains_rect(most.pipe));
            }
        }
    }

    #[test]
    fn a_pointer_finds_the_part() {
        let figure = figure(Kind::Hbm, &[500.0; 5]);
        assert_eq!(figure.hit(figure.parts[3].rect.center()), Some(3));
        assert_eq!(figure.hit(figure.die.center()), None);
    }
}
