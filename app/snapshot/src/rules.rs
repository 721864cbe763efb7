//! The reader's own rules for roles, as text: a pattern and a role a line. `train.py:79 = kv_cache` looks for the pattern in
//! the frames of a stack as they are shown (`file.py:12 function`); between slashes it is a regular expression. What is
//! after `#` at the beginning of a line is a remark. Slips are told with their line and column.

use crate::roles::Role;
use vramlab_units::Localized;

/// What a frame is held against.
#[derive(Clone, Debug)]
pub enum Pattern {
    Contains(String),
    Regex(Box<regex_lite::Regex>),
}

impl Pattern {
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.contains(part),
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn source(&self) -> (bool, &str) {
        match self {
            Self::Contains(part) => (false, part),
            Self::Regex(regex) => (true, regex.as_str()),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Pattern {}

/// The reader's word: a block whose stack has a frame that the pattern fits has this role. The first rule that fits wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub pattern: Pattern,
    pub role: Role,
}

impl Rule {
    pub fn contains(part: &str, role: Role) -> Self {
        Self { pattern: Pattern::Contains(part.to_owned()), role }
    }
}

/// A slip in the text, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    pub line: usize,
    /// In characters.
    pub column: usize,
    pub what: Localized,
}

impl RuleError {
    /// The error in a line, with its place.
    pub fn text(&self, lang: vramlab_units::Lang) -> String {
        let (line, column, what) = (self.line, self.column, self.what.get(lang));
        match lang {
            vramlab_units::Lang::Zh => format!("第 {line} 行第 {column} 列：{what}"),
            vramlab_units::Lang::En => format!("line {line}, column {column}: {what}"),
        }
    }
}

/// Longer texts are no rules but a file dropped by mistake.
const MOST_RULES: usize = 1000;

/// Every rule of a text; what is wrong with it, line by line, otherwise.
pub fn parse(text: &str) -> Result<Vec<Rule>, Vec<RuleError>> {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (idx, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        if rules.len() == MOST_RULES {
            errors.push(error(idx, 0, format!("最多 {MOST_RULES} 条规则"), format!("at most {MOST_RULES} rules")));
            break;
        }
        match rule(idx, line) {
            Ok(rule) => rules.push(rule),
            Err(slip) => errors.push(slip),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

fn error(line: usize, column: usize, zh: String, en: String) -> RuleError {
    RuleError { line: line + 1, column: column + 1, what: Localized::both(zh, en) }
}

fn rule(idx: usize, line: &str) -> Result<Rule, RuleError> {
    let column = |bytes: usize| line[..bytes].chars().count();
    let missing = || {
        error(
            idx,
            line.trim_end().chars().count(),
            "缺少“= 角色”，例如 train.py:79 = kv_cache".to_owned(),
            "\"= role\" is missing, as in train.py:79 = kv_cache".to_owned(),
        )
    };
    // The last sign counts: a pattern may hold one itself.
    let (at, sign) = ["->", "→", "="]
        .into_iter()
        .filter_map(|sign| line.rfind(sign).map(|at| (at, sign)))
        .max_by_key(|(at, sign)| at + sign.len())
        .ok_or_else(missing)?;
    let (pattern, name) = (line[..at].trim(), line[at + sign.len()..].trim());
    if pattern.is_empty() {
        return Err(error(idx, column(at), "等号左边是空的".to_owned(), "nothing stands before the sign".to_owned()));
    }
    let after = at + sign.len() + line[at + sign.len()..].len() - line[at + sign.len()..].trim_start().len();
    let role = role(name).ok_or_else(|| unknown_role(idx, column(after), name))?;
    let from = line.len() - line.trim_start().len();
    Ok(Rule { pattern: self::pattern(pattern).map_err(|why| bad_regex(idx, column(from), &why))?, role })
}

fn pattern(text: &str) -> Result<Pattern, String> {
    match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty()) {
        Some(inner) => {
            regex_lite::Regex::new(inner).map(|regex| Pattern::Regex(Box::new(regex))).map_err(|e| e.to_string())
        }
        None => Ok(Pattern::Contains(text.to_owned())),
    }
}

/// By its name in data, or as it is shown in either language.
fn role(name: &str) -> Option<Role> {
    let lower = name.to_lowercase();
    Role::ALL.into_iter().find(|role| {
        let title = role.title();
        role.id() == lower || title.zh == name || title.en.to_lowercase() == lower
    })
}

fn unknown_role(line: usize, column: usize, name: &str) -> RuleError {
    let known = Role::ALL.map(Role::id).join(", ");
    error(
        line,
        column,
        format!("没有角色“{name}”，可以用：{known}"),
        format!("\"{name}\" is no role; it must be one of {known}"),
    )
}

fn bad_regex(line: usize, column: usize, why: &str) -> RuleError {
    error(line, column, format!("正则表达式不对：{why}"), format!("the regular expression is wrong: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_pattern_and_a_role() {
        let rules =
            parse("# my model\n\ntrain.py:79 = kv_cache\n/layers?\\.py:\\d+ forward/ -> activation\na=b = 参数\n")
                .expect("these are rules");
        assert_eq!(rules[0], Rule::contains("train.py:79", Role::KvCache));
        assert!(rules[1].pattern.matches("net/layer.py:12 forward") && !rules[1].pattern.matches("layer.py: forward"));
        assert_eq!(rules[2], Rule::contains("a=b", Role::Parameter), "the last sign divides");
        assert_eq!(rules.len(), 3);
    }

    #[test]
    fn every_slip_is_told_with_its_place() {
        let errors =
            parse("train.py\n  = gradient\nx.py = grad\nok.py = gradient\n/(/ = unknown\n").expect_err("slips");
        let places: Vec<(usize, usize)> = errors.iter().map(|error| (error.line, error.column)).collect();
        assert_eq!(places, [(1, 9), (2, 3), (3, 8), (5, 1)]);
        assert!(errors[2].text(vramlab_units::Lang::En).contains("parameter, gradient, optimizer"), "{errors:?}");
        assert!(errors[3].what.zh.as_deref().is_some_and(|zh| zh.contains("正则")), "{errors:?}");
    }
}
