//! `picture`: a page as PNG, in any language, theme and width, without a display or a GPU.

use super::{Common, Exit};
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use vramlab_kit::headless::Headless;
use vramlab_kit::{Theme, Tokens};
use vramlab_shell::platform::Event;
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::{App, Still};
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
    /// A lesson folder whose chapters can be shown too.
    #[arg(long, value_name = "DIR")]
    lessons: Option<PathBuf>,
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
    let png = page_of(&route(&args.page), args.lessons.as_deref(), lang, args.theme, size, args.scale)?;
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
        "start" => "/".to_owned(),
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

/// A page of the program as PNG.
pub fn page(route: &str, lang: Lang, theme: Theme, size: [f32; 2], scale: f32) -> anyhow::Result<Vec<u8>> {
    page_of(route, None, lang, theme, size, scale)
}

/// A page of the program, or of a lesson folder, as PNG.
fn page_of(
    route: &str,
    lessons: Option<&Path>,
    lang: Lang,
    theme: Theme,
    size: [f32; 2],
    scale: f32,
) -> anyhow::Result<Vec<u8>> {
    let settings = Settings {
        lang: Some(lang),
        theme: if theme == Theme::Dark { ThemeChoice::Dark } else { ThemeChoice::Light },
        ..Settings::default()
    };
    let mut still = Still::with_settings(&settings);
    match lessons {
        None => still.route = Some(route.to_owned()),
        Some(dir) => {
            let files = crate::watch::files(dir).with_context(|| format!("cannot read {}", dir.display()))?;
            let opened = Event::Lessons { root: dir.display().to_string(), files };
            still.inside.borrow_mut().events.extend([opened, Event::Route(route.to_owned())]);
        }
    }
    still.lang = Some(lang);
    let mut app = App::new(Box::new(still));
    // A picture shows the results; the window asks for a prediction first.
    app.reveals_all = true;
    let tokens = Tokens::new(theme, 1.0);
    let mut headless = Headless::new(fonts(), &tokens, egui::vec2(size[0], size[1]), scale);
    let image = headless.picture(|ui| app.ui(ui));
    vramlab_kit::raster::png(&image).context("the picture could not be encoded")
}
