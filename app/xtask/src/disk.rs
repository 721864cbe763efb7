//! Room on the disk. A full one ends a linker with a message that nobody understands, a quarter of an hour late.

use crate::stage::{Outcome, command, output, root};
use std::path::Path;

/// What `cargo xtask test` writes on a clean clone, GB, with a little over. Incremental builds want twice as much.
const NEEDED_GB: f64 = 16.0;
/// The same without the release build and the web page.
const NEEDED_QUICK_GB: f64 = 11.0;

/// Free space where the repository lies, GB; none where the system does not tell.
pub fn free_gb() -> Option<f64> {
    let listed = output(command("df").args(["-Pk", "."])).ok()?;
    free_in(&listed)
}

/// Of `df -Pk`, whose fourth column has the free blocks of 1024 bytes.
fn free_in(listed: &str) -> Option<f64> {
    let blocks: f64 = listed.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(blocks * 1024.0 / 1e9)
}

/// Fails where the run would die of a full disk. What an earlier run left behind counts as there already.
pub fn check(is_quick: bool) -> Outcome {
    let needed = if is_quick { NEEDED_QUICK_GB } else { NEEDED_GB };
    let Some(free) = free_gb() else {
        println!("`df` does not tell how much space is free; {needed:.0} GB are needed");
        return Outcome::ok();
    };
    let there = used_gb(&root().join("target"));
    println!("{free:.1} GB are free; target holds {there:.1} GB; a run on a clean clone needs {needed:.0} GB");
    if free + there < needed {
        return Outcome::fail(format!(
            "{free:.1} GB are free where the repository lies, and {there:.1} GB are in target already: {needed:.0} GB in all \
             are needed. Make room, or point target at another disk with a link"
        ));
    }
    Outcome::ok()
}

/// What lies below a folder, GB; links are not followed.
fn used_gb(dir: &Path) -> f64 {
    bytes_in(dir) as f64 / 1e9
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |found| found.len()),
            _ => 0,
        })
        .sum()
}

/// Removes the test programs once they have run: the builds that follow need the room and not them.
pub fn drop_test_programs() -> Outcome {
    let deps = root().join("target/debug/deps");
    let Ok(entries) = std::fs::read_dir(&deps) else {
        return Outcome::fail(format!("{} cannot be read", deps.display()));
    };
    let mut freed = 0;
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_program(path)) {
        let len = std::fs::metadata(&path).map_or(0, |found| found.len());
        match std::fs::remove_file(&path) {
            Ok(()) => freed += len,
            Err(error) => return Outcome::fail(format!("{}: {error}", path.display())),
        }
    }
    println!("{:.1} GB of test programs removed", freed as f64 / 1e9);
    Outcome::ok()
}

/// A program has no ending, or that of Windows; libraries and lists have others.
fn is_program(path: &Path) -> bool {
    path.is_file() && path.extension().is_none_or(|end| end == "exe" || end == "pdb")
}

#[cfg(test)]
mod tests {
    use super::{free_in, is_program};
    use std::path::Path;

    #[test]
    fn free_space_is_read_from_the_fourth_column() {
        let listed =
            "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 263940717 45673932 54298169 46% /\n";
        assert_eq!(free_in(listed), Some(54_298_169.0 * 1024.0 / 1e9));
        assert_eq!(free_in("nothing"), None);
    }

    #[test]
    fn a_source_is_no_program() {
        assert!(!is_program(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))));
        assert!(!is_program(Path::new("no_such_program")));
    }
}
