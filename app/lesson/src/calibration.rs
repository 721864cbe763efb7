//! How the reader's numbers compare with the truth over the chapters. Pure: truths come from the models of today, so
//! that a corrected model corrects the record; what is kept is only what was guessed.

use crate::answer::{Eval, Given, Values, value_of};
use crate::chapter::{Chapter, Form, Predict, StepBody};
use crate::progress::Progress;

/// One number that was predicted and whose truth the reader has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    pub chapter: String,
    pub step: String,
    pub given: f64,
    pub truth: f64,
    /// log₁₀ of given over truth: 0 is right, 0.301 is twice too high.
    pub log10_factor: f64,
}

/// All guesses in the order of the chapters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    pub guesses: Vec<Guess>,
    /// Zero or negative on one side, or without a truth: no factor says how far off they are.
    pub n_left_out: usize,
    /// Predicted after the experiment had shown the truth.
    pub n_late: usize,
}

/// Fewer guesses than this say nothing about a person.
pub const FEW: usize = 5;

impl Calibration {
    /// Of every number whose truth has been revealed; others would give it away.
    pub fn of<'a>(progress: &Progress, chapters: impl IntoIterator<Item = &'a Chapter>, eval: Eval<'_>) -> Self {
        let mut out = Self::default();
        for chapter in chapters {
            for step in &chapter.steps {
                let StepBody::Predict(predict) = &step.body else { continue };
                let Form::Number { answer, .. } = &predict.question.form else { continue };
                let Some(entry) = progress.step(&chapter.id, &step.id) else { continue };
                let Some(Given::Number { value }) = entry.answer else { continue };
                if !is_seen(progress, chapter, &step.id, predict) {
                    continue;
                }
                if is_late(progress, chapter, &step.id, predict) {
                    out.n_late += 1;
                    continue;
                }
                let truth = value_of(answer, &Values::new(), eval).ok();
                match truth.and_then(|truth| Some((truth, log10_factor(value, truth)?))) {
                    Some((truth, log10_factor)) => out.guesses.push(Guess {
                        chapter: chapter.id.clone(),
                        step: step.id.clone(),
                        given: value,
                        truth,
                        log10_factor,
                    }),
                    None => out.n_left_out += 1,
                }
            }
        }
        out
    }

    /// The middle guess as a factor: 2 means "usually twice too high", 0.5 "half of what it is".
    pub fn median_factor(&self) -> Option<f64> {
        let mut logs: Vec<f64> = self.guesses.iter().map(|guess| guess.log10_factor).collect();
        logs.sort_by(f64::total_cmp);
        let middle = logs.len() / 2;
        let upper = *logs.get(middle)?;
        let median = if logs.len() % 2 == 1 { upper } else { f64::midpoint(logs[middle - 1], upper) };
        Some(10_f64.powf(median))
    }

    /// How many lie within `factor` of the truth, both ends included.
    pub fn n_within(&self, factor: f64) -> usize {
        let limit = factor.log10() * (1.0 + 1e-12);
        self.guesses.iter().filter(|guess| guess.log10_factor.abs() <= limit).count()
    }

    /// Whether there are enough guesses to speak of a habit.
    pub fn is_enough(&self) -> bool {
        self.guesses.len() >= FEW
    }
}

/// Whether the truth of a prediction has been shown: on its card, or by the experiment that measures it. From then on
/// the prediction stays as it is. A figure does not count: there the reader has to find it.
pub fn is_seen(progress: &Progress, chapter: &Chapter, step: &str, predict: &Predict) -> bool {
    let is_revealed = progress.step(&chapter.id, step).is_some_and(|entry| entry.revealed_at.is_some());
    let by = chapter.steps.iter().find(|step| Some(&step.id) == predict.revealed_by.as_ref());
    let is_measured =
        by.is_some_and(|by| matches!(by.body, StepBody::Experiment(_)) && progress.is_done(&chapter.id, &by.id));
    is_revealed || is_measured
}

/// Whether the prediction was made when its experiment had been seen already.
fn is_late(progress: &Progress, chapter: &Chapter, step: &str, predict: &Predict) -> bool {
    let done_at = |step: &str| progress.step(&chapter.id, step)?.done_at;
    let shown_at = predict.revealed_by.as_deref().and_then(done_at);
    let by = chapter.steps.iter().find(|step| Some(&step.id) == predict.revealed_by.as_ref());
    let is_measured = by.is_some_and(|by| matches!(by.body, StepBody::Experiment(_)));
    is_measured && done_at(step).zip(shown_at).is_some_and(|(predicted, shown)| predicted > shown)
}

/// Nothing where one of the two is not positive.
pub fn log10_factor(given: f64, truth: f64) -> Option<f64> {
    let log = (given / truth).log10();
    (given > 0.0 && truth > 0.0 && log.is_finite()).then_some(log)
}

/// The range in which the true share lies with 95 % confidence when `n_hit` of `n` were seen (Wilson, 1927, without
/// continuity correction): with few samples it is wide, and that is the point of showing it.
pub fn share_interval(n_hit: usize, n: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    let (hit, all) = (n_hit as f64, n as f64);
    if n == 0 || n_hit > n {
        return None;
    }
    let share = hit / all;
    let scale = 1.0 + Z * Z / all;
    let center = (share + Z * Z / (2.0 * all)) / scale;
    let half = Z / scale * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
    Some(((center - half).max(0.0), (center + half).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::{FieldError, Map};

    fn calibration(factors: &[f64]) -> Calibration {
        let guess = |factor: &f64| Guess {
            chapter: "02".to_owned(),
            step: "s".to_owned(),
            given: *factor,
            truth: 1.0,
            log10_factor: factor.log10(),
        };
        Calibration { guesses: factors.iter().map(guess).collect(), ..Calibration::default() }
    }

    #[test]
    fn the_median_is_a_factor_and_twice_is_within_two() {
        let three = calibration(&[0.5, 2.0, 10.0]);
        assert!((three.median_factor().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!((three.n_within(2.0), three.n_within(1.9), three.n_within(10.0)), (2, 0, 3));
        // Of 0.25 and 4 the middle, in ratios, is 1.
        assert!((calibration(&[0.25, 4.0]).median_factor().unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(calibration(&[]).median_factor(), None);
        assert!(!calibration(&[1.0; 4]).is_enough() && calibration(&[1.0; 5]).is_enough());
    }

    /// Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    #[test]
    fn the_interval_is_wilson_s() {
        for (n_hit, n, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let (from, to) = share_interval(n_hit, n).unwrap();
            assert!((from - low).abs() < 6e-5 && (to - high).abs() < 6e-5, "{n_hit}/{n}: {from} {to}");
        }
        assert_eq!(share_interval(0, 0), None);
        assert_eq!(share_interval(3, 3).unwrap().1, 1.0);
    }

    const CHAPTER: &str = r#"
schema = 1
lang = "en"
title = "C"
[[step]]
id = "guess"
kind = "predict"
title = "G"
ask = "?"
answer = { model = "double", set = { x = 4 }, take = "y" }
unit = "B"
min = 1
max = 100
revealed_by = "later"
explain = "E"
[[step]]
id = "plain"
kind = "predict"
title = "G"
ask = "?"
answer = { value = 0, source = "by hand" }
unit = "B"
min = 0
max = 100
explain = "E"
[[step]]
id = "later"
kind = "experiment"
title = "L"
run = "a/b"
text = "T"
explain = "E"
alt = "A"
"#;

    #[test]
    fn only_what_has_been_revealed_counts() {
        let chapter = crate::parse("02", "chapter.toml", CHAPTER.as_bytes()).chapter.unwrap();
        let eval = |_: &str, set: &Map| -> Result<Map, FieldError> {
            Ok(Map::from_iter([("y".to_owned(), (2.0 * set["x"].as_f64().unwrap_or(0.0)).into())]))
        };
        let of = |progress: &Progress| Calibration::of(progress, [&chapter], &eval);
        let mut progress = Progress::default();
        progress.predict("02", "guess", Given::Number { value: 16.0 });
        progress.predict("02", "plain", Given::Number { value: 5.0 });
        assert_eq!(of(&progress), Calibration::default());
        progress.set_done("02", "later");
        progress.reveal("02", "plain");
        let found = of(&progress);
        assert_eq!(found.n_left_out, 1, "the truth is 0");
        assert_eq!(found.guesses.len(), 1);
        let guess = &found.guesses[0];
        assert_eq!((guess.step.as_str(), guess.given, guess.truth), ("guess", 16.0, 8.0));
        assert!((guess.log10_factor - 2_f64.log10()).abs() < 1e-12);
        progress.predict("02", "guess", Given::Number { value: 8.0 });
        let found = of(&progress);
        assert_eq!((found.guesses.len(), found.n_late), (0, 1), "predicted after the measurement was shown");
    }
}
