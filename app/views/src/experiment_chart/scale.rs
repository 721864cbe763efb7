//! Axis scales: from a value to a place on the axis and back, and the ticks worth printing. No pixels of a window here:
//! positions are fractions of the axis, 0 at its start and 1 at its end.

use std::ops::RangeInclusive;

/// How an axis maps values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    #[default]
    Linear,
    /// Powers of two: strides, sizes.
    Log2,
    /// Decades with 1-2-5 steps: rates, times.
    Log10,
    /// Names; the value is the index.
    Category(Vec<String>),
}

/// A mark on the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

impl Scale {
    /// `value` in the coordinates in which the axis is uniform, or nothing where the scale has no such place
    /// (zero or less on a logarithmic axis, anything that is not finite).
    pub fn to_axis(&self, value: f64) -> Option<f64> {
        let placed = match self {
            Self::Linear | Self::Category(_) => value,
            Self::Log2 if value > 0.0 => value.log2(),
            Self::Log10 if value > 0.0 => value.log10(),
            Self::Log2 | Self::Log10 => return None,
        };
        placed.is_finite().then_some(placed)
    }

    /// The value at a place of the axis.
    pub fn from_axis(&self, place: f64) -> f64 {
        match self {
            Self::Linear | Self::Category(_) => place,
            Self::Log2 => place.exp2(),
            Self::Log10 => 10f64.powf(place),
        }
    }

    /// The range, in axis coordinates, that shows every value with room at both ends. Values without a place are
    /// left out; an empty set gives a unit range, a single value a range around it.
    pub fn fit(&self, values: impl IntoIterator<Item = f64>, margin: f64) -> RangeInclusive<f64> {
        if let Self::Category(names) = self {
            return -0.5..=names.len().max(1) as f64 - 0.5;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in values.into_iter().filter_map(|value| self.to_axis(value)) {
            low = low.min(place);
            high = high.max(place);
        }
        if low > high {
            return 0.0..=1.0;
        }
        let span = high - low;
        let pad = if span > 0.0 { span * margin } else { 0.5_f64.max(low.abs() * 0.1) };
        low - pad..=high + pad
    }

    /// At most `max` ticks inside `range` (axis coordinates), in ascending order.
    pub fn ticks(&self, range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
        let max = max.max(2);
        match self {
            Self::Linear => linear_ticks(range, max),
            Self::Log2 => log2_ticks(range, max),
            Self::Log10 => log10_ticks(range, max),
            Self::Category(names) => (0..names.len())
                .filter(|idx| range.contains(&(*idx as f64)))
                .map(|idx| Tick { value: idx as f64, label: names[idx].clone() })
                .collect(),
        }
    }
}

impl Scale {
    /// Linear ticks at multiples of a power of two, at most `max` and one.
    pub fn binary_ticks(range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
        let (low, high) = (*range.start(), *range.end());
        let span = high - low;
        if !(span.is_finite() && span > 0.0) {
            return Vec::new();
        }
        let step = ((span / max.max(2) as f64).log2() - 1e-9).ceil().exp2();
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        (first..=last).map(|n| plain_tick(n as f64 * step)).collect()
    }
}

fn linear_ticks(range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
    let (low, high) = (*range.start(), *range.end());
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let rough = span / max as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * decade).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(decade * 10.0);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|n| plain_tick(n as f64 * step)).collect()
}

/// 1, 2, 4, 8, …; every second or third power where they would crowd; halves and quarters when zoomed in.
fn log2_ticks(range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
    let (low, high) = (*range.start(), *range.end());
    let (first, last) = ((low - 1e-9).ceil() as i64, (high + 1e-9).floor() as i64);
    let count = (last - first + 1).max(0) as usize;
    if count < 2 {
        return zoomed_ticks(&Scale::Log2, range, max);
    }
    let every = count.div_ceil(max) as i64;
    (first..=last).filter(|n| n.rem_euclid(every) == 0).map(|n| plain_tick((n as f64).exp2())).collect()
}

fn log10_ticks(range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
    let (low, high) = (*range.start(), *range.end());
    let decades = (low.floor() as i64)..=(high.floor() as i64);
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
        let ticks: Vec<Tick> = decades
            .clone()
            .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade as i32)))
            .filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log10()))
            .map(plain_tick)
            .collect();
        if ticks.len() < 2 && steps.len() == 3 {
            return zoomed_ticks(&Scale::Log10, range, max);
        }
        if ticks.len() <= max {
            return ticks;
        }
    }
    let (first, last) = (low.ceil() as i64, high.floor() as i64);
    let every = ((last - first + 1).max(1) as usize).div_ceil(max) as i64;
    (first..=last).filter(|n| n.rem_euclid(every) == 0).map(|n| plain_tick(10f64.powi(n as i32))).collect()
}

/// Less than two natural ticks in sight of a logarithmic axis: round values as on a linear one.
fn zoomed_ticks(scale: &Scale, range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
    linear_ticks(&(scale.from_axis(*range.start())..=scale.from_axis(*range.end())), max)
}

fn plain_tick(value: f64) -> Tick {
    Tick { value, label: short_number(value) }
}

/// A tick's number: as everywhere, but with k, M, G from ten thousand on, where digits would crowd.
fn short_number(value: f64) -> String {
    use vramlab_units::show::number;
    for (limit, unit) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= limit && value.abs() >= 1e4 {
            return format!("{}{unit}", number(value / limit));
        }
    }
    number(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scale: &Scale, low: f64, high: f64, max: usize, expected: &[&str]) {
        let range = scale.to_axis(low).unwrap()..=scale.to_axis(high).unwrap();
        let labels: Vec<String> = scale.ticks(&range, max).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, expected, "{scale:?} {low}..{high}");
    }

    #[test]
    fn ticks_are_the_numbers_one_would_write() {
        check(&Scale::Log2, 1.0, 64.0, 10, &["1", "2", "4", "8", "16", "32", "64"]);
        check(&Scale::Log2, 1.0, 64.0, 4, &["1", "4", "16", "64"]);
        check(&Scale::Log10, 100.0, 5000.0, 10, &["100", "200", "500", "1000", "2000", "5000"]);
        check(&Scale::Log10, 1.0, 1e6, 8, &["1", "10", "100", "1000", "10k", "100k", "1M"]);
        check(&Scale::Linear, 0.0, 33.0, 7, &["0", "5", "10", "15", "20", "25", "30"]);
        check(&Scale::Linear, -1.0, 1.0, 4, &["-1", "-0.5", "0", "0.5", "1"]);
        check(&Scale::Log2, 5.0, 7.0, 5, &["5", "5.5", "6", "6.5", "7"]);
        check(&Scale::Log10, 6.0, 9.0, 4, &["6", "7", "8", "9"]);
    }

    #[test]
    fn places_and_values_are_inverse() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for value in [0.125, 1.0, 3.0, 4478.0] {
                let there_and_back = scale.from_axis(scale.to_axis(value).unwrap());
                assert!((there_and_back / value - 1.0).abs() < 1e-12, "{scale:?} {value}");
            }
        }
        assert_eq!(Scale::Log2.to_axis(0.0), None);
        assert_eq!(Scale::Linear.to_axis(f64::NAN), None);
    }

    #[test]
    fn every_fit_is_a_finite_range_with_room() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10, Scale::Category(Vec::new())] {
            for values in [&[][..], &[3.0], &[0.0, -1.0], &[1.0, f64::INFINITY], &[1e-30, 1e30]] {
                let range = scale.fit(values.iter().copied(), 0.05);
                assert!(range.start().is_finite() && range.end() > range.start(), "{scale:?} {values:?} {range:?}");
                assert!(scale.ticks(&range, 8).len() <= 12, "{scale:?} {values:?}");
            }
        }
    }
}
