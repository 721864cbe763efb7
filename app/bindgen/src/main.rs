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

const USAGE: &str = "usage: vramlab-bindgen WASM PAGE_DIR OUT_DIR";

fn main() -> anyhow::Result<()> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [wasm, page, out] = args.as_slice() else { bail!(USAGE) };
    let bound = out.with_file_name("web-bound");
    bind(wasm, &bound)?;
    let n_files = site::write(&bound, page, out)?;
    std::fs::remove_dir_all(&bound)?;
    eprintln!("{n_files} files in {}", out.display());
    Ok(())
}

/// What the `wasm-bindgen` command does, by its library. Binaryen's `wasm-opt -Oz` is not run: it makes the module an eighth
/// smaller and its brotli a twentieth larger, which is what travels.
fn bind(wasm: &Path, out: &Path) -> anyhow::Result<()> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).out_name("vramlab").web(true)?.typescript(false).omit_default_module_path(true);
    bindgen.generate(out).with_context(|| format!("binding {}", wasm.display()))
}
