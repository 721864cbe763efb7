//! What is wrong with a kernel, where, in both languages.

use vramlab_units::{Lang, Localized};

/// A place in the source, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: u32,
    pub col: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not C.
    Syntax,
    /// C that makes no sense: an unknown name, a type that does not fit.
    Meaning,
    /// Right for a GPU perhaps, but not played here.
    Unsupported,
    /// An address outside its buffer, or one that is not aligned.
    Address,
    /// A barrier that not every thread reaches.
    Barrier,
    /// More work than the budget allows.
    Budget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub at: Place,
    pub kind: Kind,
    pub said: Localized,
}

impl Fault {
    pub fn new(at: Place, kind: Kind, zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { at, kind, said: Localized::both(zh, en) }
    }

    /// The sentence with its line, as a compiler prints it.
    pub fn line(&self, lang: Lang) -> String {
        let said = match lang {
            Lang::Zh => &self.said.zh,
            Lang::En => &self.said.en,
        };
        format!("{}:{}: {}", self.at.line, self.at.col, said.as_deref().unwrap_or_default())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.line(Lang::En))
    }
}

pub(crate) fn syntax<T>(at: Place, zh: impl Into<String>, en: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(at, Kind::Syntax, zh, en))
}

pub(crate) fn meaning<T>(at: Place, zh: impl Into<String>, en: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(at, Kind::Meaning, zh, en))
}

/// `what` is not played on the processor.
pub(crate) fn unsupported<T>(at: Place, what: &str) -> Result<T, Fault> {
    let zh = format!("{what}：这里不会在处理器上演算，只能在 GPU 上运行");
    Err(Fault::new(at, Kind::Unsupported, zh, format!("{what} is not played on the processor: it needs a GPU")))
}
