//! What keys do to code, as functions over the text and a selection in characters: indent, outdent, a new line with its indentation,
//! a closing brace at its place, lines and matches. No widget.

use std::ops::Range;

const STEP: &str = "    ";

fn byte(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The byte at which the line of byte `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Tab: spaces to the next stop at a cursor, a step for every line of a selection. Gives the new selection.
pub fn indent(text: &mut String, selection: Range<usize>) -> Range<usize> {
    if selection.is_empty() {
        let at = byte(text, selection.start);
        let column = chars(&text[line_start(text, at)..at]);
        let n = STEP.len() - column % STEP.len();
        text.insert_str(at, &STEP[..n]);
        return selection.start + n..selection.start + n;
    }
    lines(text, selection, |line| if line.is_empty() { String::new() } else { format!("{STEP}{line}") })
}

/// Shift and Tab: a step less for every line of the selection.
pub fn outdent(text: &mut String, selection: Range<usize>) -> Range<usize> {
    lines(text, selection, |line| {
        let cut = leading(line).chars().take(STEP.len()).take_while(|c| *c == ' ').count();
        let cut = if line.starts_with('\t') { 1 } else { cut };
        line[cut..].to_owned()
    })
}

/// Changes every line that the selection touches; both ends stay with their text.
fn lines(text: &mut String, selection: Range<usize>, change: impl Fn(&str) -> String) -> Range<usize> {
    let (from, to) = (byte(text, selection.start), byte(text, selection.end));
    let start = line_start(text, from);
    // A selection that ends at the beginning of a line does not touch it.
    let last = if to > from && text[..to].ends_with('\n') { to - 1 } else { to };
    let end = text[last..].find('\n').map_or(text.len(), |found| last + found);
    let changed: Vec<(String, isize)> = text[start..end]
        .split('\n')
        .map(|line| {
            let new = change(line);
            let by = chars(&new) as isize - chars(line) as isize;
            (new, by)
        })
        .collect();
    let first_by = changed.first().map_or(0, |(_, by)| *by);
    let all_by: isize = changed.iter().map(|(_, by)| by).sum();
    let new: Vec<String> = changed.into_iter().map(|(line, _)| line).collect();
    let start_chars = chars(&text[..start]);
    text.replace_range(start..end, &new.join("\n"));
    let moved = |index: usize, by: isize| index.saturating_add_signed(by).max(start_chars);
    moved(selection.start, first_by)..moved(selection.end, all_by)
}

/// Enter: a new line as far in as the old one, a step further after an opening brace, with the closing one on a line of its own.
pub fn new_line(text: &mut String, selection: Range<usize>) -> usize {
    let (from, to) = (byte(text, selection.start), byte(text, selection.end));
    let before = &text[line_start(text, from)..from];
    let indent = leading(before).to_owned();
    let is_open = before.trim_end().ends_with(['{', '(']);
    let is_closed = is_open && text[to..].starts_with(['}', ')']);
    let inner = if is_open { format!("{indent}{STEP}") } else { indent.clone() };
    let tail = if is_closed { format!("\n{indent}") } else { String::new() };
    text.replace_range(from..to, &format!("\n{inner}{tail}"));
    selection.start + 1 + chars(&inner)
}

/// `}` on a line that is empty so far goes a step out. None if it is to be typed as any other letter.
pub fn closing_brace(text: &mut String, selection: Range<usize>) -> Option<usize> {
    let at = byte(text, selection.start);
    let start = line_start(text, at);
    let is_blank = selection.is_empty() && at > start && text[start..at].chars().all(|c| c == ' ');
    if !is_blank {
        return None;
    }
    let cut = (at - start).min(STEP.len());
    text.replace_range(at - cut..at, "}");
    Some(selection.start - cut + 1)
}

/// The characters of line `line`, counted from 1, without its end.
pub fn line_range(text: &str, line: u32) -> Range<usize> {
    let mut at = 0;
    for (number, content) in (1..).zip(text.split('\n')) {
        let n = chars(content);
        if number == line {
            return at..at + n;
        }
        at += n + 1;
    }
    at.saturating_sub(1)..at.saturating_sub(1)
}

/// Where `wanted` stands, in characters; capitals do not count in ASCII.
pub fn matches(text: &str, wanted: &str) -> Vec<Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    // ASCII letters keep their bytes, so the places are the same.
    let (text, wanted) = (text.to_ascii_lowercase(), wanted.to_ascii_lowercase());
    let n = chars(&wanted);
    let (mut seen, mut at) = (0, 0);
    text.match_indices(&wanted)
        .map(|(found, _)| {
            at += chars(&text[seen..found]);
            seen = found;
            at..at + n
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[` and `]` stand for the ends of the selection, `|` for a cursor.
    fn read(marked: &str) -> (String, Range<usize>) {
        let place = |mark: char| marked.chars().filter(|c| *c == mark || !"[]|".contains(*c)).position(|c| c == mark);
        let text: String = marked.chars().filter(|c| !"[]|".contains(*c)).collect();
        let range = match place('|') {
            Some(at) => at..at,
            None => place('[').unwrap()..place(']').unwrap(),
        };
        (text, range)
    }

    #[track_caller]
    fn check(act: impl Fn(&mut String, Range<usize>) -> Range<usize>, before: &str, after: &str) {
        let (mut text, range) = read(before);
        let selection = act(&mut text, range);
        assert_eq!((text, selection), read(after));
    }

    #[test]
    fn tab_goes_to_the_next_stop_or_indents_what_is_selected() {
        check(indent, "|x", "    |x");
        check(indent, "ab|x", "ab  |x");
        check(indent, "界|", "界   |");
        check(indent, "a[a\n\nb]b\nc", "    a[a\n\n    b]b\nc");
        check(indent, "[aa\n]bb", "    [aa\n]bb");
    }

    #[test]
    fn shift_tab_takes_a_step_back_and_never_a_letter() {
        check(outdent, "    a|b", "a|b");
        check(outdent, "  a[b\n        c]d", "a[b\n    c]d");
        check(outdent, "\tx|", "x|");
        check(outdent, "ab|", "ab|");
    }

    #[test]
    fn a_new_line_keeps_the_indentation_and_opens_a_block() {
        let act = |text: &mut String, range| {
            let at = new_line(text, range);
            at..at
        };
        check(act, "    a;|", "    a;\n    |");
        check(act, "  if (x) {|", "  if (x) {\n      |");
        check(act, "for {|}", "for {\n    |\n}");
        check(act, "a[bc]d", "a\n|d");
    }

    #[test]
    fn a_closing_brace_goes_out_only_on_a_blank_line() {
        let (mut text, at) = read("{\n        |");
        assert_eq!(closing_brace(&mut text, at), Some(7));
        assert_eq!(text, "{\n    }");
        let (mut text, at) = read("int a[] = {1|");
        let kept = text.clone();
        assert_eq!((closing_brace(&mut text, at), text), (None, kept));
    }

    #[test]
    fn lines_and_matches_are_counted_in_characters() {
        assert_eq!(line_range("一\nab\n", 2), 2..4);
        assert_eq!(line_range("ab", 9), 2..2);
        assert_eq!(matches("一 Ab ab", "ab"), [2..4, 5..7]);
        assert!(matches("ab", "").is_empty());
    }
}
