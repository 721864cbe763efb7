//! The heap of the pickle machine, and what it makes of dictionaries as soon as they are complete: events, frames and
//! stacks in flat arrays.

use crate::fast::FastMap;
use crate::model::{Action, Event, Frame, StackId, TextId};
use crate::pickle::{Slot, Value};
use std::collections::BTreeMap;

/// Texts that the format uses; they are the first of the table, in this order.
const WORDS: &[&str] = &[
    "",
    "action",
    "addr",
    "size",
    "stream",
    "time_us",
    "frames",
    "compile_context",
    "user_metadata",
    "device_free",
    "filename",
    "name",
    "line",
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "oom",
    "snapshot",
    "user_defined",
    "version",
    "device",
    "pool_id",
    "pool",
];
pub(crate) const ACTION: TextId = TextId(1);
const ADDR: TextId = TextId(2);
const SIZE: TextId = TextId(3);
const STREAM: TextId = TextId(4);
const TIME_US: TextId = TextId(5);
const FRAMES: TextId = TextId(6);
const COMPILE_CONTEXT: TextId = TextId(7);
const USER_METADATA: TextId = TextId(8);
const DEVICE_FREE: TextId = TextId(9);
const FILENAME: TextId = TextId(10);
const NAME: TextId = TextId(11);
const LINE: TextId = TextId(12);
const POOL_ID: TextId = TextId(25);
const ACTIONS: &[(u32, Action)] = &[
    (13, Action::Alloc),
    (14, Action::FreeRequested),
    (15, Action::FreeCompleted),
    (16, Action::SegmentAlloc),
    (17, Action::SegmentFree),
    (18, Action::SegmentMap),
    (19, Action::SegmentUnmap),
    (20, Action::Oom),
    (21, Action::Snapshot),
    (22, Action::UserDefined),
];

/// What a text, a stack and a frame cost beside their characters and frames: their places in the tables.
const TEXT_BYTES: usize = 80;
const STACK_BYTES: usize = 48;
const FRAME_BYTES: usize = 40;

/// The heap, and the flat arrays.
pub struct Compactor {
    pub slots: Vec<Slot>,
    vacant: Vec<u32>,
    /// Emptied pair lists, to be filled again.
    spare: Vec<Vec<(Value, Value)>>,
    /// Emptied lists.
    spare_lists: Vec<Vec<Value>>,
    pub texts: Vec<String>,
    by_text: FastMap<String, TextId>,
    pub events: Vec<Event>,
    /// Events are counted and not kept; of each only its time is.
    pub counts_only: bool,
    pub times: Vec<u64>,
    /// Bytes of the texts, and values in the lists that are not yet taken apart.
    n_text_bytes: usize,
    pub n_values: usize,
    pub frames: Vec<Frame>,
    by_frame: FastMap<Frame, u32>,
    pub stack_ends: Vec<u32>,
    pub stack_frames: Vec<u32>,
    by_stack: FastMap<Box<[u32]>, StackId>,
    pub streams: Vec<u64>,
    /// Events of private pools.
    pub event_pools: crate::model::EventPools,
    pub has_event_pools: bool,
    /// Fields of events that have no place in the model.
    pub unknown: BTreeMap<TextId, u64>,
    scratch: Vec<u32>,
}

impl Default for Compactor {
    fn default() -> Self {
        let texts: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
        let by_text = texts.iter().enumerate().map(|(idx, text)| (text.clone(), TextId(idx as u32))).collect();
        Self {
            slots: Vec::new(),
            vacant: Vec::new(),
            spare: Vec::new(),
            spare_lists: Vec::new(),
            texts,
            by_text,
            events: Vec::new(),
            counts_only: false,
            times: Vec::new(),
            n_text_bytes: 0,
            n_values: 0,
            frames: Vec::new(),
            by_frame: FastMap::default(),
            stack_ends: vec![0],
            stack_frames: Vec::new(),
            by_stack: FastMap::default(),
            streams: vec![0],
            event_pools: Vec::new(),
            has_event_pools: false,
            unknown: BTreeMap::new(),
            scratch: Vec::new(),
        }
    }
}

impl Compactor {
    /// Memory taken, about, bytes.
    pub fn held(&self) -> u64 {
        let texts = 2 * self.n_text_bytes + self.texts.len() * TEXT_BYTES;
        let stacks = self.stack_frames.len() * 4 + self.stack_ends.len() * STACK_BYTES;
        let events = self.events.len() * size_of::<Event>() + self.times.len() * 8;
        let pools = self.event_pools.len() * size_of::<(u32, (u64, u64))>();
        let slots = pools + self.slots.len() * size_of::<Slot>() + self.n_values * size_of::<Value>();
        (texts + stacks + events + slots + self.frames.len() * FRAME_BYTES) as u64
    }

    pub fn text(&mut self, text: &str) -> TextId {
        if let Some(id) = self.by_text.get(text) {
            return *id;
        }
        let id = TextId(self.texts.len() as u32);
        self.n_text_bytes += text.len();
        self.texts.push(text.to_owned());
        self.by_text.insert(text.to_owned(), id);
        id
    }

    pub fn pairs(&mut self) -> Vec<(Value, Value)> {
        self.spare.pop().unwrap_or_default()
    }

    pub fn list(&mut self) -> Vec<Value> {
        self.spare_lists.pop().unwrap_or_default()
    }

    pub fn add(&mut self, slot: Slot) -> u32 {
        match self.vacant.pop() {
            Some(idx) => {
                self.slots[idx as usize] = slot;
                idx
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// What a complete dictionary becomes, if it is one of those that are many.
    #[inline]
    pub fn compact(&mut self, slot: u32) -> Option<Value> {
        match &self.slots[slot as usize] {
            Slot::Frame(idx) => Some(Value::Frame(*idx)),
            Slot::Event(idx) => {
                let event = Value::Event(*idx);
                self.slots[slot as usize] = Slot::Vacant;
                self.vacant.push(slot);
                Some(event)
            }
            Slot::Dict(pairs) if has(pairs, ACTION) => Some(self.late_event(slot)),
            Slot::Dict(pairs) if has(pairs, FILENAME) && has(pairs, NAME) => Some(self.frame(slot)),
            _ => None,
        }
    }

    /// A dictionary that begins with an action becomes an event at once.
    pub fn begin_event(&mut self, slot: u32, items: &[Value]) {
        if let Slot::Dict(pairs) = &mut self.slots[slot as usize] {
            self.spare.push(std::mem::take(pairs));
        }
        let idx = self.new_event();
        self.slots[slot as usize] = Slot::Event(idx);
        self.go_on(idx, items);
    }

    fn new_event(&mut self) -> u32 {
        if self.counts_only {
            self.times.push(0);
            return self.times.len() as u32 - 1;
        }
        let action = Action::Other(TextId(0));
        self.events.push(Event { action, stack: StackId(0), stream: 0, address: 0, size: 0, time_us: 0 });
        self.events.len() as u32 - 1
    }

    /// Fields of an event, keys and values in turn.
    pub fn go_on(&mut self, idx: u32, items: &[Value]) {
        let empty = Event { action: Action::Snapshot, stack: StackId(0), stream: 0, address: 0, size: 0, time_us: 0 };
        let mut event = self.events.get(idx as usize).copied().unwrap_or(empty);
        for pair in items.chunks_exact(2) {
            match (pair[0], pair[1]) {
                (Value::Text(ACTION), Value::Text(name)) => event.action = action(name),
                (Value::Text(ADDR | DEVICE_FREE), Value::Int(bits)) => event.address = bits as u64,
                (Value::Text(SIZE), Value::Int(bits)) => event.size = bits as u64,
                (Value::Text(STREAM), Value::Int(bits)) => event.stream = self.stream(bits as u64),
                (Value::Text(TIME_US), Value::Int(us)) => event.time_us = us.max(0) as u64,
                (Value::Text(FRAMES), frames) => event.stack = self.stack(frames),
                (Value::Text(POOL_ID), Value::Slot(slot)) => self.event_pool(idx, slot),
                // "N/A" and empty in every recording without torch.compile and without metadata.
                (Value::Text(COMPILE_CONTEXT | USER_METADATA), _) => {}
                (Value::Text(key), _) => *self.unknown.entry(key).or_default() += 1,
                _ => {}
            }
        }
        if self.counts_only {
            self.times[idx as usize] = self.times[idx as usize].max(event.time_us);
        } else {
            self.events[idx as usize] = event;
        }
    }

    /// Two numbers, as a segment's pool.
    fn event_pool(&mut self, idx: u32, slot: u32) {
        self.has_event_pools = true;
        if let Slot::Tuple(ids) = &self.slots[slot as usize]
            && let [Value::Int(a), Value::Int(b)] = ids.as_slice()
            && (*a, *b) != (0, 0)
            && !self.counts_only
        {
            self.event_pools.push((idx, (*a as u64, *b as u64)));
        }
    }

    /// A dictionary with an action that is not its first field.
    fn late_event(&mut self, slot: u32) -> Value {
        let Slot::Dict(mut pairs) = std::mem::replace(&mut self.slots[slot as usize], Slot::Vacant) else {
            return Value::None;
        };
        let idx = self.new_event();
        for (key, value) in pairs.drain(..) {
            self.go_on(idx, &[key, value]);
        }
        self.spare.push(pairs);
        self.vacant.push(slot);
        Value::Event(idx)
    }

    /// Puts items at the end of a list; false if it is none. Frames become a stack at once, events in a row a run.
    pub fn append(&mut self, slot: u32, items: &[Value]) -> bool {
        let is_empty = matches!(&self.slots[slot as usize], Slot::List(list) if list.is_empty());
        if is_empty && matches!(items.first(), Some(Value::Frame(_))) && self.only_frames(items) {
            let id = if self.counts_only { StackId(0) } else { self.intern_stack() };
            if let Slot::List(list) = std::mem::replace(&mut self.slots[slot as usize], Slot::Stack(id)) {
                self.spare_lists.push(list);
            }
            return true;
        }
        let run = match &self.slots[slot as usize] {
            Slot::List(_) if is_empty => run_of(items, None),
            Slot::Run { from, n } => run_of(items, Some((*from, *n))),
            _ => None,
        };
        if let Some((from, n)) = run {
            self.slots[slot as usize] = Slot::Run { from, n };
            return true;
        }
        if !self.as_list(slot) {
            return false;
        }
        self.n_values += items.len();
        if let Slot::List(list) = &mut self.slots[slot as usize] {
            list.extend_from_slice(items);
        }
        true
    }

    /// Frames into `scratch`; false if anything else is among them.
    fn only_frames(&mut self, items: &[Value]) -> bool {
        self.scratch.clear();
        for item in items {
            match item {
                Value::Frame(idx) => self.scratch.push(*idx),
                _ => return false,
            }
        }
        true
    }

    /// Makes what was taken together a plain list again.
    fn as_list(&mut self, slot: u32) -> bool {
        let list: Vec<Value> = match &self.slots[slot as usize] {
            Slot::List(_) => return true,
            Slot::Run { from, n } => (*from..from + n).map(Value::Event).collect(),
            Slot::Stack(id) if !self.counts_only => {
                let end = self.stack_ends[id.0 as usize] as usize;
                let start = (id.0 as usize).checked_sub(1).map_or(0, |before| self.stack_ends[before] as usize);
                self.stack_frames[start..end].iter().map(|frame| Value::Frame(*frame)).collect()
            }
            // Counted are events: what frames they had is not kept.
            Slot::Stack(_) => Vec::new(),
            _ => return false,
        };
        self.n_values += list.len();
        self.slots[slot as usize] = Slot::List(list);
        true
    }

    fn frame(&mut self, slot: u32) -> Value {
        let Slot::Dict(pairs) = &self.slots[slot as usize] else { return Value::None };
        let mut frame = Frame { file: TextId(0), name: TextId(0), line: 0 };
        for (key, value) in pairs {
            match (key, value) {
                (Value::Text(FILENAME), Value::Text(file)) => frame.file = *file,
                (Value::Text(NAME), Value::Text(name)) => frame.name = *name,
                (Value::Text(LINE), Value::Int(line)) => frame.line = u32::try_from(*line).unwrap_or(0),
                _ => {}
            }
        }
        let next = self.frames.len() as u32;
        let idx = *self.by_frame.entry(frame).or_insert(next);
        if idx == next {
            self.frames.push(frame);
        }
        self.slots[slot as usize] = Slot::Frame(idx);
        Value::Frame(idx)
    }

    /// The stack of a list of frames; equal lists are one stack. What is no list of frames is the empty stack.
    pub fn stack(&mut self, frames: Value) -> StackId {
        let Value::Slot(slot) = frames else { return StackId(0) };
        let list = match &self.slots[slot as usize] {
            Slot::Stack(id) => return *id,
            Slot::List(list) => list,
            _ => return StackId(0),
        };
        self.scratch.clear();
        let wanted = if self.counts_only { &[][..] } else { list };
        self.scratch.extend(wanted.iter().filter_map(|item| match item {
            Value::Frame(idx) => Some(*idx),
            _ => None,
        }));
        let id = self.intern_stack();
        if let Slot::List(mut list) = std::mem::replace(&mut self.slots[slot as usize], Slot::Stack(id)) {
            self.n_values = self.n_values.saturating_sub(list.len());
            list.clear();
            self.spare_lists.push(list);
        }
        id
    }

    fn intern_stack(&mut self) -> StackId {
        if self.scratch.is_empty() {
            return StackId(0);
        }
        if let Some(id) = self.by_stack.get(self.scratch.as_slice()) {
            return *id;
        }
        let id = StackId(self.stack_ends.len() as u32);
        self.stack_frames.extend_from_slice(&self.scratch);
        self.stack_ends.push(self.stack_frames.len() as u32);
        self.by_stack.insert(self.scratch.clone().into_boxed_slice(), id);
        id
    }

    /// The index of a raw stream handle. There are a handful.
    pub fn stream(&mut self, raw: u64) -> u32 {
        let known = self.streams.iter().position(|known| *known == raw);
        known.unwrap_or_else(|| {
            self.streams.push(raw);
            self.streams.len() - 1
        }) as u32
    }
}

/// Events in a row, after those that a list holds already.
fn run_of(items: &[Value], held: Option<(u32, u32)>) -> Option<(u32, u32)> {
    let Some(Value::Event(first)) = items.first() else { return None };
    let (from, n) = held.unwrap_or((*first, 0));
    let is_next = |(idx, item): (usize, &Value)| *item == Value::Event(from + n + idx as u32);
    items.iter().enumerate().all(is_next).then_some((from, n + items.len() as u32))
}

#[inline]
fn has(pairs: &[(Value, Value)], key: TextId) -> bool {
    pairs.iter().any(|(known, _)| *known == Value::Text(key))
}

fn action(name: TextId) -> Action {
    ACTIONS.iter().find(|(id, _)| *id == name.0).map_or(Action::Other(name), |(_, action)| *action)
}
