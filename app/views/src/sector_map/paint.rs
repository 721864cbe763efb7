//! Painting the sector map. It sees the answer, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Hit, SectorBox, Side};
use crate::ink;
use crate::lanes::{LANES, drop_curve};
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2};
use vramlab_kit::paint::hatch;
use vramlab_kit::{Role, Tokens, Type};
use vramlab_model::access::LaneAddrs;
use vramlab_model::coalescing::{Coalesced, DRAM_PIECE, SECTOR};
use vramlab_units::{ByteAddr, Lang};

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub addrs: &'a LaneAddrs,
    pub elem_bytes: u64,
    pub answer: &'a Coalesced,
    /// Under the pointer, or under the keyboard's cursor.
    pub picked: Option<Hit>,
    pub has_dram: bool,
}

/// The data of this figure: one object, one colour.
const DATA: Role = Role::Parameters;

/// Bytes that a lane asked for.
pub fn asked(tokens: &Tokens) -> Color32 {
    tokens.role(DATA)
}

/// The ground of a sector that moves.
pub fn moved(tokens: &Tokens) -> Color32 {
    tokens.tint(asked(tokens), 0.2)
}

pub fn moved_edge(tokens: &Tokens) -> Color32 {
    tokens.tint(asked(tokens), 0.55)
}

/// The hatch over bytes that move for nothing.
pub fn unused(tokens: &Tokens) -> Color32 {
    tokens.tint(asked(tokens), 0.5)
}

pub fn untouched_edge(tokens: &Tokens) -> Color32 {
    tokens.tint(tokens.muted, 0.45)
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.curves();
        self.lines();
        for found in &self.geometry.lines {
            self.painter.rect_filled(found.rect, CornerRadius::ZERO, self.tokens.surface); // curves pass behind
        }
        for found in &self.geometry.sectors {
            self.sector(found);
        }
        if self.has_dram {
            self.dram();
        }
        self.highlight();
        self.lanes();
    }

    fn active(&self) -> impl Iterator<Item = (usize, ByteAddr)> {
        self.addrs.iter().enumerate().filter_map(|(lane, addr)| addr.map(|addr| (lane, addr)))
    }

    fn is_moved(&self, sector: u64) -> bool {
        self.answer.sectors.binary_search(&sector).is_ok()
    }

    fn is_picked(&self, lane: usize, addr: ByteAddr) -> bool {
        match self.picked {
            Some(Hit::Lane(picked)) => picked == lane,
            Some(Hit::Sector(sector)) => addr.0 / SECTOR.0 == sector,
            None => false,
        }
    }

    fn curve(&self, lane: usize, addr: ByteAddr, stroke: Stroke) {
        let Some(landing) = self.geometry.landing(addr.0, self.elem_bytes) else { return };
        let mut from = self.geometry.lanes.center(lane);
        let radius = self.geometry.lanes.radius;
        from.y += if self.geometry.side == Side::Below { radius } else { -radius };
        self.painter.add(drop_curve(from, landing, stroke));
    }

    fn curves(&self) {
        let share = match self.geometry.n_rows {
            0..=2 => 0.6,
            3..=4 => 0.3,
            _ => 0.25,
        };
        let stroke = self.tokens.stroke(1.2, self.tokens.tint(self.tokens.role(DATA), share));
        for (lane, addr) in self.active().filter(|(lane, addr)| !self.is_picked(*lane, *addr)) {
            self.curve(lane, addr, stroke);
        }
    }

    /// Names of lines; ⋮ where lines before are left out.
    fn lines(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let above = geometry.side == Side::Above;
        let (font, offset) = match geometry.has_sector_labels {
            true => (tokens.font(Type::Note), tokens.px(18.0)),
            false => (tokens.font(Type::Small), tokens.px(1.0)),
        };
        for found in &geometry.lines {
            let rect = found.rect;
            let label = match self.lang {
                Lang::Zh if rect.width() >= tokens.px(110.0) => format!("缓存行 {}", found.line),
                Lang::Zh => format!("行 {}", found.line),
                Lang::En if rect.width() >= tokens.px(110.0) => format!("cache line {}", found.line),
                Lang::En => format!("line {}", found.line),
            };
            let label = if found.is_after_jump { format!("⋮ {label}") } else { label };
            let is_touched = self.answer.lines.binary_search(&found.line).is_ok();
            let color = if is_touched { tokens.ink } else { tokens.muted };
            let (y, anchor) = if above {
                (rect.top() - offset, Align2::CENTER_BOTTOM)
            } else {
                (rect.bottom() + offset, Align2::CENTER_TOP)
            };
            let text =
                ink::text_on(painter, pos2(rect.center().x, y), anchor, label, font.clone(), color, tokens.surface);
            if geometry.has_sector_labels {
                self.bracket(rect, text);
            }
        }
    }

    /// A hairline left and right of a line's name: these four sectors belong together.
    fn bracket(&self, line: Rect, text: Rect) {
        let y = self.painter.round_to_pixel_center(text.center().y);
        let gap = self.tokens.space.xs;
        let stroke = Stroke::new(1.0, self.tokens.line);
        self.painter.hline(line.left()..=text.left() - gap, y, stroke);
        self.painter.hline(text.right() + gap..=line.right(), y, stroke);
    }

    fn sector(&self, found: &SectorBox) {
        let Self { painter, tokens, geometry, .. } = self;
        let data = tokens.role(DATA);
        let corner = CornerRadius::same((found.rect.height() * 0.12).clamp(2.0, 5.0) as u8);
        let is_moved = self.is_moved(found.sector);
        let (fill, edge) =
            if is_moved { (moved(tokens), moved_edge(tokens)) } else { (tokens.surface, untouched_edge(tokens)) };
        painter.rect(found.rect, corner, fill, Stroke::new(1.0, edge), StrokeKind::Inside);
        if is_moved {
            hatch(painter, found.inner(), tokens.px(5.0), Stroke::new(1.0, unused(tokens)), false);
            for (_, addr) in self.active().filter(|(_, addr)| addr.0 / SECTOR.0 == found.sector) {
                self.used(addr, data);
            }
        }
        if self.is_dram_only(found.sector) {
            hatch(painter, found.inner(), tokens.px(7.0), Stroke::new(1.0, tokens.tint(tokens.muted, 0.5)), false);
        }
        if geometry.has_sector_labels {
            let (y, anchor) = if geometry.side == Side::Above {
                (found.rect.top() - 1.0, Align2::CENTER_BOTTOM)
            } else {
                (found.rect.bottom() + 1.0, Align2::CENTER_TOP)
            };
            let color = if is_moved { tokens.ink } else { tokens.muted };
            let font = tokens.font(Type::MonoSmall);
            let label = found.sector.to_string();
            ink::text_on(painter, pos2(found.rect.center().x, y), anchor, label, font, color, tokens.surface);
        }
    }

    fn used(&self, addr: ByteAddr, color: Color32) {
        if let Some(area) = self.geometry.bytes(addr.0, self.elem_bytes) {
            let gap = if area.width() >= 4.0 { 1.0 } else { area.width() * 0.12 };
            self.painter.rect_filled(area.with_max_x(area.right() - gap), CornerRadius::ZERO, color);
        }
    }

    /// The 64-byte pieces that leave DRAM: an outline around two sectors, also where only one of them was asked for.
    fn dram(&self) {
        let per_piece = DRAM_PIECE.0 / SECTOR.0;
        let stroke = self.tokens.stroke(1.5, self.tokens.muted);
        for piece in &self.answer.dram_pieces {
            let boxes = (0..per_piece).filter_map(|part| self.geometry.sector(piece * per_piece + part));
            let area = boxes.map(|found| found.rect).reduce(Rect::union);
            if let Some(area) = area {
                let corner = CornerRadius::same(self.tokens.control_radius / 2 + 2);
                self.painter.rect_stroke(area.expand(1.0), corner, stroke, StrokeKind::Outside);
            }
        }
    }

    fn is_dram_only(&self, sector: u64) -> bool {
        let piece = sector * SECTOR.0 / DRAM_PIECE.0;
        self.has_dram && !self.is_moved(sector) && self.answer.dram_pieces.binary_search(&piece).is_ok()
    }

    fn highlight(&self) {
        let Self { tokens, .. } = self;
        for (lane, addr) in self.active().filter(|(lane, addr)| self.is_picked(*lane, *addr)) {
            self.curve(lane, addr, tokens.stroke(2.0, tokens.accent));
            if let Some(area) = self.geometry.bytes(addr.0, self.elem_bytes) {
                self.painter.rect_stroke(
                    area,
                    CornerRadius::same(1),
                    tokens.stroke(1.5, tokens.accent),
                    StrokeKind::Outside,
                );
            }
        }
        if let Some(Hit::Sector(sector)) = self.picked
            && let Some(found) = self.geometry.sector(sector)
        {
            let corner = CornerRadius::same(4);
            self.painter.rect_stroke(found.rect, corner, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
        }
    }

    fn lanes(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        if geometry.side == Side::Below {
            let place = geometry.rect.left_top();
            ink::text(painter, place, Align2::LEFT_TOP, "lane 0 … 31", tokens.font(Type::Small), tokens.muted);
        }
        for lane in 0..LANES {
            let (center, radius) = (geometry.lanes.center(lane), geometry.lanes.radius);
            let addr = self.addrs.get(lane).copied().flatten();
            if addr.is_some() {
                painter.circle_filled(center, radius, tokens.role(DATA));
            } else {
                painter.circle(center, radius, tokens.surface, tokens.stroke(1.5, tokens.muted));
            }
            let is_picked = match (self.picked, addr) {
                (Some(Hit::Lane(picked)), _) => picked == lane,
                (_, Some(addr)) => self.is_picked(lane, addr),
                _ => false,
            };
            if is_picked {
                painter.circle_stroke(center, radius + tokens.px(2.5), tokens.stroke(2.0, tokens.accent));
            }
        }
    }
}
