//! What NVML reports for a process, taken apart row by row down to live tensors: each row is a part of the row above, to
//! scale, and what nobody can account for is marked as unknown.
//!
//! `layout.rs` is the geometry, `paint.rs` the picture, `words.rs` the names and sentences. The parts are the model
//! `reconcile`'s.

mod layout;
mod paint;
mod words;

use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui, vec2};
use vramlab_kit::Tokens;
use vramlab_model::reconcile::{self, Figures, OWNERS, Parts, Reconcile};
use vramlab_model::registry::Model as _;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

/// See the module's docs.
pub struct Reconciliation {
    figures: Figures,
    parts: Parts,
    given: Map,
}

/// The whole in a sentence.
pub fn sentence(figures: &Figures, parts: &Parts, lang: Lang) -> String {
    words::finding(figures, parts, lang)
}

/// The figure alone, for pages that have the figures from elsewhere.
pub fn bars_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, figures: &Figures, parts: &Parts) {
    let rows = layout::rows(figures, parts);
    let width = ui.available_width().max(figure::LEAST_WIDTH);
    let places = layout::places(&rows, width, tokens.scale);
    let (rect, response) = ui.allocate_exact_size(vec2(width, layout::height(&rows, tokens.scale)), Sense::click());
    if response.clicked_by(PointerButton::Primary) {
        response.request_focus();
    }
    let painter = ui.painter_at(rect.expand(tokens.px(4.0)));
    paint::paint(ui, &painter, tokens, lang, rect, &rows, &places);
    let hovered = response.hover_pos().and_then(|at| layout::at(&places, at - rect.min.to_vec2()));
    if let Some((row, piece)) = hovered {
        let piece = &rows[row].pieces[piece];
        response.clone().on_hover_text_at_pointer(words::exact(piece, figures.nvml_process, lang));
    }
    figure::focus_ring(ui, tokens, &response);
    figure::speak(&response, &words::finding(figures, parts, lang), None);
    ui.add_space(tokens.space.s);
    paint::list_ui(ui, tokens, lang, &rows, figures.nvml_process);
}

impl View for Reconciliation {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        bars_ui(ui, cx.tokens, cx.lang, &self.figures, &self.parts);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.figures, &self.parts, lang)
    }

    fn params(&self) -> Map {
        self.given.clone()
    }

    /// Figures of the reader's own are nobody's recording.
    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        (self.figures == EXAMPLE).then(|| ["H200", "PyTorch 2.11", "2026-11-30"].map(str::to_owned))
    }

    fn data(&self) -> DataTable {
        let rows = layout::rows(&self.figures, &self.parts);
        let line = |piece: &layout::Piece| vec![words::name(piece.part).en.to_owned(), piece.bytes.to_string()];
        DataTable {
            header: vec!["part".to_owned(), "bytes (B)".to_owned()],
            rows: rows.iter().flat_map(|row| row.pieces.iter().map(line)).collect(),
        }
    }
}

impl Visualizer for Reconciliation {
    const ID: &'static str = "reconciliation";
    const TITLE: Text = Text::new("对账：从 NVML 到张量", "Reconciliation: from NVML to tensors");

    fn fields() -> Vec<FieldSpec> {
        let owner = |key: &str| OWNERS.iter().position(|owner| *owner == key).and_then(|idx| EXAMPLE.owners[idx]);
        let default = |key: &str| match key {
            "context_bytes" => EXAMPLE.context,
            "libraries_bytes" => EXAMPLE.libraries,
            "nvml_process_bytes" => Some(EXAMPLE.nvml_process),
            "reserved_bytes" => Some(EXAMPLE.reserved),
            "allocated_bytes" => Some(EXAMPLE.allocated),
            "requested_bytes" => Some(EXAMPLE.requested),
            key => owner(key),
        };
        let with = |field: FieldSpec| match default(&field.key) {
            Some(bytes) => field.default_value(bytes),
            None => field,
        };
        Reconcile::question().into_iter().map(with).collect()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let figures = reconcile::figures(args);
        let parts = reconcile::split(&figures).map_err(|error| of_the_reader(args, error))?;
        Ok(Self { parts, figures, given: args.map().clone() })
    }
}

/// A contradiction is told at a field that the reader set, not at one that stands at its default.
fn of_the_reader(args: &Args, error: FieldError) -> FieldError {
    let fields = Reconciliation::fields();
    let is_set = |field: &&FieldSpec| args.map().get(&*field.key) != field.default.as_ref();
    let mut set = fields.iter().filter(is_set);
    if set.clone().any(|field| field.key == error.field()) {
        return error;
    }
    match set.next() {
        Some(field) => FieldError::conflict(&field.key, error.to_string()),
        None => error,
    }
}

/// The recorded run of `assets/profiles`, at its peak; its owners as the roles of its snapshot guess them.
const EXAMPLE: Figures = Figures {
    nvml_process: 4_102_029_312,
    reserved: 3_294_625_792,
    allocated: 2_709_468_160,
    requested: 2_707_365_960,
    context: Some(555_745_280),
    libraries: Some(134_532_616),
    owners: [Some(118_599_680), None, Some(237_199_360), Some(1_209_602_116), Some(1_141_899_268)],
};

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn open(given: serde_json::Value) -> Result<Reconciliation, String> {
        let args =
            Args::check(&Reconciliation::fields(), given.as_object().unwrap()).map_err(|error| error.to_string())?;
        Reconciliation::open(&args).map_err(|error| error.to_string())
    }

    /// Every row is a part of the one above it, and the pieces of a row add up.
    #[test]
    fn rows_nest_and_add_up() {
        let view = open(json!({"nvml_process_bytes": 1000, "reserved_bytes": 700, "allocated_bytes": 650,
            "requested_bytes": 640, "context_bytes": 200, "libraries_bytes": 0, "parameters_bytes": 600,
            "optimizer_bytes": 0, "activations_bytes": 0, "other_bytes": 0}))
        .unwrap();
        let rows = layout::rows(&view.figures, &view.parts);
        let sums: Vec<u64> = rows.iter().map(|row| row.pieces.iter().map(|piece| piece.bytes).sum()).collect();
        assert_eq!(sums, [1000, 1000, 700, 650, 640]);
        let whole = [1000, 1000, 700, 650, 640];
        assert!(rows.iter().zip(whole).all(|(row, bytes)| row.from + row.bytes() <= 1000 && row.bytes() == bytes));
        assert!(view.finding(Lang::En).contains("context"), "{}", view.finding(Lang::En));
    }

    #[test]
    fn contradictions_are_errors_of_their_field() {
        let error = open(json!({"reserved_bytes": 700, "nvml_process_bytes": 600})).err().unwrap();
        assert!(error.starts_with("reserved_bytes"), "{error}");
        // A process that holds nothing is a picture too.
        let keys = Reconciliation::fields().into_iter().map(|field| (field.key.into_owned(), json!(0)));
        let nothing = open(serde_json::Value::Object(keys.collect())).unwrap();
        assert_eq!(layout::rows(&nothing.figures, &nothing.parts).len(), 1);
    }

    /// The defaults are the recorded run: what CUPTI, NVML and the snapshot say adds up, and the rest is what it is.
    #[test]
    fn the_example_is_the_recorded_run() {
        let view = open(json!({})).unwrap();
        assert_eq!((view.parts.unknown_outside, view.parts.unowned), (117_125_624, 65_536));
    }
}
