//! What callbacks of the browser and the frame share: events on their way, and the way to ask for a frame.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use vramlab_shell::platform::Event;
use vramlab_units::{Lang, Text};

#[derive(Default)]
pub struct Inner {
    events: RefCell<Vec<Event>>,
    ctx: RefCell<Option<egui::Context>>,
    lang: Cell<Lang>,
}

/// One for each start of the program.
#[derive(Clone, Default)]
pub struct Shared(Rc<Inner>);

impl Shared {
    pub fn set_context(&self, ctx: &egui::Context) {
        *self.0.ctx.borrow_mut() = Some(ctx.clone());
    }

    /// The language of the frame, for what is said outside one.
    pub fn set_lang(&self, lang: Lang) {
        self.0.lang.set(lang);
    }

    pub fn say(&self, text: Text) -> &'static str {
        text.get(self.0.lang.get())
    }

    pub fn tell(&self, event: Event) {
        self.0.events.borrow_mut().push(event);
        self.wake();
    }

    pub fn wake(&self) {
        if let Some(ctx) = self.0.ctx.borrow().as_ref() {
            ctx.request_repaint();
        }
    }

    pub fn wake_after(&self, secs: f64) {
        if let Some(ctx) = self.0.ctx.borrow().as_ref() {
            ctx.request_repaint_after_secs(secs as f32);
        }
    }

    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.events.borrow_mut())
    }
}
