//! Gradients among ranks, all of them in a ring or the largest gathered.
//!
//! Question: parameters, ranks, density, link. Answer: bytes of both, times, the density at which both move as much.
//! Formulas and source: `vramlab_codec::payoff`. Errors: fields out of range.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::payoff::Exchange;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct SparseAllreduce;

impl Model for SparseAllreduce {
    const ID: &'static str = "sparse_allreduce";
    const TITLE: Text = Text::new("只传最大的梯度，省多少", "Sending the largest gradients only");
    const ASSUMES: Text = Text::new(
        "稠密走环形 all-reduce，稀疏走 all-gather；链路不重叠计算。",
        "Dense by a ring all-reduce, sparse by an all-gather; no overlap with computing.",
    );
    const SOURCE: &'static str = "Thakur et al. 2005 (ring all-reduce); Lin et al. 2018, Deep Gradient Compression";
    const EXAMPLE: &'static str =
        r#"{"n_params": 25557032, "ranks": 8, "density": 0.001, "mb_per_s": 125, "overhead_ms": 5}"#;

    fn question() -> Vec<FieldSpec> {
        let width = |key, zh, en| choice(key, "B", &["2", "4", "8"], Text::new(zh, en)).default_value("4");
        vec![
            FieldSpec::int("n_params", "1", 1, 1 << 45, Text::new("参数个数", "Parameters")),
            FieldSpec::int("ranks", "1", 2, 65_536, Text::new("几个 rank", "Ranks")).default_value(8),
            FieldSpec::num("density", "1", 0.0, 1.0, Text::new("传多少", "Share that is sent")).default_value(0.001),
            width("value_bytes", "一个值", "A value"),
            width("index_bytes", "一个下标", "An index"),
            FieldSpec::num("mb_per_s", "MB/s", 0.1, 1e8, Text::new("链路", "The link")).default_value(12_500),
            FieldSpec::num(
                "overhead_ms",
                "ms",
                0.0,
                1e6,
                Text::new("挑选和还原的开销", "Time to choose and to restore"),
            )
            .default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e24, Text::new(zh, en));
        vec![
            num("dense_bytes", "B", "全部梯度，每个 rank 发出", "All gradients, sent by each rank"),
            num("sparse_bytes", "B", "只传最大的，每个 rank 收到", "The largest only, received by each rank"),
            num("dense_s", "s", "全部梯度", "All gradients"),
            num("sparse_s", "s", "只传最大的，含开销", "The largest only, overhead included"),
            num("traffic_ratio", "1", "流量之比", "Traffic over dense"),
            num("break_even_density", "1", "流量相等的密度", "Density at which both move as much"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let exchange = Exchange {
            n_values: args.uint("n_params"),
            ranks: args.uint("ranks"),
            value_bytes: chosen(args, "value_bytes"),
            index_bytes: chosen(args, "index_bytes"),
        };
        let rate = args.num("mb_per_s") * 1e6;
        let (dense, sparse) = (exchange.dense_bytes(), exchange.sparse_bytes(exchange.kept(args.num("density"))));
        Ok(answer([
            ("dense_bytes", number(dense)),
            ("sparse_bytes", number(sparse)),
            ("dense_s", number(dense / rate)),
            ("sparse_s", number(sparse / rate + args.num("overhead_ms") * 1e-3)),
            ("traffic_ratio", number(sparse / dense)),
            ("break_even_density", number(exchange.limit())),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25.
    #[test]
    fn the_vector_of_the_brief() {
        let got = crate::eval("sparse_allreduce", &question(&serde_json::from_str(SparseAllreduce::EXAMPLE).unwrap()))
            .unwrap();
        assert_eq!((&got["dense_bytes"], &got["sparse_bytes"]), (&json!(178_899_224), &json!(1_431_248)));
        assert!((got["dense_s"].as_f64().unwrap() - 1.431_194).abs() < 1e-6);
        assert!((got["sparse_s"].as_f64().unwrap() - 0.016_450).abs() < 1e-6);
        assert_eq!(got["break_even_density"], 0.125);
        let one = json!({"n_params": 1_000_000, "density": 0.01});
        assert!(
            (crate::eval("sparse_allreduce", &question(&one)).unwrap()["traffic_ratio"].as_f64().unwrap() - 0.08).abs()
                < 1e-12
        );
    }
}
