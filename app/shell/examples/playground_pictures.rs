//! Pictures of the playground in its states: `cargo run -p vramlab-shell --example playground_pictures -- FOLDER`. What a GPU would
//! say is made up here and shown to nobody.

#![expect(clippy::unwrap_used, reason = "a tool for contributors")]

use egui::vec2;
use std::path::Path;
use vramlab_gpu::RunError;
use vramlab_gpu::build::{Build, Taken};
use vramlab_kit::headless::Headless;
use vramlab_kit::{Theme, Tokens};
use vramlab_shell::platform::BackendState;
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::{App, Still};
use vramlab_trace::{Backend, OracleOutcome, Point};
use vramlab_units::{Lang, Localized};
use vramlab_views::playground::desk::Desk;
use vramlab_views::playground::device::Rung;

const SLUG: &str = "exercise_transpose";

/// A name, the kernel, and what the reader has done with it.
type State = (&'static str, &'static str, fn(&mut Desk));

const STATES: [State; 11] = [
    ("list", "", |_| ()),
    ("fresh", SLUG, |_| ()),
    ("checked", SLUG, Desk::check),
    ("endless", SLUG, |desk| {
        desk.source = desk.source.replacen("{\n", "{\n    while (true) { }\n", 1);
        desk.typed();
        desk.check();
    }),
    ("compiled", SLUG, |desk| {
        counted(desk);
        desk.device.point = None;
    }),
    ("plain", "stencil_2d", Desk::check),
    ("plain_refused", "gemm_f32", Desk::check),
    ("hosted", "capstone", |_| ()),
    ("fault", SLUG, |desk| {
        desk.source = desk.source.replacen(';', "", 1);
        desk.typed();
        desk.check();
        desk.device.begin(&desk.source, Default::default());
        let log = format!("{SLUG}.cu(5): error: expected a \";\"\n1 error detected in the compilation.");
        let options = vec!["--gpu-architecture=sm_90".to_owned()];
        desk.device.fail(RunError::Compile { arch: "sm_90".to_owned(), options, log });
    }),
    ("solved", SLUG, |desk| {
        desk.toggle_solution();
        desk.check();
        counted(desk);
    }),
    ("refused", SLUG, |desk| {
        desk.refuse(10 << 20);
        desk.n_hints = 2;
        desk.find = Some(Default::default());
    }),
];

fn counted(desk: &mut Desk) {
    desk.device.begin(&desk.source, Default::default());
    let entry = "transpose".to_owned();
    let taken =
        Taken { entry, registers: 22, static_bytes: 4224, threads: 256, spilled: Some((0, 0)), ..Taken::default() };
    let ptx = ".visible .entry transpose(…)\n".to_owned();
    let (arch, entries) = ("sm_90".to_owned(), vec![taken.with_occupancy(90)]);
    desk.device.build = Some(Build { arch, log: String::new(), entries, ptx });
    desk.device.rung = Some(Rung { id: "cupti".to_owned(), why: String::new() });
    let counters = desk.exercise.as_ref().unwrap().counters();
    desk.device.point = Some(Point {
        series: "edited".to_owned(),
        params: Default::default(),
        samples_ns: vec![5_210.0; 3],
        readings: Default::default(),
        counters: counters.into_iter().map(|name| (name, 8192.0)).collect(),
        telemetry: Default::default(),
        oracle: Some(OracleOutcome::Passed { n_checked: 4096, worst_error: 0.0 }),
        invalid: None,
    });
}

fn picture(folder: &Path, state: State, lang: Lang, theme: Theme, width: f32) {
    let choice = if theme == Theme::Dark { ThemeChoice::Dark } else { ThemeChoice::Light };
    let mut still = Still::with_settings(&Settings { lang: Some(lang), theme: choice, ..Settings::default() });
    let (name, slug, act) = state;
    still.route = Some(if slug.is_empty() { "/playground".to_owned() } else { format!("/playground/{slug}") });
    if name == "compiled" {
        let why = Localized::both("没有找到 NVIDIA 驱动", "no NVIDIA driver was found");
        let state = BackendState::Unavailable { why: why.clone(), fix: why };
        still.inside.borrow_mut().backends.insert(Backend::Cuda, state);
    }
    let mut app = App::new(Box::new(still));
    let fonts = vramlab_kit::fonts::definitions(|path| vramlab_content::get(path)?.here().map(Into::into));
    let mut screen = Headless::new(fonts, &Tokens::new(theme, 1.0), vec2(width, 1900.0), 1.0);
    screen.settle(|ui| app.ui(ui));
    if let Some(desk) = app.playground().desk(slug) {
        act(&mut desk.borrow_mut());
    }
    let image = screen.picture(|ui| app.ui(ui));
    let (lang, theme) = (lang.code(), if theme == Theme::Dark { "dark" } else { "light" });
    let file = folder.join(format!("{name}-{lang}-{theme}-{width}.png"));
    std::fs::write(file, vramlab_kit::raster::png(&image).unwrap()).unwrap();
}

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "playground_pictures".to_owned());
    std::fs::create_dir_all(&folder).unwrap();
    for state in STATES {
        for (lang, theme) in
            [(Lang::Zh, Theme::Light), (Lang::En, Theme::Dark), (Lang::En, Theme::Light), (Lang::Zh, Theme::Dark)]
        {
            for width in [1440.0, 390.0] {
                picture(Path::new(&folder), state, lang, theme, width);
            }
        }
    }
}
