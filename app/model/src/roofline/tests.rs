//! The test vectors of the course's brief for the roofline, by number, and the cases it leaves to judgement.

use crate::fields::testing::question;
use crate::registry::eval;
use serde_json::{Value, json};
use vramlab_units::Map;

fn ask(given: &Value) -> Map {
    eval("roofline", &question(given)).unwrap_or_else(|error| panic!("{given}: {error}"))
}

#[track_caller]
fn near(answer: &Map, key: &str, expected: f64) {
    let found = answer[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", answer[key]));
    assert!((found / expected - 1.0).abs() < 1e-5, "{key} is {found}, not {expected}");
}

#[track_caller]
fn refuses(given: &Value, field: &str) {
    let error = eval("roofline", &question(given)).unwrap_err();
    assert_eq!(error.field(), field, "{error}");
}

/// The H200's data-sheet bandwidth with a compute peak.
fn on_h200(flops: f64, hbm_bytes: f64, peak_tflops: f64) -> Value {
    json!({"flops": flops, "hbm_bytes": hbm_bytes, "peak_tflops": peak_tflops, "hbm_gb_per_s": 4800})
}

/// Vector 1: saxpy in FP32 does 2 FLOP for 12 bytes.
#[test]
fn saxpy_reaches_eight_tenths_of_a_tflop() {
    let answer = ask(&on_h200(2e9, 12e9, 66.9));
    near(&answer, "intensity_flop_per_byte", 1.0 / 6.0);
    near(&answer, "attainable_tflops", 0.8);
    assert_eq!(answer["bound"], "hbm");
    near(&answer, "ridge_flop_per_byte", 13.9375);
}

/// Vector 2: a copy has no FLOP, and that divides by nothing.
#[test]
fn a_copy_is_bound_by_memory_at_no_flops() {
    let answer = ask(&on_h200(0.0, 8e9, 66.9));
    assert_eq!((&answer["intensity_flop_per_byte"], &answer["attainable_tflops"]), (&json!(0), &json!(0)));
    assert_eq!(answer["bound"], "hbm");
    near(&answer, "floor_gb_per_s", 4800.0);
}

/// Vector 3: a BF16 product of 4096³.
#[test]
fn a_large_product_is_bound_by_compute() {
    let answer = ask(&on_h200(137_438_953_472.0, 100_663_296.0, 989.4));
    near(&answer, "intensity_flop_per_byte", 1_365.333_333);
    near(&answer, "t_floor_us", 138.911);
    near(&answer, "attainable_tflops", 989.4);
    assert_eq!(answer["bound"], "compute");
}

/// Vector 4: the same weights at batch 1, 64 and 256.
#[test]
fn the_batch_carries_a_product_over_the_ridge() {
    let at = |m: f64| ask(&on_h200(m * 33_554_432.0, 2.0 * (2.0 * m * 4096.0 + 4096.0 * 4096.0), 989.4));
    let one = at(1.0);
    near(&one, "intensity_flop_per_byte", 0.999_512);
    near(&one, "t_floor_us", 6.993_92);
    assert_eq!(one["bound"], "hbm");
    let many = at(64.0);
    near(&many, "intensity_flop_per_byte", 62.0606);
    near(&many, "attainable_tflops", 297.891);
    let more = at(256.0);
    near(&more, "intensity_flop_per_byte", 227.5556);
    assert_eq!(more["bound"], "compute");
}

/// Vector 5: three levels, of which L2 binds.
#[test]
fn the_lowest_of_the_levels_binds() {
    let answer = ask(&json!({"flops": 1e9, "l1_bytes": 4e9, "l2_bytes": 1e9, "hbm_bytes": 2.5e8, "peak_tflops": 66.9,
        "l1_gb_per_s": 33_450, "l2_gb_per_s": 5_500, "hbm_gb_per_s": 4_800}));
    near(&answer, "l1_intensity_flop_per_byte", 0.25);
    near(&answer, "l2_intensity_flop_per_byte", 1.0);
    near(&answer, "intensity_flop_per_byte", 4.0);
    near(&answer, "l1_tflops", 8.3625);
    near(&answer, "l2_tflops", 5.5);
    near(&answer, "hbm_tflops", 19.2);
    near(&answer, "attainable_tflops", 5.5);
    assert_eq!(answer["bound"], "l2");
}

/// Vector 6: 2 × 4 GiB in 2.0 ms.
#[test]
fn a_measured_time_gives_the_share_of_the_ceiling() {
    let bytes = 2.0 * 4.0 * f64::from(1 << 30);
    let mut given = on_h200(0.0, bytes, 66.9);
    given["time_us"] = json!(2000);
    let answer = ask(&given);
    near(&answer, "achieved_gb_per_s", 4294.967);
    near(&answer, "utilisation", 0.894_78);
}

/// Vector 7: what cannot be is refused by the name of its field.
#[test]
fn what_cannot_be_is_refused_by_name() {
    let change = |key: &str, value: Value| {
        let mut given = on_h200(2e9, 12e9, 66.9);
        given[key] = value;
        given
    };
    for key in ["peak_tflops", "hbm_gb_per_s"] {
        for value in [json!(0), json!(-1), json!(f64::NAN), json!("NaN"), json!(f64::MAX)] {
            refuses(&change(key, value), key);
        }
    }
    refuses(&change("hbm_bytes", json!(-1)), "hbm_bytes");
    refuses(&change("flops", json!(-2)), "flops");
    refuses(&change("time_us", json!(0)), "time_us");
    refuses(&change("l2_bytes", json!(1e9)), "l2_gb_per_s");
    refuses(&change("l1_gb_per_s", json!(33_450)), "l1_bytes");
    refuses(&change("l2_byte", json!(1)), "l2_byte");
    refuses(&on_h200(0.0, 0.0, 66.9), "flops");
}

/// Vector 7: utilisation 1.10 is an error and is not clamped; 1.01 is within what clocks and counters allow.
#[test]
fn faster_than_the_roof_is_refused() {
    let at = |utilisation: f64| {
        let mut given = on_h200(2e9, 12e9, 66.9);
        given["time_us"] = json!(2500.0 / utilisation);
        given
    };
    refuses(&at(1.10), "time_us");
    near(&ask(&at(1.01)), "utilisation", 1.01);
}

#[test]
fn a_level_without_bytes_sets_no_limit() {
    let answer = ask(&on_h200(1e12, 0.0, 66.9));
    assert_eq!((&answer["intensity_flop_per_byte"], &answer["hbm_tflops"]), (&Value::Null, &Value::Null));
    assert_eq!(answer["bound"], "compute");
    near(&answer, "attainable_tflops", 66.9);
}

/// An empty launch takes 1.34 µs of device time on an H200; 8 KiB take 1.7 ns of its bandwidth.
#[test]
fn a_tiny_kernel_is_bound_by_its_launch() {
    let mut given = on_h200(2048.0, 8192.0, 66.9);
    given["t0_us"] = json!(1.34);
    let answer = ask(&given);
    assert_eq!(answer["bound"], "launch");
    near(&answer, "t_floor_us", 1.34);
}

/// Ridge points that the brief works out for 4.8 TB/s.
#[test]
fn ridges_follow_from_the_two_ceilings() {
    for (peak, ridge) in [(66.9, 13.94), (494.7, 103.1), (989.4, 206.1), (1978.9, 412.3)] {
        let found = ask(&on_h200(1e9, 1e9, peak))["ridge_flop_per_byte"].as_f64().unwrap();
        assert!((found - ridge).abs() < 0.05, "{found} for {peak}");
    }
}

/// The report that the chapter's last check reads (lessons/12_roofline/terminal/ncu.txt): `a * 2` on 2²⁸ floats in
/// 500.90 µs; the report says 88.10 % of DRAM's peak and "close to 1 %" of FP32.
#[test]
fn the_chapters_report_lies_on_the_slope_of_memory() {
    let n = f64::from(1 << 28);
    let mut given = on_h200(n, 8.0 * n, 66.9);
    given["time_us"] = json!(500.9);
    let answer = ask(&given);
    near(&answer, "intensity_flop_per_byte", 0.125);
    near(&answer, "attainable_tflops", 0.6);
    let (achieved, utilisation) =
        (answer["achieved_tflops"].as_f64().unwrap(), answer["utilisation"].as_f64().unwrap());
    assert!((achieved - 0.54).abs() < 0.005 && (achieved / 66.9 - 0.01).abs() < 0.003, "{achieved}");
    assert!((utilisation - 0.881).abs() < 0.015, "{utilisation}");
}
