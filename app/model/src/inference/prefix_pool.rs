//! A pool that recognises prompts by their blocks: what a prompt finds there, and what goes when room is needed.
//!
//! Question: block size, blocks, a script: `a:0-14` admits a with the tokens 0 to 14 (`0-9,100-103` joins ranges), `a@7:0-14`
//! under the salt 7, `a+15-17` computes tokens behind it, `-a` ends it. Answer: what the last prompt reused, its blocks, what
//! was evicted, the queue of free blocks. Rules and source: `vramlab_serve::prefix`. Errors: names, ranges, a pool without room.

use super::{ints, list, serving, text};
use crate::fields::answer;
use crate::registry::Model;
use std::collections::BTreeMap;
use vramlab_serve::prefix::{Admission, PrefixPool};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct Prefix;

const MAX_TOKENS: usize = 65_536;

/// Tokens of `0-9,100-103`.
fn tokens(text: &str) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        if to < from || (to - from) as usize >= MAX_TOKENS - out.len() {
            return None;
        }
        out.extend(from..=to);
    }
    Some(out)
}

/// The pool after a script, with every admission.
pub fn play(script: &str, block_tokens: u32, n_blocks: u32) -> Result<(PrefixPool, Vec<Admission>), FieldError> {
    let problem =
        |problem: vramlab_serve::Problem| serving(&problem, &[("prompt", "script"), ("pool_blocks", "pool_blocks")]);
    let mut pool = PrefixPool::new(block_tokens, n_blocks).map_err(problem)?;
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let mut admissions = Vec::new();
    for word in script.split_whitespace() {
        let bad = || {
            let cut: String = word.chars().take(20).collect();
            FieldError::conflict("script", format!("\"{cut}\" is none of NAME:0-14, NAME@SALT:0-14, NAME+15-17, -NAME"))
        };
        let find = |known: &BTreeMap<String, u32>, name: &str| {
            let unknown = || FieldError::conflict("script", format!("there is no sequence {name}"));
            known.get(name).copied().ok_or_else(unknown)
        };
        if let Some(name) = word.strip_prefix('-') {
            pool.finish(find(&known, name)?).map_err(problem)?;
        } else if let Some((name, range)) = word.split_once(':') {
            let (name, salt) = name.split_once('@').unwrap_or((name, "0"));
            let salt = salt.parse().map_err(|_| bad())?;
            let admission = pool.admit(&tokens(range).ok_or_else(bad)?, salt).map_err(problem)?;
            if name.is_empty() || known.insert(name.to_owned(), admission.seq).is_some() {
                return Err(FieldError::conflict("script", format!("\"{name}\" names no new sequence")));
            }
            admissions.push(admission);
        } else {
            let (name, range) = word.split_once('+').ok_or_else(bad)?;
            pool.append(find(&known, name)?, &tokens(range).ok_or_else(bad)?).map_err(problem)?;
        }
    }
    Ok((pool, admissions))
}

impl Model for Prefix {
    const ID: &'static str = "prefix_pool";
    const TITLE: Text = Text::new("按块认出共同的前缀", "Recognising prefixes by their blocks");
    const ASSUMES: Text = Text::new(
        "只认写满的块；最后一个 token 总要重算；空闲块排成队，先释放的先被取走。",
        "Only full blocks are known; the last token is always computed; free blocks queue, the longest free goes first.",
    );
    const SOURCE: &'static str = "vLLM, docs/design/prefix_caching.md";
    const EXAMPLE: &'static str = r#"{"block_tokens": 4, "pool_blocks": 10, "script": "a:0-14 b:0-9,100-103"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("block_tokens", "token", 1, 256, Text::new("一块的 token 数", "Tokens of a block"))
                .default_value(16),
            FieldSpec::int("pool_blocks", "1", 1, 65_536, Text::new("池里的块数", "Blocks of the pool"))
                .default_value(64),
            text(
                "script",
                "a:0-14 来一个提示，a+15-17 接着算，-a 结束；a@7:… 带盐",
                "a:0-14 is a prompt, a+15-17 goes on, -a ends; a@7:… has a salt",
            )
            .default_value(""),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 1 << 53, Text::new(zh, en));
        vec![
            count(
                "reused_tokens",
                "token",
                "最后来的提示不必算的 token",
                "Tokens that the last prompt need not compute",
            ),
            list("blocks", "1", "它的块", "Its blocks"),
            list("evicted", "1", "为它失去内容的块", "Blocks that lost their content to it"),
            list("queue", "1", "空闲块的队列，先取的在前", "Free blocks, the next to be taken first"),
            list("reused", "token", "每个提示重用的 token", "Tokens that each prompt reused"),
            count("cached_blocks", "1", "有内容可认的块", "Blocks with content that can be found"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (block_tokens, n_blocks) = (args.uint("block_tokens") as u32, args.uint("pool_blocks") as u32);
        let (pool, admissions) = play(args.text("script"), block_tokens, n_blocks)?;
        let last = admissions.last();
        let reused: Vec<u32> = admissions.iter().map(|one| one.reused_tokens).collect();
        Ok(answer([
            ("reused_tokens", last.map_or(0, |one| one.reused_tokens).into()),
            ("blocks", ints(last.map_or(&[][..], |one| &one.blocks))),
            ("evicted", ints(last.map_or(&[][..], |one| &one.evicted))),
            ("queue", ints(&pool.queue())),
            ("reused", ints(&reused)),
            ("cached_blocks", (0..n_blocks).filter(|block| pool.is_cached(*block)).count().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(given: &vramlab_units::Value) -> Map {
        crate::eval("prefix_pool", &question(given)).unwrap()
    }

    /// Brief 21, the published example of vLLM, and the two check questions.
    #[test]
    fn the_vectors_of_the_brief() {
        let of = |script: &str| ask(&json!({"block_tokens": 4, "pool_blocks": 10, "script": script}));
        assert_eq!(of("a:0-14")["blocks"], json!([0, 1, 2, 3]));
        let second = of("a:0-14 a+15-17 b:0-9,100-103");
        assert_eq!((&second["reused_tokens"], &second["blocks"]), (&json!(8), &json!([0, 1, 5, 6])));
        let ended = of("a:0-14 a+15-17 b:0-9,100-103 -a -b");
        assert_eq!(ended["queue"], json!([7, 8, 9, 4, 3, 2, 6, 5, 1, 0]));
        let third = of("a:0-14 a+15-17 b:0-9,100-103 -a -b c:0-11,200-216");
        assert_eq!((&third["blocks"], &third["evicted"]), (&json!([0, 1, 2, 7, 8, 9, 4, 3]), &json!([3])));
        assert_eq!(of("a:0-7 -a b:0-7 c:0-8")["reused"], json!([0, 4, 8]));
        let sixteen = |shared: u32| {
            ask(&json!({"script": format!("a:0-99 b:0-{},500-549", shared - 1)}))["reused_tokens"].clone()
        };
        assert_eq!((sixteen(40), sixteen(50)), (json!(32), json!(48)));
        assert_eq!(ask(&json!({"script": "a@1:0-99 b@2:0-99"}))["reused_tokens"], 0);
        let refused = |script: &str| crate::eval("prefix_pool", &question(&json!({"script": script}))).unwrap_err();
        for script in ["a:", "a:5-2", "a:0-9999999", "-a", "a+1", "a:0 a:0", "a@x:0", "?"] {
            assert_eq!(refused(script).field(), "script", "{script}");
        }
        assert_eq!(refused("a:0-5000").field(), "pool_blocks");
    }
}
