//! What is open, and the way of a file from its bytes to the page: a frame that says what is being read, then the work
//! aside, then the result. In the browser the work holds one frame; the words are on screen by then.

use crate::app::App;
use crate::platform::{Fetch, Platform};
use crate::route::{Page, Route};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use vramlab_snapshot::Snapshot;
use vramlab_snapshot::analysis::{Analysis, Options};
use vramlab_units::{Map, Text, Value};
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
        from: Receiver<Result<Read, String>>,
    },
    Failed {
        name: String,
        why: String,
    },
    Open(Box<Opened>),
}

/// The snapshot page's own state.
#[derive(Default)]
pub struct Desk {
    pub state: State,
    /// What the address wants to be shown; taken once a snapshot is open.
    wanted: Option<Map>,
}

impl Desk {
    /// Bytes from outside.
    pub fn take(&mut self, name: &str, bytes: Vec<u8>) {
        self.state = State::Waiting { name: name.to_owned(), bytes, is_told: false };
        self.wanted = None;
    }

    /// An address: it may name an example, and what of it is looked at.
    pub fn follow(&mut self, params: &Map) {
        if let Some(path) = params.get("file").and_then(Value::as_str).and_then(example) {
            let is_there = matches!(&self.state, State::Open(opened) if stem(&opened.name) == stem(path));
            if !is_there {
                self.wants_example(path);
            }
        }
        self.wanted = (!params.is_empty()).then(|| params.clone());
        self.show_wanted();
    }

    pub fn wants_example(&mut self, path: &str) {
        self.state = State::Fetching { path: path.to_owned() };
    }

    /// One step further with what is under way; true while another frame is wanted at once.
    pub fn advance(&mut self, platform: &mut dyn Platform) -> bool {
        let (state, is_urgent) = match std::mem::take(&mut self.state) {
            State::Fetching { path } => (fetched(platform, path), true),
            State::Waiting { name, bytes, is_told: false } => (State::Waiting { name, bytes, is_told: true }, true),
            State::Waiting { name, bytes, is_told: true } => (begun(platform, name, bytes), true),
            State::Reading { name, n_bytes, from } => (heard(name, n_bytes, from), false),
            State::Open(opened) => match opened.wants_device {
                Some(device) => (begun_device(platform, *opened, device), true),
                None => (State::Open(opened), false),
            },
            other => (other, false),
        };
        self.state = state;
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

fn fetched(platform: &mut dyn Platform, path: String) -> State {
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    match platform.fetch(&path) {
        Fetch::Here(bytes) => State::Waiting { name, bytes: bytes.into_owned(), is_told: false },
        Fetch::Waiting => State::Fetching { path },
        Fetch::Failed(why) => State::Failed { name, why },
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

fn begun_device(platform: &mut dyn Platform, opened: Opened, device: usize) -> State {
    let (tell, from) = channel();
    let Opened { name, n_bytes, scene, .. } = opened;
    platform.aside(Box::new(move || {
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(Ok(analysed(scene.snapshot, device))).is_err();
    }));
    State::Reading { name, n_bytes, from }
}

fn heard(name: String, n_bytes: u64, from: Receiver<Result<Read, String>>) -> State {
    match from.try_recv() {
        Ok(Ok(read)) => State::Open(Box::new(Opened::new(name, n_bytes, read))),
        Ok(Err(why)) => State::Failed { name, why },
        Err(TryRecvError::Empty) => State::Reading { name, n_bytes, from },
        Err(TryRecvError::Disconnected) => State::Failed { name, why: LOST.en.to_owned() },
    }
}

const LOST: Text = Text::new("读取中断了", "reading stopped half way");

/// The whole way from bytes to what the page shows: of several devices, the one with most events.
fn read(bytes: Vec<u8>) -> Result<Read, String> {
    let snapshot = vramlab_snapshot::read(&bytes, MAX_UNPACKED_BYTES).map_err(|error| error.to_string())?;
    drop(bytes);
    let snapshot = Arc::new(snapshot);
    let n_events = |device: &usize| snapshot.traces.get(*device).map_or(0, Vec::len);
    let device = (0..snapshot.traces.len()).rev().max_by_key(n_events).unwrap_or(0);
    Ok(analysed(snapshot, device))
}

fn analysed(snapshot: Arc<Snapshot>, device: usize) -> Read {
    let analysis = Arc::new(Analysis::of(&snapshot, device, &Options::default()));
    let scene = Scene::new(Arc::clone(&snapshot), Arc::clone(&analysis), Colour::default());
    Read { snapshot, analysis, scene }
}

impl Opened {
    fn new(name: String, n_bytes: u64, read: Read) -> Self {
        let timeline = &read.analysis.timeline;
        let most = |series: &vramlab_snapshot::timeline::Series| series.values().iter().max().copied().unwrap_or(0);
        let shows_reserved = most(&timeline.reserved) <= RESERVED_AT_MOST * most(&timeline.allocated).max(1);
        let peak = timeline.peak();
        Self {
            look: Look::whole(read.scene.n_events(), peak, shows_reserved),
            peak,
            answers: super::answer::Answers::of(&read.snapshot, &read.analysis),
            scene: read.scene,
            wants_device: None,
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
    pub fn params(&self) -> Map {
        let mut params = Map::new();
        let n = self.scene.n_events();
        if let Some(path) = examples().find(|path| path.ends_with(&self.name)) {
            params.insert("file".to_owned(), stem(path).into());
        }
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
        let cursor = params.get("cursor").and_then(Value::as_u64).map(|cursor| cursor as usize);
        self.look.cursor = cursor.unwrap_or(self.peak).min(n);
    }
}

/// The snapshots that are part of the program.
pub fn examples() -> impl Iterator<Item = &'static str> {
    vramlab_content::list(EXAMPLES).filter(|path| path.contains(".pickle"))
}

/// The example that an address names: `mlp_adam` for `assets/snapshots/mlp_adam.pickle.gz`.
fn example(name: &str) -> Option<&'static str> {
    examples().find(|path| stem(path) == name)
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
