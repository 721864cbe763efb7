//! The figures of chapter 21 used as a reader does. Expected values are those of brief 21, never what the figure prints.

use crate::stage::Stage;
use egui::{Key, pos2};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::{Lang, Value};
use vramlab_views::{View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

fn press(stage: &mut Stage, view: &mut dyn View, label: &str) {
    let at = stage.show(view).place_of(label).unwrap_or_else(|| panic!("{label} is not there"));
    stage.click(at, &mut |ui, cx| view.ui(ui, cx));
}

const FIGURES: [&str; 5] = ["speculation", "engine_log", "engine_compare", "serving_case", "serve_timeline"];

/// At the ends of what can be set, narrow and large too, nothing leaves the page or is drawn nowhere.
#[test]
fn every_state_fits_its_page() {
    let states = [
        ("speculation", r#"{"alpha": 0, "cost": 1, "gamma": 16}"#),
        ("speculation", r#"{"alpha": 1, "cost": 0, "batch": 1024, "knee_tokens": 1}"#),
        ("speculation", r#"{"knee_tokens": 65536, "batch": 64, "gamma": 0}"#),
        ("engine_log", r#"{"example": "vllm_0_6", "line": 40}"#),
        ("engine_log", r#"{"example": "refusal"}"#),
        ("engine_log", r#"{"example": "sglang"}"#),
        ("engine_log", r#"{"log": "a line that is unknown\nGPU KV cache size: 8 tokens"}"#),
        ("engine_compare", r#"{"card_gb": 4, "model": "llama3_70b", "engine": "transformers"}"#),
        ("engine_compare", r#"{"card_gb": 1000, "max_len": 16, "engine": "sglang"}"#),
        ("engine_compare", r#"{"activation_gb": 100, "non_torch_gb": 100}"#),
        (
            "serving_case",
            r#"{"asked": "smi,summary,lengths,config", "guesses": "300,0,?,54,140,59", "fix": "four_cards"}"#,
        ),
        ("serving_case", r#"{"asked": "lengths"}"#),
        ("serve_timeline", r#"{"preset": "shared", "step": 3}"#),
        ("serve_timeline", r#"{"preset": "priority", "host_blocks": 64}"#),
        ("serve_timeline", r#"{"preset": "poisson", "n_requests": 240, "rate": 16, "burstiness": 0.05}"#),
    ];
    for (tokens, lang, width) in [
        (Tokens::new(Theme::Light, 1.0), Lang::Zh, 844.0),
        (Tokens::new(Theme::Light, 1.0), Lang::En, 296.0),
        (Tokens::new(Theme::Dark, Tokens::PRESENTER_SCALE), Lang::En, 420.0),
    ] {
        let mut stage = Stage::new(tokens, lang, width);
        for (id, params) in states {
            let params: Value = serde_json::from_str(params).unwrap();
            let mut view = open(id, params.clone());
            stage.show(&mut *view).assert_sane(id, params.as_object().unwrap());
            assert!(!stage.show(&mut *view).wants_repaint, "{id} {params} repaints at rest");
        }
    }
}

#[test]
fn every_control_has_a_name_and_every_figure_says_what_it_finds() {
    for lang in Lang::ALL {
        for id in FIGURES {
            let mut view = open(id, serde_json::json!({}));
            let nodes = stage(lang).accessible(&mut *view);
            assert!(nodes.iter().all(|(_, name)| !name.is_empty()), "{id}: {nodes:?}");
            let figures: Vec<_> = nodes.iter().filter(|(role, _)| role == "Figure").collect();
            assert_eq!(figures.len(), 1, "{id}: {figures:?}");
            assert_eq!(figures[0].1, view.finding(lang), "{id}");
        }
    }
}

/// 26 + 8 + 4 + 6 is 44 and not 38; with 8-bit weights 27 requests fit, which is told once it was guessed.
#[test]
fn the_case_is_asked_for_and_every_change_guessed_first() {
    let mut view = open("serving_case", serde_json::json!({"fix": "int8"}));
    let mut stage = stage(Lang::En);
    press(&mut stage, &mut *view, "nvidia-smi");
    press(&mut stage, &mut *view, "memory_summary()");
    assert_eq!(view.params()["asked"], "smi,summary");
    let said = stage.show(&mut *view).texts().join("\n");
    assert!(said.contains("= 44") && said.contains("38 were shown"), "{said}");
    let told = |view: &dyn View| view.data().rows[1][2].clone();
    assert!(told(&*view).is_empty() && !stage.show(&mut *view).texts().iter().any(|text| text == "27"));
    press(&mut stage, &mut *view, "That is my guess: compute");
    assert_eq!((view.params()["guesses"].as_str(), told(&*view).as_str()), (Some(",8"), "27"));
    assert!(stage.show(&mut *view).texts().iter().any(|text| text == "27"));
    assert!(view::find("serving_case").unwrap().open(serde_json::json!({"asked": "x"}).as_object().unwrap()).is_err());
}

/// S(0.8, 4, 0.05) = 2.801, best at γ = 8 with 3.092; arrows and the pointer move what is set.
#[test]
fn drafts_are_dragged_and_stepped() {
    let mut view = open("speculation", serde_json::json!({}));
    let mut stage = stage(Lang::En);
    assert!(view.finding(Lang::En).contains("2.8 times") && view.finding(Lang::En).contains("γ = 8, 3.09 times"));
    let left = stage.show(&mut *view).place_of("speed-up S").unwrap();
    stage.click(pos2(left.x + 60.0, left.y + 80.0), &mut |ui, cx| view.ui(ui, cx));
    let gamma = view.params()["gamma"].as_u64().unwrap();
    assert!(gamma < 4, "the press was at the left end: {gamma}");
    stage.press(&mut *view, Key::End);
    assert_eq!(view.params()["gamma"], 16);
    stage.press(&mut *view, Key::ArrowLeft);
    stage.press(&mut *view, Key::ArrowUp);
    assert_eq!((view.params()["gamma"].as_u64(), view.params()["alpha"].as_f64()), (Some(15), Some(0.81)));
}

/// What is dropped is read by the figure that knows it, and by no other.
#[test]
fn dropped_files_find_their_figure() {
    let mut log = open("engine_log", serde_json::json!({}));
    assert_eq!(
        log.offer("INFO GPU KV cache size: 4,096 tokens\nINFO Maximum concurrency for 2,048 tokens per request: 2.00x"),
        Some(Ok(()))
    );
    assert!(log.finding(Lang::En).contains("1 of them") || log.finding(Lang::En).contains("one of them"));
    assert_eq!(log.offer("0 8 2\n1 8 2"), None);
    let mut timeline = open("serve_timeline", serde_json::json!({}));
    assert_eq!(timeline.offer("arrival,prompt,output\n0,8,2\n1,8,2\n"), Some(Ok(())));
    assert_eq!(timeline.data().rows.len(), 2);
    let wrong = timeline.offer("{\"arrival\": 0, \"prompt\": 0, \"output\": 1}").unwrap().unwrap_err();
    assert_eq!(wrong.get(Lang::En), "line 1: prompt = 0 must be an integer from 1 to 16777216");
    assert_eq!(timeline.offer("INFO GPU KV cache size: 4,096 tokens"), None);
    let mut bytes = open("engine_compare", serde_json::json!({}));
    assert_eq!(bytes.offer("0 8 2"), None);
}
