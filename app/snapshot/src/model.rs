//! A snapshot: segments at the end, events before it, and the stacks that both refer to.

use std::collections::BTreeMap;

/// A stack of frames, shared by everything that has the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

/// A text, shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub file: TextId,
    pub name: TextId,
    pub line: u32,
}

/// What the allocator noted. Actions that this program does not know keep their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Alloc,
    FreeRequested,
    FreeCompleted,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Oom,
    Snapshot,
    UserDefined,
    Other(TextId),
}

/// One event of a device, 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    pub action: Action,
    pub stack: StackId,
    /// Index into [`Snapshot::streams`].
    pub stream: u32,
    /// The address; for an `oom` the free bytes of the device.
    pub address: u64,
    /// Bytes asked for; of a segment, its size.
    pub size: u64,
    /// Unix time, µs; 0 if not recorded.
    pub time_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    Allocated,
    /// Freed, while another stream may still use it.
    Pending,
    Inactive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    /// Meaningless for an inactive block.
    pub requested: u64,
    pub state: BlockState,
    pub stack: StackId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub device: u32,
    pub address: u64,
    pub size: u64,
    /// Index into [`Snapshot::streams`].
    pub stream: u32,
    pub is_small: bool,
    /// (0, 0) is the default pool, others belong to CUDA graphs.
    pub pool: (u64, u64),
    pub is_expandable: bool,
    pub stack: StackId,
    pub blocks: Vec<Block>,
}

/// A named place in time, e.g. the start of an optimizer step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub name: String,
    pub stage: String,
    pub device: u32,
    pub time_us: u64,
}

/// Events of private pools by index, in order, with the pool's two numbers.
pub type EventPools = Vec<(u32, (u64, u64))>;

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub segments: Vec<Segment>,
    /// Events by device, in the allocator's own order.
    pub traces: Vec<Vec<Event>>,
    /// The allocator's settings as `name = value`.
    pub settings: BTreeMap<String, String>,
    pub annotations: Vec<Annotation>,
    /// Raw stream handles; 0 is the default stream.
    pub streams: Vec<u64>,
    pub texts: Vec<String>,
    pub frames: Vec<Frame>,
    /// Ends of the stacks in `stack_frames`; stack 0 is empty.
    pub stack_ends: Vec<u32>,
    /// Frames of every stack, innermost first.
    pub stack_frames: Vec<u32>,
    /// Fields that this program does not know, with how often they stood there.
    pub unknown: BTreeMap<String, u64>,
    /// What is missing or contradictory, e.g. blocks that do not fill their segment.
    pub warnings: Vec<vramlab_units::Localized>,
    /// Of each device, which part of its events is here; empty if all are.
    pub shown: Vec<Shown>,
    /// Of each device, the events of private pools by index, in order; nothing if the file does not tell (before torch 2.12).
    pub event_pools: Option<Vec<EventPools>>,
}

/// A part of a device's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub from: usize,
    pub until: usize,
    /// In the file.
    pub n_events: usize,
}

impl Snapshot {
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("", String::as_str)
    }

    /// Frames of a stack as indices into `frames`, innermost first.
    pub fn stack_indices(&self, id: StackId) -> &[u32] {
        let end = self.stack_ends.get(id.0 as usize).copied().unwrap_or_default() as usize;
        let start = (id.0 as usize).checked_sub(1).map_or(0, |idx| self.stack_ends[idx] as usize);
        &self.stack_frames[start.min(end)..end]
    }

    /// Frames of a stack, innermost first.
    pub fn stack(&self, id: StackId) -> impl Iterator<Item = Frame> + '_ {
        self.stack_indices(id).iter().map(|frame| self.frames[*frame as usize])
    }

    /// The pool of an event, (0, 0) for the default one; nothing if the file does not tell.
    pub fn event_pool(&self, device: usize, event: usize) -> Option<(u64, u64)> {
        let of_device = self.event_pools.as_ref()?.get(device)?;
        let found = of_device.binary_search_by_key(&event, |(idx, _)| *idx as usize);
        Some(found.map_or((0, 0), |at| of_device[at].1))
    }

    pub fn n_events(&self) -> usize {
        self.traces.iter().map(Vec::len).sum()
    }

    /// The setting's value, without quotes.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }
}
