//! How a figure's values come about: each formula in symbols and with the reader's numbers, each question to a model with
//! its answer.

use egui::{RichText, Ui};
use std::collections::BTreeMap;
use vramlab_kit::{Tokens, Type, math};
use vramlab_lesson::ModelRef;
use vramlab_lesson::answer::{Values, resolve};
use vramlab_lesson::figure::{Figure, NamedValue, ValueSource};
use vramlab_units::{Lang, Value, show};

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, figure: &Figure, values: &Values) {
    for value in &figure.values {
        let Some(number) = values.get(&value.name) else { continue };
        let shown = show::readable(*number, &value.unit);
        ui.add_space(tokens.space.xs);
        ui.label(RichText::new(value.means.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
        if let ValueSource::Formula(formula) = &value.source {
            math::equation(ui, tokens, &value.name, formula, &BTreeMap::new(), values, &shown);
        } else {
            let text = line(value, values, &shown);
            ui.label(RichText::new(text).font(tokens.font(Type::Mono)).color(tokens.ink));
        }
    }
}

/// A constant, or a question to a model and its answer.
fn line(value: &NamedValue, values: &Values, shown: &str) -> String {
    match &value.source {
        ValueSource::Model(from) => format!("{} = {} = {shown}", value.name, asked(from, values)),
        _ => format!("{} = {shown}", value.name),
    }
}

/// `coalescing(stride_bytes = 8).sectors`
fn asked(from: &ModelRef, values: &Values) -> String {
    let set = resolve(&from.set, values).unwrap_or_else(|_| from.set.clone());
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let set: Vec<String> = set.iter().map(|(key, value)| format!("{key} = {}", word(value))).collect();
    format!("{}({}).{}", from.model, set.join(", "), from.take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_to_a_model_reads_with_the_readers_numbers() {
        let set = serde_json::json!({ "stride_bytes": "$stride" });
        let set = set.as_object().unwrap().clone();
        let from = ModelRef { model: "coalescing".to_owned(), set, take: "sectors".to_owned() };
        let values = Values::from([("stride".to_owned(), 8.0)]);
        assert_eq!(asked(&from, &values), "coalescing(stride_bytes = 8).sectors");
    }
}
