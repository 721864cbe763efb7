//! What a reader does, and the numbers that must follow: keyboard, pointer, wheel, clock. Expected values are the
//! model's, or the brief's.

use crate::samples;
use crate::stage::Stage;
use egui::{Event, Key, Modifiers, MouseWheelUnit, TouchPhase, pos2, vec2};
use vramlab_kit::{Theme, Tokens};
use vramlab_model::eval;
use vramlab_units::{Lang, Map, Value};
use vramlab_views::experiment_chart::Sketch;
use vramlab_views::{ExperimentChart, View, view};

fn open(id: &str, params: Value) -> Box<dyn View> {
    view::find(id).unwrap().open(params.as_object().unwrap()).unwrap()
}

fn stage(lang: Lang) -> Stage {
    Stage::new(Tokens::new(Theme::Light, 1.0), lang, 844.0)
}

fn json(value: Value) -> Map {
    value.as_object().unwrap().clone()
}

/// Every number of the model's answer stands in the picture, with its unit.
#[test]
fn the_sector_map_shows_the_models_numbers() {
    for (stride, offset) in [(1, 0), (2, 0), (3, 0), (8, 1), (33, 31)] {
        let mut view = open("sector_map", serde_json::json!({"stride_elems": stride, "offset_elems": offset}));
        let texts = stage(Lang::En).show(&mut *view).texts();
        let question = serde_json::json!({"stride_bytes": stride * 4, "elem_bytes": 4, "offset_bytes": offset * 4});
        let answer = eval("coalescing", &json(question)).unwrap();
        for (key, unit) in [("sectors", ""), ("lines", ""), ("bytes_moved", "\u{2009}B"), ("dram_bytes", "\u{2009}B")] {
            let shown = format!("{}{unit}", answer[key]);
            assert!(texts.contains(&shown), "stride {stride}: {key} = {shown} is not among {texts:?}");
        }
    }
}

/// Brief 02: stride 2 moves 8 sectors, 256 B, half of them used.
#[test]
fn the_finding_is_a_sentence_in_both_languages() {
    let view = open("sector_map", serde_json::json!({"stride_elems": 2}));
    assert_eq!(view.finding(Lang::Zh), "步长 2 时，每搬两个字节只用一个：搬了 8 个扇区共 256 B，用到 128 B。");
    assert_eq!(
        view.finding(Lang::En),
        "At stride 2, one byte in two is wasted: 8 sectors (256 B) move, 128 B are used."
    );
    let view = open("sector_map", serde_json::json!({"active_mask": 0}));
    assert_eq!(view.finding(Lang::En), "No lane takes part, so nothing moves.");
    let view = open("bank_grid", serde_json::json!({"stride_words": 8}));
    assert_eq!(view.finding(Lang::Zh), "步长 8 个字时，8 路冲突：32 个 bank 用到 4 个，要 8 趟才取完。");
    let conflict = "At a stride of 8 words, an 8-way conflict: 4 of 32 banks are used and the access takes 8 passes.";
    assert_eq!(view.finding(Lang::En), conflict);
    let view = open("bank_grid", serde_json::json!({"stride_words": 33}));
    assert_eq!(view.finding(Lang::En), "At a stride of 33 words, no conflict: 32 banks answer once each, one pass.");
}

#[test]
fn the_bank_grid_shows_the_models_numbers() {
    for (stride, width, pad) in [(2, 4, 0), (32, 4, 0), (32, 4, 1), (8, 16, 0), (36, 16, 4)] {
        let params = serde_json::json!({"stride_words": stride, "width_bytes": width.to_string(), "pad_words": pad});
        let mut view = open("bank_grid", params.clone());
        let texts = stage(Lang::En).show(&mut *view).texts();
        let answer = eval("bank_conflicts", &json(params)).unwrap();
        let banks = format!("{} / 32", answer["banks_used"]);
        assert!(texts.contains(&banks), "{banks} is not among {texts:?}");
        for key in ["degree", "wavefronts"] {
            assert!(texts.contains(&answer[key].to_string()), "{key} = {} is not among {texts:?}", answer[key]);
        }
    }
}

/// Tab reaches the figure; arrows move between lanes; Space switches one off and the numbers follow.
#[test]
fn lanes_are_switched_by_keyboard_alone() {
    for id in ["sector_map", "bank_grid", "access_map"] {
        let mut masks = (1..40).map(|n_tabs| {
            let (mut view, mut stage) = (open(id, serde_json::json!({})), stage(Lang::En));
            stage.show(&mut *view);
            for _ in 0..n_tabs {
                stage.press(&mut *view, Key::Tab);
            }
            for key in [Key::End, Key::ArrowLeft, Key::Space] {
                stage.press(&mut *view, key);
            }
            view.params()["active_mask"].as_u64().unwrap()
        });
        let mask = masks.find(|mask| *mask != u64::from(u32::MAX)).expect("Tab reaches the figure");
        assert_eq!(mask, u64::from(u32::MAX) & !(1 << 30), "{id}: lane 30 is off");
    }
}

#[test]
fn a_click_on_a_lane_switches_it() {
    let mut view = open("sector_map", serde_json::json!({}));
    let mut stage = stage(Lang::En);
    let painted = stage.show(&mut *view);
    let caption = painted.place_of("lane 0 … 31").unwrap();
    let first_dot = pos2(8.0 + 6.0, caption.y + 20.0); // half a lane's column from the left margin
    stage.click(first_dot, &mut |ui, cx| view.ui(ui, cx));
    assert_eq!(view.params()["active_mask"].as_u64(), Some(u64::from(u32::MAX) - 1));
    let answer =
        eval("coalescing", &json(serde_json::json!({"stride_bytes": 4, "elem_bytes": 4, "active_mask": u32::MAX - 1})));
    let used = format!("{}\u{2009}B", answer.unwrap()["bytes_used"]);
    assert!(stage.show(&mut *view).texts().contains(&used), "{used}");
}

/// Play moves with the injected clock, stops at the end, and asks for no frame afterwards; with reduced motion it steps.
#[test]
fn the_player_follows_the_clock_and_respects_reduced_motion() {
    for has_motion in [true, false] {
        let mut view = open("transpose_player", serde_json::json!({"method": "tile", "step": 3}));
        let mut stage = stage(Lang::En);
        stage.has_motion = has_motion;
        stage.show(&mut *view);
        focus_figure(&mut stage, &mut *view);
        stage.press(&mut *view, Key::Space);
        assert_eq!(view.is_playing(), has_motion);
        stage.time_secs += 1.0;
        let painted = stage.show(&mut *view);
        assert_eq!(painted.wants_repaint, has_motion);
        let step = view.params()["step"].as_u64().unwrap();
        assert!(if has_motion { step > 4 } else { step == 4 }, "motion {has_motion}: step {step}");
        stage.time_secs += 1000.0;
        let painted = stage.show(&mut *view);
        assert!(!view.is_playing() && !painted.wants_repaint);
    }
}

/// Gives the keyboard to the figure: clicks into the source matrix.
fn focus_figure(stage: &mut Stage, view: &mut dyn View) {
    let title = stage.show(view).place_of("Source, global memory").unwrap();
    stage.click(title + vec2(0.0, 60.0), &mut |ui, cx| view.ui(ui, cx));
}

/// The brief: 8192² fp32 over 4.8 TB/s is 111.8 µs at least; the naive way moves 36 sectors where 8 would do.
#[test]
fn the_transpose_player_shows_floor_and_traffic() {
    let mut view = open("transpose_player", serde_json::json!({}));
    let texts = stage(Lang::En).show(&mut *view).texts();
    for shown in ["4", "32", "2.25\u{2009}GiB", "512\u{2009}MiB", "112\u{2009}µs"] {
        assert!(texts.iter().any(|text| text == shown), "{shown} is not among {texts:?}");
    }
}

/// The plain wheel belongs to the page until the chart has the focus; Ctrl + wheel zooms; a double click shows all.
#[test]
fn a_chart_leaves_the_wheel_to_the_page() {
    let data = samples::sweep();
    let mut chart = ExperimentChart::default();
    let tokens = Tokens::new(Theme::Light, 1.0);
    let mut stage = stage(Lang::En);
    let middle = pos2(400.0, 150.0);
    let mut left_over = vec2(0.0, 0.0);
    let wheel = |modifiers| Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, -50.0),
        phase: TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers,
    };
    let mut frame = |stage: &mut Stage, events: Vec<Event>, chart: &mut ExperimentChart| {
        stage.frame(events, &mut |ui, cx| {
            chart.ui(ui, &tokens, cx.lang, &data);
            left_over = ui.input(|input| input.smooth_scroll_delta());
        });
        left_over
    };
    frame(&mut stage, vec![Event::PointerMoved(middle)], &mut chart);
    let left = frame(&mut stage, vec![wheel(Modifiers::NONE)], &mut chart);
    assert!(left.y < 0.0 && !chart.is_zoomed(), "the page scrolls, left {left:?}");
    for _ in 0..4 {
        frame(&mut stage, vec![], &mut chart);
    }
    frame(&mut stage, vec![wheel(Modifiers::CTRL)], &mut chart);
    assert!(chart.is_zoomed());
    for _ in 0..4 {
        frame(&mut stage, vec![], &mut chart); // a turn of the wheel is smoothed over a few frames
    }
    let mut add = |ui: &mut egui::Ui, cx: &mut vramlab_views::ViewCx<'_>| {
        chart.ui(ui, &tokens, cx.lang, &data);
    };
    let button = |pressed| Event::PointerButton {
        pos: middle,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    stage.frame(vec![button(true), button(false), button(true), button(false)], &mut add);
    assert!(!chart.is_zoomed(), "a double click shows everything");
}

/// The pointer on a point reads the exact value; an invalid one says why.
#[test]
fn the_pointer_reads_exact_values_and_reasons() {
    let data = samples::sweep();
    let mut chart = ExperimentChart::default();
    let tokens = Tokens::new(Theme::Light, 1.0);
    let mut stage = stage(Lang::En);
    let mut seen = Vec::new();
    for x in (40..830).step_by(4) {
        for y in (30..250).step_by(8) {
            let at = vec![Event::PointerMoved(pos2(x as f32, y as f32))];
            let painted = stage.frame(at, &mut |ui, cx| {
                chart.ui(ui, &tokens, cx.lang, &data);
            });
            seen.extend(
                painted
                    .texts()
                    .into_iter()
                    .filter(|text| text.starts_with("measured median ") || text.contains("settled")),
            );
        }
    }
    seen.sort();
    seen.dedup();
    assert!(seen.iter().any(|text| text == "measured median 2305\u{2009}GB/s, 21 samples"), "{seen:?}");
    assert!(seen.iter().any(|text| text.contains("invalid: the clocks had not settled")), "{seen:?}");
}

#[test]
fn a_figure_saves_as_svg_with_its_words_and_colours() {
    let mut view = open("sector_map", serde_json::json!({"stride_elems": 2}));
    let tokens = Tokens::new(Theme::Light, 1.0);
    let mut svg = String::new();
    stage(Lang::En).paint(|ui, cx| {
        view.ui(ui, cx);
        let rect = ui.min_rect();
        svg = vramlab_views::svg::from_painter(ui.painter(), rect, tokens.surface, &view.finding(cx.lang));
    });
    assert!(svg.starts_with("<svg ") && svg.contains("<title>At stride 2"), "{}", &svg[..200]);
    assert!(svg.contains("#1361a5"), "the data colour is written out");
    assert!(svg.contains(">cache line 0</text>"), "text stays text");
    assert!(!svg.contains("NaN"));
}

/// A stroke across the empty plot sets every place that it passes; arrows do the same without a pointer.
#[test]
fn a_prediction_is_drawn_by_pointer_or_by_keys() {
    let data = samples::sweep();
    let xs = vec![1.0, 2.0, 4.0, 8.0, 16.0];
    let sketch = Sketch { x: data.x, y: data.y, xs: xs.clone(), y_low: 10.0, y_high: 10_000.0, ask: data.finding };
    let tokens = Tokens::new(Theme::Light, 1.0);
    let mut stage = stage(Lang::En);
    let mut marks = Vec::new();
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let (from, to) = (pos2(70.0, 80.0), pos2(835.0, 200.0));
    let strokes = [
        vec![],
        vec![Event::PointerMoved(from)],
        vec![button(from, true)],
        vec![Event::PointerMoved(to)],
        vec![button(to, false)],
    ];
    for events in strokes {
        stage.frame(events, &mut |ui, cx| {
            sketch.ui(ui, &tokens, cx.lang, &mut marks);
        });
    }
    assert_eq!(marks.iter().map(|mark| mark.x).collect::<Vec<_>>(), xs);
    assert!(marks.windows(2).all(|pair| pair[0].y > pair[1].y), "the stroke falls: {marks:?}");
    assert!(marks.iter().all(|mark| (10.0..=10_000.0).contains(&mark.y)));
    let before = marks[1].y;
    for key in [Key::ArrowRight, Key::ArrowUp] {
        let event = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        stage.frame(vec![event], &mut |ui, cx| {
            sketch.ui(ui, &tokens, cx.lang, &mut marks);
        });
    }
    let factor = marks[1].y / before; // a twentieth of three decades
    assert!((factor - 1000f64.powf(0.05)).abs() < 1e-6, "{factor}");
}

/// Stride 2: 8 sectors of 32 B move for 32 lanes of 4 B; a key names the three kinds of bytes.
#[test]
fn the_sector_map_gives_its_efficiency_with_both_numbers_and_a_key() {
    let mut view = open("sector_map", serde_json::json!({"stride_elems": 2}));
    let texts = stage(Lang::En).show(&mut *view).texts();
    for wanted in ["128 of 256\u{2009}B = 50\u{2009}%", "asked for", "moved, unused", "not touched", "cache line 0"] {
        assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
    }
}
