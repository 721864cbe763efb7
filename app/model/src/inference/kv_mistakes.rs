//! How the cache and the weights are often miscounted, and by what factor.
//!
//! Question: the numbers of a model and of a request. Answer: the cache as it is, and each mistake's factor: query heads in the
//! place of KV heads, the full context in the place of the tokens that are there, GiB read as GB, all parameters of a mixture of
//! experts computed from those that are active. Assumption: attention with heads, no window. Source: 2 · layers · heads · size
//! (PagedAttention, section 3). Errors: query heads that KV heads do not divide, more tokens than the context.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct KvMistakes;

impl Model for KvMistakes {
    const ID: &'static str = "kv_mistakes";
    const TITLE: Text = Text::new("KV 缓存常算错在哪里", "How the KV cache is miscounted");
    const ASSUMES: Text = Text::new("按头存的注意力，没有滑动窗口。", "Attention with heads and no window.");
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), section 3";
    const EXAMPLE: &'static str =
        r#"{"layers": 32, "q_heads": 32, "kv_heads": 8, "head_dim": 128, "tokens": 1024, "context": 8192}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
        let params = |key, zh, en| FieldSpec::num(key, "1e9", 1e-3, 1e5, Text::new(zh, en)).default_value(1);
        vec![
            count("layers", "1", 4096, "层数", "Layers"),
            count("q_heads", "1", 65_536, "query 头数", "Query heads"),
            count("kv_heads", "1", 65_536, "KV 头数", "KV heads"),
            count("head_dim", "1", 4096, "每头的维度", "Size of a head").default_value(128),
            FieldSpec::num("bytes_per_value", "B", 0.125, 8.0, Text::new("一个值的字节数", "Bytes of a value"))
                .default_value(2),
            count("tokens", "token", 1 << 30, "真正在缓存里的 token", "Tokens that are really there"),
            count("context", "token", 1 << 30, "最长的上下文", "The longest context"),
            params("total_params_b", "总参数，十亿", "All parameters, 10⁹"),
            params("active_params_b", "每个 token 用到的参数，十亿", "Parameters that a token uses, 10⁹"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let times = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e12, Text::new(zh, en));
        vec![
            FieldSpec::num("bytes", "B", 0.0, 1e24, Text::new("缓存", "The cache")),
            times("q_heads_factor", "拿 query 头数当 KV 头数", "Query heads taken for KV heads"),
            times("context_factor", "假定上下文占满", "The full context assumed"),
            times("gb_factor", "GiB 写成 GB：数字小了，读数时就少算", "GiB read as GB"),
            times(
                "params_factor",
                "显存按每 token 用到的参数算：总参数 ÷ 用到的",
                "All parameters over those that are active",
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (q_heads, kv_heads) = (args.uint("q_heads"), args.uint("kv_heads"));
        if !q_heads.is_multiple_of(kv_heads) {
            let reason = format!("{q_heads} query heads cannot share {kv_heads} KV heads evenly");
            return Err(FieldError::conflict("kv_heads", reason));
        }
        let (tokens, context) = (args.uint("tokens"), args.uint("context"));
        if tokens > context {
            return Err(FieldError::conflict("tokens", format!("{tokens} tokens do not fit a context of {context}")));
        }
        let (total, active) = (args.num("total_params_b"), args.num("active_params_b"));
        if active > total {
            let reason = format!("{active} active parameters of {total} in all");
            return Err(FieldError::conflict("active_params_b", reason));
        }
        let bytes = 2.0
            * args.num("bytes_per_value")
            * [args.uint("layers"), kv_heads, args.uint("head_dim"), tokens].iter().map(|n| *n as f64).product::<f64>();
        Ok(answer([
            ("bytes", number(bytes)),
            ("q_heads_factor", number(q_heads as f64 / kv_heads as f64)),
            ("context_factor", number(context as f64 / tokens as f64)),
            ("gb_factor", number(1_073_741_824.0 / 1e9)),
            ("params_factor", number(total / active)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Llama 3 8B: 32 query heads over 8; Mixtral 8x7B: 46.7 of 12.9 billion.
    #[test]
    fn factors() {
        let given = json!({"layers": 32, "q_heads": 32, "kv_heads": 8, "tokens": 1024, "context": 8192, "total_params_b": 46.7, "active_params_b": 12.9});
        let got = crate::eval("kv_mistakes", &question(&given)).unwrap();
        assert_eq!(got["bytes"], 131_072 * 1024);
        assert_eq!((&got["q_heads_factor"], &got["context_factor"]), (&json!(4), &json!(8)));
        assert_eq!(
            format!("{:.4} {:.2}", got["gb_factor"].as_f64().unwrap(), got["params_factor"].as_f64().unwrap()),
            "1.0737 3.62"
        );
        for (key, value) in [("kv_heads", json!(5)), ("tokens", json!(9000)), ("active_params_b", json!(50))] {
            let mut bad = question(&given);
            bad.insert(key.to_owned(), value);
            assert_eq!(crate::eval("kv_mistakes", &bad).unwrap_err().field(), key);
        }
    }
}
