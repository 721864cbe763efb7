//! A stream of requests by distribution, served by a modelled card: how long they wait for their first token and the next.
//!
//! Question: arrivals, lengths, seats and blocks, model and card. Answer: TTFT and TPOT with percentiles, throughput, what the
//! scheduler did. Assumption: a step takes the longer of its reads and its sums (`step_time`); lengths are log-normal, gaps
//! gamma. Source: `vramlab_serve::{arrivals, schedule, latency}`. Errors: requests beyond the pool or beyond what is asked here.

use super::schedule::{check_work, outcome, settings, settings_fields, totals, totals_fields};
use super::step_time;
use crate::fields::number;
use crate::registry::Model;
use vramlab_serve::Request;
use vramlab_serve::arrivals::{Gaps, Length, Stream};
use vramlab_serve::latency::{Latency, Spread};
use vramlab_serve::schedule::Clock;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct ServeStream;

fn length(mean: f64, sigma: f64, most: u32) -> Length {
    if sigma == 0.0 { Length::Fixed(mean.round() as u32) } else { Length::LogNormal { mean, sigma, most } }
}

/// The stream of a distribution.
fn drawn(args: &Args) -> Result<Vec<Request>, FieldError> {
    let stream = Stream {
        n_requests: args.uint("n_requests") as usize,
        gaps: Gaps::Gamma { rate: args.num("rate"), burstiness: args.num("burstiness") },
        prompt: length(args.num("prompt_mean"), args.num("prompt_sigma"), 65_536),
        output: length(args.num("output_mean"), args.num("output_sigma"), 16_384),
        seed: args.uint("seed"),
    };
    let names = [("prompt", "prompt_mean"), ("output", "output_mean")];
    let mut requests = stream.requests().map_err(|problem| super::serving(&problem, &names))?;
    for (idx, one) in requests.iter_mut().enumerate() {
        one.shared = (args.uint("shared_tokens") as u32).min(one.prompt);
        one.group = if one.shared > 0 { 1 + (idx as u64 % args.uint("groups")) as u32 } else { 0 };
    }
    check_work(&requests, "n_requests")?;
    Ok(requests)
}

impl Model for ServeStream {
    const ID: &'static str = "serve_stream";
    const TITLE: Text = Text::new("一股请求流的延迟和吞吐", "Latency and throughput of a stream");
    const ASSUMES: Text = Text::new(
        "一步的时间取读取和计算中较长的；长度服从对数正态分布，间隔服从 gamma 分布。",
        "A step takes the longer of its reads and its sums; lengths are log-normal, gaps gamma.",
    );
    const SOURCE: &'static str = "vLLM V1 scheduler; arrivals as in vLLM's serving benchmark; roofline of a step";
    const EXAMPLE: &'static str = r#"{"n_requests": 200, "rate": 20, "weight_gb": 16.06, "params_b": 8.03}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        let mut fields = vec![
            FieldSpec::int("n_requests", "1", 1, 4_096, Text::new("请求数", "Requests")).default_value(256),
            num("rate", "1/s", 1e-3, 1e6, "每秒来几个", "Requests a second").default_value(10),
            num("burstiness", "1", 0.05, 100.0, "1 是 Poisson，越小越扎堆", "1 is Poisson, less comes in bursts")
                .default_value(1),
            num("prompt_mean", "token", 1.0, 32_768.0, "提示的平均长度", "Mean prompt").default_value(512),
            num("prompt_sigma", "1", 0.0, 2.0, "提示长度的离散程度，0 是定长", "Spread of prompts, 0 is fixed")
                .default_value(0.5),
            num("output_mean", "token", 1.0, 8_192.0, "输出的平均长度", "Mean output").default_value(128),
            num("output_sigma", "1", 0.0, 2.0, "输出长度的离散程度，0 是定长", "Spread of outputs, 0 is fixed")
                .default_value(0.5),
            FieldSpec::int(
                "shared_tokens",
                "token",
                0,
                32_768,
                Text::new("提示开头相同的 token", "Tokens at the start of a prompt that are the same"),
            )
            .default_value(0),
            FieldSpec::int("groups", "1", 1, 4096, Text::new("有几种开头，轮流来", "Different beginnings, in turn"))
                .default_value(1),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ];
        let doc = Text::new(
            "各行的请求，到达以秒计；给了它就不用分布",
            "Lines of requests, arrivals in seconds, in the place of a distribution",
        );
        fields.push(FieldSpec::new("requests", "", FieldKind::Text { max_len: 65_536 }, doc).optional());
        fields.extend(settings_fields(128, 2048, 8192));
        fields.extend(step_time::card_fields());
        fields
    }

    fn answer() -> Vec<FieldSpec> {
        let ms = |key, zh, en| FieldSpec::num(key, "ms", 0.0, 1e15, Text::new(zh, en));
        let rate = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e12, Text::new(zh, en));
        let mut fields = vec![
            ms("ttft_mean_ms", "首 token 延迟，平均", "Time to first token, mean"),
            ms("ttft_p50_ms", "首 token 延迟，中位数", "Time to first token, median"),
            ms("ttft_p99_ms", "首 token 延迟，99 %", "Time to first token, 99 %"),
            ms("tpot_mean_ms", "之后每个 token，平均", "Each token after it, mean"),
            ms("tpot_p50_ms", "之后每个 token，中位数", "Each token after it, median"),
            ms("tpot_p99_ms", "之后每个 token，99 %", "Each token after it, 99 %"),
            ms("e2e_p50_ms", "整个请求，中位数", "A whole request, median"),
            ms("e2e_p99_ms", "整个请求，99 %", "A whole request, 99 %"),
            rate("tokens_per_s", "token/s", "输出吞吐", "Output tokens a second"),
            rate("requests_per_s", "1/s", "请求吞吐", "Requests a second"),
        ];
        fields.extend(totals_fields());
        fields
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (requests, field) = if args.has("requests") {
            (super::schedule::requests(args.text("requests"))?, "requests")
        } else {
            (drawn(args)?, "n_requests")
        };
        let mut settings = settings(args);
        settings.clock = Clock::Seconds(step_time::card(args));
        let outcome = outcome(args, &requests, &settings, field)?;
        let seen = Latency::of(&requests, &outcome);
        let mut map = Map::new();
        let mut put = |key: &str, value: f64| drop(map.insert(key.to_owned(), number(value)));
        let mut three = |name: &str, spread: Spread| {
            put(&format!("{name}_mean_ms"), spread.mean * 1e3);
            put(&format!("{name}_p50_ms"), spread.p50 * 1e3);
            put(&format!("{name}_p99_ms"), spread.p99 * 1e3);
        };
        three("ttft", seen.ttft);
        three("tpot", seen.tpot);
        put("e2e_p50_ms", seen.whole.p50 * 1e3);
        put("e2e_p99_ms", seen.whole.p99 * 1e3);
        put("tokens_per_s", seen.tokens_per_time);
        put("requests_per_s", seen.requests_per_time);
        map.extend(totals(&outcome));
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    fn ask(more: &Value) -> Map {
        let mut given = question(&json!({"n_requests": 200, "weight_gb": 16.06, "params_b": 8.03}));
        given.extend(question(more));
        crate::eval("serve_stream", &given).unwrap_or_else(|error| panic!("{error}"))
    }

    /// One request alone: a prefill step, then a step a token; both by hand.
    #[test]
    fn one_request_by_hand() {
        let one = json!({"n_requests": 1, "prompt_mean": 1000, "prompt_sigma": 0, "output_mean": 2, "output_sigma": 0,
            "gb_per_s": 4800, "tflop_per_s": 989, "launch_us": 0, "kv_bytes_per_token": 131072});
        let got = ask(&one);
        let prefill = 2.0 * 8.03e9 * 1000.0 / 989e12 * 1e3;
        let decode = (16.06e9 + 131_072.0 * 1001.0) / 4.8e12 * 1e3;
        let near =
            |key: &str, ms: f64| assert!((got[key].as_f64().unwrap() / ms - 1.0).abs() < 1e-9, "{key}: {}", got[key]);
        near("ttft_mean_ms", prefill);
        near("tpot_mean_ms", decode);
    }

    /// Every prompt begins with the same 384 tokens: found, they are not computed, and first tokens come sooner.
    #[test]
    fn a_prefix_that_all_share() {
        let given = |prefix: bool| json!({"n_requests": 64, "rate": 200, "prompt_mean": 512, "prompt_sigma": 0, "shared_tokens": 384, "prefix": prefix});
        let (plain, cached) = (ask(&given(false)), ask(&given(true)));
        assert_eq!((&plain["hit_tokens"], &cached["hit_tokens"]), (&json!(0), &json!(63 * 384)));
        assert!(cached["ttft_p50_ms"].as_f64() < plain["ttft_p50_ms"].as_f64());
    }

    /// A file in the place of a distribution, with the columns of the public Azure traces.
    #[test]
    fn requests_of_a_file() {
        let file =
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.5,100,1\n2023-11-16 18:17:05.5,100,1\n";
        let got = ask(&json!({"requests": file, "launch_us": 1000}));
        assert_eq!((&got["steps"], &got["prefill_tokens"]), (&json!(2), &json!(200)));
        let refused = crate::eval("serve_stream", &question(&json!({"requests": "0:1:x"}))).unwrap_err();
        assert_eq!(refused.field(), "requests");
    }

    /// More requests at once: more tokens a second, each slower; a static batch makes the first token wait.
    #[test]
    fn what_load_does() {
        let (calm, busy) = (ask(&json!({"rate": 1})), ask(&json!({"rate": 1000})));
        let of = |map: &Map, key: &str| map[key].as_f64().unwrap();
        assert!(of(&busy, "tokens_per_s") > 5.0 * of(&calm, "tokens_per_s"));
        assert!(of(&busy, "tpot_p50_ms") > of(&calm, "tpot_p50_ms"));
        let still = ask(&json!({"rate": 1000, "batching": "static"}));
        assert!(of(&still, "ttft_p50_ms") > 2.0 * of(&busy, "ttft_p50_ms"));
        assert!(of(&still, "slot_use") < of(&busy, "slot_use"));
    }
}
