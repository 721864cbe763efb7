//! Painting a frame: tables, pool, queue of free blocks, line of time. It sees answers, geometry and tokens, decides nothing.

use super::cells::{self, Cell};
use super::frame::{Block, Frame, Moment, Phase, Table};
use super::layout::Geometry;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Mesh, Painter, Pos2, Rect, Shape, StrokeKind, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub frame: &'a Frame,
    pub history: &'a [Moment],
    pub step: usize,
    /// The request that is outlined.
    pub picked: Option<u32>,
    /// Tables in the order in which they are shown.
    pub shown: &'a [&'a Table],
    pub has_seats: bool,
}

/// The colour of a request.
pub fn color(tokens: &Tokens, id: u32) -> Color32 {
    tokens.category(id as usize)
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.tables();
        self.pool();
        self.queue();
        self.line();
    }

    fn head(&self, rect: Rect, title: &str, note: &str) {
        let Self { painter, tokens, .. } = self;
        let up = vec2(0.0, tokens.px(7.0));
        let font = tokens.font(Type::NoteStrong);
        let title = ink::text(painter, rect.left_top() - up, Align2::LEFT_BOTTOM, title, font, tokens.ink);
        let font = tokens.font(Type::Small);
        if ink::text_width(painter, note, font.clone()) <= rect.right() - title.right() - tokens.space.s {
            ink::text(painter, rect.right_top() - up, Align2::RIGHT_BOTTOM, note, font, tokens.muted);
        }
    }

    fn tables(&self) {
        let Self { painter, tokens, geometry, lang, frame, .. } = self;
        let note = if self.has_seats { words::seats(frame, *lang) } else { String::new() };
        self.head(geometry.tables, words::TABLES.get(*lang), &note);
        let most = geometry.n_rows;
        let is_cut = self.shown.len() > most;
        let n = if is_cut { most - 1 } else { self.shown.len() };
        for (row, table) in self.shown.iter().take(n).enumerate() {
            let min = geometry.tables.min + vec2(0.0, row as f32 * geometry.row);
            self.table(Rect::from_min_size(min, vec2(geometry.tables.width(), geometry.row)), table);
        }
        let font = tokens.font(Type::Small);
        let at = |row: usize| pos2(geometry.tables.left(), geometry.tables.top() + (row as f32 + 0.5) * geometry.row);
        if is_cut {
            let more = words::more_tables(self.shown.len() - n, *lang);
            ink::text(painter, at(n), Align2::LEFT_CENTER, more, font, tokens.muted);
        } else if n == 0 {
            ink::text(painter, at(0), Align2::LEFT_CENTER, words::NOBODY.get(*lang), font, tokens.muted);
        }
    }

    fn table(&self, rect: Rect, table: &Table) {
        let Self { painter, tokens, lang, .. } = self;
        let middle = rect.center().y;
        let small = tokens.font(Type::Small);
        if self.picked == Some(table.id) {
            painter.rect_filled(rect.expand2(vec2(3.0, 0.0)), CornerRadius::same(4), tokens.accent_soft);
        }
        let name = ink::text(
            painter,
            pos2(rect.left() + tokens.px(2.0), middle),
            Align2::LEFT_CENTER,
            &table.name,
            tokens.font(Type::MonoSmall),
            tokens.ink,
        );
        let shade = match table.phase {
            Phase::Running => tokens.muted,
            Phase::Waiting => tokens.caution,
            Phase::Preempted => tokens.bad,
        };
        let at = pos2(name.right().max(rect.left() + tokens.px(26.0)) + tokens.px(6.0), middle);
        let phase = words::phase(table.phase).get(*lang);
        let phase = ink::text(painter, at, Align2::LEFT_CENTER, phase, small.clone(), shade);
        let left = phase.right().max(rect.left() + tokens.px(84.0)) + tokens.px(6.0);
        let right = rect.right() - tokens.px(64.0);
        let count = words::tokens_of(table.tokens, *lang);
        ink::text(painter, pos2(rect.right(), middle), Align2::RIGHT_CENTER, count, small, tokens.muted);
        let room = Rect::from_min_max(pos2(left, rect.top() + 2.0), pos2(right, rect.bottom() - 2.0));
        self.row_of_blocks(room, table);
    }

    /// The blocks of a table, each as wide as there is room for.
    fn row_of_blocks(&self, room: Rect, table: &Table) {
        let Self { painter, tokens, frame, .. } = self;
        let n = table.blocks.len().max(1);
        let wide = (room.width() / n as f32).min(tokens.px(30.0));
        // All of a table's blocks have their number, or none.
        let widest = table.blocks.iter().max().map(u32::to_string).unwrap_or_default();
        let has_numbers = ink::text_width(painter, &widest, tokens.font(Type::MonoSmall)) + 5.0 <= wide;
        let mut mesh = Mesh::default();
        let size = frame.block_tokens;
        for (idx, number) in table.blocks.iter().enumerate() {
            let min = pos2(room.left() + idx as f32 * wide, room.top());
            let rect = Rect::from_min_size(min, vec2(wide, room.height()));
            let block = frame.blocks[*number as usize];
            let filled = table.tokens.saturating_sub(idx as u32 * size).min(size);
            let share = filled as f32 / size as f32;
            let cell =
                Cell { block: Block { owner: Some(table.id), ..block }, share, label: has_numbers.then_some(*number) };
            cells::paint(painter, &mut mesh, tokens, rect, &cell);
        }
        painter.add(Shape::mesh(mesh));
    }

    fn pool(&self) {
        let Self { painter, tokens, geometry, lang, frame, .. } = self;
        let grid = &geometry.grid;
        self.head(geometry.pool, words::POOL.get(*lang), &words::pool_note(frame, grid.per_cell, *lang));
        let mut mesh = Mesh::default();
        let size = frame.block_tokens as f32;
        for cell in 0..grid.n_cells() {
            let rect = grid.square(cell);
            if grid.per_cell > 1 {
                let first = (cell * grid.per_cell) as usize;
                let last = (first + grid.per_cell as usize).min(frame.blocks.len());
                cells::group(&mut mesh, tokens, rect, &frame.blocks[first..last]);
                continue;
            }
            let block = frame.blocks[cell as usize];
            let one = Cell { block, share: block.filled as f32 / size, label: Some(cell) };
            cells::paint(painter, &mut mesh, tokens, rect, &one);
        }
        painter.add(Shape::mesh(mesh));
        let Some(table) = self.picked.and_then(|id| frame.table(id)) else { return };
        let mut ring = Mesh::default();
        for block in &table.blocks {
            let square = grid.square(block / grid.per_cell);
            cells::ring(&mut ring, square, (grid.cell * 0.12).clamp(1.0, tokens.px(2.5)), tokens.accent);
        }
        painter.add(Shape::mesh(ring));
    }

    /// Free blocks as they will be taken, as many as there is room for.
    fn queue(&self) {
        let Self { painter, tokens, geometry, lang, frame, .. } = self;
        let rect = geometry.queue;
        self.head(rect, words::QUEUE.get(*lang), &words::queue_note(frame, *lang));
        let digits = frame.blocks.len().to_string().len() as f32;
        let wide = tokens.px(12.0 + 8.0 * digits);
        let room = (rect.width() / wide).floor().max(1.0) as usize;
        let is_cut = frame.queue.len() > room;
        let n = if is_cut { room - 1 } else { frame.queue.len() };
        let mut mesh = Mesh::default();
        for (idx, number) in frame.queue.iter().take(n).enumerate() {
            let min = pos2(rect.left() + idx as f32 * wide, rect.top());
            let block = frame.blocks[*number as usize];
            let cell = Cell { block, share: 0.0, label: Some(*number) };
            cells::paint(painter, &mut mesh, tokens, Rect::from_min_size(min, vec2(wide, rect.height())), &cell);
        }
        painter.add(Shape::mesh(mesh));
        let font = tokens.font(Type::Small);
        let at = pos2(rect.left() + n as f32 * wide + tokens.px(6.0), rect.center().y);
        if is_cut {
            ink::text(painter, at, Align2::LEFT_CENTER, "…", font, tokens.muted);
        } else if n == 0 {
            ink::text(painter, at, Align2::LEFT_CENTER, words::NONE_FREE.get(*lang), font, tokens.bad);
        }
    }

    /// Used blocks over the steps, a column of pixels each, with where one gave way and where we are.
    fn line(&self) {
        let Self { painter, tokens, geometry, lang, history, frame, .. } = self;
        let rect = geometry.line;
        let whole = Rect::from_min_max(pos2(geometry.rect.left(), rect.top()), rect.max);
        self.head(whole, words::LINE.get(*lang), &words::line_note(history, *lang));
        let font = tokens.font(Type::Small);
        let n_blocks = frame.blocks.len().max(1) as f32;
        for share in [0.0_f32, 0.5, 1.0] {
            let y = rect.bottom() - rect.height() * share;
            painter.hline(rect.x_range(), y, tokens.stroke(1.0, tokens.grid));
            let at = pos2(rect.left() - tokens.px(5.0), y);
            if share != 0.5 {
                let label = format!("{:.0}", share * n_blocks);
                ink::text(painter, at, Align2::RIGHT_CENTER, label, font.clone(), tokens.muted);
            }
        }
        let mut mesh = Mesh::default();
        let n_columns = (rect.width() as usize).clamp(1, history.len().max(1));
        let kv = tokens.role(Role::KvCache);
        for column in 0..n_columns {
            let (from, to) = (column * history.len() / n_columns, (column + 1) * history.len() / n_columns);
            let Some(part) = history.get(from..to).filter(|part| !part.is_empty()) else { continue };
            let used = part.iter().map(|moment| moment.used).max().unwrap_or(0) as f32;
            let x = |at: usize| rect.left() + rect.width() * at as f32 / history.len() as f32;
            let top = rect.bottom() - rect.height() * used / n_blocks;
            let bar = Rect::from_min_max(pos2(x(from), top), pos2(x(to), rect.bottom()));
            mesh.add_colored_rect(bar, kv);
            if part.iter().any(|moment| moment.is_preempted) {
                let tick = Rect::from_min_max(
                    pos2(x(from), rect.top() - tokens.px(5.0)),
                    pos2(x(to).max(x(from) + 1.5), rect.top()),
                );
                mesh.add_colored_rect(tick, tokens.bad);
            }
        }
        painter.add(Shape::mesh(mesh));
        let x = geometry.x_of_step(self.step, history.len());
        let reach = rect.top() - tokens.px(5.0)..=rect.bottom() + tokens.px(3.0);
        painter.vline(x, reach, tokens.stroke(1.5, tokens.accent));
        self.axis(rect, x);
    }

    fn axis(&self, rect: Rect, x: f32) {
        let Self { painter, tokens, lang, history, .. } = self;
        let font = tokens.font(Type::Small);
        let low = rect.bottom() + tokens.px(4.0);
        let put = |at: Pos2, anchor, text: String, color| ink::text(painter, at, anchor, text, font.clone(), color);
        let end = put(pos2(rect.right(), low), Align2::RIGHT_TOP, words::steps(history.len(), *lang), tokens.muted);
        let here = words::steps(self.step, *lang);
        let half = ink::text_width(painter, &here, font.clone()) / 2.0;
        let at = x.max(rect.left() + half);
        if at + half + tokens.space.s < end.left() {
            put(pos2(at, low), Align2::CENTER_TOP, here, tokens.ink);
        }
        painter.rect_stroke(rect, 0.0, tokens.stroke(1.0, tokens.line), StrokeKind::Outside);
    }
}
