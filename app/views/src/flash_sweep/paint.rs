//! Painting the sweep: what is on chip is solid, what was computed and thrown away is pale, what the mask skips is hatched.

use super::layout::{Geometry, N_ROWS};
use super::question::{Question, Sums};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Mesh, Painter, Rect, Shape, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{dashed_rect, hatch};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

/// What a block of an H200 may take of shared memory, and the registers of an SM. Source: CUDA Programming Guide, compute
/// capability 9.0: 227 KiB, 64 Ki registers of 4 B.
const SHARED_LIMIT: u128 = 227 * 1024;
const FILE_LIMIT: u128 = 256 * 1024;
/// Squares of at least this side show their score.
const READABLE: f32 = 19.0;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub sums: &'a Sums,
    pub step: u64,
    /// Row of the tile that is followed.
    pub row: u64,
    /// The tile under the pointer.
    pub over: Option<(u64, u64)>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.strips();
        self.grid();
        self.table();
        self.meters();
    }

    fn current(&self) -> (u64, u64) {
        self.question.tiling.tile(self.step).unwrap_or((0, 0))
    }

    fn title(&self, rect: Rect, text: &str) {
        let at = rect.left_top() - vec2(0.0, self.tokens.px(6.0));
        let font = self.tokens.font(Type::NoteStrong);
        ink::text(self.painter, at, Align2::LEFT_BOTTOM, text, font, self.tokens.ink);
    }

    /// Q, K with V, and O as they lie in HBM; the tiles that are on chip solid.
    fn strips(&self) {
        let Self { tokens, geometry, question, painter, .. } = self;
        let tiling = &question.tiling;
        let (row, col) = self.current();
        let (q, kv) = (tokens.role(Role::Activations), tokens.role(Role::KvCache));
        let quiet = |color| tokens.tint(color, 0.28);
        painter.rect_filled(geometry.queries, 2.0, quiet(q));
        painter.rect_filled(geometry.keys, 2.0, quiet(kv));
        painter.rect_filled(geometry.output, 2.0, tokens.sunken);
        painter.rect_filled(geometry.beside(geometry.queries, tiling, row), 1.0, q);
        painter.rect_filled(geometry.above(tiling, col), 1.0, kv);
        let is_over = self.is_row_over();
        let done = if is_over { row + 1 } else { row };
        if done > 0 {
            let last = geometry.beside(geometry.output, tiling, done - 1);
            painter.rect_filled(Rect::from_min_max(geometry.output.min, last.max), 1.0, q);
        }
        if !is_over {
            let part = geometry.beside(geometry.output, tiling, row);
            hatch(painter, part, tokens.px(4.0), tokens.stroke(1.0, q), false);
        }
        painter.rect_stroke(geometry.output, 2.0, tokens.stroke(1.0, tokens.line), StrokeKind::Outside);
        let font = tokens.font(Type::Small);
        let name = |at, anchor, text: &str| ink::text(painter, at, anchor, text, font.clone(), tokens.muted);
        let gap = vec2(tokens.px(4.0), 0.0);
        name(geometry.queries.left_top() - gap, Align2::RIGHT_TOP, "Q");
        name(geometry.keys.left_center() - gap, Align2::RIGHT_CENTER, "K V");
        name(geometry.output.center_top() - vec2(0.0, tokens.px(3.0)), Align2::CENTER_BOTTOM, "O");
    }

    /// Whether the last tile of the current row is over, so that its output is in HBM.
    fn is_row_over(&self) -> bool {
        let (row, col) = self.current();
        self.step > 0 && col + 1 == self.question.tiling.visited_in(row)
    }

    fn grid(&self) {
        let Self { tokens, geometry, question, painter, .. } = self;
        let tiling = &question.tiling;
        let here = self.current();
        let color = tokens.role(Role::Workspace);
        painter.rect_filled(geometry.grid, 2.0, tokens.sunken);
        let side = geometry.tile(tiling, 0, 0).height().min(geometry.tile(tiling, 0, 0).width());
        let gap = if side > 5.0 { 0.75 } else { 0.0 };
        let mut mesh = Mesh::default();
        let mut before = 0;
        for row in 0..tiling.row_tiles() {
            let visited = tiling.visited_in(row);
            for col in 0..tiling.col_tiles() {
                let rect = geometry.tile(tiling, row, col).shrink(gap);
                match (col < visited).then_some(before + col + 1) {
                    None if side >= tokens.px(16.0) => {
                        let stroke = tokens.stroke(1.0, tokens.tint(tokens.muted, 0.45));
                        hatch(painter, rect, tokens.px(7.0), stroke, false);
                    }
                    None => mesh.add_colored_rect(rect, tokens.tint(tokens.muted, 0.2)),
                    Some(_) if (row, col) == here && self.step > 0 => mesh.add_colored_rect(rect, color),
                    Some(step) if step < self.step => mesh.add_colored_rect(rect, tokens.tint(color, 0.26)),
                    Some(_) => {}
                }
            }
            before += visited;
        }
        painter.add(Shape::mesh(mesh));
        self.scores();
        self.lines();
        let edge = tokens.stroke(2.0, tokens.ink);
        if self.step > 0 {
            painter.rect_stroke(geometry.tile(tiling, here.0, here.1), 1.0, edge, StrokeKind::Outside);
        }
        if let Some((row, col)) = self.over.filter(|over| *over != here) {
            let rect = geometry.tile(tiling, row, col);
            painter.rect_stroke(rect, 1.0, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
        }
        self.title(geometry.keys.translate(vec2(0.0, -tokens.px(1.0))), &self.grid_title());
    }

    fn grid_title(&self) -> String {
        let n = self.question.tiling.tokens;
        format!("{} · {n} × {n}", words::SCORES.get(self.lang))
    }

    /// Edges of tiles where they are wide enough.
    fn lines(&self) {
        let Self { tokens, geometry, question, painter, .. } = self;
        let tiling = &question.tiling;
        let stroke = tokens.stroke(1.0, tokens.line);
        for row in 1..tiling.row_tiles() {
            let y = geometry.tile(tiling, row, 0).top();
            if geometry.tile(tiling, 0, 0).height() > 5.0 {
                painter.hline(geometry.grid.x_range(), y, stroke);
            }
        }
        for col in 1..tiling.col_tiles() {
            let x = geometry.tile(tiling, 0, col).left();
            if geometry.tile(tiling, 0, 0).width() > 5.0 {
                painter.vline(x, geometry.grid.y_range(), stroke);
            }
        }
    }

    /// The scores themselves, as far as they have been computed, where there is room to read them.
    fn scores(&self) {
        let Self { tokens, geometry, question, painter, .. } = self;
        let tiling = &question.tiling;
        if geometry.score(tiling, 0, 0).width() < tokens.px(READABLE) {
            return;
        }
        let (row, col) = self.current();
        let font = tokens.font(Type::MonoSmall);
        // The tile that is solid is bright in the dark.
        let on_tile = if tokens.is_dark() { tokens.surface } else { tokens.ink };
        for query in 0..tiling.tokens {
            for key in 0..tiling.tokens {
                let tile = (query / tiling.rows, key / tiling.cols);
                let is_done = tiling.step_of(tile.0, tile.1).is_some_and(|step| step <= self.step);
                if !is_done {
                    continue;
                }
                let at = geometry.score(tiling, query, key).center();
                let shade = if tile == (row, col) { on_tile } else { tokens.muted };
                let text = words::short(tiling.score(query, key));
                ink::text(painter, at, Align2::CENTER_CENTER, text, font.clone(), shade);
            }
        }
    }

    /// m, l, o and o ÷ l of the first rows of the tile.
    fn table(&self) {
        let Self { tokens, geometry, question, painter, lang, .. } = self;
        let tiling = &question.tiling;
        self.title(geometry.table, words::REGISTERS.get(*lang));
        let (row_tile, col) = self.current();
        let n = if self.step > 0 { col + 1 } else { 0 };
        let rows = tiling.rows_in(row_tile);
        let first = self.row.min(rows.saturating_sub(1)).saturating_sub(N_ROWS - 1);
        let font = tokens.font(Type::MonoSmall);
        let columns = ["", "m", "l", "o", "o ÷ l"];
        let x = |column: usize| geometry.table.left() + geometry.table.width() * [0.12, 0.27, 0.5, 0.75, 1.0][column];
        for (column, name) in columns.iter().enumerate() {
            let at = pos2(x(column), geometry.table_row(0).center().y);
            ink::text(painter, at, Align2::RIGHT_CENTER, *name, font.clone(), tokens.muted);
        }
        for idx in 0..N_ROWS.min(rows) {
            let rect = geometry.table_row(idx + 1);
            let row = row_tile * tiling.rows + first + idx;
            if first + idx == self.row {
                painter.rect_filled(rect.expand2(vec2(3.0, 0.0)), 4.0, tokens.accent_soft);
            }
            painter.hline(rect.x_range(), rect.top(), tokens.stroke(1.0, tokens.grid));
            let state = tiling.running(row, n);
            let cells = [
                row.to_string(),
                words::short(state.m),
                words::short(state.l),
                words::short(state.o),
                words::short(state.result()),
            ];
            for (column, cell) in cells.into_iter().enumerate() {
                let shade = if column == 0 { tokens.muted } else { tokens.ink };
                let at = pos2(x(column), rect.center().y);
                ink::text(painter, at, Align2::RIGHT_CENTER, cell, font.clone(), shade);
            }
        }
    }

    fn meters(&self) {
        let Self { tokens, geometry, question, sums, lang, .. } = self;
        let tiling = &question.tiling;
        let io = sums.io;
        let most = io.naive.max(sums.tiled).max(1) as f32;
        let now = tiling.hbm_after(self.step);
        let hbm = tokens.hierarchy(0.6);
        self.title(geometry.meters, words::METERS.get(*lang));
        let naive = self.bar(0, words::NAIVE.get(*lang), &words::bytes(io.naive), io.naive as f32 / most, None);
        dashed_rect(self.painter, naive, 2.0, tokens.stroke(1.4, tokens.ink), tokens.px(4.0));
        let said = format!("{} / {}", words::bytes(now), words::bytes(sums.tiled));
        let tiled = self.bar(1, words::TILED.get(*lang), &said, now as f32 / most, Some(hbm));
        let whole = tiled.with_max_x(tiled.left() + geometry.meters.width() * sums.tiled as f32 / most);
        dashed_rect(self.painter, whole, 2.0, tokens.stroke(1.2, tokens.ink), tokens.px(4.0));
        self.once(whole, io.resident as f32 / most);
        for (idx, name, bytes, limit) in [
            (2, words::SHARED, tiling.shared_bytes(), SHARED_LIMIT),
            (3, words::FILE, tiling.register_bytes(), FILE_LIMIT),
        ] {
            let fits = bytes <= limit;
            let color = if fits { tokens.hierarchy(if idx == 2 { 0.2 } else { 0.0 }) } else { tokens.bad };
            let sign = if fits { "" } else { "!  " };
            let said = format!("{sign}{} / {}", words::bytes(bytes), words::bytes(limit));
            // The limit stands at four fifths of the room.
            let share = (0.8 * bytes as f32 / limit as f32).min(1.0);
            let bar = self.bar(idx, name.get(*lang), &said, share, Some(color));
            let x = geometry.meters.left() + geometry.meters.width() * 0.8;
            let reach = bar.top() - tokens.px(3.0)..=bar.bottom() + tokens.px(3.0);
            self.painter.vline(x, reach, tokens.stroke(1.5, tokens.ink));
        }
    }

    /// What K and V that are read once would take.
    fn once(&self, bar: Rect, share: f32) {
        let Self { tokens, geometry, painter, lang, .. } = self;
        let x = geometry.meters.left() + geometry.meters.width() * share.min(1.0);
        let reach = bar.top() - tokens.px(2.0)..=bar.bottom() + tokens.px(2.0);
        painter.vline(x, reach, tokens.stroke(2.0, tokens.ink));
        let font = tokens.font(Type::Small);
        let text = words::ONCE.get(*lang);
        let wide = ink::text_width(painter, text, font.clone());
        let gap = tokens.px(5.0);
        // Words that would break the end of the dashed frame stand behind it.
        let is_inside = x + 2.0 * gap + wide < bar.right();
        let at = pos2(if is_inside { x } else { x.max(bar.right()) } + gap, bar.center().y);
        if at.x + wide < geometry.meters.right() {
            ink::text_on(painter, at, Align2::LEFT_CENTER, text, font, tokens.ink, tokens.surface);
        }
    }

    /// A line of words and the bar below it; returned is the bar.
    fn bar(&self, idx: usize, name: &str, said: &str, share: f32, fill: Option<Color32>) -> Rect {
        let Self { tokens, geometry, painter, .. } = self;
        let rect = geometry.meter_rect(idx);
        let top = rect.top() + tokens.px(20.0);
        let wide = (rect.width() * share).max(1.0);
        let bar = Rect::from_min_size(pos2(rect.left(), top), vec2(wide, tokens.px(15.0)));
        if let Some(fill) = fill {
            painter.rect_filled(bar, 2.0, fill);
        }
        let small = tokens.font(Type::Small);
        let mono = tokens.font(Type::MonoSmall);
        let y = rect.top() + tokens.px(9.0);
        let left = ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, name, small, tokens.muted);
        let room = rect.right() - left.right() - tokens.px(6.0);
        if ink::text_width(painter, said, mono.clone()) <= room {
            ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, said, mono, tokens.ink);
        }
        bar
    }
}
