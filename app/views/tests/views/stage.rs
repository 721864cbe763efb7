//! A page without a window for the tests of this crate: run a view, read what it painted and what it says of itself.

use egui::epaint::{ClippedShape, Primitive};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Shape, Ui, Vec2};
use vramlab_kit::{Headless, Tokens, fonts};
use vramlab_units::{Lang, Map};
use vramlab_views::{View, ViewAction, ViewCx};

pub struct Stage {
    page: Headless,
    pub tokens: Tokens,
    pub lang: Lang,
    pub has_motion: bool,
    pub time_secs: f64,
}

/// Files that a figure may ask for, one after the other.
const MOST_FILES: usize = 8;

/// The view with the assets that it asks for, as the page brings them.
pub fn fed(mut view: Box<dyn View>) -> Box<dyn View> {
    for _ in 0..MOST_FILES {
        let Some(path) = view.wants() else { break };
        let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        let bytes = std::fs::read(place).map_err(|error| error.to_string());
        view.take(bytes.as_deref().map_err(Clone::clone));
    }
    view
}

/// One frame's result.
pub struct Painted {
    pub shapes: Vec<ClippedShape>,
    ctx: egui::Context,
    pixels_per_point: f32,
    pub wants_repaint: bool,
}

impl Stage {
    pub fn new(tokens: Tokens, lang: Lang, width: f32) -> Self {
        let page = Headless::new(fonts::embedded(), &tokens, egui::vec2(width, 2400.0), 1.0).without_tofu();
        Self { page, tokens, lang, has_motion: false, time_secs: 0.0 }
    }

    /// Two frames at rest; the second one's shapes.
    pub fn show(&mut self, view: &mut dyn View) -> Painted {
        self.paint(|ui, cx| view.ui(ui, cx))
    }

    pub fn paint(&mut self, mut add: impl FnMut(&mut Ui, &mut ViewCx<'_>)) -> Painted {
        self.frame(Vec::new(), &mut add);
        self.frame(Vec::new(), &mut add)
    }

    /// One frame with events.
    pub fn frame(&mut self, events: Vec<Event>, add: &mut dyn FnMut(&mut Ui, &mut ViewCx<'_>)) -> Painted {
        let Self { page, tokens, lang, has_motion, time_secs } = self;
        let mut actions: Vec<ViewAction> = Vec::new();
        let output = page.frame(events, |ui| {
            let cx =
                ViewCx { tokens, lang: *lang, has_motion: *has_motion, time_secs: *time_secs, actions: &mut actions };
            let mut cx = cx;
            add(ui, &mut cx);
        });
        let wants_repaint = output.viewport_output.values().any(|view| view.repaint_delay.as_secs_f64() < 60.0);
        Painted {
            shapes: output.shapes,
            ctx: page.ctx().clone(),
            pixels_per_point: output.pixels_per_point,
            wants_repaint,
        }
    }

    /// Presses and releases `key`, a frame each.
    pub fn press(&mut self, view: &mut dyn View, key: Key) {
        for pressed in [true, false] {
            let event = Event::Key { key, physical_key: Some(key), pressed, repeat: false, modifiers: Modifiers::NONE };
            self.frame(vec![event], &mut |ui, cx| view.ui(ui, cx));
        }
    }

    /// Clicks at `pos`.
    pub fn click(&mut self, pos: Pos2, add: &mut dyn FnMut(&mut Ui, &mut ViewCx<'_>)) {
        self.frame(vec![Event::PointerMoved(pos)], add);
        for pressed in [true, false] {
            let button =
                Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
            self.frame(vec![button], add);
        }
    }

    /// Role and name of every widget that a screen reader meets.
    pub fn accessible(&mut self, view: &mut dyn View) -> Vec<(String, String)> {
        self.page.ctx().enable_accesskit();
        let Self { page, tokens, lang, .. } = self;
        let mut nodes = Vec::new();
        for _ in 0..2 {
            let mut actions = Vec::new();
            let output = page.frame(Vec::new(), |ui| {
                let mut cx = ViewCx { tokens, lang: *lang, has_motion: false, time_secs: 0.0, actions: &mut actions };
                view.ui(ui, &mut cx);
            });
            let update = output.platform_output.accesskit_update.expect("accesskit is on");
            nodes = update.nodes.into_iter().map(|(_, node)| node).collect();
        }
        let is_widget =
            |role: &str| !matches!(role, "Window" | "GenericContainer" | "Unknown" | "TextRun" | "ScrollView");
        nodes
            .iter()
            .map(|node| {
                let name = node.label().or_else(|| node.value()).unwrap_or_default().to_owned();
                (format!("{:?}", node.role()), name)
            })
            .filter(|(role, _)| is_widget(role))
            .collect()
    }
}

impl Painted {
    /// Everything written in the picture.
    pub fn texts(&self) -> Vec<String> {
        fn walk(shape: &Shape, out: &mut Vec<String>) {
            match shape {
                Shape::Vec(shapes) => shapes.iter().for_each(|shape| walk(shape, out)),
                Shape::Text(text) => out.push(text.galley.text().to_owned()),
                _ => {}
            }
        }
        let mut out = Vec::new();
        self.shapes.iter().for_each(|clipped| walk(&clipped.shape, &mut out));
        out
    }

    /// Every vertex is a number, and there is something to see.
    #[track_caller]
    pub fn assert_finite(&self, what: &str, state: &Map) {
        let mut n_vertices = 0;
        for primitive in self.ctx.tessellate(self.shapes.clone(), self.pixels_per_point) {
            assert!(!primitive.clip_rect.any_nan(), "{what} {state:?}: a clip rectangle is not a number");
            if let Primitive::Mesh(mesh) = primitive.primitive {
                assert!(mesh.vertices.iter().all(|vertex| vertex.pos.is_finite()), "{what} {state:?}: NaN");
                n_vertices += mesh.vertices.len();
            }
        }
        assert!(n_vertices > 100, "{what} {state:?}: only {n_vertices} vertices");
        let warned: Vec<String> = self.texts().into_iter().filter(|text| text.contains("WARNING")).collect();
        assert!(warned.is_empty(), "{what} {state:?}: {warned:?}");
    }

    /// As [`Self::assert_finite`], and nothing is wider than the page.
    #[track_caller]
    pub fn assert_sane(&self, what: &str, state: &Map) {
        self.assert_finite(what, state);
        let page = self.ctx.viewport_rect();
        for clipped in &self.shapes {
            let bounds = clipped.shape.visual_bounding_rect();
            if let Shape::Text(text) = &clipped.shape
                && bounds.is_positive()
            {
                let is_inside = bounds.right() <= page.right() + 1.0 && bounds.left() >= -1.0;
                assert!(is_inside, "{what} {state:?}: \"{}\" leaves the page at {bounds:?}", text.galley.text());
            }
        }
    }

    /// The middle of the area where `wanted` is written.
    pub fn place_of(&self, wanted: &str) -> Option<Pos2> {
        self.shapes.iter().find_map(|clipped| match &clipped.shape {
            Shape::Text(text) if text.galley.text() == wanted => {
                Some(clipped.shape.visual_bounding_rect().center() + Vec2::ZERO)
            }
            _ => None,
        })
    }
}
