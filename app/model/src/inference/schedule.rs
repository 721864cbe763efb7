//! A request stream through the scheduler, step by step, with static batching beside it.
//!
//! Question: requests as `arrival:prompt:output` (or lines of a file), seats, tokens a step, block size, blocks. Answer: steps,
//! preemptions, first and last token of each, how full seats and blocks are. Rules and source: `vramlab_serve::schedule`.
//! Errors: a request that never fits, lines that are no request.

use super::{list, serving};
use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_serve::Request;
use vramlab_serve::schedule::{Detail, Outcome, Policy, Preempt, Settings, continuous, fixed};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct Schedule;

const MAX_REQUESTS: usize = 4_096;
/// Output tokens of all requests together: what a question may cost.
pub(crate) const MAX_WORK: u64 = 2_000_000;

/// Requests of a text field; on one line they are apart by blanks, unless commas say that it is a line of a file.
pub fn requests(text: &str) -> Result<Vec<Request>, FieldError> {
    let lines =
        if text.contains(['\n', ',']) || !text.contains(':') { text.to_owned() } else { text.replace(' ', "\n") };
    let requests = vramlab_serve::request::read(&lines).map_err(|problem| serving(&problem, &[]))?;
    check_work(&requests, "requests")?;
    Ok(requests)
}

pub(crate) fn check_work(requests: &[Request], field: &str) -> Result<(), FieldError> {
    let work: u64 = requests.iter().map(|one| u64::from(one.output) + u64::from(one.prompt) / 16).sum();
    if requests.len() > MAX_REQUESTS || work > MAX_WORK {
        let n = requests.len();
        let reason =
            format!("{n} requests with {work} steps of work; at most {MAX_REQUESTS} and {MAX_WORK} are asked here");
        return Err(FieldError::conflict(field, reason));
    }
    Ok(())
}

/// The fields that scheduler models share.
pub(crate) fn settings_fields(max_seqs: u32, token_budget: u32, pool: u32) -> Vec<FieldSpec> {
    let count = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
    let batching = Text::new("连续批处理或静态批处理", "Continuous or static batching");
    let policy = Text::new("先来先服务，或按优先级", "First come, first served, or by priority");
    let preempt =
        Text::new("被抢占的缓存：重算，或换到主机", "A victim's cache: computed again, or swapped to the host");
    vec![
        choice("batching", "", &["continuous", "static"], batching).default_value("continuous"),
        count("max_seqs", "1", 1024, "同时运行的请求数", "Requests that run at once").default_value(max_seqs),
        count("token_budget", "token", 65_536, "一步最多多少 token", "Tokens of a step").default_value(token_budget),
        count("block_tokens", "token", 256, "一块的 token 数", "Tokens of a block").default_value(16),
        count("pool_blocks", "1", 1 << 24, "池里的块数", "Blocks of the pool").default_value(pool),
        choice("policy", "", &["fcfs", "priority"], policy).default_value("fcfs"),
        choice("preempt", "", &["recompute", "swap"], preempt).default_value("recompute"),
        FieldSpec::int("host_blocks", "1", 0, 1 << 24, Text::new("主机上的块数", "Blocks on the host"))
            .default_value(0),
        FieldSpec::new(
            "prefix",
            "",
            FieldKind::Bool,
            Text::new("认出相同的前缀", "Whether equal beginnings are recognised"),
        )
        .default_value(false),
    ]
}

pub(crate) fn settings(args: &Args) -> Settings {
    let count = |key| args.uint(key) as u32;
    let mut settings =
        Settings::new(count("max_seqs"), count("token_budget"), count("block_tokens"), count("pool_blocks"));
    settings.prefix = args.flag("prefix");
    if args.text("policy") == "priority" {
        settings.policy = Policy::Priority;
    }
    if args.text("preempt") == "swap" {
        settings.preempt = Preempt::Swap { host_blocks: count("host_blocks") };
    }
    settings
}

pub(crate) fn outcome(
    args: &Args,
    requests: &[Request],
    settings: &Settings,
    field: &str,
) -> Result<Outcome, FieldError> {
    let run = if args.text("batching") == "static" { fixed } else { continuous };
    run(requests, settings, Detail::Summary).map_err(|problem| serving(&problem, &[("requests", field)]))
}

/// Fields and values of what a run sums up.
pub(crate) fn totals_fields() -> Vec<FieldSpec> {
    let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 1 << 53, Text::new(zh, en));
    let share = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1.0, Text::new(zh, en));
    vec![
        count("steps", "1", "步数", "Steps"),
        count("preemptions", "1", "抢占次数", "Preemptions"),
        count("discarded_tokens", "token", "丢掉的 KV token", "Tokens of cache that were thrown away"),
        count("swapped_tokens", "token", "换到主机的 KV token", "Tokens of cache that went to the host"),
        count("hit_tokens", "token", "前缀里认出来、不用算的 token", "Tokens that were found and not computed"),
        count("evictions", "1", "缓存着的块换了主人", "Cached blocks that lost what they held"),
        count("peak_blocks", "1", "用得最多时的块数", "Blocks at the peak"),
        count("peak_running", "1", "同时运行最多的请求", "Requests running at the peak"),
        count("prefill_tokens", "token", "预填充的 token，重算的也在内", "Tokens of prefill, computed again included"),
        count("decode_tokens", "token", "解码的 token", "Tokens of decoding"),
        share("slot_use", "座位利用率：产出 token ÷（座位 × 步）", "Output tokens over seats times steps"),
        share("block_use", "块的平均占用率", "Mean share of blocks in use"),
        share("fill", "用着的块里 token 的平均占比", "Mean share of slots with a token, in used blocks"),
    ]
}

pub(crate) fn totals(outcome: &Outcome) -> Map {
    let all = outcome.totals;
    answer([
        ("steps", all.steps.into()),
        ("preemptions", all.preemptions.into()),
        ("discarded_tokens", all.discarded_tokens.into()),
        ("swapped_tokens", all.swapped_tokens.into()),
        ("hit_tokens", all.hit_tokens.into()),
        ("evictions", all.evictions.into()),
        ("peak_blocks", all.peak_blocks.into()),
        ("peak_running", all.peak_running.into()),
        ("prefill_tokens", all.prefill_tokens.into()),
        ("decode_tokens", all.decode_tokens.into()),
        ("slot_use", number(all.slot_use.min(1.0))),
        ("block_use", number(all.block_use.min(1.0))),
        ("fill", number(all.fill.min(1.0))),
    ])
}

impl Model for Schedule {
    const ID: &'static str = "schedule";
    const TITLE: Text = Text::new("调度器一步一步", "The scheduler, step by step");
    const ASSUMES: Text = Text::new(
        "一步就是时钟的一格；到达时间是步数，第一步是 1；前缀相同与否看请求里写的 shared。",
        "A step is a tick of the clock; arrivals are step numbers and the first step is 1; what is shared is what requests say.",
    );
    const SOURCE: &'static str =
        "vLLM V1, vllm/v1/core/sched/scheduler.py; static batching as Orca (OSDI 2022) describes it";
    const EXAMPLE: &'static str =
        r#"{"requests": "0:4:6 0:4:6 0:4:6", "max_seqs": 3, "token_budget": 64, "block_tokens": 4, "pool_blocks": 5}"#;

    fn question() -> Vec<FieldSpec> {
        let doc = Text::new(
            "到达:提示:输出[:优先级]，空格隔开；或文件的各行",
            "arrival:prompt:output[:priority], apart by blanks; or the lines of a file",
        );
        let requests = FieldSpec::new("requests", "", FieldKind::Text { max_len: 65_536 }, doc);
        std::iter::once(requests).chain(settings_fields(4, 2048, 1024)).collect()
    }

    fn answer() -> Vec<FieldSpec> {
        let mut fields = totals_fields();
        fields.push(list("first", "1", "每个请求第一个 token 的步", "The step of each request's first token"));
        fields.push(list("done", "1", "每个请求结束的步", "The step in which each request ends"));
        fields
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let requests = requests(args.text("requests"))?;
        let outcome = outcome(args, &requests, &settings(args), "requests")?;
        let steps = |times: &[f64]| -> Value { times.iter().map(|time| number(*time)).collect::<Vec<_>>().into() };
        let mut map = totals(&outcome);
        map.insert("first".to_owned(), steps(&outcome.first));
        map.insert("done".to_owned(), steps(&outcome.done));
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(given: &Value) -> Map {
        crate::eval("schedule", &question(given)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Brief 21: static against continuous, preemption, chunks, the refusal.
    #[test]
    fn the_vectors_of_the_brief() {
        let given = |batching: &str| json!({"requests": "0:1:2 0:1:5 0:1:2 0:1:3", "batching": batching, "max_seqs": 2, "token_budget": 64, "pool_blocks": 64});
        let still = ask(&given("static"));
        assert_eq!(
            (&still["steps"], &still["done"], &still["slot_use"]),
            (&json!(8), &json!([5, 5, 8, 8]), &json!(0.75))
        );
        let flowing = ask(&given("continuous"));
        assert_eq!((&flowing["steps"], &flowing["done"]), (&json!(7), &json!([2, 5, 4, 7])));
        let three = |pool: u32| {
            ask(
                &json!({"requests": "0:4:6 0:4:6 0:4:6", "max_seqs": 3, "token_budget": 64, "block_tokens": 4, "pool_blocks": pool}),
            )
        };
        let tight = three(5);
        assert_eq!(
            (&tight["steps"], &tight["preemptions"], &tight["discarded_tokens"]),
            (&json!(11), &json!(2), &json!(12))
        );
        assert_eq!((&tight["first"], &tight["done"]), (&json!([1, 1, 1]), &json!([6, 7, 11])));
        let wide = three(64);
        assert_eq!((&wide["steps"], &wide["preemptions"], &wide["peak_blocks"]), (&json!(6), &json!(0), &json!(9)));
        let chunks =
            |budget: u32| ask(&json!({"requests": "0:100:2 0:4:4", "token_budget": budget, "pool_blocks": 64}));
        assert_eq!((&chunks(32)["first"], &chunks(32)["done"]), (&json!([4, 4]), &json!([5, 7])));
        assert_eq!((&chunks(256)["first"], &chunks(256)["done"]), (&json!([1, 1]), &json!([2, 4])));
        // Blocks of 16, 40 tokens in common: 32 of the second prompt are found.
        let shared = json!({"requests": "0:100:4:shared=40 5:100:4:shared=40", "prefix": true, "pool_blocks": 64});
        assert_eq!((&ask(&shared)["hit_tokens"], &ask(&shared)["prefill_tokens"]), (&json!(32), &json!(168)));
        let refused =
            crate::eval("schedule", &question(&json!({"requests": "0:100:50", "pool_blocks": 4}))).unwrap_err();
        assert_eq!(refused.to_string(), "pool_blocks: request 0: needs 10 KV blocks, pool has 4");
        let lines =
            crate::eval("schedule", &question(&json!({"requests": "arrival,prompt,output\n0,4,x"}))).unwrap_err();
        assert!(lines.to_string().contains("line 2: output = x"), "{lines}");
        // A line of a file alone: the blank belongs to its clock time. One request of 6 tokens takes 6 steps.
        let clock = ask(&json!({"requests": "2023-11-16 18:17:03.9,4,6"}));
        assert_eq!((&clock["steps"], &clock["done"]), (&json!(6), &json!([6])));
    }
}
