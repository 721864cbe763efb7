//! A report of compute-sanitizer that the reader opened: its findings in words, beside what the file is.

use vramlab_gpu::sanitizer::{Finding, Report, explain, parse};
use vramlab_sniff::Fact;
use vramlab_units::{Localized, Text};

/// Findings that are told; a report repeats itself.
const MOST: usize = 6;

const FINDING: Text = Text::new("发现", "finding");
const MORE: Text = Text::new("还有", "more");
const CLEAN: Text = Text::new("结论", "verdict");

/// The findings of a report, each with what it means.
pub fn facts(bytes: &[u8]) -> Vec<Fact> {
    let report = parse(&String::from_utf8_lossy(bytes));
    if report.is_clean() {
        let zh = "这个工具没有发现它管的那一类错误；别的错误要换别的工具";
        let en = "no fault of the kind that this tool looks for; other faults need other tools";
        return vec![Fact { name: CLEAN, value: Localized::both(zh, en) }];
    }
    let mut out: Vec<Fact> = report.findings.iter().take(MOST).map(fact).collect();
    out.extend(rest(&report));
    out
}

fn fact(finding: &Finding) -> Fact {
    let text = explain(finding);
    let value = match finding.n {
        1 => text,
        n => Localized {
            zh: text.zh.map(|zh| format!("{zh}（{n} 次）")),
            en: text.en.map(|en| format!("{en} ({n} times)")),
        },
    };
    Fact { name: FINDING, value }
}

/// What is not shown: further findings, and errors that the tool counted and did not print.
fn rest(report: &Report) -> Option<Fact> {
    let (n, hidden) = (report.findings.len().saturating_sub(MOST), report.n_hidden);
    (n > 0 || hidden > 0).then(|| {
        let zh = format!("{n} 处没有列在这里；工具自己省略了 {hidden} 个");
        let en = format!("{n} places are not listed here; the tool left out {hidden} of its own");
        Fact { name: MORE, value: Localized::both(zh, en) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts_of(name: &str) -> Vec<Fact> {
        let path = format!("{}/../../tests/data/sanitizer/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        facts(&std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    #[test]
    fn a_report_tells_where_the_fault_is() {
        let found = facts_of("misaligned.memcheck");
        let first = found[0].value.en.as_deref().unwrap();
        assert!(
            first.starts_with("fault_zoo.cu:") && first.contains("16 bytes") && first.contains("times)"),
            "{first}"
        );
        let last = found.last().unwrap();
        assert!(last.value.en.as_deref().unwrap().contains("258 of its own"), "{last:?}");
        assert_eq!(facts_of("none.memcheck").len(), 1);
    }
}
