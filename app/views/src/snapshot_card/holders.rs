//! Who holds most at the cursor: a bar for each place in the code. This is the card's own figure; the others are guests.

use super::opened::Opened;
use crate::figure;
use crate::ink;
use egui::{Align2, Color32, Rect, RichText, Sense, Ui, pos2, vec2};
use vramlab_kit::paint;
use vramlab_kit::{Tokens, Type};
use vramlab_snapshot::peak::{Holder, Key};
use vramlab_units::show::{bytes_binary, number};
use vramlab_units::{Bytes, Lang, Text};

const TITLE: Text = Text::new("光标处谁占得最多", "Who holds most at the cursor");
const BLOCKS: Text = Text::new("{size} · {n} 块", "{size} · {n} blocks");
const BLOCK: Text = Text::new("{size} · {n} 块", "{size} · {n} block");
const OTHERS: Text = Text::new("其余 {n} 处", "{n} others");
const ROW: f32 = 26.0;
const MOST: usize = 5;
/// No band has this key.
const NO_BAND: Key = Key(u32::MAX);

/// The file and line without the folders.
pub fn short(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}

/// The bars, largest first.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened) {
    ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
    let rows = rows(opened, lang);
    let width = ui.available_width().max(figure::LEAST_WIDTH);
    let size = vec2(width, tokens.px(ROW) * rows.len().max(1) as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    if response.clicked() {
        response.request_focus();
    }
    let most = rows.iter().map(|row| row.bytes).max().unwrap_or(1).max(1);
    let values: Vec<String> = rows.iter().map(|row| value(row.bytes, row.n_blocks, lang)).collect();
    let value_width = |text: &String| ink::text_width(ui.painter(), text, tokens.font(Type::MonoSmall));
    let room = values.iter().map(value_width).fold(0.0, f32::max) + tokens.space.s;
    for (idx, (row, value)) in rows.iter().zip(&values).enumerate() {
        let top = rect.top() + tokens.px(ROW) * idx as f32;
        let area = Rect::from_min_size(pos2(rect.left(), top), vec2(width, tokens.px(ROW)));
        // The band of the timeline and its bar are the same place in the same colour.
        let plain = tokens.tint(tokens.ink, 0.6);
        let color = opened.scene.color_of_site(tokens, row.key.unwrap_or(NO_BAND)).unwrap_or(plain);
        row_ui(ui, tokens, area, (&row.place, value), (row.bytes as f32 / most as f32, color), room);
    }
    figure::focus_ring(ui, tokens, &response);
    figure::speak(&response, &opened.finding(lang), None);
}

/// One bar with its place at the left and its bytes at the right.
fn row_ui(
    ui: &Ui,
    tokens: &Tokens,
    row: Rect,
    (place, value): (&str, &str),
    (share, color): (f32, Color32),
    room: f32,
) {
    let painter = ui.painter();
    let names = (row.width() * 0.42).min(tokens.px(280.0));
    let y = row.center().y;
    let label = paint::elided(ui, tokens, Type::MonoSmall, tokens.ink, place, names - tokens.space.s);
    painter.galley(pos2(row.left(), y - label.size().y / 2.0), label, tokens.ink);
    ink::text(painter, pos2(row.right(), y), Align2::RIGHT_CENTER, value, tokens.font(Type::MonoSmall), tokens.ink);
    let left = row.left() + names;
    let track =
        Rect::from_min_max(pos2(left, row.top() + 6.0), pos2((row.right() - room).max(left), row.bottom() - 6.0));
    painter.rect_filled(track, 2.0, tokens.sunken);
    let filled = track.with_max_x(track.left() + track.width() * share.clamp(0.0, 1.0));
    painter.rect_filled(filled, 2.0, color);
}

fn value(bytes: u64, n: usize, lang: Lang) -> String {
    let words = if n == 1 { BLOCK } else { BLOCKS };
    words.get(lang).replace("{size}", &bytes_binary(Bytes(bytes))).replace("{n}", &number(n as f64))
}

/// A bar.
struct Row {
    /// Nothing for the rest together.
    key: Option<Key>,
    place: String,
    bytes: u64,
    n_blocks: usize,
}

/// The largest places, and the rest together.
fn rows(opened: &Opened, lang: Lang) -> Vec<Row> {
    let holders = &opened.holders;
    let row = |holder: &Holder| Row {
        key: Some(holder.key),
        place: short(holder.label.get(lang)).to_owned(),
        bytes: holder.bytes,
        n_blocks: holder.n_blocks,
    };
    let mut out: Vec<Row> = holders.iter().take(MOST).map(row).collect();
    let rest = holders.get(MOST..).unwrap_or_default();
    if !rest.is_empty() {
        let (bytes, n_blocks) =
            rest.iter().fold((0_u64, 0), |(bytes, n), holder| (bytes + holder.bytes, n + holder.n_blocks));
        let place = OTHERS.get(lang).replace("{n}", &rest.len().to_string());
        out.push(Row { key: None, place, bytes, n_blocks });
    }
    out
}

/// Words in the figure's place, while there is nothing to draw.
pub fn words_ui(ui: &mut Ui, tokens: &Tokens, words: &str) {
    let size = vec2(ui.available_width().max(figure::LEAST_WIDTH), tokens.px(264.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    ui.painter().rect_filled(rect, 8.0, tokens.sunken);
    let galley = ui.painter().layout(words.to_owned(), tokens.font(Type::Note), tokens.muted, rect.width() - 24.0);
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, tokens.muted);
    figure::focus_ring(ui, tokens, &response);
    figure::speak(&response, words, None);
}
