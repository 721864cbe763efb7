//! Text in the two languages of the course. Interface strings are [`Text`] constants, so that a missing translation
//! does not compile; lesson strings are [`Localized`], where one language may be missing and the checker says so.

use serde::{Deserialize, Serialize};

/// The language shown to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    #[default]
    Zh,
    En,
}

impl Lang {
    pub const ALL: [Self; 2] = [Self::Zh, Self::En];

    /// The code used in URLs, settings and file names: `zh` or `en`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lang| lang.code() == code)
    }

    pub fn other(self) -> Self {
        match self {
            Self::Zh => Self::En,
            Self::En => Self::Zh,
        }
    }
}

/// An interface string, complete in both languages by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub zh: &'static str,
    pub en: &'static str,
}

impl Text {
    pub const fn new(zh: &'static str, en: &'static str) -> Self {
        Self { zh, en }
    }

    /// The string in `lang`.
    pub fn get(self, lang: Lang) -> &'static str {
        match lang {
            Lang::Zh => self.zh,
            Lang::En => self.en,
        }
    }
}

/// A lesson string. At least one language is present once the parser has accepted it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Localized {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zh: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub en: Option<String>,
}

impl Localized {
    pub fn both(zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { zh: Some(zh.into()), en: Some(en.into()) }
    }

    pub fn one(lang: Lang, text: impl Into<String>) -> Self {
        let mut this = Self::default();
        match lang {
            Lang::Zh => this.zh = Some(text.into()),
            Lang::En => this.en = Some(text.into()),
        }
        this
    }

    /// The string in `lang`, or nothing.
    pub fn exact(&self, lang: Lang) -> Option<&str> {
        match lang {
            Lang::Zh => self.zh.as_deref(),
            Lang::En => self.en.as_deref(),
        }
    }

    /// The string in `lang`, else in the other language, else empty. [`Self::lang_shown`] says which one it is.
    pub fn get(&self, lang: Lang) -> &str {
        self.exact(lang).or_else(|| self.exact(lang.other())).unwrap_or_default()
    }

    pub fn lang_shown(&self, lang: Lang) -> Lang {
        if self.exact(lang).is_some() || self.exact(lang.other()).is_none() { lang } else { lang.other() }
    }

    pub fn is_empty(&self) -> bool {
        self.zh.is_none() && self.en.is_none()
    }
}

impl From<Text> for Localized {
    fn from(text: Text) -> Self {
        Self::both(text.zh, text.en)
    }
}
