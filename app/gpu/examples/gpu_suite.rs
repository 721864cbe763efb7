//! The self-test of a GPU machine as a program of its own: `gpu_suite [OUT]` runs everything, `gpu_suite small [ID…]`
//! launches every kernel, or those of some experiments, once at a small size, for a memory checker, `gpu_suite launch` times
//! an empty kernel, `gpu_suite exercises [OUT.json]` runs every exercise of the playground, `gpu_suite record OUT ID…` writes the traces of some experiments, with the kernels as they lie on the
//! disk. Run it in the repository's root.
#![expect(clippy::print_stdout, reason = "this is a program for a terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vramlab_gpu::backend::cuda::selftest::{self, Setup};
use vramlab_gpu::read::Library;

const COMMAND: &str = "cargo run --release -p vramlab-gpu --features cuda --example gpu_suite -- OUT";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let first = args.get(1).map_or("gpu-suite", String::as_str);
    let program = concat!("vramlab ", env!("CARGO_PKG_VERSION"));
    match first {
        vramlab_gpu::child::SUBCOMMAND => vramlab_gpu::child::run(program, args.get(2).map(String::as_str)),
        "small" => small(args.get(2..).unwrap_or_default()),
        "launch" => launch(),
        "exercises" => exercises(args.get(2).map(String::as_str), program),
        "record" => record(args.get(2..).unwrap_or_default(), program),
        out => suite(PathBuf::from(out), program),
    }
}

fn library() -> Library {
    let mut files = Vec::new();
    for folder in entries(Path::new("kernels")) {
        for file in entries(&folder).into_iter().filter(|path| path.is_file()) {
            if let Ok(text) = std::fs::read_to_string(&file) {
                files.push((file.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    Library::from_files(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = read.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn small(ids: &[String]) -> ExitCode {
    let mut library = library();
    library.experiments.retain(|id, _| ids.is_empty() || ids.contains(id));
    match selftest::small(&library) {
        Ok(n) => {
            println!("{n} launches, all right");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn launch() -> ExitCode {
    match selftest::launch() {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Every exercise of the playground; the table goes to `out`, or is printed.
fn exercises(out: Option<&str>, program: &str) -> ExitCode {
    let setup = setup(PathBuf::new(), program);
    let (table, is_fine) = match selftest::exercises(&setup) {
        Ok(done) => done,
        Err(error) => {
            println!("no GPU, no exercises: {error}");
            return ExitCode::FAILURE;
        }
    };
    let text = format!("{table:#}\n");
    match out.map(|out| std::fs::write(out, &text).map_err(|error| format!("{out}: {error}"))) {
        Some(Err(why)) => {
            println!("{why}");
            return ExitCode::FAILURE;
        }
        Some(Ok(())) => {}
        None => println!("{text}"),
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn record(args: &[String], program: &str) -> ExitCode {
    let Some((out, ids)) = args.split_first().filter(|(_, ids)| !ids.is_empty()) else {
        println!("gpu_suite record OUT SLUG/NAME …");
        return ExitCode::FAILURE;
    };
    if date().is_empty() {
        println!("a recording is dated: set VRAMLAB_DATE, e.g. VRAMLAB_DATE=$(date -u +%F)");
        return ExitCode::FAILURE;
    }
    let setup = setup(PathBuf::from(out), program);
    let written = selftest::record(&setup, ids).map_err(|error| error.to_string()).and_then(|runs| {
        std::fs::create_dir_all(&setup.out).map_err(|error| format!("{out}: {error}"))?;
        write(&setup, &runs).map_err(|error| format!("{out}: {error}"))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The day of a recording; empty if nobody said.
fn date() -> String {
    std::env::var("VRAMLAB_DATE").unwrap_or_default()
}

fn setup(out: PathBuf, program: &str) -> Setup {
    Setup {
        out,
        library: library(),
        peers: PathBuf::from("kernels/peers"),
        own: Vec::new(),
        date: date(),
        program: program.to_owned(),
        say: Box::new(|line| println!("{line}")),
    }
}

/// One trace a run, named as `vramlab record` names them.
fn write(setup: &Setup, runs: &[vramlab_trace::Run]) -> std::io::Result<()> {
    runs.iter().try_for_each(|run| {
        let name = format!("{}.{}", run.experiment.replace('/', "."), vramlab_trace::file::EXTENSION);
        std::fs::write(setup.out.join(name), vramlab_trace::file::write(run))
    })
}

fn suite(out: PathBuf, program: &str) -> ExitCode {
    if let Err(error) = std::fs::create_dir_all(&out) {
        println!("{}: {error}", out.display());
        return ExitCode::FAILURE;
    }
    let setup = setup(out, program);
    for problem in &setup.library.problems {
        println!("{problem}");
    }
    match selftest::run(&setup) {
        Ok(outcome) => finish(&setup, &outcome),
        Err(error) => {
            println!("no GPU, no self-test: {error}");
            ExitCode::FAILURE
        }
    }
}

fn finish(setup: &Setup, outcome: &selftest::Outcome) -> ExitCode {
    let table = outcome.table.markdown(&outcome.facts, &setup.date, &setup.program, COMMAND);
    println!("\n{table}");
    let written = std::fs::write(setup.out.join("RESULTS.md"), table).and_then(|()| write(setup, &outcome.runs));
    match written {
        Ok(()) if outcome.table.n_missed() == 0 => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            println!("{}: {error}", setup.out.display());
            ExitCode::FAILURE
        }
    }
}
