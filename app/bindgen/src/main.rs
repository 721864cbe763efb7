//! Makes the static web page out of a compiled wasm module: `cargo xtask web` runs it. A tool, never shipped.
//!
//! `site.rs` names and writes the files, `text.rs` makes the text version of each chapter, `guide.rs` that of routes and
//! handbook, `html.rs` turns lesson Markdown into HTML.

mod guide;
mod html;
mod site;
mod text;

use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "usage: vramlab-bindgen WASM PAGE_DIR OUT_DIR";

fn main() -> anyhow::Result<()> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [wasm, page, out] = args.as_slice() else { bail!(USAGE) };
    let bound = out.with_file_name("web-bound");
    bind(wasm, &bound)?;
    let is_optimised = optimise(&bound.join("vramlab_bg.wasm"))?;
    let n_files = site::write(&bound, page, out)?;
    std::fs::remove_dir_all(&bound)?;
    let how = if is_optimised { "with wasm-opt" } else { "without wasm-opt, which is not installed" };
    eprintln!("{n_files} files in {}, {how}", out.display());
    Ok(())
}

/// What the `wasm-bindgen` command does, by its library.
fn bind(wasm: &Path, out: &Path) -> anyhow::Result<()> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).out_name("vramlab").web(true)?.typescript(false).omit_default_module_path(true);
    bindgen.generate(out).with_context(|| format!("binding {}", wasm.display()))
}

/// Makes the module a little smaller where Binaryen is installed.
fn optimise(wasm: &Path) -> anyhow::Result<bool> {
    let features = [
        "--enable-bulk-memory",
        "--enable-reference-types",
        "--enable-nontrapping-float-to-int",
        "--enable-sign-ext",
        "--enable-mutable-globals",
        "--enable-multivalue",
    ];
    let status = Command::new("wasm-opt").arg("-Oz").args(features).arg(wasm).arg("-o").arg(wasm).status();
    match status {
        Ok(status) if status.success() => Ok(true),
        Ok(status) => bail!("wasm-opt ended with {status}"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}
