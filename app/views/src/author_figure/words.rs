//! The figure without its picture: what to do with it when nothing is pointed at, and its numbers as a table.

use crate::view::DataTable;
use vramlab_lesson::figure::picture::Drawn;
use vramlab_lesson::figure::rows::rows;
use vramlab_units::Lang;

/// The line under the picture while nothing is pointed at.
pub fn rest(drawn: &Drawn, lang: Lang, has_ghost: bool) -> String {
    let zh = lang == Lang::Zh;
    match drawn {
        Drawn::Line(_) if has_ghost && zh => "浅色的线是开始时的样子。点一下图，或用左右键，移动竖线。".to_owned(),
        Drawn::Line(_) if has_ghost => {
            "The pale lines are those of the start. Click the plot, or use the arrow keys, to move the upright line."
                .to_owned()
        }
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
    let exact = |value: f64, _: &str| value.to_string();
    let table = rows(drawn, Lang::En, usize::MAX, &exact);
    DataTable { header: table.heads, rows: table.rows }
}
