//! Whether drafts pay: tokens of a checked draft, the speed-up, the best length, and where it begins to pay.
//!
//! Question: acceptance α, draft length γ, cost c of a draft token, time v of a check. Answer: E, S, best γ, break-even.
//! Formulas and source: `vramlab_serve::speculate`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_serve::speculate::Draft;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct Speculative;

impl Model for Speculative {
    const ID: &'static str = "speculative";
    const TITLE: Text = Text::new("投机解码划不划算", "Whether speculative decoding pays");
    const ASSUMES: Text = Text::new(
        "每个草稿 token 以同样的概率被接受，互不相关；只要还受显存带宽限制，检查一次就是一步。",
        "Each drafted token is accepted with the same probability; a check costs one step while memory is the bound.",
    );
    const SOURCE: &'static str = "Leviathan et al. 2023 (arXiv 2211.17192), equation 1 and theorem 3.8";
    const EXAMPLE: &'static str = r#"{"acceptance": 0.8, "gamma": 4, "draft_cost": 0.05}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, min, max, zh, en| FieldSpec::num(key, "1", min, max, Text::new(zh, en));
        vec![
            num("acceptance", 0.0, 1.0, "接受率 α", "Acceptance α"),
            FieldSpec::int("gamma", "token", 0, 64, Text::new("草稿长度 γ", "Draft length γ")).default_value(4),
            num("draft_cost", 0.0, 10.0, "草稿一步 ÷ 目标一步 c", "A draft step over a target step c")
                .default_value(0.05),
            num("verify", 1.0, 100.0, "检查 γ + 1 个 token ÷ 一步", "Checking γ + 1 tokens over a step")
                .default_value(1),
            num(
                "batch",
                1.0,
                4096.0,
                "一批几个序列；给了就把检查的时间算进去",
                "Sequences of a batch; given, checks take their time",
            )
            .optional(),
            num("knee_tokens", 1.0, 1e6, "一步算到多少 token 还不变慢", "Tokens of a step up to which it is no slower")
                .default_value(206),
            num("draft_flops", 0.0, 10.0, "草稿的计算量 ÷ 目标的", "Sums of the draft over the target's")
                .default_value(0.05),
            FieldSpec::int("max_gamma", "token", 1, 64, Text::new("最长考虑多少", "Longest draft to consider"))
                .default_value(16),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e6, Text::new(zh, en));
        vec![
            num("tokens", "token", "一次检查平均得几个 token E", "Tokens of a checked draft E"),
            num("speedup", "1", "快几倍 S", "Speed-up S"),
            num("arithmetic", "1", "计算量是原来的几倍", "Sums over those of plain decoding"),
            FieldSpec::int("best_gamma", "token", 0, 64, Text::new("最好的草稿长度", "The best draft length")),
            num("best_speedup", "1", "那时快几倍", "Speed-up at that length"),
            num("check", "1", "检查一次 ÷ 一步", "A check over a step"),
            num("cost_limit", "1", "草稿贵到多少就不赚", "Cost of a draft at which nothing is gained").optional(),
            num("acceptance_limit", "1", "接受率到多少才开始赚", "Acceptance from which on it gains").optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let draft = Draft::new(args.num("acceptance"), args.num("draft_cost"))
            .map_err(|problem| super::serving(&problem, &[]))?;
        let free_tokens = if args.has("batch") { args.num("knee_tokens") / args.num("batch") } else { f64::INFINITY };
        let draft = Draft { verify: args.num("verify"), free_tokens, ..draft };
        let gamma = args.uint("gamma") as u32;
        let best = draft.best(args.uint("max_gamma") as u32);
        let or_null = |value: Option<f64>| value.map_or(Value::Null, number);
        Ok(answer([
            ("tokens", number(draft.tokens(gamma))),
            ("speedup", number(draft.speedup(gamma))),
            ("arithmetic", number(draft.arithmetic(gamma, args.num("draft_flops")))),
            ("best_gamma", best.into()),
            ("best_speedup", number(draft.speedup(best))),
            ("check", number(draft.check(gamma))),
            ("cost_limit", or_null(draft.cost_limit(gamma))),
            ("acceptance_limit", or_null(draft.acceptance_limit(gamma))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 21, first vector and check question 2.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |alpha: f64, gamma: u32, cost: f64| {
            let given = json!({"acceptance": alpha, "gamma": gamma, "draft_cost": cost});
            crate::eval("speculative", &question(&given)).unwrap()
        };
        let near = |got: &Value, expected: f64| assert!((got.as_f64().unwrap() / expected - 1.0).abs() < 1e-6, "{got}");
        for (alpha, gamma, tokens) in [(0.8, 4, 3.3616), (0.6, 5, 2.38336), (0.0, 4, 1.0), (1.0, 4, 5.0)] {
            near(&ask(alpha, gamma, 0.1)["tokens"], tokens);
        }
        near(&ask(0.8, 4, 0.05)["speedup"], 2.801_333);
        near(&ask(0.3, 4, 0.3)["speedup"], 0.647_773);
        near(&ask(0.5, 3, 0.3)["speedup"], 1.875 / 1.9);
        let best = ask(0.8, 4, 0.05);
        near(&best["best_speedup"], 3.092_080);
        assert_eq!(best["best_gamma"], 8);
        assert_eq!((&ask(0.6, 4, 0.1)["best_gamma"], &ask(0.3, 4, 0.3)["best_gamma"]), (&json!(3), &json!(0)));
        // A batch of 64 beyond a knee of 206 tokens: five each take 320 ÷ 206 of a step.
        let given = json!({"acceptance": 0.8, "gamma": 4, "draft_cost": 0.05, "batch": 64});
        let busy = crate::eval("speculative", &question(&given)).unwrap();
        near(&busy["check"], 320.0 / 206.0);
        near(&busy["speedup"], 3.3616 / (0.2 + 320.0 / 206.0));
        for given in [json!({"acceptance": 1.5}), json!({"acceptance": -0.1})] {
            assert_eq!(crate::eval("speculative", &question(&given)).unwrap_err().field(), "acceptance");
        }
        assert_eq!(
            crate::eval("speculative", &question(&json!({"acceptance": 0.5, "gamma": -1}))).unwrap_err().field(),
            "gamma"
        );
    }
}
