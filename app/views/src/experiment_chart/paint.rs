//! Painting a chart: predicted is hollow, dashed and in ink; measured is solid, in the series' colour; what is invalid
//! is struck through; the reader's own prediction is a diamond.

use super::data::{ChartData, Measured, Series, SeriesColor};
use super::layout::{Frame, bar_of, is_bars, spread_labels};
use super::scale::Scale;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::paint::dashed_rect;
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

/// What painting needs beside the data.
pub struct Brush<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
}

/// The colour of a series.
pub fn color_of(tokens: &Tokens, data: &ChartData, series_idx: usize) -> Color32 {
    match data.series.get(series_idx).map(|series| series.color) {
        Some(SeriesColor::Role(role)) => tokens.role(role),
        _ => tokens.series(series_idx, data.series.len()),
    }
}

impl Brush<'_> {
    /// Grid lines with their numbers, and the two titles.
    pub fn axes(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, lang } = self;
        let plot = frame.plot;
        let font = tokens.font(Type::MonoSmall);
        let n_rows = (plot.height() / tokens.px(30.0)) as usize;
        for tick in data.y.ticks(&frame.window.y, n_rows.clamp(2, 8)) {
            let Some(y) = frame.y_from_value(tick.value) else { continue };
            painter.hline(plot.x_range(), painter.round_to_pixel_center(y), Stroke::new(1.0, tokens.grid));
            let place = pos2(plot.left() - tokens.space.xs, y);
            ink::text(painter, place, Align2::RIGHT_CENTER, tick.label, font.clone(), tokens.muted);
        }
        self.x_ticks(frame, data);
        painter.hline(plot.x_range(), painter.round_to_pixel_center(plot.bottom()), Stroke::new(1.0, tokens.line));
        let small = tokens.font(Type::Small);
        let place = pos2(plot.right(), plot.bottom() + names_height(painter, tokens, data, plot.width()));
        ink::text(painter, place, Align2::RIGHT_TOP, data.x.title(*lang), small, tokens.muted);
    }

    fn x_ticks(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, .. } = self;
        let plot = frame.plot;
        let is_category = matches!(frame.x, Scale::Category(_));
        let font = tokens.font(if is_category { Type::Small } else { Type::MonoSmall });
        let wide = if data.x.has_units_at_ticks() { 60.0 } else { 44.0 };
        let most = ((plot.width() / tokens.px(wide)) as usize).clamp(2, 14);
        let ticks = data.x.ticks(&frame.window.x, most);
        let room = plot.width() / ticks.len().max(1) as f32;
        for tick in ticks {
            let Some(x) = frame.x_from_value(tick.value).filter(|x| plot.x_range().contains(*x)) else { continue };
            if !is_category {
                let tip = plot.bottom() + tokens.px(4.0);
                painter.vline(painter.round_to_pixel_center(x), plot.bottom()..=tip, Stroke::new(1.0, tokens.line));
            }
            let galley = painter.layout(tick.label, font.clone(), tokens.muted, (room - 4.0).max(20.0));
            let place = pos2(x - galley.size().x / 2.0, plot.bottom() + tokens.px(6.0));
            painter.galley(place, galley, tokens.muted);
        }
    }

    /// Marked ranges, under everything else.
    pub fn bands(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, lang } = self;
        for band in &data.bands {
            let (Some(a), Some(b)) = (frame.x_from_value(band.from), frame.x_from_value(band.to)) else { continue };
            let rect =
                Rect::from_two_pos(pos2(a, frame.plot.top()), pos2(b, frame.plot.bottom())).intersect(frame.plot);
            if !rect.is_positive() {
                continue;
            }
            painter.rect_filled(rect, CornerRadius::same(2), tokens.accent_soft);
            let under = |top: f32, ceiling: f32| {
                if (top - 4.0..top + tokens.px(18.0)).contains(&ceiling) { ceiling } else { top }
            };
            let ceilings = data.ceilings.iter().filter_map(|ceiling| frame.y_from_value(ceiling.y));
            let top = ceilings.fold(rect.top(), under) + tokens.space.xxs;
            self.band_label(frame, data, rect, top, band.label.get(*lang));
        }
    }

    /// The name of a marked range, where no point is: at its top or its foot, or beside it. It stays within the plot.
    fn band_label(&self, frame: &Frame<'_>, data: &ChartData, band: Rect, top: f32, label: &str) {
        let Self { painter, tokens, .. } = self;
        let plot = frame.plot;
        let widest = band.width().max(tokens.px(200.0)).min(plot.width());
        let galley = painter.layout(label.to_owned(), tokens.font(Type::Small), tokens.accent, widest);
        let size = galley.size();
        let place = |left: f32, top: f32| {
            Rect::from_min_size(pos2(left.min(plot.right() - size.x).max(plot.left()), top), size)
        };
        let (middle, foot) = (band.center().x - size.x / 2.0, plot.bottom() - tokens.space.xxs - size.y);
        let left = band.left() - tokens.space.xs - size.x;
        let places = [place(middle, top), place(middle, foot), place(left, top), place(band.right() + 4.0, foot)];
        let crowd = |rect: &Rect| points(frame, data).filter(|at| rect.expand(tokens.px(4.0)).contains(*at)).count();
        let Some(rect) = places.into_iter().min_by_key(crowd) else { return };
        if rect.min != places[0].min {
            painter.rect_filled(rect.expand2(vec2(2.0, -1.0)), CornerRadius::same(2), tokens.surface);
        }
        painter.galley(rect.min, galley, tokens.accent);
    }

    pub fn ceilings(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, lang } = self;
        for ceiling in &data.ceilings {
            let Some(y) = frame.y_from_value(ceiling.y).filter(|y| frame.plot.y_range().contains(*y)) else { continue };
            painter.hline(frame.plot.x_range(), y, tokens.stroke(1.5, tokens.muted));
            let label = ceiling.label.get(*lang).to_owned();
            let galley = painter.layout_no_wrap(label, tokens.font(Type::Small), tokens.muted);
            // Above the line where that is within the plot, else below it and the points that lie on it; at the end where fewer reach.
            let above = y - 2.0 - galley.size().y;
            let top = if above < frame.plot.top() { y + tokens.px(7.0) } else { above };
            let (first, last) = (frame.plot.left() + tokens.space.xxs, frame.plot.right() - tokens.space.xxs);
            let places =
                [last - galley.size().x, first].map(|left| Rect::from_min_size(pos2(left, top), galley.size()));
            let reach = |at: &Pos2, rect: &Rect| rect.x_range().contains(at.x) && at.y < rect.bottom();
            let crowd = |rect: &Rect| points(frame, data).filter(|at| reach(at, rect)).count();
            let Some(rect) = places.into_iter().min_by_key(crowd) else { continue };
            painter.galley(rect.min, galley, tokens.muted);
        }
    }

    /// All series: measured lines, then predictions, then points, so that points stay on top.
    pub fn series(&self, frame: &Frame<'_>, data: &ChartData) {
        for (series_idx, series) in data.series.iter().enumerate() {
            let color = color_of(self.tokens, data, series_idx);
            if is_bars(data) {
                self.bars(frame, data, series_idx, color);
            } else {
                self.measured_line(frame, series, color);
                self.predicted_line(frame, data, series);
                self.measured_points(frame, data, series_idx, color);
            }
        }
        self.reader(frame, data);
    }

    /// The reader's own prediction: diamonds, joined where there are several.
    pub fn reader(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, .. } = self;
        self.gaps(frame, data);
        let mut marks: Vec<(usize, f64, Pos2)> =
            data.reader.iter().filter_map(|mark| Some((mark.curve, mark.x, frame.point(mark.x, mark.y)?))).collect();
        marks.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for curve in marks.chunk_by(|a, b| a.0 == b.0) {
            let path: Vec<Pos2> = curve.iter().map(|(_, _, pos)| *pos).collect();
            painter.extend(Shape::dotted_line(&path, tokens.tint(tokens.ink, 0.6), tokens.px(5.0), tokens.px(1.0)));
            for pos in path {
                ink::diamond(painter, pos, tokens.px(6.5), tokens.ink, tokens.stroke(1.5, tokens.surface));
            }
        }
    }

    /// The largest gap of each drawn curve: a line from the diamond to the truth, with its length in words.
    fn gaps(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, .. } = self;
        for gap in &data.gaps {
            let (Some(from), Some(to)) = (frame.point(gap.x, gap.given), frame.point(gap.x, gap.truth)) else {
                continue;
            };
            if !frame.plot.x_range().contains(from.x) {
                continue;
            }
            let (low, high) = (from.y.max(to.y), from.y.min(to.y));
            painter.vline(from.x, high..=low, tokens.stroke(4.0, tokens.tint(tokens.ink, 0.3)));
            // Above the upper end, where the lines below do not run through it; inside at the right edge.
            let is_edge = frame.plot.right() - from.x < tokens.px(24.0);
            let (align, x) = match is_edge {
                true => (Align2::RIGHT_BOTTOM, from.x + tokens.px(8.0)),
                false => (Align2::CENTER_BOTTOM, from.x),
            };
            let place = pos2(x, (high - tokens.px(9.0)).max(frame.plot.top() + tokens.px(16.0)));
            let font = tokens.font(Type::NoteStrong);
            ink::text_on(painter, place, align, &gap.label, font, tokens.ink, tokens.surface);
        }
    }

    fn measured_line(&self, frame: &Frame<'_>, series: &Series, color: Color32) {
        if matches!(frame.x, Scale::Category(_)) {
            return;
        }
        let valid = |m: &&Measured| m.invalid.is_none() && m.y.is_some();
        let mut points: Vec<(f64, Pos2)> =
            series.measured.iter().filter(valid).filter_map(|m| Some((m.x, frame.measured(m)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.len() > 1 {
            let path = points.into_iter().map(|(_, pos)| pos).collect();
            self.painter.add(Shape::line(path, self.tokens.stroke(2.0, color)));
        }
    }

    fn predicted_line(&self, frame: &Frame<'_>, data: &ChartData, series: &Series) {
        let Self { painter, tokens, .. } = self;
        let mut points: Vec<(f64, Pos2)> =
            series.predicted.iter().filter_map(|p| Some((p.x, frame.point(p.x, p.y)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let path: Vec<Pos2> = points.into_iter().map(|(_, pos)| pos).collect();
        if !matches!(data.x.scale, Scale::Category(_)) {
            ink::dashes(painter, &path, tokens.stroke(1.3, tokens.ink), tokens.px(5.0), tokens.px(4.0));
        }
        let is_dense = path.len() as f32 > frame.plot.width() / tokens.px(16.0);
        for pos in path.into_iter().filter(|_| !is_dense) {
            painter.circle(pos, tokens.px(5.0), tokens.surface, tokens.stroke(1.3, tokens.ink));
        }
    }

    fn measured_points(&self, frame: &Frame<'_>, data: &ChartData, series_idx: usize, color: Color32) {
        for point in &data.series[series_idx].measured {
            let Some(pos) = frame.measured(point) else { continue };
            self.spread(frame, point, pos.x, color);
            self.measured_mark(pos, point, color, self.tokens.px(4.0));
        }
    }

    fn measured_mark(&self, pos: Pos2, point: &Measured, color: Color32, radius: f32) {
        let Self { painter, tokens, .. } = self;
        if point.invalid.is_some() {
            painter.circle_filled(pos, radius, tokens.tint(color, 0.35));
            ink::strike(painter, pos, radius * 1.6, tokens.stroke(1.6, tokens.bad));
        } else {
            painter.circle_filled(pos, radius, color);
        }
    }

    fn spread(&self, frame: &Frame<'_>, point: &Measured, x: f32, color: Color32) {
        let Some((low, high)) = point.spread else { return };
        let (Some(low), Some(high)) = (frame.y_from_value(low), frame.y_from_value(high)) else { return };
        if (low - high).abs() < self.tokens.px(2.0) {
            return; // narrower than the point itself
        }
        let stroke = self.tokens.stroke(1.5, color);
        let half = self.tokens.px(3.5);
        self.painter.vline(x, high..=low, stroke);
        self.painter.hline(x - half..=x + half, low, stroke);
        self.painter.hline(x - half..=x + half, high, stroke);
    }

    /// Bars by category: measured filled, predicted a dashed outline around it.
    fn bars(&self, frame: &Frame<'_>, data: &ChartData, series_idx: usize, color: Color32) {
        let Self { painter, tokens, .. } = self;
        let series = &data.series[series_idx];
        let Some(base) = frame.y_from_value(0.0) else { return };
        for point in &series.measured {
            let Some((bar, y)) = bar_of(frame, data, series_idx, point.x, Some(point.y.unwrap_or(0.0))) else {
                continue;
            };
            let rect = Rect::from_two_pos(pos2(bar.min, y), pos2(bar.max, base)).intersect(frame.plot);
            let fill = if point.invalid.is_some() { tokens.tint(color, 0.25) } else { color };
            painter.rect_filled(rect, CornerRadius { nw: 3, ne: 3, sw: 0, se: 0 }, fill);
            self.spread(frame, point, bar.center(), tokens.ink);
            if point.invalid.is_some() {
                let place = pos2(bar.center(), y.min(base - tokens.px(10.0)));
                ink::strike(painter, place, tokens.px(7.0), tokens.stroke(1.6, tokens.bad));
            }
        }
        for point in &series.predicted {
            let Some((bar, y)) = bar_of(frame, data, series_idx, point.x, Some(point.y)) else { continue };
            let rect = Rect::from_two_pos(pos2(bar.min, y), pos2(bar.max, base)).expand2(vec2(3.0, 0.0));
            dashed_rect(painter, rect.intersect(frame.plot), 3.0, tokens.stroke(1.3, tokens.ink), tokens.px(4.0));
        }
    }

    /// Names at the right ends of the lines.
    pub fn direct_labels(&self, frame: &Frame<'_>, data: &ChartData) {
        let Self { painter, tokens, lang } = self;
        let ends: Vec<Option<f32>> = data.series.iter().map(|series| last_y(frame, series)).collect();
        let wishes: Vec<f32> = ends.iter().map(|y| y.unwrap_or(frame.plot.bottom())).collect();
        let line = tokens.px(15.0);
        let placed = spread_labels(&wishes, line, frame.plot.top(), frame.plot.bottom());
        for (series_idx, series) in data.series.iter().enumerate().filter(|(idx, _)| ends[*idx].is_some()) {
            let place = pos2(frame.plot.right() + tokens.space.xs, placed[series_idx]);
            let color = color_of(tokens, data, series_idx);
            ink::text(painter, place, Align2::LEFT_CENTER, series.label.get(*lang), tokens.font(Type::Small), color);
        }
    }

    /// A ring around the picked point.
    pub fn ring(&self, pos: Pos2) {
        let stroke = self.tokens.stroke(2.0, self.tokens.accent);
        self.painter.circle_stroke(pos, self.tokens.px(8.5), stroke);
    }

    pub fn outline(&self, rect: Rect) {
        let corner = CornerRadius::same(self.tokens.control_radius);
        self.painter.rect_stroke(rect, corner, self.tokens.stroke(1.5, self.tokens.accent), StrokeKind::Inside);
    }
}

/// From the plot down to the title of its x axis: names of categories take as many lines as they need.
pub fn names_height(painter: &Painter, tokens: &Tokens, data: &ChartData, plot_width: f32) -> f32 {
    let Scale::Category(names) = &data.x.scale else { return tokens.px(22.0) };
    let room = (plot_width / names.len().max(1) as f32 - 4.0).max(20.0);
    let height = |name: &String| painter.layout(name.clone(), tokens.font(Type::Small), tokens.muted, room).size().y;
    (names.iter().map(height).fold(0.0, f32::max) + tokens.px(7.0)).max(tokens.px(22.0))
}

/// Every point of every series, where it is drawn.
fn points<'a>(frame: &'a Frame<'_>, data: &'a ChartData) -> impl Iterator<Item = Pos2> + 'a {
    data.series.iter().flat_map(|series| {
        let measured = series.measured.iter().filter_map(|point| frame.point(point.x, point.y?));
        let predicted = series.predicted.iter().filter_map(|point| frame.point(point.x, point.y));
        measured.chain(predicted).collect::<Vec<_>>()
    })
}

fn last_y(frame: &Frame<'_>, series: &Series) -> Option<f32> {
    let measured = series.measured.iter().filter(|m| m.invalid.is_none()).filter_map(|m| Some((m.x, m.y?)));
    let predicted = series.predicted.iter().map(|p| (p.x, p.y));
    let last = |points: &mut dyn Iterator<Item = (f64, f64)>| points.max_by(|a, b| a.0.total_cmp(&b.0));
    let (x, y) = last(&mut measured.into_iter()).or_else(|| last(&mut predicted.into_iter()))?;
    frame.point(x, y).map(|pos| pos.y)
}
