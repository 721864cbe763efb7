//! The address space at the cursor: a strip for each segment, as long as the segment is large. Blocks have the colour of
//! their band, with the bytes that rounding added set off at their end; holes beside blocks in use are hatched densely, a
//! segment that is free as a whole lightly. Rows are laid out only where they are seen.

use super::look::Look;
use super::scene::Scene;
use super::timeline::life_lines;
use super::words::stack_lines;
use egui::{Rect, RichText, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::segments::{self, Kind, Piece, SegmentAt, SegmentMap};
use vramlab_units::{Bytes, Lang, Text, show};

const NAME: Text = Text::new("段 0x{at}：{size}，在用 {used}", "segment 0x{at}: {size}, {used} in use");
const SMALL: Text = Text::new("小池", "small pool");
const LARGE: Text = Text::new("大池", "large pool");
const PRIVATE: Text = Text::new("私有池 {}", "private pool {}");
const EXPANDABLE: Text = Text::new("可扩展", "expandable");
const STREAM: Text = Text::new("流 {}", "stream {}");
const HOLE: Text = Text::new(
    "空洞 {}：邻着在用的块，要更大的就用不上",
    "hole of {}: beside blocks in use, too small for anything larger",
);
const FREE: Text = Text::new(
    "整段空闲 {}：缓存着，empty_cache 能还给设备",
    "wholly free, {}: cached, and empty_cache would return it",
);
const PENDING: Text = Text::new("已释放，别的流可能还在用", "freed, while another stream may still use it");
const NONE: Text = Text::new("此刻没有任何段", "there are no segments at this moment");

const ROW: f32 = 24.0;
const ROWS: f32 = 14.0;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Map {
    map: SegmentMap,
    made_for: Option<(usize, usize)>,
    /// Segments by size, largest first.
    order: Vec<u32>,
    /// Only pools of one kind, all on the default stream: their words are short.
    is_plain: bool,
}

impl Map {
    /// The address space at the cursor.
    pub fn at_cursor(&mut self, scene: &Scene, look: &Look) -> &SegmentMap {
        let key = (look.cursor, std::sync::Arc::as_ptr(&scene.analysis) as usize);
        if self.made_for != Some(key) {
            self.made_for = Some(key);
            self.map = segments::at(&scene.snapshot, &scene.analysis, look.cursor);
            self.order = (0..self.map.segments.len() as u32).collect();
            let segments = &self.map.segments;
            self.order.sort_by_key(|idx| std::cmp::Reverse(segments[*idx as usize].size));
            let stream = |idx: u32| scene.snapshot.streams.get(idx as usize).copied().unwrap_or_default();
            let is_plain =
                |segment: &SegmentAt| segment.pool == (0, 0) && !segment.is_expandable && stream(segment.stream) == 0;
            self.is_plain = segments.iter().all(is_plain);
        }
        &self.map
    }

    /// The figure. True when a block was pressed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        self.at_cursor(scene, look);
        if self.order.is_empty() {
            ui.label(RichText::new(NONE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            return false;
        }
        let largest = self.order.first().map_or(1, |idx| self.map.segments[*idx as usize].size).max(1);
        let row = tokens.px(ROW);
        let before = look.life;
        let height = row * ROWS.min(self.order.len() as f32) + tokens.px(4.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical().id_salt("segments").max_height(height).auto_shrink([false, true]);
        area.show_rows(ui, row, self.order.len(), |ui, rows| {
            for idx in rows {
                let segment = &self.map.segments[self.order[idx] as usize];
                self::row(ui, tokens, lang, scene, look, segment, (largest, self.is_plain));
            }
        });
        before != look.life
    }
}

/// One segment: its words at the left, its strip behind them.
fn row(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    scene: &Scene,
    look: &mut Look,
    segment: &SegmentAt,
    (largest, is_plain): (u64, bool),
) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(ROW)), Sense::click());
    let used: u64 = segment.pieces.iter().filter(|piece| piece.kind != Kind::Hole).map(|piece| piece.size).sum();
    let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let name = NAME.get(lang).replace("{at}", &format!("{:x}", segment.address));
    let name = name.replace("{size}", &bytes(segment.size)).replace("{used}", &bytes(used));
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &name));
    let is_narrow = rect.width() < tokens.px(560.0);
    let left = tokens.px(if is_narrow {
        78.0
    } else if is_plain {
        150.0
    } else {
        250.0
    });
    let y = rect.center().y;
    let size = bytes(segment.size);
    let size = paint::text(ui, tokens, Type::MonoSmall, tokens.ink, size);
    let size_at = pos2(rect.left() + tokens.px(70.0) - size.size().x, y - size.size().y / 2.0);
    ui.painter().galley(size_at, size, tokens.ink);
    if !is_narrow {
        let words =
            paint::elided(ui, tokens, Type::Small, tokens.muted, words(scene, segment, lang), left - tokens.px(92.0));
        ui.painter().galley(pos2(rect.left() + tokens.px(82.0), y - words.size().y / 2.0), words, tokens.muted);
    }
    let room = rect.width() - left - tokens.px(12.0);
    let width = (room * (segment.size as f64 / largest as f64) as f32).max(tokens.px(16.0));
    let strip = Rect::from_min_size(pos2(rect.left() + left, rect.top() + 3.0), vec2(width, rect.height() - 6.0));
    paint_strip(ui, tokens, scene, look, segment, strip);
    let Some(at) = response.hover_pos().filter(|at| strip.contains(*at)) else { return };
    let offset = (f64::from((at.x - strip.left()) / strip.width()) * segment.size as f64) as u64;
    let after = segment.pieces.partition_point(|piece| piece.address <= segment.address + offset);
    let Some(piece) = after.checked_sub(1).and_then(|idx| segment.pieces.get(idx)) else { return };
    if response.clicked() {
        look.life = piece.life;
    }
    response.on_hover_ui_at_pointer(|ui| tooltip(ui, tokens, lang, scene, segment, piece));
}

/// Pool, kind and stream of a segment.
fn words(scene: &Scene, segment: &SegmentAt, lang: Lang) -> String {
    let mut words = vec![if segment.is_small { SMALL.get(lang).to_owned() } else { LARGE.get(lang).to_owned() }];
    if segment.pool != (0, 0) {
        words.push(PRIVATE.get(lang).replace("{}", &format!("({}, {})", segment.pool.0, segment.pool.1)));
    }
    if segment.is_expandable {
        words.push(EXPANDABLE.get(lang).to_owned());
    }
    let stream = scene.snapshot.streams.get(segment.stream as usize).copied().unwrap_or_default();
    if stream != 0 {
        words.push(STREAM.get(lang).replace("{}", &format!("0x{stream:x}")));
    }
    words.join(" · ")
}

fn paint_strip(ui: &Ui, tokens: &Tokens, scene: &Scene, look: &Look, segment: &SegmentAt, strip: Rect) {
    let painter = ui.painter();
    let x = |address: u64| {
        strip.left() + strip.width() * ((address - segment.address) as f64 / segment.size.max(1) as f64) as f32
    };
    let is_free = segment.is_free();
    painter.rect_filled(strip, 2.0, tokens.sunken);
    for piece in &segment.pieces {
        // A block narrower than a pixel still has its mark.
        let (left, right) = (x(piece.address), x(piece.address + piece.size));
        let rect = Rect::from_x_y_ranges(left..=right.max(left + 1.0), strip.y_range());
        match (piece.kind, piece.life) {
            (Kind::Hole, _) if is_free => paint::area(painter, tokens, rect, Area::CachedFree),
            (Kind::Hole, _) => paint::area(painter, tokens, rect, Area::Fragmented),
            (_, life) => {
                let color = life.map_or(tokens.muted, |life| scene.color_of(tokens, life));
                painter.rect_filled(rect, 0.0, color);
                let end = x(piece.address + piece.requested.min(piece.size));
                if right - end >= 1.0 {
                    let rounding = Rect::from_x_y_ranges(end..=right, strip.y_range());
                    painter.rect_filled(rounding, 0.0, tokens.tint(color, 0.35));
                }
                if piece.kind == Kind::Pending {
                    paint::hatch(painter, rect, tokens.px(5.0), tokens.stroke(1.0, tokens.surface), false);
                }
                if rect.width() >= 3.0 {
                    painter.vline(right, strip.y_range(), tokens.stroke(1.0, tokens.surface));
                }
                if life.is_some() && life == look.life {
                    painter.rect_stroke(rect, 0.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Outside);
                }
            }
        }
    }
    painter.rect_stroke(strip, 2.0, tokens.stroke(1.0, tokens.line), StrokeKind::Outside);
}

fn tooltip(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, segment: &SegmentAt, piece: &Piece) {
    let line = |ui: &mut Ui, text: &str, role: Type| {
        ui.label(RichText::new(text).font(tokens.font(role)).color(tokens.ink));
    };
    ui.set_max_width(tokens.px(420.0));
    let size = show::bytes_binary(Bytes(piece.size));
    match (piece.kind, piece.life) {
        (Kind::Hole, _) if segment.is_free() => line(ui, &FREE.get(lang).replace("{}", &size), Type::Note),
        (Kind::Hole, _) => line(ui, &HOLE.get(lang).replace("{}", &size), Type::Note),
        (kind, life) => {
            if kind == Kind::Pending {
                line(ui, PENDING.get(lang), Type::NoteStrong);
            }
            for text in life.map(|life| life_lines(scene, life, lang)).unwrap_or_default() {
                line(ui, &text, Type::Note);
            }
            if let Some(life) = life.and_then(|life| scene.life(life)) {
                for text in stack_lines(scene, life.stack, 8, lang) {
                    line(ui, &text, Type::MonoSmall);
                }
            }
        }
    }
}
