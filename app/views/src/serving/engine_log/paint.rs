//! The card as a bar, the lines of the log below it with what is known of each. It decides nothing.

use super::reading::{Part, Reading};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, pos2, vec2};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Mark, Role, Tokens, Type};
use vramlab_units::Lang;

const HEAD: f32 = 22.0;
const BAR: f32 = 34.0;
const GAP: f32 = 18.0;
const ROW: f32 = 24.0;
const NARROW: f32 = 640.0;
const NUMBER: f32 = 28.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub bar: Option<Rect>,
    pub rows: Vec<Rect>,
    pub is_narrow: bool,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, reading: &Reading) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let mut y = origin.y;
        let bar = (!reading.parts.is_empty()).then(|| {
            let rect = Rect::from_min_size(pos2(origin.x, y + px(HEAD)), vec2(width, px(BAR)));
            y = rect.bottom() + px(GAP);
            rect
        });
        let row = px(if is_narrow { ROW * 1.8 } else { ROW });
        let rows: Vec<Rect> = (0..reading.lines.len())
            .map(|idx| Rect::from_min_size(pos2(origin.x, y + row * idx as f32), vec2(width, row)))
            .collect();
        let bottom = rows.last().map_or(y, |row| row.bottom());
        Self { rect: Rect::from_min_max(origin, pos2(origin.x + width, bottom + px(4.0))), bar, rows, is_narrow }
    }

    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }

    /// The part of the card under a point.
    pub fn part_at(&self, at: Pos2, reading: &Reading) -> Option<usize> {
        let bar = self.bar.filter(|bar| bar.contains(at))?;
        let bytes = f64::from((at.x - bar.left()) / bar.width()) * reading.total();
        let mut end = 0.0;
        reading.parts.iter().position(|(_, size)| {
            end += size;
            bytes < end
        })
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub reading: &'a Reading,
    /// The line that is explained, and the one under the pointer.
    pub picked: Option<usize>,
    pub hovered: Option<usize>,
}

fn color(tokens: &Tokens, part: Part) -> Option<Color32> {
    match part {
        Part::Weights | Part::Consumed => Some(tokens.role(Role::Parameters)),
        Part::Activations => Some(tokens.role(Role::Activations)),
        Part::Graphs => Some(tokens.role(Role::Workspace)),
        Part::Pool => Some(tokens.role(Role::KvCache)),
        Part::NonTorch => Some(tokens.tint(tokens.muted, 0.5)),
        Part::Open | Part::Beyond => None,
    }
}

pub fn mark(tokens: &Tokens, part: Part) -> Mark {
    let none = if part == Part::Beyond { Area::Free } else { Area::Unknown };
    color(tokens, part).map_or(Mark::Area(none), Mark::Square)
}

impl Scene<'_> {
    pub fn paint(&self) {
        if let Some(bar) = self.geometry.bar {
            self.bar(bar);
        }
        for idx in 0..self.reading.lines.len() {
            self.row(idx);
        }
    }

    fn bar(&self, bar: Rect) {
        let Self { painter, tokens, reading, lang, .. } = self;
        let total = reading.total();
        let text = match lang {
            Lang::Zh => format!("整张卡 {}", words::bytes(total)),
            Lang::En => format!("the card, {}", words::bytes(total)),
        };
        let at = bar.left_top() - vec2(0.0, tokens.px(5.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, text, tokens.font(Type::NoteStrong), tokens.ink);
        let mut from = 0.0;
        for (part, bytes) in &reading.parts {
            let x = |at: f64| bar.left() + bar.width() * (at / total) as f32;
            let rect = Rect::from_min_max(pos2(x(from), bar.top()), pos2(x(from + bytes), bar.bottom()));
            from += bytes;
            match color(tokens, *part) {
                Some(color) => {
                    painter.rect_filled(rect.shrink2(vec2(0.5, 0.0)), 2.0, color);
                }
                None if *part == Part::Beyond => area(painter, tokens, rect, Area::Free),
                None => area(painter, tokens, rect, Area::Unknown),
            }
            let text = words::bytes(*bytes);
            let font = tokens.font(Type::MonoSmall);
            if *part == Part::Pool && ink::text_width(painter, &text, font.clone()) + tokens.px(8.0) < rect.width() {
                ink::text_on(painter, rect.center(), Align2::CENTER_CENTER, text, font, tokens.ink, tokens.surface);
            }
        }
    }

    fn row(&self, idx: usize) {
        let Self { painter, tokens, geometry, reading, lang, .. } = self;
        let (line, rect) = (&reading.lines[idx], geometry.rows[idx]);
        if self.picked == Some(idx) {
            painter.rect_filled(rect, 4.0, tokens.accent_soft);
        } else if self.hovered == Some(idx) {
            painter.rect_filled(rect, 4.0, tokens.sunken);
        }
        let (mono, note) = (tokens.font(Type::MonoSmall), tokens.font(Type::Note));
        let is_known = !line.found.is_empty();
        let y = if geometry.is_narrow { rect.top() + rect.height() * 0.29 } else { rect.center().y };
        let at = pos2(rect.left() + tokens.px(NUMBER - 6.0), y);
        ink::text(painter, at, Align2::RIGHT_CENTER, line.number.to_string(), mono.clone(), tokens.muted);
        let left = rect.left() + tokens.px(NUMBER);
        let said = if is_known { words::short(line, *lang) } else { words::UNKNOWN.get(*lang).to_owned() };
        let split = if geometry.is_narrow { rect.right() } else { rect.left() + rect.width() * 0.54 };
        let shade = if is_known { tokens.ink } else { tokens.muted };
        self.elided(pos2(left, y), split - left - tokens.px(8.0), words::told(&line.text), mono, shade);
        let at = if geometry.is_narrow { pos2(left, rect.top() + rect.height() * 0.72) } else { pos2(split, y) };
        let shade = if is_known { tokens.ink } else { tokens.muted };
        self.elided(at, rect.right() - at.x - tokens.px(2.0), &said, note, shade);
    }

    /// Text on one line, cut where it would leave its room.
    fn elided(&self, at: Pos2, most: f32, text: &str, font: egui::FontId, color: Color32) {
        let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(most.max(24.0));
        let galley = self.painter.layout_job(job);
        let at = pos2(at.x, at.y - galley.size().y / 2.0);
        self.painter.galley(at, galley, color);
    }
}
