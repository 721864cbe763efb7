//! How far a prediction lies from the truth, for the sentence and the drawing under it. Nothing here judges: a gap is
//! what one learns from.

/// A number against the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberGap {
    /// Equal within the question's tolerance.
    None,
    /// The guess is this many times the truth; more than 1.
    TooHigh { factor: f64 },
    /// The truth is this many times the guess; more than 1.
    TooLow { factor: f64 },
    /// One of the two is zero or they differ in sign, so that no factor says it: guess minus truth.
    By { difference: f64 },
}

pub fn number(given: f64, truth: f64, tolerance: f64) -> NumberGap {
    if crate::answer::is_close(given, truth, tolerance) {
        return NumberGap::None;
    }
    let factor = given / truth;
    if !(factor.is_finite() && factor > 0.0) {
        return NumberGap::By { difference: given - truth };
    }
    // Below zero the smaller number is the larger debt: what counts is the size.
    if factor > 1.0 { NumberGap::TooHigh { factor } } else { NumberGap::TooLow { factor: 1.0 / factor } }
}

/// A drawn curve against the true one, at the places that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveGap {
    /// Where the gap is largest.
    pub x: f64,
    pub given: f64,
    pub truth: f64,
    /// Places that were compared, and how many lie within a quarter of the truth.
    pub n_compared: usize,
    pub n_close: usize,
    /// Places at which the reader's curve lies above and below the truth by more than that.
    pub n_above: usize,
    pub n_below: usize,
}

/// What counts as hit: a hand draws no finer.
pub const CLOSE: f64 = 1.25;

/// Compares where both curves have a value. The gap is a ratio where all values are positive, else a difference.
pub fn curve(given: &[(f64, f64)], truth: &[(f64, f64)]) -> Option<CurveGap> {
    let pairs: Vec<(f64, f64, f64)> = given
        .iter()
        .filter_map(|(x, y)| Some((*x, *y, truth.iter().find(|(at, _)| at == x)?.1)))
        .filter(|(_, given, truth)| given.is_finite() && truth.is_finite())
        .collect();
    let is_ratio = pairs.iter().all(|(_, given, truth)| *given > 0.0 && *truth > 0.0);
    // Where no ratio says it, a quarter of the largest value stands for a quarter of the truth.
    let span = pairs.iter().fold(0.0_f64, |most, (_, _, truth)| most.max(truth.abs()));
    let gap = |given: f64, truth: f64| if is_ratio { (given / truth).ln() } else { given - truth };
    let limit = if is_ratio { CLOSE.ln() } else { (CLOSE - 1.0) * span };
    let largest = pairs.iter().max_by(|a, b| gap(a.1, a.2).abs().total_cmp(&gap(b.1, b.2).abs()))?;
    let count = |wanted: &dyn Fn(f64) -> bool| pairs.iter().filter(|pair| wanted(gap(pair.1, pair.2))).count();
    Some(CurveGap {
        x: largest.0,
        given: largest.1,
        truth: largest.2,
        n_compared: pairs.len(),
        n_close: count(&|gap| gap.abs() <= limit),
        n_above: count(&|gap| gap > limit),
        n_below: count(&|gap| gap < -limit),
    })
}

/// The pairs of items that stand the wrong way round, as they were put: `(earlier, later)`, by their right places.
/// Neighbours in the right order come first, since they are the nearest to being understood.
pub fn swapped(order: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = order
        .iter()
        .enumerate()
        .flat_map(|(at, earlier)| order[at + 1..].iter().map(move |later| (*earlier, *later)))
        .filter(|(earlier, later)| earlier > later)
        .collect();
    pairs.sort_by_key(|(earlier, later)| (earlier - later, *later));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_too_high_or_too_low_by_a_factor() {
        assert_eq!(number(128.0, 256.0, 0.0), NumberGap::TooLow { factor: 2.0 });
        assert_eq!(number(768.0, 256.0, 0.0), NumberGap::TooHigh { factor: 3.0 });
        assert_eq!(number(104.0, 100.0, 0.05), NumberGap::None);
        assert_eq!(number(3.0, 0.0, 0.0), NumberGap::By { difference: 3.0 });
        assert_eq!(number(0.0, 4.0, 0.0), NumberGap::By { difference: -4.0 });
        assert_eq!(number(-2.0, 4.0, 0.0), NumberGap::By { difference: -6.0 });
    }

    #[test]
    fn the_largest_gap_of_a_curve_is_a_ratio() {
        // 4400 against 4600 is 200 off and 4 %; 600 against 300 is 300 off and twofold.
        let truth = [(1.0, 4600.0), (2.0, 2300.0), (8.0, 600.0), (16.0, 300.0)];
        let given = [(1.0, 4400.0), (2.0, 2300.0), (8.0, 600.0), (16.0, 600.0), (99.0, 1.0)];
        let gap = curve(&given, &truth).unwrap();
        assert_eq!((gap.x, gap.given, gap.truth), (16.0, 600.0, 300.0));
        assert_eq!((gap.n_compared, gap.n_close, gap.n_above, gap.n_below), (4, 3, 1, 0));
    }

    #[test]
    fn with_a_zero_the_gap_is_a_difference() {
        let gap = curve(&[(0.0, 3.0), (1.0, 0.0)], &[(0.0, 0.0), (1.0, 8.0)]).unwrap();
        assert_eq!((gap.x, gap.n_above, gap.n_below), (1.0, 1, 1)); // 8 below; 3 above, more than a quarter of 8
        assert_eq!(curve(&[(1.0, 1.0)], &[(2.0, 1.0)]), None);
        assert_eq!(curve(&[(1.0, f64::NAN)], &[(1.0, 1.0)]), None);
    }

    #[test]
    fn swapped_pairs_of_an_order() {
        assert_eq!(swapped(&[0, 1, 2, 3]), []);
        assert_eq!(swapped(&[0, 2, 1, 3]), [(2, 1)]);
        // A reversed order swaps all n(n−1)/2 pairs.
        assert_eq!(swapped(&[3, 2, 1, 0]).len(), 6);
        assert_eq!(swapped(&[2, 0, 1]), [(2, 1), (2, 0)]);
    }
}
