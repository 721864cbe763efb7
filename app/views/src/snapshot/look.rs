//! What is looked at. A moment is the number of events that are done: 0 is before the first.

use vramlab_snapshot::Action;

/// Kinds of events that the log can be narrowed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    All,
    Alloc,
    Free,
    Segment,
    /// Out of memory, snapshots, marks of the user, and what this program does not know.
    Other,
}

impl Kind {
    pub fn holds(self, action: Action) -> bool {
        let kind = match action {
            Action::Alloc => Self::Alloc,
            Action::FreeRequested | Action::FreeCompleted => Self::Free,
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => Self::Segment,
            Action::Oom | Action::Snapshot | Action::UserDefined | Action::Other(_) => Self::Other,
        };
        self == Self::All || self == kind
    }
}

/// What is shown of all blocks and events. Everything but the kind of event narrows every figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub kind: Kind,
    /// Sizes from 2^n up to the next power of two.
    pub log2_size: Option<u32>,
    /// Bytes asked for, from and up to.
    pub least: Option<u64>,
    pub most: Option<u64>,
    /// Part of a function, or of a file and line, of the stack.
    pub text: String,
    /// Index into the snapshot's streams.
    pub stream: Option<u32>,
    pub pool: Option<(u64, u64)>,
    /// Only events of the window.
    pub is_in_window: bool,
}

impl Filter {
    pub fn has_size(&self, bytes: u64) -> bool {
        self.log2_size.is_none_or(|log2| bytes.max(1).ilog2() == log2)
            && self.least.is_none_or(|least| bytes >= least)
            && self.most.is_none_or(|most| bytes <= most)
    }

    /// The part that tells blocks apart; the rest is about events.
    pub fn of_blocks(&self) -> Self {
        Self { kind: Kind::All, is_in_window: false, text: self.text.trim().to_owned(), ..self.clone() }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Window, cursor and filters, shared by the figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// First and last moment in sight.
    pub from: usize,
    pub until: usize,
    pub cursor: usize,
    pub filter: Filter,
    /// The block that was pressed, by its index among the lives.
    pub life: Option<u32>,
    pub shows_reserved: bool,
}

/// Fewer moments than this are not shown: a pixel should not be a whole phase.
const LEAST_SPAN: usize = 8;

impl Look {
    /// All of a recording, at its peak.
    pub fn whole(n_events: usize, peak: usize, shows_reserved: bool) -> Self {
        Self { from: 0, until: n_events, cursor: peak, shows_reserved, ..Self::default() }
    }

    pub fn span(&self) -> usize {
        self.until.saturating_sub(self.from).max(1)
    }

    /// Shows `from..=until`, kept inside the recording and not too small.
    pub fn show(&mut self, from: f64, until: f64, n_events: usize) {
        let most = n_events.max(1);
        let least = LEAST_SPAN.min(most);
        let (from, until) = (from.min(until).max(0.0), from.max(until).min(most as f64));
        let span = ((until - from).round() as usize).clamp(least, most);
        let from = (((from + until) / 2.0 - span as f64 / 2.0).round().max(0.0) as usize).min(most - span);
        (self.from, self.until) = (from, from + span);
    }

    /// `factor` above 1 enlarges; the moment `fixed` stays where it is.
    pub fn zoom(&mut self, factor: f64, fixed: f64, n_events: usize) {
        let (from, until) = (self.from as f64, self.until as f64);
        self.show(fixed - (fixed - from) / factor, fixed + (until - fixed) / factor, n_events);
    }

    /// Moves the window by a share of itself, without changing how much it shows.
    pub fn pan(&mut self, share: f64, n_events: usize) {
        let span = self.span();
        let by = (share * span as f64).round();
        let from = (self.from as f64 + by).clamp(0.0, n_events.saturating_sub(span) as f64) as usize;
        (self.from, self.until) = (from, from + span);
    }

    /// Puts the cursor on a moment; the window follows it.
    pub fn point_at(&mut self, moment: usize, n_events: usize) {
        self.cursor = moment.min(n_events);
        let span = self.span();
        if self.cursor < self.from || self.cursor > self.until {
            let from = self.cursor.saturating_sub(span / 2).min(n_events.saturating_sub(span));
            (self.from, self.until) = (from, from + span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_the_moment_and_stays_inside() {
        let mut look = Look::whole(1000, 400, true);
        look.zoom(4.0, 400.0, 1000);
        assert_eq!((look.from, look.until), (300, 550));
        look.zoom(1e9, 400.0, 1000);
        assert_eq!(look.span(), LEAST_SPAN);
        assert!(look.from <= 400 && look.until >= 400);
        look.zoom(1e-9, 400.0, 1000);
        assert_eq!((look.from, look.until), (0, 1000));
        look.show(990.0, 5000.0, 1000);
        assert_eq!((look.from, look.until), (990, 1000));
        look.pan(-0.5, 1000);
        assert_eq!((look.from, look.until), (985, 995));
    }

    #[test]
    fn the_window_follows_the_cursor() {
        let mut look = Look::whole(1000, 0, true);
        look.show(0.0, 100.0, 1000);
        look.point_at(500, 1000);
        assert_eq!((look.cursor, look.from, look.until), (500, 450, 550));
        look.point_at(5000, 1000);
        assert_eq!(look.cursor, 1000);
    }

    #[test]
    fn a_recording_of_nothing_can_be_looked_at() {
        let mut look = Look::whole(0, 0, true);
        look.zoom(2.0, 0.0, 0);
        look.point_at(3, 0);
        assert_eq!((look.cursor, look.from, look.until), (0, 0, 1));
    }
}
