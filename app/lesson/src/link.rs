//! Links and images in lesson text. A lesson is untrusted: what leaves the pack is refused here, once, for the checker
//! and for the reader alike.

/// Where a link in a lesson leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// `step:ID`
    Step(String),
    /// `chapter:ID` or `chapter:ID/STEP`
    Chapter { id: String, step: Option<String> },
    /// `kernel:NAME`, a kernel of the course in the playground.
    Kernel(String),
    /// `https://…`, opened in the browser after a click.
    Web(String),
    /// A file of the chapter's folder.
    File(String),
}

/// Why a link or an image is refused, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub why: String,
    pub help: &'static str,
}

fn refused<T>(why: impl Into<String>, help: &'static str) -> Result<T, Refused> {
    Err(Refused { why: why.into(), help })
}

const INSIDE: &str = "put the file into the chapter's folder and name it from there, as in figures/sectors.png";

impl Link {
    pub fn parse(to: &str) -> Result<Self, Refused> {
        if let Some(id) = to.strip_prefix("step:") {
            return Ok(Self::Step(id.to_owned()));
        }
        if let Some(rest) = to.strip_prefix("chapter:") {
            let (id, step) = rest.split_once('/').map_or((rest, None), |(id, step)| (id, Some(step.to_owned())));
            return Ok(Self::Chapter { id: id.to_owned(), step });
        }
        if let Some(name) = to.strip_prefix("kernel:") {
            return Ok(Self::Kernel(name.to_owned()));
        }
        if to.starts_with("https://") || to.starts_with("http://") {
            return Ok(Self::Web(to.to_owned()));
        }
        if let Some(id) = to.strip_prefix('#') {
            return refused(format!("the link \"#{id}\" leads nowhere"), "a step is linked as step:ID");
        }
        match scheme(to) {
            Some(scheme) => {
                let why = format!("links of the kind \"{scheme}:\" are not followed");
                refused(why, "the kinds are step:, chapter:, kernel:, https: and files of the chapter's folder")
            }
            None => inside(to).map(|path| Self::File(path.to_owned())),
        }
    }
}

/// The path of an image inside the chapter's folder.
pub fn image(to: &str) -> Result<&str, Refused> {
    if let Some(scheme) = scheme(to) {
        return refused(format!("an image may not come from \"{scheme}:\""), INSIDE);
    }
    let path = inside(to)?;
    if !path.to_ascii_lowercase().ends_with(".png") {
        return refused(format!("\"{path}\" is not a PNG"), "save the picture as PNG; no other format is drawn");
    }
    Ok(path)
}

/// A relative path that stays inside its folder, on every platform.
pub fn inside(path: &str) -> Result<&str, Refused> {
    let parts = || path.split('/');
    if path.is_empty() {
        return refused("the path is empty", INSIDE);
    }
    if path.starts_with('/') || path.contains('\\') || scheme(path).is_some() {
        return refused(format!("\"{path}\" is not a path inside the chapter's folder"), INSIDE);
    }
    if parts().any(|part| part == "..") {
        return refused(format!("\"{path}\" leaves the chapter's folder"), INSIDE);
    }
    if path.len() > 255 || parts().any(|part| part.is_empty() || part == ".") || path.chars().any(char::is_control) {
        return refused(format!("\"{}\" is not a usable path", crate::read::shorten(path)), INSIDE);
    }
    Ok(path)
}

fn scheme(to: &str) -> Option<&str> {
    let (scheme, _) = to.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_five_forms() {
        assert_eq!(Link::parse("step:map"), Ok(Link::Step("map".to_owned())));
        let chapter =
            |id: &str, step: Option<&str>| Ok(Link::Chapter { id: id.to_owned(), step: step.map(str::to_owned) });
        assert_eq!(Link::parse("chapter:02_access_patterns"), chapter("02_access_patterns", None));
        assert_eq!(Link::parse("chapter:02_access_patterns/map"), chapter("02_access_patterns", Some("map")));
        assert_eq!(Link::parse("kernel:transpose"), Ok(Link::Kernel("transpose".to_owned())));
        assert_eq!(Link::parse("https://x.org/a"), Ok(Link::Web("https://x.org/a".to_owned())));
        assert_eq!(Link::parse("data/rows.csv"), Ok(Link::File("data/rows.csv".to_owned())));
        for bad in
            ["javascript:alert(1)", "file:///etc/passwd", "mailto:a@b.c", "data:x", "#map", "ftp://x", "C:/x", ""]
        {
            assert!(Link::parse(bad).is_err(), "{bad}");
        }
    }

    /// L8
    #[test]
    fn images_stay_in_the_chapter() {
        assert_eq!(image("figures/a.png"), Ok("figures/a.png"));
        for bad in [
            "../../etc/passwd",
            "a/../../b.png",
            "/etc/passwd",
            "file:///etc/passwd",
            "http://x.org/a.png",
            "https://x.org/a.png",
            "//x.org/a.png",
            "C:\\a.png",
            "C:/a.png",
            "a\\..\\b.png",
            "data:image/png;base64,x",
            "a//b.png",
            "./a.png",
            "a.svg",
            "a\0.png",
            "",
        ] {
            assert!(image(bad).is_err(), "{bad}");
        }
    }
}
