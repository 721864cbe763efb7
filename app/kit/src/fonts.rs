//! The embedded fonts: which file serves which family.

use egui::FontFamily;

/// The family of headings and titles.
pub fn strong() -> FontFamily {
    FontFamily::Name("strong".into())
}
