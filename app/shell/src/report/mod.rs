//! From kept runs to a report: one run on paper (`sheet.rs`), baseline against candidate (`versus.rs`), and the texts of
//! the exports (`export.rs`, `desk.rs`). Nothing here paints; the notebook's panel does.

mod desk;
mod export;
mod sheet;
mod versus;

pub use export::{Pair, notebook_csv, notebook_markdown, versus_csv, versus_json, versus_markdown};
pub use sheet::{Line, Sheet};
pub use versus::{Versus, change_tone, change_word, drift_words, gain_words, overall_words, point_name};
