//! Where the reader is, as text: `/ch/02_access_patterns/step/stride?stride_elems=2`. Readable keys, only values that
//! differ from the defaults. What cannot be followed leads to the nearest place that exists, with a note.

use vramlab_units::{Lang, Map, Value};

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    pub page: Page,
    /// Parameters of the figure at the step, only non-defaults.
    pub params: Map,
    /// The language, when a link carries one.
    pub lang: Option<Lang>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Page {
    #[default]
    Start,
    Chapter {
        chapter: String,
        step: Option<String>,
    },
    /// A route through the chapters.
    Route {
        id: String,
    },
    Task {
        id: String,
    },
    /// The evidence table, of one route or of the whole course.
    Evidence {
        route: Option<String>,
    },
    /// The handbook: a symptom, and the answers to its questions so far.
    Help {
        symptom: Option<String>,
        answers: Vec<String>,
    },
    /// What can be opened, what was opened lately, and what became of the last file.
    Files,
    /// A memory snapshot: the one that is open, or how to record one.
    Snapshot,
    /// Whether a model fits a card.
    Fit,
    /// A recorded run of a foreign program.
    Profile,
    /// All kernels of the course to edit, or one of them.
    Playground {
        kernel: Option<String>,
    },
    Settings,
    /// The questions that are due, over all chapters.
    Review,
}

impl Route {
    pub fn page(page: Page) -> Self {
        Self { page, ..Self::default() }
    }

    pub fn chapter(chapter: &str) -> Self {
        Self { page: Page::Chapter { chapter: chapter.to_owned(), step: None }, ..Self::default() }
    }

    pub fn step(chapter: &str, step: &str) -> Self {
        Self { page: Page::Chapter { chapter: chapter.to_owned(), step: Some(step.to_owned()) }, ..Self::default() }
    }

    /// Reads a route. Never fails: what is not understood is returned as notes, and the rest is followed.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut notes = Vec::new();
        let text = text.trim_start_matches('#');
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        let page = match words.as_slice() {
            [] => Page::Start,
            ["ch", chapter] => Page::Chapter { chapter: (*chapter).to_owned(), step: None },
            ["ch", chapter, "step", step] => {
                Page::Chapter { chapter: (*chapter).to_owned(), step: Some((*step).to_owned()) }
            }
            ["route", id] => Page::Route { id: (*id).to_owned() },
            ["task", id] => Page::Task { id: (*id).to_owned() },
            ["evidence"] => Page::Evidence { route: None },
            ["evidence", route] => Page::Evidence { route: Some((*route).to_owned()) },
            ["help"] => Page::Help { symptom: None, answers: Vec::new() },
            ["help", symptom, answers @ ..] => Page::Help {
                symptom: Some((*symptom).to_owned()),
                answers: answers.iter().take(MAX_ANSWERS).map(|answer| (*answer).to_owned()).collect(),
            },
            ["files"] => Page::Files,
            ["snapshot"] => Page::Snapshot,
            ["fit"] => Page::Fit,
            ["profile"] => Page::Profile,
            ["playground"] => Page::Playground { kernel: None },
            ["playground", kernel] => Page::Playground { kernel: Some((*kernel).to_owned()) },
            ["settings"] => Page::Settings,
            ["review"] => Page::Review,
            _ => {
                notes.push(format!("\"{path}\""));
                Page::Start
            }
        };
        let mut this = Self { page, ..Self::default() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (decode(key), decode(value));
            if key == "lang" {
                this.lang = Lang::from_code(&value);
                if this.lang.is_none() {
                    notes.push(format!("lang={value}"));
                }
            } else if this.params.len() < 32 {
                this.params.insert(key, value_from_text(&value));
            }
        }
        (this, notes)
    }

    /// The text of the route; [`Self::parse`] reads it back.
    pub fn text(&self) -> String {
        let mut out = match &self.page {
            Page::Start => "/".to_owned(),
            Page::Settings => "/settings".to_owned(),
            Page::Review => "/review".to_owned(),
            Page::Files => "/files".to_owned(),
            Page::Snapshot => "/snapshot".to_owned(),
            Page::Fit => "/fit".to_owned(),
            Page::Profile => "/profile".to_owned(),
            Page::Playground { kernel: None } => "/playground".to_owned(),
            Page::Playground { kernel: Some(kernel) } => format!("/playground/{}", encode(kernel)),
            Page::Route { id } => format!("/route/{}", encode(id)),
            Page::Task { id } => format!("/task/{}", encode(id)),
            Page::Evidence { route: None } => "/evidence".to_owned(),
            Page::Evidence { route: Some(route) } => format!("/evidence/{}", encode(route)),
            Page::Help { symptom, answers } => {
                let words = symptom.iter().chain(answers).map(|word| format!("/{}", encode(word)));
                format!("/help{}", words.collect::<String>())
            }
            Page::Chapter { chapter, step: None } => format!("/ch/{}", encode(chapter)),
            Page::Chapter { chapter, step: Some(step) } => format!("/ch/{}/step/{}", encode(chapter), encode(step)),
        };
        let mut pairs: Vec<String> = self
            .params
            .iter()
            .map(|(key, value)| format!("{}={}", encode(key), encode(&text_from_value(value))))
            .collect();
        if let Some(lang) = self.lang {
            pairs.push(format!("lang={}", lang.code()));
        }
        if !pairs.is_empty() {
            out.push('?');
            out.push_str(&pairs.join("&"));
        }
        out
    }
}

/// Answers of the handbook that an address may carry.
const MAX_ANSWERS: usize = 16;

/// Numbers and truth values as such, lists with commas, all else as text.
fn value_from_text(text: &str) -> Value {
    if text.contains(',') {
        return Value::Array(text.split(',').map(value_from_text).collect());
    }
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.parse::<f64>().ok().filter(|x| x.is_finite()).map_or_else(|| text.into(), Value::from),
        },
    }
}

fn text_from_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_from_value).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match (bytes[at], hex.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_reads_back() {
        let mut route = Route::step("02_access_patterns", "步长/1");
        route.params.insert("stride_elems".into(), 2.into());
        route.params.insert("layout".into(), "aos".into());
        route.lang = Some(Lang::En);
        let (back, notes) = Route::parse(&route.text());
        assert_eq!(back, route);
        assert!(notes.is_empty());
    }

    #[test]
    fn every_page_of_the_guide_has_an_address() {
        for text in [
            "/route/kernel",
            "/task/task-2",
            "/evidence",
            "/evidence/full",
            "/help",
            "/help/slow_link/host/large",
            "/files",
            "/playground",
            "/playground/exercise_coalesce",
            "/snapshot?colour=site&cursor=12",
        ] {
            let (route, notes) = Route::parse(text);
            assert_eq!((route.text().as_str(), notes.len()), (text, 0));
        }
    }

    #[test]
    fn hostile_routes_lead_to_the_start_with_a_note() {
        for text in ["/nowhere/at/all", "/ch", "///%%%%", "/ch/a/step", "%00%ff"] {
            let (route, notes) = Route::parse(text);
            assert_eq!(route.page, Page::Start, "{text}");
            assert!(!notes.is_empty(), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_stay_text() {
        let (route, _) = Route::parse("/ch/a?x=NaN&y=inf&z=1e30");
        assert_eq!(route.params["x"], Value::from("NaN"));
        assert_eq!(route.params["y"], Value::from("inf"));
        assert_eq!(route.params["z"], Value::from(1e30));
    }
}
