//! The text of a new chapter: short, commented, and without a finding in the checker. It leans on no model,
//! visualizer or experiment, so it passes whatever a build contains; the comments show where those come in.

use crate::chapter::SCHEMA;
use crate::read::is_id;
use vramlab_units::Lang;

/// An id that cannot be a chapter's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" cannot be the id of a chapter; it has 1 to 64 lower-case letters, digits, _ or -, as in 40_my_chapter"
)]
pub struct BadId(pub String);

/// The content of `ID/chapter.toml`: in both languages, or in one.
pub fn scaffold(id: &str, lang: Option<Lang>) -> Result<String, BadId> {
    if !is_id(id) {
        return Err(BadId(crate::read::shorten(id)));
    }
    let name = id.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '-').replace(['_', '-'], " ");
    let name = if name.is_empty() { id } else { &name };
    let schema = format!("schema = {SCHEMA}");
    let text = match lang {
        None => include_str!("scaffold/both.toml"),
        Some(Lang::Zh) => include_str!("scaffold/zh.toml"),
        Some(Lang::En) => include_str!("scaffold/en.toml"),
    };
    Ok(text.replace("schema = 1", &schema).replace("NAME", name))
}
