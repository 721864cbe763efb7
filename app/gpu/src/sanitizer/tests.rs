//! Outputs of compute-sanitizer from an H200, recorded by `kernels/peers/fault_zoo.py`.

use super::*;

#[track_caller]
fn report(name: &str) -> Report {
    let path = format!("{}/../../tests/data/sanitizer/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(Report::is_sanitizer(&text), "{name}");
    let report = parse(&text);
    assert!(report.unknown.is_empty(), "{name}: {:?}", report.unknown);
    report
}

fn line(finding: &Finding) -> &str {
    finding.site.line.as_deref().unwrap_or_default()
}

/// Element 256 of 256: the write lies right behind the 1024 bytes.
#[test]
fn an_index_one_too_far() {
    let report = report("out_of_bounds.memcheck");
    let first = &report.findings[0];
    assert!(matches!(&first.kind, Kind::OutOfBounds { beyond: Some(beyond) } if beyond.starts_with("1 bytes after")));
    assert_eq!(
        (first.access.as_str(), first.bytes, first.site.kernel.as_str()),
        ("__global__ write", 4, "one_too_far(float *)")
    );
    assert!(line(first).starts_with("fault_zoo.cu:"), "{first:?}");
    assert_eq!(first.thread, Some(("(0,0,0)".to_owned(), "(1,0,0)".to_owned())));
    // The calls after it fail because the context is gone, and so the block is never freed.
    let follows = |found: &Finding| matches!(&found.kind, Kind::Call { is_echo: true, .. } | Kind::Leak);
    assert!(report.findings.len() > 1 && report.findings[1..].iter().all(follows), "{:#?}", report.findings);
}

#[test]
fn each_fault_is_what_it_is() {
    let kind = |name: &str| report(name).findings.remove(0);
    let misaligned = kind("misaligned.memcheck");
    assert_eq!((misaligned.kind, misaligned.bytes), (Kind::Misaligned, 16));
    assert!(matches!(kind("past_shared.memcheck").kind, Kind::OutOfBounds { .. }));
    assert!(matches!(kind("use_after_free.memcheck").kind, Kind::OutOfBounds { .. }));
    assert_eq!(kind("uninitialised.initcheck").kind, Kind::Uninitialised);
    let leak = kind("leak.memcheck");
    assert_eq!((leak.kind, leak.bytes), (Kind::Leak, 4_194_304));
    let twice = kind("double_free.memcheck").kind;
    assert!(matches!(&twice, Kind::Call { name, is_echo: false, .. } if name == "cudaFree"), "{twice:?}");
    let race = kind("shared_race.racecheck");
    assert_eq!(race.n, 1024);
    assert!(matches!(&race.kind, Kind::Race { other } if other.line.as_deref().is_some_and(|at| at != line(&race))));
}

/// The barrier lies in a header; its caller is the reader's line.
#[test]
fn a_barrier_is_told_at_its_caller() {
    let report = report("syncwarp_mask.synccheck");
    let first = &report.findings[0];
    assert_eq!(first.kind, Kind::Barrier { reason: "Invalid arguments".to_owned() });
    assert_eq!((first.site.kernel.as_str(), first.n), ("half_a_mask(float *)", 4));
    assert!(line(first).starts_with("fault_zoo.cu:"), "{first:?}");
    assert_eq!((report.n_errors, report.n_hidden), (Some(32), 28));
}

#[test]
fn what_no_checker_sees_is_clean() {
    for name in [
        "none.memcheck",
        "none.racecheck",
        "inside_a_pool.memcheck",
        "global_race.racecheck",
        "divergent_barrier.synccheck",
    ] {
        let report = report(name);
        assert!(report.is_clean(), "{name}: {report:?}");
        assert_eq!(report.program, ["no error"], "{name}");
    }
}

#[test]
fn every_finding_is_explained_in_both_languages() {
    for name in ["out_of_bounds.memcheck", "misaligned.memcheck", "leak.memcheck", "shared_race.racecheck"] {
        for finding in report(name).findings {
            let text = explain(&finding);
            assert!(
                text.zh.is_some_and(|zh| zh.ends_with('。')) && text.en.is_some_and(|en| en.ends_with('.')),
                "{name}"
            );
        }
    }
}

#[test]
fn other_text_is_no_report() {
    assert!(!Report::is_sanitizer("Traceback (most recent call last):"));
    let report = parse("hello\n========= something new\n");
    assert_eq!((report.program.len(), report.unknown), (1, vec!["something new".to_owned()]));
    assert!(!parse("").is_clean());
}
