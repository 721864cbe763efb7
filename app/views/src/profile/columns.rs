//! The sample that a pixel shows: of those that fall into it the one with most memory, so that no peak is lost; where none
//! does, the last one before.

/// One column of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The sample; nothing before the first.
    pub row: Option<usize>,
}

/// Columns of a window. `total`: memory in a sample, for choosing among several.
pub fn columns(t_us: &[u64], (from, until): (u64, u64), n: usize, total: &dyn Fn(usize) -> u64) -> Vec<Column> {
    let span = until.saturating_sub(from) as f64;
    let edge = |pixel: usize| from.saturating_add((span * pixel as f64 / n.max(1) as f64).round() as u64);
    let mut first = t_us.partition_point(|t| *t < from);
    (0..n)
        .map(|pixel| {
            let end = first + t_us[first..].partition_point(|t| *t < edge(pixel + 1));
            let most = (first..end).fold(None, |best: Option<usize>, row| match best {
                Some(best) if total(best) >= total(row) => Some(best),
                _ => Some(row),
            });
            first = end;
            Column { row: most.or(first.checked_sub(1)) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_between_pixels_is_not_lost() {
        let t: Vec<u64> = (0..100).collect();
        let total = |row: usize| if row == 37 { 9 } else { 1 };
        let found = columns(&t, (0, 100), 10, &total);
        assert_eq!(
            found.iter().map(|column| column.row).collect::<Vec<_>>(),
            [Some(0), Some(10), Some(20), Some(37), Some(40), Some(50), Some(60), Some(70), Some(80), Some(90)]
        );
    }

    #[test]
    fn between_samples_the_last_one_holds() {
        let found = columns(&[10, 50], (0, 100), 10, &|_| 1);
        let rows: Vec<Option<usize>> = found.iter().map(|column| column.row).collect();
        assert_eq!(rows[0], None);
        assert_eq!((rows[1], rows[4], rows[5], rows[9]), (Some(0), Some(0), Some(1), Some(1)));
        assert!(columns(&[], (0, 10), 3, &|_| 1).iter().all(|column| column.row.is_none()));
        assert!(columns(&[1], (0, 10), 0, &|_| 1).is_empty());
    }
}
