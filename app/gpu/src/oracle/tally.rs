//! Counts what agreed and remembers the first that did not.

use vramlab_trace::OracleOutcome;

#[derive(Default)]
pub struct Tally {
    n_checked: u64,
    worst_error: f64,
    n_wrong: u64,
    first: Option<(u64, f64, f64)>,
}

impl Tally {
    /// Compares bits.
    pub fn word(&mut self, index: u64, expected: u32, found: u32) {
        self.n_checked += 1;
        if expected != found {
            self.wrong(index, f64::from(expected), f64::from(found));
        }
    }

    /// Compares to a relative tolerance; NaN never agrees.
    pub fn close(&mut self, index: u64, expected: f64, found: f64, tolerance: f64) {
        self.n_checked += 1;
        let error =
            if expected == found { 0.0 } else { (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE) };
        if error <= tolerance {
            self.worst_error = self.worst_error.max(error);
        } else {
            self.wrong(index, expected, found);
        }
    }

    /// Compares a sum whose terms have magnitudes of `size` together: the error over that.
    pub fn sum(&mut self, index: u64, expected: f64, found: f64, size: f64, slack: f64) {
        self.n_checked += 1;
        let error = (found - expected).abs() / size.max(f64::MIN_POSITIVE);
        if error <= slack {
            self.worst_error = self.worst_error.max(error);
        } else {
            self.wrong(index, expected, found);
        }
    }

    fn wrong(&mut self, index: u64, expected: f64, found: f64) {
        self.n_wrong += 1;
        self.first = self.first.filter(|(first, _, _)| *first < index).or(Some((index, expected, found)));
    }

    pub fn outcome(self) -> OracleOutcome {
        match self.first {
            // JSON has no NaN; poison in a double is one.
            Some((first_wrong_idx, expected, found)) => OracleOutcome::Failed {
                first_wrong_idx,
                expected,
                found: if found.is_finite() { found } else { f64::MAX },
                n_wrong: self.n_wrong,
            },
            None => OracleOutcome::Passed { n_checked: self.n_checked, worst_error: self.worst_error },
        }
    }
}
