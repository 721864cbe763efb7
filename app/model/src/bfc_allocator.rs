//! TensorFlow's and XLA's BFC allocator on a trace, with JAX's ways to set it up.
//!
//! Question: a trace, how the pool is set up, a card. Answer: the counters at the end, the last chunk and its bin, what
//! was taken at the start, the first request that failed. The machine itself is `vramlab_alloc::bfc`.
//! Assumption: one stream, so that a freed chunk is free at once; a failing request does not wait for frees.
//! Source: openxla/xla, `xla/tsl/framework/bfc_allocator.cc`; docs.jax.dev, "GPU memory allocation".
//! Errors: a trace that frees what was not requested; a limit above the card.

use crate::alloc_fields as shared;
use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::bfc::{self, Options};
use vramlab_alloc::jax::{DEFAULT_FRACTION, Policy};
use vramlab_alloc::replay::Kind;
use vramlab_alloc::trace::{Event, Trace};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const POLICIES: &[&str] = &["growth", "fixed", "jax", "jax_fixed", "jax_on_demand", "jax_platform"];

pub struct BfcAllocator;

impl Model for BfcAllocator {
    const ID: &'static str = "bfc_allocator";
    const TITLE: Text = Text::new("BFC 分配器（TensorFlow、JAX）", "The BFC allocator (TensorFlow, JAX)");
    const ASSUMES: Text = Text::new(
        "只有一个流，释放立即生效；申请失败时不等别人释放。",
        "One stream, so that a free counts at once; a failing request does not wait for frees.",
    );
    const SOURCE: &'static str = "openxla/xla, xla/tsl/framework/bfc_allocator.cc; docs.jax.dev, GPU memory allocation";
    const EXAMPLE: &'static str =
        r#"{"trace": "a:6M b:6M c:6M -a -c d:10M", "policy": "fixed", "limit_mib": 20, "capacity_mib": 40}"#;

    fn question() -> Vec<FieldSpec> {
        let policy = Text::new(
            "growth：按需翻倍；fixed：一次拿满；jax：先拿一份，可涨满整卡；jax_fixed：只拿一份；jax_on_demand：按需，以一份为限；jax_platform：每次 cudaMalloc",
            "growth: regions that double; fixed: the limit at once; jax: a share, growing to the whole card; jax_fixed: a share \
             and no more; jax_on_demand: regions that double up to a share; jax_platform: cudaMalloc each time",
        );
        let limit =
            Text::new("growth 和 fixed 的上限；不填就是整张卡", "Limit of growth and fixed; the card if not given");
        let share = Text::new("JAX 的份额，占整卡显存", "JAX's share of the card's memory");
        vec![
            shared::trace(),
            fields::choice("policy", "", POLICIES, policy).default_value("growth"),
            FieldSpec::int("limit_mib", "MiB", 1, 1 << 24, limit).optional(),
            FieldSpec::num("fraction", "%", 0.01, 1.0, share).default_value(DEFAULT_FRACTION),
            shared::capacity(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bin = Text::new("最后一次申请的箱，0–20", "Bin of the last request, 0 to 20");
        let start = "第一次申请前就定下要拿的";
        let mut out = shared::answer();
        out.push(FieldSpec::int("last_bin", "1", 0, i64::from(bfc::N_BINS) - 1, bin).optional());
        out.push(shared::bytes("preallocated_bytes", start, "What the first request takes, however small it is"));
        out
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let trace = shared::read_trace(args)?;
        let capacity = shared::capacity_bytes(args);
        let limit = limit_bytes(args, capacity)?;
        let fraction = args.num("fraction");
        let (kind, preallocated) = match args.text("policy") {
            "growth" => (Kind::Bfc(Options::growing(limit)), 0),
            "fixed" => (Kind::Bfc(Options::fixed(limit)), limit),
            name => {
                let policy = jax(name, fraction);
                (Kind::Jax(policy), policy.preallocated_bytes(capacity))
            }
        };
        let mut out = shared::replayed(&trace, &kind, capacity);
        out.insert("last_bin".to_owned(), last_bin(&trace));
        out.insert("preallocated_bytes".to_owned(), preallocated.into());
        Ok(out)
    }
}

fn jax(name: &str, fraction: f64) -> Policy {
    match name {
        "jax" => Policy::Growable { start: fraction, cap: 1.0 },
        "jax_fixed" => Policy::Fixed { fraction },
        "jax_on_demand" => Policy::OnDemand { fraction },
        _ => Policy::Platform,
    }
}

fn limit_bytes(args: &Args, capacity: u64) -> Result<u64, FieldError> {
    if !args.has("limit_mib") {
        return Ok(capacity);
    }
    let limit = args.uint("limit_mib");
    if limit * MIB > capacity {
        let reason = format!("{limit} is more than capacity_mib = {}", args.uint("capacity_mib"));
        return Err(FieldError::conflict("limit_mib", reason));
    }
    Ok(limit * MIB)
}

fn last_bin(trace: &Trace) -> Value {
    let last = trace.events().iter().rev().find_map(|event| match event {
        Event::Malloc { bytes, .. } => Some(*bytes),
        _ => None,
    });
    last.map_or(Value::Null, |bytes| bfc::bin_of(bfc::round(bytes)).into())
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, expected: &Value) {
        let answer = eval("bfc_allocator", &question(given)).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&answer[key], value, "{key} of {given}");
        }
    }

    /// Brief 24: the values are the brief's.
    #[test]
    fn growth_fixed_pools_and_their_waste() {
        check(
            &json!({"trace": "a:700 b:1M c:1048577 d:10M e:19.5M", "limit_mib": 1024}),
            &json!({"reserved_bytes": 56_623_104, "n_segments": 4, "last_block_bytes": 33_554_432}),
        );
        check(&json!({"trace": "a:700 b:1M"}), &json!({"last_block_bytes": 2_096_384, "last_bin": 12}));
        check(
            &json!({"trace": "a:6M b:6M c:6M -a -c d:10M", "policy": "fixed", "limit_mib": 20}),
            &json!({"refused_event": 5,
                "refusal": "requested 10485760, in use 6291456, pool 20971520, limit 20971520"}),
        );
        check(
            &json!({"trace": "a:6M b:6M c:6M -a -c -b d:10M", "policy": "fixed", "limit_mib": 20}),
            &json!({"last_block_bytes": 10_485_760, "refusal": null}),
        );
        check(
            &json!({"trace": "a:100M", "policy": "fixed", "limit_mib": 150}),
            &json!({"last_block_bytes": 157_286_400}),
        );
        check(
            &json!({"trace": "a:700M", "policy": "fixed", "limit_mib": 1024}),
            &json!({"last_block_bytes": 734_003_200}),
        );
        check(&json!({"trace": "a:0"}), &json!({"refusal": "size must be positive", "n_ooms": 0}));
        check(&json!({"trace": "a:1G"}), &json!({"last_bin": 20}));
    }

    /// Brief 24: JAX on 143,771 MiB.
    #[test]
    fn jax_takes_three_quarters_of_the_card() {
        let bytes = 107_828 * 1_048_576_u64 + 262_144;
        let given = |policy: &str| json!({"trace": "a:1M", "policy": policy, "capacity_mib": 143_771});
        check(&given("jax_fixed"), &json!({"preallocated_bytes": bytes, "reserved_bytes": bytes}));
        check(&given("jax"), &json!({"preallocated_bytes": bytes}));
        check(&given("jax_on_demand"), &json!({"preallocated_bytes": 0, "reserved_bytes": 2_097_152}));
        check(&given("jax_platform"), &json!({"preallocated_bytes": 0, "reserved_bytes": 2_097_152}));
    }

    #[test]
    fn a_limit_above_the_card_is_refused_by_name() {
        let given = json!({"trace": "", "limit_mib": 41, "capacity_mib": 40});
        assert_eq!(eval("bfc_allocator", &question(&given)).unwrap_err().field(), "limit_mib");
    }
}
