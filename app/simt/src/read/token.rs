//! Source text as tokens, with their places. Comments and line joins are gone; a directive's `#` begins a token of its own.

use crate::fault::{Fault, Place, syntax};

#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    Name(String),
    /// A whole number and whether it is unsigned or 64 bits wide by its spelling.
    Int {
        value: u64,
        is_unsigned: bool,
        is_long: bool,
    },
    /// A real number; `f` makes it a float.
    Real {
        value: f64,
        is_float: bool,
    },
    Text(String),
    Sign(&'static str),
    /// `#` at the beginning of a line.
    Hash,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub tok: Tok,
    pub at: Place,
    /// The first of its line, which is where a directive ends.
    pub is_first: bool,
}

/// Longest first, so that the first that fits is the one meant.
const SIGNS: [&str; 48] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "::", "##", "+", "-", "*", "/", "%", "=", "<", ">", "!", "~", "&", "|", "^", "?", ":", ";",
    ",", ".", "(", ")", "[", "]", "{", "}",
];

struct Lexer<'a> {
    rest: &'a str,
    at: Place,
    is_first: bool,
}

pub fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { rest: source, at: Place { line: 1, col: 1 }, is_first: true };
    let mut out = Vec::new();
    while lexer.skip_blank()? {
        let (at, is_first) = (lexer.at, lexer.is_first);
        let tok = lexer.next()?;
        lexer.is_first = false;
        out.push(Token { tok, at, is_first });
    }
    Ok(out)
}

impl Lexer<'_> {
    fn skip(&mut self, bytes: usize) {
        for c in self.rest[..bytes].chars() {
            if c == '\n' {
                self.at = Place { line: self.at.line + 1, col: 1 };
                self.is_first = true;
            } else {
                self.at.col += 1;
            }
        }
        self.rest = &self.rest[bytes..];
    }

    /// Goes to the next token; false at the end.
    fn skip_blank(&mut self) -> Result<bool, Fault> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            if self.rest.starts_with("//") {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                match self.rest.find("*/") {
                    Some(end) => self.skip(end + 2),
                    None => return syntax(self.at, "注释没有结束的 */", "a comment has no closing */"),
                }
            } else if self.rest.starts_with("\\\n") || self.rest.starts_with("\\\r\n") {
                let was_first = self.is_first;
                self.skip(self.rest.find('\n').unwrap_or(0) + 1);
                self.is_first = was_first;
            } else {
                return Ok(!self.rest.is_empty());
            }
        }
    }

    fn next(&mut self) -> Result<Tok, Fault> {
        let first = self.rest.chars().next().unwrap_or(' ');
        if first == '#' && self.is_first {
            self.skip(1);
            return Ok(Tok::Hash);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let n = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            let name = self.rest[..n].to_owned();
            self.skip(n);
            return Ok(Tok::Name(name));
        }
        let is_point = first == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || is_point {
            return self.number();
        }
        if first == '"' {
            return self.text();
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| self.rest.starts_with(sign)) {
            self.skip(sign.len());
            return Ok(Tok::Sign(sign));
        }
        if first == '#' {
            self.skip(1);
            return Ok(Tok::Sign("##"));
        }
        syntax(
            self.at,
            format!("字符 {first:?} 不该出现在这里"),
            format!("the character {first:?} does not belong here"),
        )
    }

    fn text(&mut self) -> Result<Tok, Fault> {
        let mut end = 1;
        let bytes = self.rest.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' && bytes[end] != b'\n' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if bytes.get(end) != Some(&b'"') || !self.rest.is_char_boundary(end + 1) {
            return syntax(self.at, "字符串没有结束的引号", "a string has no closing quote");
        }
        let text = self.rest[1..end].to_owned();
        self.skip(end + 1);
        Ok(Tok::Text(text))
    }

    fn number(&mut self) -> Result<Tok, Fault> {
        let is_hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        let mut n = 0;
        let bytes = self.rest.as_bytes();
        while n < bytes.len() {
            let is_sign = matches!(bytes[n], b'+' | b'-') && !is_hex && matches!(bytes[n - 1], b'e' | b'E');
            if bytes[n].is_ascii_alphanumeric() || matches!(bytes[n], b'.' | b'\'') || (n > 0 && is_sign) {
                n += 1;
            } else {
                break;
            }
        }
        let word = self.rest[..n].replace('\'', "").to_ascii_lowercase();
        let at = self.at;
        self.skip(n);
        let bad = || syntax(at, format!("{word} 不是数"), format!("{word} is not a number"));
        let is_real = !is_hex && (word.contains('.') || word.contains('e') || word.ends_with('f'));
        if is_real {
            let body = word.strip_suffix('f').unwrap_or(&word);
            return match body.parse::<f64>() {
                Ok(value) => Ok(Tok::Real { value, is_float: body.len() < word.len() }),
                Err(_) => bad(),
            };
        }
        let body = word.trim_end_matches(['u', 'l']);
        let suffix = &word[body.len()..];
        let parsed = match body.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => body.parse::<u64>(),
        };
        match parsed {
            Ok(value) => {
                let (is_unsigned, is_long) = (suffix.contains('u'), suffix.contains('l'));
                Ok(Tok::Int { value, is_unsigned, is_long })
            }
            Err(_) => bad(),
        }
    }
}
