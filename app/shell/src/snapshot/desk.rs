//! What is open, and the way of a file from its bytes to the page: a frame that says what is being read, then the work
//! aside, then the result. In the browser the work holds one frame; the words are on screen by then.

use crate::app::App;
use crate::platform::{Fetch, Platform};
use crate::route::{Page, Route};
use crate::snapshot::ask::Asking;
use crate::snapshot::shelf::{Incoming, Shelf, named};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use vramlab_snapshot::Snapshot;
use vramlab_snapshot::analysis::{Analysis, Options};
use vramlab_units::{Localized, Map, Text, Value};
use vramlab_views::snapshot::{Colour, Histogram, Icicle, Log, Look, Map as SegmentMap, Scene, Timeline};

/// Where the snapshots lie that are part of the program.
const EXAMPLES: &str = "assets/snapshots/";
/// What a compressed snapshot may unpack to.
const MAX_UNPACKED_BYTES: usize = if usize::BITS > 32 { 8 << 30 } else { 1 << 30 };
/// The line of what is reserved is shown at once unless it would press everything else flat.
const RESERVED_AT_MOST: u64 = 4;

/// A snapshot that has been read, with the state of its figures.
pub struct Opened {
    pub name: String,
    pub n_bytes: u64,
    pub scene: Scene,
    pub look: Look,
    /// The moment when most was allocated: looking for it takes a pass over all events.
    pub peak: usize,
    /// Another device of the file that is to be shown.
    pub wants_device: Option<usize>,
    /// The order in which several were opened, from 1.
    pub number: usize,
    pub rules: super::rules::Rules,
    pub sizes: super::filters::Sizes,
    pub limit: super::limit::Limit,
    /// Pools of the segments at the end, in order.
    pub pools: Vec<(u64, u64)>,
    pub answers: super::answer::Answers,
    pub timeline: Timeline,
    pub map: SegmentMap,
    pub log: Log,
    pub histogram: Histogram,
    pub icicle: Icicle,
}

/// What the work aside hands over.
pub struct Read {
    snapshot: Arc<Snapshot>,
    analysis: Arc<Analysis>,
    scene: Scene,
}

#[derive(Default)]
pub enum State {
    #[default]
    Empty,
    /// An example is on its way.
    Fetching {
        path: String,
    },
    /// Read as soon as the words about it have been painted.
    Waiting {
        name: String,
        bytes: Vec<u8>,
        is_told: bool,
    },
    Reading {
        name: String,
        n_bytes: u64,
        from: Receiver<Result<Read, Localized>>,
    },
    /// A large file: its events are counted first.
    Counting {
        name: String,
        n_bytes: u64,
        from: Receiver<Result<Asking, Localized>>,
    },
    /// Which part of it is wanted is asked.
    Asking(Box<Asking>),
    Failed {
        name: String,
        why: Localized,
    },
    Open(Box<Opened>),
}

/// The snapshot page's own state.
#[derive(Default)]
pub struct Desk {
    pub state: State,
    pub shelf: Shelf,
    pub together: super::together::Together,
    pub paper: super::paper::Paper,
    /// What the address wants to be shown; taken once a snapshot is open.
    wanted: Option<Map>,
}

impl Desk {
    /// Bytes from outside. `is_beside`: they join what is open.
    pub fn take(&mut self, name: &str, bytes: Vec<u8>, is_beside: bool) {
        let is_open = !matches!(self.state, State::Empty | State::Failed { .. });
        if is_beside && is_open {
            self.shelf.queue(Incoming::Bytes(name.to_owned(), bytes));
            return;
        }
        self.shelf.clear();
        self.state = State::Waiting { name: name.to_owned(), bytes, is_told: false };
        self.wanted = None;
    }

    /// An address: it may name examples, and what of the first is looked at.
    pub fn follow(&mut self, params: &Map) {
        if let Some(files) = params.get("file") {
            let paths = named(files);
            if !paths.is_empty() && self.open_stems() != paths.iter().map(|path| stem(path)).collect::<Vec<_>>() {
                self.shelf.clear();
                self.wants_example(paths[0]);
                paths[1..].iter().for_each(|path| self.shelf.queue(Incoming::Example((*path).to_owned())));
            }
        }
        if let Some(mode) = params.get("show").and_then(Value::as_str) {
            self.together.choose(mode);
        }
        self.wanted = (!params.is_empty()).then(|| params.clone());
        self.show_wanted();
    }

    /// What is open and what is looked at, for the address.
    pub fn params(&self) -> Map {
        let State::Open(opened) = &self.state else { return Map::new() };
        let mut params = Map::new();
        let stems = self.open_stems();
        let is_example = |name: &&str| examples().any(|path| stem(path) == *name);
        let is_part = examples().any(|path| path.ends_with(&opened.name));
        if is_part && stems.iter().all(is_example) {
            let files = match stems.as_slice() {
                [one] => (*one).into(),
                several => several.iter().map(|name| Value::from(*name)).collect::<Vec<_>>().into(),
            };
            params.insert("file".to_owned(), files);
            if let Some(mode) = self.together.chosen().filter(|_| stems.len() > 1) {
                params.insert("show".to_owned(), mode.into());
            }
        }
        params.extend(opened.params());
        params
    }

    /// Closes what is looked at; the next one takes its place.
    pub fn close(&mut self) {
        self.state = State::Empty;
        if !self.shelf.others.is_empty() {
            self.state = State::Open(Box::new(self.shelf.others.remove(0)));
        }
        self.shelf.failed.clear();
    }

    /// Stems of what is open, in the order they came.
    fn open_stems(&self) -> Vec<&str> {
        let mut all: Vec<&Opened> = self.shelf.others.iter().collect();
        if let State::Open(opened) = &self.state {
            all.push(opened);
        }
        all.sort_by_key(|opened| opened.number);
        all.into_iter().map(|opened| stem(&opened.name)).collect()
    }

    pub fn wants_example(&mut self, path: &str) {
        self.state = State::Fetching { path: path.to_owned() };
    }

    /// One step further with what is under way; true while another frame is wanted at once.
    pub fn advance(&mut self, platform: &mut dyn Platform) -> bool {
        let mut n = self.shelf.number_so_far();
        let (state, mut is_urgent) = std::mem::take(&mut self.state).step(platform, &mut n);
        self.shelf.set_number(n);
        self.state = state;
        // Those beside are read once the first one stands.
        if matches!(self.state, State::Open(_)) {
            is_urgent |= self.shelf.advance(platform);
        }
        self.show_wanted();
        is_urgent
    }

    /// Shows what the address wants, once there is something to show it of.
    fn show_wanted(&mut self) {
        if let State::Open(opened) = &mut self.state
            && let Some(params) = self.wanted.take()
        {
            opened.show(&params);
        }
    }
}

impl State {
    /// One step further, and whether another frame is wanted at once. `n_opened` counts what has been opened.
    pub fn step(self, platform: &mut dyn Platform, n_opened: &mut usize) -> (Self, bool) {
        match self {
            Self::Fetching { path } => (fetched(platform, path), true),
            Self::Waiting { name, bytes, is_told: false } => (Self::Waiting { name, bytes, is_told: true }, true),
            Self::Waiting { name, bytes, is_told: true } if is_large(&bytes, platform.asks_above()) => {
                (counting(platform, name, bytes), true)
            }
            Self::Waiting { name, bytes, is_told: true } => (begun(platform, name, bytes), true),
            Self::Counting { name, n_bytes, from } => match from.try_recv() {
                Ok(Ok(asking)) => (Self::Asking(Box::new(asking)), true),
                Ok(Err(why)) => (Self::Failed { name, why }, false),
                Err(TryRecvError::Empty) => (Self::Counting { name, n_bytes, from }, false),
                Err(TryRecvError::Disconnected) => (Self::Failed { name, why: LOST.into() }, false),
            },
            Self::Reading { name, n_bytes, from } => {
                let mut state = heard(name, n_bytes, from);
                if let Self::Open(opened) = &mut state {
                    *n_opened += 1;
                    opened.number = *n_opened;
                }
                (state, false)
            }
            Self::Open(opened) => match opened.wants_device {
                Some(device) => (begun_device(platform, *opened, device), true),
                None => (Self::Open(opened), false),
            },
            other => (other, false),
        }
    }
}

fn fetched(platform: &mut dyn Platform, path: String) -> State {
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    match platform.fetch(&path) {
        Fetch::Here(bytes) => State::Waiting { name, bytes: bytes.into_owned(), is_told: false },
        Fetch::Waiting => State::Fetching { path },
        Fetch::Failed(why) => State::Failed { name, why: Localized::both(why.clone(), why) },
    }
}

fn begun(platform: &mut dyn Platform, name: String, bytes: Vec<u8>) -> State {
    let (tell, from) = channel();
    let n_bytes = bytes.len() as u64;
    platform.aside(Box::new(move || {
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(read(bytes)).is_err();
    }));
    State::Reading { name, n_bytes, from }
}

/// Whether a file is asked about first. A compressed one unpacks to many times its size.
fn is_large(bytes: &[u8], asks_above: u64) -> bool {
    const PACKED: u64 = 8;
    let is_packed = vramlab_snapshot::unpacked_head(bytes, 1).is_some();
    bytes.len() as u64 > if is_packed { asks_above / PACKED } else { asks_above }
}

fn counting(platform: &mut dyn Platform, name: String, bytes: Vec<u8>) -> State {
    let (tell, from) = channel();
    let n_bytes = bytes.len() as u64;
    let of = name.clone();
    platform.aside(Box::new(move || {
        let counted = vramlab_snapshot::count(&bytes, MAX_UNPACKED_BYTES).map_err(|error| error.told());
        let asking = counted.map(|counts| Asking::new(of, bytes, counts));
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(asking).is_err();
    }));
    State::Counting { name, n_bytes, from }
}

/// Reads the part that was chosen.
pub fn begun_part(platform: &mut dyn Platform, asking: Asking) -> State {
    let (tell, from) = channel();
    let (name, n_bytes, range) = (asking.name.clone(), asking.bytes.len() as u64, asking.range());
    platform.aside(Box::new(move || {
        let read = vramlab_snapshot::read_range(&asking.bytes, MAX_UNPACKED_BYTES, &range);
        drop(asking);
        let read = read.map(|snapshot| analysed(Arc::new(snapshot), range.device.unwrap_or(0)));
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(read.map_err(|error| error.told())).is_err();
    }));
    State::Reading { name, n_bytes, from }
}

fn begun_device(platform: &mut dyn Platform, opened: Opened, device: usize) -> State {
    let (tell, from) = channel();
    let Opened { name, n_bytes, scene, .. } = opened;
    platform.aside(Box::new(move || {
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(Ok(analysed(scene.snapshot, device))).is_err();
    }));
    State::Reading { name, n_bytes, from }
}

fn heard(name: String, n_bytes: u64, from: Receiver<Result<Read, Localized>>) -> State {
    match from.try_recv() {
        Ok(Ok(read)) => State::Open(Box::new(Opened::new(name, n_bytes, read))),
        Ok(Err(why)) => State::Failed { name, why },
        Err(TryRecvError::Empty) => State::Reading { name, n_bytes, from },
        Err(TryRecvError::Disconnected) => State::Failed { name, why: LOST.into() },
    }
}

const LOST: Text = Text::new("读取中断了", "reading stopped half way");

/// The whole way from bytes to what the page shows: of several devices, the one with most events.
fn read(bytes: Vec<u8>) -> Result<Read, Localized> {
    let snapshot = vramlab_snapshot::read(&bytes, MAX_UNPACKED_BYTES).map_err(|error| error.told())?;
    drop(bytes);
    let snapshot = Arc::new(snapshot);
    let n_events = |device: &usize| snapshot.traces.get(*device).map_or(0, Vec::len);
    let device = (0..snapshot.traces.len()).rev().max_by_key(n_events).unwrap_or(0);
    Ok(analysed(snapshot, device))
}

pub fn analysed(snapshot: Arc<Snapshot>, device: usize) -> Read {
    let analysis = Arc::new(Analysis::of(&snapshot, device, &Options::default()));
    let scene = Scene::new(Arc::clone(&snapshot), Arc::clone(&analysis), Colour::default());
    Read { snapshot, analysis, scene }
}

impl Opened {
    fn new(name: String, n_bytes: u64, read: Read) -> Self {
        let timeline = &read.analysis.timeline;
        let most =
            |series: &vramlab_snapshot::timeline::Series| series.range(0, usize::MAX).map_or(0, |(_, most)| most);
        let shows_reserved = most(&timeline.reserved) <= RESERVED_AT_MOST * most(&timeline.allocated).max(1);
        let peak = timeline.peak();
        Self {
            look: Look::whole(read.scene.n_events(), peak, shows_reserved),
            peak,
            answers: super::answer::Answers::of(&read.snapshot, &read.analysis),
            scene: read.scene,
            wants_device: None,
            number: 0,
            rules: super::rules::Rules::default(),
            sizes: super::filters::Sizes::default(),
            limit: super::limit::Limit::default(),
            pools: pools(&read.snapshot, read.analysis.device),
            name,
            n_bytes,
            timeline: Timeline::default(),
            map: SegmentMap::default(),
            log: Log::default(),
            histogram: Histogram::default(),
            icicle: Icicle::default(),
        }
    }

    /// Devices of which the file tells something.
    pub fn devices(&self) -> Vec<usize> {
        let snapshot = &self.scene.snapshot;
        let is_told = |device: &usize| {
            let has_events = snapshot.traces.get(*device).is_some_and(|events| !events.is_empty());
            has_events || snapshot.segments.iter().any(|segment| segment.device as usize == *device)
        };
        (0..snapshot.traces.len()).filter(is_told).collect()
    }

    /// What of the look differs from how a snapshot opens, for the address.
    fn params(&self) -> Map {
        let mut params = Map::new();
        let n = self.scene.n_events();
        if self.scene.colour != Colour::default() {
            params.insert("colour".to_owned(), self.scene.colour.id().into());
        }
        if self.look.cursor != self.peak {
            params.insert("cursor".to_owned(), self.look.cursor.into());
        }
        if (self.look.from, self.look.until) != (0, n) {
            let window: Vec<Value> = vec![self.look.from.into(), self.look.until.into()];
            params.insert("window".to_owned(), Value::Array(window));
        }
        if let Some(bytes) = self.limit.bytes() {
            params.insert("limit".to_owned(), bytes.into());
        }
        params
    }

    /// Shows what an address asks for; what is out of range goes to the nearest place.
    fn show(&mut self, params: &Map) {
        let n = self.scene.n_events();
        let colour = params.get("colour").and_then(Value::as_str).and_then(Colour::from_id).unwrap_or_default();
        if colour != self.scene.colour {
            self.scene = self.scene.in_colours(colour);
        }
        match params.get("window").and_then(Value::as_array).map(Vec::as_slice) {
            Some([from, until]) => {
                self.look.show(from.as_f64().unwrap_or(0.0), until.as_f64().unwrap_or(n as f64), n);
            }
            _ => self.look.show(0.0, n as f64, n),
        }
        if let Some(bytes) = params.get("limit").and_then(Value::as_u64).filter(|bytes| *bytes > 0) {
            self.limit.set(bytes);
        }
        let cursor = params.get("cursor").and_then(Value::as_u64).map(|cursor| cursor as usize);
        self.look.cursor = cursor.unwrap_or(self.peak).min(n);
    }
}

fn pools(snapshot: &Snapshot, device: usize) -> Vec<(u64, u64)> {
    let of_device = snapshot.segments.iter().filter(|segment| segment.device as usize == device);
    let known: std::collections::BTreeSet<(u64, u64)> = of_device.map(|segment| segment.pool).collect();
    known.into_iter().collect()
}

/// The snapshots that are part of the program.
pub fn examples() -> impl Iterator<Item = &'static str> {
    vramlab_content::list(EXAMPLES).filter(|path| path.contains(".pickle"))
}

/// The name of an example as addresses write it.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

impl App {
    /// What is looked at changed: the address follows.
    pub(crate) fn address_snapshot(&mut self, params: Map) {
        self.route = Route { params, lang: self.route.lang, ..Route::page(Page::Snapshot) };
        let text = self.route.text();
        self.platform.set_route(&text, false);
        self.settings.last_route = Some(text);
    }
}
