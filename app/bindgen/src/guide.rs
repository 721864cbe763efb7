//! The text version of the ways through the course: routes with their tasks, and the handbook of symptoms. From the same
//! files as the program.

use crate::html::escape;
use crate::site::Files;
use crate::text::{code, document};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use vramlab_lesson::course::{Advice, Chapters, Course, Handbook, Known, Task};
use vramlab_units::{Lang, Text};

pub const ROUTES: Text = Text::new("路线与任务", "Routes and tasks");
pub const HANDBOOK: Text = Text::new("症状手册", "From symptom to cause");
const INDEX: Text = Text::new("全部章节", "All chapters");
const MECHANISM: Text = Text::new("机制", "Mechanism");
const STRATEGY: Text = Text::new("策略", "Strategy");
const EXIT: Text = Text::new("出口", "Exit");
const MEASURE: Text = Text::new("量这个来确认", "Measure this to be sure");
const SOURCE: Text = Text::new("来源", "Source");
const LEARN: Text = Text::new("讲它的章节", "Chapters that explain it");
const NOT_WRITTEN: Text = Text::new("还没写", "not written yet");

/// The titles of chapters, and which of them have a page.
pub type Titles = BTreeMap<String, ([String; 2], bool)>;

/// Both pages in both languages, by their path.
pub fn pages(titles: &Titles, style: &str) -> Files {
    let text = |path| vramlab_content::text(path).unwrap_or_default();
    let known = Known::default();
    let course = Course::read("routes.toml", text("lessons/routes.toml"), &known).content;
    let handbook = Handbook::read("handbook.toml", text("lessons/handbook.toml"), &known, &[]).content;
    let mut files = Files::new();
    for lang in Lang::ALL {
        let routes = document(lang, ROUTES.get(lang), style, &routes(&course, titles, lang));
        files.insert(format!("text/routes.{}.html", lang.code()), routes.into_bytes());
        let handbook = document(lang, HANDBOOK.get(lang), style, &symptoms(&handbook, titles, lang));
        files.insert(format!("text/handbook.{}.html", lang.code()), handbook.into_bytes());
    }
    files
}

fn head(name: &str, title: Text, lang: Lang) -> String {
    let other = lang.other();
    format!(
        "<nav><a href=\"index.html\">{}</a><a href=\"{name}.{}.html\" lang=\"{}\">{}</a></nav>\n<h1>{}</h1>\n",
        INDEX.get(lang),
        other.code(),
        code(other),
        title.get(other),
        title.get(lang)
    )
}

/// A chapter, as a link where it has a page.
fn chapter(id: &str, titles: &Titles, lang: Lang) -> String {
    let Some((title, is_written)) = titles.get(id) else { return escape(id) };
    let title = escape(&title[usize::from(lang == Lang::En)]);
    if *is_written {
        format!("<a href=\"{id}.{}.html\">{title}</a>", lang.code())
    } else {
        format!("{title} <small>{}</small>", NOT_WRITTEN.get(lang))
    }
}

fn routes(course: &Course, titles: &Titles, lang: Lang) -> String {
    let mut body = head("routes", ROUTES, lang);
    for route in &course.routes {
        let (id, title, text) = (&route.id, escape(route.title.get(lang)), escape(route.text.get(lang)));
        let _ = writeln!(body, "<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{text}</p>\n<ol>");
        match &route.stops {
            Chapters::Plain(ids) => {
                for id in ids {
                    let _ = writeln!(body, "<li>{}</li>", chapter(id, titles, lang));
                }
            }
            Chapters::Tasks(ids) => {
                for task in ids.iter().filter_map(|id| course.task(id)) {
                    let _ = writeln!(body, "<li><a href=\"#{}\">{}</a></li>", task.id, escape(task.title.get(lang)));
                }
            }
        }
        body.push_str("</ol>\n</section>\n");
    }
    course.tasks.iter().for_each(|task| task_html(&mut body, task, titles, lang));
    body
}

fn task_html(body: &mut String, task: &Task, titles: &Titles, lang: Lang) {
    let text = |text: &vramlab_units::Localized| escape(text.get(lang));
    let _ = writeln!(
        body,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<dl>",
        task.id,
        text(&task.title),
        text(&task.asks)
    );
    for (name, what) in [(MECHANISM, &task.mechanism), (STRATEGY, &task.strategy), (EXIT, &task.exit)] {
        let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", name.get(lang), text(what));
    }
    body.push_str("</dl>\n<ul>\n");
    for (id, part) in &task.chapters {
        let part = if part.is_empty() { String::new() } else { format!(" ({})", text(part)) };
        let _ = writeln!(body, "<li>{}{part}</li>", chapter(id, titles, lang));
    }
    body.push_str("</ul>\n</section>\n");
}

fn symptoms(handbook: &Handbook, titles: &Titles, lang: Lang) -> String {
    let mut body = head("handbook", HANDBOOK, lang);
    for symptom in &handbook.symptoms {
        let (id, title) = (&symptom.id, escape(symptom.title.get(lang)));
        let _ = writeln!(body, "<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{}</p>", escape(symptom.text.get(lang)));
        ask_html(&mut body, handbook, &symptom.first, lang, 8);
        body.push_str("</section>\n");
    }
    handbook.advice.iter().for_each(|advice| advice_html(&mut body, advice, titles, lang));
    body
}

/// A question with its answers, each leading to the next question or to an advice below.
fn ask_html(body: &mut String, handbook: &Handbook, id: &str, lang: Lang, fuel: usize) {
    let Some(ask) = handbook.asks.iter().find(|ask| ask.id == id).filter(|_| fuel > 0) else { return };
    let _ = writeln!(body, "<p><strong>{}</strong> {}</p>\n<ul>", escape(ask.ask.get(lang)), escape(ask.how.get(lang)));
    for option in &ask.options {
        let text = escape(option.text.get(lang));
        match handbook.advice.iter().find(|advice| advice.id == option.to) {
            Some(advice) => {
                let title = escape(advice.title.get(lang));
                let _ = writeln!(body, "<li>{text} → <a href=\"#{}\">{title}</a></li>", advice.id);
            }
            None => {
                let _ = write!(body, "<li>{text}");
                ask_html(body, handbook, &option.to, lang, fuel - 1);
                body.push_str("</li>\n");
            }
        }
    }
    body.push_str("</ul>\n");
}

fn advice_html(body: &mut String, advice: &Advice, titles: &Titles, lang: Lang) {
    let text = |text: &vramlab_units::Localized| escape(text.get(lang));
    let _ = writeln!(
        body,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>",
        advice.id,
        text(&advice.title),
        text(&advice.text)
    );
    let _ = writeln!(body, "<p><strong>{}</strong> {}</p>", MEASURE.get(lang), text(&advice.measure));
    if !advice.code.is_empty() {
        let _ = writeln!(body, "<pre><code>{}</code></pre>", escape(&advice.code));
    }
    if !advice.source.is_empty() {
        let _ = writeln!(body, "<p class=\"kind\">{}: {}</p>", SOURCE.get(lang), text(&advice.source));
    }
    let _ = writeln!(body, "<p>{}</p>\n<ul>", LEARN.get(lang));
    for id in &advice.chapters {
        let _ = writeln!(body, "<li>{}</li>", chapter(id, titles, lang));
    }
    body.push_str("</ul>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symptom_task_and_advice_is_there_and_links_lead_somewhere() {
        let titles = Titles::from([("05_peak".to_owned(), (["峰值".to_owned(), "The peak".to_owned()], false))]);
        let files = pages(&titles, "text.css");
        assert_eq!(files.len(), 4);
        for (path, bytes) in &files {
            let html = String::from_utf8(bytes.clone()).unwrap();
            for link in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(html.contains(&format!("id=\"{link}\"")), "{path}: #{link} leads nowhere");
            }
        }
        let page = |path: &str| String::from_utf8(files[path].clone()).unwrap();
        let handbook = page("text/handbook.en.html");
        assert!(handbook.matches("<section id=").count() >= 40, "symptoms and advice");
        assert!(handbook.contains("The peak <small>not written yet</small>"));
        assert!(page("text/routes.zh.html").contains("id=\"task-6\""));
    }
}
