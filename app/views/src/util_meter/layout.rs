//! Where the utilisation meter puts things: the window's timeline on the left, the two meters on the right.

use egui::{Pos2, Rangef, Rect, pos2, vec2};

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// When kernels run.
    pub track: Rect,
    /// How much they move; its height is the peak.
    pub plot: Rect,
    pub util: Rect,
    pub achieved: Rect,
    /// The room of a meter with its words.
    pub slot: f32,
    window_ms: f32,
}

const LABEL: f32 = 24.0;
const TRACK: f32 = 26.0;
const PLOT: f32 = 110.0;
const BELOW: f32 = 38.0;
/// One more line below, where meters stand too close for names of one line.
const LINE: f32 = 16.0;
const ROOMY_SLOT: f32 = 112.0;

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, window_ms: u64) -> Self {
        let meters = (width * 0.34).clamp(126.0 * scale, 240.0 * scale).min(width * 0.5);
        let line = if meters / 2.0 < ROOMY_SLOT * scale { LINE } else { 0.0 };
        let height = (2.0 * LABEL + TRACK + PLOT + BELOW + line) * scale;
        let rect = Rect::from_min_size(origin, vec2(width, height));
        let right = rect.right() - meters - 14.0 * scale;
        let x = Rangef::new(rect.left(), right);
        let track_top = rect.top() + LABEL * scale;
        let track = Rect::from_x_y_ranges(x, Rangef::new(track_top, track_top + TRACK * scale));
        let plot_top = track.bottom() + LABEL * scale;
        let plot = Rect::from_x_y_ranges(x, Rangef::new(plot_top, plot_top + PLOT * scale));
        let slot = meters / 2.0;
        let bar = (slot * 0.5).min(40.0 * scale);
        let meter = |idx: f32| {
            let center = rect.right() - meters + slot * (idx + 0.5);
            Rect::from_min_max(pos2(center - bar / 2.0, track.top()), pos2(center + bar / 2.0, plot.bottom()))
        };
        Self { rect, track, plot, util: meter(0.0), achieved: meter(1.0), slot, window_ms: window_ms as f32 }
    }

    /// The place of a time on the timeline.
    pub fn x_from_ms(&self, ms: u64) -> f32 {
        self.track.left() + self.track.width() * (ms as f32 / self.window_ms).min(1.0)
    }
}

/// The part of a meter that is filled.
pub fn filled(meter: Rect, share: f64) -> Rect {
    meter.with_min_y(meter.bottom() - meter.height() * share as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_right_and_the_meters_stand_beside_it() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(4.0, 5.0), width, 1.0, 500);
            assert!((figure.x_from_ms(250) - figure.track.center().x).abs() < 1e-3);
            assert!((figure.x_from_ms(900) - figure.track.right()).abs() < 1e-3, "what runs on is cut at the window");
            assert!(figure.track.right() < figure.util.left() && figure.util.right() < figure.achieved.left());
            assert!(figure.rect.contains_rect(figure.achieved));
            assert!((filled(figure.util, 0.25).height() / figure.util.height() - 0.25).abs() < 1e-6);
        }
    }
}
