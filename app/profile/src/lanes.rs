//! Activities for a picture: how busy each pixel of a lane is in a window of time. Nothing is left out: an interval that is
//! shorter than a pixel adds its share.

/// Intervals in the order of their starts.
#[derive(Clone, Copy, Debug)]
pub struct Spans<'a> {
    pub start_ns: &'a [u64],
    pub ns: &'a [u64],
}

impl Spans<'_> {
    /// The longest interval: how far back of a window one may begin.
    pub fn longest(&self) -> u64 {
        self.ns.iter().copied().max().unwrap_or_default()
    }

    /// Share of each of `n` equal parts of the window that at least one interval covers.
    pub fn busy(&self, (from, until): (u64, u64), n: usize, longest: u64) -> Vec<f32> {
        let mut out = vec![0.0; n];
        if until <= from || n == 0 {
            return out;
        }
        let per = (until - from) as f64 / n as f64;
        let first = self.start_ns.partition_point(|start| *start < from.saturating_sub(longest));
        // What is covered so far: intervals of several streams overlap.
        let mut covered = from;
        for (start, ns) in self.start_ns[first..].iter().zip(&self.ns[first..]) {
            if *start >= until {
                break;
            }
            let (start, end) = ((*start).max(covered), start.saturating_add(*ns).min(until));
            if end > start {
                add(&mut out, (start - from) as f64 / per, (end - from) as f64 / per);
                covered = end;
            }
        }
        out
    }

    /// Time that at least one interval covers.
    pub fn union_ns(&self) -> u64 {
        let (mut sum, mut covered) = (0_u64, 0_u64);
        for (start, ns) in self.start_ns.iter().zip(self.ns) {
            let (start, end) = ((*start).max(covered), start.saturating_add(*ns));
            if end > start {
                sum = sum.saturating_add(end - start);
                covered = end;
            }
        }
        sum
    }

    /// The interval that covers a time, the last one to begin.
    pub fn at(&self, t: u64, longest: u64) -> Option<usize> {
        let end = self.start_ns.partition_point(|start| *start <= t);
        let least = t.saturating_sub(longest);
        (0..end)
            .rev()
            .take_while(|row| self.start_ns[*row] >= least)
            .find(|row| self.start_ns[*row].saturating_add(self.ns[*row]) > t)
    }
}

/// Adds the stretch `from..until`, in parts, to the parts it covers.
fn add(out: &mut [f32], from: f64, until: f64) {
    let last = out.len() - 1;
    let (first_part, last_part) = ((from as usize).min(last), (until as usize).min(last));
    for (part, share) in out.iter_mut().enumerate().take(last_part + 1).skip(first_part) {
        let low = from.max(part as f64);
        let high = until.min((part + 1) as f64);
        *share = (*share + (high - low).max(0.0) as f32).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_covered_time() {
        let spans = Spans { start_ns: &[0, 5, 40], ns: &[10, 10, 20] };
        // 0–15 and 40–60, of 100 in ten parts.
        let busy = spans.busy((0, 100), 10, spans.longest());
        assert_eq!(busy, [1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(spans.union_ns(), 35);
        // A window that begins inside an interval sees it.
        assert_eq!(spans.busy((50, 60), 1, spans.longest()), [1.0]);
        assert_eq!((spans.at(45, 20), spans.at(30, 20), spans.at(7, 20)), (Some(2), None, Some(1)));
    }

    #[test]
    fn empty_windows_and_extremes_are_harmless() {
        let spans = Spans { start_ns: &[u64::MAX - 1], ns: &[u64::MAX] };
        assert_eq!(spans.busy((5, 5), 4, spans.longest()), [0.0; 4]);
        assert_eq!(spans.busy((0, u64::MAX), 2, spans.longest()).len(), 2);
        assert!(Spans { start_ns: &[], ns: &[] }.busy((0, 1), 0, 0).is_empty());
    }
}
