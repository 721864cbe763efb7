//! One diagnostic type for every content file. Rendered once, at the edge: by the terminal or by a card.

use std::fmt::Write as _;

/// Where in a file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Path inside the pack, with `/`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// Characters to underline.
    pub width: usize,
    /// The text of the line, for the caret.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    /// Worth mending, but the chapter can be taught: a long step, a typed answer.
    Warning,
}

impl Severity {
    pub fn id(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A finding in a content file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Stable id of the rule: `unknown-visualizer`, `wrong-answer`, `missing-translation`.
    pub rule: &'static str,
    /// What is wrong, one sentence without a full stop.
    pub what: String,
    pub place: Place,
    /// What to do about it.
    pub help: Option<String>,
}

/// Puts problems in the order of reading: by file, line and column, errors before warnings.
pub fn sort(problems: &mut [Problem]) {
    problems.sort_by(|a, b| {
        let key = |p: &Problem| (p.place.line, p.place.column, p.severity);
        a.place.file.cmp(&b.place.file).then_with(|| key(a).cmp(&key(b)))
    });
}

/// Most problems reported for one file; the rest is counted.
pub const MAX_PROBLEMS: usize = 200;
/// Most that are collected before the first [`MAX_PROBLEMS`] by place are chosen.
pub(crate) const MAX_COLLECTED: usize = 1_000;

/// Keeps the first [`MAX_PROBLEMS`] and says how many more there are; `n_dropped` were not even collected.
pub(crate) fn cut_list(problems: &mut Vec<Problem>, n_dropped: usize) {
    let n_left_out = problems.len().saturating_sub(MAX_PROBLEMS) + n_dropped;
    problems.truncate(MAX_PROBLEMS);
    if n_left_out > 0
        && let Some(last) = problems.last().cloned()
    {
        let what = format!("{n_left_out} more problems are not listed");
        problems.push(Problem { rule: "too-many", what, help: Some("mend these first".to_owned()), ..last });
    }
}

/// Most terminal columns of a quoted line; a longer one is shown around the caret.
const WINDOW: usize = 100;

/// The problem as text: what, where, the line with its caret, what to do.
pub fn render(problem: &Problem) -> String {
    let place = &problem.place;
    let mut out = format!("{}: {}\n", problem.severity.id(), problem.what);
    let file = if place.file.is_empty() { "(no file)" } else { &place.file };
    let _ = match place.line {
        0 => writeln!(out, "  {file}"),
        line => writeln!(out, "  {file}:{line}:{}", place.column),
    };
    if let Some(lines) = excerpt(problem, WINDOW) {
        let _ = writeln!(out, "{lines}");
    }
    if let Some(help) = &problem.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

/// The line of the file and the caret under it, two lines of at most about `most` columns behind the line number;
/// nothing where the problem is of the whole file.
pub fn excerpt(problem: &Problem, most: usize) -> Option<String> {
    let place = &problem.place;
    let chars: Vec<char> = place.text.chars().collect();
    let is_there = place.line > 0 && place.column > 0 && place.column <= chars.len() + 1;
    if !is_there || place.text.trim().is_empty() {
        return None;
    }
    let (before, marked, after) = around_caret(&chars, place.column - 1, place.width.max(1), most);
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let lead = " ".repeat(columns(&before));
    let caret = "━".repeat(columns(&marked).max(1));
    Some(format!("   {number} │ {before}{marked}{after}\n   {gutter} │ {lead}{caret}"))
}

fn around_caret(chars: &[char], start: usize, width: usize, most: usize) -> (String, String, String) {
    let printable = |c: &char| if c.is_control() { ' ' } else { *c };
    let end = start.saturating_add(width).min(chars.len());
    let first = if end > most { start.saturating_sub(most / 3) } else { 0 };
    let last = (first + most).min(chars.len());
    let end = end.min(last).max(start);
    let take =
        |from: usize, to: usize| chars.get(from..to).unwrap_or_default().iter().map(printable).collect::<String>();
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let before = format!("{}{}", cut(first > 0), take(first, start));
    let after = format!("{}{}", take(end, last), cut(last < chars.len()));
    (before, take(start, end), after)
}

/// Terminal columns of `text`: East Asian wide characters take two.
fn columns(text: &str) -> usize {
    let is_wide = |c: char| {
        matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
            | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
            | '\u{20000}'..='\u{3fffd}')
    };
    text.chars().map(|c| 1 + usize::from(is_wide(c))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, column: usize, width: usize) -> Problem {
        Problem {
            severity: Severity::Error,
            rule: "unknown-visualizer",
            what: "no visualizer is called \"coalesce\"".to_owned(),
            place: Place { file: "02_a/chapter.toml".to_owned(), line: 41, column, width, text: text.to_owned() },
            help: Some("did you mean \"coalescing\"?".to_owned()),
        }
    }

    #[test]
    fn a_problem_reads_like_the_house_style() {
        let expected = "\
error: no visualizer is called \"coalesce\"
  02_a/chapter.toml:41:8
   41 │ show = \"coalesce\"
      │        ━━━━━━━━━━
  help: did you mean \"coalescing\"?
";
        assert_eq!(render(&problem("show = \"coalesce\"", 8, 10)), expected);
    }

    #[test]
    fn the_caret_counts_wide_characters_twice() {
        let text = render(&problem("问题 = 1", 6, 1));
        assert!(text.contains("│        ━\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_shown_around_the_caret() {
        let line = format!("{}!{}", "a".repeat(900), "b".repeat(900));
        let text = render(&problem(&line, 901, 1));
        let lines: Vec<&str> = text.lines().collect();
        let at = |line: &str, c: char| line.chars().position(|x| x == c);
        assert_eq!(at(lines[2], '!'), at(lines[3], '━'));
        assert!(lines[2].chars().count() < 120);
    }

    #[test]
    fn places_outside_their_line_do_not_panic() {
        for (column, width) in [(0, 0), (1, usize::MAX), (99, 3), (usize::MAX, 1)] {
            assert!(render(&problem("abc", column, width)).contains("error:"));
        }
        assert!(render(&Problem { place: Place::default(), ..problem("", 1, 1) }).contains("(no file)"));
    }

    #[test]
    fn problems_are_sorted_as_they_are_read() {
        let at = |line, column| {
            let mut p = problem("x", column, 1);
            p.place.line = line;
            p
        };
        let mut list = vec![at(10, 1), at(2, 5), at(2, 1)];
        sort(&mut list);
        assert_eq!(list.iter().map(|p| (p.place.line, p.place.column)).collect::<Vec<_>>(), [(2, 1), (2, 5), (10, 1)]);
    }
}
