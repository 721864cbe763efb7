//! `record`: full runs written as trace files. Nothing else writes them.

use super::drive::{Ask, Driver};
use super::fault::Fault;
use super::report::Report;
use super::say::Say;
use super::{Exit, args};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use vramlab_gpu::plan::Mode;
use vramlab_gpu::verdict::Verdict;
use vramlab_shell::Library;
use vramlab_trace::{Backend, Run};

#[derive(clap::Args)]
pub struct Args {
    /// The experiments to record.
    #[arg(required_unless_present = "all")]
    experiments: Vec<String>,
    /// Every experiment that can run here.
    #[arg(long, conflicts_with = "experiments")]
    all: bool,
    /// The folder for the traces, one file an experiment: SLUG.NAME.vltrace.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The most memory a run may take, as in "64 GiB".
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    budget: Option<u64>,
    /// Plays a scripted fault instead of measuring, for suites.
    #[arg(long, value_name = "SCRIPT", hide = true)]
    play: Option<String>,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let known = || library.kernels().experiments.keys().map(String::as_str);
    let wanted: Vec<&str> =
        if args.all { known().collect() } else { args.experiments.iter().map(String::as_str).collect() };
    let mut driver = Driver::new(&library, say).playing(args.play.clone());
    for id in &wanted {
        driver.known(id)?;
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let mut done = Done::default();
    for id in wanted {
        let ask = Ask { mode: Mode::Full, budget_bytes: args.budget, ..Ask::quick(id) };
        match record(&mut driver, &ask, &args.out, say) {
            Ok(path) => {
                if !say.is_json {
                    say.data(&path.display().to_string());
                }
                done.written.push(json!({ "experiment": id, "path": path }));
            }
            Err(fault) if fault.exit == Exit::Interrupted => return Err(fault.into()),
            Err(fault) if args.all && (fault.exit == Exit::NoGpu || fault.is_unfit) => done.leave_out(id, fault),
            Err(fault) => {
                say.error(&format!("{id} was not recorded: {}", fault.what), fault.help.as_deref());
                done.worst.get_or_insert(fault.exit);
            }
        }
    }
    Ok(done.tell(say))
}

/// What became of the experiments.
#[derive(Default)]
struct Done {
    written: Vec<Value>,
    /// Those that `--all` left out, by the reason.
    left_out: Vec<(Fault, Vec<String>)>,
    worst: Option<Exit>,
}

impl Done {
    fn leave_out(&mut self, id: &str, fault: Fault) {
        match self.left_out.iter_mut().find(|(known, _)| known.what == fault.what) {
            Some((_, ids)) => ids.push(id.to_owned()),
            None => self.left_out.push((fault, vec![id.to_owned()])),
        }
    }

    fn tell(self, say: &Say) -> Exit {
        for (fault, ids) in &self.left_out {
            say.warn(&format!("left out: {}", ids.join(", ")));
            say.note(&format!("  because {}", fault.what));
        }
        let is_empty = self.written.is_empty();
        if say.is_json {
            let left_out: Vec<Value> =
                self.left_out.iter().map(|(fault, ids)| json!({ "why": fault.what, "experiments": ids })).collect();
            say.json(&json!({ "schema": 1, "written": self.written, "left_out": left_out }));
        }
        let nothing = self.left_out.first().map(|(fault, _)| fault.exit).filter(|_| is_empty);
        self.worst.or(nothing).unwrap_or(Exit::Fine)
    }
}

fn record(driver: &mut Driver<'_>, ask: &Ask, dir: &Path, say: &Say) -> Result<PathBuf, Fault> {
    let known = driver.known(&ask.experiment)?;
    let run = driver.live(ask, known.0.backend)?;
    refuse(&run)?;
    let report = Report::live(&run, known);
    say.note(&format!("\n{}", report.text(say)));
    if let Verdict::Invalid { .. } | Verdict::Incomplete = report.judged.verdict {
        let what = "the run is not valid, and only valid runs become traces".to_owned();
        return Err(Fault::new(Exit::Findings, what));
    }
    let path = dir.join(file_name(&ask.experiment));
    write(&path, &vramlab_trace::file::write(&run)).map_err(|error| {
        Fault::new(Exit::Findings, format!("the trace cannot be written: {error}: {}", path.display()))
    })?;
    Ok(path)
}

/// What was played is no measurement.
fn refuse(run: &Run) -> Result<(), Fault> {
    if run.backend == Backend::Fake {
        return Err(Fault::new(Exit::Findings, "a scripted run is not a measurement and cannot become a trace"));
    }
    Ok(())
}

/// `strided_read/stride` is kept as `strided_read.stride.vltrace`.
fn file_name(experiment: &str) -> String {
    format!("{}.{}", experiment.replace('/', "."), vramlab_trace::file::EXTENSION)
}

/// Whole or not at all: a neighbour is written, synced and renamed.
pub fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    readable(&file)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Temporary files are private; what is kept is readable like any other file.
#[cfg(unix)]
fn readable(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &tempfile::NamedTempFile) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_named_after_its_experiment() {
        assert_eq!(file_name("strided_read/stride"), "strided_read.stride.vltrace");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.vltrace");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
