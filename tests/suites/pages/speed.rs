//! Processor time of a frame: layout and tessellation at 1920 × 1080. It prints; other programs share the machine, so the
//! bound is loose and the number that counts is the one of a release build on a quiet machine:
//! `cargo test --release -p vramlab-tests pages::speed -- --nocapture`.

use super::{CHAPTER, settings};
use egui::{Pos2, RawInput, Rect, vec2};
use std::time::Instant;
use vramlab_shell::settings::ThemeChoice;
use vramlab_shell::{App, Still};
use vramlab_units::Lang;

/// Milliseconds that even an unoptimised build on a busy machine stays under.
const LOOSE_MS: f64 = 400.0;

#[test]
fn a_frame_of_the_chapter() {
    measure("a frame", format!("/ch/{CHAPTER}/step/sectors"));
}

/// The KV laboratory with ten thousand blocks, each a square of its own. The budget of a frame is 4 ms.
#[test]
fn a_frame_of_ten_thousand_pages() {
    measure("ten thousand pages", "/ch/16_attention/step/fork?preset=large&step=90&request=100".to_owned());
}

/// Frames at rest of the page at a route: prints median, 99th percentile and the first.
#[expect(clippy::print_stdout, reason = "the times are what this measures")]
fn measure(what: &str, route: String) {
    let mut still = Still::with_settings(&settings(Lang::Zh, ThemeChoice::Light));
    still.route = Some(route);
    let mut app = App::new(Box::new(still));
    let ctx = egui::Context::default();
    let mut time = 0.0;
    let mut frame = || {
        time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1920.0, 1080.0))),
            time: Some(time),
            ..RawInput::default()
        };
        let start = Instant::now();
        let mut output = ctx.run_ui(input, |ui| app.ui(ui));
        output.textures_delta.clear();
        let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        assert!(!primitives.is_empty());
        ms
    };
    let first = frame();
    for _ in 0..10 {
        frame();
    }
    let n_frames = if cfg!(debug_assertions) { 60 } else { 600 };
    let mut all: Vec<f64> = (0..n_frames).map(|_| frame()).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    let build = if cfg!(debug_assertions) { "unoptimised" } else { "release" };
    println!(
        "{what} at 1920 x 1080 ({build}): median {:.2} ms, 99th percentile {:.2} ms, first {first:.0} ms",
        at(0.5),
        at(0.99)
    );
    assert!(at(0.5) < LOOSE_MS, "a frame takes {:.0} ms", at(0.5));
}
