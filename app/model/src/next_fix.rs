//! What to look at next: seven questions about one measured step, the first yes decides.
//!
//! Question: shares of a step as a profile tells them. Answer: what binds, the number that says so, and the most that
//! mending it can give.
//! Rule: does it fit; is the floor reached; copies; gaps; bytes that are not used; bandwidth; arithmetic; what is left is
//! waiting. Limits are those of the course: a fifth of the step, four fifths of a roof, nine tenths of the floor.
//! Assumption: shares are of the same step, and copies and gaps are those that nothing hides.
//! Source: the order of chapters 1, 2, 5 and 12; the most that a part can give is Amdahl's law.
//! Errors: copies and gaps that are more than the whole step.

use crate::amdahl;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// What binds, in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Capacity,
    Floor,
    Copies,
    Gaps,
    Waste,
    Bandwidth,
    Arithmetic,
    Waiting,
}

impl Bound {
    pub const ALL: [Self; 8] = [
        Self::Capacity,
        Self::Floor,
        Self::Copies,
        Self::Gaps,
        Self::Waste,
        Self::Bandwidth,
        Self::Arithmetic,
        Self::Waiting,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Floor => "floor",
            Self::Copies => "copies",
            Self::Gaps => "gaps",
            Self::Waste => "waste",
            Self::Bandwidth => "bandwidth",
            Self::Arithmetic => "arithmetic",
            Self::Waiting => "waiting",
        }
    }

    /// From where on the answer is yes; below it for [`Self::Waste`]. The last asks nothing.
    pub fn limit(self) -> f64 {
        match self {
            Self::Capacity => 1.0,
            Self::Floor => 0.9,
            Self::Copies | Self::Gaps => 0.2,
            Self::Waste | Self::Bandwidth | Self::Arithmetic => 0.8,
            Self::Waiting => 0.0,
        }
    }
}

/// Shares from 0 to 1, of the step or of a roof; `peak` over the card may be more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    pub peak: f64,
    pub floor: f64,
    pub copies: f64,
    pub gaps: f64,
    pub useful: f64,
    pub bandwidth: f64,
    pub arithmetic: f64,
}

impl Profile {
    /// The number that a question is about.
    pub fn of(&self, bound: Bound) -> f64 {
        match bound {
            Bound::Capacity => self.peak,
            Bound::Floor => self.floor,
            Bound::Copies => self.copies,
            Bound::Gaps => self.gaps,
            Bound::Waste => self.useful,
            Bound::Bandwidth => self.bandwidth,
            Bound::Arithmetic => self.arithmetic,
            Bound::Waiting => self.bandwidth.max(self.arithmetic),
        }
    }

    pub fn holds(&self, bound: Bound) -> bool {
        let value = self.of(bound);
        match bound {
            Bound::Capacity => value > bound.limit(),
            Bound::Waste => value < bound.limit(),
            Bound::Waiting => true,
            _ => value >= bound.limit(),
        }
    }

    /// The first question that is answered with yes.
    pub fn bound(&self) -> Bound {
        Bound::ALL.into_iter().find(|bound| self.holds(*bound)).unwrap_or(Bound::Waiting)
    }

    /// How many times as fast the step could become at most by mending it; nothing where time is not what is mended.
    pub fn most_gain(&self, bound: Bound) -> Option<f64> {
        match bound {
            Bound::Capacity => None,
            Bound::Floor | Bound::Bandwidth | Bound::Arithmetic => (self.floor > 0.0).then(|| 1.0 / self.floor),
            Bound::Copies | Bound::Gaps => amdahl::limit(self.of(bound)),
            Bound::Waste => (self.useful > 0.0).then(|| 1.0 / self.useful),
            Bound::Waiting => Some(1.0 / self.of(bound).max(0.01)),
        }
    }
}

pub struct NextFix;

impl Model for NextFix {
    const ID: &'static str = "next_fix";
    const TITLE: Text = Text::new("下一步看哪里", "What to look at next");
    const ASSUMES: Text = Text::new(
        "各份额来自同一步；拷贝和空隙只算没藏住的。界限是本课的：一步的五分之一，屋顶的五分之四，下限的九成。",
        "Shares are of one step, and copies and gaps are those that nothing hides. The limits are the course's: a fifth of \
         the step, four fifths of a roof, nine tenths of the floor.",
    );
    const SOURCE: &'static str = "chapters 1, 2, 5 and 12; Amdahl's law for the most that a part can give";
    const EXAMPLE: &'static str = r#"{"copy_share": 0.3}"#;

    fn question() -> Vec<FieldSpec> {
        let share = |key, max, zh, en| FieldSpec::num(key, "%", 0.0, max, Text::new(zh, en));
        vec![
            share("peak_share", 10.0, "峰值 ÷ 卡的容量", "Peak over what the card has").default_value(0.5),
            share("floor_share", 1.0, "下限 ÷ 实测的时间", "Floor over measured time").default_value(0.4),
            share("copy_share", 1.0, "没藏住的拷贝占一步的多少", "Copies that nothing hides, of the step")
                .default_value(0.0),
            share("gap_share", 1.0, "内核之间的空隙占多少", "Gaps between kernels, of the step").default_value(0.0),
            share("useful_share", 1.0, "搬运的字节里有用的", "Useful bytes of those moved").default_value(1.0),
            share("bandwidth_share", 1.0, "达到带宽峰值的多少", "Of the bandwidth's peak").default_value(0.4),
            share("compute_share", 1.0, "达到算力峰值的多少", "Of the peak of arithmetic").default_value(0.1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let ids: Vec<&'static str> = Bound::ALL.map(Bound::id).to_vec();
        let gain = Text::new("修好它最多快几倍", "Times as fast at most when it is mended");
        vec![
            fields::choice("bound", "", &ids, Text::new("卡在哪里", "What binds")),
            FieldSpec::num("value", "%", 0.0, 10.0, Text::new("说明它的那个数", "The number that says so")),
            FieldSpec::num("most_gain", "1", 1.0, f64::MAX, gain).optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let profile = Profile {
            peak: args.num("peak_share"),
            floor: args.num("floor_share"),
            copies: args.num("copy_share"),
            gaps: args.num("gap_share"),
            useful: args.num("useful_share"),
            bandwidth: args.num("bandwidth_share"),
            arithmetic: args.num("compute_share"),
        };
        let sum = profile.copies + profile.gaps;
        if sum > 1.0 + 1e-9 {
            let reason = format!("copies and gaps are {:.0} % of a step; together at most 100 %", sum * 100.0);
            return Err(FieldError::conflict("copy_share", reason));
        }
        let bound = profile.bound();
        Ok(fields::answer([
            ("bound", bound.id().into()),
            ("value", fields::number(profile.of(bound))),
            ("most_gain", profile.most_gain(bound).map_or(Value::Null, |gain| fields::number(gain.max(1.0)))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: Value, bound: &str) -> Value {
        let answer = eval("next_fix", &question(&given)).unwrap();
        assert_eq!(answer["bound"], bound, "{given}");
        answer["most_gain"].clone()
    }

    #[test]
    fn the_first_yes_decides() {
        check(json!({}), "waiting");
        check(json!({"compute_share": 0.8}), "arithmetic");
        check(json!({"bandwidth_share": 0.85, "compute_share": 0.8}), "bandwidth");
        check(json!({"useful_share": 0.5, "bandwidth_share": 0.9}), "waste");
        check(json!({"gap_share": 0.2, "useful_share": 0.5}), "gaps");
        check(json!({"floor_share": 0.9, "gap_share": 0.2}), "floor");
        assert_eq!(check(json!({"peak_share": 1.01, "floor_share": 0.95}), "capacity"), Value::Null);
    }

    /// Brief 10, question 1: 30 % in copies, hidden perfectly: 1 ÷ 0.7.
    #[test]
    fn the_most_that_a_part_gives() {
        let gain = check(json!({"copy_share": 0.3}), "copies").as_f64().unwrap();
        assert!((gain - 1.0 / 0.7).abs() < 1e-12);
        assert_eq!(check(json!({"useful_share": 0.25}), "waste"), json!(4));
    }

    #[test]
    fn more_than_a_whole_step_is_refused() {
        let error = eval("next_fix", &question(&json!({"copy_share": 0.6, "gap_share": 0.5}))).unwrap_err();
        assert!(error.to_string().contains("110 %"), "{error}");
    }
}
