//! Where the chart puts things: the plot's rectangle, values to points and back, labels that make room for each other.

use super::data::{ChartData, Measured, Series};
use super::scale::Scale;
use egui::{Pos2, Rangef, Rect, pos2};
use std::ops::RangeInclusive;

/// What is in sight, in axis coordinates of each scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub x: RangeInclusive<f64>,
    pub y: RangeInclusive<f64>,
}

impl Window {
    /// Everything the chart holds, with room around it.
    pub fn fit(data: &ChartData) -> Self {
        let measured = || data.series.iter().flat_map(|series| &series.measured);
        let predicted = || data.series.iter().flat_map(|series| &series.predicted);
        let xs = measured().map(|m| m.x).chain(predicted().map(|p| p.x)).chain(data.reader.iter().map(|r| r.x));
        let ys = measured()
            .flat_map(|m| [m.y, m.spread.map(|s| s.0), m.spread.map(|s| s.1)])
            .flatten()
            .chain(predicted().map(|p| p.y))
            .chain(data.reader.iter().map(|r| r.y))
            .chain(data.ceilings.iter().map(|c| c.y));
        let mut y = data.y.scale.fit(ys, 0.06);
        if data.y.scale == Scale::Linear && *y.start() > -(y.end() - y.start()) * 0.2 && *y.end() > 0.0 {
            y = 0.0_f64.min(*y.start() + (y.end() - y.start()) * 0.06)..=*y.end(); // bars and rates start at zero
        }
        Self { x: data.x.scale.fit(xs, 0.035), y }
    }

    /// Zooms by `factor` (above 1 enlarges) so that the place at `anchor` (0 to 1 in each direction) stays put.
    pub fn zoom(&mut self, factor: f64, anchor: (f64, f64)) {
        let factor = factor.clamp(0.2, 5.0);
        for (range, share) in [(&mut self.x, anchor.0), (&mut self.y, anchor.1)] {
            let span = range.end() - range.start();
            let new_span = (span / factor).clamp(1e-6, 1e6);
            let fixed = range.start() + span * share;
            *range = fixed - new_span * share..=fixed + new_span * (1.0 - share);
        }
    }

    /// Moves what is in sight by shares of its size.
    pub fn pan(&mut self, right: f64, up: f64) {
        for (range, share) in [(&mut self.x, right), (&mut self.y, up)] {
            let by = (range.end() - range.start()) * share;
            *range = range.start() + by..=range.end() + by;
        }
    }
}

/// The plot area with its scales.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    pub plot: Rect,
    pub window: &'a Window,
    pub x: &'a Scale,
    pub y: &'a Scale,
}

impl Frame<'_> {
    pub fn x_from_value(&self, value: f64) -> Option<f32> {
        let share = share(&self.window.x, self.x.to_axis(value)?);
        Some(self.plot.left() + self.plot.width() * share as f32)
    }

    pub fn y_from_value(&self, value: f64) -> Option<f32> {
        let share = share(&self.window.y, self.y.to_axis(value)?);
        Some(self.plot.bottom() - self.plot.height() * share as f32)
    }

    pub fn point(&self, x: f64, y: f64) -> Option<Pos2> {
        Some(pos2(self.x_from_value(x)?, self.y_from_value(y)?))
    }

    /// `pos` as shares of the plot, from its lower left corner.
    pub fn shares(&self, pos: Pos2) -> (f64, f64) {
        let x = (pos.x - self.plot.left()) / self.plot.width().max(1.0);
        let y = (self.plot.bottom() - pos.y) / self.plot.height().max(1.0);
        (f64::from(x.clamp(0.0, 1.0)), f64::from(y.clamp(0.0, 1.0)))
    }

    /// Where a measured point is drawn; one without a value stands on the axis.
    pub fn measured(&self, point: &Measured) -> Option<Pos2> {
        match point.y.and_then(|y| self.point(point.x, y)) {
            Some(pos) => Some(pos),
            None => Some(pos2(self.x_from_value(point.x)?, self.plot.bottom())),
        }
    }
}

fn share(range: &RangeInclusive<f64>, place: f64) -> f64 {
    // Far outside is as good as just outside, and keeps the tessellator's numbers small.
    ((place - range.start()) / (range.end() - range.start())).clamp(-20.0, 20.0)
}

/// One point of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    pub series_idx: usize,
    pub point: PointRef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointRef {
    Measured(usize),
    Predicted(usize),
    Reader(usize),
}

/// Every point that can be picked, in reading order: by series, measured first.
pub fn pickable(data: &ChartData) -> Vec<Picked> {
    let of_series = |(series_idx, series): (usize, &Series)| {
        let measured = (0..series.measured.len()).map(PointRef::Measured);
        let predicted = (0..series.predicted.len()).map(PointRef::Predicted);
        measured.chain(predicted).map(move |point| Picked { series_idx, point }).collect::<Vec<_>>()
    };
    let reader = (0..data.reader.len()).map(|idx| Picked { series_idx: 0, point: PointRef::Reader(idx) });
    data.series.iter().enumerate().flat_map(of_series).chain(reader).collect()
}

/// The pickable point nearest to `pos`, if one is within `reach`.
pub fn nearest(data: &ChartData, frame: &Frame<'_>, pos: Pos2, reach: f32) -> Option<Picked> {
    pickable(data)
        .into_iter()
        .filter_map(|picked| Some((place_of(data, frame, picked)?.distance(pos), picked)))
        .filter(|(distance, _)| *distance <= reach)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, picked)| picked)
}

/// Where a picked point is drawn.
pub fn place_of(data: &ChartData, frame: &Frame<'_>, picked: Picked) -> Option<Pos2> {
    let series = data.series.get(picked.series_idx);
    let bar = |x: f64, y: Option<f64>| {
        let (bar, top) = bar_of(frame, data, picked.series_idx, x, Some(y.unwrap_or(0.0)))?;
        Some(pos2(bar.center(), top))
    };
    match picked.point {
        PointRef::Measured(idx) => {
            let point = series?.measured.get(idx)?;
            if is_bars(data) { bar(point.x, point.y) } else { frame.measured(point) }
        }
        PointRef::Predicted(idx) => {
            let point = series?.predicted.get(idx)?;
            if is_bars(data) { bar(point.x, Some(point.y)) } else { frame.point(point.x, point.y) }
        }
        PointRef::Reader(idx) => data.reader.get(idx).and_then(|mark| frame.point(mark.x, mark.y)),
    }
}

/// Categories with a linear value are bars, which start at zero; all else is points and lines.
pub fn is_bars(data: &ChartData) -> bool {
    matches!(data.x.scale, Scale::Category(_)) && data.y.scale == Scale::Linear
}

/// The horizontal extent and the top of a bar.
pub fn bar_of(frame: &Frame<'_>, data: &ChartData, series_idx: usize, x: f64, y: Option<f64>) -> Option<(Rangef, f32)> {
    let n = data.series.len().max(1) as f64;
    let share = (0.72 / n).min(0.4);
    let center = x + (series_idx as f64 - (n - 1.0) / 2.0) * share;
    let (left, right) = (frame.x_from_value(center - share * 0.42)?, frame.x_from_value(center + share * 0.42)?);
    let most = 72.0_f32;
    let (middle, half) = (f32::midpoint(left, right), ((right - left) / 2.0).min(most / 2.0));
    Some((Rangef::new(middle - half, middle + half), frame.y_from_value(y?)?))
}

/// Moves labels of height `line` apart, keeping their order and as near to their wishes as `low..=high` allows.
pub fn spread_labels(wishes: &[f32], line: f32, low: f32, high: f32) -> Vec<f32> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|a, b| wishes[*a].total_cmp(&wishes[*b]));
    let mut placed = wishes.to_vec();
    let mut floor = low;
    for idx in &order {
        placed[*idx] = placed[*idx].max(floor);
        floor = placed[*idx] + line;
    }
    let mut ceiling = high;
    for idx in order.iter().rev() {
        placed[*idx] = placed[*idx].min(ceiling);
        ceiling = placed[*idx] - line;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment_chart::data::{Axis, Predicted, SeriesColor};
    use vramlab_units::Localized;

    fn sweep() -> ChartData {
        let series = Series {
            id: "s".into(),
            label: Localized::default(),
            color: SeriesColor::Order,
            predicted: vec![Predicted { x: 1.0, y: 4600.0 }, Predicted { x: 64.0, y: 290.0 }],
            measured: vec![
                Measured { x: 8.0, y: Some(586.0), ..Measured::default() },
                Measured { x: 2.0, ..Measured::default() },
            ],
        };
        ChartData {
            x: Axis { scale: Scale::Log2, ..Axis::default() },
            y: Axis { scale: Scale::Log10, ..Axis::default() },
            series: vec![series],
            ..ChartData::default()
        }
    }

    #[test]
    fn points_lie_inside_and_the_pointer_finds_them() {
        let data = sweep();
        let window = Window::fit(&data);
        let plot = Rect::from_min_size(pos2(40.0, 10.0), egui::vec2(700.0, 200.0));
        let frame = Frame { plot, window: &window, x: &data.x.scale, y: &data.y.scale };
        for picked in pickable(&data) {
            let place = place_of(&data, &frame, picked).unwrap();
            assert!(plot.contains(place), "{picked:?} at {place:?}");
            assert_eq!(nearest(&data, &frame, place, 10.0), Some(picked));
        }
        assert_eq!(nearest(&data, &frame, pos2(-100.0, 0.0), 10.0), None);
        let middle = frame.x_from_value(8.0).unwrap();
        assert!((middle - plot.center().x).abs() < 0.5, "8 is half way from 1 to 64 on a log axis");
    }

    #[test]
    fn zoom_keeps_the_anchor_and_pan_the_size() {
        let mut window = Window { x: 0.0..=10.0, y: 0.0..=1.0 };
        window.zoom(2.0, (0.3, 0.5));
        assert_eq!((*window.x.start(), *window.x.end()), (1.5, 6.5));
        window.pan(0.1, 0.0);
        assert_eq!((*window.x.start(), *window.x.end()), (2.0, 7.0));
    }

    #[test]
    fn labels_make_room_in_order() {
        let placed = spread_labels(&[50.0, 52.0, 51.0, 190.0], 14.0, 0.0, 200.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f32::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 13.9), "{placed:?}");
        assert!(placed[0] < placed[2] && placed[2] < placed[1]);
    }
}
