//! The picture of the tiles: three matrices with the heat of the last touch, and the tank of shared memory. `roof.rs` paints the
//! rest. Decides nothing.

use super::layout::{Geometry, Hit, MOST_CELLS};
use super::question::{Answer, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::kernels::gemm_tile::BLOCK_LIMIT;
use vramlab_model::kernels::gemm_walk::Matrix;
use vramlab_units::{Bytes, Lang, show};

/// The share of the tank's height at which a block's limit lies.
const RIM: f32 = 0.72;

pub fn color(tokens: &Tokens, matrix: Matrix) -> Color32 {
    match matrix {
        Matrix::A => tokens.category(0),
        Matrix::B => tokens.category(1),
        Matrix::C => tokens.category(2),
    }
}

/// How strong a tile's colour is `age` steps after its last touch, of `steps` in all.
fn heat(age: u64, steps: u64) -> f32 {
    let share = ((1 + age) as f64).ln() / ((1 + steps) as f64).ln();
    0.1 + 0.55 * (1.0 - share as f32).clamp(0.0, 1.0)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    /// The product of tiles that is under way, from 0.
    pub step: u64,
    /// Square tiles on the way up: edge, FLOP a byte, TFLOP/s.
    pub trail: &'a [(u64, f64, f64)],
    pub picked: Option<Hit>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        for matrix in Matrix::ALL {
            self.matrix(matrix);
        }
        self.tank();
        self.roofline();
        self.levels();
    }

    fn matrix(&self, matrix: Matrix) {
        let Self { painter, tokens, geometry, answer, step, .. } = self;
        let (rect, hue) = (geometry.matrix(matrix), color(tokens, matrix));
        painter.rect_filled(rect, 0.0, tokens.surface);
        let grid = self.question.grid(matrix);
        let group = grid.map(|n| (n / MOST_CELLS).max(1));
        for row in (0..grid[0]).step_by(group[0] as usize) {
            for column in (0..grid[1]).step_by(group[1] as usize) {
                let Some(last) = answer.walk.last_touch(matrix, row, column, *step) else { continue };
                let (rows, columns) = ((row, row + group[0]), (column, column + group[1]));
                let cell = geometry.tiles(matrix, grid, rows, columns);
                let share = heat(step - last, answer.walk.steps());
                painter.rect_filled(cell.shrink(0.5), 0.0, tokens.tint(hue, share));
            }
        }
        painter.rect_stroke(rect, 0.0, tokens.stroke(1.0, tokens.muted), StrokeKind::Outside);
        self.footprint(matrix, grid, hue);
        let name = rect.left_top() + vec2(tokens.px(5.0), tokens.px(3.0));
        let letter = words::letter(matrix);
        ink::text_on(
            painter,
            name,
            Align2::LEFT_TOP,
            letter,
            tokens.font(Type::NoteStrong),
            tokens.ink,
            tokens.surface,
        );
    }

    /// The band that the block needs, the tile under way, the tile under the pointer.
    fn footprint(&self, matrix: Matrix, grid: [u64; 2], hue: Color32) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let at = answer.walk.at(self.step);
        let [row, column] = matrix.loops().map(|of| at[of]);
        let band = match matrix {
            Matrix::A => Some(((row, row + 1), (0, grid[1]))),
            Matrix::B => Some(((0, grid[0]), (column, column + 1))),
            Matrix::C => None,
        };
        if let Some((rows, columns)) = band {
            let band = geometry.tiles(matrix, grid, rows, columns);
            painter.rect_stroke(band, 0.0, tokens.stroke(1.0, hue), StrokeKind::Middle);
        }
        let tile = geometry.tiles(matrix, grid, (row, row + 1), (column, column + 1));
        let tile = Rect::from_center_size(tile.center(), tile.size().max(vec2(3.0, 3.0)));
        painter.rect(tile, 0.0, hue, tokens.stroke(2.0, tokens.ink), StrokeKind::Outside);
        if let Some(Hit::Tile(picked, row, column)) = self.picked
            && picked == matrix
        {
            let tile = geometry.tiles(matrix, grid, (row, row + 1), (column, column + 1));
            painter.rect_stroke(tile.expand(1.0), 0.0, tokens.stroke(1.6, tokens.accent), StrokeKind::Outside);
        }
    }

    /// Stages from the bottom up; what a block may not have stands above the rim.
    fn tank(&self) {
        let Self { painter, tokens, geometry, question, answer, lang, .. } = self;
        let tank = geometry.tank;
        let rim = tank.bottom() - tank.height() * RIM;
        let inner = tank.with_min_y(rim);
        let y = |bytes: u64| tank.bottom() - tank.height() * RIM * bytes as f32 / BLOCK_LIMIT as f32;
        let stage = answer.shared_bytes / question.stages.max(1);
        let a_part = stage * question.tile[0] / (question.tile[0] + question.tile[1]);
        let filling = self.step % question.stages;
        let mut cut = false;
        for nth in 0..question.stages {
            for (from, to, matrix) in [(0, a_part, Matrix::A), (a_part, stage, Matrix::B)] {
                let (low, high) = (y(nth * stage + from), y(nth * stage + to));
                if low <= tank.top() {
                    cut = true;
                    continue;
                }
                cut |= high < tank.top();
                let part = Rect::from_min_max(pos2(tank.left(), high.max(tank.top())), pos2(tank.right(), low));
                let is_over = nth * stage + to > BLOCK_LIMIT;
                let share = if nth == filling { 0.75 } else { 0.35 };
                let fill =
                    if is_over { tokens.tint(tokens.bad, 0.45) } else { tokens.tint(color(tokens, matrix), share) };
                painter.rect_filled(part.shrink2(vec2(1.0, 0.0)), 0.0, fill);
            }
            let line = y((nth + 1) * stage);
            if line > tank.top() {
                painter.hline(tank.x_range(), line, tokens.stroke(1.0, tokens.surface));
            }
        }
        let wall = tokens.stroke(2.0, if answer.overflows() { tokens.bad } else { tokens.muted });
        painter.line_segment([inner.left_top(), inner.left_bottom()], wall);
        painter.line_segment([inner.left_bottom(), inner.right_bottom()], wall);
        painter.line_segment([inner.right_bottom(), inner.right_top()], wall);
        ink::dashes(painter, &[inner.left_top(), inner.right_top()], tokens.stroke(1.4, tokens.ink), 4.0, 3.0);
        self.tank_words(rim, cut, *lang);
    }

    fn tank_words(&self, rim: f32, cut: bool, lang: Lang) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let (tank, middle) = (geometry.tank, geometry.tank.center().x);
        let size = |bytes: u64| show::bytes_binary(Bytes(bytes));
        let (font, ground) = (tokens.font(Type::Small), tokens.surface);
        let limit = words::limit(&size(BLOCK_LIMIT), lang);
        let ink_color = if answer.overflows() { tokens.bad } else { tokens.ink };
        if !answer.overflows() {
            ink::text(painter, pos2(middle, rim - 3.0), Align2::CENTER_BOTTOM, limit, font.clone(), tokens.muted);
        } else if cut {
            let top = pos2(middle, tank.top() + tokens.px(2.0));
            ink::text_on(painter, top, Align2::CENTER_TOP, "⋮", tokens.font(Type::NoteStrong), tokens.bad, ground);
        }
        let name = pos2(middle, tank.bottom() - tokens.px(4.0));
        let text = words::taken(&size(answer.shared_bytes), answer.overflows(), lang);
        ink::text_on(painter, name, Align2::CENTER_BOTTOM, text, font, ink_color, ground);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_fades_with_age() {
        assert!(heat(0, 64) > heat(1, 64) && heat(1, 64) > heat(60, 64));
        assert!(heat(64, 64) >= 0.09 && heat(0, 1).is_finite());
    }
}
