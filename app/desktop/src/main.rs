//! The program `vramlab`: the window, and every subcommand. Read `cli.rs` for what there is, `native.rs` for what the
//! desktop does for the shell, `window.rs` for the window.

mod cli;
mod crash;
mod date;
mod gauges;
mod native;
mod profile;
mod store;
mod watch;
mod window;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let args: Vec<String> = std::env::args().collect();
    // The child of the runner: before anything else is read or opened.
    if args.get(1).is_some_and(|word| word == vramlab_gpu::child::SUBCOMMAND) {
        let program = format!("vramlab {}", env!("CARGO_PKG_VERSION"));
        vramlab_gpu::child::run(&program, args.get(2).map(String::as_str));
    }
    cli::main(started)
}
