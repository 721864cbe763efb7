//! A snapshot that has been read, with the state of its figures and what is true at the cursor.

use super::holders::short;
use super::question::{At, Question};
use crate::snapshot::{Colour, Histogram, Icicle, Log, Look, Map, Scene, Timeline, moment};
use std::sync::Arc;
use vramlab_snapshot::analysis::{Analysis, Options};
use vramlab_snapshot::findings::{Finding, findings};
use vramlab_snapshot::peak::{By, Holder, holders};
use vramlab_snapshot::segments::Metrics;
use vramlab_units::show::{bytes_binary, with_unit};
use vramlab_units::{Bytes, Lang, Text};

/// What an asset may unpack to.
const MOST_UNPACKED: usize = 256 << 20;
/// The line of what is reserved is shown unless it would press everything else flat.
const RESERVED_AT_MOST: u64 = 4;

const AT: Text = Text::new(
    "{at}：已分配 {size}，其中 {share} 由 {place} 占着。",
    "{at}: {size} allocated, {share} of it held by {place}.",
);
const NOTHING: Text = Text::new("{at}：什么也没有分配。", "{at}: nothing is allocated.");

pub struct Opened {
    pub scene: Scene,
    pub look: Look,
    pub peak: usize,
    /// Where the cursor stood at first.
    pub start: usize,
    pub metrics: Metrics,
    /// By place, largest first.
    pub holders: Vec<Holder>,
    findings: Vec<Finding>,
    /// The cursor that metrics and holders are of.
    made_for: Option<usize>,
    pub timeline: Timeline,
    pub map: Map,
    pub log: Log,
    pub icicle: Icicle,
    pub histogram: Histogram,
}

impl Opened {
    pub fn read(bytes: &[u8], question: &Question) -> Result<Self, String> {
        let snapshot = vramlab_snapshot::read(bytes, MOST_UNPACKED).map_err(|error| error.to_string())?;
        let snapshot = Arc::new(snapshot);
        let analysis = Arc::new(Analysis::of(&snapshot, 0, &Options::default()));
        let findings = findings(&snapshot, &analysis);
        let most = |series: &vramlab_snapshot::timeline::Series| series.values().iter().max().copied().unwrap_or(0);
        let timeline = &analysis.timeline;
        let shows_reserved = most(&timeline.reserved) <= RESERVED_AT_MOST * most(&timeline.allocated).max(1);
        let peak = timeline.peak();
        let scene = Scene::new(snapshot, analysis, question.colour);
        let n = scene.n_events();
        let mut this = Self {
            look: Look::whole(n, peak, shows_reserved),
            scene,
            peak,
            start: peak,
            metrics: Metrics::default(),
            holders: Vec::new(),
            findings,
            made_for: None,
            timeline: Timeline::default(),
            map: Map::default(),
            log: Log::default(),
            icicle: Icicle::default(),
            histogram: Histogram::default(),
        };
        this.start = match question.at {
            At::Peak => peak,
            At::Oom => this.oom().unwrap_or(n),
            At::End => n,
        };
        this.look.cursor = question.cursor.unwrap_or(this.start).min(n);
        this.refresh();
        Ok(this)
    }

    pub fn n_events(&self) -> usize {
        self.scene.n_events()
    }

    /// The moment just before the last refusal.
    pub fn oom(&self) -> Option<usize> {
        self.scene.analysis.ooms.last().map(|oom| oom.event)
    }

    pub fn point_at(&mut self, at: usize) {
        let n = self.n_events();
        self.look.point_at(at, n);
    }

    pub fn recolour(&mut self, colour: Colour) {
        self.scene = self.scene.in_colours(colour);
    }

    /// What is true at the cursor.
    pub fn refresh(&mut self) {
        let at = self.look.cursor;
        if self.made_for == Some(at) {
            return;
        }
        self.made_for = Some(at);
        self.metrics = self.map.at_cursor(&self.scene, &self.look).metrics;
        self.holders = holders(&self.scene.snapshot, &self.scene.analysis, at, By::Site);
    }

    /// The moment in a sentence, and what the recording was found to say, if anything.
    pub fn finding(&self, lang: Lang) -> String {
        let at = moment(&self.scene, self.look.cursor, lang);
        // A block without a stack is the C++ side's: a place in the reader's own code says more.
        let is_own = |holder: &&Holder| {
            let site = self.scene.analysis.sites.all.get(holder.key.0 as usize);
            site.is_some_and(|site| site.is_own)
        };
        let at = match self.holders.iter().find(is_own).or(self.holders.first()) {
            Some(holder) => AT
                .get(lang)
                .replace("{at}", &at)
                .replace("{size}", &bytes_binary(Bytes(self.metrics.allocated)))
                .replace("{share}", &with_unit(holder.share, "%"))
                .replace("{place}", short(holder.label.get(lang))),
            None => NOTHING.get(lang).replace("{at}", &at),
        };
        let (end, gap) = if lang == Lang::Zh { ("。", "") } else { (".", " ") };
        let found = self.findings.first().map(|finding| format!("{gap}{}{end}", capital(finding.what.get(lang))));
        capital(&at) + &found.unwrap_or_default()
    }

    /// The holders as a table.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |holder: &Holder| {
            let place = holder.label.get(Lang::En).replace(',', ";");
            vec![place, holder.bytes.to_string(), holder.n_blocks.to_string()]
        };
        self.holders.iter().map(row).collect()
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::question::Focus;
    use super::*;
    use vramlab_kit::{Theme, Tokens};

    fn leak() -> Opened {
        let file = "leak";
        let question = Question { file, focus: Focus::Timeline, colour: Colour::Site, at: At::End, cursor: None };
        let bytes = std::fs::read(format!("../../{}", question.path())).unwrap();
        Opened::read(&bytes, &question).unwrap()
    }

    /// The list that keeps a tensor a step stands out in its band and in its bar, and both have the same colour.
    #[test]
    fn a_place_has_one_colour_that_no_other_has() {
        let opened = leak();
        let (scene, first) = (&opened.scene, &opened.holders[0]);
        assert!(first.label.get(Lang::En).ends_with("remember"), "{first:?}");
        for theme in Theme::ALL {
            let tokens = Tokens::new(theme, 1.0);
            let bands: Vec<_> = (0..scene.bands.all.len()).map(|band| scene.color(&tokens, band)).collect();
            let band = scene.bands.all.iter().position(|band| band.key == Some(first.key)).unwrap();
            assert_eq!(scene.color_of_site(&tokens, first.key), Some(bands[band]));
            assert_eq!(bands[band], tokens.category(0), "the largest place with a name");
            for (idx, color) in bands.iter().enumerate() {
                assert!(!bands[..idx].contains(color), "{theme:?}: {idx} of {bands:?}");
            }
        }
        assert_eq!(scene.in_colours(Colour::Role).color_of_site(&Tokens::new(Theme::Light, 1.0), first.key), None);
    }
}
