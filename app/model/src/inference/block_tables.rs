//! Block tables: a script of sequences that start, grow, fork and end; which blocks they hold.
//!
//! Question: block size, blocks, a script: `a:6` starts a with 6 tokens, `b=a` forks, `a+3` adds tokens, `-a` ends.
//! Answer: tables, used blocks, wasted slots, copies. Rules, order and source: `vramlab_serve::tables`.
//! Errors: a name that is taken, unknown, ended or preempted.

use super::{serving, shown, text};
use crate::fields::{answer, number};
use crate::registry::Model;
use std::collections::BTreeMap;
use vramlab_serve::tables::{Change, Tables};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct BlockTables;

const MAX_STEP: u32 = 1 << 20;

/// A played script, and whose sequence is which.
pub fn play(script: &str, block_tokens: u32, n_blocks: u32) -> Result<(Tables, Vec<String>), FieldError> {
    let problem = |problem: vramlab_serve::Problem| serving(&problem, &[]);
    let mut tables = Tables::new(block_tokens, n_blocks).map_err(problem)?;
    let mut names = Vec::new();
    let mut known = BTreeMap::new();
    for word in script.split_whitespace() {
        let bad = || {
            let cut: String = word.chars().take(20).collect();
            FieldError::conflict("script", format!("\"{cut}\" is none of NAME:TOKENS, NAME+TOKENS, NAME=OTHER, -NAME"))
        };
        let count = |text: &str| match text.parse::<u32>() {
            Ok(n) if n <= MAX_STEP => Ok(n),
            _ if text.is_empty() || !text.bytes().all(|c| c.is_ascii_digit()) => Err(bad()),
            _ => Err(FieldError::conflict(
                "script",
                format!("too many tokens in a step, at most {MAX_STEP} are allowed"),
            )),
        };
        let find = |known: &BTreeMap<String, u32>, name: &str| {
            let unknown = || FieldError::conflict("script", format!("there is no sequence {name}"));
            known.get(name).copied().ok_or_else(unknown)
        };
        let born = if let Some(name) = word.strip_prefix('-') {
            tables.end(find(&known, name)?).map_err(problem)?;
            None
        } else if let Some((name, tokens)) = word.split_once(':') {
            Some((name, tables.start(count(tokens)?).map_err(problem)?))
        } else if let Some((name, parent)) = word.split_once('=') {
            Some((name, tables.fork(find(&known, parent)?).map_err(problem)?))
        } else {
            let (name, tokens) = word.split_once('+').ok_or_else(bad)?;
            tables.append(find(&known, name)?, count(tokens)?).map_err(problem)?;
            None
        };
        if let Some((name, seq)) = born {
            if name.is_empty() || known.insert(name.to_owned(), seq).is_some() {
                return Err(FieldError::conflict("script", format!("\"{name}\" names no new sequence")));
            }
            names.push(name.to_owned());
        }
    }
    Ok((tables, names))
}

impl Model for BlockTables {
    const ID: &'static str = "block_tables";
    const TITLE: Text = Text::new("块表、共享和写时复制", "Block tables, sharing, copy-on-write");
    const ASSUMES: Text = Text::new(
        "取编号最低的空闲块；写共享的块先复制；没有块时，抢占最新的序列。",
        "The lowest free block is taken; a shared block is copied before a write; without a block the newest gives way.",
    );
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), sections 4.3 and 4.4";
    const EXAMPLE: &'static str = r#"{"block_tokens": 4, "pool_blocks": 8, "script": "a:6 b=a b+1"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("block_tokens", "token", 1, 256, Text::new("一块的 token 数", "Tokens of a block"))
                .default_value(16),
            FieldSpec::int("pool_blocks", "1", 1, 65_536, Text::new("池里的块数", "Blocks of the pool"))
                .default_value(64),
            text(
                "script",
                "a:6 开始，b=a 分叉，a+3 添 3 个 token，-a 结束",
                "a:6 starts, b=a forks, a+3 adds 3 tokens, -a ends",
            )
            .default_value(""),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 1 << 53, Text::new(zh, en));
        vec![
            count("used_blocks", "1", "用着的物理块", "Physical blocks in use"),
            count("free_blocks", "1", "空闲块", "Free blocks"),
            count("slots", "token", "用着的块的槽位，共享的算一次", "Slots of the used blocks, a shared one once"),
            count("waste", "token", "没有 token 的槽位", "Slots without a token"),
            FieldSpec::num("waste_share", "1", 0.0, 1.0, Text::new("浪费的比例", "Share that is wasted")),
            count("copies", "1", "写时复制的次数", "Copies on write"),
            count("preempted", "1", "被抢占的序列", "Sequences that were preempted"),
            count("n_changes", "1", "改动的次数", "Changes that were made"),
            shown("tables", "各序列的块表", "The block table of each sequence"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (block_tokens, n_blocks) = (args.uint("block_tokens") as u32, args.uint("pool_blocks") as u32);
        let (tables, names) = play(args.text("script"), block_tokens, n_blocks)?;
        let state = tables.state();
        let (slots, waste) = (state.slots(), state.waste());
        let copies = tables.changes.iter().filter(|change| matches!(change, Change::Copy { .. })).count();
        let shown: Vec<String> = names
            .iter()
            .zip(&state.sequences)
            .filter(|(_, one)| one.is_alive)
            .map(|(name, one)| {
                let blocks: Vec<String> = one.blocks.iter().map(u32::to_string).collect();
                format!("{name}[{}]", blocks.join(" "))
            })
            .collect();
        Ok(answer([
            ("used_blocks", state.used_blocks().into()),
            ("free_blocks", (n_blocks - state.used_blocks()).into()),
            ("slots", slots.into()),
            ("waste", waste.into()),
            ("waste_share", number(if slots > 0 { waste as f64 / slots as f64 } else { 0.0 })),
            ("copies", copies.into()),
            ("preempted", state.sequences.iter().filter(|one| one.was_preempted).count().into()),
            ("n_changes", tables.changes.len().into()),
            ("tables", shown.join(" ").into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 16, vectors 3 and 7.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |script: &str| crate::eval("block_tables", &question(&json!({"script": script}))).unwrap();
        for (script, blocks, waste) in
            [("a:1", 1, 15), ("a:16", 1, 0), ("a:17", 2, 15), ("a:100 b:250 c:7 d:16", 25, 27), ("", 0, 0)]
        {
            let got = ask(script);
            assert_eq!((&got["used_blocks"], &got["waste"]), (&json!(blocks), &json!(waste)), "{script}");
        }
        assert_eq!(ask("a:100 b:250 c:7 d:16")["waste_share"], 0.0675);
        let refused = |script: &str| crate::eval("block_tables", &question(&json!({"script": script}))).unwrap_err();
        for script in ["b=a", "a", "-x", "a:1 a:2", "a:x", "a:1 -a a+1", ":3", "a:"] {
            assert_eq!(refused(script).field(), "script", "{script}");
        }
        for script in ["a:99999999999999999999", "a:1 a+1048577"] {
            assert!(refused(script).to_string().contains("too many tokens in a step, at most 1048576"), "{script}");
        }
    }

    #[test]
    fn a_fork_is_copied_when_it_writes() {
        let given = json!({"block_tokens": 4, "pool_blocks": 8, "script": "a:6 b=a b+1 a+3"});
        let got = crate::eval("block_tables", &question(&given)).unwrap();
        assert_eq!((&got["tables"], &got["copies"]), (&json!("a[0 1 3] b[0 2]"), &json!(1)));
    }

    /// Counted on paper. Blocks 0, 1, 2 are full and shared by three; the last of a holds 2 of 4, those of b and c hold 3.
    #[test]
    fn a_shared_block_counts_once() {
        let ask = |script: &str| {
            let given = json!({"block_tokens": 4, "pool_blocks": 8, "script": script});
            let got = crate::eval("block_tables", &question(&given)).unwrap();
            ["used_blocks", "slots", "waste"].map(|key| got[key].as_u64().unwrap())
        };
        assert_eq!(ask("a:14 b=a c=a b+1 c+1"), [6, 24, 4]);
        assert_eq!(ask("a:14 b=a c=a"), [4, 16, 2]);
    }
}
