//! Slips of the hand that the reader of TOML words badly: full-width punctuation from a Chinese keyboard, and a text
//! whose closing quote is missing.

use crate::tree::Span;

/// Lines longer than this are not looked through: nobody typed them.
const LONGEST: usize = 2_048;

/// What was found on the line of a syntax error.
pub struct Slip {
    pub span: Span,
    pub what: String,
    pub help: String,
}

/// Full-width signs and the ones that TOML wants, with their name.
const WIDE: &[(char, char, &str)] = &[
    ('，', ',', "comma"),
    ('“', '"', "quotation mark"),
    ('”', '"', "quotation mark"),
    ('\u{FF02}', '"', "quotation mark"),
    ('「', '"', "quotation mark"),
    ('」', '"', "quotation mark"),
    ('‘', '\'', "quotation mark"),
    ('’', '\'', "quotation mark"),
    ('\u{FF1D}', '=', "equals sign"),
    ('\u{FF5B}', '{', "brace"),
    ('\u{FF5D}', '}', "brace"),
    ('\u{FF3B}', '[', "bracket"),
    ('\u{FF3D}', ']', "bracket"),
    ('【', '[', "bracket"),
    ('】', ']', "bracket"),
    ('\u{FF03}', '#', "hash"),
    ('\u{FF0E}', '.', "full stop"),
    ('。', '.', "full stop"),
    ('\u{3000}', ' ', "space"),
];

/// A piece of a line.
enum Piece<'a> {
    /// A text in quotes, without them, and where it begins.
    Text(usize, &'a str),
    /// A sign outside of texts.
    Sign(usize, char),
}

/// Looks for a slip on the line of `at`, a byte offset into `text`.
pub fn find(text: &str, at: usize) -> Option<Slip> {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let (first, last) = (at.saturating_sub(LONGEST), bytes.len().min(at + LONGEST));
    let before = bytes[first..at].iter().rposition(|byte| *byte == b'\n');
    let start = if first == 0 { before.map_or(0, |newline| newline + 1) } else { first + before? + 1 };
    let after = bytes[at..last].iter().position(|byte| *byte == b'\n');
    let end = if last == bytes.len() { after.map_or(last, |newline| at + newline) } else { at + after? };
    let line = &text[start..end];
    // Several lines of text have rules of their own.
    if line.contains("\"\"\"") || line.contains("'''") {
        return None;
    }
    let pieces = pieces(line);
    wide(&pieces, start).or_else(|| open_quote(&pieces, start))
}

fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if c == '#' {
            break;
        }
        if c != '"' && c != '\'' {
            out.push(Piece::Sign(at, c));
            at += c.len_utf8();
            continue;
        }
        let inside = &line[at + 1..];
        let len = closing(inside, c);
        out.push(Piece::Text(at, &inside[..len.unwrap_or(inside.len())]));
        at += 1 + len.map_or(inside.len(), |len| len + 1);
    }
    out
}

/// How long the text is whose quote has just been opened; nothing if it does not end on this line.
fn closing(inside: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    inside.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !is_escaped;
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

fn wide(pieces: &[Piece<'_>], start: usize) -> Option<Slip> {
    pieces.iter().find_map(|piece| {
        let Piece::Sign(at, c) = piece else { return None };
        let (_, wanted, name) = WIDE.iter().find(|(wide, ..)| wide == c)?;
        let at = start + at;
        Some(Slip {
            span: at..at + c.len_utf8(),
            what: match c {
                '‘' | '’' | '“' | '”' => format!("this is a typographic {name}"),
                _ => format!("this is a full-width {name}"),
            },
            help: match wanted {
                ' ' => "write a plain space".to_owned(),
                wanted => format!("TOML wants {wanted}"),
            },
        })
    })
}

/// A text that runs into the next field: its closing quote is the one that should open another.
fn open_quote(pieces: &[Piece<'_>], start: usize) -> Option<Slip> {
    pieces.iter().find_map(|piece| {
        let Piece::Text(at, inside) = piece else { return None };
        let comma = swallowed(inside)?;
        let at = start + at;
        Some(Slip {
            span: at..at + 1 + comma,
            what: "this text has no closing quotation mark".to_owned(),
            help: format!(
                "a \" is missing before the comma: it runs on up to {}",
                shorten(inside[comma..].trim_start_matches([',', ' ']))
            ),
        })
    })
}

fn shorten(text: &str) -> String {
    crate::read::shorten(text.trim_end().trim_end_matches('=').trim_end())
}

/// Where a text holds `, NAME = ` as its end: the beginning of the next field.
fn swallowed(inside: &str) -> Option<usize> {
    let before = inside.trim_end().strip_suffix('=')?.trim_end();
    let name_at = before
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map(|at| at + before[at..].chars().next().map_or(1, char::len_utf8))?;
    let lead = before[..name_at].trim_end();
    (name_at < before.len() && lead.ends_with(',')).then(|| lead.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, marked: &str, what: &str, help: &str) {
        let text = format!("a = 1\n{line}\nb = 2\n");
        let slip =
            find(&text, 6 + line.len() / 2 - (0..4).find(|n| text.is_char_boundary(6 + line.len() / 2 - n)).unwrap());
        let slip = slip.unwrap_or_else(|| panic!("nothing in {line}"));
        assert_eq!((&text[slip.span.clone()], slip.what.as_str()), (marked, what), "{line}");
        assert!(slip.help.contains(help), "{}", slip.help);
    }

    #[test]
    fn punctuation_of_a_chinese_keyboard_is_named() {
        check("x = { a = \"B\"，b = 2 }", "，", "this is a full-width comma", "wants ,");
        check("title = “标题”", "“", "this is a typographic quotation mark", "wants \"");
        check("min \u{FF1D} 1", "\u{FF1D}", "this is a full-width equals sign", "wants =");
        check("s = \u{FF5B} a = 1 }", "\u{FF5B}", "this is a full-width brace", "wants {");
        assert!(find("t = \"一，二\" x", 9).is_none(), "inside a text it is fine");
        assert!(find("t = 1 # 一，二", 4).is_none(), "and in a comment");
    }

    #[test]
    fn a_text_that_runs_into_the_next_field_is_marked() {
        let help = "it runs on up to en";
        check("title = { zh = \"猜一猜, en = \"Guess\" }", "\"猜一猜", "this text has no closing quotation mark", help);
        assert!(find("t = \"a, b\" c", 8).is_none());
        let long = "x ".repeat(4_000);
        assert!(find(&format!("t = “{long}"), 4).is_none(), "bounded");
        assert!(find("formula = \"a = b\" c", 14).is_none());
    }
}
