//! The address space at the cursor, pool by pool: a line with what the pool holds, then a strip for each segment, as long
//! as the segment is large. Blocks have the colour of their band, with the bytes that rounding added set off at their end; holes beside blocks in use are hatched densely, a
//! segment that is free as a whole lightly. Rows are laid out only where they are seen.

use super::look::Look;
use super::scene::Scene;
use super::tell::life_lines;
use super::words::stack_lines;
use egui::{Rect, RichText, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::pools::{self, PoolAt, pools};
use vramlab_snapshot::segments::{self, Kind, Piece, SegmentAt, SegmentMap};
use vramlab_units::{Bytes, Lang, Text, show};

const NAME: Text = Text::new("段 0x{at}：{size}，在用 {used}", "segment 0x{at}: {size}, {used} in use");
const SMALL: Text = Text::new("小池", "small pool");
const LARGE: Text = Text::new("大池", "large pool");
const POOL: Text = Text::new(
    "{n} 段 {reserved}：在用 {used}，{holes} 个空洞 {inactive}，最大 {hole}，碎片 {share}",
    "{reserved} in {n}: {used} used, {inactive} in {holes} holes, largest {hole}, fragmentation {share}",
);
const POOL_FULL: Text = Text::new("{n} 段 {reserved}：全部在用", "{reserved} in {n}: all in use");
const UNNAMED: Text = Text::new(
    "这些段在写文件时已经还给设备：文件只给还在的段记池。",
    "These segments were returned before the file was written: it names the pools of those that stay.",
);
const INFERRED: Text = Text::new(
    "重放说明：其中有 {} 个是 CUDA graph 的池。",
    "The replay tells that there must have been {} pools of CUDA graphs among them.",
);
const PRIVATE: Text = Text::new(
    "只服务于它自己：别的申请用不了这里的空洞。",
    "It serves its own requests only: no others can use the holes in it.",
);
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
const ROUNDED: Text = Text::new("在用的块，浅的一截是取整多占的", "block in use, the light end added by rounding");
const BESIDE: Text = Text::new("在用块旁边的空洞", "hole beside blocks in use");
const WHOLE: Text = Text::new("整段空闲（缓存）", "wholly free, cached");
const NONE: Text = Text::new("此刻没有任何段", "there are no segments at this moment");

const ROW: f32 = 24.0;
const ROWS: f32 = 14.0;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Map {
    map: SegmentMap,
    made_for: Option<(usize, usize)>,
    pools: Vec<PoolAt>,
    /// What each row shows.
    rows: Vec<Row>,
    /// The largest segment.
    largest: u64,
}

/// A pool's line, or a segment below it.
#[derive(Clone, Copy)]
enum Row {
    Pool(u32),
    Segment(u32),
}

impl Map {
    /// The address space at the cursor.
    pub fn at_cursor(&mut self, scene: &Scene, look: &Look) -> &SegmentMap {
        let key = (look.cursor, std::sync::Arc::as_ptr(&scene.analysis) as usize);
        if self.made_for != Some(key) {
            self.made_for = Some(key);
            self.map = segments::at(&scene.snapshot, &scene.analysis, look.cursor);
            self.pools = pools(&self.map);
            self.largest = self.map.segments.iter().map(|segment| segment.size).max().unwrap_or(1).max(1);
            self.rows.clear();
            for (idx, pool) in self.pools.iter().enumerate() {
                self.rows.push(Row::Pool(idx as u32));
                self.rows.extend(pool.segments.iter().map(|segment| Row::Segment(*segment)));
            }
        }
        &self.map
    }

    /// The figure. True when a block was pressed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        self.at_cursor(scene, look);
        if self.rows.is_empty() {
            ui.label(RichText::new(NONE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            return false;
        }
        let row = tokens.px(ROW);
        let before = look.life;
        let height = row * ROWS.min(self.rows.len() as f32) + tokens.px(4.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical()
            .id_salt("segments")
            .max_height(height)
            .min_scrolled_height(height)
            .auto_shrink([false, true]);
        area.show_rows(ui, row, self.rows.len(), |ui, rows| {
            for idx in rows {
                match self.rows[idx] {
                    Row::Pool(pool) => pool_row(ui, tokens, lang, scene, &self.pools[pool as usize]),
                    Row::Segment(segment) => {
                        let segment = &self.map.segments[segment as usize];
                        segment_row(ui, tokens, lang, scene, look, segment, self.largest);
                    }
                }
            }
        });
        before != look.life
    }

    /// What the strips are made of; blocks that wait for another stream only where there are any.
    pub fn legend_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut entries: Vec<(Swatch, &str)> = vec![
            (Swatch::Rounded, ROUNDED.get(lang)),
            (Swatch::Area(Area::Fragmented), BESIDE.get(lang)),
            (Swatch::Area(Area::CachedFree), WHOLE.get(lang)),
        ];
        if self.map.metrics.pending > 0 {
            entries.push((Swatch::Pending, PENDING.get(lang)));
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
            entries.iter().for_each(|(swatch, words)| swatch_ui(ui, tokens, *swatch, words));
        });
    }

    /// Pools at the cursor, those of CUDA graphs among them.
    pub fn pools(&self) -> &[PoolAt] {
        &self.pools
    }
}

/// A stretch of a strip, for the legend.
#[derive(Clone, Copy)]
enum Swatch {
    /// A block, with what rounding added at its end.
    Rounded,
    Area(Area),
    Pending,
}

fn swatch_ui(ui: &mut Ui, tokens: &Tokens, swatch: Swatch, words: &str) {
    let galley = paint::elided(ui, tokens, Type::Small, tokens.muted, words, paint::most_width(ui) - tokens.px(32.0));
    let size = vec2(tokens.px(30.0) + galley.size().x, tokens.px(20.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, words));
    let strip = Rect::from_min_size(rect.min + vec2(0.0, tokens.px(4.0)), vec2(tokens.px(24.0), tokens.px(12.0)));
    let painter = ui.painter();
    let color = tokens.tint(tokens.ink, 0.55);
    match swatch {
        Swatch::Area(area) => paint::area(painter, tokens, strip, area),
        Swatch::Rounded => {
            painter.rect_filled(strip, 0.0, color);
            let end = Rect::from_min_max(pos2(strip.right() - tokens.px(8.0), strip.top()), strip.max);
            painter.rect_filled(end, 0.0, tokens.surface);
            painter.rect_filled(end, 0.0, tokens.tint(color, 0.35));
        }
        Swatch::Pending => {
            painter.rect_filled(strip, 0.0, color);
            paint::hatch(painter, strip, tokens.px(5.0), tokens.stroke(1.0, tokens.surface), false);
        }
    }
    let at = pos2(rect.left() + tokens.px(30.0), rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.muted);
}

/// What a pool is and holds, in a line.
fn pool_row(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, pool: &PoolAt) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(ROW)), Sense::hover());
    let (name, rest) = (pool_name(scene, pool, lang), pool_words(pool, lang));
    let words = format!("{name} · {rest}");
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &words));
    let name = paint::elided(ui, tokens, Type::NoteStrong, tokens.ink, name, rect.width() - tokens.px(4.0));
    let left = rect.left() + name.size().x + tokens.px(10.0);
    let rest = paint::elided(ui, tokens, Type::Small, tokens.muted, rest, rect.right() - left - tokens.px(4.0));
    for (x, galley, color) in [(rect.left(), name, tokens.ink), (left, rest, tokens.muted)] {
        let at = pos2(x, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, color);
    }
    let more = match pool.key.pool {
        None => match scene.analysis.replay.n_inferred_pools {
            0 => format!("{words}\n{}", UNNAMED.get(lang)),
            n => format!("{words}\n{} {}", UNNAMED.get(lang), INFERRED.get(lang).replace("{}", &n.to_string())),
        },
        Some((0, 0)) => words,
        Some(_) => format!("{words}\n{}", PRIVATE.get(lang)),
    };
    response.on_hover_text(more);
}

fn pool_name(scene: &Scene, pool: &PoolAt, lang: Lang) -> String {
    let mut name = vec![pools::name(pool.key.pool).get(lang).to_owned()];
    name.push(if pool.key.is_small { SMALL } else { LARGE }.get(lang).to_owned());
    let stream = scene.snapshot.streams.get(pool.key.stream as usize).copied().unwrap_or_default();
    if stream != 0 {
        name.push(STREAM.get(lang).replace("{}", &format!("0x{stream:x}")));
    }
    name.join(" · ")
}

/// `1 segment`, `3 segments`; the Chinese text has its own classifier.
fn counted(n: usize, lang: Lang) -> String {
    match (lang, n) {
        (Lang::Zh, n) => n.to_string(),
        (Lang::En, 1) => "1 segment".to_owned(),
        (Lang::En, n) => format!("{n} segments"),
    }
}

fn pool_words(pool: &PoolAt, lang: Lang) -> String {
    let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let metrics = &pool.metrics;
    let text = if metrics.n_holes == 0 { POOL_FULL } else { POOL };
    text.get(lang)
        .replace("{n}", &counted(pool.n_segments, lang))
        .replace("{reserved}", &bytes(metrics.reserved))
        .replace("{used}", &bytes(metrics.allocated))
        .replace("{holes}", &metrics.n_holes.to_string())
        .replace("{inactive}", &bytes(metrics.inactive))
        .replace("{hole}", &bytes(metrics.largest_hole))
        .replace("{share}", &show::with_unit((metrics.fragmentation * 100.0).round() / 100.0, "%"))
}

/// One segment: its size at the left, its strip behind it.
fn segment_row(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    scene: &Scene,
    look: &mut Look,
    segment: &SegmentAt,
    largest: u64,
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
    } else if segment.is_expandable {
        150.0
    } else {
        86.0
    });
    let y = rect.center().y;
    let size = paint::text(ui, tokens, Type::MonoSmall, tokens.ink, bytes(segment.size));
    let size_at = pos2(rect.left() + tokens.px(70.0) - size.size().x, y - size.size().y / 2.0);
    ui.painter().galley(size_at, size, tokens.ink);
    if !is_narrow && segment.is_expandable {
        let words = paint::elided(ui, tokens, Type::Small, tokens.muted, EXPANDABLE.get(lang), left - tokens.px(92.0));
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
                let is_faint = life.is_some_and(|life| !scene.shows(life));
                let color = if is_faint { tokens.tint(tokens.muted, 0.18) } else { color };
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
