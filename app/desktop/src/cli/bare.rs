//! The program without a display and without a subcommand: its main job in the terminal, within 15 seconds. What this
//! machine has; a puzzle with the model's prediction; the same effect live on this processor and recorded on an H200;
//! what a bundled memory snapshot answers; a training step predicted beside its recording; three real pages as pictures;
//! how to go on.

use super::doctor;
use super::drive::{Ask, Driver};
use super::layout::{COLUMNS, plain, wrap};
use super::report::Report;
use super::say::{Ink, Say};
use super::{Common, Exit, interrupt, picture, record};
use serde_json::{Value, json};
use std::path::PathBuf;
use vramlab_kit::Theme;
use vramlab_shell::Library;
use vramlab_trace::Backend;
use vramlab_units::{Lang, Localized, Map, Text, show};

const LIVE: &str = "cpu_stride/main";
const RECORDED: &str = "strided_read/stride";
const SNAPSHOT: &str = "assets/snapshots/mlp_adam.pickle.gz";
/// What the bundled snapshot unpacks to at most.
const SNAPSHOT_LIMIT: usize = 16 << 20;

const SLOGAN: Text =
    Text::new("显存实验台：先猜，再跑，再解释。", "A workbench for GPU memory: predict, run, explain.");
const MACHINE: Text = Text::new("这台机器", "This machine");
const PUZZLE: Text = Text::new("谜题 · 第 02 章", "The puzzle · chapter 02");
const ASK: Text = Text::new(
    "32 个线程（一个 warp）各读一个 4 字节的 float，隔一个读一个（步长 2），一共要 128 字节。实际搬了多少字节？先想一个数，答案在图后面。",
    "32 threads (a warp) each read one 4-byte float, skipping every other one (stride 2): 128 bytes wanted. How many \
     bytes actually move from memory? Think of a number; the answer stands after the charts.",
);
const WANTED: Text = Text::new("■ 用到  · 顺带搬来", "■ wanted  · fetched but unused");
const SECTORS: Text = Text::new("{} 个 32 字节的扇区", "{} sectors of 32 bytes");
const ANSWER: Text = Text::new(
    "模型：碰到 {sectors} 个扇区，搬了 {moved} 字节，只用到 {used} 字节，效率 {efficiency}",
    "model: {sectors} sectors touched, {moved} bytes move for {used} wanted, efficiency {efficiency}",
);
const ON_CPU: Text = Text::new("同一件事，这颗处理器上现场测", "The same thing, measured on this processor just now");
const ON_GPU: Text = Text::new("同一件事，H200 上录制", "The same thing, recorded on an H200");
const NO_RECORDING: Text = Text::new("这个版本还没有这份录制", "this version carries no recording of it yet");
const PART: Text = Text::new(
    "过了步长 16，两者分开：模型持平，实测带宽继续下降。已知的原因在第 02 章里。",
    "Beyond stride 16 the model stays flat, but measured bandwidth keeps falling. Chapter 02 explains what is known.",
);
const SOLVED: Text = Text::new("答案：步长 2", "The answer: stride 2");
const MEMORY: Text = Text::new(
    "一份真实的显存快照：4 层 MLP 用 Adam 训练 3 步，H200 上录制",
    "A real memory snapshot: four linear layers, three steps of Adam, recorded on an H200",
);
const FIT: Text = Text::new("一步训练要多少显存：预测与实测", "What a training step takes: predicted and measured");
const PICTURES: Text = Text::new("三个页面的截图", "Pictures of three pages");
const GO_ON: Text = Text::new("接下来", "From here");
const WINDOW: Text = Text::new("窗口", "window");
const WINDOW_HOW: Text = Text::new("在有显示器的机器上", "on a machine with a display");
const BROWSER: Text = Text::new("网页", "web page");
const BUILD_FIRST: Text =
    Text::new("先用源码构建一次：cargo xtask web", "first built from the source: cargo xtask web");
const FIRST: Text = Text::new("第一次来", "new here");
const WALK: Text = Text::new("这道谜题", "this puzzle");
const WALK_HOW: Text = Text::new("第 02 章，在终端里", "chapter 02, in the terminal");
const OWN: Text = Text::new("你的模型", "your model");
const OWN_HOW: Text = Text::new("装得下吗，先改什么", "does it fit, what to change first");
const WHY: Text = Text::new("诊断", "machine");
const WHY_HOW: Text = Text::new("缺什么、为什么、怎么办", "what is missing, why, and what to do");
const ALL: Text = Text::new("全部", "all");
const ALL_HOW: Text = Text::new("所有命令", "every command");

/// What the bare run found, part by part.
struct Found {
    machine: doctor::Report,
    puzzle: Option<Map>,
    live: Result<vramlab_trace::Run, String>,
    recorded: Option<vramlab_shell::experiments::Recorded>,
    snapshot: Option<super::snapshot::Answer>,
    fit: Option<super::fit::Recorded>,
}

pub fn run(common: &Common, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let mut driver = Driver::new(&library, say);
    if !say.is_json {
        say.data(&format!(
            "{} · {}",
            say.ink(Ink::Strong, &format!("VRAM Lab {}", env!("CARGO_PKG_VERSION"))),
            say.text(SLOGAN)
        ));
    }
    let machine = doctor::examine(common);
    print(say, &machine_text(&machine, say));
    let puzzle = puzzle();
    print(say, &[heading(say, PUZZLE), wrap(say.text(ASK), COLUMNS, "  ")]);
    let live = driver.live(&Ask::quick(LIVE), Backend::Cpu).map_err(|fault| fault.what);
    if interrupt::is_raised() {
        return Ok(Exit::Interrupted);
    }
    let recorded = driver.recording(RECORDED).and_then(Result::ok);
    let found = Found { machine, puzzle, live, recorded, snapshot: snapshot(), fit: super::fit::recorded(say) };
    print(say, &experiments_text(&found, &library, say));
    print(say, &answer_text(found.puzzle.as_ref(), say));
    print(say, &snapshot_text(found.snapshot.as_ref(), say));
    print(say, &fit_text(found.fit.as_ref(), say));
    let pictures = pictures(common, say.lang);
    print(say, &pictures_text(&pictures, say));
    print(say, &next_text(&library, say));
    if say.is_json {
        say.json(&found_json(&found, &library, &pictures));
    }
    Ok(Exit::Fine)
}

fn print(say: &Say, lines: &[String]) {
    if !say.is_json {
        say.data("");
        lines.iter().for_each(|line| say.data(line));
    }
}

fn heading(say: &Say, text: Text) -> String {
    say.ink(Ink::Strong, say.text(text))
}

/// Five lines; the rest, and what to do, is `doctor`'s.
fn machine_text(report: &doctor::Report, say: &Say) -> Vec<String> {
    let wanted = ["processor", "gpu", "nvrtc", "window", "recordings"];
    let short = |line: &doctor::Line| {
        let first =
            |text: &str| text.split([':', '：', ';', '；', '（', '(']).next().unwrap_or_default().trim().to_owned();
        let what = match line.state {
            doctor::State::Works => line.what.clone(),
            _ => Localized::both(first(line.what.get(Lang::Zh)), first(line.what.get(Lang::En))),
        };
        doctor::Line { what, fix: None, ..line.clone() }
    };
    let mut out = vec![heading(say, MACHINE)];
    let lines = wanted.iter().filter_map(|id| report.lines.iter().find(|line| line.id == *id));
    out.extend(lines.map(|line| doctor::line_text(&short(line), say)));
    out
}

/// Chapter 02's first question, put to the model.
fn puzzle() -> Option<Map> {
    let question = json!({ "stride_bytes": 8, "elem_bytes": 4 });
    vramlab_model::eval("coalescing", question.as_object()?).ok()
}

fn answer_text(answer: Option<&Map>, say: &Say) -> Vec<String> {
    let mut out = vec![heading(say, SOLVED)];
    let Some(answer) = answer else { return out };
    let number = |key: &str| answer.get(key).and_then(Value::as_f64).unwrap_or_default();
    let n_sectors = number("sectors") as usize;
    // Eight floats a sector; of these every second one is wanted.
    let sector = "■·■·■·■·";
    let rows: Vec<String> =
        (0..n_sectors).collect::<Vec<_>>().chunks(4).map(|row| vec![sector; row.len()].join("  ")).collect();
    let notes = [say.text(SECTORS).replace("{}", &n_sectors.to_string()), say.text(WANTED).to_owned()];
    for (idx, row) in rows.iter().enumerate() {
        let note = notes.get(idx).map(String::as_str).unwrap_or_default();
        out.push(format!("  {}    {}", say.ink(Ink::Accent, row), say.ink(Ink::Muted, note)).trim_end().to_owned());
    }
    let text = say
        .text(ANSWER)
        .replace("{sectors}", &show::number(number("sectors")))
        .replace("{moved}", &show::number(number("bytes_moved")))
        .replace("{used}", &show::number(number("bytes_used")))
        .replace("{efficiency}", &show::with_unit(number("efficiency"), "%"));
    out.extend([String::new(), say.ink(Ink::Good, &plain(&wrap(&text, COLUMNS, "  ")))]);
    out
}

fn experiments_text(found: &Found, library: &Library, say: &Say) -> Vec<String> {
    let mut out = vec![heading(say, ON_CPU)];
    match (&found.live, library.experiment(LIVE)) {
        (Ok(run), Some(known)) => out.extend(report_lines(&Report::live(run, known), say)),
        (Err(why), _) => out.push(format!("  {}", say.ink(Ink::Caution, why))),
        (Ok(_), None) => {}
    }
    out.extend([String::new(), heading(say, ON_GPU)]);
    match (&found.recorded, library.experiment(RECORDED)) {
        (Some(recorded), Some(known)) => out.extend(report_lines(&Report::recorded(recorded, known), say)),
        _ => out.push(format!("  {}", say.ink(Ink::Muted, say.text(NO_RECORDING)))),
    }
    out.push(say.ink(Ink::Muted, &wrap(say.text(PART), COLUMNS, "  ")));
    out
}

fn report_lines(report: &Report<'_>, say: &Say) -> Vec<String> {
    let evidence =
        wrap(&format!("{} · {}", report.experiment.title.get(say.lang), report.evidence(say.lang)), COLUMNS, "  ");
    let mut out = vec![say.ink(Ink::Muted, &plain(&evidence))];
    out.extend(report.chart(say));
    out.extend(report.words(say));
    out
}

/// The bundled recording of a training, answered.
fn snapshot() -> Option<super::snapshot::Answer> {
    let bytes = vramlab_content::get(SNAPSHOT)?.here()?;
    let snapshot = vramlab_snapshot::read(bytes, SNAPSHOT_LIMIT).ok()?;
    Some(super::snapshot::Answer::of(snapshot, 0, &super::snapshot::usual()))
}

fn snapshot_text(answer: Option<&super::snapshot::Answer>, say: &Say) -> Vec<String> {
    let mut out = vec![heading(say, MEMORY)];
    match answer {
        Some(answer) => out.extend(super::snapshot::three(answer, say)),
        None => out.push(format!("  {}", say.ink(Ink::Muted, say.text(NO_RECORDING)))),
    }
    out
}

fn fit_text(fit: Option<&super::fit::Recorded>, say: &Say) -> Vec<String> {
    let mut out = vec![heading(say, FIT)];
    match fit {
        Some(fit) => out.extend(fit.text(say)),
        None => out.push(format!("  {}", say.ink(Ink::Muted, say.text(NO_RECORDING)))),
    }
    out
}

/// A page: what it shows, its route, its theme.
const PAGES: [(&str, &str, Theme); 3] = [
    ("start", "/", Theme::Light),
    ("sectors", "/ch/02_access_patterns/step/sectors", Theme::Light),
    ("stride", "/ch/02_access_patterns/step/stride", Theme::Dark),
];

/// Draws three pages. A failure is a line, not the end.
fn pictures(common: &Common, lang: Lang) -> Vec<Result<PathBuf, String>> {
    let draw = |(name, route, theme): &(&str, &str, Theme)| -> Result<PathBuf, String> {
        let png = picture::page(route, lang, *theme, [1280.0, 800.0], 1.0).map_err(|error| format!("{error:#}"))?;
        keep(common, &format!("{name}-{}.png", lang.code()), &png)
    };
    PAGES.iter().map(draw).collect()
}

/// In the data folder; in a fresh temporary folder where that cannot be written.
fn keep(common: &Common, name: &str, png: &[u8]) -> Result<PathBuf, String> {
    let own = crate::store::data_dir(common.data.as_deref()).map(|dir| dir.join("pictures"));
    if let Some(dir) = own
        && std::fs::create_dir_all(&dir).is_ok()
        && record::write(&dir.join(name), png).is_ok()
    {
        return Ok(dir.join(name));
    }
    let dir = tempfile::Builder::new().prefix("vramlab-").tempdir().map_err(|error| error.to_string())?.keep();
    let path = dir.join(name);
    record::write(&path, png).map(|()| path).map_err(|error| error.to_string())
}

fn pictures_text(pictures: &[Result<PathBuf, String>], say: &Say) -> Vec<String> {
    let mut out = vec![heading(say, PICTURES)];
    out.extend(pictures.iter().map(|picture| match picture {
        Ok(path) => format!("  {}", path.display()),
        Err(why) => format!("  {}", say.ink(Ink::Caution, why)),
    }));
    out
}

fn next_text(library: &Library, say: &Say) -> Vec<String> {
    let program = std::env::args().next().unwrap_or_else(|| "vramlab".to_owned());
    let has_build = super::serve::find_build(None).is_some();
    let browser = if has_build { String::new() } else { say.text(BUILD_FIRST).to_owned() };
    let mut rows = vec![
        (say.text(WALK), format!("{program} tour"), say.text(WALK_HOW).to_owned()),
        (say.text(OWN), format!("{program} fit config.json"), say.text(OWN_HOW).to_owned()),
        (say.text(BROWSER), format!("{program} serve"), browser),
        (say.text(WINDOW), program.clone(), say.text(WINDOW_HOW).to_owned()),
        (say.text(WHY), format!("{program} doctor"), say.text(WHY_HOW).to_owned()),
        (say.text(ALL), format!("{program} --help"), say.text(ALL_HOW).to_owned()),
    ];
    // As the start page: whoever is new begins with the first chapter.
    let first = library.chapter_ids().into_iter().next().and_then(|id| library.chapter(id));
    if let Some(chapter) = first {
        rows.insert(
            0,
            (say.text(FIRST), format!("{program} tour {}", chapter.id), chapter.title.get(say.lang).to_owned()),
        );
    }
    let cells: Vec<Vec<String>> = rows.into_iter().map(|(a, b, c)| vec![format!("  {a}"), b, c]).collect();
    let mut out = vec![heading(say, GO_ON)];
    out.extend(super::layout::table(&[], &cells, &[]).lines().map(str::to_owned));
    out
}

fn found_json(found: &Found, library: &Library, pictures: &[Result<PathBuf, String>]) -> Value {
    let live = match (&found.live, library.experiment(LIVE)) {
        (Ok(run), Some(known)) => Report::live(run, known).json(),
        (Err(why), _) => json!({ "error": why }),
        (Ok(_), None) => Value::Null,
    };
    let recorded = found.recorded.as_ref().zip(library.experiment(RECORDED));
    json!({
        "schema": 1,
        "machine": doctor::json(&found.machine),
        "puzzle": { "model": "coalescing", "answer": found.puzzle },
        "live": live,
        "recorded": recorded.map(|(recorded, known)| Report::recorded(recorded, known).json()),
        "snapshot": found.snapshot.as_ref().map(|answer| super::snapshot::json(answer, SNAPSHOT)),
        "fit": found.fit.as_ref().map(super::fit::Recorded::json),
        "pictures": pictures.iter().map(|picture| match picture {
            Ok(path) => json!({ "path": path }),
            Err(why) => json!({ "error": why }),
        }).collect::<Vec<_>>(),
    })
}
