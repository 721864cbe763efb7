//! Files that come from the reader and go to the reader.

use crate::assets::in_words;
use crate::shared::Shared;
use crate::words;
use vramlab_shell::platform::Event;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Largest file that is read into the tab's memory.
const MAX_MIB: f64 = 256.0;
const MIB: f64 = 1024.0 * 1024.0;

/// Asks for files with the browser's own dialog.
pub fn pick(shared: &Shared) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or("there is no document")?;
    let input: web_sys::HtmlInputElement = document.create_element("input")?.dyn_into()?;
    input.set_type("file");
    input.set_accept(".vltrace,.toml,.zip");
    input.set_multiple(true);
    let (shared, chosen) = (shared.clone(), input.clone());
    let on_change = Closure::once_into_js(move || {
        let Some(files) = chosen.files() else { return };
        (0..files.length()).filter_map(|idx| files.get(idx)).for_each(|file| read(&shared, file));
    });
    input.set_onchange(Some(on_change.unchecked_ref()));
    input.click();
    Ok(())
}

/// Reads a file, unless it is too large: its size is known before its bytes.
pub fn read(shared: &Shared, file: web_sys::File) {
    let name = file.name();
    let mib = file.size() / MIB;
    if mib > MAX_MIB {
        let text = shared.say(words::TOO_LARGE).replace("{name}", &name);
        let text = text.replace("{found}", &format!("{mib:.0}")).replace("{limit}", &format!("{MAX_MIB}"));
        return shared.tell(Event::Note(text));
    }
    let shared = shared.clone();
    spawn_local(async move {
        let event = match JsFuture::from(file.array_buffer()).await {
            Ok(buffer) => Event::File { name, bytes: js_sys::Uint8Array::new(&buffer).to_vec() },
            Err(error) => {
                let text = shared.say(words::UNREADABLE).replace("{name}", &name);
                Event::Note(text.replace("{why}", &in_words(&error)))
            }
        };
        shared.tell(event);
    });
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
