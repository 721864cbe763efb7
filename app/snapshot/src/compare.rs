//! Two snapshots held against each other: at a moment of each, what every place in the program holds, what grew, what
//! vanished. Places are matched by file, line and function; where the code was edited in between, by file and function in
//! the order of their lines.

use crate::analysis::Analysis;
use crate::fast::FastMap;
use crate::model::{Action, Frame, Snapshot};
use crate::peak::{By, Holder, holders};
use crate::sites::SiteId;
use std::collections::BTreeMap;
use vramlab_units::{Bytes, Localized, show};

/// A snapshot at a moment.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub snapshot: &'a Snapshot,
    pub analysis: &'a Analysis,
    /// In events done.
    pub at: usize,
}

impl<'a> Side<'a> {
    pub fn at_peak(snapshot: &'a Snapshot, analysis: &'a Analysis) -> Self {
        Self { snapshot, analysis, at: analysis.timeline.peak() }
    }

    pub fn at_end(snapshot: &'a Snapshot, analysis: &'a Analysis) -> Self {
        Self { snapshot, analysis, at: analysis.timeline.n_events() }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub bytes: u64,
    pub n_blocks: usize,
}

impl Amount {
    fn of(holder: Option<&Holder>) -> Self {
        holder.map_or(Self::default(), |holder| Self { bytes: holder.bytes, n_blocks: holder.n_blocks })
    }
}

/// What became of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Grew,
    Shrank,
    /// Only in the second.
    Appeared,
    /// Only in the first.
    Vanished,
    Same,
}

/// One place, or one role, in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub label: Localized,
    pub first: Amount,
    pub second: Amount,
    /// The line in the second, if the place has moved.
    pub moved_to: Option<u32>,
}

impl Change {
    /// Bytes gained; negative for lost.
    pub fn gained(&self) -> i64 {
        self.second.bytes.cast_signed().saturating_sub(self.first.bytes.cast_signed())
    }

    pub fn fate(&self) -> Fate {
        match (self.first.n_blocks, self.second.n_blocks) {
            (0, _) => Fate::Appeared,
            (_, 0) => Fate::Vanished,
            _ => match self.gained() {
                0 => Fate::Same,
                gained if gained > 0 => Fate::Grew,
                _ => Fate::Shrank,
            },
        }
    }
}

/// Figures of one side as a whole, bytes and counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    pub at: usize,
    pub allocated: u64,
    pub n_blocks: usize,
    pub reserved: u64,
    pub peak_allocated: u64,
    pub peak_reserved: u64,
    /// Requests while it was recorded, and their bytes.
    pub n_requests: u64,
    pub requested: u64,
    pub n_ooms: usize,
    /// In blocks from before the first event.
    pub before: u64,
}

/// A setting that differs; nothing where the file does not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    pub name: String,
    pub first: Option<String>,
    pub second: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub first: Whole,
    pub second: Whole,
    /// Largest change first.
    pub sites: Vec<Change>,
    pub roles: Vec<Change>,
    pub settings: Vec<SettingChange>,
}

impl Comparison {
    /// Both asked for the same: what differs is the allocator's doing.
    pub fn is_same_program(&self) -> bool {
        (self.first.n_requests, self.first.requested) == (self.second.n_requests, self.second.requested)
    }

    /// What equal requests mean: the allocator makes the difference only where both began alike and a setting differs.
    pub fn same_told(&self) -> Option<Localized> {
        if !self.is_same_program() {
            return None;
        }
        if self.first.before != self.second.before {
            let (a, b) = (show::bytes_binary(Bytes(self.first.before)), show::bytes_binary(Bytes(self.second.before)));
            return Some(Localized::both(
                format!("录制中的申请一样多，但录制前就占着的不同：{a} 和 {b}"),
                format!("as many requests in the recording, but {a} against {b} stood from before it"),
            ));
        }
        let (is_same, is_set) = (self.first == self.second, !self.settings.is_empty());
        Some(match (is_same, is_set) {
            (true, false) => Localized::both("两份没有差别", "the two do not differ"),
            (_, true) => Localized::both(
                "申请一样多、一样大，差别在分配器的设置",
                "as many and as large requests, so the allocator's settings make the difference",
            ),
            (false, false) => Localized::both("申请一样多、一样大", "as many and as large requests"),
        })
    }
}

/// The second against the first.
pub fn compare(first: Side<'_>, second: Side<'_>) -> Comparison {
    Comparison {
        first: whole(first),
        second: whole(second),
        sites: sorted(site_changes(first, second)),
        roles: sorted(role_changes(first, second)),
        settings: setting_changes(first.snapshot, second.snapshot),
    }
}

fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|a, b| {
        let size = |change: &Change| std::cmp::Reverse((change.gained().unsigned_abs(), change.second.bytes));
        size(a).cmp(&size(b)).then_with(|| a.label.en.cmp(&b.label.en))
    });
    changes
}

fn whole(side: Side<'_>) -> Whole {
    let timeline = &side.analysis.timeline;
    let events = side.analysis.events(side.snapshot);
    let requests = events.iter().filter(|event| event.action == Action::Alloc);
    let (n_requests, requested) = requests.fold((0, 0_u64), |(n, sum), event| (n + 1, sum.saturating_add(event.size)));
    let most = |series: &crate::timeline::Series| series.range(0, usize::MAX).map_or(0, |(_, most)| most);
    Whole {
        at: side.at,
        allocated: timeline.allocated.value(side.at),
        n_blocks: side.analysis.lives.iter().filter(|life| life.is_allocated(side.at)).count(),
        reserved: timeline.reserved.value(side.at),
        peak_allocated: most(&timeline.allocated),
        peak_reserved: most(&timeline.reserved),
        n_requests,
        requested,
        n_ooms: side.analysis.ooms.len(),
        before: side.analysis.lives.iter().filter(|life| life.from.is_none()).map(|life| life.size).sum(),
    }
}

fn role_changes(first: Side<'_>, second: Side<'_>) -> Vec<Change> {
    let of = |side: Side<'_>| holders(side.snapshot, side.analysis, side.at, By::Role);
    let (a, b) = (of(first), of(second));
    let change = |role: crate::roles::Role| {
        let find = |all: &[Holder]| Amount::of(all.iter().find(|holder| holder.key.0 == role as u32));
        Change { label: role.title().into(), first: find(&a), second: find(&b), moved_to: None }
    };
    let all = crate::roles::Role::ALL.into_iter().map(change);
    all.filter(|change| change.first.n_blocks + change.second.n_blocks > 0).collect()
}

/// File, function and line of a place; blocks without a stack are one place.
type Place = (String, String, u32);

/// What the places of one side hold. Places that read the same are one.
pub(crate) fn places(side: Side<'_>) -> BTreeMap<Place, (Amount, Localized)> {
    let mut out: BTreeMap<Place, (Amount, Localized)> = BTreeMap::new();
    for holder in holders(side.snapshot, side.analysis, side.at, By::Site) {
        let frame = side.analysis.sites.all.get(SiteId(holder.key.0).0 as usize).and_then(|site| site.frame);
        let text = |frame: Frame| {
            (side.snapshot.text(frame.file).to_owned(), side.snapshot.text(frame.name).to_owned(), frame.line)
        };
        let entry = out.entry(frame.map(text).unwrap_or_default()).or_default();
        entry.0.bytes = entry.0.bytes.saturating_add(holder.bytes);
        entry.0.n_blocks += holder.n_blocks;
        entry.1 = holder.label;
    }
    out
}

fn site_changes(first: Side<'_>, second: Side<'_>) -> Vec<Change> {
    let (a, mut b) = (places(first), places(second));
    let mut out = Vec::new();
    let mut left: Vec<(Place, (Amount, Localized))> = Vec::new();
    for (place, (amount, label)) in a {
        match b.remove(&place) {
            Some((second, _)) => out.push(Change { label, first: amount, second, moved_to: None }),
            None => left.push((place, (amount, label))),
        }
    }
    // What is left on both sides under one function, in as many lines, has moved with the code.
    let count = |all: &mut dyn Iterator<Item = &Place>| {
        let mut n: FastMap<(String, String), usize> = FastMap::default();
        all.for_each(|(file, name, _)| *n.entry((file.clone(), name.clone())).or_default() += 1);
        n
    };
    let (n_left, n_right) = (count(&mut left.iter().map(|(place, _)| place)), count(&mut b.keys()));
    for ((file, name, line), (amount, label)) in left {
        let function = (file, name);
        let has_moved = n_left.get(&function) == n_right.get(&function);
        let next = |place: &Place| (&place.0, &place.1) == (&function.0, &function.1);
        let to = b.keys().find(|place| has_moved && next(place)).cloned();
        let found = to.and_then(|place| b.remove(&place).map(|(second, _)| (second, place.2)));
        let (second, moved_to) = found.map_or((Amount::default(), None), |(second, to)| (second, Some(to)));
        out.push(Change { label, first: amount, second, moved_to: moved_to.filter(|to| *to != line) });
    }
    let appeared = |(amount, label)| Change { label, first: Amount::default(), second: amount, moved_to: None };
    out.extend(b.into_values().map(appeared));
    out
}

/// Settings that the two files name differently.
pub fn setting_changes(first: &Snapshot, second: &Snapshot) -> Vec<SettingChange> {
    let names: std::collections::BTreeSet<&String> = first.settings.keys().chain(second.settings.keys()).collect();
    names
        .into_iter()
        .map(|name| SettingChange {
            name: name.clone(),
            first: first.settings.get(name).cloned(),
            second: second.settings.get(name).cloned(),
        })
        .filter(|change| change.first != change.second)
        .collect()
}
