//! Pictures of the notebook: `cargo run -p vramlab-shell --example notebook_pictures -- FOLDER`. The runs are the
//! recorded ones; the candidate is made 2 % faster here, to show what a difference looks like.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for contributors")]

use egui::{Event, Modifiers, PointerButton, Pos2, pos2, vec2};
use std::path::Path;
use vramlab_kit::headless::Headless;
use vramlab_kit::{Theme, Tokens};
use vramlab_shell::notebook::Notebook;
use vramlab_shell::settings::{Settings, ThemeChoice};
use vramlab_shell::{App, Library, Still};
use vramlab_trace::Run;
use vramlab_units::Lang;

fn run(path: &str) -> Run {
    let bytes = vramlab_content::get(path).and_then(vramlab_content::Content::here).unwrap();
    vramlab_trace::file::read(bytes).unwrap().run
}

const STRIDE: &str = "assets/traces/h200/strided_read.stride.vltrace";

/// Two runs of the stride sweep, the second faster, and one of every other trace.
fn notebook(lang: Lang) -> Notebook {
    let library = Library::built_in();
    let mut out = Notebook::default();
    let mut add = |run: Run, hypothesis: &str| {
        let id = run.experiment.clone();
        let mut entry = library.notebook_entry(&id, run, lang);
        entry.hypothesis = hypothesis.to_owned();
        out.push(entry);
    };
    for path in vramlab_content::list("assets/traces/") {
        if path.ends_with(".vltrace") && path != STRIDE {
            add(run(path), "");
        }
    }
    add(run(STRIDE), "");
    let mut faster = run(STRIDE);
    faster.date = "2026-12-01".to_owned();
    for point in faster.points.iter_mut().take(6) {
        point.samples_ns.iter_mut().for_each(|ns| *ns *= 0.98);
    }
    let words = match lang {
        Lang::Zh => "新驱动把时钟锁在 1980 MHz，步长小的点应该快一点",
        Lang::En => "The new driver holds 1980 MHz, so small strides should gain a little",
    };
    add(faster, words);
    out
}

struct Desk {
    app: App,
    screen: Headless,
}

impl Desk {
    fn open(lang: Lang, theme: Theme, size: [f32; 2], query: &str, has_runs: bool) -> Self {
        let choice = if theme == Theme::Dark { ThemeChoice::Dark } else { ThemeChoice::Light };
        let mut still = Still::with_settings(&Settings { lang: Some(lang), theme: choice, ..Settings::default() });
        still.route = Some(format!("/ch/02_access_patterns/step/stride{query}"));
        let mut app = App::new(Box::new(still));
        app.reveals_all = true;
        if has_runs {
            app.import_notebook("runs", notebook(lang).to_json().as_bytes());
        }
        let fonts = vramlab_kit::fonts::definitions(|path| vramlab_content::get(path)?.here().map(Into::into));
        let screen = Headless::new(fonts, &Tokens::new(theme, 1.0), vec2(size[0], size[1]), 1.0);
        Self { app, screen }
    }

    fn click(&mut self, at: Pos2) {
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        for events in [vec![Event::PointerMoved(at)], vec![button(true)], vec![button(false)], vec![Event::PointerGone]]
        {
            let app = &mut self.app;
            let _ = self.screen.frame(events, |ui| app.ui(ui));
        }
    }

    fn save(&mut self, folder: &Path, name: &str) {
        let app = &mut self.app;
        let image = self.screen.picture(|ui| app.ui(ui));
        let path = folder.join(format!("{name}.png"));
        std::fs::write(&path, vramlab_kit::raster::png(&image).unwrap()).unwrap();
        println!("{}", path.display());
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "target".to_owned());
    // A place in the address (`?lens=dram`), then places to click in the wide and in the narrow window.
    let query = args.next().unwrap_or_default();
    let numbers = |text: Option<String>| -> Vec<f32> {
        text.unwrap_or_default().split(',').filter_map(|number| number.parse().ok()).collect()
    };
    let clicks = [numbers(args.next()), numbers(args.next())];
    let folder = Path::new(&folder);
    let looks = [
        (Lang::Zh, Theme::Light, [1440.0, 900.0], "zh-light-1440"),
        (Lang::En, Theme::Dark, [1440.0, 900.0], "en-dark-1440"),
        (Lang::En, Theme::Light, [390.0, 844.0], "en-light-390"),
        (Lang::Zh, Theme::Dark, [390.0, 844.0], "zh-dark-390"),
    ];
    for (lang, theme, size, name) in looks {
        for has_runs in [false, true] {
            let mut desk = Desk::open(lang, theme, size, &query, has_runs);
            for at in clicks[usize::from(size[0] < 1000.0)].chunks(2) {
                desk.click(pos2(at[0], at[1]));
            }
            desk.save(folder, &format!("notebook-{name}-{}", if has_runs { "runs" } else { "empty" }));
        }
    }
}
