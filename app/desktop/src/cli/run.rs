//! `run`: one experiment, live or replayed: predicted, measured, error, verdict.

use super::drive::{Ask, Driver};
use super::fault::Fault;
use super::report::Report;
use super::say::Say;
use super::{Exit, args};
use std::path::PathBuf;
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::plan::Mode;
use vramlab_gpu::verdict::Verdict;
use vramlab_shell::Library;
use vramlab_shell::experiments::Recorded;
use vramlab_trace::{Backend, Run};
use vramlab_units::{Text, Value};

/// Where the numbers shall come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    // The experiment's own device if it is here, else its recording.
    #[default]
    Auto,
    Cuda,
    Cpu,
    Wgpu,
    Trace,
}

#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 fine (also when the effect is hidden), 1 invalid run, 2 wrong usage,
3 no GPU where one was demanded, 4 the runner failed, 5 deadline, 130 interrupted.")]
pub struct Args {
    /// The experiment; `vramlab list experiments` prints them.
    experiment: String,
    /// Sets a parameter of the kernel.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = args::setting)]
    settings: Vec<(String, Value)>,
    /// Where to run: auto replays the recording where the experiment's device is not here.
    #[arg(long, value_enum, default_value_t)]
    backend: Source,
    /// Fewer points and samples: seconds. The default.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every point, as `record` does it.
    #[arg(long)]
    full: bool,
    /// The most memory it may take, as in "4 GiB" [default: the smaller of 8 GiB and half of what is free].
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    budget: Option<u64>,
    /// Replays this trace file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["backend", "settings", "full", "quick", "budget"])]
    trace: Option<PathBuf>,
    /// Plays a scripted fault instead of measuring, for suites.
    #[arg(long, value_name = "SCRIPT", hide = true)]
    play: Option<String>,
}

const REPLAYS: Text = Text::new("；改为重放录制", "; replaying the recording instead");

/// Numbers, from wherever they came.
enum Got {
    Live(Run),
    Replay(Recorded),
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let mut driver = Driver::new(&library, say).playing(args.play.clone());
    let known = driver.known(&args.experiment)?;
    check_play(args)?;
    let ask = Ask {
        experiment: args.experiment.clone(),
        mode: if args.full { Mode::Full } else { Mode::Quick },
        budget_bytes: args.budget,
        settings: args::settings(&args.settings).map_err(Fault::usage)?,
    };
    let got = match &args.trace {
        Some(path) => Got::Replay(driver.recording_of_file(path)?),
        None => get(&mut driver, &ask, args.backend, known.0, say)?,
    };
    let report = match &got {
        Got::Live(run) => Report::live(run, known),
        Got::Replay(recorded) if recorded.run.experiment != args.experiment => {
            let what = format!("this trace is of {}, not of {}", recorded.run.experiment, args.experiment);
            return Err(Fault::usage(what).into());
        }
        Got::Replay(recorded) => Report::recorded(recorded, known),
    };
    if say.is_json {
        say.json(&report.json())
    } else {
        say.data(&report.text(say))
    }
    Ok(match report.judged.verdict {
        Verdict::Shown { .. } | Verdict::Hidden { .. } => Exit::Fine,
        Verdict::Invalid { .. } | Verdict::Incomplete => Exit::Findings,
    })
}

fn check_play(args: &Args) -> Result<(), Fault> {
    let Some(script) = &args.play else { return Ok(()) };
    let scripts = vramlab_gpu::backend::fake::SCRIPTS;
    if scripts.iter().any(|known| known.id == script) {
        return Ok(());
    }
    Err(Fault::unknown("script", script, scripts.iter().map(|known| known.id)))
}

fn get(driver: &mut Driver<'_>, ask: &Ask, source: Source, experiment: &Experiment, say: &Say) -> Result<Got, Fault> {
    let own = experiment.backend;
    let demanded = match source {
        Source::Auto | Source::Trace => own,
        Source::Cuda => Backend::Cuda,
        Source::Cpu => Backend::Cpu,
        Source::Wgpu => Backend::Wgpu,
    };
    if demanded != own && demanded != Backend::Wgpu {
        let what = format!("{} runs on {}, not on {}", ask.experiment, own.id(), demanded.id());
        return Err(Fault::usage(what).help("leave --backend out, or use --backend trace for the recording"));
    }
    if source == Source::Trace {
        return replay(driver, ask);
    }
    match driver.live(ask, demanded) {
        Ok(run) => Ok(Got::Live(run)),
        // What a machine cannot do is replayed; what went wrong while it did it is reported.
        Err(fault) if source == Source::Auto && (fault.exit == Exit::NoGpu || fault.is_unfit) => {
            let recorded = replay(driver, ask).map_err(|_| fault.clone())?;
            say.warn(&format!("{}{}", fault.what, say.text(REPLAYS)));
            Ok(recorded)
        }
        Err(fault) => Err(fault),
    }
}

fn replay(driver: &Driver<'_>, ask: &Ask) -> Result<Got, Fault> {
    match driver.recording(&ask.experiment) {
        Some(recorded) => recorded.map(Got::Replay),
        None => Err(Fault::new(Exit::Findings, format!("there is no recording of {} in this program", ask.experiment))
            .help("`vramlab list traces` prints those that there are; `vramlab record` makes one")),
    }
}
