//! From bytes to a snapshot: unpacked, run through the pickle machine, and what is left put into the model. `values.rs`
//! reads single values.

mod values;

use crate::compact::Compactor;
use crate::model::{Action, Annotation, Block, BlockState, Event, Segment, Snapshot};
use crate::pickle::{Machine, PickleError, Slot, Value, Watch};
use crate::unpack::{UnpackError, unpack};
use values::Budget;
use vramlab_units::{Localized, Text};

/// Why a file is not a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Pickle(#[from] PickleError),
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    #[error("{field} is missing; a memory snapshot is a dictionary with segments and device_traces")]
    Missing { field: &'static str },
    #[error("{path} is {found}; it must be {legal}")]
    Wrong { path: String, found: &'static str, legal: &'static str },
    #[error(
        "this is a zip, as torch.save writes one: a checkpoint, not a memory snapshot; torch.cuda.memory._dump_snapshot() \
         writes a snapshot"
    )]
    Checkpoint,
    #[error(
        "this is a zip archive, not a memory snapshot; torch.cuda.memory._dump_snapshot() writes one, which is opened as it \
         is (.gz and .zst too)"
    )]
    Zip,
    #[error("the file refers to the same data again and again: it unfolds to more than {limit} bytes")]
    Unfolds { limit: u64 },
}

const ZIP: &[u8] = b"PK\x03\x04";
/// As much at either end of an archive names its entries.
const LISTING_BYTES: usize = 256 << 10;

/// What an archive is: `torch.save` puts its pickle under this name.
fn of_zip(bytes: &[u8]) -> ReadError {
    let ends = [&bytes[..bytes.len().min(LISTING_BYTES)], &bytes[bytes.len().saturating_sub(LISTING_BYTES)..]];
    let name = b"data.pkl";
    match ends.iter().any(|end| end.windows(name.len()).any(|window| window == name)) {
        true => ReadError::Checkpoint,
        false => ReadError::Zip,
    }
}

/// Reads a snapshot, plain, gzipped or compressed by zstd. `limit` bounds what a compressed file may unpack to, and what
/// the reader itself may take, bytes.
pub fn read(bytes: &[u8], limit: usize) -> Result<Snapshot, ReadError> {
    read_with(bytes, limit, &mut |_| true)
}

/// As [`read`]; `watch` hears how far it has come, and ends it by answering false.
pub fn read_with(bytes: &[u8], limit: usize, watch: Watch<'_>) -> Result<Snapshot, ReadError> {
    if bytes.starts_with(ZIP) {
        return Err(of_zip(bytes));
    }
    let unpacked = unpack(bytes, limit)?;
    let mut machine = Machine::new(unpacked.as_deref().unwrap_or(bytes));
    let root = machine.run(limit, watch)?;
    let (heap, n_bytes) = (machine.heap, unpacked.as_deref().unwrap_or(bytes).len());
    drop(unpacked);
    Reader::new(heap, n_bytes).snapshot(root)
}

/// What a file holds, without its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Unpacked.
    pub n_bytes: usize,
    pub devices: Vec<DeviceCount>,
}

/// The events of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCount {
    pub n_events: usize,
    /// Times of the first and the last, µs; 0 if not recorded.
    pub first_us: u64,
    pub last_us: u64,
}

impl Counts {
    pub fn n_events(&self) -> usize {
        self.devices.iter().map(|device| device.n_events).sum()
    }
}

/// Counts the events of a snapshot, and keeps none.
pub fn count(bytes: &[u8], limit: usize) -> Result<Counts, ReadError> {
    let unpacked = unpack(bytes, limit)?;
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    let mut machine = Machine::new(bytes);
    machine.heap.counts_only = true;
    let root = machine.run(limit, &mut |_| true)?;
    let reader = Reader::new(machine.heap, bytes.len());
    let fields = match reader.root(root)? {
        Root::Segments => Vec::new(),
        Root::Whole(fields) => fields,
    };
    let mut out = Counts { n_bytes: bytes.len(), devices: Vec::new() };
    for device in reader.field(&fields, "device_traces").map(|value| reader.items(value)).unwrap_or_default() {
        let events = reader.items(device);
        let time = |value: Option<&Value>| match value {
            Some(Value::Event(idx)) => reader.heap.times.get(*idx as usize).copied().unwrap_or(0),
            _ => 0,
        };
        let (first_us, last_us) = (time(events.first()), time(events.last()));
        out.devices.push(DeviceCount { n_events: events.len(), first_us, last_us });
    }
    Ok(out)
}

/// What stands at the top of a file.
enum Root {
    /// The dictionary of `_snapshot()`.
    Whole(Vec<(Value, Value)>),
    /// The bare list of `memory_snapshot()`.
    Segments,
}

struct Reader {
    heap: Compactor,
    out: Snapshot,
    budget: Budget,
}

impl Reader {
    fn new(heap: Compactor, n_bytes: usize) -> Self {
        Self { heap, out: Snapshot::default(), budget: Budget::of(n_bytes) }
    }
}

impl Reader {
    /// A list of segments is a snapshot too; any other list is not.
    fn root(&self, root: Value) -> Result<Root, ReadError> {
        if let Value::Slot(slot) = root
            && let Slot::List(items) = &self.heap.slots[slot as usize]
            && let Some(first) = items.first()
            && let Ok(fields) = self.dict(*first, String::new)
            && self.field(&fields, "blocks").is_some()
            && self.field(&fields, "total_size").is_some()
        {
            return Ok(Root::Segments);
        }
        self.dict(root, || "the file".to_owned()).map(Root::Whole)
    }

    fn snapshot(mut self, root: Value) -> Result<Snapshot, ReadError> {
        self.cycles(root);
        let (root, segments) = match self.root(root)? {
            Root::Segments => (Vec::new(), root),
            Root::Whole(fields) => {
                let segments = self.field(&fields, "segments").ok_or(ReadError::Missing { field: "segments" })?;
                (fields, segments)
            }
        };
        let find = |key: &str, this: &Self| this.field(&root, key);
        for (idx, value) in self.list(segments, "segments")?.into_iter().enumerate() {
            let segment = self.segment(value, idx)?;
            self.out.segments.push(segment);
            self.budget.check()?;
        }
        match find("device_traces", &self) {
            Some(traces) => self.traces(traces)?,
            None => self.out.warnings.push(NO_HISTORY.into()),
        }
        if let Some(settings) = find("allocator_settings", &self) {
            self.settings(settings)?;
        }
        if let Some(annotations) = find("external_annotations", &self) {
            self.annotations(annotations)?;
        }
        const KNOWN: &[&str] = &["segments", "device_traces", "allocator_settings", "external_annotations"];
        for (key, _) in &root {
            self.budget.check()?;
            let name = self.words(*key);
            if !KNOWN.contains(&name.as_str()) {
                *self.out.unknown.entry(name).or_default() += 1;
            }
        }
        self.check();
        Ok(self.finish())
    }

    fn finish(self) -> Snapshot {
        let mut out = self.out;
        for (key, n) in &self.heap.unknown {
            *out.unknown.entry(format!("device_traces[].{}", self.heap.texts[key.0 as usize])).or_default() += n;
        }
        out.texts = self.heap.texts;
        out.frames = self.heap.frames;
        out.stack_ends = self.heap.stack_ends;
        out.stack_frames = self.heap.stack_frames;
        out.streams = self.heap.streams;
        out
    }

    /// One list of events a device.
    fn traces(&mut self, value: Value) -> Result<(), ReadError> {
        let devices = self.list(value, "device_traces")?;
        let mut all = std::mem::take(&mut self.heap.events);
        self.heap.event_pools.sort_unstable();
        for (device, value) in devices.into_iter().enumerate() {
            let run = match value {
                Value::Slot(slot) => match &self.heap.slots[slot as usize] {
                    Slot::Run { from, n } => Some((*from as usize, *n as usize)),
                    _ => None,
                },
                _ => None,
            };
            let events = match run {
                // One device holds all events in order.
                Some((0, n)) if n == all.len() => std::mem::take(&mut all),
                Some((from, n)) => {
                    self.budget.spend(n * size_of::<Event>());
                    self.budget.check()?;
                    all.get(from..from + n).unwrap_or_default().to_vec()
                }
                None => self.gathered(value, device, &all)?,
            };
            self.budget.check()?;
            check_events(&events, device)?;
            if let (true, Some((from, n))) = (self.heap.has_event_pools, run) {
                let place = |idx: usize| self.heap.event_pools.partition_point(|(at, _)| (*at as usize) < idx);
                let inside = &self.heap.event_pools[place(from)..place(from + n)];
                let of_device = inside.iter().map(|(at, pool)| (at - from as u32, *pool)).collect();
                self.out.event_pools.get_or_insert_default().resize(device, Vec::new());
                self.out.event_pools.get_or_insert_default().push(of_device);
            }
            self.out.traces.push(events);
        }
        Ok(())
    }

    /// A list of events in another order than the file's.
    fn gathered(&self, value: Value, device: usize, all: &[Event]) -> Result<Vec<Event>, ReadError> {
        let list = self.list(value, &format!("device_traces[{device}]"))?;
        let mut events = Vec::with_capacity(list.len());
        for (idx, item) in list.into_iter().enumerate() {
            let Value::Event(at) = item else {
                return Err(self.wrong(&format!("device_traces[{device}][{idx}]"), item, "an event with an action"));
            };
            events.extend(all.get(at as usize));
        }
        Ok(events)
    }

    fn segment(&mut self, value: Value, idx: usize) -> Result<Segment, ReadError> {
        let at = |key: &str| format!("segments[{idx}].{key}");
        let fields = self.dict(value, || format!("segments[{idx}]"))?;
        let int = |key: &str, this: &Self| this.int(&fields, key).unwrap_or(0);
        let must = |key: &'static str, this: &Self| this.int(&fields, key).ok_or(ReadError::Missing { field: key });
        let kind = self.field(&fields, "segment_type").map(|value| self.words(value)).unwrap_or_default();
        let pool = match self.field(&fields, "segment_pool_id").map(|value| self.items(value)) {
            Some(ids) => match ids.as_slice() {
                [Value::Int(a), Value::Int(b)] => (*a as u64, *b as u64),
                _ => (0, 0),
            },
            None => (0, 0),
        };
        let stack = self.field(&fields, "frames").map_or_else(Default::default, |frames| self.heap.stack(frames));
        let mut out = Segment {
            device: int("device", self) as u32,
            address: must("address", self)?,
            size: must("total_size", self)?,
            stream: self.heap.stream(int("stream", self)),
            is_small: kind == "small",
            pool,
            is_expandable: self.field(&fields, "is_expandable") == Some(Value::Bool(true)),
            stack,
            blocks: Vec::new(),
        };
        let blocks = self.field(&fields, "blocks").ok_or(ReadError::Missing { field: "blocks" })?;
        check_range(out.address, out.size, || format!("segments[{idx}]"))?;
        let mut next = out.address;
        for (block_idx, value) in self.list(blocks, &at("blocks"))?.into_iter().enumerate() {
            let block = self.block(value, next, || format!("segments[{idx}].blocks[{block_idx}]"))?;
            next = block.address.wrapping_add(block.size);
            out.blocks.push(block);
            self.budget.check()?;
        }
        self.unknown_fields(&fields, "segments[]", SEGMENT_FIELDS);
        Ok(out)
    }

    /// Older files have no address in a block: it follows the one before.
    fn block(&mut self, value: Value, next: u64, path: impl Fn() -> String) -> Result<Block, ReadError> {
        let fields = self.dict(value, &path)?;
        let size = self.int(&fields, "size").ok_or(ReadError::Missing { field: "size" })?;
        let state = self.field(&fields, "state").map(|value| self.words(value)).unwrap_or_default();
        let state = match state.as_str() {
            "active_allocated" => BlockState::Allocated,
            "active_pending_free" | "active_awaiting_free" => BlockState::Pending,
            "inactive" => BlockState::Inactive,
            _ => return Err(ReadError::Wrong { path: path(), found: "a block in an unknown state", legal: STATES }),
        };
        let mut stack = self.field(&fields, "frames").map(|frames| self.heap.stack(frames));
        if stack.is_none() {
            // Before torch 2.1 the stack stood in a history of the block.
            stack = self.history(&fields);
        }
        self.unknown_fields(&fields, "segments[].blocks[]", BLOCK_FIELDS);
        let address = self.int(&fields, "address").unwrap_or(next);
        check_range(address, size, &path)?;
        Ok(Block {
            address,
            size,
            requested: self.int(&fields, "requested_size").unwrap_or(size),
            state,
            stack: stack.unwrap_or_default(),
        })
    }

    fn history(&mut self, fields: &[(Value, Value)]) -> Option<crate::model::StackId> {
        let history = self.items(self.field(fields, "history")?);
        let last = self.dict(*history.first()?, String::new).ok()?;
        let frames = self.field(&last, "frames")?;
        Some(self.heap.stack(frames))
    }

    fn settings(&mut self, value: Value) -> Result<(), ReadError> {
        let Ok(fields) = self.dict(value, String::new) else { return Ok(()) };
        for (key, value) in fields {
            self.budget.check()?;
            let (key, text) = (self.words(key), self.plain(value));
            self.out.settings.insert(key, text);
        }
        Ok(())
    }

    fn annotations(&mut self, value: Value) -> Result<(), ReadError> {
        for value in self.items(value) {
            self.budget.check()?;
            let Ok(fields) = self.dict(value, String::new) else { continue };
            let text = |key: &str| self.field(&fields, key).map(|value| self.words(value)).unwrap_or_default();
            self.out.annotations.push(Annotation {
                name: text("name"),
                stage: text("stage"),
                device: self.int(&fields, "device").unwrap_or(0) as u32,
                time_us: self.int(&fields, "time_us").unwrap_or(0),
            });
        }
        Ok(())
    }

    /// Contradictions that can be lived with.
    fn check(&mut self) {
        self.out.warnings.extend(self.out.segments.iter().flat_map(crate::segments::violations));
    }

    /// A container that holds itself is read as far as it goes, and named. Without recursion: it may be deep.
    fn cycles(&mut self, root: Value) {
        // 0 is new, 1 open, 2 done.
        let mut state = vec![0_u8; self.heap.slots.len()];
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut next = Some(root);
        loop {
            match next.take() {
                Some(Value::Slot(slot)) if state[slot as usize] == 0 => {
                    state[slot as usize] = 1;
                    open.push((slot, 0));
                }
                Some(Value::Slot(slot)) if state[slot as usize] == 1 => {
                    let depth = open.iter().rev().position(|(at, _)| *at == slot).map_or(0, |at| at + 1);
                    self.out.warnings.push(Localized::both(
                        format!("有一个容器包含它自己（{depth} 层深）：只读一次"),
                        format!("a container holds itself, {depth} deep; it is read once"),
                    ));
                    return;
                }
                _ => {}
            }
            let Some((slot, at)) = open.last_mut() else { return };
            next = match &self.heap.slots[*slot as usize] {
                Slot::List(items) | Slot::Tuple(items) => items.get(*at).copied(),
                Slot::Dict(pairs) => pairs.get(*at).map(|pair| pair.1),
                _ => None,
            };
            *at += 1;
            if next.is_none() {
                state[*slot as usize] = 2;
                open.pop();
            }
        }
    }

    fn unknown_fields(&mut self, fields: &[(Value, Value)], path: &str, known: &[&str]) {
        for (key, _) in fields {
            let name = self.words(*key);
            if !known.contains(&name.as_str()) {
                *self.out.unknown.entry(format!("{path}.{name}")).or_default() += 1;
            }
        }
    }
}

/// No device has more, 16 TiB: a size beyond is a negative number or damage.
const MOST_BYTES: u64 = 1 << 44;

/// A place in the address space with room behind it, so that ends can be computed.
fn check_range(address: u64, size: u64, path: impl Fn() -> String) -> Result<(), ReadError> {
    if size > MOST_BYTES {
        let path = format!("{}, its size,", path());
        return Err(ReadError::Wrong { path, found: "negative or beyond any device", legal: "0 to 2^44 bytes" });
    }
    if address > u64::MAX - 4 * MOST_BYTES {
        let path = format!("{}, its address,", path());
        return Err(ReadError::Wrong { path, found: "at the end of all addresses", legal: "below 2^64 - 2^46" });
    }
    Ok(())
}

/// A refused request may ask for anything; what was given may not.
fn check_events(events: &[Event], device: usize) -> Result<(), ReadError> {
    for (idx, event) in events.iter().enumerate() {
        if event.action != Action::Oom
            && !matches!(event.action, Action::Other(_) | Action::Snapshot | Action::UserDefined)
        {
            check_range(event.address, event.size, || format!("device_traces[{device}][{idx}]"))?;
        }
    }
    Ok(())
}

/// Said of a file that has only the end.
const NO_HISTORY: Text = Text::new(
    "没有 device_traces：文件里没有历史，只有结尾的样子；在程序开头调用 torch.cuda.memory._record_memory_history() 才会记下",
    "device_traces is missing: the file has no history, only what stood at the end; \
     torch.cuda.memory._record_memory_history() before the program records one",
);
const STATES: &str = "active_allocated, active_pending_free or inactive";
const SEGMENT_FIELDS: &[&str] = &[
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "stream",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "frames",
];
const BLOCK_FIELDS: &[&str] = &["address", "size", "requested_size", "state", "frames", "history"];
