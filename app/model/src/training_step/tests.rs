use crate::fields::testing::question;
use crate::registry::eval;
use serde_json::{Value, json};

fn small(more: &Value) -> Value {
    let mut given = json!({"layers": 2, "hidden": 256, "heads": 4, "vocab": 1000, "seq_len": 256, "batch": 4});
    for (key, value) in more.as_object().unwrap() {
        given[key] = value.clone();
    }
    given
}

fn ask(given: &Value) -> vramlab_units::Map {
    eval("training_step", &question(given)).unwrap_or_else(|error| panic!("{given}: {error}"))
}

/// The first given record, as measured (torch 2.11, H200), and its reserved memory in a process of its own.
#[test]
fn the_first_given_record() {
    let given = json!({"layers": 12, "hidden": 768, "heads": 12, "vocab": 50_257, "seq_len": 1024, "batch": 4,
        "attention": "flash", "checkpoint": false, "precision": "amp", "optimizer": "adamw"});
    let answer = ask(&given);
    for (key, bytes) in [
        ("after_model", 653_748_224_u64),
        ("after_forward", 4_842_164_736),
        ("peak_forward", 5_666_511_360),
        ("after_backward", 2_627_004_928),
        ("peak_backward", 6_078_820_864),
        ("after_step", 2_627_004_928),
        ("peak_step", 6_078_820_864),
    ] {
        assert_eq!(answer[key], bytes, "{key}");
    }
    let reserved = answer["reserved"].as_f64().unwrap();
    assert!((reserved / (7_577_010_176.0 - 591_396_864.0) - 1.0).abs() < 0.05, "{reserved}");
    let mut first = given;
    first["step"] = json!(0);
    assert_eq!(ask(&first)["after_forward"], 3_529_169_920_u64);
}

/// The worked example of the curriculum: parameters and state 3 × 652,148,736 bytes rounded to 512 each.
#[test]
fn owners_add_up_and_say_what_they_are() {
    let given = json!({"layers": 12, "hidden": 768, "heads": 12, "vocab": 50_257, "seq_len": 1024, "batch": 4});
    let answer = ask(&given);
    assert_eq!(answer["after_forward_parameters"], 652_148_736);
    assert_eq!(answer["after_forward_optimizer"], 2 * 652_148_736_u64);
    assert_eq!(answer["after_backward_gradients"], 652_148_736);
    assert_eq!(answer["peak_phase"], "backward");
    for (moment, figure) in
        [("after_forward", "after_forward"), ("peak", "peak_step"), ("after_backward", "after_backward")]
    {
        let of = |key: &&String| key.starts_with(&format!("{moment}_"));
        let owners: u64 = answer.keys().filter(of).filter_map(|key| answer[key].as_u64()).sum::<u64>();
        let others = if moment == "peak" { answer["peak_layer"].as_u64().unwrap_or(0) + extra(&answer) } else { 0 };
        assert_eq!(owners - others, answer[figure].as_u64().unwrap(), "{moment}");
    }
}

/// Fields that begin with `peak_` and are no owner.
fn extra(answer: &vramlab_units::Map) -> u64 {
    ["peak_forward", "peak_backward", "peak_step"].iter().filter_map(|key| answer[*key].as_u64()).sum()
}

/// Recomputation, adapters, 4-bit weights and 8-bit states lower what they should.
#[test]
fn what_lowers_what() {
    let base = ask(&small(&json!({"net": "llama", "precision": "bf16"})));
    let of = |more: Value| ask(&small(&more));
    let recomputed = of(json!({"net": "llama", "precision": "bf16", "checkpoint": true}));
    assert!(recomputed["after_forward_activations"].as_u64() < base["after_forward_activations"].as_u64());
    let adapted = of(json!({"net": "llama", "precision": "bf16", "lora_rank": 8}));
    // Rank 8 on q and v of two blocks: 2 × 2 × 8 × (256 + 256) weights.
    assert_eq!(adapted["n_trained"], 2 * 2 * 8 * 512);
    let packed = of(json!({"net": "llama", "precision": "bf16", "lora_rank": 8, "base_weights": "nf4"}));
    let saved = adapted["after_model"].as_u64().unwrap() - packed["after_model"].as_u64().unwrap();
    // Seven matrices a block, 2 bytes against 0.516 a weight.
    let n = 2.0 * (4.0 * 256.0 * 256.0 + 3.0 * 256.0 * 1024.0);
    assert!((saved as f64 / (n * (2.0 - 0.516)) - 1.0).abs() < 0.1, "{saved}");
    let eight = of(json!({"optimizer": "adamw8bit"}))["after_step_optimizer"].as_u64().unwrap();
    let full = of(json!({}))["after_step_optimizer"].as_u64().unwrap();
    assert!((0.25..0.28).contains(&(eight as f64 / full as f64)), "{eight} of {full}");
}

#[test]
fn what_pytorch_has_no_kernel_for_is_refused_by_name() {
    let refused = |more: Value| eval("training_step", &question(&small(&more))).unwrap_err();
    for (more, field) in [
        (json!({"precision": "fp32"}), "attention"),
        (json!({"heads": 3}), "heads"),
        (json!({"hidden": 512, "heads": 1}), "heads"),
        (json!({"net": "llama", "kv_heads": 3}), "kv_heads"),
        (json!({"net": "moe", "top_k": 9}), "top_k"),
        (json!({"lora_rank": 8}), "lora_rank"),
        (json!({"net": "llama", "base_weights": "nf4"}), "base_weights"),
        (json!({"master_weights": true}), "master_weights"),
        (json!({"layers": 0}), "layers"),
        (json!({"layers": null}), "layers"),
    ] {
        assert_eq!(refused(more.clone()).field(), field, "{more}");
    }
}

#[test]
fn resnet50_needs_its_batch_only() {
    let answer = ask(&json!({"net": "resnet50", "batch": 32, "channels_last": true, "optimizer": "sgdm"}));
    assert_eq!(answer["n_params"], 25_557_032);
    // Measured in the course's own table: 1,699,028,992.
    let measured = 1_699_028_992.0;
    assert!((answer["after_forward"].as_f64().unwrap() / measured - 1.0).abs() < 0.01);
}
