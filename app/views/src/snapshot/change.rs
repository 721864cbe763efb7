//! Two snapshots held against each other: a line for each place or role, what it held in the first and in the second, and a
//! bar for the difference: to the right what grew, to the left what shrank. Rows are laid out only where they are seen.

use egui::{Align2, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::compare::{Change, Fate};
use vramlab_snapshot::sites::short_text;
use vramlab_units::{Bytes, Lang, Text, show};

const NONE: Text = Text::new("两份里占着的完全一样", "both hold exactly the same");
const GREW: Text = Text::new("变多", "grew");
const SHRANK: Text = Text::new("变少", "shrank");
const APPEARED: Text = Text::new("新出现", "new");
const VANISHED: Text = Text::new("消失", "gone");
const SAME: Text = Text::new("不变", "same");
const SPOKEN: Text = Text::new(
    "{name}：{fate}，{first}（{a} 块）→ {second}（{b} 块），{gained}",
    "{name}: {fate}, {first} in {a} blocks → {second} in {b}, {gained}",
);
const MOVED: Text = Text::new("{name}（移到第 {line} 行）", "{name} (now line {line})");

const ROWS: f32 = 12.0;

fn bytes(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// A difference with its sign.
pub fn gained(change: i64) -> String {
    match change {
        0 => "±0".to_owned(),
        change if change > 0 => format!("+{}", bytes(change.unsigned_abs())),
        change => format!("−{}", bytes(change.unsigned_abs())),
    }
}

fn fate(change: &Change) -> Text {
    match change.fate() {
        Fate::Grew => GREW,
        Fate::Shrank => SHRANK,
        Fate::Appeared => APPEARED,
        Fate::Vanished => VANISHED,
        Fate::Same => SAME,
    }
}

fn name(change: &Change, lang: Lang) -> String {
    let name = change.label.get(lang);
    match change.moved_to {
        Some(line) => MOVED.get(lang).replace("{name}", name).replace("{line}", &line.to_string()),
        None => name.to_owned(),
    }
}

/// The list, in the order it is given.
pub fn changes_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, id: &str, changes: &[Change]) {
    let most = changes.iter().map(|change| change.gained().unsigned_abs()).max().unwrap_or(0);
    if most == 0 {
        ui.label(RichText::new(NONE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        return;
    }
    let is_narrow = ui.available_width() < tokens.px(640.0);
    let row = tokens.px(if is_narrow { 44.0 } else { 26.0 });
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let height = row * ROWS.min(changes.len() as f32);
        let area = ScrollArea::vertical()
            .id_salt(("changes", id))
            .min_scrolled_height(height)
            .max_height(height)
            .auto_shrink([false, true]);
        area.show_rows(ui, row, changes.len(), |ui, rows| {
            for idx in rows {
                row_ui(ui, tokens, lang, &changes[idx], most, (row, is_narrow));
            }
        });
    });
}

fn row_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, change: &Change, most: u64, (height, is_narrow): (f32, bool)) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let name = name(change, lang);
    let words = SPOKEN
        .get(lang)
        .replace("{name}", &name)
        .replace("{fate}", fate(change).get(lang))
        .replace("{first}", &bytes(change.first.bytes))
        .replace("{second}", &bytes(change.second.bytes))
        .replace("{a}", &change.first.n_blocks.to_string())
        .replace("{b}", &change.second.n_blocks.to_string())
        .replace("{gained}", &gained(change.gained()));
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &words));
    if response.hovered() {
        ui.painter().rect_filled(rect, 2.0, tokens.sunken);
    }
    let px = |points: f32| tokens.px(points);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let line = if is_narrow { rect.top() + px(13.0) } else { rect.center().y };
    let number = |x: f32, text: String, color| {
        painter.text(pos2(x, line), Align2::RIGHT_CENTER, text, tokens.font(Type::MonoSmall), color);
    };
    let right = rect.right() - px(6.0);
    number(right, gained(change.gained()), tokens.ink);
    let (label_width, bar) = if is_narrow {
        let bar = Rect::from_min_max(pos2(rect.left(), rect.top() + px(25.0)), pos2(right, rect.bottom() - px(6.0)));
        (rect.width() - px(104.0), bar)
    } else {
        let amounts = format!("{} → {}", bytes(change.first.bytes), bytes(change.second.bytes));
        number(right - px(100.0), amounts, tokens.muted);
        let label = (rect.width() - px(290.0)) * 0.58;
        let bar = Rect::from_min_max(
            pos2(rect.left() + label + px(10.0), rect.top() + px(6.0)),
            pos2(right - px(290.0), rect.bottom() - px(6.0)),
        );
        (label, bar)
    };
    let label = paint::elided(ui, tokens, Type::Note, tokens.ink, short_text(&name), label_width);
    painter.galley(pos2(rect.left() + px(4.0), line - label.size().y / 2.0), label, tokens.ink);
    paint_bar(&painter, tokens, bar, change, most);
    response.on_hover_text(words);
}

/// The difference from the middle: what came to be is filled, what is gone is hollow.
fn paint_bar(painter: &egui::Painter, tokens: &Tokens, bar: Rect, change: &Change, most: u64) {
    let middle = bar.center().x;
    let length = bar.width() / 2.0 * (change.gained().unsigned_abs() as f64 / most as f64) as f32;
    painter.vline(middle, bar.y_range().expand(2.0), tokens.hairline());
    if change.gained() == 0 {
        return;
    }
    let is_up = change.gained() > 0;
    let (from, until) = if is_up { (middle, middle + length.max(1.5)) } else { (middle - length.max(1.5), middle) };
    let rect = Rect::from_x_y_ranges(from..=until, bar.y_range());
    if is_up {
        painter.rect_filled(rect, 1.0, tokens.tint(tokens.ink, 0.65));
    } else {
        painter.rect_filled(rect, 1.0, tokens.tint(tokens.ink, 0.12));
        painter.rect_stroke(rect, 1.0, tokens.stroke(1.0, tokens.muted), egui::StrokeKind::Inside);
    }
}
