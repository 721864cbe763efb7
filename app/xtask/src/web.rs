//! The web page: built with whichever wasm toolchain the machine offers, bound, measured, walked in Chromium.

use crate::machine::{has_debian_wasm, has_wasm_target, playwright_dir};
use crate::stage::{Outcome, Report, cargo, command, has_program, output, root, run};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

const TARGET: &str = "wasm32-unknown-unknown";
/// Most bytes of the first load, compressed by brotli at its best: the product's promise.
const FIRST_LOAD_BYTES: u64 = 3_000_000;
/// From here on somebody should look what the first page has come to carry.
const WARNED_BYTES: u64 = 2_400_000;
/// The part of the program that comes while the first page is already read.
const LATE: &str = "vramlab_late-";
/// How many checks the walk has; they count as skipped where it cannot run.
const N_CHECKS: u32 = 57;

/// The compiler at work on the page, while other stages run.
pub struct Compiling(JoinHandle<Outcome>);

/// Compiles the page beside what follows: its last minutes, one program linked as a whole, keep one core alone busy.
pub fn begin() -> Compiling {
    Compiling(std::thread::spawn(|| compile(false)))
}

pub fn build_and_walk(report: &mut Report, compiling: Compiling) {
    let mut is_built = false;
    report.stage("web build", || {
        let outcome = match compiling.0.join() {
            Ok(Outcome::Passed { .. }) => bind(false),
            Ok(other) => other,
            Err(_) => Outcome::fail("the thread that compiled the page ended early"),
        };
        is_built = matches!(outcome, Outcome::Passed { .. });
        outcome
    });
    report.stage("web walk in Chromium", || if is_built { walk() } else { skip("there is no web build") });
}

/// Compiles, binds and measures the page. A debug build is quick, large, and not measured against the limit.
pub fn build(is_debug: bool) -> Outcome {
    match compile(is_debug) {
        Outcome::Passed { .. } => bind(is_debug),
        other => other,
    }
}

/// Profile and folder of the compiled program.
fn profile(is_debug: bool) -> (&'static str, &'static str) {
    if is_debug { ("dev", "debug") } else { ("web", "web") }
}

fn compile(is_debug: bool) -> Outcome {
    let Some((way, mut compile)) = compiler() else {
        return Outcome::skip(format!(
            "no toolchain for {TARGET}: `rustup target add {TARGET}`, or on Debian `apt-get install rustc-web cargo-web \
             rust-web-src lld-19`"
        ));
    };
    println!("compiling for the web with {way}");
    compile.args(["rustc", "--package", "vramlab-web", "--lib", "--target", TARGET, "--target-dir", "target/web"]);
    // The cut in two needs to know who needs whom: relocations and names, which the binding drops.
    compile.args(["--profile", profile(is_debug).0, "--", "-Cstrip=none", "-Clink-arg=--emit-relocs"]);
    match without_warnings(&mut compile) {
        Ok(()) => Outcome::ok(),
        Err(why) => Outcome::fail(why),
    }
}

/// Cuts the program in two, binds and measures it.
fn bind(is_debug: bool) -> Outcome {
    // Among all members, so that what the tests have built is not built again with fewer features.
    let built = run(cargo().args(["build", "--quiet", "--workspace", "--bin", "vramlab-bindgen"]));
    let Outcome::Passed { .. } = built else { return built };
    let wasm = root().join("target/web").join(TARGET).join(profile(is_debug).1).join("vramlab_web.wasm");
    let program = format!("target/debug/vramlab-bindgen{}", std::env::consts::EXE_SUFFIX);
    let mut bind = command(&root().join(program).to_string_lossy());
    match run(bind.arg(wasm).arg("web/page").arg(dist())) {
        Outcome::Passed { .. } => first_load(!is_debug),
        other => other,
    }
}

fn dist() -> PathBuf {
    root().join("dist/web")
}

/// A cargo that can compile for the web, and its name.
fn compiler() -> Option<(&'static str, Command)> {
    if has_wasm_target() {
        return Some(("rustup's wasm32 target", cargo()));
    }
    if !has_debian_wasm() {
        return None;
    }
    let mut debian = command("/usr/bin/cargo");
    let path = std::env::var("PATH").unwrap_or_default();
    debian
        .env("PATH", format!("/usr/bin:{path}"))
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1") // `build-std` is not stable; Debian ships the sources of std and no compiled one
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .arg("-Zbuild-std=std,panic_abort");
    Some(("Debian's rustc-web, std built from source (no rustup wasm32 target, so no clippy for wasm32)", debian))
}

/// Runs cargo, its messages passed through; a warning about our code is an error, as clippy would make it.
fn without_warnings(compile: &mut Command) -> Result<(), String> {
    let mut child =
        compile.stderr(Stdio::piped()).spawn().map_err(|error| format!("cargo could not start: {error}"))?;
    let mut n_warnings = 0;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            n_warnings += u32::from(line.starts_with("warning: unused") || line.starts_with("warning: `vramlab"));
            eprintln!("{line}");
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    match n_warnings {
        _ if !status.success() => Err(format!("the wasm build ended with {status}")),
        0 => Ok(()),
        n => Err(format!("{n} warnings in the wasm build")),
    }
}

/// The size of the first load: the files beside `index.html`, which the first page needs all of, but for the late part of
/// the program.
fn first_load(is_limited: bool) -> Outcome {
    if !has_program("brotli") {
        return Outcome::skip("brotli is not installed, so the first load was not measured");
    }
    let mut files: Vec<PathBuf> = match std::fs::read_dir(dist()) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect(),
        Err(error) => return Outcome::fail(format!("dist/web: {error}")),
    };
    files.sort();
    let (mut total, mut late) = (0, 0);
    for file in &files {
        let (raw, packed) = match sizes(file) {
            Ok(sizes) => sizes,
            Err(why) => return Outcome::fail(why),
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_late = name.starts_with(LATE);
        *if is_late { &mut late } else { &mut total } += packed;
        println!("{packed:>9} B brotli  {raw:>9} B raw  {name}{}", if is_late { ", which comes late" } else { "" });
    }
    println!("{total:>9} B brotli: the first load, {:.2} MB of {:.2} MB", mb(total), mb(FIRST_LOAD_BYTES));
    println!("{:>9} B brotli: the whole program, {:.2} MB", total + late, mb(total + late));
    if late == 0 {
        return Outcome::fail("no late part of the program is in dist/web");
    }
    if is_limited && total > WARNED_BYTES {
        println!("WARNING: above {:.2} MB; `app/bindgen/src/parts.rs` says what may come late", mb(WARNED_BYTES));
    }
    if is_limited && total > FIRST_LOAD_BYTES {
        return Outcome::fail(format!(
            "the first load is {:.2} MB, {:.2} MB are allowed",
            mb(total),
            mb(FIRST_LOAD_BYTES)
        ));
    }
    Outcome::Passed { counts: (2, 0) }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn sizes(file: &Path) -> Result<(u64, u64), String> {
    let raw = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    let packed = command("brotli").args(["-q", "11", "-c"]).arg(file).output().map_err(|error| error.to_string())?;
    if packed.status.success() {
        Ok((raw, packed.stdout.len() as u64))
    } else {
        Err(format!("brotli ended with {}", packed.status))
    }
}

fn skip(why: &str) -> Outcome {
    Outcome::Skipped { why: why.to_owned(), n_checks: N_CHECKS }
}

/// Walks the built page in a real browser; `tests/browser/walk.mjs` counts its checks.
pub fn walk() -> Outcome {
    if !has_program("node") {
        return skip("Node is not installed");
    }
    if !has_program("chromium") {
        return skip("chromium is not installed");
    }
    if !playwright_dir().is_dir() {
        return skip("playwright-core (from npm) is not installed");
    }
    let mut node = command("node");
    node.arg("tests/browser/walk.mjs").arg(dist()).arg(playwright_dir()).arg(root().join("target/pictures/web"));
    node.arg(output(command("which").arg("chromium")).unwrap_or_default().trim());
    counted(&mut node)
}

/// Runs a script whose last line is `N passed, N failed`.
fn counted(script: &mut Command) -> Outcome {
    let mut child = match script.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return Outcome::fail(format!("the walk could not start: {error}")),
    };
    let mut counts = None;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            counts = counts_of(&line).or(counts);
            println!("{line}");
        }
    }
    let status = child.wait();
    match counts {
        Some((passed, 0)) if status.is_ok_and(|status| status.success()) => Outcome::Passed { counts: (passed, 0) },
        Some(counts) => Outcome::Failed { why: format!("{} checks failed", counts.1), counts },
        None => Outcome::fail("the walk ended before it counted its checks"),
    }
}

/// `12 passed, 3 failed` as (12, 3).
fn counts_of(line: &str) -> Option<(u32, u32)> {
    let (passed, failed) = line.strip_suffix(" failed")?.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_walk_is_counted() {
        assert_eq!(super::counts_of("12 passed, 3 failed"), Some((12, 3)));
        assert_eq!(super::counts_of("ok 1: 12 passed"), None);
    }
}
