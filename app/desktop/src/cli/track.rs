//! The small chart in text: one line a point, `○` predicted, `●` measured, `◉` where both fall on one column. Hollow
//! and solid as everywhere in the program.

/// The axis of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub lo: f64,
    pub hi: f64,
    pub is_log: bool,
}

impl Axis {
    /// An axis over `values` with round ends: from 0 if linear, from the round number below the least if logarithmic.
    pub fn over(values: impl Iterator<Item = f64>, wants_log: bool) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let hi = values.iter().copied().fold(0.0, f64::max);
        let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
        if hi <= 0.0 {
            return Self { lo: 0.0, hi: 1.0, is_log: false };
        }
        let is_log = wants_log && lo > 0.0;
        let lo = if is_log { round_down(lo) } else { 0.0 };
        let hi = round_up(hi);
        Self { lo, hi: if hi > lo { hi } else { lo * 2.0 }, is_log }
    }

    /// The column of `value`, from 0 to `columns - 1`.
    pub fn column(&self, value: f64, columns: usize) -> Option<usize> {
        let share = match self.is_log {
            true if value <= 0.0 => return None,
            true => (value / self.lo).ln() / (self.hi / self.lo).ln(),
            false => (value - self.lo) / (self.hi - self.lo),
        };
        share.is_finite().then(|| (share.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize)
    }
}

/// One line of the chart.
pub fn track(axis: Axis, columns: usize, predicted: Option<f64>, measured: Option<f64>) -> String {
    let at = |value: Option<f64>| value.and_then(|value| axis.column(value, columns));
    let (p, m) = (at(predicted), at(measured));
    let far = p.max(m);
    let cell = |column: usize| match (p == Some(column), m == Some(column)) {
        (true, true) => '◉',
        (true, false) => '○',
        (false, true) => '●',
        (false, false) if far.is_some_and(|far| column < far) => '·',
        (false, false) => ' ',
    };
    (0..columns).map(cell).collect::<String>().trim_end().to_owned()
}

/// The largest of 1, 2, 5 times a power of ten that is not above `value`.
fn round_down(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let steps = [5.0, 2.0, 1.0];
    // A hair of slack, so that 0.2 is its own round number.
    steps.iter().map(|step| step * power).find(|round| *round <= value * 1.000_001).unwrap_or(power)
}

fn round_up(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.iter().map(|step| step * power).find(|round| *round >= value * 0.999_999).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(Axis::over([187.0, 4478.0].into_iter(), true), Axis { lo: 100.0, hi: 5000.0, is_log: true });
        assert_eq!(Axis::over([3.0, 16.0].into_iter(), false), Axis { lo: 0.0, hi: 20.0, is_log: false });
        assert_eq!(Axis::over([0.2, 1.0].into_iter(), true), Axis { lo: 0.2, hi: 1.0, is_log: true });
        assert_eq!(Axis::over(std::iter::empty(), true), Axis { lo: 0.0, hi: 1.0, is_log: false });
        assert_eq!(Axis::over([0.0, 4.0].into_iter(), true), Axis { lo: 0.0, hi: 5.0, is_log: false });
        assert_eq!(Axis::over([5.0].into_iter(), true), Axis { lo: 5.0, hi: 10.0, is_log: true });
    }

    /// On a logarithmic axis from 1 to 100 the middle is 10.
    #[test]
    fn marks_stand_where_the_scale_says() {
        let log = Axis { lo: 1.0, hi: 100.0, is_log: true };
        assert_eq!(log.column(10.0, 21), Some(10));
        assert_eq!(log.column(0.0, 21), None);
        let linear = Axis { lo: 0.0, hi: 10.0, is_log: false };
        assert_eq!(track(linear, 11, Some(4.0), Some(2.0)), "··●·○");
        assert_eq!(track(linear, 11, Some(4.0), Some(4.0)), "····◉");
        assert_eq!(track(linear, 11, None, Some(f64::NAN)), "");
        assert_eq!(track(linear, 11, Some(1e9), None), "··········○");
    }
}
