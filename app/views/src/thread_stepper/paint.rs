//! Painting the thread stepper. It sees the walk, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Hit, RowPlace};
use super::question::{INDEX, Question, ROWS, Row, source};
use super::words;
use crate::ink;
use crate::lanes::LANES;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind, pos2};
use vramlab_kit::paint::hatch;
use vramlab_kit::{Role, Tokens, Type};
use vramlab_model::divergence::kernel::{Line, Slot, Walk};
use vramlab_units::Lang;

/// Lanes have the colour that they have in the other figures.
const LIT: Role = Role::Parameters;

/// The colour of a lane that executes.
pub fn at_work(tokens: &Tokens) -> Color32 {
    tokens.role(LIT)
}

/// The colour of a lane that stands still.
pub fn waiting(tokens: &Tokens) -> Color32 {
    tokens.tint(tokens.role(LIT), 0.24)
}

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub walk: &'a Walk,
    /// Slots that are over; the last of them is the current one.
    pub n_done: usize,
    pub picked: Option<Hit>,
    /// Names of grid, block and warp.
    pub names: &'a [String; 3],
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.zooms();
        self.names();
        self.blocks();
        self.warps();
        self.lanes();
        self.lane_numbers();
        for (row, place) in ROWS.iter().zip(&self.geometry.rows) {
            self.row(*row, place);
        }
        self.headings();
        self.column();
    }

    /// What the two numbers of a row are.
    fn headings(&self) {
        let Some(first) = self.geometry.rows.first() else { return };
        let (slot, at_work) = match self.lang {
            Lang::Zh => ("槽", "lane"),
            Lang::En => ("slot", "lanes"),
        };
        let y = self.geometry.lanes.y;
        let y = if self.geometry.is_wide { y } else { self.geometry.labels[2].y };
        let name_ends =
            self.geometry.labels[2].x + ink::text_width(self.painter, &self.names[2], self.tokens.font(Type::Note));
        if name_ends > first.slot.x - self.tokens.px(32.0) && !self.geometry.is_wide {
            return; // the warp's name needs the room
        }
        for (text, x) in [(slot, first.slot.x), (at_work, first.at_work.x)] {
            let font = self.tokens.font(Type::Small);
            ink::text(self.painter, pos2(x, y), Align2::RIGHT_CENTER, text, font, self.tokens.muted);
        }
    }

    fn current(&self) -> Option<&Slot> {
        self.n_done.checked_sub(1).and_then(|idx| self.walk.slots.get(idx))
    }

    fn lit(&self) -> Color32 {
        at_work(self.tokens)
    }

    /// Wedges from a part to its enlargement.
    fn zooms(&self) {
        let Geometry { blocks, warps, lanes, .. } = self.geometry;
        let (block, warp) = (self.question.block_idx as usize, self.question.warp as usize);
        let lanes_top = lanes.y - lanes.radius - self.tokens.px(3.0);
        let chain = [
            blocks
                .get(block)
                .zip(warps.first().zip(warps.last()))
                .map(|(from, (first, last))| (*from, first.left(), last.right(), first.top())),
            warps.get(warp).map(|from| (*from, lanes.x.min, lanes.x.max, lanes_top)),
        ];
        for (from, left, right, top) in chain.into_iter().flatten() {
            let corners =
                [from.left_bottom(), from.right_bottom(), pos2(right, top - 1.0), pos2(left, top - 1.0)].to_vec();
            let fill = self.tokens.tint(self.tokens.muted, 0.2);
            self.painter.add(Shape::convex_polygon(corners, fill, Stroke::NONE));
        }
    }

    fn names(&self) {
        for (name, at) in self.names.iter().zip(self.geometry.labels) {
            let font = self.tokens.font(Type::Note);
            ink::text(self.painter, at, Align2::LEFT_CENTER, name.as_str(), font, self.tokens.ink);
        }
    }

    fn part(&self, rect: Rect, is_picked: bool, is_chosen: bool) {
        let corner = CornerRadius::same(3);
        if is_chosen || is_picked {
            let width = if is_chosen { 2.0 } else { 1.0 };
            let stroke = self.tokens.stroke(width, self.tokens.accent);
            self.painter.rect_stroke(rect.expand(1.0), corner, stroke, StrokeKind::Outside);
        }
    }

    /// A part of memory-less work: lit where threads have elements, dim where they have none, hatched without threads.
    fn fill(&self, rect: Rect, elems: f32, threads: f32) {
        let corner = CornerRadius::same(3);
        let dim = waiting(self.tokens);
        let upto = |share: f32| Rect::from_min_max(rect.min, pos2(rect.left() + rect.width() * share, rect.bottom()));
        self.painter.rect_filled(rect, corner, self.tokens.surface);
        self.painter.rect_filled(upto(threads), corner, dim);
        self.painter.rect_filled(upto(elems), corner, self.tokens.tint(self.lit(), 0.75));
        if threads < 1.0 {
            let rest = Rect::from_min_max(pos2(rect.left() + rect.width() * threads, rect.top()), rect.max);
            hatch(self.painter, rest, self.tokens.px(5.0), Stroke::new(1.0, self.tokens.line), false);
            self.painter.rect_stroke(rect, corner, Stroke::new(1.0, self.tokens.line), StrokeKind::Inside);
        }
    }

    fn blocks(&self) {
        let launch = self.question.launch;
        for (idx, rect) in self.geometry.blocks.iter().enumerate() {
            let n_elems: u32 =
                (0..launch.warps_per_block()).map(|warp| launch.elem_mask(idx as u64, warp).count_ones()).sum();
            self.fill(*rect, n_elems as f32 / launch.block_threads as f32, 1.0);
            self.part(*rect, self.picked == Some(Hit::Block(idx)), idx as u64 == self.question.block_idx);
            self.number(*rect, idx);
        }
        self.past_n();
    }

    /// How many threads the pale end of the grid stands for.
    fn past_n(&self) {
        let Some(last) = self.geometry.blocks.last().filter(|_| self.question.launch.idle_threads() > 0) else {
            return;
        };
        let text = words::past_n(self.question.launch.idle_threads(), self.lang);
        let font = self.tokens.font(Type::Small);
        let right = self.geometry.rect.right();
        let y = if self.geometry.is_wide { last.center().y } else { self.geometry.labels[0].y };
        ink::text(self.painter, pos2(right, y), Align2::RIGHT_CENTER, text, font, self.tokens.muted);
    }

    fn number(&self, rect: Rect, idx: usize) {
        if rect.width() >= self.tokens.px(24.0) && rect.height() >= self.tokens.px(16.0) {
            let font = self.tokens.font(Type::MonoSmall);
            let color = if self.tokens.is_dark() { self.tokens.ground } else { self.tokens.surface };
            ink::text(self.painter, rect.center(), Align2::CENTER_CENTER, idx.to_string(), font, color);
        }
    }

    fn warps(&self) {
        let launch = self.question.launch;
        for (idx, rect) in self.geometry.warps.iter().enumerate() {
            let share = |mask: u32| mask.count_ones() as f32 / LANES as f32;
            let elems = launch.elem_mask(self.question.block_idx, idx as u64);
            self.fill(*rect, share(elems), share(launch.thread_mask(idx as u64)));
            self.part(*rect, self.picked == Some(Hit::Warp(idx)), idx as u64 == self.question.warp);
            if share(elems) > 0.6 {
                self.number(*rect, idx);
            }
        }
    }

    fn lanes(&self) {
        let lanes = &self.geometry.lanes;
        let now = self.current().map_or(0, |slot| slot.mask);
        for lane in 0..LANES {
            let (center, has) = (lanes.center(lane), |mask: u32| mask >> lane & 1 == 1);
            if has(now) {
                self.painter.circle_filled(center, lanes.radius, self.lit());
            } else if has(self.walk.threads) {
                self.painter.circle_filled(center, lanes.radius, waiting(self.tokens));
            } else {
                self.painter.circle_stroke(center, lanes.radius - 0.5, Stroke::new(1.0, self.tokens.line));
            }
        }
    }

    /// Some lanes by number, from 0 to 31.
    fn lane_numbers(&self) {
        let lanes = &self.geometry.lanes;
        let y = lanes.y + lanes.radius + self.tokens.px(2.0);
        let font = self.tokens.font(Type::Small);
        for lane in [0, 8, 16, 24, LANES - 1] {
            let text = lane.to_string();
            let half = ink::text_width(self.painter, &text, font.clone()) / 2.0;
            let at = pos2(lanes.center(lane).x.min(self.geometry.rect.right() - half), y);
            ink::text(self.painter, at, Align2::CENTER_TOP, text, font.clone(), self.tokens.muted);
        }
        if self.geometry.is_wide {
            let at = pos2(lanes.x.min - self.tokens.px(6.0), y);
            ink::text(self.painter, at, Align2::RIGHT_TOP, "lane", font, self.tokens.muted);
        }
    }

    fn row(&self, row: Row, place: &RowPlace) {
        let Row::Line(line) = row else {
            self.source(row, place, self.tokens.muted);
            self.turn(place);
            return;
        };
        let slot_idx = self.walk.slots.iter().position(|slot| slot.line == line);
        let is_over = slot_idx.is_some_and(|idx| idx < self.n_done);
        let is_now = slot_idx.is_some_and(|idx| idx + 1 == self.n_done);
        if is_now {
            let corner = CornerRadius::same(self.tokens.control_radius / 2);
            self.painter.rect_filled(place.rect, corner, self.tokens.accent_soft);
            self.marker(place);
        }
        let color = if is_over { self.tokens.ink } else { self.tokens.muted };
        self.source(row, place, color);
        match slot_idx {
            Some(idx) => self.slot(line, idx, is_over, place),
            None => self.skipped(place),
        }
    }

    /// Between the two sides of a divided warp: whose turn it is.
    fn turn(&self, place: &RowPlace) {
        if let Some(text) = words::turn(self.walk, self.lang) {
            let font = self.tokens.font(Type::Small);
            let word = source(Row::Else, self.question.condition);
            let word = ink::text_width(self.painter, &word, self.tokens.font(Type::MonoSmall));
            let half = ink::text_width(self.painter, &text, font.clone()) / 2.0;
            let least = place.source.x + word + self.tokens.space.s + half;
            let at = pos2(self.geometry.lanes.x.center().max(least), place.source.y);
            ink::text(self.painter, at, Align2::CENTER_CENTER, text, font, self.tokens.muted);
        }
    }

    /// The arrow at the row that runs now.
    fn marker(&self, place: &RowPlace) {
        let (half, at) = (self.tokens.px(4.0), pos2(place.rect.left() + self.tokens.px(7.0), place.source.y));
        let corners =
            [pos2(at.x - half * 0.8, at.y - half), pos2(at.x + half, at.y), pos2(at.x - half * 0.8, at.y + half)];
        self.painter.add(Shape::convex_polygon(corners.to_vec(), self.tokens.accent, Stroke::NONE));
    }

    fn source(&self, row: Row, place: &RowPlace, color: Color32) {
        let font = self.tokens.font(Type::MonoSmall);
        let mut text = source(row, self.question.condition);
        if row == Row::Line(Line::Index) {
            let fits = |text: &&&str| ink::text_width(self.painter, text, font.clone()) <= self.geometry.source_width;
            text = INDEX.iter().find(fits).or(INDEX.last()).copied().unwrap_or_default().to_owned();
        }
        ink::text(self.painter, place.source, Align2::LEFT_CENTER, text, font, color);
    }

    fn slot(&self, line: Line, idx: usize, is_over: bool, place: &RowPlace) {
        let mask = self.walk.mask(line).unwrap_or_default();
        for lane in 0..LANES {
            self.cell(
                self.geometry.cell(place, lane),
                mask >> lane & 1 == 1,
                self.walk.threads >> lane & 1 == 1,
                is_over,
            );
        }
        let color = if is_over { self.tokens.ink } else { self.tokens.muted };
        let font = self.tokens.font(Type::MonoSmall);
        ink::text(self.painter, place.slot, Align2::RIGHT_CENTER, (idx + 1).to_string(), font.clone(), color);
        let n_on = mask.count_ones().to_string();
        ink::text(self.painter, place.at_work, Align2::RIGHT_CENTER, n_on, font, color);
    }

    fn cell(&self, cell: Rect, is_on: bool, is_thread: bool, is_over: bool) {
        let corner = CornerRadius::same(2);
        match (is_over, is_on, is_thread) {
            (true, true, _) => {
                self.painter.rect_filled(cell, corner, self.lit());
            }
            (true, false, true) => {
                self.painter.rect_filled(cell, corner, waiting(self.tokens));
            }
            (false, true, _) => {
                let stroke = Stroke::new(1.0, self.tokens.tint(self.tokens.muted, 0.55));
                self.painter.rect_stroke(cell, corner, stroke, StrokeKind::Inside);
            }
            _ => {
                let dot = Rect::from_center_size(cell.center(), egui::Vec2::splat(2.0));
                self.painter.rect_filled(dot, CornerRadius::ZERO, self.tokens.line);
            }
        }
    }

    /// A statement that no lane of the warp executes.
    fn skipped(&self, place: &RowPlace) {
        let text = match self.lang {
            Lang::Zh => "没有 lane 走这里，不占槽",
            Lang::En => "no lane comes here: no slot",
        };
        let font = self.tokens.font(Type::Small);
        ink::text(self.painter, place.strip.left_center(), Align2::LEFT_CENTER, text, font, self.tokens.muted);
    }

    /// The lane under the pointer, through all rows.
    fn column(&self) {
        let Some(Hit::Lane(lane)) = self.picked else { return };
        let lanes = &self.geometry.lanes;
        let stroke = self.tokens.stroke(1.5, self.tokens.accent);
        self.painter.circle_stroke(lanes.center(lane), lanes.radius + self.tokens.px(2.0), stroke);
        if let (Some(first), Some(last)) = (self.geometry.rows.first(), self.geometry.rows.last()) {
            let area = self.geometry.cell(first, lane).union(self.geometry.cell(last, lane)).expand(1.5);
            self.painter.rect_stroke(area, CornerRadius::same(3), stroke, StrokeKind::Outside);
        }
    }
}
