//! Assets that are fetched by their path, relative to the page. Each is kept for the visit; one that did not come is asked
//! for again after a while, if it is still wanted.

use crate::shared::{Shared, rest};
use crate::words;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_content::Content;
use vramlab_shell::platform::{Fetch, Rest};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

#[derive(Clone)]
enum Slot {
    Waiting,
    Here(&'static [u8]),
    /// Why, and when: milliseconds of the clock.
    Failed(String, f64),
}

/// After so long it is tried again.
const PAUSE_SECS: f64 = 4.0;

pub struct Assets {
    slots: Rc<RefCell<BTreeMap<String, Slot>>>,
    shared: Shared,
    /// Names the build in each address, so that a cache never serves an asset of another build.
    build: String,
}

impl Assets {
    pub fn new(shared: Shared, build: String) -> Self {
        Self { slots: Rc::default(), shared, build }
    }

    pub fn fetch(&self, path: &str) -> Fetch {
        match vramlab_content::get(path) {
            Some(Content::Here(bytes)) => return Fetch::Here(Cow::Borrowed(bytes)),
            // What shows a chapter comes with the rest of the program.
            Some(Content::Fetch) if path.starts_with("lessons/") && rest() != Rest::Here => return Fetch::Waiting,
            Some(Content::Fetch) => {}
            None => return Fetch::Failed(format!("{path} is not part of this program")),
        }
        match self.slots.borrow().get(path) {
            Some(Slot::Here(bytes)) => return Fetch::Here(Cow::Borrowed(bytes)),
            Some(Slot::Waiting) => return Fetch::Waiting,
            Some(Slot::Failed(why, at)) if (js_sys::Date::now() - at).abs() < PAUSE_SECS * 1e3 => {
                self.shared.wake_after(PAUSE_SECS);
                return Fetch::Failed(why.clone());
            }
            Some(Slot::Failed(..)) | None => {}
        }
        self.start(path);
        Fetch::Waiting
    }

    pub fn is_fetching(&self) -> bool {
        self.slots.borrow().values().any(|slot| matches!(slot, Slot::Waiting))
    }

    fn start(&self, path: &str) {
        self.slots.borrow_mut().insert(path.to_owned(), Slot::Waiting);
        let (slots, shared, path) = (Rc::clone(&self.slots), self.shared.clone(), path.to_owned());
        let address = format!("{path}?v={}", self.build);
        wasm_bindgen_futures::spawn_local(async move {
            let expected = vramlab_content::len(&path);
            let slot = match download(&address).await {
                Ok(bytes) if Some(bytes.len() as u64) == expected => Slot::Here(Vec::leak(bytes)),
                Ok(bytes) => failed(&shared, &path, &format!("{} B, not {expected:?} B", bytes.len())),
                Err(why) => failed(&shared, &path, &why),
            };
            slots.borrow_mut().insert(path, slot);
            shared.wake();
        });
    }
}

fn failed(shared: &Shared, path: &str, why: &str) -> Slot {
    let words = shared.say(words::NOT_FETCHED).replace("{path}", path).replace("{why}", why);
    Slot::Failed(words, js_sys::Date::now())
}

async fn download(address: &str) -> Result<Vec<u8>, String> {
    let window = web_sys::window().ok_or("there is no window")?;
    let response = JsFuture::from(window.fetch_with_str(address)).await.map_err(|error| in_words(&error))?;
    let response: web_sys::Response = response.dyn_into().map_err(|error| in_words(&error))?;
    if !response.ok() {
        return Err(format!("HTTP {}", response.status()));
    }
    let buffer = response.array_buffer().map_err(|error| in_words(&error))?;
    let buffer = JsFuture::from(buffer).await.map_err(|error| in_words(&error))?;
    Ok(js_sys::Uint8Array::new(&buffer).to_vec())
}

/// The words of a JavaScript error.
pub fn in_words(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => format!("{}: {}", String::from(error.name()), String::from(error.message())),
        None => error.as_string().unwrap_or_else(|| format!("{error:?}")),
    }
}
