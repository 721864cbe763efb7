//! The JSON Schema (draft 7) of a chapter file, for editors. Made from the field tables, so it cannot drift from the
//! parser; `lessons/chapter.schema.json` is the committed copy, and a test keeps it current.

use crate::chapter::SCHEMA;
use crate::fields::{self, Field, Holds, KINDS, Need};
use serde_json::{Map, Value, json};
use vramlab_units::Text;

/// The schema as it is committed: indented, with a line end.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

/// The schema as JSON.
pub fn schema() -> Value {
    let kinds: Vec<Value> = KINDS
        .iter()
        .map(|kind| {
            let mut step = object(kind.fields, kind.doc);
            step["properties"]["kind"] = json!({ "const": kind.id, "description": described(kind.doc) });
            json!({
                "if": { "properties": { "kind": { "const": kind.id } }, "required": ["kind"] },
                "then": step,
            })
        })
        .collect();
    let ids: Vec<&str> = KINDS.iter().map(|kind| kind.id).collect();
    let docs: Vec<String> = KINDS.iter().map(|kind| format!("{}: {}", kind.id, described(kind.doc))).collect();
    let step = json!({
        "type": "object",
        "required": ["kind"],
        "properties": { "kind": { "enum": ids, "description": docs.join("\n") } },
        "allOf": kinds,
    });
    let mut root = object(&[fields::CHAPTER], Text::new("显存实验台的一章", "A chapter of VRAM Lab"));
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("VRAM Lab chapter");
    root["properties"]["step"] =
        json!({ "type": "array", "items": step, "description": "一步 / one step of the page" });
    root["properties"]["audit"] = list(&[fields::AUDIT], Text::new("待判断的说法", "A published claim to judge"));
    root["properties"]["review"] = list(fields::REVIEW, Text::new("复习题", "A question for the review deck"));
    root["definitions"] = json!({ "localized": localized(), "params": { "type": "object" } });
    root
}

fn described(doc: Text) -> String {
    format!("{} / {}", doc.zh, doc.en)
}

fn localized() -> Value {
    let text = |language: &str| json!({ "type": "string", "minLength": 1, "description": language });
    json!({
        "oneOf": [
            { "type": "string", "minLength": 1 },
            {
                "type": "object",
                "properties": { "zh": text("中文"), "en": text("English") },
                "additionalProperties": false,
                "minProperties": 1,
            },
        ],
    })
}

fn object(fields: &[&'static [Field]], doc: Text) -> Value {
    let all = || fields.iter().copied().flatten();
    let required: Vec<&str> = all().filter(|field| field.need != Need::May).map(|field| field.key).collect();
    let properties: Map<String, Value> = all().map(|field| (field.key.to_owned(), property(field))).collect();
    let mut out = json!({
        "type": "object",
        "description": described(doc),
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    out
}

fn list(fields: &[&'static [Field]], doc: Text) -> Value {
    json!({ "type": "array", "items": object(fields, doc) })
}

fn property(field: &Field) -> Value {
    let mut out = match field.holds {
        Holds::Plain => json!({ "type": "string" }),
        Holds::Id => json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$" }),
        Holds::Localized => json!({ "allOf": [{ "$ref": "#/definitions/localized" }] }),
        Holds::LocalizedList => json!({ "type": "array", "items": { "$ref": "#/definitions/localized" } }),
        Holds::PlainList => json!({ "type": "array", "items": { "type": "string" } }),
        Holds::Number => json!({ "type": "number" }),
        Holds::Numbers => json!({ "type": "array", "items": { "type": "number" } }),
        Holds::Version => json!({ "const": SCHEMA }),
        Holds::Minutes => json!({ "type": "integer", "minimum": 1, "maximum": 600 }),
        Holds::Flag => json!({ "type": "boolean" }),
        Holds::Choice(options) => json!({ "enum": options }),
        Holds::Params => json!({ "allOf": [{ "$ref": "#/definitions/params" }] }),
        Holds::Redraw => json!({
            "type": "object",
            "additionalProperties": { "type": "array", "items": { "type": "number" }, "minItems": 1, "maxItems": 1000 },
        }),
        Holds::Table(fields) => object(&[fields], field.doc),
        Holds::Tables(fields) => list(&[fields], field.doc),
    };
    out["description"] = json!(described(field.doc));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_copy_is_current() {
        let committed = include_str!("../../../lessons/chapter.schema.json");
        assert!(
            committed == schema_text(),
            "lessons/chapter.schema.json is not what the parser reads: write `vramlab_lesson::schema::schema_text()` into it \
             (cargo run -p vramlab-lesson --example schema > lessons/chapter.schema.json)"
        );
    }

    #[test]
    fn every_kind_and_field_is_in_it() {
        let text = schema_text();
        for kind in KINDS {
            assert!(text.contains(&format!("\"const\": \"{}\"", kind.id)), "{}", kind.id);
        }
        let steps = &schema()["properties"]["step"]["items"]["allOf"];
        let visualizer =
            steps.as_array().unwrap().iter().find(|kind| kind["if"]["properties"]["kind"]["const"] == "visualizer");
        let then = &visualizer.unwrap()["then"];
        assert_eq!(then["required"], json!(["id", "kind", "title", "show", "text", "alt"]));
        assert_eq!(then["additionalProperties"], json!(false));
    }
}
