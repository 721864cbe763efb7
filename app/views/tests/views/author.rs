//! Author's figures: each of the six drawings in every look and at the ends of its sliders, by keyboard and pointer.

use crate::stage::Stage;
use egui::Key;
use std::sync::Arc;
use vramlab_kit::{Theme, Tokens};
use vramlab_lesson::StepBody;
use vramlab_lesson::figure::{Drawing, Figure};
use vramlab_units::{Lang, Map};
use vramlab_views::{AuthorFigure, View as _};

/// The figures by their step.
fn figures() -> Vec<(String, Arc<Figure>)> {
    let steps = crate::samples::six_figures().steps.into_iter();
    let found = steps.filter_map(|step| match step.body {
        StepBody::Figure(figure) => Some((step.id, figure)),
        _ => None,
    });
    found.collect()
}

fn open(id: &str, params: &[(&str, f64)]) -> AuthorFigure {
    let (_, figure) = figures().into_iter().find(|(known, _)| known == id).unwrap();
    let params: Map = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    AuthorFigure::open(figure, &params).unwrap()
}

fn looks() -> [(Tokens, Lang, f32); 5] {
    [
        (Tokens::new(Theme::Light, 1.0), Lang::Zh, 844.0),
        (Tokens::new(Theme::Dark, 1.0), Lang::En, 844.0),
        (Tokens::new(Theme::Light, 1.0), Lang::En, 360.0),
        (Tokens::new(Theme::Dark, 1.0), Lang::Zh, 360.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::Zh, 1200.0),
    ]
}

/// Every slider alone at both of its ends, and the start.
fn states(figure: &Figure) -> Vec<Map> {
    let mut out = vec![Map::new()];
    for slider in &figure.sliders {
        out.extend([slider.min, slider.max].map(|end| Map::from_iter([(slider.name.clone(), end.into())])));
    }
    out
}

#[test]
fn the_pack_shows_all_six_drawings() {
    let mut drawn: Vec<&str> = Vec::new();
    let all = figures();
    for (_, figure) in &all {
        drawn.push(match figure.drawing {
            Drawing::Line(_) => "line",
            Drawing::Bar(_) => "bar",
            Drawing::Bytes(_) => "bytes",
            Drawing::Gantt(_) => "gantt",
            Drawing::Graph(_) => "graph",
            Drawing::Table(_) => "table",
        });
    }
    let known: Vec<&str> = vramlab_lesson::figure::fields::DRAWINGS.iter().map(|(name, _)| *name).collect();
    assert_eq!(drawn, known);
}

#[test]
fn every_drawing_paints_at_every_end_in_every_look() {
    for (tokens, lang, width) in looks() {
        let mut stage = Stage::new(tokens, lang, width);
        for (id, figure) in figures() {
            for state in states(&figure) {
                let mut view = AuthorFigure::open(Arc::clone(&figure), &state).unwrap();
                let painted = stage.show(&mut view);
                // A graph that is wider than a phone scrolls inside itself.
                if matches!(figure.drawing, Drawing::Graph(_)) && width < 500.0 {
                    painted.assert_finite(&id, &state);
                } else {
                    painted.assert_sane(&id, &state);
                }
                assert!(!view.finding(lang).contains('$'), "{id} {state:?}: {}", view.finding(lang));
                let table = view.data();
                assert!(!table.rows.is_empty() && table.rows.iter().all(|row| row.len() == table.header.len()), "{id}");
                let again = AuthorFigure::open(Arc::clone(&figure), &view.params()).unwrap();
                assert_eq!((again.params(), again.data()), (view.params(), view.data()), "{id}");
            }
        }
    }
}

#[test]
fn the_finding_is_what_the_formulas_give() {
    // 1 / (0.05 + 0.95 / 16) = 9.14…; 1 / 0.05 = 20
    assert_eq!(
        open("amdahl", &[]).finding(Lang::En),
        "16 processors make it 9.14 times as fast; no number of them reaches 20."
    );
    // 8192 tokens × 16 × 128 KiB = 16 GiB; 80 - 14.9 - 16 = 49.1
    assert!(open("kv", &[]).finding(Lang::En).starts_with("The KV cache takes 16\u{2009}GiB; 49.1\u{2009}GiB"));
    // 32768 × 32 × 128 KiB = 128 GiB
    let full = open("kv", &[("tokens", 32_768.0), ("batch", 32.0)]);
    assert!(full.finding(Lang::En).contains("128\u{2009}GiB") && full.finding(Lang::En).contains("does not fit"));
    // 4 + 6 + 3 × 6 = 28 ms against 40 ms
    assert_eq!(open("overlap", &[]).finding(Lang::Zh), "切成 4 块要 28\u{2009}ms，不重叠要 40\u{2009}ms。");
    // 32 lanes 8 bytes apart touch 8 sectors of 32 bytes.
    assert!(open("sectors", &[]).finding(Lang::En).contains("256\u{2009}B, of which 50\u{2009}%"));
    // 7 × (2 + 2 + 12) = 112 GB, 14 GB on each of 8
    assert!(open("shards", &[]).finding(Lang::En).contains("112\u{2009}GB each"));
}

#[test]
fn a_slider_that_does_not_exist_or_cannot_stand_there_is_refused() {
    let (_, figure) = figures().remove(0);
    let refuse = |name: &str, value: f64| {
        let params = Map::from_iter([(name.to_owned(), value.into())]);
        AuthorFigure::open(Arc::clone(&figure), &params).err().map(|error| error.to_string()).unwrap()
    };
    assert!(refuse("m", 2.0).contains("p, n"));
    assert_eq!(refuse("n", 4096.0), "n = 4096.0 is not allowed; it must be a number from 1 to 1024");
}

#[test]
fn arrow_keys_move_the_marker_of_a_line_and_walk_the_things_of_other_drawings() {
    let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0);
    let mut view = open("amdahl", &[]);
    let figure = place(&mut stage, &mut view);
    stage.click(figure, &mut |ui, cx| view.ui(ui, cx));
    let clicked = view.params()["n"].as_f64().unwrap();
    assert_ne!(clicked, 16.0, "a click moves the marker");
    stage.press(&mut view, Key::ArrowRight);
    assert!(view.params()["n"].as_f64().unwrap() > clicked);
    stage.press(&mut view, Key::Home);
    assert_eq!(view.params()["n"].as_f64(), Some(1.0));
    stage.press(&mut view, Key::End);
    assert_eq!(view.params()["n"].as_f64(), Some(1024.0));

    for id in ["shards", "kv", "overlap", "flow", "sectors"] {
        let mut view = open(id, &[]);
        let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0);
        let figure = place(&mut stage, &mut view);
        stage.click(figure, &mut |ui, cx| view.ui(ui, cx));
        stage.press(&mut view, Key::ArrowRight);
        let name = figure_name(&mut stage, &mut view);
        assert!(
            name.starts_with(&view.finding(Lang::En)) && name.len() > view.finding(Lang::En).len() + 5,
            "{id}: {name}"
        );
    }
}

#[test]
fn every_control_and_the_figure_have_names() {
    for lang in Lang::ALL {
        for (id, figure) in figures() {
            let mut view = AuthorFigure::open(Arc::clone(&figure), &Map::new()).unwrap();
            let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0);
            let nodes = stage.accessible(&mut view);
            assert!(nodes.iter().all(|(_, name)| !name.is_empty()), "{id}: {nodes:?}");
            let of = |role: &str| nodes.iter().filter(|(known, _)| known == role).count();
            assert_eq!((of("Figure"), of("Slider")), (1, figure.sliders.len()), "{id}");
        }
    }
}

fn figure_name(stage: &mut Stage, view: &mut AuthorFigure) -> String {
    let nodes = stage.accessible(view);
    nodes.into_iter().find(|(role, _)| role == "Figure").unwrap().1
}

/// The middle of the figure, below the controls.
fn place(stage: &mut Stage, view: &mut AuthorFigure) -> egui::Pos2 {
    let mut rect = egui::Rect::NOTHING;
    stage.paint(|ui, cx| {
        view.ui(ui, cx);
        rect = ui.min_rect();
    });
    egui::pos2(rect.center().x, rect.top() + (rect.height() * 0.45).max(60.0))
}

#[test]
fn the_working_shows_formulas_and_questions_to_models() {
    let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0);
    let mut view = open("sectors", &[]);
    let button = stage.show(&mut view).place_of("How it is computed").unwrap();
    stage.click(button, &mut |ui, cx| view.ui(ui, cx));
    let texts = stage.show(&mut view).texts().join("\n");
    assert!(texts.contains("sectors = coalescing(") && texts.contains("stride_bytes = 8"), "{texts}");
    assert!(texts.contains(").sectors = 8"), "{texts}");
    assert!(texts.contains("Hide the working"));
}

/// A figure in one language, whatever it holds.
fn made(rest: &str) -> Arc<Figure> {
    let text = format!(
        "schema = 1\nlang = \"en\"\ntitle = \"t\"\n[[step]]\nid = \"a\"\nkind = \"figure\"\ntitle = \"t\"\ntext = \"t\"\nalt = \"a\"\n\
         caption = \"$n\"\nslider = [{{ name = \"n\", means = \"n\", unit = \"1\", min = 1, max = 20, step = 1, start = 10 }}]\n{rest}"
    );
    let parsed = vramlab_lesson::parse("00_a", "a.toml", text.as_bytes());
    match &parsed.chapter.unwrap().steps[0].body {
        StepBody::Figure(figure) => Arc::clone(figure),
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_of_any_size_have_a_picture_or_a_reason() {
    let scales = ["linear", "log2", "log10"];
    let formulas =
        ["10 ^ (30 * (n - 10))", "-n", "0", "n - 10", "1 / (n - 10)", "1e300", "1e-300 * n", "if(n > 5, 1, -1)"];
    let mut cases = Vec::new();
    for scale in scales {
        for formula in formulas {
            cases.push(format!("draw = \"line\"\nx = {{ sweep = \"n\" }}\ny = {{ scale = \"{scale}\" }}\nseries = [{{ value = \"{formula}\" }}]"));
        }
    }
    for formula in formulas {
        cases.push(format!(
            "draw = \"bar\"\nbar = [{{ label = \"a\", value = \"{formula}\" }}, {{ label = \"b\", value = \"n\" }}]"
        ));
        cases.push(format!("draw = \"gantt\"\nrow = [{{ label = \"a\", spans = [{{ start = \"{formula}\", length = \"n\" }}, {{ start = \"0\", length = \"0\" }}] }}]"));
        cases.push(format!("draw = \"table\"\ncolumn = [{{ label = \"a\", value = \"{formula}\" }}]\nrows = {{ sweep = \"n\", values = [1, 10, 20] }}"));
        cases.push(format!("draw = \"graph\"\nnode = [{{ id = \"a\", label = \"a\", value = \"{formula}\" }}, {{ id = \"b\", label = \"b\" }}]\nedge = [{{ from = \"a\", to = \"b\" }}, {{ from = \"b\", to = \"a\" }}]"));
    }
    let empty = "value = [{ name = \"z\", means = \"z\", unit = \"B\", constant = 0 }]\ndraw = \"bytes\"\nsquare = \"1 B\"\npart = [{ value = \"z\" }]";
    cases.push(empty.to_owned());
    let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 420.0);
    for case in cases {
        let figure = made(&case);
        for n in [1.0, 10.0, 20.0] {
            let params = Map::from_iter([("n".to_owned(), n.into())]);
            let mut view = AuthorFigure::open(Arc::clone(&figure), &params).unwrap();
            let painted = stage.show(&mut view);
            painted.assert_finite(&case, &params);
            let texts = painted.texts().join(" ");
            assert!(!texts.contains("NaN") && !texts.contains("inf"), "{case}: {texts}");
        }
    }
}

#[test]
fn the_lines_of_the_start_stay_behind_while_another_slider_moves() {
    let pale = "The pale lines are those of the start";
    let mut stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0);
    let mut says = |params: &[(&str, f64)]| stage.show(&mut open("amdahl", params)).texts().join("\n");
    assert!(!says(&[]).contains(pale) && !says(&[("n", 64.0)]).contains(pale), "the marker alone moves no line");
    assert!(says(&[("p", 0.6)]).contains(pale));
}
