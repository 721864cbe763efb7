//! Every event of the allocator, in its order. Rows are laid out only where they are seen, and what passes the filters is
//! found once (`filter.rs`).

use super::filter::Passing;
use super::look::{Filter, Look};
use super::scene::Scene;
use super::words;
use egui::{Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::sites::short_text;
use vramlab_snapshot::{Action, Event};
use vramlab_units::{Bytes, Lang, Text, show};

const SHOWN: Text = Text::new("{n} 个事件，共 {all}", "{n} events of {all}");
const NONE: Text = Text::new("没有事件符合筛选", "no event passes the filters");
const AT: Text = Text::new("第 {n} 个事件：{what} {size}，{site}", "event {n}: {what} {size}, {site}");

const ROW: f32 = 24.0;
const ROWS: f32 = 12.0;

/// Filter, window if it counts, and the analysis.
type Key = (Filter, Option<(usize, usize)>, usize);

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Log {
    /// Indices of the events that pass.
    rows: Vec<u32>,
    made_for: Option<Key>,
    /// The cursor that was last scrolled to.
    shown_cursor: usize,
}

impl Log {
    fn refresh(&mut self, scene: &Scene, look: &Look) {
        let window = look.filter.is_in_window.then_some((look.from, look.until));
        let key = (look.filter.clone(), window, std::sync::Arc::as_ptr(&scene.analysis) as usize);
        if self.made_for.as_ref() == Some(&key) {
            return;
        }
        self.rows = passing(scene, look);
        self.made_for = Some(key);
    }

    /// The list. Pressing a row puts the cursor behind its event. True when the look changed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        self.refresh(scene, look);
        let all = scene.n_events();
        let count = SHOWN.get(lang).replace("{n}", &self.rows.len().to_string()).replace("{all}", &all.to_string());
        let count = if self.rows.is_empty() { NONE.get(lang).to_owned() } else { count };
        ui.label(RichText::new(count).font(tokens.font(Type::Small)).color(tokens.muted));
        let row = tokens.px(ROW);
        let before = look.clone();
        let height = row * ROWS.min(self.rows.len() as f32);
        let at_cursor = self.rows.partition_point(|idx| (*idx as usize) < look.cursor.saturating_sub(1));
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = ScrollArea::vertical()
            .id_salt("log")
            .max_height(height)
            .min_scrolled_height(height)
            .auto_shrink([false, true]);
        if self.shown_cursor != look.cursor {
            self.shown_cursor = look.cursor;
            area = area.vertical_scroll_offset((at_cursor as f32 * row - height / 2.0).max(0.0));
        }
        area.show_rows(ui, row, self.rows.len(), |ui, range| {
            for idx in range {
                let event_idx = self.rows[idx] as usize;
                let Some(event) = scene.events().get(event_idx) else { continue };
                if line(ui, tokens, lang, scene, look, event_idx, event) {
                    look.point_at(event_idx + 1, all);
                    look.life = scene.life_of_event(event_idx);
                    self.shown_cursor = look.cursor;
                }
            }
        });
        before != *look
    }
}

fn passing(scene: &Scene, look: &Look) -> Vec<u32> {
    let passing = Passing::of(&scene.snapshot, &scene.analysis, &look.filter);
    let events = scene.events();
    // The event that ends at the window's first moment is before it.
    let (from, until) = match look.filter.is_in_window {
        true => (look.from.min(events.len()), look.until.min(events.len())),
        false => (0, events.len()),
    };
    (from..until).filter(|idx| passing.event(&events[*idx])).map(|idx| idx as u32).collect()
}

/// One event; true when it was pressed.
fn line(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &Look, idx: usize, event: &Event) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(ROW)), Sense::click());
    let what = words::action(scene, event.action);
    let size = show::bytes_binary(Bytes(event.size));
    let sites = &scene.analysis.sites;
    let site = sites.label(&scene.snapshot, sites.of_stack(event.stack));
    let site = site.get(lang);
    let spoken = AT.get(lang).replace("{n}", &(idx + 1).to_string()).replace("{what}", what);
    let spoken = spoken.replace("{size}", &size).replace("{site}", site);
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, look.cursor == idx + 1, &spoken));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    if look.cursor == idx + 1 {
        painter.rect_filled(rect, 2.0, tokens.accent_soft);
    } else if response.hovered() || response.has_focus() {
        painter.rect_filled(rect, 2.0, tokens.sunken);
    }
    let is_narrow = rect.width() < tokens.px(560.0);
    let y = rect.center().y;
    let put = |x: f32, text: String, role: Type, color, width: f32, is_right: bool| {
        let galley = paint::elided(ui, tokens, role, color, text, width);
        let left = if is_right { x + width - galley.size().x } else { x };
        painter.galley(pos2(rect.left() + left, y - galley.size().y / 2.0), galley, color);
    };
    let px = |points: f32| tokens.px(points);
    let mark = if event.action == Action::Oom { tokens.bad } else { tokens.ink };
    // A phone in large letters: number, action and size, closer together.
    let [number, action, bytes] = if rect.width() < px(300.0) { [38.0, 96.0, 62.0] } else { [58.0, 112.0, 76.0] };
    put(px(4.0), (idx + 1).to_string(), Type::MonoSmall, tokens.muted, px(number), true);
    let mut x = px(number + 14.0);
    if !is_narrow {
        let time = scene.ms_at(idx + 1).map(|ms| format!("{ms:.1}\u{2009}ms")).unwrap_or_default();
        put(x, time, Type::MonoSmall, tokens.muted, px(84.0), true);
        x += px(96.0);
    }
    if let Some(life) = scene.life_of_event(idx) {
        let square = Rect::from_center_size(pos2(rect.left() + x + px(4.0), y), vec2(px(8.0), px(8.0)));
        painter.rect_filled(square, 1.0, scene.color_of(tokens, life));
    }
    put(x + px(14.0), what.to_owned(), Type::MonoSmall, mark, px(action), false);
    put(x + px(action + 14.0), size, Type::MonoSmall, tokens.ink, px(bytes), true);
    x += px(action + bytes + 26.0);
    if !is_narrow {
        put(x, format!("0x{:x}", event.address), Type::MonoSmall, tokens.muted, px(116.0), false);
        x += px(126.0);
    }
    let room = rect.width() - x - px(4.0);
    if room > px(24.0) {
        put(x, short_text(site).to_owned(), Type::Small, tokens.ink, room, false);
    }
    let is_pressed = response.clicked();
    response.on_hover_ui(|ui| {
        for text in words::stack_lines(scene, event.stack, 12, lang) {
            ui.label(RichText::new(text).font(tokens.font(Type::MonoSmall)).color(tokens.ink));
        }
    });
    is_pressed
}
