//! Who held the memory at a moment: blocks grouped by place, stack, stream, pool or role.

use crate::analysis::Analysis;
use crate::fast::FastMap;
use crate::lives::Life;
use crate::model::{Snapshot, StackId};
use crate::sites::{SiteId, frame_text, same};
use vramlab_units::Localized;

/// What blocks are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// The innermost frame that is not a library's.
    Site,
    Stack,
    Stream,
    Role,
}

/// A group of blocks; the number is a site, a stack, a stream or a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    pub key: Key,
    pub label: Localized,
    pub bytes: u64,
    pub requested: u64,
    pub n_blocks: usize,
    /// Of all that was allocated.
    pub share: f64,
    /// The largest block, as index into [`Analysis::lives`].
    pub largest: u32,
}

/// Key of a life.
pub fn key(analysis: &Analysis, by: By, idx: usize) -> Key {
    let life = &analysis.lives[idx];
    match by {
        By::Site => Key(analysis.sites.of_stack(life.stack).0),
        By::Stack => Key(life.stack.0),
        By::Stream => Key(life.stream),
        By::Role => Key(analysis.roles[idx] as u32),
    }
}

/// What a key means.
pub fn label(snapshot: &Snapshot, analysis: &Analysis, by: By, key: Key) -> Localized {
    match by {
        By::Site => analysis.sites.label(snapshot, SiteId(key.0)),
        By::Stack => stack_label(snapshot, StackId(key.0)),
        By::Stream => match snapshot.streams.get(key.0 as usize).copied().unwrap_or(0) {
            0 => Localized::both("默认流", "default stream"),
            raw => Localized::both(format!("流 0x{raw:x}"), format!("stream 0x{raw:x}")),
        },
        By::Role => {
            let role = crate::roles::Role::ALL.into_iter().find(|role| *role as u32 == key.0);
            role.unwrap_or_default().title().into()
        }
    }
}

/// Innermost frame, and the reader's own frame if that is another.
fn stack_label(snapshot: &Snapshot, stack: StackId) -> Localized {
    let Some(inner) = snapshot.stack(stack).next() else {
        return Localized::both("没有调用栈", "no stack");
    };
    let own = snapshot.stack(stack).find(|frame| !crate::sites::is_library(snapshot.text(frame.file)));
    match own.filter(|own| *own != inner) {
        Some(own) => {
            // Of a library the file's name is enough; a place of the reader's own is named in full.
            let inner = frame_text(snapshot, &inner);
            let short = inner.rsplit('/').next().unwrap_or(&inner);
            same(&format!("{short} ← {}", frame_text(snapshot, &own)))
        }
        None => same(&frame_text(snapshot, &inner)),
    }
}

/// Groups of what was allocated after `at` events, largest first.
pub fn holders(snapshot: &Snapshot, analysis: &Analysis, at: usize, by: By) -> Vec<Holder> {
    let mut groups: FastMap<Key, Holder> = FastMap::default();
    let mut sum = 0_u64;
    let lives = analysis.alive.at(&analysis.lives, at).map(|idx| (idx as usize, &analysis.lives[idx as usize]));
    for (idx, life) in lives.filter(|(_, life)| life.is_allocated(at)) {
        sum = sum.saturating_add(life.size);
        let key = key(analysis, by, idx);
        let group = groups.entry(key).or_insert_with(|| empty(key, idx as u32));
        add(group, life, idx as u32, &analysis.lives);
    }
    let mut out: Vec<(Key, Holder)> = groups.into_iter().collect();
    // Ties by key, so that the order never depends on the map.
    out.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(&b.0)));
    let finish = |(key, mut holder): (Key, Holder)| {
        holder.share = if sum == 0 { 0.0 } else { holder.bytes as f64 / sum as f64 };
        holder.label = label(snapshot, analysis, by, key);
        holder
    };
    out.into_iter().map(finish).collect()
}

fn empty(key: Key, largest: u32) -> Holder {
    Holder { key, label: Localized::default(), bytes: 0, requested: 0, n_blocks: 0, share: 0.0, largest }
}

fn add(group: &mut Holder, life: &Life, idx: u32, lives: &[Life]) {
    group.bytes = group.bytes.saturating_add(life.size);
    group.requested = group.requested.saturating_add(life.requested);
    group.n_blocks += 1;
    if life.size > lives[group.largest as usize].size {
        group.largest = idx;
    }
}
