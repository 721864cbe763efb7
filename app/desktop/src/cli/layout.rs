//! Text for a terminal of 80 columns: widths that know Chinese, padding, wrapping, and plain tables.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of everything that is printed.
pub const COLUMNS: usize = 80;

/// Terminal columns of `text`.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` with blanks on its right up to `columns`.
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `text` with blanks on its left up to `columns`.
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Thin spaces of the interface as plain ones, so that output can be searched and pasted.
pub fn plain(text: &str) -> String {
    text.replace(vramlab_units::show::THIN, " ")
}

/// Punctuation that may not begin a line.
const CLOSING: &str = "，。、；：！？）」』”’》〉…,.;:!?)";
/// Brackets that may not end one.
const OPENING: &str = "（「『“‘《〈(";

/// `text` in lines of at most `columns`, each after `indent`. Breaks between words, and between Chinese characters.
pub fn wrap(text: &str, columns: usize, indent: &str) -> String {
    let room = columns.saturating_sub(width(indent)).max(10);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        wrap_line(paragraph, room, &mut lines);
    }
    lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn wrap_line(text: &str, room: usize, lines: &mut Vec<String>) {
    let (mut line, mut used) = (String::new(), 0);
    for word in words(text) {
        let n = width(word.trim_end());
        if used > 0 && used + n > room {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        line.push_str(if used == 0 { word.trim_start() } else { word });
        used += width(word);
    }
    lines.push(line.trim_end().to_owned());
}

/// Pieces between which a line may break; each carries the blanks after it.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for pair in chars.windows(2) {
        let ((_, a), (at, b)) = (pair[0], pair[1]);
        let is_wide = |c: char| c.width() == Some(2);
        let is_break = b != ' ' && (a == ' ' || is_wide(a) || is_wide(b));
        if is_break && !CLOSING.contains(b) && !OPENING.contains(a) {
            out.push(&text[start..at]);
            start = at;
        }
    }
    out.push(&text[start..]);
    joined(text, &out)
}

/// Units that stay on the line of their number.
const UNITS: &[&str] = &[
    "%", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "GB/s", "TB/s", "FLOP", "FLOPs", "FLOP/B", "GFLOP/s",
    "TFLOP/s", "PFLOP/s", "ns", "µs", "ms", "s", "MHz", "GHz", "Gb/s", "W",
];

/// Pieces that belong together as one: a number and its unit, both sides of an equals sign.
fn joined<'a>(text: &'a str, pieces: &[&'a str]) -> Vec<&'a str> {
    let bare = |piece: &str| piece.trim_end().trim_matches(|c| CLOSING.contains(c) || OPENING.contains(c)).to_owned();
    let is_sign = |piece: &str| matches!(piece.trim_end(), "=" | "≈" | "×");
    let (mut out, mut start, mut end): (Vec<&str>, usize, usize) = (Vec::new(), 0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        end += piece.len();
        let follows = pieces.get(at + 1).is_some_and(|next| {
            let has_blank = piece.ends_with(' ');
            let is_unit =
                piece.trim_end().ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&bare(next).as_str());
            has_blank && (is_unit || is_sign(next) || is_sign(piece))
        });
        if !follows {
            out.push(&text[start..end]);
            start = end;
        }
    }
    out
}

/// A label in a column of its own, and the text wrapped beside it; all of it after `before` columns.
pub fn labelled(before: usize, label: &str, columns: usize, text: &str) -> String {
    let body = plain(&wrap(text, COLUMNS, &" ".repeat(before + columns)));
    format!("{}{}", left(label, columns), body.trim_start())
}

/// A table without lines: a header, rows, and which columns hold numbers.
pub fn table(header: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if !header.is_empty() {
        table.set_header(header);
    }
    table.add_rows(rows);
    let last = table.column_count().saturating_sub(1);
    for (idx, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if idx == last { 0 } else { 2 }));
        if numbers.contains(&idx) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chinese_character_takes_two_columns() {
        assert_eq!(width("步长 8"), 6);
        assert_eq!(left("步", 4), "步  ");
        assert_eq!(right("步", 4), "  步");
    }

    #[test]
    fn lines_break_between_words_and_between_characters_but_not_before_a_stop() {
        assert_eq!(wrap("one two three", 10, ""), "one two\nthree");
        // Twelve columns hold six characters; the stop may not begin a line, so the character before it goes with it.
        assert_eq!(wrap("一二三四五六。", 12, ""), "一二三四五\n六。");
        assert_eq!(wrap("一二三四五六七", 12, ""), "一二三四五六\n七");
        assert_eq!(wrap("a\n\nb", 20, "  "), "  a\n\n  b");
    }

    #[test]
    fn a_number_keeps_its_unit_and_an_equation_its_sides() {
        assert_eq!(wrap("it has 4.8 TB/s.", 11, ""), "it has\n4.8 TB/s.");
        assert_eq!(wrap("at last 98 % of it", 11, ""), "at last\n98 % of it");
        assert_eq!(wrap("here, at k = 56 now", 11, ""), "here, at\nk = 56 now");
        assert_eq!(wrap("a size of 8192 × 8192", 14, ""), "a size of\n8192 × 8192");
        assert_eq!(wrap("一二三四 1 MiB 的", 13, ""), "一二三四\n1 MiB 的");
    }

    #[test]
    fn nothing_is_wider_than_asked_for_unless_one_word_is() {
        let text = "一个 warp 有 32 个 lane，each of them reads 4 bytes，所以一共是 128 字节。".repeat(5);
        for line in wrap(&text, 40, "  ").lines() {
            assert!(width(line) <= 40, "{line}");
        }
    }

    #[test]
    fn columns_of_a_table_line_up_with_wide_text() {
        let rows = vec![vec!["步长".to_owned(), "8".to_owned()], vec!["a".to_owned(), "128".to_owned()]];
        let text = table(&["name", "n"], &rows, &[1]);
        assert_eq!(text, "name    n\n步长    8\na     128");
    }
}
