//! Every visualizer opens at its defaults and at both ends of each field, and paints in both languages and themes, wide
//! and narrow, without a panic, a missing glyph or a coordinate that is not a number.

use crate::samples;
use crate::stage::{Stage, fed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{FieldKind, FieldSpec, Lang, Map, Value};
use vramlab_views::view::Entry;
use vramlab_views::{ExperimentChart, VISUALIZERS};

/// The ends of a field's range; every option of a choice.
fn extremes(field: &FieldSpec) -> Vec<Value> {
    match &field.kind {
        FieldKind::Int { min, max } => vec![(*min).into(), (*max).into()],
        FieldKind::Num { min, max } => vec![(*min).into(), (*max).into()],
        FieldKind::Bool => vec![false.into(), true.into()],
        FieldKind::Choice { options } => options.iter().map(|option| option.to_string().into()).collect(),
        FieldKind::IntList { min_len, min, .. } => vec![vec![*min; *min_len].into()],
        FieldKind::Text { max_len } => vec!["".into(), "x".repeat(*max_len).into()],
    }
}

/// The defaults, and each field alone at each of its extremes.
fn states(fields: &[FieldSpec]) -> Vec<Map> {
    let mut states = vec![Map::new()];
    for field in fields {
        for value in extremes(field) {
            states.push(Map::from_iter([(field.key.to_string(), value)]));
        }
    }
    states
}

fn looks() -> Vec<(Tokens, Lang, f32)> {
    vec![
        (Tokens::new(Theme::Light, 1.0), Lang::Zh, 844.0),
        (Tokens::new(Theme::Dark, 1.0), Lang::En, 844.0),
        (Tokens::new(Theme::Light, 1.0), Lang::En, 296.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::Zh, 1200.0),
        (Tokens::new(Theme::Light, Tokens::PRESENTER_SCALE), Lang::En, 420.0),
    ]
}

/// All that fails is told, not only the first figure.
#[test]
fn every_visualizer_paints_at_every_extreme() {
    let (mut n_painted, mut faults) = (0, Vec::new());
    for (tokens, lang, width) in looks() {
        let mut stage = Stage::new(tokens.clone(), lang, width);
        for entry in VISUALIZERS {
            let painted = catch_unwind(AssertUnwindSafe(|| paint_extremes(entry, &mut stage, lang)));
            match painted {
                Ok(n) => n_painted += n,
                Err(_) => {
                    faults.push(format!("{} at {width} points, {lang:?}", entry.id));
                    stage = Stage::new(tokens.clone(), lang, width);
                }
            }
        }
    }
    assert!(faults.is_empty(), "the reasons are above: {faults:#?}");
    assert!(n_painted > 100, "{n_painted} states were painted");
}

fn paint_extremes(entry: &Entry, stage: &mut Stage, lang: Lang) -> u32 {
    let mut n_painted = 0;
    for state in states(&(entry.fields)()) {
        let mut view = match entry.open(&state) {
            Ok(view) => fed(view),
            // Legal alone, but not together with the defaults; the message says which field and why.
            Err(error) => {
                assert!(state.contains_key(error.field()) || error.to_string().contains("multiple"), "{error}");
                continue;
            }
        };
        let painted = stage.show(&mut *view);
        painted.assert_sane(entry.id, &state);
        assert!(!stage.show(&mut *view).wants_repaint, "{} at {state:?} repaints at rest", entry.id);
        assert!(!view.finding(lang).is_empty(), "{} at {state:?} has nothing to say", entry.id);
        n_painted += 1;
    }
    n_painted
}

#[test]
fn what_a_view_says_of_itself_opens_the_same_view() {
    for entry in VISUALIZERS {
        for state in states(&(entry.fields)()) {
            let Ok(view) = entry.open(&state).map(fed) else { continue };
            let params = view.params();
            let again = entry.open(&params).map(fed).unwrap_or_else(|error| panic!("{} {params:?}: {error}", entry.id));
            assert_eq!(again.params(), params, "{}", entry.id);
            assert_eq!(again.data(), view.data(), "{}", entry.id);
            for key in params.keys() {
                assert!((entry.fields)().iter().any(|field| field.key == *key), "{}: {key} is no field", entry.id);
            }
        }
    }
}

#[test]
fn every_table_is_a_table() {
    for entry in VISUALIZERS {
        let table = fed(entry.open(&Map::new()).unwrap()).data();
        assert!(!table.rows.is_empty(), "{} has no numbers", entry.id);
        assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{}", entry.id);
    }
}

#[test]
fn every_control_and_every_figure_has_a_name() {
    for lang in Lang::ALL {
        for entry in VISUALIZERS {
            let mut view = fed(entry.open(&Map::new()).unwrap());
            let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0);
            let nodes = stage.accessible(&mut *view);
            let finding = view.finding(lang);
            for (role, name) in &nodes {
                assert!(!name.is_empty(), "{}: a {role} without a name among {nodes:?}", entry.id);
            }
            let figures: Vec<_> = nodes.iter().filter(|(role, _)| role == "Figure").collect();
            assert_eq!(figures.len(), 1, "{}: one focus stop a figure, not {figures:?}", entry.id);
            assert_eq!(figures[0].1, finding, "{}", entry.id);
        }
    }
}

#[test]
fn charts_paint_in_every_look() {
    for (tokens, lang, width) in looks() {
        for (name, data) in samples::all() {
            let mut chart = ExperimentChart::default();
            let mut stage = Stage::new(tokens.clone(), lang, width);
            let painted = stage.paint(|ui, _| {
                chart.ui(ui, &tokens, lang, &data);
            });
            painted.assert_sane(name, &Map::new());
        }
    }
}
