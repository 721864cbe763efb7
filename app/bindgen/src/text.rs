//! The text version: one plain HTML page for each chapter and language, from the same TOML as the program. Questions
//! fold their answers; answers that a model computes are computed here too.

use crate::guide;
use crate::html::{escape, markdown};
use crate::site::Files;
use anyhow::{Context as _, bail};
use std::fmt::Write as _;
use vramlab_lesson::answer::{Values, draw, substitute, value_of};
use vramlab_lesson::{
    Audit, Chapter, Equation, ExperimentStep, Form, Question, Step, StepBody, SymbolSource, Verdict, figure,
};
use vramlab_units::{FieldError, Lang, Localized, Map, Text, show};

const APP: Text = Text::new("显存实验台 · 文字版", "VRAM Lab, text version");
const ALL: Text = Text::new("全部章节", "All chapters");
const OPEN: Text = Text::new("在实验台里打开", "Open in the workbench");
const OTHER: Text = Text::new("English", "中文");
const YOU_CAN: Text = Text::new("学完能做到", "What you can do afterwards");
const FIGURE: Text = Text::new("图", "Figure");
const EXPERIMENT: Text = Text::new("实验", "Experiment");
const RESULT: Text = Text::new("结果", "What came of it");
const ANSWER: Text = Text::new("答案", "Answer");
const HINT: Text = Text::new("提示", "Hint");
const WHERE: Text = Text::new("其中", "where");
const AUDITS: Text = Text::new("这些说法对吗？", "Are these claims right?");
const SOURCE: Text = Text::new("来源", "Source");
const REVIEWS: Text = Text::new("复习", "Review");
const DRAWN: Text = Text::new("曲线由下面的实验给出。", "The experiment below gives the curve.");
const RIGHT_ORDER: Text = Text::new("正确的顺序", "The right order");
const RIGHT: Text = Text::new("对", "right");
const WRONG: Text = Text::new("不对", "wrong");

/// Every page, by its path.
pub fn pages(style: &str) -> anyhow::Result<Files> {
    let chapters = chapters()?;
    let mut files = Files::new();
    files.insert("text/index.html".to_owned(), index(&chapters, style).into_bytes());
    for chapter in &chapters {
        for lang in Lang::ALL {
            let page = Page { chapter, lang }.html(style).with_context(|| chapter.id.clone())?;
            files.insert(format!("text/{}.{}.html", chapter.id, lang.code()), page.into_bytes());
        }
    }
    files.extend(guide::pages(&titles(&chapters), style));
    Ok(files)
}

/// Every chapter of the curriculum with its titles, and whether it has a page.
fn titles(chapters: &[Chapter]) -> guide::Titles {
    let text = vramlab_content::text("lessons/curriculum.toml").unwrap_or_default();
    let planned = vramlab_lesson::course::planned(text);
    let both = |title: &Localized| Lang::ALL.map(|lang| title.get(lang).to_owned());
    let mut titles: guide::Titles = planned.into_iter().map(|(id, title)| (id, (both(&title), false))).collect();
    titles.extend(
        chapters.iter().map(|chapter| (chapter.id.clone(), (Lang::ALL.map(|lang| title_of(chapter, lang)), true))),
    );
    titles
}

fn chapters() -> anyhow::Result<Vec<Chapter>> {
    let mut out = Vec::new();
    for path in vramlab_content::list("lessons/") {
        let Some(id) = path.strip_prefix("lessons/").and_then(|rest| rest.strip_suffix("/chapter.toml")) else {
            continue;
        };
        let text = vramlab_content::text(path).with_context(|| path.to_owned())?;
        match vramlab_lesson::parse(id, path, text.as_bytes()).chapter {
            Some(chapter) => out.push(chapter),
            None => bail!("{path} cannot be read; `vramlab check` says why"),
        }
    }
    Ok(out)
}

fn eval(model: &str, set: &Map) -> Result<Map, FieldError> {
    vramlab_model::registry::eval(model, set)
}

pub fn code(lang: Lang) -> &'static str {
    if lang == Lang::Zh { "zh-CN" } else { "en" }
}

pub fn document(lang: Lang, title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<link rel=\"stylesheet\" \
         href=\"{style}\">\n</head>\n<body>\n{body}</body>\n</html>\n",
        code(lang),
        escape(title)
    )
}

fn index(chapters: &[Chapter], style: &str) -> String {
    let mut body = format!("<h1>{} · {}</h1>\n", APP.zh, APP.en);
    for lang in Lang::ALL {
        let _ = writeln!(body, "<section lang=\"{}\">\n<h2>{}</h2>\n<ul>", code(lang), ALL.get(lang));
        for chapter in chapters {
            let (id, title) = (&chapter.id, escape(&title_of(chapter, lang)));
            let _ = writeln!(body, "<li><a href=\"{id}.{}.html\">{title}</a></li>", lang.code());
        }
        for (name, title) in [("routes", guide::ROUTES), ("handbook", guide::HANDBOOK)] {
            let _ = writeln!(body, "<li><a href=\"{name}.{}.html\">{}</a></li>", lang.code(), title.get(lang));
        }
        body.push_str("</ul>\n</section>\n");
    }
    let _ = writeln!(body, "<p><a href=\"../index.html\">{} · {}</a></p>", OPEN.zh, OPEN.en);
    document(Lang::Zh, &format!("{} · {}", APP.zh, APP.en), style, &body)
}

fn title_of(chapter: &Chapter, lang: Lang) -> String {
    let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
    format!("{number}{}", chapter.title.get(lang))
}

struct Page<'a> {
    chapter: &'a Chapter,
    lang: Lang,
}

impl Page<'_> {
    fn html(&self, style: &str) -> anyhow::Result<String> {
        let (chapter, lang) = (self.chapter, self.lang);
        let other = lang.other();
        let mut body = format!(
            "<nav><a href=\"index.html\">{}</a><a href=\"../index.html#/ch/{id}?lang={}\">{}</a><a href=\"{id}.{}.html\" \
             lang=\"{}\">{}</a></nav>\n<h1>{}</h1>\n",
            ALL.get(lang),
            lang.code(),
            OPEN.get(lang),
            other.code(),
            code(other),
            OTHER.get(lang),
            escape(&title_of(chapter, lang)),
            id = chapter.id,
        );
        self.paragraph(&mut body, &chapter.subtitle);
        for step in &chapter.steps {
            let _ = writeln!(body, "<section id=\"{}\">\n<h2>{}</h2>", escape(&step.id), escape(step.title.get(lang)));
            self.step(&mut body, step)?;
            body.push_str("</section>\n");
        }
        if !chapter.audits.is_empty() {
            let _ = writeln!(body, "<h2>{}</h2>", AUDITS.get(lang));
            chapter.audits.iter().for_each(|audit| self.audit(&mut body, audit));
        }
        if !chapter.reviews.is_empty() {
            let _ = writeln!(body, "<h2>{}</h2>", REVIEWS.get(lang));
            chapter.reviews.iter().try_for_each(|question| self.question(&mut body, question))?;
        }
        if !chapter.outcome.is_empty() {
            let _ = writeln!(body, "<h2>{}</h2>", YOU_CAN.get(lang));
            self.prose(&mut body, &chapter.outcome);
        }
        Ok(document(lang, &title_of(chapter, lang), style, &body))
    }

    /// Markdown, marked where only the other language has it.
    fn prose(&self, body: &mut String, text: &Localized) {
        let html = markdown(text.get(self.lang), &self.chapter.id, self.lang);
        let shown = text.lang_shown(self.lang);
        if shown == self.lang {
            body.push_str(&html);
        } else {
            let _ = writeln!(body, "<div lang=\"{}\">{html}</div>", code(shown));
        }
    }

    fn paragraph(&self, body: &mut String, text: &Localized) {
        if !text.is_empty() {
            let _ = writeln!(body, "<p>{}</p>", escape(text.get(self.lang)));
        }
    }

    fn step(&self, body: &mut String, step: &Step) -> anyhow::Result<()> {
        match &step.body {
            StepBody::Prose { text } => self.prose(body, text),
            StepBody::Equation(equation) => self.equation(body, equation),
            StepBody::Visualizer(figure) => {
                self.prose(body, &figure.text);
                self.figure(body, FIGURE, &figure.alt);
            }
            StepBody::Figure(figure) => self.author_figure(body, figure)?,
            StepBody::Predict(predict) => self.question(body, &predict.question)?,
            StepBody::Experiment(experiment) => {
                for run in experiment.all() {
                    self.run(body, run);
                }
            }
            StepBody::Check(question) => self.question(body, question)?,
            StepBody::Broken { problem } => bail!("step {} cannot be read: {}", step.id, problem.what),
        }
        Ok(())
    }

    fn run(&self, body: &mut String, run: &ExperimentStep) {
        if !run.name.is_empty() {
            let _ = writeln!(body, "<h3>{}</h3>", escape(run.name.get(self.lang)));
        }
        self.prose(body, &run.text);
        self.figure(body, EXPERIMENT, &run.alt);
        if !run.explain.is_empty() {
            let _ = writeln!(body, "<details><summary>{}</summary>", RESULT.get(self.lang));
            self.prose(body, &run.explain);
            body.push_str("</details>\n");
        }
    }

    fn figure(&self, body: &mut String, kind: Text, alt: &Localized) {
        if !alt.is_empty() {
            let (kind, alt) = (kind.get(self.lang), escape(alt.get(self.lang)));
            let _ = writeln!(body, "<figure><figcaption class=\"kind\">{kind}</figcaption><p>{alt}</p></figure>");
        }
    }

    /// An author's figure at its start: what it shows, its key numbers, its finding.
    fn author_figure(&self, body: &mut String, author: &vramlab_lesson::Figure) -> anyhow::Result<()> {
        self.prose(body, &author.text);
        self.figure(body, FIGURE, &author.alt);
        let picture = figure::picture(author, &Values::new(), &eval)?;
        if !picture.key.is_empty() {
            body.push_str("<dl>\n");
            for key in &picture.key {
                let value = escape(&show::with_unit(key.value, &key.unit));
                let _ = writeln!(body, "<dt>{}</dt><dd>{value}</dd>", escape(key.label.get(self.lang)));
            }
            body.push_str("</dl>\n");
        }
        self.prose(body, &picture.caption);
        let table = figure::rows::rows(&picture.drawn, self.lang, 9, &|value, unit| match unit {
            "%" => show::with_unit(value, unit),
            _ => show::number(value), // the head of the column has the unit
        });
        let cells = |tag: &str, row: &[String]| {
            row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect::<String>()
        };
        let _ = writeln!(body, "<table>\n<tr>{}</tr>", cells("th", &table.heads));
        table.rows.iter().for_each(|row| body.push_str(&format!("<tr>{}</tr>\n", cells("td", row))));
        body.push_str("</table>\n");
        Ok(())
    }

    fn equation(&self, body: &mut String, equation: &Equation) {
        let unit = |unit: &str| if unit == "1" { String::new() } else { format!(" ({})", escape(unit)) };
        let _ = writeln!(
            body,
            "<pre><code>{} = {}</code>{}</pre>\n<p>{}</p>\n<dl>",
            escape(&equation.result),
            escape(&equation.value),
            unit(&equation.result_unit),
            WHERE.get(self.lang)
        );
        for symbol in &equation.symbols {
            let means = escape(symbol.means.get(self.lang));
            let value = match symbol.source {
                SymbolSource::Constant(value) => format!(" = {}", show::number(value)),
                _ => String::new(),
            };
            let name = escape(symbol.shown.as_deref().unwrap_or(&symbol.name));
            let _ = writeln!(body, "<dt><code>{name}</code>{value}{}</dt><dd>{means}</dd>", unit(&symbol.unit));
        }
        body.push_str("</dl>\n");
        self.prose(body, &equation.text);
    }

    fn question(&self, body: &mut String, question: &Question) -> anyhow::Result<()> {
        let lang = self.lang;
        let values = draw(question, 0);
        self.drawn(body, &question.ask, &values);
        if let Form::Choice { options } | Form::Multi { options } = &question.form {
            let items = options.iter().map(|option| option.text.get(lang));
            list(body, "ul", items);
        }
        for hint in &question.hints {
            let _ = writeln!(body, "<details><summary>{}</summary>", HINT.get(lang));
            self.drawn(body, hint, &values);
            body.push_str("</details>\n");
        }
        let _ = writeln!(body, "<details><summary>{}</summary>", ANSWER.get(lang));
        match &question.form {
            Form::Number { answer, unit, .. } => {
                let value = value_of(answer, &values, &eval).with_context(|| question.id.clone())?;
                let unit = if unit == "1" { "" } else { unit };
                let _ = writeln!(body, "<p><strong>{}</strong></p>", escape(&show::with_unit(value, unit)));
            }
            Form::Choice { options } | Form::Multi { options } => {
                body.push_str("<ul>\n");
                for option in options {
                    let verdict = if option.is_right { RIGHT } else { WRONG };
                    let (text, why) = (option.text.get(lang), option.why.get(lang));
                    let _ = writeln!(
                        body,
                        "<li>{} <strong>{}</strong> {}</li>",
                        escape(text),
                        verdict.get(lang),
                        escape(why)
                    );
                }
                body.push_str("</ul>\n");
            }
            Form::Sketch(_) => {
                let _ = writeln!(body, "<p>{}</p>", DRAWN.get(lang));
            }
            Form::Order { items } => {
                let _ = writeln!(body, "<p>{}</p>", RIGHT_ORDER.get(lang));
                list(body, "ol", items.iter().map(|item| item.get(lang)));
            }
        }
        self.drawn(body, &question.explain, &values);
        body.push_str("</details>\n");
        Ok(())
    }

    /// Prose with the drawn parameters in it.
    fn drawn(&self, body: &mut String, text: &Localized, values: &Values) {
        let each = |text: &Option<String>| text.as_ref().map(|text| substitute(text, values));
        self.prose(body, &Localized { zh: each(&text.zh), en: each(&text.en) });
    }

    fn audit(&self, body: &mut String, audit: &Audit) {
        let lang = self.lang;
        body.push_str("<blockquote>\n");
        self.prose(body, &audit.claim);
        body.push_str("</blockquote>\n");
        let (source, verdict) = (escape(audit.source.get(lang)), verdict(audit.verdict).get(lang));
        let _ = writeln!(body, "<p class=\"kind\">{}: {source}</p>", SOURCE.get(lang));
        let _ = writeln!(body, "<details><summary>{}</summary><p><strong>{verdict}</strong></p>", ANSWER.get(lang));
        self.prose(body, &audit.why);
        body.push_str("</details>\n");
    }
}

fn list<'a>(body: &mut String, tag: &str, items: impl Iterator<Item = &'a str>) {
    let _ = writeln!(body, "<{tag}>");
    for item in items {
        let _ = writeln!(body, "<li>{}</li>", escape(item));
    }
    let _ = writeln!(body, "</{tag}>");
}

fn verdict(verdict: Verdict) -> Text {
    match verdict {
        Verdict::True => Text::new("对", "True"),
        Verdict::Assumptions => Text::new("只在某些前提下对", "True only under assumptions"),
        Verdict::Unsupported => Text::new("没有依据", "Unsupported"),
        Verdict::False => Text::new("不对", "False"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(lang: &str) -> String {
        let files = pages("text.css").unwrap();
        String::from_utf8(files[&format!("text/02_access_patterns.{lang}.html")].clone()).unwrap()
    }

    #[test]
    fn every_step_audit_and_review_of_every_chapter_is_there() {
        for chapter in chapters().unwrap() {
            for lang in Lang::ALL {
                let html = Page { chapter: &chapter, lang }.html("text.css").unwrap();
                for step in &chapter.steps {
                    assert!(html.contains(&format!("<section id=\"{}\">", step.id)), "{}", step.id);
                }
                let n_folded = html.matches(&format!("<summary>{}</summary>", ANSWER.get(lang))).count();
                let is_asked = |step: &&Step| matches!(step.body, StepBody::Predict(_) | StepBody::Check(_));
                let n_steps = chapter.steps.iter().filter(is_asked).count();
                assert_eq!(n_folded, n_steps + chapter.audits.len() + chapter.reviews.len());
            }
        }
    }

    #[test]
    fn answers_are_computed() {
        // A warp at stride 2 moves 8 sectors of 32 bytes.
        let answer = format!("<strong>{}</strong>", show::with_unit(256.0, "B"));
        assert!(page("en").contains(&answer) && page("zh").contains(&answer));
    }

    #[test]
    fn the_numbers_of_an_author_s_figure_are_there() {
        let mut n_figures = 0;
        for chapter in chapters().unwrap() {
            let html = Page { chapter: &chapter, lang: Lang::En }.html("text.css").unwrap();
            for step in &chapter.steps {
                let StepBody::Figure(author) = &step.body else { continue };
                n_figures += 1;
                let section = html.split(&format!("<section id=\"{}\">", step.id)).nth(1).unwrap();
                let section = section.split("</section>").next().unwrap();
                assert!(section.contains("<table>"), "{}", step.id);
                for key in figure::picture(author, &Values::new(), &eval).unwrap().key {
                    let value = escape(&show::with_unit(key.value, &key.unit));
                    assert!(section.contains(&format!("<dd>{value}</dd>")), "{}: {value}", step.id);
                }
            }
        }
        assert!(n_figures >= 1, "the primer's law is a figure");
    }

    #[test]
    fn the_languages_link_to_each_other() {
        assert!(
            page("en").contains("href=\"02_access_patterns.zh.html\"") && page("en").contains("<html lang=\"en\">")
        );
        assert!(
            page("zh").contains("href=\"02_access_patterns.en.html\"") && page("zh").contains("<html lang=\"zh-CN\">")
        );
    }
}
