//! The gallery, whole: every widget has a name, works by keyboard, has no missing glyph, and looks as it did.
//!
//! Pictures are compared in blocks of 8 × 8 pixels, so that the last bit of a glyph's edge does not matter.
//! `UPDATE_PICTURES=1 cargo test -p vramlab-kit --features embedded-fonts` writes them anew; look at them then.
#![cfg(feature = "embedded-fonts")]

use egui::accesskit::{Node, Role as NodeRole};
use egui::{Event, Frame, Key, Margin, Modifiers, Ui, vec2};
use image::RgbaImage;
use image::imageops::FilterType;
use std::path::Path;
use vramlab_kit::gallery::{Gallery, gallery_ui};
use vramlab_kit::widgets::ruler::Scale;
use vramlab_kit::widgets::{Button, Ruler, Slider, Truth, segmented};
use vramlab_kit::{Headless, Theme, Tokens, fonts, raster};
use vramlab_units::Lang;

const SIZE: egui::Vec2 = vec2(880.0, 2520.0);

fn page(theme: Theme, size: egui::Vec2) -> (Headless, Tokens) {
    let tokens = Tokens::new(theme, 1.0);
    (Headless::new(fonts::embedded(), &tokens, size, 1.0).without_tofu(), tokens)
}

fn gallery(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &mut Gallery) {
    Frame::new().inner_margin(Margin::same(20)).show(ui, |ui| gallery_ui(ui, tokens, lang, state));
}

fn blocks(image: &RgbaImage) -> RgbaImage {
    image::imageops::resize(image, image.width() / 8, image.height() / 8, FilterType::Triangle)
}

#[test]
fn both_themes_and_languages_look_as_they_did() {
    for (theme, lang) in [(Theme::Light, Lang::Zh), (Theme::Dark, Lang::En)] {
        let (mut page, tokens) = page(theme, SIZE);
        let mut state = Gallery::default();
        let drawn = blocks(&page.picture(|ui| gallery(ui, &tokens, lang, &mut state)));
        let name = format!("tests/pictures/gallery-{}-{}.png", lang.code(), theme.code());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        if std::env::var_os("UPDATE_PICTURES").is_some() {
            std::fs::write(&path, raster::png(&drawn).unwrap()).unwrap();
        }
        let kept = image::open(&path).unwrap().into_rgba8();
        assert_eq!(drawn.dimensions(), kept.dimensions(), "{name}");
        let differs =
            |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 24);
        let n_differing = drawn.pixels().zip(kept.pixels()).filter(|pair| differs(*pair)).count();
        let allowed = drawn.pixels().len() / 500;
        assert!(n_differing <= allowed, "{name}: {n_differing} blocks look different, {allowed} may");
    }
}

/// The accessibility tree of one frame.
fn nodes(page: &mut Headless, mut ui: impl FnMut(&mut Ui)) -> Vec<Node> {
    page.ctx().enable_accesskit();
    page.frame(Vec::new(), &mut ui);
    let update = page.frame(Vec::new(), &mut ui).platform_output.accesskit_update;
    update.expect("a tree for screen readers").nodes.into_iter().map(|(_, node)| node).collect()
}

#[test]
fn everything_that_can_be_pressed_has_a_name_and_a_size() {
    for lang in Lang::ALL {
        let (mut page, tokens) = page(Theme::Light, SIZE);
        let mut state = Gallery::default();
        let nodes = nodes(&mut page, |ui| gallery(ui, &tokens, lang, &mut state));
        let pressable = |node: &&Node| {
            matches!(
                node.role(),
                NodeRole::Button | NodeRole::Slider | NodeRole::RadioButton | NodeRole::CheckBox | NodeRole::Link
            )
        };
        let mut n_pressable = 0;
        for node in nodes.iter().filter(pressable) {
            n_pressable += 1;
            assert!(node.label().is_some_and(|label| !label.trim().is_empty()), "{node:?}");
            let bounds = node.bounds().unwrap();
            let is_text = node.role() == NodeRole::Link;
            assert!(is_text || bounds.y1 - bounds.y0 >= 28.0, "{:?} is lower than 28 points", node.label());
        }
        assert!(n_pressable > 30, "{n_pressable}");
        let finding = nodes.iter().filter(|node| node.live() == Some(egui::accesskit::Live::Polite)).count();
        assert!(finding >= 4, "findings and notes are live regions: {finding}");
        assert!(nodes.iter().any(|node| node.role() == NodeRole::Math));
    }
}

fn press(key: Key) -> Vec<Event> {
    let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
    vec![event(true), event(false)]
}

#[test]
fn a_slider_is_moved_by_keys() {
    let (mut page, tokens) = page(Theme::Light, vec2(400.0, 60.0));
    let mut stride = 2.0;
    let mut frame = |page: &mut Headless, events| {
        let mut is_changed = false;
        page.frame(events, |ui| {
            let slider = Slider::new("stride", &mut stride, 1.0..=32.0).step(1.0);
            is_changed |= slider.show(ui, &tokens).changed();
        });
        (stride, is_changed)
    };
    frame(&mut page, Vec::new());
    frame(&mut page, press(Key::Tab));
    frame(&mut page, Vec::new()); // the focus lock takes hold in the frame after
    assert_eq!(frame(&mut page, press(Key::ArrowRight)), (3.0, true));
    assert_eq!(frame(&mut page, press(Key::ArrowLeft)), (2.0, true));
    assert_eq!(frame(&mut page, press(Key::PageUp)), (12.0, true));
    assert_eq!(frame(&mut page, press(Key::End)), (32.0, true));
    assert_eq!(frame(&mut page, press(Key::ArrowRight)), (32.0, false));
    assert_eq!(frame(&mut page, press(Key::Home)), (1.0, true));
}

/// A guess is set by keys and by pointer until the truth stands beside it.
#[test]
fn a_ruler_takes_a_guess_until_the_truth_is_shown() {
    let (mut page, tokens) = page(Theme::Light, vec2(400.0, 90.0));
    let scale = Scale::new(10.0, 1000.0).unwrap();
    let mut guess = None;
    let mut rect = egui::Rect::NOTHING;
    let mut frame = |page: &mut Headless, truth: Option<f64>, events| {
        page.frame(events, |ui| {
            let mut ruler = Ruler::new("rate", "GB/s", scale, &mut guess).you("you");
            if let Some(value) = truth {
                ruler = ruler.truth(Truth { name: "model", value });
            }
            rect = ruler.show(ui, &tokens).rect;
        });
        (guess, rect)
    };
    assert_eq!(frame(&mut page, None, Vec::new()).0, None, "nothing is guessed for the reader");
    frame(&mut page, None, press(Key::Tab));
    frame(&mut page, None, Vec::new());
    assert_eq!(frame(&mut page, None, press(Key::ArrowRight)).0, Some(100.0), "the first key sets the middle");
    assert_eq!(frame(&mut page, None, press(Key::ArrowRight)).0, Some(110.0), "100 · 10^(2/50)");
    assert_eq!(frame(&mut page, None, press(Key::End)).0, Some(1000.0));
    let (_, rect) = frame(&mut page, None, Vec::new());
    let click = |pos, pressed| Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let at = rect.center();
    frame(&mut page, None, vec![Event::PointerMoved(at), click(at, true)]);
    assert_eq!(frame(&mut page, None, vec![click(at, false)]).0, Some(100.0));
    let left = rect.left_center();
    frame(&mut page, Some(300.0), vec![Event::PointerMoved(left), click(left, true)]);
    assert_eq!(frame(&mut page, Some(300.0), vec![click(left, false)]).0, Some(100.0), "what is revealed stays");
}

#[test]
fn a_slider_follows_the_pointer() {
    let (mut page, tokens) = page(Theme::Light, vec2(400.0, 60.0));
    let mut share = 0.0;
    let mut rect = egui::Rect::NOTHING;
    let mut frame = |page: &mut Headless, events| {
        page.frame(events, |ui| rect = Slider::new("share", &mut share, 0.0..=1.0).show(ui, &tokens).rect);
        (rect, share)
    };
    let (rect, _) = frame(&mut page, Vec::new());
    let button = |pressed| Event::PointerButton {
        pos: rect.center(),
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    frame(&mut page, vec![Event::PointerMoved(rect.center())]);
    let (_, share) = frame(&mut page, vec![button(true)]);
    assert!((share - 0.5).abs() < 0.01, "{share}");
    let (_, share) = frame(&mut page, vec![Event::PointerMoved(rect.right_center() + vec2(50.0, 0.0))]);
    assert_eq!(share, 1.0);
}

#[test]
fn buttons_answer_to_the_keyboard_and_unavailable_ones_do_not() {
    let (mut page, tokens) = page(Theme::Light, vec2(400.0, 60.0));
    let frame = |page: &mut Headless, why: Option<&str>, events| {
        let mut is_clicked = false;
        page.frame(events, |ui| is_clicked |= Button::primary("Run").unavailable(why).show(ui, &tokens).clicked());
        is_clicked
    };
    frame(&mut page, None, Vec::new());
    frame(&mut page, None, press(Key::Tab));
    assert!(frame(&mut page, None, press(Key::Enter)));
    assert!(frame(&mut page, None, press(Key::Space)));
    assert!(!frame(&mut page, Some("no GPU here"), press(Key::Enter)));
}

#[test]
fn a_choice_moves_with_the_arrows() {
    let (mut page, tokens) = page(Theme::Light, vec2(400.0, 60.0));
    let mut lens = 0;
    let mut frame = |page: &mut Headless, events| {
        page.frame(events, |ui| {
            segmented(ui, &tokens, "lens", &mut lens, &[(0, "memory"), (1, "kernel"), (2, "training")]);
        });
        lens
    };
    frame(&mut page, Vec::new());
    frame(&mut page, press(Key::Tab));
    frame(&mut page, Vec::new());
    assert_eq!(frame(&mut page, press(Key::ArrowRight)), 1);
}

#[test]
fn a_narrow_page_loses_nothing() {
    let (mut page, tokens) = page(Theme::Light, vec2(320.0, 4000.0));
    let mut state = Gallery::default();
    let nodes = nodes(&mut page, |ui| gallery(ui, &tokens, Lang::Zh, &mut state));
    for node in nodes.iter().filter(|node| matches!(node.role(), NodeRole::Button | NodeRole::RadioButton)) {
        let bounds = node.bounds().unwrap();
        assert!(bounds.x0 >= 0.0 && bounds.x1 <= 320.0, "{:?} lies at {bounds:?}", node.label());
    }
}
