//! `check --watch`: one round of checking after every change of the files, until the reader ends it.

use super::say::{Say, out};
use super::{Exit, interrupt};
use crate::watch::{Changes, at_rest};
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// Clears the screen and the lines above it.
const CLEAR: &[u8] = b"\x1b[2J\x1b[3J\x1b[H";

/// Calls `round` at once and after every change below `paths`. It returns only if nothing can be watched.
pub fn watch(paths: &[PathBuf], say: &Say, round: impl Fn()) -> anyhow::Result<Exit> {
    let (_changes, told) = Changes::watch(paths)?;
    loop {
        if std::io::stdout().is_terminal() && !say.is_json {
            out(CLEAR);
        }
        round();
        say.note("watching for changes; Ctrl-C ends it");
        if !interrupt::while_idle(|| at_rest(&told)) {
            return Ok(Exit::Fine);
        }
    }
}
