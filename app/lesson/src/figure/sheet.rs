//! Tables: a slider swept over a list of values, or rows that are written out.

use super::parts::{is_zero, list, sweep};
use super::scope::Scope;
use super::{Column, Expr, MAX_COLUMNS, MAX_ROWS, Sheet, SheetRows, Slider};
use crate::read::{inner, tables};
use crate::tree::{Data, Table};
use vramlab_units::Localized;

pub fn sheet(scope: &mut Scope<'_, '_>, table: &Table, path: &str, sliders: &[Slider]) -> Option<Sheet> {
    let list = list(scope, table, "column", MAX_COLUMNS, path);
    let mut columns = Vec::new();
    for (idx, from) in list.into_iter().enumerate() {
        let value = scope.expr(from, "value", &format!("{path}.column[{idx}]"));
        let unit = value.as_ref().map(|value| value.unit.clone()).unwrap_or_default();
        columns.push(Column { label: scope.reader.localized(from, "label"), unit, value });
    }
    let rows = match (inner(table, "rows"), tables(table, "row")) {
        (Some(rows), written) if written.is_empty() => swept_rows(scope, rows, &columns, path, sliders)?,
        (None, written) if !written.is_empty() => written_rows(scope, &written, &mut columns, path),
        _ => {
            let what = "a table has either `rows`, which sweep a slider, or written [[step.row]]s".to_owned();
            scope.fail(
                "missing-field",
                &format!("{path}.draw"),
                what,
                Some("rows = { sweep = \"n\", values = [1, 2, 4] }"),
            );
            return None;
        }
    };
    Some(Sheet { columns, rows })
}

fn swept_rows(
    scope: &mut Scope<'_, '_>,
    rows: &Table,
    columns: &[Column],
    path: &str,
    sliders: &[Slider],
) -> Option<SheetRows> {
    let path_of_rows = format!("{path}.rows");
    let slider = sweep(scope, rows, &path_of_rows, sliders)?;
    for (idx, _) in columns.iter().enumerate().filter(|(_, column)| column.value.is_none()) {
        let what = "a column of a swept table needs the field \"value\"".to_owned();
        scope.fail("missing-field", &format!("{path}.column[{idx}]"), what, None);
    }
    let values: Vec<f64> = match rows.get("values").map(|node| &node.data) {
        Some(Data::List(list)) => list
            .iter()
            .filter_map(|node| match &node.data {
                Data::Number(number) => number.as_f64(),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    scope.is_short(values.len(), MAX_ROWS, "rows", &format!("{path_of_rows}.values"));
    if values.is_empty() {
        scope.fail("missing-field", &format!("{path_of_rows}.values"), "the table has no rows".to_owned(), None);
    }
    Some(SheetRows::Sweep { slider, values })
}

fn written_rows(scope: &mut Scope<'_, '_>, list: &[&Table], columns: &mut [Column], path: &str) -> SheetRows {
    scope.is_short(list.len(), MAX_ROWS, "rows", &format!("{path}.row"));
    let mut rows: Vec<(Localized, Vec<Expr>)> = Vec::new();
    for (idx, from) in list.iter().take(MAX_ROWS).enumerate() {
        let path = format!("{path}.row[{idx}]");
        let cells = match from.get("cells").map(|node| &node.data) {
            Some(Data::List(cells)) => cells.as_slice(),
            _ => &[],
        };
        if cells.len() != columns.len() {
            let what = format!("the row has {} cells, the table {} columns", cells.len(), columns.len());
            scope.fail("missing-field", &path, what, Some("cells = [\"a\", \"2 * b\"]: a formula for each column"));
            continue;
        }
        let mut made = Vec::new();
        for (cell_idx, cell) in cells.iter().enumerate() {
            let Data::Text(source) = &cell.data else { continue };
            let path = format!("{path}.cells[{cell_idx}]");
            let Some(expr) = scope.formula(source, &path) else { continue };
            if columns[cell_idx].unit.is_empty() {
                columns[cell_idx].unit.clone_from(&expr.unit);
            }
            let unit = columns[cell_idx].unit.clone();
            if !is_zero(&expr) {
                scope.is_in(&expr, &unit, "the column", &path);
            }
            made.push(expr);
        }
        rows.push((scope.reader.localized(from, "label"), made));
    }
    SheetRows::Written(rows)
}
