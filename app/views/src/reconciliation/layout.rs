//! Rows and pieces, in bytes and then in points. Pure.

use egui::{Pos2, Rect, pos2};
use vramlab_model::reconcile::{Figures, Parts};

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Process,
    Context,
    Libraries,
    /// Outside the allocator, and nobody says what; also what a context is part of where that is not known.
    UnknownOutside,
    Reserved,
    Allocated,
    Cached,
    Requested,
    Rounding,
    /// Index into the model's owners.
    Owner(usize),
    Unowned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub part: Part,
    pub bytes: u64,
}

/// A row begins at `from` bytes of the process's bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub from: u64,
    pub pieces: Vec<Piece>,
}

impl Row {
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }
}

/// The process; outside and reserved; in use and cached; asked for and rounding; owners. The part that goes on is always
/// the first of its row, so that the rows hang under it at the left.
pub fn rows(figures: &Figures, parts: &Parts) -> Vec<Row> {
    let row = |pieces: &[(Part, u64)]| Row {
        from: 0,
        pieces: pieces
            .iter()
            .filter(|(part, bytes)| *bytes > 0 || matches!(part, Part::Process))
            .map(|(part, bytes)| Piece { part: *part, bytes: *bytes })
            .collect(),
    };
    let mut owners: Vec<(Part, u64)> =
        figures.owners.iter().enumerate().filter_map(|(idx, bytes)| Some((Part::Owner(idx), (*bytes)?))).collect();
    owners.push((Part::Unowned, parts.unowned));
    let all = [
        row(&[(Part::Process, figures.nvml_process)]),
        row(&[
            (Part::Reserved, figures.reserved),
            (Part::Context, parts.context),
            (Part::Libraries, parts.libraries),
            (Part::UnknownOutside, parts.unknown_outside),
        ]),
        row(&[(Part::Allocated, figures.allocated), (Part::Cached, parts.cached)]),
        row(&[(Part::Requested, figures.requested), (Part::Rounding, parts.rounding)]),
        row(&owners),
    ];
    all.into_iter().filter(|row| !row.pieces.is_empty()).collect()
}

const ROW: f32 = 40.0;
const GAP: f32 = 10.0;
/// A piece that is there is seen.
const LEAST: f32 = 2.0;

pub fn height(rows: &[Row], scale: f32) -> f32 {
    (rows.len() as f32 * (ROW + GAP) - GAP).max(0.0) * scale
}

/// The rectangle of each piece of each row, from the figure's corner.
pub fn places(rows: &[Row], width: f32, scale: f32) -> Vec<Vec<Rect>> {
    let whole = rows.iter().map(Row::bytes).max().unwrap_or_default().max(1) as f64;
    let x = |bytes: u64| (bytes as f64 / whole) as f32 * width;
    rows.iter()
        .enumerate()
        .map(|(idx, row)| {
            let top = idx as f32 * (ROW + GAP) * scale;
            let mut at = row.from;
            let rect = |piece: &Piece| {
                let (left, right) = (x(at), x(at + piece.bytes));
                at += piece.bytes;
                let left = left.min(width - LEAST);
                Rect::from_min_max(pos2(left, top), pos2(right.max(left + LEAST), top + ROW * scale))
            };
            row.pieces.iter().map(rect).collect()
        })
        .collect()
}

/// The piece under a point.
pub fn at(places: &[Vec<Rect>], point: Pos2) -> Option<(usize, usize)> {
    places.iter().enumerate().find_map(|(row, pieces)| {
        pieces.iter().rposition(|rect| rect.expand(1.0).contains(point)).map(|piece| (row, piece))
    })
}
