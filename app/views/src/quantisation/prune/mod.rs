//! A tile of four by four under 2:4: pull a value up or down, and see which two of its row stay, and their nibble.
//!
//! `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences. The rule is the model `sparse_24`'s, the
//! bytes are `sparse_size`'s.

mod layout;
mod paint;
mod words;

use super::ask::{ask, ints, joined, number, numbers};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use vramlab_kit::{Area, Mark, Role, Tokens, Verdict, legend};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

/// Rows and columns of the tile.
pub const SIDE: usize = 4;
const N: usize = SIDE * SIDE;
const MOST: f64 = 9.9;
const START: &str = "1 -3 0.5 2  5 5 5 5  0 0 7 0  0.3 -0.2 0.9 -1.1";
const FORMAT: Text = Text::new("一个值", "A value");

/// What the models say of the tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Two for each row.
    pub kept: Vec<f64>,
    pub places: Vec<i64>,
    pub nibbles: Vec<i64>,
    pub lost: f64,
    pub dense_bytes: f64,
    pub bytes: f64,
    pub index_bytes: f64,
    pub ratio: f64,
}

impl Answer {
    fn new(values: &[f64; N], bits: u64) -> Result<Self, FieldError> {
        let pruned = ask("sparse_24", [("values", joined(values).into())])?;
        let size = ask(
            "sparse_size",
            [("rows", SIDE.into()), ("cols", SIDE.into()), ("layout", "2:4".into()), ("bits", bits.to_string().into())],
        )?;
        Ok(Self {
            kept: numbers(&pruned, "kept"),
            places: ints(&pruned, "places"),
            nibbles: ints(&pruned, "nibbles"),
            lost: number(&pruned, "lost_energy"),
            dense_bytes: number(&size, "dense_bytes"),
            bytes: number(&size, "bytes"),
            index_bytes: number(&size, "index_bytes"),
            ratio: number(&size, "ratio"),
        })
    }

    /// Whether a place of a row stays.
    pub fn keeps(&self, row: usize, col: usize) -> bool {
        self.places.iter().skip(2 * row).take(2).any(|place| *place == col as i64)
    }
}

/// See the module's docs.
pub struct Prune24 {
    values: [f64; N],
    bits: u64,
    answer: Answer,
    cell: usize,
    /// The cell that is being pulled, with its value when the pull began.
    pulled: Option<(usize, f64)>,
}

impl Prune24 {
    fn new(values: [f64; N], bits: u64) -> Result<Self, FieldError> {
        Ok(Self { answer: Answer::new(&values, bits)?, values, bits, cell: 0, pulled: None })
    }

    fn set(&mut self, cell: usize, value: f64) {
        let mut values = self.values;
        values[cell] = ((value * 10.0).round() / 10.0).clamp(-MOST, MOST) + 0.0;
        if values != self.values
            && let Ok(answer) = Answer::new(&values, self.bits)
        {
            (self.values, self.answer) = (values, answer);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut bits = self.bits;
        controls::row(ui, tokens, |flow| {
            let options = [8, 16, 32].map(|bits| (bits, format!("{bits} bit")));
            controls::choice(flow, tokens, FORMAT.get(lang), &mut bits, &options);
        });
        if bits != self.bits
            && let Ok(answer) = Answer::new(&self.values, bits)
        {
            (self.bits, self.answer) = (bits, answer);
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.pull(&response, &geometry, tokens);
        self.keys(ui, &response);
        let over = response.hover_pos().and_then(|at| geometry.cell_at(at));
        let looked = self.pulled.map(|(cell, _)| cell).or(over).unwrap_or(self.cell);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            values: &self.values,
            answer: &self.answer,
            looked,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        let said = words::cell(&self.values, &self.answer, looked, lang);
        figure::speak(&response, &self.finding(lang), Some(said.as_str()).filter(|_| response.has_focus()));
        let marks =
            [(Mark::Square(tokens.role(Role::Parameters)), words::STAYS), (Mark::Area(Area::CachedFree), words::GOES)];
        legend(ui, tokens, &marks.map(|(mark, text)| (mark, text.get(lang))));
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    fn pull(&mut self, response: &Response, geometry: &Geometry, tokens: &Tokens) {
        let at = response.interact_pointer_pos();
        if response.clicked_by(PointerButton::Primary)
            && let Some(cell) = at.and_then(|at| geometry.cell_at(at))
        {
            self.cell = cell;
            response.request_focus();
        }
        if response.drag_started() {
            self.pulled = at.and_then(|at| geometry.cell_at(at)).map(|cell| (cell, self.values[cell]));
        }
        if let Some((cell, value)) = self.pulled.filter(|_| response.dragged()) {
            self.cell = cell;
            let moved = response.total_drag_delta().map_or(0.0, |by| by.y);
            self.set(cell, value - f64::from(moved / tokens.px(14.0)));
        }
        if response.drag_stopped() {
            self.pulled = None;
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let (row, col) = (self.cell / SIDE, self.cell % SIDE);
        self.cell = if pressed(Key::ArrowRight) {
            row * SIDE + (col + 1).min(SIDE - 1)
        } else if pressed(Key::ArrowLeft) {
            row * SIDE + col.saturating_sub(1)
        } else if pressed(Key::ArrowDown) {
            (row + 1).min(SIDE - 1) * SIDE + col
        } else if pressed(Key::ArrowUp) {
            row.saturating_sub(1) * SIDE + col
        } else {
            self.cell
        };
        let now = self.values[self.cell];
        if pressed(Key::Plus) || pressed(Key::Equals) || pressed(Key::PageUp) {
            self.set(self.cell, now + 0.1);
        } else if pressed(Key::Minus) || pressed(Key::PageDown) {
            self.set(self.cell, now - 0.1);
        } else if pressed(Key::Num0) {
            self.set(self.cell, 0.0);
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Answer { dense_bytes, bytes, index_bytes, ratio, lost, .. } = self.answer;
        vec![
            KeyNumber::new(Text::new("稠密", "dense"), with_unit(dense_bytes, "B")),
            KeyNumber::new(Text::new("2:4", "2:4"), with_unit(bytes, "B"))
                .exact(format!("{} + {index_bytes} B", bytes - index_bytes)),
            KeyNumber::new(Text::new("剩几成", "of dense"), ratio.to_string()),
            KeyNumber::new(Text::new("丢掉的平方和", "energy lost"), with_unit(lost, "%")).judged(if lost > 0.1 {
                Verdict::Caution
            } else {
                Verdict::Neutral
            }),
        ]
    }
}

impl View for Prune24 {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.answer, self.bits, lang)
    }

    fn params(&self) -> Map {
        let pairs = [("values", joined(&self.values).into()), ("bits", self.bits.to_string().into())];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn data(&self) -> DataTable {
        let header = ["row", "values", "kept", "places", "nibble"].map(str::to_owned).to_vec();
        let row = |row: usize| {
            let pair = |list: &[f64]| joined(list);
            vec![
                row.to_string(),
                joined(&self.values[row * SIDE..(row + 1) * SIDE]),
                pair(self.answer.kept.get(2 * row..2 * row + 2).unwrap_or_default()),
                self.answer.places.iter().skip(2 * row).take(2).map(i64::to_string).collect::<Vec<_>>().join(" "),
                self.answer.nibbles.get(row).map(i64::to_string).unwrap_or_default(),
            ]
        };
        DataTable { header, rows: (0..SIDE).map(row).collect() }
    }
}

impl Visualizer for Prune24 {
    const ID: &'static str = "prune_24";
    const TITLE: Text = Text::new("四个里留两个（2:4）", "Two of four (2:4)");

    fn fields() -> Vec<FieldSpec> {
        let options = ["8", "16", "32"].map(|bits| bits.into()).to_vec();
        let values = Text::new("16 个值，四行，空格隔开", "Sixteen values, four rows, apart by blanks");
        let bits = Text::new("一个值的位数", "Bits of a value");
        vec![
            FieldSpec::new("values", "", FieldKind::Text { max_len: 256 }, values).default_value(START),
            FieldSpec::new("bits", "bit", FieldKind::Choice { options }, bits).default_value("16"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let words: Vec<&str> = args.text("values").split_whitespace().collect();
        let values: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let is_legal = |value: &f64| value.is_finite() && value.abs() <= MOST;
        let all: Option<[f64; N]> = values.try_into().ok().filter(|all: &[f64; N]| all.iter().all(is_legal));
        let all = all.ok_or_else(|| {
            FieldError::conflict(
                "values",
                format!("{} words; sixteen numbers of at most {MOST} are needed", words.len()),
            )
        })?;
        Self::new(all, args.text("bits").parse().unwrap_or(16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(values: &str) -> Result<Prune24, FieldError> {
        let given: Map = [("values".to_owned(), values.into())].into_iter().collect();
        Prune24::open(&Args::check(&Prune24::fields(), &given)?)
    }

    /// Brief 14, vector 4: nibbles 13, 4 and 8; 32 B become 16 + 2.
    #[test]
    fn the_rows_of_the_brief() {
        let view = open(START).unwrap();
        assert_eq!(view.answer.nibbles[..3], [13, 4, 8]);
        assert!(view.answer.keeps(0, 1) && view.answer.keeps(0, 3) && !view.answer.keeps(0, 0));
        assert_eq!((view.answer.dense_bytes, view.answer.bytes, view.answer.ratio), (32.0, 18.0, 0.5625));
        assert_eq!(open("1 2 3").err().unwrap().field(), "values");
        assert_eq!(open(&"1 ".repeat(15).replace('1', "99")).err().unwrap().field(), "values");
    }

    #[test]
    fn a_value_that_grows_takes_the_place_of_another() {
        let mut view = open(START).unwrap();
        view.set(2, -4.0);
        assert_eq!((view.answer.places[..2].to_vec(), view.answer.nibbles[0]), (vec![1, 2], 1 | 2 << 2));
        view.set(2, 99.0);
        assert_eq!(view.values[2], MOST);
        let again = Prune24::open(&Args::check(&Prune24::fields(), &view.params()).unwrap()).unwrap();
        assert_eq!(again.values, view.values);
    }
}
