//! `eval`: one question to one model, as JSON in and out.

use super::Exit;
use super::fault::Fault;
use super::say::Say;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use std::io::Read as _;
use vramlab_model::registry::{Entry, MODELS};
use vramlab_model::schema;
use vramlab_units::{Map, Value};

/// Longest question that is read.
const MAX_BYTES: u64 = 1 << 20;

#[derive(clap::Args)]
#[command(after_help = "Example: vramlab eval coalescing '{\"stride_bytes\": 8, \"elem_bytes\": 4}'")]
pub struct Args {
    /// The model; `vramlab list models` prints them.
    #[arg(required_unless_present = "schema")]
    model: Option<String>,
    /// The question as a JSON object, or - to read it from standard input.
    #[arg(value_name = "JSON|-", conflicts_with = "schema")]
    question: Option<String>,
    /// Prints the fields of question and answer with units and legal ranges; without MODEL, those of every model.
    #[arg(long)]
    schema: bool,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let entry = args.model.as_deref().map(find).transpose()?;
    match (entry, args.schema) {
        (Some(entry), true) => say.json(&schema::of(entry)),
        (None, _) => say.json(&schema::all()),
        (Some(entry), false) => {
            let question = question(entry, args.question.as_deref())?;
            let answer = entry.eval(&question).map_err(Fault::from)?;
            let mut out = Map::new();
            out.insert("schema".to_owned(), schema::SCHEMA.into());
            out.extend(answer);
            say.json(&Value::Object(out));
        }
    }
    Ok(Exit::Fine)
}

fn find(id: &str) -> Result<&'static Entry, Fault> {
    vramlab_model::registry::find(id).ok_or_else(|| Fault::unknown("model", id, MODELS.iter().map(|entry| entry.id)))
}

fn question(entry: &Entry, given: Option<&str>) -> Result<Map, Fault> {
    let example = || format!("for example: vramlab eval {} '{}'", entry.id, entry.example);
    let text = match given {
        None => return Err(Fault::usage(format!("the question to \"{}\" is missing", entry.id)).help(example())),
        Some("-") => stdin()?,
        Some(text) => text.to_owned(),
    };
    parse(&text).map_err(|why| Fault::usage(format!("the question is not a JSON object: {why}")).help(example()))
}

fn stdin() -> Result<String, Fault> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text);
    match read {
        Ok(n) if n as u64 > MAX_BYTES => Err(Fault::usage(format!("the question is longer than {MAX_BYTES} bytes"))),
        Ok(_) => Ok(text),
        Err(error) => Err(Fault::usage(format!("standard input cannot be read: {error}"))),
    }
}

/// A JSON object in which every key stands once.
fn parse(text: &str) -> Result<Map, serde_json::Error> {
    struct Once;
    impl<'de> Visitor<'de> for Once {
        type Value = Map;
        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object {\"field\": value}")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Map, A::Error> {
            let mut map = Map::new();
            while let Some((key, value)) = access.next_entry::<String, Value>()? {
                if map.insert(key.clone(), value).is_some() {
                    return Err(serde::de::Error::custom(format!("\"{key}\" is given twice")));
                }
            }
            Ok(map)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let map = reader.deserialize_map(Once)?;
    reader.end()?;
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_given_twice_is_refused_and_not_overwritten() {
        assert!(parse(r#"{"a": 1, "b": 2}"#).is_ok());
        let why = parse(r#"{"a": 1, "a": 2}"#).unwrap_err().to_string();
        assert!(why.contains("\"a\" is given twice"), "{why}");
        for text in ["", "[1]", "{", "{} {}", "3", r#"{"a": 1e999}"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
