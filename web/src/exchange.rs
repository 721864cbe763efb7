//! Files that come from the reader and go to the reader.

use crate::assets::in_words;
use crate::shared::Shared;
use crate::words;
use vramlab_shell::intake::{HEAD_BYTES, is_head_enough, is_snapshot};
use vramlab_shell::platform::Event;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Largest file that is read into the tab's memory.
const MAX_MIB: f64 = 256.0;
/// A snapshot may be larger: a part of it is chosen, and only that is kept.
const MAX_SNAPSHOT_MIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// Asks for files with the browser's own dialog.
pub fn pick(shared: &Shared) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or("there is no document")?;
    let input: web_sys::HtmlInputElement = document.create_element("input")?.dyn_into()?;
    input.set_type("file");
    input.set_multiple(true);
    let (shared, chosen) = (shared.clone(), input.clone());
    let on_change = Closure::once_into_js(move || {
        let Some(files) = chosen.files() else { return };
        if files.length() > 1 {
            shared.tell(Event::Several(files.length() as usize));
        }
        (0..files.length()).filter_map(|idx| files.get(idx)).for_each(|file| read(&shared, file));
    });
    input.set_onchange(Some(on_change.unchecked_ref()));
    input.click();
    Ok(())
}

/// Reads a file. Of one that is too large for the tab's memory only the beginning is read, which is enough to say what
/// it is.
pub fn read(shared: &Shared, file: web_sys::File) {
    let name = file.name();
    let n_bytes = file.size();
    let shared = shared.clone();
    spawn_local(async move {
        let event = match bytes_of(&file, n_bytes).await {
            Ok((bytes, is_whole)) => arrived(&shared, name, bytes, n_bytes, is_whole),
            Err(error) => {
                let text = shared.say(words::UNREADABLE).replace("{name}", &name);
                Event::Note(text.replace("{why}", &in_words(&error)))
            }
        };
        shared.tell(event);
    });
}

/// The bytes of a file, and whether they are all of them.
async fn bytes_of(file: &web_sys::Blob, n_bytes: f64) -> Result<(Vec<u8>, bool), JsValue> {
    let mib = n_bytes / MIB;
    if mib > MAX_MIB {
        let head = buffer(&file.slice_with_f64_and_f64(0.0, HEAD_BYTES as f64)?).await?;
        if mib > MAX_SNAPSHOT_MIB || !is_snapshot(&head, n_bytes as u64) {
            return Ok((head, false));
        }
    }
    Ok((buffer(file).await?, true))
}

async fn buffer(blob: &web_sys::Blob) -> Result<Vec<u8>, JsValue> {
    let buffer = JsFuture::from(blob.array_buffer()).await?;
    Ok(js_sys::Uint8Array::new(&buffer).to_vec())
}

/// What is told of the bytes: a file, the beginning of one that is only recognised, or that it is too large to open.
fn arrived(shared: &Shared, name: String, bytes: Vec<u8>, size: f64, is_whole: bool) -> Event {
    let n_bytes = if is_whole { bytes.len() as u64 } else { size as u64 };
    if is_whole || is_head_enough(&bytes, n_bytes) {
        return Event::Arrived { name, path: None, bytes, n_bytes };
    }
    let found = format!("{:.0}", size / MIB);
    let text = shared.say(words::TOO_LARGE).replace("{name}", &name).replace("{found}", &found);
    let limit = if is_snapshot(&bytes, n_bytes) { MAX_SNAPSHOT_MIB } else { MAX_MIB };
    Event::Note(text.replace("{limit}", &format!("{limit}")))
}

/// Hands bytes out as a download.
pub fn save(name: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or("there is no document")?;
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(mime(name));
    let blob = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let address = web_sys::Url::create_object_url_with_blob(&blob)?;
    let link: web_sys::HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&address);
    link.set_download(name);
    link.click();
    web_sys::Url::revoke_object_url(&address)
}

fn mime(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("md") => "text/markdown",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
