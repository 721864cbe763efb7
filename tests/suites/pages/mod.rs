//! The interface without a window: pages in every look, and what a reader does, by name and by key.
//!
//! `looks` draws every page, `flows` walks through a chapter, `files` drops packs and links, `notebook`
//! keeps, compares and exports runs, `speed` measures frames.

mod author;
mod files;
mod flows;
mod guide;
mod incoming;
mod looks;
mod narrow;
mod notebook;
mod playground;
mod profiles;
mod sharing;
mod snapshot;
mod snapshots;
mod speed;
mod study;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use vramlab_shell::platform::{BackendState, Event};
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::still::Inside;
use vramlab_shell::{App, Still};
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::Lang;

pub const CHAPTER: &str = "02_access_patterns";
/// Tall enough for a whole chapter, so that nothing waits below the fold.
const WHOLE: [f32; 2] = [1440.0, 40_000.0];

/// A running application with its platform in the hand.
pub struct Desk {
    pub harness: Harness<'static, App>,
    pub inside: Rc<RefCell<Inside>>,
}

pub fn settings(lang: Lang, theme: ThemeChoice) -> Settings {
    Settings { lang: Some(lang), theme, ..Settings::default() }
}

impl Desk {
    /// The program at a route, in English and light, as tall as a whole chapter.
    pub fn open(route: &str) -> Self {
        Self::with(route, &settings(Lang::En, ThemeChoice::Light), WHOLE)
    }

    pub fn with(route: &str, settings: &Settings, size: [f32; 2]) -> Self {
        let mut still = Still::with_settings(settings);
        still.route = Some(route.to_owned());
        Self::on(still, size)
    }

    pub fn on(still: Still, size: [f32; 2]) -> Self {
        let inside = Rc::clone(&still.inside);
        let app = App::new(Box::new(still));
        let fonts = vramlab_kit::fonts::definitions(|path| vramlab_content::get(path)?.here().map(Into::into));
        let mut harness = Harness::builder()
            .with_size(size)
            .with_max_steps(12)
            .with_context_setup(move |ctx| {
                ctx.set_fonts(fonts);
                vramlab_kit::Tokens::new(vramlab_kit::Theme::Light, 1.0).apply(ctx);
            })
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run_ok();
        Self { harness, inside }
    }

    pub fn said(&self) -> Value {
        self.harness.state().spoken()
    }

    pub fn notes(&self) -> String {
        self.said()["notes"].to_string()
    }

    pub fn send(&mut self, event: Event) {
        self.inside.borrow_mut().events.push(event);
        self.harness.run_ok();
    }

    /// A processor that is ready to run.
    pub fn with_cpu(self) -> Self {
        let facts = DeviceFacts {
            name: "Test CPU".to_owned(),
            driver: "0".to_owned(),
            l1_bytes: Some(32_768.0),
            l2_bytes: Some(1_048_576.0),
            l3_bytes: Some(33_554_432.0),
            line_bytes: Some(64.0),
            n_cores: Some(4.0),
            peak_gb_per_s: Some(20.0),
            total_bytes: Some(16e9),
            free_bytes: Some(8e9),
            ..DeviceFacts::default()
        };
        self.inside.borrow_mut().backends.insert(Backend::Cpu, BackendState::Ready(Box::new(facts)));
        self
    }

    /// Clicks the first widget with this label.
    pub fn click(&mut self, label: &str) {
        let first = self.harness.get_all_by_label(label).next();
        first.unwrap_or_else(|| panic!("nothing is called \"{label}\"")).click_accesskit();
        self.harness.run_ok();
    }

    /// Where the card with this heading begins.
    pub fn top_of(&self, heading: &str) -> f32 {
        let headings = self.harness.get_all_by_role(egui::accesskit::Role::Heading);
        let mine = headings.filter(|node| {
            let node = node.accesskit_node();
            node.label().or(node.value()).is_some_and(|text| text == heading)
        });
        let tops: Vec<f32> = mine.map(|node| node.rect().top()).collect();
        *tops.first().unwrap_or_else(|| panic!("no card is headed \"{heading}\""))
    }

    /// Clicks the widget with this label that stands nearest below the card's heading.
    pub fn click_below(&mut self, heading: &str, label: &str) {
        let top = self.top_of(heading);
        let near = self
            .harness
            .get_all_by_label(label)
            .filter(|node| node.rect().bottom() >= top)
            .min_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
        near.unwrap_or_else(|| panic!("no \"{label}\" below \"{heading}\"")).click_accesskit();
        self.harness.run_ok();
    }

    pub fn has(&self, text: &str) -> bool {
        self.harness.query_all_by_label_contains(text).next().is_some()
    }

    pub fn press(&mut self, key: egui::Key) {
        self.harness.key_press(key);
        self.harness.run_ok();
    }

    pub fn press_with(&mut self, modifiers: egui::Modifiers, key: egui::Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.run_ok();
    }

    pub fn type_text(&mut self, text: &str) {
        self.harness.event(egui::Event::Text(text.to_owned()));
        self.harness.run_ok();
    }

    /// Every shape of the last frame lies somewhere: no coordinate is NaN.
    pub fn assert_finite(&self, place: &str) {
        for clipped in &self.harness.output().shapes {
            let corners = match &clipped.shape {
                // An empty text has a place and no extent.
                egui::Shape::Text(text) => [text.pos.x, text.pos.y, text.galley.size().x, text.galley.size().y],
                shape => {
                    let rect = shape.visual_bounding_rect();
                    [rect.min.x, rect.min.y, rect.max.x, rect.max.y]
                }
            };
            assert!(corners.iter().all(|at| !at.is_nan()), "{place}: {:?} is nowhere", clipped.shape);
        }
    }

    /// Names and places of buttons, fields and figures.
    pub fn controls(&self) -> Vec<(String, egui::Rect)> {
        let nodes = self.harness.root().children_recursive();
        let named = nodes.filter(|node| node.accesskit_node().data().supports_action(egui::accesskit::Action::Focus));
        let name = |node: &egui_kittest::Node<'_>| {
            let node = node.accesskit_node();
            node.label().or(node.value()).or(node.data().placeholder().map(str::to_owned)).unwrap_or_default()
        };
        named.map(|node| (name(&node), node.rect())).collect()
    }
}
