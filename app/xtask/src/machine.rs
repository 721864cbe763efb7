//! What the machine offers, and installing what the suites need where that is allowed: system packages as root through
//! apt, Python and Node packages by name into `target/tools`. Whoever may not install still passes, with skips listed.
//! `pip --target` touches no environment, so it works where Debian calls Python's own externally managed.

use crate::stage::{Outcome, Report, command, has_program, output, root, run};
use std::path::PathBuf;

/// System packages by the program that shows they are there, with what they are for.
const PACKAGES: &[(&str, &str)] =
    &[("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium"), ("brotli", "brotli"), ("python3", "python3")];

/// Installed beside each other when rustup has no wasm32 target.
const WASM_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-19"];

pub fn prepare(report: &mut Report) {
    report.stage("system packages", || {
        let mut missing: Vec<&str> =
            PACKAGES.iter().filter(|(program, _)| !has_program(program)).map(|(_, package)| *package).collect();
        if !has_wasm_target() && !has_debian_wasm() {
            missing.extend(WASM_PACKAGES);
        }
        if !has_pip() {
            missing.push("python3-pip");
        }
        if missing.is_empty() {
            return Outcome::ok();
        }
        if !is_root() || !has_program("apt-get") {
            return Outcome::skip(format!("not allowed to install {}", missing.join(" ")));
        }
        if let Outcome::Failed { why, .. } = run(command("apt-get").args(["update", "-qq"])) {
            return Outcome::skip(why);
        }
        run(command("apt-get")
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(&missing)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(std::process::Stdio::null()))
    });
    report.stage("tools by package name", || {
        let mut problems = Vec::new();
        if python_tool("typos").is_none() {
            problems.extend(install_python("typos").err());
        }
        if nvrtc_dir().is_none() {
            problems.extend(install_python("nvidia-cuda-nvrtc-cu12").err());
        }
        if !playwright_dir().is_dir() {
            problems.extend(install_node("playwright-core").err());
        }
        if problems.is_empty() { Outcome::ok() } else { Outcome::skip(problems.join("; ")) }
    });
}

fn has_pip() -> bool {
    output(command("python3").args(["-m", "pip", "--version"])).is_ok()
}

pub fn is_root() -> bool {
    output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Where tools from package registries are kept.
pub fn tools() -> PathBuf {
    root().join("target/tools")
}

pub fn has_wasm_target() -> bool {
    output(command("rustc").args(["--print", "sysroot"]))
        .is_ok_and(|path| PathBuf::from(path.trim()).join("lib/rustlib/wasm32-unknown-unknown/lib").is_dir())
}

pub fn has_debian_wasm() -> bool {
    ["/usr/bin/rustc", "/usr/bin/cargo", "/usr/bin/wasm-ld-19"].iter().all(|path| PathBuf::from(path).is_file())
        && PathBuf::from("/usr/lib/rustlib/src/rust/library").is_dir()
}

fn python_dir() -> PathBuf {
    tools().join("python")
}

/// A program that came with a Python package.
pub fn python_tool(name: &str) -> Option<PathBuf> {
    let path = python_dir().join("bin").join(name);
    path.is_file().then_some(path)
}

/// The folder with libnvrtc, for compiling kernels without a GPU.
pub fn nvrtc_dir() -> Option<PathBuf> {
    let path = python_dir().join("nvidia/cuda_nvrtc/lib");
    path.is_dir().then_some(path)
}

fn install_python(package: &str) -> Result<(), String> {
    let python = ["python3", "python"].into_iter().find(|name| has_program(name)).ok_or("Python is not installed")?;
    let target = python_dir();
    let mut pip = command(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--upgrade",
    ]);
    pip.arg("--target").arg(&target).arg(package);
    output(&mut pip).map(|_| ()).map_err(|error| format!("{package}: {}", last_line(&error)))
}

/// Package managers explain themselves at the end.
fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

pub fn playwright_dir() -> PathBuf {
    tools().join("node/node_modules/playwright-core")
}

fn install_node(package: &str) -> Result<(), String> {
    if !has_program("npm") {
        return Err(format!("{package}: npm is not installed"));
    }
    let dir = tools().join("node");
    std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
    let mut npm = command("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]).arg(&dir).arg(package);
    output(&mut npm).map(|_| ()).map_err(|error| format!("{package}: {}", last_line(&error)))
}
