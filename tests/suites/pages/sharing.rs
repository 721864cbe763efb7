//! The link and its code, undo of figures, several runs on one card, and cards that are far off.

use super::{CHAPTER, Desk, settings};
use egui::{Event, Key, Modifiers, Pos2, RawInput, Rect, Shape, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use vramlab_shell::settings::ThemeChoice;
use vramlab_shell::{App, Still};
use vramlab_units::Lang;

fn route(step: &str) -> String {
    format!("/ch/{CHAPTER}/step/{step}")
}

/// A link in a QR code needs an address that a phone can reach.
#[test]
fn the_share_window_asks_for_the_address_and_then_shows_a_code() {
    let mut desk = Desk::with(&route("sectors"), &settings(Lang::En, ThemeChoice::Light), [1440.0, 900.0]);
    desk.press(Key::S);
    assert!(desk.has("Share this view") && desk.has("The desktop program has no web address"));
    let field = desk.harness.get_all_by_role(egui::accesskit::Role::TextInput).last().unwrap();
    field.focus();
    desk.harness.run_ok();
    desk.type_text("https://lab.example.org/");
    let link = format!("https://lab.example.org/#/ch/{CHAPTER}/step/sectors?lang=en");
    let code = desk.harness.query_all_by_role(egui::accesskit::Role::Image);
    let named = code.filter(|node| node.accesskit_node().label().is_some_and(|label| label == link)).count();
    assert_eq!(named, 1, "the code is named by its link");
    desk.press(Key::Escape);
    assert!(!desk.has("Share this view"));
}

#[test]
fn undo_takes_a_figure_back_and_redo_brings_it_again() {
    let mut desk = Desk::open(&format!("{}?stride_elems=4", route("sectors")));
    let at = |desk: &Desk| desk.said()["route"].as_str().unwrap_or_default().to_owned();
    let before = at(&desk);
    let top = desk.top_of("The sector map");
    let sliders = desk.harness.get_all_by_role(egui::accesskit::Role::Slider);
    sliders
        .filter(|node| node.rect().top() >= top)
        .min_by(|a, b| a.rect().top().total_cmp(&b.rect().top()))
        .unwrap()
        .focus();
    desk.harness.run_ok();
    desk.press(Key::ArrowRight);
    let after = at(&desk);
    assert_ne!(after, before, "the address follows the figure");
    desk.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(at(&desk), before);
    desk.press_with(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert_eq!(at(&desk), after);
}

#[test]
fn a_card_with_several_runs_shows_the_one_that_is_chosen_and_the_address_names_it() {
    let mut desk = Desk::open(&route("stride"));
    assert!(!desk.has("Now each thread issues") && !desk.has("each thread now issues a single"));
    desk.click_below("The stride sweep", "One load per thread");
    assert!(desk.has("each thread now issues a single"));
    assert!(desk.said()["route"].as_str().unwrap().contains("run=strided_read"), "{}", desk.said()["route"]);
    let linked = Desk::open(&format!("{}?run=strided_read/one_load", route("stride")));
    assert!(linked.has("each thread now issues a single"));
}

fn texts(shape: &Shape, out: &mut Vec<String>) {
    match shape {
        Shape::Text(text) => out.push(text.galley.text().to_owned()),
        Shape::Vec(all) => all.iter().for_each(|shape| texts(shape, out)),
        _ => {}
    }
}

/// Cards more than a screen away cost nothing, and everything is still there for whoever scrolls.
#[test]
fn cards_far_off_are_left_out_and_come_back() {
    let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.route = Some(format!("/ch/{CHAPTER}"));
    let mut app = App::new(Box::new(still));
    let ctx = egui::Context::default();
    let mut time = 0.0;
    let mut frame = |wheel: f32| {
        time += 1.0 / 60.0;
        let mut events = vec![Event::PointerMoved(Pos2::new(700.0, 500.0))];
        if wheel != 0.0 {
            events.push(Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta: vec2(0.0, wheel),
                phase: egui::TouchPhase::Move,
                source: egui::MouseWheelSource::Wheel,
                modifiers: Modifiers::NONE,
            });
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1440.0, 900.0))),
            time: Some(time),
            events,
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| app.ui(ui));
        output.textures_delta.clear();
        let mut out = Vec::new();
        output.shapes.iter().for_each(|clipped| texts(&clipped.shape, &mut out));
        out
    };
    for _ in 0..6 {
        frame(0.0);
    }
    let settled = frame(0.0);
    let says = |all: &[String], text: &str| all.iter().any(|shown| shown.contains(text));
    assert!(says(&settled, "How many bytes cross the wire?"));
    let mut last = Vec::new();
    for _ in 0..120 {
        last = frame(-400.0);
    }
    assert!(says(&last, "What you can do afterwards"), "the end of the page is reached");
    for _ in 0..120 {
        last = frame(400.0);
    }
    assert!(says(&last, "How many bytes cross the wire?"), "and its beginning again");
}

/// Cards above the one that is asked for grow after the first frame; the page must not be left where they pushed it.
#[test]
fn a_link_to_a_step_puts_its_card_at_the_top() {
    for chapter in ["18_debugging", "24_frameworks"] {
        let text = vramlab_content::text(&format!("lessons/{chapter}/chapter.toml")).unwrap();
        let parsed = vramlab_lesson::parse(chapter, "chapter.toml", text.as_bytes()).chapter.unwrap();
        // The last cards may be shorter than the screen: there the page ends first.
        for step in parsed.steps.iter().rev().skip(3) {
            let route = format!("/ch/{chapter}/step/{}", step.id);
            let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
            still.route = Some(route.clone());
            let mut headless = vramlab_kit::Headless::new(
                vramlab_kit::fonts::definitions(|path| vramlab_content::get(path)?.here().map(Into::into)),
                &vramlab_kit::Tokens::new(vramlab_kit::Theme::Light, 1.0),
                vec2(1440.0, 1100.0),
                1.0,
            );
            let mut app = App::new(Box::new(still));
            let title = step.title.get(Lang::En);
            let output = headless.settle(|ui| app.ui(ui));
            let top = top_of_text(&output.shapes, title).unwrap_or_else(|| panic!("{route}: no \"{title}\" on screen"));
            assert!((0.0..140.0).contains(&top), "{route}: the card's title stands at {top}");
        }
    }
}

/// Where a text is first painted.
fn top_of_text(shapes: &[egui::epaint::ClippedShape], wanted: &str) -> Option<f32> {
    fn tops(shape: &Shape, wanted: &str, found: &mut Vec<f32>) {
        match shape {
            Shape::Text(text) if text.galley.text() == wanted => found.push(text.pos.y),
            Shape::Vec(inner) => inner.iter().for_each(|shape| tops(shape, wanted, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for clipped in shapes {
        tops(&clipped.shape, wanted, &mut found);
    }
    found.into_iter().filter(|top| *top >= 0.0).reduce(f32::min)
}
