//! `assets/memory_levels.toml`: the levels of the hierarchy, each number with its source.

use serde::Deserialize;
use std::collections::BTreeMap;
use vramlab_units::{Lang, Localized};

const SOURCE: &str = include_str!("../../../../assets/memory_levels.toml");

/// A number and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub value: f64,
    /// The source in words, with its date.
    pub source: Localized,
    /// An estimate, or a number that was not seen in the maker's own words.
    pub is_doubtful: bool,
}

/// One level, near to far.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    pub id: String,
    /// 0 = nearest to 1 = farthest, the place on the ramp.
    pub far: f32,
    pub name: Localized,
    pub place: Localized,
    pub size_bytes: Fact,
    /// None where reading is part of the instruction.
    pub latency_ns: Option<Fact>,
    pub gb_per_s: Fact,
}

/// The whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    pub clock_mhz: f64,
    /// The latest date among the sources.
    pub date: String,
    pub levels: Vec<Level>,
}

impl Level {
    pub fn name(&self, lang: Lang) -> &str {
        self.name.get(lang)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    clock_mhz: Entry,
    source: BTreeMap<String, FileSource>,
    level: Vec<FileLevel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSource {
    text: Names,
    #[serde(default, rename = "url")]
    _url: Option<String>,
    date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLevel {
    id: String,
    far: f32,
    name: Names,
    place: Names,
    size_bytes: Entry,
    latency_ns: Option<Entry>,
    gb_per_s: Entry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    zh: String,
    en: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Plain(f64, String),
    Marked(f64, String, String),
}

impl Levels {
    /// Reads the file's text. Errors are sentences for whoever edits it.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.schema != 1 {
            return Err(format!("schema {} is not 1", file.schema));
        }
        let clock_mhz = fact(file.clock_mhz, &file.source)?.value;
        let levels = file.level.into_iter().map(|level| read_level(level, &file.source)).collect::<Result<_, _>>()?;
        let date = file.source.values().map(|source| source.date.clone()).max().unwrap_or_default();
        Ok(Self { clock_mhz, date, levels })
    }

    /// The levels of the course.
    pub fn course() -> Self {
        Self::read(SOURCE).expect("assets/memory_levels.toml is held by the tests of this file")
    }
}

fn read_level(level: FileLevel, sources: &BTreeMap<String, FileSource>) -> Result<Level, String> {
    let both = |names: Names| Localized::both(names.zh, names.en);
    Ok(Level {
        id: level.id,
        far: level.far,
        name: both(level.name),
        place: both(level.place),
        size_bytes: fact(level.size_bytes, sources)?,
        latency_ns: level.latency_ns.map(|entry| fact(entry, sources)).transpose()?,
        gb_per_s: fact(level.gb_per_s, sources)?,
    })
}

fn fact(entry: Entry, sources: &BTreeMap<String, FileSource>) -> Result<Fact, String> {
    let (value, id, mark) = match entry {
        Entry::Plain(value, id) => (value, id, None),
        Entry::Marked(value, id, mark) => (value, id, Some(mark)),
    };
    let source = sources.get(&id).ok_or_else(|| format!("there is no source \"{id}\""))?;
    if mark.as_ref().is_some_and(|mark| mark != "doubtful") {
        return Err("the only mark is \"doubtful\"".to_owned());
    }
    let (text, date) = (&source.text, &source.date);
    let source = Localized::both(format!("{}（{date}）", text.zh), format!("{} ({date})", text.en));
    Ok(Fact { value, source, is_doubtful: mark.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The farther, the slower and never the smaller; and the ramp runs the same way.
    #[test]
    fn the_levels_run_from_near_to_far() {
        let levels = Levels::course().levels;
        assert_eq!(
            levels.iter().map(|level| level.id.as_str()).collect::<Vec<_>>(),
            ["registers", "l1", "l2", "hbm", "host", "disk"]
        );
        for pair in levels.windows(2) {
            assert!(pair[0].far < pair[1].far && pair[0].size_bytes.value <= pair[1].size_bytes.value);
            assert!(pair[0].gb_per_s.value > pair[1].gb_per_s.value);
            let latency = |level: &Level| level.latency_ns.as_ref().map_or(0.0, |fact| fact.value);
            assert!(latency(&pair[0]) < latency(&pair[1]));
        }
    }

    /// By hand: 65 536 registers × 4 bytes × 132 SMs; 256 KiB × 132; 60 MiB; 33.0 × 10¹² × 12 bytes.
    #[test]
    fn sizes_and_rates_follow_from_what_their_sources_say() {
        let levels = Levels::course().levels;
        let size = |idx: usize| levels[idx].size_bytes.value;
        assert_eq!([size(0), size(1), size(2)], [65_536.0 * 4.0 * 132.0, 262_144.0 * 132.0, 60.0 * 1_048_576.0]);
        assert!((levels[0].gb_per_s.value - 33.0e12 * 12.0 / 1e9).abs() < 1.0);
    }

    #[test]
    fn a_number_without_its_source_is_refused() {
        let text = "schema = 1\nclock_mhz = [1, \"b\"]\nlevel = []\n[source.a]\ntext = { zh = \"x\", en = \"x\" }\ndate = \"2026-11-30\"\n";
        assert!(Levels::read(text).unwrap_err().contains("no source \"b\""));
    }
}
