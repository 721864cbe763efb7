//! Painting the bins and the regions. It sees the moment, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, MARKS, MOST_CELLS, MOST_STRIPS};
use super::moment::{Ahead, Cell, Deed, Fate, Moment, bytes};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_alloc::bfc::N_BINS;
use vramlab_alloc::replay::{Part, Piece};
use vramlab_kit::paint::{Area, area, dashed_rect};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub moment: &'a Moment,
    pub ahead: &'a Ahead,
    /// Names of the requests by the address of their block.
    pub names: &'a [(u64, String)],
    /// The bin under the pointer.
    pub picked: Option<u32>,
}

/// Bytes in use, of which nothing more is known.
pub fn used(tokens: &Tokens) -> Color32 {
    tokens.role(Role::Parameters)
}

/// Bytes of a block that nobody asked for.
pub fn idle(tokens: &Tokens) -> Color32 {
    tokens.tint(used(tokens), 0.28)
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.columns();
        self.ruler();
        for (bin, cells) in (0..).zip(&self.moment.bins) {
            self.cells(bin, cells);
        }
        self.search();
        self.strips();
    }

    fn text(&self, at: egui::Pos2, anchor: Align2, text: impl Into<String>, role: Type, color: Color32) -> Rect {
        ink::text(self.painter, at, anchor, text, self.tokens.font(role), color)
    }

    fn is_request(&self) -> bool {
        matches!(self.moment.deed, Deed::Served { .. } | Deed::Refused { .. })
    }

    /// Where the search went: from the request's bin to the one where it found a chunk, or to the last.
    fn reach(&self) -> Option<(u32, u32)> {
        let bin = self.moment.bin.filter(|_| self.is_request())?;
        Some((bin, self.moment.found_bin.unwrap_or(N_BINS - 1)))
    }

    fn columns(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        for bin in 0..N_BINS {
            let column = geometry.column(bin);
            let is_searched = self.reach().is_some_and(|(from, to)| (from..=to).contains(&bin));
            let fill = if is_searched { tokens.accent_soft } else { tokens.sunken };
            painter.rect_filled(column, CornerRadius::same(2), fill);
            if self.picked == Some(bin) {
                painter.rect_stroke(
                    column,
                    CornerRadius::same(2),
                    tokens.stroke(1.0, tokens.accent),
                    StrokeKind::Inside,
                );
            }
        }
    }

    fn ruler(&self) {
        let Self { tokens, geometry, .. } = self;
        let is_wide = geometry.column(0).width() > tokens.px(20.0);
        for bin in 0..N_BINS {
            let column = geometry.column(bin);
            let at = pos2(column.center().x, geometry.numbers_y);
            let is_request = self.moment.bin == Some(bin) && self.is_request();
            if is_wide || MARKS.contains(&bin) {
                let color = if is_request { tokens.accent } else { tokens.muted };
                self.text(at, Align2::CENTER_CENTER, bin.to_string(), Type::MonoSmall, color);
            }
        }
        for bin in MARKS {
            let column = geometry.column(bin);
            let (x, anchor) = match bin {
                0 => (column.left(), Align2::LEFT_CENTER),
                20 => (column.right(), Align2::RIGHT_CENTER),
                _ => (column.center().x, Align2::CENTER_CENTER),
            };
            let is_crowded = !is_wide && [4, 16].contains(&bin);
            if !is_crowded {
                self.text(pos2(x, geometry.bounds_y), anchor, words::bound(bin), Type::Small, tokens.muted);
            }
        }
    }

    fn cells(&self, bin: u32, cells: &[Cell]) {
        // What matters is drawn, whatever else is in the bin.
        let mut order: Vec<&Cell> = cells.iter().collect();
        order.sort_by_key(|cell| matches!(cell.fate, Fate::NotSearched | Fate::PassedOver | Fate::AtRest));
        for (nth, cell) in order.iter().take(MOST_CELLS).enumerate() {
            if let Some(place) = self.geometry.cell_at(bin, nth) {
                self.cell(place, cell);
            }
        }
        let more = cells.len().saturating_sub(MOST_CELLS);
        if let (true, Some(place)) = (more > 0, self.geometry.cell_at(bin, MOST_CELLS)) {
            self.text(place.center(), Align2::CENTER_CENTER, format!("+{more}"), Type::Small, self.tokens.muted);
        }
    }

    fn cell(&self, place: Rect, cell: &Cell) {
        let Self { painter, tokens, .. } = self;
        painter.rect_filled(place, CornerRadius::same(2), tokens.surface);
        match cell.fate {
            Fate::FromDriver => {
                dashed_rect(painter, place, 2.0, tokens.stroke(1.5, tokens.accent), tokens.px(3.0));
            }
            Fate::Taken | Fate::Merged => {
                area(painter, tokens, place, Area::CachedFree);
                let stroke = tokens.stroke(2.0, tokens.accent);
                painter.rect_stroke(place, CornerRadius::same(2), stroke, StrokeKind::Inside);
            }
            Fate::NotSearched | Fate::PassedOver | Fate::AtRest => {
                area(painter, tokens, place, Area::CachedFree);
            }
        }
    }

    /// The request above its bin, and the arrow of the search.
    fn search(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let words = words::request(self.moment, self.lang);
        if words.is_empty() {
            return;
        }
        let from = self.moment.bin.or(self.moment.found_bin).unwrap_or(0);
        let x = geometry.column(from).center().x;
        let font = tokens.font(Type::NoteStrong);
        let half = ink::text_width(painter, &words, font.clone()) / 2.0;
        let bounds = geometry.columns.x_range();
        let middle = x.clamp(bounds.min + half, (bounds.max - half).max(bounds.min + half));
        self.text(pos2(middle, geometry.words_y), Align2::CENTER_CENTER, words, Type::NoteStrong, tokens.ink);
        let color = tokens.accent;
        let stroke = tokens.stroke(2.0, color);
        let y = geometry.search_y;
        let top = geometry.columns.top();
        painter.line_segment([pos2(x, y - tokens.px(8.0)), pos2(x, y)], stroke);
        let Some((_, to)) = self.reach() else {
            self.arrow(x, top, color);
            return;
        };
        let end = geometry.column(to).center().x;
        painter.line_segment([pos2(x, y), pos2(end, y)], stroke);
        if self.moment.found_bin.is_some() {
            self.arrow(end, top, color);
        } else {
            let (at, radius) = (pos2(end, y), tokens.px(5.0));
            painter.circle_filled(at, radius + tokens.px(2.0), tokens.surface);
            ink::strike(painter, at, radius, tokens.stroke(2.0, tokens.bad));
        }
    }

    /// Down from the line of the search to the top of a column.
    fn arrow(&self, x: f32, top: f32, color: Color32) {
        let Self { painter, tokens, geometry, .. } = self;
        let tip = pos2(x, top - tokens.px(1.0));
        painter.line_segment([pos2(x, geometry.search_y), tip], tokens.stroke(2.0, color));
        let wing = tokens.px(4.0);
        let corners = vec![tip, tip + vec2(-wing, -wing * 1.4), tip + vec2(wing, -wing * 1.4)];
        painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
    }

    fn strips(&self) {
        let Self { tokens, geometry, moment, .. } = self;
        let at = pos2(geometry.rect.left(), geometry.heading_y);
        self.text(at, Align2::LEFT_CENTER, words::REGIONS.get(self.lang), Type::Note, tokens.ink);
        let asked = self.refused();
        let longest = self.ahead.regions.iter().copied().chain(asked).max().unwrap_or(1);
        let n_rows = self.ahead.regions.len().min(MOST_STRIPS);
        for (row, size) in self.ahead.regions.iter().take(n_rows).enumerate() {
            let place = geometry.strip_at(row, *size, longest);
            match moment.regions.get(row) {
                Some(region) => {
                    self.label(place, words::size(bytes(region)), tokens.muted);
                    self.strip(place, region);
                }
                None => dashed_rect(self.painter, place, 2.0, tokens.stroke(1.0, tokens.line), tokens.px(4.0)),
            }
        }
        let more = self.ahead.regions.len() - n_rows;
        if more > 0 {
            let place = geometry.strip_at(n_rows, 1, 1);
            self.text(place.left_center(), Align2::LEFT_CENTER, format!("+{more}"), Type::Small, tokens.muted);
        }
        if let Some(asked) = asked {
            let place = geometry.strip_at(n_rows + usize::from(more > 0), asked, longest);
            dashed_rect(self.painter, place, 2.0, tokens.stroke(1.5, tokens.bad), tokens.px(4.0));
            self.label(place, words::size(asked), tokens.bad);
            let text = words::pick(self.lang, "放不下".into(), "does not fit".into());
            self.text(
                place.left_center() + vec2(tokens.px(6.0), 0.0),
                Align2::LEFT_CENTER,
                text,
                Type::Small,
                tokens.bad,
            );
        }
    }

    /// Bytes of a request that was refused for lack of memory.
    fn refused(&self) -> Option<u64> {
        match &self.moment.deed {
            Deed::Refused { rounded, refusal, .. } if refusal.is_oom => Some(*rounded),
            _ => None,
        }
    }

    fn label(&self, place: Rect, words: String, color: Color32) {
        let at = pos2(self.geometry.strips.left() - self.tokens.px(6.0), place.center().y);
        self.text(at, Align2::RIGHT_CENTER, words, Type::MonoSmall, color);
    }

    fn strip(&self, place: Rect, region: &[Piece]) {
        let Self { painter, tokens, .. } = self;
        let start = region.first().map_or(0, |piece| piece.address);
        let bytes: u64 = region.iter().map(|piece| piece.size).sum();
        let x = |address: u64| place.left() + place.width() * ((address - start) as f64 / bytes.max(1) as f64) as f32;
        painter.rect_filled(place, CornerRadius::same(2), tokens.surface);
        let has_used = region.iter().any(|piece| piece.part == Part::Used);
        for piece in region {
            // A block narrower than a pixel still has its mark.
            let (left, right) = (x(piece.address), x(piece.address + piece.size));
            let rect = Rect::from_x_y_ranges(left..=right.max(left + 2.0).min(place.right()), place.y_range());
            match piece.part {
                Part::Free if has_used => area(painter, tokens, rect, Area::Fragmented),
                Part::Free | Part::Unmapped => area(painter, tokens, rect, Area::CachedFree),
                Part::Used | Part::Pending => self.block(rect, piece, x(piece.address + piece.requested)),
            }
            if self.moment.focus == Some(piece.address) {
                let stroke = tokens.stroke(2.0, tokens.accent);
                painter.rect_stroke(rect, CornerRadius::same(2), stroke, StrokeKind::Outside);
            }
        }
        painter.rect_stroke(place, CornerRadius::same(2), tokens.hairline(), StrokeKind::Outside);
    }

    /// A block: what was asked for, and what it has beyond that.
    fn block(&self, rect: Rect, piece: &Piece, asked_end: f32) {
        let Self { painter, tokens, .. } = self;
        painter.rect_filled(rect, 0.0, used(tokens));
        if rect.right() - asked_end >= 1.0 {
            let rest = rect.with_min_x(asked_end.max(rect.left()));
            painter.rect_filled(rest, 0.0, tokens.surface);
            painter.rect_filled(rest, 0.0, idle(tokens));
        }
        painter.vline(rect.right(), rect.y_range(), tokens.stroke(1.0, tokens.surface));
        let name = self.names.iter().find(|(address, _)| *address == piece.address);
        let Some((_, name)) = name else { return };
        let font = tokens.font(Type::Small);
        let room = rect.with_max_x(asked_end.min(rect.right())).width() - tokens.px(8.0);
        let whole = format!("{name} {}", words::size(piece.requested));
        let shown = [whole.as_str(), name.as_str()]
            .into_iter()
            .find(|text| ink::text_width(painter, text, font.clone()) <= room);
        if let Some(text) = shown {
            let at = rect.left_center() + vec2(tokens.px(4.0), 0.0);
            ink::text(painter, at, Align2::LEFT_CENTER, text, font, tokens.surface);
        }
    }
}
