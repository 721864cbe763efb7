//! A walk over every model: it answers its example, its answers hold what they promise, its errors name a field.

use super::*;
use proptest::prelude::*;
use serde_json::json;
use vramlab_units::{FieldKind, Value};

fn example(entry: &Entry) -> Map {
    serde_json::from_str(entry.example).expect("an example is a JSON object")
}

/// Exactly the declared fields, in order, each in its range; null only where the description allows it.
#[track_caller]
fn holds(entry: &Entry, given: &Map, answer: &Map) {
    let specs = (entry.answer)();
    let declared: Vec<_> = specs.iter().map(|spec| spec.key.as_ref()).collect();
    assert_eq!(answer.keys().collect::<Vec<_>>(), declared, "{}", entry.id);
    for spec in &specs {
        match &answer[spec.key.as_ref()] {
            Value::Null => assert!(spec.is_optional, "{}: {} is null for {given:?}", entry.id, spec.key),
            value => {
                let checked = spec.check(value);
                assert!(checked.is_ok(), "{}: {} for {given:?}", entry.id, checked.unwrap_err());
            }
        }
    }
}

#[track_caller]
fn answers_or_names_a_field(entry: &Entry, given: &Map) {
    match entry.eval(given) {
        Ok(answer) => holds(entry, given, &answer),
        Err(error) => {
            let is_known = (entry.question)().iter().any(|spec| spec.key == error.field());
            assert!(is_known, "{}: \"{error}\" names no field of the question", entry.id);
        }
    }
}

/// The ends and the middle of a field's range.
fn samples(spec: &FieldSpec) -> Vec<Value> {
    match &spec.kind {
        FieldKind::Int { min, max } => [*min, min + (max - min) / 2, *max].map(Value::from).to_vec(),
        FieldKind::Num { min, max } => [*min, f64::midpoint(*min, *max), *max].map(Value::from).to_vec(),
        FieldKind::Bool => vec![true.into(), false.into()],
        FieldKind::Choice { options } => options.iter().map(|option| option.as_ref().into()).collect(),
        FieldKind::IntList { min_len, min, max, .. } => vec![json!(vec![min; *min_len]), json!(vec![max; *min_len])],
        FieldKind::Text { max_len } => vec!["".into(), "no such thing".into(), "x".repeat(*max_len).into()],
    }
}

/// A value just outside of a field's range.
fn outside(spec: &FieldSpec) -> Value {
    match &spec.kind {
        FieldKind::Int { max, .. } => json!(max + 1),
        FieldKind::Num { max, .. } => json!(max * 2.0 + 1.0),
        FieldKind::Bool => json!(3),
        FieldKind::Choice { .. } => json!("no such thing"),
        FieldKind::IntList { max_len, min, .. } => json!(vec![min; max_len + 1]),
        FieldKind::Text { max_len } => json!("x".repeat(max_len + 1)),
    }
}

#[test]
fn models_stand_in_alphabetical_order() {
    assert!(MODELS.is_sorted_by(|a, b| a.id < b.id));
}

#[test]
fn every_model_answers_its_example() {
    for entry in MODELS {
        let given = example(entry);
        let answer = entry.eval(&given).unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        holds(entry, &given, &answer);
    }
}

#[test]
fn every_field_may_take_the_ends_and_the_middle_of_its_range() {
    for entry in MODELS {
        for spec in (entry.question)() {
            for value in samples(&spec) {
                let mut given = example(entry);
                given.insert(spec.key.to_string(), value);
                answers_or_names_a_field(entry, &given);
            }
        }
    }
}

/// Products are largest where all factors are: every field at an end of its range, the combinations drawn.
#[test]
fn no_ends_of_all_ranges_together_are_too_much() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut draw = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
    for entry in MODELS {
        let specs = (entry.question)();
        for round in 0..12 {
            let mut given = Map::new();
            for spec in &specs {
                let ends = samples(spec);
                let is_needed = spec.default.is_none() && !spec.is_optional;
                // First all at their most, then any; what may be left out now and then is.
                let at = if round == 0 { ends.len() - 1 } else { draw(ends.len()) };
                if is_needed || round == 0 || draw(3) > 0 {
                    given.insert(spec.key.to_string(), ends[at].clone());
                }
            }
            answers_or_names_a_field(entry, &given);
        }
    }
}

#[test]
fn a_value_outside_of_its_range_is_refused_by_name() {
    for entry in MODELS {
        for spec in (entry.question)() {
            // A text may be any word; what it means is checked by the model.
            let is_text = matches!(spec.kind, FieldKind::Text { .. });
            let word = if is_text { json!(7) } else { json!("word") };
            for value in [outside(&spec), json!({}), word] {
                let mut given = example(entry);
                given.insert(spec.key.to_string(), value);
                let error = entry.eval(&given).unwrap_err();
                assert_eq!(error.field(), spec.key, "{}", entry.id);
                assert!(error.to_string().contains(&spec.legal()), "{error}");
            }
        }
    }
}

#[test]
fn a_required_field_is_asked_for_by_name() {
    for entry in MODELS {
        for spec in (entry.question)().iter().filter(|spec| spec.default.is_none() && !spec.is_optional) {
            let mut given = example(entry);
            given.remove(spec.key.as_ref());
            assert_eq!(entry.eval(&given).unwrap_err().field(), spec.key, "{}", entry.id);
        }
    }
}

#[test]
fn every_model_is_described_in_both_languages() {
    for entry in MODELS {
        assert!(!entry.source.is_empty(), "{}", entry.id);
        for text in [entry.title, entry.assumes] {
            assert!(!text.zh.is_empty() && !text.en.is_empty(), "{}", entry.id);
        }
        let question = (entry.question)();
        for spec in question.iter().chain((entry.answer)().iter()) {
            assert!(!spec.doc.zh.is_empty() && !spec.doc.en.is_empty(), "{}: {}", entry.id, spec.key);
        }
        for spec in &question {
            let default = spec.default.as_ref();
            assert!(default.is_none_or(|value| spec.check(value).is_ok()), "{}: default of {}", entry.id, spec.key);
        }
    }
}

#[test]
fn an_unknown_model_is_refused_with_a_hint() {
    let error = eval("coalescin", &Map::new()).unwrap_err();
    assert!(error.to_string().contains("did you mean \"coalescing\""), "{error}");
}

fn any_value(spec: &FieldSpec) -> BoxedStrategy<Value> {
    match spec.kind.clone() {
        FieldKind::Int { min, max } => (min..=max).prop_map(Value::from).boxed(),
        FieldKind::Num { min, max } => (min..=max).prop_map(Value::from).boxed(),
        FieldKind::Bool => any::<bool>().prop_map(Value::from).boxed(),
        FieldKind::Choice { options } => {
            proptest::sample::select(options).prop_map(|option| Value::from(option.into_owned())).boxed()
        }
        FieldKind::IntList { min_len, max_len, min, max } => {
            proptest::collection::vec(min..=max, min_len..=max_len).prop_map(|list| json!(list)).boxed()
        }
        FieldKind::Text { .. } => proptest::collection::vec(any::<char>(), 0..20)
            .prop_map(|text| json!(text.into_iter().collect::<String>()))
            .boxed(),
    }
}

/// A model, and a question of it with random legal values; each optional field is there or not.
fn any_question() -> impl Strategy<Value = (&'static Entry, Map)> {
    (0..MODELS.len()).prop_flat_map(|entry_idx| {
        let entry = &MODELS[entry_idx];
        let fields: Vec<_> = (entry.question)()
            .iter()
            .map(|spec| {
                let value = any_value(spec);
                let is_required = spec.default.is_none() && !spec.is_optional;
                let value =
                    if is_required { value.prop_map(Some).boxed() } else { proptest::option::of(value).boxed() };
                (Just(spec.key.to_string()), value)
            })
            .collect();
        fields.prop_map(move |fields| {
            let given = fields.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))).collect();
            (entry, given)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_legal_values_are_answered_or_refused_by_name((entry, given) in any_question()) {
        answers_or_names_a_field(entry, &given);
    }
}
