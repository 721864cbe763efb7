//! Words: both languages there, links alive, pictures inside the pack and described, every character drawable, no step
//! longer than a reader bears.

use super::{Checker, runs, units};
use crate::chapter::{Form, Question, StepBody};
use crate::link::{self, Link};
use crate::markdown;
use crate::problem::Severity;
use crate::read::is_han;
use vramlab_units::{Lang, Localized};

/// What a step may hold before the reader does something, as in "about 180 words".
const ABOUT_WORDS: usize = 180;
const ABOUT_HAN: usize = 300;
/// Most links, pictures and units of one text that are looked at: each is searched for in the source.
const MAX_LOOKED_AT: usize = 300;

impl Checker<'_> {
    pub(super) fn texts(&mut self) {
        let chapter = self.chapter;
        let texts = texts(chapter);
        for (path, text) in &texts {
            self.languages(path, text);
            for lang in Lang::ALL {
                if let Some(words) = text.exact(lang) {
                    let path = self.path_of(path, lang);
                    self.glyphs(&path, words);
                    self.markdown(&path, words);
                }
            }
        }
        for (idx, step) in chapter.steps.iter().enumerate() {
            let path = format!("step[{idx}]");
            let long = match &step.body {
                StepBody::Prose { text } => vec![(format!("{path}.text"), text)],
                StepBody::Equation(equation) => vec![(format!("{path}.text"), &equation.text)],
                StepBody::Visualizer(step) => vec![(format!("{path}.text"), &step.text)],
                StepBody::Figure(figure) => vec![(format!("{path}.text"), &figure.text)],
                StepBody::Experiment(step) => {
                    runs(step, &path).map(|(run, path)| (format!("{path}.text"), &run.text)).collect()
                }
                StepBody::Predict(predict) => vec![(format!("{path}.ask"), &predict.question.ask)],
                StepBody::Check(question) => vec![(format!("{path}.ask"), &question.ask)],
                StepBody::Broken { .. } => continue,
            };
            for (path, text) in long {
                for lang in Lang::ALL {
                    let path = self.path_of(&path, lang);
                    self.length(&path, text.exact(lang).unwrap_or_default());
                }
            }
        }
    }

    /// Where the text of one language stands: `text.zh`, or `text` of a plain string.
    fn path_of(&self, path: &str, lang: Lang) -> String {
        let full = format!("{path}.{}", lang.code());
        if self.parsed.spans.contains_key(&full) { full } else { path.to_owned() }
    }

    /// L4
    fn languages(&mut self, path: &str, text: &Localized) {
        let is_written =
            Lang::ALL.iter().any(|lang| self.parsed.spans.contains_key(&format!("{path}.{}", lang.code())));
        let missing: Vec<Lang> = match self.chapter.lang {
            Some(lang) => [lang].into_iter().filter(|lang| text.exact(*lang).is_none()).collect(),
            None if !is_written => return,
            None => Lang::ALL.into_iter().filter(|lang| text.exact(*lang).is_none()).collect(),
        };
        if text.is_empty() {
            return; // a missing field is the parser's finding
        }
        for lang in missing {
            let name = path.rsplit('.').next().unwrap_or(path);
            let language = match lang {
                Lang::Zh => "Chinese",
                Lang::En => "English",
            };
            let what = format!("{name} is not there in {language}");
            let help =
                format!("add {name}.{} = \"…\"; until then readers get the other language with a badge", lang.code());
            self.error("missing-translation", path, what, Some(help));
        }
    }

    /// L11
    fn glyphs(&mut self, path: &str, words: &str) {
        for c in words.chars() {
            if c.is_whitespace() || c.is_control() || self.undrawn.contains(&c) || self.registry.has_glyph(c) {
                continue;
            }
            self.undrawn.insert(c);
            let at = self.parsed.source.find_within(&self.span(path), c.encode_utf8(&mut [0; 4]));
            let what = format!("the fonts cannot draw \"{c}\" (U+{:04X})", c as u32);
            self.note_at(Severity::Error, "no-glyph", &at, what, Some("use another character".to_owned()));
        }
    }

    fn markdown(&mut self, path: &str, words: &str) {
        let facts = markdown::facts(words);
        for to in facts.links.iter().take(MAX_LOOKED_AT) {
            self.link(path, to);
        }
        for image in facts.images.iter().take(MAX_LOOKED_AT) {
            self.image(path, image);
        }
        if let Some(html) = facts.html.first() {
            let raw = words.get(html.clone()).unwrap_or_default().lines().next().unwrap_or_default();
            let at = self.parsed.source.find_within(&self.span(path), raw);
            let what = "HTML is not interpreted; the reader sees it as text".to_owned();
            self.note_at(Severity::Warning, "html", &at, what, Some("write Markdown".to_owned()));
        }
        for table in &facts.tables {
            if let Some(mixed) = units::mixed(table) {
                let at = self.parsed.source.find_within(&self.span(path), &mixed.second.written);
                self.note_at(Severity::Error, "mixed-units", &at, mixed.what(), Some(mixed.help()));
            }
        }
        for text in facts.tables.iter().chain([&facts.prose]) {
            for unclear in units::unclear(text).into_iter().take(MAX_LOOKED_AT) {
                let at = self.parsed.source.find_within(&self.span(path), &unclear.written);
                self.note_at(Severity::Error, "unclear-unit", &at, unclear.what(), Some(unclear.help()));
            }
        }
    }

    fn link(&mut self, path: &str, to: &str) {
        let at = self.parsed.source.find_within(&self.span(path), to);
        let (what, help) = match Link::parse(to) {
            Err(refused) => (refused.why, Some(refused.help.to_owned())),
            Ok(Link::Web(_)) => return,
            Ok(Link::File(file)) if self.registry.has_file(&self.chapter.id, &file) => return,
            Ok(Link::File(file)) => (format!("the chapter's folder has no file \"{file}\""), None),
            Ok(Link::Step(id)) => match self.no_step(&self.chapter.id, &id) {
                Some(found) => found,
                None => return,
            },
            Ok(Link::Kernel(name)) => {
                let known = self.registry.kernels();
                if known.contains(&name.as_str()) {
                    return;
                }
                (format!("no kernel is called \"{name}\""), hint(&name, &known))
            }
            Ok(Link::Chapter { id, step }) => {
                let known = self.registry.chapters();
                if id != self.chapter.id && !known.contains(&id.as_str()) {
                    (format!("no chapter is called \"{id}\""), hint(&id, &known))
                } else {
                    match step.and_then(|step| self.no_step(&id, &step)) {
                        Some(found) => found,
                        None => return,
                    }
                }
            }
        };
        self.note_at(Severity::Error, "dead-link", &at, what, help);
    }

    /// What to say if `chapter` has no step `id`.
    fn no_step(&self, chapter: &str, id: &str) -> Option<(String, Option<String>)> {
        let own = || self.chapter.steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
        let known = if chapter == self.chapter.id { own() } else { (self.steps_of)(chapter)? };
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        (!known.contains(&id)).then(|| (format!("the chapter {chapter} has no step \"{id}\""), hint(id, &known)))
    }

    fn image(&mut self, path: &str, image: &markdown::Image) {
        let at = self.parsed.source.find_within(&self.span(path), &image.path);
        let (rule, what, help) = match link::image(&image.path) {
            Err(refused) => ("refused-image", refused.why, Some(refused.help.to_owned())),
            Ok(file) if !self.registry.has_file(&self.chapter.id, file) => {
                ("missing-file", format!("the chapter's folder has no file \"{file}\""), None)
            }
            Ok(_) if image.alt.trim().is_empty() => {
                let help = "write ![what the picture shows](figures/x.png)".to_owned();
                ("missing-alt", "the picture has no description".to_owned(), Some(help))
            }
            Ok(_) => return,
        };
        self.note_at(Severity::Error, rule, &at, what, help);
    }

    fn length(&mut self, path: &str, words: &str) {
        let prose = markdown::facts(words).prose;
        let n_han = prose.chars().filter(|c| is_han(*c)).count();
        let is_word = |word: &&str| word.chars().any(|c| c.is_alphanumeric() && !is_han(c));
        let n_words = prose.split_whitespace().filter(is_word).count();
        let (count, about, name) =
            if n_han > n_words { (n_han, ABOUT_HAN, "汉字") } else { (n_words, ABOUT_WORDS, "words") };
        if count > about + about / 10 {
            let what = format!("{count} {name} before the reader does anything; a step may have about {about}");
            let help = "split it: a question, a figure or a slider in between".to_owned();
            self.warn("too-long", path, what, Some(help));
        }
    }
}

fn hint(id: &str, known: &[&str]) -> Option<String> {
    vramlab_units::field::did_you_mean(id, known.iter().copied()).map(|hint| format!("did you mean \"{hint}\"?"))
}

/// Every text of a chapter with its path.
fn texts(chapter: &crate::Chapter) -> Vec<(String, &Localized)> {
    let mut out = vec![
        ("title".to_owned(), &chapter.title),
        ("subtitle".to_owned(), &chapter.subtitle),
        ("outcome".to_owned(), &chapter.outcome),
    ];
    for (idx, step) in chapter.steps.iter().enumerate() {
        let path = format!("step[{idx}]");
        out.push((format!("{path}.title"), &step.title));
        match &step.body {
            StepBody::Prose { text } => out.push((format!("{path}.text"), text)),
            StepBody::Equation(equation) => {
                out.push((format!("{path}.text"), &equation.text));
                for (idx, symbol) in equation.symbols.iter().enumerate() {
                    out.push((format!("{path}.symbol[{idx}].means"), &symbol.means));
                }
            }
            StepBody::Visualizer(step) => {
                out.push((format!("{path}.text"), &step.text));
                out.push((format!("{path}.alt"), &step.alt));
            }
            StepBody::Figure(figure) => {
                let texts = super::figures::texts(figure);
                out.extend(texts.into_iter().map(|(at, text)| (format!("{path}.{at}"), text)));
            }
            StepBody::Experiment(step) => {
                for (run, path) in runs(step, &path) {
                    let texts =
                        [("text", &run.text), ("explain", &run.explain), ("alt", &run.alt), ("name", &run.name)];
                    out.extend(texts.map(|(key, text)| (format!("{path}.{key}"), text)));
                }
            }
            StepBody::Predict(predict) => texts_of(&predict.question, &path, &mut out),
            StepBody::Check(question) => texts_of(question, &path, &mut out),
            StepBody::Broken { .. } => {}
        }
    }
    for (idx, audit) in chapter.audits.iter().enumerate() {
        for (key, text) in [("claim", &audit.claim), ("source", &audit.source), ("why", &audit.why)] {
            out.push((format!("audit[{idx}].{key}"), text));
        }
    }
    for (idx, question) in chapter.reviews.iter().enumerate() {
        texts_of(question, &format!("review[{idx}]"), &mut out);
    }
    out
}

fn texts_of<'a>(question: &'a Question, path: &str, out: &mut Vec<(String, &'a Localized)>) {
    out.push((format!("{path}.ask"), &question.ask));
    out.push((format!("{path}.explain"), &question.explain));
    for (idx, hint) in question.hints.iter().enumerate() {
        out.push((format!("{path}.hints[{idx}]"), hint));
    }
    match &question.form {
        Form::Number { .. } | Form::Sketch(_) => {}
        Form::Choice { options } | Form::Multi { options } => {
            for (idx, option) in options.iter().enumerate() {
                out.push((format!("{path}.option[{idx}].text"), &option.text));
                out.push((format!("{path}.option[{idx}].why"), &option.why));
            }
        }
        Form::Order { items } => {
            out.extend(items.iter().enumerate().map(|(idx, item)| (format!("{path}.items[{idx}]"), item)));
        }
    }
}
