//! What is live at the chosen moment: owners as bars, the largest tensors in a list.

use super::ops;
use super::paint::color;
use super::words;
use egui::{Align, Layout, RichText, Sense, Ui, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_ledger::{Holder, Item, Timeline};
use vramlab_units::{Lang, Text};

const N_ITEMS: usize = 8;
const OWNERS: Text = Text::new("这一刻是谁的", "Whose bytes at this moment");
const LARGEST: Text = Text::new("这一刻最大的张量", "Largest tensors at this moment");

/// Equal items stand on one line with their number.
fn grouped(items: &[Item]) -> Vec<(Item, usize)> {
    let mut out: Vec<(Item, usize)> = Vec::new();
    for item in items {
        let is_same = |known: &Item| (known.bytes, known.owner, known.op) == (item.bytes, item.owner, item.op);
        match out.iter().position(|(known, _)| is_same(known)) {
            Some(idx) => out[idx].1 += 1,
            None if out.len() < N_ITEMS => out.push((*item, 1)),
            None => {}
        }
    }
    out
}

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, timeline: &Timeline, cursor: usize, live: &[Item]) {
    let room = ui.available_width();
    let is_wide = room >= tokens.px(600.0);
    let column = if is_wide { (room - tokens.space.xl) / 2.0 } else { room };
    let layout = if is_wide { Layout::left_to_right(Align::Min) } else { Layout::top_down(Align::Min) };
    ui.with_layout(layout, |ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.xl, tokens.space.xxs);
        part(ui, tokens, column, OWNERS.get(lang), |ui| {
            let total = timeline.allocated.get(cursor).copied().unwrap_or(0).max(1);
            for (holder, bytes) in timeline.at(cursor).into_iter().filter(|(_, bytes)| *bytes > 0) {
                bar(ui, tokens, lang, column, holder, bytes, total);
            }
        });
        part(ui, tokens, column, LARGEST.get(lang), |ui| {
            for (item, n) in grouped(live) {
                line(ui, tokens, lang, column, &item, n);
            }
        });
    });
}

fn part(ui: &mut Ui, tokens: &Tokens, width: f32, title: &str, add: impl FnOnce(&mut Ui)) {
    ui.vertical(|ui| {
        ui.set_width(width);
        ui.label(RichText::new(title).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
        add(ui);
    });
}

fn bar(ui: &mut Ui, tokens: &Tokens, lang: Lang, width: f32, holder: Holder, bytes: u64, total: u64) {
    let height = tokens.px(20.0);
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let painter = ui.painter();
    let font = tokens.font(Type::Small);
    let names = tokens.px(132.0).min(width * 0.4);
    let sizes = tokens.px(76.0);
    let room = (width - names - sizes).max(8.0);
    let filled = egui::Rect::from_min_size(
        rect.min + vec2(names, height * 0.2),
        vec2((room * (bytes as f32 / total as f32)).max(1.0), height * 0.6),
    );
    painter.rect_filled(filled, 2.0, color(tokens, holder));
    let name = words::short(holder, lang);
    painter.text(rect.left_center(), egui::Align2::LEFT_CENTER, name, font.clone(), tokens.muted);
    painter.text(rect.right_center(), egui::Align2::RIGHT_CENTER, words::size(bytes), font, tokens.ink);
}

fn line(ui: &mut Ui, tokens: &Tokens, lang: Lang, width: f32, item: &Item, n: usize) {
    let height = tokens.px(20.0);
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let painter = ui.painter();
    let font = tokens.font(Type::Small);
    let swatch = egui::Rect::from_min_size(rect.min + vec2(0.0, height * 0.25), vec2(height * 0.5, height * 0.5));
    painter.rect_filled(swatch, 2.0, color(tokens, Holder::Owner(item.owner)));
    let name = if n == 1 { words::op(item, lang) } else { ops::name(item.op, lang).to_owned() };
    let at = rect.left_center() + vec2(height * 0.8, 0.0);
    painter.text(at, egui::Align2::LEFT_CENTER, name, tokens.font(Type::Mono), tokens.ink);
    let size = if n == 1 { words::size(item.bytes) } else { format!("{n} × {}", words::size(item.bytes)) };
    painter.text(rect.right_center(), egui::Align2::RIGHT_CENTER, size, font, tokens.ink);
}
