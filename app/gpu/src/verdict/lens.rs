//! A judged run seen through a lens: the same points, another observable. What may not be printed stays unprinted, and
//! what a run lacks is named.

use super::Judged;
use super::point::{JudgedPoint, Measured};
use crate::lens::Lens;
use crate::vars::eval_with;
use vramlab_trace::{Point, Run};
use vramlab_units::{Formula, Localized};

/// The judged run with every point's value, range and prediction replaced by those of the lens. Verdict and counters
/// are the run's.
pub fn through(lens: &Lens, run: &Run, judged: &Judged) -> Judged {
    let points = run.points.iter().zip(&judged.points).map(|(raw, point)| see(lens, raw, point)).collect();
    Judged { points, verdict: judged.verdict.clone(), counters: judged.counters }
}

fn see(lens: &Lens, raw: &Point, judged: &JudgedPoint) -> JudgedPoint {
    let measured = Measured { measure: &lens.shows, point: raw, vars: &judged.vars };
    let value = measured.value(0.5);
    let invalid = judged.invalid.clone().or_else(|| measured.beyond_hardware(*value.as_ref().ok()?));
    let why = value.as_ref().err().cloned();
    let value = value.ok().filter(|_| invalid.is_none());
    let predicted = predicted(lens, judged);
    JudgedPoint {
        range: value.and_then(|_| measured.range()),
        rel_error: value.zip(predicted).filter(|(_, p)| *p != 0.0).map(|(v, p)| (v - p) / p),
        value,
        predicted,
        invalid,
        why,
        ..judged.clone()
    }
}

fn predicted(lens: &Lens, judged: &JudgedPoint) -> Option<f64> {
    let lookup = |name: &str| match name.strip_prefix("model.") {
        Some(field) => judged.prediction.as_ref()?.answer.get(field)?.as_f64(),
        None if name == "predicted" => judged.predicted,
        None => judged.vars.get(name).copied(),
    };
    eval_with(lens.predict.as_deref()?, &lookup).ok()
}

/// What a run lacks to be seen through a lens: names of the formula that no point has. Nothing if some point has all.
pub fn missing(lens: &Lens, judged: &Judged) -> Option<Localized> {
    let formula = Formula::parse(&lens.shows.value).ok()?;
    let lacks = |point: &JudgedPoint| -> Vec<String> {
        let is_absent = |name: &&str| !point.vars.contains_key(*name);
        formula.names().into_iter().filter(is_absent).map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = judged.points.iter().map(lacks).collect();
    if all.is_empty() || all.iter().any(Vec::is_empty) {
        return None;
    }
    let mut names = all.concat();
    names.sort();
    names.dedup();
    let said: Vec<Localized> = names.iter().map(|name| lack(name)).collect();
    let join = |lang, comma: &str| said.iter().map(|said| said.get(lang)).collect::<Vec<_>>().join(comma);
    let (zh, en) = (join(vramlab_units::Lang::Zh, "；"), join(vramlab_units::Lang::En, "; "));
    Some(Localized::both(zh, en))
}

fn lack(name: &str) -> Localized {
    if let Some(counter) = name.strip_prefix("counter.") {
        return Localized::both(
            format!("这次运行没有读计数器 {counter}"),
            format!("this run read no counter {counter}"),
        );
    }
    if let Some(fact) = name.strip_prefix("device.") {
        return Localized::both(format!("这台设备没有报告 {fact}"), format!("this device does not report {fact}"));
    }
    Localized::both(format!("这次运行没有 {name}"), format!("this run has no {name}"))
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::*;
    use crate::lens::LensKind;
    use crate::manifest::Measure;
    use crate::testing::{experiment, kernel, run};
    use vramlab_trace::OracleOutcome;
    use vramlab_units::Lang;

    fn lens(value: &str, predict: Option<&str>) -> Lens {
        let shows = Measure { value: value.into(), unit: "GB/s".into(), ..experiment().measure };
        let predict = predict.map(str::to_owned);
        Lens { of: LensKind::Memory, id: "dram".into(), shows, predict, assumes: Localized::default() }
    }

    /// 1.25 times what bytes and peak give: 800 of 1000 GB/s are moved at every stride, and an eighth of it is useful at
    /// stride 8.
    #[test]
    fn the_same_run_shows_another_observable() {
        let run = run(|_| 1.25);
        let judged = judge(&run, &experiment(), &kernel());
        let seen = through(&lens("work.bytes_moved / time_ns", Some("predicted * min(stride, 8)")), &run, &judged);
        for (seen, own) in seen.points.iter().zip(&judged.points) {
            assert_eq!(seen.x, own.x);
            if own.x <= Some(8.0) {
                assert!((seen.value.unwrap() - 800.0).abs() < 1e-9, "{:?}", seen.value);
                assert!(
                    (seen.predicted.unwrap() - 1000.0).abs() < 1e-9 && (seen.rel_error.unwrap() + 0.2).abs() < 1e-9
                );
            }
        }
        assert_eq!(seen.verdict, judged.verdict);
    }

    #[test]
    fn what_may_not_be_printed_stays_unprinted() {
        let mut run = run(|_| 1.25);
        run.points[0].oracle =
            Some(OracleOutcome::Failed { first_wrong_idx: 0, expected: 1.0, found: 2.0, n_wrong: 1 });
        let judged = judge(&run, &experiment(), &kernel());
        let seen = through(&lens("work.bytes_moved / 1", None), &run, &judged);
        assert_eq!(seen.points[0].value, None);
        assert!(seen.points[0].invalid.is_some());
        // The limit of the lens is held against its own value: bytes are more than 1000.
        assert!(seen.points[1].invalid.is_some());
    }

    #[test]
    fn a_lens_says_what_the_run_lacks() {
        let run = run(|_| 1.25);
        let judged = judge(&run, &experiment(), &kernel());
        let counted = lens("counter.dram__bytes_read_sum / device.l3_bytes", None);
        let said = missing(&counted, &judged).unwrap();
        assert_eq!(
            said.get(Lang::En),
            "this run read no counter dram__bytes_read_sum; this device does not report l3_bytes"
        );
        assert!(said.get(Lang::Zh).contains("没有读计数器 dram__bytes_read_sum；"));
        assert_eq!(missing(&lens("work.bytes_moved / time_ns", None), &judged), None);
    }
}
