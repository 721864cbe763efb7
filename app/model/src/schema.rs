//! The description of models as JSON: what `eval --schema` prints and editors read.

use crate::registry::{Entry, MODELS};
use serde_json::{Value, json};
use vramlab_units::{FieldSpec, Text};

/// Version of this description and of every answer of `eval`.
pub const SCHEMA: u32 = 1;

/// One model: title, assumption, source, example, and the fields of question and answer.
pub fn of(entry: &Entry) -> Value {
    json!({
        "schema": SCHEMA,
        "id": entry.id,
        "title": text(entry.title),
        "assumes": text(entry.assumes),
        "source": entry.source,
        "example": serde_json::from_str::<Value>(entry.example).unwrap_or_default(),
        "question": (entry.question)().iter().map(question_field).collect::<Vec<_>>(),
        "answer": (entry.answer)().iter().map(answer_field).collect::<Vec<_>>(),
    })
}

/// All models, in the order of the registry.
pub fn all() -> Value {
    json!({ "schema": SCHEMA, "models": MODELS.iter().map(of).collect::<Vec<_>>() })
}

fn question_field(spec: &FieldSpec) -> Value {
    let mut field = described(spec);
    field["required"] = (spec.default.is_none() && !spec.is_optional).into();
    if let Some(default) = &spec.default {
        field["default"] = default.clone();
    }
    field
}

fn answer_field(spec: &FieldSpec) -> Value {
    let mut field = described(spec);
    field["nullable"] = spec.is_optional.into();
    field
}

fn described(spec: &FieldSpec) -> Value {
    json!({
        "key": spec.key,
        "unit": spec.unit,
        "type": serde_json::to_value(&spec.kind).unwrap_or_default(),
        "legal": spec.legal(),
        "doc": text(spec.doc),
    })
}

fn text(text: Text) -> Value {
    json!({ "zh": text.zh, "en": text.en })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn the_description_says_what_is_required_and_what_may_be_null() {
        let schema = of(find("coalescing").unwrap());
        let field = |list: &str, key: &str| {
            schema[list].as_array().unwrap().iter().find(|field| field["key"] == key).unwrap().clone()
        };
        assert_eq!(field("question", "elem_bytes")["required"], true);
        assert_eq!(field("question", "elem_bytes")["legal"], "one of 1, 2, 4, 8, 16");
        assert_eq!(field("question", "lanes")["default"], 32);
        assert_eq!(field("question", "lanes")["type"], json!({"kind": "int", "min": 0, "max": 32}));
        assert_eq!(field("answer", "efficiency")["nullable"], true);
        assert_eq!(field("answer", "sectors")["nullable"], false);
        assert_eq!(schema["example"]["stride_bytes"], 8);
    }

    #[test]
    fn all_models_are_described() {
        assert_eq!(all()["models"].as_array().unwrap().len(), MODELS.len());
    }
}
