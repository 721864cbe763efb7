//! The sweep of FlashAttention: a tile of scores after the other, the numbers that each row keeps, and bytes in HBM against
//! bytes on chip.
//!
//! `question.rs` is what the reader sets and asks the models `attention_io` and `flash_tiles`, `layout.rs` the geometry,
//! `paint.rs` the picture, `words.rs` the sentences.

mod layout;
mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use question::{BY_HAND, MOST_TILE, MOST_TILES, MOST_TOKENS, Question, REAL, Sums};
use vramlab_kit::{Area, Mark, Role, Slider, Tokens, legend};
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const SIZE: Text = Text::new("大小", "Size");
const HAND_SIZE: Text = Text::new("手算，d = 1", "by hand, d = 1");
const REAL_SIZE: Text = Text::new("真的，d = 128", "real, d = 128");
const TOKENS: Text = Text::new("token", "Tokens");
const ROWS: Text = Text::new("块的行（query）", "Tile rows (queries)");
const COLS: Text = Text::new("块的列（key）", "Tile columns (keys)");
const CAUSAL: Text = Text::new("因果掩码", "causal mask");
/// A sweep takes about so long.
const SWEEP_SECS: f64 = 14.0;

/// See the module's docs.
pub struct FlashSweep {
    question: Question,
    sums: Sums,
    play: Steps,
    /// Row of the tile that is followed.
    row: u64,
}

impl FlashSweep {
    fn new(question: Question, step: Option<usize>, row: u64) -> Self {
        let sums = question.sums();
        let steps = sums.steps as usize;
        // Where a first row of tiles is over and the second has begun.
        let telling = question.tiling.visited_in(0) as usize + 1;
        let play = Steps::new(step.unwrap_or(telling), steps, (steps as f64 / SWEEP_SECS).max(1.5));
        let row = row.min(question.tiling.rows.min(question.tiling.tokens) - 1);
        Self { question, sums, play, row }
    }

    fn set(&mut self, next: Question) {
        if next == self.question {
            return;
        }
        let was_over = self.play.now() as u64 == self.sums.steps;
        let is_same_size = next.tiling.tokens == self.question.tiling.tokens
            && next.tiling.rows == self.question.tiling.rows
            && next.tiling.cols == self.question.tiling.cols;
        let step = is_same_size.then(|| self.play.now());
        *self = Self::new(next, step, self.row);
        if was_over {
            self.play.seek(self.sums.steps as usize);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question;
        controls::row(ui, tokens, |flow| {
            let sizes = [(BY_HAND, HAND_SIZE), (REAL, REAL_SIZE)].map(|(d, text)| (d, text.get(lang).to_owned()));
            let mut head_dim = next.tiling.head_dim;
            controls::choice(flow, tokens, SIZE.get(lang), &mut head_dim, &sizes);
            if head_dim != next.tiling.head_dim {
                next = next.sized(head_dim);
            }
            let least = next.tiling.tokens.div_ceil(MOST_TILES);
            let mut powers = |label: Text, value: &mut u64, from: u64, to: u64| {
                let from = from.next_power_of_two().max(1);
                let n = (to / from).max(1).ilog2();
                let mut at = f64::from((*value / from).max(1).ilog2().min(n));
                let before = at;
                let shown = *value;
                let slider = Slider::new(label.get(lang), &mut at, 0.0..=f64::from(n)).step(1.0).width(80.0);
                if flow.item(|ui| slider.shown(move |_| shown.to_string()).show(ui, tokens)).changed() && at != before {
                    *value = from << at.round() as u32;
                }
            };
            let most = MOST_TILE.min(next.tiling.tokens.next_power_of_two());
            powers(TOKENS, &mut next.tiling.tokens, 4, MOST_TOKENS);
            powers(ROWS, &mut next.tiling.rows, least, most);
            powers(COLS, &mut next.tiling.cols, least, most);
            controls::toggle(flow, tokens, CAUSAL.get(lang), &mut next.tiling.is_causal);
        });
        if next != self.question {
            self.set(next.drawable());
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.play.keys(ui, &response, cx.has_motion);
        self.row_keys(ui, &response);
        let tiling = self.question.tiling;
        let pressed = response.interact_pointer_pos();
        if let Some(step) =
            pressed.and_then(|at| geometry.tile_at(&tiling, at)).and_then(|(row, col)| tiling.step_of(row, col))
        {
            self.play.seek(step as usize);
        }
        let step = self.play.now() as u64;
        let (row_tile, col) = tiling.tile(step).unwrap_or((0, 0));
        let last = tiling.rows_in(row_tile).saturating_sub(1);
        let at_row = pressed.filter(|_| response.clicked_by(PointerButton::Primary)).and_then(|at| geometry.row_at(at));
        if let Some(row) = at_row {
            let first = self.row.min(last).saturating_sub(layout::N_ROWS - 1);
            self.row = (first + row).min(last);
        }
        let over = response.hover_pos().and_then(|at| geometry.tile_at(&tiling, at));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            sums: &self.sums,
            step,
            row: self.row.min(last),
            over,
        }
        .paint();
        let row = row_tile * tiling.rows + self.row.min(last);
        let said = match over.filter(|over| *over != (row_tile, col)) {
            Some((row, col)) => words::tile(&self.question, row, col, lang),
            None => words::step(row, tiling.running(row, col), tiling.running(row, col + 1), lang),
        };
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        self.legend_ui(ui, tokens, lang);
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    /// Up and down: another row of the tile.
    fn row_keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let last = self.question.tiling.rows.min(self.question.tiling.tokens) - 1;
        ui.input(|input| {
            if input.key_pressed(Key::ArrowDown) {
                self.row = (self.row + 1).min(last);
            }
            if input.key_pressed(Key::ArrowUp) {
                self.row = self.row.min(last).saturating_sub(1);
            }
        });
    }

    fn legend_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let color = tokens.role(Role::Workspace);
        let mut entries = vec![
            (Mark::Square(color), Text::new("在片上", "on chip now").get(lang)),
            (Mark::Square(tokens.tint(color, 0.26)), Text::new("算过，已丢", "computed, thrown away").get(lang)),
            (Mark::Square(tokens.role(Role::KvCache)), "K, V"),
            (Mark::Square(tokens.role(Role::Activations)), "Q, O"),
        ];
        if self.question.tiling.is_causal {
            entries.push((Mark::Area(Area::CachedFree), Text::new("掩码跳过", "skipped by the mask").get(lang)));
        }
        legend(ui, tokens, &entries);
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Sums { io, tiled, .. } = self.sums;
        let ratio = io.naive as f64 / tiled.max(1) as f64;
        let exact = |bytes: u128| format!("{bytes} B");
        vec![
            KeyNumber::new(Text::new("写出分数", "scores written out"), words::bytes(io.naive)).exact(exact(io.naive)),
            KeyNumber::new(Text::new("分块", "in tiles"), words::bytes(tiled)).exact(exact(tiled)),
            KeyNumber::new(Text::new("相差", "ratio"), format!("×{}", number(ratio))).exact(format!("{ratio:.6}")),
            KeyNumber::new(Text::new("K、V 在 L2 里", "K, V held in L2"), words::bytes(io.resident))
                .exact(exact(io.resident)),
            KeyNumber::new(Text::new("分数矩阵占", "memory of the scores"), words::bytes(io.scores))
                .exact(exact(io.scores)),
            KeyNumber::new(Text::new("统计量占", "memory of the statistics"), words::bytes(io.stats))
                .exact(exact(io.stats)),
        ]
    }
}

impl View for FlashSweep {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        self.play.tick(cx);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.sums, self.play.now() as u64, lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.play.now(), self.row)
    }

    fn data(&self) -> DataTable {
        let header = ["way", "HBM (B)", "extra memory (B)"].map(str::to_owned).to_vec();
        let Sums { io, tiled, .. } = self.sums;
        let row = |way: &str, bytes: u128, extra: u128| vec![way.to_owned(), bytes.to_string(), extra.to_string()];
        let rows = vec![
            row("scores written out", io.naive, io.scores),
            row("in tiles", tiled, io.stats),
            row("in tiles, K and V read once", io.resident, io.stats),
        ];
        DataTable { header, rows }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for FlashSweep {
    const ID: &'static str = "flash_sweep";
    const TITLE: Text = Text::new("分块走过分数矩阵", "Tiles over the scores");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args)?;
        let step = args.has("step").then(|| args.uint("step") as usize);
        Ok(Self::new(question, step, args.uint("row")))
    }
}
