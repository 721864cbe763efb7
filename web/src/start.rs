//! The way in: `boot.js` makes a [`Page`] on a canvas, and makes another when the graphics context was lost.

use crate::assets::in_words;
use crate::browser::{Browser, preferred_lang};
use crate::shared::{Shared, set_rest};
use vramlab_shell::App;
use vramlab_shell::platform::{Event, Rest};
use vramlab_units::Lang;
use wasm_bindgen::prelude::wasm_bindgen;

/// The element whose changes are read aloud.
const LIVE_REGION: &str = "spoken";
/// The event that tells `boot.js` of a panic, with its words.
const PANIC_EVENT: &str = "vramlab-panic";

struct Tab {
    app: App,
    shared: Shared,
    /// The language that the document's element says.
    said: Option<Lang>,
    /// The widget that was last focused or changed, in words.
    heard: String,
    /// Where the focused widget is, in points from the canvas's corner.
    focus: Option<egui::Rect>,
    n_frames: u64,
}

impl Tab {
    /// egui tells what a screen reader should say; eframe drops its tree on the web, so the words go to a live region.
    fn listen(&mut self, ctx: &egui::Context) {
        let words = ctx.output(|output| output.events.last().map(|event| event.widget_info().description()));
        let id = ctx.memory(egui::Memory::focused);
        self.focus = id.and_then(|id| ctx.read_response(id)).map(|response| response.rect);
        if let Some(words) = words.filter(|words| *words != self.heard) {
            if let Some(region) = document().and_then(|document| document.get_element_by_id(LIVE_REGION)) {
                region.set_text_content(Some(&words));
            }
            self.heard = words;
        }
    }
}

impl eframe::App for Tab {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.app.ui(ui);
        self.listen(ui.ctx());
        self.n_frames += 1;
        let lang = self.app.lang();
        self.shared.set_lang(lang);
        if self.said != Some(lang) {
            self.said = Some(lang);
            say_lang(lang);
        }
    }

    fn save(&mut self, _storage: &mut dyn eframe::Storage) {
        self.app.save_progress(true);
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

fn document() -> Option<web_sys::Document> {
    web_sys::window().and_then(|window| window.document())
}

/// Tells the document its language, for screen readers and hyphenation of the text around the canvas.
fn say_lang(lang: Lang) {
    if let Some(root) = document().and_then(|document| document.document_element()) {
        let _ = root.set_attribute("lang", if lang == Lang::Zh { "zh-CN" } else { "en" });
    }
}

/// The running program.
#[wasm_bindgen]
pub struct Page {
    runner: eframe::WebRunner,
}

#[wasm_bindgen]
impl Page {
    /// Starts the program. The error is in words. `build` names the build in the addresses of fetched assets.
    pub async fn start(canvas: web_sys::HtmlCanvasElement, build: String) -> Result<Page, String> {
        let window = web_sys::window().ok_or("there is no window")?;
        let runner = eframe::WebRunner::new();
        let shared = Shared::default();
        shared.set_lang(preferred_lang(&window));
        let tab = move |cc: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, _> {
            shared.set_context(&cc.egui_ctx);
            let app = App::new(Box::new(Browser::new(window, shared.clone(), build)));
            Ok(Box::new(Tab { app, shared, said: None, heard: String::new(), focus: None, n_frames: 0 }))
        };
        let options = eframe::WebOptions::default();
        runner.start(canvas, options, Box::new(tab)).await.map_err(|error| in_words(&error))?;
        Ok(Page { runner })
    }

    /// The rest of the program has joined this module; or it did not come, for a reason.
    pub fn heard_of_rest(&self) {
        if let Some(tab) = self.runner.app_mut::<Tab>() {
            tab.shared.tell(Event::Rest);
        }
    }

    /// Saves at once, because the page is about to go.
    pub fn save(&self) {
        if let Some(mut tab) = self.runner.app_mut::<Tab>() {
            tab.app.save_progress(true);
        }
    }

    /// What is on screen, as JSON in words and numbers: route, language, notes, the figures with their findings, and
    /// the focused widget. For tests and for whoever reads the screen aloud.
    pub fn state(&self) -> String {
        let Some(tab) = self.runner.app_mut::<Tab>() else { return "null".to_owned() };
        let mut spoken = tab.app.spoken();
        let rect = tab.focus.map(|rect| [rect.left(), rect.top(), rect.right(), rect.bottom()]);
        spoken["focus"] = serde_json::json!({ "said": tab.heard, "rect": rect });
        spoken["frames"] = tab.n_frames.into();
        spoken.to_string()
    }

    /// Stops the program and frees its canvas.
    pub fn stop(&self) {
        self.save();
        self.runner.destroy();
    }

    /// Panics, so that the words for that case can be looked at.
    pub fn fault(&self) {
        panic!("this fault was asked for");
    }
}

/// Tells whether the rest of the program has joined this module: why it did not come, or nothing.
#[wasm_bindgen]
pub fn rest(why_absent: Option<String>) {
    if why_absent.is_none() {
        vramlab_content::set_whole();
    }
    set_rest(why_absent.map_or(Rest::Here, Rest::Failed));
}

/// Called once, when the module has loaded.
#[wasm_bindgen(start)]
pub fn prepare() {
    std::panic::set_hook(Box::new(|info| {
        let Some(window) = web_sys::window() else { return };
        let detail = web_sys::CustomEventInit::new();
        detail.set_detail(&info.to_string().into());
        if let Ok(event) = web_sys::CustomEvent::new_with_event_init_dict(PANIC_EVENT, &detail) {
            let _ = window.dispatch_event(&event);
        }
    }));
}
