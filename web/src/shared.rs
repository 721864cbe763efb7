//! What callbacks of the browser and the frame share: events on their way, and the way to ask for a frame.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use vramlab_shell::platform::{Event, Rest};
use vramlab_units::{Lang, Text};

#[derive(Default)]
pub struct Inner {
    events: RefCell<Vec<Event>>,
    ctx: RefCell<Option<egui::Context>>,
    lang: Cell<Lang>,
}

thread_local! {
    /// Whether the late module has joined this one: once for the visit, over all starts.
    static REST: RefCell<Rest> = const { RefCell::new(Rest::Waiting) };
}

/// See [`Rest`].
pub fn rest() -> Rest {
    REST.with_borrow(Clone::clone)
}

pub fn set_rest(rest: Rest) {
    REST.with_borrow_mut(|known| *known = rest);
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

    /// What has happened. Files wait until the program is whole: what reads them comes late.
    pub fn take(&self) -> Vec<Event> {
        let mut events = self.0.events.borrow_mut();
        let waits = |event: &Event| matches!(event, Event::File { .. } | Event::Arrived { .. });
        let is_whole = rest() == Rest::Here;
        let (later, now) = std::mem::take(&mut *events).into_iter().partition(|event| !is_whole && waits(event));
        *events = later;
        now
    }
}
