//! The preprocessor: definitions put in, branches of `#if` taken or left. Tokens that a macro makes stand where it is used.

use super::token::{Tok, Token, tokens};
use crate::fault::{Fault, Place, syntax, unsupported};
use std::collections::BTreeMap;

/// Macros inside macros inside macros.
const MOST_DEPTH: usize = 64;
const MOST_TOKENS: usize = 400_000;

#[derive(Clone)]
struct Macro {
    /// Names of the parameters; none for a plain name.
    params: Option<Vec<String>>,
    body: Vec<Token>,
}

/// One level of `#if`: whether its present branch is read, whether one has been, whether the level around it is read.
struct Level {
    is_read: bool,
    was_read: bool,
    is_outer: bool,
    at: Place,
}

struct Prepare {
    macros: BTreeMap<String, Macro>,
    levels: Vec<Level>,
    out: Vec<Token>,
}

/// The tokens that are left of `source`, with `define` as the compiler's command line gives it.
pub fn prepare(source: &str, define: &[(String, String)]) -> Result<Vec<Token>, Fault> {
    let mut this = Prepare { macros: BTreeMap::new(), levels: Vec::new(), out: Vec::new() };
    for (name, value) in define {
        this.macros.insert(name.clone(), Macro { params: None, body: tokens(value)? });
    }
    let all = tokens(source)?;
    let mut at = 0;
    while at < all.len() {
        if all[at].tok == Tok::Hash {
            let end = (at + 1..all.len()).find(|to| all[*to].is_first).unwrap_or(all.len());
            this.directive(&all[at + 1..end], all[at].at)?;
            at = end;
        } else {
            let end = (at + 1..all.len()).find(|to| all[*to].tok == Tok::Hash).unwrap_or(all.len());
            if this.is_read() {
                let expanded = this.expand(&all[at..end], &mut Vec::new())?;
                this.out.extend(expanded);
            }
            at = end;
        }
    }
    match this.levels.last() {
        Some(level) => syntax(level.at, "#if 没有对应的 #endif", "an #if has no #endif"),
        None => Ok(this.out),
    }
}

impl Prepare {
    fn is_read(&self) -> bool {
        self.levels.iter().all(|level| level.is_read)
    }

    fn directive(&mut self, line: &[Token], at: Place) -> Result<(), Fault> {
        let Some(Tok::Name(word)) = line.first().map(|token| &token.tok) else { return Ok(()) };
        let rest = &line[1..];
        match word.as_str() {
            "ifdef" | "ifndef" | "if" => {
                let is_outer = self.is_read();
                let holds = is_outer && self.condition(word, rest, at)?;
                self.levels.push(Level { is_read: holds, was_read: holds, is_outer, at });
            }
            "elif" | "else" => self.otherwise(word == "elif", rest, at)?,
            "endif" => {
                if self.levels.pop().is_none() {
                    return syntax(at, "#endif 前面没有 #if", "an #endif without an #if");
                }
            }
            _ if !self.is_read() => {}
            "define" => self.define(rest, at)?,
            "undef" => {
                if let Some(Tok::Name(name)) = rest.first().map(|token| &token.tok) {
                    self.macros.remove(name);
                }
            }
            "pragma" | "include" | "line" => {}
            "error" => return syntax(at, "#error 命中了", "an #error is reached"),
            other => return syntax(at, format!("不认识 #{other}"), format!("#{other} is not known")),
        }
        Ok(())
    }

    fn condition(&mut self, word: &str, rest: &[Token], at: Place) -> Result<bool, Fault> {
        if word == "if" {
            return self.truth(rest, at);
        }
        match rest.first().map(|token| &token.tok) {
            Some(Tok::Name(name)) => Ok(self.macros.contains_key(name) == (word == "ifdef")),
            _ => syntax(at, format!("#{word} 后面要有名字"), format!("#{word} needs a name")),
        }
    }

    fn otherwise(&mut self, is_elif: bool, rest: &[Token], at: Place) -> Result<(), Fault> {
        let Some((is_outer, was_read)) = self.levels.last().map(|level| (level.is_outer, level.was_read)) else {
            return syntax(at, "#else 前面没有 #if", "an #else without an #if");
        };
        let holds = is_outer && !was_read && (!is_elif || self.truth(rest, at)?);
        if let Some(level) = self.levels.last_mut() {
            level.is_read = holds;
            level.was_read |= holds;
        }
        Ok(())
    }

    fn define(&mut self, rest: &[Token], at: Place) -> Result<(), Fault> {
        let Some(Tok::Name(name)) = rest.first().map(|token| token.tok.clone()) else {
            return syntax(at, "#define 后面要有名字", "#define needs a name");
        };
        let mut body = &rest[1..];
        let mut params = None;
        // Parameters follow without a blank: `F(x)` takes one, `F (x)` is a body in brackets.
        let is_call = body.first().is_some_and(|token| {
            token.tok == Tok::Sign("(")
                && token.at.line == rest[0].at.line
                && token.at.col == rest[0].at.col + name.len() as u32
        });
        if is_call {
            let Some(close) = body.iter().position(|token| token.tok == Tok::Sign(")")) else {
                return syntax(at, "宏的参数没有结束的 )", "a macro's parameters have no closing )");
            };
            let names = body[1..close].iter().filter_map(|token| match &token.tok {
                Tok::Name(name) => Some(name.clone()),
                _ => None,
            });
            params = Some(names.collect());
            body = &body[close + 1..];
        }
        if body.iter().any(|token| token.tok == Tok::Sign("##")) {
            return unsupported(at, "## in a macro");
        }
        self.macros.insert(name, Macro { params, body: body.to_vec() });
        Ok(())
    }

    /// `given` with every macro in it expanded; `active` are those whose bodies we are in.
    fn expand(&self, given: &[Token], active: &mut Vec<String>) -> Result<Vec<Token>, Fault> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < given.len() {
            let token = &given[at];
            at += 1;
            let found = match &token.tok {
                Tok::Name(name) if !active.contains(name) => self.macros.get(name).map(|found| (name, found)),
                _ => None,
            };
            let Some((name, found)) = found else {
                out.push(token.clone());
                continue;
            };
            if active.len() > MOST_DEPTH || out.len() > MOST_TOKENS {
                return syntax(token.at, "宏展开得太深", "macros expand without end");
            }
            let mut body = found.body.clone();
            if let Some(params) = &found.params {
                if given.get(at).map(|token| &token.tok) != Some(&Tok::Sign("(")) {
                    out.push(token.clone());
                    continue;
                }
                let (args, end) = arguments(given, at, token.at)?;
                at = end;
                if args.len() != params.len() && !(params.is_empty() && args.len() == 1 && args[0].is_empty()) {
                    let (want, got) = (params.len(), args.len());
                    return syntax(
                        token.at,
                        format!("宏 {name} 要 {want} 个参数，给了 {got} 个"),
                        format!("macro {name} takes {want} arguments, {got} were given"),
                    );
                }
                let args: Vec<Vec<Token>> =
                    args.iter().map(|arg| self.expand(arg, active)).collect::<Result<_, _>>()?;
                body = substitute(&body, params, &args);
            }
            for part in &mut body {
                part.at = token.at;
            }
            active.push(name.clone());
            let expanded = self.expand(&body, active);
            active.pop();
            out.extend(expanded?);
        }
        Ok(out)
    }

    /// The value of an `#if`.
    fn truth(&mut self, line: &[Token], at: Place) -> Result<bool, Fault> {
        let mut plain = Vec::new();
        let mut rest = line.iter();
        while let Some(token) = rest.next() {
            if token.tok == Tok::Name("defined".to_owned()) {
                let mut name = rest.next();
                let in_brackets = name.is_some_and(|token| token.tok == Tok::Sign("("));
                if in_brackets {
                    name = rest.next();
                    rest.next();
                }
                let is_known =
                    matches!(name.map(|token| &token.tok), Some(Tok::Name(name)) if self.macros.contains_key(name));
                let tok = Tok::Int { value: u64::from(is_known), is_unsigned: false, is_long: true };
                plain.push(Token { tok, at, is_first: false });
            } else {
                plain.push(token.clone());
            }
        }
        let mut expanded = self.expand(&plain, &mut Vec::new())?;
        for token in &mut expanded {
            if matches!(token.tok, Tok::Name(_)) {
                token.tok = Tok::Int { value: 0, is_unsigned: false, is_long: true };
            }
        }
        super::constant_of(expanded, at).map(|value| value != 0)
    }
}

/// The arguments of a macro's call whose `(` is at `open`, and where the call ends.
fn arguments(given: &[Token], open: usize, at: Place) -> Result<(Vec<Vec<Token>>, usize), Fault> {
    let (mut depth, mut args) = (0_usize, vec![Vec::new()]);
    for (index, token) in given.iter().enumerate().skip(open) {
        match &token.tok {
            Tok::Sign("(" | "[" | "{") => depth += 1,
            Tok::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Tok::Sign(",") if depth == 1 => {
                args.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            return Ok((args, index + 1));
        }
        if index > open
            && let Some(last) = args.last_mut()
        {
            last.push(token.clone());
        }
    }
    syntax(at, "宏的参数没有结束的 )", "a macro's arguments have no closing )")
}

fn substitute(body: &[Token], params: &[String], args: &[Vec<Token>]) -> Vec<Token> {
    let mut out = Vec::new();
    for token in body {
        let place = match &token.tok {
            Tok::Name(name) => params.iter().position(|param| param == name),
            _ => None,
        };
        match place.and_then(|place| args.get(place)) {
            Some(arg) => out.extend(arg.iter().cloned()),
            None => out.push(token.clone()),
        }
    }
    out
}
