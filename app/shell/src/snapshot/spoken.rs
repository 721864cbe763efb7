//! What the page shows, as data.

use crate::snapshot::desk::{Desk, State};
use serde_json::{Value, json};
use vramlab_alloc::caching::{Class, Metric};
use vramlab_units::Lang;

impl Desk {
    /// The open snapshot's figures in bytes, and what is looked at.
    pub fn spoken(&self, lang: Lang) -> Value {
        match &self.state {
            State::Empty => json!({ "state": "empty", "summary": self.paper.said(lang) }),
            State::Fetching { path } => json!({ "state": "reading", "name": path }),
            State::Asking(asking) => asking.spoken(),
            State::Waiting { name, .. } | State::Counting { name, .. } | State::Reading { name, .. } => {
                json!({ "state": "reading", "name": name })
            }
            State::Failed { name, why } => json!({ "state": "failed", "name": name, "why": why.get(lang) }),
            State::Open(opened) => {
                let analysis = &opened.scene.analysis;
                let stats = &analysis.replay.stats;
                let peak = |metric| stats.get(metric, Class::All).peak;
                let findings = opened.answers.findings.iter();
                json!({
                    "state": "open",
                    "name": opened.name,
                    "beside": self.shelf.others.iter().map(|other| other.name.as_str()).collect::<Vec<_>>(),
                    "together": self.together.spoken(),
                    "narrowed_at_cursor": opened.scene.is_narrowed().then(|| opened.scene.totals().value(opened.look.cursor)),
                    "drawn": opened.timeline.drawn(lang),
                    "summary": self.paper.said(lang),
                    "n_events": opened.scene.n_events(),
                    "peak_allocated": peak(Metric::AllocatedBytes),
                    "peak_reserved": peak(Metric::ReservedBytes),
                    "findings": findings.map(|finding| finding.what.get(lang)).collect::<Vec<_>>(),
                    "what_if": opened.answers.spoken(),
                    "cursor": opened.look.cursor,
                    "window": [opened.look.from, opened.look.until],
                    "in_use_at_cursor": analysis.timeline.allocated.value(opened.look.cursor),
                    "reserved_at_cursor": analysis.timeline.reserved.value(opened.look.cursor),
                })
            }
        }
    }
}
