//! The whole run: calibrate, start, sample, wait, collect.

use super::card::Card;
use super::child;
use super::inject::Injected;
use super::sampler::Recorder;
use super::sys;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use vramlab_profile::Profile;
use vramlab_profile::record::VERSION;
use vramlab_units::{Localized, Text};

/// What is asked for.
pub struct Ask<'a> {
    pub command: &'a [String],
    pub interval: Duration,
    pub device: u32,
    pub injects: bool,
    /// The program's output goes to standard error.
    pub is_quiet: bool,
}

/// A run that was watched, or a program that could not be started.
pub enum Watched {
    Done(Box<Profile>),
    Failed(std::io::Error),
}

/// Why there is no such card.
pub fn missing(device: u32) -> Option<Localized> {
    Card::open(device).err()
}

/// Runs the command and watches it.
pub fn run(ask: &Ask<'_>) -> std::io::Result<Watched> {
    let mut notes: Vec<Localized> = Vec::new();
    let card = Card::open(ask.device).map_err(|why| notes.push(why)).ok();
    let device = card.as_ref().map(Card::facts);
    let injected = match (&card, ask.injects) {
        (Some(_), true) => Injected::prepare().map_err(|why| notes.push(why)).ok(),
        _ => None,
    };
    sys::adopt_orphans();
    let mut recorder = Recorder::new(card);
    let calibrated = recorder.calibrate();
    let mut command = command(ask.command);
    if let Some(injected) = &injected {
        injected.arm(&mut command);
    }
    let zero_ns = sys::monotonic_ns();
    let child = match child::start(&mut command, ask.is_quiet) {
        Ok(child) => child,
        Err(error) => return Ok(Watched::Failed(error)),
    };
    let (tell, stop) = channel();
    let interval = ask.interval;
    let thread = std::thread::Builder::new()
        .name("sampler".to_owned())
        .spawn(move || recorder.record(zero_ns, interval, &stop, calibrated))?;
    let exit = child::wait(child)?;
    let wall_us = sys::monotonic_ns().saturating_sub(zero_ns) / 1000;
    let _ended = tell.send(()).is_err();
    let taken = thread.join().map_err(|_| std::io::Error::other("the sampling thread broke off"))?;
    let (activities, why) = injected.as_ref().map_or_else(Default::default, |injected| injected.collect(zero_ns));
    notes.extend(why);
    if taken.n_untracked > 0 {
        let n = taken.n_untracked;
        let zh = format!("进程太多：有 {n} 次新进程没有跟踪。");
        notes.push(Localized::both(zh, format!("Too many processes: {n} new ones were not followed.")));
    }
    if taken.has_foreign && !taken.processes.iter().any(|process| process.gpu.iter().any(Option::is_some)) {
        notes.push(STRANGERS.into());
    }
    Ok(Watched::Done(Box::new(Profile {
        vramlab_profile: VERSION,
        program: format!("vramlab {}", env!("CARGO_PKG_VERSION")),
        date: crate::date::today(),
        command: ask.command.to_vec(),
        device,
        interval_us: u64::try_from(ask.interval.as_micros()).unwrap_or(u64::MAX),
        wall_us,
        exit,
        sampler: taken.sampler,
        processes: taken.processes,
        samples: taken.samples,
        activities,
        compared: None,
        notes,
    })))
}

const STRANGERS: Text = Text::new(
    "NVML 列出的进程号都不属于这个程序：也许在容器里，号码是另一个命名空间的。看整张卡的曲线。",
    "None of the processes that NVML lists belongs to this program: in a container their numbers may be those of another \
     namespace. The line of the whole card still holds.",
);

/// How long the command takes unwatched, without input and with its output thrown away, µs.
pub fn plain_us(words: &[String]) -> std::io::Result<u64> {
    let mut command = command(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    command.status()?;
    Ok(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX))
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.iter().skip(1));
    command
}
