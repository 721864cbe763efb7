//! Figures of chapter 13: fields of a struct in memory, the axes of a tensor, and the banks that a pitch goes round.

pub mod ribbon;
pub mod tensor;
pub mod wheel;

use vramlab_units::Lang;

/// The sentence of the language.
fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// A share as whole percent, one digit more where it matters.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = usize::from((value - value.round()).abs() > 0.05);
    format!("{value:.digits$} %")
}
