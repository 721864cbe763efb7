//! `completions` and `man`: from the same description as `--help`.

use super::say::{Say, out};
use super::{Cli, Exit};
use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub fn completions(args: &Completions) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "vramlab", &mut text);
    out(&text);
    Ok(Exit::Fine)
}

#[derive(clap::Args)]
pub struct Man {
    /// Writes a page for the program and one for each subcommand into this folder, instead of printing the first.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn man(args: &Man, say: &Say) -> anyhow::Result<Exit> {
    let Some(dir) = &args.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(visible()).render(&mut text)?;
        out(&text);
        return Ok(Exit::Fine);
    };
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    clap_mangen::generate_to(visible(), dir).with_context(|| format!("cannot write to {}", dir.display()))?;
    say.data(&dir.display().to_string());
    Ok(Exit::Fine)
}

/// The program without its hidden subcommands, which no shell need complete.
fn visible() -> Command {
    let whole = Cli::command();
    let mut out = Command::new("vramlab").version(env!("CARGO_PKG_VERSION"));
    if let Some(about) = whole.get_about() {
        out = out.about(about.clone());
    }
    if let Some(after) = whole.get_after_help() {
        out = out.after_help(after.clone());
    }
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set());
    out.args(whole.get_arguments().cloned()).subcommands(commands.cloned())
}
