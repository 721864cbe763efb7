//! `__selftest`: everything that a GPU machine can show: every CUDA experiment with its counters, peers in turn, faults on
//! purpose. Writes the traces and the acceptance table. A machine without a GPU fails.

use super::Exit;
use super::fault::Fault;
use super::say::Say;
use anyhow::Context as _;
use std::path::PathBuf;
use vramlab_gpu::backend::cuda::selftest::{self, Setup};
use vramlab_shell::Library;
use vramlab_trace::file::EXTENSION;

#[derive(clap::Args)]
pub struct Args {
    /// `gpu` tests everything; `small` launches every kernel once, for a memory checker; `launch` times an
    /// empty kernel.
    #[arg(value_parser = ["gpu", "small", "launch"])]
    what: String,
    /// The folder for traces and table.
    #[arg(long, value_name = "DIR", default_value = "selftest")]
    out: PathBuf,
    /// The peers' scripts and sources.
    #[arg(long, value_name = "DIR", default_value = "kernels/peers")]
    peers: PathBuf,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    if args.what == "small" {
        let n = selftest::small(Library::built_in().kernels()).map_err(|error| Fault::of_run(&error, say.lang))?;
        say.data(&format!("{n} launches, all right"));
        return Ok(Exit::Fine);
    }
    if args.what == "launch" {
        say.data(&selftest::launch().map_err(|error| Fault::of_run(&error, say.lang))?.to_string());
        return Ok(Exit::Fine);
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let setup = Setup {
        out: args.out.clone(),
        library: Library::built_in().kernels().as_ref().clone(),
        peers: args.peers.clone(),
        own: vec!["__selftest".to_owned()],
        date: crate::date::today(),
        program: format!("vramlab {}", env!("CARGO_PKG_VERSION")),
        say: Box::new(|line| eprintln!("{line}")),
    };
    let outcome = selftest::run(&setup).map_err(|error| Fault::of_run(&error, say.lang))?;
    for run in &outcome.runs {
        let path = args.out.join(format!("{}.{}", run.experiment.replace('/', "."), EXTENSION));
        std::fs::write(&path, vramlab_trace::file::write(run)).with_context(|| path.display().to_string())?;
    }
    let command = "vramlab __selftest gpu --out DIR";
    let table = outcome.table.markdown(&outcome.facts, &setup.date, &setup.program, command);
    std::fs::write(args.out.join("RESULTS.md"), &table).context("RESULTS.md")?;
    say.data(&table);
    Ok(if outcome.table.n_missed() == 0 { Exit::Fine } else { Exit::Findings })
}
