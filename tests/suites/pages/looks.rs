//! Every page in both languages, both themes and three widths: nothing panics, lies nowhere, lacks a glyph or a name.

use super::{CHAPTER, Desk, settings};
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_units::Lang;

const WIDTHS: [f32; 3] = [360.0, 900.0, 1440.0];

fn each(mut look: impl FnMut(Lang, ThemeChoice, f32)) {
    for lang in Lang::ALL {
        for theme in [ThemeChoice::Light, ThemeChoice::Dark] {
            for width in WIDTHS {
                look(lang, theme, width);
            }
        }
    }
}

/// The harness panics on a missing glyph and on an input without a name; the rest is asserted here.
pub fn draws(route: &str, height: f32) {
    each(|lang, theme, width| {
        let place = format!("{route} {} {theme:?} {width}", lang.code());
        let desk = Desk::with(route, &settings(lang, theme), [width, height]);
        desk.assert_finite(&place);
        assert!(desk.harness.output().shapes.len() > 10, "{place} is empty");
        let said = desk.said();
        assert_eq!(said["lang"], lang.code(), "{place}");
        assert_eq!(said["is_dark"], theme == ThemeChoice::Dark, "{place}");
        assert_eq!(said["notes"].as_array().map(Vec::len), Some(0), "{place}: {}", said["notes"]);
    });
}

#[test]
fn the_start_page_draws_in_every_look() {
    draws("/", 900.0);
}

#[test]
fn the_settings_draw_in_every_look() {
    draws("/settings", 900.0);
}

#[test]
fn a_snapshot_and_how_to_record_one_draw_in_every_look() {
    draws("/snapshot", 900.0);
    draws("/snapshot?file=mlp_adam&colour=site", 5_000.0);
    draws("/snapshot?file=leak,graph_pool&show=compare", 7_000.0);
    draws("/snapshot?file=leak,graph_pool,fragmentation&show=ranks", 7_000.0);
}

#[test]
fn a_model_and_a_card_draw_in_every_look() {
    draws("/fit", 900.0);
    draws("/fit?model=llama-3.1-70b", 4_000.0);
    draws("/fit?model=llama-3.1-8b&work=train&gpu=rtx4090&batch=4", 5_000.0);
}

#[test]
fn the_chapter_draws_whole_in_every_look() {
    draws(&format!("/ch/{CHAPTER}"), 40_000.0);
}

/// B8: a phone, a narrow window, a page at 200 %: one column, nothing beside it.
#[test]
fn b8_nothing_lies_beside_a_narrow_page() {
    for (width, scale) in [(320.0, 1.0), (360.0, 1.0), (720.0, 2.0)] {
        for lang in Lang::ALL {
            let settings = Settings { text_scale: scale, ..settings(lang, ThemeChoice::Light) };
            let desk = Desk::with(&format!("/ch/{CHAPTER}"), &settings, [width, 60_000.0]);
            let mut beside = Vec::new();
            for (name, rect) in desk.controls() {
                if rect.left() < -1.0 || rect.right() > width + 1.0 {
                    beside.push(format!("{name} at {:.0} to {:.0}", rect.left(), rect.right()));
                }
            }
            assert!(beside.is_empty(), "{} at {width} × {scale}: {}", lang.code(), beside.join("; "));
        }
    }
}

#[test]
fn text_at_every_size_draws() {
    for scale in [0.8, 1.3, 2.0] {
        let settings = Settings { text_scale: scale, ..settings(Lang::Zh, ThemeChoice::Light) };
        let desk = Desk::with(&format!("/ch/{CHAPTER}"), &settings, [900.0, 900.0]);
        desk.assert_finite(&format!("text × {scale}"));
    }
}

/// Pages of every kind.
fn resting() -> [String; 5] {
    ["/", "/settings", "/snapshot?file=kv_cat", "/profile?file=gpt_training", &format!("/ch/{CHAPTER}")]
        .map(str::to_owned)
}

#[test]
fn everything_a_key_reaches_has_a_name() {
    for route in resting() {
        for lang in Lang::ALL {
            let desk = Desk::with(&route, &settings(lang, ThemeChoice::Light), [1440.0, 40_000.0]);
            let all = desk.controls();
            let unnamed: Vec<_> = all.iter().filter(|(name, _)| name.trim().is_empty()).map(|(_, rect)| rect).collect();
            assert!(all.len() >= 5, "{route}: only {} things can be reached", all.len());
            assert!(unnamed.is_empty(), "{route} {}: without a name at {unnamed:?}", lang.code());
        }
    }
}

#[test]
fn a_page_at_rest_asks_for_no_frame() {
    for route in resting() {
        let mut desk = Desk::with(&route, &settings(Lang::Zh, ThemeChoice::Light), [1440.0, 900.0]);
        // Ten seconds: what waits until the reader has stayed at a step has happened.
        desk.harness.run_steps(40);
        let wait = desk.harness.output().viewport_output.values().map(|view| view.repaint_delay).min().unwrap();
        assert!(wait.as_secs() >= 60, "{route} wants a frame after {wait:?}: {:?}", desk.harness.ctx.repaint_causes());
    }
}
