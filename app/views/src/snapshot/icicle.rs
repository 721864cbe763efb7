//! Who holds what, by stack: the outermost caller on top, each frame as wide as the bytes that are in use below it at the
//! cursor. Pressing a frame enlarges it, pressing the top one goes back.

use super::look::Look;
use super::scene::Scene;
use egui::{Rect, RichText, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use std::collections::BTreeMap;
use std::sync::Arc;
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::analysis::{Node, icicle, icicle_of};
use vramlab_snapshot::sites::{frame_text, is_library, short_text};
use vramlab_units::{Bytes, Lang, Text, show};

const ALL: Text = Text::new("全部", "everything");
const HELD: Text = Text::new("{name}：{size}，{n} 块", "{name}: {size} in {n} blocks");
const NONE: Text = Text::new("此刻没有在用的块", "nothing is in use at this moment");

const ROW: f32 = 22.0;
const ROWS: f32 = 14.0;
/// A frame narrower than this has no room for a word.
const READABLE: f32 = 40.0;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Icicle {
    nodes: Vec<Node>,
    /// Where each begins, in bytes from the left end of the root.
    starts: Vec<u64>,
    made_for: Option<(usize, usize, usize)>,
    /// The node that fills the width.
    zoomed: usize,
}

impl Icicle {
    fn refresh(&mut self, scene: &Scene, look: &Look) {
        let address = |of: *const ()| of as usize;
        let (of, bands) = (Arc::as_ptr(&scene.analysis).cast(), Arc::as_ptr(&scene.bands).cast());
        let key = (look.cursor, address(of), address(bands));
        if self.made_for != Some(key) {
            self.made_for = Some(key);
            self.nodes = match scene.is_narrowed() {
                true => icicle_of(&scene.snapshot, &scene.analysis, look.cursor, &|idx| scene.shows(idx)),
                false => icicle(&scene.snapshot, &scene.analysis, look.cursor),
            };
            self.starts = starts(&self.nodes);
            self.zoomed = 0;
        }
    }

    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &Look) {
        self.refresh(scene, look);
        let whole = self.nodes.get(self.zoomed).map_or(0, |node| node.bytes);
        if whole == 0 {
            ui.label(RichText::new(NONE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            return;
        }
        let row = tokens.px(ROW);
        let n_rows = self.nodes.iter().map(|node| node.depth + 1).max().unwrap_or(1);
        // As high as what can be read; a thin and deep stack is scrolled to.
        let least = tokens.px(READABLE) / ui.available_width().max(1.0);
        let can_be_read = |node: &&Node| node.bytes as f32 >= whole as f32 * least;
        let n_read = self.nodes.iter().filter(can_be_read).map(|node| node.depth + 1).max().unwrap_or(1).max(4);
        let height = row * ROWS.min(n_read as f32).min(n_rows as f32) + tokens.px(2.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical()
            .id_salt("icicle")
            .max_height(height)
            .min_scrolled_height(height)
            .auto_shrink([false, true]);
        let mut pressed = None;
        area.show_viewport(ui, |ui, seen| {
            let size = vec2(ui.available_width(), row * n_rows as f32);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            for idx in 0..self.nodes.len() {
                let top = self.nodes[idx].depth as f32 * row;
                if top + row >= seen.top() && top <= seen.bottom() {
                    pressed = self.node_ui(ui, tokens, lang, scene, idx, rect).or(pressed);
                }
            }
        });
        if let Some(idx) = pressed {
            self.zoomed = if idx == self.zoomed { self.nodes[idx].parent as usize } else { idx };
        }
    }

    /// One frame; its index when it was pressed.
    fn node_ui(
        &self,
        ui: &mut Ui,
        tokens: &Tokens,
        lang: Lang,
        scene: &Scene,
        idx: usize,
        rect: Rect,
    ) -> Option<usize> {
        let node = &self.nodes[idx];
        let zoomed = &self.nodes[self.zoomed];
        let share = |bytes: u64| (bytes as f64 - self.starts[self.zoomed] as f64) / zoomed.bytes as f64;
        let (from, until) =
            (share(self.starts[idx]).clamp(0.0, 1.0), share(self.starts[idx] + node.bytes).clamp(0.0, 1.0));
        let width = (until - from) as f32 * rect.width();
        if width < 1.0 {
            return None;
        }
        let row = tokens.px(ROW);
        let at = pos2(rect.left() + from as f32 * rect.width(), rect.top() + node.depth as f32 * row);
        let cell = Rect::from_min_size(at, vec2(width, row)).shrink(0.5);
        let (name, is_own) = self.name(scene, idx, lang);
        let size = show::bytes_binary(Bytes(node.bytes));
        let words = HELD.get(lang).replace("{name}", &name).replace("{size}", &size);
        let words = words.replace("{n}", &node.n_blocks.to_string());
        let response = ui.interact(cell, ui.scope_id().with(("frame", idx)), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, &words));
        let is_lit = response.hovered() || response.has_focus();
        let fill = match (is_lit, is_own) {
            (true, _) => tokens.accent_soft,
            (_, true) => tokens.tint(tokens.ink, 0.16),
            _ => tokens.tint(tokens.ink, 0.06),
        };
        ui.painter().rect(cell, 2.0, fill, tokens.stroke(1.0, tokens.line), StrokeKind::Inside);
        if width > tokens.px(40.0) {
            let color = if is_own { tokens.ink } else { tokens.muted };
            let text = format!("{} · {size}", short_text(&name));
            let galley = paint::elided(ui, tokens, Type::Small, color, text, width - tokens.px(10.0));
            let at = pos2(cell.left() + tokens.px(5.0), cell.center().y - galley.size().y / 2.0);
            ui.painter().with_clip_rect(cell.intersect(ui.clip_rect())).galley(at, galley, color);
        }
        let is_pressed = response.clicked();
        response.on_hover_text(words);
        is_pressed.then_some(idx)
    }

    /// The words of a frame, and whether it is in the reader's own code.
    fn name(&self, scene: &Scene, idx: usize, lang: Lang) -> (String, bool) {
        let frame = self.nodes[idx].frame.and_then(|frame| scene.snapshot.frames.get(frame as usize));
        match frame {
            Some(frame) => (frame_text(&scene.snapshot, frame), !is_library(scene.snapshot.text(frame.file))),
            None => (ALL.get(lang).to_owned(), true),
        }
    }
}

/// Siblings stand side by side, the largest first.
fn starts(nodes: &[Node]) -> Vec<u64> {
    let mut order: Vec<usize> = (1..nodes.len()).collect();
    order.sort_by_key(|idx| (nodes[*idx].depth, nodes[*idx].parent, std::cmp::Reverse(nodes[*idx].bytes), *idx));
    let mut starts = vec![0; nodes.len()];
    let mut next: BTreeMap<usize, u64> = BTreeMap::new();
    for idx in order {
        let parent = nodes[idx].parent as usize;
        let at = next.entry(parent).or_insert(starts[parent]);
        starts[idx] = *at;
        *at += nodes[idx].bytes;
    }
    starts
}
