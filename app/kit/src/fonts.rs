//! The fonts: which file serves which family, and which characters can be drawn at all.
//!
//! The files are in `assets/fonts` (its README says what is in them). This crate reads no file: whoever has the bytes
//! (the embedded assets, a fetch of the web page) hands them to [`definitions`]. It may be called again when more files
//! have arrived.

use egui::{FontData, FontDefinitions, FontFamily, FontTweak};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The family of headings and titles. Prose is `FontFamily::Proportional`, numbers and code `FontFamily::Monospace`.
pub fn strong() -> FontFamily {
    FontFamily::Name("strong".into())
}

const MONO: &str = "assets/fonts/mono.ttf";

/// egui centres each font in its line by its own height. JetBrains Mono's baseline then lies 0.076 em above that of
/// Noto Sans SC (ascent and descent 1.02 and 0.30 em against 1.16 and 0.288), so it is set that much lower.
fn on_one_baseline() -> FontTweak {
    FontTweak { y_offset_factor: 0.076, ..FontTweak::default() }
}

/// A font file of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FontFile {
    /// Path from the repository root, as the assets are indexed.
    pub path: &'static str,
    /// Needed for the first page; the others are fetched afterwards on the web.
    pub is_first: bool,
}

/// All files, in the order in which a character is looked for.
pub const FILES: [FontFile; 5] = [
    FontFile { path: "assets/fonts/sans-first.otf", is_first: true },
    FontFile { path: "assets/fonts/strong-first.otf", is_first: false },
    FontFile { path: MONO, is_first: true },
    FontFile { path: "assets/fonts/sans-rest.otf", is_first: false },
    FontFile { path: "assets/fonts/strong-rest.otf", is_first: false },
];

const ALL: &str = include_str!("../../../assets/fonts/all.txt");
const FIRST: &str = include_str!("../../../assets/fonts/first.txt");

/// egui's font table from the files that are at hand. `bytes_of` gets a path of [`FILES`]; a file that is not at hand
/// yet is left out, and its characters fall back to the other weight where that has them.
pub fn definitions(bytes_of: impl Fn(&str) -> Option<Cow<'static, [u8]>>) -> FontDefinitions {
    let mut font_data = BTreeMap::new();
    for file in FILES {
        if let Some(bytes) = bytes_of(file.path) {
            let data = match bytes {
                Cow::Borrowed(bytes) => FontData::from_static(bytes),
                Cow::Owned(bytes) => FontData::from_owned(bytes),
            };
            let data = if file.path == MONO { data.tweak(on_one_baseline()) } else { data };
            font_data.insert(name(file.path).to_owned(), Arc::new(data));
        }
    }
    let family = |names: [&str; 5]| -> Vec<String> {
        names.into_iter().filter(|name| font_data.contains_key(*name)).map(str::to_owned).collect()
    };
    let families = BTreeMap::from([
        (FontFamily::Proportional, family(["sans-first", "sans-rest", "mono", "strong-first", "strong-rest"])),
        (strong(), family(["strong-first", "strong-rest", "sans-first", "sans-rest", "mono"])),
        (FontFamily::Monospace, family(["mono", "sans-first", "sans-rest", "strong-first", "strong-rest"])),
    ]);
    FontDefinitions { font_data, families }
}

/// Whether the program's own fonts, all of them loaded, can draw `c`. Spaces and control characters need no glyph.
pub fn has_glyph(c: char) -> bool {
    c.is_whitespace() || c.is_control() || lists(ALL, c)
}

/// Whether `c` is in the files of the first page.
pub fn is_in_first_files(c: char) -> bool {
    c.is_whitespace() || c.is_control() || lists(FIRST, c)
}

/// Whether `sorted`, one character after the other by code point, has `c`. Bisects on character boundaries.
fn lists(sorted: &str, c: char) -> bool {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = sorted.floor_char_boundary(low + (high - low) / 2);
        let Some(found) = sorted[middle..].chars().next() else { return false };
        match found.cmp(&c) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = middle + found.len_utf8(),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    false
}

fn name(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file)
}

/// The table with every file, for tests and for programs that do not use the content crate.
#[cfg(any(test, feature = "embedded-fonts"))]
pub fn embedded() -> FontDefinitions {
    definitions(|path| {
        let bytes: &'static [u8] = match name(path) {
            "sans-first" => include_bytes!("../../../assets/fonts/sans-first.otf"),
            "sans-rest" => include_bytes!("../../../assets/fonts/sans-rest.otf"),
            "strong-first" => include_bytes!("../../../assets/fonts/strong-first.otf"),
            "strong-rest" => include_bytes!("../../../assets/fonts/strong-rest.otf"),
            _ => include_bytes!("../../../assets/fonts/mono.ttf"),
        };
        Some(Cow::Borrowed(bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::FontId;
    use egui::epaint::text::{Fonts, TextOptions};

    fn families() -> [FontFamily; 3] {
        [FontFamily::Proportional, FontFamily::Monospace, strong()]
    }

    #[test]
    fn every_listed_character_is_drawn_by_every_family() {
        let mut fonts = Fonts::new(TextOptions::default(), embedded());
        for family in families() {
            let font = FontId::new(15.0, family);
            let missing: String = ALL.chars().filter(|c| *c != '\n' && !fonts.has_glyph(&font, *c)).collect();
            assert!(missing.is_empty(), "{font:?} lacks {missing}");
        }
    }

    #[test]
    fn the_first_files_alone_draw_the_first_page() {
        let first = |path: &str| {
            let file = FILES.iter().find(|file| file.path == path)?;
            let bytes = embedded().font_data.get(name(path))?.bytes().to_vec();
            file.is_first.then_some(Cow::Owned(bytes))
        };
        let mut fonts = Fonts::new(TextOptions::default(), definitions(first));
        for family in families() {
            let font = FontId::new(15.0, family);
            let missing: String =
                FIRST.chars().filter(|c| has_glyph(*c) && *c != '\n' && !fonts.has_glyph(&font, *c)).collect();
            assert!(missing.is_empty(), "{font:?} lacks {missing}");
        }
    }

    #[test]
    fn coverage_is_gb_2312_level_1_and_no_more_than_the_files_have() {
        // First and last character of level 1, two of level 2, one of Unicode's rare plane, one emoji.
        assert!(has_glyph('啊') && has_glyph('座') && has_glyph('显') && has_glyph('存'));
        assert!(has_glyph('≤') && has_glyph('Ω') && has_glyph('█') && has_glyph('⌈') && has_glyph(' '));
        for c in ['\u{4E8D}', '\u{9F3E}', '\u{20000}', '\u{1F600}'] {
            assert!(!has_glyph(c), "{c}");
        }
        assert!(ALL.chars().filter(|c| ('\u{4E00}'..='\u{9FFF}').contains(c)).count() >= 3755);
    }

    #[test]
    fn figures_of_the_mono_face_are_tabular() {
        let mut fonts = Fonts::new(TextOptions::default(), embedded());
        let font = FontId::monospace(22.0);
        let mut fonts = fonts.with_pixels_per_point(1.0);
        let widths: Vec<f32> = "0123456789.".chars().map(|c| fonts.glyph_width(&font, c)).collect();
        assert!(widths.iter().all(|width| (width - widths[0]).abs() < 1e-3), "{widths:?}");
    }
}
