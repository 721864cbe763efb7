//! What is open: bytes are read aside, so that a long run does not stop the window; a snapshot of the same run is reconciled
//! with it aside too.

use super::reconcile::{self, Both};
use crate::app::App;
use crate::platform::{Fetch, Platform};
use crate::route::{Page, Route};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use vramlab_model::reconcile::{Parts, split};
use vramlab_profile::Profile;
use vramlab_snapshot::Snapshot;
use vramlab_units::{Localized, Map, Text, Value};
use vramlab_views::profile::{Look, Scene, Timeline};

/// The run that is part of the program, and its snapshot.
const EXAMPLE: &str = "assets/profiles/gpt_training.json.gz";
const EXAMPLE_SNAPSHOT: &str = "assets/profiles/gpt_training.pickle.gz";
pub const EXAMPLE_ID: &str = "gpt_training";
/// What a snapshot may unpack to.
const MAX_UNPACKED_BYTES: usize = 1 << 30;

/// A run that has been read, with the state of its figure.
pub struct Opened {
    pub name: String,
    pub scene: Scene,
    pub look: Look,
    pub timeline: Timeline,
}

#[derive(Default)]
pub enum State {
    #[default]
    Empty,
    Fetching,
    Reading {
        name: String,
        from: Receiver<Result<Scene, String>>,
    },
    Failed {
        name: String,
        why: String,
    },
    Open(Box<Opened>),
}

/// NVML's figure beside a snapshot's, or why they do not go together.
pub struct Reconciled {
    pub name: String,
    pub answer: Result<(Both, Parts), Localized>,
    /// Which snapshot it was worked out with.
    of: usize,
}

/// The page's own state.
#[derive(Default)]
pub struct Desk {
    pub state: State,
    pub reconciled: Option<Reconciled>,
    /// The example's snapshot, once it has come.
    own: Option<Arc<Snapshot>>,
    waits_for_own: Option<Receiver<Option<Arc<Snapshot>>>>,
    waits_for: Option<Receiver<Reconciled>>,
    is_example: bool,
}

const LOST: Text = Text::new("读取中断了", "reading stopped half way");

impl Desk {
    /// Bytes from outside.
    pub fn take(&mut self, name: &str, bytes: Vec<u8>, platform: &mut dyn Platform) {
        *self = Self { state: begun(platform, name, bytes), ..Self::default() };
    }

    pub fn example(&mut self) {
        if !self.is_example {
            *self = Self { state: State::Fetching, is_example: true, ..Self::default() };
        }
    }

    pub fn follow(&mut self, params: &Map) {
        if params.get("file").and_then(Value::as_str) == Some(EXAMPLE_ID) {
            self.example();
        }
    }

    pub fn params(&self) -> Map {
        let mut out = Map::new();
        if self.is_example {
            out.insert("file".to_owned(), EXAMPLE_ID.into());
        }
        out
    }

    /// One step further with what is under way; true while something is.
    pub fn advance(&mut self, platform: &mut dyn Platform, open: Option<(&str, &Arc<Snapshot>)>) -> bool {
        let mut is_busy = false;
        self.state = match std::mem::take(&mut self.state) {
            State::Fetching => {
                is_busy = true;
                self.fetched(platform)
            }
            State::Reading { name, from } => match from.try_recv() {
                Ok(Ok(scene)) => State::Open(Box::new(Opened {
                    look: scene.first_look(),
                    name,
                    scene,
                    timeline: Timeline::default(),
                })),
                Ok(Err(why)) => State::Failed { name, why },
                Err(TryRecvError::Empty) => {
                    is_busy = true;
                    State::Reading { name, from }
                }
                Err(TryRecvError::Disconnected) => State::Failed { name, why: LOST.en.to_owned() },
            },
            other => other,
        };
        is_busy | self.advance_snapshot(platform, open)
    }

    fn fetched(&mut self, platform: &mut dyn Platform) -> State {
        match platform.fetch(EXAMPLE) {
            Fetch::Here(bytes) => begun(platform, EXAMPLE_ID, bytes.into_owned()),
            Fetch::Waiting => State::Fetching,
            Fetch::Failed(why) => State::Failed { name: EXAMPLE_ID.to_owned(), why },
        }
    }

    /// The snapshot beside it: the example's own, or the one that is open on its page.
    fn advance_snapshot(&mut self, platform: &mut dyn Platform, open: Option<(&str, &Arc<Snapshot>)>) -> bool {
        let State::Open(opened) = &self.state else { return false };
        let profile = Arc::clone(&opened.scene.profile);
        if let Some(from) = self.waits_for.take() {
            match from.try_recv() {
                Ok(reconciled) => self.reconciled = Some(reconciled),
                Err(TryRecvError::Empty) => self.waits_for = Some(from),
                Err(TryRecvError::Disconnected) => {}
            }
        }
        if self.waits_for.is_some() {
            return true;
        }
        if self.is_example && self.own.is_none() && self.fetch_own(platform) {
            return true;
        }
        let beside = self.own.as_ref().map(|own| (EXAMPLE_ID, own)).or(open);
        let Some((name, snapshot)) = beside else {
            self.reconciled = None;
            return false;
        };
        let of = Arc::as_ptr(snapshot) as usize;
        if self.reconciled.as_ref().is_some_and(|reconciled| reconciled.of == of) {
            return false;
        }
        let (tell, from) = channel();
        let (name, snapshot) = (name.to_owned(), Arc::clone(snapshot));
        platform.aside(Box::new(move || {
            let answer = answer(&profile, &snapshot);
            // Nobody waits any more if another run was opened meanwhile.
            let _gone = tell.send(Reconciled { name, answer, of }).is_err();
        }));
        self.waits_for = Some(from);
        true
    }

    /// Brings the example's snapshot; false if there is none to wait for.
    fn fetch_own(&mut self, platform: &mut dyn Platform) -> bool {
        if let Some(from) = self.waits_for_own.take() {
            match from.try_recv() {
                Ok(own) => self.own = own,
                Err(TryRecvError::Empty) => self.waits_for_own = Some(from),
                Err(TryRecvError::Disconnected) => {}
            }
            // Without its snapshot the example is a run like any other.
            self.is_example &= self.own.is_some() || self.waits_for_own.is_some();
            return self.own.is_none() && self.is_example;
        }
        match platform.fetch(EXAMPLE_SNAPSHOT) {
            Fetch::Here(bytes) => {
                let (tell, from) = channel();
                let bytes = bytes.into_owned();
                platform.aside(Box::new(move || {
                    let read = vramlab_snapshot::read(&bytes, MAX_UNPACKED_BYTES).ok().map(Arc::new);
                    // Nobody waits any more if another run was opened meanwhile.
                    let _gone = tell.send(read).is_err();
                }));
                self.waits_for_own = Some(from);
                true
            }
            Fetch::Waiting => true,
            Fetch::Failed(_) => false,
        }
    }
}

fn begun(platform: &mut dyn Platform, name: &str, bytes: Vec<u8>) -> State {
    let (tell, from) = channel();
    platform.aside(Box::new(move || {
        let scene = vramlab_profile::read(&bytes).map(|profile| Scene::new(Arc::new(profile)));
        // Nobody waits any more if another file was dropped meanwhile.
        let _gone = tell.send(scene.map_err(|error| error.to_string())).is_err();
    }));
    State::Reading { name: name.to_owned(), from }
}

fn answer(profile: &Profile, snapshot: &Snapshot) -> Result<(Both, Parts), Localized> {
    let both = reconcile::figures(profile, snapshot)?;
    let parts = split(&both.figures).map_err(|error| {
        Localized::both(
            format!("这份快照和这次运行对不上：{error}。它们是同一次运行吗？"),
            format!("This snapshot and this run contradict each other: {error}. Are they of the same run?"),
        )
    })?;
    Ok((both, parts))
}

impl App {
    /// The address follows what is looked at; the page stays, and so does the history.
    pub(crate) fn address_profile(&mut self, params: Map) {
        self.route = Route { params, lang: self.route.lang, ..Route::page(Page::Profile) };
        let text = self.route.text();
        self.platform.set_route(&text, false);
        self.settings.last_route = Some(text);
    }

    /// A recorded run from the reader.
    pub(crate) fn open_profile(&mut self, name: &str, bytes: Vec<u8>) -> bool {
        self.profile.take(name, bytes, self.platform.as_mut());
        self.go(Route::page(Page::Profile), true);
        true
    }
}
