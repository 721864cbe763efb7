//! The command line. Data goes to standard output, everything else to standard error; exit codes are [`Exit`].
//!
//! One file a subcommand. `drive.rs` runs experiments, `report.rs` prints them (live and recorded alike), `say.rs` is
//! the voice (colour, language, JSON), `layout.rs` knows the width of Chinese, `fault.rs` what a failure exits with.

mod args;
mod author;
mod bare;
mod check;
mod doctor;
mod drive;
mod eval;
mod fault;
mod fit;
mod gather;
mod intake;
mod interrupt;
mod layout;
mod list;
mod picture;
mod profile;
mod project;
mod prose;
mod record;
mod report;
mod rounds;
mod run;
mod say;
mod selftest;
mod serve;
mod shells;
mod snapshot;
mod table;
mod tour;
mod track;

use crate::native::{Native, Waker};
use crate::store::Folder;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use fault::Fault;
use say::{Color, Say};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use vramlab_units::Lang;

/// What the program answers to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Fine = 0,
    /// Findings, or a failed run.
    Findings = 1,
    Usage = 2,
    NoGpu = 3,
    Runner = 4,
    Deadline = 5,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

const AFTER: &str = "\
Without a subcommand the window opens; without a display the main job is done in the terminal.
Data goes to standard output, everything else to standard error.
Exit codes: 0 fine, 1 findings or a failed run, 2 wrong usage, 3 no GPU where one was demanded,
4 the runner failed, 5 deadline, 130 interrupted.";

/// VRAM Lab · 显存实验台: a teaching workbench for GPU memory.
#[derive(Parser)]
#[command(name = "vramlab", version, about, long_about = None, after_help = AFTER)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Opens a lesson folder, a pack or a single chapter beside the built-in course.
    #[arg(long, value_name = "DIR")]
    lessons: Option<PathBuf>,
    /// Opens the window at a place, as links write it: `#/ch/02_access_patterns`.
    #[arg(long, value_name = "ROUTE")]
    at: Option<String>,
    /// Files to open; without a display, what each of them is.
    files: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Flags that every subcommand knows.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Language of texts: zh or en [default: that of the system].
    #[arg(long, global = true, value_parser = lang)]
    pub lang: Option<Lang>,
    /// Prints data as JSON, with a `schema` number.
    #[arg(long, global = true)]
    pub json: bool,
    /// Colour: auto (asks the terminal and NO_COLOR), always or never.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: Color,
    /// Only data and errors: no notes, no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Logs what the program does to standard error; -vv more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Where progress, notebook and settings are kept [env: VRAMLAB_DATA].
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

fn lang(text: &str) -> Result<Lang, String> {
    Lang::from_code(text).ok_or_else(|| format!("\"{text}\" is not a language; it must be zh or en"))
}

#[derive(Subcommand)]
enum Command {
    /// A chapter in the terminal, its experiments live or replayed.
    Tour(tour::Args),
    /// What works on this machine, what doesn't, why, and what to do.
    Doctor,
    /// Chapters, visualizers, models, kernels, experiments or traces, with ids.
    List(list::Args),
    /// Asks one model a question in JSON.
    Eval(eval::Args),
    /// Runs one experiment: predicted, measured, error, verdict.
    Run(run::Args),
    /// Runs experiments in full and writes trace files.
    Record(record::Args),
    /// Checks lessons, kernels and traces; all problems at once.
    Check(check::Args),
    /// Starts a new chapter.
    New(author::New),
    /// Hosts the web page on this machine's loopback address.
    Serve(serve::Args),
    /// What a PyTorch memory snapshot answers: the peak, who held it, growth, OOMs.
    Snapshot(snapshot::Args),
    /// Does a model fit a card, what fills it, what to change first.
    Fit(Box<fit::Args>),
    /// Runs a program and says what it did with memory: peak, when, by whom.
    Profile(profile::Args),
    /// Baseline, strategies, decision and reason of a small training run, in one file.
    Project(project::Args),
    /// Draws a page to a PNG file, without a display.
    Picture(picture::Args),
    /// Brings older chapters to today's format.
    Migrate(author::Migrate),
    /// Prints completions for a shell.
    Completions(shells::Completions),
    /// Prints the manual page.
    Man(shells::Man),
    /// Predicted, measured and error of every recording and of every experiment of this processor.
    #[command(name = "__table", hide = true)]
    Table,
    /// Everything that a GPU machine can show: experiments, counters, peers, faults on purpose.
    #[command(name = "__selftest", hide = true)]
    Selftest(selftest::Args),
}

/// Runs the program and returns its exit code.
pub fn main(started: Instant) -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            let _ = error.print();
            if let Some(hint) = missing(&error) {
                eprintln!("  help: {hint}");
            }
            return code.into();
        }
    };
    log(cli.common.verbose);
    let say = Say::new(&cli.common);
    match dispatch(cli, &say, started) {
        Ok(exit) => exit.into(),
        Err(error) => match error.downcast_ref::<Fault>() {
            Some(fault) if fault.exit == Exit::Interrupted => {
                say.note(&fault.what);
                fault.exit.into()
            }
            Some(fault) => {
                say.error(&fault.what, fault.help.as_deref());
                fault.exit.into()
            }
            None => {
                say.error(&format!("{error:#}"), None);
                Exit::Findings.into()
            }
        },
    }
}

/// The flags. `--color` is looked at first, because help and usage errors are coloured too.
fn parse() -> Result<Cli, clap::Error> {
    let words: Vec<String> = std::env::args().collect();
    let after = |pair: &[String]| (pair[0] == "--color").then(|| pair[1].clone());
    let joined = || words.iter().find_map(|word| word.strip_prefix("--color=").map(str::to_owned));
    let choice = match words.windows(2).find_map(after).or_else(joined).as_deref() {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    };
    let matches = Cli::command().color(choice).try_get_matches()?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    // Not clap's `env`: a usage line would then name the option as if it were needed.
    let named = || std::env::var_os("VRAMLAB_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    cli.common.data = cli.common.data.or_else(named);
    Ok(cli)
}

/// What belongs in the place of a word that was left out.
fn missing(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != clap::error::ErrorKind::MissingRequiredArgument {
        return None;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is = |name: &str| words.iter().any(|word| word == name);
    if is("list") {
        Some("KIND is chapters, visualizers, models, kernels, experiments or traces, as in `vramlab list experiments`")
    } else if is("eval") {
        Some("`vramlab list models` prints the models; `vramlab eval coalescing` shows an example of its question")
    } else if is("run") {
        Some("`vramlab list experiments` prints them; `vramlab run cpu_stride/main` needs no GPU")
    } else if is("fit") {
        Some("CONFIG is a config.json, .safetensors or .gguf, as in `vramlab fit config.json --gpu rtx4090`")
    } else if is("profile") {
        Some("CMD and its arguments stand after --, as in `vramlab profile -- python train.py`")
    } else if is("picture") {
        Some("as in `vramlab picture start --out start.png`")
    } else {
        None
    }
}

fn log(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
}

fn dispatch(cli: Cli, say: &Say, started: Instant) -> anyhow::Result<Exit> {
    let common = &cli.common;
    match &cli.command {
        None => window(cli, say, started),
        Some(Command::Tour(args)) => tour::run(args, say),
        Some(Command::Doctor) => doctor::run(common, say),
        Some(Command::List(args)) => list::run(args, say),
        Some(Command::Eval(args)) => eval::run(args, say),
        Some(Command::Run(args)) => run::run(args, say),
        Some(Command::Record(args)) => record::run(args, say),
        Some(Command::Check(args)) => check::run(args, say),
        Some(Command::New(args)) => author::new(args, common.lang, say),
        Some(Command::Serve(args)) => serve::run(args, say),
        Some(Command::Snapshot(args)) => snapshot::run(args, say),
        Some(Command::Fit(args)) => fit::run(args, say),
        Some(Command::Profile(args)) => profile::run(args, say),
        Some(Command::Project(args)) => project::run(args, say, common.lang),
        Some(Command::Picture(args)) => picture::run(args, common),
        Some(Command::Migrate(args)) => author::migrate(args, say),
        Some(Command::Completions(args)) => shells::completions(args),
        Some(Command::Man(args)) => shells::man(args, say),
        Some(Command::Table) => table::run(say),
        Some(Command::Selftest(args)) => selftest::run(args, say),
    }
}

/// Whether there is a display to open a window on.
pub fn has_display() -> bool {
    !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// The command for an id that was typed without one.
fn meant(word: &str) -> Option<String> {
    let library = vramlab_shell::Library::built_in();
    let command = if library.experiment(word).is_some() {
        format!("vramlab run {word}")
    } else if library.chapter(word).is_some() {
        format!("vramlab tour {word}")
    } else {
        vramlab_model::registry::find(word).map(|entry| format!("vramlab eval {word} '{}'", entry.example))?
    };
    Some(format!("did you mean `{command}`?"))
}

fn window(cli: Cli, say: &Say, started: Instant) -> anyhow::Result<Exit> {
    if let Some(file) = cli.files.iter().find(|file| !file.exists()) {
        let word = file.display().to_string();
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let hint = vramlab_units::field::did_you_mean(&word, names.iter().map(String::as_str));
        let help = meant(&word)
            .or(hint.map(|hint| format!("did you mean \"{hint}\"?")))
            .unwrap_or_else(|| "`vramlab --help` prints the commands".to_owned());
        return Err(Fault::usage(format!("there is no command and no file \"{word}\"")).help(help).into());
    }
    if !has_display() {
        if !cli.files.is_empty() && cli.at.is_none() && cli.lessons.is_none() {
            return intake::run(&cli.files, say);
        }
        if cli.at.is_some() || cli.lessons.is_some() {
            let help = "vramlab tour CHAPTER, check PATH and picture PAGE work without one";
            return Err(Fault::new(Exit::Findings, "there is no display to open a window on").help(help).into());
        }
        return bare::run(&cli.common, say);
    }
    crate::crash::install(cli.common.data.clone());
    let waker = Waker::default();
    let folder = Folder::open(cli.common.data.as_deref());
    let mut native = Native::new(folder, waker.clone(), cli.at, cli.lessons.as_deref());
    for file in &cli.files {
        native.open_path(file);
    }
    crate::window::open(native, waker, started)?;
    Ok(Exit::Fine)
}
