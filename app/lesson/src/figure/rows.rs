//! The numbers behind a picture as rows and columns: for export, for the text version, for whoever cannot see it.

use super::picture::{Drawn, GraphPicture, LinePicture, PartValue};
use vramlab_units::Lang;

/// How a number is written: exactly for export, as it is read elsewhere. The unit is that of its column.
pub type Print<'a> = &'a dyn Fn(f64, &str) -> String;

/// The heads of the columns and the rows under them, each as long as the heads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// `speed-up`, `rate (GB/s)`, `带宽（GB/s）`.
pub fn title(lang: Lang, label: &str, unit: &str) -> String {
    match (unit, lang) {
        ("" | "1" | "%", _) => label.to_owned(),
        (unit, _) if label.is_empty() => unit.to_owned(),
        (unit, Lang::Zh) => format!("{label}（{unit}）"),
        (unit, Lang::En) => format!("{label} ({unit})"),
    }
}

/// `n_most` bounds the rows of a line, whose points are taken at equal distances.
pub fn rows(drawn: &Drawn, lang: Lang, n_most: usize, print: Print<'_>) -> Rows {
    let word = |zh: &str, en: &str| if lang == Lang::Zh { zh.to_owned() } else { en.to_owned() };
    match drawn {
        Drawn::Line(line) => of_line(line, lang, n_most, print),
        Drawn::Bar(bars) => {
            let rows = bars.bars.iter().flat_map(|(bar, parts)| {
                parts.iter().map(move |part| {
                    let (bar, part_name) = (bar.get(lang).to_owned(), part.label.get(lang).to_owned());
                    vec![bar, part_name, print(part.value, &bars.unit)]
                })
            });
            let heads = vec![word("柱", "bar"), word("部分", "part"), title(lang, &word("值", "value"), &bars.unit)];
            Rows { heads, rows: rows.collect() }
        }
        Drawn::Bytes(grid) => {
            let row = |part: &PartValue| vec![part.label.get(lang).to_owned(), print(part.value, "B")];
            let heads = vec![word("部分", "part"), title(lang, &word("大小", "size"), "B")];
            Rows { heads, rows: grid.parts.iter().map(row).collect() }
        }
        Drawn::Gantt(gantt) => {
            let rows = gantt.rows.iter().flat_map(|(row, spans)| {
                spans.iter().map(move |span| {
                    let names = [row.get(lang).to_owned(), span.label.get(lang).to_owned()];
                    let [row, label] = names;
                    vec![row, label, print(span.start, &gantt.unit), print(span.length, &gantt.unit)]
                })
            });
            let (start, length) = (word("开始", "start"), word("长度", "length"));
            let heads = vec![word("行", "row"), word("区间", "interval")];
            let times = [title(lang, &start, &gantt.unit), title(lang, &length, &gantt.unit)];
            Rows { heads: heads.into_iter().chain(times).collect(), rows: rows.collect() }
        }
        Drawn::Graph(graph) => of_graph(graph, lang, [word("从", "from"), word("到", "to"), word("值", "value")]),
        Drawn::Table(sheet) => {
            let heads = sheet.columns.iter().map(|(label, unit)| title(lang, label.get(lang), unit));
            let rows = sheet.rows.iter().map(|row| {
                let cells = row.cells.iter().zip(&sheet.columns);
                let cells = cells.map(|(cell, (_, unit))| cell.map(|value| print(value, unit)).unwrap_or_default());
                std::iter::once(row.label.get(lang).to_owned()).chain(cells).collect()
            });
            let first = sheet.row_head.get(lang).to_owned();
            Rows { heads: std::iter::once(first).chain(heads).collect(), rows: rows.collect() }
        }
    }
}

fn of_line(line: &LinePicture, lang: Lang, n_most: usize, print: Print<'_>) -> Rows {
    let mut heads = vec![title(lang, line.x_label.get(lang), &line.x_unit)];
    heads.extend(line.curves.iter().map(|curve| title(lang, curve.label.get(lang), &line.y_unit)));
    let n = line.curves.iter().map(|curve| curve.points.len()).min().unwrap_or_default();
    let n_rows = n.min(n_most.max(2));
    let row = |row_idx: usize| {
        let idx = if n_rows > 1 { row_idx * (n - 1) / (n_rows - 1) } else { 0 };
        let x = line.curves.first().map(|curve| print(curve.points[idx].0, &line.x_unit)).unwrap_or_default();
        let ys =
            line.curves.iter().map(|curve| curve.points[idx].1.map(|y| print(y, &line.y_unit)).unwrap_or_default());
        std::iter::once(x).chain(ys).collect()
    };
    Rows { heads, rows: (0..n_rows).map(row).collect() }
}

fn of_graph(graph: &GraphPicture, lang: Lang, heads: [String; 3]) -> Rows {
    let name = |idx: usize| graph.nodes.get(idx).map(|node| node.label.get(lang).to_owned()).unwrap_or_default();
    let nodes = (0..graph.nodes.len()).map(|idx| {
        let value = graph.nodes[idx].value.clone().unwrap_or_default();
        vec![name(idx), String::new(), value]
    });
    let edges = graph.edges.iter().map(|(from, to, label, value)| {
        let value = value.clone().unwrap_or_else(|| label.get(lang).to_owned());
        vec![name(*from), name(*to), value]
    });
    Rows { heads: heads.to_vec(), rows: nodes.chain(edges).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_names_its_unit_in_the_readers_brackets() {
        assert_eq!(title(Lang::En, "rate", "GB/s"), "rate (GB/s)");
        assert_eq!(title(Lang::Zh, "带宽", "GB/s"), "带宽（GB/s）");
        assert_eq!((title(Lang::En, "share", "%"), title(Lang::En, "", "ms")), ("share".to_owned(), "ms".to_owned()));
    }
}
