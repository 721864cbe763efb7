//! `project`: a fixed workload, a baseline, strategies beside it, a decision under a budget, the reason; one file.
//!
//! What the file holds and what may be compared is `vramlab_train::project`; `cpu.rs` and `card.rs` run the pairs,
//! `keep.rs` reads and writes the file, `words.rs` prints.

mod card;
mod cpu;
mod keep;
mod words;

use super::Exit;
use super::drive::Driver;
use super::fault::Fault;
use super::say::Say;
use std::cell::OnceCell;
use std::path::PathBuf;
use vramlab_model::samples;
use vramlab_shell::Library;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::project::{self, Device, Entry, Gate, Outcome, Project};
use vramlab_train::{Strategy, Workload, forecast};
use vramlab_units::{FieldError, Text};

const AFTER: &str = "\
The chain, on any machine:
  vramlab project new p.json --set n_layers=8 --set batch=16 --hypothesis 'checkpoints halve the peak'
  vramlab project baseline p.json                    everything kept
  vramlab project compare p.json checkpoint accumulate4 checkpoint+offload
  vramlab project decide p.json --budget 4MiB        the fastest that fits
  vramlab project explain p.json                     whose bytes were saved
  vramlab project report p.json --out report.md
Strategies: keep, checkpoint[N], accumulate[N], offload, joined by +.
Exit codes: 0 fine, 1 a candidate failed the quality gate or nothing fits, 2 wrong usage or not comparable,
3 no GPU where one was demanded, 130 interrupted. What does not fit is kept as a result.";

#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Starts a project: the workload is fixed here.
    New(New),
    /// Runs the baseline, which keeps everything.
    Baseline(Run),
    /// Runs strategies beside the baseline, each with a baseline of its own in turn.
    Compare(Compare),
    /// Chooses under a budget.
    Decide(Decide),
    /// Whose bytes were saved, and at which moment.
    Explain(Show),
    /// The report, as Markdown in both languages or in that of --lang; with --json the file itself.
    Report(Report),
}

#[derive(clap::Args)]
struct New {
    file: PathBuf,
    /// Its name [default: that of the file].
    #[arg(long)]
    name: Option<String>,
    /// What you expect, before anything runs.
    #[arg(long, default_value = "")]
    hypothesis: String,
    /// mlp or block.
    #[arg(long, default_value = "block", value_parser = net)]
    net: Kind,
    /// A size: n_layers, width, n_heads, seq_len, batch, n_classes, seed (may be repeated).
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::args::setting)]
    set: Vec<(String, vramlab_units::Value)>,
    /// fp32, or fp64 on the processor.
    #[arg(long, default_value = "fp32", value_parser = dtype)]
    dtype: Dtype,
    /// sgd or adamw.
    #[arg(long, default_value = "adamw", value_parser = optimizer)]
    optimizer: Optimizer,
    /// Largest relative difference of a loss.
    #[arg(long, default_value_t = 1e-5)]
    gate_loss: f64,
    /// Largest difference of a gradient over the largest number of its tensor, where sums are in another order.
    #[arg(long, default_value_t = 1e-4)]
    gate_gradient: f64,
}

#[derive(clap::Args)]
struct Run {
    file: PathBuf,
    /// Where: cpu or cuda [default: cuda if it is here].
    #[arg(long, value_parser = ["cpu", "cuda"])]
    backend: Option<String>,
    /// Steps that are timed; six give an interval.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=200))]
    samples: u32,
}

#[derive(clap::Args)]
struct Compare {
    file: PathBuf,
    /// Strategies, as in checkpoint2+accumulate4.
    #[arg(required_unless_present = "from")]
    strategies: Vec<String>,
    /// Takes the candidates of another project, if everything else is equal.
    #[arg(long, value_name = "FILE", conflicts_with = "strategies")]
    from: Option<PathBuf>,
    /// The most that a run may take: what does not fit is kept as a result.
    #[arg(long, value_name = "SIZE", value_parser = super::args::any_bytes)]
    limit: Option<u64>,
    /// Asks for another size; refused, because a comparison has one workload.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::args::setting)]
    set: Vec<(String, vramlab_units::Value)>,
    /// Measures anew what was measured before.
    #[arg(long)]
    again: bool,
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=200))]
    samples: u32,
}

#[derive(clap::Args)]
struct Decide {
    file: PathBuf,
    /// The most that the peak may be: 4MiB.
    #[arg(long, value_name = "SIZE", value_parser = super::args::any_bytes)]
    budget: u64,
    /// Times closer than this share count as equal.
    #[arg(long, default_value_t = 0.03)]
    noise: f64,
}

#[derive(clap::Args)]
struct Show {
    file: PathBuf,
    /// One strategy; all of them if left out.
    strategy: Option<String>,
}

#[derive(clap::Args)]
struct Report {
    file: PathBuf,
    /// Writes it there.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn net(text: &str) -> Result<Kind, String> {
    match text {
        "mlp" => Ok(Kind::Mlp),
        "block" => Ok(Kind::Block),
        _ => Err(format!("\"{text}\" is not a net; it must be mlp or block")),
    }
}

fn dtype(text: &str) -> Result<Dtype, String> {
    match text {
        "fp32" => Ok(Dtype::Fp32),
        "fp64" => Ok(Dtype::Fp64),
        _ => Err(format!("\"{text}\" is not a format of this laboratory; it must be fp32 or fp64")),
    }
}

fn optimizer(text: &str) -> Result<Optimizer, String> {
    match text {
        "sgd" => Ok(Optimizer::Sgd),
        "adamw" => Ok(Optimizer::Adamw),
        _ => Err(format!("\"{text}\" is not an optimizer; it must be sgd or adamw")),
    }
}

pub fn run(args: &Args, say: &Say, lang: Option<vramlab_units::Lang>) -> anyhow::Result<Exit> {
    super::interrupt::listen();
    match &args.command {
        Command::New(args) => new(args, say),
        Command::Baseline(args) => baseline(args, say),
        Command::Compare(args) => compare(args, say),
        Command::Decide(args) => decide(args, say),
        Command::Explain(args) => explain(args, say),
        Command::Report(args) => report(args, say, lang),
    }
}

/// Sizes that `--set` may name.
fn sized(mut work: Workload, set: &[(String, vramlab_units::Value)]) -> Result<Workload, FieldError> {
    const KNOWN: [&str; 7] = ["n_layers", "width", "n_heads", "seq_len", "batch", "n_classes", "seed"];
    for (key, value) in set {
        let number = value.as_u64().filter(|number| *number <= 1 << 32);
        let number = number.ok_or_else(|| FieldError::illegal(key, value, "a whole number"))?;
        let size = number as usize;
        match key.as_str() {
            "n_layers" => work.n_layers = size,
            "width" => work.width = size,
            "n_heads" => work.n_heads = size,
            "seq_len" => work.seq_len = size,
            "batch" => work.batch = size,
            "n_classes" => work.n_classes = size,
            "seed" => work.seed = number,
            _ => {
                let hint = vramlab_units::field::did_you_mean(key, KNOWN).map(str::to_owned);
                return Err(FieldError::Unknown { field: key.clone(), hint, known: KNOWN.join(", ") });
            }
        }
    }
    work.check()?;
    Ok(work)
}

fn new(args: &New, say: &Say) -> anyhow::Result<Exit> {
    let usual = Workload {
        net: args.net,
        n_layers: 8,
        width: 32,
        n_heads: if args.net == Kind::Mlp { 1 } else { 4 },
        seq_len: 32,
        batch: 8,
        n_classes: 64,
        dtype: args.dtype,
        optimizer: args.optimizer,
        seed: 1,
        n_steps: 2,
    };
    let work = sized(usual, &args.set).map_err(Fault::from)?;
    for (name, value) in [("--gate-loss", args.gate_loss), ("--gate-gradient", args.gate_gradient)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Fault::usage(format!("{name} {value} is not from 0 to 1")).into());
        }
    }
    let stem =
        || args.file.file_stem().map_or_else(|| "project".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let project = Project {
        schema: project::SCHEMA.to_owned(),
        name: args.name.clone().unwrap_or_else(stem),
        hypothesis: args.hypothesis.clone(),
        work,
        gate: Gate { loss: args.gate_loss, gradient: args.gate_gradient },
        baseline: None,
        candidates: Vec::new(),
        decision: None,
    };
    keep::create(&args.file, &project)?;
    words::predictions(&project, say)?;
    Ok(Exit::Fine)
}

/// The runner's parent, made when a card is asked for: the processor needs neither it nor the course's content.
struct Bench<'a> {
    shelf: &'a OnceCell<Library>,
    say: &'a Say,
    driver: Option<Driver<'a>>,
}

impl<'a> Bench<'a> {
    fn driver(&mut self) -> &mut Driver<'a> {
        let (shelf, say) = (self.shelf, self.say);
        self.driver.get_or_insert_with(|| Driver::new(shelf.get_or_init(Library::built_in), say))
    }
}

/// Runs one pair where the project runs.
fn pair(
    bench: &mut Bench<'_>,
    work: Workload,
    strategy: Strategy,
    device: &Device,
    limit: Option<u64>,
    n_samples: u32,
) -> Result<Outcome, Fault> {
    strategy.check(work.batch)?;
    if device.is_cpu() {
        cpu::pair(work, strategy, limit, n_samples)
    } else {
        card::pair(bench.driver(), work, strategy, limit, n_samples)
    }
}

fn entry(work: Workload, strategy: Strategy, device: &Device, result: Outcome) -> Entry {
    Entry {
        strategy,
        work,
        device: device.clone(),
        date: crate::date::today(),
        program: format!("vramlab {}", env!("CARGO_PKG_VERSION")),
        result,
    }
}

fn baseline(args: &Run, say: &Say) -> anyhow::Result<Exit> {
    let mut project = keep::open(&args.file, say)?;
    if project.baseline.is_some() {
        let help = "`project compare` adds strategies; `project new` starts another project";
        return Err(Fault::usage(format!("{} has its baseline already", args.file.display())).help(help).into());
    }
    let shelf = OnceCell::new();
    let mut bench = Bench { shelf: &shelf, say, driver: None };
    let device = match args.backend.as_deref() {
        Some("cpu") => cpu::device(),
        Some(_) => card::device(bench.driver())?,
        None => card::device(bench.driver()).unwrap_or_else(|_| cpu::device()),
    };
    let result = pair(&mut bench, project.work, Strategy::default(), &device, None, args.samples)?;
    let is_fine = matches!(result, Outcome::Ran(_));
    project.baseline = Some(entry(project.work, Strategy::default(), &device, result));
    keep::save(&args.file, &project)?;
    words::table(&project, say);
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}

fn no_baseline(say: &Say) -> Fault {
    let what = Text::new("还没有基线", "there is no baseline yet");
    let help = Text::new("`vramlab project baseline FILE` 测基线", "`vramlab project baseline FILE` runs it");
    Fault::usage(say.text(what)).help(say.text(help))
}

fn compare(args: &Compare, say: &Say) -> anyhow::Result<Exit> {
    let mut project = keep::open(&args.file, say)?;
    let baseline = project.baseline.clone().ok_or_else(|| no_baseline(say))?;
    if baseline.ran().is_none() {
        return Err(Fault::usage("the baseline did not fit: there is nothing to compare with").into());
    }
    let work = sized(project.work, &args.set).map_err(Fault::from)?;
    refuse(&baseline, &Entry { work, ..baseline.clone() }, say)?;
    let found = match &args.from {
        Some(other) => taken(&baseline, &keep::open(other, say)?, say)?,
        None => measured(args, &project, &baseline, say)?,
    };
    for candidate in found {
        project.candidates.retain(|known| known.strategy != candidate.strategy);
        project.candidates.push(candidate);
    }
    project.decision = None;
    keep::save(&args.file, &project)?;
    words::table(&project, say);
    let judged = |candidate: &Entry| project::judge(project.gate, &baseline, candidate, |_| true);
    let fails = |candidate: &Entry| candidate.ran().is_some() && !judged(candidate).is_accepted;
    Ok(if project.candidates.iter().any(fails) { Exit::Findings } else { Exit::Fine })
}

/// Names every difference at once.
fn refuse(baseline: &Entry, other: &Entry, say: &Say) -> Result<(), Fault> {
    let differences = project::compare(baseline, other);
    if differences.is_empty() {
        return Ok(());
    }
    let each: Vec<String> = differences
        .iter()
        .map(|difference| format!("{} {} vs {}", difference.field, difference.baseline, difference.candidate))
        .collect();
    let what = Text::new("不可比：", "not comparable: ");
    let help = Text::new(
        "一个项目只有一份工作量，在一个设备上；`vramlab project new` 另起一个",
        "one project has one workload on one device; `vramlab project new` starts another",
    );
    Err(Fault::usage(format!("{}{}", say.text(what), each.join(", "))).help(say.text(help)))
}

/// The candidates of another project, which must be of the same work on the same device.
fn taken(baseline: &Entry, other: &Project, say: &Say) -> Result<Vec<Entry>, Fault> {
    let theirs = other.baseline.as_ref().ok_or_else(|| Fault::usage("the other project has no baseline"))?;
    for entry in std::iter::once(theirs).chain(&other.candidates) {
        refuse(baseline, entry, say)?;
    }
    repeats(baseline, &theirs.result)?;
    Ok(other.candidates.clone())
}

/// The same work on the same device gives the same losses; if not, something that nobody wrote down has changed.
fn repeats(baseline: &Entry, again: &Outcome) -> Result<(), Fault> {
    let losses = |outcome: &Outcome| match outcome {
        Outcome::Ran(run) => run.losses.clone(),
        Outcome::OutOfMemory { .. } => Vec::new(),
    };
    let (before, now) = (losses(&baseline.result), losses(again));
    if before == now {
        return Ok(());
    }
    let what = format!("the baseline does not repeat: its losses were {before:?} and are now {now:?}");
    Err(Fault::usage(what).help("the program, its libraries or the device changed; start a new project"))
}

fn measured(args: &Compare, project: &Project, baseline: &Entry, say: &Say) -> Result<Vec<Entry>, Fault> {
    let shelf = OnceCell::new();
    let mut bench = Bench { shelf: &shelf, say, driver: None };
    let device = if baseline.device.is_cpu() { cpu::device() } else { card::device(bench.driver())? };
    let here = entry(project.work, Strategy::default(), &device, baseline.result.clone());
    refuse(baseline, &here, say)?;
    let mut found = Vec::new();
    for text in &args.strategies {
        let strategy = Strategy::parse(text)?;
        strategy.check(project.work.batch)?;
        if !args.again && project.candidates.iter().any(|known| known.strategy == strategy) {
            say.note(&say.text(KNOWN).replace("{}", text));
            continue;
        }
        let result = pair(&mut bench, project.work, strategy, &device, args.limit, args.samples)?;
        found.push(entry(project.work, strategy, &device, result));
    }
    let again = pair(&mut bench, project.work, Strategy::default(), &device, None, 1)?;
    repeats(baseline, &again)?;
    Ok(found)
}

const KNOWN: Text = Text::new("{} 已经量过；--again 重新量", "{} was measured before; --again measures it anew");

fn decide(args: &Decide, say: &Say) -> anyhow::Result<Exit> {
    let mut project = keep::open(&args.file, say)?;
    if project.baseline.is_none() {
        return Err(no_baseline(say).into());
    }
    if !(0.0..=1.0).contains(&args.noise) {
        return Err(Fault::usage(format!("--noise {} is not from 0 to 1", args.noise)).into());
    }
    let decision = project::decide(&project, args.budget, args.noise, &crate::date::today(), &interval);
    let is_found = decision.chosen.is_some();
    project.decision = Some(decision);
    keep::save(&args.file, &project)?;
    words::decision(&project, say);
    Ok(if is_found { Exit::Fine } else { Exit::Findings })
}

fn explain(args: &Show, say: &Say) -> anyhow::Result<Exit> {
    let project = keep::open(&args.file, say)?;
    let wanted = args.strategy.as_deref().map(Strategy::parse).transpose().map_err(Fault::from)?;
    words::explain(&project, wanted, say)?;
    Ok(Exit::Fine)
}

fn report(args: &Report, say: &Say, lang: Option<vramlab_units::Lang>) -> anyhow::Result<Exit> {
    let project = keep::open(&args.file, say)?;
    let text =
        if say.is_json { project::write(&project).map_err(Fault::usage)? } else { words::markdown(&project, lang) };
    match &args.out {
        Some(path) => keep::put(path, text.as_bytes())?,
        None => say.data(text.trim_end()),
    }
    Ok(Exit::Fine)
}

/// Low, median and high of samples.
fn interval(values: &[f64]) -> Option<[f64; 3]> {
    samples::interval(values).map(|interval| [interval.low, interval.median, interval.high])
}

/// What the tape predicts, in bytes.
fn predicted(work: &Workload, strategy: Strategy) -> Result<vramlab_train::Forecast, Fault> {
    forecast(work, strategy).map_err(|trouble| Fault::usage(trouble.to_string()))
}
