//! `profile`: runs a program and says what it did with memory; the recording is a file that opens as a page.
//!
//! The program keeps standard input and output, its signals and its exit code; the report goes to standard error, as that of
//! `time` does. With `--json` the report is the data, and the program's output goes to standard error.

mod data;
mod figures;
mod keep;

use super::Exit;
use super::fault::{Fault, of_system};
use super::layout::{COLUMNS, labelled, plain};
use super::say::{Ink, Say};
use crate::profile::{Ask, Watched, missing, plain_us, run as watch};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vramlab_profile::record::Compared;
use vramlab_profile::{Profile, Report, words};
use vramlab_units::{Lang, Text};

#[derive(clap::Args)]
pub struct Args {
    /// Time between two samples: from 1ms to 10s.
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = interval)]
    interval: Duration,
    /// Where the recording goes, .json or .json.gz [default: vramlab-profile.json, or the next free number].
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    out: Option<PathBuf>,
    /// The GPU, as NVML counts them [default: the first of CUDA_VISIBLE_DEVICES, else 0].
    #[arg(long, value_name = "N")]
    device: Option<u32>,
    /// Loads nothing into the program: NVML and the system only.
    #[arg(long)]
    no_inject: bool,
    /// Runs the program once more, unwatched and without input, and states both times.
    #[arg(long)]
    compare: bool,
    /// A PyTorch memory snapshot of the run: NVML's figure is reconciled with it.
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Says what a recording holds, instead of making one; `vramlab FILE` opens it in the window.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "no_inject", "compare", "device"])]
    open: Option<PathBuf>,
    /// The program and its arguments, after `--`.
    #[arg(last = true, required_unless_present = "open", value_name = "CMD")]
    command: Vec<String>,
}

/// `20ms`, `1s`, `500us`.
fn interval(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err("a time with its unit, such as 20ms or 1s".to_owned()),
    };
    let secs = number.parse::<f64>().map_err(|_| format!("\"{text}\" is not a time; 20ms is one"))? * factor;
    match (1e-3..=10.0).contains(&secs) {
        true => Ok(Duration::from_secs_f64(secs)),
        false => Err(format!("{text} is not allowed; the interval must be from 1ms to 10s")),
    }
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    if let Some(path) = &args.open {
        let bytes = std::fs::read(path)
            .map_err(|error| Fault::usage(format!("{}: {}", path.display(), of_system(&error, say.lang))))?;
        let profile = vramlab_profile::read(&bytes)
            .map_err(|error| Fault::usage(format!("{}: {error}", path.display())).help(MAKE.get(say.lang)))?;
        tell(&profile, args, Some(path), true, say)?;
        return Ok(Exit::Fine);
    }
    // A place that cannot be written is said before a long run, not after it.
    let place = keep::Place::choose(args.out.as_deref(), say.lang)?;
    let device = args.device.or_else(visible).unwrap_or(0);
    // A card that was asked for by its number must be there.
    if args.device.is_some() {
        missing(device).map_or(Ok(()), |why| {
            let help = Text::new("去掉 --device 就只看主机内存", "without --device only the host's memory is watched");
            Err(Fault::new(Exit::NoGpu, format!("--device {device}: {}", why.get(say.lang))).help(say.text(help)))
        })?;
    }
    let ask = Ask {
        command: &args.command,
        interval: args.interval,
        device,
        injects: !args.no_inject,
        is_quiet: say.is_json,
    };
    let mut profile = match watch(&ask)? {
        Watched::Done(profile) => profile,
        Watched::Failed(error) => return Err(not_started(&args.command, &error, say.lang).into()),
    };
    if args.compare && profile.exit.code == Some(0) {
        let plain = plain_us(&args.command)?;
        profile.compared = Some(Compared { watched_us: profile.wall_us, plain_us: plain });
    }
    let path = place.write(&profile);
    let path = path.map_err(|error| say.error(&error.to_string(), None)).ok();
    tell(&profile, args, path.as_deref(), say.is_json, say)?;
    let code = match (profile.exit.code, profile.exit.signal) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => Exit::Runner as i32,
    };
    // The program's own code is passed on, and those are not only ours.
    std::process::exit(code)
}

const MAKE: Text =
    Text::new("`vramlab profile -- python train.py` 会录一个", "`vramlab profile -- python train.py` records one");

/// The first GPU that the environment shows to programs, where it is named by its number.
fn visible() -> Option<u32> {
    std::env::var("CUDA_VISIBLE_DEVICES").ok()?.split(',').next()?.trim().parse().ok()
}

fn not_started(command: &[String], error: &std::io::Error, lang: Lang) -> Fault {
    let name = command.first().map_or("", String::as_str);
    let fault = |text: Text| Fault::usage(text.get(lang).replace("{}", name));
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            let help = Text::new(
                "程序和它的参数放在 -- 后面：`vramlab profile -- python train.py`",
                "the program and its arguments stand after --, as in `vramlab profile -- python train.py`",
            );
            fault(Text::new("没有程序 \"{}\"", "there is no program \"{}\"")).help(help.get(lang))
        }
        std::io::ErrorKind::PermissionDenied => {
            let help = Text::new("它是标为可执行的文件吗？", "is it a file that is marked as executable?");
            fault(Text::new("\"{}\" 不许运行", "\"{}\" may not be run")).help(help.get(lang))
        }
        _ => {
            let what = fault(Text::new("\"{}\" 启动不了：", "\"{}\" cannot be started: ")).what;
            Fault::usage(format!("{what}{}", of_system(error, lang)))
        }
    }
}

/// The report. `is_data`: it is what was asked for and goes to standard output; otherwise the program owns that.
fn tell(profile: &Profile, args: &Args, path: Option<&Path>, is_data: bool, say: &Say) -> anyhow::Result<()> {
    let report = Report::of(profile);
    let reconciled = args.snapshot.as_deref().map(|path| figures::of(path, profile)).transpose()?;
    if say.is_json {
        say.json(&data::json(profile, &report, reconciled.as_ref(), path));
        return Ok(());
    }
    let out = |line: &str| if is_data { say.data(line) } else { say.note(line) };
    let head = format!("{} · {}", brief(&profile.command), evidence(profile, say));
    out(&say.ink(Ink::Strong, &plain(&super::layout::wrap(&head, COLUMNS, ""))));
    for line in words::lines(profile, &report, say.lang) {
        out(&plain(&format!("  {}", labelled(2, line.label.get(say.lang), LABELS, &line.text))));
    }
    for line in reconciled.iter().flat_map(|figures| figures.lines(say.lang)) {
        out(&plain(&format!("  {}", labelled(2, line.label.get(say.lang), LABELS, &line.text))));
    }
    for note in &profile.notes {
        out(&plain(&super::layout::wrap(&format!("! {}", note.get(say.lang)), COLUMNS, "  ")));
    }
    if let Some(path) = path {
        let opens = Text::new("打开：vramlab ", "opens with: vramlab ").get(say.lang);
        out(&format!("  {opens}{}", path.display()));
    }
    Ok(())
}

const LABELS: usize = 13;

/// A command in a line: no control characters, and not the whole of a long one.
fn brief(command: &[String]) -> String {
    const MOST: usize = 100;
    let words = command.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}

/// Where the numbers come from.
fn evidence(profile: &Profile, say: &Say) -> String {
    match (&profile.device, say.lang) {
        (Some(device), _) => format!("{}, {}, {}", device.name, device.driver, profile.date),
        (None, Lang::Zh) => format!("没有 GPU，{}", profile.date),
        (None, Lang::En) => format!("no GPU, {}", profile.date),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_units_and_bounds() {
        assert_eq!(interval("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(interval("1500us"), Ok(Duration::from_micros(1500)));
        assert_eq!(interval("1s"), Ok(Duration::from_secs(1)));
        for text in ["20", "0ms", "11s", "ms", "", "1m", "-5ms", "nanms"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
