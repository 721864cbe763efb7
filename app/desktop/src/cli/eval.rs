//! `eval`: one question to one model, as JSON in and out. A person at a terminal gets the answer as a table with units;
//! a pipe and `--json` get JSON, without the fields that have no value.

use super::Exit;
use super::fault::Fault;
use super::layout::{labelled, plain, right, width};
use super::say::{Ink, Say};
use serde::de::{Deserializer as _, MapAccess, Visitor};
use std::io::{IsTerminal as _, Read as _};
use vramlab_model::registry::{Entry, MODELS};
use vramlab_model::schema;
use vramlab_units::{Bytes, FieldSpec, Map, Text, Value, show};

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
            let mut answer = entry.eval(&question).map_err(Fault::from)?;
            answer.retain(|_, value| !value.is_null());
            if std::io::stdout().is_terminal() && !say.is_json {
                say.data(&text(entry, &answer, say));
                return Ok(Exit::Fine);
            }
            let mut out = Map::new();
            out.insert("schema".to_owned(), schema::SCHEMA.into());
            out.extend(answer);
            say.json(&Value::Object(out));
        }
    }
    Ok(Exit::Fine)
}

const SCHEMA: Text = Text::new(
    "单位和范围：vramlab eval {} --schema；JSON：--json",
    "units and ranges: vramlab eval {} --schema; as JSON: --json",
);

/// The answer for a reader: each value rounded, with its unit and what it means.
fn text(entry: &Entry, answer: &Map, say: &Say) -> String {
    let fields: Vec<FieldSpec> =
        (entry.answer)().into_iter().filter(|field| answer.contains_key(field.key.as_ref())).collect();
    let values: Vec<String> = fields.iter().map(|field| shown(&answer[field.key.as_ref()], &field.unit)).collect();
    let columns = values.iter().map(|value| width(value)).max().unwrap_or_default();
    let mut out = vec![say.ink(Ink::Strong, say.text(entry.title))];
    for (field, value) in fields.iter().zip(&values) {
        let meaning = format!("{} · {}", say.text(field.doc), field.key);
        out.push(format!("  {}", labelled(2, &right(value, columns), columns + 3, &meaning)));
    }
    out.push(say.ink(Ink::Muted, &format!("  {}", say.text(SCHEMA).replace("{}", entry.id))));
    out.join("\n")
}

/// A value as people write it: `0.8 TFLOP/s`, `256 B`, `hbm`.
fn shown(value: &Value, unit: &str) -> String {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let is_size = unit == "B" && number >= 0.0 && number.fract() == 0.0;
            plain(&if is_size { show::bytes_binary(Bytes(number as u64)) } else { show::with_unit(number, unit) })
        }
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(|item| shown(item, unit)).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
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
    fn values_are_rounded_and_carry_their_unit() {
        assert_eq!(shown(&0.799_999_999_999_999_9.into(), "TFLOP/s"), "0.8 TFLOP/s");
        assert_eq!(shown(&4_294_967_296_u64.into(), "B"), "4 GiB");
        assert_eq!(shown(&13.937_500_000_000_002.into(), "FLOP/B"), "13.9 FLOP/B");
        assert_eq!(shown(&"hbm".into(), ""), "hbm");
        assert_eq!(shown(&Value::from(vec![1, 2]), "1"), "1, 2");
    }

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
