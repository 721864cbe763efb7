//! The transpose player in words.

use vramlab_model::transpose::{Cell, Method, Stage, Step, Transpose};
use vramlab_units::{Lang, Text, show};

/// The name of a method on its button.
pub fn method(method: Method) -> Text {
    match method {
        Method::Naive => Text::new("直接转", "naive"),
        Method::Tile => Text::new("小块", "tile"),
        Method::TilePad => Text::new("小块加垫列", "tile + padding"),
        Method::TileSwizzle => Text::new("小块加 swizzle", "tile + swizzle"),
    }
}

/// Where the method pays. Every number is the model's.
pub fn finding(method: Method, cost: &Transpose, lang: Lang) -> String {
    let (read, write) = (cost.read_sectors, cost.write_sectors);
    let l2 = show::bytes_binary(cost.l2);
    let useful = show::bytes_binary(cost.useful);
    match (method, cost.load_degree) {
        (Method::Naive, _) => pick(
            lang,
            format!(
                "直接转：读一行 {read} 个扇区，写一列 {write} 个。损失在扇区，L1 与 L2 之间要走 {l2}，有用的只有 {useful}。"
            ),
            format!(
                "Naive: {read} sectors to read a row, {write} to write a column. The loss is in sectors: {l2} pass \
                 between L1 and L2, of which {useful} are useful."
            ),
        ),
        (_, Some(degree)) if degree > 1 => pick(
            lang,
            format!(
                "小块：读写都只要 {read} 个扇区，可是按列取小块时 {degree} 个 lane 挤在同一个 bank。损失搬到了共享内存。"
            ),
            format!(
                "Tile: reads and writes take {read} sectors each, but a column of the tile lies in one bank, {degree} \
                 lanes deep. The loss has moved to shared memory."
            ),
        ),
        (Method::TilePad, _) => pick(
            lang,
            format!(
                "垫一列：每行错开一个 bank，按列取也只要一趟，读写各 {read} 个扇区。两头都没有损失，代价是多占一列共享内存。"
            ),
            format!(
                "Padding shifts each row by one bank, so a column takes one pass and both sides {read} sectors. Nothing \
                 is lost, for one more column of shared memory."
            ),
        ),
        _ => pick(
            lang,
            format!("swizzle：列号与行号异或，一列散在 32 个 bank，一趟取完，读写各 {read} 个扇区，一个字节也不多占。"),
            format!(
                "Swizzle: column XOR row spreads a column over all 32 banks. One pass, {read} sectors on both sides, and \
                 not a byte more."
            ),
        ),
    }
}

/// What the step that has just been made does and costs.
pub fn step(step: Option<&Step>, lang: Lang) -> String {
    let Some(step) = step else {
        return pick(lang, "还没开始。".into(), "Nothing has happened yet.".into());
    };
    let (row, cost, stage) = (step.warp_row, step.cost, step.stage.title().get(lang));
    let is_column = step.cells.first().zip(step.cells.get(1)).is_some_and(|(a, b)| a.col == b.col);
    let line = match (is_column, lang) {
        (true, Lang::Zh) => "列",
        (false, Lang::Zh) => "行",
        (true, Lang::En) => "column",
        (false, Lang::En) => "row",
    };
    match step.stage {
        Stage::Barrier => stage.to_owned(),
        Stage::ReadSource | Stage::WriteTarget => pick(
            lang,
            format!("{stage} · 第 {row} {line} · {cost} 个扇区"),
            format!("{stage} · {line} {row} · {cost} sectors"),
        ),
        Stage::StoreTile | Stage::LoadTile => {
            let passes = if cost == 1 { "pass" } else { "passes" };
            pick(
                lang,
                format!("{stage} · 第 {row} {line} · {cost} 趟"),
                format!("{stage} · {line} {row} · {cost} {passes}"),
            )
        }
    }
}

/// The element under the pointer.
pub fn element(cell: Cell, lang: Lang) -> String {
    let Cell { row, col } = cell;
    pick(
        lang,
        format!("in[{row}][{col}]，要去 out[{col}][{row}]"),
        format!("in[{row}][{col}], which goes to out[{col}][{row}]"),
    )
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}
