//! Formulas, typeset: fractions stand, powers rise, roots and ceilings have their signs. `layout.rs` makes boxes from the
//! syntax tree of `units::formula`, `spoken.rs` the words for a screen reader; here they are put on the page.

mod boxes;
mod layout;
mod spoken;

use crate::tokens::{Tokens, Type};
use boxes::MathBox;
use egui::{Response, Role, Sense, Ui, WidgetInfo, vec2};
use std::collections::BTreeMap;
use vramlab_units::{Formula, show};

pub use spoken::spoken;

/// What stands for a name.
pub enum Names<'a> {
    /// The symbol given for it, else the name itself; `_` and what follows it is set as a subscript.
    Symbols(&'a BTreeMap<String, String>),
    /// Its value; a name without one stays a name.
    Values(&'a BTreeMap<String, f64>),
}

impl Names<'_> {
    fn text(&self, name: &str) -> Option<String> {
        match self {
            Self::Symbols(symbols) => symbols.get(name).cloned(),
            Self::Values(values) => values.get(name).map(|value| layout::number(*value)),
        }
    }

    fn is_value(&self) -> bool {
        matches!(self, Self::Values(_))
    }
}

/// Shows one formula on a line of its own.
pub fn formula(ui: &mut Ui, tokens: &Tokens, formula: &Formula, names: &Names<'_>) -> Response {
    let pen = layout::Pen { ui, tokens, names, size: tokens.px(17.0) };
    let drawn = pen.formula(formula);
    place(ui, tokens, &drawn, &spoken(formula, names))
}

/// Shows `result` = formula in symbols = formula with values = `result_text`, wrapping between the parts where the row is
/// short. `symbols` maps names to what is printed for them, `values` to numbers.
pub fn equation(
    ui: &mut Ui,
    tokens: &Tokens,
    result: &str,
    formula: &Formula,
    symbols: &BTreeMap<String, String>,
    values: &BTreeMap<String, f64>,
    result_text: &str,
) -> Response {
    let (in_symbols, in_values) = (Names::Symbols(symbols), Names::Values(values));
    let size = tokens.px(17.0);
    let left = {
        let pen = layout::Pen { ui, tokens, names: &in_symbols, size };
        MathBox::row(vec![pen.name(result), pen.sign("="), pen.formula(formula)])
    };
    let middle = {
        let pen = layout::Pen { ui, tokens, names: &in_values, size };
        MathBox::row(vec![pen.sign("="), pen.formula(formula)])
    };
    let right = {
        let pen = layout::Pen { ui, tokens, names: &in_values, size };
        MathBox::row(vec![pen.sign("="), pen.text(result_text, tokens.font(Type::Number).family, tokens.ink)])
    };
    let says = format!("{result} = {} = {} = {result_text}", spoken(formula, &in_symbols), spoken(formula, &in_values));
    let lines = wrapped(vec![left, middle, right], ui.available_width());
    place(ui, tokens, &MathBox::lines(lines, tokens.px(8.0)), &says)
}

/// Joins parts into lines no wider than `width`; a part too wide for any line gets one of its own.
fn wrapped(parts: Vec<MathBox>, width: f32) -> Vec<MathBox> {
    let mut lines: Vec<Vec<MathBox>> = Vec::new();
    let mut used = 0.0;
    for part in parts {
        match lines.last_mut() {
            Some(line) if used + part.width <= width => {
                used += part.width;
                line.push(part);
            }
            _ => {
                used = part.width;
                lines.push(vec![part]);
            }
        }
    }
    lines.into_iter().map(MathBox::row).collect()
}

/// Puts a box on the page; one wider than the page scrolls inside itself.
fn place(ui: &mut Ui, tokens: &Tokens, drawn: &MathBox, says: &str) -> Response {
    let size = vec2(drawn.width, drawn.height() + 2.0 * tokens.px(6.0));
    let add = |ui: &mut Ui| {
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        drawn.paint(ui.painter(), rect.left_top() + vec2(0.0, tokens.px(6.0) + drawn.ascent));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, says));
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(Role::Math));
        response
    };
    if size.x <= ui.available_width() {
        return add(ui);
    }
    ui.push_id(says, |ui| egui::ScrollArea::horizontal().show(ui, add).inner).inner
}

/// A number as it stands in a formula, for captions beside one.
pub fn number(value: f64) -> String {
    if value.is_finite() { layout::number(value) } else { show::number(value) }
}
