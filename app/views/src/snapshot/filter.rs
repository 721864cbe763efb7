//! Which blocks and events pass the filters. Stacks and pools are looked up once, so that a million events are narrowed
//! in a moment.

use super::look::Filter;
use vramlab_snapshot::analysis::Analysis;
use vramlab_snapshot::lives::Life;
use vramlab_snapshot::{Event, Snapshot, StackId};

/// A filter, made ready for one device of a snapshot.
pub struct Passing<'a> {
    filter: &'a Filter,
    /// One a stack; empty if any stack passes.
    stacks: Vec<bool>,
    /// Start, end and pool of what the device had given at the end.
    pools: Vec<(u64, u64, (u64, u64))>,
}

impl<'a> Passing<'a> {
    pub fn of(snapshot: &Snapshot, analysis: &Analysis, filter: &'a Filter) -> Self {
        let wanted = filter.text.trim().to_lowercase();
        let has_text = |stack: u32| {
            snapshot.stack(StackId(stack)).any(|frame| {
                let has = |text: &str| text.to_lowercase().contains(&wanted);
                has(snapshot.text(frame.name)) || has(&format!("{}:{}", snapshot.text(frame.file), frame.line))
            })
        };
        let stacks = match wanted.is_empty() {
            true => Vec::new(),
            false => (0..snapshot.stack_ends.len() as u32).map(has_text).collect(),
        };
        let of_device = snapshot.segments.iter().filter(|segment| segment.device as usize == analysis.device);
        let mut pools: Vec<_> = match filter.pool {
            Some(_) => of_device
                .map(|segment| (segment.address, segment.address.saturating_add(segment.size), segment.pool))
                .collect(),
            None => Vec::new(),
        };
        pools.sort_unstable();
        Self { filter, stacks, pools }
    }

    pub fn life(&self, life: &Life) -> bool {
        self.filter.has_size(life.requested)
            && self.has_stack(life.stack)
            && self.has_stream(life.stream)
            && self.has_pool(life.address)
    }

    pub fn event(&self, event: &Event) -> bool {
        self.filter.kind.holds(event.action)
            && self.filter.has_size(event.size)
            && self.has_stack(event.stack)
            && self.has_stream(event.stream)
            && self.has_pool(event.address)
    }

    fn has_stack(&self, stack: StackId) -> bool {
        self.stacks.is_empty() || self.stacks.get(stack.0 as usize).copied().unwrap_or(false)
    }

    fn has_stream(&self, stream: u32) -> bool {
        self.filter.stream.is_none_or(|wanted| wanted == stream)
    }

    /// By the segments of the end: of those that were gone by then the file names no pool, and they pass for none.
    fn has_pool(&self, address: u64) -> bool {
        let Some(wanted) = self.filter.pool else { return true };
        let idx = self.pools.partition_point(|(start, ..)| *start <= address);
        let around = idx.checked_sub(1).map(|idx| self.pools[idx]).filter(|(_, end, _)| address < *end);
        around.is_some_and(|(.., pool)| pool == wanted)
    }
}
