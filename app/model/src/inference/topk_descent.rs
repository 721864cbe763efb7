//! Descent on a convex problem with a known optimum, when each worker sends its largest entries only.
//!
//! Question: dimensions, workers, k, steps, rate. Answer: distance from the optimum with all entries, with the debt kept, without.
//! Problem, rules and source: `vramlab_codec::topk`. Errors: k beyond the dimensions.

use super::coding;
use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::topk::{Compress, Quadratics};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct TopkDescent;

impl Model for TopkDescent {
    const ID: &'static str = "topk_descent";
    const TITLE: Text = Text::new("稀疏梯度能不能走到最优", "Whether sparse gradients find the optimum");
    const ASSUMES: Text = Text::new(
        "各 worker 的二次函数最低点不同；步长按 1 ÷ (1 + 步数 ÷ 50) 递减。",
        "Workers with quadratics of different minima; the rate falls as 1 ÷ (1 + step ÷ 50).",
    );
    const SOURCE: &'static str = "Stich et al. 2018, Sparsified SGD with memory; Karimireddy et al. 2019";
    const EXAMPLE: &'static str = r#"{"k": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en));
        vec![
            count("dims", 64, "维数", "Dimensions").default_value(32),
            count("workers", 8, "worker 数", "Workers").default_value(4),
            count("k", 64, "每个 worker 每步传几个", "Entries that each worker sends"),
            count("steps", 2000, "步数", "Steps").default_value(400),
            FieldSpec::num("rate", "1", 0.01, 1.5, Text::new("步长", "Rate")).default_value(1),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e300, Text::new(zh, en));
        vec![
            num("start", "开始时比最优高多少", "Above the optimum at the start"),
            num("dense", "全传之后", "After steps with all entries"),
            num("with_feedback", "只传最大的，记账", "The largest only, the rest owed"),
            num("without_feedback", "只传最大的，不记账", "The largest only, the rest dropped"),
            num("traffic", "传的值占多少", "Share of the values that is sent"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (dims, k) = (args.uint("dims") as usize, args.uint("k") as usize);
        let problem = Quadratics::new(dims, args.uint("workers") as usize, args.uint("seed"));
        let end = |compress| {
            let history = problem.descend(compress, args.uint("steps") as usize, args.num("rate"), 50.0);
            let history = history.map_err(|problem| coding(&problem, &[]))?;
            Ok::<_, FieldError>(history.last().copied().unwrap_or_default())
        };
        Ok(answer([
            ("start", number(problem.excess(&vec![0.0; dims]))),
            ("dense", number(end(Compress::Nothing)?)),
            ("with_feedback", number(end(Compress::TopK { k, has_feedback: true })?)),
            ("without_feedback", number(end(Compress::TopK { k, has_feedback: false })?)),
            ("traffic", number(k as f64 / dims as f64)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    #[test]
    fn the_debt_makes_the_difference() {
        let got = crate::eval("topk_descent", &question(&json!({"dims": 64, "k": 4, "steps": 2000}))).unwrap();
        let of = |key: &str| got[key].as_f64().unwrap();
        assert!(of("dense") < 1e-6 * of("start") && of("with_feedback") < 1e-3 * of("start"), "{got:?}");
        assert!(of("without_feedback") > 20.0 * of("with_feedback"), "{got:?}");
        assert_eq!(crate::eval("topk_descent", &question(&json!({"k": 33}))).unwrap_err().field(), "k");
    }
}
