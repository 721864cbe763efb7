//! `check`: every problem of lessons, kernels and traces at once, each with its place and what to do.

use super::fault::Fault;
use super::gather::Content;
use super::say::{Ink, Say};
use super::{Exit, rounds};
use serde_json::{Value, json};
use std::path::PathBuf;
use vramlab_gpu::read::{Library as Kernels, ManifestProblem};
use vramlab_gpu::verdict::{self, Counters, Verdict};
use vramlab_lesson::{Place, Problem, Severity, check_pack, render};
use vramlab_shell::Library;
use vramlab_trace::Backend;

pub const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub struct Args {
    /// Chapters, packs (folder or .zip), kernels, traces; without any, what comes with the program.
    paths: Vec<PathBuf>,
    /// Counts warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Checks again after every change of the files, until Ctrl-C.
    #[arg(long, requires = "paths")]
    watch: bool,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    chapters: usize,
    kernels: usize,
    experiments: usize,
    traces: usize,
    /// What recording every experiment may take, by manifest.
    gpu_secs: f64,
    cpu_secs: f64,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    if args.watch {
        return rounds::watch(&args.paths, say, || {
            report(&Content::of_paths(&args.paths), &library, say);
        });
    }
    let content = if args.paths.is_empty() { Content::built_in() } else { Content::of_paths(&args.paths) };
    if content.is_empty() {
        let help = "a chapter is a folder with chapter.toml, a kernel one with kernel.toml, a trace a .vltrace file";
        return Err(Fault::usage("there is nothing to check at these paths").help(help).into());
    }
    let (n_errors, n_warnings) = report(&content, &library, say);
    let is_bad = n_errors > 0 || (args.strict && n_warnings > 0);
    Ok(if is_bad { Exit::Findings } else { Exit::Fine })
}

/// Prints all problems and says how many errors and warnings there are.
fn report(content: &Content, library: &Library, say: &Say) -> (usize, usize) {
    let (problems, counts) = check(content, library);
    let n = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (n_errors, n_warnings) = (n(Severity::Error), n(Severity::Warning));
    if say.is_json {
        say.json(&json!({
            "schema": SCHEMA,
            "errors": n_errors,
            "warnings": n_warnings,
            "checked": {
                "chapters": counts.chapters,
                "kernels": counts.kernels,
                "experiments": counts.experiments,
                "traces": counts.traces,
            },
            "record_secs": { "cuda": counts.gpu_secs, "cpu": counts.cpu_secs },
            "problems": problems.iter().map(problem_json).collect::<Vec<_>>(),
        }));
    } else {
        problems.iter().for_each(|problem| say.data(&painted(problem, say)));
        say.data(&summary(n_errors, n_warnings, counts, say));
    }
    (n_errors, n_warnings)
}

fn check(content: &Content, library: &Library) -> (Vec<Problem>, Counts) {
    let mut counts = Counts { traces: content.traces.len(), ..Counts::default() };
    let mut problems: Vec<Problem> =
        content.unread.iter().map(|(path, why)| of_file(Severity::Error, "unreadable", path, why, None)).collect();
    for (before, pack) in &content.packs {
        counts.chapters += pack.chapters.len();
        problems.extend(check_pack(pack, library).into_iter().map(|problem| placed(before, problem)));
    }
    problems.extend(check_kernels(content, &mut counts));
    for (path, bytes) in &content.traces {
        problems.extend(check_trace(path, bytes, library));
    }
    problems.extend(vramlab_shell::guide::check(&content.course, library));
    vramlab_lesson::problem::sort(&mut problems);
    (problems, counts)
}

fn placed(before: &str, mut problem: Problem) -> Problem {
    problem.place.file = format!("{before}{}", problem.place.file);
    problem
}

fn check_kernels(content: &Content, counts: &mut Counts) -> Vec<Problem> {
    // The reader of manifests wants SLUG/NAME; the whole path comes back into the problems.
    let short = |path: &str| {
        let mut parts = path.rsplitn(3, '/');
        let (name, slug) = (parts.next().unwrap_or_default(), parts.next().unwrap_or("."));
        format!("{slug}/{name}")
    };
    let files: Vec<(String, &str)> = content.kernels.iter().map(|(path, text)| (short(path), text.as_str())).collect();
    let kernels = Kernels::from_files(files.iter().map(|(path, text)| (path.as_str(), *text)));
    counts.kernels += kernels.kernels.len();
    counts.experiments += kernels.experiments.len();
    for experiment in kernels.experiments.values() {
        match experiment.backend {
            Backend::Cpu => counts.cpu_secs += experiment.time_secs,
            _ => counts.gpu_secs += experiment.time_secs,
        }
    }
    let whole = |file: &str| content.kernels.iter().find(|(path, _)| short(path) == file).map(|(path, _)| path.clone());
    kernels.problems.iter().map(|problem| of_manifest(problem, whole(&problem.file))).collect()
}

fn of_manifest(problem: &ManifestProblem, file: Option<String>) -> Problem {
    Problem {
        severity: if problem.is_warning { Severity::Warning } else { Severity::Error },
        rule: problem.rule,
        what: problem.what.clone(),
        place: Place {
            file: file.unwrap_or_else(|| problem.file.clone()),
            line: problem.line,
            column: problem.column,
            width: problem.width,
            text: problem.text.clone(),
        },
        help: problem.help.clone(),
    }
}

fn check_trace(path: &str, bytes: &[u8], library: &Library) -> Vec<Problem> {
    let error = |rule, what: &str, help: Option<&str>| of_file(Severity::Error, rule, path, what, help);
    let recorded = match library.recorded(path, bytes) {
        Ok(recorded) => recorded,
        Err(why) => return vec![error("not-a-trace", &why, None)],
    };
    let mut out: Vec<Problem> = recorded.damage.iter().map(|why| error("damaged-trace", why, None)).collect();
    let run = &recorded.run;
    if run.backend == Backend::Fake {
        out.push(error("scripted-trace", "it was played from a script and measures nothing", Some("delete it")));
    }
    let Some((experiment, kernel)) = library.experiment(&run.experiment) else {
        let what = format!("it is of experiment \"{}\", which this program does not have", run.experiment);
        out.push(error("unknown-experiment", &what, Some("`vramlab list experiments` prints those that exist")));
        return out;
    };
    if recorded.is_stale {
        let what = format!("the kernel or experiment of {} has changed since this was recorded", run.experiment);
        let help = format!("record it again: vramlab record {} --out DIR", run.experiment);
        out.push(of_file(Severity::Warning, "stale-trace", path, &what, Some(&help)));
    }
    let judged = verdict::judge(run, experiment, kernel);
    if let Verdict::Invalid { series, x, why } = &judged.verdict {
        let why = vramlab_shell::page::chart::invalid_words(why, &experiment.measure.unit);
        let what = format!("the point {series}@{x} may not be shown: {}", why.get(vramlab_units::Lang::En));
        out.push(error("invalid-run", &what, Some("record it again")));
    }
    if let Counters::Differ { n_wrong, n_checked } = judged.counters {
        let what = format!("{n_wrong} of {n_checked} hardware counters differ from the model");
        let help = format!("vramlab --json run {} --trace {path} names them", run.experiment);
        out.push(of_file(Severity::Warning, "counters-differ", path, &what, Some(&help)));
    }
    out
}

fn of_file(severity: Severity, rule: &'static str, path: &str, what: &str, help: Option<&str>) -> Problem {
    let place = Place { file: path.to_owned(), ..Place::default() };
    Problem { severity, rule, what: what.to_owned(), place, help: help.map(str::to_owned) }
}

fn painted(problem: &Problem, say: &Say) -> String {
    let text = render(problem);
    let word = problem.severity.id();
    let ink = if problem.severity == Severity::Error { Ink::Bad } else { Ink::Caution };
    match text.strip_prefix(word) {
        Some(rest) => format!("{}{rest}", say.ink(ink, word)),
        None => text,
    }
}

fn summary(n_errors: usize, n_warnings: usize, counts: Counts, say: &Say) -> String {
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let found = match (n_errors, n_warnings) {
        (0, 0) => say.ink(Ink::Good, "no problems"),
        (0, w) => format!("no errors, {}", plural(w, "warning")),
        (e, w) => format!("{}, {}", plural(e, "error"), plural(w, "warning")),
    };
    let parts = [
        (counts.chapters, "chapter"),
        (counts.kernels, "kernel"),
        (counts.experiments, "experiment"),
        (counts.traces, "trace"),
    ];
    let looked: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word)).collect();
    let mut out = format!("{found} in {}", if looked.is_empty() { "nothing".to_owned() } else { looked.join(", ") });
    if counts.experiments > 0 {
        let (gpu, cpu) = (counts.gpu_secs, counts.cpu_secs);
        out.push_str(&format!("\nrecording them all may take {gpu} s on a GPU and {cpu} s on a processor"));
    }
    out
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "severity": problem.severity.id(),
        "rule": problem.rule,
        "what": problem.what,
        "file": problem.place.file,
        "line": problem.place.line,
        "column": problem.place.column,
        "width": problem.place.width,
        "text": problem.place.text,
        "help": problem.help,
    })
}
