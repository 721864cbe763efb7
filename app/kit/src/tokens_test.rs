//! Contrast of text and distance of the data colours, computed from the theme file.
//!
//! Sources: WCAG 2.2 relative luminance and contrast; CIE 1976 L*a*b* with D65 white; Machado, Oliveira and Fernandes
//! 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency", table 1, severity 1.0, in linear RGB.

use crate::tokens::{Role, Theme, Tokens, Type, Verdict};
use egui::Color32;

const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTAN: [[f64; 3]; 3] =
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
const DEUTAN: [[f64; 3]; 3] =
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
const TRITAN: [[f64; 3]; 3] =
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]];

fn linear(color: Color32) -> [f64; 3] {
    [color.r(), color.g(), color.b()].map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn lab(linear_rgb: [f64; 3]) -> [f64; 3] {
    const TO_XYZ: [[f64; 3]; 3] =
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];
    const WHITE: [f64; 3] = [0.95047, 1.0, 1.08883];
    let xyz = times(&TO_XYZ, linear_rgb.map(|channel| channel.clamp(0.0, 1.0)));
    let f = |t: f64| if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 };
    let [x, y, z] = [0, 1, 2].map(|idx| f(xyz[idx] / WHITE[idx]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn delta_e(a: Color32, b: Color32, vision: &[[f64; 3]; 3]) -> f64 {
    let [a, b] = [a, b].map(|color| lab(times(vision, linear(color))));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn contrast(a: Color32, b: Color32) -> f64 {
    let luminance = |color: Color32| {
        let [r, g, b] = linear(color);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_measures_agree_with_known_values() {
    assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 1e-9);
    assert!((contrast(Color32::from_gray(0x76), Color32::WHITE) - 4.54).abs() < 0.005); // WCAG's usual example
    let red = lab(linear(Color32::from_rgb(255, 0, 0)));
    let published = [53.24, 80.09, 67.20]; // sRGB red in L*a*b*, D65
    assert!(red.iter().zip(published).all(|(a, b)| (a - b).abs() < 0.02), "{red:?}");
}

#[test]
fn data_colours_stay_apart_in_every_kind_of_vision() {
    for theme in Theme::ALL {
        let tokens = Tokens::new(theme, 1.0);
        let visions = [("normal", NORMAL), ("protan", PROTAN), ("deutan", DEUTAN), ("tritan", TRITAN)];
        for (vision, matrix) in visions {
            for (idx, a) in Role::ALL.into_iter().enumerate() {
                for b in Role::ALL.into_iter().skip(idx + 1) {
                    let distance = delta_e(tokens.role(a), tokens.role(b), &matrix);
                    assert!(distance >= 16.0, "{theme:?}, {vision}: {a:?} and {b:?} are {distance:.1} apart");
                }
            }
        }
    }
}

#[test]
fn data_colours_stand_out_from_the_surface() {
    for theme in Theme::ALL {
        let tokens = Tokens::new(theme, 1.0);
        for role in Role::ALL {
            let ratio = contrast(tokens.role(role), tokens.surface);
            assert!(ratio >= 3.0, "{theme:?}: {role:?} has {ratio:.2} against the surface");
        }
        for idx in 0..9 {
            let ratio = contrast(tokens.series(idx, 9), tokens.surface);
            assert!(ratio >= 3.0, "{theme:?}: series {idx} has {ratio:.2} against the surface");
        }
    }
}

/// Eight groups side by side: none is taken for another, and neighbours in a stack less than any.
#[test]
fn categories_stay_apart_in_every_kind_of_vision() {
    const N: usize = 8;
    for theme in Theme::ALL {
        let tokens = Tokens::new(theme, 1.0);
        assert_eq!(tokens.category(N), tokens.category(0));
        for idx in 0..N {
            let color = tokens.category(idx);
            assert!(contrast(color, tokens.surface) >= 3.0, "{theme:?}: category {idx} against the surface");
            let lightness = |color| lab(linear(color))[0];
            let step = (lightness(color) - lightness(tokens.category(idx + 1))).abs();
            assert!(step >= 12.0, "{theme:?}: lightness of {idx} and the next differs by {step:.1}");
            for vision in [NORMAL, PROTAN, DEUTAN, TRITAN] {
                for other in idx + 1..N {
                    let distance = delta_e(color, tokens.category(other), &vision);
                    let least = if other == idx + 1 { 28.0 } else { 20.0 };
                    assert!(distance >= least, "{theme:?}: {idx} and {other} are {distance:.1} apart");
                }
            }
        }
    }
}

#[test]
fn text_can_be_read_on_everything_it_stands_on() {
    for theme in Theme::ALL {
        let t = Tokens::new(theme, 1.0);
        let mut pairs = vec![("on accent", t.on_accent, t.accent), ("on hovered accent", t.on_accent, t.accent_hover)];
        for (name, ground) in [("ground", t.ground), ("surface", t.surface), ("sunken", t.sunken)] {
            pairs.extend([(name, t.ink, ground), (name, t.muted, ground), (name, t.accent, ground)]);
            pairs.extend(
                [Verdict::Good, Verdict::Caution, Verdict::Bad].map(|verdict| (name, t.verdict(verdict), ground)),
            );
        }
        pairs.extend([("accent soft", t.accent, t.accent_soft), ("accent soft", t.ink, t.accent_soft)]);
        for (name, text, ground) in pairs {
            let ratio = contrast(text, ground);
            assert!(ratio >= 4.5, "{theme:?}: {text:?} on {name} has {ratio:.2}");
        }
    }
}

#[test]
fn the_hierarchy_runs_from_dark_to_light() {
    for theme in Theme::ALL {
        let tokens = Tokens::new(theme, 1.0);
        let lightness: Vec<f64> = (0..7).map(|idx| lab(linear(tokens.hierarchy(idx as f32 / 6.0)))[0]).collect();
        assert!(lightness.windows(2).all(|pair| pair[1] > pair[0] + 4.0), "{theme:?}: {lightness:?}");
    }
}

#[test]
fn presenter_mode_enlarges_type_by_its_factor() {
    let (normal, large) = (Tokens::new(Theme::Light, 1.0), Tokens::new(Theme::Light, Tokens::PRESENTER_SCALE));
    assert_eq!(normal.font(Type::Body).size, 15.0);
    assert_eq!(large.font(Type::Body).size, 24.0);
    assert_eq!(normal.without_motion().motion_secs, 0.0);
}
