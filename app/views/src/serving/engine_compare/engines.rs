//! The rows of `assets/engines.toml`: how engines take memory, each with its source and date.

use serde::Deserialize;
use std::sync::LazyLock;
use vramlab_serve::capacity::Reserve;
use vramlab_units::Localized;

const SOURCE: &str = include_str!("../../../../../assets/engines.toml");

#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    pub id: String,
    pub name: String,
    pub reserve: Reserve,
    pub share: f64,
    pub block_tokens: u64,
    /// What it takes, what it does when the pool is full, how it shares prefixes.
    pub says: [Localized; 3],
    pub source: String,
    pub url: String,
    pub date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Both {
    zh: String,
    en: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    name: String,
    reserve: String,
    share: f64,
    block_tokens: u64,
    takes: Both,
    full: Both,
    prefix: Both,
    source: String,
    url: String,
    date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    engine: Vec<Row>,
}

fn engine(row: Row) -> Option<Engine> {
    let reserve = match row.reserve.as_str() {
        "card" => Reserve::Card,
        "rest" => Reserve::Rest,
        "start" => Reserve::Start,
        "grows" => Reserve::Grows,
        _ => return None,
    };
    let is_legal =
        row.share > 0.0 && row.share <= 1.0 && row.block_tokens > 0 && !row.url.is_empty() && row.date.len() == 10;
    let says = [row.takes, row.full, row.prefix].map(|both| Localized::both(both.zh, both.en));
    let Row { id, name, share, block_tokens, source, url, date, .. } = row;
    is_legal.then_some(Engine { id, name, reserve, share, block_tokens, says, source, url, date })
}

fn read(text: &str) -> Option<Vec<Engine>> {
    let file = toml::from_str::<File>(text).ok().filter(|file| file.schema == 1)?;
    file.engine.into_iter().map(engine).collect()
}

pub static ENGINES: LazyLock<Vec<Engine>> =
    LazyLock::new(|| read(SOURCE).expect("assets/engines.toml is held by the tests of this file"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_source_and_date() {
        let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(names, ["Transformers", "vLLM", "TensorRT-LLM", "SGLang"]);
        assert!(ENGINES.iter().all(|engine| engine.url.starts_with("https://") && engine.date.as_str() >= "2026"));
        assert!(read(&SOURCE.replace("date = \"2026-11-30\"", "date = \"\"")).is_none());
        assert!(read(&SOURCE.replace("\"rest\"", "\"all\"")).is_none());
    }
}
