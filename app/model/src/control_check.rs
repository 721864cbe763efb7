//! What a comparison is worth once it is known what was not controlled.
//!
//! Question: the 95 % intervals of two medians with their samples, and for each control whether it was kept. Answer: the
//! verdict on the numbers alone, what is left of it, and the first control that took it away.
//! Rule: unequal work or a wrong result leave nothing to compare; anything that shifts all samples of one side (warm-up,
//! clocks, what the cache held, where the clock stopped) leaves a hint at most; runs that were not interleaved, seeds and
//! inputs that were not kept leave a claim for this one day. Too few samples have no interval: whatever was controlled, they are
//! a hint. A verdict never rises.
//! Assumption: the controls are those of this list; what nobody thought of is not in it.
//! Source: the intervals as in [`crate::samples`]; the ranking is the course's own.
//! Errors: intervals the wrong way round; fields out of range.

use crate::fields;
use crate::registry::Model;
use crate::samples::{Change, Interval, LEAST_SAMPLES, change};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// What is left of a verdict, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// Somebody else can repeat it.
    Repeatable,
    /// It holds for this machine on this day.
    OneDay,
    /// Worth another measurement, and no more.
    Hint,
    /// The two numbers are of different things.
    Nothing,
}

impl Worth {
    pub const ALL: [Self; 4] = [Self::Repeatable, Self::OneDay, Self::Hint, Self::Nothing];

    pub fn id(self) -> &'static str {
        match self {
            Self::Repeatable => "repeatable",
            Self::OneDay => "one_day",
            Self::Hint => "hint",
            Self::Nothing => "nothing",
        }
    }
}

/// One thing to keep equal, or to do, before two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    pub id: &'static str,
    /// What is left without it.
    pub without: Worth,
    pub name: Text,
    /// What goes wrong without it.
    pub harm: Text,
}

const fn control(id: &'static str, without: Worth, name: Text, harm: Text) -> Control {
    Control { id, without, name, harm }
}

/// In the order in which they are asked: the gravest first.
pub const CONTROLS: [Control; 10] = [
    control(
        "same_work",
        Worth::Nothing,
        Text::new("同样的模型、dtype、批、长度", "same model, dtype, batch, length"),
        Text::new("两个数量的不是同一件事", "two numbers of two different jobs"),
    ),
    control(
        "checked_result",
        Worth::Nothing,
        Text::new("结果核对过", "results checked"),
        Text::new("算错了往往更快", "what computes less is often faster"),
    ),
    control(
        "same_device",
        Worth::Nothing,
        Text::new("同一块卡、同一个驱动", "same card, same driver"),
        Text::new("差的是卡，不是改动", "the card differs, not the change"),
    ),
    control(
        "warmed_up",
        Worth::Hint,
        Text::new("先预热，预热的样本不算", "warmed up, warm-up not counted"),
        Text::new("第一次带着装载和编译", "a first run loads and compiles"),
    ),
    control(
        "clocks",
        Worth::Hint,
        Text::new("时钟稳定，没有降频", "clocks settled, no throttling"),
        Text::new("后跑的一边更热、更慢", "who runs second runs hotter and slower"),
    ),
    control(
        "cache",
        Worth::Hint,
        Text::new("L2 清过，或者两边都是热的", "L2 flushed, or warm on both sides"),
        Text::new("数据在缓存里，比显存的下限还快", "data in the cache beats the floor of the memory"),
    ),
    control(
        "synchronised",
        Worth::Hint,
        Text::new("计时前后有同步，或者用事件", "synchronised around the clock, or events"),
        Text::new("只量到了启动，没量到计算", "the launch is timed, not the work"),
    ),
    control(
        "interleaved",
        Worth::OneDay,
        Text::new("两边交替着跑", "both sides in turn"),
        Text::new("温度和邻居的变化算到一边头上", "drift and neighbours count for one side"),
    ),
    control(
        "seeds",
        Worth::OneDay,
        Text::new("种子和输入记下来了", "seeds and inputs recorded"),
        Text::new("全零的数据更省电、时钟更高", "zeros draw less power and clock higher"),
    ),
    control(
        "failures",
        Worth::OneDay,
        Text::new("失败（OOM）也写进报告", "failures (OOM) reported too"),
        Text::new("只剩下跑得动的配置", "only what ran is left in the table"),
    ),
];

/// The worth of a verdict, and the control that it hangs on; `kept` is in the order of [`CONTROLS`].
pub fn worth(kept: &[bool; 10]) -> (Worth, Option<&'static Control>) {
    let missing = CONTROLS.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(control, _)| control);
    let worst = missing.reduce(|worst, next| if next.without > worst.without { next } else { worst });
    (worst.map_or(Worth::Repeatable, |control| control.without), worst)
}

pub struct ControlCheck;

impl Model for ControlCheck {
    const ID: &'static str = "control_check";
    const TITLE: Text = Text::new("漏掉控制，判定还剩什么", "What a verdict is worth without a control");
    const ASSUMES: Text = Text::new(
        "只管单子上的十项；没想到的不在里面。判定只会降，不会升。",
        "The ten controls of the list and no others; what nobody thought of is not among them. A verdict only falls.",
    );
    const SOURCE: &'static str =
        "intervals: Statistical Inference: A Short Course (Wiley, 2012), appendix 8.A; the ranking is the course's own";
    const EXAMPLE: &'static str =
        r#"{"base_low": 9.8, "base_high": 10.2, "cand_low": 9.0, "cand_high": 9.5, "n": 20, "cache": false}"#;

    fn question() -> Vec<FieldSpec> {
        let end = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1.0e15, Text::new(zh, en));
        let mut out = vec![
            end("base_low", "基线区间的下端，越小越好", "Lower end of the baseline's interval; less is better"),
            end("base_high", "基线区间的上端", "Its upper end"),
            end("cand_low", "候选区间的下端", "Lower end of the candidate's interval"),
            end("cand_high", "候选区间的上端", "Its upper end"),
            FieldSpec::int("n", "1", 0, 1_000_000, Text::new("每边的样本数", "Samples a side")),
        ];
        let kept =
            |control: &Control| FieldSpec::new(control.id, "", FieldKind::Bool, control.name).default_value(true);
        out.extend(CONTROLS.iter().map(kept));
        out
    }

    fn answer() -> Vec<FieldSpec> {
        let verdict = Text::new("只看数的判定", "The verdict on the numbers alone");
        let left = Text::new(
            "还值多少：repeatable 可重做，one_day 只算今天，hint 只是线索，nothing 不能比",
            "What it is worth: repeatable, one_day (this machine, today), hint, nothing (not comparable)",
        );
        let worst = Text::new("卡在哪一项；n 是样本太少", "The control that it hangs on; n: too few samples");
        vec![
            fields::choice("verdict", "", &["improved", "regressed", "no_difference", "insufficient"], verdict),
            fields::choice("worth", "", &["repeatable", "one_day", "hint", "nothing"], left),
            FieldSpec::new("hangs_on", "", FieldKind::Text { max_len: 64 }, worst).optional(),
            FieldSpec::int("missing", "1", 0, 10, Text::new("漏了几项", "Controls left out")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let n = usize::try_from(args.uint("n")).unwrap_or_default();
        let interval = |low: &str, high: &str| -> Result<Option<Interval>, FieldError> {
            let ends = (args.num(low), args.num(high));
            if ends.0 > ends.1 {
                return Err(FieldError::conflict(
                    low,
                    format!("the interval starts at {} and ends at {}", ends.0, ends.1),
                ));
            }
            let median = f64::midpoint(ends.0, ends.1);
            Ok((n >= LEAST_SAMPLES).then_some(Interval { low: ends.0, median, high: ends.1, n }))
        };
        let found: Change = change(interval("base_low", "base_high")?, interval("cand_low", "cand_high")?);
        let kept = CONTROLS.map(|control| args.flag(control.id));
        let (mut left, worst) = worth(&kept);
        let mut hangs_on = worst.map(|control| control.id);
        if found == Change::Insufficient && left < Worth::Hint {
            (left, hangs_on) = (Worth::Hint, Some("n"));
        }
        Ok(fields::answer([
            ("verdict", found.id().into()),
            ("worth", left.id().into()),
            ("hangs_on", hangs_on.map_or(Value::Null, Value::from)),
            ("missing", kept.iter().filter(|kept| !**kept).count().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(more: &serde_json::Value) -> Map {
        let mut given =
            question(&json!({"base_low": 9.8, "base_high": 10.2, "cand_low": 9.0, "cand_high": 9.5, "n": 20}));
        given.extend(question(more));
        crate::eval("control_check", &given).unwrap()
    }

    #[test]
    fn the_gravest_omission_decides() {
        let all = ask(&json!({}));
        assert_eq!(
            (&all["verdict"], &all["worth"], &all["missing"]),
            (&json!("improved"), &json!("repeatable"), &json!(0))
        );
        assert!(all["hangs_on"].is_null());
        assert_eq!(ask(&json!({"seeds": false}))["worth"], "one_day");
        let two = ask(&json!({"seeds": false, "cache": false}));
        assert_eq!((&two["worth"], &two["hangs_on"], &two["missing"]), (&json!("hint"), &json!("cache"), &json!(2)));
        let three = ask(&json!({"seeds": false, "cache": false, "checked_result": false}));
        assert_eq!((&three["worth"], &three["hangs_on"]), (&json!("nothing"), &json!("checked_result")));
    }

    #[test]
    fn too_few_samples_stay_too_few() {
        let few = ask(&json!({"n": 5}));
        assert_eq!(
            (&few["verdict"], &few["worth"], &few["hangs_on"]),
            (&json!("insufficient"), &json!("hint"), &json!("n"))
        );
        let graver = ask(&json!({"n": 5, "same_work": false}));
        assert_eq!((&graver["worth"], &graver["hangs_on"]), (&json!("nothing"), &json!("same_work")));
        let as_grave = ask(&json!({"n": 5, "cache": false}));
        assert_eq!((&as_grave["worth"], &as_grave["hangs_on"]), (&json!("hint"), &json!("cache")));
        assert_eq!(ask(&json!({"n": 6}))["worth"], "repeatable");
        assert_eq!(ask(&json!({"cand_low": 10.1, "cand_high": 10.4}))["verdict"], "no_difference");
    }
}
