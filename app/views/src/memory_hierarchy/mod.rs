//! The memory hierarchy at a glance: how far, how wide and how large each level is, from registers to the disk.
//!
//! `levels.rs` reads the numbers with their sources, `layout.rs` is the geometry, `paint.rs` the picture, `words.rs` the
//! sentences.

pub mod layout;
pub mod levels;
pub mod paint;
pub mod words;

use crate::controls;
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use layout::{Geometry, Quantity};
use levels::{Fact, Levels};
use paint::Scene;
use vramlab_kit::{Spread, Tokens};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const QUANTITY: Text = Text::new("比较", "Compare");
const SCALE: Text = Text::new("刻度", "Scale");
const HBM: usize = 3;

/// See the module's docs.
pub struct MemoryHierarchy {
    levels: Levels,
    quantity: Quantity,
    is_log: bool,
    picked: usize,
}

impl MemoryHierarchy {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let label = |quantity: Quantity| match quantity {
                Quantity::Latency => Text::new("等多久", "wait"),
                Quantity::Rate => Text::new("每秒供多少", "bandwidth"),
                Quantity::Size => Text::new("装多少", "size"),
            };
            let options = Quantity::ALL.map(|quantity| (quantity, label(quantity).get(lang).to_owned()));
            controls::choice(flow, tokens, QUANTITY.get(lang), &mut self.quantity, &options);
            let scales = [(true, Text::new("对数", "log")), (false, Text::new("线性", "linear"))];
            let scales = scales.map(|(is_log, text)| (is_log, text.get(lang).to_owned()));
            controls::choice(flow, tokens, SCALE.get(lang), &mut self.is_log, &scales);
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let spread = if self.is_log { Spread::Log10 } else { Spread::Linear };
        let origin = ui.cursor().min;
        let geometry = Geometry::new(origin, width, tokens.scale, &self.levels.levels, self.quantity, spread);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
            let hit = response.interact_pointer_pos().and_then(|pos| geometry.hit(pos));
            self.picked = hit.unwrap_or(self.picked);
        }
        self.keys(ui, &response);
        let levels = &self.levels.levels;
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            levels,
            quantity: self.quantity,
            picked: self.picked,
        };
        scene.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let hovered = response.hover_pos().and_then(|pos| geometry.hit(pos)).unwrap_or(self.picked);
        let said = levels.get(hovered).map(|level| words::sources(level, self.quantity, lang));
        figure::readout_ui(ui, tokens, &said.unwrap_or_default());
    }

    /// Up and down choose a level, Home and End the nearest and the farthest.
    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let last = self.levels.levels.len().saturating_sub(1);
        let is_pressed = |key| ui.input(|input| input.key_pressed(key));
        for (key, to) in [
            (Key::ArrowDown, (self.picked + 1).min(last)),
            (Key::ArrowUp, self.picked.saturating_sub(1)),
            (Key::Home, 0),
            (Key::End, last),
        ] {
            if is_pressed(key) {
                self.picked = to;
            }
        }
    }
}

impl View for MemoryHierarchy {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        self.controls_ui(ui, cx.tokens, cx.lang);
        ui.add_space(cx.tokens.space.s);
        self.figure_ui(ui, cx.tokens, cx.lang);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.levels, self.picked, lang)
    }

    fn cited(&self, lang: Lang) -> Option<(String, String)> {
        let source = Text::new("每个数各注出处", "a source with each number");
        Some((source.get(lang).to_owned(), self.levels.date.clone()))
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("quantity".into(), self.quantity.id().into());
        map.insert("scale".into(), if self.is_log { "log" } else { "linear" }.into());
        let level = self.levels.levels.get(self.picked).map(|level| level.id.clone());
        map.insert("level".into(), level.unwrap_or_default().into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["level", "size (B)", "latency (ns)", "cycles", "bandwidth (GB/s)", "sources"];
        let row = |level: &levels::Level| {
            let value = |fact: Option<&Fact>| fact.map(|fact| fact.value.to_string()).unwrap_or_default();
            let facts = [Some(&level.size_bytes), level.latency_ns.as_ref(), Some(&level.gb_per_s)];
            let sources: Vec<&str> = facts.into_iter().flatten().map(|fact| fact.source.get(Lang::En)).collect();
            let cycles = words::cycles(level, self.levels.clock_mhz);
            vec![
                level.id.clone(),
                value(facts[0]),
                value(facts[1]),
                cycles.map(|cycles| cycles.to_string()).unwrap_or_default(),
                value(facts[2]),
                sources.join("; "),
            ]
        };
        DataTable { header: header.map(str::to_owned).to_vec(), rows: self.levels.levels.iter().map(row).collect() }
    }
}

impl Visualizer for MemoryHierarchy {
    const ID: &'static str = "memory_hierarchy";
    const TITLE: Text = Text::new("存储层次（memory hierarchy）", "The memory hierarchy");

    fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: Vec<String>, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, "", FieldKind::Choice { options }, doc)
        };
        let quantities = Quantity::ALL.map(|quantity| quantity.id().to_owned()).to_vec();
        let ids = Levels::course().levels.into_iter().map(|level| level.id).collect();
        let scales = vec!["log".to_owned(), "linear".to_owned()];
        vec![
            choice("quantity", quantities, Text::new("比较什么", "What is compared")).default_value("latency"),
            choice("scale", scales, Text::new("刻度", "Scale of the axis")).default_value("log"),
            choice("level", ids, Text::new("选中哪一级", "The level that is picked")).default_value("hbm"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let unknown = |key: &str| FieldError::conflict(key, "is not among its options");
        let levels = Levels::course();
        let picked = levels.levels.iter().position(|level| level.id == args.text("level")).unwrap_or(HBM);
        Ok(Self {
            levels,
            quantity: Quantity::from_id(args.text("quantity")).ok_or_else(|| unknown("quantity"))?,
            is_log: args.text("scale") == "log",
            picked,
        })
    }
}
