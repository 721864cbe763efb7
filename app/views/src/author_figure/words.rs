//! The figure without its picture: what to do with it when nothing is pointed at, and its numbers as a table.

use super::look::title;
use crate::view::DataTable;
use vramlab_lesson::figure::eval::{Drawn, GraphPicture, LinePicture};
use vramlab_units::Lang;

/// The line under the picture while nothing is pointed at.
pub fn rest(drawn: &Drawn, lang: Lang) -> String {
    let zh = lang == Lang::Zh;
    match drawn {
        Drawn::Line(_) if zh => "点一下图，或用左右键，移动竖线。".to_owned(),
        Drawn::Line(_) => "Click the plot, or use the arrow keys, to move the upright line.".to_owned(),
        Drawn::Bytes(grid) if zh => format!("一格是 {}。", grid.square),
        Drawn::Bytes(grid) => format!("One square is {}.", grid.square),
        Drawn::Bar(_) if zh => "指着一段，或点一下再用左右键，读它的数值。".to_owned(),
        Drawn::Bar(_) => "Point at a part, or click and use the arrow keys, to read its value.".to_owned(),
        Drawn::Gantt(_) if zh => "时间向右走。指着一条，或点一下再用左右键，读它的起止。".to_owned(),
        Drawn::Gantt(_) => {
            "Time runs to the right. Point at a bar, or click and use the arrow keys, to read it.".to_owned()
        }
        Drawn::Graph(_) if zh => "点一下再用左右键，逐个读节点。".to_owned(),
        Drawn::Graph(_) => "Click and use the arrow keys to read node after node.".to_owned(),
        Drawn::Table(_) if zh => "点一下再用左右键，逐行读。".to_owned(),
        Drawn::Table(_) => "Click and use the arrow keys to read row after row.".to_owned(),
    }
}

/// The numbers behind the picture, unrounded.
pub fn data(drawn: &Drawn) -> DataTable {
    let table = |header: &[&str], rows: Vec<Vec<String>>| DataTable {
        header: header.iter().map(|head| (*head).to_owned()).collect(),
        rows,
    };
    match drawn {
        Drawn::Line(line) => line_data(line),
        Drawn::Bar(bars) => {
            let row = |bar: &str, label: &str, value: f64| vec![bar.to_owned(), label.to_owned(), value.to_string()];
            let rows = bars.bars.iter().flat_map(|(bar, parts)| {
                parts.iter().map(move |part| row(bar.get(Lang::En), part.label.get(Lang::En), part.value))
            });
            table(&["bar", "part", &title("value", &bars.unit)], rows.collect())
        }
        Drawn::Bytes(grid) => {
            let rows = grid.parts.iter().map(|part| vec![part.label.get(Lang::En).to_owned(), part.value.to_string()]);
            table(&["part", "bytes"], rows.collect())
        }
        Drawn::Gantt(gantt) => {
            let rows = gantt.rows.iter().flat_map(|(row, spans)| {
                spans.iter().map(move |span| {
                    let (row, label) = (row.get(Lang::En).to_owned(), span.label.get(Lang::En).to_owned());
                    vec![row, label, span.start.to_string(), span.length.to_string()]
                })
            });
            let (start, length) = (title("start", &gantt.unit), title("length", &gantt.unit));
            table(&["row", "interval", &start, &length], rows.collect())
        }
        Drawn::Graph(graph) => graph_data(graph),
        Drawn::Table(sheet) => {
            let heads = sheet.columns.iter().map(|(label, unit)| title(label.get(Lang::En), unit));
            let cells = |cells: &[Option<f64>]| {
                cells.iter().map(|cell| cell.map(|value| value.to_string()).unwrap_or_default()).collect::<Vec<_>>()
            };
            let rows = sheet.rows.iter().map(|row| {
                let mut out = vec![row.label.get(Lang::En).to_owned()];
                out.extend(cells(&row.cells));
                out
            });
            DataTable {
                header: std::iter::once(sheet.row_head.get(Lang::En).to_owned()).chain(heads).collect(),
                rows: rows.collect(),
            }
        }
    }
}

fn line_data(line: &LinePicture) -> DataTable {
    let mut header = vec![title(line.x_label.get(Lang::En), &line.x_unit)];
    header.extend(line.curves.iter().map(|curve| title(curve.label.get(Lang::En), &line.y_unit)));
    let n = line.curves.iter().map(|curve| curve.points.len()).min().unwrap_or_default();
    let row = |idx: usize| {
        let x = line.curves.first().map(|curve| curve.points[idx].0.to_string()).unwrap_or_default();
        let ys = line.curves.iter().map(|curve| curve.points[idx].1.map(|y| y.to_string()).unwrap_or_default());
        std::iter::once(x).chain(ys).collect()
    };
    DataTable { header, rows: (0..n).map(row).collect() }
}

fn graph_data(graph: &GraphPicture) -> DataTable {
    let name = |idx: usize| graph.nodes.get(idx).map(|node| node.label.get(Lang::En).to_owned()).unwrap_or_default();
    let nodes = (0..graph.nodes.len()).map(|idx| {
        let value = graph.nodes[idx].value.clone().unwrap_or_default();
        vec![name(idx), String::new(), value]
    });
    let edges =
        graph.edges.iter().map(|(from, to, _, value)| vec![name(*from), name(*to), value.clone().unwrap_or_default()]);
    let header = ["from", "to", "value"].map(str::to_owned).to_vec();
    DataTable { header, rows: nodes.chain(edges).collect() }
}
