//! What the reader sets, and what the models say of it.

use crate::quantisation::ask::{ask, ints, joined, number, numbers};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Random, Text};

/// Weights of the row.
pub const N: usize = 256;
pub const BITS: [u64; 4] = [2, 3, 4, 8];
pub const GROUPS: [u64; 4] = [32, 64, 128, 256];
/// The largest value that a weight can be pulled to, in σ.
pub const MOST: f64 = 40.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub bits: u64,
    pub group: u64,
    pub seed: u64,
    pub outlier_at: usize,
    /// Nothing: every weight is as it was drawn.
    pub outlier: Option<f64>,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, unit, options: Vec<_>, doc| FieldSpec::new(key, unit, FieldKind::Choice { options }, doc);
        let list = |values: &[u64]| values.iter().map(|value| value.to_string().into()).collect();
        let at = Text::new("拉出来的是第几个权重", "The weight that is pulled out");
        let outlier = Text::new("拉到多大，以 σ 计；0 是不拉", "How far, in σ; 0 leaves it");
        vec![
            choice("bits", "bit", list(&BITS), Text::new("一个码几位", "Bits of a code")).default_value("4"),
            choice("group", "1", list(&GROUPS), Text::new("几个权重一组", "Weights of a group")).default_value("256"),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("种子", "Seed")).default_value(1),
            FieldSpec::int("outlier_at", "1", 0, N as i64 - 1, at).default_value(150),
            FieldSpec::num("outlier", "1", -MOST, MOST, outlier).default_value(0.0),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let number = |key: &str| args.text(key).parse().unwrap_or_default();
        let outlier = args.num("outlier");
        Ok(Self {
            bits: number("bits"),
            group: number("group"),
            seed: args.uint("seed"),
            outlier_at: args.uint("outlier_at") as usize,
            outlier: (outlier != 0.0).then_some(outlier),
        })
    }

    pub fn params(&self) -> Map {
        let pairs = [
            ("bits", self.bits.to_string().into()),
            ("group", self.group.to_string().into()),
            ("seed", self.seed.into()),
            ("outlier_at", self.outlier_at.into()),
            ("outlier", self.outlier.unwrap_or_default().into()),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// With another weight pulled, to a tenth of σ.
    pub fn with(&self, at: usize, value: f64) -> Self {
        let value = (value * 10.0).round() / 10.0;
        Self { outlier_at: at, outlier: (value != 0.0).then_some(value), ..self.clone() }
    }

    /// Normal weights with σ = 1.
    fn drawn(&self) -> Vec<f64> {
        let mut random = Random::new(self.seed);
        (0..N).map(|_| (random.normal() * 1e4).round() / 1e4).collect()
    }

    fn values(&self) -> Vec<f64> {
        let mut values = self.drawn();
        if let Some(outlier) = self.outlier {
            values[self.outlier_at] = outlier;
        }
        values
    }
}

/// One group size: bits a weight, error, and error with every weight as it was drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub group: u64,
    pub bits: f64,
    pub rms: f64,
    pub clean: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub values: Vec<f64>,
    pub decoded: Vec<f64>,
    pub codes: Vec<i64>,
    /// One for each group of the chosen size.
    pub scales: Vec<f64>,
    pub points: Vec<Point>,
    pub most_error: f64,
    pub group: usize,
}

fn quantised(values: &[f64], bits: u64, group: u64) -> Result<Map, FieldError> {
    let pairs = [("values", joined(values).into()), ("bits", bits.to_string().into()), ("group", group.into())];
    ask("quant_values", pairs)
}

impl Answer {
    pub fn new(question: &Question) -> Result<Self, FieldError> {
        let (values, drawn) = (question.values(), question.drawn());
        let mut points = Vec::new();
        for group in GROUPS {
            let size = ask(
                "quant_size",
                [
                    ("rows", 1.into()),
                    ("cols", N.into()),
                    ("bits", question.bits.to_string().into()),
                    ("group", group.into()),
                ],
            )?;
            let rms =
                |values: &[f64]| Ok::<_, FieldError>(number(&quantised(values, question.bits, group)?, "rms_error"));
            let (rms, clean) = (rms(&values)?, rms(&drawn)?);
            points.push(Point { group, bits: number(&size, "bits_per_value"), rms, clean });
        }
        let got = quantised(&values, question.bits, question.group)?;
        Ok(Self {
            decoded: numbers(&got, "decoded"),
            codes: ints(&got, "codes"),
            scales: numbers(&got, "scales"),
            most_error: number(&got, "max_error"),
            points,
            values,
            group: question.group as usize,
        })
    }

    pub fn point(&self, group: u64) -> Point {
        self.points.iter().find(|point| point.group == group).copied().unwrap_or_default()
    }

    /// The error over that of the row as it was drawn.
    pub fn blow_up(&self, group: u64) -> f64 {
        let point = self.point(group);
        if point.clean > 0.0 { point.rms / point.clean } else { 1.0 }
    }

    pub fn scale(&self, group: usize) -> f64 {
        self.scales.get(group).copied().unwrap_or_default()
    }

    /// Weights of a group that became 0 without being it.
    pub fn n_zeroed(&self, group: usize) -> usize {
        let range = group * self.group..(group + 1) * self.group;
        range.filter(|at| self.codes.get(*at) == Some(&0) && self.values[*at] != 0.0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[(&str, vramlab_units::Value)]) -> (Question, Answer) {
        let map = given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let question = Question::from_args(&Args::check(&Question::fields(), &map).unwrap()).unwrap();
        let answer = Answer::new(&question).unwrap();
        (question, answer)
    }

    /// Sixteen bits of scale: 4.5, 4.25, 4.125 and 4.0625 bits a weight.
    #[test]
    fn an_outlier_stretches_its_own_group_only() {
        let (_, plain) = of(&[("group", "32".into())]);
        let bits: Vec<f64> = plain.points.iter().map(|point| point.bits).collect();
        assert_eq!(bits, [4.5, 4.25, 4.125, 4.0625]);
        assert_eq!((plain.blow_up(32), plain.scales.len(), plain.codes.len()), (1.0, 8, 256));
        let (question, pulled) = of(&[("group", "32".into()), ("outlier", 28.0.into()), ("outlier_at", 150.into())]);
        // 28 σ on seven codes: a step of 4.
        assert!((pulled.scale(4) - 4.0).abs() < 1e-9 && pulled.scale(3) == plain.scale(3));
        assert!(pulled.blow_up(256) > 2.0 && pulled.blow_up(32) < pulled.blow_up(256));
        assert!(pulled.n_zeroed(4) > 25 && pulled.n_zeroed(3) < 16);
        let back = Question::from_args(&Args::check(&Question::fields(), &question.params()).unwrap()).unwrap();
        assert_eq!(back, question);
    }

    /// No weight is off by more than half a step.
    #[test]
    fn errors_stay_within_half_a_step() {
        let (_, answer) = of(&[("group", "64".into()), ("outlier", (-40.0).into())]);
        for (at, (value, back)) in answer.values.iter().zip(&answer.decoded).enumerate() {
            assert!((value - back).abs() <= 0.5 * answer.scale(at / 64) + 1e-6, "{at}");
        }
    }
}
