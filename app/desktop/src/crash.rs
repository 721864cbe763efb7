//! What is left behind when the program itself fails: a short report in the data folder, without paths of the reader's.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Writes a report beside the reader's documents when a thread panics, then lets the panic go on.
pub fn install(data: Option<PathBuf>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(dir) = crate::store::data_dir(data.as_deref()) {
            let file = dir.join(format!("crash-{}.txt", crate::date::today()));
            if std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&file, report(panic))).is_ok() {
                eprintln!("the program failed; a report is in {}. Your progress is kept.", file.display());
            }
        }
        before(panic);
    }));
}

fn report(panic: &std::panic::PanicHookInfo<'_>) -> String {
    let mut out = format!("VRAM Lab {} ({})\n", env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map(|at| {
        let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
        format!("{file}:{}:{}", at.line(), at.column())
    });
    let _ = writeln!(out, "{message}\nat {}", place.unwrap_or_default());
    out
}
