//! What the reader sets: where samples come from, how many, which draw.

use vramlab_model::bench_draw::{Source, draw};
use vramlab_model::bench_stats::{Stats, parse};
use vramlab_model::samples::{Change, Interval, change};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// The median that the baseline is drawn from, in milliseconds.
pub const BASE_MS: f64 = 10.0;
pub const MOST: u64 = 200;
const ODD_FACTOR: f64 = 1.5;

/// Where the samples come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Drawn from two known sources.
    Drawn,
    /// Given, one list: nothing to compare with.
    Given(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub origin: Origin,
    given: String,
    pub n: u64,
    pub slower: f64,
    pub spread: f64,
    pub odd: f64,
    pub seed: u64,
}

/// One line of samples.
pub struct Line {
    pub stats: Stats,
    /// In the order in which they came.
    pub samples: Vec<f64>,
}

impl Line {
    fn new(samples: Vec<f64>) -> Option<Self> {
        Some(Self { stats: Stats::of(&samples)?, samples })
    }

    pub fn interval(&self) -> Option<Interval> {
        let (low, high) = self.stats.interval()?;
        Some(Interval { low, median: self.stats.median, high, n: self.samples.len() })
    }
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let share = |key, max, zh, en| FieldSpec::num(key, "%", 0.0, max, Text::new(zh, en));
        let given = Text::new("一组给定的样本；空着就现抽两组", "Samples that are given; two sets are drawn if empty");
        vec![
            FieldSpec::new("samples", "", FieldKind::Text { max_len: 4096 }, given).default_value(""),
            FieldSpec::int("n", "1", 1, MOST as i64, Text::new("每边几个样本", "Samples a side")).default_value(20),
            share("slower", 0.2, "候选真的慢多少", "How much slower the candidate is").default_value(0.03),
            share("spread", 0.1, "单个样本的标准差", "Standard deviation of one sample").default_value(0.02),
            share("odd", 0.3, "多少样本耽搁了", "Share of delayed samples").default_value(0.05),
            FieldSpec::int("seed", "1", 1, 1 << 20, Text::new("第几次抽", "Which draw")).default_value(1),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let given = args.text("samples").to_owned();
        let list = parse(&given)?;
        Ok(Self {
            origin: if list.is_empty() { Origin::Drawn } else { Origin::Given(list) },
            given,
            n: args.uint("n"),
            slower: args.num("slower"),
            spread: args.num("spread"),
            odd: args.num("odd"),
            seed: args.uint("seed"),
        })
    }

    pub fn params(&self) -> Map {
        let pairs: [(&str, Value); 6] = [
            ("samples", self.given.clone().into()),
            ("n", self.n.into()),
            ("slower", self.slower.into()),
            ("spread", self.spread.into()),
            ("odd", self.odd.into()),
            ("seed", self.seed.into()),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// The baseline, and the candidate where there is one.
    pub fn lines(&self) -> Vec<Line> {
        match &self.origin {
            Origin::Given(list) => {
                let n = (self.n as usize).min(list.len());
                Line::new(list[..n].to_vec()).into_iter().collect()
            }
            Origin::Drawn => {
                let source = |factor: f64| Source {
                    median: BASE_MS * factor,
                    spread: self.spread,
                    odd_share: self.odd,
                    odd_factor: ODD_FACTOR,
                };
                let n = self.n as usize;
                // Two draws that have nothing in common.
                let sides = [(source(1.0), 2 * self.seed), (source(1.0 + self.slower), 2 * self.seed + 1)];
                sides.into_iter().filter_map(|(source, seed)| Line::new(draw(&source, seed, n))).collect()
            }
        }
    }

    /// The true medians, where they are known.
    pub fn truths(&self) -> Option<[f64; 2]> {
        (self.origin == Origin::Drawn).then_some([BASE_MS, BASE_MS * (1.0 + self.slower)])
    }

    /// How many samples there can be.
    pub fn most(&self) -> u64 {
        match &self.origin {
            Origin::Given(list) => list.len() as u64,
            Origin::Drawn => MOST,
        }
    }
}

/// What the rule says of two lines.
pub fn verdict(lines: &[Line]) -> Option<Change> {
    let [base, candidate] = lines else { return None };
    Some(change(base.interval(), candidate.interval()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(pairs: &[(&str, Value)]) -> Question {
        let map = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Question::from_args(&Args::check(&Question::fields(), &map).unwrap()).unwrap()
    }

    #[test]
    fn three_per_cent_drown_in_six_samples_and_show_in_two_hundred() {
        let verdict_of = |n: u64| verdict(&ask(&[("n", n.into()), ("spread", 0.04.into())]).lines());
        assert_eq!(verdict_of(5), Some(Change::Insufficient));
        assert_eq!(verdict_of(6), Some(Change::NoDifference));
        assert_eq!(verdict_of(200), Some(Change::Regressed));
    }

    #[test]
    fn given_samples_stand_alone() {
        let question = ask(&[("samples", "10.2 10.0 10.1 30.0 10.0 10.3 9.9".into())]);
        let lines = question.lines();
        assert_eq!((lines.len(), question.most(), verdict(&lines)), (1, 7, None));
        assert_eq!(lines[0].stats.outliers(), 1);
        assert!(question.truths().is_none());
    }
}
