//! `picture`: a page as PNG, in any language, theme and width, without a display or a GPU.

use super::fault::Fault;
use super::{Common, Exit};
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use vramlab_kit::headless::Headless;
use vramlab_kit::{Theme, Tokens};
use vramlab_lesson::pack::{Limits, Pack};
use vramlab_shell::platform::Event;
use vramlab_shell::route::{Page, Route};
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::{App, Library, Still};
use vramlab_units::Lang;

#[derive(clap::Args)]
pub struct Args {
    /// The page, as links write it: `start`, `02_access_patterns`, `02_access_patterns/stride`, `/settings`.
    page: String,
    /// The file to write.
    #[arg(long, value_name = "F.png")]
    out: PathBuf,
    /// light or dark.
    #[arg(long, default_value = "light", value_parser = theme)]
    theme: Theme,
    /// Width in points.
    #[arg(long, default_value_t = 1440, value_parser = clap::value_parser!(u32).range(320..=4000))]
    width: u32,
    /// Height in points.
    #[arg(long, default_value_t = 900, value_parser = clap::value_parser!(u32).range(200..=20000))]
    height: u32,
    /// Pixels a point.
    #[arg(long, default_value_t = 1.0, value_parser = scale)]
    scale: f32,
    /// Chapters that can be shown too: a lesson folder, a single chapter or a pack.
    #[arg(long, value_name = "DIR|ZIP")]
    lessons: Option<PathBuf>,
    /// A file that the page is opened with, e.g. a snapshot (may be repeated).
    #[arg(long, value_name = "FILE")]
    open: Vec<PathBuf>,
    /// As a reader first sees the page: what predictions ask for is still held back.
    #[arg(long)]
    fresh: bool,
}

fn theme(text: &str) -> Result<Theme, String> {
    Theme::from_code(text).ok_or_else(|| format!("\"{text}\" is not a theme; it must be light or dark"))
}

fn scale(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if (0.5..=4.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is not allowed; it must be from 0.5 to 4"))
    }
}

pub fn run(args: &Args, common: &Common) -> anyhow::Result<Exit> {
    let lang = common.lang.unwrap_or_default();
    let size = [args.width as f32, args.height as f32];
    let look = Look { lang, theme: args.theme, size, scale: args.scale, is_fresh: args.fresh };
    let files = args.open.iter().map(|path| file(path)).collect::<anyhow::Result<Vec<Event>>>()?;
    let png = page_of(&args.page, args.lessons.as_deref(), files, look)?;
    std::fs::write(&args.out, png).with_context(|| format!("cannot write the picture: {}", args.out.display()))?;
    println_path(&args.out);
    Ok(Exit::Fine)
}

#[expect(clippy::print_stdout, reason = "the path is this command's data")]
fn println_path(path: &Path) {
    println!("{}", path.display());
}

/// The route of a page as people type it.
fn route(page: &str) -> String {
    match page {
        "" | "start" => "/".to_owned(),
        page if page.starts_with(['/', '#']) => page.to_owned(),
        page => match page.split_once('/') {
            Some((chapter, step)) => format!("/ch/{chapter}/step/{step}"),
            None => format!("/ch/{page}"),
        },
    }
}

/// Every font of the program.
fn fonts() -> egui::FontDefinitions {
    vramlab_kit::fonts::definitions(|path| vramlab_content::get(path)?.here().map(Into::into))
}

/// How a picture is taken.
#[derive(Clone, Copy)]
struct Look {
    lang: Lang,
    theme: Theme,
    size: [f32; 2],
    scale: f32,
    /// Nothing is revealed before a prediction.
    is_fresh: bool,
}

/// A page of the program as PNG.
pub fn page(route: &str, lang: Lang, theme: Theme, size: [f32; 2], scale: f32) -> anyhow::Result<Vec<u8>> {
    page_of(route, None, Vec::new(), Look { lang, theme, size, scale, is_fresh: false })
}

/// A page of the program, or of a lesson folder, as PNG.
fn page_of(page: &str, lessons: Option<&Path>, files: Vec<Event>, look: Look) -> anyhow::Result<Vec<u8>> {
    let settings = Settings {
        lang: Some(look.lang),
        theme: if look.theme == Theme::Dark { ThemeChoice::Dark } else { ThemeChoice::Light },
        ..Settings::default()
    };
    let route = route(page);
    let mut library = Library::built_in();
    let opened = lessons.map(|path| opened(path, &mut library)).transpose()?;
    is_there(&library, &route)?;
    let mut still = Still::with_settings(&settings);
    match opened {
        None => still.route = Some(route),
        Some(opened) => still.inside.borrow_mut().events.extend([opened, Event::Route(route)]),
    }
    still.lang = Some(look.lang);
    if files.len() > 1 {
        still.inside.borrow_mut().events.push(Event::Several(files.len()));
    }
    still.inside.borrow_mut().events.extend(files);
    let mut app = App::new(Box::new(still));
    // A picture shows the results; the window asks for a prediction first.
    app.reveals_all = !look.is_fresh;
    let tokens = Tokens::new(look.theme, 1.0);
    let mut headless = Headless::new(fonts(), &tokens, egui::vec2(look.size[0], look.size[1]), look.scale);
    let image = headless.picture(|ui| app.ui(ui));
    vramlab_kit::raster::png(&image).context("the picture could not be encoded")
}

/// A file as the window would get it.
fn file(path: &Path) -> anyhow::Result<Event> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Event::File { name, bytes })
}

/// Reads the lessons at `path` into the library; what comes back opens them in the program.
fn opened(path: &Path, library: &mut Library) -> anyhow::Result<Event> {
    let shown = path.display().to_string();
    if path.is_dir() {
        let files = crate::watch::files(path).with_context(|| format!("cannot read {shown}"))?;
        library.open_folder(&shown, files.clone()).map_err(Fault::usage)?;
        return Ok(Event::Lessons { root: shown, files });
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let pack = Pack::from_zip(&name, &bytes, Limits::default()).map_err(|error| Fault::usage(error.to_string()))?;
    library.open_pack(&pack).map_err(Fault::usage)?;
    Ok(Event::File { name, bytes })
}

/// A page that does not exist is a mistake on the command line, not a picture of an excuse.
fn is_there(library: &Library, route: &str) -> Result<(), Fault> {
    let (parsed, notes) = Route::parse(route);
    if !notes.is_empty() {
        let help = "start, a chapter, CHAPTER/STEP, or a route such as /settings";
        return Err(Fault::usage(format!("there is no page {}", notes.join(", "))).help(help));
    }
    let Page::Chapter { chapter: id, step } = parsed.page else { return Ok(()) };
    let Some(chapter) = library.chapter(&id) else {
        let rows = library.search("");
        let is_planned = rows.iter().any(|row| row.id == id);
        return if is_planned { Ok(()) } else { Err(Fault::unknown("chapter", &id, library.chapter_ids())) };
    };
    let steps: Vec<&str> = chapter.steps.iter().map(|step| step.id.as_str()).collect();
    match step.filter(|step| !steps.contains(&step.as_str())) {
        Some(step) => Err(Fault::unknown("step", &step, steps)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_does_not_exist_is_an_error_with_a_hint() {
        let library = Library::built_in();
        for page in ["", "start", "02_access_patterns", "02_access_patterns/stride", "/settings", "#/ch/12_roofline"] {
            assert!(is_there(&library, &route(page)).is_ok(), "{page}");
        }
        let help = |page: &str| is_there(&library, &route(page)).expect_err(page).help.unwrap_or_default();
        assert!(help("nosuch").contains("02_access_patterns"), "{}", help("nosuch"));
        assert_eq!(help("02_acess_patterns"), "did you mean \"02_access_patterns\"?");
        assert_eq!(help("02_access_patterns/stridee"), "did you mean \"stride\"?");
        assert!(help("/nosuch").contains("/settings"));
    }
}
