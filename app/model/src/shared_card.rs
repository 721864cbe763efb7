//! Two processes start on one card, one after the other: what each takes, and whether the second gets what it needs.
//!
//! Question: the card, what a CUDA context costs, each process's framework, and what its tensors need. Answer: what each
//! pool holds once those tensors are in it, what the second pool wanted at its start, what is left, what is missing.
//! Assumption: a process asks for its tensors as one request; contexts are as large as given; both pools keep what they
//! took. Source: openxla/xla, `docs/gpu_bfc_growth.md`; tensorflow/tensorflow, `gpu_device.cc`; pytorch/pytorch,
//! `c10/cuda/CUDACachingAllocator.cpp`. Errors: contexts and needs that are larger than the card are answers, not errors.

use crate::alloc_fields as shared;
use crate::fields;
use crate::registry::Model;
use vramlab_alloc::bfc::{Bfc, Options};
use vramlab_alloc::caching::{Caching, Card, Config};
use vramlab_alloc::jax::{DEFAULT_FRACTION, Policy};
use vramlab_alloc::{MIB, tensorflow};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const FRAMEWORKS: &[&str] = &["pytorch", "jax", "jax_fixed", "jax_on_demand", "tensorflow", "tensorflow_growth"];

/// What a process took from the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// What its pool would take at the first request, however small; 0 for one that grows.
    pub wanted_bytes: u64,
    /// What its pool holds in the end.
    pub pool_bytes: u64,
    /// Its tensors are in it.
    pub fits: bool,
}

/// One process on what is free of a card. `share`: JAX's, of the whole card.
pub fn start(framework: &str, need: u64, (free, total): (u64, u64), share: f64, cc_major: u32) -> Taken {
    let jax = |policy: Policy| (policy.options(total), policy.preallocated_bytes(total));
    let (options, wanted) = match framework {
        "pytorch" => (None, 0),
        "jax" => jax(Policy::Growable { start: share, cap: 1.0 }),
        "jax_fixed" => jax(Policy::Fixed { fraction: share }),
        "jax_on_demand" => jax(Policy::OnDemand { fraction: share }),
        name => {
            let options = tensorflow::options(free, cc_major, name == "tensorflow_growth");
            (Some(options), if options.growth { 0 } else { options.limit_bytes })
        }
    };
    match options {
        None => of_pytorch(need, free),
        Some(options) => of_bfc(options, need, free, wanted),
    }
}

fn of_pytorch(need: u64, free: u64) -> Taken {
    let mut pool = Caching::new(Config::default(), Card::new(free));
    let fits = need == 0 || pool.malloc(need, 0).is_ok();
    Taken { wanted_bytes: 0, pool_bytes: pool.device.used_bytes, fits }
}

/// The first operation of a program is small: it is what makes the pool take its share. Then the tensors come.
fn of_bfc(options: Options, need: u64, free: u64, wanted: u64) -> Taken {
    let mut pool = Bfc::new(options, Card::new(free));
    let first = pool.malloc(1);
    let starts = first.is_ok();
    if let Ok(first) = first
        && pool.free(first.chunk).is_err()
    {
        return Taken { wanted_bytes: wanted, ..Taken::default() };
    }
    let fits = starts && (need == 0 || pool.malloc(need).is_ok());
    Taken { wanted_bytes: wanted, pool_bytes: pool.pool_bytes, fits }
}

pub struct SharedCard;

impl Model for SharedCard {
    const ID: &'static str = "shared_card";
    const TITLE: Text = Text::new("两个进程共用一张卡", "Two processes on one card");
    const ASSUMES: Text = Text::new(
        "每个进程的张量合成一次申请；先起的先拿，拿了不还；上下文按给定的大小。",
        "The tensors of a process come as one request; who starts first takes first and keeps it; contexts are as large as \
         given.",
    );
    const SOURCE: &'static str = "openxla/xla, docs/gpu_bfc_growth.md; tensorflow/tensorflow, \
         core/common_runtime/gpu/gpu_device.cc; pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp";
    const EXAMPLE: &'static str =
        r#"{"capacity_mib": 81920, "first": "jax", "second": "jax", "first_need_mib": 8192, "second_need_mib": 24576}"#;

    fn question() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::int(key, "MiB", 0, 1 << 24, Text::new(zh, en));
        let which = |key, zh, en| fields::choice(key, "", FRAMEWORKS, Text::new(zh, en)).default_value("pytorch");
        let share = Text::new("JAX 的份额，占整卡显存", "JAX's share of the card's memory");
        let major = Text::new(
            "计算能力的主版本；TensorFlow 留多少随它",
            "Major compute capability; TensorFlow's reserve goes by it",
        );
        vec![
            shared::capacity(),
            mib(
                "context_mib",
                "每个进程的 CUDA 上下文；H200 上测得 526.8",
                "The CUDA context of each process; 526.8 as measured on an H200",
            )
            .default_value(527),
            which("first", "先起的进程用什么", "Framework of the process that starts first"),
            which("second", "后起的进程用什么", "Framework of the one that starts second"),
            mib("first_need_mib", "先起的进程的张量", "Tensors of the first"),
            mib("second_need_mib", "后起的进程的张量", "Tensors of the second"),
            FieldSpec::num("fraction", "%", 0.01, 1.0, share).default_value(DEFAULT_FRACTION),
            FieldSpec::int("cc_major", "1", 1, 20, major).default_value(9),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let flag = |key, zh, en| FieldSpec::new(key, "", vramlab_units::FieldKind::Bool, Text::new(zh, en));
        vec![
            shared::bytes("first_bytes", "先起的进程的池", "Pool of the first"),
            shared::bytes("first_idle_bytes", "其中占着没用的", "Of it held and not used"),
            shared::bytes("second_wanted_bytes", "后起的进程一开始想要的", "What the second wanted at its start"),
            shared::bytes("second_bytes", "它的池最后有多大", "What its pool holds in the end"),
            shared::bytes("free_bytes", "卡上还空着的", "What is free on the card"),
            flag("first_fits", "先起的放得下", "The tensors of the first fit"),
            flag("second_fits", "后起的放得下", "The tensors of the second fit"),
            shared::bytes("missing_bytes", "后起的还缺多少", "What the second lacks"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let total = shared::capacity_bytes(args);
        let bytes = |key: &str| args.uint(key) * MIB;
        let (share, major) = (args.num("fraction"), args.uint("cc_major") as u32);
        let (needs, context) = ((bytes("first_need_mib"), bytes("second_need_mib")), bytes("context_mib"));
        let free = total.saturating_sub(context);
        let first = start(args.text("first"), needs.0, (free, total), share, major);
        let left = (free - first.pool_bytes).saturating_sub(context);
        let second = start(args.text("second"), needs.1, (left, total), share, major);
        let used = if first.fits { needs.0 } else { 0 };
        let missing = if second.fits { 0 } else { needs.1.saturating_sub(left) };
        Ok(fields::answer([
            ("first_bytes", first.pool_bytes.into()),
            ("first_idle_bytes", first.pool_bytes.saturating_sub(used).into()),
            ("second_wanted_bytes", second.wanted_bytes.into()),
            ("second_bytes", second.pool_bytes.into()),
            ("free_bytes", (left - second.pool_bytes).into()),
            ("first_fits", first.fits.into()),
            ("second_fits", second.fits.into()),
            ("missing_bytes", missing.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    const MIB: u64 = 1 << 20;

    fn answer(framework: &str, need_mib: u64) -> Value {
        let given = json!({"capacity_mib": 81_920, "context_mib": 500, "first": framework, "second": framework,
            "first_need_mib": 8_192, "second_need_mib": need_mib});
        Value::Object(eval("shared_card", &question(&given)).unwrap())
    }

    /// Worked by hand: 81,920 − 2 × 500 MiB of contexts, 8 GiB and 24 GiB of tensors, each a multiple of 2 MiB.
    #[test]
    fn two_pools_that_grow_share_the_card() {
        let pytorch = answer("pytorch", 24_576);
        assert_eq!(pytorch["first_bytes"], json!(8_192 * MIB));
        assert_eq!(pytorch["second_bytes"], json!(24_576 * MIB));
        assert_eq!((&pytorch["free_bytes"], &pytorch["second_fits"]), (&json!(48_152 * MIB), &json!(true)));
    }

    /// Three quarters of 81,920 MiB are 61,440; the second finds 81,920 − 61,440 − 1,000 = 19,480 MiB and lacks 5,096.
    #[test]
    fn the_second_preallocation_gets_what_is_left() {
        let jax = answer("jax", 24_576);
        assert_eq!(jax["first_bytes"], json!(61_440 * MIB));
        assert_eq!(jax["first_idle_bytes"], json!((61_440 - 8_192) * MIB));
        assert_eq!((&jax["second_wanted_bytes"], &jax["second_fits"]), (&json!(61_440 * MIB), &json!(false)));
        assert_eq!(jax["missing_bytes"], json!(5_096 * MIB));
        // 0.9 × again and again until it fits: within a tenth of what is left.
        let got = jax["second_bytes"].as_u64().unwrap();
        assert!(got <= 19_480 * MIB && got > 19_480 * MIB / 10 * 9, "{got}");
        assert_eq!(answer("jax", 8_192)["second_fits"], json!(true));
        assert_eq!(answer("jax_on_demand", 24_576)["second_fits"], json!(true));
    }

    /// All but 1,800 MiB of what is free: the second finds 1,300, of which 225 are kept back.
    #[test]
    fn tensorflow_leaves_next_to_nothing() {
        let tf = answer("tensorflow", 8_192);
        assert_eq!(tf["first_bytes"], json!((81_920 - 500 - 1_800) * MIB));
        assert_eq!(tf["second_bytes"], json!((1_300 - 225) * MIB));
        assert_eq!((&tf["second_fits"], &tf["missing_bytes"]), (&json!(false), &json!((8_192 - 1_300) * MIB)));
        assert_eq!(answer("tensorflow_growth", 8_192)["second_fits"], json!(true));
    }

    /// A card too small for the contexts, needs beyond any card: answers, and sums that add up.
    #[test]
    fn extremes_add_up() {
        for framework in super::FRAMEWORKS {
            for (capacity, need) in [(1, 1), (600, 0), (81_920, 1 << 24), (1 << 24, 1 << 24)] {
                let given = json!({"capacity_mib": capacity, "first": framework, "second": framework,
                    "first_need_mib": need, "second_need_mib": need});
                let answer = eval("shared_card", &question(&given)).unwrap();
                let bytes = |key: &str| answer[key].as_u64().unwrap();
                let sum = bytes("first_bytes") + bytes("second_bytes") + bytes("free_bytes");
                assert!(sum <= capacity * MIB, "{given}: {answer:?}");
            }
        }
    }
}
