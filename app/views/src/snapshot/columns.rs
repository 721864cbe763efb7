//! What each pixel of the timeline shows: of all the moments it stands for, the one at which most was in use, so that no
//! peak is lost however many events share a pixel.

use vramlab_snapshot::timeline::Series;

/// A stretch of the picture and the moment it shows, in shares of its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub left: f32,
    pub right: f32,
    pub moment: usize,
}

/// Columns for the moments `from..=until` on `n_pixels`. `totals` has one value for each moment.
pub fn columns(totals: &Series, from: usize, until: usize, n_pixels: usize) -> Vec<Column> {
    let len = totals.values().len();
    let until = until.min(len.saturating_sub(1));
    let span = until.saturating_sub(from).max(1);
    if span <= n_pixels {
        // Every moment has its own stretch, from its event to the next.
        let share = |moment: usize| (moment - from) as f32 / span as f32;
        return (from..until.max(from + 1))
            .map(|moment| Column { left: share(moment), right: share(moment + 1), moment })
            .collect();
    }
    let edge = |pixel: usize| from + (span as u128 * pixel as u128 / n_pixels as u128) as usize;
    let column = |pixel: usize| {
        let (start, end) = (edge(pixel), edge(pixel + 1).min(len));
        let moment = totals.argmax_in(start, end).unwrap_or(start);
        Column { left: pixel as f32 / n_pixels as f32, right: (pixel + 1) as f32 / n_pixels as f32, moment }
    };
    (0..n_pixels).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_shows_the_largest_moment_it_stands_for() {
        let mut totals = vec![1_u64; 10_001];
        totals[7_654] = 9;
        let columns = columns(&Series::new(totals), 0, 10_000, 100);
        assert_eq!(columns.len(), 100);
        assert_eq!(columns[76].moment, 7_654);
        assert_eq!((columns[0].left, columns[99].right), (0.0, 1.0));
    }

    #[test]
    fn few_moments_have_a_stretch_each() {
        let columns = columns(&Series::new(vec![3, 5, 4]), 0, 2, 800);
        let moments: Vec<usize> = columns.iter().map(|column| column.moment).collect();
        assert_eq!(moments, [0, 1]);
        assert_eq!(columns[1].right, 1.0);
        assert_eq!(super::columns(&Series::default(), 0, 0, 10).len(), 1);
    }
}
