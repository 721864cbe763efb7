//! The browser's side of [`Platform`]: relative fetches, local storage, the address bar, files, the system's wishes.

use crate::assets::{Assets, in_words};
use crate::cabinet::{Cabinet, Shelf};
use crate::exchange;
use crate::shared::{Shared, rest};
use crate::words;
use vramlab_gpu::RunError;
use vramlab_gpu::protocol::Job;
use vramlab_lesson::progress::Files;
use vramlab_shell::platform::{BackendState, Event, Fetch, Gauges, Platform, Rest};
use vramlab_trace::Backend;
use vramlab_units::Lang;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};

pub struct Browser {
    window: web_sys::Window,
    shared: Shared,
    cabinet: Cabinet,
    assets: Assets,
    address: Address,
    motion: Option<web_sys::MediaQueryList>,
    on_move: Closure<dyn FnMut()>,
}

/// What tells that the reader went back, forward, or edited the address.
const MOVES: [&str; 2] = ["popstate", "hashchange"];

impl Browser {
    pub fn new(window: web_sys::Window, shared: Shared, build: String) -> Self {
        let (told, place) = (shared.clone(), window.clone());
        let on_move = Closure::<dyn FnMut()>::new(move || told.tell(Event::Route(fragment(&place))));
        for name in MOVES {
            let _ = window.add_event_listener_with_callback(name, on_move.as_ref().unchecked_ref());
        }
        Self {
            cabinet: Cabinet::new(local_storage(&window, &shared), today()),
            assets: Assets::new(shared.clone(), build),
            address: Address { window: window.clone(), shared: shared.clone(), waiting: None, changed_at_ms: 0.0 },
            motion: window.match_media("(prefers-reduced-motion: reduce)").ok().flatten(),
            window,
            shared,
            on_move,
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        for name in MOVES {
            let _ = self.window.remove_event_listener_with_callback(name, self.on_move.as_ref().unchecked_ref());
        }
    }
}

impl Platform for Browser {
    fn unix_secs(&self) -> u64 {
        (js_sys::Date::now() / 1e3) as u64
    }

    fn today(&self) -> String {
        today()
    }

    fn millis(&self) -> f64 {
        js_sys::Date::now()
    }

    fn files(&mut self) -> &mut dyn Files {
        &mut self.cabinet
    }

    fn fetch(&mut self, path: &str) -> Fetch {
        self.assets.fetch(path)
    }

    fn is_fetching(&self) -> bool {
        self.assets.is_fetching()
    }

    fn rest(&self) -> Rest {
        rest()
    }

    fn open_url(&mut self, url: &str) {
        let _ = self.window.open_with_url_and_target_and_features(url, "_blank", "noopener,noreferrer");
    }

    fn pick_file(&mut self) {
        if let Err(error) = exchange::pick(&self.shared) {
            self.shared.tell(Event::Note(in_words(&error)));
        }
    }

    fn open_dropped(&mut self, file: egui::DroppedFileHandle) {
        if let Some(file) = file.web_file() {
            exchange::read(&self.shared, file.clone());
        }
    }

    fn save_file(&mut self, name: &str, bytes: Vec<u8>) {
        if let Err(error) = exchange::save(name, &bytes) {
            self.shared.tell(Event::Note(format!("{name}: {}", in_words(&error))));
        }
    }

    fn asks_above(&self) -> u64 {
        200 << 20
    }

    fn backend(&self, backend: Backend) -> BackendState {
        let (why, fix) = match backend {
            Backend::Cpu => (words::NO_CPU, words::NO_CPU_FIX),
            _ => (words::NO_CUDA, words::NO_CUDA_FIX),
        };
        BackendState::Unavailable { why: why.into(), fix: fix.into() }
    }

    fn open(&mut self, backend: Backend) {
        self.shared.tell(Event::Backend(backend));
    }

    fn start(&mut self, backend: Backend, _job: Job) -> Result<u64, RunError> {
        match self.backend(backend) {
            BackendState::Unavailable { why, fix } => Err(RunError::Unavailable { what: why, fix }),
            _ => Err(RunError::Cancelled),
        }
    }

    fn cancel(&mut self, _job_id: u64) {}

    fn poll(&mut self) -> Vec<Event> {
        let events = self.shared.take();
        if events.iter().any(|event| matches!(event, Event::Route(_))) {
            // The reader's own change of the address wins.
            self.address.waiting = None;
        }
        self.address.flush();
        events
    }

    fn gauges(&mut self) -> Gauges {
        Gauges { why_absent: words::NO_GAUGES.into(), ..Gauges::default() }
    }

    fn initial_route(&self) -> Option<String> {
        Some(fragment(&self.window)).filter(|route| !route.is_empty())
    }

    fn set_route(&mut self, route: &str, is_new: bool) {
        if is_new {
            self.address.push(route);
        } else {
            self.address.waiting = Some(route.to_owned());
            self.address.flush();
        }
    }

    fn link(&self, route: &str) -> String {
        let here = self.window.location().href().unwrap_or_default();
        format!("{}#{route}", here.split('#').next().unwrap_or_default())
    }

    fn prefers_reduced_motion(&self) -> bool {
        self.motion.as_ref().is_some_and(web_sys::MediaQueryList::matches)
    }

    fn preferred_lang(&self) -> Option<Lang> {
        Some(preferred_lang(&self.window))
    }
}

/// The first of the reader's languages that the program speaks.
pub fn preferred_lang(window: &web_sys::Window) -> Lang {
    let wanted = window.navigator().languages().iter().filter_map(|name| name.as_string()).find_map(|name| {
        let name = name.to_lowercase();
        if name.starts_with("zh") { Some(Lang::Zh) } else { name.starts_with("en").then_some(Lang::En) }
    });
    wanted.unwrap_or(Lang::En)
}

fn fragment(window: &web_sys::Window) -> String {
    window.location().hash().unwrap_or_default().trim_start_matches('#').to_owned()
}

/// `2026-11-30`, where the reader is.
fn today() -> String {
    let now = js_sys::Date::new_0();
    format!("{:04}-{:02}-{:02}", now.get_full_year(), now.get_month() + 1, now.get_date())
}

/// The address bar. Browsers refuse an address that changes often, as it does while a slider moves: what does not make a
/// history entry is written now and then.
struct Address {
    window: web_sys::Window,
    shared: Shared,
    waiting: Option<String>,
    changed_at_ms: f64,
}

const ADDRESS_MS: f64 = 300.0;

impl Address {
    fn push(&mut self, route: &str) {
        self.waiting = None;
        if fragment(&self.window) != route
            && let Ok(history) = self.window.history()
        {
            let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&format!("#{route}")));
        }
    }

    fn flush(&mut self) {
        let Some(route) = &self.waiting else { return };
        let left_ms = self.changed_at_ms + ADDRESS_MS - js_sys::Date::now();
        // A clock that was set back must not hold the address up for longer.
        if left_ms > 0.0 && left_ms <= ADDRESS_MS {
            return self.shared.wake_after(left_ms / 1e3);
        }
        if fragment(&self.window) != *route
            && let Ok(history) = self.window.history()
        {
            self.changed_at_ms = js_sys::Date::now();
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("#{route}")));
        }
        self.waiting = None;
    }
}

struct Local(web_sys::Storage);

fn local_storage(window: &web_sys::Window, shared: &Shared) -> Result<Box<dyn Shelf>, String> {
    match window.local_storage() {
        Ok(Some(storage)) => Ok(Box::new(Local(storage))),
        _ => Err(shared.say(words::NO_STORAGE).to_owned()),
    }
}

impl Shelf for Local {
    fn get(&self, key: &str) -> Result<Option<String>, String> {
        self.0.get_item(key).map_err(|error| in_words(&error))
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.0.set_item(key, text).map_err(|error| in_words(&error))
    }

    fn remove(&mut self, key: &str) -> Result<(), String> {
        self.0.remove_item(key).map_err(|error| in_words(&error))
    }

    fn keys(&self) -> Result<Vec<String>, String> {
        let n_keys = self.0.length().map_err(|error| in_words(&error))?;
        Ok((0..n_keys).filter_map(|idx| self.0.key(idx).ok().flatten()).collect())
    }
}
