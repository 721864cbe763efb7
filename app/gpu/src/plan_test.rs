//! Plans over the small experiment of `testing/`, by hand.

use super::*;
use crate::testing::{card, experiment, kernel};

const GIB: u64 = 1 << 30;

fn planned(facts: &DeviceFacts, mode: Mode, budget: u64, settings: &Map) -> Result<Plan, PlanError> {
    plan(&experiment(), &kernel(), facts, mode, budget, settings)
}

#[track_caller]
fn unfit(result: Result<Plan, PlanError>, says: &str) {
    match result {
        Err(PlanError::Unfit { why }) => {
            assert!(why.get(Lang::En).contains(says), "{why:?}");
            assert!(why.exact(Lang::Zh).is_some_and(|zh| !zh.is_empty()));
        }
        other => panic!("{other:?}"),
    }
}

fn size(plan: &Plan) -> f64 {
    plan.points[0].vars["n_words"]
}

#[test]
fn sizes_follow_the_budget_and_every_number_is_resolved() {
    let plan = planned(&card(), Mode::Full, 6 * GIB, &Map::new()).unwrap();
    // min(5.4 GiB, 4 GiB) / 4, a power of two.
    assert_eq!(size(&plan), f64::from(1 << 30));
    assert_eq!(plan.points.len(), 5);
    let point = &plan.points[3];
    assert_eq!((point.x, point.n_samples), (8.0, 21));
    assert_eq!(point.params["loads"], 8);
    // 2^30 words over stride 8 × 2048 elements a block.
    assert_eq!(point.vars["blocks"], 65_536.0);
    assert_eq!(point.vars["bytes.out"], 65_536.0 * 1024.0);
    // 512 MiB useful, eight times that moved, at 1000 GB/s.
    assert_eq!(point.vars["est_ns"], 4_294_967_296.0 / 1000.0);
    // Stride 8: one useful word in a sector of eight.
    assert_eq!(point.predicted, Some(125.0));
    assert_eq!(plan.peak_bytes, 4 * GIB + GIB / 2);
    assert_eq!(predicted_ratio(&plan, &experiment().effect), Some(8.0));
}

#[test]
fn a_quick_run_has_fewer_points_and_samples() {
    let plan = planned(&card(), Mode::Quick, 6 * GIB, &Map::new()).unwrap();
    assert_eq!(plan.points.iter().map(|point| point.x).collect::<Vec<_>>(), [1.0, 8.0]);
    assert_eq!(plan.points[0].n_samples, 5);
    assert!(plan.deadline_secs < planned(&card(), Mode::Full, 6 * GIB, &Map::new()).unwrap().deadline_secs);
}

#[test]
fn buffers_over_the_budget_halve_the_size() {
    // 0.9 × 4.5 GiB gives 2^29 words = 2 GiB, and an eighth more for the output: fits. 4.6 GiB would give 4 GiB + 512 MiB
    // of output, still within; at exactly 4.45 GiB the first try is 4 GiB + 512 MiB and must shrink.
    let budget = (4.47 * GIB as f64) as u64;
    let plan = planned(&card(), Mode::Full, budget, &Map::new()).unwrap();
    assert!(plan.peak_bytes <= budget);
    assert_eq!(size(&plan), f64::from(1 << 29));
}

#[test]
fn a_card_that_drives_a_display_gets_shorter_launches() {
    let slow = DeviceFacts { peak_gb_per_s: Some(20.0), ..card() };
    let free = planned(&slow, Mode::Full, 6 * GIB, &Map::new()).unwrap();
    let display = DeviceFacts { has_kernel_timeout: Some(1.0), ..slow };
    let kept_short = planned(&display, Mode::Full, 6 * GIB, &Map::new()).unwrap();
    let longest = |plan: &Plan| plan.points.iter().map(|point| point.vars["est_ns"]).fold(0.0, f64::max);
    assert!(longest(&free) > DISPLAY_EST_NS && longest(&kept_short) <= DISPLAY_EST_NS);
    // No more than needed: the next size up would be too long.
    assert!(2.0 * longest(&kept_short) > DISPLAY_EST_NS);
}

#[test]
fn what_does_not_fit_says_why() {
    unfit(planned(&card(), Mode::Full, 40 << 20, &Map::new()), "twice L2");
    unfit(planned(&card(), Mode::Full, 1 << 10, &Map::new()), "it needs 1024");
    let mut demanding = experiment();
    demanding.effect.at_least = 9.0;
    unfit(plan(&demanding, &kernel(), &card(), Mode::Full, GIB, &Map::new()), "a ratio of only 8");
    let mut large = kernel();
    large.cuda.as_mut().unwrap().shared = Some("200000".into());
    unfit(plan(&experiment(), &large, &card(), Mode::Full, GIB, &Map::new()), "of shared memory");
    let mut fixed = experiment();
    fixed.plan.0[0].1 = "2 ^ 30".into();
    unfit(plan(&fixed, &kernel(), &card(), Mode::Full, GIB, &Map::new()), "the budget is");
    fixed.plan.0[0].1 = "device.l1_bytes".into();
    unfit(plan(&fixed, &kernel(), &card(), Mode::Full, GIB, &Map::new()), "does not report");
}

#[test]
fn a_fact_that_is_not_told_costs_the_prediction_and_not_the_run() {
    let silent = DeviceFacts { peak_gb_per_s: None, ..card() };
    let plan = planned(&silent, Mode::Full, 6 * GIB, &Map::new()).unwrap();
    assert!(plan.points.iter().all(|point| point.predicted.is_none()));
}

#[test]
fn settings_are_checked_by_name_and_range() {
    let set = |key: &str, value: f64| Map::from_iter([(key.to_owned(), json_number(value))]);
    let plan = planned(&card(), Mode::Quick, GIB, &set("n_words", 65_536.0 * 1024.0)).unwrap();
    assert_eq!(size(&plan), 65_536.0 * 1024.0);
    let says = |settings: Map| planned(&card(), Mode::Quick, GIB, &settings).unwrap_err().to_string();
    assert!(says(set("n_words", 3.0)).contains("1024 to 4294967296"));
    assert!(says(set("n_word", 3.0)).contains("did you mean \"n_words\""));
    assert!(says(set("stride", 2.0)).contains("x axis"));
    assert!(says(set("loads", 1.0)).contains("curves"));
}

#[test]
fn the_default_budget_is_half_of_what_is_free_and_never_above_8_gib() {
    let free = |bytes: f64| default_budget(&DeviceFacts { free_bytes: Some(bytes), ..card() });
    assert_eq!(free(6e9), 3_000_000_000);
    assert_eq!(free(140e9), 8 * GIB);
    assert_eq!(default_budget(&DeviceFacts::default()), 8 * GIB);
}

#[test]
fn a_budget_far_above_what_the_experiment_takes_still_shrinks_for_a_display() {
    let display = DeviceFacts { peak_gb_per_s: Some(20.0), has_kernel_timeout: Some(1.0), ..card() };
    // 0.9 × 64 GiB is cut to 4 GiB by the experiment itself; the first halvings change nothing.
    let plan = planned(&display, Mode::Full, 64 * GIB, &Map::new()).unwrap();
    assert!(plan.points.iter().all(|point| point.vars["est_ns"] <= DISPLAY_EST_NS));
}

#[test]
fn sizes_that_rest_on_an_absent_fact_name_it() {
    let mut kernel = kernel();
    kernel.buffers[0].bytes = "device.l3_bytes".into();
    unfit(plan(&experiment(), &kernel, &card(), Mode::Full, GIB, &Map::new()), "does not report l3_bytes");
    kernel.buffers[0].bytes = "if(known.l3_bytes, device.l3_bytes, 2 ^ 28)".into();
    assert!(plan(&experiment(), &kernel, &card(), Mode::Full, GIB, &Map::new()).is_ok());
}
