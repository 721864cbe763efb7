//! Lesson Markdown as HTML. Raw HTML of a lesson is shown as text; links inside the course lead to the text version.

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};
use vramlab_lesson::link::Link;
use vramlab_units::Lang;

/// `markdown` as HTML blocks.
pub fn markdown(markdown: &str, chapter: &str, lang: Lang) -> String {
    let mut out = String::new();
    let events = Parser::new_ext(markdown, vramlab_lesson::markdown::options()).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: address(&dest_url, chapter, lang), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = match vramlab_lesson::link::image(&dest_url) {
                Ok(path) => format!("../lessons/{chapter}/{path}").into(),
                Err(_) => CowStr::from(""),
            };
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        other => other,
    });
    html::push_html(&mut out, events);
    out
}

/// Where a link of a lesson leads on the text pages; what the lesson may not link to leads nowhere.
fn address(to: &str, chapter: &str, lang: Lang) -> CowStr<'static> {
    let page = |id: &str| format!("{id}.{}.html", lang.code());
    let address = match Link::parse(to) {
        Ok(Link::Step(id)) => format!("#{id}"),
        Ok(Link::Chapter { id, step }) => step.map_or_else(|| page(&id), |step| format!("{}#{step}", page(&id))),
        Ok(Link::Kernel(name)) => format!("../index.html#/playground/{name}?lang={}", lang.code()),
        Ok(Link::Web(url)) => url,
        Ok(Link::File(path)) => format!("../lessons/{chapter}/{path}"),
        Err(_) => "#".to_owned(),
    };
    address.into()
}

/// Text for between tags and in quoted attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn en(text: &str) -> String {
        markdown(text, "02_x", Lang::En)
    }

    #[test]
    fn raw_html_is_shown_and_not_run() {
        for text in ["a <script>alert(1)</script> b", "<script>\nalert(1)\n</script>", "<img src=x onerror=y>"] {
            let html = en(text);
            assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
            assert!(html.contains("&lt;"), "{html}");
        }
    }

    #[test]
    fn links_lead_to_text_pages_or_nowhere() {
        assert!(en("[a](step:stride)").contains("href=\"#stride\""));
        assert!(en("[a](chapter:03_reuse/tile)").contains("href=\"03_reuse.en.html#tile\""));
        assert!(en("[a](kernel:transpose)").contains("href=\"../index.html#/playground/transpose?lang=en\""));
        assert!(en("[a](https://example.org/)").contains("href=\"https://example.org/\""));
        assert!(en("[a](javascript:alert)").contains("href=\"#\""));
        assert!(en("![a](../../secret.png)").contains("src=\"\""));
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
